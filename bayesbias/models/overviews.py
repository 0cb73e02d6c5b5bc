"""The overviews of several data sets beside each other, as in the thesis's tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from bayesbias._core.latex import frame_to_latex
from bayesbias._core.wording import did_you_mean, kind_of, quoted
from bayesbias.errors import SpecError
from bayesbias.models.fitted_model import Fit
from bayesbias.models.overview import Overview, overview
from bayesbias.numerics.intervals import Kind


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
        """Return the answers as text, rounded for reading.

        Returns
        -------
        DataFrame
            One row per question, one column per data set; empty where a data set has no answer.
        """
        columns = {name: found.formatted()["answer"] for name, found in self.each.items()}
        return pd.DataFrame(columns).reindex(self._questions()).fillna("")

    def __str__(self) -> str:
        return self.formatted().to_string()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.formatted().reset_index(names="question").to_html(index=False, border=0)

    def summary(self) -> str:
        """Return the answers as text, then the contrasts.

        Returns
        -------
        str
            Two tables.
        """
        return f"{self}\n\n{self.contrasts.round(3).to_string(index=False)}"

    def to_latex(self, *, caption: str | None = None) -> str:
        """Return the answers as a LaTeX table.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of our own.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.
        """
        text = "Questions of the thesis, by data set." if caption is None else caption
        answers = self.formatted().reset_index(names="question")
        return frame_to_latex(answers, text, titles={name: name for name in self.each})


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
        Region of practical equivalence of the probabilities.
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
    >>> print(bb.overviews(fits, kind="eti").formatted().iloc[[2, 4, 6]])
                                religion        gender
    H closer than A               46.67%        35.71%
    D closer than A               33.33%        21.43%
    General D similar to A  slightly not  slightly not
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
