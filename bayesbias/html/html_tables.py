"""Tables of a page, which the reader sorts, filters and opens row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

from bayesbias._core.wording import did_you_mean, quoted
from bayesbias.errors import SpecError
from bayesbias.html.columns import DRAWING_WIDTH, Column, draw, is_number, title_of
from bayesbias.html.page_context import Blocks, PageContext, render
from bayesbias.html.page_templates import fill

# Tables with more rows than this have a box to find rows with, unless they say otherwise.
_MANY = 12
# Those with more than this have a height of their own, and scroll within it.
_TALL = 30


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table that the reader can sort, filter and open row by row.

    Numbers are sorted by their values, not by what is shown of them. Cells are plain text, never
    markup. The first column names the rows.

    Parameters
    ----------
    frame : DataFrame
        The rows, unrounded. Its index is not shown.
    caption : str, default ""
        What the table shows, said above it; may have markup.
    columns : mapping of str to Column or str, optional
        The columns to show, in this order, with how they are shown or just their titles; by default
        all of them.
    sortable : bool, default True
        Whether a click on a heading sorts the rows.
    filterable : bool, optional
        Whether there is a box to find rows with; by default if there are more than a dozen.
    details : sequence of blocks, optional
        For each row what opens when its name is clicked; an empty string or list for nothing.
    keys : sequence of str, optional
        For each row what links it to the marks of figures in the same section: pointing at one
        shows the others, and clicking a mark opens the row. An empty string for no link.
    hint : str, default ""
        What the reader can do with it on a screen, said after the caption; not printed.

    Raises
    ------
    SpecError
        If there is no such column, or `details` or `keys` are not as many as rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesbias.html import Column, Page, Section, Table
    >>> frame = pd.DataFrame({"word": ["imam"], "mean": [-0.142], "low": [-0.22], "high": [-0.06]})
    >>> bias = Column(title="Bias", interval=("low", "high"), reference=0)
    >>> table = Table(frame, "Bias by word.", {"word": "Word", "mean": bias})
    >>> "−0.142" in Page("An audit", [Section("Words", table)]).html()
    True
    """

    frame: pd.DataFrame
    caption: str = ""
    columns: Mapping[str, Column | str] | None = None
    sortable: bool = True
    filterable: bool | None = None
    details: Sequence[Blocks] | None = None
    keys: Sequence[str] | None = None
    hint: str = ""

    def __post_init__(self) -> None:
        available = list(self.frame.columns)
        for name, column in self._columns().items():
            for wanted in (name, *column.numbers):
                if wanted not in available:
                    raise SpecError(
                        f"the table has no column {wanted!r}; it has {quoted(available, limit=20)}."
                        f"{did_you_mean(wanted, map(str, available))}"
                    )
            numbers = [name, *column.numbers] if column.interval else [name] * column.bar
            for wanted in numbers:
                if not is_number(self.frame[wanted]):
                    raise SpecError(f"column {wanted!r} is to be drawn but holds no numbers.")
        if self.details is not None and len(self.details) != len(self.frame):
            raise SpecError(
                f"'details' are {len(self.details)} for {len(self.frame)} rows; give one for each "
                "row, empty where there is nothing to say."
            )
        if self.keys is not None and len(self.keys) != len(self.frame):
            raise SpecError(
                f"'keys' are {len(self.keys)} for {len(self.frame)} rows; give one for each row, "
                "empty where it has no mark."
            )

    def _columns(self) -> dict[str, Column]:
        if self.columns is None:
            return {name: Column() for name in self.frame.columns}
        return {
            name: Column(title=column) if isinstance(column, str) else column
            for name, column in self.columns.items()
        }

    def html(self, context: PageContext) -> str:
        """Return the table as HTML."""
        shown = self._columns()
        columns = [draw(self.frame, name, column, context) for name, column in shown.items()]
        filterable = len(self.frame) > _MANY if self.filterable is None else self.filterable
        return fill(
            "table.html",
            caption=self.caption,
            hint=self.hint,
            caption_id=context.new_id("caption") if self.caption else "",
            number=context.number("Table") if self.caption else "",
            is_tall=len(self.frame) > _TALL,
            features=" ".join(["sortable"] * self.sortable + ["filterable"] * filterable),
            columns=columns,
            rows=zip(
                self.keys or [""] * len(self.frame),
                (
                    zip(columns, cells, strict=True)
                    for cells in zip(*(column.cells for column in columns), strict=True)
                ),
                strict=True,
            ),
            notes=[
                (title_of(name, column), column.note)
                for name, column in shown.items()
                if column.note
            ],
            details=self._details(context),
            drawing_width=DRAWING_WIDTH,
        )

    def _details(self, context: PageContext) -> list[tuple[str, Markup]]:
        """Return the name of each row and what it opens."""
        if self.details is None:
            return []
        if context.is_aside:
            raise SpecError("the detail of a row holds a table with details; they go one deep.")
        below = context.below(aside=True)
        names = self.frame[next(iter(self._columns()))]
        return [
            (str(name), render(blocks, below) if blocks else Markup(""))
            for name, blocks in zip(names, self.details, strict=True)
        ]
