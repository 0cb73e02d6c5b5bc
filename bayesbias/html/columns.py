"""How a column of a table is shown: text, numbers, and intervals drawn on one scale."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from bayesbias._core.array_types import Array
from bayesbias.errors import SpecError
from bayesbias.html.markup import escape
from bayesbias.html.number_format import MISSING, decimals, number, probability
from bayesbias.html.page_context import Place

# The drawing of an interval, in pixels: its width, and the room left at both sides.
_WIDTH, _ROOM = 96, 4
_VIEW = f'viewBox="0 0 {_WIDTH} 16" aria-hidden="true"'
_LONG = 40  # characters of a text that is not squeezed into a narrow column
_SPACE = "\u2007"  # as wide as a digit
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


@dataclass(frozen=True, slots=True)
class Drawn:
    """A column as HTML: its heading, and what stands between ``<td`` and ``</td>`` in each row."""

    heading: str
    cells: list[str]


def title_of(name: object, column: Column) -> str:
    """Return the heading of a column as plain text."""
    return column.title or str(name).replace("_", " ")


def is_number(values: pd.Series[Any]) -> bool:
    """Return whether a column holds numbers; truth values are none."""
    kinds = pd.api.types
    return kinds.is_numeric_dtype(values) and not kinds.is_bool_dtype(values)


def draw(frame: pd.DataFrame, name: str, column: Column, place: Place) -> Drawn:
    """Return a column of a frame as HTML."""
    if not is_number(frame[name]):
        return _draw_text(frame[name], name, column, place)
    if column.interval:
        return _draw_intervals(frame, name, column)
    values = _floats(frame[name])
    places = _places(values, column)
    texts = [
        probability(value, places)
        if column.probability
        else number(value, places, percent=column.percent)
        for value in values
    ]
    looks = [' class="n"'] * len(values)
    if column.bar:
        widest = (0.0, 1.0) if column.percent else _range(values, 0.0)
        low, high = column.scale or widest
        parts = np.nan_to_num(np.clip((values - low) / (high - low), 0, 1))
        looks = [f' class="n bar" style="--part:{part:.0%}"' for part in parts]
    cells = [
        f"{_key(value)}{look}>{escape(text)}"
        for value, look, text in zip(values, looks, texts, strict=True)
    ]
    return Drawn(_heading(name, column, "n"), cells)


def _draw_text(values: pd.Series[Any], name: str, column: Column, place: Place) -> Drawn:
    texts = [MISSING if _is_missing(value) else _text(value) for value in values]
    keys = [' data-v=""' if _is_missing(value) else "" for value in values]
    kind = values.dtype
    if isinstance(kind, pd.CategoricalDtype) and kind.ordered:
        # Sorted by the order of the categories, not by their letters; missing ones are -1.
        keys = [
            key or f' data-v="{code}"' for key, code in zip(keys, values.cat.codes, strict=True)
        ]
    dots = {
        text: f'<i class="dot" style="--dot:{place.color(color)}"></i>'
        for text, color in column.colors.items()
    }
    cells = [
        f"{key}>{dots.get(text, '')}{escape(text)}" for key, text in zip(keys, texts, strict=True)
    ]
    width = "long" if max(map(len, texts), default=0) > _LONG else ""
    is_category = isinstance(kind, pd.CategoricalDtype)
    choose = is_category if column.choose is None else column.choose
    return Drawn(_heading(name, column, width, choose=choose), cells)


def _draw_intervals(frame: pd.DataFrame, name: str, column: Column) -> Drawn:
    values, lower, upper = (_floats(frame[each]) for each in (name, *(column.interval or ())))
    ends = np.concatenate([values, lower, upper])
    scale = _Scale(*(column.scale or _range(ends, column.reference)))
    places = _places(values, column)

    def shown(value: float) -> str:
        return number(value, places, percent=column.percent)

    ranges = [f"[{shown(a)}, {shown(b)}]" for a, b in zip(lower, upper, strict=True)]
    width = max(map(len, ranges), default=0)
    looks = "ends heard" if column.brief else "ends"
    mark = "" if column.reference is None else f'<path d="M{scale.at(column.reference)} 0v16"/>'
    cells = []
    for row, (value, least, most) in enumerate(zip(values, lower, upper, strict=True)):
        text, drawing, state = escape(shown(value)), "", "clear"
        if not np.isnan([value, least, most]).any():
            # Room before a short one, so that the numbers before it stand below each other.
            room = _SPACE * (width - len(ranges[row]))
            text += f' {room}<span class="{looks}">{escape(ranges[row])}</span>'
            drawing = (
                f'{mark}<path d="M{scale.at(least)} 8H{scale.at(most)}"/>'
                f'<circle cx="{scale.at(value)}" cy="8" r="3"/>'
            )
            if column.reference is not None and least <= column.reference <= most:
                state = "vague"
        svg = f'<svg class="{state}" {_VIEW}>{drawing}</svg>'
        cells.append(f'{_key(value)} class="n interval">{text}{svg}')
    return Drawn(_heading(name, column, "n interval", scale.axis(column)), cells)


@dataclass(frozen=True, slots=True)
class _Scale:
    """Where values lie in the drawings of a column."""

    low: float
    high: float

    def at(self, value: float) -> str:
        """Return the place of a value; one beyond an end is put there."""
        part = min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)
        return f"{_ROOM + part * (_WIDTH - 2 * _ROOM):.1f}"

    def axis(self, column: Column) -> str:
        """Return the ends and, if there is room for it, the reference, written at their places."""
        ticks = [(self.low, "start"), (self.high, "end")]
        room = _APART * (self.high - self.low)
        if column.reference is not None and self.low + room < column.reference < self.high - room:
            ticks.append((column.reference, "middle"))
        kind = ".0%" if column.percent else ".2g"
        texts = (
            f'<text x="{self.at(value)}" y="12" text-anchor="{anchor}">'
            f"{format(value, kind).replace('-', '−')}</text>"
            for value, anchor in ticks
        )
        return f"<svg {_VIEW}>{''.join(texts)}</svg>"


def _heading(name: str, column: Column, kind: str, more: str = "", *, choose: bool = False) -> str:
    attributes = f' class="{kind}"' * bool(kind) + " data-choose" * choose
    title = escape(title_of(name, column))
    return f'<th scope="col"{attributes}><span class="title">{title}</span>{more}</th>'


def _key(value: float) -> str:
    """Return the attribute by which rows are sorted: the number itself, unless it is missing."""
    return ' data-v=""' if np.isnan(value) else f' data-v="{value:.7g}"'


def _places(values: Array, column: Column) -> int:
    if column.places is not None:
        return column.places
    if column.probability:
        return 2
    return decimals(values, percent=column.percent)


def _range(values: Array, reference: float | None) -> tuple[float, float]:
    """Return the least and the greatest of all values and the reference, never the same."""
    known = [*values[np.isfinite(values)], *([] if reference is None else [reference])]
    low, high = min(known, default=0.0), max(known, default=1.0)
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
