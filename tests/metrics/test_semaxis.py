from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, SpecError


def simulated(seed: int, dim: int = 6) -> bb.Embedding:
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((30, dim)) * rng.uniform(0.5, 3, (30, 1))
    return bb.Embedding([f"w{i}" for i in range(30)], vectors, "simulated")


QUERY = bb.Query(
    [["w0", "w1", "w2"], ["w3", "w4"]], [["w5", "w6", "w7", "w8"]], ["up", "down"], ["words"]
)


def by_hand(
    emb: bb.Embedding, first: list[str], second: list[str], words: list[str]
) -> dict[str, float]:
    """Return the cosine of each word with the axis, number by number."""
    axis = [
        sum(float(emb[w][i]) for w in first) / len(first)
        - sum(float(emb[w][i]) for w in second) / len(second)
        for i in range(emb.dim)
    ]
    length = sum(a * a for a in axis) ** 0.5
    values = {}
    for word in words:
        vector = [float(x) for x in emb[word]]
        product = sum(a * b for a, b in zip(axis, vector, strict=True))
        values[word] = product / length / sum(x * x for x in vector) ** 0.5
    return values


def test_by_hand() -> None:
    emb = simulated(1)
    expected = by_hand(emb, ["w0", "w1", "w2"], ["w3", "w4"], ["w5", "w6", "w7", "w8"])
    score = bb.metrics.SemAxis().run_query(QUERY, emb)
    assert score.value == pytest.approx(np.mean(list(expected.values())), abs=1e-12)
    assert score["semaxis"] == score.value
    assert score["word_values"] == pytest.approx(expected, abs=1e-12)


@given(st.integers(0, 1000))
def test_invariants(seed: int) -> None:
    emb = simulated(seed)
    value = bb.metrics.SemAxis().run_query(QUERY, emb).value
    swapped = bb.Query(QUERY.target_sets[::-1], QUERY.attribute_sets)
    assert bb.metrics.SemAxis().run_query(swapped, emb).value == pytest.approx(-value, abs=1e-12)
    turn = np.linalg.qr(np.random.default_rng(seed).standard_normal((6, 6)))[0]
    turned = bb.Embedding(emb.words, 3 * emb.vectors @ turn)
    assert bb.metrics.SemAxis().run_query(QUERY, turned).value == pytest.approx(value, abs=1e-5)
    assert -1 <= value <= 1


@given(st.integers(0, 1000), st.lists(st.integers(0, 2), min_size=9, max_size=9))
def test_weights_are_repetitions(seed: int, counts: list[int]) -> None:
    emb = simulated(seed)
    sets = [["w0", "w1", "w2"], ["w3", "w4"], ["w5", "w6", "w7", "w8"]]
    parts = [counts[:3], counts[3:5], counts[5:]]
    if not all(map(any, parts)):
        return
    lists = [
        [w for w, c in zip(words, part, strict=True) for _ in range(c)]
        for words, part in zip(sets, parts, strict=True)
    ]
    expected = by_hand(emb, lists[0], lists[1], sorted(set(lists[2])))
    mean = np.mean([expected[word] for word in lists[2]])
    words = [
        bb.metrics.WordVectors("s", tuple(s), np.array([emb[w] for w in s], dtype=float))
        for s in sets
    ]
    weights = [np.array([part], dtype=float) for part in parts]
    value = bb.metrics.SemAxis().weighted(words[:2], words[2:], weights[:2], weights[2:])
    assert value == pytest.approx([mean], abs=1e-12)


@pytest.mark.parametrize("normalize", [False, True])
def test_neighbours(normalize: bool) -> None:
    emb = simulated(2)
    vectors = emb.vectors.astype(float)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    used = unit if normalize else vectors
    poles = []
    for rows in ([0, 1, 2], [3, 4]):
        steadied = []
        for row in rows:
            order = np.argsort(-(unit @ unit[row]))
            assert order[0] == row
            steadied.append(used[order[:4]].mean(axis=0))  # itself and three more
        poles.append(np.mean(steadied, axis=0))
    axis = poles[0] - poles[1]
    expected = unit[5:9] @ axis / np.linalg.norm(axis)
    score = bb.metrics.SemAxis(neighbours=3).run_query(QUERY, emb, normalize=normalize)
    assert list(score["word_values"].values()) == pytest.approx(expected.tolist(), abs=1e-12)


def test_posterior_influence_words_and_p_value(demo: bb.Embedding) -> None:
    poles = [["he", "man", "boy", "him"], ["she", "woman", "girl", "her"]]
    query = bb.Query(poles, [["engineer", "soldier", "captain"]], ["male", "female"], ["jobs"])
    metric = bb.metrics.SemAxis(neighbours=2)
    score = metric.posterior(query, demo, draws=400)
    assert score.lower < score.value < score.upper
    assert score.prob_above > 0.8
    frame = metric.by_word(query, demo, draws=50)
    assert frame["value"].mean() == pytest.approx(score.value)
    without = metric.influence(query, demo).set_index("word")["value_without"]
    rest = bb.Query([poles[0][1:], poles[1]], query.attribute_sets)
    assert without["he"] == pytest.approx(metric.run_query(rest, demo).value)
    tested = metric.run_query(query, demo, calculate_p_value=True)
    assert tested.p_value < 0.2


def test_no_axis_and_errors(tiny: bb.Embedding) -> None:
    square = bb.Embedding(["n", "s", "e", "w", "x"], [[0, 1], [0, -1], [1, 0], [-1, 0], [1, 1]])
    same = bb.Query([["n", "s"], ["e", "w"]], [["x"]])
    with pytest.warns(BayesBiasWarning, match="is NaN: the two poles have the same mean"):
        assert np.isnan(bb.metrics.SemAxis().run_query(same, square).value)
    with pytest.raises(SpecError, match="'neighbours' is -1; expected a whole number, 0 or"):
        bb.metrics.SemAxis(neighbours=-1)
    query = bb.Query([["he"], ["she"]], [["nurse"]])
    with pytest.raises(SpecError, match="'tiny' has 4 words to choose 5 neighbours from"):
        bb.metrics.SemAxis().run_query(query, tiny, neighbours=5)
