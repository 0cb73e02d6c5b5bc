"""The embedding: words, one float32 matrix, a name."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from bayesbias._core.blocks import blocks
from bayesbias._core.validation import at_least, word_list
from bayesbias._core.wording import counted, kind_of, quoted, similar_word
from bayesbias.embeddings.matching import (
    Fallback,
    MatchedWords,
    Matching,
    as_matching,
    match_words,
)
from bayesbias.errors import DataError, SpecError, VocabularyError, warn

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors

    from bayesbias.embeddings.embedding_file import EmbeddingFile


class Embedding:
    """Word vectors: a vocabulary, one float32 matrix and a name.

    An embedding does not change: `vectors` is read-only, and whatever alters vectors returns a new
    embedding. A float32 array is used as it is, without a copy.

    Parameters
    ----------
    words : iterable of str
        The vocabulary, one word for each row. Of words that occur twice the first is kept.
    vectors : array_like of shape (n_words, dim)
        The vectors; converted to float32. A memory-mapped float32 array stays on disk.
    name : str, default "embedding"
        How tables, figures and reports call it.
    notes : iterable of str, optional
        What a reader noticed in the file; kept as `notes`.
    ranks : array_like of int, optional
        The place of each word in the vocabulary that the embedding was taken from, the first is 1;
        0 for a word that was not in it. By default the words are the whole vocabulary, in order.

    Raises
    ------
    DataError
        If the shapes do not fit, the embedding is empty, a value is NaN or infinite, or `ranks` are
        not whole numbers, one for each word.

    Warns
    -----
    BayesBiasWarning
        If words occur more than once.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.Embedding(["he", "she"], [[1.0, 0.0], [0.0, 1.0]], name="tiny")
    >>> emb
    <Embedding 'tiny': 2 words × 2 dimensions>
    >>> emb["she"]
    array([0., 1.], dtype=float32)
    >>> "it" in emb
    False
    """

    # Where the words and vectors were read from, if that was a file and these are all of them.
    _file: EmbeddingFile | None = None

    def __init__(
        self,
        words: Iterable[str],
        vectors: npt.ArrayLike,
        name: str = "embedding",
        *,
        notes: Iterable[str] = (),
        ranks: npt.ArrayLike | None = None,
    ) -> None:
        vocabulary = tuple(words)
        for word in vocabulary:
            if not isinstance(word, str):
                raise DataError(f"embedding {name!r}: the word {word!r} is not a string.")
        matrix = _as_float32(vectors, name)
        if len(vocabulary) != len(matrix):
            raise DataError(
                f"embedding {name!r}: {len(vocabulary)} words but {len(matrix)} vectors; "
                "each word needs one row."
            )
        _check_finite(matrix, vocabulary, name)
        places = None if ranks is None else _as_ranks(ranks, len(vocabulary), name)
        all_notes = list(notes)
        index = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
        if len(index) < len(vocabulary):
            extra = len(vocabulary) - len(index)
            keep: dict[str, int] = {}
            for row, word in enumerate(vocabulary):
                keep.setdefault(word, row)
            repeated = [word for word, row in index.items() if keep[word] != row]
            all_notes.append(
                f"{counted(extra, 'duplicate word')} left out, the first of each kept: "
                f"{quoted(repeated, 5)}"
            )
            warn(f"{name}: {all_notes[-1]}")
            kept = list(keep.values())
            matrix = matrix[kept]
            places = (np.arange(1, len(vocabulary) + 1) if places is None else places)[kept]
            vocabulary = tuple(keep)
            index = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
        self._words = vocabulary
        self._index = index
        self._vectors = matrix.view()
        self._vectors.flags.writeable = False
        self._name = str(name)
        self._notes = tuple(all_notes)
        self._ranks = _unless_trivial(places)
        self._matching = Matching()

    @property
    def words(self) -> tuple[str, ...]:
        """The vocabulary, in the order of the rows."""
        return self._words

    @property
    def vectors(self) -> npt.NDArray[np.float32]:
        """The matrix, one row per word; read-only."""
        return self._vectors

    @property
    def index(self) -> Mapping[str, int]:
        """The row of each word."""
        return MappingProxyType(self._index)

    @property
    def name(self) -> str:
        """How tables and figures call it."""
        return self._name

    @property
    def notes(self) -> tuple[str, ...]:
        """What was noticed while the embedding was read."""
        return self._notes

    @property
    def ranks(self) -> npt.NDArray[np.int64]:
        """The place of each word in the vocabulary that the embedding was taken from; read-only.

        The first is 1; 0 stands for a word that was not in it, such as one that fastText composed.
        Files of GloVe, word2vec and fastText have the most frequent word first, so that the rank
        tells how frequent a word is, also after a part of the words was chosen: `subset`,
        `load_embedding(..., words=...)`, ``.npz`` and ``.safetensors`` files keep the ranks. Files
        of other formats cannot hold them; the words read from these are ranked by their position in
        the file.
        """
        if self._ranks is not None:
            return self._ranks
        ranks = np.arange(1, len(self) + 1, dtype=np.int64)
        ranks.flags.writeable = False
        return ranks

    @property
    def is_part(self) -> bool:
        """Whether `ranks` are other than the places of the rows, as in a part of a vocabulary."""
        return self._ranks is not None

    @property
    def dim(self) -> int:
        """The number of dimensions."""
        return int(self._vectors.shape[1])

    def __len__(self) -> int:
        return len(self._words)

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __contains__(self, word: object) -> bool:
        return word in self._index

    def __getitem__(self, word: str) -> npt.NDArray[np.float32]:
        row = self._index.get(word)
        if row is None:
            hint = ""
            if isinstance(word, str):
                forms = Matching(("lower", "title", "upper", "strip_accents"))
                other = next(iter(self.match([word], forms).entries), None)
                other = other or similar_word(word, self._words)
                hint = f" It has {other!r}." if other else ""
            raise VocabularyError(f"{word!r} is not in the embedding {self.name!r}.{hint}")
        vector: npt.NDArray[np.float32] = self._vectors[row]
        return vector

    def __eq__(self, other: object) -> bool:
        """Whether the other has the same words in the same order, with the same vectors.

        Names, notes, ranks and how words are matched are not compared.
        """
        if self is other:
            return True
        if not isinstance(other, Embedding):
            return NotImplemented
        if self._words != other._words or self.dim != other.dim:
            return False
        if self._vectors is other._vectors:
            return True
        return all(
            np.array_equal(self._vectors[part], other._vectors[part])
            for part in blocks(len(self), self.dim)
        )

    def __hash__(self) -> int:
        # Of what is quick to read; equal embeddings have the same.
        return hash((self._words[:100], len(self), self.dim))

    def __setstate__(self, state: dict[str, object]) -> None:
        # A copy, or one in another process, is as little to be changed as the original.
        self.__dict__.update(state)
        self._vectors.flags.writeable = False
        if self._ranks is not None:
            self._ranks.flags.writeable = False

    def __repr__(self) -> str:
        size = f"{counted(len(self), 'word')} × {counted(self.dim, 'dimension')}"
        return f"<Embedding {self.name!r}: {size}>"

    def _repr_html_(self) -> str:
        first = ", ".join(self.words[:12]) + (", …" if len(self) > 12 else "")
        megabytes = self.vectors.nbytes / 1e6
        rows = {
            "words": f"{len(self):,}",
            "dimensions": str(self.dim),
            "size": f"{megabytes:,.0f} MB" if megabytes >= 10 else f"{megabytes:.1f} MB",
            "first words": html.escape(first),
        }
        cells = "".join(
            f"<tr><td>{label}</td><td style='text-align:left'>{text}</td></tr>"
            for label, text in rows.items()
        )
        return f"<table><caption>{html.escape(self.name)}</caption><tbody>{cells}</tbody></table>"

    @property
    def matching(self) -> Matching:
        """How words are matched with the vocabulary where nothing else is asked for."""
        return self._matching

    def with_matching(
        self,
        matching: Matching | None = None,
        *,
        fallbacks: Iterable[Fallback] | None = None,
        threshold: float | None = None,
        strategy: Literal["first", "all"] | None = None,
        prefix: str | None = None,
    ) -> Embedding:
        """Return the embedding with another way to match words, which everything then uses.

        Parameters
        ----------
        matching : Matching, optional
            The matching to start from; that of this embedding by default.
        fallbacks : iterable of str or function, optional
            Forms of a word to try, as in `Matching`.
        threshold : float, optional
            The share of a list that may be missing.
        strategy : {"first", "all"}, optional
            Use the first form of a word that the vocabulary has, or every one.
        prefix : str, optional
            Try every form with this in front as well, such as ``/c/en/`` of ConceptNet.

        Returns
        -------
        Embedding
            The same words and vectors, which are shared and not copied.

        Examples
        --------
        >>> import bayesbias as bb
        >>> emb = bb.Embedding(["/c/en/nurse"], [[1.0, 0.0]]).with_matching(prefix="/c/en/")
        >>> emb.match(["Nurse"]).entries
        ('/c/en/nurse',)
        """
        result = copy(self)
        result._matching = as_matching(matching, self).changed(
            fallbacks=fallbacks, threshold=threshold, strategy=strategy, prefix=prefix
        )
        return result

    def match(self, words: Iterable[str], matching: Matching | None = None) -> MatchedWords:
        """Find words, trying fallbacks for those that the vocabulary lacks as they are.

        Parameters
        ----------
        words : iterable of str
            The words to find.
        matching : Matching, optional
            How to match; that of the embedding by default.

        Returns
        -------
        MatchedWords
            The words found, their rows and entries, and the words missing.

        Examples
        --------
        >>> import bayesbias as bb
        >>> emb = bb.Embedding(["jose", "nasa"], [[1.0, 0.0], [0.0, 1.0]])
        >>> matched = emb.match(["José", "NASA", "xyzzy"])
        >>> matched.entries, matched.missing
        (('jose', 'nasa'), ('xyzzy',))
        """
        return match_words(self._index, word_list("words", words), as_matching(matching, self))

    def subset(self, words: Iterable[str], name: str | None = None) -> Embedding:
        """Return the embedding of these words only, in their order.

        Parameters
        ----------
        words : iterable of str
            Words of this embedding.
        name : str, optional
            The new name; that of this embedding by default.

        Returns
        -------
        Embedding
            A new embedding with a copy of the rows; each word keeps its rank.

        Raises
        ------
        VocabularyError
            If a word is not in the vocabulary.

        Examples
        --------
        >>> import bayesbias as bb
        >>> bb.load_embedding("demo").subset(["nurse", "engineer"]).ranks
        array([6795, 3940])
        """
        matched = self.match(words, Matching(("exact",)))
        if matched.missing:
            raise VocabularyError(
                f"not in the embedding {self.name!r}: {quoted(matched.missing)}; "
                "leave these words out, or use match() to see which are there."
            )
        return Embedding(
            matched.found,
            np.asarray(self._vectors[matched.rows]),
            name or self.name,
            ranks=self.ranks[matched.rows],
        ).with_matching(self._matching)

    def replace(
        self, vectors: Mapping[str, npt.ArrayLike] | None = None, /, **by_word: npt.ArrayLike
    ) -> Embedding:
        """Return an embedding in which some words have other vectors.

        Parameters
        ----------
        vectors : mapping of str to array_like, optional
            The new vectors by word; for words that cannot be written as arguments.
        **by_word : array_like
            The same: ``emb.replace(she=vector)``.

        Returns
        -------
        Embedding
            A new embedding of the same name with a copy of the other vectors.

        Raises
        ------
        VocabularyError
            If a word is not in the vocabulary.
        DataError
            If a vector has another length, or holds NaN or infinite values.

        Examples
        --------
        >>> import bayesbias as bb
        >>> emb = bb.Embedding(["he", "she"], [[1.0, 0.0], [0.0, 1.0]])
        >>> emb.replace(she=[1.0, 0.5])["she"]
        array([1. , 0.5], dtype=float32)
        >>> emb["she"]
        array([0., 1.], dtype=float32)
        """
        matrix = np.array(self._vectors)
        for word, given in {**(vectors or {}), **by_word}.items():
            self[word]  # a word that is not there is refused by its name
            vector = np.asarray(given)
            if vector.shape != (self.dim,):
                raise DataError(
                    f"the vector of {word!r} has the shape {vector.shape}; expected "
                    f"{self.dim} numbers."
                )
            matrix[self._index[word]] = vector
        result = self.with_vectors(matrix)
        result._notes = self._notes
        return result

    def normalized(self, name: str | None = None) -> Embedding:
        """Return an embedding whose vectors have length one.

        Parameters
        ----------
        name : str, optional
            The new name; that of this embedding by default.

        Returns
        -------
        Embedding
            A new embedding; vectors of zeros stay as they are.

        Examples
        --------
        >>> import bayesbias as bb
        >>> bb.Embedding(["he"], [[3.0, 4.0]]).normalized()["he"]
        array([0.6, 0.8], dtype=float32)
        """
        matrix = np.empty(self._vectors.shape, dtype=np.float32)
        for part in blocks(len(self), self.dim):
            block = np.asarray(self._vectors[part], dtype=np.float64)
            lengths = np.linalg.norm(block, axis=1, keepdims=True)
            matrix[part] = block / np.where(lengths > 0, lengths, 1)
        return self.with_vectors(matrix, name)

    def similarity(self, a: str, b: str) -> float:
        """Return the cosine of two words.

        Parameters
        ----------
        a, b : str
            The words, as they are in the vocabulary.

        Returns
        -------
        float
            The cosine, from −1 to 1.

        Raises
        ------
        VocabularyError
            If a word is not in the vocabulary.
        DataError
            If a vector is zero.

        Examples
        --------
        >>> import bayesbias as bb
        >>> round(bb.load_embedding("demo").similarity("doctor", "nurse"), 2)
        0.8
        """
        first, second = unit_vectors(self, self._rows_of([a, b]))
        return float(np.clip(first @ second, -1.0, 1.0))

    def most_similar(
        self,
        positive: str | npt.ArrayLike | Sequence[str | npt.ArrayLike] = (),
        negative: str | npt.ArrayLike | Sequence[str | npt.ArrayLike] = (),
        *,
        n: int = 10,
        exclude: bool = True,
    ) -> pd.DataFrame:
        """Find the words nearest to a sum of words, by cosine, as gensim's function does.

        Parameters
        ----------
        positive, negative : str, vector, or list of them
            What is added and what is subtracted: words, scaled to length one, and vectors, as long
            as they are.
        n : int, default 10
            How many words to find.
        exclude : bool, default True
            Whether the words that are given are not found.

        Returns
        -------
        DataFrame
            The nearest words, the nearest first: ``word`` and ``cosine``.

        Raises
        ------
        VocabularyError
            If a word is not in the vocabulary.
        SpecError
            If nothing is given, or there are fewer than `n` words to choose from.
        DataError
            If a vector, or the sum, is zero.

        Examples
        --------
        >>> import bayesbias as bb
        >>> emb = bb.load_embedding("demo")
        >>> emb.most_similar("nurse", n=3)["word"].tolist()
        ['doctor', 'dentist', 'pediatrician']
        >>> emb.most_similar(["king", "woman"], ["man"], n=1)["word"].item()
        'queen'
        """
        import pandas as pd

        from bayesbias.embeddings.neighbours import nearest

        at_least("n", n, 1)
        given = [_as_terms("positive", positive), _as_terms("negative", negative)]
        if not any(given):
            raise SpecError("no word is given; name at least one: most_similar('nurse').")
        total = np.zeros(self.dim)
        known = []
        for sign, terms in zip((1.0, -1.0), given, strict=True):
            for term in terms:
                if isinstance(term, str):
                    [row] = self._rows_of([term])
                    known.append(row)
                    total += sign * unit_vectors(self, np.array([row]))[0]
                else:
                    vector = np.asarray(term, dtype=np.float64)
                    if vector.shape != (self.dim,):
                        raise DataError(
                            f"a vector has the shape {vector.shape}; expected {self.dim} numbers."
                        )
                    total += sign * vector
        rows, cosines = nearest(
            self, total[None], n, exclude=[np.array(known if exclude else [], dtype=np.intp)]
        )
        return pd.DataFrame({"word": [self._words[row] for row in rows[0]], "cosine": cosines[0]})

    def analogy(self, a: str, b: str, c: str, *, n: int = 10, exclude: bool = True) -> pd.DataFrame:
        """Complete an analogy: a is to b as c is to what.

        Parameters
        ----------
        a, b, c : str
            The three words that are given.
        n : int, default 10
            How many answers.
        exclude : bool, default True
            Whether the answer may not be one of the three, as is usual. Often one of them is the
            nearest word; see `bayesbias.metrics.complete_analogy`.

        Returns
        -------
        DataFrame
            The answers, the nearest first: ``word`` and its ``cosine`` with b − a + c.

        Raises
        ------
        VocabularyError
            If a word is not in the vocabulary.

        Examples
        --------
        >>> import bayesbias as bb
        >>> bb.load_embedding("demo").analogy("man", "king", "woman", n=1)["word"].item()
        'queen'
        """
        return self.most_similar([b, c], [a], n=n, exclude=exclude)

    def _rows_of(self, words: Sequence[str]) -> npt.NDArray[np.intp]:
        for word in words:
            self[word]  # a word that is not there is refused by its name
        return np.array([self._index[word] for word in words], dtype=np.intp)

    def with_vectors(self, vectors: npt.ArrayLike, name: str | None = None) -> Embedding:
        """Return an embedding of the same words with other vectors.

        Parameters
        ----------
        vectors : array_like of shape (n_words, dim)
            The vectors, one per word; a float32 array is used as it is.
        name : str, optional
            The new name; that of this embedding by default.

        Returns
        -------
        Embedding
            A new embedding; it shares the vocabulary and the ranks of this one.

        Raises
        ------
        DataError
            If there are not as many vectors as words, or a value is NaN or infinite.
        """
        label = self.name if name is None else str(name)
        matrix = _as_float32(vectors, label)
        if len(matrix) != len(self):
            raise DataError(
                f"embedding {label!r}: {len(self)} words but {len(matrix)} vectors; "
                "each word needs one row."
            )
        _check_finite(matrix, self._words, label)
        result = copy(self)
        result._notes, result._name = (), label
        if vectors is not self._vectors:
            result._file = None
        result._vectors = matrix.view()
        result._vectors.flags.writeable = False
        return result

    @classmethod
    def from_gensim(cls, model: object, name: str = "gensim") -> Embedding:
        """Take the vectors of a gensim KeyedVectors, or of a full model that holds one.

        Parameters
        ----------
        model : KeyedVectors, Word2Vec, FastText or Doc2Vec
            An object with ``index_to_key`` and ``vectors``, or with such an object as ``wv``.
        name : str, default "gensim"
            The name of the embedding.

        Returns
        -------
        Embedding
            The same words and vectors; the matrix is shared, not copied.

        Examples
        --------
        >>> import bayesbias as bb
        >>> kv = bb.Embedding(["he", "she"], [[1.0, 0.0], [0.0, 1.0]]).to_gensim()
        >>> bb.Embedding.from_gensim(kv, name="back").words
        ('he', 'she')
        """
        keyed = getattr(model, "wv", model)
        words = getattr(keyed, "index_to_key", None)
        vectors = getattr(keyed, "vectors", None)
        if words is None or vectors is None:
            raise DataError(
                f"{type(model).__name__} has no words and vectors; expected gensim KeyedVectors "
                "or a model with KeyedVectors as 'wv'."
            )
        return cls(words, vectors, name)

    @classmethod
    def from_dict(cls, mapping: Mapping[str, npt.ArrayLike], name: str = "embedding") -> Embedding:
        """Take words and their vectors from a dictionary.

        Parameters
        ----------
        mapping : mapping of str to array_like
            The vector of each word, all of the same length.
        name : str, default "embedding"
            The name of the embedding.

        Returns
        -------
        Embedding
            The words in the order of the dictionary.

        Raises
        ------
        DataError
            If it is empty, or a vector is not a list of finite numbers as long as the others.

        Examples
        --------
        >>> import bayesbias as bb
        >>> bb.Embedding.from_dict({"he": [1.0, 0.0], "she": [0.0, 1.0]}).words
        ('he', 'she')
        """
        if not isinstance(mapping, Mapping):
            raise SpecError(
                f"'mapping' is {kind_of(mapping)}; expected a dictionary from words to "
                "vectors. For words and a matrix use Embedding(words, vectors)."
            )
        if not mapping:
            raise DataError(f"embedding {name!r}: the dictionary is empty.")
        rows: list[npt.NDArray[np.generic]] = []
        for word, given in mapping.items():
            vector = np.asarray(given)
            if vector.ndim != 1 or vector.dtype.kind not in "fiu":
                raise DataError(
                    f"embedding {name!r}: the vector of {word!r} has the shape {vector.shape} and "
                    f"the type {vector.dtype}; expected a list of numbers."
                )
            if rows and len(vector) != len(rows[0]):
                raise DataError(
                    f"embedding {name!r}: the vector of {word!r} has {len(vector)} values, those "
                    f"before it have {len(rows[0])}; each word needs the same number."
                )
            rows.append(vector)
        return cls(mapping, np.array(rows), name)

    @classmethod
    def from_frame(
        cls, frame: pd.DataFrame, name: str = "embedding", *, words: str | None = None
    ) -> Embedding:
        """Take words and vectors from a pandas data frame, one row per word.

        Parameters
        ----------
        frame : DataFrame
            The words are the index, or a column of text; all other columns are numbers.
        name : str, default "embedding"
            The name of the embedding.
        words : str, optional
            The column of the words. By default the only column of text, or else the index.

        Returns
        -------
        Embedding
            The words in the order of the rows.

        Raises
        ------
        DataError
            If it is not clear which column holds the words, another column does not hold numbers,
            or a value is missing.

        Examples
        --------
        >>> import bayesbias as bb
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"x": [1.0, 0.0], "y": [0.0, 1.0]}, index=["he", "she"])
        >>> bb.Embedding.from_frame(frame)["she"]
        array([0., 1.], dtype=float32)
        """
        import pandas as pd

        if not isinstance(frame, pd.DataFrame):
            raise SpecError(
                f"'frame' is {kind_of(frame)}; expected a pandas DataFrame. Other tables "
                "have a method such as to_pandas()."
            )
        if words is not None:
            if words not in frame.columns:
                raise DataError(
                    f"embedding {name!r}: no column is called {words!r}; found "
                    f"{quoted(frame.columns)}."
                )
            text = [words]
        else:
            numeric = frame.select_dtypes("number").columns
            text = [column for column in frame.columns if column not in numeric]
        if len(text) > 1:
            raise DataError(
                f"embedding {name!r}: the columns {quoted(text)} do not hold numbers; expected at "
                "most one, the words. Leave the others out: frame.drop(columns=...)."
            )
        vocabulary = list(frame[text[0]] if text else frame.index)
        values = frame.drop(columns=text)
        if not text and vocabulary and not isinstance(vocabulary[0], str):
            raise DataError(
                f"embedding {name!r}: the index is {quoted(vocabulary, 3)}, and no column holds "
                f"text; expected words there, or as a column beside {quoted(values.columns, 3)}."
            )
        try:
            matrix = values.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError) as err:
            raise DataError(
                f"embedding {name!r}: the columns {quoted(values.columns)} are not all numbers "
                f"({err})."
            ) from err
        return cls(vocabulary, matrix, name)

    @classmethod
    def from_spacy(cls, nlp: object, name: str = "spacy") -> Embedding:
        """Take the word vectors of a spaCy pipeline or vocabulary.

        Parameters
        ----------
        nlp : Language or Vocab
            A pipeline with word vectors, such as ``spacy.load("en_core_web_md")``, or its
            vocabulary. Small pipelines (``sm``) and transformer pipelines (``trf``) have none.
        name : str, default "spacy"
            The name of the embedding.

        Returns
        -------
        Embedding
            The words that have a vector, in the order of the table of vectors.

        Raises
        ------
        DataError
            If there are no vectors, or they are composed from parts of words (floret).

        Examples
        --------
        >>> import bayesbias as bb
        >>> import numpy as np
        >>> import spacy
        >>> nlp = spacy.blank("en")
        >>> _ = nlp.vocab.set_vector("nurse", np.array([1.0, 0.0]))
        >>> bb.Embedding.from_spacy(nlp)["nurse"]
        array([1., 0.], dtype=float32)
        """
        vocab = getattr(nlp, "vocab", nlp)
        table, strings = getattr(vocab, "vectors", None), getattr(vocab, "strings", None)
        data, rows = getattr(table, "data", None), getattr(table, "key2row", None)
        if strings is None or data is None or rows is None:
            raise SpecError(
                f"'nlp' is {kind_of(nlp)}; expected a spaCy pipeline, such as "
                "spacy.load('en_core_web_md'), or its vocabulary."
            )
        if str(getattr(table, "mode", "default")).endswith("floret"):
            raise DataError(
                "the vectors of this pipeline are composed from parts of words (floret), so that "
                "there is no list of words; choose them: "
                "Embedding.from_dict({word: nlp.vocab.get_vector(word) for word in words})."
            )
        matrix = data.get() if hasattr(data, "get") else np.asarray(data)  # on a GPU: CuPy
        # Rows that are free are -1.
        known = [(key, row) for key, row in rows.items() if 0 <= row < len(matrix)]
        if not known:
            raise DataError(
                "the pipeline has no word vectors; small ones ('sm') and transformers ('trf') have "
                "none: load one such as 'en_core_web_md'."
            )
        words, places, lost = [], [], 0
        for key, row in known:
            try:
                words.append(strings[key])
                places.append(row)
            except KeyError:
                lost += 1
        notes = []
        if lost:
            notes = [f"{counted(lost, 'vector')} left out, of words whose text is not stored"]
            warn(f"{name}: {notes[0]}")
        return cls(words, matrix[places], name, notes=notes)

    @classmethod
    def from_transformer(
        cls, path: str | PathLike[str], name: str | None = None, *, tensor: str | None = None
    ) -> Embedding:
        """Take the input embeddings of a language model, of the tokens that are whole words.

        These are the vectors that a model looks up for its tokens, before any layer: one vector
        per word, whatever the sentence. Pieces of words and special tokens are left out:
        continuations (``##``) of WordPiece, tokens without the mark of a word's start (``Ġ``,
        ``▁``) of BPE and Unigram. A word that the model cuts into pieces has no vector. A token
        that is a word can also be the beginning of longer words.

        Parameters
        ----------
        path : path-like
            The folder of the model, with ``model.safetensors`` (or its parts and
            ``model.safetensors.index.json``) and ``tokenizer.json``. Folders of
            sentence-transformers and model2vec are read too.
        name : str, optional
            The name of the embedding; the folder's by default.
        tensor : str, optional
            The name of the matrix, if it is not one of the usual ones.

        Returns
        -------
        Embedding
            The whole words in the order of the tokens; how many tokens were left out is in its
            `notes`.

        Raises
        ------
        NotFoundError
            If a file is missing.
        DataError
            If no matrix of input embeddings is found, or files are damaged, do not fit together or
            are pickles.

        See Also
        --------
        load_embedding : Reads such folders too, also only some words.

        Examples
        --------
        A folder as transformers saves it, with three tokens, the last of them a piece of words:

        >>> import json, tempfile
        >>> from pathlib import Path
        >>> import bayesbias as bb
        >>> import numpy as np
        >>> from safetensors.numpy import save_file
        >>> vocabulary = {"nurse": 0, "clock": 1, "##ing": 2}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tensors = {"embeddings.word_embeddings.weight": np.eye(3, dtype=np.float32)}
        ...     save_file(tensors, Path(folder, "model.safetensors"))
        ...     tokenizer = {"model": {"type": "WordPiece", "vocab": vocabulary}}
        ...     _ = Path(folder, "tokenizer.json").write_text(json.dumps(tokenizer))
        ...     emb = bb.Embedding.from_transformer(folder, "tiny")
        >>> emb.words
        ('nurse', 'clock')
        """
        from bayesbias.embeddings.loading import read_transformer

        return read_transformer(path, name, tensor)

    def to_gensim(self) -> KeyedVectors:
        """Return gensim KeyedVectors with a copy of the vectors.

        Returns
        -------
        gensim.models.KeyedVectors
            The same words and vectors.

        Examples
        --------
        >>> import bayesbias as bb
        >>> kv = bb.Embedding(["he", "she"], [[1.0, 0.0], [0.6, 0.8]]).to_gensim()
        >>> round(float(kv.similarity("he", "she")), 3)
        0.6
        """
        from gensim.models import KeyedVectors

        keyed = KeyedVectors(vector_size=self.dim)
        keyed.index_to_key = list(self._words)
        keyed.key_to_index = dict(self._index)
        keyed.vectors = np.array(self._vectors)
        return keyed

    def save(self, path: str | PathLike[str], *, format: str | None = None) -> None:
        """Write the embedding to a file; nothing is left half-written.

        Parameters
        ----------
        path : path-like
            Where to. The suffix chooses the format: ``.npz`` and ``.safetensors`` (ours), ``.npy``
            (memory-mapped, with the words in a ``.vocab.txt`` beside it), ``.bin`` (word2vec
            binary), ``.txt`` and ``.vec`` (text with a header line), ``.csv``, ``.tsv``, ``.jsonl``
            (JSON lines), ``.parquet``; text and ``.bin`` also followed by ``.gz``. Only ``.npz``
            and ``.safetensors`` keep `ranks`.
        format : str, optional
            The format, where the suffix does not tell: one of ``npz``, ``safetensors``, ``npy``,
            ``word2vec-bin``, ``word2vec-text``, ``glove`` (text without a header line), ``csv``,
            ``tsv``, ``jsonl``, ``parquet``.

        Raises
        ------
        SpecError
            If the format is not known.
        DataError
            If a word cannot be written in that format, such as one with a space in text.

        Warns
        -----
        BayesBiasWarning
            If the `ranks` differ from the order of the rows, and the format cannot hold them:
            contrasts at equal frequency would then be different for what is read from the file.
        """
        from bayesbias.embeddings.loading import save_embedding

        save_embedding(self, path, format=format)


def _as_terms(name: str, given: object) -> list[str | npt.ArrayLike]:
    """Return words and vectors as a list, also if there is one of them."""
    if isinstance(given, str) or (isinstance(given, np.ndarray) and given.ndim == 1):
        return [given]
    if not isinstance(given, Iterable):
        raise SpecError(f"{name!r} is {given!r}; expected words or vectors.")
    terms = list(given)
    if terms and all(isinstance(term, float) for term in terms):
        return [np.array(terms)]
    return terms


def describe(embedding: Embedding) -> dict[str, object]:
    """Return what there is to know of an embedding at first sight."""
    # In blocks, so that a mapped matrix is never in memory as a whole.
    norms = np.concatenate(
        [
            np.linalg.norm(embedding.vectors[part], axis=1)
            for part in blocks(len(embedding), embedding.dim)
        ]
    )
    capitals = sum(word != word.lower() for word in embedding.words)
    return {
        "name": embedding.name,
        "words": len(embedding),
        "dimensions": embedding.dim,
        "first words": list(embedding.words[:6]),
        "smallest norm": float(norms.min()),
        "median norm": float(np.median(norms)),
        "largest norm": float(norms.max()),
        "zero vectors": int((norms == 0).sum()),
        "share with capitals": capitals / len(embedding),
        "notes": list(embedding.notes),
    }


def check_embedding(embedding: object, name: str = "embedding") -> None:
    """Refuse what is no embedding; `name` is the argument it was given for."""
    if not isinstance(embedding, Embedding):
        raise SpecError(
            f"{name!r} is {kind_of(embedding)}; expected an Embedding: "
            "load_embedding(path), or Embedding.from_gensim(model)."
        )


def unit_vectors(embedding: Embedding, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """Return the rows scaled to length one, in double precision.

    Raises
    ------
    DataError
        If a row is zero, NaN or infinite: it has no direction, so no cosine. The word is named.
    """
    chosen = np.asarray(embedding.vectors[rows], dtype=np.float64)
    return unit_rows(chosen, [embedding.words[row] for row in rows], embedding.name)


def unit_rows(
    vectors: npt.NDArray[np.floating], words: Sequence[str], name: str
) -> npt.NDArray[np.float64]:
    """Return vectors scaled to length one; a vector without a direction is refused by its word."""
    norms = np.linalg.norm(vectors, axis=1)
    bad = np.flatnonzero(~(np.isfinite(norms) & (norms > 0)))
    if bad.size:
        what = "zero" if not norms[bad[0]] else "NaN or infinite"
        named = quoted([words[int(i)] for i in bad])
        raise DataError(
            f"embedding {name!r}: the vector of {named} is {what}, so its "
            "cosine with another is not defined; leave the word out of the lists."
        )
    result: npt.NDArray[np.float64] = vectors / norms[:, None]
    return result


def _as_float32(vectors: npt.ArrayLike, name: str) -> npt.NDArray[np.float32]:
    try:
        array = np.asarray(vectors)
    except ValueError as err:
        raise DataError(
            f"embedding {name!r}: the vectors are not a matrix; each word needs the same "
            "number of values."
        ) from err
    if array.ndim != 2 or not array.size:
        raise DataError(
            f"embedding {name!r}: the vectors have the shape {array.shape}; "
            "expected a matrix of words × dimensions that is not empty."
        )
    if array.dtype.kind not in "fiu":
        raise DataError(
            f"embedding {name!r}: the vectors are of the type {array.dtype}; expected numbers."
        )
    with np.errstate(over="ignore"):  # what becomes infinite is reported with its word
        return np.ascontiguousarray(array, dtype=np.float32)


def _as_ranks(ranks: npt.ArrayLike, n_words: int, name: str) -> npt.NDArray[np.int64]:
    array = np.asarray(ranks)
    if array.shape != (n_words,) or array.dtype.kind not in "iu" or (array < 0).any():
        raise DataError(
            f"embedding {name!r}: 'ranks' must be {n_words:,} whole numbers, one for each word, 1 "
            f"for the first of the vocabulary; got the shape {array.shape} and the type "
            f"{array.dtype}{', with numbers below 0' * (array.dtype.kind in 'iu')}."
        )
    return array.astype(np.int64)


def _unless_trivial(ranks: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64] | None:
    """Return the ranks, read-only, or None if they are the places of the rows."""
    if ranks is None or np.array_equal(ranks, np.arange(1, len(ranks) + 1)):
        return None
    ranks.flags.writeable = False
    return ranks


def _check_finite(matrix: npt.NDArray[np.float32], words: Sequence[str], name: str) -> None:
    # A mapped matrix too: 5 GB a second if the system has the file in memory, else as fast as the
    # disk, and no more than a block of it is needed at once.
    for part in blocks(len(matrix), matrix.shape[1]):
        block = matrix[part]
        if not np.isfinite(block).all():
            row = part.start + int(np.flatnonzero(~np.isfinite(block).all(axis=1))[0])
            word = words[row] if row < len(words) else "?"
            raise DataError(
                f"embedding {name!r}: the vector of {word!r} (row {row}) holds NaN or infinite "
                "values; remove the row or repair the source."
            )
