"""What an audit is of: embeddings and studies, read as far as they are needed, and hashes."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import numpy as np

from bayesbias._core.wording import kind_of, quoted
from bayesbias.embeddings import DOWNLOADS, NAMED, Embedding, Matching, load_embedding
from bayesbias.errors import BayesBiasWarning, SpecError
from bayesbias.wordlists import Study, as_study

#: An embedding, its file, or the name of a known one.
Source: TypeAlias = str | PathLike[str] | Embedding
#: A study, its file, or the name of a built-in one.
Lists: TypeAlias = str | PathLike[str] | Study

# The words that lists are compared with, of files that are not read as a whole: in most files the
# first words are the most frequent.
_VOCABULARY = 50_000
_BLOCK = 65_536


@dataclass(frozen=True)
class Loading:
    """How embeddings are read from their files, and their words matched."""

    whole: bool  # or the words of the studies, and some to compare them with
    matching: Matching | None  # instead of that of each embedding
    limit: int | None
    trust: bool
    progress: bool


@dataclass(frozen=True)
class Given:
    """An embedding as it was given, before anything is read."""

    name: str | None
    source: Source

    @property
    def label(self) -> str:
        """What it is, for people."""
        return "an Embedding" if isinstance(self.source, Embedding) else str(self.source)

    def check(self) -> None:
        """Refuse a file that is not there, before long work."""
        source = self.source
        if isinstance(source, Embedding) or str(source) in (*NAMED, *DOWNLOADS):
            return
        if not isinstance(source, str | PathLike) or not Path(source).is_file():
            load_embedding(source, limit=1)  # says what is wrong

    def load(self, words: Sequence[str] | None, how: Loading) -> Embedding:
        """Return the embedding: all of it, or these words and the first of the others."""
        embedding = self._read(words, how)
        return embedding if how.matching is None else embedding.with_matching(how.matching)

    def _read(self, words: Sequence[str] | None, how: Loading) -> Embedding:
        if isinstance(self.source, Embedding):
            whole = self.source
            return whole if self.name is None else whole.with_vectors(whole.vectors, self.name)
        read = partial(
            load_embedding,
            self.source,
            self.name,
            matching=how.matching,
            trust=how.trust,
            progress=how.progress,
        )
        if words is None:
            return read(limit=how.limit)
        asked = read(words=words, limit=how.limit)
        with warnings.catch_warnings():
            # What there is to say of the file has just been said.
            warnings.simplefilter("ignore", BayesBiasWarning)
            first = read(limit=min(how.limit or _VOCABULARY, _VOCABULARY))
        rows = [row for row, word in enumerate(asked.words) if word not in first]
        names = (*first.words, *(asked.words[row] for row in rows))
        vectors = np.concatenate([first.vectors, asked.vectors[rows]])
        ranks = np.concatenate([first.ranks, asked.ranks[rows]])
        return Embedding(names, vectors, first.name, ranks=ranks)


def as_given(embedding: Source | Iterable[Source | Given] | Mapping[str, Source]) -> list[Given]:
    """Return one embedding, several, or several by name, as a list."""
    if isinstance(embedding, Mapping):
        several = [Given(str(name), source) for name, source in embedding.items()]
    elif isinstance(embedding, str | PathLike | Embedding):
        several = [Given(None, embedding)]
    elif isinstance(embedding, Iterable):
        several = [one if isinstance(one, Given) else Given(None, one) for one in embedding]
    else:
        raise SpecError(
            f"'embedding' is {kind_of(embedding)}; expected an Embedding, a file, a name "
            "such as 'demo', or a list of them."
        )
    if not several:
        raise SpecError("'embedding' is empty; give at least one.")
    for one in several:
        one.check()
    return several


def as_studies(study: Lists | Iterable[Lists]) -> list[Study]:
    """Return one study, or several with different names, as a list."""
    one = isinstance(study, str | PathLike | Study)
    if not one and not isinstance(study, Iterable):
        raise SpecError(
            f"'study' is {kind_of(study)}; expected a Study, a file, a name such as "
            "'religion', or a list of them."
        )
    given: Iterable[Lists] = [study] if one else study  # type: ignore[list-item, assignment]
    several = [as_study(item) for item in given]
    if not several:
        raise SpecError("'study' is empty; give at least one.")
    _check_names("studies", [item.name for item in several])
    return several


def load_all(several: Sequence[Given], studies: Sequence[Study], how: Loading) -> list[Embedding]:
    """Return the embeddings, whose names differ."""
    words = list(dict.fromkeys(word for study in studies for word in words_of(study)))
    loaded = [one.load(None if how.whole else words, how) for one in several]
    _check_names("embeddings", [embedding.name for embedding in loaded])
    return loaded


def words_of(study: Study) -> list[str]:
    """Return all words of a study."""
    return [word for words in study.word_sets().values() for word in words]


def _check_names(what: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise SpecError(
                f"two {what} are called {name!r}; give them different names"
                + (": {'small': 'a.txt', 'large': 'b.txt'}." if what == "embeddings" else ".")
            )


def embedding_hash(embedding: Embedding, words: Iterable[str] | None = None) -> str:
    """Return a hash of the words and vectors of an embedding, or of the words that it has."""
    digest = hashlib.sha256(embedding.name.encode())
    rows = np.arange(len(embedding))
    if words is not None:
        rows_or_none = (embedding.index.get(word) for word in dict.fromkeys(words))
        rows = np.array([row for row in rows_or_none if row is not None], dtype=np.intp)
    for start in range(0, len(rows), _BLOCK):
        part = rows[start : start + _BLOCK]
        names = "\0".join(embedding.words[row] for row in part.tolist())
        digest.update(names.encode("utf-8", "surrogatepass"))
        digest.update(np.ascontiguousarray(embedding.vectors[part], dtype="<f4").tobytes())
    return digest.hexdigest()


def slugs(names: Sequence[str]) -> dict[str, str]:
    """Return a name of a folder or file for each name, all different however case is taken."""
    result: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:60] or "unnamed"
        slug, number = plain, 2
        while slug.casefold() in (other.casefold() for other in result.values()):
            slug, number = f"{plain}-{number}", number + 1
        result[name] = slug
    return result


def check_distinct(what: str, names: Sequence[str]) -> None:
    """Refuse a name that is given twice."""
    twice = [name for name in dict.fromkeys(names) if list(names).count(name) > 1]
    if twice:
        raise SpecError(f"{what!r} holds {quoted(twice)} twice; name each once.")
