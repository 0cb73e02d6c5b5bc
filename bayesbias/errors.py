"""The errors and warnings of bayesbias.

Each error also inherits the builtin that a caller would expect, so ``except ValueError`` works.
"""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path

__all__ = [
    "BayesBiasError",
    "BayesBiasWarning",
    "ClusterError",
    "DataError",
    "EngineError",
    "MissingDependencyError",
    "NotFittedError",
    "NotFoundError",
    "SpecError",
    "VocabularyError",
]

_PACKAGE = str(Path(__file__).parent)


# A word, a name or a value that is longer is shown by its beginning.
_LONGEST_WORD = 500
_LONGEST_MESSAGE = 5_000
_LONG_WORD = re.compile(rf"\S{{{_LONGEST_WORD},}}+")


def _readable(message: str) -> str:
    """Return a message without what nobody reads: files may hold words of a million letters."""
    short = _LONG_WORD.sub(lambda word: f"{word[0][:60]}… ({len(word[0]):,} characters)", message)
    if len(short) <= _LONGEST_MESSAGE:
        return short
    return f"{short[:4000]} … {short[-500:]}"


class BayesBiasError(Exception):
    """Base of every error that bayesbias raises on purpose."""

    # KeyError shows the repr of its message; these messages are sentences.
    def __str__(self) -> str:
        return _readable(str(self.args[0])) if self.args else ""


class SpecError(BayesBiasError, ValueError):
    """An argument, a study, a query or an option is not what it should be."""


class DataError(BayesBiasError, ValueError):
    """A file, a table or a matrix holds something that cannot be used."""


class EngineError(SpecError, DataError):
    """The exact engine cannot fit this model, or not to this table; NUTS may.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> bb.fit(table, "separate", engine="exact", likelihood="student_t")
    Traceback (most recent call last):
    ...
    bayesbias.errors.EngineError: the exact engine cannot fit model 'separate': its likelihood is
    'student_t', not 'normal'; use engine='auto' or engine='nuts'.
    """


class NotFoundError(BayesBiasError, FileNotFoundError):
    """No file, embedding, study, query or list of that name."""


class VocabularyError(BayesBiasError, KeyError):
    """Words are not in the vocabulary of an embedding."""


class NotFittedError(BayesBiasError, ValueError, AttributeError):
    """Something was asked of a debiaser that it learns in `fit`, before it was fitted."""


class ClusterError(BayesBiasError, ConnectionError):
    """A cluster cannot be reached, its workers have another version, or it has ended.

    Examples
    --------
    >>> import bayesbias as bb
    >>> with bb.cluster("tcp://127.0.0.1:9", timeout=0.2):  # where no scheduler is
    ...     pass
    Traceback (most recent call last):
    ...
    bayesbias.errors.ClusterError: no Dask scheduler at tcp://127.0.0.1:9...
    """


class MissingDependencyError(BayesBiasError, ImportError):
    """An optional package is not installed."""


class BayesBiasWarning(UserWarning):
    """Something that deserves a look but does not stop the work."""


def warn(message: str) -> None:
    """Warn with the caller's line, the first that is not in this package."""
    frame = sys._getframe(1)
    level = 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(_readable(message), BayesBiasWarning, stacklevel=level)
