"""Saved classifiers: arrays in an ``.npz`` archive, and the rest as JSON in it; no pickle."""

from __future__ import annotations

import json
import zipfile
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesbias._core.files import atomic, check_folder, is_file
from bayesbias.errors import DataError, NotFoundError, SpecError
from bayesbias.wordlists.build.score_arrays import Calibrated

if TYPE_CHECKING:
    from bayesbias.wordlists.build.group_classifier import GroupClassifier

#: The version of the format, which a file states.
_FORMAT = 2
_ABOUT = "about"
_FRAMES = ("evaluation_", "confusion_", "labelled_", "unseen_", "search_")
_NUMBERS = ("macro_f1_", "brier_", "calibration_error_", "chosen_", "prevalence_")
_TUPLES = ("macro_f1_interval_", "missing_", "two_labels_", "background_")
_SETTINGS = ("method", "unit", "threshold", "n_jobs", "background", "prior")


def save_classifier(classifier: GroupClassifier, path: str | PathLike[str]) -> None:
    """Write a fitted classifier."""
    target = Path(path)
    if target.suffix.lower() != ".npz":
        raise SpecError(f"{target}: a classifier is written to an .npz file.")
    classifier.classes_  # noqa: B018  says so if it is not fitted
    check_folder(target)
    seed = classifier.seed if isinstance(classifier.seed, int | None) else None
    about: dict[str, Any] = {
        "format": _FORMAT,
        "settings": {name: getattr(classifier, name) for name in _SETTINGS} | {"seed": seed},
        "classes": [str(name) for name in classifier.classes_],
        "dim": classifier._dim,
        **{name: getattr(classifier, name) for name in (*_NUMBERS, *_TUPLES)},
        **{
            name: json.loads(getattr(classifier, name).to_json(orient="split", double_precision=15))
            for name in _FRAMES
        },
    }
    text = np.frombuffer(json.dumps(about).encode("utf-8"), dtype=np.uint8)
    arrays = classifier._model.arrays() | {_ABOUT: text}
    with atomic(target) as (temporary,), temporary.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def read_classifier(path: str | PathLike[str], classifier: GroupClassifier) -> None:
    """Read a saved classifier into one that is not fitted."""
    import pandas as pd

    source = Path(path)
    if not is_file(source):
        raise NotFoundError(f"no classifier {str(source)!r}; GroupClassifier.save writes one.")
    try:
        with np.load(source, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        about = json.loads(arrays.pop(_ABOUT).tobytes().decode("utf-8"))
    except (KeyError, ValueError, OSError, zipfile.BadZipFile) as err:
        raise DataError(
            f"{source} is not a saved classifier ({err}); GroupClassifier.save writes one."
        ) from err
    if about.get("format") != _FORMAT:
        raise DataError(
            f"{source}: a classifier of format {about.get('format')}, of another version of "
            f"bayesbias; this one reads format {_FORMAT}. Fit and save it again."
        )
    classifier.set_params(**about["settings"])
    for name in _NUMBERS:
        setattr(classifier, name, about[name])
    for name in _TUPLES:
        setattr(classifier, name, tuple(about[name]))
    for name in _FRAMES:
        frame = about[name]
        setattr(classifier, name, pd.DataFrame(frame["data"], frame["index"], frame["columns"]))
    names = about["classes"]
    classifier.confusion_.index = pd.Index(names, name="group")
    classifier.confusion_.columns = pd.Index(names, name="predicted")
    classifier.classes_ = np.array(names, dtype=object)
    classifier._embedding, classifier._dim = None, about["dim"]
    classifier._model = Calibrated.from_arrays(about["chosen_"], arrays)
