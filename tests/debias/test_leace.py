"""Least-squares concept erasure."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import pinv, sqrtm
from sklearn.covariance import ledoit_wolf, ledoit_wolf_shrinkage
from sklearn.linear_model import LogisticRegression

import bayesbias as bb
from bayesbias.debias import leace
from bayesbias.errors import BayesBiasWarning, SpecError, VocabularyError


def planted(
    rng: np.random.Generator, sizes: tuple[int, ...], dim: int, scale: float = 1.0
) -> tuple[bb.Embedding, list[list[str]]]:
    """Groups with means of their own in a skew cloud, and words in no group."""
    mixing = rng.normal(size=(dim, dim))
    parts = [rng.normal(size=(n, dim)) @ mixing + rng.normal(size=dim) * 2 for n in sizes]
    groups = [[f"g{i}_{j}" for j in range(n)] for i, n in enumerate(sizes)]
    words = [w for group in groups for w in group] + [f"w{i}" for i in range(20)]
    vectors = np.vstack([*parts, rng.normal(size=(20, dim)) @ mixing]) * scale
    return bb.Embedding(words, vectors, "planted"), groups


def group_means(emb: bb.Embedding, groups: list[list[str]]) -> np.ndarray:
    return np.array(
        [np.mean([emb[w] for w in group], axis=0, dtype=np.float64) for group in groups]
    )


@given(
    sizes=st.lists(st.integers(3, 60), min_size=2, max_size=4).map(tuple),
    dim=st.integers(4, 40),
    shrinkage=st.booleans(),
    scale=st.sampled_from([0.01, 1.0, 30.0]),
    seed=st.integers(0, 100),
)
def test_groups_have_the_same_mean(
    sizes: tuple[int, ...], dim: int, shrinkage: bool, scale: float, seed: int
) -> None:
    """The guarantee, with fewer words than dimensions and with more, for any size of numbers."""
    emb, groups = planted(np.random.default_rng(seed), sizes, dim, scale)
    debiaser = bb.debias.LEACE(shrinkage=shrinkage).fit(emb, definition=groups)
    after = debiaser.transform(emb)
    size = np.abs(emb.vectors).max()
    means = group_means(after, groups)
    np.testing.assert_allclose(means - means[0], 0, atol=1e-6 * size)
    # The mean of all stays, so nothing else is moved.
    learnt = [w for group in groups for w in group]
    np.testing.assert_allclose(
        np.mean([after[w] for w in learnt], axis=0, dtype=np.float64),
        np.mean([emb[w] for w in learnt], axis=0, dtype=np.float64),
        atol=1e-6 * size,
    )
    assert len(debiaser.directions_) <= len(sizes) - 1


@pytest.mark.parametrize("shrinkage", [True, False])
@pytest.mark.parametrize("sizes", [(80, 120), (60, 60, 60)])
def test_no_linear_classifier_beats_chance(
    rng: np.random.Generator, sizes: tuple[int, ...], shrinkage: bool
) -> None:
    emb, groups = planted(rng, sizes, 12)
    after = bb.debias.LEACE(shrinkage=shrinkage).fit(emb, definition=groups).transform(emb)
    of = np.repeat(np.arange(len(sizes)), sizes)
    number = len(of)
    before, now = (np.asarray(e.vectors[:number], dtype=np.float64) for e in (emb, after))
    chance = max(sizes) / number
    model = LogisticRegression(max_iter=10_000, tol=1e-9)
    assert model.fit(before, of).score(before, of) > chance + 0.2
    # Without anything to go by, the best classifier says the same of all words.
    told = model.fit(now, of).predict_proba(now)
    np.testing.assert_allclose(told, np.tile(np.bincount(of) / number, (number, 1)), atol=1e-4)
    members = np.eye(len(sizes))[of]
    x, y = now - now.mean(axis=0), members - members.mean(axis=0)
    # Directions that the words have by rounding alone are none to go by.
    explained = x @ np.linalg.lstsq(x, y, rcond=1e-5)[0]
    assert (explained**2).sum() / (y**2).sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("shrinkage", [True, False])
@pytest.mark.parametrize("sizes", [(40, 50), (20, 30, 40), (4, 5)])
def test_by_the_formula_of_the_paper(
    rng: np.random.Generator, sizes: tuple[int, ...], shrinkage: bool
) -> None:
    """x − W⁺ P W (x − mean), with roots and pseudo-inverses of covariance matrices."""
    emb, groups = planted(rng, sizes, 10)
    number = sum(sizes)
    vectors = emb.vectors.astype(np.float64)
    x = vectors[:number]
    z = np.eye(len(sizes))[np.repeat(np.arange(len(sizes)), sizes)]
    centred = x - x.mean(axis=0)
    covariance = ledoit_wolf(x)[0] if shrinkage else centred.T @ centred / number
    root = sqrtm(covariance).real
    whiten = pinv(root, rtol=1e-6)
    cross = whiten @ (centred.T @ (z - z.mean(axis=0)) / number)
    project = cross @ pinv(cross, rtol=1e-6)
    removed = pinv(whiten, rtol=1e-6) @ project @ whiten
    expected = vectors - (vectors - x.mean(axis=0)) @ removed.T
    after = bb.debias.LEACE(shrinkage=shrinkage).fit(emb, definition=groups).transform(emb)
    np.testing.assert_allclose(after.vectors, expected, atol=2e-5)


def test_it_is_the_smallest_change(rng: np.random.Generator) -> None:
    """Making the means equal by an orthogonal projection moves the words further."""
    emb, groups = planted(rng, (100, 100), 10)
    after = bb.debias.LEACE(shrinkage=False).fit(emb, definition=groups).transform(emb)
    first, second = group_means(emb, groups)
    axis = (first - second) / np.linalg.norm(first - second)
    x = emb.vectors[:200].astype(np.float64)
    middle = x.mean(axis=0)
    orthogonal = x - np.outer((x - middle) @ axis, axis)
    moved = ((after.vectors[:200] - x) ** 2).sum()
    assert moved < 0.9 * ((orthogonal - x) ** 2).sum()


def test_with_few_words_shrinkage_finds_what_others_share(rng: np.random.Generator) -> None:
    """About as many words as dimensions: the planted axis is found all the same."""
    groups = [[f"f{i}" for i in range(10)], [f"m{i}" for i in range(10)]]
    words = [*groups[0], *groups[1], *(f"w{i}" for i in range(300))]
    vectors = rng.normal(size=(320, 20))
    vectors[:10, 0] += 2
    vectors[10:20, 0] -= 2
    emb = bb.Embedding(words, vectors, "few")
    moved = {}
    for shrinkage in (True, False):
        after = bb.debias.LEACE(shrinkage=shrinkage).fit(emb, definition=groups).transform(emb)
        moved[shrinkage] = ((after.vectors[20:] - emb.vectors[20:]) ** 2).sum(axis=1).mean()
        np.testing.assert_allclose(np.diff(group_means(after, groups), axis=0), 0, atol=1e-5)
    # Taking one axis from words like these moves them by 1.
    assert moved[True] < 2
    assert moved[False] > 3 * moved[True]


def test_from_pairs(demo: bb.Embedding) -> None:
    """By default the groups are the words that lean most along the direction of the pairs."""
    debiaser = bb.debias.LEACE(n_words=100).fit(demo)
    unit = demo.vectors / np.linalg.norm(demo.vectors, axis=1, keepdims=True)
    leaning = unit @ bb.debias.HardDebias().fit(demo).directions_[0]
    leaning *= np.sign(leaning[demo.index["she"]] - leaning[demo.index["he"]])
    order = np.argsort(-leaning)
    assert set(debiaser.groups_[0]) == {demo.words[i] for i in order[:100]}
    assert set(debiaser.groups_[1]) == {demo.words[i] for i in order[-100:]}
    pairs = bb.word_tuples("bolukbasi")["definitional_pairs"]
    other = bb.debias.LEACE(n_words=100, pairs=[pair[::-1] for pair in pairs]).fit(demo)
    assert other.groups_ == debiaser.groups_[::-1]
    assert len(bb.debias.LEACE().fit(demo).groups_[0]) == len(demo) // 4
    named = bb.debias.LEACE().fit(
        demo, definition=["bolukbasi:male_terms", "bolukbasi:female_terms"]
    )
    study = bb.debias.LEACE().fit(demo, definition=bb.load_study("gender").groups)
    assert named.groups_[0][:2] == ("he", "his")
    assert len(study.groups_) == 2


def test_groups_without_a_difference(rng: np.random.Generator) -> None:
    """Nothing is removed where means are equal already."""
    half = rng.normal(size=(10, 5)).astype(np.float32)
    words = [f"{side}{i}" for side in "ab" for i in range(10)]
    emb = bb.Embedding(words, np.vstack([half, half]), "twice")
    with pytest.warns(BayesBiasWarning, match="the same mean already; nothing will be removed"):
        debiaser = bb.debias.LEACE().fit(emb, definition=[words[:10], words[10:]])
    assert len(debiaser.directions_) == 0
    np.testing.assert_array_equal(debiaser.transform(emb).vectors, emb.vectors)


def test_groups_are_checked(rng: np.random.Generator) -> None:
    emb, groups = planted(rng, (5, 5), 6)
    fit = bb.debias.LEACE().fit
    with pytest.raises(SpecError, match="'definition' is .*; expected two lists of words or more"):
        fit(emb, definition=[groups[0]])
    with pytest.raises(SpecError, match="'definition' is 'he'; expected two lists"):
        fit(emb, definition="he")
    with pytest.raises(SpecError, match="both 'definition' and the parameter 'pairs'"):
        bb.debias.LEACE(pairs=[("g0_0", "g1_0")]).fit(emb, definition=groups)
    with pytest.raises(SpecError, match="'g0_0' in more than one group of 'definition'"):
        fit(emb, definition=[groups[0], [*groups[1], "g0_0"]])
    with pytest.raises(VocabularyError, match=r"has 2 of the 3 words of 'definition\[1\]', and 3"):
        fit(emb, definition=[groups[0], ["g1_0", "g1_1", "nobody"]])
    with pytest.raises(VocabularyError, match=r"has 0 of the 1 words of \"definition\['men'\]\""):
        fit(emb, definition={"women": groups[0], "men": ["nobody"]})
    with pytest.warns(BayesBiasWarning, match=r"lacks 1 of 6 words of definition\[0\]: 'nobody'"):
        fit(emb, definition=[[*groups[0], "nobody"], groups[1]])
    with pytest.raises(SpecError, match="'n_words' is 2; expected a whole number, 3 or more"):
        bb.debias.LEACE(n_words=2, pairs=[("g0_0", "g1_0")]).fit(emb)
    few = emb.subset(emb.words[:10], "few")
    with pytest.raises(SpecError, match="has 10 words, too few to look .*; 12 are needed"):
        bb.debias.LEACE(pairs=[("g0_0", "g1_0")]).fit(few)


@given(number=st.integers(3, 60), dim=st.integers(2, 40), seed=st.integers(0, 1000))
def test_shrinkage_is_scikit_learns(number: int, dim: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(number, dim)) * rng.uniform(0.1, 3, size=dim)
    x -= x.mean(axis=0)
    variances = np.linalg.svd(x, compute_uv=False) ** 2 / number
    expected = ledoit_wolf_shrinkage(x, assume_centered=True)
    assert leace.ledoit_wolf(x, variances) == pytest.approx(expected, abs=1e-9)
