"""Progress bars on standard error: in terminals and notebooks only, and never when not wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


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
    unit : {"bytes", "steps"}
        How the amount is printed.
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
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        yield _ignore
        return
    amount = DownloadColumn() if unit == "bytes" else MofNCompleteColumn()
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
