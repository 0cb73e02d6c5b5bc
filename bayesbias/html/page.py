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

from bayesbias._core.files import atomic, check_folder
from bayesbias._core.wording import quoted
from bayesbias.errors import SpecError
from bayesbias.html.markup import escape, inline
from bayesbias.html.page_blocks import check_name
from bayesbias.html.page_context import Blocks, Place, render


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
    own may have paragraphs, apart by an empty line, bullets (lines that begin with ``-``) and
    headings (paragraphs that begin with ``#``). Words that were not written for the page go through
    `literal`.

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
        place = Place()
        for name in ("content", "dark", *(section.id for section in self.sections)):
            place.claim(name)
        main = "".join(_section(section, place) for section in self.sections)
        header = f"<h1>{escape(self.title)}</h1>\n"
        if self.subtitle:
            header += f'<p class="subtitle">{inline(self.subtitle)}</p>\n'
        if self.facts:
            facts = (
                f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
                for name, value in self.facts.items()
            )
            header += f'<dl class="facts">{"".join(facts)}</dl>\n'
        footer = f"<footer><p>{inline(self.footer)}</p></footer>\n" if self.footer else ""
        contents = "".join(
            f'<li><a href="#{section.id}">{escape(section.title)}</a></li>\n'
            for section in self.sections
        )
        _check_links(header + main + footer, place.ids)
        return (
            f"{_head(self.title, place)}<body>\n"
            '<a class="skip" href="#content">Skip to the content</a>\n'
            '<nav aria-label="Contents"><details open><summary>Contents</summary>\n'
            f"<ol>\n{contents}</ol></details></nav>\n"
            f'<div class="sheet">\n<header>\n{header}</header>\n'
            f'<main id="content" tabindex="-1">\n{main}</main>\n{footer}</div>\n</body>\n</html>\n'
        )


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


def _section(section: Section, place: Place) -> str:
    heading = place.claim(f"{section.id}-title")
    return (
        f'<section id="{section.id}" aria-labelledby="{heading}">\n'
        f'<h2 id="{heading}">{escape(section.title)}</h2>\n'
        f"{render(section.blocks, place)}</section>\n"
    )


def _head(title: str, place: Place) -> str:
    lighter = "".join(f"  --dark-{was[1:]}: {now};\n" for was, now in sorted(place.lighter.items()))
    script = _part("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    # Nothing is fetched, and no script runs but this one, whatever may have slipped in.
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<title>{escape(title)}</title>\n<link rel="icon" href="data:,">\n'
        f"<style>\n{_part('page.css')}</style>\n"
        '<style id="dark" media="screen and (prefers-color-scheme: dark)">\n'
        f"{_part('dark.css')}:root {{\n{lighter}}}\n</style>\n<script>{script}</script>\n</head>\n"
    )


@cache
def _part(name: str) -> str:
    return (files("bayesbias.html") / name).read_text("utf-8")


def _check_links(text: str, ids: set[str]) -> None:
    lost = [
        name for name in dict.fromkeys(re.findall('<a href="#([^"]*)"', text)) if name not in ids
    ]
    if lost:
        raise SpecError(
            f"links of the page lead to {quoted(lost)}, ids that no section or reference has."
        )
