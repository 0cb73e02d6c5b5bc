"""Repulsion, attraction, neutralisation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize, minimize_scalar

import bayesbias as bb
from bayesbias.debias import base
from bayesbias.debias.ran import gradient, illicit_neighbours
from bayesbias.errors import SpecError

RAN = bb.debias.RepulsionAttractionNeutralization
PAIRS = "bolukbasi:definitional_pairs"


def unit(vectors: np.ndarray) -> np.ndarray:
    double = np.asarray(vectors, dtype=np.float64)
    return double / np.linalg.norm(double, axis=-1, keepdims=True)


def loss(
    x: np.ndarray, word: np.ndarray, near: np.ndarray, axis: np.ndarray, weights: tuple[float, ...]
) -> float:
    """The objective as the paper has it, of one word."""
    x = x / np.linalg.norm(x)
    repulsion = np.abs(near @ x).mean() if len(near) else 0.0
    return float(
        weights[0] * repulsion + weights[1] * abs(word @ x - 1) / 2 + weights[2] * abs(axis @ x)
    )


def illicit(
    emb: bb.Embedding, word: str, axis: np.ndarray, k: int = 100, theta: float = 0.05
) -> np.ndarray:
    """The vectors of the neighbours that are near because of the axis, by the formula of β."""
    vectors = unit(emb.vectors)
    w = vectors[emb.index[word]]
    cosines = vectors @ w
    cosines[emb.index[word]] = -2
    found = []
    for row in np.argsort(-cosines, kind="stable")[:k]:
        v = vectors[row]
        rest = [u - (u @ axis) * axis for u in (w, v)]
        orthogonal = rest[0] @ rest[1] / np.linalg.norm(rest[0]) / np.linalg.norm(rest[1])
        if (w @ v - orthogonal) / (w @ v) > theta:
            found.append(v)
    return np.array(found).reshape(len(found), emb.dim)


@given(
    number=st.integers(0, 6),
    scale=st.floats(0.1, 10),
    weights=st.tuples(*[st.floats(0, 1)] * 3),
    seed=st.integers(0, 1000),
)
def test_gradient(
    number: int, scale: float, weights: tuple[float, float, float], seed: int
) -> None:
    """Against differences of the objective, at random places."""
    rng = np.random.default_rng(seed)
    near, axis, word = unit(rng.normal(size=(number, 7))), *unit(rng.normal(size=(2, 7)))
    x = rng.normal(size=7) * scale
    debiaser = RAN(weights=weights)
    debiaser.direction_ = axis
    sides, counted = debiaser._objective(word[None].astype(np.float32), near.astype(np.float32))
    value, slope = gradient(x[None], sides.astype(np.float64), counted.astype(np.float64))
    expected = loss(x, word, near, axis, weights)
    assert value[0] + weights[1] / 2 == pytest.approx(expected, abs=1e-6)
    numeric = approx_fprime(x, loss, 1e-7, word, near, axis, weights)
    np.testing.assert_allclose(slope[0], numeric, atol=2e-5 / scale)


@pytest.fixture(scope="module")
def fitted(demo: bb.Embedding) -> RAN:
    return RAN().fit(demo, definition=PAIRS)


WORDS = ["nurse", "surgeon", "housewife", "engineer", "london", "receptionist", "water"]


@pytest.fixture(scope="module")
def after(demo: bb.Embedding, fitted: RAN) -> bb.Embedding:
    return fitted.transform(demo, target=WORDS)


def test_the_objective_gets_near_its_minimum(
    demo: bb.Embedding, fitted: RAN, after: bb.Embedding
) -> None:
    """SciPy's minimum of each word, from its start and from where Adam ended, is hardly lower."""
    axis = fitted.direction_
    for word in WORDS:
        near, old = illicit(demo, word, axis), unit(demo[word])
        arguments = (old, near, axis, fitted.weights)
        reached = loss(after[word].astype(np.float64), *arguments)
        assert reached < loss(old, *arguments)
        best = min(
            minimize(loss, x, arguments, method="Powell", options={"maxiter": 3}).fun
            for x in (old, after[word].astype(np.float64))
        )
        assert reached < best + 0.01


def test_the_word_is_anchored_where_it_was(
    demo: bb.Embedding, fitted: RAN, after: bb.Embedding
) -> None:
    alike = {word: float(unit(after[word]) @ unit(demo[word])) for word in WORDS}
    assert min(alike.values()) > 0.4
    assert max(abs(after[word] @ fitted.direction_) for word in WORDS) < 0.02
    # The more the anchor counts, the less a word moves: the weights of the authors' program.
    near = RAN(weights=(1 / 8, 6 / 8, 1 / 8)).fit(demo, definition=PAIRS)
    anchored = near.transform(demo, target=WORDS)
    for word in WORDS:
        assert unit(anchored[word]) @ unit(demo[word]) > alike[word] - 0.01
    assert unit(anchored["nurse"]) @ unit(demo["nurse"]) > 0.9


def test_only_with_attraction_nothing_moves(demo: bb.Embedding) -> None:
    still = RAN(weights=(0, 1, 0)).fit(demo).transform(demo, target=WORDS)
    for word in WORDS:
        np.testing.assert_allclose(still[word], unit(demo[word]), atol=2e-3)


@pytest.mark.parametrize("neutralization", [0.05, 0.3, 1.0])
def test_without_repulsion_it_is_a_turn_towards_neutral(neutralization: float) -> None:
    """In the plane of the word and the direction, the best angle is found by one number."""
    words = ["f", "m", "w", *(f"x{i}" for i in range(5))]
    vectors = np.zeros((8, 6))
    vectors[:3, :2] = [1, 0.2], [-1, 0.2], [0.6, 0.8]
    vectors[3:, 3:] = np.random.default_rng(1).normal(size=(5, 3))
    emb = bb.Embedding(words, vectors, "plane")
    weights = (0.0, 1.0, neutralization)
    debiaser = RAN(weights=weights, n_epochs=3000, learning_rate=0.001)
    after = debiaser.fit(emb, definition=[("f", "m")]).transform(emb, target=["w"])

    def at(angle: float) -> float:
        x = np.array([np.sin(angle), np.cos(angle)])
        return loss(x, np.array([0.6, 0.8]), np.empty((0, 2)), np.array([1.0, 0.0]), weights)

    best = minimize_scalar(at, bounds=(-0.5, 0.8), method="bounded").x
    assert after["w"][:2] == pytest.approx([np.sin(best), np.cos(best)], abs=0.01)
    assert after["w"][2:] == pytest.approx(np.zeros(4), abs=1e-6)


def test_the_first_step_is_adams(demo: bb.Embedding, fitted: RAN) -> None:
    """It is as long as the learning rate in every dimension, against the sign of the slope."""
    one = RAN(n_epochs=1, learning_rate=0.003).fit(demo)
    after = one.transform(demo, target=["nurse"])
    old = unit(demo["nurse"])
    near = illicit(demo, "nurse", fitted.direction_)
    slope = approx_fprime(old, loss, 1e-7, old, near, fitted.direction_, fitted.weights)
    np.testing.assert_allclose(after["nurse"], unit(old - 0.003 * np.sign(slope)), atol=1e-5)


@pytest.mark.parametrize("theta", [0.0, 0.05, 0.3])
def test_illicit_neighbours(demo: bb.Embedding, fitted: RAN, theta: float) -> None:
    """As many as by the formula, and as proximity bias says."""
    query = bb.Query(
        [*zip(*bb.word_tuples("bolukbasi")["definitional_pairs"], strict=True)],
        [WORDS],
        ["female", "male"],
    )
    shares = bb.metrics.ProximityBias(theta=theta).run_query(query, demo)["word_values"]
    for word in WORDS:
        number = len(illicit(demo, word, fitted.direction_, theta=theta))
        assert shares[word] == pytest.approx(number / 100)
        debiaser = RAN(theta=theta).fit(demo)
        row = np.array([demo.index[word]])
        vector = unit(demo[word])[None].astype(np.float32)
        assert debiaser._neighbours(demo, vector, row)[2].sum() == number


def test_words_on_the_direction_and_opposite_ones() -> None:
    close, own, others = np.array([[0.5, -0.5, 1.0]]), np.array([[1.0]]), np.array([[0.5, -0.5, 1]])
    assert illicit_neighbours(close, own, others, 0.05).tolist() == [[False, False, False]]
    # Half of the closeness is the direction's.
    both = np.array([[0.5**0.5]])
    assert illicit_neighbours(np.array([[1.0]]), both, both, 0.05).tolist() == [[False]]
    assert illicit_neighbours(np.array([[0.5]]), both, both, 0.05).tolist() == [[True]]


def test_neighbours_no_longer_near_for_that_reason(
    demo: bb.Embedding, fitted: RAN, after: bb.Embedding
) -> None:
    """Hard debiasing leaves words near their illicit neighbours; here they are moved away."""
    hard = bb.debias.HardDebias().fit(demo, definition=PAIRS).transform(demo)
    for word in ("nurse", "housewife", "receptionist"):
        near = illicit(demo, word, fitted.direction_)
        assert len(near) > 5
        before, neutral, now = (np.abs(near @ unit(e[word])).mean() for e in (demo, hard, after))
        assert before - neutral < 0.2
        assert before - now > 0.4


def test_a_word_changes_by_itself(demo: bb.Embedding, fitted: RAN, after: bb.Embedding) -> None:
    """What else is changed has no influence, nor has the length of vectors."""
    alone = fitted.transform(demo, target=["nurse"])
    np.testing.assert_allclose(alone["nurse"], after["nurse"], atol=1e-6)
    lengths = np.random.default_rng(0).uniform(0.5, 2, size=(len(demo), 1))
    scaled = demo.with_vectors(demo.vectors * lengths)
    again = RAN().fit(scaled).transform(scaled, target=["nurse"])
    np.testing.assert_allclose(again["nurse"], after["nurse"], atol=0.02)


def test_words_see_each_other_as_they_were(
    demo: bb.Embedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A word does not depend on the blocks in which others are changed."""
    emb = demo.subset(demo.words[:600], "small")
    debiaser = RAN(n_epochs=30).fit(emb, definition=[("she", "he"), ("her", "his")])
    expected = debiaser.transform(emb).vectors
    monkeypatch.setattr(base, "_BLOCK", 100)
    after = debiaser.transform(emb, out=np.zeros_like(emb.vectors))
    np.testing.assert_allclose(after.vectors, expected, atol=1e-6)


def test_zero_vectors_and_few_words() -> None:
    words = ["he", "she", "nurse", "none"]
    emb = bb.Embedding(words, [[1, 0, 0], [0, 1, 0], [0.2, 1, 1], [0, 0, 0]], "tiny")
    debiaser = RAN(n_neighbours=2).fit(emb, definition=[("he", "she")])
    after = debiaser.transform(emb)
    assert not after["none"].any()
    assert np.linalg.norm(after["nurse"]) == pytest.approx(1, abs=1e-6)
    some = emb.subset(words[:3])
    RAN().fit(some, definition=[("he", "she")]).transform(some)


def test_options_are_checked(demo: bb.Embedding) -> None:
    for weights in ((1, 1), (1, 1, -1), 1, ("a", "b", "c")):
        with pytest.raises(SpecError, match="expected three numbers, none below 0"):
            RAN(weights=weights).fit(demo)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'theta' is 2; expected a number from 0 to 1"):
        RAN(theta=2).fit(demo)
    with pytest.raises(SpecError, match="'n_neighbours' is 0; expected a whole number, 1"):
        RAN(n_neighbours=0).fit(demo)
    with pytest.raises(SpecError, match="'n_epochs' is 0; expected a whole number, 1"):
        RAN(n_epochs=0).fit(demo)
    with pytest.raises(SpecError, match="'learning_rate' is 0; expected a number above 0"):
        RAN(learning_rate=0).fit(demo)


@pytest.mark.oracle
def test_wefes_model(wefe_model: bb.Embedding) -> None:
    """*nurse* in WEFE 1.0.1: a cosine of 0.40 with itself, and 0.75 with its arguments in order."""
    after = RAN().fit(wefe_model).transform(wefe_model, target=["nurse"])
    assert unit(after["nurse"]) @ unit(wefe_model["nurse"]) == pytest.approx(0.75, abs=0.02)
