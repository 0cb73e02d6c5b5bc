"""The page as a whole: well-formed, self-contained, readable, the same each time."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from sample_page import HARMFUL, sample_page

import bayesbias.html
from bayesbias.errors import DataError, SpecError
from bayesbias.html import (
    Choice,
    Code,
    Definitions,
    Fold,
    Notice,
    Page,
    References,
    Section,
    Table,
    write_page,
)
from bayesbias.html.colors import luminance

HERE = Path(bayesbias.html.__file__).parent
VOID = {"meta", "link", "img", "br", "hr", "input"}


class Checker(HTMLParser):
    """Notes all elements, and refuses a tag that is not closed where it should be."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.parents: list[tuple[str, ...]] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, names)
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        self.parents.append(tuple(self.open))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert "svg" in self.open, f"<{tag}/> is only known in pictures"
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def html() -> str:
    return sample_page().html()


@pytest.fixture(scope="module")
def checked(html: str) -> Checker:
    return Checker(html)


def test_the_same_page_is_the_same_text(html: str) -> None:
    assert sample_page().html() == html


def test_ids_are_unique_and_links_lead_to_them(checked: Checker) -> None:
    ids = Counter(given["id"] for _, given in checked.elements if "id" in given)
    assert max(ids.values()) == 1
    for _, given in checked.elements:
        if given.get("href", "").startswith("#"):
            assert given["href"][1:] in ids
        for name in ("aria-labelledby", "aria-controls"):
            assert given.get(name, next(iter(ids))) in ids


def test_nothing_is_fetched(html: str, checked: Checker) -> None:
    for tag, given in checked.elements:
        for name in ("src", "srcset", "href", "poster", "data", "action"):
            value = given.get(name, "#")
            assert value.startswith(("#", "data:")) or tag == "a", (tag, value)
        assert not re.search(r"url\((?!#)", given.get("style", ""))
    for style in re.findall("<style.*?>(.*?)</style>", html, re.DOTALL):
        assert "url(" not in style
        assert "@import" not in style
    script = re.findall("<script>(.*?)</script>", html, re.DOTALL)[0]
    assert not re.search(r"fetch|XMLHttpRequest|import\(|https?:", script)


def test_only_our_script_may_run(html: str, checked: Checker) -> None:
    scripts = re.findall("<script>(.*?)</script>", html, re.DOTALL)
    assert len(scripts) == sum(tag == "script" for tag, _ in checked.elements) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    policy = next(given["content"] for _, given in checked.elements if "http-equiv" in given)
    assert f"script-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")
    assert not [name for _, given in checked.elements for name in given if name.startswith("on")]


def full_of(word: str) -> str:
    """A page with the word in every place that a word can have."""
    frame = pd.DataFrame({word: [word] * 2, "b": pd.Categorical([word] * 2)})
    blocks = [
        word,
        Notice(word, title=word),
        Definitions({word: word}),
        Code(word),
        Choice(word, {word: word}),
        Fold(word, word),
        References({"a": word}),
        Table(frame, word, details=[word, word]),
    ]
    return Page(word, [Section(word, blocks, "id")], word, {word: word}, word).html()


@pytest.mark.parametrize(
    "harm", [HARMFUL, '"><img src=x onerror=alert(1)>', "</noscript></style><b>", "a\x00&lt;b"]
)
def test_words_of_strangers_are_harmless_wherever_they_stand(harm: str) -> None:
    harmless, harmed = (
        [(tag, sorted(given)) for tag, given in Checker(full_of(word)).elements]
        for word in ("word", harm)
    )
    assert harmed == harmless
    assert full_of(harm).count("<script") == 1
    assert "\x00" not in full_of(harm)


def test_headings_go_down_by_one(checked: Checker) -> None:
    levels = [int(tag[1]) for tag, _ in checked.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels))
    assert {2, 3} <= set(levels)


def test_landmarks_and_names(checked: Checker) -> None:
    tags = Counter(tag for tag, _ in checked.elements)
    assert [tags[name] for name in ("header", "nav", "main", "footer")] == [1, 1, 1, 1]
    links = [given["href"] for tag, given in checked.elements if tag == "a"]
    assert links[0] == "#content"
    for tag, given in checked.elements:
        if tag == "img":
            assert given["alt"]
        if given.get("role") == "img":
            assert given["aria-label"]
    html = next(given for tag, given in checked.elements if tag == "html")
    assert html["lang"] == "en"


def colours(name: str) -> dict[str, str]:
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", (HERE / name).read_text("utf-8")))


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, by WCAG 2."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_as_others_compute_it() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#ffffff", "#767676") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("name", ["page.css", "dark.css"])
def test_colours_can_be_read(name: str) -> None:
    color = colours(name)
    for ink, papers in {
        "ink": ("paper", "card", "tint", "warning-tint"),
        "muted": ("paper", "card"),
        "accent": ("paper", "card"),
        "warning": ("paper", "warning-tint"),
    }.items():
        for paper in papers:
            assert contrast(color[ink], color[paper]) >= 4.5, (ink, paper)


def test_both_modes_have_all_colours() -> None:
    assert set(colours("page.css")) == set(colours("dark.css"))
    used = set(re.findall(r"var\(--([\w-]+)\)", (HERE / "page.css").read_text("utf-8")))
    known = set(re.findall(r"--([\w-]+):", (HERE / "page.css").read_text("utf-8")))
    # These are set by the blocks.
    assert used - known == {"width", "part", "dot"}


def test_blocks_of_a_section() -> None:
    one = Page("a", [Section("b", "c")]).html()
    assert one == Page("a", [Section("b", ["c"])]).html()
    assert "<p>c</p>" in one


@pytest.mark.parametrize(
    ("title", "name"), [("Model comparison", "model-comparison"), ("2 × 3", "section-2-3")]
)
def test_ids_of_sections(title: str, name: str) -> None:
    assert Section(title, "").id == name


def test_sections_in_other_scripts_need_an_id() -> None:
    assert Section("方法", "", "methods").id == "methods"


def test_figures_and_tables_are_numbered(html: str) -> None:
    numbers = re.findall('<b class="number">([A-Za-z]+) (\\d+)', html)
    for kind in ("Figure", "Table"):
        found = [int(number) for name, number in numbers if name == kind]
        # In each option of a choice they are counted from the same number on.
        assert sorted(set(found)) == list(range(1, max(found) + 1))
        assert len(found) >= 5


def test_what_is_seen_of_choices_is_numbered_without_gaps() -> None:
    frame = pd.DataFrame({"a": [1]})
    one, two = Table(frame, "One."), Table(frame, "Two.")
    choice = Choice("Which", {"short": one, "long": [one, Choice("More", {"x": two, "y": two})]})
    html = Page("Choices", [Section("All", [one, choice, two])]).html()
    numbers = re.findall(r'<b class="number">Table (.+?)</b>', html)
    on_screen = [re.sub("<span.*", "", number) for number in numbers]
    assert on_screen == ["1", "2", "2", "3", "3", "4"]
    # On paper, where all options are seen, no two have the same.
    on_paper = [re.sub("<.+?>", "", number) for number in numbers]
    assert on_paper == ["1", "2.1", "2.2", "3.2.1", "3.2.2", "4"]
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ([Section("A", ""), Section("a", "")], "two parts of the page have the id 'a'"),
        ([Section("A", References({"x": ""})), Section("B", "", "ref-x")], "the id 'ref-x'"),
        ([Section("A", "[b](#c)")], "links of the page lead to 'c', ids that no section"),
    ],
)
def test_errors(sections: list[Section], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        Page("Title", sections).html()


def test_errors_of_blocks() -> None:
    with pytest.raises(SpecError, match="the id of a section is 'a b'; expected a letter, then"):
        Section("A", "", "a b")
    with pytest.raises(SpecError, match="the name of a reference is '1'"):
        References({"1": "One."})
    with pytest.raises(SpecError, match="'kind' is 'warn'.* Did you mean 'warning'"):
        Notice("a", "warn")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="the choice 'Embedding' has no options"):
        Choice("Embedding", {})


def test_write(tmp_path: Path) -> None:
    page = Page("Ünï", [Section("a", "قرآن")])
    path = write_page(page, str(tmp_path / "report.html"))
    assert path.read_bytes().decode("utf-8") == page.html()
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_a_page_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    path = write_page(Page("Old", []), tmp_path / "report.html")
    with pytest.raises(SpecError):
        write_page(Page("New", [Section("a", ""), Section("a", "")]), path)
    assert "Old" in path.read_text("utf-8")
    assert len(list(tmp_path.iterdir())) == 1


def test_write_says_where_it_cannot(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="does not exist; make it first"):
        write_page(Page("a", []), tmp_path / "no" / "report.html")
