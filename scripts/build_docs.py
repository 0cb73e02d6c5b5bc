"""Build the documentation site into ``site/``: ``python scripts/build_docs.py``.

``--release FOLDER`` also puts it into a folder of this version within FOLDER, beside those of
earlier versions, and has the front page of FOLDER lead to the newest.

Sphinx reads a copy of ``docs/`` in ``build/docs``. Pages that stand elsewhere in the repository,
such as the cards of the models, are copied to their places beside the others, with links that
lead there. Notebooks become pages with what they show. The references of commands are written where
a page asks for them; every public name has a page of its own. Warnings are errors, and the site is
looked over at the end.
"""

from __future__ import annotations

import argparse
import base64
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import click
from packaging.version import Version

import bayesbias as bb

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
STAGED = ROOT / "build" / "docs"
SITE = ROOT / "site"

#: Pages outside `docs/`, and where they are on the site.
ELSEWHERE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "models/README.md": "models/index.md",
    "notebooks/README.md": "notebooks/index.md",
    "bayesbias/wordlists/data/README.md": "data/word-lists.md",
    "bayesbias/embeddings/data/README.md": "data/embeddings.md",
    "bayesbias/corpus/data/README.md": "data/corpus.md",
}
#: What is said of public names that are no functions and no classes.
DATA = {
    "debias.DEBIASERS": "Every debiasing method: its class by its name.",
    "metrics.METRICS": "Every metric: its class by its name. Add your own to use it by name.",
    "models.MODELS": "Every model of the catalogue: what it is, in one line, by its name.",
    "__version__": "The version of the package.",
}

#: The page that leads to the versions of the site.
FRONT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>bayesbias</title>
<meta http-equiv="refresh" content="0; url={first}/index.html">
<link rel="canonical" href="{first}/index.html"></head>
<body><h1>bayesbias</h1><p>Documentation of each version:</p><ul>{items}</ul></body></html>
"""
VERSION = re.compile(r"\d+(?:\.\d+)*(?:(?:a|b|rc|\.dev|\.post)\d+)*")

LINK = re.compile(r"(\]\()([^)#\s]+)(#[^)\s]*)?(\))")
PRINTED = re.compile(r"^```text\n(.*?)^```\n", re.S | re.M)
NAMES = re.compile(r"<!-- names: (\S+) -->")
COMMANDS = "<!-- commands -->"
#: What leads to the cards of the models from their front page.
CARDS = "\n```{toctree}\n:hidden:\n:glob:\n\n*\nfits/*\n```\n"
NOTEBOOKS = "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"


def main() -> None:
    """Stage the pages, build the site, look it over, and put it where it belongs."""
    parser = argparse.ArgumentParser(description="Build the documentation site into site/.")
    parser.add_argument("--release", type=Path, metavar="FOLDER", help="Where the versions are.")
    options = parser.parse_args()
    build()
    if options.release is not None:
        print(f"released: {release(SITE, options.release, bb.__version__)}")


def build() -> None:
    """Stage the pages, build the site, look it over."""
    stage(STAGED)
    shutil.rmtree(SITE, ignore_errors=True)
    options = ["--fail-on-warning", "--keep-going", "--fresh-env", "--quiet"]
    cache = ["-d", str(STAGED.with_name("docs-cache"))]
    command = [sys.executable, "-m", "sphinx", *options, *cache, str(STAGED), str(SITE)]
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit("The site was not built.")
    faults = list(look_over(SITE))
    if faults:
        sys.exit("\n".join(faults))
    print(f"{len(list(SITE.rglob('*.html')))} pages: {SITE / 'index.html'}")


def release(site: Path, folder: Path, version: str) -> Path:
    """Copy a site to the folder of its version; return the front page of all versions.

    The folder of the version is replaced, others stay. The front page lists all of them, the newest
    first, and leads to the newest that is not a pre-release by itself.
    """
    target = folder / version
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(site, target)
    (folder / ".nojekyll").touch()  # or GitHub leaves out folders that begin with _
    released = {
        Version(path.name): path.name
        for path in folder.iterdir()
        if path.is_dir() and VERSION.fullmatch(path.name)
    }
    names = [released[number] for number in sorted(released, reverse=True)]
    stable = [released[number] for number in sorted(released) if not number.is_prerelease]
    first = stable[-1] if stable else names[0]
    items = "".join(f'<li><a href="{name}/index.html">{name}</a></li>' for name in names)
    front = folder / "index.html"
    front.write_text(FRONT.format(first=first, items=items), "utf-8")
    return front


def pages() -> dict[Path, str]:
    """Return every page of the site, and its place there."""
    own = {path: path.relative_to(DOCS).as_posix() for path in sorted(DOCS.rglob("*.md"))}
    cards = {
        path: path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "models").rglob("*.md"))
    }
    notebooks = {
        path: path.relative_to(ROOT).with_suffix(".md").as_posix()
        for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
    }
    return own | cards | notebooks | {ROOT / path: place for path, place in ELSEWHERE.items()}


def stage(folder: Path) -> None:
    """Copy all pages to their places, with links that lead there."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder)
    places = pages()
    for path, place in places.items():
        if path == ROOT / "README.md":  # the site has a front page of its own
            continue
        if path.suffix == ".ipynb":
            text = notebook_page(path, folder / place)
        else:
            text = path.read_text("utf-8")
        if place == "changelog.md":
            text = text.replace("# Changelog", "# Release notes", 1)
        text = relinked(path, text, places, folder)
        text = NAMES.sub(lambda found: reference(found[1], folder), text)
        text = text.replace(COMMANDS, "\n".join(commands()))
        text = PRINTED.sub(wrapped, text)
        text = text.replace("```mermaid\n", "```text\n")  # which needs a script from the network
        text += {"models/index.md": CARDS, "notebooks/index.md": NOTEBOOKS}.get(place, "")
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, "utf-8")


def relinked(path: Path, text: str, places: dict[Path, str], folder: Path) -> str:
    """Return the text of a page with links that lead to the places of other pages and files."""
    here = Path(places[path]).parent

    def turn(link: re.Match[str]) -> str:
        if re.match(r"[a-z]+:", link[2]):
            return link[0]
        if link[2].startswith("shown/"):  # a picture that a notebook shows
            return link[0]
        target = Path(os.path.normpath(path.parent / link[2]))
        if not target.is_file():
            raise FileNotFoundError(f"{path.relative_to(ROOT)} has a link to {link[2]}: no file.")
        if target in places:
            place = places[target]
        elif target.is_relative_to(DOCS):
            place = target.relative_to(DOCS).as_posix()
        else:  # a file to download
            place = f"files/{target.relative_to(ROOT).as_posix()}"
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(target, folder / place)
        return link[1] + Path(os.path.relpath(place, here)).as_posix() + (link[3] or "") + link[4]

    return LINK.sub(turn, text)


def wrapped(block: re.Match[str]) -> str:
    """Return a block of what code printed; long lines are sentences, which may be broken."""
    if max(map(len, block[1].splitlines()), default=0) <= 100:
        return block[0]
    return f"```{{code-block}} text\n:class: prose\n\n{block[1]}```\n"


def public_name(room: str, name: str) -> str:
    """Return how a user writes a name of a room after ``bb.``."""
    return (
        name
        if room == "bayesbias" or name in dir(bb)
        else f"{room.removeprefix('bayesbias.')}.{name}"
    )


def public_names() -> dict[str, object]:
    """Return everything public by what a user writes after ``bb.``; the root comes first."""
    root = {name: getattr(bb, name) for name in dir(bb)}
    rooms = [thing for thing in root.values() if isinstance(thing, ModuleType)]
    found = {name: thing for name, thing in root.items() if thing not in rooms}
    for room in rooms:
        found |= {public_name(room.__name__, name): getattr(room, name) for name in room.__all__}
    return found


def reference(room: str, folder: Path) -> str:
    """Return a table of the public names of one room; write a page for each of them."""
    module = importlib.import_module(room)
    names = sorted(module.__all__, key=str.lower) if room != "bayesbias" else ["__version__"]
    things = {public_name(room, name): getattr(module, name) for name in names}
    documented = [name for name in things if name not in DATA]
    lines = ["```{eval-rst}"]
    for name in (name for name in things if name in DATA):
        lines += [f".. py:data:: bayesbias.{name}", "", f"   {DATA[name]}", ""]
    if documented:
        lines += [".. autosummary::", "   :nosignatures:", ""]
        lines += [f"   bayesbias.{name}" for name in documented]
    lines += ["```", ""]
    places = [name_page(name, things[name], folder) for name in documented]
    if places:
        lines += ["```{toctree}", ":hidden:", "", *places, "```"]
    return "\n".join(lines)


def name_page(name: str, thing: object, folder: Path) -> str:
    """Write the page of a function or a class; return its place within the pages of the API."""
    is_class = isinstance(thing, type)
    # Two folders, as some systems do not distinguish `Fit` from `fit`.
    place = f"{'classes' if is_class else 'functions'}/{name}"
    lines = [f"# {name}", "", "```{eval-rst}"]
    lines += [f".. auto{'class' if is_class else 'function'}:: bayesbias.{name}"]
    if isinstance(thing, type):
        if any(base.__module__.startswith("bayesbias.") for base in thing.__bases__):
            lines += ["   :show-inheritance:"]
        # What a metric implements is of interest to those who write one.
        if name == "metrics.Metric" or not issubclass(thing, bb.metrics.Metric):
            # scikit-learn gives every transformer these, for the routing of metadata.
            routing = "set_fit_request, set_predict_request, set_transform_request"
            lines += ["   :members:", f"   :exclude-members: {routing}"]
    path = folder / "api" / f"{place}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, "```", ""]), "utf-8")
    return place


def notebook_page(path: Path, target: Path) -> str:
    """Return a notebook as a page: texts, code, and what the code showed; write its pictures."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    parts = []
    for number, cell in enumerate(cells):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for place, output in enumerate(cell.get("outputs", [])):
            parts.append(shown(output, target, f"{path.stem}-{number}-{place}.png"))
    parts.append(f"[Download this notebook]({path.name})")
    return "\n\n".join(part for part in parts if part) + "\n"


def shown(output: dict[str, Any], target: Path, picture: str) -> str:
    """Return what a cell showed: a picture, a table or a text."""
    if output["output_type"] == "stream":
        return f"```text\n{''.join(output['text']).rstrip()}\n```\n"
    data = output.get("data", {})
    if "image/png" in data:
        path = target.parent / "shown" / picture
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode("".join(data["image/png"])))
        return f"![What the cell draws](shown/{picture})"
    if "text/html" in data:
        page = "".join(data["text/html"])
        return f'```{{raw}} html\n<div class="shown">\n{page}\n</div>\n```'
    text = "".join(data.get("text/plain", "")).rstrip()
    return f"```text\n{text}\n```\n" if text else ""


def commands() -> Iterator[str]:
    """Yield what every command says when it is asked for help."""
    from bayesbias.cli.app import app

    def walk(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
        context = click.Context(
            command, info_name=name.split()[-1], parent=parent, terminal_width=96
        )
        yield f"## {name}\n\n```text\n{command.get_help(context)}\n```\n"
        if isinstance(command, click.Group):
            for part in command.list_commands(context):
                child = command.get_command(context, part)
                assert child is not None
                yield from walk(child, f"{name} {part}", context)

    yield from walk(app, "bayesbias", None)


def look_over(site: Path) -> Iterator[str]:
    """Yield what is wrong with a built site."""
    text = {path: path.read_text("utf-8") for path in site.rglob("*.html")}
    whole = "".join(text.values())
    for name in ("__version__", *public_names()):
        if f'id="bayesbias.{name}"' not in whole:
            yield f"{name} is not in the reference."
    needs = re.compile(r'<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*"')
    for path, page in text.items():
        for found in needs.findall(page):
            yield f"{path.relative_to(site)} needs the network: {found}"


if __name__ == "__main__":
    main()
