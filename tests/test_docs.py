"""The documentation site leaves nothing public out, and what it shows exists.

That the code of its pages prints what they say is tested in test_package.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click
import matplotlib.pyplot as plt
import pytest

import bayesbias as bb
from bayesbias.cli.app import app
from bayesbias.debias.debiasers import DEBIASERS
from bayesbias.metrics import METRICS
from bayesbias.wordlists.catalogue import QUERY_SETS, STUDIES

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def place(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.fixture(scope="module")
def build() -> ModuleType:
    path = ROOT / "scripts" / "build_docs.py"
    spec = importlib.util.spec_from_file_location("build_docs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def staged(build: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "staged"
    build.stage(folder)
    return folder


# The reference


def test_every_public_name_is_in_the_reference_once(build: ModuleType, staged: Path) -> None:
    text = "".join(page.read_text("utf-8") for page in (staged / "api").rglob("*.md"))
    entries = re.findall(
        r"^\.\. (?:autofunction|autoclass|py:data):: bayesbias\.([\w.]+)$", text, re.M
    )
    assert sorted(entries) == sorted(["__version__", *build.public_names()])


def test_notebooks_are_shown_with_their_results(staged: Path) -> None:
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        page = (staged / "notebooks" / f"{path.stem}.md").read_text("utf-8")
        cells = json.loads(path.read_text("utf-8"))["cells"]
        assert page.count("```python\n") == sum(cell["cell_type"] == "code" for cell in cells)
        pictures = re.findall(r"\]\((shown/[^)]+)\)", page)
        data = [output.get("data", {}) for cell in cells for output in cell.get("outputs", [])]
        assert len(pictures) == sum("image/png" in each for each in data)
        for picture in pictures:
            assert (staged / "notebooks" / picture).read_bytes().startswith(b"\x89PNG")


def test_every_public_name_has_an_example(build: ModuleType) -> None:
    pages = "".join(page.read_text("utf-8") for page in (DOCS / "api").glob("*.md"))
    shown = set(
        re.findall(r"\w+", "".join(re.findall(r"```(?:python|text)\n(.*?)```", pages, re.S)))
    )
    for name, thing in build.public_names().items():
        assert name.split(".")[-1] in shown or ">>> " in (thing.__doc__ or ""), name


def commands(command: click.Command, name: str) -> Iterator[str]:
    yield name
    for part, child in getattr(command, "commands", {}).items():
        yield from commands(child, f"{name} {part}")


def test_every_command_is_in_the_reference(staged: Path) -> None:
    text = (staged / "command-line.md").read_text("utf-8")
    for name in commands(app, "bayesbias"):
        assert f"## {name}\n\n```text\nUsage: {name} " in text


def typed(page: Path) -> list[str]:
    """The lines of the shell blocks of a page that call us."""
    blocks = re.findall(r"```sh\n(.*?)```", page.read_text("utf-8"), re.S)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith("bayesbias ")]


@pytest.mark.parametrize("page", [page for page in PAGES if typed(page)], ids=place)
def test_typed_commands_exist(page: Path) -> None:
    for line in typed(page):
        words = shlex.split(line, comments=True)[1:]
        command: click.Command = app
        while isinstance(command, click.Group):
            name = words.pop(0)
            assert name in command.commands, line
            command = command.commands[name]
        command.make_context("bayesbias", words)  # an unknown option, or a missing word, raises


# Links on the site


def test_links_of_the_site_lead_to_its_pages(staged: Path) -> None:
    seen = 0
    for page in staged.rglob("*.md"):
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8")):
            if not re.match(r"[a-z]+:", target):
                assert (page.parent / target).is_file(), f"{page}: {target}"
                seen += 1
    assert seen > 100


def test_links_are_turned(build: ModuleType, tmp_path: Path) -> None:
    text = "[a](../models/README.md#writing) [b](metrics.md) [c](../LICENSE) [d](https://x.org/)"
    turned = build.relinked(DOCS / "debiasing.md", text, build.pages(), tmp_path)
    assert turned == (
        "[a](models/index.md#writing) [b](metrics.md) [c](files/LICENSE) [d](https://x.org/)"
    )
    assert (tmp_path / "files" / "LICENSE").is_file()
    card = ROOT / "models" / "fits" / "religion.md"
    turned = build.relinked(
        card, "[a](../README.md) [b](../../docs/metrics.md)", build.pages(), tmp_path
    )
    assert turned == "[a](../index.md) [b](../../metrics.md)"
    with pytest.raises(
        FileNotFoundError, match=r"docs/debiasing.md has a link to gone.md: no file."
    ):
        build.relinked(DOCS / "debiasing.md", "[e](gone.md)", build.pages(), tmp_path)


def test_a_built_site_is_looked_over(build: ModuleType, tmp_path: Path) -> None:
    names = "".join(
        f'<dt id="bayesbias.{name}">'
        for name in ("__version__", *build.public_names())
        if name != "fit"
    )
    page = '<a href="https://x.org">x</a><img src="a.png"><script src="https://cdn.org/x.js">'
    (tmp_path / "index.html").write_text(names + page, "utf-8")
    assert list(build.look_over(tmp_path)) == [
        "fit is not in the reference.",
        'index.html needs the network: <script src="https://cdn.org/x.js"',
    ]


def test_sentences_are_broken_and_tables_are_not(build: ModuleType) -> None:
    table, sentence = "```text\na  b\n1  2\n```\n", f"```text\n{'word ' * 30}\n```\n"
    assert build.PRINTED.sub(build.wrapped, table) == table
    assert ":class: prose\n\nword word" in build.PRINTED.sub(build.wrapped, sentence)


# The gallery


def test_gallery_shows_every_figure() -> None:
    page = DOCS / "gallery" / "index.md"
    shown = re.findall(r"```python\n(.*?)```\n\n!\[[^]]+\]\((.*?)\)", page.read_text("utf-8"), re.S)
    code = "".join(block for block, _ in shown)
    assert {name for name in bb.__all__ if name.startswith("plot_")} == set(
        re.findall(r"plot_\w+", code)
    )
    pictures = {path.name for path in page.parent.glob("*.png")}
    assert pictures == {picture for _, picture in shown}
    for picture in pictures:
        assert 3_000 < (page.parent / picture).stat().st_size < 60_000, picture


# Single pages


def test_calls_of_those_who_come_from_wefe_run() -> None:
    text = (DOCS / "wefe.md").read_text("utf-8")
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for code in re.findall(r"```python\n(.*?)```", text, re.S):
            exec(code, names)
    rows = text[text.index("## From WEFE to bayesbias") :].splitlines()
    ours = [row.split(" | ")[1] for row in rows if row.startswith("| ")]
    calls = [call for cell in ours for call in re.findall(r"`([^`]+)`", cell)]
    assert len(calls) > 50
    with warnings.catch_warnings(action="ignore"):
        for call in calls:
            exec(compile(call, call, "exec"), names)
    plt.close("all")


def test_numbers_of_the_comparison_with_wefe() -> None:
    """What the table counts is what there is."""
    text = (DOCS / "wefe.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| \**([^|*]+?)\** \|[^|]*\| ([^|]*) \|$", text, re.M))
    number = {
        name: int(re.findall(r"\d+", cell)[0])
        for name, cell in rows.items()
        if name in ("Metrics", "Debiasing")
    }
    assert number == {"Metrics": len(METRICS), "Debiasing": len(DEBIASERS)}
    without = [name for name, metric in METRICS.items() if metric.no_interval is not None]
    assert without == ["cluster_test", "classification_test"]
    assert "all metrics except two" in rows["interval of a value"]
    assert rows["Models of distances"].startswith("seven")
    assert len(list((ROOT / "models").glob("*.toml"))) == 7
    ready = (
        "WEAT 1–10, six of them in seven other languages; the 25 of WEFE's case study; 3 of the "
        "silhouettes paper; five studies"
    )
    assert rows["predefined queries"] == ready
    translated = [name for name in QUERY_SETS if bb.query_set(name)[0].language != "en"]
    assert {len(bb.query_set(name)) for name in translated} == {6}
    other = ("weat", "silhouettes", *translated)
    case_study = [q for name in QUERY_SETS if name not in other for q in bb.query_set(name)]
    assert (len(bb.query_set("weat")), len(translated)) == (10, 7)
    assert (len(case_study), len(STUDIES)) == (25, 5)


def test_the_study_of_the_page_is_one(tmp_path: Path) -> None:
    text = (DOCS / "how-to" / "own-study.md").read_text("utf-8")
    (tmp_path / "age.toml").write_text(re.findall(r"```toml\n(.*?)```", text, re.S)[0], "utf-8")
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(re.findall(r"```python\n(.*?)```", text, re.S)[0], names)
    assert bb.load_study(tmp_path / "age.toml") == names["study"]


def test_versions_of_the_citation() -> None:
    page = (DOCS / "cite.md").read_text("utf-8")
    assert set(re.findall(r"version\D+(\d+\.\d+\.\d+)", page)) == {bb.__version__}


def test_the_rooms_are_drawn_as_they_import() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "draw_rooms.py"), "--check"]
    assert subprocess.run(command, capture_output=True, text=True, check=False).stderr == ""


def test_modules_that_contributors_are_sent_to_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    for name in re.findall(r"`([a-z_]+(?:/[a-z_]+)*\.py)`", text):
        places = (ROOT, ROOT / "bayesbias", ROOT / "bayesbias" / "wordlists" / "build")
        assert any((place / name).is_file() for place in places), name


def test_versions_stand_beside_each_other(build: ModuleType, tmp_path: Path) -> None:
    site, folder = tmp_path / "site", tmp_path / "pages"
    site.mkdir()
    (folder / "assets").mkdir(parents=True)
    for version in ("0.9.0", "0.10.0", "0.10.1rc1", "0.2.0"):
        (site / "index.html").write_text(f"This is {version}.")
        front = build.release(site, folder, version)
    text = front.read_text("utf-8")
    assert front == folder / "index.html"
    # By their numbers, not by their letters; the pre-release is listed, and not led to.
    assert re.findall(r">(0[\w.]+)</a>", text) == ["0.10.1rc1", "0.10.0", "0.9.0", "0.2.0"]
    assert 'url=0.10.0/index.html"' in text
    assert (folder / "0.9.0" / "index.html").read_text() == "This is 0.9.0."
    (site / "index.html").write_text("This is better.")
    build.release(site, folder, "0.9.0")
    assert (folder / "0.9.0" / "index.html").read_text() == "This is better."
    assert (folder / "0.10.0" / "index.html").read_text() == "This is 0.10.0."


def test_release_notes_are_in_the_navigation(staged: Path) -> None:
    assert "Release notes <changelog>" in (staged / "index.md").read_text("utf-8")
    assert (staged / "changelog.md").read_text("utf-8").startswith("# Release notes")
