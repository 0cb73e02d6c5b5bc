"""Linear projection, whole and attenuated."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayesbias as bb
from bayesbias.errors import SpecError

WORDS = ["f0", "m0", "f1", "m1", *(f"w{i}" for i in range(30))]
PAIRS = [("f0", "m0"), ("f1", "m1")]


@pytest.fixture
def emb(rng: np.random.Generator) -> bb.Embedding:
    """Vectors of lengths from 0.3 to 6 in which the pairs differ along the first axis alone."""
    vectors = rng.normal(size=(len(WORDS), 8)) * np.linspace(0.3, 2, len(WORDS))[:, None]
    vectors[[1, 3]] = vectors[[0, 2]]
    vectors[:4, 0] = 1.0, -1.0, 1.0, -1.0
    return bb.Embedding(WORDS, vectors, "planted")


def fitted(emb: bb.Embedding, **options: object) -> bb.debias.Projection:
    return bb.debias.Projection(**options).fit(emb, definition=PAIRS)  # type: ignore[arg-type]


@pytest.mark.parametrize("direction", ["pca", "mean"])
def test_the_direction_is_removed_and_nothing_else(emb: bb.Embedding, direction: str) -> None:
    debiaser = fitted(emb, direction=direction)
    np.testing.assert_allclose(np.abs(debiaser.direction_), np.eye(8)[0], atol=1e-6)
    after = debiaser.transform(emb)
    np.testing.assert_allclose(after.vectors[:, 0], 0, atol=1e-6)
    np.testing.assert_allclose(after.vectors[:, 1:], emb.vectors[:, 1:], atol=1e-6)


def test_directions_by_their_formulas(demo: bb.Embedding) -> None:
    pairs = bb.word_tuples("bolukbasi")["definitional_pairs"]
    unit = [[demo[w.lower()] / np.linalg.norm(demo[w.lower()]) for w in pair] for pair in pairs]
    sides = np.array(unit, dtype=np.float64).mean(axis=0)
    expected = (sides[0] - sides[1]) / np.linalg.norm(sides[0] - sides[1])
    mean = bb.debias.Projection(direction="mean").fit(demo).direction_
    np.testing.assert_allclose(mean, expected, atol=1e-6)
    pca = bb.debias.Projection().fit(demo).direction_
    np.testing.assert_array_equal(pca, bb.debias.HardDebias().fit(demo).directions_[0])
    assert 0.9 < abs(pca @ mean) < 1


def test_as_neutralising_before_scaling(demo: bb.Embedding) -> None:
    """Hard debiasing does the same to words that are not equalised, and scales them."""
    hard = bb.debias.HardDebias(equalize=[("he", "she")]).fit(demo).transform(demo)
    after = bb.debias.Projection().fit(demo).transform(demo)
    words = ["nurse", "surgeon", "london", "her"]
    for word in words:
        unit = after[word] / np.linalg.norm(after[word])
        np.testing.assert_allclose(unit, hard[word], atol=1e-6)


CURVES = {
    "inverse_square": lambda eta, sigma: sigma**2 / (eta + 1) ** 2,
    "gaussian": lambda eta, sigma: np.exp(-(eta**2) / sigma**2),
    "inverse": lambda eta, sigma: sigma / (2 * eta),
}


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("sigma", [None, 0.7, 3.0])
def test_partial_projection_by_distance(emb: bb.Embedding, curve: str, sigma: float | None) -> None:
    """r + (c + f(|r|) (⟨w, v⟩ − c)) v, word by word."""
    debiaser = fitted(emb, attenuation="distance", curve=curve, sigma=sigma)
    after = debiaser.transform(emb)
    v = debiaser.direction_
    centre = np.mean([np.asarray(emb[w], dtype=np.float64) @ v for p in PAIRS for w in p])
    for word in WORDS:
        w = np.asarray(emb[word], dtype=np.float64)
        rest = w - (w @ v) * v
        kept = min(1.0, CURVES[curve](np.linalg.norm(rest), sigma or 1.0))
        expected = rest + (centre + kept * (w @ v - centre)) * v
        np.testing.assert_allclose(after[word], expected, atol=1e-5)


def test_near_the_line_more_is_kept() -> None:
    words = ["f0", "m0", "near", "far"]
    vectors = [[1, 0.1, 0], [-1, 0.1, 0], [1, 0.1, 0], [1, 5, 5]]
    emb = bb.Embedding(words, vectors, "line")
    after = (
        bb.debias.Projection(attenuation="distance")
        .fit(emb, definition=[("f0", "m0")])
        .transform(emb)
    )
    assert after["near"][0] == pytest.approx(1 / 1.1**2, rel=1e-5)
    assert after["far"][0] == pytest.approx(1 / (1 + 50**0.5) ** 2, rel=1e-5)


def test_by_rank_the_first_words_keep_theirs(emb: bb.Embedding) -> None:
    debiaser = fitted(emb, attenuation="rank", curve="gaussian", sigma=10)
    after = debiaser.transform(emb)
    kept = after.vectors[:, 0] / emb.vectors[:, 0]
    expected = np.exp(-((np.arange(len(WORDS)) / 10) ** 2))
    np.testing.assert_allclose(kept, expected, atol=1e-5)
    # By default the first thousand keep all.
    assert fitted(emb, attenuation="rank").transform(emb).vectors == pytest.approx(emb.vectors)


@given(
    attenuation=st.sampled_from([None, "distance", "rank"]),
    curve=st.sampled_from(sorted(CURVES)),
    sigma=st.floats(0.1, 100),
    seed=st.integers(0, 1000),
)
def test_words_move_towards_the_centre_along_the_direction_only(
    attenuation: str | None, curve: str, sigma: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    emb = bb.Embedding(WORDS, rng.normal(size=(len(WORDS), 6)) * rng.uniform(0.1, 10), "random")
    debiaser = fitted(emb, attenuation=attenuation, curve=curve, sigma=sigma)
    after = debiaser.transform(emb)
    v = debiaser.direction_
    scale = np.abs(emb.vectors).max()
    moved = after.vectors.astype(np.float64) - emb.vectors
    np.testing.assert_allclose(moved - np.outer(moved @ v, v), 0, atol=1e-5 * scale)
    centre = 0 if attenuation is None else debiaser.centre_
    before, now = emb.vectors @ v - centre, after.vectors @ v - centre
    assert (np.abs(now) <= np.abs(before) + 1e-5 * scale).all()
    assert (now * before >= -1e-5 * scale**2).all()


def test_options_are_checked(emb: bb.Embedding) -> None:
    with pytest.raises(SpecError, match="'direction' is 'pcs'; expected one of 'mean', 'pca'"):
        fitted(emb, direction="pcs")
    with pytest.raises(SpecError, match="'attenuation' is 'far'; expected one of 'distance'"):
        fitted(emb, attenuation="far")
    with pytest.raises(SpecError, match="'curve' is 'f1'; expected one of 'gaussian'"):
        fitted(emb, curve="f1")
    for sigma in (0, -1.0, float("nan"), "1"):
        with pytest.raises(SpecError, match="'sigma' is .*; expected a number above 0"):
            fitted(emb, sigma=sigma)
    mixed = bb.Embedding(WORDS[:4], emb.vectors[:4] * [1] + [[0.0] * 8] * 4, "mixed")
    with pytest.raises(SpecError, match="zero in the mean, .* use direction='pca'"):
        bb.debias.Projection(direction="mean").fit(mixed, definition=[PAIRS[0], PAIRS[0][::-1]])
