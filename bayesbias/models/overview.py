"""The thesis's overview of a data set, and the same questions answered by probability."""

from __future__ import annotations

import html
from dataclasses import dataclass
from os import PathLike
from textwrap import fill

import numpy as np
import numpy.typing as npt
import pandas as pd

from bayesbias._core.array_types import Array
from bayesbias._core.constants import EQUAL
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.wording import kind_of, quoted
from bayesbias.distances import at_equal
from bayesbias.errors import SpecError
from bayesbias.models.contrasts import flat
from bayesbias.models.fitted_model import Fit
from bayesbias.models.fitting import Sampling, as_fit, fit_rows
from bayesbias.models.spec import ModelSpec, load_model
from bayesbias.numerics.intervals import Kind, check_interval, interval

# Two coefficients nearer to each other than this are called similar in the thesis's tables, and
# "slightly not" similar up to the second value, the largest difference that it reports. Together
# they reproduce all nine of its answers; none of them is "no".
_SIMILAR = 0.016
_SLIGHTLY_NOT = 0.1
_LETTERS = {"A": "associated", "D": "different", "H": "human", "N": "none"}
# Kinds of intervals; the thesis calls its own HPDI.
_ABBREVIATED = {"hdi": "HPDI", "eti": "ETI"}
_INTERVALS = {"hdi": "highest-density", "eti": "equal-tailed"}


@dataclass(frozen=True, repr=False)
class Overview:
    """Contrasts of a data set, and the rows of the thesis's tables 6.1 to 6.3.

    Parameters
    ----------
    contrasts : DataFrame
        Differences between connections for the whole data set, with intervals and probabilities.
        Read these first: they are determined by the data, which the coefficients are not.
    table : DataFrame
        One row per question of the thesis. ``answer`` is per cent of the protected words that have
        attributes of both kinds, or yes, slightly not, no, by the thesis's rule. ``probability`` is
        of the event that the rule is about: the expected share of words in per cent, or the
        posterior probability of yes. It is missing where the rule is not about such an event:
        whether intervals overlap, or exclude 0. How probable it is that two distances are close is
        in `contrasts`: the probability that their difference is within the region of practical
        equivalence. ``meaning`` says for each row what the two are. For a model with covariates,
        also ``covariates``: all rows are with ``equal`` covariates, while `contrasts` also has rows
        with the covariates as observed.
    covariates : tuple of str, default ()
        The covariates of the model.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> found = bb.overview(bb.fit(table, seed=1))
    >>> found.contrasts.iloc[[0, 2]][["contrast", "mean"]].round(2)
                     contrast  mean
    0       associated - none -0.10
    2  associated - different -0.05
    """

    contrasts: pd.DataFrame
    table: pd.DataFrame
    covariates: tuple[str, ...] = ()

    def __str__(self) -> str:
        contrasts = self.contrasts.round(3).to_string(index=False)
        shown = self.formatted()
        rules = rules_in_lines(shown.pop("meaning"))
        note = [f"All answers and probabilities are {self.at}.", ""] if self.at else []
        return "\n".join([contrasts, "", *note, shown.to_string(na_rep=""), "", *rules])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown = self.formatted().reset_index(names="question")
        with pd.option_context("display.max_colwidth", None):
            table = shown.to_html(index=False, na_rep="", border=0)
        note = f"<p>All answers and probabilities are {html.escape(self.at)}.</p>" * bool(self.at)
        return self.contrasts.round(3).to_html(index=False, border=0) + note + table

    @property
    def at(self) -> str:
        """At which values of covariates the answers are, in words; empty without covariates."""
        return at_equal(self.covariates) if self.covariates else ""

    def summary(self) -> str:
        """Return both tables as text, with what each question means.

        Returns
        -------
        str
            The contrasts, the answers and their definitions.
        """
        return str(self)

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the contrasts and the answers as two LaTeX tables.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of our own.

        Returns
        -------
        str
            Two ``table`` environments, for the packages booktabs, graphicx and
            longtable.
        """
        titles = {"prob_negative": "P(< 0)", "prob_in_rope": "P(in ROPE)"}
        text = "Contrasts of the data set." if caption is None else caption
        contrasts = frame_to_latex(self.contrasts, text, titles=titles)
        answers = self.formatted().reset_index(names="question")
        text = ", ".join(filter(None, ["Questions of the thesis", self.at])) + "."
        return contrasts + frame_to_latex(answers, text, paragraphs={"meaning"})

    def formatted(self) -> pd.DataFrame:
        """Return the table as text, rounded for reading.

        Returns
        -------
        DataFrame
            The columns of `table`: ``answer``, ``probability`` and ``meaning``, with covariates
            also ``covariates``.
        """
        table = self.table.copy()
        shares = [isinstance(answer, float) for answer in table["answer"]]
        table["answer"] = [f"{a:.2f}%" if isinstance(a, float) else a for a in table["answer"]]
        table["probability"] = [
            "" if np.isnan(p) else (f"{p:.1f}%" if share else f"{p:.3f}")
            for p, share in zip(table["probability"], shares, strict=True)
        ]
        return table


def rules_in_lines(meaning: pd.Series[str]) -> list[str]:
    """Return the rule of each question as lines of text."""
    return [fill(f"{name}: {text}", 100, subsequent_indent="  ") for name, text in meaning.items()]


def overview(
    fit: Fit | str | PathLike[str] | ModelSpec,
    *,
    table: pd.DataFrame | None = None,
    before: Fit | None = None,
    rope: float = 0.05,
    prob: float = 0.89,
    kind: Kind = "hdi",
) -> Overview:
    """Return the overview of a data set: contrasts first, then the thesis's percentages.

    The thesis made its tables from the intervals of the model ``separate`` and from the
    coefficients of the model ``connection``; the latter is fitted here with the exact engine, to
    the table of `fit`. With covariates, both models have them, and all answers are at equal values
    of the covariates.

    Parameters
    ----------
    fit : Fit, str, path-like or ModelSpec
        A fit with a mean for each protected word and connection, or a model to fit to `table`;
        ``separate`` for the thesis's own numbers, ``crossed`` for intervals that allow for the
        attributes.
    table : DataFrame, optional
        The distance table, if `fit` is a model.
    before : Fit, optional
        The fit before debiasing, if `fit` is the one after: adds the rows about what moved. The
        two fits are taken as independent; `fit_paired` uses that the words are the same.
    rope : float, default 0.05
        Region of practical equivalence of the contrasts, for their column ``prob_in_rope``.
    prob : float, default 0.89
        Probability of the intervals.
    kind : {"hdi", "eti"}, default "hdi"
        Kind of interval. The thesis's are ``eti``, whatever it calls them: use that, and the model
        ``separate``, to reproduce its tables.

    Returns
    -------
    Overview
        The contrasts and the table.

    See Also
    --------
    overviews : The same for several data sets, in one table.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> fit = bb.fit(table, "separate", engine="exact", seed=1)
    >>> found = bb.overview(fit, kind="eti")
    >>> found.table["answer"]
    A close to N                 73.333333
    A close to H                 93.333333
    H closer than A              46.666667
    D similar with A                 100.0
    D closer than A              33.333333
    General ETI outside of 0            no
    General D similar to A    slightly not
    Name: answer, dtype: object
    >>> print(found.table.loc["H closer than A", "meaning"])
    answer: share of words whose mean distance from human attributes is below that from associated
    ones; probability: the expected share of such words
    """
    check_interval(prob, kind)
    if not isinstance(rope, int | float) or not rope > 0:
        raise SpecError(f"'rope' is {rope!r}; expected a number above zero.")
    if before is not None and not isinstance(before, Fit):
        raise SpecError(f"'before' is {kind_of(before)}; expected what fit() returns.")
    fit = as_fit(fit, table)
    for one in [fit, *([before] if before is not None else [])]:
        array = one.expected(["word_to_compare"])
        if set(array.dims[2:]) != {"protected_word", "connection"}:
            raise SpecError(
                f"an overview needs a mean for each protected word and connection; model "
                f"{one.spec.name!r} has one by {list(array.dims[2:])}."
            )
    if before is not None and set(before.spec.covariates) != set(fit.spec.covariates):
        after, first = (quoted(one.spec.covariates) or "none" for one in (fit, before))
        raise SpecError(
            f"the covariates of the fit before debiasing are {first}, and those of the fit after "
            f"it are {after}; fit both with the same."
        )
    names = fit.data.levels["connection"]
    if "associated" not in names or len(names) < 2:
        raise SpecError("an overview needs associated attributes and some to compare them with.")
    contrasts = pd.concat(
        [
            fit.contrasts(f"associated - {name}", rope=rope, prob=prob, kind=kind)
            for name in reversed(names)
            if name != "associated"
        ],
        ignore_index=True,
    )
    rows = _words(fit, prob, kind) | _dataset(fit, before, prob, kind)
    answers = pd.DataFrame.from_dict(
        rows, orient="index", columns=["answer", "probability", "meaning"]
    )
    if fit.spec.covariates:
        answers.insert(2, "covariates", EQUAL)
    return Overview(contrasts, answers, fit.spec.covariates)


def _words(fit: Fit, prob: float, kind: Kind) -> dict[str, tuple[object, float, str]]:
    array = fit.expected(["word_to_compare"])
    draws = flat(array.transpose("chain", "draw", "connection", "protected_word"))
    of = dict(zip(fit.data.levels["connection"], range(draws.shape[1]), strict=True))
    low, high = interval(draws, prob, kind)
    mean = draws.mean(axis=0)
    counts = fit.data.counts(("connection", "protected_word"))
    rows: dict[str, tuple[object, float, str]] = {}

    def places(a: str, b: str) -> tuple[int, int, npt.NDArray[np.bool_]] | None:
        """Return where the two kinds of attributes are, and which words have distances from both.

        What a model says of the others, of a group without stereotypes, is mostly its prior.
        """
        if _LETTERS[a] not in of or _LETTERS[b] not in of:
            return None
        i, j = of[_LETTERS[a]], of[_LETTERS[b]]
        both = (counts[i] > 0) & (counts[j] > 0)
        return (i, j, both) if both.any() else None

    def close(name: str, a: str, b: str) -> None:
        if found := places(a, b):
            i, j, words = found
            overlap = (low[i] <= high[j]) & (low[j] <= high[i])
            rows[name] = (
                100 * float(overlap[words].mean()),
                np.nan,
                f"answer: share of words whose {prob:.0%} intervals of the distances from "
                f"{_label(a)} and {_label(b)} attributes overlap, the thesis's sign that the "
                "distances are close; probability: none, because the overlap of two intervals is "
                "not an event that has a posterior probability",
            )

    def closer(name: str, a: str, b: str) -> None:
        if found := places(a, b):
            i, j, words = found
            rows[name] = (
                100 * float((mean[i] < mean[j])[words].mean()),
                100 * float((draws[:, i] < draws[:, j])[:, words].mean()),
                f"answer: share of words whose mean distance from {_label(a)} attributes is below "
                f"that from {_label(b)} ones; probability: the expected share of such words",
            )

    close("A close to N", "A", "N")
    close("A close to H", "A", "H")
    closer("H closer than A", "H", "A")
    close("D similar with A", "D", "A")
    closer("D closer than A", "D", "A")
    return rows


def _label(letter: str) -> str:
    """Return a kind of attributes as labels name it."""
    return "neutral" if letter == "N" else _LETTERS[letter]


def _connection_fit(fit: Fit) -> Fit:
    if fit.spec.name == "connection":
        return fit
    sizes = fit.posterior.sizes
    sampling = Sampling("exact", sizes["draw"], sizes["chain"], fit.provenance["seed"])
    spec = load_model("connection").vary(covariates=fit.spec.covariates)
    return fit_rows(spec, fit.table, sampling)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _dataset(
    fit: Fit, before: Fit | None, prob: float, kind: Kind
) -> dict[str, tuple[object, float, str]]:
    names = fit.data.levels["connection"]
    general = _connection_fit(fit)
    co = general.draws("co")
    low, high = interval(co, prob, kind)
    rows: dict[str, tuple[object, float, str]] = {
        f"General {_ABBREVIATED[kind]} outside of 0": (
            _yes(bool(((low > 0) | (high < 0)).any())),
            np.nan,
            f"answer: the {prob:.0%} {_INTERVALS[kind]} interval of some coefficient co excludes "
            "0; probability: none, because the data determine only differences between "
            "coefficients, and these intervals mostly show the prior",
        )
    }
    if "different" in names:
        gap = np.abs(co[:, names.index("associated")] - co[:, names.index("different")])
        size = float(
            abs(co[:, names.index("associated")].mean() - co[:, names.index("different")].mean())
        )
        rows["General D similar to A"] = (
            "yes" if size < _SIMILAR else ("slightly not" if size <= _SLIGHTLY_NOT else "no"),
            float((gap < _SIMILAR).mean()),
            f"answer: the posterior means of co of associated and different differ by less than "
            f"{_SIMILAR} (yes), by up to {_SLIGHTLY_NOT} (slightly not) or by more (no); "
            f"probability: co of the two differ by less than {_SIMILAR}",
        )
    if before is not None:
        now, then = _expected(general), _expected(_connection_fit(before))
        for name, letter in (("General H moved closer to A", "H"), ("General N moved closer", "N")):
            word = _LETTERS[letter]
            if word in now and word in then:
                rows[name] = (
                    _yes(bool(now[word].mean() < then[word].mean())),
                    _prob_smaller(now[word], then[word]),
                    "answer: the posterior mean of the expected distance from "
                    f"{_label(letter)} attributes (m + co, averaged over the protected words) is "
                    "smaller than before; probability: that distance is smaller than before",
                )
    return rows


def _prob_smaller(now: Array, then: Array) -> float:
    """Return the probability that one quantity is below another, given independent draws of each.

    Each draw of the one is compared with every draw of the other: two fits with the same seed have
    the same random numbers, so that draws of the same place are not independent.
    """
    return float(1 - np.searchsorted(np.sort(then), now, side="right").mean() / len(then))


def _expected(general: Fit) -> dict[str, Array]:
    """Return draws of the expected distance from each kind of attribute, averaged over words."""
    array = general.expected(["word_to_compare"])
    array = array.mean([dim for dim in array.dims if dim not in ("chain", "draw", "connection")])
    draws = flat(array.transpose("chain", "draw", "connection"))
    return dict(zip(general.data.levels["connection"], draws.T, strict=True))
