"""The page in a browser: headless Chromium, where there is one."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sample_page import long_frame, sample_page

from bayesbias.html import Choice, Column, Figure, Fold, Page, Section, Table, write_page

pytestmark = pytest.mark.slow

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
WORDS = "#word-by-word > figure.table"


def start(**prefs: object) -> Any:
    if not (CHROMIUM and DRIVER):
        # CI sets this, so that a browser that went missing does not go unnoticed.
        if os.environ.get("BAYESBIAS_NEEDS_BROWSER"):
            pytest.fail("no chromium or no chromedriver on the PATH")
        pytest.skip("no chromium or no chromedriver on the PATH")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--force-prefers-reduced-motion",  # or a click waits for the page to have scrolled
        "--window-size=1440,1000",
    ):
        options.add_argument(flag)
    options.add_experimental_option("prefs", prefs)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    started = start()
    yield started
    started.quit()


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    return write_page(sample_page(), path).as_uri()


@pytest.fixture
def show(driver: Any, sample: str) -> Iterator[Callable[..., Any]]:
    """Open a page, as wide as asked and in the colours that the system prefers."""

    def opened(url: str = sample, *, width: int = 1440, dark: bool = False) -> Any:
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        wish = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [wish]})
        driver.get(url)
        driver.execute_script("localStorage.clear()")
        driver.refresh()
        return driver

    yield opened
    # Whatever was done to it: no errors, no warnings.
    assert driver.get_log("browser") == []


def names(driver: Any, table: str = WORDS) -> list[str]:
    """The names of the rows that are shown, without the details between them."""
    script = (
        "return [...document.querySelector(arguments[0]).querySelector('tbody').rows]"
        ".filter(row => row.className !== 'detail').map(row => row.cells[0].textContent)"
    )
    return driver.execute_script(script, table)


def headings(driver: Any, table: str = WORDS) -> list[Any]:
    return driver.find_elements(By.CSS_SELECTOR, f"{table} > .box > table > thead th")


def heading(driver: Any, title: str, table: str = WORDS) -> Any:
    return next(one for one in headings(driver, table) if one.text.startswith(title))


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    table = sample_page().sections[1].blocks[2]  # type: ignore[index]
    assert isinstance(table, Table)
    return table.frame


def test_nothing_is_fetched(show: Callable[..., Any], sample: str) -> None:
    driver = show()
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    sent = {
        event["params"]["request"]["url"].split(",")[0]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    }
    assert sent - {sample} <= {"data:image/png;base64", "data:"}
    assert sample in sent


def test_a_click_sorts_by_the_values(show: Callable[..., Any], frame: pd.DataFrame) -> None:
    driver = show()
    given = names(driver)
    assert given == frame["word"].tolist()
    ways = []
    for _ in range(3):
        heading(driver, "Associated").find_element(By.TAG_NAME, "button").click()
        ways.append((heading(driver, "Associated").get_attribute("aria-sort"), names(driver)))
    up = frame.sort_values("mean", kind="stable")["word"].tolist()
    missing = frame.loc[frame["mean"].isna(), "word"].tolist()
    down = frame.dropna().sort_values("mean", ascending=False, kind="stable")["word"].tolist()
    # What is missing is last, both ways.
    assert ways == [("ascending", up), ("descending", down + missing), (None, given)]


def test_another_column_takes_over(show: Callable[..., Any], frame: pd.DataFrame) -> None:
    driver = show()
    heading(driver, "Rank").find_element(By.TAG_NAME, "button").click()
    heading(driver, "Word").find_element(By.TAG_NAME, "button").click()
    sorts = [one.get_attribute("aria-sort") for one in headings(driver)]
    assert sorts == ["ascending", *[None] * 6]
    assert names(driver)[:-1] == sorted(frame["word"])[:-1]  # one word is Arabic, and last


def test_the_keyboard_sorts_filters_and_opens(
    show: Callable[..., Any], frame: pd.DataFrame
) -> None:
    driver = show()

    def press(key: str) -> None:
        # Like a keyboard, whatever has the focus: a WebElement may refuse keys while it is redrawn.
        ActionChains(driver).send_keys(key).perform()

    press(Keys.TAB)
    assert driver.switch_to.active_element.text == "Skip to the content"
    search = driver.find_element(By.CSS_SELECTOR, f"{WORDS} input")
    search.send_keys("sunni", Keys.TAB, Keys.TAB)  # past the menu, to what scrolls or the headings
    seen = []
    for _ in range(12):
        focused = driver.switch_to.active_element
        seen.append(focused.text)
        if focused.text == "Rank":
            press(Keys.ENTER)
        if focused.text == "sunni":
            press(Keys.SPACE)
            break
        press(Keys.TAB)
    assert [text for text in seen if "\n" not in text and text] == [
        *("Word", "Group", "Associated − neutral", "P(< 0)", "Distance", "Closest attribute"),
        *("Rank", "sunni"),
    ]
    assert heading(driver, "Rank").get_attribute("aria-sort") == "ascending"
    assert "closest to sunni" in driver.find_element(By.CSS_SELECTOR, "tr.detail").text


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("IMAM", lambda row: row["word"] == "imam"),
        ("mus viol", lambda row: row["group"] == "muslim" and row["nearest"] == "violent"),
        ("  ", lambda row: True),
        ("قرآن", lambda row: row["word"] == "قرآن"),
        ("nothing like it", lambda row: False),
    ],
)
def test_filter(
    show: Callable[..., Any], frame: pd.DataFrame, text: str, fits: Callable[[Any], bool]
) -> None:
    driver = show()
    driver.find_element(By.CSS_SELECTOR, f"{WORDS} input").send_keys(text)
    wanted = [row["word"] for _, row in frame.iterrows() if fits(row)]
    assert names(driver) == wanted
    count = driver.find_element(By.CSS_SELECTOR, f"{WORDS} output").text
    assert count == ("60 rows" if len(wanted) == 60 else f"{len(wanted)} of 60 rows")


def test_choose_a_category_keep_the_order(show: Callable[..., Any], frame: pd.DataFrame) -> None:
    driver = show()
    heading(driver, "Rank").find_element(By.TAG_NAME, "button").click()
    driver.find_element(By.CSS_SELECTOR, f"{WORDS} select").send_keys("christian")
    chosen = frame[frame["group"] == "christian"].sort_values("n")
    assert names(driver) == chosen["word"].tolist()
    driver.find_element(By.CSS_SELECTOR, f"{WORDS} input").send_keys("dirty")
    assert names(driver) == chosen.loc[chosen["nearest"] == "dirty", "word"].tolist()
    # The count is announced: an output is a live region.
    assert driver.find_element(By.CSS_SELECTOR, f"{WORDS} output").aria_role == "status"


def test_minus_signs_and_accents_are_found(show: Callable[..., Any], tmp_path: Path) -> None:
    frame = pd.DataFrame({"word": ["café", "b"], "n": [1.5, -2.5]})
    page = Page("Two", [Section("All", Table(frame, filterable=True))])
    driver = show(write_page(page, tmp_path / "two.html").as_uri())
    search = driver.find_element(By.CSS_SELECTOR, "input")
    search.send_keys("CAFE")
    assert names(driver, "figure") == ["café"]
    search.clear()
    search.send_keys("-2.5")
    assert names(driver, "figure") == ["b"]


def test_rows_open_close_and_stay_with_their_details(show: Callable[..., Any]) -> None:
    driver = show()
    assert driver.find_elements(By.CSS_SELECTOR, "tr.detail") == []
    button = driver.find_element(By.CSS_SELECTOR, f"{WORDS} .open")
    assert button.get_attribute("aria-expanded") == "false"
    button.click()
    assert button.get_attribute("aria-expanded") == "true"
    heading(driver, "Rank").find_element(By.TAG_NAME, "button").click()
    script = (
        "return document.querySelector('tr.detail').previousElementSibling.cells[0].textContent"
    )
    assert driver.execute_script(script) == "judaism"
    # The table inside is sorted by itself.
    inner = driver.find_elements(By.CSS_SELECTOR, "tr.detail thead button")
    assert [one.text for one in inner] == ["Attribute", "Connection", "Distance"]
    before = names(driver)
    driver.execute_script("arguments[0].click()", inner[2])
    driver.execute_script("arguments[0].click()", inner[2])
    values = [one.text for one in driver.find_elements(By.CSS_SELECTOR, "tr.detail tbody td.n")]
    assert values == sorted(values, reverse=True)
    assert names(driver) == before
    search = driver.find_element(By.CSS_SELECTOR, f"{WORDS} input")
    search.send_keys("imam")
    assert driver.find_elements(By.CSS_SELECTOR, "tr.detail") == []
    search.send_keys(4 * Keys.BACKSPACE)
    assert len(driver.find_elements(By.CSS_SELECTOR, "tr.detail")) == 1
    driver.execute_script("arguments[0].click()", button)
    assert driver.find_elements(By.CSS_SELECTOR, "tr.detail") == []


def test_strangers_words_stay_text(show: Callable[..., Any]) -> None:
    driver = show()
    assert "<script>alert(1)</script>" in driver.find_element(By.ID, "health-of-the-lists").text


def background(driver: Any) -> str:
    return driver.execute_script("return getComputedStyle(document.body).backgroundColor")


def test_light_dark_and_the_memory_of_it(show: Callable[..., Any]) -> None:
    driver = show(dark=True)
    dark = background(driver)
    toggle = driver.find_element(By.CSS_SELECTOR, ".theme")
    assert toggle.get_attribute("aria-pressed") == "true"
    toggle.click()
    light = background(driver)
    assert toggle.get_attribute("aria-pressed") == "false"
    assert light != dark
    driver.refresh()
    assert background(driver) == light
    driver.find_element(By.CSS_SELECTOR, ".theme").click()
    assert background(driver) == dark
    assert background(show(dark=False)) == light


CONTRASTS = """
const number = (text) => text.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
  .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const found = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const element = walk.currentNode.parentElement;
  if (!walk.currentNode.data.trim() || !element.checkVisibility()) continue;
  const style = getComputedStyle(element);
  const ink = number(element instanceof SVGElement ? style.fill : style.color);
  let behind = element;
  const opaque = (color) => number(color)[3] !== 0;
  while (!opaque(getComputedStyle(behind).backgroundColor)) behind = behind.parentElement;
  const [one, two] = [ink, number(getComputedStyle(behind).backgroundColor)].map(light);
  const contrast = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
  found.push([contrast, walk.currentNode.data.slice(0, 40), element.className]);
}
return found;
"""


@pytest.mark.parametrize("dark", [False, True])
def test_all_text_can_be_read(show: Callable[..., Any], dark: bool) -> None:
    driver = show(dark=dark)
    driver.find_element(By.CSS_SELECTOR, f"{WORDS} .open").click()
    driver.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    found = driver.execute_script(CONTRASTS)
    assert len(found) > 500
    assert [one for one in found if one[0] < 4.5] == []


@pytest.mark.parametrize("width", [320, 375, 820, 1440])
def test_the_page_is_never_wider_than_the_screen(show: Callable[..., Any], width: int) -> None:
    driver = show(width=width)
    driver.execute_script("document.querySelector('.open').click()")
    page, body, screen = driver.execute_script(
        "const root = document.documentElement;"
        "return [root.scrollWidth, document.body.scrollWidth, root.clientWidth]"
    )
    assert max(page, body) <= screen <= width
    # Tables scroll in their boxes, and can be scrolled by the keyboard then.
    script = (
        "const box = document.querySelector(arguments[0]);"
        "return [box.scrollWidth > box.clientWidth, box.tabIndex]"
    )
    wanted = [True, 0] if width < 500 else [False, -1]
    box = "#model-comparison .box"
    WebDriverWait(driver, 5).until(lambda _: driver.execute_script(script, box) == wanted)


def test_long_words_do_not_widen_the_page(show: Callable[..., Any], tmp_path: Path) -> None:
    word = "x" * 300
    frame = pd.DataFrame({word: [word], "b": [word]})
    page = Page(word, [Section(word, [word, Table(frame, word)], "a")], word, {word: word})
    driver = show(write_page(page, tmp_path / "long.html").as_uri(), width=375)
    assert driver.execute_script("return document.documentElement.scrollWidth") == 375


def test_contents(show: Callable[..., Any]) -> None:
    driver = show(width=375)
    link = driver.find_element(By.CSS_SELECTOR, "nav a[href='#metrics']")
    assert not link.is_displayed()
    driver.find_element(By.CSS_SELECTOR, "nav summary").click()
    assert link.is_displayed()
    link.click()
    assert not link.is_displayed()
    top = "return document.getElementById('metrics').getBoundingClientRect().top"
    assert 0 <= driver.execute_script(top) < 100
    WebDriverWait(driver, 5).until(lambda _: link.get_attribute("aria-current") == "true")
    assert show().find_element(By.CSS_SELECTOR, "nav a[href='#metrics']").is_displayed()


def test_choices_with_one_label_are_made_together(show: Callable[..., Any]) -> None:
    driver = show()

    def shown() -> list[str]:
        options = driver.find_elements(By.CSS_SELECTOR, ".option")
        return [one.get_attribute("data-name") for one in options if one.is_displayed()]

    assert shown() == ["demo", "demo"]
    driver.find_element(By.CSS_SELECTOR, "#metrics input[value='demo-100d']").click()
    assert shown() == ["demo-100d", "demo-100d"]
    driver.find_element(By.CSS_SELECTOR, "#connections input[value='demo-100d']").send_keys(
        Keys.ARROW_RIGHT
    )
    # The other choice has no such option, and stays.
    assert shown() == ["glove.6B.50d", "demo-100d"]


def pages(driver: Any) -> int:
    """The number of pages of the page on paper."""
    printed = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
    return len(re.findall(rb"/Type\s*/Page\b", printed))


def test_print(show: Callable[..., Any]) -> None:
    driver = show(dark=True)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    # Light whatever the screen is; nothing to click; nothing cut off; all options.
    assert background(driver) in ("rgba(0, 0, 0, 0)", "rgb(255, 254, 251)")
    for gone in ("nav", ".tools", "fieldset", ".copy"):
        assert not driver.find_element(By.CSS_SELECTOR, gone).is_displayed()
    script = (
        "const b = document.querySelector(arguments[0]); return b.scrollHeight - b.clientHeight"
    )
    assert driver.execute_script(script, f"{WORDS} > .box") <= 1
    options = driver.find_elements(By.CSS_SELECTOR, ".option")
    assert all(one.is_displayed() for one in options)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert 5 <= pages(driver) <= 20
    # Afterwards what was folded is folded.
    assert driver.execute_script("return document.querySelector('.fold').open") is False


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> str:
    frame = long_frame(2000)
    columns = {
        **dict.fromkeys(frame.columns.drop(["lower", "upper"]), Column()),
        "mean": Column(interval=("lower", "upper"), reference=0),
        "share": Column(percent=True, bar=True),
    }
    details = [f"About *{word}*: {'a few words, ' * 20}" for word in frame["word"]]
    page = Page("Long", [Section("All", Table(frame, "All.", columns, details=details))])
    path = write_page(page, tmp_path_factory.mktemp("long") / "long.html")
    assert path.stat().st_size < 3e6
    return path.as_uri()


def test_long_tables_come_in_parts_and_are_complete(show: Callable[..., Any], long: str) -> None:
    driver = show(long)
    frame = long_frame(2000)
    assert len(headings(driver, "figure")) == 8
    heading(driver, "rank", "figure").find_element(By.TAG_NAME, "button").click()
    wanted = frame.sort_values("rank")["word"].tolist()
    # Quick, as only some are laid out.
    first = names(driver, "figure")
    assert first == wanted[:200]
    # More rows come as one scrolls; on paper are all.
    script = "const b = document.querySelector('.box'); b.scrollTop = b.scrollHeight"

    def scrolled(_: Any) -> bool:
        driver.execute_script(script)
        return len(names(driver, "figure")) == 2000

    WebDriverWait(driver, 20).until(scrolled)
    assert names(driver, "figure") == wanted
    show(long)
    assert pages(driver) > 30
    assert len(names(driver, "figure")) == len(first)


def test_without_scripts(sample: str) -> None:
    driver = start(**{"profile.managed_default_content_settings.javascript": 2})
    try:
        driver.get(sample)
        assert driver.find_elements(By.CSS_SELECTOR, "main button, main input, .theme") == []
        assert (
            len(driver.find_elements(By.CSS_SELECTOR, f"{WORDS} > .box > table > tbody > tr")) == 60
        )
        details = driver.find_elements(By.CSS_SELECTOR, "noscript > details")
        assert len(details) == 60
        text = details[0].find_element(By.TAG_NAME, "p")
        assert not text.is_displayed()
        details[0].find_element(By.TAG_NAME, "summary").click()
        assert text.text == "The attributes closest to judaism, of 134."
        options = driver.find_elements(By.CSS_SELECTOR, ".option")
        assert all(one.is_displayed() for one in options)
        assert driver.find_element(By.CSS_SELECTOR, "nav a").is_displayed()
        assert driver.get_log("browser") == []
    finally:
        driver.quit()


def test_pointing_links_figure_and_table(show: Callable[..., Any], tmp_path: Path) -> None:
    svg = (
        '<svg viewBox="0 0 100 40" width="600">'
        '<g data-key="word:a" data-tip="a: 0.5"><path d="M0 0H100V20H0z" style="fill:none"/></g>'
        '<g data-key="word:b" data-tip="b: 0.7"><path d="M0 20H100V40H0z" style="fill:none"/></g>'
        "</svg>"
    )
    table = Table(
        pd.DataFrame({"word": ["a", "b"], "x": [1, 2]}),
        "Words.",
        keys=["word:a", "word:b"],
        details=["All of a.", "All of b."],
    )
    page = Page("Two", [Section("One", [Figure(svg, "Two rows."), table])])
    driver = show(write_page(page, tmp_path / "two.html").as_uri())
    tip = driver.find_element(By.CSS_SELECTOR, ".tip")
    assert not tip.is_displayed()

    def lit() -> list[str]:
        found = driver.find_elements(By.CSS_SELECTOR, ".lit")
        return [f"{each.tag_name} {each.get_attribute('data-key')}" for each in found]

    mark = driver.find_element(By.CSS_SELECTOR, 'g[data-key="word:b"]')
    ActionChains(driver).move_to_element(mark).perform()
    assert tip.text == "b: 0.7"
    assert lit() == ["g word:b", "tr word:b"]
    row = driver.find_element(By.CSS_SELECTOR, 'tr[data-key="word:a"] td')
    ActionChains(driver).move_to_element(row).perform()
    assert not tip.is_displayed()
    assert lit() == ["g word:a", "tr word:a"]
    # A click on a mark opens its row, which stays lit.
    ActionChains(driver).move_to_element(mark).click().perform()
    assert [d.text for d in driver.find_elements(By.CSS_SELECTOR, "tr.detail")] == ["All of b."]
    ActionChains(driver).move_to_element(driver.find_element(By.TAG_NAME, "h1")).perform()
    assert lit() == ["g word:b", "tr word:b"]


def test_what_is_for_screens_is_not_printed(show: Callable[..., Any], tmp_path: Path) -> None:
    blocks = [
        Fold("Printed", "Printed fold."),
        Fold("Left out", "Unprinted fold.", on_paper=False),
        Choice("Which", {"a": "Unprinted choice.", "b": "Other."}, on_paper=False),
        Choice("List", {name: Table(pd.DataFrame({"x": [1]}), "Cases.") for name in "ab"}),
        Table(pd.DataFrame({"x": [1]}), "More cases.", hint="Click a heading."),
    ]
    page = Page("Paper", [Section("One", blocks)])
    driver = show(write_page(page, tmp_path / "paper.html").as_uri())
    text = driver.find_element(By.TAG_NAME, "main").text
    assert "Unprinted choice." in text
    assert "Table 1 Cases." in text
    assert "More cases. Click a heading." in text
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    driver.execute_script("dispatchEvent(new Event('beforeprint'))")
    text = driver.find_element(By.TAG_NAME, "main").text
    assert "Printed fold." in text
    assert "Unprinted" not in text
    assert "Left out" not in text
    assert "Click" not in text
    assert "Table 1.1 Cases." in text
    assert "Table 1.2 Cases." in text
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_headings_of_intervals_are_in_view_on_a_phone(
    show: Callable[..., Any], tmp_path: Path
) -> None:
    frame = pd.DataFrame(
        {
            "group": ["Christianity", "Islam"], "against": "stereotypes of other groups",
            "mean": [-0.1, 0.1], "lower": [-0.2, -0.05], "upper": [-0.02, 0.2], "p": [0.9, 0.2],
        }
    )  # fmt: skip
    columns = {
        "group": "Group", "against": "Compared with",
        "mean": Column(title="Difference", interval=("lower", "upper"), reference=0.0, places=2),
        "p": Column(title="P(closer)", probability=True),
    }  # fmt: skip
    page = Page("Phone", [Section("One", Table(frame, "Groups.", columns))])
    driver = show(write_page(page, tmp_path / "phone.html").as_uri(), width=390)
    ends = driver.execute_script(
        "return [...document.querySelectorAll('thead .title')]"
        ".map(title => title.getBoundingClientRect().right)"
    )
    assert max(ends[:3]) <= 390


@pytest.mark.parametrize("width", [768, 1024, 1180, 1280])
def test_a_table_with_three_intervals_does_not_scroll_sideways(
    show: Callable[..., Any], tmp_path: Path, width: int
) -> None:
    frame = pd.DataFrame({"word": ["christianity", "mosque"], "group": "Christianity"})
    columns: dict[str, Column | str] = {"word": "Word", "group": "Group"}
    for number, title in enumerate(("neutral words", "human words", "other stereotypes")):
        ends = f"lower {number}", f"upper {number}"
        frame[[f"mean {number}", *ends]] = -0.24, -0.37, -0.11
        columns[f"mean {number}"] = Column(
            title=f"Own minus {title}", interval=ends, reference=0.0, places=2, brief=number > 0
        )
        if not number:
            frame["verdict"] = "inconclusive"
            columns["verdict"] = "Verdict"
    page = Page("Wide", [Section("Words", Table(frame, "Words.", columns))])
    driver = show(write_page(page, tmp_path / "wide.html").as_uri(), width=width)
    needed, room = driver.execute_script(
        "const box = document.querySelector('.table .box');"
        "return [box.scrollWidth, box.clientWidth]"
    )
    assert needed <= room


def test_figures_with_a_narrow_layout_do_not_scroll_sideways_on_a_phone(
    show: Callable[..., Any], tmp_path: Path
) -> None:
    wide = '<svg viewBox="0 0 460 100" width="614"><text x="5" y="50">wide</text></svg>'
    narrow = '<svg viewBox="0 0 280 200" width="374"><text x="5" y="50">narrow</text></svg>'
    figures = [Figure(wide, "A word.", "One.", narrow=narrow), Figure(wide, "A word.", "Two.")]
    url = write_page(Page("Figures", [Section("All", figures)]), tmp_path / "page.html").as_uri()
    shown = (
        "return [...document.querySelectorAll('.picture svg')]"
        ".filter(svg => svg.getClientRects().length).map(svg => svg.textContent)"
    )
    assert show(url, width=390).execute_script(shown) == ["narrow", "wide"]
    widths = (
        "const box = document.querySelector('.narrow');"
        "return [box.scrollWidth, box.clientWidth, box.firstChild.getBoundingClientRect().width]"
    )
    scrolled, client, picture = show(url, width=390).execute_script(widths)
    assert scrolled <= client
    assert picture > 330
    assert show(url, width=1280).execute_script(shown) == ["wide", "wide"]
