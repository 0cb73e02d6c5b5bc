"""One self-contained page of HTML: text, figures, and tables to sort, filter and open."""

from bayesbias.report.blocks import Choice, Code, Definitions, Fold, Notice, References
from bayesbias.report.columns import Column
from bayesbias.report.markup import literal
from bayesbias.report.page import Page, Section, write_page
from bayesbias.report.pictures import Figure, figure_svg
from bayesbias.report.place import Block, Blocks, Place
from bayesbias.report.tables import Table

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
    "Place",
    "References",
    "Section",
    "Table",
    "figure_svg",
    "literal",
    "write_page",
]
