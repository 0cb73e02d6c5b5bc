"""Many queries in many embeddings."""

from __future__ import annotations

import dataclasses
import json
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesbias as bb
from bayesbias.embeddings import Matching
from bayesbias.errors import BayesBiasWarning, NotFoundError, SpecError

# Random attributes teach a classifier nothing, and RNSB says so.
pytestmark = pytest.mark.filterwarnings("ignore:.*classifier is right for only")

WORDS = [f"{group}{i}" for group in "pqab" for i in range(5)]


def some(letters: str, n: int = 5) -> list[list[str]]:
    return [[f"{letter}{i}" for i in range(n)] for letter in letters]


def embedding(seed: int, name: str, words: list[str] = WORDS) -> bb.Embedding:
    rng = np.random.default_rng(seed)
    return bb.Embedding(words, rng.normal(size=(len(words), 8)), name)


@pytest.fixture
def pair() -> list[bb.Embedding]:
    return [embedding(1, "zeta"), embedding(2, "alpha")]


@pytest.fixture
def queries() -> list[bb.Query]:
    return [
        bb.Query(some("pq"), some("ab"), ["P", "Q"], ["A", "B"]),
        bb.Query(some("ab"), some("pq"), ["A", "B"], ["P", "Q"]),
    ]


class Gap(bb.metrics.Metric):
    """The mean cosine of one set less that of another with the attributes."""

    name = "gap"
    template = (2, 1)
    value_range = (-2.0, 2.0)

    def value(self, targets: Any, attributes: Any) -> float:
        first, second = (t.unit @ attributes[0].unit.T for t in targets)
        return float(first.mean() - second.mean())


@dataclasses.dataclass(frozen=True)
class Scaled(bb.metrics.Metric):
    """Something with an option, a neutral value of one and any number of target sets."""

    factor: float = 1.0

    name: ClassVar[str] = "scaled"
    template: ClassVar[Any] = ("n", 2)
    neutral_value: ClassVar[float] = 1.0

    def value(self, targets: Any, attributes: Any) -> float:
        return self.factor * float(np.mean([t.vectors.mean() for t in targets]))


def weat(query: bb.Query, emb: bb.Embedding) -> float:
    """WEAT word by word, as its paper has it."""

    def cosine(v: str, w: str) -> float:
        a, b = emb[v].astype(float), emb[w].astype(float)
        return float(a @ b) / float(np.sqrt((a @ a) * (b @ b)))

    def association(word: str) -> float:
        first, second = query.attribute_sets
        return sum(cosine(word, w) for w in first) / len(first) - sum(
            cosine(word, w) for w in second
        ) / len(second)

    first, second = query.target_sets
    return sum(map(association, first)) - sum(map(association, second))


def test_values_by_hand(pair: list[bb.Embedding], queries: list[bb.Query]) -> None:
    found = bb.run_queries("weat", queries, pair)
    assert list(found.index) == ["zeta", "alpha"]
    assert list(found.columns) == ["P and Q wrt A and B", "A and B wrt P and Q"]
    for emb in pair:
        for query in queries:
            assert found.loc[emb.name, query.name] == pytest.approx(weat(query, emb), abs=1e-6)
    assert found.attrs == {
        "metric": "weat",
        "neutral_value": 0.0,
        "lost": {},
        "reasons": {},
        "notes": {},
        "aggregate": None,
    }


def test_metric_by_name_class_or_instance(
    pair: list[bb.Embedding], queries: list[bb.Query]
) -> None:
    found = [
        bb.run_queries(metric, queries, pair, options=options)
        for metric, options in (
            ("weat", {"return_effect_size": True}),
            (bb.metrics.WEAT, {"return_effect_size": True}),
            (bb.metrics.WEAT(), {"return_effect_size": True}),
            (bb.metrics.WEAT(return_effect_size=True), None),
            ("weat_es", {}),
        )
    ]
    for frame in found[1:]:
        np.testing.assert_array_equal(frame.to_numpy(), found[0].to_numpy())
    assert bb.metrics.WEAT(ddof=1) == bb.metrics.WEAT(ddof=1)
    one = bb.run_queries(
        bb.metrics.WEAT(ddof=1), queries[0], pair[0], options={"return_effect_size": True}
    )
    expected = bb.metrics.WEAT(True, 1).run_query(queries[0], pair[0]).value
    assert one.iloc[0, 0] == pytest.approx(expected, rel=1e-12)


def test_a_query_an_embedding_a_named_set(demo: bb.Embedding) -> None:
    one = bb.run_queries("weat", bb.load_query("weat_7"), demo)
    assert one.shape == (1, 1)
    assert one.iloc[0, 0] == pytest.approx(weat(bb.load_query("weat_7"), demo), abs=1e-6)
    with pytest.warns(BayesBiasWarning, match="words of the queries are lost: .* in 'demo'"):
        named = bb.run_queries("weat", "gender", demo, aggregate="avg")
    assert list(named)[:-1] == [query.name for query in bb.query_set("gender")]
    assert named.columns[-1] == "WEAT: gender average score"


AGGREGATES: dict[str, tuple[str, Callable[[pd.DataFrame], Any]]] = {
    "avg": ("average", lambda frame: frame.mean(axis=1)),
    "abs_avg": ("average of abs values", lambda frame: frame.abs().mean(axis=1)),
    "sum": ("sum", lambda frame: frame.sum(axis=1)),
    "abs_sum": ("sum of abs values", lambda frame: frame.abs().sum(axis=1)),
}


@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_aggregates(aggregate: Any, pair: list[bb.Embedding], queries: list[bb.Query]) -> None:
    words, function = AGGREGATES[aggregate]
    found = bb.run_queries("weat", queries, pair, name="letters", aggregate=aggregate)
    assert list(found.columns[:2]) == [query.name for query in queries]
    assert found.columns[2] == f"WEAT: letters {words} score"
    np.testing.assert_allclose(found.iloc[:, 2], function(found.iloc[:, :2]), rtol=1e-12)
    assert found.attrs["aggregate"] == {
        "column": found.columns[2],
        "function": aggregate,
        "neutral_value": 0.0,
        "skipped": [],
    }
    custom = bb.run_queries("weat", queries, pair, aggregate=function)
    assert custom.columns[2] == "WEAT: queries custom aggregation score"
    np.testing.assert_allclose(custom.iloc[:, 2], found.iloc[:, 2], rtol=1e-12)
    alone = bb.run_queries(
        "weat", queries, pair, name="letters", aggregate=aggregate, only_aggregate=True
    )
    pd.testing.assert_frame_equal(alone, found.iloc[:, 2:])
    assert alone.attrs == found.attrs


@pytest.mark.parametrize(
    ("aggregate", "neutral"), [("avg", 1.0), ("abs_avg", 1.0), ("sum", 2.0), ("abs_sum", 2.0)]
)
@pytest.mark.filterwarnings("ignore:without bias the metric is 1")
def test_neutral_value_of_an_aggregate(
    aggregate: Any, neutral: float, pair: list[bb.Embedding], queries: list[bb.Query]
) -> None:
    found = bb.run_queries(Scaled, queries, pair, aggregate=aggregate)
    assert found.attrs["aggregate"]["neutral_value"] == neutral
    assert found.attrs["neutral_value"] == 1.0


def test_absolute_values_can_hide_bias(pair: list[bb.Embedding], queries: list[bb.Query]) -> None:
    negative = Scaled(factor=-1.0)
    up = [bb.Embedding(e.words, np.abs(e.vectors), e.name) for e in pair]
    with pytest.warns(BayesBiasWarning, match="absolute values hide .* use aggregate='sum'"):
        bb.run_queries(negative, queries, up, aggregate="abs_sum")
    bb.run_queries(negative, queries, up, aggregate="sum")
    bb.run_queries(Scaled(), queries, up, aggregate="abs_sum")


def test_values_on_both_sides_of_the_neutral_one_cancel_out() -> None:
    """MAC: one query as far above 1 as the other is below it."""
    emb = bb.Embedding(list("pqa"), [[1, 0.5], [-1, 0.5], [1, 0]], "both")
    queries = [bb.Query([[word]], [["a"]], [word], ["A"]) for word in "pq"]
    with pytest.warns(BayesBiasWarning, match="values above and below it cancel out in the agg"):
        found = bb.run_queries("mac", queries, [emb], aggregate="abs_avg")
    assert found.iloc[0, -1] == pytest.approx(1)
    bb.run_queries("mac", queries[0], [emb], aggregate="abs_avg")  # no warning


def test_aggregation_of_your_own(pair: list[bb.Embedding], queries: list[bb.Query]) -> None:
    plain = bb.run_queries("weat", queries, pair)
    turned = bb.run_queries(
        "weat", queries, pair, aggregate=lambda frame: frame.max(axis=1).sort_index()
    )
    np.testing.assert_array_equal(turned.iloc[:, 2], plain.max(axis=1))
    array = bb.run_queries("weat", queries, pair, aggregate=lambda f: f.to_numpy().max(axis=1))
    np.testing.assert_array_equal(array.iloc[:, 2], plain.max(axis=1))

    def spoil(frame: pd.DataFrame) -> Any:
        frame.iloc[:, :] = 0
        return frame.sum(axis=1)

    kept = bb.run_queries("weat", queries, pair, aggregate=spoil)
    np.testing.assert_array_equal(kept.iloc[:, :2], plain)
    wrong: dict[str, Callable[[pd.DataFrame], Any]] = {
        "DataFrame": lambda frame: frame,
        "float": lambda frame: 1.0,
        "list": lambda frame: ["x", "y"],
        "Series": lambda frame: frame.mean(),
    }
    three = [*queries, bb.Query(some("pa"), some("qb"))]
    for what, function in wrong.items():
        with pytest.raises(
            SpecError, match=f"'aggregate' returned an? {what}; expected one number"
        ):
            bb.run_queries("weat", three, pair, aggregate=function)


@pytest.fixture
def lossy() -> list[bb.Embedding]:
    """The second lacks two of five words of 'a', the third all of 'p'."""
    return [
        embedding(1, "full"),
        embedding(2, "short", [w for w in WORDS if w not in ("a0", "a1")]),
        embedding(3, "poor", [w for w in WORDS if w[0] != "p"]),
    ]


def test_queries_without_a_value_are_left_out_for_all(lossy: list[bb.Embedding]) -> None:
    both = bb.Query(some("pq"), some("ab"))
    safe = [bb.Query(some("pq"), some("b")), bb.Query(some("qp"), some("b"))]
    losing = bb.Query(some("pq"), some("a"), None, ["lost"])
    with pytest.warns(BayesBiasWarning) as told:
        found = bb.run_queries(Gap(), [losing, *safe], lossy[:2], aggregate="sum")
    assert len(told) == 1
    assert str(told[0].message) == (
        "1 of 6 values are NaN, such as gap of 'Target set 0 and Target set 1 wrt lost': "
        "embedding 'short' lacks 2 of 5 words of 'attribute: lost' ('a0', 'a1'), more than "
        "threshold=0.2 allows; words of the queries are lost: 2 in 'short' "
        "('a0', 'a1'); left out of the aggregate: 'Target set 0 and Target set 1 wrt lost'; "
        "see the attrs of the frame."
    )
    assert np.isnan(found.loc["short"].iloc[0])
    assert np.isfinite(found.loc["full"].iloc[0])
    np.testing.assert_allclose(found.iloc[:, -1], found.iloc[:, 1:-1].sum(axis=1), rtol=1e-12)
    attrs = json.loads(json.dumps(found.attrs))
    assert attrs == found.attrs
    assert attrs["aggregate"]["skipped"] == [losing.name]
    assert attrs["lost"] == {"short": {losing.name: {"attribute: lost": ["a0", "a1"]}}}
    assert set(attrs["reasons"]) == {"short"}
    assert "lacks 2 of 5 words" in attrs["reasons"]["short"][losing.name]
    with pytest.warns(BayesBiasWarning, match="no query has a value in every embedding, so"):
        none = bb.run_queries("weat", both, lossy, aggregate="abs_avg")
    assert none.iloc[:, -1].isna().all()
    assert np.isfinite(none.loc["full"].iloc[0])
    with pytest.warns(BayesBiasWarning, match="lost: 2 in 'short'"):
        more = bb.run_queries(
            "weat", both, lossy[:2], aggregate="avg", matching=Matching(threshold=0.4)
        )
    assert more.notna().all(axis=None)


def test_notes_are_counted(pair: list[bb.Embedding]) -> None:
    query = bb.Query([["p0", "p1"], ["p1", "q0"]], some("a"))
    with pytest.warns(BayesBiasWarning, match="2 of 2 values have a note, such as gap") as told:
        found = bb.run_queries(Gap, query, pair)
    assert len(told) == 1
    assert "share 'p1'" in found.attrs["notes"]["alpha"][query.name][0]


def test_equal_names_are_told_apart(pair: list[bb.Embedding]) -> None:
    """WEFE averages them."""
    first, second = bb.Query(some("pq"), some("ab")), bb.Query(some("pa"), some("qb"))
    third = bb.Query(some("pb"), some("qa"))
    assert first.name == second.name == third.name
    found = bb.run_queries("weat", [first, second, first, third], pair, aggregate="sum")
    name = first.name
    assert list(found.columns[:-1]) == [name, f"{name} (2)", f"{name} (3)"]
    for column, query in zip(found, (first, second, third), strict=False):
        assert found.loc["alpha", column] == pytest.approx(weat(query, pair[1]), abs=1e-6)
    np.testing.assert_allclose(found.iloc[:, 3], found.iloc[:, :3].sum(axis=1), rtol=1e-12)


def test_subqueries(pair: list[bb.Embedding], queries: list[bb.Query]) -> None:
    found = bb.run_queries(Gap, queries, pair, subqueries=True)
    assert list(found) == ["P and Q wrt A", "P and Q wrt B", "A and B wrt P", "A and B wrt Q"]
    part = queries[0].subqueries((2, 1))[1]
    assert found.loc["zeta", "P and Q wrt B"] == Gap().run_query(part, pair[0]).value
    # A part that two queries share is measured once.
    twice = [queries[0], bb.Query(some("pq"), some("ab", 4), ["P", "Q"], ["A", "other"])]
    third = bb.Query(some("pq"), some("ab"), ["P", "Q"], ["A", "C"])
    assert list(bb.run_queries(Gap, [queries[0], third], pair, subqueries=True)) == [
        "P and Q wrt A",
        "P and Q wrt B",
        "P and Q wrt C",
    ]
    # One of the same name with other words is not.
    assert list(bb.run_queries(Gap, twice, pair, subqueries=True)) == [
        "P and Q wrt A",
        "P and Q wrt B",
        "P and Q wrt A (2)",
        "P and Q wrt other",
    ]
    # Open templates too, where WEFE fails.
    three = bb.Query(some("pqa"), [["b0"], ["b1"], ["b2"]], list("PQA"), list("xyz"))
    assert list(bb.run_queries(Scaled, three, pair, subqueries=True)) == [
        "P, Q and A wrt x and y",
        "P, Q and A wrt x and z",
        "P, Q and A wrt y and z",
    ]


def test_nothing_runs_before_all_is_checked(
    pair: list[bb.Embedding], queries: list[bb.Query]
) -> None:
    calls = []

    class Counting(bb.metrics.Metric):
        name = "counting"

        def value(self, targets: Any, attributes: Any) -> float:
            calls.append(1)
            return 0.0

    one = bb.Query(some("pq"), some("a"))
    with pytest.raises(SpecError, match=r"takes \(2, 2\) target and attribute sets, and the q"):
        bb.run_queries(Counting, [*queries, one], pair)
    with pytest.raises(SpecError, match=r"needs 2 attribute sets, but the query .* has 1"):
        bb.run_queries(Counting, [*queries, one], pair, subqueries=True)
    with pytest.raises(SpecError, match="two embeddings are called 'zeta'"):
        bb.run_queries(Counting, queries, [pair[0], pair[0]])
    assert not calls
    bb.run_queries(Counting, queries, pair)
    assert len(calls) == 4


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"metric": "waet"}, r"'metric' is 'waet'; expected one of .*Did you mean 'weat'\?"),
        ({"metric": 3}, "'metric' is an int; expected a name such as 'weat', or a Metric"),
        ({"metric": int}, "'metric' is the class int; expected a name such as 'weat', or a Metric"),
        ({"queries": []}, "'queries' is empty; give at least one query"),
        (
            {"queries": 7},
            "'queries' is 7; expected a Query, a list of them, or the name of a query",
        ),
        ({"queries": [7]}, "'query' is an int; expected a Query"),
        ({"embeddings": []}, "'embeddings' is empty"),
        ({"embeddings": 3}, "'embeddings' is an int; expected an Embedding"),
        ({"aggregate": "mean"}, "'aggregate' is 'mean'; expected one of 'abs_avg', 'abs_sum', 'av"),
        ({"aggregate": 1}, "'aggregate' is 1; expected one of .* or a function"),
        ({"only_aggregate": True}, "only_aggregate=True needs 'aggregate', such as 'abs_avg'"),
        (
            {"options": {"effect_size": True}},
            "'effect_size' is not an option of 'weat'; there are 'return_effect_size', 'ddof'. "
            "Did you mean 'return_effect_size'",
        ),
        ({"metric": Gap, "options": {"x": 1}}, "'x' is not an option of 'gap'; there is none"),
        ({"options": {"seed": 1}}, "'seed' is not an option of 'weat'"),
        ({"matching": "exact"}, "'matching' is a str; expected a Matching"),
        ({"seed": -1}, "'seed' is -1; expected a whole number"),
        ({"n_jobs": 0}, "'n_jobs' is 0; expected a number of processes, or -1"),
        ({"n_jobs": True}, "'n_jobs' is True; expected a number of processes"),
    ],
)
def test_errors(
    changed: dict[str, Any], message: str, pair: list[bb.Embedding], queries: list[bb.Query]
) -> None:
    arguments: dict[str, Any] = {
        "metric": "weat",
        "queries": queries,
        "embeddings": pair,
        **changed,
    }
    with pytest.raises(SpecError, match=message):
        bb.run_queries(**arguments)


def test_unknown_set() -> None:
    with pytest.raises(NotFoundError, match="no query 'gendre'.*Sets of queries are .*'gender'"):
        bb.run_queries("weat", "gendre", embedding(1, "e"))


def centred() -> bb.metrics.Metric:
    class Centred(bb.metrics.Metric):
        """WEAT of what is left when the mean of the whole vocabulary is taken away."""

        name = "centred"
        whole_embedding = True

        def expand(self, targets: Any, attributes: Any, embedding: bb.Embedding) -> Any:
            mean = embedding.vectors.mean(axis=0)

            def shift(sets: Any) -> Any:
                return tuple(dataclasses.replace(s, vectors=s.vectors - mean) for s in sets)

            return shift(targets), shift(attributes)

        def value(self, targets: Any, attributes: Any) -> float:
            return float(bb.metrics.WEAT().value(targets, attributes))

    return Centred()


def test_same_result_in_other_processes(
    pair: list[bb.Embedding], queries: list[bb.Query], lossy: list[bb.Embedding]
) -> None:
    for metric in (bb.metrics.WEAT(), centred()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayesBiasWarning)
            alone, two = (
                bb.run_queries(metric, queries, lossy, aggregate="avg", n_jobs=n) for n in (1, 2)
            )
        pd.testing.assert_frame_equal(alone, two, rtol=1e-12)
        assert alone.attrs == two.attrs
    shifted = bb.run_queries(centred(), queries, pair)
    by_hand = bb.Embedding(WORDS, pair[0].vectors - pair[0].vectors.mean(axis=0))
    assert shifted.iloc[0, 0] == pytest.approx(weat(queries[0], by_hand), abs=1e-6)


def test_workers_get_the_words_of_the_query_only(demo: bb.Embedding) -> None:
    sizes = []

    class Sizes(bb.metrics.Metric):
        name = "sizes"

        def expand(self, targets: Any, attributes: Any, embedding: bb.Embedding) -> Any:
            sizes.append((len(embedding), embedding.name))
            return targets, attributes

        def value(self, targets: Any, attributes: Any) -> float:
            return 0.0

    bb.run_queries(Sizes, bb.load_query("weat_7"), demo)
    assert sizes == [(32, "demo")]


def test_nothing_is_printed(
    pair: list[bb.Embedding], queries: list[bb.Query], capfd: pytest.CaptureFixture[str]
) -> None:
    bb.run_queries("weat", queries, pair, progress=True)
    assert capfd.readouterr() == ("", "")


VOCABULARY = ["ada", "Ada", "ADA", "ádá", "bo", "Bo", "cy", "d", "É", "e"]
LISTED = ["ada", "Ada", "ÁDA", "bo", "BO", "cy", "D", "é"]
LISTS = st.lists(st.sampled_from(LISTED), min_size=1, max_size=5, unique=True)


@settings(max_examples=40, deadline=None)
@given(
    vocabulary=st.sets(st.sampled_from(VOCABULARY), min_size=1),
    listed=st.lists(LISTS, min_size=3, max_size=3),
    fallbacks=st.permutations(["exact", "lower", "title", "upper", "strip_accents"]),
    threshold=st.sampled_from([0.0, 0.2, 0.5, 1.0]),
)
def test_a_part_of_the_embedding_is_enough(
    vocabulary: set[str], listed: list[list[str]], fallbacks: list[str], threshold: float
) -> None:
    """What other spellings find in the part sent to a worker is what they find in the whole."""
    emb = embedding(3, "cases", sorted(vocabulary))
    query = bb.Query(listed[:2], listed[2:])
    how: dict[str, Any] = {"matching": Matching(tuple(fallbacks), threshold)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesBiasWarning)
        whole = Gap().run_query(query, emb, **how)
        found = bb.run_queries(Gap, query, emb, **how)
    np.testing.assert_allclose(found.iloc[0, 0], whole.value, rtol=1e-12, equal_nan=True)
    lost = found.attrs["lost"].get("cases", {}).get(query.name, {})
    assert {key: tuple(words) for key, words in lost.items()} == whole.lost
    assert found.attrs["reasons"].get("cases", {}).get(query.name) == whole.reason


class TestQueryScores:
    def test_is_the_long_form_of_run_queries(
        self, pair: list[bb.Embedding], queries: list[bb.Query]
    ) -> None:
        long = bb.query_scores(["weat", bb.metrics.WEATEffectSize()], queries, pair)
        assert list(long["metric"]) == ["weat"] * 4 + ["weat_es"] * 4
        assert list(long["embedding"]) == ["zeta", "alpha"] * 4
        for name, part in long.groupby("metric"):
            wide = part.pivot_table(index="embedding", columns="query", values="value")
            expected = bb.run_queries(str(name), queries, pair)
            np.testing.assert_array_equal(
                wide.loc[expected.index, expected.columns], expected.to_numpy()
            )
        assert long[["sd", "lower", "upper", "prob_above", "p_value"]].isna().all(axis=None)
        assert (long["n_words"] == 20).all()
        assert long.attrs == {"skipped": {}}

    def test_intervals_and_p_values(
        self, pair: list[bb.Embedding], queries: list[bb.Query]
    ) -> None:
        found = bb.query_scores(
            "weat", queries, pair, draws=200, prob=0.5, kind="eti", p_values=True, seed=3
        )
        row = found.iloc[3]
        drawn = bb.metrics.WEAT().posterior(
            queries[1], pair[1], draws=200, prob=0.5, kind="eti", seed=3
        )
        tested = bb.metrics.WEAT().run_query(
            queries[1], pair[1], calculate_p_value=True, p_value_test_type="two-sided"
        )
        assert row["value"] == tested.value
        assert (row["lower"], row["upper"], row["sd"]) == (drawn.lower, drawn.upper, drawn.sd)
        assert row["prob_above"] == drawn.prob_above
        assert row["p_value"] == tested.p_value
        # The two-sided test of one query enumerates all 252 partitions.
        assert row["p_value"] * 252 == pytest.approx(round(row["p_value"] * 252))
        only = bb.query_scores("weat", queries, pair, p_values=True, p_value_test_type="left-sided")
        assert only["lower"].isna().all()
        left = bb.metrics.WEAT().run_query(
            queries[0], pair[0], calculate_p_value=True, p_value_test_type="left-sided"
        )
        assert only["p_value"].iloc[0] == left.p_value

    def test_no_p_value_without_two_target_sets(self, pair: list[bb.Embedding]) -> None:
        queries = [bb.Query(some("p"), some("ab"), ["P"]), bb.Query(some("pq"), some("ab"))]
        with pytest.warns(BayesBiasWarning, match="have a note"):
            found = bb.query_scores(Scaled, queries, pair[0], p_values=True)
        assert found["p_value"].isna().all()
        assert found["value"].notna().all()

    def test_each_metric_takes_what_fits(
        self, pair: list[bb.Embedding], queries: list[bb.Query]
    ) -> None:
        small = bb.Query(some("pq"), some("a"), ["P", "Q"], ["single"])
        with pytest.warns(
            BayesBiasWarning, match="weat cannot take 'P and Q wrt single'.$"
        ) as told:
            found = bb.query_scores(["weat", Gap], [queries[0], small], pair, subqueries=True)
        assert len(told) == 1
        assert dict(found.groupby("metric")["query"].nunique()) == {"weat": 1, "gap": 3}
        assert list(found.attrs["skipped"]) == ["weat"]
        assert "needs 2 attribute sets" in found.attrs["skipped"]["weat"][small.name]
        with pytest.raises(SpecError, match="no query fits the metric 'weat': the template"):
            bb.query_scores(["weat", Gap], small, pair, subqueries=True)
        with pytest.raises(SpecError, match="the metric 'gap' takes"):
            bb.query_scores(["weat", Gap], queries, pair)
        with pytest.raises(SpecError, match="'query' is an int; expected a Query"):
            bb.query_scores(["weat", Gap], [queries[0], 3], pair, subqueries=True)  # type: ignore[list-item]

    def test_options_go_to_the_metrics_that_have_them(
        self, pair: list[bb.Embedding], queries: list[bb.Query]
    ) -> None:
        metrics = [Scaled, "weat_es"]
        plain = bb.query_scores(metrics, queries, pair)
        varied = bb.query_scores(metrics, queries, pair, options={"factor": 2.0})
        of_scaled = plain["metric"] == "scaled"
        np.testing.assert_allclose(varied["value"], plain["value"] * np.where(of_scaled, 2, 1))
        with pytest.raises(
            SpecError, match="'fctor' is not an option of 'scaled', 'weat_es'; .*Did"
        ):
            bb.query_scores(metrics, queries, pair, options={"fctor": 1})

    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            ({"metrics": []}, "no metric is given; name at least one, such as 'weat'"),
            ({"metrics": 5}, "'metric' is an int; expected a name"),
            (
                {"metrics": ["weat", bb.metrics.WEAT(ddof=1)]},
                "two metrics are called 'weat'; measure them",
            ),
            ({"draws": 1}, "'draws' is 1; expected a whole number, 2 or more"),
            ({"draws": -5}, "'draws' is -5; expected a whole number, 2 or more"),
            ({"prob": 89}, "'prob' is 89; expected a number between 0 and 1"),
            ({"kind": "hpdi"}, "'kind' is 'hpdi'; expected one of"),
            ({"p_value_iterations": 0}, "'p_value_iterations' is 0; expected a whole number, 1"),
            ({"p_value_test_type": "both"}, "'p_value_test_type' is 'both'; expected one of"),
        ],
    )
    def test_errors(
        self,
        changed: dict[str, Any],
        message: str,
        pair: list[bb.Embedding],
        queries: list[bb.Query],
    ) -> None:
        arguments: dict[str, Any] = {
            "metrics": "weat", "queries": queries, "embeddings": pair, **changed
        }  # fmt: skip
        with pytest.raises(SpecError, match=message):
            bb.query_scores(**arguments)

    @pytest.mark.parametrize(
        "name", [n for n, m in bb.metrics.METRICS.items() if not m.whole_embedding]
    )
    @pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
    def test_every_metric(
        self, name: str, pair: list[bb.Embedding], queries: list[bb.Query]
    ) -> None:
        """Every metric of the registry runs by its name, and as it does by itself."""
        metric = bb.metrics.METRICS[name]()
        found = bb.query_scores(name, queries, pair, subqueries=True)
        parts = [part for query in queries for part in query.subqueries(metric.template)]
        assert len(found) == 2 * len({part.name for part in parts})
        expected = {
            (part.name, emb.name): metric.run_query(part, emb).value
            for part in parts
            for emb in pair
        }
        for row in found.itertuples():
            assert row.value == pytest.approx(
                expected[row.query, row.embedding], rel=1e-9, nan_ok=True
            )
