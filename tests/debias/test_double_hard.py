"""Double-hard debiasing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA

import bayesbias as bb
from bayesbias.debias import base, vector_moments, vector_targets
from bayesbias.errors import SpecError, VocabularyError

PAIRS = [(f"f{i}", f"m{i}") for i in range(5)]
DEFINING = [w for pair in PAIRS for w in pair]
WORDS = [*DEFINING, *(f"w{i}" for i in range(600))]
DIM = 10


@pytest.fixture
def emb(rng: np.random.Generator) -> bb.Embedding:
    """Gender along the first axis; biased words differ along the third as well.

    The second axis has the most variance and the third less, so the third is the second principal
    component. Without it, words that have lost the first axis cannot be told apart.
    """
    vectors = rng.normal(size=(len(WORDS), DIM)) * np.array([1.0, 5.0, 1.0, *[0.7] * 7])
    vectors[:, 2] += 3 * np.sign(vectors[:, 0])
    for i in range(5):
        vectors[2 * i + 1] = vectors[2 * i] + 0.1 * rng.normal(size=DIM)
    vectors[:10:2, 0] += 2
    vectors[1:10:2, 0] -= 2
    return bb.Embedding(WORDS, vectors + 0.5, "planted")


def fitted(
    emb: bb.Embedding, *, equalize: bool = False, **options: Any
) -> bb.debias.DoubleHardDebias:
    options = {"n_components": 6, "n_words": 100, **options}
    pairs = PAIRS[:2] if equalize else None
    return bb.debias.DoubleHardDebias(**options, equalize=pairs).fit(emb, definition=PAIRS)


def parallel(first: np.ndarray, second: np.ndarray) -> bool:
    return abs(float(first @ second)) > 1 - 1e-5


def purified_direction(emb: bb.Embedding, component: np.ndarray) -> np.ndarray:
    """The direction of the pairs without the component, by scikit-learn."""
    vectors = emb.vectors.astype(float)
    vectors = vectors - np.outer(vectors @ component, component)
    pairs = [vectors[[2 * i, 2 * i + 1]] for i in range(5)]
    direction: np.ndarray = (
        PCA(1).fit(np.vstack([p - p.mean(axis=0) for p in pairs])).components_[0]
    )
    return direction


def test_finds_the_component_that_hides_the_bias(emb: bb.Embedding) -> None:
    debiaser = fitted(emb)
    assert debiaser.component_ == 1
    assert debiaser.accuracies_.shape == (6,)
    assert debiaser.accuracies_[1] < 0.6
    assert (np.delete(debiaser.accuracies_, 1) > 0.9).all()
    assert abs(debiaser.directions_[0, 2]) > 0.95
    assert abs(debiaser.directions_[1, 0]) > 0.95


def test_directions_are_scikit_learns(emb: bb.Embedding) -> None:
    debiaser = fitted(emb)
    pca = PCA().fit(emb.vectors.astype(float))
    np.testing.assert_allclose(debiaser.mean_, pca.mean_, atol=1e-6)
    component = pca.components_[debiaser.component_]
    assert parallel(debiaser.directions_[0], component)
    assert parallel(debiaser.directions_[1], purified_direction(emb, component))
    np.testing.assert_allclose(debiaser.directions_ @ debiaser.directions_.T, np.eye(2), atol=1e-9)


def test_accuracies_are_those_of_scikit_learns_clusters(emb: bb.Embedding) -> None:
    debiaser = fitted(emb)
    vectors = emb.vectors.astype(float)
    differences = vectors[0:10:2] - vectors[1:10:2]
    direction = np.linalg.svd(differences)[2][0]
    leaning = vectors[10:] @ direction / np.linalg.norm(vectors[10:], axis=1)
    order = 10 + np.argsort(leaning)
    chosen = np.concatenate([order[:100], order[-100:]])
    pca = PCA().fit(vectors)
    for place, component in enumerate(pca.components_[:6]):
        both = np.vstack([component, purified_direction(emb, component)])
        words = vectors[chosen] - pca.mean_
        words = words - words @ both.T @ both
        labels = KMeans(2, n_init=20, random_state=0).fit_predict(words)
        right = (labels == np.repeat([0, 1], 100)).mean()
        assert debiaser.accuracies_[place] == pytest.approx(max(right, 1 - right), abs=0.02)


def test_all_words_are_changed(emb: bb.Embedding) -> None:
    debiaser = fitted(emb)
    after = debiaser.transform(emb)
    centred = emb.vectors.astype(float) - emb.vectors.astype(float).mean(axis=0)
    expected = centred - centred @ debiaser.directions_.T @ debiaser.directions_
    np.testing.assert_allclose(after.vectors, expected, atol=1e-5)
    np.testing.assert_allclose(after.vectors @ debiaser.directions_.T, 0, atol=1e-5)


def test_other_words_stay_to_the_bit(emb: bb.Embedding) -> None:
    after = fitted(emb).transform(emb, target=["w1", "w2"])
    changed = (after.vectors != emb.vectors).any(axis=1)
    assert [WORDS[i] for i in np.flatnonzero(changed)] == ["w1", "w2"]


def test_less_is_left_than_by_hard_debiasing(demo: bb.Embedding) -> None:
    """As in the paper, on GloVe vectors: what clusters find falls far below what it was."""
    query = bb.Query([["he", "his", "man"], ["she", "her", "woman"]], [], ["male", "female"])
    test = bb.metrics.ClusterTest(original=demo)
    hard, double = (
        test.run_query(query, debiaser.fit(demo).transform(demo)).value
        for debiaser in (bb.debias.HardDebias(), bb.debias.DoubleHardDebias())
    )
    assert double < hard - 0.1


def test_which_words_are_clustered(emb: bb.Embedding) -> None:
    whole = bb.debias.DoubleHardDebias(n_components=3, n_words=100).fit(emb, definition=PAIRS)
    # The second half of the vocabulary says nothing of gender, and is not looked at.
    vectors = np.array(emb.vectors)
    vectors[310:, 0] *= 100
    shifted = bb.Embedding(WORDS, vectors, "shifted")
    first = bb.debias.DoubleHardDebias(n_components=3, n_words=50, vocabulary=310)
    rows = first._most_biased(shifted, np.eye(DIM)[0], np.arange(10))
    assert rows.shape == (2, 50)
    assert rows.max() < 310
    assert rows.min() >= 10
    excluded = [f"w{i}" for i in range(0, 600, 2)]
    half = bb.debias.DoubleHardDebias(n_components=3, n_words=100, exclude=excluded).fit(
        emb, definition=PAIRS
    )
    assert not np.array_equal(half.accuracies_, whole.accuracies_)
    np.testing.assert_allclose(half.mean_, whole.mean_)
    rows = half._most_biased(emb, np.eye(DIM)[0], np.array([10, 11, 599]))
    leaning = emb.vectors[:, 0] / np.linalg.norm(emb.vectors, axis=1)
    assert not {10, 11, 599} & set(rows.ravel().tolist())
    assert leaning[rows[0]].max() < leaning[rows[1]].min()


def test_equalised_pairs(emb: bb.Embedding) -> None:
    debiaser = fitted(emb, equalize=True)
    plain = fitted(emb).transform(emb)
    after = debiaser.transform(emb)
    np.testing.assert_array_equal(after.vectors[4:], plain.vectors[4:])
    for first, second in PAIRS[:2]:
        closeness = after.vectors[10:] @ np.column_stack([after[first], after[second]])
        np.testing.assert_allclose(closeness[:, 0], closeness[:, 1], atol=1e-4)
        lengths = [np.linalg.norm(plain[w]) for w in (first, second)]
        for word in (first, second):
            assert np.linalg.norm(after[word]) == pytest.approx(np.mean(lengths), rel=1e-4)
        apart = (after[first] - after[second]) @ debiaser.directions_[1]
        pointed = (emb[first] - emb[second]) @ debiaser.directions_[1]
        assert apart * pointed > 0


def test_seed(emb: bb.Embedding) -> None:
    first, second = (fitted(emb, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.accuracies_, second.accuracies_)
    np.testing.assert_array_equal(first.directions_, second.directions_)
    drawn = fitted(emb, seed=np.random.default_rng(3))
    again = fitted(emb, seed=np.random.default_rng(3))
    np.testing.assert_array_equal(drawn.accuracies_, again.accuracies_)


def test_no_more_components_than_dimensions(emb: bb.Embedding) -> None:
    assert fitted(emb, n_components=20).accuracies_.shape == (DIM,)


def test_a_far_centre_is_no_matter(emb: bb.Embedding, monkeypatch: pytest.MonkeyPatch) -> None:
    far = bb.Embedding(WORDS, emb.vectors + np.float32(30), "far")
    monkeypatch.setattr(vector_moments, "_BLOCK", 64)
    for here, there in zip(fitted(emb).directions_, fitted(far).directions_, strict=True):
        assert abs(here @ there) > 1 - 1e-4


def test_an_interrupted_run_goes_on(
    emb: bb.Embedding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another debiaser, fitted alike, finishes what one has begun."""
    out = tmp_path / "after.npy"
    monkeypatch.setattr(base, "_BLOCK", 100)
    append = vector_targets.FileTarget.append
    written: list[int] = []

    def failing(self: vector_targets.FileTarget, rows: np.ndarray) -> None:
        if len(written) == 3:
            raise KeyboardInterrupt
        written.append(len(rows))
        append(self, rows)

    with monkeypatch.context() as patch:
        patch.setattr(vector_targets.FileTarget, "append", failing)
        with pytest.raises(KeyboardInterrupt):
            fitted(emb, equalize=True).transform(emb, out=out)
        written[:] = []
        patch.setattr(
            vector_targets.FileTarget,
            "append",
            lambda self, rows: (written.append(len(rows)), append(self, rows)),
        )
        after = fitted(emb, equalize=True).transform(emb, out=out)
    assert sum(written) == len(WORDS) - 300
    expected = fitted(emb, equalize=True).transform(emb).vectors
    np.testing.assert_array_equal(after.vectors, expected)


def test_bad_input(emb: bb.Embedding) -> None:
    fit = bb.debias.DoubleHardDebias().fit
    with pytest.raises(SpecError, match=r"holds \('f0', 'm0', 'w0'\); expected pairs"):
        fit(emb, definition=[("f0", "m0", "w0")])
    with pytest.raises(
        VocabularyError, match="lacks a word of each of the 1 pairs or sets of 'defin"
    ):
        fit(emb, definition=[("he", "she")])
    for name, value, least in (
        ("n_components", 0, 1),
        ("n_words", 4, 5),
        ("vocabulary", 19, 20),
        ("seed", -1, 0),
    ):
        match = f"'{name}' is {value}; expected a whole number, {least} or more"
        with pytest.raises(SpecError, match=match):
            fitted(emb, **{name: value})
    with pytest.raises(SpecError, match="'planted' has 19 words besides those excluded, and 20"):
        fitted(emb.subset(WORDS[:29]))
    vectors = np.array(emb.vectors)
    vectors[1] = vectors[0]
    same = bb.Embedding(WORDS, vectors, "same")
    with pytest.raises(SpecError, match="pairs of 'definition' differ in nothing, or along a"):
        fit(same, definition=[("f0", "m0")])
