"""Every debiasing method by its name."""

from __future__ import annotations

from bayesbias._core.plugins import Registry, subclass_check
from bayesbias.debias.base import Debiaser
from bayesbias.debias.double_hard import DoubleHardDebias
from bayesbias.debias.half_sibling import HalfSiblingRegression
from bayesbias.debias.hard import HardDebias, MulticlassHardDebias
from bayesbias.debias.inlp import INLP
from bayesbias.debias.leace import LEACE
from bayesbias.debias.projection import Projection
from bayesbias.debias.ran import RepulsionAttractionNeutralization
from bayesbias.debias.soft import SoftDebias

_OWN = (
    HardDebias,
    MulticlassHardDebias,
    SoftDebias,
    DoubleHardDebias,
    HalfSiblingRegression,
    RepulsionAttractionNeutralization,
    Projection,
    INLP,
    LEACE,
)
#: Every debiasing method by its name. Installed packages add theirs by entry points of the group
#: ``bayesbias.debiasers``.
DEBIASERS: Registry[type[Debiaser]] = Registry(
    "bayesbias.debiasers", {debiaser.name: debiaser for debiaser in _OWN}, subclass_check(Debiaser)
)
