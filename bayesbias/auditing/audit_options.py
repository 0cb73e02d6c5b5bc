"""How an audit is done: everything that can be chosen, checked before any work."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeAlias

from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least, check_jobs, named, one_of, positive
from bayesbias._core.wording import quoted
from bayesbias.auditing.audit_inputs import check_distinct
from bayesbias.debias import DEBIASERS
from bayesbias.debias_effects import CLASSICAL
from bayesbias.errors import SpecError
from bayesbias.metrics import Metric, MetricLike, as_metrics
from bayesbias.models import MODELS, ModelSpec, load_model
from bayesbias.numerics.intervals import check_interval
from bayesbias.wordlists import Frequencies, FrequencySource, Unknown, frequency_source

#: The model that leads, chosen by how often its intervals contain the true value.
LEAD = "interaction"
#: The covariate that contrasts are adjusted for.
FREQUENCY = "log_frequency"
#: A model of the catalogue by its name, a TOML file, or a ModelSpec.
Model: TypeAlias = str | PathLike[str] | ModelSpec


@dataclass(frozen=True)
class AskedFrequencies:
    """Where frequencies are from, and what becomes of words without one."""

    source: FrequencySource
    unknown: Unknown

    @classmethod
    def of(cls, frequencies: Frequencies, unknown_frequency: Unknown) -> AskedFrequencies:
        """Check both."""
        one_of("unknown_frequency", unknown_frequency, ("error", "lowest"))
        # Words are matched with counts as each embedding matches them.
        return cls(frequency_source(frequencies, None), unknown_frequency)

    @property
    def covariate(self) -> dict[str, Any]:
        """The arguments of `distance_table` and `before_after` that make it a covariate."""
        return {
            "covariates": [FREQUENCY],
            "frequencies": self.source,
            "unknown_frequency": self.unknown,
        }


@dataclass(frozen=True)
class Options:
    """The options of `audit`, as they are used."""

    models: tuple[ModelSpec, ...]
    metrics: tuple[Metric, ...]
    debias: tuple[str, ...]
    confirm: bool
    silhouettes: bool
    frequencies: AskedFrequencies
    draws: int
    seed: int
    prob: float
    rope: float
    n_jobs: int
    progress: bool

    @classmethod
    def of(
        cls,
        *,
        models: Model | Iterable[Model] | None,
        metrics: MetricLike | Iterable[MetricLike],
        debias: str | Iterable[str],
        confirm: bool,
        silhouettes: bool,
        frequencies: AskedFrequencies,
        draws: int,
        seed: Seed,
        prob: float,
        rope: float,
        n_jobs: int,
        progress: bool,
    ) -> Options:
        """Check everything."""
        check_interval(prob, "hdi")
        check_jobs(n_jobs)
        given = (debias,) if isinstance(debias, str) else tuple(debias)
        methods = tuple(named("debias", name, DEBIASERS) for name in given)
        check_distinct("debias", methods)
        return cls(
            models=_models(models),
            metrics=tuple(as_metrics(metrics, None)),
            debias=methods,
            confirm=bool(confirm),
            silhouettes=bool(silhouettes),
            frequencies=frequencies,
            draws=at_least("draws", draws, 100),
            seed=as_seed(seed),
            prob=float(prob),
            rope=positive("rope", rope),
            n_jobs=n_jobs,
            progress=progress,
        )

    @property
    def whole(self) -> bool:
        """Whether more of an embedding is needed than words of studies and some to compare with.

        The metrics that are there by default could look at all of it, but do so only if asked to.
        """
        asked = [metric for metric in self.metrics if metric.name not in CLASSICAL]
        return bool(self.debias) or any(metric.whole_embedding for metric in asked)

    def to_dict(self) -> dict[str, Any]:
        """Return what the record of an audit says of them."""
        return {
            "models": [spec.name for spec in self.models],
            "metrics": [metric.name for metric in self.metrics],
            "debias": list(self.debias),
            "confirm": self.confirm,
            "silhouettes": self.silhouettes,
            "frequencies": self.frequencies.source.label,
            "unknown_frequency": self.frequencies.unknown,
            "draws": self.draws,
            "prob": self.prob,
            "rope": self.rope,
        }


def has_means(spec: ModelSpec) -> bool:
    """Return whether a model has one mean for each protected word and connection.

    With covariates there are two: at equal ones, and as observed.
    """
    if spec.covariates:
        return False
    by = {factor for name in spec.mean for factor in spec[name].by} - {"word_to_compare"}
    together = any({"protected_word", "connection"} <= set(spec[name].by) for name in spec.mean)
    return together and by <= {"protected_word", "connection", "protected_group", "word_class"}


def leading(models: Iterable[ModelSpec], order: Sequence[str]) -> str:
    """Return the model that means and contrasts are from.

    That is the one whose intervals contain the true value as often as stated, whatever predicts
    best on this table; without it, the best by `order` of those with a mean for each word and
    connection.
    """
    names = {spec.name for spec in models if has_means(spec)}
    return LEAD if LEAD in names else next(name for name in order if name in names)


def _models(models: Model | Iterable[Model] | None) -> tuple[ModelSpec, ...]:
    if models is None:
        specs = [load_model(name) for name in MODELS]
        return tuple(spec for spec in specs if not _unfit(spec))
    one = isinstance(models, str | PathLike | ModelSpec)
    given: Iterable[Model] = [models] if one else models  # type: ignore[list-item, assignment]
    specs = [load_model(model) for model in given]
    for spec in specs:
        if why := _unfit(spec):
            raise SpecError(f"model {spec.name!r} {why}.")
    check_distinct("models", [spec.name for spec in specs])
    if not any(map(has_means, specs)):
        fit = [name for name in MODELS if has_means(spec := load_model(name)) and not _unfit(spec)]
        raise SpecError(
            f"'models' is {quoted(spec.name for spec in specs) or 'empty'}; one of them needs a "
            "mean for each protected word and connection, and no covariates, such as "
            f"{quoted(fit)}."
        )
    return tuple(specs)


def _unfit(spec: ModelSpec) -> str:
    """Say why a model is not one of a table of a single embedding; nothing if it is."""
    if "/" in spec.name:
        return "has a name with '/' in it, which no file can have; give it another"
    if "embedding" in spec.factors:
        return "is for several embeddings in one table; it is fitted when there are several"
    return ""
