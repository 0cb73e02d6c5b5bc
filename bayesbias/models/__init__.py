"""Models of the distances, their posterior, and what it says."""

# Names that are not in __all__ are for other rooms.
from bayesbias.models.association_text import OTHERS as OTHERS
from bayesbias.models.association_text import association_sentences as association_sentences
from bayesbias.models.association_text import equal_frequency_text as equal_frequency_text
from bayesbias.models.association_text import equal_frequency_verdict as equal_frequency_verdict
from bayesbias.models.association_text import has_equal_frequency as has_equal_frequency
from bayesbias.models.calibration import Calibration, calibrate
from bayesbias.models.contrasts import contrast_weights as contrast_weights
from bayesbias.models.contrasts import tidy_draws as tidy_draws
from bayesbias.models.criteria import Comparison, Elpd, compare
from bayesbias.models.criteria import check_levels as check_levels
from bayesbias.models.diagnostics import ESS_MIN as ESS_MIN
from bayesbias.models.diagnostics import R_HAT_MAX as R_HAT_MAX
from bayesbias.models.diagnostics import Diagnostics
from bayesbias.models.fit_files import load_fit
from bayesbias.models.fit_files import writable_fit as writable_fit
from bayesbias.models.fitted_model import Fit
from bayesbias.models.fitted_model import group_means as group_means
from bayesbias.models.fitting import ENGINES as ENGINES
from bayesbias.models.fitting import Engine as Engine
from bayesbias.models.fitting import fit
from bayesbias.models.fitting import seconds_to_fit as seconds_to_fit
from bayesbias.models.fitting import table_hash as table_hash
from bayesbias.models.model_data import dataset as dataset
from bayesbias.models.model_data import standardised as standardised
from bayesbias.models.overview import Overview, overview
from bayesbias.models.overviews import Overviews, overviews
from bayesbias.models.paired import By as By
from bayesbias.models.paired import PairedFit, fit_paired
from bayesbias.models.planning import Plan, plan_sample_size
from bayesbias.models.prior_draws import outcome_draws as outcome_draws
from bayesbias.models.prior_draws import prior_draws
from bayesbias.models.spec import MODELS, ModelSpec, load_model
from bayesbias.models.spec import OUTCOME as OUTCOME
from bayesbias.models.spec import Parameter as Parameter
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
    "Overviews",
    "PairedFit",
    "Plan",
    "calibrate",
    "compare",
    "fit",
    "fit_paired",
    "load_fit",
    "load_model",
    "overview",
    "overviews",
    "plan_sample_size",
    "prior_draws",
    "t_contrasts",
]
