"""Tables for people: numbers rounded by their intervals, and the interval beside its estimate."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayesbias._core.array_types import Array

if TYPE_CHECKING:
    import pandas as pd

_MOST_DECIMALS = 6
_SIGNIFICANT = 3
#: How names of columns begin that hold probabilities, none of which is shown as 0 or 1.
_PROBABILITY_OF = ("prob_", "p_")
#: Digits of probabilities; a p-value is read to three.
_PROBABILITY_DECIMALS = {"p_value": 3}


@dataclass(frozen=True)
class RoundedTable:
    """A table as text.

    Parameters
    ----------
    headings : tuple of str
        What stands above the columns.
    columns : tuple of tuple of str
        The cells, column by column.
    is_number : tuple of bool
        Whether a column holds numbers.
    """

    headings: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    is_number: tuple[bool, ...]

    @property
    def rows(self) -> Iterable[tuple[str, ...]]:
        """The cells, row by row."""
        return zip(*self.columns, strict=True)


def decimals_of_interval(lower: Iterable[float], upper: Iterable[float]) -> int:
    """Return the decimals that show two digits of the narrowest interval.

    >>> decimals_of_interval([-0.27], [-0.04])
    2
    """
    found = _interval_decimals(lower, upper)
    return 2 if found is None else found


def rounded_table(
    frame: pd.DataFrame,
    *,
    titles: Mapping[str, str] | None = None,
    decimals: Mapping[str, int] | None = None,
    by_row: bool = False,
) -> RoundedTable:
    """Return a table as text, rounded; its index is left out.

    The columns ``lower`` and ``upper`` belong to ``mean`` (or to the column before them),
    ``x_lower`` and ``x_upper`` to ``x``.

    Parameters
    ----------
    frame : DataFrame
        The table, one row per line.
    titles : mapping of str to str, optional
        Headings of columns; by default their names, with spaces for underscores.
    decimals : mapping of str to int, optional
        Digits after the point of columns; by default those of the interval, or else enough for
        three digits of the largest number.
    by_row : bool, default False
        Whether each row is rounded by its own interval, as rows are of different measures.

    Returns
    -------
    RoundedTable
        Headings and cells.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"word": ["imam"], "mean": -0.151, "lower": -0.27, "upper": -0.04})
    >>> rounded_table(frame).columns
    (('imam',), ('−0.15 [−0.27, −0.04]',))
    """
    titles, decimals = titles or {}, decimals or {}
    names = [str(name) for name in frame.columns]
    table = frame.set_axis(names, axis=1)
    intervals = _intervals(names)
    ends = {end for pair in intervals.values() for end in pair}
    main = next((name for name, pair in intervals.items() if pair == ("lower", "upper")), None)
    of_rows = _row_decimals(table, intervals, main) if by_row and intervals else None
    shown = [name for name in names if name not in ends]
    columns = []
    for name in shown:
        places: int | Sequence[int] | None = decimals.get(name)
        if places is None and not _is_probability(name):
            places = of_rows if table[name].dtype.kind == "f" else None
        if name in intervals:
            lower, upper = (_floats(table[end]) for end in intervals[name])
            places = decimals_of_interval(lower, upper) if places is None else places
            values = zip(_floats(table[name]), lower, upper, _each(places, len(table)), strict=True)
            columns.append(tuple(_with_interval(*value) for value in values))
            continue
        if places is None and name == "sd" and main is not None:
            places = decimals_of_interval(*(_floats(table[end]) for end in ("lower", "upper")))
        columns.append(_cells(name, table[name], places))
    return RoundedTable(
        tuple(titles.get(name, name.replace("_", " ")) for name in shown),
        tuple(columns),
        tuple(_is_number(table[name]) for name in shown),
    )


def to_markdown(table: RoundedTable) -> str:
    """Return a table as Markdown.

    >>> print(to_markdown(RoundedTable(("word", "mean"), (("imam",), ("0.85",)), (False, True))))
    | word | mean |
    | --- | ---: |
    | imam | 0.85 |
    <BLANKLINE>
    """
    lines = [table.headings, ["---:" if right else "---" for right in table.is_number]]
    lines += table.rows
    bars = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in bars)


def to_html(table: RoundedTable, caption: str = "") -> str:
    """Return a table for any page; numbers are on the right, as pandas does not put them.

    >>> print(to_html(RoundedTable(("word",), (("imam",),), (False,))))
    <table>
    <thead><tr><th style="text-align: left">word</th></tr></thead>
    <tbody>
    <tr><td style="text-align: left">imam</td></tr>
    </tbody>
    </table>
    <BLANKLINE>
    """
    # An estimate and its interval stay on one line.
    sides = ["right; white-space: nowrap" if right else "left" for right in table.is_number]

    def row(cells: Iterable[str], tag: str) -> str:
        pairs = zip(cells, sides, strict=True)
        return "".join(
            f'<{tag} style="text-align: {side}">{html.escape(cell)}</{tag}>' for cell, side in pairs
        )

    lines = [f"<caption>{html.escape(caption)}</caption>"] if caption else []
    lines.append(f"<thead><tr>{row(table.headings, 'th')}</tr></thead>")
    lines += ["<tbody>", *(f"<tr>{row(cells, 'td')}</tr>" for cells in table.rows), "</tbody>"]
    return "\n".join(["<table>", *lines, "</table>"]) + "\n"


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


def _row_decimals(
    table: pd.DataFrame, intervals: Mapping[str, tuple[str, str]], main: str | None
) -> list[int]:
    """Return the decimals of each row: those of its interval, or else of its largest number."""
    pairs = [intervals[main]] if main is not None else list(intervals.values())
    lower, upper = (
        np.column_stack([_floats(table[pair[i]]) for pair in pairs])
        if pairs
        else np.empty((len(table), 0))
        for i in (0, 1)
    )
    names = [str(name) for name in table if table[name].dtype.kind == "f"]
    values = [_floats(table[name]) for name in names if not _is_probability(name)]
    rows = np.column_stack(values) if values else np.empty((len(table), 0))
    result = []
    for low, high, numbers in zip(lower, upper, rows, strict=True):
        found = _interval_decimals(low, high)
        result.append(_number_decimals(numbers) if found is None else found)
    return result


def _interval_decimals(lower: Iterable[float], upper: Iterable[float]) -> int | None:
    widths = np.array([*upper], dtype=np.float64) - np.array([*lower], dtype=np.float64)
    widths = widths[np.isfinite(widths) & (widths > 0)]
    if not len(widths):
        return None
    return int(np.clip(1 - math.floor(math.log10(widths.min())), 0, _MOST_DECIMALS))


def _number_decimals(values: Array) -> int:
    """Return enough decimals for three digits of the largest number; none for whole numbers."""
    finite = np.abs(values[np.isfinite(values) & (values != 0)])
    if not len(finite) or bool((finite % 1 == 0).all()):
        return 0
    return int(np.clip(_SIGNIFICANT - 1 - math.floor(math.log10(finite.max())), 0, 4))


def _is_number(column: pd.Series) -> bool:
    return column.dtype.kind in "fiu"


def _is_probability(name: str) -> bool:
    return name == "probability" or name.startswith(_PROBABILITY_OF)


def _floats(column: pd.Series) -> Array:
    values: Array = column.to_numpy(dtype=np.float64)
    return values


def _each(places: int | Sequence[int], number: int) -> Sequence[int]:
    return [places] * number if isinstance(places, int) else places


def _cells(name: str, column: pd.Series, places: int | Sequence[int] | None) -> tuple[str, ...]:
    if not _is_number(column):
        return tuple(map(_text, column))
    values = _floats(column)
    if _is_probability(name):
        places = _PROBABILITY_DECIMALS.get(name, 2) if places is None else places
        write = _probability
    else:
        places = _number_decimals(values) if places is None else places
        write = _number
    pairs = zip(values, _each(places, len(values)), strict=True)
    return tuple(write(value, digits) for value, digits in pairs)


def _text(value: object) -> str:
    """Return what is in a column that is not of numbers alone."""
    if value is None or value != value or str(value) == "<NA>":
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        number = float(value)
        return _number(number, _number_decimals(np.array([number])))
    return str(value)


def _number(value: float, places: int) -> str:
    if not math.isfinite(value):
        return "" if math.isnan(value) else f"{'−' if value < 0 else ''}∞"
    text = f"{value:,.{places}f}"
    if not text.strip("-0.,"):
        return text.lstrip("-")  # minus zero is zero
    return text.replace("-", "−")


def _with_interval(value: float, lower: float, upper: float, places: int) -> str:
    if math.isnan(lower) or math.isnan(upper):
        return _number(value, places)
    excludes_zero = lower > 0 or upper < 0
    ends = ", ".join(
        _number(end, max(places, _first_digit(end)) if excludes_zero else places)
        for end in (lower, upper)
    )
    return f"{_number(value, places)} [{ends}]"


def _first_digit(end: float) -> int:
    """Return the place of the first digit after the point: an end beside 0 is not shown as 0.

    >>> _first_digit(-0.0004), _first_digit(0.3), _first_digit(12.0)
    (4, 1, -1)
    """
    return -math.floor(math.log10(abs(end))) if end and math.isfinite(end) else 0


def _probability(value: float, places: int) -> str:
    if math.isnan(value):
        return ""
    smallest = 10.0**-places
    if value < smallest / 2:
        return f"<{smallest:.{places}f}"
    if value > 1 - smallest / 2:
        return f">{1 - smallest:.{places}f}"
    return _number(value, places)
