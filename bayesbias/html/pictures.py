"""Figures inside the page: SVG whose ids, colours and fonts fit in, or PNG."""

from __future__ import annotations

import base64
import io
import json
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from bayesbias._core.constants import MARK
from bayesbias._core.wording import kind_of
from bayesbias.errors import SpecError
from bayesbias.html.markup import printable
from bayesbias.html.page_context import PageContext
from bayesbias.html.page_templates import fill

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as MatplotlibFigure

_PNG = b"\x89PNG\r\n\x1a\n"
_COLOR = re.compile(r"#[0-9a-fA-F]{6}\b")
# From light to dark, what greys stand for; those in the middle are colours of data.
_GREYS = {0xF8: "paper", 0xE8: "card", 0xD0: "rule", 0xA0: "line", 0x41: "", 0x00: "ink"}
_URL = re.compile(r"url\(['\"]?#([^)'\"]+)['\"]?\)")
_VIEW = re.compile(r"-?[\d.]+")
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_AROUND_LETTER = re.compile(r"\s*([A-Za-z])\s*")
_HALO = "halo"
# A picture needs none of these; a script, or a style for all of the page, must not come with it.
_DROPPED = {"script", "style", "metadata", "foreignObject", "title", "desc"}
_LENGTHS = {"px": 1.0, "": 1.0, "pt": 96 / 72, "in": 96.0, "mm": 96 / 25.4, "cm": 96 / 2.54}


def figure_svg(source: Axes | MatplotlibFigure) -> str:
    """Return a matplotlib figure as SVG, for a `Figure` of a page; the same each time.

    Words stay words: they are found by searching the page, and set in a font of the reader that
    has their letters. The figure stays open.

    Parameters
    ----------
    source : Axes or Figure
        What a function of `bayesbias.plots` returned, or any matplotlib figure.

    Returns
    -------
    str
        The SVG.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from bayesbias.html import figure_svg
    >>> axes = Figure(figsize=(4, 3)).subplots()
    >>> lines = axes.plot([1, 2], [3, 4])
    >>> "<svg" in figure_svg(axes)
    True
    """
    import matplotlib

    # Axes may stand in a part of a figure, and that in the figure.
    figure: Any = getattr(source, "figure", source)
    figure = getattr(figure, "figure", figure)
    if not hasattr(figure, "savefig"):
        raise SpecError(f"'source' is {kind_of(source)}; expected matplotlib axes or a figure.")
    stream = io.StringIO()
    with (
        matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "bayesbias"}),
        warnings.catch_warnings(),
        _halos_named(figure),
    ):
        # Letters that matplotlib's font lacks are in a font of the reader.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    # A word with a control character would make a file that is not SVG.
    return printable(stream.getvalue())


@contextmanager
def _halos_named(figure: Any) -> Iterator[None]:
    """Take the halos off the texts of a figure, for now, and name these, for the page to add them.

    Matplotlib writes a text with a halo as the outlines of its letters, of which it may have none.
    """
    from matplotlib.patheffects import withStroke
    from matplotlib.text import Text

    with_halo = [
        (text, text.get_path_effects(), text.get_gid())
        for text in figure.findobj(Text)
        if any(isinstance(effect, withStroke) for effect in text.get_path_effects() or ())
    ]
    try:
        for text, _, _ in with_halo:
            text.set(path_effects=None, gid=_HALO)
        yield
    finally:
        for text, effects, name in with_halo:
            text.set(path_effects=effects, gid=name)


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture with words for those who cannot see it.

    Ink, paper and grid of an SVG follow the light or dark colours of the page; other colours stay.
    A PNG stands on white. Where a part of an SVG has an attribute ``data-tip``, its text is shown
    when the reader points at it; ``data-key`` links it to rows of tables.

    Parameters
    ----------
    picture : str or bytes
        SVG as text (see `figure_svg`), or the bytes of a PNG file.
    alt : str
        What the picture shows, in a sentence.
    caption : str, default ""
        Said below the picture; may have markup.
    hint : str, default ""
        What the reader can do with it on a screen, said after the caption; not printed.
    narrow : str, default ""
        The same picture as SVG for narrow screens, where it replaces `picture`.

    Raises
    ------
    SpecError
        If the picture is neither SVG nor PNG, or `alt` is empty.

    Examples
    --------
    >>> from bayesbias.html import Figure, Page, Section
    >>> dot = '<svg viewBox="0 0 10 10" width="10" height="10"><circle cx="5" cy="5" r="4"/></svg>'
    >>> figure = Figure(dot, alt="A black dot.", caption="All there is to see.")
    >>> "A black dot." in Page("Dots", [Section("One", figure)]).html()
    True
    """

    picture: str | bytes
    alt: str
    caption: str = ""
    hint: str = ""
    narrow: str = ""

    def __post_init__(self) -> None:
        if not self.alt.strip():
            raise SpecError("'alt' is empty; say in a sentence what the picture shows.")
        if isinstance(self.picture, bytes):
            if not self.picture.startswith(_PNG):
                raise SpecError("'picture' holds bytes that are not a PNG file; give PNG or SVG.")
        else:
            _parse(self.picture)
        if self.narrow:
            _parse(self.narrow)

    def html(self, context: PageContext) -> str:
        """Return the figure as HTML."""
        picture = (
            _png(self.picture)
            if isinstance(self.picture, bytes)
            else _svg(self.picture, self.alt, context)
        )
        number = context.number("Figure") if self.caption else ""
        return fill(
            "figure.html",
            alt=self.alt,
            caption=self.caption,
            hint=self.hint,
            number=number,
            picture=picture,
            narrow=_svg(self.narrow, self.alt, context) if self.narrow else None,
        )


@dataclass(frozen=True, slots=True)
class _Picture:
    """What the template needs of a picture: its width on the screen, and an SVG or a source."""

    width: float
    svg: str = ""
    source: str = ""
    size: tuple[int, int] = (0, 0)


def _png(data: bytes) -> _Picture:
    # The header of the file, after its name: the length and name of the first chunk.
    width, height = (int.from_bytes(data[start : start + 4], "big") for start in (16, 20))
    source = f"data:image/png;base64,{base64.b64encode(data).decode('ascii')}"
    # Figures are drawn with about two dots for each of the screen, to be sharp on paper.
    return _Picture(width / 2, source=source, size=(width, height))


def _parse(svg: str) -> ET.Element:
    try:
        root = ET.fromstring(svg)
    except ET.ParseError as err:
        raise SpecError(f"'picture' is not SVG ({err}); give SVG as text, or a PNG.") from err
    if _local(root.tag) != "svg":
        raise SpecError(f"'picture' is <{_local(root.tag)}>; expected <svg>.")
    if len(_VIEW.findall(root.get("viewBox", ""))) != 4:
        raise SpecError("'picture' is an <svg> without a viewBox; it needs one to be scaled.")
    return root


def _svg(svg: str, alt: str, context: PageContext) -> _Picture:
    """Return an SVG for a page with others."""
    root = _parse(svg)
    referred = {name for part in root.iter() for name in _references(part)}
    prefix = context.new_id("picture")
    # Short names, all different on the page; an id that nothing refers to is left out.
    names = {name: f"{prefix}-{number}" for number, name in enumerate(sorted(referred), 1)}
    width, view = _width(root), root.get("viewBox", "")
    _clean(root, names, context)
    root.attrib = {"viewBox": view, "role": "img", "aria-label": printable(alt)}
    return _Picture(width, Markup(ET.tostring(root, encoding="unicode")))


def _clean(part: ET.Element, names: dict[str, str], context: PageContext) -> None:
    """Make a part of an SVG and all in it small, harmless and fit for the page."""
    part.tag = _local(part.tag)
    has_halo = part.get("id") == _HALO
    mark = part.get("id", "")
    part.attrib = {
        name: kept
        for name, value in ((_local(key), value) for key, value in part.attrib.items())
        if (kept := _attribute(name, value, names, context))
    }
    if has_halo:
        part.set("class", _HALO)
    if mark.startswith(MARK):
        key, name, text = json.loads(mark.removeprefix(MARK))
        part.set("data-key", str(key))
        part.set("data-tip", f"{name}: {text}")
    if part.tag not in ("text", "tspan"):
        part.text = None
    for child in list(part):
        if _local(child.tag) in _DROPPED:
            part.remove(child)
        else:
            _clean(child, names, context)
        if part.tag not in ("text", "tspan"):
            child.tail = None
    styles = {child.get("style") for child in part}
    # Thousands of dots are alike: say once how they look. The opacity of a group is another thing.
    if len(part) > 1 and len(styles) == 1 and part.tag == "g" and "style" not in part.attrib:
        style = styles.pop()
        if style and not re.search(r"(?<![-\w])opacity", style):
            part.set("style", style)
            for child in part:
                del child.attrib["style"]


def _attribute(name: str, value: str, names: dict[str, str], context: PageContext) -> str:
    """Return the value of an attribute as it goes into the page; nothing leaves it out."""
    if name == "id":
        return names.get(value, "")
    if name == "href":
        if value.startswith("#"):
            return "#" + names[value[1:]]
        return value if value.startswith("data:image/") else ""
    if name.startswith("on"):
        return ""
    if name.startswith("data-"):
        return value
    if name in ("d", "x", "y", "points"):
        return _AROUND_LETTER.sub(r"\1", _NUMBER.sub(_rounded, value)).strip()
    value = _URL.sub(lambda match: f"url(#{names[match[1]]})", value)
    if re.search(r"url\((?!#)", value):
        return ""
    # The page names the font, once.
    value = re.sub(r"font-family:[^;]*;?\s*", "", value)
    value = re.sub(r"(font:[^;]*?px) [^;]*", r"\1 var(--figure)", value)
    return _COLOR.sub(lambda match: _page_color(match[0], context), value)


def _references(part: ET.Element) -> list[str]:
    """Return the ids that the attributes of a part refer to."""
    names = []
    for key, value in part.attrib.items():
        if _local(key) == "href" and value.startswith("#"):
            names.append(value[1:])
        names += _URL.findall(value)
    return names


def _page_color(color: str, context: PageContext) -> str:
    """Return the colour of the page that a grey of a figure stands for, or that of data."""
    red, green, blue = bytes.fromhex(color[1:])
    name = ""
    if red == green == blue:
        name = next(name for least, name in _GREYS.items() if red >= least)
    return f"var(--{name})" if name else context.color(color)


def _rounded(match: re.Match[str]) -> str:
    return f"{float(match[0]):.2f}".rstrip("0").rstrip(".")


def _local(name: str) -> str:
    """Return the name of an element or attribute without its namespace."""
    return name.rpartition("}")[2]


def _width(root: ET.Element) -> float:
    """Return the width of an SVG in pixels of the screen; that of its view box if it has none."""
    match = re.fullmatch(r"([\d.]+)(px|pt|in|mm|cm|)", root.get("width", ""))
    if match:
        return float(match[1]) * _LENGTHS[match[2]]
    return float(_VIEW.findall(root.get("viewBox", ""))[2])
