"""How a column of a table is shown: text, numbers, and intervals drawn on one scale."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from bayesbias._core.array_types import Array
from bayesbias.errors import SpecError
from bayesbias.html.number_format import MISSING, decimals, number, probability
from bayesbias.html.page_context import PageContext

# The drawing of an interval, in pixels: its width, and the margin at both sides.
DRAWING_WIDTH, _MARGIN = 96, 4
_LONG = 40  # characters of a text that is not squeezed into a narrow column
_FIGURE_SPACE = "\u2007"  # as wide as a digit
# The reference is written above the drawings if it is so far from both ends, as a part of all.
_APART = 0.28


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """How a column of a `Table` is shown.

    Parameters
    ----------
    title : str, default ""
        The heading; by default the name of the column, with spaces for underscores.
    note : str, default ""
        What the column means, said below the table; may have markup.
    places : int, optional
        Digits after the point; by default enough for three digits of the largest number.
    percent : bool, default False
        Show shares as percentages.
    probability : bool, default False
        The numbers are probabilities estimated from draws: none is shown as 0 or 1.
    interval : tuple of str, optional
        The columns with the lower and upper ends of an interval around each number, which are
        written beside it and drawn.
    brief : bool, default False
        Draw the intervals only. Those who hear the table hear the ends, too.
    reference : float, optional
        A value marked in the drawings; an interval that holds it is grey.
    below : tuple of str, optional
        The columns with a second number and the ends of its interval, shown in a second line of the
        cell on the same scale.
    below_title : str, default ""
        What the second line is; heard before it.
    scale : tuple of float, optional
        The least and the greatest value of the drawings; by default those of the column. Columns to
        be compared by eye need the same.
    bar : bool, default False
        Draw a bar behind each number, from the least value of the scale, zero by default.
    colors : mapping of str to str, optional
        A colour such as ``"#D55E00"`` for texts of the column, shown as a dot before them.
    choose : bool, optional
        Whether the reader can choose rows by this column; by default if it is categorical.

    Raises
    ------
    SpecError
        If a colour or the scale makes no sense.

    Examples
    --------
    >>> from bayesbias.html import Column
    >>> Column(title="Bias", interval=("lower", "upper"), reference=0.0).interval
    ('lower', 'upper')
    """

    title: str = ""
    note: str = ""
    places: int | None = None
    percent: bool = False
    probability: bool = False
    interval: tuple[str, str] | None = None
    brief: bool = False
    reference: float | None = None
    below: tuple[str, str, str] | None = None
    below_title: str = ""
    scale: tuple[float, float] | None = None
    bar: bool = False
    colors: Mapping[str, str] = field(default_factory=dict)
    choose: bool | None = None

    def __post_init__(self) -> None:
        for color in self.colors.values():
            if not re.fullmatch("#[0-9a-fA-F]{6}", color):
                raise SpecError(f"'colors' holds {color!r}; expected a colour such as '#D55E00'.")
        if self.scale is not None and not self.scale[0] < self.scale[1]:
            raise SpecError(f"'scale' is {self.scale!r}; expected the lower end first.")
        if self.below is not None and self.interval is None:
            raise SpecError("'below' is given without 'interval'; give both, or neither.")

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns that are drawn beside and below the numbers."""
        return (*(self.interval or ()), *(self.below or ()))


@dataclass(frozen=True, slots=True)
class DrawnInterval:
    """An interval beside a number: its ends as text, and where they lie in the drawing.

    Without a text of its ends, because a number is missing, nothing is drawn; `gap` is then as wide
    as the ends of others, so that the numbers stand below each other.
    """

    ends: str = ""
    padding: str = ""
    gap: str = ""
    classes: str = ""
    lower: str = ""
    value: str = ""
    upper: str = ""
    reference: str = ""
    is_vague: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell shows, and the key by which its row is sorted; None for the text itself."""

    text: str
    sort_key: str | None = None
    classes: str = ""
    bar: str = ""
    dot: str = ""
    interval: DrawnInterval | None = None
    below: Cell | None = None


@dataclass(frozen=True, slots=True)
class Tick:
    """A number above the drawings of a column."""

    x: str
    anchor: str
    text: str


@dataclass(frozen=True, slots=True)
class DrawnColumn:
    """A column as the template shows it: its heading, and its cells from top to bottom."""

    title: str
    cells: list[Cell]
    classes: str = ""
    can_choose: bool = False
    below_title: str = ""
    ticks: list[Tick] = field(default_factory=list)


def title_of(name: object, column: Column) -> str:
    """Return the heading of a column as plain text."""
    return column.title or str(name).replace("_", " ")


def is_number(values: pd.Series[Any]) -> bool:
    """Return whether a column holds numbers; truth values are none."""
    kinds = pd.api.types
    return kinds.is_numeric_dtype(values) and not kinds.is_bool_dtype(values)


def draw(frame: pd.DataFrame, name: str, column: Column, context: PageContext) -> DrawnColumn:
    """Return a column of a frame as it is shown."""
    if not is_number(frame[name]):
        return _draw_text(frame[name], name, column, context)
    if column.interval:
        return _draw_intervals(frame, name, column)
    return _draw_numbers(frame[name], name, column)


def _draw_numbers(series: pd.Series[Any], name: str, column: Column) -> DrawnColumn:
    values = _floats(series)
    places = _places(values, column)
    texts = [
        probability(value, places)
        if column.probability
        else number(value, places, percent=column.percent)
        for value in values
    ]
    classes, bars = "n", [""] * len(values)
    if column.bar:
        low, high = column.scale or ((0.0, 1.0) if column.percent else _range(values, 0.0))
        parts = np.nan_to_num(np.clip((values - low) / (high - low), 0, 1))
        classes, bars = "n bar", [f"{part:.0%}" for part in parts]
    cells = [
        Cell(text, _sort_key(value), classes, bar)
        for value, text, bar in zip(values, texts, bars, strict=True)
    ]
    return DrawnColumn(title_of(name, column), cells, "n")


def _draw_text(
    values: pd.Series[Any], name: str, column: Column, context: PageContext
) -> DrawnColumn:
    is_missing = [_is_missing(value) for value in values]
    texts = [
        MISSING if missing else _text(value)
        for value, missing in zip(values, is_missing, strict=True)
    ]
    sort_keys = ["" if missing else None for missing in is_missing]
    kind = values.dtype
    is_category = isinstance(kind, pd.CategoricalDtype)
    if isinstance(kind, pd.CategoricalDtype) and kind.ordered:
        # Sorted by the order of the categories, not by their letters; missing ones are -1.
        sort_keys = ["" if code < 0 else str(code) for code in values.cat.codes]
    dots = {text: context.color(color) for text, color in column.colors.items()}
    cells = [
        Cell(text, sort_key, dot=dots.get(text, ""))
        for text, sort_key in zip(texts, sort_keys, strict=True)
    ]
    return DrawnColumn(
        title_of(name, column),
        cells,
        classes="long" if max(map(len, texts), default=0) > _LONG else "",
        can_choose=is_category if column.choose is None else column.choose,
    )


def _draw_intervals(frame: pd.DataFrame, name: str, column: Column) -> DrawnColumn:
    names = (name, *column.numbers)
    ends = np.concatenate([_floats(frame[each]) for each in names])
    scale = _Scale(*(column.scale or _range(ends, column.reference)))
    places = _places(_floats(frame[name]), column)
    cells = _interval_cells(frame, names[:3], column, scale, places)
    if column.below:
        second = _interval_cells(frame, column.below, column, scale, places)
        cells = [
            replace(cell, below=below if below.sort_key else None)
            for cell, below in zip(cells, second, strict=True)
        ]
    return DrawnColumn(
        title_of(name, column),
        cells,
        "n interval",
        below_title=column.below_title,
        ticks=scale.ticks(column),
    )


def _interval_cells(
    frame: pd.DataFrame, names: Sequence[str], column: Column, scale: _Scale, places: int
) -> list[Cell]:
    """Return the cells of a number and the ends of its interval."""
    values, lower, upper = (_floats(frame[each]) for each in names)

    def includes(least: float, most: float) -> bool:
        return column.reference is not None and bool(least <= column.reference <= most)

    def shown(value: float, is_vague: bool) -> str:
        # An end of an interval that excludes the reference does not look like it.
        return number(value, places, percent=column.percent, keep_small=not is_vague)

    ranges = [
        f"[{shown(a, includes(a, b))}, {shown(b, includes(a, b))}]"
        for a, b in zip(lower, upper, strict=True)
    ]
    widest = max(ranges, key=len, default="")
    cells = []
    for value, least, most, text in zip(values, lower, upper, ranges, strict=True):
        interval = DrawnInterval(gap="" if column.brief else widest)
        if not np.isnan([value, least, most]).any():
            reference = column.reference
            interval = DrawnInterval(
                text,
                # Before a short one, so that the numbers before it stand below each other.
                padding="" if column.brief else _FIGURE_SPACE * (len(widest) - len(text)),
                classes="ends heard" if column.brief else "ends",
                lower=scale.x(least),
                value=scale.x(value),
                upper=scale.x(most),
                reference="" if reference is None else scale.x(reference),
                is_vague=includes(least, most),
            )
        cell = shown(value, includes(least, most))
        cells.append(Cell(cell, _sort_key(value), "n interval", interval=interval))
    return cells


@dataclass(frozen=True, slots=True)
class _Scale:
    """Where values lie in the drawings of a column."""

    low: float
    high: float

    def x(self, value: float) -> str:
        """Return where a value is drawn; one beyond an end is put there."""
        part = min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)
        return f"{_MARGIN + part * (DRAWING_WIDTH - 2 * _MARGIN):.1f}"

    def ticks(self, column: Column) -> list[Tick]:
        """Return the ends and the reference, which takes the place of an end that is close."""
        anchors = {self.low: "start", self.high: "end"}
        room = _APART * (self.high - self.low)
        reference = column.reference
        if reference is not None and self.low <= reference <= self.high:
            for end in (self.low, self.high):
                if abs(reference - end) <= room:
                    anchors = {reference if x == end else x: a for x, a in anchors.items()}
            anchors.setdefault(reference, "middle")
        kind = ".0%" if column.percent else ".2g"
        return [
            Tick(self.x(value), anchor, format(value, kind).replace("-", "−"))
            for value, anchor in anchors.items()
        ]


def _sort_key(value: float) -> str:
    """Return the number by which rows are sorted; nothing if it is missing."""
    return "" if np.isnan(value) else f"{value:.7g}"


def _places(values: Array, column: Column) -> int:
    if column.places is not None:
        return column.places
    if column.probability:
        return 2
    return decimals(values, percent=column.percent)


def _range(values: Array, reference: float | None) -> tuple[float, float]:
    """Return the least and the greatest of all values and the reference, never the same."""
    numbers = [*values[np.isfinite(values)], *([] if reference is None else [reference])]
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    return (float(low), float(high)) if low < high else (low - 0.5, high + 0.5)


def _floats(values: pd.Series[Any]) -> Array:
    return values.to_numpy(dtype=float, na_value=np.nan)


def _is_missing(value: object) -> bool:
    return value is None or value is pd.NA or value != value


def _text(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value)
