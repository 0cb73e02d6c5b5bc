"""The corpus: documents that are read, cut into words and counted one at a time."""

from __future__ import annotations

import logging
import reprlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from bayesbias._core.progress import progress_bar
from bayesbias._core.validation import at_least, one_of
from bayesbias._core.wording import counted, kind_of
from bayesbias.corpus.documents import NAMED, UNITS, TextFiles, Unit, cut, find_files
from bayesbias.corpus.language import language_filter
from bayesbias.corpus.tokens import Tokenizer
from bayesbias.errors import DataError, SpecError

if TYPE_CHECKING:
    import pandas as pd

_log = logging.getLogger(__name__)

#: A document: its text, or its words.
Document: TypeAlias = str | Sequence[str]

# gensim leaves out what is behind the 10,000th word of a document.
_MOST_WORDS = 10_000


def _ignore(amount: float) -> None:
    """Count nothing."""


@dataclass(slots=True)
class Tally:
    """What was counted in one pass through a corpus."""

    documents: int = 0
    left_out: int = 0


class Corpus:
    """Documents to count words in, to tag, and to train embeddings on.

    Iterating over a corpus yields the words of one document after the other, as often as wanted.
    No more than one document is held in memory, and a document of more than 10,000 words comes in
    pieces. Text is cut into words as gensim's ``simple_preprocess`` does it: small letters, no
    digits, 2 to 15 letters.

    Parameters
    ----------
    documents : iterable of str or of lists of str
        Texts, or documents that are cut into words already, which are used as they are. A
        generator can be read only once and is refused. Files are read with `read_corpus`.
    name : str, default "corpus"
        How messages and embeddings call it.
    language : str, optional
        Leave out documents in other languages: an ISO 639 code, such as ``"en"``. Needs the extra
        ``language``. Documents too short to tell are kept.
    lower : bool, default True
        Turn capitals into small letters.
    min_length : int, default 2
        The fewest letters of a word.
    max_length : int or None, default 15
        The most letters of a word; None for no limit.

    Raises
    ------
    SpecError
        If the documents cannot be read again and again, or an option is wrong.
    DataError
        If there is no document; while iterating, if no document has a word.
    MissingDependencyError
        If `language` is given and the package that tells languages is not installed.

    Examples
    --------
    >>> import bayesbias as bb
    >>> corpus = bb.corpus.Corpus(["She is a nurse.", "He is an engineer!"])
    >>> list(corpus)
    [['she', 'is', 'nurse'], ['he', 'is', 'an', 'engineer']]
    >>> corpus.counts(min_count=2)
      word  count
    0   is      2
    """

    def __init__(
        self,
        documents: Iterable[Document],
        *,
        name: str = "corpus",
        language: str | None = None,
        lower: bool = True,
        min_length: int = 2,
        max_length: int | None = 15,
    ) -> None:
        if isinstance(documents, str):
            raise SpecError(
                "'documents' is a string; give a list of texts, or read_corpus(path) for a file."
            )
        # A set has another order in every run; of a dictionary one would read the keys.
        if not isinstance(documents, Iterable) or isinstance(documents, Mapping | AbstractSet):
            raise SpecError(f"'documents' is {kind_of(documents)}; expected a list of texts.")
        if isinstance(documents, Iterator):
            raise SpecError(
                f"'documents' is a {type(documents).__name__}, which can be read only once; "
                "give a list, or files with read_corpus(path)."
            )
        self._documents = documents
        self._name = str(name)
        self._language = language
        self._tokenizer = Tokenizer(lower, min_length, max_length)
        if language is not None:
            language_filter(language)  # refused now if it is not known
        if isinstance(documents, Sequence) and not documents:
            raise DataError(f"corpus {self._name!r}: no documents.")

    @property
    def name(self) -> str:
        """How messages and embeddings call it."""
        return self._name

    @property
    def language(self) -> str | None:
        """The language whose documents are kept; None if all are."""
        return self._language

    @property
    def tokenizer(self) -> Tokenizer:
        """What cuts text into words."""
        return self._tokenizer

    def __iter__(self) -> Iterator[list[str]]:
        return self._words()

    def __repr__(self) -> str:
        if isinstance(self._documents, TextFiles):
            files = len(self._documents.paths)
            size = self._documents.size / 1e6
            what = f"{counted(files, 'file')}, {size:,.1f} MB"
        elif isinstance(self._documents, Sequence):
            count = len(self._documents)
            what = counted(count, "document")
        else:
            what = type(self._documents).__name__
        return f"<Corpus {self.name!r}: {what}>"

    def lines(self) -> Iterator[str]:
        """Read the documents as they are written, with capitals and punctuation.

        Yields
        ------
        str
            The text of one document; of a document given as words, these with spaces between.
        """
        for document in self._read():
            yield _text(document)

    def counts(self, min_count: int = 1, *, progress: bool = True) -> pd.DataFrame:
        """Count every word.

        Parameters
        ----------
        min_count : int, default 1
            Leave out words that occur less often.
        progress : bool, default True
            Show a progress bar, in terminals and notebooks.

        Returns
        -------
        DataFrame
            The columns ``word`` and ``count``, the most frequent word first, ties alphabetically.

        Examples
        --------
        >>> import bayesbias as bb
        >>> bb.corpus.Corpus(["the cat", "the dog"]).counts()
          word  count
        0  the      2
        1  cat      1
        2  dog      1
        """
        import pandas as pd

        at_least("min_count", min_count, 1)
        with self._progress_bar("Counting words", show=progress) as advance:
            counted = Counter(chain.from_iterable(self._words(advance)))
        kept = [(word, count) for word, count in counted.items() if count >= min_count]
        kept.sort(key=lambda item: (-item[1], item[0]))
        return pd.DataFrame(
            {
                "word": pd.Series([word for word, _ in kept], dtype="str"),
                "count": pd.Series([count for _, count in kept], dtype="int64"),
            }
        )

    def report(self) -> dict[str, int]:
        """Read the corpus once and say what is in it.

        Returns
        -------
        dict
            The numbers of ``documents``, of documents ``left_out`` for their language, of
            ``tokens``, and of different ``words``.

        Examples
        --------
        >>> import bayesbias as bb
        >>> bb.corpus.Corpus(["the cat", "the dog"]).report()
        {'documents': 2, 'left_out': 0, 'tokens': 4, 'words': 3}
        """
        tally = Tally()
        counted = Counter(chain.from_iterable(self._words(tally=tally)))
        return {
            "documents": tally.documents,
            "left_out": tally.left_out,
            "tokens": counted.total(),
            "words": len(counted),
        }

    @contextmanager
    def _progress_bar(self, what: str, *, show: bool) -> Iterator[Callable[[float], None]]:
        """Yield the function that `_read` and `_words` tell how far they are."""
        source = self._documents
        total: int | None = None
        if isinstance(source, TextFiles):
            total = source.size
        elif isinstance(source, Sequence):
            total = len(source)
        unit = "bytes" if isinstance(source, TextFiles) else "steps"
        with progress_bar(what, total=total, show=show, unit=unit) as advance:
            yield advance

    def _words(
        self, advance: Callable[[float], None] = _ignore, tally: Tally | None = None
    ) -> Iterator[list[str]]:
        """Yield the words of each document that has any, at most 10,000 at once."""
        tokenizer = self._tokenizer
        empty = True
        for document in self._read(advance, tally):
            words = tokenizer(document) if isinstance(document, str) else list(document)
            if words:
                empty = False
                if len(words) <= _MOST_WORDS:
                    yield words
                else:
                    starts = range(0, len(words), _MOST_WORDS)
                    yield from (words[start : start + _MOST_WORDS] for start in starts)
        if empty:
            raise DataError(
                f"corpus {self.name!r}: no words of {tokenizer.describe()} in it; words are runs "
                "of letters."
            )

    def _read(
        self, advance: Callable[[float], None] = _ignore, tally: Tally | None = None
    ) -> Iterator[Document]:
        """Yield every document that is not blank and in the language, none too long."""
        tally = tally or Tally()
        keep = language_filter(self._language) if self._language is not None else None
        for document in self._source(advance):
            if not document or (isinstance(document, str) and document.isspace()):
                continue
            if keep is not None and not keep(_text(document)):
                tally.left_out += 1
                continue
            tally.documents += 1
            yield document
        if keep is not None:
            total = tally.documents + tally.left_out
            _log.info(
                "%s: %d of %d documents left out, not in the language %r",
                self.name, tally.left_out, total, self._language,
            )  # fmt: skip
        if not tally.documents:
            if tally.left_out:
                raise DataError(
                    f"corpus {self.name!r}: none of {tally.left_out:,} documents is in the "
                    f"language {self._language!r}."
                )
            raise DataError(f"corpus {self.name!r}: no text in it.")

    def _source(self, advance: Callable[[float], None]) -> Iterator[Document]:
        if isinstance(self._documents, TextFiles):
            yield from self._documents.read(advance)
            return
        for number, document in enumerate(self._documents, 1):
            if isinstance(document, str):
                yield from cut(document)
            elif isinstance(document, list | tuple) and all(isinstance(w, str) for w in document):
                yield document
            else:
                raise SpecError(
                    f"corpus {self.name!r}, document {number:,}: expected a text or a list of "
                    f"words, got {reprlib.repr(document)}."
                )
            advance(1)


def read_corpus(
    source: str | PathLike[str] | Iterable[str | PathLike[str]],
    name: str | None = None,
    *,
    unit: Unit = "line",
    field: str | None = None,
    encoding: str = "utf-8",
    language: str | None = None,
    lower: bool = True,
    min_length: int = 2,
    max_length: int | None = 15,
) -> Corpus:
    """Read a corpus from files of text or JSON lines, or take the one that comes with the package.

    Nothing is read now but the start of each file; the rest is read, block by block, whenever the
    corpus is iterated over. The files may be larger than memory.

    Parameters
    ----------
    source : path-like, or iterable of path-like
        A file of text or JSON lines, plain or compressed (gzip, bzip2, xz, zstd); a folder, of
        which all files are taken whose names end in ``.txt`` or ``.text`` (with `field` in
        ``.jsonl`` or ``.ndjson``), also with ``.gz``, ``.bz2``, ``.xz`` or ``.zst`` behind; a glob
        such as ``"texts/*.txt"``; ``"demo"``, three novels by Jane Austen; or several of these.
    name : str, optional
        How messages and embeddings call the corpus; the name of its first file or folder by
        default.
    unit : {"line", "paragraph"}, default "line"
        What a document is. Most corpora have one document, sentence or paragraph in a line. Books
        are often hard-wrapped: a paragraph has several lines, and blank lines are between
        paragraphs. Windows of context, tags and bootstrap samples never cross documents.
    field : str, optional
        Read JSON lines, one object per line, and take the text from this field. A document is one
        object, or with ``unit="paragraph"`` each paragraph of its text. An object whose field is
        null is left out.
    encoding : str, default "utf-8"
        How the files are encoded: a name that Python knows, such as ``"latin-1"``.
    language : str, optional
        Leave out documents in other languages: an ISO 639 code, such as ``"en"``. Needs the extra
        ``language``. Documents too short to tell are kept.
    lower : bool, default True
        Turn capitals into small letters.
    min_length : int, default 2
        The fewest letters of a word.
    max_length : int or None, default 15
        The most letters of a word; None for no limit.

    Returns
    -------
    Corpus
        The corpus, to be iterated over as often as wanted.

    Raises
    ------
    NotFoundError
        If there is no such file.
    DataError
        If a file is no text, is damaged, or all are empty. What is not at the start of a file is
        found when it is reached.
    SpecError
        If an option is wrong.
    MissingDependencyError
        If `language` is given and the package that tells languages is not installed.

    Warns
    -----
    BayesBiasWarning
        If the lines of a file look hard-wrapped and `unit` is ``"line"``.

    Examples
    --------
    >>> import bayesbias as bb
    >>> corpus = bb.read_corpus("demo")
    >>> next(iter(corpus))[:6]
    ['emma', 'woodhouse', 'handsome', 'clever', 'and', 'rich']
    >>> corpus.counts().head(3)
      word  count
    0  the  12635
    1   to  12166
    2  and  11186
    """
    one_of("unit", unit, UNITS)
    files = TextFiles(find_files(source, json_lines=field is not None), unit, field, encoding)
    corpus = Corpus(
        files,
        name=name or _default_name(source, files.paths[0]),
        language=language,
        lower=lower,
        min_length=min_length,
        max_length=max_length,
    )
    files.check()
    return corpus


def _default_name(source: object, first: Path) -> str:
    """Return the name of what is in the package, of a folder, or of the first file."""
    if isinstance(source, str) and source in NAMED:
        return source
    if isinstance(source, str | PathLike) and Path(source).is_dir():
        return Path(source).resolve().name
    return first.name.lstrip(".").split(".")[0]


def _text(document: Document) -> str:
    return document if isinstance(document, str) else " ".join(document)


def check_corpus(corpus: object) -> None:
    """Refuse what is not a corpus."""
    if not isinstance(corpus, Corpus):
        raise SpecError(
            f"'corpus' is {kind_of(corpus)}; expected a Corpus: read_corpus(path), or "
            "Corpus(documents) for texts in memory."
        )
