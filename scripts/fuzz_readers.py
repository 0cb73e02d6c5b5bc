"""Damage files at random, read them, and count what is not one clear error.

``python scripts/fuzz_readers.py --seconds 120`` makes a small file for each reader, and changes it:
flipped bits, missing and repeated parts; in JSON and TOML also values of other types, missing keys,
deep nesting and enormous numbers. Each reader runs in a process with limits of memory and time. A
file must be read, without values that are not finite, or refused by an error of bayesbias; anything
else is counted, and the file is kept with ``--keep FOLDER``.
"""

from __future__ import annotations

import argparse
import io
import json
import multiprocessing
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayesbias as bb
from bayesbias.errors import BayesBiasError

#: Of a process that reads: seconds for one file, and bytes of memory besides those at the start.
SECONDS = 20.0
MEMORY = 3 << 30
Mutation = Callable[[bytes, random.Random], bytes]

WORDS = ["he", "she", "nurse", "engineer", "Öl", "clock", "tree", "seven"]
_STUDY = """name = "jobs"
[groups]
man = ["he", "king"]
woman = ["she", "queen"]
[stereotypes]
man = ["engineer"]
woman = ["nurse"]
[controls]
neutral = ["clock", "tree"]
"""
_MODEL = """name = "mine"
likelihood = "normal"
mean = ["co"]
scale = "sigma"
[parameters.co]
by = ["connection"]
prior = "Normal(1, 0.3)"
[parameters.sigma]
prior = "HalfNormal(0.5)"
"""


@dataclass
class Reader:
    """What reads a kind of file, and how files of it are made and damaged."""

    name: str
    file: str
    make: Callable[[Path], None]
    read: Callable[[Path], Any]
    mutations: tuple[Mutation, ...]


@dataclass
class Row:
    """What a reader did with damaged files."""

    reader: str
    files: int = 0
    read: int = 0
    refused: int = 0
    faults: Counter[str] = field(default_factory=Counter)


# Damage of any file


def flip(data: bytes, rng: random.Random) -> bytes:
    """Flip some bits."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def flip_early(data: bytes, rng: random.Random) -> bytes:
    """Flip bits of the beginning, where headers are."""
    size = min(len(data), rng.choice((32, 128, 1024)))
    return flip(data[:size], rng) + data[size:]


def numbers(data: bytes, rng: random.Random) -> bytes:
    """Put the extremes of a number in some place."""
    size = rng.choice((1, 2, 4, 8))
    value = rng.choice((b"\xff", b"\x00", b"\x7f", b"\x80")) * size
    if rng.random() < 0.5:
        value = rng.choice(([1, 0, 0, 0, 0, 0, 0, 0x80], [255] * 7 + [127]))[-size:]  # type: ignore[assignment]
    place = rng.randrange(max(1, min(len(data), rng.choice((64, 512, 1 << 20)))))
    return data[:place] + bytes(value) + data[place + size :]


def cut(data: bytes, rng: random.Random) -> bytes:
    """Leave out the end, or a part."""
    start = rng.randrange(len(data) + 1)
    return data[:start] + (data[start + rng.randrange(64) :] if rng.random() < 0.5 else b"")


def splice(data: bytes, rng: random.Random) -> bytes:
    """Repeat a part in another place, or over another part."""
    start, place = rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)
    part = data[start : start + rng.choice((1, 8, 64, 512))]
    return data[:place] + part + data[place + (len(part) if rng.random() < 0.5 else 0) :]


BYTES: tuple[Mutation, ...] = (flip, flip_early, numbers, cut, splice)


# Damage of what is written in a language


_VALUES: tuple[Callable[[random.Random], Any], ...] = (
    lambda rng: None,
    lambda rng: True,
    lambda rng: rng.choice((0, -1, 2**63, 2**64, 1e308, 0.5)),
    lambda rng: rng.choice(("", "a", "x" * 100_000, "../outside", "/etc/passwd", "\0", "{of}")),
    lambda rng: [],
    lambda rng: {},
    lambda rng: [rng.choice(("a", 1, None, [], {}))],
    lambda rng: {"a": rng.choice(("a", 1, None, [], {}))},
)


def change_tree(data: Any, rng: random.Random) -> Any:
    """Change a value somewhere in plain data: another type, a key less, a key more."""
    places: list[tuple[Any, Any]] = []
    left = [data]
    while left:
        item = left.pop()
        keys: Any = item if isinstance(item, dict) else range(len(item))
        for key in keys:
            places.append((item, key))
            if isinstance(item[key], dict | list):
                left.append(item[key])
    if not places:
        return rng.choice(_VALUES)(rng)
    # Places near the root matter most, and are few.
    inner, key = places[int(len(places) * rng.random() ** 3)]
    what = rng.random()
    if what < 0.25:
        del inner[key]
    elif what < 0.35 and isinstance(inner, dict):
        inner[rng.choice(("", "a", "prior", "by"))] = inner[key]
    else:
        inner[key] = rng.choice(_VALUES)(rng)
    return data


# What is larger holds something enormous, which this process had better not parse.
_SMALL = 1_000_000


def _small(data: bytes) -> bytes:
    if len(data) > _SMALL or b"a.a.a.a" in data:
        raise ValueError("enormous")
    return data


def json_tree(data: bytes, rng: random.Random) -> bytes:
    """Change values of a JSON file."""
    tree = json.loads(_small(data))
    for _ in range(rng.choice((1, 1, 2, 4))):
        if isinstance(tree, dict | list):
            tree = change_tree(tree, rng)
    return json.dumps(tree).encode()


def toml_tree(data: bytes, rng: random.Random) -> bytes:
    """Change values of a TOML file, which is written as JSON values of dotted keys."""
    import tomllib

    tree = change_tree(tomllib.loads(_small(data).decode()), rng)
    return _toml(tree if isinstance(tree, dict) else {"a": tree}).encode()


def _toml(tree: dict[str, Any], prefix: str = "") -> str:
    lines, tables = [], []
    for key, value in tree.items():
        name = json.dumps(key)
        if isinstance(value, dict):
            inner = f"{prefix}{name}"
            tables.append(f"[{inner}]\n{_toml(value, inner + '.')}")
        elif value is not None:
            text = json.dumps(value) if not isinstance(value, list) else _array(value)
            lines.append(f"{name} = {text}")
    return "\n".join([*lines, *tables]) + "\n"


def _array(values: list[Any]) -> str:
    shown = (json.dumps(value) for value in values if not isinstance(value, dict | type(None)))
    return f"[{', '.join(shown)}]"


def enormous(data: bytes, rng: random.Random) -> bytes:
    """Put something enormous in the place of a value or at the end."""
    size = rng.choice((5_000, 100_000))
    what = rng.choice(
        (
            b"9" * size,
            b"0x" + b"f" * size,
            b"[" * size,
            b'{"a":' * size,
            b".".join([b"a"] * size) + b" = 1",
            b"[" + b".".join([b"a"] * size) + b"]",
            b"1e" + b"9" * 400,
            b'"' + b"w" * size + b'"',
        )
    )
    places = [i for i, byte in enumerate(data) if byte in b"=:\n,"] or [len(data)]
    place = rng.choice(places) + 1
    return data[:place] + what + (data[place:] if rng.random() < 0.5 else b"\n")


TOML: tuple[Mutation, ...] = (flip, cut, splice, toml_tree, toml_tree, toml_tree, enormous)
JSON: tuple[Mutation, ...] = (flip, cut, splice, json_tree, json_tree, json_tree, enormous)


def in_member(mutation: Mutation) -> Mutation:
    """Damage a member of an archive, whose checksums are then right."""

    def damage(data: bytes, rng: random.Random) -> bytes:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        name = rng.choice(list(members))
        members[name] = mutation(members[name], rng)
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        return target.getvalue()

    return damage


# The readers


def _embedding() -> bb.Embedding:
    vectors = np.random.default_rng(0).standard_normal((len(WORDS), 5)).astype("float32")
    return bb.Embedding(WORDS, vectors, "small")


def _load(path: Path) -> Any:
    return np.asarray(bb.load_embedding(path, progress=False).vectors)


def _fasttext(path: Path) -> None:
    from gensim.models import FastText
    from gensim.models.fasttext import save_facebook_model

    model = FastText(vector_size=4, min_count=1, bucket=20, epochs=1)
    model.build_vocab([WORDS])
    model.train([WORDS], total_examples=1, epochs=1)
    save_facebook_model(model, str(path))


def _table() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = bb.Study(
            "jobs",
            {"man": ["he"], "woman": ["she"]},
            {"man": ["engineer"], "woman": ["nurse"]},
            {"neutral": ["clock", "tree"]},
        )
        return bb.distance_table(_embedding(), study)


def _fit(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("weat_7"))
        bb.fit(table, "connection", draws=50, seed=0, progress=False).save(path)


def _read_fit(path: Path) -> Any:
    fit = bb.load_fit(path)
    fit.contrasts()
    return np.concatenate([values.to_numpy().ravel() for values in fit.posterior.values()])


def _audit(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bb.audit(
            "demo",
            "religion",
            out=path.parent / "audit-seed",
            models=["connection", "hierarchical"],
            metrics="mac",
            draws=100,
            confirm=False,
            silhouettes=False,
            progress=False,
        )
    shutil.copy(path.parent / "audit-seed" / "audit.json", path)


def _read_audit(path: Path) -> None:
    """Read an audit whose record is the file; the other files are whole."""
    from bayesbias.auditing.audit_run import write_report

    folder = path.parent / "audit-seed"
    shutil.copy(path, folder / "audit.json")
    audit = bb.Audit(folder)
    audit.summary()
    repr(audit)
    write_report(folder, path.parent / "page.html")


def _write(text: str) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_text(text, "utf-8")

    return write


def _vocabulary(path: Path) -> None:
    _embedding().save(path)
    path.with_suffix(".vocab.txt").write_text("\n".join(WORDS) + "\n", "utf-8")


def _parquet_lists(path: Path) -> None:
    """Write lists without a fixed length, as pandas and most other programs do."""
    emb = _embedding()
    pd.DataFrame({"word": emb.words, "vector": emb.vectors.tolist()}).to_parquet(path)


READERS = [
    Reader("npy", "a.npy", _vocabulary, _load, BYTES),
    Reader("npz", "a.npz", lambda p: _embedding().save(p), _load, (*BYTES, *map(in_member, BYTES))),
    Reader("safetensors", "a.safetensors", lambda p: _embedding().save(p), _load, BYTES),
    Reader("word2vec", "a.bin", lambda p: _embedding().save(p), _load, BYTES),
    Reader("text", "a.vec", lambda p: _embedding().save(p), _load, BYTES),
    Reader("text gz", "a.vec.gz", lambda p: _embedding().save(p), _load, BYTES),
    Reader("csv", "a.csv", lambda p: _embedding().save(p), _load, BYTES),
    Reader("tsv gz", "a.tsv.gz", lambda p: _embedding().save(p), _load, BYTES),
    Reader("jsonl", "a.jsonl", lambda p: _embedding().save(p), _load, BYTES),
    Reader("parquet", "a.parquet", lambda p: _embedding().save(p), _load, BYTES),
    Reader("parquet lists", "l.parquet", _parquet_lists, _load, BYTES),
    Reader("fasttext", "ft.bin", _fasttext, _load, BYTES),
    Reader(
        "table csv",
        "t.csv",
        lambda p: bb.write_table(_table(), p),
        lambda p: bb.read_table(p)["cosine_distance"].to_numpy(),
        BYTES,
    ),
    Reader(
        "table parquet",
        "t.parquet",
        lambda p: bb.write_table(_table(), p),
        lambda p: bb.read_table(p)["cosine_distance"].to_numpy(),
        BYTES,
    ),
    Reader("study", "s.toml", _write(_STUDY), bb.load_study, TOML),
    Reader(
        "study json",
        "s.json",
        lambda p: _write(json.dumps(bb.load_study("religion").to_dict()))(p),
        bb.load_study,
        JSON,
    ),
    Reader("model", "m.toml", _write(_MODEL), bb.load_model, TOML),
    Reader("fit", "f.nc", _fit, _read_fit, BYTES),
    Reader("audit", "audit.json", _audit, _read_audit, JSON),
]


def serve(reader: Reader, path: Path, connection: Connection) -> None:
    """Read the file each time it is asked for; answer what happened."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.dup2(devnull, 2)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    warnings.simplefilter("ignore")
    while connection.recv():
        connection.send(attempt(reader, path))


def attempt(reader: Reader, path: Path) -> str:
    """Return "read", "refused", or what is wrong."""
    try:
        values = reader.read(path)
    except BayesBiasError as err:
        return "refused" if len(str(err)) < 10_000 else "a message of over 10,000 characters"
    except Exception as err:
        frame = traceback.extract_tb(err.__traceback__)
        ours = [one for one in frame if f"{os.sep}bayesbias{os.sep}" in one.filename] or frame
        return f"{type(err).__name__} ({Path(ours[-1].filename).name}, line {ours[-1].lineno})"
    if isinstance(values, np.ndarray) and not np.isfinite(values).all():
        return "values that are not finite"
    return "read"


class Process:
    """A process that reads files; a new one after each that hangs or is killed."""

    def __init__(self, reader: Reader, path: Path) -> None:
        self._reader, self._path = reader, path
        self._begin()

    def _begin(self) -> None:
        context = multiprocessing.get_context("fork")
        self._here, there = context.Pipe()
        self._process = context.Process(
            target=serve, args=(self._reader, self._path, there), daemon=True
        )
        self._process.start()
        there.close()

    def ask(self) -> str:
        """Return what happened to the file."""
        try:
            self._here.send(True)
            if self._here.poll(SECONDS):
                return str(self._here.recv())
            what = f"takes over {SECONDS:.0f} s"
        except (EOFError, OSError):
            self._process.join()
            what = f"ends the process ({self._process.exitcode})"
        self.end()
        self._begin()
        return what

    def end(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.join()


def fuzz(
    reader: Reader, seconds: float, seed: int, keep: Path | None, files: float = np.inf
) -> Row:
    """Damage files for some seconds, or until there were so many."""
    row, rng = Row(reader.name), random.Random(f"{seed} {reader.name}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / reader.file
        reader.make(path)
        whole = path.read_bytes()
        process = Process(reader, path)
        first = process.ask()
        if first != "read":
            row.faults[f"the whole file: {first}"] += 1
        end = time.monotonic() + seconds
        while time.monotonic() < end and row.files < files:
            data = whole
            for _ in range(rng.choice((1, 1, 1, 2, 3))):
                try:
                    data = rng.choice(reader.mutations)(data, rng)
                except Exception:
                    continue  # it is no longer of the kind that this changes
            path.write_bytes(data)
            row.files += 1
            what = process.ask()
            row.read += what == "read"
            row.refused += what == "refused"
            if what not in ("read", "refused"):
                row.faults[what] += 1
                if keep is not None and row.faults[what] == 1:
                    name = f"{reader.name} {row.files} {what}".replace("/", "-")[:80]
                    (keep / f"{name}{path.suffix}").write_bytes(data)
        process.end()
    return row


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120, help="for each reader")
    parser.add_argument("--files", type=float, default=np.inf, help="at most, for each reader")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for one file of each fault")
    names = [reader.name for reader in READERS]
    parser.add_argument("--reader", action="append", choices=names, help="by default all")
    given: Any = parser.parse_args(arguments)
    if given.keep is not None:
        given.keep.mkdir(parents=True, exist_ok=True)
    print(f"{'reader':16}{'files':>9}{'read':>9}{'refused':>9}{'faults':>9}", flush=True)
    faults = 0
    for reader in READERS:
        if given.reader and reader.name not in given.reader:
            continue
        row = fuzz(reader, given.seconds, given.seed, given.keep, given.files)
        total = row.faults.total()
        print(f"{row.reader:16}{row.files:9,}{row.read:9,}{row.refused:9,}{total:9,}")
        for what, number in row.faults.most_common():
            print(f"  {number:,} × {what}")
        sys.stdout.flush()
        faults += total
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
