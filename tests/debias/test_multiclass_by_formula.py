"""Multiclass hard debiasing beside its formula, and where the formula breaks down."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import bayesbias as bb

SETS = [("judaism", "christianity", "islam"), ("synagogue", "church", "mosque")]
OTHERS = [("jewish", "christian", "muslim"), ("rabbi", "priest", "imam")]

Vectors = dict[str, npt.NDArray[np.float64]]


def unit(vector: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return vector / np.linalg.norm(vector)


def neutralised(
    emb: bb.Embedding, basis: npt.NDArray[np.float64], definition: list[tuple[str, ...]]
) -> Vectors:
    """Remove the space from all words but the definitional ones, as the paper does."""
    kept = {word for words in definition for word in words}
    result = {}
    for word in emb.words:
        vector = unit(emb[word].astype(np.float64))
        result[word] = vector if word in kept else unit(vector - basis.T @ (basis @ vector))
    return result


def equalised(vectors: Vectors, basis: npt.NDArray[np.float64], words: tuple[str, ...]) -> Vectors:
    """Return v = u + sqrt(1 − |u|²) (v_b − m_b) / |v_b − m_b|, from the vectors as they are."""
    mean = np.mean([vectors[word] for word in words], axis=0)
    inside = basis.T @ (basis @ mean)
    outside = mean - inside
    result = {}
    for word in words:
        difference = basis.T @ (basis @ vectors[word]) - inside
        result[word] = outside + np.sqrt(1 - outside @ outside) * unit(difference)
    return result


def test_equalised_definitional_words_follow_the_formula(demo: bb.Embedding) -> None:
    emb = demo.subset([w for words in SETS for w in words] + ["nurse", "terrorist", "greedy"])
    debiaser = bb.debias.MulticlassHardDebias().fit(emb, definition=SETS)
    after = debiaser.transform(emb)
    basis = debiaser.directions_
    vectors = neutralised(emb, basis, SETS)
    for words in SETS:
        vectors.update(equalised(vectors, basis, words))
    for word in emb.words:
        np.testing.assert_allclose(after[word], vectors[word], atol=1e-6)


def test_other_sets_to_equalise_keep_where_their_words_pointed(demo: bb.Embedding) -> None:
    """Neutralised first, they differ inside the space by rounding only: the formula has no answer.

    WEFE scales this rounding error to full length. Here a word points where it did before.
    """
    words = [w for group in SETS + OTHERS for w in group]
    emb = demo.subset([*words, "nurse"])
    debiaser = bb.debias.MulticlassHardDebias(equalize=OTHERS).fit(emb, definition=SETS)
    basis = debiaser.directions_
    vectors = neutralised(emb, basis, SETS)
    after = debiaser.transform(emb)
    for group in OTHERS:
        assert max(np.linalg.norm(basis @ vectors[word]) for word in group) < 1e-12
        before = np.array([unit(emb[word].astype(np.float64)) for word in group]) @ basis.T
        before -= before.mean(axis=0)
        inside = np.array([after[word] for word in group]) @ basis.T
        for one, other in zip(inside, before, strict=True):
            assert unit(one) @ unit(other) > 1 - 1e-6
        distances = [after["nurse"] @ after[word] for word in group]
        np.testing.assert_allclose(distances, distances[0], atol=1e-6)
