"""Documents that LaTeX compiles, if it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

PREAMBLE = r"""\documentclass{article}
\usepackage{booktabs}
\usepackage{graphicx}
\usepackage{longtable}
\usepackage{natbib}
\usepackage{url}
\begin{document}
"""

needs_latex = pytest.mark.skipif(
    shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None,
    reason="LaTeX is not installed",
)


def has_packages(*names: str) -> bool:
    """Return whether LaTeX has some packages."""
    asked = [f"{name}.sty" for name in names]
    found = subprocess.run(["kpsewhich", *asked], check=False, capture_output=True, text=True)
    return len(found.stdout.split()) == len(asked)


def complaints(texts: Iterable[str], folder: Path, *, ending: str = "", runs: int = 1) -> list[str]:
    """Compile texts as one document, and return the errors and what does not fit on the page."""
    if not has_packages("booktabs", "graphicx", "longtable", "natbib", "url"):
        pytest.skip("LaTeX lacks a package")
    # Floats are set where LaTeX has room for them, if each is alone on its page.
    body = "\n\\clearpage\n".join(texts)
    (folder / "main.tex").write_text(f"{PREAMBLE}{body}\n{ending}\\end{{document}}\n", "utf-8")
    run = ["pdflatex", "-interaction=nonstopmode", "-no-shell-escape", "main"]
    for number in range(runs):
        subprocess.run(run, cwd=folder, check=False, capture_output=True, timeout=120)
        if number == 0 and ending:
            subprocess.run(["bibtex", "main"], cwd=folder, check=False, capture_output=True)
    log = (folder / "main.log").read_text("latin-1")
    if ending:
        log += (folder / "main.blg").read_text("latin-1")
    wrong = r"^(?:!.*|Overfull \\hbox.*|Missing character.*|LaTeX Warning: (?!Label).*|Warning--.*)"
    found = re.findall(wrong, log, re.MULTILINE)
    return [line for line in found if runs > 1 or "undefined" not in line]
