"""Errors that are scikit-learn's as well; for modules that import scikit-learn anyway."""

from __future__ import annotations

from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from bayesbias import errors


class NotFittedError(errors.NotFittedError, SklearnNotFittedError):  # type: ignore[misc]
    """Something was asked of an estimator that it learns in `fit`, before it was fitted."""
