"""PMI bias: counts by hand, SciPy's odds ratios, simulated corpora and bootstrap samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats.contingency import odds_ratio, relative_risk

import bayesbias as bb
from bayesbias.errors import DataError, SpecError
from bayesbias.metrics import pmi_bias

SHE = ["she", "her", "herself"]
HE = ["he", "him", "his", "himself"]


def question(*lists: list[str]) -> bb.Query:
    return bb.Query([SHE, HE], lists, ["she", "he"], [f"list {k}" for k in range(len(lists))])


def counted_by_hand(
    corpus: bb.corpus.Corpus, group: list[str], word: str, window: int, min_count: int
) -> tuple[int, int]:
    """Return the pairs of a group with a word, and with any word."""
    kept = set(corpus.counts(min_count)["word"])
    near = total = 0
    for document in corpus:
        words = [w for w in document if w in kept]
        for place, member in enumerate(words):
            if member in group:
                around = words[max(place - window, 0) : place] + words[place + 1 :][:window]
                near += around.count(word)
                total += len(around)
    return near, total


@pytest.fixture(scope="module")
def novels() -> bb.corpus.Corpus:
    return bb.corpus.Corpus(list(bb.read_corpus("demo").lines())[:1_200], name="novels")


def test_counts_and_odds_ratios_are_those_of_scipy(novels: bb.corpus.Corpus) -> None:
    words = ["sister", "house", "father"]
    found = pmi_bias(novels, question(words), window=7, smoothing=0, independent="pairs", prob=0.95)
    for row in found.table.to_dict("records"):
        (a, total_a), (b, total_b) = (
            counted_by_hand(novels, group, row["word"], 7, 5) for group in (SHE, HE)
        )
        assert (row["near_first"], row["near_second"]) == (a, b)
        assert row["bias"] == pytest.approx(np.log((a / total_a) / (b / total_b)))
        assert row["pmi_first"] - row["pmi_second"] == pytest.approx(row["bias"])
        theirs = odds_ratio([[a, b], [total_a - a, total_b - b]], kind="sample")
        assert row["log_odds_ratio"] == pytest.approx(np.log(theirs.statistic))
        low, high = np.log(theirs.confidence_interval(0.95))
        half = (high - low) / 2
        assert row["lower"] == pytest.approx(row["bias"] - half)
        assert row["upper"] == pytest.approx(row["bias"] + half)
        assert row["p_value"] == pytest.approx(2 * norm.sf(abs(high + low) / 2 / (half / 1.959964)))


def test_the_pmi_is_that_of_all_pairs(novels: bb.corpus.Corpus) -> None:
    found = pmi_bias(novels, question(["sister"]), window=4, smoothing=0).table.iloc[0]
    kept = set(novels.counts(5)["word"])
    everything = of_sister = 0
    for document in novels:
        words = [w for w in document if w in kept]
        for place, word in enumerate(words):
            around = len(words[max(place - 4, 0) : place] + words[place + 1 :][:4])
            everything += around
            of_sister += around * (word == "sister")
    near, total = counted_by_hand(novels, SHE, "sister", 4, 5)
    expected = np.log((near / everything) / ((total / everything) * (of_sister / everything)))
    assert found["pmi_first"] == pytest.approx(expected)


def test_smoothing_adds_to_each_pair_of_words(novels: bb.corpus.Corpus) -> None:
    words = ["sister", "father"]
    plain = pmi_bias(novels, question(words), smoothing=0, independent="pairs")
    smooth = pmi_bias(novels, question(words), smoothing=2, independent="pairs")
    size = len(novels.counts(5))
    sizes = [len([w for w in g if w in set(novels.counts(5)["word"])]) for g in (SHE, HE)]
    for rows, number in ((smooth.table, 1), (smooth.lists, 2)):
        row = rows.iloc[0]
        shares = []
        for group, near, n in zip((SHE, HE), ("near_first", "near_second"), sizes, strict=True):
            total = counted_by_hand(novels, group, "sister", 10, 5)[1]
            shares.append((row[near] + 2 * n * number) / (total + 2 * n * size))
        assert row["bias"] == pytest.approx(np.log(shares[0] / shares[1]))
    pooled, single = plain.lists.iloc[0], plain.table
    assert pooled["near_first"] == single["near_first"].sum()
    assert pooled["near_second"] == single["near_second"].sum()


def test_the_published_interval() -> None:
    # "abdicate" and "abbey" in the subtitles: bias, standard error and 95% interval as published
    # (github.com/ftvalentini/BiasPMI, results/experiments_results.csv).
    for bias, error, lower, upper in (
        (-0.9770767039984086, 0.142884549958955, -1.2571252758651743, -0.6970281321316427),
        (0.3718916995087954, 0.0535568919144739, 0.2669221202325221, 0.4768612787850687),
    ):
        half = norm.ppf(0.975) * error
        assert (bias - half, bias + half) == pytest.approx((lower, upper))


def simulated(rng: np.random.Generator, spread: float) -> bb.corpus.Corpus:
    """Return a corpus without bias, whose documents differ in how full of the word they are.

    In a document, the word of one group and a verb take turns.
    """
    documents = []
    for number in range(300):
        member = "she" if number % 2 else "he"
        share = 1 / (1 + np.exp(2.2 - spread * rng.normal()))
        words = np.where(rng.random(8) < share, "sews", "walks")
        documents.append([part for word in words for part in (member, str(word))])
    return bb.corpus.Corpus(documents, name="simulated")


def coverage(spread: float, independent: str, truth: float) -> float:
    rng = np.random.default_rng(7)
    query = bb.Query([["she"], ["he"]], [["sews"]], ["she", "he"], ["verb"])
    inside = 0
    for _ in range(150):
        found = pmi_bias(
            simulated(rng, spread),
            query,
            window=1,
            min_count=1,
            independent=independent,  # type: ignore[arg-type]
            progress=False,
        ).table.iloc[0]
        inside += found["lower"] < truth < found["upper"]
    return inside / 150


@pytest.mark.slow
def test_intervals_by_document_cover_where_those_by_pair_do_not() -> None:
    # Four standard errors of a share of 150 are 0.1.
    assert coverage(1.5, "documents", 0.0) > 0.79
    assert coverage(1.5, "pairs", 0.0) < 0.7


def test_p_values_of_frequent_words() -> None:
    """Each pair is with one of two verbs, so they are two sides of one test."""
    query = bb.Query([["she"], ["he"]], [["sews"], ["walks"]], ["she", "he"], ["one", "other"])
    corpus = simulated(np.random.default_rng(1), 1.5)
    found = pmi_bias(corpus, query, window=1, min_count=1, smoothing=0, progress=False)
    sews, walks = found.table.to_dict("records")
    assert sews["p_value"] == pytest.approx(walks["p_value"])
    # That of the rarer verb is also the test of its bias by the error of the bias.
    assert sews["p_value"] == pytest.approx(2 * norm.sf(abs(sews["bias"]) / sews["se"]), abs=0.01)


def test_errors_of_words_that_are_in_many_pairs() -> None:
    """The error of a log ratio of shares, not of odds, which is wider by 1 / (1 - share)."""
    rng = np.random.default_rng(4)
    query = bb.Query([["she"], ["he"]], [["sews"]], ["she", "he"], ["verb"])
    documents = []
    for member, number in (("she", 900), ("he", 1_400)):
        verbs = np.where(rng.random(number) < 0.4, "sews", "walks")
        documents += [[member, str(verb)] for verb in verbs]
    corpus = bb.corpus.Corpus(documents)
    row = pmi_bias(corpus, query, smoothing=0, progress=False).table.iloc[0]
    # Relative risk, as epidemiologists know it.
    counts = [int(row["near_first"]), int(row["near_second"])]
    known = relative_risk(counts[0], 900, counts[1], 1_400)
    assert row["bias"] == pytest.approx(np.log(known.relative_risk))
    assert (row["lower"], row["upper"]) == pytest.approx(
        np.log(known.confidence_interval(0.89)), abs=1e-3
    )
    # The test of the bias by its error is then also that of the odds.
    assert row["p_value"] == pytest.approx(2 * norm.sf(abs(row["bias"]) / row["se"]), abs=0.01)


@pytest.mark.slow
def test_pairs_that_are_independent() -> None:
    rng = np.random.default_rng(3)
    query = bb.Query([["she"], ["he"]], [["sews"]], ["she", "he"], ["verb"])
    truth = np.log(0.1 / 0.06)
    inside = {"pairs": 0, "documents": 0}
    biases, errors = [], []
    for _ in range(200):
        documents = []
        for member, share, number in (("she", 0.1, 900), ("he", 0.06, 1_400)):
            verbs = np.where(rng.random(number) < share, "sews", "walks")
            documents += [[member, str(verb)] for verb in verbs]
        corpus = bb.corpus.Corpus(documents)
        for independent in inside:
            row = pmi_bias(
                corpus,
                query,
                smoothing=0,
                independent=independent,  # type: ignore[arg-type]
                progress=False,
            ).table.iloc[0]
            inside[independent] += row["lower"] < truth < row["upper"]
        biases.append(row["bias"])
        errors.append(row["se"])
    for number in inside.values():
        assert number / 200 == pytest.approx(0.89, abs=0.07)
    # The closed form is the spread of the bias from corpus to corpus.
    assert np.mean(errors) == pytest.approx(np.std(biases), rel=0.2)


@pytest.mark.slow
def test_errors_by_document_are_those_of_the_bootstrap(novels: bb.corpus.Corpus) -> None:
    query = question(["very", "much"], ["time", "know", "think", "well"])
    found = pmi_bias(novels, query, min_count=1, smoothing=0)
    texts = list(novels.lines())
    rng = np.random.default_rng(0)
    draws = []
    for _ in range(60):
        sample = bb.corpus.Corpus([texts[k] for k in rng.integers(len(texts), size=len(texts))])
        again = pmi_bias(sample, query, min_count=1, smoothing=0, progress=False)
        draws.append(list(again.lists["bias"]))
    bootstrap = np.std(draws, axis=0, ddof=1)
    # A standard deviation of 60 draws has an error of 9 per cent.
    np.testing.assert_allclose(found.lists["se"], bootstrap, rtol=0.3)
    by_pair = pmi_bias(novels, query, min_count=1, smoothing=0, independent="pairs")
    assert (found.lists["se"] > 1.1 * by_pair.lists["se"]).any()


def test_words_are_written_as_the_corpus_writes_them() -> None:
    corpus = bb.corpus.Corpus(["She sews well", "he rides well"] * 6, name="small")
    query = bb.Query([["She"], ["HE", "lord"]], [["sews", "Well"]], ["w", "m"], ["verbs"])
    found = pmi_bias(corpus, query)
    assert list(found.table["word"]) == ["sews", "well"]
    assert found.notes[0] == "1 of 2 words of 'm' too rare in the corpus: 'lord'"
    assert "12 documents" in found.notes[1]
    assert "verbs: " in found.summary()
    assert "Note: 1 of 2 words of 'm'" in found.summary()
    kept = bb.corpus.Corpus(["She sews well", "he rides well"] * 6, lower=False)
    with pytest.raises(DataError, match="'corpus' has none of the words of 'm' often enough"):
        pmi_bias(kept, query)


def test_bad_questions(novels: bb.corpus.Corpus) -> None:
    with pytest.raises(SpecError, match=r"has 1 target set and 1 attribute set; PMI bias compares"):
        pmi_bias(novels, bb.Query([SHE], [["sister"]]))
    with pytest.raises(SpecError, match="'her' in both groups, 'she', 'he'"):
        pmi_bias(novels, bb.Query([SHE, [*HE, "her"]], [["sister"]], ["she", "he"]))
    with pytest.raises(SpecError, match="'smoothing' is -1; expected a number, 0 or more"):
        pmi_bias(novels, "weat_8", smoothing=-1)
    with pytest.raises(SpecError, match="'independent' is 'words'; expected one of 'documents'"):
        pmi_bias(novels, "weat_8", independent="words")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'corpus' is a str; expected a Corpus"):
        pmi_bias("demo", "weat_8")  # type: ignore[arg-type]
    corpus = bb.corpus.Corpus(["she sews", "he rides"] * 6)
    query = bb.Query([["she"], ["he"]], [["sews"]])
    with pytest.raises(DataError, match="'sews' never near words of .* Give 'smoothing' above 0"):
        pmi_bias(corpus, query, smoothing=0)
