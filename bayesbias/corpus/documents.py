"""Files of text or JSON lines, of any size, plain or compressed, read piece by piece."""

from __future__ import annotations

import bz2
import codecs
import glob
import gzip
import json
import lzma
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import IO, Literal, Protocol, cast

from bayesbias._core.wording import did_you_mean, kind_of, quoted
from bayesbias.errors import DataError, NotFoundError, SpecError, warn

Unit = Literal["line", "paragraph"]
UNITS: tuple[Unit, ...] = ("line", "paragraph")

#: Corpora that come with the package.
NAMED = {"demo": Path(__file__).parent / "data" / "austen.txt.bz2"}
#: The most characters of one document; longer ones are cut at a space.
LONGEST = 50_000

_BLOCK = 1 << 20
_FIRST_BLOCK = 1 << 16
# How compressed files begin; "BZh" alone could begin a text.
_MAGIC = {
    "gzip": re.compile(rb"\x1f\x8b"),
    "bzip2": re.compile(rb"BZh[1-9](?:1AY&SY|\x17\x72\x45\x38\x50\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
}
_PACKED = (".gz", ".bz2", ".xz", ".zst")
_TEXT = (".txt", ".text")
_JSON = (".jsonl", ".ndjson")
# A line of JSON has to be read as a whole; a longer one is hardly a document.
_LONGEST_RECORD = 1 << 28
# zlib and xz have errors of their own; gzip, bzip2 and pyarrow raise OSError.
_DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError)
# Hard-wrapped text: many lines, none long, most not short, with blank lines between paragraphs.
_WRAPPED_LINES, _WRAPPED_WIDTH, _WRAPPED_MEAN = 100, 100, 40


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class TextFiles:
    """Text files as one stream of documents, read again at every iteration."""

    paths: tuple[Path, ...]
    unit: Unit
    field: str | None = None
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        if self.field is not None and (not isinstance(self.field, str) or not self.field):
            raise SpecError(f"'field' is {self.field!r}; expected the name of a field, or None.")
        try:
            " ".encode(self.encoding)  # of an empty text, no encoding is looked up
        except (LookupError, TypeError) as err:
            raise SpecError(
                f"'encoding' is {self.encoding!r}; expected one that Python knows, such as "
                "'utf-8', 'latin-1' or 'utf-16'."
            ) from err

    @property
    def size(self) -> int:
        """The bytes of the files on disk."""
        return sum(path.stat().st_size for path in self.paths)

    def __iter__(self) -> Iterator[str]:
        return self.read(lambda amount: None)

    def read(self, advance: Callable[[float], None]) -> Iterator[str]:
        """Yield the documents; `advance` is called with the number of bytes read."""
        for path in self.paths:
            for text in self._texts(path, advance):
                if len(text) <= LONGEST:
                    yield text
                else:
                    yield from cut(text)

    def _texts(self, path: Path, advance: Callable[[float], None]) -> Iterator[str]:
        """Yield the documents of a file, however long they are."""
        if self.field is None:
            chunks = _chunks(path, advance, encoding=self.encoding)
            lines = (line for chunk in chunks for line in _split(chunk))
            yield from paragraphs(lines) if self.unit == "paragraph" else lines
            return
        chunks = _chunks(path, advance, encoding=self.encoding, whole_lines=True)
        # JSON writes the line breaks of a text as \n, so that each line holds one record.
        records = (line for chunk in chunks for line in chunk.removesuffix("\n").split("\n"))
        for number, record in enumerate(records, 1):
            if not record or record.isspace():
                continue
            text = _text_of(record, self.field, f"{path}, line {number:,}")
            yield from paragraphs(_split(text)) if self.unit == "paragraph" else [text]

    def check(self) -> None:
        """Look at the start of every file: refuse what is no text, warn of hard-wrapped lines."""
        wrapped = []
        empty = True
        for path in self.paths:
            if self.field is not None:
                first = next(self._texts(path, lambda amount: None), None)
                empty = empty and first is None
                continue
            _refuse_json(path)
            chunks = _chunks(path, lambda amount: None, _FIRST_BLOCK, encoding=self.encoding)
            start = "".join(islice(chunks, 2))
            empty = empty and not start
            if self.unit == "line" and _is_hard_wrapped(_split(start)):
                wrapped.append(str(path))
        if empty:
            raise DataError(f"no text in {quoted(map(str, self.paths), 3)}: empty.")
        if wrapped:
            warn(
                f"the lines of {quoted(wrapped, 3)} look hard-wrapped, so that sentences are cut "
                "at their ends; unit='paragraph' joins the lines between blank ones."
            )


def _refuse_json(path: Path) -> None:
    """Refuse a file of JSON lines of which no field is asked for."""
    if _has_name(path, _JSON):
        raise SpecError(
            f"{path}: JSON lines; give field=…, the name of the field that holds the text, such as "
            "field='text'."
        )


def _text_of(record: str, field: str, where: str) -> str:
    """Return the text in a field of a record; null is no text."""
    try:
        values = json.loads(record)
    except json.JSONDecodeError as err:
        raise DataError(f"{where}: not JSON ({err.msg}); expected one object per line.") from err
    if not isinstance(values, dict):
        raise DataError(f"{where}: a JSON {type(values).__name__}; expected one object per line.")
    if field not in values:
        raise DataError(
            f"{where}: no field {field!r}; there are {quoted(values)}.{did_you_mean(field, values)}"
        )
    text = values[field]
    if text is not None and not isinstance(text, str):
        raise DataError(f"{where}: the field {field!r} holds {kind_of(text)}; expected a text.")
    return text or ""


def find_files(source: object, *, json_lines: bool = False) -> tuple[Path, ...]:
    """Return the files that a path, a folder, a glob or several of them name, each once."""
    if isinstance(source, str | PathLike):
        paths = _find(source, json_lines)
    elif isinstance(source, Iterable):
        paths = []
        for item in source:
            if not isinstance(item, str | PathLike):
                raise SpecError(
                    f"the source holds {item!r}; expected paths. For texts in memory use "
                    "Corpus(documents)."
                )
            paths += _find(item, json_lines)
        if not paths:
            raise SpecError("the source is empty; name at least one file.")
    else:
        raise SpecError(f"the source is {source!r}; expected a path, a glob, a folder or several.")
    unique: dict[Path, Path] = {}
    for path in paths:
        unique.setdefault(path.resolve(), path)
    return tuple(unique.values())


def _find(source: str | PathLike[str], json_lines: bool) -> list[Path]:
    if isinstance(source, str) and source in NAMED:
        return [NAMED[source]]
    if not str(source):  # the path of nothing is the folder one is in
        raise SpecError("the source is ''; expected a path, a glob, a folder or several.")
    path = Path(source)
    shown = str(source)[:200]
    try:
        is_file, is_dir = path.is_file(), path.is_dir()
    except (OSError, ValueError):  # too long for a name: a text, perhaps
        is_file = is_dir = False
    if is_file:
        return [path]
    if is_dir:
        inside = (item.relative_to(path) for item in path.rglob("*") if item.is_file())
        suffixes = _JSON if json_lines else _TEXT
        paths = sorted(path / item for item in inside if _has_name(item, suffixes))
        if not paths:
            kind = "files of JSON lines" if json_lines else "text files"
            raise NotFoundError(
                f"{path}: no {kind} in the folder; expected names that end in {quoted(suffixes)}, "
                f"alone or with {quoted(_PACKED)} behind. For others give a glob, "
                f"such as {str(path / '*')!r}."
            )
        return paths
    if glob.has_magic(str(source)):
        paths = sorted(Path(name) for name in glob.glob(str(source), recursive=True))
        paths = [item for item in paths if item.is_file()]
        if not paths:
            raise NotFoundError(f"{shown!r}: no file has such a name.")
        return paths
    raise NotFoundError(
        f"{shown!r} is neither a file nor a folder. For texts in memory use Corpus(documents); the "
        "corpus that comes with the package is 'demo'."
    )


def _has_name(path: Path, suffixes: tuple[str, ...]) -> bool:
    name = path.name.lower()
    for suffix in _PACKED:
        name = name.removesuffix(suffix)
    return name.endswith(suffixes) and not any(part.startswith(".") for part in path.parts)


def paragraphs(lines: Iterable[str]) -> Iterator[str]:
    """Yield paragraphs: the lines between blank ones, joined by spaces."""
    parts: list[str] = []
    size = 0
    for line in lines:
        if not line or line.isspace():
            if parts:
                yield " ".join(parts)
                parts, size = [], 0
            continue
        parts.append(line.strip())
        size += len(line) + 1
        if size > LONGEST:  # a file without blank lines must not be collected as a whole
            yield " ".join(parts)
            parts, size = [], 0
    if parts:
        yield " ".join(parts)


def cut(text: str) -> Iterator[str]:
    """Yield pieces of a text, none longer than `LONGEST`; cut at spaces where there are any."""
    start = 0
    while len(text) - start > LONGEST:
        space = text.rfind(" ", start, start + LONGEST + 1)
        end = space if space > start else start + LONGEST
        yield text[start:end]
        start = end
    yield text[start:]


def _split(chunk: str) -> list[str]:
    if "\r" in chunk:
        chunk = chunk.replace("\r\n", "\n").replace("\r", "\n")
    return chunk.removesuffix("\n").split("\n")


def _is_hard_wrapped(lines: list[str]) -> bool:
    full = [len(line) for line in lines if line.strip()]
    return (
        len(full) >= _WRAPPED_LINES
        and len(full) < len(lines)
        and max(full) <= _WRAPPED_WIDTH
        and sum(full) >= _WRAPPED_MEAN * len(full)
    )


def _chunks(
    path: Path,
    advance: Callable[[float], None],
    block: int = _BLOCK,
    *,
    encoding: str = "utf-8",
    whole_lines: bool = False,
) -> Iterator[str]:
    """Yield a file's text in chunks of whole lines; a line longer than a block comes in pieces."""
    longest = _LONGEST_RECORD if whole_lines else block
    with _open(path) as (read_raw, tell):
        is_utf8 = codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
        read = read_raw if is_utf8 else _recode(path, read_raw, encoding)
        rest = b""
        reported = place = 0
        line = 1
        while True:
            data = read(block)
            advance(tell() - reported)
            reported = tell()
            buffer = rest + data
            end = _last_break(buffer, longest) if data else len(buffer)
            text = _decode(path, buffer[:end], place, line)
            if text:
                yield text
            if not data:
                return
            line += buffer.count(b"\n", 0, end)
            place += end
            rest = buffer[end:]


def _recode(path: Path, read: Callable[[int], bytes], encoding: str) -> Callable[[int], bytes]:
    """Return a function that reads text in another encoding, and gives it as UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)()
    place = 0

    def read_utf8(size: int) -> bytes:
        nonlocal place
        text = ""
        while not text:  # a few bytes may be less than a character
            data = read(size)
            try:
                text = decoder.decode(data, final=not data)
            except UnicodeError as err:
                raise DataError(
                    f"{path}, after byte {place:,}: not {encoding} ({err}); give the 'encoding' "
                    "it was written in."
                ) from err
            place += len(data)
            if not data:
                break
        return text.encode("utf-8", "replace")

    return read_utf8


def _last_break(buffer: bytes, block: int) -> int:
    """Return where a buffer can be cut: after a line, in a long line after a space or character."""
    end = buffer.rfind(b"\n") + 1
    if end or len(buffer) < block:
        return end
    end = buffer.rfind(b" ") + 1
    if end:
        return end
    end = len(buffer)
    while end > len(buffer) - 3 and buffer[end - 1] & 0xC0 == 0x80:  # inside a character
        end -= 1
    return end - (buffer[end - 1] >= 0xC0)


def _decode(path: Path, data: bytes, place: int, line: int) -> str:
    if place == 0:
        bom = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
        data, place = data[bom:], bom
    zero = data.find(b"\0")
    if zero >= 0:
        where = line + data.count(b"\n", 0, zero)
        raise DataError(
            f"{path}, line {where:,}, byte {place + zero:,}: a NUL byte, so this is no text in "
            "UTF-8; leave the file out, save it as UTF-8, or give its 'encoding', such as utf-16."
        )
    try:
        return data.decode()
    except UnicodeDecodeError as err:
        where = line + data.count(b"\n", 0, err.start)
        raise DataError(
            f"{path}, line {where:,}, byte {place + err.start:,}: not UTF-8; save it as UTF-8, or "
            "give its 'encoding', such as latin-1."
        ) from err


@contextmanager
def _open(path: Path) -> Iterator[tuple[Callable[[int], bytes], Callable[[], int]]]:
    """Open a file, unpacking what is compressed; yield how to read it and where on disk it is."""
    try:
        raw = path.open("rb")
    except OSError as err:
        raise DataError(f"{path}: cannot be read ({err.strerror or err}).") from err
    with raw:
        start = raw.read(10)
        raw.seek(0)
        kind = next((kind for kind, magic in _MAGIC.items() if magic.match(start)), None)

        def read(size: int) -> bytes:
            try:
                return stream.read(size)
            except _DAMAGE as err:
                if kind == "zstd" and _has_large_window(start):
                    raise DataError(
                        f"{path}: compressed with a window too large to unpack here; unpack it "
                        "first: zstd -d --long=31."
                    ) from err
                raise DataError(_damage(path, kind, raw.tell(), err)) from err

        stream = _unpack(raw, kind)
        yield read, raw.tell


def _unpack(raw: IO[bytes], kind: str | None) -> _Readable:
    if kind == "gzip":
        return gzip.GzipFile(fileobj=raw)
    if kind == "bzip2":
        return bz2.BZ2File(raw)
    if kind == "xz":
        return lzma.LZMAFile(raw)
    if kind == "zstd":
        import pyarrow as pa

        return cast(_Readable, pa.CompressedInputStream(pa.PythonFile(raw, "r"), "zstd"))
    return raw


def _has_large_window(start: bytes) -> bool:
    """Return whether a zstd frame needs a larger window than the decoder allows, 128 MB.

    After four bytes of magic the header has a descriptor, whose bit 5 says that no window follows,
    and the window: five bits of exponent and three of mantissa (RFC 8878, section 3.1.1.1).
    """
    descriptor, window = (*start[4:6], 0, 0)[:2]
    size = (8 + (window & 7)) << (7 + (window >> 3))
    return not descriptor & 1 << 5 and size > 1 << 27


def _damage(path: Path, kind: str | None, place: int, err: BaseException) -> str:
    if kind is None:
        return f"{path}: cannot be read ({err})."
    return (
        f"{path}: the {kind} data is cut short or damaged near byte {place:,} of "
        f"{path.stat().st_size:,} ({err}); download or compress it again."
    )
