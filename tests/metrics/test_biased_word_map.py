"""The map of words that lean to a side, against scikit-learn and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

import bayesbias as bb
from bayesbias.errors import SpecError


@pytest.fixture(scope="module")
def debiased(demo: bb.Embedding) -> bb.Embedding:
    return bb.debias.HardDebias().fit(demo).transform(demo)


def query() -> bb.Query:
    lists = bb.word_sets("bolukbasi")
    return bb.Query([lists["male_terms"], lists["female_terms"]], [], ["male", "female"])


def unit(emb: bb.Embedding, words: list[str]) -> np.ndarray:
    vectors = np.array([emb[word] for word in words], dtype=float)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_places_are_scikit_learns(demo: bb.Embedding, debiased: bb.Embedding) -> None:
    table = bb.metrics.map_biased_words([demo, debiased], n_words=40)
    for emb in (demo, debiased):
        part = table[table["embedding"] == emb.name]
        expected = PCA(2).fit_transform(unit(emb, part["word"].tolist()))
        got = part[["x", "y"]].to_numpy()
        for axis in (0, 1):  # a component has no sign
            sign = np.sign(expected[:, axis] @ got[:, axis])
            np.testing.assert_allclose(got[:, axis], sign * expected[:, axis], atol=1e-6)


def test_tsne_is_scikit_learns(demo: bb.Embedding) -> None:
    table = bb.metrics.map_biased_words(demo, n_words=15, method="tsne", seed=3)
    tsne = TSNE(2, init="pca", perplexity=29 / 3, random_state=3)
    expected = tsne.fit_transform(unit(demo, table["word"].tolist()))
    np.testing.assert_allclose(table[["x", "y"]], expected, rtol=1e-4, atol=1e-3)


def test_words_lean_most_in_the_first_embedding(demo: bb.Embedding, debiased: bb.Embedding) -> None:
    table = bb.metrics.map_biased_words([demo, debiased], n_words=30)
    words = {name: part["word"].tolist() for name, part in table.groupby("embedding")}
    assert words[demo.name] == words[debiased.name]
    lists = [[word.lower() for word in side] for side in query().target_sets]
    axis = unit(demo, lists[0]).mean(axis=0) - unit(demo, lists[1]).mean(axis=0)
    rest = [word for word in demo.words if word not in {*lists[0], *lists[1]}]
    leaning = unit(demo, rest) @ axis
    order = [rest[i] for i in np.argsort(leaning)]
    assert set(words[demo.name][:30]) == set(order[-30:])
    assert set(words[demo.name][30:]) == set(order[:30])
    for emb in (demo, debiased):
        test = bb.metrics.ClusterTest(n_words=30, original=demo)
        assert table.attrs["purity"][emb.name] == test.run_query(query(), emb, seed=0).value


def test_a_map_needs_two_sides_and_a_method(demo: bb.Embedding) -> None:
    with pytest.raises(SpecError, match="'method'"):
        bb.metrics.map_biased_words(demo, method="umap")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="two target sets"):
        bb.metrics.map_biased_words(demo, bb.Query([["he"]], []))


def test_a_map_needs_words_that_lean_to_a_side(demo: bb.Embedding) -> None:
    same = bb.Query([["he"], ["he"]], [])
    with (
        pytest.warns(bb.errors.BayesBiasWarning),
        pytest.raises(SpecError, match="no words lean to a side in 'demo'"),
    ):
        bb.metrics.map_biased_words(demo, same)
