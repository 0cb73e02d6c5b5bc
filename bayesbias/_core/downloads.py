"""Files from the network: a cache, SHA-256, resumed downloads, mirrors."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import sys
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from bayesbias._core.files import atomic, file_sha256, make_folder, to_disk
from bayesbias._core.locks import locked
from bayesbias._core.progress import progress_bar
from bayesbias.errors import DataError, SpecError

#: The folder of the cache, and servers that are asked before the sources themselves.
CACHE_VARIABLE, MIRROR_VARIABLE = "BAYESBIAS_CACHE", "BAYESBIAS_MIRROR"

_CHUNK = 1 << 20
# Seconds without an answer, and how often a download that breaks off is taken up again.
_PATIENCE, _ATTEMPTS = 30.0, 4
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class RemoteFile:
    """A file that can be downloaded by its name.

    Attributes
    ----------
    name : str
        What it is asked for by.
    kind : {"embedding", "table", "similarity", "analogies"}
        What it holds.
    filename : str
        Its name in the cache, and on mirrors.
    urls : tuple of str
        Where it is, the best place first.
    licence : str
        Its licence, or what is known of it.
    source : str
        Who published it.
    sha256 : str, optional
        Its hash, where one is known.
    member : str, optional
        The file within, if it is a ZIP archive.
    """

    name: str
    kind: str
    filename: str
    urls: tuple[str, ...]
    licence: str
    source: str
    sha256: str | None = None
    member: str | None = None


class _BrokenOff(Exception):
    """The connection ended before the file did."""


@dataclass
class _Partial:
    """What has been downloaded of a file so far, and which version of it that is."""

    path: Path
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def note(self) -> Path:
        return self.path.with_name(f"{self.path.name}.json")

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.is_file() else 0

    def load(self) -> None:
        with suppress(OSError, ValueError):
            facts = json.loads(self.note.read_text("utf-8"))
            self.facts = facts if isinstance(facts, dict) else {}

    def save(self, **facts: Any) -> None:
        self.facts = facts
        self.note.write_text(json.dumps(facts), "utf-8")

    def drop(self) -> None:
        for path in (self.path, self.note):
            path.unlink(missing_ok=True)
        self.facts = {}


def cache_folder() -> Path:
    """Return where downloaded files are kept: by the environment, or as the system has it."""
    given = os.environ.get(CACHE_VARIABLE, "").strip()
    if given:
        return Path(given).expanduser()
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "bayesbias"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "bayesbias"
    return Path(os.environ.get("XDG_CACHE_HOME", "").strip() or home / ".cache") / "bayesbias"


def check_sha256(value: str | None) -> str | None:
    """Return a hash in lower case, or say what it should look like."""
    if value is None:
        return None
    text = value.strip().lower() if isinstance(value, str) else ""
    if not _SHA256.fullmatch(text):
        raise SpecError(f"'sha256' is {value!r}; expected 64 hexadecimal digits.")
    return text


def fetch(remote: RemoteFile, *, sha256: str | None = None, progress: bool = True) -> Path:
    """Return a file of the cache, downloaded if it is not there yet.

    A file whose hash we know must have it. Of another, the hash is recorded when it is first seen,
    and every later download must have the same.

    Parameters
    ----------
    remote : RemoteFile
        Which file.
    sha256 : str, optional
        The hash that it must have, instead of the one that is known or recorded.
    progress : bool, default True
        Show a progress bar.

    Raises
    ------
    DataError
        If it cannot be downloaded, or has another hash.
    """
    given = check_sha256(sha256)
    folder = cache_folder()
    target = folder / remote.filename
    # What is as it was left needs neither a lock nor permission to write: a cache may be shared.
    if given is None and _is_untouched(remote, target):
        return target if remote.member is None else _member(target, remote.member, progress)
    make_folder(folder)
    with locked(target):
        if not target.is_file():
            _download(remote, target, _expected(remote, target, given), progress)
        _check_cached(remote, target, given)
    return target if remote.member is None else _member(target, remote.member, progress)


def cached(remote: RemoteFile) -> bool:
    """Return whether the cache has a file."""
    return (cache_folder() / remote.filename).is_file()


def recorded_sha256(remote: RemoteFile) -> str | None:
    """Return the hash that was recorded when a file was first seen."""
    return _recorded(cache_folder() / remote.filename)


def _expected(remote: RemoteFile, target: Path, given: str | None) -> str | None:
    """Return the hash that a file must have: given, accepted before, known, or seen first."""
    record = _record(target)
    accepted = record.get("sha256") if record.get("accepted") else None
    return given or accepted or remote.sha256 or record.get("sha256")


def _record_path(target: Path) -> Path:
    return target.with_name(f"{target.name}.sha256.json")


def _record(target: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        record = json.loads(_record_path(target).read_text("utf-8"))
        if isinstance(record, dict) and _SHA256.fullmatch(str(record.get("sha256"))):
            return record
    return {}


def _recorded(target: Path) -> str | None:
    return _record(target).get("sha256")


def _is_untouched(remote: RemoteFile, target: Path) -> bool:
    """Return whether the cache has a file that was checked, and nobody has changed since."""
    record = _record(target)
    if not record or not target.is_file():
        return False
    return _is_same(record, target) and record["sha256"] == _expected(remote, target, None)


def _is_same(record: Mapping[str, Any], target: Path) -> bool:
    state = target.stat()
    return (record.get("bytes"), record.get("changed")) == (state.st_size, state.st_mtime_ns)


def _check_cached(remote: RemoteFile, target: Path, given: str | None) -> None:
    """Check the hash of a file of the cache; one that has not been touched is not read again."""
    record = _record(target)
    expected = _expected(remote, target, given)
    same = _is_same(record, target)
    actual = record["sha256"] if same else file_sha256(target)
    if expected is not None and actual != expected:
        raise DataError(_other_hash(remote, target, expected, actual))
    if not same or given is not None:
        _write_record(target, actual, accepted=bool(given or record.get("accepted")))


def _write_record(target: Path, digest: str, *, accepted: bool) -> None:
    state = target.stat()
    record = {
        "sha256": digest,
        "bytes": state.st_size,
        "changed": state.st_mtime_ns,
        "accepted": accepted,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    with atomic(_record_path(target)) as (temporary,):
        temporary.write_text(json.dumps(record, indent=1), "utf-8")


def _other_hash(remote: RemoteFile, path: Path, expected: str, actual: str) -> str:
    return (
        f"{remote.name}: {path.name} has the SHA-256 {actual}, and {expected} was expected: it is "
        "damaged, or another version. If you know that it is right, accept it: bayesbias download "
        f"{remote.name} --sha256 {actual}. Otherwise remove {path} if it is there, and download it "
        "again."
    )


def mirrors(filename: str) -> Iterator[str]:
    """Yield the addresses of a file on the mirrors that the environment names."""
    for base in os.environ.get(MIRROR_VARIABLE, "").split():
        if urlsplit(base).scheme not in ("http", "https", "file"):
            raise SpecError(
                f"the environment variable {MIRROR_VARIABLE} has {base!r}; expected addresses that "
                "begin with https://, http:// or file://, separated by spaces."
            )
        yield f"{base.rstrip('/')}/{filename}"


def _download(remote: RemoteFile, target: Path, expected: str | None, progress: bool) -> None:
    """Download a file under a temporary name, check it, and rename it."""
    partial = _Partial(target.with_name(f".{target.name}.part"))
    partial.load()
    problems = []
    for url in (*mirrors(remote.filename), *remote.urls):
        try:
            _from_one_place(remote, url, partial, expected, progress)
        except (_BrokenOff, OSError, http.client.HTTPException) as err:
            problems.append(f"{url}: {_reason(err)}")
            continue
        digest = file_sha256(partial.path)
        if expected is not None and digest != expected:
            partial.drop()
            problems.append(_other_hash(remote, target, expected, digest))
            continue
        to_disk(partial.path)
        os.replace(partial.path, target)
        partial.drop()
        to_disk(target.parent)
        _write_record(target, digest, accepted=bool(_record(target).get("accepted")))
        return
    kept = f" {partial.size:,} bytes are kept, and it will continue there." if partial.size else ""
    raise DataError(
        f"{remote.name!r} could not be downloaded. {'; '.join(problems)}.{kept} Without a network, "
        f"put {remote.filename} into {target.parent}, or set {MIRROR_VARIABLE} to the address of a "
        "folder that has it."
    )


def _reason(err: Exception) -> str:
    if isinstance(err, HTTPError):
        return f"the server answers {err.code} ({err.reason})"
    if isinstance(err, URLError):
        return f"no connection ({err.reason})"
    if isinstance(err, TimeoutError):
        return "no answer in time"
    return str(err) or type(err).__name__


def _from_one_place(
    remote: RemoteFile, url: str, partial: _Partial, expected: str | None, progress: bool
) -> None:
    """Download from one address; if the connection breaks off, continue where it did."""
    for attempt in range(_ATTEMPTS):
        before = partial.size
        try:
            _transfer(remote, url, partial, expected, progress)
            return
        except HTTPError as err:
            if err.code != 416 or not partial.size:
                raise
            partial.drop()  # what is here is not the beginning of what is there
        except (_BrokenOff, ConnectionError, TimeoutError, http.client.HTTPException):
            # What never brings anything new will not do so the next time either.
            if attempt == _ATTEMPTS - 1 or partial.size <= before:
                raise
    raise _BrokenOff("the server does not send the file")


def _transfer(
    remote: RemoteFile, url: str, partial: _Partial, expected: str | None, progress: bool
) -> None:
    """Add to a partial file what the server sends, or begin again if it has another version."""
    request = Request(url, headers={"User-Agent": "bayesbias", "Accept-Encoding": "identity"})
    version = partial.facts.get("version") if partial.facts.get("url") == url else None
    start = partial.size if version or (expected and partial.facts) else 0
    if start:
        request.add_header("Range", f"bytes={start}-")
        if version:
            request.add_header("If-Range", version)
    with urlopen(request, timeout=_PATIENCE) as answer:
        _check_answer(remote, url, answer, expected)
        ranged = re.match(rf"bytes {start}-", answer.headers.get("Content-Range") or "")
        if start and not (answer.status == 206 and ranged):
            start = 0
        length = answer.headers.get("Content-Length")
        total = start + int(length) if length else None
        _check_room(partial.path.parent, total, start)
        partial.save(url=url, version=_version(answer.headers))
        with (
            partial.path.open("ab" if start else "wb") as out,
            progress_bar(f"downloading {remote.name}", total=total, show=progress) as advance,
        ):
            advance(start)
            received = start + _copy(answer, out, advance)
    if total is not None and received < total:
        raise _BrokenOff(f"the connection ended after {received:,} of {total:,} bytes")


def _copy(stream: Any, out: IO[bytes], advance: Any) -> int:
    received = 0
    while chunk := stream.read(_CHUNK):
        out.write(chunk)
        received += len(chunk)
        advance(len(chunk))
    return received


def _version(headers: Any) -> str | None:
    """Return what tells one version of a file from another; a weak tag does not."""
    tag = headers.get("ETag")
    if tag and not tag.startswith("W/"):
        return str(tag)
    changed = headers.get("Last-Modified")
    return str(changed) if changed else None


def _check_answer(remote: RemoteFile, url: str, answer: Any, expected: str | None) -> None:
    """Refuse a page instead of the file, and an address without encryption if no hash is known."""
    if "text/html" in (answer.headers.get("Content-Type") or ""):
        raise _BrokenOff(f"the server sends a page and not {remote.filename}")
    if expected is None and urlsplit(url).scheme == "https" != urlsplit(answer.geturl()).scheme:
        raise _BrokenOff(
            f"the server leads to {answer.geturl()}, which is not encrypted, and no SHA-256 is "
            "known; give it"
        )


def _check_room(folder: Path, total: int | None, start: int) -> None:
    free = shutil.disk_usage(folder).free
    if total is not None and total - start > free:
        raise DataError(
            f"{folder} has room for {free:,} bytes, and the file needs {total - start:,}; make "
            f"room, or set {CACHE_VARIABLE} to another folder."
        )


def _member(archive: Path, member: str, progress: bool) -> Path:
    """Return a file of a ZIP archive, unpacked beside it; its checksum is in the archive."""
    target = archive.with_name(f"{archive.name}.{member.rpartition('/')[2]}")
    try:
        with zipfile.ZipFile(archive) as opened:
            info = opened.getinfo(member)
            if target.is_file() and target.stat().st_size == info.file_size:
                return target
            with (
                atomic(target) as (temporary,),
                opened.open(info) as stream,
                temporary.open("wb") as out,
                progress_bar(f"unpacking {member}", total=info.file_size, show=progress) as advance,
            ):
                _copy(stream, out, advance)
    except KeyError as err:
        raise DataError(f"{archive} has no file {member!r}; remove it, and try again.") from err
    except zipfile.BadZipFile as err:
        raise DataError(f"{archive} is damaged ({err}); remove it, and try again.") from err
    return target
