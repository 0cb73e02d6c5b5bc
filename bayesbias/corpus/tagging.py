"""Parts of speech of every word in its context, by spaCy."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from bayesbias._core.validation import at_least, word_list
from bayesbias._core.wording import kind_of
from bayesbias.corpus.corpus import Corpus, Document, check_corpus
from bayesbias.errors import MissingDependencyError, SpecError

if TYPE_CHECKING:
    import pandas as pd
    from spacy.language import Language
    from spacy.tokens import Doc

# What parts of speech do not depend on. The parser stays: in English pipelines it tells a pronoun
# from a determiner ("that") and a verb from an auxiliary ("have").
_NOT_NEEDED = (
    "entity_linker",
    "entity_ruler",
    "lemmatizer",
    "ner",
    "sentencizer",
    "senter",
    "span_ruler",
    "spancat",
    "textcat",
    "textcat_multilabel",
    "trainable_lemmatizer",
)


def tag_words(
    corpus: Corpus,
    pipeline: str | PathLike[str] | Language = "en_core_web_sm",
    *,
    words: Iterable[str] | None = None,
    batch_size: int = 128,
    limit: int | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Count as which part of speech each word is used.

    spaCy tags every document as it is written, so a word is tagged in its sentence: "light" is now
    a noun, now a verb. Each word of the corpus has the tag of the spaCy token in which it begins.

    Parameters
    ----------
    corpus : Corpus
        The text.
    pipeline : str, path-like or spacy.language.Language, default "en_core_web_sm"
        The spaCy pipeline that tags: the name of one that is installed, a path, or one that is
        loaded already.
    words : iterable of str, optional
        Count these words only. Documents without any of them are not tagged, which saves time.
    batch_size : int, default 128
        How many documents spaCy takes at once.
    limit : int, optional
        Tag no more documents than this.
    progress : bool, default True
        Show a progress bar, in terminals and notebooks.

    Returns
    -------
    DataFrame
        The columns ``word``, ``tag`` (universal: ``ADJ``, ``NOUN``, ``VERB`` …) and ``count``. The
        most frequent word is first, ties alphabetically; of each word the most frequent tag is
        first.

    Raises
    ------
    MissingDependencyError
        If spaCy or the pipeline is not installed.
    SpecError
        If the pipeline tells no parts of speech, or an option is wrong.

    Examples
    --------
    >>> import bayesbias as bb
    >>> corpus = bb.corpus.Corpus(["They light a light.", "The light is on."])
    >>> bb.tag_words(corpus, words=["light"])  # doctest: +SKIP
        word   tag  count
    0  light  NOUN      2
    1  light  VERB      1
    """
    check_corpus(corpus)
    at_least("batch_size", batch_size, 1)
    if limit is not None:
        at_least("limit", limit, 1)
    wanted = None if words is None else _wanted(word_list("words", words), corpus)
    nlp = load_pipeline(pipeline)
    counted: Counter[tuple[str, str]] = Counter()
    with ExitStack() as stack:
        advance = stack.enter_context(corpus._progress_bar("Tagging words", show=progress))
        unneeded = [
            name for name in nlp.pipe_names if nlp.get_pipe_meta(name).factory in _NOT_NEEDED
        ]
        stack.enter_context(nlp.select_pipes(disable=unneeded))
        documents = islice(_documents(corpus, wanted, advance), limit)
        pairs = nlp.pipe(documents, as_tuples=True, batch_size=batch_size)
        for number, (doc, spans) in enumerate(pairs):
            if number == 0:
                _check_tags(doc, nlp)
            counted.update(_tagged(doc, spans, wanted))
    return _table(counted)


def _wanted(words: tuple[str, ...], corpus: Corpus) -> frozenset[str]:
    if not words:
        raise SpecError("'words' is empty; leave it out to tag every word.")
    lowered = (word.lower() for word in words) if corpus.tokenizer.lower else ()
    return frozenset((*words, *lowered))


def _documents(
    corpus: Corpus, wanted: frozenset[str] | None, advance: Callable[[float], None]
) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """Yield texts, each with its words and their places."""
    for document in corpus._read(advance):
        text, spans = _spans(corpus, document)
        if spans and (wanted is None or any(word in wanted for _, word in spans)):
            yield text, spans


def _spans(corpus: Corpus, document: Document) -> tuple[str, list[tuple[int, str]]]:
    if isinstance(document, str):
        return document, list(corpus.tokenizer.spans(document))
    spans, place = [], 0
    for word in document:
        spans.append((place, word))
        place += len(word) + 1
    return " ".join(document), spans


def _tagged(
    doc: Doc, spans: list[tuple[int, str]], wanted: frozenset[str] | None
) -> Iterator[tuple[str, str]]:
    places = [token.idx for token in doc]
    for place, word in spans:
        if wanted is None or word in wanted:
            yield word, doc[bisect_right(places, place) - 1].pos_


def _table(counted: Counter[tuple[str, str]]) -> pd.DataFrame:
    import pandas as pd

    totals: Counter[str] = Counter()
    for (word, _), count in counted.items():
        totals[word] += count
    rows = sorted(
        ((word, tag, count) for (word, tag), count in counted.items()),
        key=lambda row: (-totals[row[0]], row[0], -row[2], row[1]),
    )
    return pd.DataFrame(
        {
            "word": pd.Series([word for word, _, _ in rows], dtype="str"),
            "tag": pd.Series([tag for _, tag, _ in rows], dtype="str"),
            "count": pd.Series([count for _, _, count in rows], dtype="int64"),
        }
    )


def load_pipeline(pipeline: str | PathLike[str] | Language) -> Language:
    """Return a spaCy pipeline, given by its name or path; refuse one that is not there."""
    if find_spec("spacy") is None:
        raise MissingDependencyError(
            "tagging words needs the package 'spacy', which is not installed: "
            "pip install 'bayesbias[pos]'."
        )
    import spacy
    from spacy.language import Language

    if isinstance(pipeline, Language):
        return pipeline
    if not isinstance(pipeline, str | PathLike):
        raise SpecError(
            f"'pipeline' is {kind_of(pipeline)}; expected the name or path of a spaCy "
            "pipeline, or one that is loaded."
        )
    try:
        return spacy.load(pipeline if isinstance(pipeline, str) else Path(pipeline))
    except (OSError, ImportError, ValueError) as err:
        name = str(pipeline)
        if isinstance(err, OSError) and not Path(name).exists():
            raise MissingDependencyError(
                f"spaCy has no pipeline {name!r}: python -m spacy download {name}"
            ) from err
        # Not a pipeline, or one that needs another package or another version of spaCy.
        why = str(err).partition("\n")[0]
        raise SpecError(f"spaCy cannot load the pipeline {name!r}: {why}") from err


def _check_tags(doc: Doc, nlp: Language) -> None:
    if not any(token.pos_ for token in doc):
        raise SpecError(
            f"the spaCy pipeline '{nlp.lang}_{nlp.meta['name']}' tells no parts of speech (it has "
            f"{nlp.pipe_names}); choose one with a tagger or a morphologizer, such as "
            "'en_core_web_sm'."
        )
