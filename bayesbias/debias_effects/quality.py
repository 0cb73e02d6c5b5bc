"""What debiasing broke: similarity, analogies and neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.constants import DEFAULT_FALLBACKS
from bayesbias._core.validation import at_least, word_list
from bayesbias._core.wording import quoted
from bayesbias.debias_effects.benchmarks import (
    Benchmark,
    Question,
    analogy_questions,
    similarity_pairs,
)
from bayesbias.embeddings import (
    Embedding,
    Matching,
    as_embeddings,
    check_embedding,
    nearest,
    unit_vectors,
)
from bayesbias.embeddings.matching import check_fallbacks
from bayesbias.errors import VocabularyError, warn
from bayesbias.metrics.weighting import correlation, ranks
from bayesbias.numerics.intervals import Kind, check_interval, interval

# A correlation of fewer pairs than this says nothing.
_LEAST_PAIRS = 5
# Numbers in memory at once.
_NUMBERS = 4_000_000
# The name of the rows over all sections.
_ALL = "all sections"


def word_similarity(
    embeddings: Embedding | Iterable[Embedding],
    benchmark: Benchmark = "rg_65",
    *,
    draws: int = 2000,
    prob: float = 0.89,
    kind: Kind = "hdi",
    fallbacks: Iterable[str] = DEFAULT_FALLBACKS,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare the cosines of pairs of words with how similar people find them.

    The value is Spearman's correlation: 1 is the order of the people, 0 no agreement. The interval
    is a Bayesian bootstrap over the pairs; of few pairs, say fewer than thirty, it is too narrow.

    Parameters
    ----------
    embeddings : Embedding or list of Embedding
        Where to measure; their names must differ. Pairs that one of them lacks are left out for
        all, so that they can be compared.
    benchmark : {"rg_65", "mc_30"} or path-like, default "rg_65"
        Rubenstein & Goodenough 1965, Miller & Charles 1991, or a file with two words and a score in
        each line, such as those of WordSim-353, SimLex-999, MEN or MTurk as they are distributed.
    draws : int, default 2000
        How many draws of the bootstrap.
    prob : float, default 0.89
        Probability of the intervals.
    kind : {"hdi", "eti"}, default "hdi"
        The narrowest interval, or one that leaves as much on either side.
    fallbacks : iterable of str, default ("exact", "lower", "title", "strip_accents")
        Forms of a word to try, as in `Matching`.
    seed : int, default 0
        Same seed, same result.

    Returns
    -------
    DataFrame
        One row an embedding: ``embedding``, ``benchmark``, ``n_pairs`` used, ``n_lost``,
        ``spearman`` with ``lower`` and ``upper``; and the ``change`` from the first embedding, with
        ``change_lower``, ``change_upper`` and ``P(change<0)`` from the same resamples.

    Raises
    ------
    NotFoundError
        If there is no such benchmark.
    DataError
        If a line of the file is no pair; its number is told.
    VocabularyError
        If fewer than five pairs are left.

    Examples
    --------
    >>> import bayesbias as bb
    >>> both = [bb.load_embedding("demo"), bb.load_embedding("demo-100d")]
    >>> found = bb.debias_effects.word_similarity(both, "rg_65")
    >>> found[["embedding", "n_pairs", "n_lost", "spearman", "lower", "upper"]].round(2)
       embedding  n_pairs  n_lost  spearman  lower  upper
    0       demo       15      50      0.57   0.23   0.82
    1  demo-100d       15      50      0.74   0.50   0.92
    """
    several = as_embeddings(embeddings)
    at_least("draws", draws, 2)
    at_least("seed", seed, 0)
    check_interval(prob, kind)
    ways = check_fallbacks(fallbacks)
    name, pairs = similarity_pairs(benchmark)
    words = [[pair.first, pair.second] for pair in pairs]
    rows, there = _common_rows(several, words, ways)
    number = int(there.sum())
    if number < _LEAST_PAIRS:
        raise VocabularyError(
            f"only {number} of the {len(pairs)} pairs of {name!r} have both words in "
            f"{_named(several)}, and {_LEAST_PAIRS} are needed; use a larger vocabulary or another "
            "list."
        )
    scores = np.array([[pair.score for pair in pairs]])[:, there]
    cosines = [
        (unit_vectors(embedding, found[there, 0]) * unit_vectors(embedding, found[there, 1]))
        .sum(axis=1)
        .reshape(1, -1)
        for embedding, found in zip(several, rows, strict=True)
    ]
    weights = np.random.default_rng(seed).standard_exponential((draws, number))
    values = [_spearman(c, scores, np.ones((1, number)))[0] for c in cosines]
    drawn = [_spearman(c, scores, weights) for c in cosines]
    records = [
        {
            "embedding": embedding.name,
            "benchmark": name,
            "n_pairs": number,
            "n_lost": len(pairs) - number,
            **_compared("spearman", values, drawn, i, prob, kind),
        }
        for i, embedding in enumerate(several)
    ]
    return pd.DataFrame(records)


def word_analogies(
    embeddings: Embedding | Iterable[Embedding],
    benchmark: Benchmark = "basic",
    *,
    exclude: bool = True,
    limit: int | None = None,
    draws: int = 2000,
    prob: float = 0.89,
    kind: Kind = "hdi",
    fallbacks: Iterable[str] = DEFAULT_FALLBACKS,
    seed: int = 0,
) -> pd.DataFrame:
    """Count the analogies that an embedding completes: a is to b as c is to what.

    The answer is the word nearest to b − a + c, of vectors of length one (3CosAdd).

    Parameters
    ----------
    embeddings : Embedding or list of Embedding
        Where to measure; their names must differ. Questions with a word that one of them lacks are
        left out for all.
    benchmark : {"basic"} or path-like, default "basic"
        Six relations of twelve pairs each, or a file like ``questions-words.txt``: four words in
        each line, and lines such as ``: capitals`` before the questions of a section.
    exclude : bool, default True
        Whether the answer may not be one of the three words of the question, as is usual.
    limit : int, optional
        Only so many first words are known, as questions and as answers; in most files these are the
        most frequent ones.
    draws : int, default 2000
        How many draws of the bootstrap.
    prob : float, default 0.89
        Probability of the intervals.
    kind : {"hdi", "eti"}, default "hdi"
        The narrowest interval, or one that leaves as much on either side.
    fallbacks : iterable of str, default ("exact", "lower", "title", "strip_accents")
        Forms of a word to try, as in `Matching`.
    seed : int, default 0
        Same seed, same result.

    Returns
    -------
    DataFrame
        For each embedding one row a section, and one for ``all sections``: ``embedding``,
        ``benchmark``, ``section``, ``n_questions`` asked, ``n_lost``, ``accuracy`` with ``lower``
        and ``upper``; and the ``change`` from the first embedding, with ``change_lower``,
        ``change_upper`` and ``P(change<0)`` from the same resamples.

    Raises
    ------
    NotFoundError
        If there is no such benchmark.
    DataError
        If a line of the file has not four words; its number is told.
    VocabularyError
        If no question is left.

    Notes
    -----
    Twelve pairs make 132 questions, but not 132 independent ones. What is resampled are the pairs:
    each draw gives every pair a weight, and a question counts with the product of the weights of
    its two pairs (a Bayesian form of the pigeonhole bootstrap, Owen 2007). The answers to one more
    pair are added, half right and half wrong before and after, as in Jeffreys's prior, so that an
    interval has a width where all answers are right, or all the same as before. Where questions
    share no pairs the intervals are wider than they need to be.

    References
    ----------
    Mikolov, Chen, Corrado, Dean (2013), arXiv:1301.3781.
    Owen (2007), doi:10.1214/07-AOAS122.

    Examples
    --------
    >>> import bayesbias as bb
    >>> found = bb.debias_effects.word_analogies(bb.load_embedding("demo"), "basic")
    >>> found[["section", "n_questions", "accuracy", "lower", "upper"]].round(2)
            section  n_questions  accuracy  lower  upper
    0       capital          132      0.80   0.64   0.91
    1   nationality          132      1.00   0.91   1.00
    2        plural          132      0.95   0.85   1.00
    3    past tense          132      0.49   0.32   0.65
    4   comparative          132      0.76   0.60   0.88
    5        gender          132      0.79   0.65   0.88
    6  all sections          792      0.80   0.73   0.88
    """
    several = as_embeddings(embeddings)
    at_least("draws", draws, 2)
    at_least("seed", seed, 0)
    check_interval(prob, kind)
    ways = check_fallbacks(fallbacks)
    if limit is not None:
        at_least("limit", limit, 1)
    name, questions = analogy_questions(benchmark)
    rows, there = _common_rows(several, [list(q[1:]) for q in questions], ways, limit)
    if not there.any():
        raise VocabularyError(
            f"none of the {len(questions)} questions of {name!r} has all its words in "
            f"{_named(several)}; use a larger vocabulary or another benchmark."
        )
    right, closeness = [], []
    for embedding, found in zip(several, rows, strict=True):
        answers, best = _answers(embedding, found[there], exclude=exclude, limit=limit)
        right.append(answers == found[there, 3])
        closeness.append(best)
    # Where the answers are as near as before, to the last digit, nothing has changed at all.
    same = [np.array_equal(best, closeness[0]) for best in closeness]
    asked = [question for question, known in zip(questions, there, strict=True) if known]
    sections = list(dict.fromkeys(question.section for question in questions))
    number = dict.fromkeys(sections, 0) | {_ALL: len(questions)}
    for question in questions:
        number[question.section] += 1
    drawn = _accuracy_draws(asked, right, same, sections, draws, np.random.default_rng(seed))
    of = np.array([question.section for question in asked])
    records = []
    for i, embedding in enumerate(several):
        for section in [*sections, *([_ALL] if len(sections) > 1 else [])]:
            inside = (of == section) | (section == _ALL)
            values = [float(r[inside].mean()) if inside.any() else np.nan for r in right]
            records.append(
                {
                    "embedding": embedding.name,
                    "benchmark": name,
                    "section": section,
                    "n_questions": int(inside.sum()),
                    "n_lost": number[section] - int(inside.sum()),
                    **_compared("accuracy", values, drawn[section], i, prob, kind),
                }
            )
    return pd.DataFrame(records)


def neighbour_drift(
    before: Embedding,
    after: Embedding,
    words: Iterable[str] | None = None,
    *,
    k: int = 10,
    n_words: int = 500,
    vocabulary: int = 10_000,
    fallbacks: Iterable[str] = DEFAULT_FALLBACKS,
    seed: int = 0,
) -> pd.DataFrame:
    """Tell which of their nearest neighbours words have kept.

    Parameters
    ----------
    before, after : Embedding
        The embedding before and after a change; words that one of them lacks are left out.
    words : iterable of str, optional
        The words to look at; by default a random sample of frequent ones.
    k : int, default 10
        How many neighbours, by cosine.
    n_words : int, default 500
        The size of the sample.
    vocabulary : int, default 10,000
        The sample is from so many first words of `before`; in most files these are the most
        frequent ones.
    fallbacks : iterable of str, default ("exact", "lower", "title", "strip_accents")
        Forms of a word to try for given words, as in `Matching`.
    seed : int, default 0
        Of the sample; same seed, same words.

    Returns
    -------
    DataFrame
        One row a word, those that kept least first: ``word``, ``kept``, the share of the `k`
        neighbours that are among the `k` nearest again, ``jaccard``, the size of the intersection
        of old and new neighbours over that of the union, and the neighbours ``gone`` and ``new``,
        nearest first.

    Raises
    ------
    VocabularyError
        If the embeddings have none of the words.
    SpecError
        If there are fewer than `k` other words.

    Warns
    -----
    BayesBiasWarning
        If given words are not found.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.load_embedding("demo")
    >>> after = bb.debias.HardDebias().fit(emb).transform(emb)
    >>> words = ["nurse", "engineer", "clock"]
    >>> bb.debias_effects.neighbour_drift(emb, after, words, k=20)[["word", "kept"]]
           word  kept
    0     nurse  0.75
    1     clock  0.75
    2  engineer  0.85
    """
    for label, embedding in (("before", before), ("after", after)):
        check_embedding(embedding, label)
    at_least("k", k, 1)
    ways = check_fallbacks(fallbacks)
    if words is None:
        at_least("n_words", n_words, 1)
        at_least("vocabulary", vocabulary, 1)
        at_least("seed", seed, 0)
        ways = ("exact",)
        chosen = _sample(before, after, n_words, vocabulary, seed)
    else:
        chosen = list(dict.fromkeys(word_list("words", words)))
    found_in = [embedding.match(chosen, Matching(ways)) for embedding in (before, after)]
    rows = [dict(zip(found.found, found.rows.tolist(), strict=True)) for found in found_in]
    there = [word for word in chosen if all(word in found for found in rows)]
    lost = [word for word in chosen if word not in set(there)]
    if not there:
        raise VocabularyError(
            f"{before.name!r} and {after.name!r} have none of the words in common "
            f"({quoted(lost, 4)}); give others."
        )
    if lost:
        warn(f"{before.name} or {after.name} lacks words, left out: {quoted(lost, 5)}")
    near = []
    for embedding, found in zip((before, after), rows, strict=True):
        own = np.array([found[word] for word in there], dtype=np.intp)
        vectors = unit_vectors(embedding, own)
        nearby, _ = nearest(embedding, vectors, k, exclude=list(own[:, None]))
        near.append([[embedding.words[row] for row in some] for some in nearby])
    records = []
    for word, old, new in zip(there, *near, strict=True):
        kept = len(set(old) & set(new))
        records.append(
            {
                "word": word,
                "kept": kept / k,
                "jaccard": kept / (2 * k - kept),
                "gone": ", ".join(w for w in old if w not in new),
                "new": ", ".join(w for w in new if w not in old),
            }
        )
    return pd.DataFrame(records).sort_values("kept", kind="stable", ignore_index=True)


def _sample(
    before: Embedding, after: Embedding, number: int, vocabulary: int, seed: int
) -> list[str]:
    """Return frequent words that have a direction in both embeddings, in their order."""
    words = [word for word in before.words[:vocabulary] if word in after]
    usable = np.ones(len(words), dtype=bool)
    for embedding in (before, after):
        rows = np.array([embedding.index[word] for word in words], dtype=np.intp)
        usable &= np.asarray(embedding.vectors[rows]).any(axis=1)
    places = np.flatnonzero(usable)
    rng = np.random.default_rng(seed)
    chosen = rng.choice(places, size=min(number, len(places)), replace=False)
    return [words[place] for place in np.sort(chosen)]


def _named(embeddings: Sequence[Embedding]) -> str:
    return " and ".join(repr(embedding.name) for embedding in embeddings)


def _common_rows(
    embeddings: Sequence[Embedding],
    items: Sequence[Sequence[str]],
    fallbacks: tuple[str, ...],
    limit: int | None = None,
) -> tuple[list[Codes], npt.NDArray[np.bool_]]:
    """Return the rows of the words of each item, and which items all embeddings know."""
    words = list(dict.fromkeys(word for item in items for word in item))
    there = np.ones(len(items), dtype=bool)
    rows = []
    for embedding in embeddings:
        found = embedding.match(words, Matching(fallbacks))
        row_of = dict(zip(found.found, found.rows.tolist(), strict=True))
        rows.append(np.array([[row_of.get(w, -1) for w in item] for item in items], dtype=np.intp))
        known = np.zeros(len(embedding), dtype=bool)
        # A word with a zero vector has no cosine: as good as lost.
        known[found.rows] = np.asarray(embedding.vectors[found.rows]).any(axis=1)
        if limit is not None:
            known[limit:] = False
        there &= (known[rows[-1]] & (rows[-1] >= 0)).all(axis=1)
    return rows, there


def _spearman(cosines: Array, scores: Array, weights: Array) -> Array:
    """Return the correlation of the ranks for each draw of weights."""
    step = max(1, _NUMBERS // weights.shape[1])
    parts = []
    for start in range(0, len(weights), step):
        block = weights[start : start + step]
        parts.append(correlation(ranks(cosines, block), ranks(scores, block), block))
    return np.concatenate(parts)


def _compared(
    name: str, values: Sequence[float], drawn: Sequence[Array], i: int, prob: float, kind: Kind
) -> dict[str, float]:
    """Return a value with its interval, and its change from the first with its own."""
    lower, upper = _ends(values[i], drawn[i], prob, kind)
    row = {name: float(values[i]), "lower": lower, "upper": upper}
    change, low, high, fell = np.nan, np.nan, np.nan, np.nan
    if i:
        difference = drawn[i] - drawn[0]
        change = float(values[i] - values[0])
        low, high = _ends(change, difference, prob, kind)
        if np.isfinite(difference).any():
            fell = float((difference[np.isfinite(difference)] < 0).mean())
    return row | {"change": change, "change_lower": low, "change_upper": high, "P(change<0)": fell}


def _ends(value: float, draws: Array, prob: float, kind: Kind) -> tuple[float, float]:
    finite = draws[np.isfinite(draws)]
    if not len(finite):
        return np.nan, np.nan
    lower, upper = interval(finite, prob, kind)
    return min(float(lower), float(value)), max(float(upper), float(value))


def _answers(
    embedding: Embedding, rows: Codes, *, exclude: bool, limit: int | None
) -> tuple[Codes, npt.NDArray[np.float32]]:
    """Return the row of the word nearest to b − a + c for each question, and how near it is."""
    a, b, c = (unit_vectors(embedding, rows[:, i]) for i in range(3))
    asked = (b - a + c).astype(np.float32)
    end = len(embedding) if limit is None else min(limit, len(embedding))
    best = np.full(len(rows), -np.inf, dtype=np.float32)
    answer = np.zeros(len(rows), dtype=np.intp)
    questions = min(len(rows), 2048)
    step = max(1, _NUMBERS // questions)
    for start in range(0, end, step):
        block = embedding.vectors[start : min(start + step, end)]
        norms = np.linalg.norm(block, axis=1)
        usable = np.isfinite(norms) & (norms > 0)
        unit = block / np.where(usable, norms, 1)[:, None]
        for first in range(0, len(rows), questions):
            part = slice(first, first + questions)
            closeness = asked[part] @ unit.T
            closeness[:, ~usable] = -np.inf
            if exclude:
                given = rows[part, :3] - start
                place = np.nonzero((given >= 0) & (given < len(block)))
                closeness[place[0], given[place]] = -np.inf
            nearest_here = closeness.argmax(axis=1)
            value = closeness[np.arange(len(closeness)), nearest_here]
            # Of equally near words the first counts.
            better = value > best[part]
            best[part] = np.where(better, value, best[part])
            answer[part] = np.where(better, nearest_here + start, answer[part])
    return answer, best


def _accuracy_draws(
    asked: Sequence[Question],
    right: Sequence[npt.NDArray[np.bool_]],
    same: Sequence[bool],
    sections: Sequence[str],
    draws: int,
    rng: np.random.Generator,
) -> dict[str, list[Array]]:
    """Return draws of the accuracy by section, the pairs of words weighted at random."""
    result: dict[str, list[Array]] = {}
    sums = [np.zeros(draws) for _ in right]
    total, units = np.zeros(draws), 0
    for section in sections:
        places = [i for i, question in enumerate(asked) if question.section == section]
        pairs: dict[tuple[str, str], int] = {}
        first = [pairs.setdefault(asked[i][1:3], len(pairs)) for i in places]
        second = [pairs.setdefault(asked[i][3:5], len(pairs)) for i in places]
        weights = rng.standard_exponential((draws, len(pairs)))

        def weighed(
            counted: Array,
            cells: tuple[list[int], list[int]] = (first, second),
            weights: Array = weights,
        ) -> Array:
            """Return the sum over questions, each with the weights of its two pairs."""
            size = weights.shape[1]
            matrix = sparse.coo_array((counted, cells), shape=(size, size)).tocsr()
            summed: Array = (weights * (matrix @ weights.T).T).sum(axis=1)
            return summed

        counts = weighed(np.ones(len(places)))
        hits = [weighed(r[places].astype(np.float64)) for r in right]
        result[section] = _with_prior(hits, counts, same, len(set(second)), rng)
        total = total + counts
        sums = [s + h for s, h in zip(sums, hits, strict=True)]
        units += len(set(second))
    result[_ALL] = _with_prior(sums, total, same, units, rng)
    return result


def _with_prior(
    hits: Sequence[Array], total: Array, same: Sequence[bool], units: int, rng: np.random.Generator
) -> list[Array]:
    """Return shares of hits, with one more pair added to the independent units there are.

    It is right half of the time in the first embedding; in the others half of what was right is
    wrong, and the other way round, unless the embedding is the same.
    """
    size = len(total)
    right, wrong = rng.gamma(0.5, size=(2, size))
    result = []
    for hit, unchanged in zip(hits, same, strict=True):
        stays_right, stays_wrong = (1.0, 1.0) if unchanged else rng.beta(0.25, 0.25, (2, size))
        more = right * stays_right + wrong * (1 - stays_wrong)
        with np.errstate(invalid="ignore"):  # a section none of whose questions is known
            result.append((units * (hit / total) + more) / (units + right + wrong))
    return result
