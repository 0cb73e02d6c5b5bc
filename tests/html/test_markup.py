"""Text of strangers, numbers, and the markup of sentences."""

from __future__ import annotations

import math
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesbias.html import literal
from bayesbias.html.markup import escape, inline, paragraphs, printable
from bayesbias.html.number_format import decimals, number


class Reader(HTMLParser):
    """What a browser makes of HTML: tags, and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(str(html))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


# Characters that are markup, here or in HTML, more often than by chance.
texts = st.text(st.one_of(st.sampled_from("*`[]()\\<>&\"'#-_ \nhttps:/"), st.characters()))


@given(texts)
def test_any_text_comes_out_as_itself(text: str) -> None:
    read = Reader(f"<p>{escape(text)}</p>")
    assert read.tags == ["p"]
    assert read.text == printable(text)
    assert read.text.encode("utf-8").decode("utf-8") == read.text  # no half of a surrogate pair


@given(texts)
def test_a_literal_stands_for_itself(text: str) -> None:
    word = printable(" ".join(text.split()))
    assert Reader(inline(literal(text))).text == word
    assert Reader(inline(literal(text))).tags == []
    assert Reader(paragraphs(literal(text), 3)).tags == (["p"] if word else [])
    read = Reader(inline(f"**a** `{literal(text)}` [*{literal(text)}*](https://b.c) d"))
    if word:
        assert read.tags == ["strong", "code", "a", "em"]
        assert read.text == f"a {word} {word} d"


@given(texts)
def test_no_sentence_makes_other_tags_than_these(text: str) -> None:
    assert {*Reader(inline(text)).tags} <= {"strong", "em", "code", "a"}


def test_markup() -> None:
    assert inline("a **b *c* d** `e*f*` g_h") == (
        "a <strong>b <em>c</em> d</strong> <code>e*f*</code> g_h"
    )
    assert inline(r"3 \* 4 \* 5") == "3 * 4 * 5"
    assert inline("2 * 3 < 7 & so on") == "2 * 3 &lt; 7 &amp; so on"
    assert inline("[a (b)](https://doi.org/10.1016/S0(99)1)") == (
        '<a href="https://doi.org/10.1016/S0(99)1">a (b)</a>'
    )
    assert inline("[here](#summary)") == '<a href="#summary">here</a>'


@pytest.mark.parametrize("target", ["javascript:alert(1)", "data:text/html,x", "//b.c", "x.html"])
def test_other_links_are_text(target: str) -> None:
    assert inline(f"[here]({target})") == "here"


def test_a_link_cannot_leave_its_quotes() -> None:
    assert inline('[a](https://b"onclick="c)') == '<a href="https://b%22onclick=%22c">a</a>'


def test_paragraphs() -> None:
    text = "# Head\n\nOne\ntwo.\n\n- a\n  b\n- *c*\n\n\nLast."
    assert paragraphs(text, 4).split("\n") == [
        "<h4>Head</h4>",
        "<p>One",
        "two.</p>",
        "<ul>",
        "<li>a",
        "b</li>",
        "<li><em>c</em></li>",
        "</ul>",
        "<p>Last.</p>",
        "",
    ]


def test_headings_go_down_from_the_level_of_their_place() -> None:
    text = "# One\n\n## Two\n\n### Three"
    assert Reader(paragraphs(text, 3)).tags == ["h3", "h4", "h5"]
    assert Reader(paragraphs(text, 5)).tags == ["h5", "h6", "h6"]


@given(
    st.lists(
        st.sampled_from(["# ", "> ", "1. ", "- ", "    ", "***", "<b>", "|-|", "&lt;", "\n", "a"])
    )
)
def test_no_text_makes_other_blocks_than_these(parts: list[str]) -> None:
    allowed = {"p", "ul", "ol", "li", "h3", "strong", "em"}
    assert {*Reader(paragraphs("".join(parts), 3)).tags} <= allowed


@pytest.mark.parametrize("text", ["1. a", "2) b", "- c", "+ d", "# e", "> f", "---", "_h_"])
def test_a_literal_begins_no_block(text: str) -> None:
    assert paragraphs(literal(text), 3) == f"<p>{escape(text.strip())}</p>\n"


@given(st.floats(-1e9, 1e9), st.integers(0, 6))
def test_a_number_is_rounded_and_no_more(value: float, places: int) -> None:
    shown = float(number(value, places).replace("−", "-").replace(",", ""))
    assert abs(shown - value) <= 0.5 * 10.0**-places * (1 + 1e-6) + 1e-6


@given(st.floats(0, 1, exclude_min=True, exclude_max=True), st.integers(0, 3))
def test_a_share_is_never_rounded_to_certainty(value: float, places: int) -> None:
    shown = number(value, places, percent=True)
    assert shown[0] in "<>" or 0 < float(shown[:-1]) < 100


@pytest.mark.parametrize(
    ("value", "places", "shown"),
    [
        (-0.1415, 3, "−0.141"),
        (-0.0000001, 3, "0.000"),
        (0.00008, 3, "0.00008"),
        (12345.6, 0, "12,346"),
        (math.nan, 2, "–"),
        (-math.inf, 2, "−∞"),
    ],
)
def test_numbers(value: float, places: int, shown: str) -> None:
    assert number(value, places) == shown


def test_shares() -> None:
    assert [number(value, 0, percent=True) for value in (0, 0.003, 0.37, 0.9996, 1, math.nan)] == [
        *("0%", "<1%", "37%", ">99%", "100%", "–")
    ]
    assert number(0.99996, 1, percent=True) == ">99.9%"


def test_decimals_show_three_digits_of_the_largest() -> None:
    cases = [[0.512, -0.02], [12.34, 1], [-6223.2, 1], [0.0123], [3, 4], [np.nan], [np.inf, 0.5]]
    assert [decimals(np.array(values)) for values in cases] == [3, 1, 0, 4, 0, 0, 3]
