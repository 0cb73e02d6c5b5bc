"""Words with several vectors, found by ``strategy="all"``: one word, however many forms it has."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.embeddings import Matching
from bayesbias.errors import SpecError
from bayesbias.metrics.registry import METRICS
from bayesbias.metrics.resampling import bootstrap

EXACT = Matching(("exact",))
EVERY = Matching(("exact", "lower", "title", "upper"), strategy="all")
FIRST = ["anna", "berta", "clara", "dora"]
SECOND = ["emil", "fritz", "georg"]
GOOD = ["good", "nice", "kind", "fair"]
BAD = ["bad", "mean", "evil", "foul"]
#: The forms that the vocabulary has of words that it has several of.
FORMS = {"anna": ["anna", "Anna", "ANNA"], "emil": ["emil", "EMIL"], "nice": ["nice", "Nice"]}


@pytest.fixture(scope="module")
def cased() -> bb.Embedding:
    listed = [form for w in FIRST + SECOND + GOOD + BAD for form in FORMS.get(w, [w])]
    words = listed + [f"w{i}" for i in range(120)]
    return bb.Embedding(words, np.random.default_rng(4).normal(size=(len(words), 12)), "cased")


def forms(words: list[str]) -> list[str]:
    return [form for word in words for form in FORMS.get(word, [word])]


def spelled_out(first: list[str], second: list[str], good: list[str], bad: list[str]) -> bb.Query:
    """Return the query with every form as a word of its own."""
    return bb.Query([forms(first), forms(second)], [forms(good), forms(bad)])


QUERY = bb.Query([FIRST, SECOND], [GOOD, BAD])


OTHER_TEMPLATES = [
    bb.Query([FIRST, SECOND], [GOOD]),
    bb.Query([FIRST], [GOOD, BAD]),
    bb.Query([FIRST], [GOOD]),
    bb.Query([FIRST, SECOND], []),
]


def fits(metric: bb.metrics.Metric, asked: bb.Query) -> bool:
    try:
        metric.check_query(asked)
    except SpecError:
        return False
    return True


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_takes_them_or_says_why_not(cased: bb.Embedding, name: str) -> None:
    metric = METRICS[name]()
    if metric.paired:
        pairs = bb.Query([FIRST[:3], SECOND], [GOOD, BAD][: int(metric.template[1])])
        with pytest.raises(SpecError, match="strategy='first'"):
            metric.on(pairs, cased, matching=EVERY)
        return
    asked = next(q for q in (QUERY, *OTHER_TEMPLATES) if fits(metric, q))
    targets, attributes = asked.target_sets, asked.attribute_sets
    each = bb.Query([forms(list(s)) for s in targets], [forms(list(s)) for s in attributes])
    value = metric.on(asked, cased, matching=EVERY).value()
    assert np.isfinite(value)
    assert value == pytest.approx(metric.on(each, cased, matching=EXACT).value(), rel=1e-9)


def test_a_word_is_left_out_with_all_its_forms(cased: bb.Embedding) -> None:
    measurement = bb.metrics.WEAT().on(QUERY, cased, matching=EVERY)
    expected = [
        bb.metrics.WEAT()
        .on(spelled_out([w for w in FIRST if w != left], SECOND, GOOD, BAD), cased, matching=EXACT)
        .value()
        for left in FIRST
    ]
    assert measurement.without_each(0) == pytest.approx(expected)
    influence = measurement.influence()
    assert sorted(influence["word"]) == sorted(FIRST + SECOND + GOOD + BAD)
    without = influence.set_index("word")["value_without"]
    assert without[FIRST].tolist() == pytest.approx(expected)


def test_draws_weight_all_forms_of_a_word_alike(cased: bb.Embedding) -> None:
    words = bb.metrics.WEAT().on(QUERY, cased, matching=EVERY).words
    for whole in (False, True):
        weights = bootstrap(QUERY, words, 50, 0, whole=whole, paired=False)
        for one, drawn in zip(words.sets, weights, strict=True):
            by_form = pd.DataFrame(drawn.T, index=[word.lower() for word in one.words])
            alike = by_form.groupby(level=0).agg(np.ptp)
            assert (alike == 0).to_numpy().all()
        assert (np.ptp(weights[0], axis=0) > 0).all()


def test_forms_do_not_narrow_the_interval() -> None:
    """Three equal forms of each word say no more than one: the same value and interval."""
    rng = np.random.default_rng(0)
    words = FIRST + SECOND + GOOD + BAD
    vectors = rng.normal(size=(len(words), 8))
    single = bb.Embedding(words, vectors)
    triple = bb.Embedding(
        [form for w in words for form in (w, w.title(), w.upper())], vectors.repeat(3, axis=0)
    )
    for metric in (bb.metrics.WEATEffectSize(), bb.metrics.MAC(), bb.metrics.ECT()):
        asked = QUERY if fits(metric, QUERY) else OTHER_TEMPLATES[0]
        one = metric.posterior(asked, single, draws=200, seed=1)
        three = metric.posterior(asked, triple, draws=200, seed=1, matching=EVERY)
        assert three.value == pytest.approx(one.value)
        assert (three.lower, three.upper) == pytest.approx((one.lower, one.upper), abs=1e-6)
    p = [
        bb.metrics.WEATEffectSize().on(QUERY, e, matching=EVERY).permutation_test().p_value
        for e in (single, triple)
    ]
    assert p[0] == p[1]


def test_permutations_reassign_words_with_their_forms(cased: bb.Embedding) -> None:
    observed = bb.metrics.WEATEffectSize().on(QUERY, cased, matching=EVERY)
    pool = FIRST + SECOND
    values = []
    for chosen in combinations(pool, len(FIRST)):
        rest = [word for word in pool if word not in chosen]
        swapped = spelled_out(list(chosen), rest, GOOD, BAD)
        values.append(bb.metrics.WEATEffectSize().on(swapped, cased, matching=EXACT).value())
    expected = np.mean(np.array(values) >= observed.value() - 1e-9)
    assert observed.permutation_test().p_value == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore:.*share 'anna'")
def test_words_with_a_form_in_both_sets_stay(cased: bb.Embedding) -> None:
    shared = bb.Query([["anna", "berta", "clara"], ["ANNA", "emil", "fritz"]], [GOOD, BAD])
    found = bb.metrics.WEATEffectSize().on(shared, cased, matching=EVERY)
    values = []
    for chosen in combinations(["berta", "clara", "emil", "fritz"], 2):
        rest = [w for w in ("berta", "clara", "emil", "fritz") if w not in chosen]
        # ANNA is found as ANNA, anna and Anna
        swapped = spelled_out(["anna", *chosen], ["anna", *rest], GOOD, BAD)
        on = bb.metrics.WEATEffectSize().on(swapped, cased, matching=EXACT)
        values.append(on.value())
    expected = np.mean(np.array(values) >= found.value() - 1e-9)
    assert found.permutation_test().p_value == pytest.approx(expected)


def test_growing_lists_take_in_all_forms(cased: bb.Embedding) -> None:
    measurement = bb.metrics.WEAT().on(QUERY, cased, matching=EVERY)
    order, counts = np.array([2, 0, 3, 1]), np.array([1, 2, 4])
    values = measurement.grow({0: order}, {0: counts})
    expected = [
        bb.metrics.WEAT()
        .on(
            spelled_out([FIRST[i] for i in order[:n]], SECOND, GOOD, BAD),
            cased,
            matching=EXACT,
        )
        .value()
        for n in counts
    ]
    assert values == pytest.approx(expected)


def test_silhouettes_end_at_the_value(cased: bb.Embedding) -> None:
    asked = bb.Query([FIRST, [*SECOND, "w1"]], [GOOD, BAD])
    result = bb.silhouettes("weat_es", asked, [cased], runs=5, matching=EVERY, seed=1)
    value = bb.metrics.WEATEffectSize().on(asked, cased, matching=EVERY).value()
    ends = result.values[0, :, -1]  # noqa: PD011
    assert ends == pytest.approx(value)
    assert sorted(result.influence()["word"]) == sorted([*FIRST, *SECOND, "w1"])


def test_attribute_words_one_by_one(cased: bb.Embedding) -> None:
    asked = bb.Query([FIRST, SECOND], [GOOD])
    table = bb.metrics.RND().on(asked, cased, matching=EVERY).by_word(draws=50)
    assert sorted(table["word"]) == sorted(GOOD)
    alone = bb.metrics.RND().on(bb.Query([FIRST, SECOND], [["nice"]]), cased, matching=EVERY)
    assert table.set_index("word")["value"]["nice"] == pytest.approx(alone.value())


def test_many_queries_and_rankings(cased: bb.Embedding) -> None:
    table = bb.run_queries("weat_es", [QUERY], [cased], matching=EVERY)
    value = bb.metrics.WEATEffectSize().on(QUERY, cased, matching=EVERY).value()
    assert table.iloc[0, 0] == pytest.approx(value)
    other = cased.with_vectors(cased.vectors[::-1], "reversed")
    ranks = bb.rank_posterior("weat_es", [QUERY], [cased, other], matching=EVERY, draws=50)
    assert ranks.table.loc[ranks.table["embedding"] == "cased", "score"].item() == pytest.approx(
        abs(value)
    )


def test_details_name_every_form(cased: bb.Embedding) -> None:
    score = bb.metrics.RND().run_query(bb.Query([FIRST, SECOND], [GOOD]), cased, matching=EVERY)
    assert {"nice", "Nice"} <= set(score["distance_by_word"])


def test_a_distance_table_needs_one_vector_per_word(cased: bb.Embedding) -> None:
    study = bb.Study("s", {"a": FIRST, "b": SECOND}, {"a": GOOD, "b": BAD}, {"neutral": ["w1"]})
    with pytest.raises(SpecError, match=r"strategy='all'.*changed\(strategy='first'\)"):
        bb.distance_table(cased, study, matching=EVERY)
    with pytest.raises(SpecError, match=r"strategy='all'.*changed\(strategy='first'\)"):
        bb.before_after(cased, "hard_debias", study, matching=EVERY)
