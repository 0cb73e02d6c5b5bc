"""What a block needs to know of the page around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

from markupsafe import Markup

from bayesbias.errors import SpecError
from bayesbias.html.colors import light_enough
from bayesbias.html.markup import paragraphs


@dataclass(frozen=True, slots=True)
class PageContext:
    """The ids that the page has given out, and the level of the headings here.

    Parameters
    ----------
    ids : set of str
        All ids of the page so far.
    numbers : Counter
        How many figures and tables the page has so far.
    id_counts : Counter
        How many ids of each kind the page has made so far.
    lighter : dict
        For colours of data that are too dark for dark paper, those used there.
    level : int, default 3
        The level of headings.
    is_aside : bool, default False
        Whether this is the detail of a row, where figures and tables have no numbers.
    option : str, default ""
        Which option of a choice this is, such as ``".2"``. On paper, where all options are seen,
        it follows the numbers of figures and tables.
    """

    ids: set[str] = field(default_factory=set)
    numbers: Counter[str] = field(default_factory=Counter)
    id_counts: Counter[str] = field(default_factory=Counter)
    lighter: dict[str, str] = field(default_factory=dict)
    level: int = 3
    is_aside: bool = False
    option: str = ""

    def claim(self, name: str) -> str:
        """Return an id for something that others link to; each may be had once."""
        if name in self.ids:
            raise SpecError(f"two parts of the page have the id {name!r}; each needs its own.")
        self.ids.add(name)
        return name

    def new_id(self, kind: str) -> str:
        """Return an id that nothing else on the page has."""
        self.id_counts[kind] += 1
        name = f"{kind}-{self.id_counts[kind]}"
        return self.new_id(kind) if name in self.ids else self.claim(name)

    def number(self, kind: str) -> Markup:
        """Return ``Figure 3`` for the third figure, as HTML; nothing for one that is an aside."""
        if self.is_aside:
            return Markup()
        self.numbers[kind] += 1
        number = Markup("{} {}").format(kind, self.numbers[kind])
        on_paper = Markup('<span class="paper-only">{}</span>').format(self.option)
        return number + on_paper if self.option else number

    def color(self, color: str) -> str:
        """Return a colour of data, such as ``"#332288"``, for a style: lighter on dark paper."""
        color = color.lower()
        lighter = light_enough(color)
        if lighter == color:
            return color
        self.lighter[color] = lighter
        return f"var(--dark-{color[1:]}, {color})"

    def below(self, *, aside: bool = False) -> PageContext:
        """Return the context of blocks inside a block here."""
        return replace(self, level=min(self.level + 1, 6), is_aside=self.is_aside or aside)

    def options(self, count: int) -> list[PageContext]:
        """Return the contexts of blocks that stand instead of each other; each counts from here."""
        places = [f".{place}" for place in range(1, count + 1)] if count > 1 else [""]
        return [
            replace(self.below(), numbers=self.numbers.copy(), option=self.option + place)
            for place in places
        ]


class Block(Protocol):
    """What stands on a page, one below the other: whatever has this method.

    Examples
    --------
    >>> from bayesbias.html import Page, Section
    >>> class Line:
    ...     def html(self, context):
    ...         return "<hr>"
    >>> "<hr>" in Page("Two parts", [Section("All", ["One.", Line(), "Two."])]).html()
    True
    """

    def html(self, context: PageContext) -> str:
        """Return the block as HTML.

        Parameters
        ----------
        context : PageContext
            Where it stands: it gives out ids, numbers and the level of headings.

        Returns
        -------
        str
            The HTML, with all text escaped.
        """
        ...


#: What stands in a part of a page, from top to bottom; a string is text.
Blocks: TypeAlias = str | Block | Sequence[str | Block]


def render(blocks: Blocks, context: PageContext) -> Markup:
    """Return blocks as HTML."""
    if isinstance(blocks, str):
        return paragraphs(blocks, context.level)
    if isinstance(blocks, Sequence):
        return Markup("").join(render(block, context) for block in blocks)
    return Markup(blocks.html(context))
