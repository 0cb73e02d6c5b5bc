"""The notebooks: they run, say what is stored with them, and read from top to bottom."""

from __future__ import annotations

import base64
import importlib.util
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

for needed in ("ipykernel", "nbclient", "nbformat"):
    pytest.importorskip(needed, reason=f"{needed} is not here: pip install '.[notebooks]'")

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
NAMES = [path.stem for path in NOTEBOOKS]

NUMBER = re.compile(r"(?<![\w.])[-−]?\d[\d,]*\.?\d*(?:e[-+]\d+)?")
# The share of ten simulated studies moves by a tenth when one width is rounded differently.
SHARE_OF_FEW = re.compile(r"\d+(?=% were narrow enough)")
# The places where this one and other people's machines keep files.
PLACES = re.compile(
    "|".join(
        re.escape(str(place))
        for place in {ROOT.parent, Path.home(), sys.prefix, tempfile.gettempdir()}
        if len(str(place)) > 1
    )
    + r"|/home/|/Users/|/tmp/|/root/|[A-Z]:\\|site-packages|ipykernel_"
)


def load_runner() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "run_notebooks", ROOT / "scripts" / "run_notebooks.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


runner = load_runner()


# The original authors' tables, by the names under which they are downloaded.
TABLES = {
    "religion-google": "religionGoogle",
    "religion-reddit": "religionReddit",
    "religion-reddit-debiased": "debiasedReligionReddit",
}


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Fill a cache with the authors' tables, and tell whether they are here."""
    monkeypatch.setenv("BAYESBIAS_CACHE", str(tmp_path))
    folder = ROOT.parent / "shared" / "data" / "thesis"
    for name, file in TABLES.items() if folder.is_dir() else ():
        shutil.copyfile(folder / f"{file}.csv", tmp_path / f"{name}.csv")
    return folder.is_dir()


def outputs(notebook: Any) -> Iterator[Any]:
    for cell in notebook.cells:
        yield from cell.get("outputs", [])


def said(output: Any) -> str:
    """Return the text of an output; a figure is only a figure."""
    if "image/png" in output.get("data", {}):
        return "<figure>"
    if output.output_type == "stream":
        return str(output.text)
    return str(output.data["text/plain"])


def skeleton(text: str) -> str:
    """Return a text without numbers, and without what aligns them."""
    return " ".join(NUMBER.sub("#", text.replace("...", "")).replace("\\", "").split())


def numbers(text: str) -> list[float]:
    return [float(n.replace(",", "").replace("−", "-")) for n in NUMBER.findall(text)]


def assert_says_the_same(fresh: str, stored: str) -> None:
    fresh, stored = SHARE_OF_FEW.sub("some", fresh), SHARE_OF_FEW.sub("some", stored)
    assert skeleton(fresh) == skeleton(stored)
    # Other versions of the libraries round otherwise, and chains take other ways.
    assert numbers(fresh) == pytest.approx(numbers(stored), rel=0.02, abs=0.025)


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 7
    assert [name[:2] for name in NAMES] == [f"{n:02}" for n in range(1, len(NAMES) + 1)]


@pytest.mark.slow
# What is warned of in the kernel is an output, and compared; this is about the machinery here.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_runs_and_says_what_is_stored(path: Path, tables: bool) -> None:
    fresh, stored = runner.run(path), runner.read(path)
    for after, before in zip(fresh.cells, stored.cells, strict=True):
        told = [said(output) for output in after.get("outputs", [])]
        known = [said(output) for output in before.get("outputs", [])]
        assert len(told) == len(known), f"{path.name} is stale: `make notebooks`\n{after.source}"
        for one, other in zip(told, known, strict=True):
            assert_says_the_same(one, other)
    if not tables and any(runner.lacks_tables(cell) for cell in stored.cells):
        pytest.skip("all but one cell ran: the original authors' tables are not here")


def test_cells_without_their_tables_keep_what_they_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nbformat.v4 import new_code_cell

    monkeypatch.setenv("BAYESBIAS_CACHE", str(tmp_path))
    cell = new_code_cell('bb.load_table("religion-reddit")')
    assert runner.lacks_tables(cell)
    assert not runner.lacks_tables(new_code_cell("bb.fit(table)"))
    (tmp_path / "religion-reddit.csv").write_text("a table", "utf-8")
    assert not runner.lacks_tables(cell)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_is_stored_as_the_runner_writes_it(path: Path) -> None:
    assert runner.as_text(runner.clean(runner.read(path))) == path.read_text("utf-8")
    counts = [c.execution_count for c in runner.read(path).cells if c.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1)), "run it from top to bottom"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_reads_from_top_to_bottom(path: Path) -> None:
    cells = runner.read(path).cells
    assert re.match(r"# .+\n", cells[0].source), "it begins with a title"
    assert "**What you will learn:**" in cells[0].source
    assert "\n## What it means, and what it does not\n" in f"\n{cells[-1].source}"
    assert [cell.cell_type for cell in cells] == ["markdown", "code"] * (len(cells) // 2) + [
        "markdown"
    ]
    assert 8 <= len(cells) // 2 <= 20
    for cell in cells:
        assert len(cell.source.splitlines()) <= 30, cell.source
        assert cell.cell_type == "markdown" or "plot_" not in cell.source or cell.outputs


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_outputs_are_fit_to_show(path: Path) -> None:
    notebook = runner.read(path)
    found = list(outputs(notebook))
    assert not [output for output in found if output.output_type == "error"]
    figures = [o.data for o in found if "<Figure" in o.get("data", {}).get("text/plain", "")]
    assert figures, "it has a figure"
    for data in figures:
        assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    for output in found:
        texts = [output.get("text", ""), *output.get("data", {}).values()]
        assert not [place[0] for text in texts[:3] if (place := PLACES.search(text))]
        # A warning is shown only where the text speaks of it.
        if output.get("name") == "stderr":
            assert "Warning: " in output.text
            assert "warning" in " ".join(c.source for c in notebook.cells)


def test_are_small() -> None:
    assert sum(path.stat().st_size for path in NOTEBOOKS) < 2_500_000


def test_readme_and_links() -> None:
    readme = (FOLDER / "README.md").read_text("utf-8")
    for name in NAMES:
        assert f"({name}.ipynb)" in readme
    texts = [readme]
    for path in NOTEBOOKS:
        cells = runner.read(path).cells
        texts += [cell.source for cell in cells if cell.cell_type == "markdown"]
    links = [link for text in texts for link in re.findall(r"\]\(([^)]+)\)", text)]
    assert links
    assert not [link for link in links if "://" not in link and not (FOLDER / link).exists()]


def test_cleaning() -> None:
    from nbformat.v4 import new_code_cell, new_notebook, new_output

    bar = {"text/plain": "Output()", "application/vnd.jupyter.widget-view+json": {}}
    place = "/tmp/ipykernel_12/34.py:1: BayesBiasWarning: it lacks\n  line\n"
    cell = new_code_cell(
        "1",
        metadata={"execution": {"shell.execute_reply": "2026"}},
        outputs=[
            new_output("display_data", bar),
            new_output("display_data", {"text/plain": "", "text/html": "<pre></pre>"}),
            new_output("stream", name="stdout", text="No such comm: 12ab\n"),
            new_output("display_data", {"text/plain": "No such comm: 12ab\n"}),
            new_output("stream", name="stderr", text=place),
            new_output("execute_result", {"text/plain": "1"}, execution_count=1),
        ],
    )
    notebook = new_notebook(
        cells=[cell], metadata={"language_info": {"name": "python", "version": "3.11.9"}}
    )
    cleaned = runner.clean(notebook)
    assert [said(o) for o in outputs(cleaned)] == ["BayesBiasWarning: it lacks\n  line\n", "1"]
    assert cleaned.cells[0].metadata == {}
    assert "3.11.9" not in runner.as_text(cleaned)


def test_staleness_is_noticed() -> None:
    assert_says_the_same("mean  -0.10\nn 12,187", "mean -0.101  n 12,187")
    with pytest.raises(AssertionError):
        assert_says_the_same("mean -0.10", "mean -0.15")
    with pytest.raises(AssertionError):
        assert_says_the_same("mean -0.10", "median -0.10")
    with pytest.raises(AssertionError):
        assert_says_the_same("n 12,187", "n 14,187")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("widgets", ["", "import sys; sys.modules['ipywidgets'] = None\n"])
def test_progress_shows_and_goes(widgets: str) -> None:
    from nbclient import NotebookClient
    from nbformat.v4 import new_code_cell, new_notebook

    setup = widgets + "from bayesbias._core import progress as _progress\n_progress._PATIENCE = 0"
    known = (
        "with _progress.progress_bar('counting', total=3, show=True) as advance:\n"
        "    advance(1)\n    print('busy')"
    )
    unknown = "with _progress.progress_bar('compiling', total=None, show=True):\n    print('busy')"
    cells = [new_code_cell(code) for code in (setup, known, unknown)]
    seen = []
    client = NotebookClient(new_notebook(cells=cells), kernel_name="python3")
    shown = client.process_message

    def watch(message: Any, cell: Any, index: int) -> Any:
        seen.append(message["content"].get("data", {}).get("text/plain"))
        return shown(message, cell, index)

    client.process_message = watch
    client.execute()
    assert [text for text in seen if text is not None] == ["counting 33%", "", "compiling …", ""]
    for cell in cells[1:]:
        assert [said(output) for output in cell.outputs] == ["", "busy\n"]
