"""What a metric says of an embedding: a value, how sure it is, and what it rests on."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.wording import counted
from bayesbias.numerics.intervals import Kind, interval_around

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Score(Mapping[str, Any]):
    """The result of a metric for one query and one embedding.

    It is also a read-only mapping with the keys of the WEFE library: ``query_name``, ``result``
    and those of the metric, such as ``weat``, ``effect_size`` and ``p_value``.

    Parameters
    ----------
    value : float
        The value; NaN if it is not defined, with the `reason`.
    metric : str
        The name of the metric in `METRICS`.
    query_name : str
        The query in words.
    embedding : str
        The name of the embedding.
    details : mapping
        What else the metric found, by WEFE's keys.
    words : dict of str to tuple of str
        The words that were used, by set.
    lost : dict of str to tuple of str
        The words that the embedding lacks, by set.
    reason : str, optional
        Why the value is NaN.
    notes : tuple of str
        What to know of the words, for instance that two sets share some.
    neutral_value : float
        The value that an embedding without bias has.
    value_range : tuple of float
        The smallest and the largest value possible.
    p_value : float
        Of the permutation test, if it was asked for; else NaN.
    draws : ndarray, optional
        Draws of the value from `Metric.posterior`; their median is the value.
    prob : float
        Probability of the interval from `lower` to `upper`.
    kind : {"hdi", "eti"}
        Whether the interval is the narrowest, or leaves as much on either side.
    no_interval : str, optional
        Why there is no interval, although one was asked for.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.load_embedding("demo")
    >>> score = bb.metrics.WEAT().run_query(bb.load_query("weat_6"), emb)
    >>> score
    <Score weat = 2.32, Male names and Female names wrt Career and Family, demo>
    >>> round(score["effect_size"], 2)
    1.76
    """

    value: float
    metric: str
    query_name: str
    embedding: str
    details: Mapping[str, Any]
    words: Mapping[str, tuple[str, ...]]
    lost: Mapping[str, tuple[str, ...]]
    reason: str | None = None
    notes: tuple[str, ...] = ()
    neutral_value: float = 0.0
    value_range: tuple[float, float] = (-np.inf, np.inf)
    p_value: float = np.nan
    draws: Array | None = None
    prob: float = 0.89
    kind: Kind = "eti"
    no_interval: str | None = None

    @cached_property
    def _interval(self) -> tuple[float, float]:
        return interval_around(self.value, self._finite, self.prob, self.kind)

    @cached_property
    def _finite(self) -> Array:
        draws = np.empty(0) if self.draws is None else self.draws
        return draws[np.isfinite(draws)]

    @property
    def lower(self) -> float:
        """The lower end of the interval; NaN without draws."""
        return self._interval[0]

    @property
    def upper(self) -> float:
        """The upper end of the interval; NaN without draws."""
        return self._interval[1]

    @property
    def sd(self) -> float:
        """The standard deviation of the draws; NaN without draws."""
        return float(self._finite.std()) if len(self._finite) else np.nan

    @property
    def prob_above(self) -> float:
        """The posterior probability that the value lies above the neutral one.

        NaN without draws, and for metrics that cannot go below (or above) their neutral value.
        """
        if not len(self._finite) or self.neutral_value in self.value_range:
            return np.nan
        return float((self._finite > self.neutral_value).mean())

    @property
    def _why_no_interval(self) -> str:
        return "" if self.no_interval is None else f"no interval: {self.no_interval}"

    @property
    def table(self) -> pd.DataFrame:
        """The score as one row."""
        import pandas as pd

        return pd.DataFrame([self.row()])

    def row(self) -> dict[str, Any]:
        """Return the score as a flat row, for tables of scores.

        Returns
        -------
        dict
            Metric, query, embedding, value, sd, interval, prob_above, p_value, counts, and the
            reason for NaN: of the value, or of the interval.
        """
        return {
            "metric": self.metric,
            "query": self.query_name,
            "embedding": self.embedding,
            "value": self.value,
            "sd": self.sd,
            "lower": self.lower,
            "upper": self.upper,
            "prob_above": self.prob_above,
            "p_value": self.p_value,
            "n_words": sum(map(len, self.words.values())),
            "n_lost": sum(map(len, self.lost.values())),
            "reason": self.reason or self._why_no_interval,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the result with WEFE's keys.

        Returns
        -------
        dict
            ``query_name``, ``result`` and the metric's own keys.
        """
        result = {"query_name": self.query_name, "result": self.value, **self.details}
        if "p_value" in result or np.isfinite(self.p_value):
            result["p_value"] = self.p_value
        return result

    def summary(self) -> str:
        """Return the score in a sentence or two.

        Returns
        -------
        str
            The value with its interval, the words it rests on, and what speaks against it.
        """
        used = sum(map(len, self.words.values()))
        if self.reason is not None:
            return f"{self.metric} of {self.query_name!r} in {self.embedding}: none; {self.reason}."
        text = f"{self.metric} of {self.query_name!r} in {self.embedding}: {self.value:.3g}"
        if self.draws is not None:
            text += f" ({self.prob:.0%} interval {self.lower:.3g} to {self.upper:.3g})"
            if np.isfinite(self.prob_above):
                text += f", above {self.neutral_value:g} with probability {self.prob_above:.2f}"
        if self.no_interval is not None:
            text += f" (no interval: {self.no_interval})"
        if np.isfinite(self.p_value):
            text += f", p = {self.p_value:.3g}"
        text += f"; from {used} words"
        missing = sum(map(len, self.lost.values()))
        if missing:
            text += f", {missing} lost"
        return ". ".join([text, *self.notes]) + "."

    def to_latex(self, *, caption: str | None = None) -> str:
        r"""Return the score as a LaTeX table of one line, rounded by its interval.

        Parameters
        ----------
        caption : str, optional
            The caption, instead of one that names the query, the number of words and the interval.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable.

        Examples
        --------
        >>> import bayesbias as bb
        >>> score = bb.metrics.WEAT().run_query("weat_6", bb.load_embedding("demo"))
        >>> print(score.to_latex().splitlines()[6])
        weat & demo & 2.32 \\
        """
        shown = self.table.drop(columns=["query", "n_words", "n_lost", "reason"])
        number = sum(map(len, self.words.values()))
        text = f"{self.query_name}: {self.metric}, from {counted(number, 'word')}"
        if missing := sum(map(len, self.lost.values())):
            text += f" ({missing} lost)"
        if self.draws is not None:
            text += f", with {self.prob:.0%} interval"
        for reason in (self.reason, self._why_no_interval):
            text += f"; {reason}" if reason else ""
        return frame_to_latex(
            shown.dropna(axis=1),
            f"{text}." if caption is None else caption,
            titles={"prob_above": f"P(> {self.neutral_value:g})", "p_value": "p"},
        )

    def __getitem__(self, key: str) -> Any:
        return self.to_dict()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_dict())

    def __len__(self) -> int:
        return len(self.to_dict())

    def __repr__(self) -> str:
        between = "" if self.draws is None else f" [{self.lower:.2f}, {self.upper:.2f}]"
        reason = self.reason or self._why_no_interval
        why = f" ({reason})" if reason else ""
        return (
            f"<Score {self.metric} = {self.value:.2f}{between}, {self.query_name}, "
            f"{self.embedding}{why}>"
        )

    def _repr_html_(self) -> str:
        shown = self.table.drop(columns=["metric", "query", "embedding", "reason"])
        present = shown.dropna(axis=1)
        cells = "".join(f"<th>{html.escape(str(name))}</th>" for name in present.columns)
        values = "".join(
            f"<td>{value:.3g}</td>" if isinstance(value, float) else f"<td>{value}</td>"
            for value in present.iloc[0].tolist()
        )
        remarks = "".join(
            f"<p>{html.escape(text)}</p>"
            for text in (self.reason, self._why_no_interval, *self.notes)
            if text
        )
        caption = f"{self.metric}: {self.query_name}, {self.embedding}"
        return (
            f"<table><caption>{html.escape(caption)}</caption>"
            f"<thead><tr>{cells}</tr></thead><tbody><tr>{values}</tr></tbody></table>{remarks}"
        )
