"""Text of strangers made harmless, and the little markup that sentences of a page may have."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import markupsafe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup

# Characters that HTML has no place for: most controls, and halves of surrogate pairs.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# What could be markup, the point of "1. First" included.
_MARKUP = re.compile(r"[\\`*_\[\]()#+-]|(?<=\d)\.(?= |$)")
_CODE = re.compile(r"`((?:\\.|[^\\`])+)`", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
# Whatever else a link may start, such as a script, it does not from here.
_SAFE_TARGETS = ("https://", "http://", "mailto:", "#")


def printable(text: object) -> str:
    """Return text without the characters that no page may hold."""
    return _UNPRINTABLE.sub("\ufffd", str(text))


def escape(text: object) -> Markup:
    """Return any text as HTML that shows just this text; HTML stays as it is."""
    return markupsafe.escape(text if isinstance(text, Markup) else printable(text))


def literal(text: object) -> str:
    r"""Return text that stands for itself in a sentence of a page, whatever characters it has.

    Sentences of a page may have a little markup (see `Page`). A word of an embedding may hold the
    same characters by chance, or on purpose.

    Parameters
    ----------
    text : object
        A word, a name, a path: anything that was not written for the page.

    Returns
    -------
    str
        The text, on one line, with a backslash before each character that could be markup.

    Examples
    --------
    >>> from bayesbias.html import literal
    >>> print(f"The word *{literal('f**k')}* was not found.")
    The word *f\*\*k* was not found.
    """
    return _MARKUP.sub(r"\\\g<0>", " ".join(str(text).split()))


def inline(text: str) -> Markup:
    """Return a sentence with its markup as HTML."""
    return Markup(_parser().renderInline(printable(text)))


def paragraphs(text: str, level: int) -> Markup:
    """Return text as HTML: paragraphs, lists, and headings from the level on."""
    return Markup(_parser().render(printable(text), {"level": level}))


@cache
def _parser() -> MarkdownIt:
    """Return a parser of the few kinds of markup that a page has; HTML is none of them."""
    parser = MarkdownIt("zero", renderer_cls=_Renderer)
    parser.enable(["heading", "list", "escape", "backticks", "emphasis", "link"])
    parser.inline.ruler.at("backticks", _code)
    parser.core.ruler.after("inline", "safe_links", _hide_unsafe_links)
    # Of links that are not safe the label is kept, so none is refused as it is parsed.
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser


class _Renderer(RendererHTML):
    """Headings as deep as the place of the text on the page, and lines that end where they may."""

    def heading_open(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return f"<h{_depth(tokens[idx], env)}>"

    def heading_close(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return f"</h{_depth(tokens[idx], env)}>\n"

    def hardbreak(
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        return "\n"


def _depth(heading: Token, env: EnvType) -> int:
    level: int = env["level"]
    return min(level + int(heading.tag[1]) - 1, 6)


def _code(state: StateInline, silent: bool) -> bool:
    """Parse code in which a backslash still escapes, so that a `literal` can stand in it."""
    match = _CODE.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        state.push("code_inline", "code", 0).content = _ESCAPED.sub(r"\1", match[1])
    state.pos = match.end()
    return True


def _hide_unsafe_links(state: StateCore) -> None:
    """Keep the labels, but not the targets, of links that could do more than lead somewhere."""
    for block in state.tokens:
        is_hidden = False
        for token in block.children or ():
            if token.type == "link_open":
                is_hidden = not str(token.attrGet("href")).startswith(_SAFE_TARGETS)
            if token.type in ("link_open", "link_close"):
                token.hidden = is_hidden
