"""The NUTS engine: models as PyMC models, and four samplers."""

# All names are for other rooms.
from bayesbias.models.nuts.log_posterior import LogPosterior as LogPosterior
from bayesbias.models.nuts.log_posterior import is_written_out as is_written_out
