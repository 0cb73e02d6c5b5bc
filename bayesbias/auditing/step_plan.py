"""The steps of an audit in their order, as the progress messages name them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from bayesbias._core.wording import waiting_time

_log = logging.getLogger(__name__)

# Seconds: shorter steps are over before anyone has read how long they take.
_SHORT = 1.0


class StepPlan:
    """Says which step begins, the how manyth of how many, and how long it may take.

    A time is given only where something is known: the time of the same step in an earlier run with
    the same options, of the same step for another embedding, or an estimate from the size of the
    work.

    Parameters
    ----------
    doing : mapping of str to str
        What is done in each step, by its name in the record, in order. Some steps may turn out not
        to be needed; they keep their number.
    earlier : mapping of str to float
        The seconds of steps in earlier runs.
    """

    def __init__(self, doing: Mapping[str, str], earlier: Mapping[str, float]) -> None:
        self._doing = doing
        self._number = {name: number for number, name in enumerate(doing, 1)}
        self._earlier = earlier
        self._alike: dict[str, float] = {}

    def begin(self, name: str, estimate: Callable[[], float | None] | None = None) -> None:
        """Log that a step begins; `estimate` is asked for seconds if nothing better is known."""
        # An estimate may take a while, and is for those who read it.
        if name not in self._doing or not _log.isEnabledFor(logging.INFO):
            return
        seconds = self._earlier.get(name, self._alike.get(_without_embedding(name)))
        if seconds is None and estimate is not None:
            seconds = estimate()
        time = "" if seconds is None or seconds < _SHORT else f", about {waiting_time(seconds)}"
        number = f"step {self._number[name]} of {len(self._doing)}"
        _log.info("%s: %s%s", number, self._doing[name], time)

    def end(self, name: str, seconds: float) -> None:
        """Log how long a step took, if that was long enough to matter."""
        self._alike[_without_embedding(name)] = seconds
        if name in self._doing and seconds >= _SHORT:
            _log.info("  done in %s", waiting_time(seconds))


def _without_embedding(name: str) -> str:
    """Return the study and the step of ``embedding/study/step``; another name as it is."""
    parts = name.split("/", 2)
    return "/".join(parts[1:]) if len(parts) == 3 else name
