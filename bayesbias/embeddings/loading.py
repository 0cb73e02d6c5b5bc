"""Loading and saving embeddings: which source, which format."""

from __future__ import annotations

import codecs
import logging
import re
import struct
from collections.abc import Callable, Iterable
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import numpy as np

from bayesbias._core.files import atomic, check_folder, missing_file_hint, refuse_spreadsheet
from bayesbias._core.validation import at_least, one_of, word_list
from bayesbias._core.wording import did_you_mean, kind_of, quoted
from bayesbias.embeddings.embedding import Embedding, check_embedding
from bayesbias.embeddings.embedding_file import EmbeddingFile
from bayesbias.embeddings.formats import (
    added_formats,
    array_files,
    delimited,
    gensim_files,
    json_lines,
    model_folders,
    parquet_files,
    text_vectors,
    word2vec,
)
from bayesbias.embeddings.formats.streams import HEADER, ByteStream, Rows, Wanted
from bayesbias.embeddings.matching import Fallback, Matching, candidates, check_matching
from bayesbias.embeddings.named_sources import DOWNLOADS, NAMED, download, read_named
from bayesbias.errors import DataError, NotFoundError, SpecError, VocabularyError, warn

_log = logging.getLogger(__name__)

_READERS: dict[str, Callable[[Path, Wanted], Rows]] = {
    "word2vec-bin": word2vec.read_word2vec,
    "word2vec-text": partial(text_vectors.read_text, header=True),
    "fasttext-vec": partial(text_vectors.read_text, header=True),
    "glove": partial(text_vectors.read_text, header=False),
    "npz": array_files.read_npz,
    "npy": array_files.read_npy,
    "safetensors": array_files.read_safetensors,
    "csv": delimited.read_delimited,
    "tsv": partial(delimited.read_delimited, delimiter=b"\t"),
    "jsonl": json_lines.read_json_lines,
    "parquet": parquet_files.read_parquet,
    "transformer": model_folders.read_model_folder,
}
#: Every format of this package that can be read, by the name that `format` takes.
FORMATS = (*_READERS, "fasttext-bin", "gensim")

_WRITERS: dict[str, Callable[..., None]] = {
    "word2vec-bin": word2vec.write_word2vec,
    "word2vec-text": partial(text_vectors.write_text, header=True),
    "fasttext-vec": partial(text_vectors.write_text, header=True),
    "glove": partial(text_vectors.write_text, header=False),
    "npz": array_files.write_npz,
    "npy": array_files.write_npy,
    "safetensors": array_files.write_safetensors,
    "csv": partial(delimited.write_delimited, delimiter=","),
    "tsv": partial(delimited.write_delimited, delimiter="\t"),
    "jsonl": json_lines.write_json_lines,
    "parquet": parquet_files.write_parquet,
}
_SUFFIXES = {
    ".bin": "word2vec-bin",
    ".txt": "word2vec-text",
    ".vec": "fasttext-vec",
    ".npz": "npz",
    ".npy": "npy",
    ".safetensors": "safetensors",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".parquet": "parquet",
}
#: The formats that hold the ranks of the words beside them.
_KEEP_RANKS = {"npz", "safetensors"}
_NOT_COMPRESSED = {"npz", "npy", "safetensors", "parquet"}

_FASTTEXT_MAGIC = struct.pack("<i", 793_712_314)
_PICKLE = tuple(b"\x80" + bytes([protocol]) for protocol in range(2, 6))
_CONTROL = re.compile(rb"[\x00-\x08]")
_PEEK_BYTES = 1 << 20

#: An embedding, its name, or its file.
EmbeddingLike: TypeAlias = Embedding | str | PathLike[str]


def load_embedding(
    source: str | PathLike[str],
    name: str | None = None,
    *,
    words: Iterable[str] | None = None,
    limit: int | None = None,
    format: str | None = None,
    matching: Matching | None = None,
    subwords: bool = False,
    trust: bool = False,
    progress: bool = True,
) -> Embedding:
    """Load word vectors from a file, or by the name of a known embedding.

    Parameters
    ----------
    source : path-like or str
        A file: word2vec ``.bin`` or text, GloVe text, fastText ``.vec`` or ``.bin``, CSV, TSV or
        JSON lines, each also gzipped; ``.npz``, ``.safetensors``, ``.parquet``, or ``.npy`` with
        its words in a ``.vocab.txt`` beside it. The format is found from the content. Or the
        folder of a language model, as in `Embedding.from_transformer`. Or a name:
        ``"demo"`` and ``"demo-100d"`` come with the package, ``"glove-6b-50d"`` with the extra
        ``glove``; those that `downloads` lists, such as ``"glove-6b-300d"`` and
        ``"google-news-300d"``, and the names of ``gensim.downloader`` are downloaded when they are
        first used.
    name : str, optional
        The name of the embedding; the file's by default.
    words : iterable of str, optional
        Read only these words. The file is streamed, so memory is needed for them alone (and in
        the array formats for the vocabulary); files that gensim opens are read as a whole.
    limit : int, optional
        Read only the first `limit` rows, in most files the most frequent words.
    format : str, optional
        The format, where guessing is not wanted: ``word2vec-bin``, ``word2vec-text``,
        ``fasttext-vec``, ``glove`` (text without a header), ``npz``, ``npy``, ``safetensors``,
        ``csv``, ``tsv``, ``jsonl``, ``parquet``, ``transformer`` (a folder), ``fasttext-bin`` or
        ``gensim`` (a pickle).
    matching : Matching, optional
        How words are matched with the vocabulary, of `words` here and of all words later, as in
        `Embedding.with_matching`. Every form of a word that its fallbacks name is read.
    subwords : bool, default False
        For fastText's ``.bin``: compose the vectors of those `words` that its vocabulary lacks.
    trust : bool, default False
        Open gensim's pickles. A pickle can run any code: only for files whose source you trust.
    progress : bool, default True
        Show a progress bar, in terminals and notebooks.

    Returns
    -------
    Embedding
        The words and vectors; what was noticed in the file is in its `notes`.

    Raises
    ------
    NotFoundError
        If there is no such file or name.
    SpecError
        If arguments are wrong or do not go together.
    DataError
        If the file is truncated, damaged or empty; the message names the line or byte. If it cannot
        be downloaded.
    VocabularyError
        If `words` are given and none of them is there.
    MissingDependencyError
        If a named embedding needs a package that is not installed.

    Warns
    -----
    BayesBiasWarning
        For what was noticed in the file: duplicate words, words that are not UTF-8 or have spaces,
        more rows than promised, a last line without an end.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.load_embedding("demo")
    >>> emb.dim
    50
    >>> bb.load_embedding("demo", words=["nurse", "engineer"]).words
    ('engineer', 'nurse')
    """
    if not isinstance(source, str | PathLike):
        raise SpecError(
            f"the source is {source!r}; expected a path or a name. For a gensim model use "
            "Embedding.from_gensim(model)."
        )
    asked = None if words is None else word_list("words", words)
    if asked == ():
        raise SpecError("'words' is empty; leave it out to read every word.")
    if limit is not None:
        at_least("limit", limit, 1)
    if format is not None:
        one_of("format", format, (*FORMATS, *added_formats.ADDED_FORMATS))
    if subwords and asked is None:
        raise SpecError("'subwords' composes words that are asked for: give them as 'words'.")
    if subwords and limit is not None:
        raise SpecError("'subwords' composes words that are asked for, so 'limit' has no meaning.")
    how = Matching() if matching is None else check_matching(matching)
    wanted = Wanted(_forms(asked, how.fallbacks), limit, progress)

    key = str(source)
    if isinstance(source, str) and key in NAMED:
        if format is not None or subwords:
            raise SpecError(
                f"{key!r} is an embedding known by name; 'format' and 'subwords' are "
                f"for files. A file of that name is './{key}'."
            )
        rows, default, kind = read_named(key, wanted), key, "named"
    else:
        known = key in DOWNLOADS and not Path(key).exists()
        path = download(key, progress=progress) if known else Path(source)
        _check_is_there(path)
        kind = format or guess_format(path)
        if (kind == "transformer") != path.is_dir():
            raise SpecError(
                f"{path} is a {'folder' if path.is_dir() else 'file'}; the format 'transformer' is "
                "for folders, all others are for files."
            )
        _log.info("reading %s as %s", path, kind)
        default = key if key in DOWNLOADS else _stem(path)
        if subwords and kind != "fasttext-bin":
            raise SpecError(f"{path}: 'subwords' needs a fastText .bin file; this is {kind!r}.")
        if kind == "gensim":
            rows = gensim_files.read_pickled(path, wanted, trust=trust)
        elif kind == "fasttext-bin":
            compose = asked if subwords and asked else ()
            rows = gensim_files.read_fasttext(
                path, wanted, subwords=compose, fallbacks=how.fallbacks
            )
        elif kind in _READERS:
            rows = _READERS[kind](path, wanted)
        else:
            rows = added_formats.read_added(kind, path, wanted)
    _check_found(key, asked, rows)
    # That pieces of words are left out of a language model is no fault of its folder.
    read = _embedding(rows, name or default, quiet=kind == "transformer").with_matching(how)
    if asked is None:
        place = key if kind == "named" else str(path.absolute())
        read._file = EmbeddingFile(place, format, limit, trust)
    return read


def with_first_words(embedding: Embedding, head: Embedding) -> Embedding:
    """Return some words of a file together with its first ones, each with its rank in the file."""
    rest = [row for row, word in enumerate(embedding.words) if word not in head.index]
    notes = dict.fromkeys((*embedding.notes, *head.notes))
    both = Embedding(
        (*head.words, *(embedding.words[row] for row in rest)),
        np.concatenate([head.vectors, embedding.vectors[rest]]) if rest else head.vectors,
        embedding.name,
        notes=notes,
        ranks=np.concatenate([head.ranks, embedding.ranks[rest]]),
    )
    return both.with_matching(embedding.matching)


def _check_found(key: str, asked: tuple[str, ...] | None, rows: Rows) -> None:
    if asked and not rows.words:
        raise VocabularyError(
            f"{key}: none of the {len(asked)} words is there ({quoted(asked, 5)}); "
            "look at the spelling, the language or a prefix such as '/c/en/'."
        )


def read_transformer(path: str | PathLike[str], name: str | None, tensor: str | None) -> Embedding:
    """Return the input embeddings of a language model, from the matrix that `tensor` names."""
    folder = Path(path)
    if not folder.is_dir():
        raise NotFoundError(
            f"{str(folder)!r} is not a folder; give the folder of the model, with "
            "model.safetensors and tokenizer.json."
        )
    rows = model_folders.read_model_folder(folder, Wanted(progress=True), tensor=tensor)
    return _embedding(rows, name or _stem(folder), quiet=True)


def as_embedding(embedding: EmbeddingLike, argument: str = "embedding") -> Embedding:
    """Return an embedding that is given itself, by its name or by its file."""
    if isinstance(embedding, str | PathLike):
        return load_embedding(embedding)
    check_embedding(embedding, argument)
    return embedding


def as_embeddings(embeddings: EmbeddingLike | Iterable[EmbeddingLike]) -> list[Embedding]:
    """Return one or several embeddings, also by name or file; their names must differ."""
    if isinstance(embeddings, Embedding | str | PathLike):
        return [as_embedding(embeddings)]
    if not isinstance(embeddings, Iterable):
        raise SpecError(
            f"'embeddings' is {kind_of(embeddings)}; expected an Embedding, its name such as "
            "'demo', a file, or a list of them."
        )
    several = [as_embedding(each, "embeddings") for each in embeddings]
    if not several:
        raise SpecError("'embeddings' is empty; give at least one embedding.")
    names = [embedding.name for embedding in several]
    if len(set(names)) < len(names):
        raise SpecError(
            f"two embeddings are called {max(names, key=names.count)!r}; load them with different "
            "names, or their distances cannot be distinguished."
        )
    return several


def save_embedding(
    embedding: Embedding, path: str | PathLike[str], *, format: str | None = None
) -> None:
    """Write an embedding in the format that the suffix or `format` names."""
    target = Path(path)
    kind = writable_format(target, format)
    targets = [target, array_files.vocabulary_path(target)] if kind == "npy" else [target]
    try:
        with atomic(*targets) as temporary:
            _writer(kind)(embedding, *temporary)
    except UnicodeEncodeError as err:
        raise DataError(
            f"{target}: the word {err.object!r} cannot be written as UTF-8; leave it out."
        ) from err
    warn_of_lost_ranks(embedding, target, kind)


def warn_of_lost_ranks(embedding: Embedding, target: Path, kind: str) -> None:
    """Warn if a file of that format cannot say how frequent the words of the embedding are."""
    if embedding.is_part and kind not in _KEEP_RANKS:
        warn(
            f"{target}: {kind} files do not keep the ranks of the words, which differ from the "
            f"order of the rows in {embedding.name!r}, so log_frequency will be different for what "
            "is read from the file; to keep the ranks, save it as .npz or .safetensors."
        )


def writable_format(target: Path, format: str | None = None) -> str:
    """Return the format to write a file in, or refuse it before any work is done."""
    name = target.name.lower()
    compressed = name.endswith(".gz")
    suffix = Path(name.removesuffix(".gz")).suffix
    if format is not None:
        kind = one_of("format", format, (*_WRITERS, *added_formats.ADDED_FORMATS))
    elif suffix in _SUFFIXES:
        kind = _SUFFIXES[suffix]
    elif added := added_formats.added_by_suffix(suffix):
        kind = added.name
    else:
        hint = " For gensim's own format use to_gensim().save()." if suffix == ".kv" else ""
        raise SpecError(
            f"{target}: the suffix {suffix!r} is not known; expected one of "
            f"{quoted(_SUFFIXES)}, or name the format, one of {quoted(_WRITERS)}.{hint}"
        )
    if kind not in _WRITERS and added_formats.ADDED_FORMATS[kind].write is None:
        raise SpecError(f"{target}: files of the format {kind!r} can be read, but not written.")
    if compressed and (kind in _NOT_COMPRESSED or kind not in _WRITERS):
        raise SpecError(f"{target}: {kind} files are not gzipped; leave out '.gz'.")
    check_folder(target)
    return kind


def _writer(kind: str) -> Callable[..., None]:
    own = _WRITERS.get(kind) or added_formats.ADDED_FORMATS[kind].write
    assert own is not None  # `writable_format` has refused it
    return own


def guess_format(path: Path) -> str:
    """Guess the format of a file from its first bytes, or that of a folder from its files.

    Raises
    ------
    DataError
        If the file is empty or of no format that is known.
    NotFoundError
        If a folder holds no language model.
    """
    if path.is_dir():
        _check_model_folder(path)
        return "transformer"
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES and (added := added_formats.added_by_suffix(suffix)):
        return added.name
    refuse_spreadsheet(path)
    with ByteStream(path) as stream:
        head = stream.read(_PEEK_BYTES)
        compressed = stream.compressed
    if not head.strip():
        raise DataError(f"{path}: the file is empty.")
    kind = _magic(head, path.stat().st_size)
    if kind in _NOT_COMPRESSED and compressed:
        raise DataError(f"{path}: a gzipped {kind} file; unpack it first (gunzip).")
    if kind is not None:
        return kind
    head = head.removeprefix(codecs.BOM_UTF8)
    if header := HEADER.match(head):
        body = head[header.end() :]
        line = body.lstrip(b"\n").partition(b"\n")[0]
        if text_vectors.is_vector_line(line, int(header[2])) or _is_text(body):
            return "word2vec-text"  # whatever is wrong with it, its reader names the line
        return "word2vec-bin"
    if json_lines.is_json_object(head):
        return "jsonl"
    if delimiter := delimited.sniff_delimiter(head):
        return "tsv" if delimiter == b"\t" else "csv"
    if any(text_vectors.is_vector_line(line) for line in head.split(b"\n", 20)[:20]):
        return "glove"
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix in (".csv", ".tsv"):
        return _SUFFIXES[suffix]  # the reader names the line that is wrong
    seen = head[:40].decode(errors="backslashreplace")
    raise DataError(
        f"{path}: not in a known format (it begins with {seen!r}); expected word vectors in one "
        f"of the formats {quoted(FORMATS, 20)}."
    )


def _magic(head: bytes, size: int) -> str | None:
    """Return the format whose first bytes cannot be mistaken, or None."""
    if head.startswith(b"PK\x03\x04"):
        return "npz"
    if head.startswith(b"\x93NUMPY"):
        return "npy"
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(_FASTTEXT_MAGIC):
        return "fasttext-bin"
    if head.startswith(_PICKLE):
        return "gensim"
    # The length of a header of JSON, then that header.
    if head[8:9] == b"{" and struct.unpack("<Q", head[:8])[0] < max(size, len(head)):
        return "safetensors"
    return None


def _is_text(data: bytes) -> bool:
    """Return whether data has no control characters and is UTF-8; raw float32 values hardly are."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    start = data[: 1 << 16]
    try:
        decoder.decode(start, final=len(start) == len(data))
    except UnicodeDecodeError:
        return False
    return not _CONTROL.search(start)


def _forms(words: tuple[str, ...] | None, fallbacks: tuple[Fallback, ...]) -> frozenset[str] | None:
    if words is None:
        return None
    return frozenset(form for word in words for form in candidates(word, fallbacks))


def _embedding(rows: Rows, name: str, *, quiet: bool) -> Embedding:
    for note in () if quiet else rows.notes:
        warn(f"{name}: {note}")
    return Embedding(rows.words, rows.vectors, name, notes=rows.notes, ranks=rows.ranks)


def _check_is_there(path: Path) -> None:
    if path.is_dir():
        return
    if not path.is_file():
        names = [*NAMED, *DOWNLOADS]
        hint = did_you_mean(path, names) or missing_file_hint(path)
        raise NotFoundError(
            f"{str(path)!r} is neither a file nor a known embedding.{hint} "
            f"Names that work offline: {quoted(NAMED)}."
        )


def _check_model_folder(path: Path) -> None:
    if model_folders.is_model_folder(path):
        return
    if (path / "vocab" / "vectors").exists():
        raise NotFoundError(
            f"{path} is a folder of a spaCy pipeline; read it with "
            "Embedding.from_spacy(spacy.load(folder))."
        )
    held = quoted(sorted(each.name for each in path.iterdir())) or "nothing"
    raise NotFoundError(
        f"{path} is a folder; found {held} in it. Give the file of the vectors, or the folder of a "
        "language model, with model.safetensors and tokenizer.json."
    )


def _stem(path: Path) -> str:
    """Return the file's name without the suffixes that tell its format."""
    if path.is_dir():
        return path.resolve().name
    name = path.name[:-3] if path.name.lower().endswith(".gz") else path.name
    suffix = Path(name).suffix
    return name.removesuffix(suffix) if suffix.lower() in (*_SUFFIXES, ".kv", ".model") else name
