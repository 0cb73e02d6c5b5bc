"""Tables: what is shown, what is sorted by, what is drawn."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayesbias.errors import SpecError
from bayesbias.html import Column, PageContext, Table


def html_of(frame: pd.DataFrame, *args: object, **options: object) -> str:
    return Table(frame, *args, **options).html(PageContext())  # type: ignore[arg-type]


def cells(html: str) -> list[list[str]]:
    """The text of the cells, row by row."""
    body = html.split("<tbody>")[1]
    rows = re.findall("<tr>(.*?)</tr>", body)
    return [
        [re.sub("<[^>]*>", "", cell) for cell in re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row)]
        for row in rows
    ]


def keys(html: str) -> list[str]:
    return re.findall('data-v="([^"]*)"', html)


def test_cells() -> None:
    frame = pd.DataFrame(
        {
            "the_word": ["<b>a</b>", None],
            "share": [0.9996, np.nan],
            "n": [1234, 5],
            "is_ok": [True, False],
            "words": [["a", "b"], []],
        }
    )
    html = html_of(frame, columns={**dict.fromkeys(frame, Column()), "share": Column(percent=True)})
    assert cells(html) == [
        ["&lt;b&gt;a&lt;/b&gt;", "&gt;99%", "1,234", "yes", "a, b"],
        ["–", "–", "5", "no", ""],
    ]
    assert keys(html) == ["0.9996", "1234", "", "", "5"]
    assert '<span class="title">the word</span>' in html


def test_probabilities_are_never_certain() -> None:
    frame = pd.DataFrame({"p": [0.0, 0.004, 0.005001, 0.5, 0.994, 0.9951, 1.0, np.nan]})
    html = html_of(frame, columns={"p": Column(probability=True)})
    shown = ["&lt;0.01", "&lt;0.01", "0.01", "0.50", "0.99", "&gt;0.99", "&gt;0.99", "–"]
    assert cells(html) == [[text] for text in shown]
    assert keys(html) == ["0", "0.004", "0.005001", "0.5", "0.994", "0.9951", "1", ""]


def test_columns_are_chosen_ordered_and_titled() -> None:
    frame = pd.DataFrame({"a": [1], "b": [2], "c": [3]})
    html = html_of(frame, columns={"c": "C", "a": Column(title="A", note="the *first*")})
    assert cells(html) == [["3", "1"]]
    assert re.findall('"title">([^<]*)<', html) == ["C", "A"]
    assert "<dt>A</dt><dd>the <em>first</em></dd>" in html


def test_the_first_column_names_the_rows() -> None:
    html = html_of(pd.DataFrame({"word": ["a"], "n": [1]}))
    assert '<th scope="row">a</th><td data-v="1" class="n">1</td>' in html
    assert html.count('<th scope="col"') == 2


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20))
def test_rows_are_sorted_by_the_values_and_not_by_what_is_shown(values: list[float]) -> None:
    found = [float(key) for key in keys(html_of(pd.DataFrame({"a": values})))]
    np.testing.assert_allclose(found, values, rtol=1e-6)


def test_an_ordered_category_is_sorted_by_its_order() -> None:
    sizes = pd.Categorical(["small", "large", None], ["large", "small"], ordered=True)
    html = html_of(pd.DataFrame({"size": sizes}))
    assert keys(html) == ["1", "0", ""]
    assert " data-choose" in html


def test_what_can_be_chosen() -> None:
    frame = pd.DataFrame({"a": pd.Categorical(["x"]), "b": ["y"]})
    assert html_of(frame).count(" data-choose") == 1
    columns = {"a": Column(choose=False), "b": Column(choose=False)}
    assert " data-choose" not in html_of(frame, columns=columns)
    assert html_of(frame, columns={"b": Column(choose=True)}).count(" data-choose") == 1


FRAME = pd.DataFrame(
    {
        "word": ["a", "b", "c"],
        "mean": [-0.5, 0.25, np.nan],
        "low": [-1.0, -0.25, np.nan],
        "high": [-0.25, 1.0, np.nan],
    }
)


def test_intervals_lie_where_they_should() -> None:
    mean = Column(interval=("low", "high"), reference=0.0)
    html = html_of(FRAME, columns={"word": "Word", "mean": mean})
    assert cells(html)[0][1] == "−0.500 [−1.000, −0.250]"
    # A figure space stands for the minus that the other has.
    assert cells(html)[1][1] == "0.250 \u2007[−0.250, 1.000]"
    # Without an interval, room for the widest is left, so that numbers stand below each other.
    assert cells(html)[2][1].strip() == "–"
    assert re.findall(r'class="ends padding" data-text="([^"]*)"', html) == ["[−1.000, −0.250]"]
    lines = re.findall(r'"M([\d.]+) 8H([\d.]+)"/><circle cx="([\d.]+)"', html)
    # From 4 to 92, for values from -1 to 1.
    expected = [
        [4 + 44 * (1 + value) for value in row] for row in ((-1, -0.25, -0.5), (-0.25, 1, 0.25))
    ]
    np.testing.assert_allclose(np.array(lines, dtype=float), expected, atol=0.051)
    assert re.findall(r'<path d="M([\d.]+) 0v16"', html) == ["48.0", "48.0"]
    assert re.findall('<svg class="([a-z]+)"', html) == ["clear", "vague", "clear"]
    assert re.findall("<text[^>]*>([^<]*)<", html) == ["−1", "1", "0"]


def test_columns_on_one_scale() -> None:
    wide = Column(interval=("low", "high"), scale=(-1, 3))
    lines = re.findall(r'"M([\d.]+) 8H([\d.]+)"', html_of(FRAME, columns={"mean": wide}))
    np.testing.assert_allclose(np.array(lines, dtype=float), [[4, 20.5], [20.5, 48]], atol=0.051)
    narrow = Column(interval=("low", "high"), scale=(0, 0.5))
    lines = re.findall(r'"M([\d.]+) 8H([\d.]+)"', html_of(FRAME, columns={"mean": narrow}))
    np.testing.assert_allclose(np.array(lines, dtype=float), [[4, 4], [4, 92]])


def test_a_second_number_is_shown_below_on_the_same_scale() -> None:
    frame = FRAME.assign(other=[0.5] * len(FRAME), least=-2.0, most=2.0)
    frame.loc[frame.index[-1], "other"] = np.nan
    column = Column(
        interval=("low", "high"),
        reference=0.0,
        below=("other", "least", "most"),
        below_title="If equal",
    )
    html = html_of(frame, columns={"mean": column})
    below = '<span class="below"><span class="heard">If equal: </span>'
    rows = html.split("<tbody>")[1].split("</tr>")[: len(frame)]
    for row in rows[:-1]:
        first, _, second = row.partition(below)
        assert second.startswith("0.5")
        assert "[−2.0" in second
        # The interval below is the widest, from one end of the drawing to the other.
        assert 'd="M4.0 8H92.0"' in second
        assert 'd="M4.0 8H92.0"' not in first
    assert "below" not in rows[-1]
    # Rows are sorted by the first number.
    assert keys(html) == keys(html_of(FRAME, columns={"mean": Column(interval=("low", "high"))}))
    with pytest.raises(SpecError, match="has no column 'nowhere'"):
        html_of(
            frame, columns={"mean": Column(interval=("low", "high"), below=("nowhere", "a", "b"))}
        )
    with pytest.raises(SpecError, match="without 'interval'"):
        Column(below=("other", "least", "most"))


def test_brief_intervals_are_still_heard() -> None:
    html = html_of(FRAME, columns={"mean": Column(interval=("low", "high"), brief=True)})
    assert '<span class="ends heard">[−1.000, −0.250]</span>' in html


def test_a_single_value_has_a_place() -> None:
    frame = pd.DataFrame({"mean": [2.0], "low": [2.0], "high": [2.0]})
    html = html_of(frame, columns={"mean": Column(interval=("low", "high"))})
    assert '<circle cx="48.0"' in html


def test_bars() -> None:
    frame = pd.DataFrame({"a": [1.0, 4.0, np.nan], "b": [0.25, 2.0, 1.0]})
    columns = {"a": Column(bar=True), "b": Column(bar=True, percent=True)}
    parts = re.findall('--part:([^"]*)', html_of(frame, columns=columns))
    assert parts == ["25%", "25%", "100%", "100%", "0%", "100%"]
    assert "--part:10%" in html_of(frame, columns={"a": Column(bar=True, scale=(0, 10))})


def test_colours() -> None:
    frame = pd.DataFrame({"a": ["x", "y"]})
    html = html_of(frame, columns={"a": Column(colors={"x": "#D55E00"})})
    assert html.count("--dot:") == html.count("--dot:#d55e00") == 1


def test_long_tables_have_a_filter() -> None:
    frame = pd.DataFrame({"a": range(13)})
    assert 'class="sortable filterable"' in html_of(frame)
    assert 'class="sortable"' in html_of(frame[:12])
    assert 'class=""' in html_of(frame, filterable=False, sortable=False)


def test_details_are_kept_for_scripts_and_without_them() -> None:
    frame = pd.DataFrame({"word": ["<a>", "b", "c"], "n": [1, 2, 3]})
    inner = Table(pd.DataFrame({"x": [1]}), "Inner.")
    html = html_of(frame, details=["About *it*.", "", [inner, "More."]])
    kept = re.findall("<noscript>(.*)</noscript>", html, re.DOTALL)[0].split("<!--row-->")
    assert kept[0].startswith("<details><summary>&lt;a&gt;</summary><p>About <em>it</em>.</p>")
    assert kept[1] == ""
    assert "Inner." in kept[2]
    assert "Table 1" not in html  # neither has a number: one has no caption, one is a detail


def test_an_empty_table() -> None:
    assert cells(html_of(pd.DataFrame({"a": [], "b": []}))) == []


def test_the_frame_is_left_alone() -> None:
    before = FRAME.copy()
    html_of(FRAME, columns={"mean": Column(interval=("low", "high"))})
    pd.testing.assert_frame_equal(FRAME, before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": {"maen": "Mean"}}, "no column 'maen'; it has 'word', .* Did you mean 'mean'"),
        ({"columns": {"mean": Column(interval=("low", "hi"))}}, "no column 'hi'"),
        ({"columns": {"word": Column(bar=True)}}, "column 'word' is to be drawn but holds no num"),
        ({"details": ["a"]}, "'details' are 1 for 3 rows; give one for each row"),
    ],
)
def test_errors(options: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Table(FRAME, **options)  # type: ignore[arg-type]


def test_errors_of_columns() -> None:
    with pytest.raises(
        SpecError, match="'colors' holds 'red'; expected a colour such as '#D55E00'"
    ):
        Column(colors={"a": "red"})
    with pytest.raises(SpecError, match=r"'scale' is \(1, 1\); expected the lower end first"):
        Column(scale=(1, 1))


def test_details_go_one_deep() -> None:
    inner = Table(FRAME, details=["a", "b", "c"])
    with pytest.raises(SpecError, match="the detail of a row holds a table with details"):
        html_of(FRAME, details=[inner, "", ""])


def test_rows_are_linked_by_keys() -> None:
    frame = pd.DataFrame({"word": ["a", "b"]})
    html = html_of(frame, keys=['word:"a"', ""])
    assert html.count("<tr data-key=") == 1
    assert '<tr data-key="word:&#34;a&#34;">' in html
    with pytest.raises(SpecError, match="'keys' are 1 for 2 rows"):
        html_of(frame, keys=["word:a"])


def test_estimates_are_rounded_by_their_intervals() -> None:
    """What is within noise of the reference gets no digits of its own; what excludes it does."""
    frame = pd.DataFrame(
        {"word": ["a", "b"], "x": [-0.0004, -0.12], "low": [-0.06, -0.26], "high": [0.07, -0.003]}
    )
    column = Column(interval=("low", "high"), reference=0.0, places=2)
    [first, second] = cells(html_of(frame, columns={"word": "Word", "x": column}).replace(
        "<tr data-key", "<tr"))  # fmt: skip
    assert " ".join(first[1].split()) == "0.00 [−0.06, 0.07]"
    assert " ".join(second[1].split()) == "−0.12 [−0.26, −0.003]"


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [(-0.2, 0.2, ["−0.2", "0.2", "0"]), (-0.18, 0.007, ["−0.18", "0"]), (0.1, 0.3, ["0", "0.3"])],
)
def test_the_reference_is_always_labelled(low: float, high: float, ticks: list[str]) -> None:
    frame = pd.DataFrame({"word": ["a"], "x": [(low + high) / 2], "low": [low], "high": [high]})
    column = Column(interval=("low", "high"), reference=0.0)
    heading = html_of(frame, columns={"word": "Word", "x": column}).split("</thead>")[0]
    assert re.findall("<text[^>]*>([^<]*)</text>", heading) == ticks
