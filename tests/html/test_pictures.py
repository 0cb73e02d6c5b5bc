"""Figures: harmless, with ids of their own, in the colours of the page."""

from __future__ import annotations

import io
import json
import re
import struct
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.patheffects import withStroke

import bayesbias.html
from bayesbias._core.constants import MARK
from bayesbias.errors import SpecError
from bayesbias.html import Figure, Page, PageContext, Section, figure_svg
from bayesbias.html.colors import light_enough, luminance

FOLDER = Path(bayesbias.html.__file__).parent
BOX = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10"'


def drawn(word: str = "imam") -> MatplotlibFigure:
    figure = MatplotlibFigure(figsize=(4, 3))
    axes = figure.subplots()
    axes.scatter(np.arange(50), np.arange(50) ** 2 / 50, c="#D55E00", alpha=0.3)
    axes.set_title(word)
    axes.grid(color="#dddddd")
    axes.text(2, 2, "a", color="#767676", bbox={"facecolor": "white"})
    return figure


def as_html(svg: str, context: PageContext | None = None) -> str:
    return Figure(svg, "A picture.").html(context or PageContext())


def test_each_picture_has_ids_of_its_own_and_finds_them() -> None:
    svg = figure_svg(drawn())
    assert "clip-path" in svg
    html = Page("Same", [Section("All", [Figure(svg, "One."), Figure(svg, "Two.")])]).html()
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    referred = re.findall(r'(?:use href="|url\()#([^")]+)', html)
    assert len(set(referred)) >= 4
    assert set(referred) <= set(ids)


def test_the_same_figure_gives_the_same_svg() -> None:
    assert figure_svg(drawn()) == figure_svg(drawn().axes[0])


def test_options_of_matplotlib_are_left_alone() -> None:
    before = dict(mpl.rcParams)
    figure_svg(drawn())
    assert dict(mpl.rcParams) == before


def test_axes_of_a_part_of_a_figure() -> None:
    figure = MatplotlibFigure()
    assert "<svg" in figure_svg(figure.subfigures(1, 2)[0].subplots())


@pytest.mark.parametrize("word", ["قرآن", "清真寺", "<script>alert(1)</script>", "a\x0bb", "a & b"])
def test_words_stay_words(word: str) -> None:
    html = as_html(figure_svg(drawn(word)))
    shown = word.replace("\x0b", "\ufffd").replace("&", "&amp;")
    shown = shown.replace("<", "&lt;").replace(">", "&gt;")
    assert f">{shown}</text>" in html
    assert "font-family" not in html
    assert "<script" not in html


def test_ink_paper_and_grid_are_those_of_the_page_and_data_keep_their_colours() -> None:
    html = as_html(figure_svg(drawn()))
    assert "stroke: var(--ink)" in html
    assert "fill: var(--paper)" in html
    assert "stroke: var(--rule)" in html
    assert {color.lower() for color in re.findall("#[0-9a-fA-F]{6}", html)} == {
        "#d55e00",
        "#767676",
    }


def test_words_with_a_halo_stay_words_and_get_it_from_the_page() -> None:
    figure = drawn("清真寺")
    halo = [withStroke(linewidth=2, foreground="white")]
    figure.axes[0].title.set(path_effects=halo, gid="mine")
    html = as_html(figure_svg(figure))
    assert re.search('<g class="halo"><text[^>]*>清真寺</text></g>', html)
    assert figure.axes[0].title.get_path_effects() == halo
    assert figure.axes[0].title.get_gid() == "mine"


@given(st.from_regex("#[0-9a-f]{6}", fullmatch=True))
def test_colours_of_data_are_seen_on_dark_paper(color: str) -> None:
    paper = re.findall("--paper: (#[0-9a-f]{6})", (FOLDER / "dark.css").read_text("utf-8"))[0]
    lighter = light_enough(color)
    assert (luminance(lighter) + 0.05) / (luminance(paper) + 0.05) >= 4.5
    # No lighter than it need be, and one that is seen as it is stays.
    if lighter != color:
        assert luminance(color) < luminance(lighter) < 0.26


def test_lighter_colours_are_for_dark_paper_only() -> None:
    page = Page(
        "Dark", [Section("All", Figure(f'{BOX}><path style="fill: #332288"/></svg>', "A."))]
    )
    html = page.html()
    assert "fill: var(--dark-332288, #332288)" in html
    dark = re.findall('<style id="dark".*?</style>', html, re.DOTALL)[0]
    assert f"--dark-332288: {light_enough('#332288')};" in dark
    assert html.count("--dark-332288:") == 1


def test_dots_keep_their_places_and_share_their_style() -> None:
    number = r'x="([\d.]+)" y="([\d.]+)"'
    full = re.findall(f'<use [^>]*{number} style="fill: #d55e00', figure_svg(drawn()))
    dots = re.findall(f'<use href="#[^"]+" {number} */>', as_html(figure_svg(drawn())))
    assert len(full) == 50
    apart = np.array(full, dtype=float)[:, None] - np.array(dots, dtype=float)
    assert np.abs(apart).max(axis=2).min(axis=1).max() <= 0.0051


def test_nothing_harmful_or_remote_comes_with_a_picture() -> None:
    html = as_html(
        BOX + ' xmlns:xlink="http://www.w3.org/1999/xlink" onload="alert(1)">'
        "<script>alert(1)</script><style>* { color: red }</style>"
        '<image xlink:href="https://example.org/a.png"/><image href="data:image/png;base64,AAAA"/>'
        '<a href="javascript:alert(1)"><rect onclick="alert(1)" fill="url(https://b.c)"/></a>'
        "<foreignObject><p>a</p></foreignObject></svg>"
    )
    assert "data:image/png;base64,AAAA" in html
    for harm in ("alert", "script", "example.org", "b.c", "color: red", "foreign", "xmlns"):
        assert harm not in html


def test_the_opacity_of_a_dot_does_not_become_that_of_a_group() -> None:
    group = '<g><rect style="{0}"/><rect style="{0}"/></g></svg>'
    assert as_html(f"{BOX}>{group.format('fill: #d55e00')}").count('style="fill') == 1
    assert as_html(f"{BOX}>{group.format('opacity: 0.5')}").count('style="opacity') == 2


@pytest.mark.parametrize(
    ("attributes", "width"),
    [
        (' width="72pt"', 96),
        (' width="2in"', 192),
        (' width="50"', 50),
        (' width="100%"', 20),
        ("", 20),
    ],
)
def test_width(attributes: str, width: int) -> None:
    assert f"--width:{width}px" in as_html(f"{BOX}{attributes}><path/></svg>")


def test_png() -> None:
    stream = io.BytesIO()
    drawn().savefig(stream, format="png", dpi=100)
    html = Figure(stream.getvalue(), 'A "quoted" word.').html(PageContext())
    assert 'width="400" height="300"' in html
    assert 'alt="A &#34;quoted&#34; word."' in html
    assert struct.unpack(">II", stream.getvalue()[16:24]) == (400, 300)


@pytest.mark.parametrize(
    ("picture", "alt", "message"),
    [
        (f"{BOX}></svg>", " ", "'alt' is empty; say in a sentence"),
        ("<p>a</p>", "A.", "'picture' is <p>; expected <svg>."),
        ("<svg", "A.", r"'picture' is not SVG \(.*\); give SVG as text, or a PNG."),
        ("<svg width='3'></svg>", "A.", "an <svg> without a viewBox"),
        (b"GIF89a", "A.", "bytes that are not a PNG file"),
    ],
)
def test_errors(picture: str | bytes, alt: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Figure(picture, alt)


def test_a_picture_for_narrow_screens_has_ids_of_its_own() -> None:
    svg = '<svg viewBox="0 0 9 9"><defs><path id="a" d="M0 0"/></defs><use href="#a"/></svg>'
    page = Page("A", [Section("B", Figure(svg, "Dots.", narrow=svg))]).html()
    ids = re.findall(r'<path id="([^"]+)"', page)
    assert len(ids) == len(set(ids)) == 2
    assert page.count('class="narrow"') == 1
    with pytest.raises(SpecError, match="not SVG"):
        Figure(svg, "Dots.", narrow="<svg")


def test_no_figure() -> None:
    with pytest.raises(SpecError, match="'source' is an int; expected matplotlib axes"):
        figure_svg(3)  # type: ignore[arg-type]


def test_marks_become_texts_and_links() -> None:
    figure = drawn()
    [axes] = figure.axes
    odd = 'a "b" <c> #aabbcc'
    axes.axhspan(0, 1, facecolor="none").set_gid(MARK + json.dumps([f"word:{odd}", odd, "0.5"]))
    html = as_html(figure_svg(figure))
    escaped = "a &quot;b&quot; &lt;c&gt; #aabbcc"
    assert html.count(f'data-key="word:{escaped}" data-tip="{escaped}: 0.5"') == 1
    assert MARK not in html


def test_texts_of_dots_are_kept() -> None:
    html = as_html(f'{BOX}><circle r="1" data-tip="#decade 0.5" onclick="alert(1)"/></svg>')
    assert '<circle r="1" data-tip="#decade 0.5"' in html
    assert "onclick" not in html
