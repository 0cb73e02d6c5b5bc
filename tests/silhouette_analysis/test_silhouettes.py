"""Silhouettes against direct computations, closed forms and simulated lists."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from grown_lists import DIM, Means, Spread, made, of_numbers
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import trapezoid

import bayesbias as bb
from bayesbias.embeddings import Matching
from bayesbias.errors import BayesBiasWarning, DataError, SpecError, VocabularyError
from bayesbias.silhouette_analysis.growing_lists import counts

pytestmark = pytest.mark.numpy_only

QUERIES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "weat": ((5, 7), (4, 6)),
    "weat_es": ((5, 7), (4, 6)),
    "rnd": ((5, 7), (6,)),
    "rnsb": ((4, 5, 6), (9, 7)),
    "rnsb_groups": ((4, 5, 6), (9, 7)),
    "mac": ((4, 5), (6, 5, 4)),
    "ect": ((4, 5, 6), (8,)),
    "ripa": ((6, 6), (7,)),
    "direct_bias": ((6, 6), (7,)),
    "indirect_bias": ((6, 6), (5, 7)),
    "nas": ((5, 7), (6,)),
    "same": ((4, 5, 6), (7,)),
    "generalized_weat": ((4, 5, 6), (5, 6, 7)),
    "semaxis": ((5, 7), (6,)),
    "neighbourhood": ((5, 7), (8,)),
    "pmn": ((5, 7), (8,)),
    "cluster_test": ((4, 5), ()),
    "classification_test": ((4, 5), ()),
    "proximity_bias": ((6, 6), (7,)),
    "gipe": ((6, 6), (7,)),
    "user": ((5, 7), (6,)),
    "user with weights": ((3,), (9,)),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "neighbourhood": {"k": 5},
    "pmn": {"k": 5},
    "proximity_bias": {"k": 5},
    "gipe": {"k": 5},
    "cluster_test": {"n_words": 5},
    "classification_test": {"n_words": 12, "n_train": 6},
}


def with_more_words(embedding: bb.Embedding) -> bb.Embedding:
    """Add words outside the query, for metrics that look at the rest of the embedding."""
    rng = np.random.default_rng(9)
    words = [*embedding.words, *(f"other{i}" for i in range(60))]
    vectors = np.vstack([embedding.vectors, rng.normal(size=(60, DIM))])
    return bb.Embedding(words, vectors, embedding.name)


def test_every_metric_is_tested() -> None:
    assert set(bb.metrics.METRICS) <= set(QUERIES)


@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
@pytest.mark.parametrize("growth", ["proportional", "prefix"])
@pytest.mark.parametrize(
    ("name", "side"),
    [
        (name, side)
        for name in QUERIES
        for side, sizes in zip(("targets", "attributes"), QUERIES[name], strict=True)
        if sizes
    ],
)
def test_values_are_those_of_the_subsets(name: str, side: str, growth: str) -> None:
    """Every value is `Metric.value` of the vectors of the words that are in."""
    metric: Any = {"user": Spread(), "user with weights": Means()}.get(name, name)
    query, embeddings = made(*QUERIES[name])
    embeddings = [with_more_words(e) for e in embeddings]
    found = bb.silhouettes(
        metric,
        query,
        embeddings,
        side=side,
        growth=growth,
        runs=3,
        step=2 if side == "attributes" else None,
        value_range=(-100, 100),
        **OPTIONS.get(name, {}),
    )
    for growing, values in zip(found.lists, found.values, strict=True):
        for run in range(found.runs):
            for i, number in enumerate(found.counts):
                sets = list(growing.measurement.words.sets)
                for place, order, n in zip(growing.places, growing.orders, number, strict=True):
                    sets[place] = sets[place].take(np.sort(order[run][:n]))
                n_targets = len(query.target_sets)
                expected = growing.measurement.metric.value(sets[:n_targets], sets[n_targets:])
                assert values[run, i] == pytest.approx(expected, abs=1e-10, rel=1e-8)


def test_direct_loop_over_words() -> None:
    """The whole way through the public names, by queries of the words that are in."""
    query, embeddings = made((6, 9), (5, 5))
    found = bb.silhouettes("weat_es", query, embeddings, runs=4)
    assert found.sizes.tolist() == [4, 6, 8, 10, 12, 14, 15]
    growing = found.lists[0]
    for run in range(4):
        for i, number in enumerate(found.counts):
            parts = [
                [words[j] for j in order[run][:n]]
                for words, order, n in zip(query.target_sets, growing.orders, number, strict=True)
            ]
            part = bb.Query(parts, query.attribute_sets)
            for embedding, values in zip(embeddings, found.values, strict=True):
                score = bb.metrics.WEATEffectSize().run_query(part, embedding)
                assert values[run, i] == pytest.approx(score.value, abs=1e-10)


def test_table_and_robustness() -> None:
    query, embeddings = made((8, 8), (6, 6))
    found = bb.silhouettes("weat_es", query, embeddings, runs=30, prob=0.8)
    table = found.table
    assert list(table) == ["embedding", "k", "min", "max", "mean", "lower", "upper"]
    assert table["k"].tolist() == 2 * [4, 6, 8, 10, 12, 14, 16]
    for i, embedding in enumerate(embeddings):
        rows, values = table[table["embedding"] == embedding.name], found.values[i]
        assert rows["min"].tolist() == values.min(axis=0).tolist()
        assert rows["max"].tolist() == values.max(axis=0).tolist()
        np.testing.assert_allclose(rows["mean"], values.mean(axis=0))
        np.testing.assert_allclose(
            rows["lower"], np.quantile(values, 0.1, axis=0, method="median_unbiased")
        )
        np.testing.assert_allclose(
            rows["upper"], np.quantile(values, 0.9, axis=0, method="median_unbiased")
        )
        area = trapezoid(rows["max"] - rows["min"], rows["k"])
        assert found.robustness[embedding.name] == pytest.approx(1 - area / (4 * 16))
        last = rows.iloc[-1]
        full = bb.metrics.WEATEffectSize().run_query(query, embedding).value
        assert last["min"] == last["max"] == full == found.complete[embedding.name]


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    sizes=st.tuples(st.integers(3, 12), st.integers(3, 12)),
    growth=st.sampled_from(["proportional", "prefix"]),
    side=st.sampled_from(["targets", "attributes"]),
    metric=st.sampled_from(["weat_es", "mac", "rnsb_groups"]),
)
def test_properties(seed: int, sizes: tuple[int, int], growth: str, side: str, metric: str) -> None:
    query, embeddings = made(sizes, sizes[::-1], seed=seed)
    with warnings.catch_warnings():
        # With lists of different lengths effect sizes may lie a little beyond 2.
        warnings.simplefilter("ignore", BayesBiasWarning)
        found = bb.silhouettes(
            metric, query, embeddings, side=side, growth=growth, runs=5, seed=seed
        )
    low, high = found.value_range
    if found.values.min() >= low and found.values.max() <= high:
        assert ((found.robustness >= 0) & (found.robustness <= 1)).all()
        assert 0 <= found.accuracy("emb0", "emb1") <= 1
    assert (np.diff(found.sizes) > 0).all()
    assert found.sizes[-1] == sum(sizes)
    assert (found.values[:, :, -1] == found.values[:, :1, -1]).all()
    table = found.table
    assert (table["min"] <= table["mean"] + 1e-12).all()
    assert (table["mean"] <= table["max"] + 1e-12).all()
    assert (table["min"] <= table["lower"] + 1e-12).all()
    assert (table["upper"] <= table["max"] + 1e-12).all()
    # The accuracies of a pair both ways are those of one difference.
    both = found.accuracy("emb0", "emb1") + found.accuracy("emb1", "emb0")
    assert both == pytest.approx(1)


def test_runs_share_their_words_and_are_kept_by_more_runs() -> None:
    query, embeddings = made((6, 7), (5, 5))
    found = bb.silhouettes("weat_es", query, embeddings, runs=5)
    assert found.lists[0].orders is found.lists[1].orders
    more = bb.silhouettes("weat_es", query, embeddings[:1], runs=9)
    assert (more.values[0, :5] == found.values[0]).all()
    other = bb.silhouettes("weat_es", query, embeddings, runs=5, seed=1)
    assert (other.values[:, :, 0] != found.values[:, :, 0]).any()
    # Equally long lists do not grow in lockstep.
    query, embeddings = made((30, 30), (5, 5))
    first, second = bb.silhouettes("weat_es", query, embeddings, runs=20).lists[0].orders
    assert (first == second).mean() < 0.1


def test_the_number_of_processes_does_not_matter() -> None:
    query, embeddings = made((6, 7), (15, 15))
    for metric in ("weat_es", "rnsb_groups"):
        one, two = (
            bb.silhouettes(
                metric, query, embeddings, side="attributes", runs=4, n_jobs=n, progress=False
            )
            for n in (1, 2)
        )
        assert (one.values == two.values).all()


def test_pairs_grow_together() -> None:
    query, embeddings = made((7, 7), (5,))
    found = bb.silhouettes("ripa", query, embeddings, runs=3, value_range=(-5, 5))
    first, second = found.lists[0].orders
    assert (first == second).all()
    assert (found.counts[:, 0] == found.counts[:, 1]).all()
    assert found.sizes.tolist() == [4, 6, 8, 10, 12, 14]
    words = found.influence()
    assert set(words["word"]) == {f"t0_{i} – t1_{i}" for i in range(7)}
    assert set(words["word_set"]) == {"target: Target set 0 – Target set 1"}


def test_words_that_an_embedding_lacks_are_dropped_for_all() -> None:
    query, (first, second) = made((6, 7), (5, 5))
    less = second.subset([word for word in second.words if word not in ("t0_1", "a1_4")])
    with pytest.warns(BayesBiasWarning) as told:
        found = bb.silhouettes("weat_es", query, [first, less], runs=3)
    assert str(told[0].message) == (
        "weat_es of 'Target set 0 and Target set 1 wrt Attribute set 0 and Attribute set 1': 2 "
        "words of the query are dropped for all embeddings ('t0_1', 'a1_4'), 'emb1' lacks 2."
    )
    assert found.dropped == ("t0_1", "a1_4")
    assert [len(words) for words in found.query.word_sets().values()] == [5, 7, 5, 4]
    # The order of the words that are left is the same with the others there.
    whole = bb.silhouettes("weat_es", query, [first, second], runs=3)
    ours = [[query.target_sets[0][j + (j > 0)] for j in o] for o in found.lists[0].orders[0]]
    theirs = [[query.target_sets[0][j] for j in o if j != 1] for o in whole.lists[0].orders[0]]
    assert ours == theirs
    # As if they had never been listed.
    expected = bb.metrics.WEATEffectSize().run_query(found.query, first).value
    assert found.complete["emb0"] == pytest.approx(expected, abs=1e-12)


def test_both_words_of_a_pair_are_dropped() -> None:
    query, (first, second) = made((7, 7), (5,))
    less = second.subset([word for word in second.words if word != "t1_2"])
    with pytest.warns(BayesBiasWarning, match="2 words .* \\('t0_2', 't1_2'\\), 'emb1' lacks 1"):
        found = bb.silhouettes("ripa", query, [first, less], runs=3, value_range=(-5, 5))
    assert found.dropped == ("t0_2", "t1_2")


def test_words_that_share_a_vector_are_used_once() -> None:
    words = ["Ann", "ann", "bob", "Eve", "tom", "x", "y", "z"]
    rng = np.random.default_rng(0)
    upper = bb.Embedding(words, rng.normal(size=(8, 5)), "upper")
    lower = upper.subset([word for word in words if word != "Ann"], "lower")
    query = bb.Query([["Ann", "ann", "bob", "Eve"], ["tom", "x", "y"]], [["z"]])
    with pytest.warns(BayesBiasWarning, match="1 word of the query is dropped"):
        found = bb.silhouettes("rnd", query, [upper, lower], runs=2, distance="cos")
    assert found.dropped == ("ann",)


def test_fallbacks_and_normalize() -> None:
    words = ["ann", "eve", "joe", "tom", "bob", "sam", "x"]
    embedding = bb.Embedding(words, np.random.default_rng(0).normal(size=(7, 5)) * 3, "e")
    query = bb.Query([["Ann", "Eve", "Joe"], ["Tom", "Bob", "Sam"]], [["x"]])
    found = bb.silhouettes("ripa", query, embedding, normalize=True, value_range=(-1, 1), runs=2)
    assert (
        found.complete["e"] == bb.metrics.RIPA().run_query(query, embedding, normalize=True).value
    )
    with pytest.raises(VocabularyError, match="is left with 0 of its 3 words"):
        bb.silhouettes("ripa", query, embedding, value_range=(-1, 1), matching=Matching(("exact",)))


def test_accuracy_of_a_hand_computed_case() -> None:
    """Constant lists: 0.8 and 0.2 at every size, from 2 to 5 of 5 words."""
    found = of_numbers([np.full(5, -0.8), np.full(5, 0.2)], step=1)
    assert found.sizes.tolist() == [2, 3, 4, 5]
    # ½ + ½ · (0.8 − 0.2) · 3 / (height · 5)
    paper = found.accuracy("e0", "e1")
    assert paper == pytest.approx(0.5 + 0.5 * 0.6 * 3 / 5)
    # All runs are the same, which is no reason to be sure.
    assert np.isnan([paper.lower, paper.upper]).all()
    published = found.accuracy("e0", "e1", normalisation="as-published")
    assert published == pytest.approx(0.5 + 0.5 * 0.6 * 3 / 10)
    assert found.robustness.tolist() == pytest.approx([1, 1])
    # Half the range of words that disagree as much as they can; the largest is 1.
    assert found.robustness_table["length_adjusted"].tolist() == pytest.approx([1, 1])


def test_accuracy_counts_from_the_neutral_value() -> None:
    """ECT is 1 without bias; a planted one is farther from it."""
    query = bb.load_query("weat_6").subqueries((2, 1))[0]
    with_bias, without = (bb.silhouette_analysis.planted_embedding(query, s) for s in (0.3, 0.0))
    found = bb.silhouettes("ect", query, [with_bias, without], runs=30)
    mean = found.values.mean(axis=1)
    assert (mean[0] < mean[1]).all()
    expected = 0.5 + 0.5 * trapezoid((1 - mean[0]) - (1 - mean[1]), found.sizes) / (2 * 16)
    assert found.accuracy(with_bias, without) == pytest.approx(expected)
    assert found.accuracy(with_bias, without).lower > 0.5


def test_estimates_are_numbers() -> None:
    found = of_numbers([np.linspace(-0.8, 0.2, 5), np.full(5, 0.2)])
    value = found.accuracy("e0", "e1")
    assert isinstance(value, float)
    again = pickle.loads(pickle.dumps(value))
    assert (again, again.lower, again.upper, again.prob) == (value, value.lower, value.upper, 0.89)
    assert repr(value) == f"{value:.2f} [{value.lower:.2f}, {value.upper:.2f}]"
    assert value.lower < value < value.upper


def test_words_and_repr() -> None:
    query, embeddings = made((6, 7), (5, 5))
    found = bb.silhouettes("weat_es", query, embeddings, runs=10)
    least = found.robustness.min()
    assert repr(found) == (
        "<Silhouettes weat_es, targets of Target set 0 and Target set 1 wrt Attribute set 0 and "
        f"Attribute set 1: 10 runs × 6 sizes, robustness emb0 {found.robustness['emb0']:.2f}, "
        f"emb1 {found.robustness['emb1']:.2f}>"
    )
    lines = found.verdict().splitlines()
    assert len(lines) == 4
    assert f"robustness {least:.2f} [" in lines[0]
    assert lines[1].startswith("Random lists: none in 'emb0', 'emb1': ")
    assert lines[2].startswith("Adjusted for length: ")
    assert lines[3].startswith("With 6 of 13 words, 89% of runs: ")
    assert lines[3].endswith("of runs rank the two as all words do.")
    lines = found.verdict("emb0", "emb1").splitlines()
    assert len(lines) == 4
    assert lines[3].startswith(f"Accuracy: {found.accuracy('emb0', 'emb1'):.2f} [")
    html = found._repr_html_()
    assert "<table" in html
    assert "Adjusted for length" in html
    alone = bb.silhouettes("weat_es", query, embeddings[0], runs=10)
    assert "where it is least" not in alone.verdict()
    assert "rank" not in alone.verdict()


@pytest.mark.parametrize(
    ("spread", "word"), [(0.01, "Not compared with random words"), (0.9, "Not robust")]
)
def test_verdict_goes_by_the_robustness(spread: float, word: str) -> None:
    numbers = spread * np.where(np.arange(20) % 2, 1.0, -1.0)
    found = of_numbers([numbers], runs=50)
    assert found.verdict().startswith(f"{word}:")


def test_undefined_sizes_are_left_out() -> None:
    class Late(Spread):
        name = "late"
        undefined = "there are few words"

        def value(self, targets: Any, attributes: Any) -> float:
            return np.nan if len(attributes[0]) < 4 else 1.0

    query, embeddings = made((3, 3), (8,))
    with pytest.warns(BayesBiasWarning, match="2 of 7 sizes are left out, as in some runs there"):
        found = bb.silhouettes(Late(), query, embeddings, side="attributes", step=1, runs=3)
    assert found.sizes.tolist() == [4, 5, 6, 7, 8]
    assert (found.robustness == 1).all()
    assert found.influence()["contribution"].abs().max() < 1e-12

    class Never(Late):
        def value(self, targets: Any, attributes: Any) -> float:
            return 1.0 if len(attributes[0]) == 8 else np.nan

    with pytest.raises(DataError, match="not defined for parts of the lists of any size"):
        bb.silhouettes(Never(), query, embeddings, side="attributes", runs=3)

    class Nowhere(Late):
        def value(self, targets: Any, attributes: Any) -> float:
            return np.nan

    with pytest.raises(DataError, match="late has no value in 'emb0': there are few words"):
        bb.silhouettes(Nowhere(), query, embeddings, side="attributes", runs=3)


def test_values_outside_the_range_are_told() -> None:
    query, embeddings = made((6, 7), (5, 5))
    with pytest.warns(BayesBiasWarning, match="are outside the range -0.01 to 0.01") as told:
        found = bb.silhouettes("weat_es", query, embeddings, runs=3, value_range=(-0.01, 0.01))
    ends = f"they go from {found.values.min():.2g} to {found.values.max():.2g}: give a wider"
    assert ends in str(told[0].message)


def test_effect_sizes_of_unequal_lists_go_beyond_two() -> None:
    """All of one list at 1 and of the other at −1: (n + m) / √(n m) standard deviations."""
    query = bb.Query([["a", "b"], list("cdefgh")], [["p"], ["q"]])
    axis = np.repeat([[1, 0], [-1, 0], [1, 0], [-1, 0]], [2, 6, 1, 1], axis=0)
    embedding = bb.Embedding("abcdefghpq", axis, "axis")
    assert bb.metrics.WEATEffectSize().run_query(query, embedding).value == pytest.approx(
        8 / np.sqrt(12)
    )


BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"metric": "wat"}, SpecError, "'metric' is 'wat'.*Did you mean 'weat'"),
    ({"metric": 3}, SpecError, "'metric' is an int; expected a name"),
    ({"query": 6}, SpecError, "'query' is an int; expected a Query"),
    ({"metric": "rnd"}, SpecError, "takes \\(2, 1\\) target and attribute sets"),
    ({"metric": "indirect_bias"}, SpecError, "pairs the words of the target sets"),
    ({"side": "target"}, SpecError, "'side' is 'target'.*Did you mean 'targets'"),
    (
        {"growth": "even"},
        SpecError,
        "'growth' is 'even'; expected one of 'prefix', 'prop",
    ),
    ({"runs": 1}, SpecError, "'runs' is 1; expected a whole number, 2 or more"),
    ({"seed": -1}, SpecError, "'seed' is -1"),
    ({"step": 0}, SpecError, "'step' is 0"),
    ({"start": 0}, SpecError, "'start' is 0"),
    ({"prob": 1.0}, SpecError, "'prob' is 1.0"),
    ({"n_jobs": 0}, SpecError, "'n_jobs' is 0"),
    (
        {"value_range": (1, -1)},
        SpecError,
        "'value_range' is \\(1, -1\\); expected the smallest",
    ),
    ({"value_range": 2}, SpecError, "'value_range' is 2; expected"),
    ({"value_range": (-np.inf, 1)}, SpecError, "'value_range' is \\(-inf, 1\\)"),
    (
        {"value_range": (1, 2)},
        SpecError,
        "does not hold the neutral value of 'weat_es', 0",
    ),
    ({"embeddings": []}, SpecError, "embedding"),
    ({"start": 6}, SpecError, "has 6 words and needs 7: the targets grow from 6 words"),
    ({"distance": "cos"}, SpecError, "'distance' is not an option of 'weat_es'"),
]


@pytest.mark.parametrize(("change", "error", "message"), BAD)
def test_bad_input(change: dict[str, Any], error: type[Exception], message: str) -> None:
    query, embeddings = made((6, 7), (5, 5))
    arguments: dict[str, Any] = {"metric": "weat_es", "query": query, "embeddings": embeddings}
    with pytest.raises(error, match=message):
        bb.silhouettes(**(arguments | change))


def test_lists_that_cannot_grow() -> None:
    query, embeddings = made((1, 7), (5, 5))
    with pytest.raises(
        SpecError,
        match="'target: Target set 0' has 1 word and needs 3.*start=1.*Add",
    ):
        bb.silhouettes("weat_es", query, embeddings)
    assert bb.silhouettes("weat_es", query, embeddings, side="attributes", runs=2).runs == 2
    query, embeddings = made((2, 2), ())
    with pytest.raises(SpecError, match="has no attribute sets; use side='targets'"):
        bb.silhouettes("cluster_test", query, embeddings, side="attributes")


def test_no_common_vocabulary() -> None:
    query, (first, second) = made((6, 7), (5, 5))
    missing = {"t0_0", "t0_1", "t0_2", "t0_3"}
    less = second.subset([word for word in second.words if word not in missing])
    with pytest.raises(VocabularyError) as caught:
        bb.silhouettes("weat_es", query, [first, less])
    assert str(caught.value) == (
        "'target: Target set 0' is left with 2 of its 6 words, those that 'emb0', 'emb1' have in "
        "common, and needs 3: the targets grow from 2 words of each list, or from 1 with start=1. "
        "Lost are 't0_0', 't0_1', 't0_2', 't0_3'; give other words, or other fallbacks by "
        "'matching'."
    )


def test_too_few_words_on_the_side_that_does_not_grow() -> None:
    query, (first, second) = made((6, 7), (5,))
    less = second.subset([*query.target_sets[0], *query.target_sets[1], "a0_4"])
    with pytest.raises(VocabularyError, match="and needs 2: ect takes no fewer. Lost are 'a0_0"):
        bb.silhouettes("ect", query, [first, less])


def test_a_metric_that_has_one_value_only() -> None:
    query, embeddings = made((6,), (5, 5))
    with pytest.raises(SpecError) as caught:
        bb.silhouettes("rnsb_groups", query, embeddings)
    assert str(caught.value) == (
        "the metric 'rnsb_groups' is always 0 for the query 'Target set 0 wrt Attribute set 0 and "
        "Attribute set 1'; give more target sets, or more words."
    )


def test_references_must_be_there() -> None:
    query, embeddings = made((6, 7), (5, 5))
    found = bb.silhouettes("weat_es", query, embeddings, runs=2)
    with pytest.raises(SpecError, match="'biased' is 'emb'; expected one of 'emb0', 'emb1'"):
        found.accuracy("emb", "emb1")
    with pytest.raises(SpecError, match="are the same embedding; give two"):
        found.accuracy("emb1", "emb1")
    with pytest.raises(SpecError, match="'normalisation' is 'published'"):
        found.accuracy("emb0", "emb1", normalisation="published")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="give both 'biased' and 'unbiased', or neither"):
        found.verdict("emb0")


@pytest.mark.parametrize("metric", ["rnd", "ripa"])
def test_a_metric_without_a_finite_range(metric: str) -> None:
    query, embeddings = made((6, 6), (5,))
    with pytest.raises(SpecError) as caught:
        bb.silhouettes(metric, query, embeddings)
    assert str(caught.value) == (
        f"the metric {metric!r} has no finite range of values, and robustness is relative to it; "
        "give one, such as value_range=(-1, 1)."
    )
    found = bb.silhouettes(metric, query, embeddings, runs=2, value_range=(-9, 9))
    assert found.value_range == (-9.0, 9.0)


def test_ranges_by_theory() -> None:
    query, embeddings = made((4, 5, 6), (9, 7))
    words = bb.silhouettes("rnsb", query, embeddings, runs=2)
    assert words.value_range == (0.0, pytest.approx(np.log(15)))
    groups = bb.silhouettes("rnsb_groups", query, embeddings, runs=2)
    assert groups.value_range == (0.0, pytest.approx(np.log(3)))
    pair, embeddings = made((4, 5), (9, 7))
    assert bb.silhouettes(
        bb.metrics.WEAT(return_effect_size=True), pair, embeddings, runs=2
    ).value_range == (-2.0, 2.0)
    assert bb.silhouettes("weat", pair, embeddings, runs=2).value_range == (-18.0, 18.0)
    # Groups and attributes at the two ends of one axis reach the bounds.
    ends = bb.Query([["a", "b"], ["c"]], [["p"], ["q"]])
    axis = bb.Embedding("abcpq", [[1, 0], [2, 0], [-1, 0], [1, 0], [-3, 0]], "axis")
    assert bb.metrics.WEAT().run_query(ends, axis).value == bb.metrics.WEAT().bounds(ends)[1] == 6
    single, embeddings = made((4, 5), (9,))
    cosine = bb.silhouettes(bb.metrics.RND, single, embeddings, runs=2, distance="cos")
    assert cosine.value_range == (-2.0, 2.0)


@given(
    seed=st.integers(0, 10**6),
    sizes=st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=2, max_size=4),
)
def test_bounds_of_generalized_weat_hold(seed: int, sizes: list[tuple[int, int]]) -> None:
    targets, attributes = zip(*sizes, strict=True)
    query, (emb,) = made(targets, attributes, seed=seed, number=1)
    low, high = bb.metrics.GeneralizedWEAT().bounds(query)
    assert low <= bb.metrics.GeneralizedWEAT().run_query(query, emb).value <= high
    # As far apart as can be: groups and attributes along the same opposite axes.
    words = {
        word: i
        for s in (query.target_sets, query.attribute_sets)
        for i, w in enumerate(s)
        for word in w
    }
    vectors = np.array([[(-1.0) ** i, 0.0] for i in words.values()])
    extreme = bb.metrics.GeneralizedWEAT().run_query(query, bb.Embedding(words, vectors, "e")).value
    assert extreme <= high + 1e-9
    if len(set(targets)) == len(set(attributes)) == 1 and len(targets) % 2 == 0:
        assert extreme == pytest.approx(high)


def test_options_and_seed_reach_the_metric() -> None:
    query, embeddings = made((3, 3), (12, 12))
    found = bb.silhouettes(
        "rnsb_groups", query, embeddings, runs=2, seed=3, holdout=True, n_iterations=2
    )
    metric = found.lists[0].measurement.metric
    assert isinstance(metric, bb.metrics.RNSBGroups)
    assert (metric.holdout, metric.n_iterations, metric.seed) == (True, 2, 3)
    own = bb.metrics.RNSBGroups(seed=5)
    for seed, expected in ((None, 5), (0, 0)):
        found = bb.silhouettes(own, query, embeddings, runs=2, seed=seed)
        metric = found.lists[0].measurement.metric
        assert isinstance(metric, bb.metrics.RNSBGroups)
        assert metric.seed == found.seed == expected


@settings(max_examples=200)
@given(
    lengths=st.lists(st.integers(3, 40), min_size=1, max_size=4),
    start=st.integers(1, 2),
    step=st.integers(1, 5),
    growth=st.sampled_from(["proportional", "prefix"]),
)
def test_growth(lengths: list[int], start: int, step: int, growth: Any) -> None:
    found = counts(lengths, start=start, step=step, growth=growth)
    assert found[0].tolist() == [start] * len(lengths)
    assert found[-1].tolist() == lengths
    assert (np.diff(found, axis=0) >= 0).all()
    assert (np.diff(found.sum(axis=1)) > 0).all()
    if growth == "prefix":
        expected = [[min(start + step * i, n) for n in lengths] for i in range(len(found))]
        assert found.tolist() == expected
    else:
        assert set(np.diff(found.sum(axis=1))[:-1]) <= {step * len(lengths)}
        # Every list has the same share of its words in, but for rounding and the start.
        share = found / np.array(lengths)
        common = found.sum(axis=1, keepdims=True) / sum(lengths)
        slack = (start + 1 + len(lengths) * start) / np.array(lengths)
        assert (np.abs(share - common) <= slack).all()
