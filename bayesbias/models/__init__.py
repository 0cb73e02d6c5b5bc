"""Models of the distances, their posterior, and what it says."""

from bayesbias.models.calibration import Calibration, calibrate
from bayesbias.models.criteria import Comparison, Elpd, compare
from bayesbias.models.diagnostics import Diagnostics
from bayesbias.models.fit_files import load_fit
from bayesbias.models.fitted_model import Fit
from bayesbias.models.fitting import fit
from bayesbias.models.overview import Overview, overview
from bayesbias.models.paired import PairedFit, fit_paired
from bayesbias.models.planning import Plan, plan_sample_size
from bayesbias.models.prior_draws import prior_draws
from bayesbias.models.spec import MODELS, ModelSpec, load_model
from bayesbias.models.t_interval import t_contrasts

__all__ = [
    "MODELS",
    "Calibration",
    "Comparison",
    "Diagnostics",
    "Elpd",
    "Fit",
    "ModelSpec",
    "Overview",
    "PairedFit",
    "Plan",
    "calibrate",
    "compare",
    "fit",
    "fit_paired",
    "load_fit",
    "load_model",
    "overview",
    "plan_sample_size",
    "prior_draws",
    "t_contrasts",
]
