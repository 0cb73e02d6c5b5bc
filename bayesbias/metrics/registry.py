"""Every metric by its name, and what is accepted for a metric."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from bayesbias._core.plugins import Registry, subclass_check
from bayesbias._core.validation import named
from bayesbias._core.wording import did_you_mean, kind_of, quoted
from bayesbias.errors import SpecError
from bayesbias.metrics.base import Metric, option_names
from bayesbias.metrics.direct_bias import DirectBias, IndirectBias
from bayesbias.metrics.ect import ECT
from bayesbias.metrics.generalized_weat import GeneralizedWEAT
from bayesbias.metrics.mac import MAC
from bayesbias.metrics.nas import NAS
from bayesbias.metrics.neighbourhood import Neighbourhood
from bayesbias.metrics.pmn import PMN
from bayesbias.metrics.proximity import GIPE, ProximityBias
from bayesbias.metrics.residual_bias import ClassificationTest, ClusterTest
from bayesbias.metrics.ripa import RIPA
from bayesbias.metrics.rnd import RND
from bayesbias.metrics.rnsb import RNSB, RNSBGroups
from bayesbias.metrics.same import SAME
from bayesbias.metrics.semaxis import SemAxis
from bayesbias.metrics.weat import WEAT, WEATEffectSize

_OWN = (
    WEAT,
    WEATEffectSize,
    RND,
    RNSB,
    RNSBGroups,
    MAC,
    ECT,
    RIPA,
    DirectBias,
    IndirectBias,
    NAS,
    SAME,
    GeneralizedWEAT,
    SemAxis,
    Neighbourhood,
    PMN,
    ClusterTest,
    ClassificationTest,
    ProximityBias,
    GIPE,
)
#: Every metric by its name; add a class of your own to use it by name. Installed packages add
#: theirs by entry points of the group ``bayesbias.metrics``.
METRICS: Registry[type[Metric]] = Registry(
    "bayesbias.metrics", {metric.name: metric for metric in _OWN}, subclass_check(Metric)
)

#: A metric by its name, its class, or itself with its options.
MetricLike: TypeAlias = str | type[Metric] | Metric


def as_metrics(
    metrics: MetricLike | Iterable[MetricLike], options: Mapping[str, object] | None = None
) -> list[Metric]:
    """Return metrics that can be run; each takes the options that it has."""
    given = [metrics] if isinstance(metrics, str | type | Metric) else metrics
    if not isinstance(given, Iterable):
        raise _not_a_metric(metrics)
    kinds = [METRICS[named("metric", m, METRICS)] if isinstance(m, str) else m for m in given]
    if not kinds:
        raise SpecError("no metric is given; name at least one, such as 'weat'.")
    for kind in kinds:
        if not (isinstance(kind, Metric) or (isinstance(kind, type) and issubclass(kind, Metric))):
            raise _not_a_metric(kind)
    names = [kind.name for kind in kinds]
    if len(set(names)) < len(names):
        raise SpecError(
            f"two metrics are called {max(names, key=names.count)!r}; measure them one at a time."
        )
    # The seed is an argument of its own.
    allowed = [[name for name in option_names(kind) if name != "seed"] for kind in kinds]
    every_name = list(dict.fromkeys(name for some in allowed for name in some))
    values = dict(options or {})
    for name in values:
        if name not in every_name:
            hint = f"there are {quoted(every_name)}" if every_name else "there is none"
            raise SpecError(
                f"{name!r} is not an option of {quoted(names)}; {hint}."
                f"{did_you_mean(name, every_name)}"
            )
    return [
        _configured(kind, {name: values[name] for name in some if name in values})
        for kind, some in zip(kinds, allowed, strict=True)
    ]


def _not_a_metric(given: object) -> SpecError:
    what = f"the class {given.__name__}" if isinstance(given, type) else kind_of(given)
    return SpecError(
        f"'metric' is {what}; expected a name such as 'weat', or a Metric such as WEAT()."
    )


def _configured(kind: type[Metric] | Metric, options: Mapping[str, Any]) -> Metric:
    if isinstance(kind, type):
        return kind(**options)
    if not options:
        return kind
    varied: Metric = dataclasses.replace(kind, **options)  # type: ignore[type-var]
    return varied
