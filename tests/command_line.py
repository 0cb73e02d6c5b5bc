"""Run a command in this process; the fixture of the same name also reads what it printed."""

from __future__ import annotations

from typing import NamedTuple

from bayesbias.cli import main


def run(*arguments: str) -> int:
    """Return the exit code."""
    try:
        main(list(arguments))
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


class Result(NamedTuple):
    """What a command did, for tests that read it."""

    code: int
    out: str
    err: str
