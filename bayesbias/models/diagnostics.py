"""Whether a fit can be relied on, in numbers and in words."""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._core.arviz_versions import convergence
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.wording import enumerated, quoted
from bayesbias.models.spec import ModelSpec

if TYPE_CHECKING:
    from bayesbias.models.fitted_model import Fit

#: What every parameter should keep to (Vehtari et al. 2021).
R_HAT_MAX = 1.01
ESS_MIN = 400
#: What chains of the scales alone should keep to; there are 64 of them.
SCALE_R_HAT_MAX = 1.05
#: What the levels of a factor are called in messages.
_NOUNS = {
    "protected_group": "groups",
    "protected_word": "protected words",
    "word_class": "lists of attributes",
    "word_to_compare": "attributes",
    "embedding": "embeddings",
}


@dataclass(frozen=True, eq=False, repr=False)
class Diagnostics:
    """The evidence for and against the reliability of a fit.

    Parameters
    ----------
    problems : tuple of str
        Why the draws should not be relied on; empty if nothing was found.
    notes : tuple of str
        What to know about the data: levels without rows, with one row, or alone in their group.
    description : str
        The draws, in a sentence.
    spec : ModelSpec
        The model.
    posterior : xarray.Dataset
        The draws.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> bb.fit(table, "baseline", draws=500, seed=1).diagnostics()
    2,000 independent draws; Pareto k of the proposals ... (below 0.7 is good). No problem found.
    """

    problems: tuple[str, ...]
    notes: tuple[str, ...]
    description: str
    spec: ModelSpec
    posterior: xr.Dataset

    @cached_property
    def table(self) -> pd.DataFrame:
        """Effective sample sizes, R-hat and Monte Carlo error of every parameter."""
        return convergence_table(self.spec, self.posterior)

    @property
    def ok(self) -> bool:
        """Whether no problem was found."""
        return not self.problems

    def __str__(self) -> str:
        verdict = (
            "No problem found." if self.ok else f"Not to be relied on: {'; '.join(self.problems)}."
        )
        notes = f" Note: {'; '.join(self.notes)}." if self.notes else ""
        return f"{self.description} {verdict}{notes}"

    __repr__ = __str__

    def summary(self) -> str:
        """Return the diagnostics of the fit in plain words.

        Returns
        -------
        str
            The draws, the verdict and what to know about the data.
        """
        return str(self)

    def _repr_html_(self) -> str:
        shown = self._worst().round(3).to_html(index=False, border=0)
        return f"<p>{html.escape(str(self))}</p>{shown}"

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the convergence of each kind of parameter as a LaTeX table.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of our own.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
        """
        titles = {"r_hat": "largest R-hat", "ess_bulk": "smallest bulk ESS",
                  "ess_tail": "smallest tail ESS"}  # fmt: skip
        return frame_to_latex(
            self._worst(),
            f"Model {self.spec.name}: {self}" if caption is None else caption,
            titles=titles,
            decimals={"r_hat": 3, "ess_bulk": 0, "ess_tail": 0},
        )

    def _worst(self) -> pd.DataFrame:
        """Return the worst value of each diagnostic over the levels of a parameter."""
        names = self.table.index.str.partition("[").get_level_values(0).rename("parameter")
        worst = self.table.groupby(names, sort=False).agg(
            values=("r_hat", "size"),
            r_hat=("r_hat", "max"),
            ess_bulk=("ess_bulk", "min"),
            ess_tail=("ess_tail", "min"),
        )
        return worst.reset_index()


def convergence_table(spec: ModelSpec, posterior: xr.Dataset) -> pd.DataFrame:
    """Return one row per value of a parameter, named ``theta[imam, none]``."""
    measures = convergence(posterior)
    parts = []
    for p in spec.parameters:
        array = posterior[p.name]
        names = [f"{p.name}[{', '.join(level)}]" for level in _levels(array, p.by)] or [p.name]
        values = {key: np.ravel(value[p.name].to_numpy()) for key, value in measures.items()}
        parts.append(pd.DataFrame(values, index=names))
    return pd.concat(parts)


def _levels(array: xr.DataArray, by: tuple[str, ...]) -> list[tuple[str, ...]]:
    if not by:
        return []
    return list(pd.MultiIndex.from_product([array[name].to_numpy() for name in by]))


def diagnose(fit: Fit) -> Diagnostics:
    """Look at the draws and at the data of a fit."""
    sizes = fit.posterior.sizes
    n = sizes["chain"] * sizes["draw"]
    notes = tuple(data_notes(fit))
    if fit.provenance["engine"] == "exact":
        return _of_exact_draws(fit, n, notes)
    table = convergence_table(fit.spec, fit.posterior)
    worst = int(table["ess_bulk"].argmin())
    text = (
        f"{sizes['chain']} chains of {sizes['draw']} draws; largest R-hat "
        f"{table['r_hat'].max():.3f}, smallest effective sample size "
        f"{table['ess_bulk'].iloc[worst]:.0f} ({table.index[worst]}), "
        f"{int(fit.sample_stats['diverging'].sum())} divergences."
    )
    problems = tuple(_sampling_problems(fit, table))
    result = Diagnostics(problems, notes, text, fit.spec, fit.posterior)
    result.__dict__["table"] = table
    return result


def _of_exact_draws(fit: Fit, n: int, notes: tuple[str, ...]) -> Diagnostics:
    """Look at how the exact engine drew the scales; given those, all else is exact."""
    how = fit.provenance
    distinct = int(how.get("scale_draws", n))
    several = f" ({distinct:,} of the scales)" if distinct < n else ""
    problems: tuple[str, ...] = ()
    if how.get("scale_sampler") == "hmc":
        text = (
            f"{n:,} draws{several}, the scales of some by Hamiltonian Monte Carlo with the other "
            f"parameters integrated out; largest R-hat {how['scale_r_hat']:.3f}."
        )
        if not how["scale_r_hat"] < SCALE_R_HAT_MAX:
            problems = (
                f"R-hat of a scale is {how['scale_r_hat']:.2f}: the chains do not agree; use "
                "engine='nuts', or a model with fewer scales",
            )
    else:
        text = (
            f"{n:,} independent draws{several}; Pareto k of the proposals "
            f"{how['pareto_k']:.2f} (below 0.7 is good)."
        )
    return Diagnostics(problems, notes, text, fit.spec, fit.posterior)


def _sampling_problems(fit: Fit, table: pd.DataFrame) -> list[str]:
    problems: list[str] = []
    diverging = int(fit.sample_stats["diverging"].sum())
    if diverging:
        problems.append(
            f"{diverging} divergences: the sampler could not follow the posterior everywhere; "
            "raise target_accept or use engine='exact'"
        )
    if fit.provenance.get("interrupted"):
        problems.append("sampling was interrupted, and these are the draws made until then")
    high = table.index[~(table["r_hat"] < R_HAT_MAX)]
    if fit.posterior.sizes["chain"] < 2:
        problems.append("with one chain nothing can be said about convergence; use two or more")
    elif len(high):
        problems.append(
            f"R-hat is {R_HAT_MAX} or more for {len(high)} of {len(table)} values "
            f"({quoted(high, 3)}): the chains do not agree; draw more"
        )
    low = table.index[~(table[["ess_bulk", "ess_tail"]].min(axis=1) >= ESS_MIN)]
    if len(low):
        problems.append(
            f"the effective sample size is below {ESS_MIN} for {len(low)} of {len(table)} values "
            f"({quoted(low, 3)}): their intervals are rough; draw more"
        )
    return problems


def data_notes(fit: Fit) -> list[str]:
    """Say which estimates rest on no row, on one row, or on a scale with nothing to compare."""
    spec, data = fit.spec, fit.data
    notes = []
    for name in spec.mean:
        by = spec[name].by
        if "protected_word" not in by:
            continue
        counts = data.counts(by)
        for n, what in ((0, "no row"), (1, "one row")):
            cells = np.argwhere(counts == n)
            if len(cells):
                labels = [
                    " – ".join(data.levels[f][i] for f, i in zip(by, cell, strict=True))
                    for cell in cells
                ]
                how = "is what the rest of the model says" if n == 0 else "is uncertain"
                notes.append(
                    f"{len(cells)} of {counts.size} cells have {what}, where {name} {how}: "
                    f"{quoted(labels, 4)}"
                )
    return [*notes, *_nothing_shared(fit), *_scales_of_one_value(fit)]


def _nothing_shared(fit: Fit) -> list[str]:
    """Say which embeddings, for instance, have no pair of words in common."""
    if fit.spec.common is None:
        return []
    over = fit.spec.over(fit.spec.common)
    pairs = fit.table.groupby(["protected_word", "word_to_compare"], observed=True).ngroup()
    of_level = pairs.groupby(fit.table[over].astype("str"), sort=False).agg(set)
    apart = [
        f"{one} – {other}"
        for one, other in combinations(of_level.index, 2)
        if not of_level[one] & of_level[other]
    ]
    if not apart:
        return []
    return [
        f"no pair of words is in both of {quoted(apart, 4)}, so that nothing is known of what they "
        "have in common, and their difference is that of other words; use the same words"
    ]


def _scales_of_one_value(fit: Fit) -> list[str]:
    """Say which scales are of one effect each, and what the table would need more of."""
    spec, data = fit.spec, fit.data
    scales: dict[str, list[str]] = {}
    for p in spec.parameters:
        if p.prior.sd is None:
            continue
        members = int(np.prod(data.shape(p.by), dtype=int))
        groups = int(np.prod(data.shape(spec[p.prior.sd].by), dtype=int))
        if members == groups:
            single = [_NOUNS[f] for f in p.by if f in _NOUNS and len(data.levels[f]) == 1]
            scales.setdefault(enumerated(single) or "protected words", []).append(p.prior.sd)
    return [
        f"{enumerated(names)} {'is' if len(names) == 1 else 'are each'} estimated from one value, "
        f"and mostly {'shows its prior' if len(names) == 1 else 'show their priors'}; use model "
        f"'separate', or more {lacking}"
        for lacking, names in scales.items()
    ]
