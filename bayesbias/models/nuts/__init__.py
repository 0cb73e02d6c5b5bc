"""The NUTS engine: models as PyMC models, and four samplers."""

from bayesbias.models.nuts.log_posterior import LogPosterior, is_written_out

__all__ = ["LogPosterior", "is_written_out"]
