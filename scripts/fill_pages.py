"""Run the Python blocks of a page, and write what they print into the text blocks behind them.

    python scripts/fill_pages.py docs/metrics.md

The tests run the same blocks and compare.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import tempfile
from pathlib import Path

BLOCKS = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.S)


def main(path: Path) -> None:
    """Fill one page."""
    names: dict[str, object] = {}

    def fill(block: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block[1], str(path), "exec"), names)
        result = f"```python\n{block[1]}```\n"
        if block[2] is not None:
            result += f"\n```text\n{printed.getvalue()}```\n"
        return result

    text = path.read_text("utf-8")
    # What a page writes to the working directory is not kept.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        filled = BLOCKS.sub(fill, text)
    path.write_text(filled, "utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        main(Path(name).resolve())
