"""SemBias, PMN and factual association: against brute force, SciPy and figures of the sources."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr, spearmanr

import bayesbias as bb
from bayesbias.errors import DataError, SpecError, VocabularyError

FILE = Path(bb.__file__).parent / "metrics" / "data" / "sembias.tsv"


def unit(emb: bb.Embedding) -> np.ndarray:
    vectors = emb.vectors.astype(float)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def invented() -> bb.Embedding:
    """An embedding that holds every word of SemBias, with random vectors."""
    words = sorted(
        {w for line in FILE.read_text().splitlines() for w in line.replace(":", "\t").split()}
    )
    vectors = np.random.default_rng(2).normal(size=(len(words) + 2, 20))
    return bb.Embedding(["he", "she", *words], vectors, "invented")


# SemBias


def test_items_are_those_of_the_publication() -> None:
    """440 items of 22 definitions and 20 stereotypes, in a file of the authors' length."""
    text = FILE.read_text("utf-8")
    assert len(text) == 26_452
    items = [line.split("\t") for line in text.splitlines()]
    assert len(items) == 440
    assert {len(item) for item in items} == {4}
    definitions, stereotypes = ({item[place] for item in items} for place in (0, 3))
    assert (len(definitions), len(stereotypes)) == (22, 20)
    assert len({(item[0], item[3]) for item in items}) == 440
    # The same words were gathered by Antoniak & Mimno from the same paper.
    gathered = bb.word_sets("bad_seeds")
    for name, pairs in (("zhao_{}", definitions), ("zhao_{}_stereotypes", stereotypes)):
        for place, sex in enumerate(("male", "female")):
            assert {pair.split(":")[place] for pair in pairs} == set(gathered[name.format(sex)])
    # The definitions of the subset.
    assert {item[0] for item in items[-40:]} == {"rake:coquette", "nobleman:noblewoman"}


@pytest.mark.parametrize("normalize", [True, False])
def test_sembias_by_brute_force(invented: bb.Embedding, normalize: bool) -> None:
    vectors = unit(invented) if normalize else invented.vectors.astype(float)
    vector = dict(zip(invented.words, vectors, strict=True))
    step = vector["he"] - vector["she"]
    counts = dict.fromkeys(("definition", "stereotype", "none"), 0)
    for line in FILE.read_text().splitlines():
        cosines = []
        for pair in line.split("\t"):
            a, b = pair.split(":")
            change = vector[a] - vector[b]
            cosines.append(change @ step / np.linalg.norm(change) / np.linalg.norm(step))
        counts[("definition", "none", "none", "stereotype")[int(np.argmax(cosines))]] += 1
    found = bb.metrics.sembias(invented, normalize=normalize, draws=50).table.set_index("answer")
    assert found["n"].to_dict() == counts
    assert found["share"].to_dict() == pytest.approx({k: n / 440 for k, n in counts.items()})


def test_sembias_where_the_answer_is_planted(invented: bb.Embedding) -> None:
    vectors = invented.vectors.astype(float).copy()
    index = invented.index
    step = vectors[index["he"]] - vectors[index["she"]]
    for line in FILE.read_text().splitlines():
        a, b = line.split("\t")[3].split(":")
        vectors[index[a]], vectors[index[b]] = step, -step
    planted = bb.Embedding(invented.words, vectors, "planted")
    found = bb.metrics.sembias(planted, normalize=False, draws=50).table.set_index("answer")
    shares = found.loc["stereotype", ["share", "lower", "upper"]].tolist()
    assert shares == pytest.approx([1.0] * 3)
    assert max(shares) == 1.0


def test_interval_is_of_pairs_and_not_of_items(invented: bb.Embedding) -> None:
    """A crossed bootstrap, drawn here word by word, has the same standard deviation."""
    found = bb.metrics.sembias(invented, draws=4000)
    hit = (found.items["answer"] == "definition").to_numpy(float).reshape(22, 20)
    rng = np.random.default_rng(8)
    draws = [rng.dirichlet(np.ones(22)) @ hit @ rng.dirichlet(np.ones(20)) for _ in range(4000)]
    row = found.table.set_index("answer").loc["definition"]
    assert [row["lower"], row["upper"]] == pytest.approx(
        np.quantile(draws, [0.055, 0.945]), abs=0.01
    )
    items_alone = 1.6 * np.sqrt(hit.mean() * (1 - hit.mean()) / 440)
    assert row["upper"] - row["lower"] > 1.5 * 2 * items_alone


def test_items_with_missing_words(invented: bb.Embedding) -> None:
    without = invented.subset([w for w in invented.words if w not in ("kayak", "widow")])
    found = bb.metrics.sembias(without, draws=20)
    lines = FILE.read_text().splitlines()
    complete = [line for line in lines if "kayak" not in line and "widow" not in line]
    assert found.table["n"].sum() == len(complete)
    assert set(found.missing[without.name]) == {"kayak", "widow"}
    partial = bb.metrics.sembias(without, partial=True, draws=20)
    assert partial.table["n"].sum() == 420
    assert "pairs with these are left out" in partial.summary()


def test_shares_of_answers_are_shown(invented: bb.Embedding) -> None:
    found = bb.metrics.sembias(invented, draws=20)
    row = found.table.set_index("answer").loc["stereotype"]
    shown = f"stereotype {row['share']:.1%} [{row['lower']:.1%}, {row['upper']:.1%}]"
    assert shown in found.summary()
    assert "lacks" not in found.summary()
    assert f"<p>{found.summary()}</p>" in found._repr_html_().replace("&#x27;", "'")
    assert "SemBias: the pair that differs most as he and she do" in found.to_latex()
    assert r"\caption{Mine}" in found.to_latex(caption="Mine")


def test_a_pair_with_one_vector_has_no_direction(invented: bb.Embedding) -> None:
    vectors = invented.vectors.copy()
    vectors[1] = 2 * vectors[0]
    same = bb.Embedding(invented.words, vectors, "same")
    with pytest.raises(SpecError, match="'he' and 'she' have the same vector in 'same'"):
        bb.metrics.sembias(same, draws=20)


def test_the_subset_has_forty_items(invented: bb.Embedding) -> None:
    assert bb.metrics.sembias(invented, held_out=True, draws=20).table["n"].sum() == 40


def test_sembias_refuses(invented: bb.Embedding, demo: bb.Embedding) -> None:
    with pytest.raises(VocabularyError, match="lacks 'qwx' of 'pair'"):
        bb.metrics.sembias(invented, pair=("he", "qwx"))
    with pytest.raises(SpecError, match="two different words"):
        bb.metrics.sembias(invented, pair=("he", "he"))
    with pytest.raises(VocabularyError, match="lacks a word of every item"):
        bb.metrics.sembias(demo.subset(["he", "she", "king"]))


# PMN


def test_pmn_by_brute_force(demo: bb.Embedding) -> None:
    male, female, jobs = ["he", "man"], ["she", "woman"], ["nurse", "engineer", "lawyer"]
    vectors = unit(demo)
    rows = {word: demo.index[word] for word in [*male, *female, *jobs]}
    axis = vectors[[rows[w] for w in male]].mean(axis=0) - vectors[[rows[w] for w in female]].mean(
        axis=0
    )
    expected = []
    for job in jobs:
        order = np.argsort(-(vectors @ vectors[rows[job]]), kind="stable")
        excluded = {rows[word] for word in [*male, *female, job]}
        near = [row for row in order if row not in excluded][:50]
        expected.append(np.mean(vectors[near] @ axis > 0))
    query = bb.Query([male, female], [jobs])
    score = bb.metrics.PMN(k=50).run_query(query, demo)
    assert [score["word_values"][job]["share"] for job in jobs] == pytest.approx(expected)
    assert score.value == pytest.approx(np.mean(expected))
    swapped = bb.metrics.PMN(k=50).run_query(bb.Query([female, male], [jobs]), demo)
    assert swapped.value == pytest.approx(1 - np.mean(expected))


def test_pmn_has_an_interval_and_a_neutral_value(demo: bb.Embedding) -> None:
    query = bb.Query([["he"], ["she"]], [bb.word_sets("manzini")["female_roles"]])
    score = bb.metrics.PMN().posterior(query, demo, draws=500)
    assert score.neutral_value == 0.5
    assert score.lower < score.value < score.upper < 0.5


def test_pmn_without_a_direction_has_no_value(demo: bb.Embedding) -> None:
    query = bb.Query([["he"], ["he"]], [["nurse", "clerk"]])
    with pytest.warns(bb.errors.BayesBiasWarning):
        assert np.isnan(bb.metrics.PMN(k=5).run_query(query, demo).value)


# Factual association


def test_correlations_are_scipys(demo: bb.Embedding) -> None:
    found = bb.metrics.factual_association(demo, draws=100)
    facts = bb.metrics.load_occupations().set_index("word")["percent_women"]
    vectors = dict(zip(demo.words, unit(demo), strict=True))
    axis = vectors["she"] - vectors["he"]
    words = [word for word in facts.index if word in vectors]
    projections = [vectors[word] @ axis / np.linalg.norm(axis) for word in words]
    values = found.table.set_index("correlation")["value"]
    assert values["pearson"] == pytest.approx(pearsonr(facts[words], projections)[0], abs=1e-6)
    assert values["spearman"] == pytest.approx(spearmanr(facts[words], projections)[0], abs=1e-6)
    assert set(found.missing) == set(facts.index) - set(words)
    assert (found.table["lower"] < values.to_numpy()).all()
    assert (found.table["upper"] > values.to_numpy()).all()


def test_correlations_are_shown_with_the_words_that_are_missing(demo: bb.Embedding) -> None:
    facts = {"nurse": 90.0, "clerk": 70.0, "engineer": 10.0, "king": 0.0, "qwx": 5.0}
    found = bb.metrics.factual_association(demo, facts, draws=50, prob=0.5)
    row = found.table.iloc[0]
    shown = f"pearson {row['value']:.2f} [{row['lower']:.2f}, {row['upper']:.2f}]"
    assert shown in found.summary()
    assert "4 words" in found.summary()
    assert "(50% intervals). Not found: qwx." in found.summary()
    assert f"r = {row['value']:.2f} of 4 words with " in repr(found)
    assert found.summary() in found._repr_html_()
    assert "with facts about 4 words, with 50\\% intervals" in found.to_latex()
    assert r"\caption{Mine}" in found.to_latex(caption="Mine")
    del facts["qwx"]
    complete = bb.metrics.factual_association(demo, facts, draws=50)
    assert "Not found" not in complete.summary()


def test_interval_is_like_fishers(demo: bb.Embedding) -> None:
    """For many words with normal numbers, the interval is near Fisher's."""
    rng = np.random.default_rng(4)
    words = [word for word in demo.words if word.isalpha()][:800]
    vectors = dict(zip(demo.words, unit(demo), strict=True))
    axis = vectors["she"] - vectors["he"]
    projections = np.array([vectors[word] @ axis for word in words])
    facts = dict(zip(words, projections + rng.normal(0, projections.std(), 800), strict=True))
    row = bb.metrics.factual_association(demo, facts).table.iloc[0]
    half = 1.598 / np.sqrt(797)
    fisher = np.tanh(np.arctanh(row["value"]) + half * np.array([-1, 1]))
    assert [row["lower"], row["upper"]] == pytest.approx(fisher, abs=0.015)


def test_words_are_ranked_again_in_each_draw(demo: bb.Embedding) -> None:
    """The interval of Spearman's correlation from its definition, draw by draw."""
    listed = ["nurse", "maid", "librarian", "clerk", "captain", "coach", "engineer", "king"]
    facts = dict(zip(listed, [3.0, 8.0, 1.0, 6.0, 2.0, 7.0, 4.0, 5.0], strict=True))
    found = bb.metrics.factual_association(demo, facts, draws=200, seed=3)
    table = found.words.set_index("word").loc[listed]
    drawn = []
    for weights in np.random.default_rng(3).dirichlet(np.ones(len(listed)), 200):
        ranked = [
            [weights[values < value].sum() + weights[values == value].sum() / 2 for value in values]
            for values in (table["fact"].to_numpy(), table["projection"].to_numpy())
        ]
        covariance = np.cov(ranked, aweights=weights)
        drawn.append(covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]))
    row = found.table.set_index("correlation").loc["spearman"]
    assert [row["lower"], row["upper"]] == pytest.approx(np.quantile(drawn, [0.055, 0.945]))


def test_shares_are_those_of_the_table() -> None:
    shares = bb.metrics.load_occupations()
    assert len(shares) == shares["word"].nunique() == 60
    assert shares["percent_women"].between(0, 100).all()
    assert set(shares["year"]) == {2015, 2016}
    # Occupations that one BLS category stands for have one figure.
    of_word = shares.set_index("word")["percent_women"]
    assert len(set(of_word[["physician", "surgeon", "doctor"]])) == 1
    assert of_word["nutritionist"] == of_word["dietitian"] == 94.6


def test_factual_association_refuses(demo: bb.Embedding) -> None:
    with pytest.raises(DataError, match="2 words.*too few"):
        bb.metrics.factual_association(demo, {"nurse": 1, "clerk": 2})
    with pytest.raises(DataError, match="not finite"):
        bb.metrics.factual_association(demo, {"nurse": np.nan, "clerk": 2, "king": 3})
    with pytest.raises(VocabularyError, match="none of the words"):
        bb.metrics.factual_association(demo, {"qwx": 1.0, "xwq": 2.0})
    with pytest.raises(SpecError, match="'facts' is a list"):
        bb.metrics.factual_association(demo, ["nurse"])  # type: ignore[arg-type]
    series = pd.Series({"nurse": 90.0, "clerk": 70.0, "engineer": 10.0, "king": 0.0})
    assert bb.metrics.factual_association(demo, series, draws=50).table["n"].tolist() == [4, 4]
