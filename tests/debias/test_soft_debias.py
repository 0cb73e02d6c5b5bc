"""Soft debiasing: whether its matrix is the best there is."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import bayesbias as bb
from bayesbias.debias import soft
from bayesbias.errors import BayesBiasWarning, DataError, SpecError, VocabularyError

PAIRS = [(f"f{i}", f"m{i}") for i in range(4)]
DEFINING = [w for pair in PAIRS for w in pair]
WORDS = [*DEFINING, *(f"w{i}" for i in range(150))]
DIM = 8


@pytest.fixture
def emb(rng: np.random.Generator) -> bb.Embedding:
    """Vectors that vary unequally along directions, pairs that differ along the first two."""
    vectors = rng.normal(size=(len(WORDS), DIM)) * np.linspace(2, 0.5, DIM)
    vectors[:8:2, :2] += 1.5
    vectors[1:8:2, :2] -= 1.5
    return bb.Embedding(WORDS, vectors, "planted")


def unit(vectors: np.ndarray) -> np.ndarray:
    wide = vectors.astype(float)
    return wide / np.linalg.norm(wide, axis=1, keepdims=True)


def objective(t: np.ndarray, w: np.ndarray, n: np.ndarray, b: np.ndarray, strength: float) -> float:
    """The sum as the papers write it, words as columns."""
    kept = (t @ w).T @ (t @ w) - w.T @ w
    bias = (t @ n).T @ (t @ b)
    return float((kept**2).sum() + strength * (bias**2).sum())


def gradient(
    t: np.ndarray, w: np.ndarray, n: np.ndarray, b: np.ndarray, strength: float
) -> np.ndarray:
    kept = (t @ w).T @ (t @ w) - w.T @ w
    bias = (t @ n).T @ (t @ b)
    return 4 * t @ w @ kept @ w.T + 2 * strength * (t @ n @ bias @ b.T + t @ b @ bias.T @ n.T)


def root(products: np.ndarray) -> np.ndarray:
    values, basis = np.linalg.eigh(products)
    return (basis * np.sqrt(np.maximum(values, 0))) @ basis.T


@pytest.mark.parametrize("n_components", [1, 3])
@pytest.mark.parametrize("neutral", [None, ["w0", "w1", "w2", "w3"]])
def test_gradient_vanishes(emb: bb.Embedding, n_components: int, neutral: list[str] | None) -> None:
    strength = 20.0 if neutral is None else 100.0
    debiaser = bb.debias.SoftDebias(strength, n_components, neutral).fit(emb, definition=PAIRS)
    words = unit(emb.vectors)
    rows = range(8, len(WORDS)) if neutral is None else [emb.index[w] for w in neutral]
    parts = words.T, words[list(rows)].T, debiaser.directions_.T, strength
    at_start = np.linalg.norm(gradient(np.eye(DIM), *parts))
    assert np.linalg.norm(gradient(debiaser.matrix_, *parts)) < 1e-4 * at_start
    assert objective(debiaser.matrix_, *parts) < 0.9 * objective(np.eye(DIM), *parts)
    bias = [((t @ parts[1]).T @ (t @ parts[2])) ** 2 for t in (np.eye(DIM), debiaser.matrix_)]
    assert debiaser.bias_left_ == pytest.approx(bias[1].sum() / bias[0].sum(), rel=1e-4)


def problem(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Words, neutral words and a space of bias, as columns, and how much it counts.

    There are so few of them that the closed form has negative eigenvalues for about a third.
    """
    rng = np.random.default_rng(seed)
    d = int(rng.integers(3, 6))
    words = unit(rng.normal(size=(8, d)) * np.exp(0.7 * rng.normal(size=d))).T
    bias = np.linalg.qr(rng.normal(size=(d, int(rng.integers(1, d)))))[0]
    return words, words[:, :2], bias, float(10 ** rng.uniform(0, 3))


@pytest.mark.parametrize("seed", range(12))
def test_agrees_with_a_search(seed: int) -> None:
    words, neutral, bias, strength = problem(seed)
    d = len(words)

    def value(flat: np.ndarray) -> tuple[float, np.ndarray]:
        t = flat.reshape(d, d)
        parts = words, neutral, bias, strength
        return objective(t, *parts), gradient(t, *parts).ravel()

    options = {"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-15, "gtol": 1e-9}
    starts = np.random.default_rng(seed).normal(size=(3, d * d))
    found = [minimize(value, x, jac=True, method="L-BFGS-B", options=options) for x in starts]
    best = min(found, key=lambda result: result.fun)
    ours = soft.best_products(words @ words.T, neutral @ neutral.T, bias.T, strength)
    assert np.linalg.eigvalsh(ours)[0] > -1e-8 * np.linalg.norm(ours)
    assert value(root(ours).ravel())[0] == pytest.approx(best.fun, rel=1e-5, abs=1e-8)
    t = best.x.reshape(d, d)
    np.testing.assert_allclose(
        words.T @ ours @ words, (t @ words).T @ (t @ words), atol=1e-2 * np.abs(ours).max()
    )


def test_closed_form_is_not_always_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cases above hold both kinds, and a search that is cut short says so."""
    monkeypatch.setattr(soft, "_ROUNDS", 1)
    told: list[str] = []
    for seed in range(12):
        words, neutral, bias, strength = problem(seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            soft.best_products(words @ words.T, neutral @ neutral.T, bias.T, strength)
        told += [str(w.message) for w in caught]
    assert 3 <= len(told) <= 9
    assert told[0].startswith("soft debiasing has not quite found its best matrix in 1 rounds")


@given(st.integers(0, 5_000), st.integers(0, 5_000))
def test_no_other_matrix_is_better(seed: int, other: int) -> None:
    words, neutral, bias, strength = problem(seed)
    ours = soft.best_products(words @ words.T, neutral @ neutral.T, bias.T, strength)
    rng = np.random.default_rng(other)
    noise = rng.normal(size=ours.shape)
    step = 10 ** rng.uniform(-4, 0)
    near = ours + step * (noise + noise.T)
    parts = words, neutral, bias, strength
    best = objective(root(ours), *parts)
    assert objective(root(near), *parts) >= best * (1 - 1e-6) - 1e-8


def test_by_hand() -> None:
    """With G = g·I, and h of g neutral: along the bias T² = 1 / (1 + λh/g²), elsewhere 1."""
    words, vectors = ["f", "m"], [np.eye(3)[0], -np.eye(3)[0]]
    for axis in range(3):
        for i in range(10 if axis else 8):
            words.append(f"w{axis}{i}")
            vectors.append(np.eye(3)[axis] * (-1) ** i)
    emb = bb.Embedding(words, 3.0 * np.array(vectors), "axes")
    debiaser = bb.debias.SoftDebias(5.0).fit(emb, definition=[("f", "m")])
    squared = 1 / (1 + 5 * 8 / 10**2)
    np.testing.assert_allclose(debiaser.matrix_, np.diag([squared**0.5, 1, 1]), atol=1e-6)
    assert debiaser.bias_left_ == pytest.approx(squared**2, rel=1e-5)


def test_strength(emb: bb.Embedding) -> None:
    left = []
    for strength in (20, 100, 1000, 1e6):
        debiaser = bb.debias.SoftDebias(strength, 2).fit(emb, definition=PAIRS)
        left.append(debiaser.bias_left_)
    assert left == sorted(left, reverse=True)
    assert left[-1] < 1e-6
    turned = unit(emb.vectors[8:]) @ debiaser.matrix_ @ debiaser.matrix_ @ debiaser.directions_.T
    np.testing.assert_allclose(turned, 0, atol=1e-3)
    with pytest.warns(
        BayesBiasWarning,
        match=r"strength=0\.001 leaves 100\.0% .*'planted'.* larger",
    ):
        debiaser = bb.debias.SoftDebias(0.001).fit(emb, definition=PAIRS)
    np.testing.assert_allclose(debiaser.matrix_, np.eye(DIM), atol=1e-4)


def test_vectors_are_mapped_and_scaled(emb: bb.Embedding) -> None:
    debiaser = bb.debias.SoftDebias(100.0).fit(emb, definition=PAIRS)
    np.testing.assert_allclose(debiaser.matrix_, debiaser.matrix_.T, atol=1e-12)
    expected = unit(unit(emb.vectors) @ debiaser.matrix_)
    np.testing.assert_allclose(debiaser.transform(emb).vectors, expected, atol=1e-6)


def test_turning_the_embedding_changes_nothing(emb: bb.Embedding, rng: np.random.Generator) -> None:
    turn = np.linalg.qr(rng.normal(size=(DIM, DIM)))[0]
    turned = bb.Embedding(WORDS, emb.vectors @ turn, "turned")
    cosines = []
    for e in (emb, turned):
        debiaser = bb.debias.SoftDebias(100.0).fit(e, definition=PAIRS)
        vectors = debiaser.transform(e).vectors
        cosines.append(vectors @ vectors.T)
    np.testing.assert_allclose(cosines[0], cosines[1], atol=1e-4)


def test_directions_without_words_stay(emb: bb.Embedding) -> None:
    wide = np.hstack([emb.vectors, np.zeros((len(WORDS), 3), dtype=np.float32)])
    narrow = bb.debias.SoftDebias(100.0).fit(emb, definition=PAIRS)
    debiaser = bb.debias.SoftDebias(100.0).fit(bb.Embedding(WORDS, wide), definition=PAIRS)
    np.testing.assert_allclose(debiaser.matrix_[:DIM, :DIM], narrow.matrix_, atol=1e-6)
    np.testing.assert_allclose(debiaser.matrix_[DIM:], np.eye(DIM + 3)[DIM:], atol=1e-6)


def test_several_groups(demo: bb.Embedding) -> None:
    debiaser = bb.debias.SoftDebias(200.0, 2).fit(
        demo, definition="manzini:religion_definitional_sets"
    )
    assert debiaser.directions_.shape == (2, demo.dim)
    assert debiaser.bias_left_ < 0.3
    neutral = ["greed", "terrorist", "violent", "cheap"]
    few = bb.debias.SoftDebias(1e5, 2, neutral).fit(
        demo, definition="manzini:religion_definitional_sets"
    )
    assert few.bias_left_ < 0.3
    assert np.linalg.eigvalsh(few.matrix_)[0] > -1e-6


def test_blocks_do_not_matter(emb: bb.Embedding, monkeypatch: pytest.MonkeyPatch) -> None:
    from bayesbias.debias import vector_moments

    whole = bb.debias.SoftDebias(100.0).fit(emb, definition=PAIRS).matrix_
    monkeypatch.setattr(vector_moments, "_BLOCK", 7)
    parts = bb.debias.SoftDebias(100.0).fit(emb, definition=PAIRS).matrix_
    np.testing.assert_allclose(parts, whole, atol=1e-5)


def test_bad_input(emb: bb.Embedding) -> None:
    for strength in (0, -1, np.inf, np.nan, "much", True):
        with pytest.raises(SpecError, match=r"'strength' is .*; expected a number above 0"):
            bb.debias.SoftDebias(strength).fit(emb, definition=PAIRS)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'n_components' is 0; expected a whole number, 1 or"):
        bb.debias.SoftDebias(n_components=0).fit(emb, definition=PAIRS)
    with pytest.raises(SpecError, match="span 4 dimensions; use n_components=4"):
        bb.debias.SoftDebias(n_components=5).fit(emb, definition=PAIRS)
    with pytest.raises(VocabularyError, match="has no word of 'neutral_words' \\('nobody'\\)"):
        bb.debias.SoftDebias(neutral_words=["nobody"]).fit(emb, definition=PAIRS)
    with pytest.raises(SpecError, match="'planted' has no words besides those of 'definit"):
        bb.debias.SoftDebias().fit(emb.subset(DEFINING), definition=PAIRS)


def test_broken_vectors_of_a_mapped_file(emb: bb.Embedding, tmp_path: object) -> None:
    path = f"{tmp_path}/broken.npy"
    emb.save(path)
    raw = np.load(path, mmap_mode="r+")
    raw[60, 2] = np.nan
    raw.flush()
    with pytest.raises(DataError, match="'broken'.*holds NaN or infinite"):
        bb.debias.SoftDebias().fit(bb.load_embedding(path), definition=PAIRS)


def test_vectors_whose_squares_are_too_large_are_refused(emb: bb.Embedding) -> None:
    vectors = emb.vectors.copy()
    vectors[60] *= 1e30
    large = bb.Embedding(emb.words, vectors, "large")
    with (
        np.errstate(over="ignore"),
        pytest.raises(DataError, match="'large' holds vectors that are too large"),
    ):
        bb.debias.DoubleHardDebias().fit(large, definition=PAIRS)
