"""Debiasing: one class a method, one protocol, one registry."""

from bayesbias.debias.base import Debiaser
from bayesbias.debias.hard import HardDebias, MulticlassHardDebias

#: Every debiasing method by its name.
DEBIASERS: dict[str, type[Debiaser]] = {
    debiaser.name: debiaser
    for debiaser in (
        HardDebias,
        MulticlassHardDebias,
    )
}

__all__ = [
    "DEBIASERS",
    "Debiaser",
    "HardDebias",
    "MulticlassHardDebias",
]
