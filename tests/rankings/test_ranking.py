"""Rankings of embeddings, how they agree, and how sure they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, DataError, SpecError

N = 20
GROUPS = "pqabcd"
WORDS = [f"{group}{i}" for group in GROUPS for i in range(N)]


def some(letters: str, n: int = N) -> list[list[str]]:
    return [[f"{letter}{i}" for i in range(n)] for letter in letters]


QUERIES = [
    bb.Query(some("pq"), some("ab"), ["P", "Q"], ["A", "B"]),
    bb.Query(some("pq"), some("cd"), ["P", "Q"], ["C", "D"]),
]


def planted(strength: float, name: str, seed: int, words: Sequence[str] = WORDS) -> bb.Embedding:
    """Vectors of noise in which p, a and c lean one way and q, b and d the other."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(len(words), 30))
    vectors[:, 0] += [strength if word[0] in "pac" else -strength for word in words]
    return bb.Embedding(words, vectors, name)


class Distance(bb.metrics.Metric):
    """Something that is 1 without bias."""

    name: ClassVar[str] = "distance"
    neutral_value: ClassVar[float] = 1.0

    def value(self, targets: Any, attributes: Any) -> float:
        return float(1 - (targets[0].unit @ attributes[0].unit.T).mean())


def results(values: Sequence[float], *, column: str = "score", **attrs: Any) -> pd.DataFrame:
    frame = pd.DataFrame({column: values}, index=list("abcdefgh")[: len(values)])
    frame.attrs = attrs
    return frame


class TestRank:
    def test_by_bias_or_by_value(self) -> None:
        """For MAC, 1 is without bias: WEFE ranks the most biased first."""
        mac = results([0.8, 1.01, 0.95], column="MAC", neutral_value=1.0)
        weat = results([0.5, -2.0, 1.0], column="WEAT")
        assert bb.rank([mac, weat]).to_dict("list") == {"MAC": [3, 1, 2], "WEAT": [1, 3, 2]}
        by_value = bb.rank([mac, weat], by="value")
        assert by_value.to_dict("list") == {"MAC": [1, 3, 2], "WEAT": [2, 1, 3]}
        pd.testing.assert_frame_equal(bb.rank(mac), bb.rank([mac, weat])[["MAC"]])

    def test_of_run_queries(self) -> None:
        embeddings = [planted(s, f"s{s}", seed=i) for i, s in enumerate((2, 0, 1))]
        for aggregate in ("avg", "abs_avg", "sum", "abs_sum"):
            found = {
                metric.name: bb.run_queries(metric, QUERIES, embeddings, aggregate=aggregate)
                for metric in (bb.metrics.WEAT, Distance)
            }
            # A sum over two queries is 2 without bias.
            assert found["distance"].iloc[1, -1] == pytest.approx(
                2 if "sum" in aggregate else 1, 0.1
            )
            ranking = bb.rank(found)
            assert ranking.to_dict("list") == {"weat": [3, 1, 2], "distance": [3, 1, 2]}
            assert list(ranking.index) == ["s2", "s0", "s1"]
        # One query needs no aggregate; several do.
        one = bb.run_queries(Distance, QUERIES[0], embeddings)
        assert list(bb.rank(one).iloc[:, 0]) == [3, 1, 2]
        with pytest.raises(SpecError, match="results of 'weat' have 2 queries and no aggregate"):
            bb.rank(bb.run_queries("weat", QUERIES, embeddings))
        # What was measured is ranked by the values that run_queries was given, not by others.
        part = bb.run_queries(Distance, QUERIES, embeddings, aggregate="sum").iloc[:, :1]
        assert list(bb.rank(part).iloc[:, 0]) == [3, 1, 2]

    def test_names(self) -> None:
        first, second, other = results([1, 2]), results([2, 1]), results([3, 4], column="other")
        assert list(bb.rank([first, other, second])) == ["score (1)", "other", "score (3)"]
        assert list(bb.rank({"x": first, "y": second})) == ["x", "y"]

    def test_rows_are_matched_by_name(self) -> None:
        first = results([1.0, 2.0, 3.0])
        second = results([1.0, 2.0, 3.0], column="second").iloc[::-1]
        assert bb.rank([first, second]).to_dict("list") == {
            "score": [1, 2, 3],
            "second": [1, 2, 3],
        }
        with pytest.raises(
            DataError, match="not of the same embeddings: 'c' is not in all of them"
        ):
            bb.rank([first, results([1.0, 2.0])])
        with pytest.raises(DataError, match="'c', 'z' are not in all of them"):
            bb.rank([first, first.rename(index={"c": "z"})])

    def test_ties_and_nan(self) -> None:
        frame = results([1.0, -1.0, np.nan, 0.5])
        np.testing.assert_array_equal(bb.rank(frame)["score"], [2, 3, np.nan, 1])
        np.testing.assert_array_equal(
            bb.rank(frame, method="average")["score"], [2.5, 2.5, np.nan, 1]
        )

    @given(
        st.lists(st.floats(-5, 5).map(lambda x: round(x, 1)), min_size=1, max_size=8),
        st.sampled_from([0.0, 1.0]),
        st.sampled_from(["average", "min", "max", "dense"]),
    )
    def test_beside_scipy(self, values: list[float], neutral: float, method: Any) -> None:
        frame = results(values, neutral_value=neutral)
        expected = stats.rankdata(np.abs(np.array(values) - neutral), method=method)
        np.testing.assert_array_equal(bb.rank(frame, method=method)["score"], expected)
        assert sorted(bb.rank(frame)["score"]) == list(range(1, len(values) + 1))

    def test_errors(self) -> None:
        for wrong, message in (
            ([], "'results' is empty; give at least one table of run_queries"),
            ([3], "'results' holds an int; expected tables of run_queries"),
            (pd.DataFrame(), "'results' holds an empty table"),
        ):
            with pytest.raises(SpecError, match=message):
                bb.rank(wrong)
        with pytest.raises(DataError, match="numbers; expected tables of run_queries"):
            bb.rank(bb.query_scores("weat", "weat_7", "demo"))
        with pytest.raises(DataError, match="'results' has two rows called 'a'; give embeddings"):
            bb.rank(pd.concat([results([1.0]), results([2.0])]))
        with pytest.raises(SpecError, match="'by' is 'size'; expected one of 'bias', 'value'"):
            bb.rank(results([1.0]), by="size")  # type: ignore[arg-type]
        with pytest.raises(SpecError, match="'method' is 'last'; expected one of"):
            bb.rank(results([1.0]), method="last")  # type: ignore[arg-type]


class TestCorrelations:
    def test_beside_scipy(self, rng: np.random.Generator) -> None:
        ranking = pd.DataFrame({k: rng.permutation(9) + 1.0 for k in "xyz"})
        for method, function in (
            ("spearman", stats.spearmanr),
            ("kendall", stats.kendalltau),
            ("pearson", stats.pearsonr),
        ):
            found = bb.rank_correlations(ranking, method=method)  # type: ignore[arg-type]
            for x in ranking:
                for y in ranking:
                    expected = function(ranking[x], ranking[y])[0]
                    assert found.loc[x, y] == pytest.approx(expected, abs=1e-12)

    def test_negative_values_stay(self) -> None:
        ranking = pd.DataFrame({"x": [1, 2, 3], "y": [3, 2, 1]})
        assert bb.rank_correlations(ranking).loc["x", "y"] == pytest.approx(-1)

    def test_errors(self) -> None:
        with pytest.raises(SpecError, match="'ranking' has 1 embedding; orders can be compared"):
            bb.rank_correlations(bb.rank(results([1.0])))
        with pytest.raises(SpecError, match="'ranking' is a list; expected the table of rank"):
            bb.rank_correlations([1])  # type: ignore[arg-type]
        with pytest.raises(SpecError, match="'method' is 'tau'; expected one of"):
            bb.rank_correlations(pd.DataFrame({"x": [1, 2]}), method="tau")  # type: ignore[arg-type]


def by_hand(draws: Any, prob: float = 0.89, names: str = "abcdefgh") -> bb.rankings.RankPosterior:
    frame = pd.DataFrame(draws, columns=list(names)[: len(draws[0])], dtype=float)
    return bb.rankings.RankPosterior("weat", "abs_avg", ("q", "r"), (), frame.mean(), frame, prob)


class TestProbabilities:
    def test_by_hand(self) -> None:
        found = by_hand([[1, 2, 3], [2, 1, 3], [1, 1, 1], [-1, 1, 3]])
        np.testing.assert_allclose(
            found.probabilities,
            np.array([[1 + 1 / 3 + 0.5, 1 + 1 / 3 + 0.5, 1 / 3],
                      [1 + 1 / 3 + 0.5, 1 + 1 / 3 + 0.5, 1 / 3],
                      [1 / 3, 1 / 3, 3 + 1 / 3]]) / 4,
        )  # fmt: skip
        np.testing.assert_allclose(
            found.p_less_biased,
            np.array([[2, 2, 3.5], [2, 2, 3.5], [0.5, 0.5, 2]]) / 4,
        )
        assert list(found.probabilities.columns) == [1, 2, 3]
        table = found.table
        assert list(table.columns) == [
            "embedding", "score", "lower", "upper", "expected_rank", "rank_lower", "rank_upper",
            "prob_best", "prob_worst",
        ]  # fmt: skip
        assert list(table["embedding"]) == ["a", "b", "c"]
        np.testing.assert_allclose(table["prob_best"], found.probabilities[1])
        np.testing.assert_allclose(table["prob_worst"], found.probabilities[3])
        # Mean ranks with ties averaged.
        mean = stats.rankdata(np.abs(found.draws), axis=1).mean(axis=0)
        np.testing.assert_allclose(table["expected_rank"], mean)

    def test_fewest_places(self) -> None:
        draws = [[2, 1, 3]] * 3 + [[1, 2, 3]] * 90 + [[1, 3, 2]] * 7
        table = by_hand(draws).table.set_index("embedding")
        assert table.loc["a", ["rank_lower", "rank_upper"]].tolist() == [1, 1]
        assert table.loc["b", ["rank_lower", "rank_upper"]].tolist() == [2, 2]
        wide = by_hand(draws, prob=0.95).table.set_index("embedding")
        assert wide.loc["a", ["rank_lower", "rank_upper"]].tolist() == [1, 1]
        assert wide.loc["b", ["rank_lower", "rank_upper"]].tolist() == [2, 3]
        full = by_hand(draws, prob=0.99).table.set_index("embedding")
        assert full.loc["b", ["rank_lower", "rank_upper"]].tolist() == [1, 3]

    @settings(deadline=None)
    @given(
        st.integers(2, 6).flatmap(
            lambda n: st.lists(
                st.lists(st.integers(-3, 3), min_size=n, max_size=n), min_size=1, max_size=12
            )
        ),
        st.floats(0.05, 0.99),
    )
    def test_what_holds_for_all_draws(self, draws: list[list[int]], prob: float) -> None:
        found = by_hand(draws, prob)
        chances, wins = found.probabilities.to_numpy(), found.p_less_biased.to_numpy()
        np.testing.assert_allclose(chances.sum(axis=0), 1)
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        np.testing.assert_allclose(wins + wins.T, 1)
        # The expected place is one more than the expected number of those before.
        n = len(chances)
        table = found.table.set_index("embedding").loc[list(found.draws)]
        np.testing.assert_allclose(table["expected_rank"], 1 + (1 - wins).sum(axis=1) - 0.5)
        for row, first, last in zip(chances, table["rank_lower"], table["rank_upper"], strict=True):
            held = row[first - 1 : last].sum()
            assert held > prob - 1e-9 or (first, last) == (1, n)
            if last > first:
                shorter = last - first
                sums = [row[i : i + shorter].sum() for i in range(n - shorter + 1)]
                assert max(sums) < prob + 1e-9
        assert found.summary()

    def test_words_are_no_surer_than_the_numbers(self) -> None:
        sure = by_hand([[1, 2, 3]] * 100).summary()
        assert sure == (
            "weat over 2 queries (abs_avg), 3 embeddings. The least biased is 'a', with a "
            "probability above 0.99. The most biased is 'c', with a probability above 0.99. Each "
            "is less biased than the next with a probability of at least 0.89. The probabilities "
            "are about which words could have been listed, not about which texts the embeddings "
            "could have been trained on."
        )
        unsure = by_hand([[1, 2, 3]] * 60 + [[2, 1, 3]] * 40).summary()
        assert "least biased is inconclusive: 'a', the likeliest, is it with prob" in unsure
        assert "The most biased is 'c', with a probability above 0.99" in unsure
        assert "Open among neighbours: 'a' before 'b' with probability 0.60." in unsure
        two = by_hand([[1, 2]] * 60 + [[2, 1]] * 40).summary()
        assert "most biased" not in two
        assert "neighbours" not in two
        many = by_hand([[1] * 8]).summary()
        assert "'e' before 'f' with probability 0.50, and 2 more." in many

    def test_shown(self) -> None:
        found = by_hand([[1, 2]] * 10, names="<b")
        assert repr(found) == "<RankPosterior weat (abs_avg): 2 embeddings, 2 queries, 10 draws>"
        page = found._repr_html_()
        assert "&lt;" in page
        assert "<<" not in page
        assert "probability above 0.99" in page

    def test_no_bias_at_all(self) -> None:
        assert (by_hand([[0, 0]]).probabilities == 0.5).all(axis=None)


class TestRankPosterior:
    def test_finds_the_planted_order(self) -> None:
        strengths = [1.5, 0.0, 2.5, 0.75]
        embeddings = [planted(s, f"s{s}", seed=i) for i, s in enumerate(strengths)]
        for aggregate in ("abs_avg", "avg", "abs_sum", "sum"):
            found = bb.rank_posterior("weat", QUERIES, embeddings, draws=500, aggregate=aggregate)
            assert list(found.table["embedding"]) == ["s0.0", "s0.75", "s1.5", "s2.5"]
            places = found.probabilities.loc[found.table["embedding"]].to_numpy()
            assert places.diagonal().min() > 0.9
            assert found.table["prob_best"].iloc[0] == places[0, 0]

    def test_copies_share_the_places(self) -> None:
        emb = planted(1.0, "first", seed=1)
        rotation = stats.ortho_group.rvs(30, random_state=2)
        others = [
            bb.Embedding(WORDS, emb.vectors, "copy"),
            bb.Embedding(WORDS, emb.vectors @ rotation, "turned"),
            bb.Embedding(WORDS, 3.3 * emb.vectors, "longer"),
        ]
        found = bb.rank_posterior("weat", QUERIES, [emb, *others], draws=500)
        np.testing.assert_allclose(found.probabilities, 0.25, atol=0.03)
        np.testing.assert_allclose(found.p_less_biased, 0.5, atol=0.03)
        assert "inconclusive" in found.summary()

    @pytest.mark.parametrize("aggregate", ["avg", "abs_avg", "sum", "abs_sum"])
    @pytest.mark.parametrize("metric", [bb.metrics.WEAT(), Distance()])
    def test_draws_are_those_of_the_metric(self, metric: bb.metrics.Metric, aggregate: Any) -> None:
        embeddings = [planted(0.2, "x", seed=1), planted(0.3, "y", seed=2)]
        found = bb.rank_posterior(
            metric, QUERIES, embeddings, draws=50, seed=4, aggregate=aggregate, prob=0.8
        )
        combine = {
            "avg": lambda x: x.mean(axis=0),
            "abs_avg": lambda x: np.abs(x).mean(axis=0),
            "sum": lambda x: x.sum(axis=0),
            "abs_sum": lambda x: np.abs(x).sum(axis=0),
        }[aggregate]
        neutral = metric.neutral_value
        for emb in embeddings:
            scores = [metric.posterior(q, emb, draws=50, seed=4) for q in QUERIES]
            drawn = combine(np.array([s.draws - neutral for s in scores if s.draws is not None]))
            point = combine(np.array([s.value - neutral for s in scores]))
            assert found.scores[emb.name] == pytest.approx(point)
            moved = drawn - np.median(drawn) + point
            if "abs" in aggregate:
                moved = np.maximum(moved, 0)
            np.testing.assert_allclose(found.draws[emb.name], moved, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            found.table.set_index("embedding")["score"].loc[found.scores.index], found.scores
        )
        if metric.name == "weat":
            values = bb.run_queries(metric, QUERIES, embeddings, aggregate=aggregate)
            np.testing.assert_allclose(values.iloc[:, -1], found.scores)

    def test_queries_that_share_lists_share_their_weights(self) -> None:
        """Asking the same words twice, under other names, makes nothing surer."""
        again = bb.Query(some("pq"), some("ab"), ["P", "Q"], ["A'", "B'"])
        embeddings = [planted(0.5, "x", seed=1), planted(0.6, "y", seed=2)]
        once = bb.rank_posterior("weat", QUERIES[0], embeddings, draws=100)
        twice = bb.rank_posterior("weat", [QUERIES[0], again], embeddings, draws=100)
        assert len(twice.queries) == 2
        np.testing.assert_allclose(once.draws, twice.draws, rtol=1e-9)

    def test_pairing_makes_comparisons_surer(self) -> None:
        """Embeddings with the same words in the same places differ less than their draws do."""
        rng = np.random.default_rng(3)
        emb = planted(1.0, "x", seed=1)
        near = bb.Embedding(WORDS, emb.vectors + 0.1 * rng.normal(size=emb.vectors.shape), "y")
        draws = bb.rank_posterior("weat", QUERIES, [emb, near], draws=500).draws
        assert draws.corr().iloc[0, 1] > 0.9

    def test_equally_biased_embeddings_are_not_told_apart_too_often(self) -> None:
        """Over many pairs of equally biased embeddings, 90% certainty is wrong 10% of the time."""
        query = bb.Query(some("pq"), some("ab"))
        certain = []
        for seed in range(150):
            pair = [planted(0.7, "x", 2 * seed), planted(0.7, "y", 2 * seed + 1)]
            found = bb.rank_posterior("weat", query, pair, draws=300, aggregate="avg")
            certain.append(float(found.p_less_biased.iloc[0, 1]))
        inside = np.mean([0.05 < p < 0.95 for p in certain])
        # 90% with a standard error of 2.4%; resampling both sides is a little cautious.
        assert 0.84 < inside < 0.99
        assert np.mean(certain) == pytest.approx(0.5, abs=0.1)

    def test_queries_are_left_out_for_all(self) -> None:
        short = planted(1.0, "short", 1, [w for w in WORDS if w[0] != "c"])
        full = planted(2.0, "full", 2)
        with pytest.warns(BayesBiasWarning, match="left out of the ranking: 'P and Q wrt C") as t:
            found = bb.rank_posterior("weat", QUERIES, [short, full], draws=50)
        assert len(t) == 1
        assert found.queries == (QUERIES[0].name,)
        assert found.skipped == (QUERIES[1].name,)
        assert "Left out: 'P and Q wrt C and D'." in found.summary()
        once = bb.rank_posterior("weat", QUERIES[0], [short, full], draws=50)
        np.testing.assert_array_equal(found.draws, once.draws)
        with pytest.raises(
            DataError,
            match="no query .*interval.*has no word of 'attrib",
        ):
            bb.rank_posterior("weat", QUERIES[1], [short, full], draws=50)

    def test_undefined_draws(self) -> None:
        class Fragile(Distance):
            """Not defined when one word is missing, as in some draws of an ordinary bootstrap."""

            name: ClassVar[str] = "fragile"
            limit: ClassVar[int] = 1

            def value(self, targets: Any, attributes: Any) -> float:
                words = targets[0].words
                whole = len(words) == N and len(set(words)) == N
                there = words.count("p0") >= self.limit or whole
                return super().value(targets, attributes) if there else np.nan

        class Never(Fragile):
            name: ClassVar[str] = "never"
            limit: ClassVar[int] = 99

        pair = [planted(1.0, "x", 1), planted(2.0, "y", 2)]
        with pytest.warns(BayesBiasWarning, match=r"\d+ of 200 draws are not defined and left"):
            found = bb.rank_posterior(Fragile, QUERIES[0], pair, draws=200)
        # A word is missing from an ordinary bootstrap of 20 with probability 0.95^20 = 0.36.
        assert 100 < len(found.draws) < 150
        assert found.draws.notna().all(axis=None)
        with pytest.raises(
            DataError, match="nothing to rank by.*the value is defined for 0 of 20 draws"
        ):
            bb.rank_posterior(Never, QUERIES[0], pair, draws=20)

    def test_other_processes_and_options(self) -> None:
        pair = [planted(1.0, "x", 1), planted(1.1, "y", 2)]
        alone, two = (
            bb.rank_posterior(
                "weat", QUERIES, pair, draws=20, n_jobs=n, options={"return_effect_size": True}
            )
            for n in (1, 2)
        )
        np.testing.assert_allclose(alone.draws, two.draws, rtol=1e-12)
        size = bb.rank_posterior("weat_es", QUERIES, pair, draws=20)
        np.testing.assert_allclose(alone.draws, size.draws, rtol=1e-12)

    def test_errors(self) -> None:
        pair = [planted(1.0, "x", 1), planted(1.1, "y", 2)]
        changes: list[tuple[dict[str, Any], str]] = [
            ({"embeddings": pair[:1]}, "a ranking needs at least two embeddings"),
            ({"embeddings": pair[0]}, "a ranking needs at least two embeddings"),
            ({"aggregate": "mean"}, "'aggregate' is 'mean'; expected one of"),
            ({"draws": 0}, "'draws' is 0; expected a whole number, 2 or more"),
            ({"prob": 1.5}, "'prob' is 1.5; expected a number between 0 and 1"),
            ({"queries": bb.Query(some("pq"), some("a"))}, r"the metric 'weat' takes \(2, 2\)"),
        ]
        for changed, message in changes:
            arguments = {"metric": "weat", "queries": QUERIES, "embeddings": pair, **changed}
            with pytest.raises(SpecError, match=message):
                bb.rank_posterior(**arguments)


class TestOverall:
    def test_printed_scores_give_the_printed_ranks_and_their_sums(self) -> None:
        """Badilla (2020), table 3.2, overall: scores by WEAT-ES and RNSB, and their ranks."""
        index = ["conceptnet", "fasttext", "twitter", "wiki", "lexvec", "debiased", "word2vec"]
        scores = {
            "WEAT-ES": [0.15, 0.26, 0.32, 0.54, 0.33, 0.16, 0.37],
            "RNSB": [0.04, 0.03, 0.15, 0.14, 0.23, 0.09, 0.19],
        }
        frames = {name: pd.DataFrame({name: v}, index=index) for name, v in scores.items()}
        ranking = bb.rank(frames)
        assert ranking["WEAT-ES"].tolist() == [1, 3, 4, 7, 5, 2, 6]
        assert ranking["RNSB"].tolist() == [2, 1, 5, 4, 7, 3, 6]
        overall = bb.overall_ranking(ranking)
        assert overall.loc[index, "rank_sum"].tolist() == [3, 4, 9, 11, 12, 5, 12]
        assert overall["overall"].tolist() == [1, 2, 3, 4, 5, 6, 6]
        with pytest.raises(DataError, match=r"rank by 'RNSB'.*dropna"):
            bb.overall_ranking(ranking.replace({"RNSB": {7: np.nan}}))

    def test_ranks_are_summed_over_queries(self) -> None:
        rng = np.random.default_rng(2)
        values = rng.normal(size=(6, 4)).round(1)
        frame = pd.DataFrame(values, index=list("abcdef"), columns=[f"q{i}" for i in range(4)])
        frame.attrs = {"metric": "mac", "neutral_value": 1.0, "aggregate": None}
        sums = stats.rankdata(np.abs(values - 1), axis=0).sum(axis=1)
        found = bb.rank(frame, combine="rank_sum", method="average")
        assert found["mac"].tolist() == stats.rankdata(sums).tolist()
        with pytest.raises(SpecError, match="combine='rank_sum'"):
            bb.rank(frame)

    def test_queries_without_a_value_and_aggregates_do_not_count(self) -> None:
        frame = pd.DataFrame(
            {"q1": [1.0, 2.0], "q2": [np.nan, 1.0], "all": [9.0, 1.0]}, index=["a", "b"]
        )
        summed = {"column": "all", "neutral_value": 0.0}
        frame.attrs = {"metric": "weat", "neutral_value": 0.0, "aggregate": summed}
        assert bb.rank(frame, combine="rank_sum")["weat"].tolist() == [1, 2]
        alone = frame[["all"]]
        with pytest.raises(SpecError, match="only_aggregate"):
            bb.rank(alone, combine="rank_sum")
        with pytest.raises(DataError, match="no query with a value in every embedding"):
            bb.rank(frame[["q2", "all"]], combine="rank_sum")


def test_several_metrics_rank_by_the_mean_of_their_ranks() -> None:
    embeddings = [planted(s, f"e{s}", i) for i, s in enumerate((0.4, 1.2, 0.8))]
    found = bb.rank_posterior(["weat", "weat_es"], QUERIES, embeddings, draws=200, seed=3)
    assert isinstance(found, bb.rankings.OverallRankPosterior)
    single = {
        name: bb.rank_posterior(name, QUERIES, embeddings, draws=200, seed=3)
        for name in ("weat", "weat_es")
    }
    ranks = [stats.rankdata(one.draws.to_numpy(), axis=1) for one in single.values()]
    np.testing.assert_allclose(found.draws.to_numpy(), np.mean(ranks, axis=0))
    for name, one in single.items():
        pd.testing.assert_frame_equal(found.by_metric[name].table, one.table)
    assert list(found.table["embedding"]) == ["e0.4", "e0.8", "e1.2"]
    assert found.ranks.loc["e0.4"].tolist() == [1, 1]
    assert found.probabilities.to_numpy().sum(axis=0) == pytest.approx(1)
    assert "Mean rank by weat, weat_es" in found.summary()
