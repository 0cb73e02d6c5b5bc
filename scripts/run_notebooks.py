"""Run the notebooks in place, and keep of their outputs only what is the same in every run.

    python scripts/run_notebooks.py                             # all
    python scripts/run_notebooks.py notebooks/01-religion.ipynb

Each runs in a fresh kernel, in a folder of its own. One that fails is left as it was. The tests run
the same notebooks and compare. Cells that load a table of other authors by name are run where the
cache has it (`bayesbias download`), and otherwise keep what they show.
"""

from __future__ import annotations

import base64
import io
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from PIL import Image

from bayesbias._core.downloads import cached
from bayesbias._core.files import atomic
from bayesbias._core.remote_files import REMOTE_FILES

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"

_KEPT = ("text/plain", "text/html", "image/png")
# Where a warning arose, a file that the kernel made for the cell; and what a bar leaves behind.
_PLACE = re.compile(r"^\S+[/\\]ipykernel_\d+[/\\]\d+\.py:\d+: |^No such comm: .*\n", re.M)
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def main(paths: list[Path]) -> None:
    """Run the notebooks, and write them."""
    for path in paths:
        text = as_text(run(path))
        with atomic(path) as (temporary,):
            temporary.write_text(text, "utf-8", newline="\n")
        print(f"{path.name}: {len(text) / 1000:.0f} kB")


def run(path: Path) -> NotebookNode:
    """Return the notebook with the outputs of a fresh kernel, cleaned."""
    notebook = read(path)
    kept = [(cell, cell.source, cell.outputs) for cell in notebook.cells if lacks_tables(cell)]
    for cell, _, _ in kept:
        cell.source = "pass"
    with tempfile.TemporaryDirectory() as folder:
        # Settings of the person who runs it change nothing; figures are drawn into the notebook.
        environment = {**os.environ, "IPYTHONDIR": folder, "JUPYTER_RUNTIME_DIR": folder}
        environment.pop("MPLBACKEND", None)
        client = NotebookClient(
            notebook,
            kernel_name="python3",
            extra_arguments=["--log-level=ERROR"],
            timeout=600,
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": folder}},
        )
        client.execute(env=environment)
    for cell, source, outputs in kept:
        cell.source, cell.outputs = source, outputs
    return clean(notebook)


def lacks_tables(cell: NotebookNode) -> bool:
    """Tell whether a cell loads tables by name that the cache does not have."""
    if cell.cell_type != "code" or "load_table(" not in cell.source:
        return False
    tables = [r for n, r in REMOTE_FILES.items() if r.kind == "table" and f'"{n}"' in cell.source]
    return not all(cached(table) for table in tables)


def read(path: Path) -> NotebookNode:
    """Return the notebook in a file."""
    notebook: NotebookNode = nbformat.read(path, as_version=4)
    return notebook


def as_text(notebook: NotebookNode) -> str:
    """Return what is written to the file."""
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook)
    return text.rstrip("\n") + "\n"


def clean(notebook: NotebookNode) -> NotebookNode:
    """Strip metadata, what progress bars leave behind, and places on this machine."""
    notebook.metadata = _METADATA
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [clean_output(output) for output in cell.outputs if is_told(output)]
    return notebook


def is_told(output: NotebookNode) -> bool:
    """Tell whether an output says anything: a progress bar that has gone does not."""
    if output.output_type == "error":
        return True
    data = output.get("data", {})
    text = output.text if output.output_type == "stream" else data["text/plain"]
    return "application/vnd.jupyter.widget-view+json" not in data and _PLACE.sub("", text) != ""


def clean_output(output: NotebookNode) -> NotebookNode:
    """Return an output without what differs from run to run."""
    if output.output_type == "stream":
        output.text = _PLACE.sub("", output.text)
    elif "data" in output:
        output.metadata = {}
        output.data = {k: v for k, v in output.data.items() if k in _KEPT}
        if "image/png" in output.data:
            output.data["image/png"] = small_png(output.data["image/png"])
    return output


def small_png(encoded: str) -> str:
    """Return a figure in few colours, without the name and version of what drew it."""
    image: Image.Image = Image.open(io.BytesIO(base64.b64decode(encoded)))
    if image.mode == "P":
        return encoded
    image = image.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    image.info.clear()
    written = io.BytesIO()
    image.save(written, "PNG", optimize=True)
    return base64.b64encode(written.getvalue()).decode()


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or sorted(FOLDER.glob("*.ipynb")))
