"""The overviews of several data sets beside each other, as in the thesis's tables."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from bayesbias._core.latex import frame_to_latex
from bayesbias._core.wording import capitalized, did_you_mean, enumerated, kind_of, quoted
from bayesbias.errors import SpecError
from bayesbias.models.fitted_model import Fit
from bayesbias.models.overview import Overview, overview, rules_in_lines
from bayesbias.numerics.intervals import Kind

# Columns of the tables that are not of a data set.
_OTHER_COLUMNS = ("question", "meaning")


@dataclass(frozen=True, repr=False)
class Overviews:
    """The overviews of several data sets, one column each; made by `overviews`.

    Parameters
    ----------
    each : mapping of str to Overview
        The overview of each data set, by its name.

    Examples
    --------
    >>> import bayesbias as bb
    >>> fits = {
    ...     name: bb.fit(bb.distance_table("demo", name), "separate", draws=250, seed=1)
    ...     for name in ("religion", "gender")
    ... }
    >>> bb.overviews(fits, kind="eti").table.loc["D closer than A"]
    religion    33.333333
    gender      21.428571
    Name: D closer than A, dtype: object
    """

    each: Mapping[str, Overview]

    @property
    def table(self) -> pd.DataFrame:
        """The answers: one row per question, one column per data set."""
        return self._columns("answer")

    @property
    def probabilities(self) -> pd.DataFrame:
        """The probabilities of what the rules are about, in the same layout."""
        return self._columns("probability")

    @property
    def meaning(self) -> pd.Series[str]:
        """What the answer and the probability of each question are."""
        rules = pd.concat([found.table["meaning"] for found in self.each.values()])
        first: pd.Series[str] = rules[~rules.index.duplicated()].reindex(self._questions())
        return first

    @property
    def contrasts(self) -> pd.DataFrame:
        """The contrasts of all data sets, with their names in the column ``data_set``."""
        parts = [found.contrasts.assign(data_set=name) for name, found in self.each.items()]
        every = pd.concat(parts, ignore_index=True)
        return every[["data_set", *every.columns.drop("data_set")]]

    def _columns(self, column: str) -> pd.DataFrame:
        return pd.DataFrame({name: found.table[column] for name, found in self.each.items()})[
            list(self.each)
        ].reindex(self._questions())

    def _questions(self) -> list[str]:
        """Return the questions of all data sets, each in its place."""
        every = [list(found.table.index) for found in self.each.values()]
        return list(dict.fromkeys(max(every, key=len) + [name for one in every for name in one]))

    def formatted(self) -> pd.DataFrame:
        """Return the answers as text, rounded for reading, each with its probability.

        Returns
        -------
        DataFrame
            One row per question, one column per data set, such as ``46.67% (55.0%)``: the answer
            and, where its rule is about an event, the probability. It is empty where a data set has
            no answer. The last column, ``meaning``, defines both.
        """
        columns = {}
        for name, found in self.each.items():
            shown = found.formatted()
            chance = shown["probability"]
            columns[name] = shown["answer"] + (" (" + chance + ")").where(chance != "", "")
        frame = pd.DataFrame(columns).reindex(self._questions()).fillna("")
        return frame.assign(meaning=self.meaning)

    def _note(self) -> str:
        """Return what the cells are, and at which values of covariates."""
        text = "Each cell: answer (probability)."
        for at in dict.fromkeys(found.at for found in self.each.values() if found.at):
            names = [name for name, found in self.each.items() if found.at == at]
            text += f" {capitalized(at)}: {enumerated(names)}."
        return text

    def __str__(self) -> str:
        shown = self.formatted()
        rules = rules_in_lines(shown.pop("meaning"))
        return "\n".join([shown.to_string(), "", self._note(), "", *rules])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shown = self.formatted().reset_index(names="question")
        with pd.option_context("display.max_colwidth", None):
            table = shown.to_html(index=False, border=0)
        return f"{table}<p>{html.escape(self._note())}</p>"

    def summary(self) -> str:
        """Return the answers as text with their rules, then the contrasts.

        Returns
        -------
        str
            Two tables.
        """
        return f"{self}\n\n{self.contrasts.round(3).to_string(index=False, na_rep='')}"

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the answers and their rules as two LaTeX tables.

        Parameters
        ----------
        caption : str, optional
            The caption of the answers, instead of our own.

        Returns
        -------
        str
            Two ``table`` environments, for the packages booktabs, graphicx and longtable.
        """
        text = f"Questions of the thesis, by data set. {self._note()}"
        answers = self.formatted().reset_index(names="question")
        rules = answers[["question", "meaning"]]
        return frame_to_latex(
            answers.drop(columns="meaning"),
            text if caption is None else caption,
            titles={name: name for name in self.each},
        ) + frame_to_latex(rules, "The rules of the answers.", paragraphs={"meaning"})


def overviews(
    fits: Mapping[str, Fit],
    *,
    before: Mapping[str, Fit] | None = None,
    rope: float = 0.05,
    prob: float = 0.89,
    kind: Kind = "hdi",
) -> Overviews:
    """Return the overviews of several data sets in one table with a column for each.

    These are tables 6.1 to 6.3 of Dobrzeniecka (2021), for the fits of the model ``separate`` and
    ``kind="eti"``; `overview` describes the questions.

    Parameters
    ----------
    fits : mapping of str to Fit
        Fits with a mean for each protected word and connection, by the names of their columns.
    before : mapping of str to Fit, optional
        The fits before debiasing, by the same names: adds the rows about what moved.
    rope : float, default 0.05
        Region of practical equivalence of the contrasts.
    prob : float, default 0.89
        Probability of the intervals.
    kind : {"hdi", "eti"}, default "hdi"
        Kind of interval; ``"eti"`` for the thesis's own numbers.

    Returns
    -------
    Overviews
        The answers, the probabilities and the contrasts.

    Raises
    ------
    SpecError
        If `fits` is not a mapping of names to fits, or `before` has other names.

    Examples
    --------
    >>> import bayesbias as bb
    >>> fits = {
    ...     name: bb.fit(bb.distance_table("demo", name), "separate", draws=250, seed=1)
    ...     for name in ("religion", "gender")
    ... }
    >>> found = bb.overviews(fits, kind="eti").formatted()
    >>> print(found.drop(columns="meaning").iloc[[2, 4, 6]])
                                        religion                gender
    H closer than A               46.67% (54.9%)        35.71% (34.1%)
    D closer than A               33.33% (38.0%)        21.43% (28.9%)
    General D similar to A  slightly not (0.075)  slightly not (0.022)
    """
    _check_fits("fits", fits)
    if before is not None:
        _check_fits("before", before)
        for name in before:
            if name not in fits:
                raise SpecError(
                    f"'before' has a fit {name!r}, and 'fits' has {quoted(fits)}; give both the "
                    f"same names.{did_you_mean(name, fits)}"
                )
    found = {
        name: overview(
            fit,
            before=None if before is None else before.get(name),
            rope=rope,
            prob=prob,
            kind=kind,
        )
        for name, fit in fits.items()
    }
    return Overviews(found)


def _check_fits(argument: str, fits: object) -> None:
    if not isinstance(fits, Mapping) or not fits:
        raise SpecError(
            f"{argument!r} is {kind_of(fits) if fits else 'empty'}; expected fits by their "
            "names: {'religion': fit}."
        )
    for name, fit in fits.items():
        if not isinstance(fit, Fit):
            raise SpecError(
                f"{argument!r} has {kind_of(fit)} for {name!r}; expected what fit() or "
                "load_fit() returned."
            )
        if name in _OTHER_COLUMNS:
            raise SpecError(
                f"{argument!r} has the name {name!r}, which is that of another column of the "
                "table; choose another name."
            )
