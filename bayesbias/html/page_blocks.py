"""The plain blocks of a page: notices, definitions, code, choices, folds, references."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bayesbias._core.validation import one_of
from bayesbias.errors import SpecError
from bayesbias.html.markup import paragraphs
from bayesbias.html.page_context import Blocks, PageContext, render
from bayesbias.html.page_templates import fill

_NAME = re.compile(r"[A-Za-z][\w-]*", re.ASCII)


def check_name(what: str, name: str) -> None:
    """Refuse a name that cannot be the end of a link."""
    if not _NAME.fullmatch(name):
        raise SpecError(
            f"{what} is {name!r}; expected a letter, then letters, digits, hyphens and underscores."
        )


@dataclass(frozen=True, slots=True)
class Notice:
    """A few sentences set apart.

    Parameters
    ----------
    text : str
        What there is to say; may have markup, paragraphs and bullets.
    kind : {"note", "warning"}, default "note"
        How urgent it is.
    title : str, default ""
        The first words; by default the kind.

    Examples
    --------
    >>> from bayesbias.html import Notice, Page, Section
    >>> notice = Notice("Two words were **not found**.", "warning")
    >>> "<strong>not found</strong>" in Page("An audit", [Section("Words", notice)]).html()
    True
    """

    text: str
    kind: Literal["note", "warning"] = "note"
    title: str = ""

    def __post_init__(self) -> None:
        one_of("kind", self.kind, ("note", "warning"))

    def html(self, context: PageContext) -> str:
        """Return the notice as HTML."""
        return fill(
            "notice.html",
            kind=self.kind,
            title=self.title or self.kind.capitalize(),
            text=paragraphs(self.text, context.level),
        )


@dataclass(frozen=True, slots=True)
class Definitions:
    """Terms and what they mean or are.

    Parameters
    ----------
    terms : mapping of str to str
        What is said of each term; may have markup, the terms not.

    Examples
    --------
    >>> from bayesbias.html import Definitions, Page, Section
    >>> seed = Definitions({"seed": "`0`"})
    >>> "<dt>seed</dt><dd><code>0</code></dd>" in Page("Run", [Section("Numbers", seed)]).html()
    True
    """

    terms: Mapping[str, str]

    def html(self, context: PageContext) -> str:
        """Return the list as HTML."""
        return fill("definitions.html", terms=self.terms)


@dataclass(frozen=True, slots=True)
class Code:
    """Text to be copied as it is, such as code or an entry for a bibliography.

    Parameters
    ----------
    text : str
        The text, line by line.

    Examples
    --------
    >>> from bayesbias.html import Code, Page, Section
    >>> "import bayesbias" in Page("How", [Section("To", Code("import bayesbias"))]).html()
    True
    """

    text: str

    def html(self, context: PageContext) -> str:
        """Return the text as HTML."""
        return fill("code.html", text=self.text)


@dataclass(frozen=True, slots=True)
class Choice:
    """Parts of which the reader sees one at a time; on paper and without scripts, all or none.

    All choices of a page that have the same label are made together. Figures and tables have the
    same numbers in each option, so that those the reader sees are counted without gaps; on paper
    they are called Figure 3.1, 3.2 and so on.

    Parameters
    ----------
    label : str
        What there is to choose, such as ``"Embedding"``.
    options : mapping of str to blocks
        What each option shows; the first is shown at the start.
    on_paper : bool, default True
        Whether the parts are printed.

    Raises
    ------
    SpecError
        If there is no option.

    Examples
    --------
    >>> from bayesbias.html import Choice, Page, Section
    >>> choice = Choice("Embedding", {"GloVe": "Some bias.", "fastText": "Less of it."})
    >>> "Less of it." in Page("Two embeddings", [Section("Result", choice)]).html()
    True
    """

    label: str
    options: Mapping[str, Blocks]
    on_paper: bool = True

    def __post_init__(self) -> None:
        if not self.options:
            raise SpecError(f"the choice {self.label!r} has no options; give one or more.")

    def html(self, context: PageContext) -> str:
        """Return all options as HTML."""
        contexts = context.options(len(self.options))
        options = [
            (name, render(blocks, option_context))
            for (name, blocks), option_context in zip(self.options.items(), contexts, strict=True)
        ]
        for option_context in contexts:
            context.numbers.update(option_context.numbers - context.numbers)
        return fill(
            "choice.html",
            label=self.label,
            level=context.level,
            options=options,
            classes="choice" if self.on_paper else "choice screen-only",
        )


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that open when their title is clicked; on paper they are open, or left out.

    Parameters
    ----------
    title : str
        What is inside.
    blocks : blocks
        What opens.
    on_paper : bool, default True
        Whether they are printed.

    Examples
    --------
    >>> from bayesbias.html import Fold, Page, Section
    >>> fold = Fold("The priors", "All are weak.")
    >>> "<summary>The priors</summary>" in Page("Methods", [Section("Model", fold)]).html()
    True
    """

    title: str
    blocks: Blocks
    on_paper: bool = True

    def html(self, context: PageContext) -> str:
        """Return the title and what it opens as HTML."""
        return fill(
            "fold.html",
            title=self.title,
            classes="fold" if self.on_paper else "fold screen-only",
            blocks=render(self.blocks, context.below()),
        )


@dataclass(frozen=True, slots=True)
class References:
    """Works to be read, in the order given; text links to them by ``[Caliskan](#ref-weat)``.

    Parameters
    ----------
    works : mapping of str to str
        The entry of each work, by a short name; may have markup.

    Examples
    --------
    >>> from bayesbias.html import Page, References, Section
    >>> works = References({"weat": "Caliskan et al. (2017), *Science*."})
    >>> page = Page("WEAT", [Section("Methods", ["By [Caliskan](#ref-weat).", works])])
    >>> 'id="ref-weat"' in page.html()
    True
    """

    works: Mapping[str, str]

    def __post_init__(self) -> None:
        for name in self.works:
            check_name("the name of a reference", name)

    def html(self, context: PageContext) -> str:
        """Return the list as HTML."""
        works = [(context.claim(f"ref-{name}"), text) for name, text in self.works.items()]
        return fill("references.html", works=works)
