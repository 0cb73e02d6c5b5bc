"""Tables of results in LaTeX: booktabs rules, escaped names, numbers rounded by their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "−": "$-$",
        "–": "--",
        "×": r"$\times$",
    }
)
_MOST_DECIMALS = 6
#: Names of columns that hold probabilities; none of them is shown as 0 or 1.
_PROBABILITIES = ("prob_", "p_")


def escape(text: object) -> str:
    r"""Return a text with the characters that LaTeX gives a meaning to made plain.

    >>> print(escape("word_class & 5%"))
    word\_class \& 5\%
    """
    return str(text).translate(_SPECIAL)


def decimals_of_interval(lower: pd.Series, upper: pd.Series) -> int:
    """Return the decimals that show two digits of the narrowest interval.

    >>> decimals_of_interval(pd.Series([-0.27]), pd.Series([-0.04]))
    2
    """
    widths = (upper - lower).to_numpy(dtype=np.float64)
    widths = widths[np.isfinite(widths) & (widths > 0)]
    if not len(widths):
        return 2
    return int(np.clip(1 - math.floor(math.log10(widths.min())), 0, _MOST_DECIMALS))


def frame_to_latex(
    frame: pd.DataFrame,
    caption: str = "",
    *,
    label: str = "",
    titles: Mapping[str, str] | None = None,
    decimals: Mapping[str, int] | None = None,
) -> str:
    r"""Return a table as LaTeX, for a document with ``\usepackage{booktabs}``.

    An estimate and its interval become one column, ``-0.15 [-0.27, -0.04]``, with two digits of the
    narrowest interval: the columns ``lower`` and ``upper`` belong to ``mean`` (or to the column
    before them), ``x_lower`` and ``x_upper`` to ``x``. The index is left out.

    Parameters
    ----------
    frame : DataFrame
        The table, one row per line.
    caption : str, default ""
        The caption; it is escaped, as all texts are.
    label : str, default ""
        What ``\ref`` refers to.
    titles : mapping of str to str, optional
        Headings of columns; by default their names, with spaces for underscores.
    decimals : mapping of str to int, optional
        Digits after the point of columns; by default those of the interval, or else enough for
        three digits of the largest number.

    Returns
    -------
    str
        A ``table`` environment; without caption and label, the ``tabular`` alone.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"word": ["imam"], "mean": -0.151, "lower": -0.27, "upper": -0.04})
    >>> print(frame_to_latex(frame, "One word"))
    \begin{table}
    \caption{One word}
    \begin{tabular}{lr}
    \toprule
    word & mean \\
    \midrule
    imam & $-0.15$ [$-0.27$, $-0.04$] \\
    \bottomrule
    \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    titles, decimals = titles or {}, decimals or {}
    names = [str(name) for name in frame.columns]
    table = frame.set_axis(names, axis=1)
    intervals = _intervals(names)
    ends = {end for pair in intervals.values() for end in pair}
    columns: dict[str, list[str]] = {}
    alignment = ""
    for name in names:
        if name in ends:
            continue
        places = decimals.get(name)
        if name in intervals:
            lower, upper = (table[end] for end in intervals[name])
            places = decimals_of_interval(lower, upper) if places is None else places
            cells = [
                _with_interval(*values, places)
                for values in zip(table[name], lower, upper, strict=True)
            ]
        else:
            same = "mean" if name == "sd" and "mean" in intervals else ""
            if places is None and same:
                places = decimals_of_interval(*(table[end] for end in intervals[same]))
            cells = _cells(table[name], places, is_probability=name.startswith(_PROBABILITIES))
        columns[escape(titles.get(name, name.replace("_", " ")))] = cells
        alignment += "r" if _is_number(table[name]) else "l"
    return pd.DataFrame(columns).to_latex(
        index=False,
        escape=False,
        caption=escape(caption) or None,
        label=label or None,
        column_format=alignment,
    )


def _intervals(names: list[str]) -> dict[str, tuple[str, str]]:
    """Return the ends of the interval of each column that has one."""
    pairs = {
        name: (f"{name}_lower", f"{name}_upper")
        for name in names
        if f"{name}_lower" in names and f"{name}_upper" in names
    }
    if "lower" in names and "upper" in names:
        before = [name for name in names[: names.index("lower")] if name != "sd"]
        if before:
            pairs["mean" if "mean" in before else before[-1]] = ("lower", "upper")
    return pairs


def _is_number(column: pd.Series) -> bool:
    return column.dtype.kind in "fiu"


def _number(value: float, places: int) -> str:
    if not math.isfinite(value):
        return "" if math.isnan(value) else f"${'-' if value < 0 else ''}\\infty$"
    text = f"{value:,.{places}f}"
    if not text.strip("-0.,"):
        return text.lstrip("-")  # minus zero is zero
    return f"${text}$" if text.startswith("-") else text


def _with_interval(value: float, lower: float, upper: float, places: int) -> str:
    if math.isnan(lower) or math.isnan(upper):
        return _number(value, places)
    ends = ", ".join(_number(end, places) for end in (lower, upper))
    return f"{_number(value, places)} [{ends}]"


def _cells(column: pd.Series, places: int | None, *, is_probability: bool) -> list[str]:
    if not _is_number(column):
        return ["" if value is None or value is pd.NA or value != value else escape(value)
                for value in column]  # fmt: skip
    values = column.to_numpy(dtype=np.float64)
    if is_probability:
        return [_probability(value, 2 if places is None else places) for value in values]
    if places is None:
        nonzero = np.abs(values[np.isfinite(values) & (values != 0)])
        whole = column.dtype.kind in "iu" or not len(nonzero) or bool((nonzero % 1 == 0).all())
        places = 0 if whole else int(np.clip(2 - math.floor(math.log10(nonzero.max())), 0, 4))
    return [_number(value, places) for value in values]


def _probability(value: float, places: int) -> str:
    if math.isnan(value):
        return ""
    smallest = 10.0**-places
    if value < smallest / 2:
        return f"$<{smallest:.{places}f}$"
    if value > 1 - smallest / 2:
        return f"$>{1 - smallest:.{places}f}$"
    return _number(value, places)
