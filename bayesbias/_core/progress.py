"""Progress bars on standard error: in terminals and notebooks only, and never when not wanted."""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Seconds: a bar for what is quicker is only in the way; a notebook keeps every change it is sent.
_PATIENCE, _PAUSE = 1.0, 0.25


def _ignore(amount: float) -> None:
    """Count nothing."""


@contextmanager
def progress_bar(
    description: str, *, total: float | None, show: bool, unit: str = "bytes"
) -> Iterator[Callable[[float], None]]:
    """Yield a function that advances a bar; it does nothing where no bar can be seen.

    Parameters
    ----------
    description : str
        What is being done, a few words.
    total : float or None
        The amount of work, in units of `advance`; None when it is not known.
    show : bool
        Whether a bar is wanted at all.
    unit : {"bytes", "steps", "share"}
        How the amount is printed; a share is that of the total, in per cent.
    """
    if not show:
        yield _ignore
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if console.is_jupyter:
        with _notebook_bar(description, total) as advance:
            yield advance
        return
    if not console.is_terminal:
        yield _ignore
        return
    amount: ProgressColumn = MofNCompleteColumn()
    if unit != "steps":
        amount = DownloadColumn() if unit == "bytes" else TaskProgressColumn()
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        amount,
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as bar:
        task = bar.add_task(description, total=total)
        yield lambda done: bar.advance(task, done)


@contextmanager
def _notebook_bar(description: str, total: float | None) -> Iterator[Callable[[float], None]]:
    """Yield a function that advances a bar in a notebook.

    Rich's own needs ipywidgets, without them it fills the cell with warnings, and it leaves an
    empty widget in the saved notebook. This one is plain HTML, and is blank when it is done.
    """
    from IPython.display import display

    done, last = 0.0, time.monotonic()
    shown = None

    def show() -> None:
        nonlocal shown
        of = f"value='{done / total:.3f}'" if total else ""
        part = f" {done / total:.0%}" if total else " …"
        data = {
            "text/plain": description + part,
            "text/html": f"<progress {of}></progress> {html.escape(description)}{part}",
        }
        if shown is None:
            shown = display(data, raw=True, display_id=True)
        else:
            shown.update(data, raw=True)

    def advance(amount: float) -> None:
        nonlocal done, last
        done += amount
        now = time.monotonic()
        if now - last >= (_PATIENCE if shown is None else _PAUSE):
            last = now
            show()

    if total is None:
        show()
    try:
        yield advance
    finally:
        if shown is not None:
            shown.update({"text/plain": "", "text/html": ""}, raw=True)
