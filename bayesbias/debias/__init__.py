"""Debiasing: one class per method, one protocol, one registry."""

# Names that are not in __all__ are for other rooms.
from bayesbias.debias.base import Debiaser
from bayesbias.debias.debiasers import DEBIASERS
from bayesbias.debias.definition_summary import learnt_from as learnt_from
from bayesbias.debias.double_hard import DoubleHardDebias
from bayesbias.debias.half_sibling import HalfSiblingRegression
from bayesbias.debias.hard import HardDebias, MulticlassHardDebias
from bayesbias.debias.inlp import INLP
from bayesbias.debias.leace import LEACE
from bayesbias.debias.projection import Projection
from bayesbias.debias.ran import RepulsionAttractionNeutralization
from bayesbias.debias.soft import SoftDebias
from bayesbias.debias.study_methods import Method as Method
from bayesbias.debias.study_methods import method_for as method_for

__all__ = [
    "DEBIASERS",
    "INLP",
    "LEACE",
    "Debiaser",
    "DoubleHardDebias",
    "HalfSiblingRegression",
    "HardDebias",
    "MulticlassHardDebias",
    "Projection",
    "RepulsionAttractionNeutralization",
    "SoftDebias",
]
