"""The page itself: sections one below the other, and all that they need in one file."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path

from markupsafe import Markup

from bayesbias._core.files import atomic, check_folder
from bayesbias._core.wording import quoted
from bayesbias.errors import SpecError
from bayesbias.html.page_blocks import check_name
from bayesbias.html.page_context import Blocks, PageContext, render
from bayesbias.html.page_templates import fill


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page, with an entry in its contents.

    Parameters
    ----------
    title : str
        The heading.
    blocks : blocks
        What stands below it: a string, a block, or several of them.
    id : str, default ""
        The end of links to it, such as ``[above](#summary)``; by default made of the title.

    Examples
    --------
    >>> from bayesbias.html import Section
    >>> Section("Model comparison", "One model is better.").id
    'model-comparison'
    """

    title: str
    blocks: Blocks
    id: str = ""

    def __post_init__(self) -> None:
        if not self.id:
            slug = re.sub("[^a-z0-9]+", "-", self.title.lower()).strip("-")
            object.__setattr__(self, "id", slug if slug[:1].isalpha() else f"section-{slug}")
        check_name("the id of a section", self.id)


@dataclass(frozen=True, slots=True)
class Page:
    """One self-contained page of HTML.

    Titles, names, cells and code are plain text. Sentences may have a little markup: ``**bold**``,
    ``*emphasis*``, ```` `code` ````, ``[links](https://…)``; and text that stands as a block of its
    own may have paragraphs, apart by an empty line, lists (lines that begin with ``-`` or ``1.``)
    and headings (lines that begin with ``#``). It is Markdown without HTML; in code, too, a
    backslash escapes. Words that were not written for the page go through `literal`.

    Parameters
    ----------
    title : str
        The heading of all.
    sections : sequence of Section
        What stands below it.
    subtitle : str, default ""
        A sentence below the title; may have markup.
    facts : mapping of str to str, optional
        A few names and values below that, such as the data and the date.
    footer : str, default ""
        The last sentence; may have markup.

    Examples
    --------
    >>> from bayesbias.html import Page, Section
    >>> page = Page("An audit", [Section("Summary", "There is **some** bias.")])
    >>> "<strong>some</strong>" in page.html()
    True
    """

    title: str
    sections: Sequence[Section]
    subtitle: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    footer: str = ""

    def html(self) -> str:
        """Return the page as HTML; the same page, the same text.

        Returns
        -------
        str
            The whole file.

        Raises
        ------
        SpecError
            If two parts have the same id, or a link leads to an id that no part has.
        """
        context = PageContext()
        for name in ("content", "dark", *(section.id for section in self.sections)):
            context.claim(name)
        sections = []
        for section in self.sections:
            context.claim(f"{section.id}-title")
            sections.append((section, render(section.blocks, context)))
        body = fill("body.html", page=self, sections=sections)
        _check_links(body, context.ids)
        script = _asset("page.js")
        digest = hashlib.sha256(script.encode()).digest()
        html = fill(
            "page.html",
            page=self,
            body=body,
            script=script,
            script_digest=base64.b64encode(digest).decode("ascii"),
            style=_asset("page.css"),
            dark_style=_asset("dark.css"),
            lighter_colors=sorted(context.lighter.items()),
        )
        return str(html)


def write_page(page: Page, path: str | PathLike[str]) -> Path:
    """Write a page to a file, whole or not at all.

    Parameters
    ----------
    page : Page
        The page.
    path : path-like
        The file, such as ``report.html``; one that is there is replaced.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    DataError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from bayesbias.html import Page, Section, write_page
    >>> page = Page("An audit", [Section("Summary", "There is some bias.")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_page(page, Path(folder) / "report.html").name
    'report.html'
    """
    target = Path(path)
    check_folder(target)
    text = page.html()
    with atomic(target) as (temporary,):
        temporary.write_text(text, "utf-8", newline="\n")
    return target


@cache
def _asset(name: str) -> Markup:
    return Markup((files("bayesbias.html") / name).read_text("utf-8"))


def _check_links(text: str, ids: set[str]) -> None:
    broken = [
        name for name in dict.fromkeys(re.findall('<a href="#([^"]*)"', text)) if name not in ids
    ]
    if broken:
        raise SpecError(
            f"links of the page lead to {quoted(broken)}, ids that no section or reference has."
        )
