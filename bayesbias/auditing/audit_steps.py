"""The steps of an audit: each computes one thing, and leaves its artefacts in the folder."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from bayesbias import plots
from bayesbias.auditing import artifacts, audit_figures
from bayesbias.auditing.artifacts import Artifact, Content, Step
from bayesbias.auditing.audit_figures import Draw
from bayesbias.auditing.audit_folder import Folder
from bayesbias.auditing.audit_inputs import embedding_hash, slugs
from bayesbias.auditing.audit_options import FREQUENCY, Options, leading
from bayesbias.auditing.effect_tables import (
    coefficients_table,
    contrasts_table,
    diagnostics_row,
    diagnostics_table,
    shown_words,
)
from bayesbias.auditing.exact_density import POINTS
from bayesbias.auditing.model_check import conclusion, confirm
from bayesbias.auditing.second_sampler import HMC
from bayesbias.debias import Method
from bayesbias.debias_effects import before_after
from bayesbias.distances import distance_table
from bayesbias.embeddings import Embedding
from bayesbias.errors import BayesBiasError, BayesBiasWarning, DataError
from bayesbias.metrics import Metric, WEATEffectSize
from bayesbias.models import (
    Elpd,
    Fit,
    ModelSpec,
    compare,
    fit,
    overview,
    seconds_to_fit,
    standardised,
    table_hash,
)
from bayesbias.models.nuts import is_written_out
from bayesbias.rankings import Settings, measure, study_queries
from bayesbias.silhouette_analysis import Silhouettes, silhouettes
from bayesbias.wordlists import Query, Study, check_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The chains of every fit; independent draws need none, but the other engine has as many.
CHAINS = 4
#: What a step made: the content of each of its artefacts.
Contents: TypeAlias = Mapping[Artifact[Any], Any]

_SIDES: tuple[Literal["targets", "attributes"], ...] = ("targets", "attributes")


@dataclass
class Part:
    """One embedding and one study: the steps, their artefacts and their keys."""

    folder: Folder
    place: str  # in the folder, "" or "demo/religion/"
    embedding: Embedding
    embedding_hash: str  # of all of it
    study: Study
    table: pd.DataFrame
    options: Options
    methods: Mapping[str, Method]
    warned: list[str]
    keys: dict[str, str] = field(default_factory=dict)
    loaded_fits: dict[str, Fit] = field(default_factory=dict)

    def run(self) -> None:
        """Do all steps, but for the report."""
        self.write_table()
        self.check_lists()
        for spec in self.options.models:
            self.fit(spec)
        self.compare()
        if self.options.confirm and self._can_confirm(self.lead):
            self.confirm()
        if self._has_frequency:
            self.fit_at_equal_frequency()
        self.estimate_effects()
        self.score()
        if self.options.silhouettes:
            self.grow_lists()
        for name, method in self.methods.items():
            self.debias(name, method)
        self.draw()

    def planned(self) -> list[tuple[Step, str]]:
        """Return all steps that `run` may do, in order, with the model, method or figure of each.

        Whether the draws can be checked, and whether there are coefficients to draw, is known only
        when the models have been compared.
        """
        options = self.options
        confirmed = [(artifacts.CONFIRMATION_STEP, "")] if options.confirm else []
        adjusted = [(artifacts.EQUAL_FREQUENCY_STEP, "")] if self._has_frequency else []
        grown = [(artifacts.SILHOUETTES_STEP, "")] if options.silhouettes else []
        return [
            (artifacts.TABLE_STEP, ""),
            (artifacts.LISTS_STEP, ""),
            *((artifacts.FIT_STEP, spec.name) for spec in options.models),
            (artifacts.COMPARISON_STEP, ""),
            *confirmed,
            *adjusted,
            (artifacts.EFFECTS_STEP, ""),
            (artifacts.SCORES_STEP, ""),
            *grown,
            *((artifacts.DEBIASING_STEP, name) for name in self.methods),
            *((artifacts.FIGURE_STEP, name) for name in artifacts.FIGURES),
        ]

    def _step(
        self,
        step: Step,
        inputs: Mapping[str, Any],
        make: Callable[[], Contents],
        *,
        of: str = "",
        file: str = "",
        warned: Sequence[str] = (),
        seconds: Callable[[], float | None] | None = None,
    ) -> None:
        """Do a step for a model, a method or a figure, whose files may have another name."""
        label = step.label(of)
        self.keys[label] = self.folder.step(
            f"{self.place}{label}",
            inputs,
            [f"{self.place}{path}" for path in step.paths(file or of)],
            lambda *paths: step.write(make(), *paths),
            warned=warned,
            seconds=seconds,
        )

    def key(self, step: Step, of: str = "") -> str:
        """Return what a step depends on, as one hash."""
        return self.keys[step.label(of)]

    def _read(self, artifact: Artifact[Content], of: str = "") -> Content:
        return artifact.load(self.folder.path / self.place, of)

    # What the keys of steps are made of.

    @cached_property
    def _words_hash(self) -> str:
        """The hash of the words of the study, and of their vectors."""
        sets = self.study.word_sets().values()
        entries = [entry for words in sets for entry in self.embedding.match(words).entries]
        return embedding_hash(self.embedding, entries)

    def _common(self, *names: str) -> dict[str, Any]:
        """Return the study, how its words are matched, the seed and some of the options."""
        options = self.options.to_dict()
        return {
            "study": {k: v for k, v in self.study.to_dict().items() if k != "labels"},
            "matching": asdict(self.embedding.matching),
            "seed": self.options.seed,
            **{name: options[name] for name in names},
        }

    # The steps, in their order.

    def write_table(self) -> None:
        """Write all distances."""
        inputs = {"table": table_hash(self.table), "missing": self.table.attrs["missing"]}
        self._step(
            artifacts.TABLE_STEP,
            inputs,
            lambda: {artifacts.TABLE: self.table},
            warned=self.warned,
        )

    def check_lists(self) -> None:
        """Check the word lists."""

        def make() -> Contents:
            checked = check_words(self.study, self.embedding, seed=self.options.seed)
            return {
                artifacts.LISTS: checked.lists,
                artifacts.LIST_PAIRS: checked.pairs,
                artifacts.LIST_WARNINGS: checked.warnings,
            }

        inputs = {"embedding": self.embedding_hash, **self._common()}
        self._step(artifacts.LISTS_STEP, inputs, make)

    @property
    def _settings(self) -> dict[str, Any]:
        """How every model is fitted."""
        return {"draws": self.options.draws, "chains": CHAINS, "seed": self.options.seed}

    def fit(self, spec: ModelSpec) -> None:
        """Fit a model: exactly, where that can be done."""

        def make() -> Contents:
            fitted = fit(self.table, spec, progress=self.options.progress, **self._settings)
            stop_if_interrupted(fitted)
            return {artifacts.FIT: fitted}

        inputs = {
            "table": self.key(artifacts.TABLE_STEP), "model": spec.to_dict(), **self._settings
        }  # fmt: skip
        draws = CHAINS * self.options.draws
        self._step(
            artifacts.FIT_STEP,
            inputs,
            make,
            of=spec.name,
            file=self._fit_files[spec.name],
            seconds=lambda: seconds_to_fit(self.table, spec, draws),
        )

    @cached_property
    def _fit_files(self) -> dict[str, str]:
        return slugs([spec.name for spec in self.options.models])

    def fitted(self, name: str) -> Fit:
        """Return a fit from its file, and keep it until another one is asked for.

        Together, the fits of a long table need many times the memory of one.
        """
        if name not in self.loaded_fits:
            self.loaded_fits.clear()
            self.loaded_fits[name] = self._read(artifacts.FIT, self._fit_files[name])
        return self.loaded_fits[name]

    def fit_key(self, name: str) -> str:
        """Return the key of the fit of a model."""
        return self.key(artifacts.FIT_STEP, name)

    def compare(self) -> None:
        """Compare the models, by WAIC and by leaving out whole attributes."""

        def make() -> Contents:
            names = [spec.name for spec in self.options.models]
            waic, loo, diagnostics = zip(*map(self._criteria, names), strict=True)
            return {
                artifacts.COMPARISON: compare(dict(zip(names, waic, strict=True)), "waic"),
                artifacts.COMPARISON_LOO: compare(dict(zip(names, loo, strict=True)), "loo"),
                artifacts.DIAGNOSTICS: diagnostics_table(diagnostics),
            }

        inputs = {"fits": [self.fit_key(spec.name) for spec in self.options.models]}
        self._step(artifacts.COMPARISON_STEP, inputs, make)

    def _criteria(self, name: str) -> tuple[Elpd, Elpd, dict[str, Any]]:
        """Return WAIC, leave-one-out by attribute and the diagnostics of a fit, then let it go."""
        fitted = self.fitted(name)
        return fitted.waic(), fitted.loo(by="word_to_compare"), diagnostics_row(name, fitted)

    @cached_property
    def _order(self) -> list[str]:
        """The models, the best first."""
        return [str(name) for name in self._read(artifacts.COMPARISON).index]

    @property
    def lead(self) -> str:
        """The model that means and contrasts are from."""
        return leading(self.options.models, self._order)

    def _spec(self, name: str) -> ModelSpec:
        return next(spec for spec in self.options.models if spec.name == name)

    def _can_confirm(self, name: str) -> bool:
        """Return whether a model was fitted exactly and its density is written out."""
        engines = self._read(artifacts.DIAGNOSTICS).set_index("model")["engine"]
        return engines[name] == "exact" and is_written_out(self._spec(name))

    def confirm(self) -> None:
        """Check the exact fit of the leading model: its density and its draws."""
        seed = self.options.seed

        def make() -> Contents:
            checks = confirm(self.fitted(self.lead), seed=seed, progress=self.options.progress)
            return {
                artifacts.CONFIRMATION_DRAWS: checks.comparison,
                artifacts.CONFIRMATION_DENSITY: checks.density,
                artifacts.CONFIRMATION: conclusion(checks),
            }

        inputs = {"fit": self.fit_key(self.lead), **HMC, **POINTS, "seed": seed}
        self._step(artifacts.CONFIRMATION_STEP, inputs, make)

    @property
    def _has_frequency(self) -> bool:
        return FREQUENCY in self.table

    def fit_at_equal_frequency(self) -> None:
        """Fit the leading model once more with a slope for the frequency of attributes."""
        spec, covariates = self._spec(self.lead), [FREQUENCY]

        def make() -> Contents:
            self.loaded_fits.clear()  # another fit needs room
            fitted = fit(
                self.table,
                spec,
                covariates=covariates,
                progress=self.options.progress,
                **self._settings,
            )
            stop_if_interrupted(fitted)
            return {artifacts.EQUAL_FREQUENCY_FIT: fitted}

        inputs = {
            "table": self.key(artifacts.TABLE_STEP),
            "model": spec.to_dict(),
            "covariates": covariates,
            **self._settings,
        }
        draws = CHAINS * self.options.draws
        self._step(
            artifacts.EQUAL_FREQUENCY_STEP,
            inputs,
            make,
            seconds=lambda: seconds_to_fit(self.table, spec, draws),
        )

    def read_fit_at_equal_frequency(self) -> Fit | None:
        """Return that fit from its file; None without frequencies."""
        return self._read(artifacts.EQUAL_FREQUENCY_FIT) if self._has_frequency else None

    def estimate_effects(self) -> None:
        """Write contrasts, means, coefficients and the overview."""
        prob, rope = self.options.prob, self.options.rope
        shown = list(dict.fromkeys([self.lead, *(n for n in self._order if n == "connection")]))

        def make() -> Contents:
            self.loaded_fits.clear()  # another fit needs room
            equal = self.read_fit_at_equal_frequency()
            lead = self.fitted(self.lead)
            fits = {name: self.fitted(name) for name in shown}
            return {
                artifacts.CONTRASTS: contrasts_table(lead, equal=equal, prob=prob, rope=rope),
                artifacts.MEANS: lead.means(prob=prob).assign(model=self.lead),
                artifacts.COEFFICIENTS: coefficients_table(fits, prob),
                artifacts.OVERVIEW: overview(lead, rope=rope, prob=prob).table,
            }

        inputs = {
            "fits": [self.fit_key(name) for name in shown],
            "equal frequency": (
                self.key(artifacts.EQUAL_FREQUENCY_STEP) if self._has_frequency else None
            ),
            "prob": prob,
            "rope": rope,
        }
        self._step(artifacts.EFFECTS_STEP, inputs, make)

    def score(self) -> None:
        """Measure the classical metrics."""
        options = self.options

        def make() -> Contents:
            asked, left_out = study_queries(options.metrics, self.study)
            scores = measure(
                asked,
                self.embedding,
                self._metric_settings(),
                n_jobs=options.n_jobs,
                progress=options.progress,
            )
            rows = [score.row() | {"neutral": score.neutral_value} for score in scores]
            return {artifacts.SCORES: pd.DataFrame(rows), artifacts.SKIPPED: left_out}

        inputs = {
            "embedding": self.embedding_hash if options.whole else self._words_hash,
            "options": list(map(repr, options.metrics)),
            **self._common("metrics", "draws", "prob"),
        }
        self._step(artifacts.SCORES_STEP, inputs, make)

    def _metric_settings(self) -> Settings:
        """Return how metrics are measured."""
        return Settings(
            seed=self.options.seed,
            draws=CHAINS * self.options.draws,
            prob=self.options.prob,
        )

    def grow_lists(self) -> None:
        """Grow silhouettes of the lists, by WEAT's effect size of each pair of groups."""

        def make() -> Contents:
            bands, numbers, verdicts, grown = [], [], {}, []
            for query in weat_queries(self.study):
                for side in _SIDES:
                    name = f"{side} of {query.name}"
                    try:
                        result = self._silhouettes(query, side)
                    except BayesBiasError as err:
                        verdicts[name] = f"Not measured: {err}"
                        continue
                    labels = {"query": query.name, "side": side}
                    bands.append(result.table.assign(**labels))
                    numbers.append(result.robustness_table.assign(**labels))
                    verdicts[name] = result.verdict()
                    grown.append(result)
            return {
                artifacts.SILHOUETTES: joined(bands),
                artifacts.ROBUSTNESS: joined(numbers),
                artifacts.VERDICTS: verdicts,
                artifacts.SILHOUETTES_FIGURE: partial(audit_figures.grown, grown, self.study),
            }

        # Random lists are drawn from the whole vocabulary.
        labels = self.study.to_dict().get("labels")
        inputs = {"embedding": self.embedding_hash, "labels": labels, **self._common("prob")}
        self._step(artifacts.SILHOUETTES_STEP, inputs, make)

    def _silhouettes(self, query: Query, side: Literal["targets", "attributes"]) -> Silhouettes:
        return silhouettes(
            "weat_es",
            query,
            self.embedding,
            side=side,
            seed=self.options.seed,
            prob=self.options.prob,
            n_jobs=self.options.n_jobs,
            progress=self.options.progress,
        )

    def debias(self, name: str, method: Method) -> None:
        """Debias, and measure what that changed, what bias is left, and the side effects."""
        options = self.options
        covariate = options.frequencies.covariate if self._has_frequency else {}

        def make() -> Contents:
            result = before_after(
                self.embedding,
                method.fit(self.embedding, self.embedding.matching),
                self.study,
                metrics=options.metrics,
                draws=options.draws,
                seed=options.seed,
                prob=options.prob,
                n_jobs=options.n_jobs,
                progress=options.progress,
                **covariate,
            )
            without = {} if "covariates" in result.table else {"covariates": ""}
            return {
                artifacts.BEFORE_AFTER: result.table.assign(**without),
                artifacts.DEBIASING_TEXT: result.summary().splitlines(),
                artifacts.DEBIASING_FIGURE: partial(audit_figures.moved, result),
            }

        inputs = {
            "embedding": self.embedding_hash,
            "table": self.key(artifacts.TABLE_STEP),
            "method": repr(method.debiaser),
            "learned from": method.described,
            "labels": self.study.to_dict().get("labels"),
            "options": list(map(repr, options.metrics)),
            **self._common("metrics", "draws", "prob"),
        }
        self._step(artifacts.DEBIASING_STEP, inputs, make, of=name)

    def draw(self) -> None:
        """Draw the figures of the table and of the fits."""
        prob, lead = self.options.prob, self.lead

        def of_fit(name: str, draw: Callable[..., Axes]) -> tuple[str, Draw]:
            return self.fit_key(name), lambda: draw(self.fitted(name), prob=prob)

        def of_words(fitted: Fit, prob: float) -> Axes:
            words = shown_words(self._read(artifacts.CONTRASTS))
            return plots.plot_means(fitted, study=self.study, prob=prob, words=words)

        @cache  # each figure is drawn twice
        def predicted() -> plots.PredictedDensities:
            return plots.predicted_densities(self.fitted(lead), prob=prob)

        figures: dict[str, tuple[str, Draw]] = {
            artifacts.DISTANCES_FIGURE: (
                self.key(artifacts.TABLE_STEP),
                lambda: plots.plot_distances(self.table),
            ),
            artifacts.COMPARISON_FIGURE: (
                self.key(artifacts.COMPARISON_STEP),
                lambda: plots.plot_comparison(self._read(artifacts.COMPARISON)),
            ),
            artifacts.MEANS_FIGURE: of_fit(lead, of_words),
            artifacts.GROUPS_FIGURE: of_fit(
                lead, partial(plots.plot_means, study=self.study, by="protected_group")
            ),
            artifacts.PREDICTIVE_FIGURE: (
                self.fit_key(lead),
                lambda: plots.draw_predicted(predicted()),
            ),
        }
        if audit_figures.has_coefficients(self._spec(lead)):
            figures[artifacts.COEFFICIENTS_FIGURE] = of_fit(lead, plots.plot_coefficients)
        for figure, (key, draw) in figures.items():
            self._step(
                artifacts.FIGURE_STEP,
                {"of": key, "prob": prob, "labels": self.study.to_dict().get("labels")},
                partial(dict, [(artifacts.FIGURE, draw)]),
                of=figure,
            )


def part_table(
    embedding: Embedding, study: Study, options: Options
) -> tuple[pd.DataFrame, list[str]]:
    """Return the distances, and what there is to be warned of."""

    def build(**how: Any) -> tuple[pd.DataFrame, list[str]]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", BayesBiasWarning)
            table = distance_table(embedding, study, **how)
        if FREQUENCY in table:
            # One that is the same for all attributes is refused before long work.
            standardised(FREQUENCY, table[FREQUENCY].to_numpy(dtype=np.float64))
        return table, list(dict.fromkeys(str(one.message) for one in caught))

    try:
        return build(**options.frequencies.covariate)
    except DataError as err:
        if not options.frequencies.source.is_order:
            raise  # these frequencies were asked for
        # What is wrong with the words themselves is raised again here.
        table, warned = build()
        return table, [*warned, f"Contrasts at equal frequency are not given: {err}"]


def joined(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return tables below each other; an empty one if there are none."""
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def stop_if_interrupted(fitted: Fit) -> None:
    """Go on with an interrupt that the sampler took as a wish to have what was drawn."""
    if fitted.provenance.get("interrupted"):
        raise KeyboardInterrupt


def weat_queries(study: Study) -> list[Query]:
    """Return what a study asks of WEAT: two groups and the stereotypes of both."""
    metric: Metric = WEATEffectSize()
    asked = {chosen.name: queries for chosen, queries in study_queries([metric], study)[0]}
    return list(asked.get(metric.name, {}).values())
