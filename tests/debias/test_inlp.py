"""Iterative null-space projection."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, DataError, SpecError


def planted(
    rng: np.random.Generator, axes: int = 3, groups: int = 2, number: int = 200, dim: int = 20
) -> tuple[bb.Embedding, list[list[str]]]:
    """Groups that differ along some axes, by less from axis to axis, and along no others."""
    names = [[f"g{i}_{j}" for j in range(number)] for i in range(groups)]
    vectors = rng.normal(size=(groups * number, dim))
    of = np.repeat(np.arange(groups), number)
    for axis in range(axes):
        places = rng.permutation(groups) - (groups - 1) / 2
        vectors[:, axis] += 4 / (1 + axis) * places[of]
    words = [w for group in names for w in group]
    return bb.Embedding(words, vectors, "planted"), names


def recovered(emb: bb.Embedding, groups: list[list[str]], rng: np.random.Generator) -> float:
    """The accuracy of a logistic regression on words that it has not seen."""
    of = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    order = rng.permutation(len(of))
    learnt, told = order[::2], order[1::2]
    model = LogisticRegression(max_iter=10_000).fit(emb.vectors[learnt], of[learnt])
    return float(model.score(emb.vectors[told], of[told]))


def test_the_groups_cannot_be_recovered(rng: np.random.Generator) -> None:
    emb, groups = planted(rng, number=500)
    assert recovered(emb, groups, rng) > 0.9
    debiaser = bb.debias.INLP().fit(emb, definition=groups)
    after = debiaser.transform(emb)
    assert recovered(after, groups, rng) < 0.57
    # The difference of the means is gone, and most of what is else is left.
    means = [emb.vectors[:500].mean(axis=0), emb.vectors[500:].mean(axis=0)]
    gone = debiaser.directions_ @ (means[0] - means[1])
    assert np.linalg.norm(gone) > 0.97 * np.linalg.norm(means[0] - means[1])
    assert len(debiaser.directions_) < 10


def test_the_projection_is_that_on_the_null_spaces(rng: np.random.Generator) -> None:
    emb, groups = planted(rng)
    debiaser = bb.debias.INLP(n_iterations=4).fit(emb, definition=groups)
    basis = debiaser.directions_
    np.testing.assert_allclose(basis @ basis.T, np.eye(len(basis)), atol=1e-12)
    after = debiaser.transform(emb)
    np.testing.assert_allclose(after.vectors @ basis.T, 0, atol=1e-5)
    expected = emb.vectors - (emb.vectors @ basis.T) @ basis
    np.testing.assert_allclose(after.vectors, expected, atol=1e-5)
    # Twice is once.
    np.testing.assert_allclose(debiaser.transform(after).vectors, after.vectors, atol=1e-5)


def test_the_first_round_is_scikit_learns(rng: np.random.Generator) -> None:
    """One round removes the weights of one support vector machine, and no more."""
    from sklearn.svm import LinearSVC

    emb, groups = planted(rng, number=400)
    debiaser = bb.debias.INLP(n_iterations=1).fit(emb, definition=groups)
    unit = emb.vectors / np.linalg.norm(emb.vectors, axis=1, keepdims=True)
    model = LinearSVC(dual=False).fit(unit, np.repeat([0, 1], 400))
    cosine = debiaser.directions_[0] @ model.coef_[0] / np.linalg.norm(model.coef_)
    assert abs(cosine) > 0.97  # it has learnt from seven of ten words
    assert debiaser.directions_.shape == (1, 20)
    assert len(debiaser.accuracies_) == 2


def test_it_stops_at_chance(rng: np.random.Generator) -> None:
    emb, groups = planted(rng, axes=1)
    debiaser = bb.debias.INLP().fit(emb, definition=groups)
    assert debiaser.accuracies_[0] > 0.9
    assert debiaser.accuracies_[-1] <= 0.5
    assert (debiaser.accuracies_[:-1] > 0.5).all()
    assert len(debiaser.directions_) == len(debiaser.accuracies_) - 1 < 20


def test_several_groups_of_different_sizes(rng: np.random.Generator) -> None:
    emb, groups = planted(rng, axes=2, groups=3)
    groups = [groups[0], groups[1][:100], groups[2][:50]]
    debiaser = bb.debias.INLP().fit(emb, definition=groups)
    assert debiaser.accuracies_[0] > 0.8
    # Chance is the share of the largest group.
    assert debiaser.accuracies_[-1] <= 60 / 105
    assert (
        recovered(
            debiaser.transform(emb).subset([w for group in groups for w in group]), groups, rng
        )
        < 60 / 105 + 0.1
    )
    assert tuple(map(len, debiaser.groups_)) == (200, 100, 50)


@pytest.mark.parametrize("seed", range(8))
def test_one_dimension_is_left(seed: int) -> None:
    """Though words might still be told apart by it, as in some of these examples."""
    emb, groups = planted(np.random.default_rng(seed), axes=2, dim=2, number=30)
    debiaser = bb.debias.INLP().fit(emb, definition=groups)
    assert len(debiaser.directions_) == 1
    assert np.abs(debiaser.transform(emb).vectors).max() > 0.1


def test_the_seed_chooses_what_is_held_out(rng: np.random.Generator) -> None:
    emb, groups = planted(rng)
    first, again, other = (
        bb.debias.INLP(n_iterations=3, seed=seed).fit(emb, definition=groups) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.directions_, again.directions_)
    assert not np.allclose(first.directions_[0], other.directions_[0], atol=1e-3)


def test_lengths_do_not_matter(rng: np.random.Generator) -> None:
    emb, groups = planted(rng)
    scaled = bb.Embedding(emb.words, emb.vectors * 100, "scaled")
    first, second = (
        bb.debias.INLP(n_iterations=3).fit(e, definition=groups) for e in (emb, scaled)
    )
    np.testing.assert_allclose(first.directions_, second.directions_, atol=1e-3)


def test_nothing_to_learn(rng: np.random.Generator) -> None:
    words = [f"{side}{i}" for side in "ab" for i in range(30)]
    half = rng.normal(size=(30, 5))
    emb = bb.Embedding(words, np.vstack([half, half]), "twice")
    with pytest.warns(BayesBiasWarning, match="no more than by chance; nothing will be removed"):
        debiaser = bb.debias.INLP(seed=2).fit(emb, definition=[words[:30], words[30:]])
    np.testing.assert_array_equal(debiaser.transform(emb).vectors, emb.vectors)


def test_from_pairs(demo: bb.Embedding) -> None:
    """The words that lean most are told apart less and less."""
    pairs = "bolukbasi:definitional_pairs"
    debiaser = bb.debias.INLP(n_iterations=4, n_words=300, pairs=pairs).fit(demo)
    assert debiaser.accuracies_[0] > 0.98
    assert debiaser.accuracies_[-1] < 0.9
    assert tuple(map(len, debiaser.groups_)) == (300, 300)
    assert "actress" in debiaser.groups_[0]
    assert "coach" in debiaser.groups_[1]


def test_options_are_checked(rng: np.random.Generator) -> None:
    emb, groups = planted(rng)
    with pytest.raises(SpecError, match="'n_iterations' is 0; expected a whole number, 1"):
        bb.debias.INLP(n_iterations=0).fit(emb, definition=groups)
    with pytest.raises(SpecError, match="'seed' is -1; expected a whole number, 0 or more"):
        bb.debias.INLP(seed=-1).fit(emb, definition=groups)
    flat, three = planted(rng, axes=2, groups=3, dim=3)
    with pytest.raises(SpecError, match="has 3 dimensions, and one round takes 3 of them for 3"):
        bb.debias.INLP().fit(flat, definition=three)
    zero = np.array(emb.vectors)
    zero[7] = 0
    with pytest.raises(DataError, match="'g0_7'"):
        bb.debias.INLP().fit(bb.Embedding(emb.words, zero, "zero"), definition=groups)
