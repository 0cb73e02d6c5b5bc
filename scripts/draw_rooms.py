"""Draw which room of the package imports from which, as a Mermaid graph in CONTRIBUTING.md.

``python scripts/draw_rooms.py`` reads all imports and writes the graph between its two markers;
with ``--check`` it only reports whether the graph is up to date. An arrow is left out where a
longer path leads to the same room.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "bayesbias"
PAGE = ROOT / "CONTRIBUTING.md"
BLOCK = re.compile(r"(<!-- rooms -->\n```mermaid\n).*?(```\n<!-- end of rooms -->)", re.S)


def imports() -> dict[str, set[str]]:
    """Return the rooms that each room imports from."""
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    rooms |= {path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")}
    result: dict[str, set[str]] = {room: set() for room in sorted(rooms)}
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if room not in rooms:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "bayesbias":
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bayesbias."):
                names = [str(node.module).split(".")[1]]
            else:
                continue
            result[room] |= {name for name in names if name in rooms and name != room}
    return result


def reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    """Return every room that a room imports from, directly or through others."""
    seen: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        room = waiting.pop()
        if room not in seen:
            seen.add(room)
            waiting += graph[room]
    return seen


def reduced(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the graph without arrows that a longer path makes superfluous."""
    behind = {room: reachable(graph, room) for room in graph}
    return {
        room: {other for other in used if not any(other in behind[o] for o in used - {other})}
        for room, used in graph.items()
    }


def mermaid() -> str:
    """Return the graph as Mermaid text."""
    graph = reduced(imports())
    lines = [f"  {room} --> {other}" for room in graph for other in sorted(graph[room])]
    return "\n".join(["graph TD", *lines, ""])


def main() -> None:
    """Write the graph, or check it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    page = PAGE.read_text("utf-8")
    drawn = BLOCK.sub(lambda block: f"{block[1]}{mermaid()}{block[2]}", page)
    if not parser.parse_args().check:
        PAGE.write_text(drawn, "utf-8")
    elif drawn != page:
        sys.exit("The graph in CONTRIBUTING.md is out of date: python scripts/draw_rooms.py")


if __name__ == "__main__":
    main()
