"""Side effects of debiasing: on similarity, analogies and neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.blocks import blocks
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import at_least, word_list
from bayesbias._core.wording import enumerated, quoted
from bayesbias.debias_effects.benchmarks import (
    Benchmark,
    Pair,
    Question,
    analogy_questions,
    similarity_pairs,
)
from bayesbias.embeddings import (
    Embedding,
    EmbeddingLike,
    MatchedWords,
    Matching,
    as_embedding,
    as_embeddings,
    as_matching,
    nearest,
    unit_vectors,
)
from bayesbias.errors import SpecError, VocabularyError, warn
from bayesbias.numerics.intervals import Kind, check_interval, interval
from bayesbias.numerics.weighted import correlation, ranks

# A correlation of fewer pairs than this is meaningless.
_LEAST_PAIRS = 5
# Questions that are answered at once.
_QUESTIONS = 2048
# The name of the rows over all sections.
_ALL = "all sections"


def word_similarity(
    embeddings: EmbeddingLike | Iterable[EmbeddingLike],
    benchmark: Benchmark | Sequence[Benchmark] = "rg_65",
    *,
    draws: int = 2000,
    prob: float = 0.89,
    kind: Kind = "hdi",
    matching: Matching | None = None,
    seed: Seed = 0,
) -> pd.DataFrame:
    """Compare the cosines of pairs of words with how similar people find them.

    The value is Spearman's correlation: 1 is the order of the people, 0 no agreement. The interval
    is a Bayesian bootstrap over the pairs; of few pairs, say fewer than thirty, it is too narrow.

    Parameters
    ----------
    embeddings : Embedding, str, path-like or list of them
        Where to measure, by themselves or by name; their names must differ. Pairs that one of them
        lacks are left out for all, so that they can be compared.
    benchmark : str, path-like or list of them, default "rg_65"
        ``"rg_65"`` (Rubenstein & Goodenough 1965) and ``"mc_30"`` (Miller & Charles 1991) come with
        the package, ``"wordsim_353"`` and ``"simlex_999"`` with gensim; downloaded when first used
        are ``"men"``, ``"wordsim_353_similarity"`` and ``"wordsim_353_relatedness"``,
        ``"rare_words"``, ``"simverb_3500"``, ``"mturk_287"``, ``"mturk_771"``, ``"yp_130"`` and
        ``"verb_143"``. Or a file with two words and a score in each line.
    draws : int, default 2000
        The number of draws of the bootstrap.
    prob : float, default 0.89
        Probability of the intervals.
    kind : {"hdi", "eti"}, default "hdi"
        The narrowest interval, or one with equal probability on either side.
    matching : Matching, optional
        How words are matched; that of each embedding by default.
    seed : int, Generator or None, default 0
        Same seed, same result.

    Returns
    -------
    DataFrame
        One row per benchmark and embedding: ``embedding``, ``benchmark``, ``n_pairs`` used,
        ``n_lost``, ``coverage`` (the share of the pairs that is used), ``spearman`` with ``lower``
        and ``upper``; and the ``change`` from the first embedding, with ``change_lower``,
        ``change_upper`` and ``prob_change_negative`` from the same resamples.

    Raises
    ------
    NotFoundError
        If there is no such benchmark.
    DataError
        If a line of the file is not a pair; the message has its number.
    VocabularyError
        If fewer than five pairs are left, of every benchmark.

    Warns
    -----
    BayesBiasWarning
        If fewer than five pairs are left of one of several benchmarks; its row has no value.

    Examples
    --------
    >>> import bayesbias as bb
    >>> result = bb.debias_effects.word_similarity(["demo", "demo-100d"], "rg_65")
    >>> result[["embedding", "n_pairs", "n_lost", "spearman", "lower", "upper"]].round(2)
       embedding  n_pairs  n_lost  spearman  lower  upper
    0       demo       15      50      0.57   0.23   0.82
    1  demo-100d       15      50      0.74   0.50   0.92

    Several benchmarks at once:

    >>> result = bb.debias_effects.word_similarity("demo", ["rg_65", "simlex_999"])
    >>> result[["benchmark", "n_pairs", "coverage", "spearman", "lower", "upper"]].round(2)
        benchmark  n_pairs  coverage  spearman  lower  upper
    0       rg_65       15      0.23      0.57   0.23   0.82
    1  simlex_999      574      0.57      0.28   0.21   0.35
    """
    several = as_embeddings(embeddings)
    at_least("draws", draws, 2)
    check_interval(prob, kind)
    asked: list[Benchmark]
    if isinstance(benchmark, str | PathLike) or not isinstance(benchmark, Sequence):
        asked = [benchmark]
    else:
        asked = list(benchmark)
    if not asked:
        raise SpecError("'benchmark' is empty; name at least one benchmark of similarity.")
    # What cannot be found is told before anything is computed.
    read = [similarity_pairs(each) for each in asked]
    one_seed = as_seed(seed)
    frames = []
    for name, pairs in read:
        rng = np.random.default_rng(one_seed)
        try:
            frames.append(_similarity(several, name, pairs, (draws, prob, kind), matching, rng))
        except VocabularyError as err:
            if len(asked) == 1:
                raise
            warn(str(err))
            frames.append(_no_similarity(several, name, pairs, matching))
    if all(frame["spearman"].isna().all() for frame in frames):
        raise VocabularyError(
            f"{_names(several)} have too few pairs of every benchmark: "
            f"{quoted([name for name, _ in read])}."
        )
    return pd.concat(frames, ignore_index=True)


def _no_similarity(
    several: Sequence[Embedding], name: str, pairs: Sequence[Pair], matching: Matching | None
) -> pd.DataFrame:
    """Return the rows of a benchmark of which too few pairs are left."""
    _, in_all = _common_rows(several, [[pair.first, pair.second] for pair in pairs], matching)
    missing = [np.array([np.nan, np.nan])] * len(several)
    return pd.DataFrame(
        {
            "embedding": embedding.name,
            "benchmark": name,
            **_coverage(in_all),
            **_compared("spearman", [np.nan] * len(several), missing, i, 0.89, "eti"),
        }
        for i, embedding in enumerate(several)
    )


def _coverage(in_all: npt.NDArray[np.bool_]) -> dict[str, float]:
    number = int(in_all.sum())
    return {"n_pairs": number, "n_lost": len(in_all) - number, "coverage": number / len(in_all)}


def _similarity(
    several: Sequence[Embedding],
    name: str,
    pairs: Sequence[Pair],
    how: tuple[int, float, Kind],
    matching: Matching | None,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Return the rows of one benchmark; `how` are the draws, the probability and the kind."""
    draws, prob, kind = how
    words = [[pair.first, pair.second] for pair in pairs]
    rows, in_all = _common_rows(several, words, matching)
    number = int(in_all.sum())
    if number < _LEAST_PAIRS:
        raise VocabularyError(
            f"only {number} of the {len(pairs)} pairs of {name!r} have both words in "
            f"{_names(several)}, and {_LEAST_PAIRS} are needed; use a larger vocabulary or another "
            "list."
        )
    scores = np.array([[pair.score for pair in pairs]])[:, in_all]
    cosines = [
        (unit_vectors(embedding, both[in_all, 0]) * unit_vectors(embedding, both[in_all, 1]))
        .sum(axis=1)
        .reshape(1, -1)
        for embedding, both in zip(several, rows, strict=True)
    ]
    weights = rng.standard_exponential((draws, number))
    values = [_spearman(c, scores, np.ones((1, number)))[0] for c in cosines]
    drawn = [_spearman(c, scores, weights) for c in cosines]
    records = [
        {
            "embedding": embedding.name,
            "benchmark": name,
            **_coverage(in_all),
            **_compared("spearman", values, drawn, i, prob, kind),
        }
        for i, embedding in enumerate(several)
    ]
    return pd.DataFrame(records)


def word_analogies(
    embeddings: EmbeddingLike | Iterable[EmbeddingLike],
    benchmark: Benchmark = "basic",
    *,
    exclude: bool = True,
    limit: int | None = None,
    draws: int = 2000,
    prob: float = 0.89,
    kind: Kind = "hdi",
    matching: Matching | None = None,
    seed: Seed = 0,
) -> pd.DataFrame:
    """Count the analogies that an embedding completes: a is to b as c is to what.

    The answer is the word nearest to b − a + c, of vectors of length one (3CosAdd).

    Parameters
    ----------
    embeddings : Embedding, str, path-like or list of them
        Where to measure, by themselves or by name; their names must differ. Questions with a word
        that one of them lacks are left out for all.
    benchmark : str or path-like, default "basic"
        ``"basic"`` (six relations of twelve pairs each), ``"google_analogies"`` (the file
        ``questions-words.txt``), ``"bats"`` (downloaded when it is first used; the first of its
        answers counts), or a file of four words in each line, with lines such as ``: capitals``
        before the questions of a section, or the archive of BATS.
    exclude : bool, default True
        Whether the answer may not be one of the three words of the question, as is usual.
    limit : int, optional
        The number of first words that are used, in questions and as answers; in most files these
        are the most frequent ones.
    draws : int, default 2000
        The number of draws of the bootstrap.
    prob : float, default 0.89
        Probability of the intervals.
    kind : {"hdi", "eti"}, default "hdi"
        The narrowest interval, or one with equal probability on either side.
    matching : Matching, optional
        How words are matched; that of each embedding by default.
    seed : int, Generator or None, default 0
        Same seed, same result.

    Returns
    -------
    DataFrame
        For each embedding one row per section, and one for ``all sections``: ``embedding``,
        ``benchmark``, ``section``, ``n_questions`` asked, ``n_lost``, ``accuracy`` with ``lower``
        and ``upper``; and the ``change`` from the first embedding, with ``change_lower``,
        ``change_upper`` and ``prob_change_negative`` from the same resamples.

    Raises
    ------
    NotFoundError
        If there is no such benchmark.
    DataError
        If a line of the file does not have four words; the message has its number.
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
    >>> result = bb.debias_effects.word_analogies("demo", "basic")
    >>> result[["section", "n_questions", "accuracy", "lower", "upper"]].round(2)
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
    rng = np.random.default_rng(as_seed(seed))
    check_interval(prob, kind)
    if limit is not None:
        at_least("limit", limit, 1)
    name, questions = analogy_questions(benchmark)
    rows, in_all = _common_rows(several, [list(q[1:]) for q in questions], matching, limit)
    if not in_all.any():
        raise VocabularyError(
            f"none of the {len(questions)} questions of {name!r} has all its words in "
            f"{_names(several)}; use a larger vocabulary or another benchmark."
        )
    right, closeness = [], []
    for embedding, words in zip(several, rows, strict=True):
        answers, best = _answers(embedding, words[in_all], exclude=exclude, limit=limit)
        right.append(answers == words[in_all, 3])
        closeness.append(best)
    # Where the cosines of the answers are the same to the last digit, nothing has changed at all.
    same = [np.array_equal(best, closeness[0]) for best in closeness]
    asked = [
        question for question, is_complete in zip(questions, in_all, strict=True) if is_complete
    ]
    sections = list(dict.fromkeys(question.section for question in questions))
    number = dict.fromkeys(sections, 0) | {_ALL: len(questions)}
    for question in questions:
        number[question.section] += 1
    drawn = _accuracy_draws(asked, right, same, sections, draws, rng)
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
    before: EmbeddingLike,
    after: EmbeddingLike,
    words: Iterable[str] | None = None,
    *,
    k: int = 10,
    n_words: int = 500,
    vocabulary: int = 10_000,
    matching: Matching | None = None,
    seed: Seed = 0,
) -> pd.DataFrame:
    """Measure which of their nearest neighbours words have kept.

    Parameters
    ----------
    before, after : Embedding, str or path-like
        The embedding before and after a change; words that one of them lacks are left out.
    words : iterable of str, optional
        The words to look at; by default a random sample of frequent ones.
    k : int, default 10
        How many neighbours, by cosine.
    n_words : int, default 500
        The size of the sample.
    vocabulary : int, default 10,000
        The number of first words of `before` that the sample is from; in most files these are the
        most frequent ones.
    matching : Matching, optional
        How given words are matched; that of each embedding by default.
    seed : int, Generator or None, default 0
        Of the sample; same seed, same words.

    Returns
    -------
    DataFrame
        One row per word, those that kept least first: ``word``, ``kept``, the share of the `k`
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
    both = (as_embedding(before, "before"), as_embedding(after, "after"))
    at_least("k", k, 1)
    if words is None:
        at_least("n_words", n_words, 1)
        at_least("vocabulary", vocabulary, 1)
        matching = Matching(("exact",))
        chosen = _sample(*both, n_words, vocabulary, as_seed(seed))
    else:
        chosen = list(dict.fromkeys(word_list("words", words)))
    rows = [_row_of(_matched(embedding, chosen, matching)) for embedding in both]
    shared = [word for word in chosen if all(word in row_of for row_of in rows)]
    lost = [word for word in chosen if word not in set(shared)]
    if not shared:
        raise VocabularyError(
            f"{_names(both)} have none of the words in common ({quoted(lost, 4)}); give others."
        )
    if lost:
        warn(f"{both[0].name} or {both[1].name} lacks words, left out: {quoted(lost, 5)}")
    near = [
        _neighbours(embedding, np.array([row_of[word] for word in shared], dtype=np.intp), k)
        for embedding, row_of in zip(both, rows, strict=True)
    ]
    records = []
    for word, old, new in zip(shared, *near, strict=True):
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


def _matched(embedding: Embedding, words: Iterable[str], matching: Matching | None) -> MatchedWords:
    """Find words, each by its first form that the vocabulary has."""
    return embedding.match(words, as_matching(matching, embedding).changed(strategy="first"))


def _row_of(matched: MatchedWords) -> dict[str, int]:
    """Return the row of each word that was found."""
    return dict(zip(matched.found, matched.rows.tolist(), strict=True))


def _neighbours(embedding: Embedding, rows: Codes, k: int) -> list[list[str]]:
    """Return the nearest words of some rows, without the words themselves."""
    vectors = unit_vectors(embedding, rows)
    nearby, _ = nearest(embedding, vectors, k, exclude=list(rows[:, None]))
    return [[embedding.words[row] for row in near] for near in nearby]


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


def _names(embeddings: Sequence[Embedding]) -> str:
    return enumerated([repr(embedding.name) for embedding in embeddings])


def _common_rows(
    embeddings: Sequence[Embedding],
    items: Sequence[Sequence[str]],
    matching: Matching | None,
    limit: int | None = None,
) -> tuple[list[Codes], npt.NDArray[np.bool_]]:
    """Return the rows of the words of each item, and which items all embeddings have."""
    words = list(dict.fromkeys(word for item in items for word in item))
    in_all = np.ones(len(items), dtype=bool)
    rows = []
    for embedding in embeddings:
        matched = _matched(embedding, words, matching)
        row_of = _row_of(matched)
        rows.append(np.array([[row_of.get(w, -1) for w in item] for item in items], dtype=np.intp))
        usable = np.zeros(len(embedding), dtype=bool)
        # A word with a zero vector has no cosine, so it counts as missing.
        usable[matched.rows] = np.asarray(embedding.vectors[matched.rows]).any(axis=1)
        if limit is not None:
            usable[limit:] = False
        in_all &= (usable[rows[-1]] & (rows[-1] >= 0)).all(axis=1)
    return rows, in_all


def _spearman(cosines: Array, scores: Array, weights: Array) -> Array:
    """Return the correlation of the ranks for each draw of weights."""
    parts = []
    for part in blocks(*weights.shape):
        block = weights[part]
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
    return row | {
        "change": change,
        "change_lower": low,
        "change_upper": high,
        "prob_change_negative": fell,
    }


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
    for words in blocks(end, min(len(rows), _QUESTIONS)):
        block = embedding.vectors[words]
        norms = np.linalg.norm(block, axis=1)
        usable = np.isfinite(norms) & (norms > 0)
        unit = block / np.where(usable, norms, 1)[:, None]
        for part in blocks(len(rows), budget=_QUESTIONS):
            closeness = asked[part] @ unit.T
            closeness[:, ~usable] = -np.inf
            if exclude:
                given = rows[part, :3] - words.start
                place = np.nonzero((given >= 0) & (given < len(block)))
                closeness[place[0], given[place]] = -np.inf
            nearest_here = closeness.argmax(axis=1)
            value = closeness[np.arange(len(closeness)), nearest_here]
            # Of equally near words the first counts.
            better = value > best[part]
            best[part] = np.where(better, value, best[part])
            answer[part] = np.where(better, nearest_here + words.start, answer[part])
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
