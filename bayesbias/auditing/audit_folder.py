"""The folder of an audit: which steps are done, and whether their files are as they were left."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import UnionType
from typing import Any

from bayesbias import __version__
from bayesbias._core.files import (
    atomic,
    check_folder,
    file_sha256,
    make_folder,
    missing_file_hint,
)
from bayesbias._core.locks import LOCK, check_free
from bayesbias._core.toml_json import read_json
from bayesbias._core.wording import shortened
from bayesbias.auditing.artifacts import PART_RECORD, PARTS, RECORD, REPORT_STEP
from bayesbias.auditing.step_plan import StepPlan
from bayesbias.errors import BayesBiasWarning, ClusterError, DataError, SpecError

#: Of the record; raised when older versions could not read it.
SCHEMA = 1
# Raised when a step does something else than before, so that its old files are made again.
_STEPS = 5
# What the folder itself says in the record.
_OWN = ("schema", "bayesbias", "steps")
# What a record must have, and what it must have to be shown.
_RECORD = {
    "schema": int,
    "parts": [{"embedding": str, "study": str, "folder": str}],
    "steps": {str: {"key": str, "files": {str: str}, "warnings": [str]}},
    "options": dict,
    "embeddings": dict,
    "studies": dict,
}
_CONTENT = {
    "bayesbias": str,
    "options": {
        "prob": float | int,
        "rope": float | int,
        "draws": int,
        "models": [str],
        "debias": [str],
    },
    "embeddings": {str: {"source": str, "words": int, "sha256": str}},
    "studies": {str: {"lists": dict}},
}


def fingerprint(value: object) -> str:
    """Return the SHA-256 of plain data, however its dictionaries are ordered."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file; nothing if it cannot be read."""
    try:
        return file_sha256(path)
    except OSError:
        return ""


def read_record(path: Path) -> dict[str, Any]:
    """Return what the folder of an audit says of itself."""
    source = path / RECORD
    if not path.exists():
        raise DataError(f"there is no folder {str(path)!r}.{missing_file_hint(path)}")
    if not source.is_file():
        above = next((folder for folder in path.parents if (folder / RECORD).is_file()), None)
        hint = "" if above is None else f" Give the folder of the whole audit: {above}."
        raise DataError(f"{path} is not the folder of an audit: it has no {RECORD}.{hint}")
    try:
        record = read_json(source)
        schema = record["schema"]
        if not _fits(record, _RECORD) or not _stays_inside(path, record):
            raise ValueError("not as an audit writes it")
    except (ValueError, KeyError, TypeError, OSError) as err:
        raise DataError(
            f"{source}: damaged, or not the record of an audit; give another folder."
        ) from err
    if schema > SCHEMA:
        raise DataError(f"{source}: written by a newer bayesbias; upgrade to read it.")
    return dict(record)


def part_record(place: str) -> str:
    """Return the file that another process records the steps of a part in."""
    return f"{PARTS}/{PART_RECORD.format(of=fingerprint(place)[:16])}"


def read_part_record(path: Path, source: Path) -> dict[str, dict[str, Any]]:
    """Return the steps that another process recorded; none if that is not there or not whole."""
    try:
        record = {"parts": [], **read_json(source)}
    except (ValueError, TypeError, OSError):
        return {}
    steps: dict[str, dict[str, Any]] = record.get("steps", {})
    whole = _fits(steps, _RECORD["steps"]) and _stays_inside(path, record)
    return steps if whole else {}


def check_content(path: Path, record: Mapping[str, Any]) -> None:
    """Refuse a record that lacks what results are made of: nothing else can be read then."""
    parts = record["parts"]
    described = all(
        part["study"] in record["studies"] and part["embedding"] in record["embeddings"]
        for part in parts
    )
    if not (parts and described and _fits(record, _CONTENT)):
        raise DataError(
            f"{path / RECORD}: damaged; run the audit again in another folder, or replace this one "
            "('force', --force)."
        )


def _fits(data: object, shape: object) -> bool:
    """Return whether data has a shape: a type, ``[shape]``, ``{key: shape}``, ``{str: shape}``."""
    if isinstance(shape, type | UnionType):
        return isinstance(data, shape)
    if isinstance(shape, list):
        return isinstance(data, list) and all(_fits(item, shape[0]) for item in data)
    assert isinstance(shape, dict)
    if not isinstance(data, dict):
        return False
    if str in shape:
        return all(_fits(item, shape[str]) for item in data.values())
    return all(key in data and _fits(data[key], inner) for key, inner in shape.items())


def _stays_inside(path: Path, record: Mapping[str, Any]) -> bool:
    """Return whether all files are in the folder, also where links lead."""
    names = [part["folder"] for part in record["parts"]]
    names += [file for step in record["steps"].values() for file in step["files"]]
    if any("\0" in name or Path(name).is_absolute() or ".." in Path(name).parts for name in names):
        return False
    root = path.resolve()
    return all((path / name).resolve().is_relative_to(root) for name in names)


def check_out(path: Path) -> None:
    """Refuse a folder that no audit can be written to, before long work."""
    if path.exists() and not path.is_dir():
        raise DataError(f"{path} is a file; give the name of a folder.")
    if not path.exists():
        check_folder(path)
        return
    check_free(path)
    if not (path / RECORD).is_file():
        # A run that was killed right at its beginning leaves only these.
        if all(one.name.startswith((LOCK, f".{RECORD}.")) for one in path.iterdir()):
            return
        raise DataError(
            f"{path} holds files and no audit; nothing of it is touched. Give an empty folder, or "
            "the name of a new one."
        )
    read_record(path)


def check_parts(path: Path, parts: Iterable[tuple[str, str]]) -> None:
    """Refuse to replace the audit of other embeddings or studies; it can be added to."""
    if not (path / RECORD).is_file():
        return
    recorded = [(part["embedding"], part["study"]) for part in read_record(path)["parts"]]
    if not set(recorded) <= set(parts):
        shown = shortened((f"{embedding} on {study}" for embedding, study in recorded), 3)
        raise SpecError(
            f"{path} holds the audit of {shown}; give another folder ('out', --out), or replace "
            "it ('force', --force)."
        )


def check_unchanged(path: Path) -> None:
    """Refuse the folder of an audit if a file is not as its step left it, the report apart."""
    steps = read_record(path)["steps"]
    _check_files(path, (step["files"] for name, step in steps.items() if name != REPORT_STEP.name))


def _check_files(path: Path, recorded: Iterable[Mapping[str, str]]) -> None:
    changed = [
        name
        for files in recorded
        for name, digest in files.items()
        if file_hash(path / name) != digest
    ]
    if changed:
        raise DataError(
            f"{path}: not as the audit left it: {shortened(changed, 3)}. No report is written; run "
            "the audit again, which makes again what has changed."
        )


class Folder:
    """A folder that steps write their files to, each once.

    A step has a key: a hash of its name and of all that its files depend on. Its files are made
    again only if the key is another, or if one of them is not as the step left it.

    Parameters
    ----------
    path : Path
        The folder, which `check_out` has nothing against.
    about : mapping
        What the record says besides the steps.
    force : bool
        Whether every step is done again.
    """

    def __init__(self, path: Path, about: Mapping[str, Any], *, force: bool) -> None:
        self.path = path
        self._about = about
        self._force = force
        path.mkdir(exist_ok=True)
        recorded = (path / RECORD).is_file()
        earlier = read_record(path) if recorded else {"steps": {}}
        self._steps: dict[str, dict[str, Any]] = earlier["steps"]
        same = earlier.get("options") == about.get("options")
        self._times = _times(self._steps) if same else {}
        self._plan = StepPlan({}, {})
        self._done: list[str] = []
        # The keys of steps that other processes did for this audit.
        self._adopted: set[str] = set()
        if force:
            shutil.rmtree(path / PARTS, ignore_errors=True)
        else:  # what they did for one that was stopped
            for record in sorted((path / PARTS).glob(PART_RECORD.format(of="*"))):
                self._adopt(record)
        # Before any work, so that a folder that cannot be written to is found out.
        self._write()

    def announce(self, doing: Mapping[str, str]) -> None:
        """Tell those who wait of the steps to come, given by name in their order.

        Parameters
        ----------
        doing : mapping of str to str
            What is done in each step.
        """
        self._plan = StepPlan(doing, self._times)

    def adopt(self, place: str) -> None:
        """Take over the steps that another process did for the part at this place."""
        self._adopt(self.path / part_record(place))
        self._write()

    def _adopt(self, record: Path) -> None:
        steps = read_part_record(self.path, record)
        self._steps |= steps
        self._adopted |= {step["key"] for step in steps.values()}

    def step(
        self,
        name: str,
        inputs: Mapping[str, Any],
        files: Sequence[str],
        make: Callable[..., None],
        *,
        warned: Sequence[str] = (),
        seconds: Callable[[], float | None] | None = None,
    ) -> str:
        """Do a step unless it is done, and return its key.

        Parameters
        ----------
        name : str
            What the record calls it.
        inputs : mapping
            All that the files depend on, as plain data.
        files : sequence of str
            The files, relative to the folder.
        make : callable
            Writes them; it gets their paths, one argument each.
        warned : sequence of str
            What was to be warned of before, and is to be kept with the step.
        seconds : callable, optional
            Returns about how long it takes, or None if that is not known.
        """
        key = fingerprint(
            {
                "step": name.rpartition("/")[2],
                "version": _STEPS,
                "bayesbias": __version__,
                "inputs": inputs,
                "files": [Path(file).name for file in files],
            }
        )
        again = self._force and key not in self._adopted
        record = None if again else self._find(key)
        if record is None:
            self._plan.begin(name, seconds)
            record = self._make(name, key, files, make, warned)
        elif list(record["files"]) != list(files):
            self._copy(record, files)
            record = {**record, "files": dict(zip(files, record["files"].values(), strict=True))}
        self._done.append(name)
        if self._steps.get(name) != record:  # many parts make a long record
            self._steps[name] = record
            self._write()
        return key

    def _find(self, key: str) -> dict[str, Any] | None:
        """Return the record of a step, wherever its files are, if they are as they were left."""
        for record in self._steps.values():
            if record["key"] == key and self._intact(record["files"]):
                return record
        return None

    def _intact(self, files: Mapping[str, str]) -> bool:
        return all(file_hash(self.path / name) == digest for name, digest in files.items())

    def _make(
        self,
        name: str,
        key: str,
        files: Sequence[str],
        make: Callable[..., None],
        warned: Sequence[str],
    ) -> dict[str, Any]:
        start = time.perf_counter()
        targets = [self.path / file for file in files]
        for target in targets:
            target.parent.mkdir(parents=True, exist_ok=True)
        with warnings.catch_warnings(record=True) as caught, atomic(*targets) as temporary:
            warnings.simplefilter("always", BayesBiasWarning)
            make(*temporary)
        seconds = time.perf_counter() - start
        self._plan.end(name, seconds)
        texts = [str(one.message) for one in caught if issubclass(one.category, BayesBiasWarning)]
        for one in caught:
            if not issubclass(one.category, BayesBiasWarning):
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        return {
            "key": key,
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(seconds, 2),
            "warnings": [*warned, *texts],
            "files": {file: file_hash(target) for file, target in zip(files, targets, strict=True)},
        }

    def _copy(self, record: Mapping[str, Any], files: Sequence[str]) -> None:
        """Put the files of a step where they belong now."""
        targets = [self.path / file for file in files]
        for target in targets:
            target.parent.mkdir(parents=True, exist_ok=True)
        with atomic(*targets) as temporary:
            for source, target in zip(record["files"], temporary, strict=True):
                shutil.copyfile(self.path / source, target)

    @classmethod
    def reopen(cls, path: Path) -> Folder:
        """Return the folder of an audit that is done, to have its report written again."""
        record = read_record(path)
        about = {key: value for key, value in record.items() if key not in _OWN}
        folder = cls(path, about, force=True)
        folder._done = [name for name in record["steps"] if name != REPORT_STEP.name]
        return folder

    def report(self, make: Callable[[Path], None]) -> None:
        """Have the report written, after all steps, unless it is there; nothing else is left.

        Raises
        ------
        DataError
            If a file is not as its step left it: the report would be about something else.
        """
        _check_files(self.path, (self._steps[name]["files"] for name in self._done))
        self._settle()
        # The files too: those of a step that was repeated may differ, such as by fonts.
        made = {name: [self._steps[name][of] for of in ("key", "files")] for name in self._done}
        inputs = {"about": self._about, "steps": made}
        self.step(REPORT_STEP.name, inputs, REPORT_STEP.paths(), make)

    def _settle(self) -> None:
        """Leave the files of this audit only; those of others, and those edited, stay."""
        steps = {name: self._steps[name] for name in self._done}
        if REPORT_STEP.name in self._steps:
            steps[REPORT_STEP.name] = self._steps[REPORT_STEP.name]
        wanted = {file for record in steps.values() for file in record["files"]}
        for record in self._steps.values():
            for file, digest in record["files"].items():
                path = self.path / file
                if file not in wanted and file_hash(path) == digest:
                    path.unlink()
                    self._tidy(path.parent)
        for file in wanted:
            # What a process that was killed had begun to write.
            path = self.path / file
            for stray in path.parent.glob(f".{path.name}.*"):
                stray.unlink()
        self._steps = steps
        self._write()
        shutil.rmtree(self.path / PARTS, ignore_errors=True)

    def _tidy(self, folder: Path) -> None:
        while folder != self.path:
            with suppress(OSError):  # it holds something else
                folder.rmdir()
            folder = folder.parent

    def _write(self) -> None:
        record = {"schema": SCHEMA, "bayesbias": __version__, **self._about, "steps": self._steps}
        with atomic(self.path / RECORD) as (temporary,):
            text = json.dumps(record, ensure_ascii=False, indent=1)
            temporary.write_text(text + "\n", "utf-8", newline="\n")


class PartFolder(Folder):
    """The folder of an audit, in a process that does one of its parts.

    Files are written to where they belong. The steps are recorded in a file of the part, which the
    process that runs the audit takes over with `Folder.adopt`: it alone writes the record.

    Parameters
    ----------
    path : Path
        The folder of the audit.
    place : str
        Where in it the part is.
    holder : str
        What the lock of the folder says for as long as the audit runs.
    force : bool
        Whether steps of earlier audits are done again.
    """

    def __init__(self, path: Path, place: str, holder: str, *, force: bool) -> None:
        self.path = path
        self._place, self._holder = place, holder
        self._force, self._adopted = False, set()
        self._plan = StepPlan({}, {})
        self._done = []
        self._own = path / part_record(place)
        earlier = {} if force else read_record(path)["steps"]
        # Those of a process that was lost in the middle of this part are done.
        self._steps = earlier | read_part_record(path, self._own)

    def step(
        self,
        name: str,
        inputs: Mapping[str, Any],
        files: Sequence[str],
        make: Callable[..., None],
        *,
        warned: Sequence[str] = (),
        seconds: Callable[[], float | None] | None = None,
    ) -> str:
        """Do a step unless it is done, and return its key; nothing if the audit has ended."""

        def checked(*paths: Path) -> None:
            make(*paths)
            self._check_goes_on()  # before the files get their names

        self._check_goes_on()
        return super().step(name, inputs, files, checked, warned=warned, seconds=seconds)

    def _check_goes_on(self) -> None:
        if holder_of(self.path) != self._holder:
            raise ClusterError(
                f"{self.path}: the audit that this part belongs to has ended, or another one has "
                "begun."
            )

    def _write(self) -> None:
        steps = {name: self._steps[name] for name in self._done}
        make_folder(self._own.parent)
        with atomic(self._own) as (temporary,):
            temporary.write_text(json.dumps({"steps": steps}, ensure_ascii=False), "utf-8")


def _times(steps: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return how long recorded steps took, where the record says so."""
    times = {name: step.get("seconds") for name, step in steps.items()}
    return {name: float(time) for name, time in times.items() if isinstance(time, float | int)}


def holder_of(path: Path) -> str:
    """Return what the lock of a folder says; nothing if there is none."""
    try:
        return (path / LOCK).read_text("utf-8")
    except OSError:
        return ""
