"""One self-contained page of HTML: text, figures, and tables to sort, filter and open."""

# Names that are not in __all__ are for other rooms.
from bayesbias.html.columns import Column
from bayesbias.html.html_tables import Table
from bayesbias.html.markup import literal
from bayesbias.html.number_format import probability as probability
from bayesbias.html.page import Page, Section, write_page
from bayesbias.html.page_blocks import Choice, Code, Definitions, Fold, Notice, References
from bayesbias.html.page_context import Block, Blocks, PageContext
from bayesbias.html.pictures import Figure, figure_svg

__all__ = [
    "Block",
    "Blocks",
    "Choice",
    "Code",
    "Column",
    "Definitions",
    "Figure",
    "Fold",
    "Notice",
    "Page",
    "PageContext",
    "References",
    "Section",
    "Table",
    "figure_svg",
    "literal",
    "write_page",
]
