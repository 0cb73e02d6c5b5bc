"""The steps of an audit: each computes one thing and writes it to open files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from bayesbias import plots
from bayesbias.auditing import audit_figures
from bayesbias.auditing.audit_folder import Folder
from bayesbias.auditing.audit_inputs import embedding_hash, slugs
from bayesbias.auditing.audit_options import Options, leading
from bayesbias.auditing.audit_tables import read_comparison, read_csv
from bayesbias.auditing.effect_tables import coefficients_table, contrasts_table, diagnostics_table
from bayesbias.auditing.model_check import HMC, POINTS, conclusion, confirm
from bayesbias.debias import Method
from bayesbias.debias_effects import before_after
from bayesbias.distances.table import write_table
from bayesbias.embeddings import Embedding, Matching
from bayesbias.errors import BayesBiasError
from bayesbias.metrics import Metric, WEATEffectSize
from bayesbias.models import Fit, ModelSpec, compare, fit, load_fit, overview
from bayesbias.models.fitting import table_hash
from bayesbias.models.nuts.log_posterior import is_written_out
from bayesbias.rankings.parallel_scores import Settings, measure
from bayesbias.rankings.study_queries import study_queries
from bayesbias.silhouette_analysis import silhouettes
from bayesbias.wordlists import Query, Study, check_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The covariate that contrasts are adjusted for.
FREQUENCY = "log_frequency"
#: The chains of every fit; independent draws need none, but the other engine has as many.
CHAINS = 4


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a frame as CSV: all digits, no index, lists with semicolons between."""
    flat = frame.copy()
    for name in frame.columns:
        if frame[name].dtype == object:
            flat[name] = [
                "; ".join(map(str, value)) if isinstance(value, list | tuple) else value
                for value in frame[name]
            ]
    flat.to_csv(path, index=False, lineterminator="\n")


@dataclass
class Part:
    """One embedding and one study: the steps, their files and their keys."""

    folder: Folder
    place: str  # in the folder, "" or "demo/religion/"
    embedding: Embedding
    whole: str  # the hash of all of it
    study: Study
    table: pd.DataFrame
    options: Options
    methods: Mapping[str, Method]
    warned: list[str]
    keys: dict[str, str] = field(default_factory=dict)
    made: dict[str, Fit] = field(default_factory=dict)

    def run(self) -> None:
        """Do all steps, but for the report."""
        self.write_table()
        self.check_lists()
        for spec in self.options.models:
            self.fit(spec)
        self.compare()
        if self.options.confirm and self._can_confirm(self.lead):
            self.confirm()
        self.tell_effects()
        self.score()
        if self.options.silhouettes:
            self.grow_lists()
        for name, method in self.methods.items():
            self.debias(name, method)
        self.draw()

    def _step(
        self,
        name: str,
        inputs: Mapping[str, Any],
        files: tuple[str, ...],
        make: Callable[..., None],
        **more: Any,
    ) -> None:
        placed = [f"{self.place}{file}" for file in files]
        self.keys[name] = self.folder.step(f"{self.place}{name}", inputs, placed, make, **more)

    def path(self, name: str) -> Path:
        """Return where a file of this part is."""
        return self.folder.path / f"{self.place}{name}"

    # What the keys of steps are made of.

    @cached_property
    def _words(self) -> str:
        """The words of the study, and their vectors."""
        sets = self.study.word_sets().values()
        found = (self.embedding.match(words, Matching(self.options.fallbacks)) for words in sets)
        return embedding_hash(self.embedding, [word for one in found for word in one.entries])

    def _common(self, *names: str) -> dict[str, Any]:
        """Return the study and some of the options."""
        options = self.options.to_dict() | {"seed": self.options.seed}
        return {"study": self.study.to_dict()} | {name: options[name] for name in names}

    # The steps, in their order.

    def write_table(self) -> None:
        """Write all distances."""

        def make(text: Path, columns: Path) -> None:
            write_table(self.table, text)
            write_table(self.table, columns)

        inputs = {"table": table_hash(self.table), "missing": self.table.attrs["missing"]}
        self._step("table", inputs, ("table.csv", "table.parquet"), make, warned=self.warned)

    def check_lists(self) -> None:
        """Tell what is wrong with the word lists."""

        def make(lists: Path, pairs: Path, advice: Path) -> None:
            found = check_words(
                self.study,
                self.embedding,
                fallbacks=self.options.fallbacks,
                seed=self.options.seed,
            )
            write_csv(found.lists, lists)
            write_csv(found.pairs, pairs)
            advice.write_text("".join(f"{text}\n" for text in found.warnings), "utf-8")

        inputs = {"embedding": self.whole, **self._common("seed", "fallbacks")}
        self._step("lists", inputs, ("lists.csv", "list_pairs.csv", "list_warnings.txt"), make)

    @cached_property
    def _fit_names(self) -> dict[str, str]:
        return slugs([spec.name for spec in self.options.models])

    def fit_file(self, name: str) -> str:
        """Return the file of a fit."""
        return f"fits/{self._fit_names[name]}.nc"

    def _spec(self, name: str) -> ModelSpec:
        return next(spec for spec in self.options.models if spec.name == name)

    def _engine(self, name: str) -> str:
        """Return how a model was fitted."""
        engines = read_csv(self.path("diagnostics.csv")).set_index("model")["engine"]
        return str(engines[name])

    def fit(self, spec: ModelSpec) -> None:
        """Fit a model: exactly, where that can be done."""
        settings: dict[str, Any] = {
            "draws": self.options.draws,
            "chains": CHAINS,
            "seed": self.options.seed,
        }

        def make(path: Path) -> None:
            made = fit(self.table, spec, progress=self.options.progress, **settings)
            stop_if_interrupted(made)
            made.save(path)
            self.made[spec.name] = made

        inputs = {"table": self.keys["table"], "model": spec.to_dict(), **settings}
        self._step(f"fit {spec.name}", inputs, (self.fit_file(spec.name),), make)

    def fitted(self, name: str) -> Fit:
        """Return a fit, from its file if it was not made just now."""
        if name not in self.made:
            self.made[name] = load_fit(self.path(self.fit_file(name)))
        return self.made[name]

    def compare(self) -> None:
        """Compare the models, by WAIC and by leaving out whole attributes."""

        def make(waic: Path, loo: Path, health: Path) -> None:
            fits = {spec.name: self.fitted(spec.name) for spec in self.options.models}
            for path, found in (
                (waic, compare(fits, "waic")),
                (loo, compare(fits, "loo", by="word_to_compare")),
            ):
                write_csv(found.rename_axis("model").reset_index(), path)
            write_csv(diagnostics_table(fits), health)

        inputs = {"fits": [self.keys[f"fit {spec.name}"] for spec in self.options.models]}
        files = ("comparison.csv", "comparison_loo.csv", "diagnostics.csv")
        self._step("comparison", inputs, files, make)

    def _comparison(self) -> pd.DataFrame:
        return read_comparison(self.path("comparison.csv"))

    @cached_property
    def _order(self) -> list[str]:
        """The models, the best first."""
        return [str(name) for name in self._comparison().index]

    @property
    def best(self) -> str:
        """The model that predicts best."""
        return self._order[0]

    @property
    def lead(self) -> str:
        """The model that means and contrasts are from."""
        return leading(self.options.models, self._order)

    def _can_confirm(self, name: str) -> bool:
        """Return whether a model was fitted exactly and its density is written out."""
        return self._engine(name) == "exact" and is_written_out(self._spec(name))

    def confirm(self) -> None:
        """Check the exact fit of the leading model: its density and its draws."""

        def make(numbers: Path, points: Path, told: Path) -> None:
            found = confirm(
                self.fitted(self.lead), seed=self.options.seed, progress=self.options.progress
            )
            write_csv(found.comparison, numbers)
            write_csv(found.density, points)
            write_json(conclusion(found), told)

        inputs = {"fit": self.keys[f"fit {self.lead}"], **HMC, **POINTS, "seed": self.options.seed}
        files = ("confirmation.csv", "confirmation_density.csv", "confirmation.json")
        self._step("confirmation", inputs, files, make)

    def tell_effects(self) -> None:
        """Write contrasts, means, coefficients and the overview."""
        prob, rope = self.options.prob, self.options.rope
        told = list(dict.fromkeys([self.lead, *(n for n in self._order if n == "connection")]))

        def make(contrasts: Path, means: Path, coefficients: Path, seen: Path) -> None:
            lead = self.fitted(self.lead)
            equal = self._at_equal_frequency(lead)
            write_csv(contrasts_table(lead, equal=equal, prob=prob, rope=rope), contrasts)
            write_csv(lead.means(prob=prob).assign(model=self.lead), means)
            table = coefficients_table({name: self.fitted(name) for name in told}, prob)
            write_csv(table, coefficients)
            found = overview(lead, rope=rope, prob=prob)
            write_csv(found.table.rename_axis("question").reset_index(), seen)

        inputs = {"fits": [self.keys[f"fit {n}"] for n in told], "prob": prob, "rope": rope}
        files = ("contrasts.csv", "means.csv", "coefficients.csv", "overview.csv")
        self._step("effects", inputs, files, make)

    def _at_equal_frequency(self, lead: Fit) -> Fit | None:
        """Fit the leading model once more with a slope for the frequency of attributes."""
        if FREQUENCY not in self.table.columns:
            return None
        made = fit(
            self.table,
            lead.spec,
            covariates=[FREQUENCY],
            draws=self.options.draws,
            chains=CHAINS,
            seed=self.options.seed,
            progress=self.options.progress,
        )
        stop_if_interrupted(made)
        return made

    def score(self) -> None:
        """Measure the classical metrics."""
        options = self.options

        def make(path: Path, skipped: Path) -> None:
            asked, left_out = study_queries(options.metrics, self.study)
            scores = measure(
                asked,
                self.embedding,
                measuring(options),
                n_jobs=options.n_jobs,
                progress=options.progress,
            )
            rows = [score.row() | {"neutral": score.neutral_value} for score in scores]
            write_csv(pd.DataFrame(rows), path)
            write_json(left_out, skipped)

        inputs = {
            "embedding": self.whole if options.whole else self._words,
            "options": list(map(repr, options.metrics)),
            **self._common("metrics", "draws", "prob", *_LOOKING_UP),
        }
        self._step("scores", inputs, ("scores.csv", "scores_skipped.json"), make)

    def grow_lists(self) -> None:
        """Grow silhouettes of the lists, by WEAT's effect size of each pair of groups."""
        options = self.options

        def make(bands: Path, robust: Path, told: Path, svg: Path, png: Path) -> None:
            tables, numbers, verdicts, grown = [], [], {}, []
            for query in weat_queries(self.study):
                for side in ("targets", "attributes"):
                    name = f"{side} of {query.name}"
                    try:
                        found = silhouettes(
                            "weat_es",
                            query,
                            self.embedding,
                            side=side,
                            seed=options.seed,
                            prob=options.prob,
                            fallbacks=options.fallbacks,
                            n_jobs=options.n_jobs,
                            progress=options.progress,
                        )
                    except BayesBiasError as err:
                        verdicts[name] = f"Not measured: {err}"
                        continue
                    labels = {"query": query.name, "side": side}
                    tables.append(found.table.assign(**labels))
                    numbers.append(found.robustness_table.assign(**labels))
                    verdicts[name] = found.verdict()
                    grown.append(found)
            write_csv(pd.concat(tables) if tables else pd.DataFrame(columns=["k"]), bands)
            write_csv(pd.concat(numbers) if numbers else pd.DataFrame(columns=["query"]), robust)
            write_json(verdicts, told)
            audit_figures.save(partial(audit_figures.grown, grown), svg, png)

        inputs = {"embedding": self._words, **self._common("prob", *_LOOKING_UP)}
        files = ("silhouettes.csv", "robustness.csv", "silhouettes.json")
        self._step("silhouettes", inputs, (*files, *audit_figures.files("silhouettes")), make)

    def debias(self, name: str, method: Method) -> None:
        """Debias, and tell what that did, left and broke."""
        options = self.options
        matching = Matching(options.fallbacks, options.lost_vocabulary_threshold)

        def make(numbers: Path, told: Path, svg: Path, png: Path) -> None:
            found = before_after(
                self.embedding,
                method.fit(self.embedding, matching),
                self.study,
                metrics=options.metrics,
                draws=options.draws,
                seed=options.seed,
                prob=options.prob,
                matching=matching,
                n_jobs=options.n_jobs,
                progress=options.progress,
            )
            write_csv(found.table, numbers)
            told.write_text(f"{found.summary()}\n", "utf-8")
            audit_figures.save(partial(audit_figures.moved, found), svg, png)

        inputs = {
            "embedding": self.whole,
            "method": repr(method.debiaser),
            "learned from": method.described,
            "options": list(map(repr, options.metrics)),
            **self._common("metrics", "draws", "prob", *_LOOKING_UP),
        }
        files = (f"debiasing/{name}.csv", f"debiasing/{name}.txt")
        self._step(
            f"debias {name}", inputs, (*files, *audit_figures.files(f"debiasing-{name}")), make
        )

    def draw(self) -> None:
        """Draw the figures of the table and of the fits."""
        prob = self.options.prob
        lead = f"fit {self.lead}"

        def of_fit(name: str, draw: Callable[..., Axes]) -> Callable[[], Axes]:
            return lambda: draw(self.fitted(name), prob=prob)

        by_group = partial(plots.plot_means, by="protected_group")
        drawn = {
            "distances": ("table", lambda: plots.plot_distances(self.table)),
            "comparison": ("comparison", lambda: plots.plot_comparison(self._comparison())),
            "means": (lead, of_fit(self.lead, plots.plot_means)),
            "groups": (lead, of_fit(self.lead, by_group)),
            "predictive": (lead, of_fit(self.lead, plots.plot_predictive_check)),
        }
        for name in dict.fromkeys([self.lead, "connection"]):
            if name in self._order and audit_figures.has_coefficients(self._spec(name)):
                label = "coefficients" if name == self.lead else f"coefficients-{name}"
                drawn[label] = (f"fit {name}", of_fit(name, plots.plot_coefficients))
        for label, (needs, make) in drawn.items():
            inputs = {"of": self.keys[needs], "prob": prob}
            self._step(
                f"figure {label}",
                inputs,
                audit_figures.files(label),
                partial(audit_figures.save, make),
            )


_LOOKING_UP = ("seed", "fallbacks", "lost_vocabulary_threshold")


def stop_if_interrupted(made: Fit) -> None:
    """Go on with an interrupt that the sampler took as a wish to have what was drawn."""
    if made.provenance.get("interrupted"):
        raise KeyboardInterrupt


def write_json(value: object, path: Path) -> None:
    """Write plain data."""
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", "utf-8")


def measuring(options: Options) -> Settings:
    """Return how metrics are measured."""
    return Settings(
        normalize=False,
        lost_vocabulary_threshold=options.lost_vocabulary_threshold,
        fallbacks=options.fallbacks,
        seed=options.seed,
        draws=CHAINS * options.draws,
        prob=options.prob,
    )


def weat_queries(study: Study) -> list[Query]:
    """Return what a study asks of WEAT: two groups and the stereotypes of both."""
    metric: Metric = WEATEffectSize()
    asked = {chosen.name: queries for chosen, queries in study_queries([metric], study)[0]}
    return list(asked.get(metric.name, {}).values())
