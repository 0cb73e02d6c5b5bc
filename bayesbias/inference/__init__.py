"""Models of the distances, their posterior, and what it says."""

from bayesbias.inference.calibration import Calibration, calibrate
from bayesbias.inference.criteria import Elpd, compare
from bayesbias.inference.diagnostics import Diagnostics
from bayesbias.inference.files import load_fit
from bayesbias.inference.fit import Fit
from bayesbias.inference.fitting import fit
from bayesbias.inference.overview import Overview, overview
from bayesbias.inference.paired import PairedFit, fit_paired
from bayesbias.inference.planning import Plan, plan_sample_size
from bayesbias.inference.prior_draws import prior_draws
from bayesbias.inference.spec import MODELS, ModelSpec, load_model
from bayesbias.inference.t_interval import t_contrasts

__all__ = [
    "MODELS",
    "Calibration",
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
