"""The NUTS engine: models as PyMC models, and four samplers."""
