"""Text of strangers made harmless, and the little markup that sentences of a page may have."""

from __future__ import annotations

import html
import re

# Characters that HTML has no place for: most controls, and halves of surrogate pairs.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_MARKUP = re.compile(r"[\\`*\[\]()#-]")
_SPAN = re.compile(
    r"""\\(?P<escaped>[\\`*\[\]()#-])
    | `(?P<code>(?:\\.|[^\\`])+)`
    | \*\*(?P<strong>(?:\\.|[^\\])+?)\*\*
    | \*(?P<em>(?:\\.|[^\\*])+)\*
    | \[(?P<label>(?:\\.|[^\\\]])+)\]\((?P<target>(?:[^()\s]|\([^()\s]*\))+)\)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_TARGETS = ("https://", "http://", "mailto:", "#")


def printable(text: object) -> str:
    """Return text without the characters that no page may hold."""
    return _UNPRINTABLE.sub("\ufffd", str(text))


def escape(text: object) -> str:
    """Return any text as HTML that shows just this text."""
    return html.escape(printable(text))


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


def inline(text: str) -> str:
    """Return a sentence with its markup as HTML."""
    parts = []
    end = 0
    for match in _SPAN.finditer(text):
        parts += [escape(text[end : match.start()]), _span(match)]
        end = match.end()
    return "".join(parts) + escape(text[end:])


def _span(match: re.Match[str]) -> str:
    kind, inside = match.lastgroup, match[match.lastgroup or 0]
    if kind == "escaped":
        return escape(inside)
    if kind == "code":
        bare = _ESCAPED.sub(r"\1", inside)
        return f"<code>{escape(bare)}</code>"
    if kind != "target":
        return f"<{kind}>{inline(inside)}</{kind}>"
    label = inline(match["label"])
    # Whatever else a link may start, such as a script, it does not from here.
    return f'<a href="{escape(inside)}">{label}</a>' if inside.startswith(_TARGETS) else label


def paragraphs(text: str, level: int) -> str:
    """Return text as HTML: paragraphs, bullets and headings of the level."""
    return "".join(_paragraph(part, level) for part in re.split(r"\n\s*\n", text.strip()))


def _paragraph(text: str, level: int) -> str:
    if text.startswith("# "):
        return f"<h{level}>{inline(text[2:])}</h{level}>\n"
    if text.startswith("- "):
        items = re.split(r"\n\s*- ", text[2:])
        return "<ul>" + "".join(f"<li>{inline(item)}</li>" for item in items) + "</ul>\n"
    return f"<p>{inline(text)}</p>\n"
