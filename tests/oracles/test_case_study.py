"""The case study of WEFE (Badilla 2020) on the demo embeddings: 25 queries, four metrics."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import bayesbias as bb

pytestmark = pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")

SETS = {"gender": 7, "ethnicity": 9, "religion": 9}
METRICS = ("weat", "weat_es", "rnd", "rnsb")
RND_OF_GENDER = ("rnd", "gender")


@pytest.fixture(scope="module")
def embeddings(demo: bb.Embedding) -> list[bb.Embedding]:
    return [demo, bb.load_embedding("demo-100d")]


@pytest.fixture(scope="module")
def study(embeddings: list[bb.Embedding]) -> dict[tuple[str, str], pd.DataFrame]:
    return {
        (metric, name): bb.run_queries(
            metric, name, embeddings, subqueries=True, aggregate="abs_avg"
        )
        for metric, name in product(METRICS, SETS)
    }


def matrices(query: bb.Query, emb: bb.Embedding) -> list[np.ndarray]:
    """Return the vectors of each set: of the words that the embedding has, each vector once."""
    result = []
    for words in query.word_sets().values():
        rows = list(dict.fromkeys(emb.match(words).rows.tolist()))
        result.append(emb.vectors[rows].astype(float))
    return result


def plain(metric: str, query: bb.Query, emb: bb.Embedding) -> float:
    """The four metrics from their definitions; the classifier of RNSB is scikit-learn's."""
    t1, t2, *attributes = matrices(query, emb)
    if metric == "rnd":
        to = [np.linalg.norm(attributes[0] - t.mean(axis=0), axis=1).mean() for t in (t1, t2)]
        return float(to[0] - to[1])
    if metric == "rnsb":
        labels = np.repeat([1, -1], [len(a) for a in attributes])
        model = LogisticRegression(solver="liblinear", max_iter=10_000, tol=1e-10)
        model.fit(np.vstack(attributes), labels)
        p = model.predict_proba(np.vstack([t1, t2]))[:, 0]
        q = p / p.sum()
        return float((q * np.log(q * len(q))).sum())
    unit = [m / np.linalg.norm(m, axis=1, keepdims=True) for m in (t1, t2, *attributes)]
    s1, s2 = ((t @ unit[2].T).mean(axis=1) - (t @ unit[3].T).mean(axis=1) for t in unit[:2])
    if metric == "weat":
        return float(s1.sum() - s2.sum())
    return float((s1.mean() - s2.mean()) / np.concatenate([s1, s2]).std())


def asked(metric: str, name: str) -> list[bb.Query]:
    """Return the different queries that a metric gets of a set."""
    parts: list[bb.Query] = []
    for query in bb.query_set(name):
        for part in query.subqueries(bb.metrics.METRICS[metric].template):
            if part not in parts:
                parts.append(part)
    return parts


def test_shapes(study: dict[tuple[str, str], pd.DataFrame]) -> None:
    for (metric, name), frame in study.items():
        # RND takes one attribute set; two of the queries of gender share one of theirs.
        expected = SETS[name] * (2 if metric == "rnd" else 1) - ((metric, name) == RND_OF_GENDER)
        assert frame.shape == (2, expected + 1)
        assert list(frame.index) == ["demo", "demo-100d"]
        assert frame.columns[-1] == f"{metric.upper()}: {name} average of abs values score"
        for column, query in zip(frame, asked(metric, name), strict=False):
            assert column.removesuffix(" (2)") == query.name


def test_different_lists_of_one_name(study: dict[tuple[str, str], pd.DataFrame]) -> None:
    """WEFE drops the second list of arts, as it has the name of the first."""
    frame = study[RND_OF_GENDER]
    first, second = (f"Male terms and Female terms wrt Arts{end}" for end in ("", " (2)"))
    assert [c for c in frame if "Arts" in c] == [first, second]
    assert (frame[first] != frame[second]).all()


def test_nothing_is_lost_without_a_reason(study: dict[tuple[str, str], pd.DataFrame]) -> None:
    for frame in study.values():
        for emb, query in product(frame.index, frame.columns[:-1]):
            reason = frame.attrs["reasons"].get(emb, {}).get(query)
            assert np.isnan(frame.loc[emb, query]) == (reason is not None)
        # The demo embeddings have enough words for all 25 queries.
        assert frame.notna().all(axis=None)
        assert frame.attrs["aggregate"]["skipped"] == []
    lost = study["weat", "gender"].attrs["lost"]["demo"]
    assert list(lost) == ["Male terms and Female terms wrt Positive words and Negative words"]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", SETS)
def test_values(
    metric: str,
    name: str,
    study: dict[tuple[str, str], pd.DataFrame],
    embeddings: list[bb.Embedding],
) -> None:
    frame = study[metric, name]
    for column, query in zip(frame, asked(metric, name), strict=False):
        # All but those with thousands of words of sentiment, for the sake of time.
        if "Positive words" not in query.name:
            for emb in embeddings:
                expected = plain(metric, query, emb)
                assert frame.loc[emb.name, column] == pytest.approx(expected, rel=1e-5, abs=1e-7)
    np.testing.assert_allclose(frame.iloc[:, -1], frame.iloc[:, :-1].abs().mean(axis=1))


def test_words_of_sentiment(
    study: dict[tuple[str, str], pd.DataFrame], embeddings: list[bb.Embedding]
) -> None:
    query = bb.load_query("religion_7")
    assert "Positive words" in query.name
    for metric in ("weat", "weat_es", "rnsb"):
        expected = plain(metric, query, embeddings[0])
        found = study[metric, "religion"].loc["demo", query.name]
        assert found == pytest.approx(expected, rel=1e-5)


def test_rankings(study: dict[tuple[str, str], pd.DataFrame]) -> None:
    ranking = bb.rank(study.values())
    assert ranking.shape == (2, 12)
    assert all(sorted(ranking[column]) == [1, 2] for column in ranking)
    for (_, column), frame in zip(ranking.items(), study.values(), strict=True):
        assert column.idxmin() == frame.iloc[:, -1].abs().idxmin()
    correlations = bb.rank_correlations(ranking)
    np.testing.assert_allclose(correlations, correlations.T)
    np.testing.assert_allclose(np.diag(correlations), 1)
    # Of two embeddings, orders are the same or opposite; these metrics disagree.
    np.testing.assert_allclose(np.abs(correlations), 1)
    assert (correlations < 0).any(axis=None)


def test_rankings_that_disagree_are_not_all_sure(embeddings: list[bb.Embedding]) -> None:
    """WEAT calls the small embedding more biased for gender and less for ethnicity."""
    found = {
        name: bb.rank_posterior("weat", name, embeddings, draws=300)
        for name in ("gender", "ethnicity")
    }
    less = {name: each.p_less_biased.loc["demo", "demo-100d"] for name, each in found.items()}
    assert less["gender"] < 0.05
    assert 0.05 < less["ethnicity"] < 0.95
    assert "inconclusive" in found["ethnicity"].summary()


# Table 3.2 of Badilla (2020), word2vec and word2vec after hard debiasing of gender. The columns
# headed WEAT and WEAT-ES are interchanged there: the first has the effect sizes.
PUBLISHED = {
    ("weat_es", "gender"): (0.90, 0.16),
    ("weat_es", "ethnicity"): (0.53, 0.52),
    ("weat_es", "religion"): (1.04, 1.05),
    ("weat", "gender"): (0.82, 0.08),
    ("weat", "ethnicity"): (0.19, 0.19),
    ("weat", "religion"): (0.19, 0.19),
    ("rnd", "gender"): (0.08, 0.00),
    ("rnd", "ethnicity"): (0.15, 0.03),
    ("rnd", "religion"): (0.20, 0.03),
}


def test_published_scores_of_word2vec(wefe_model: bb.Embedding) -> None:
    """The same vectors, but for words that the part of them that we have lacks."""
    debiaser = bb.debias.HardDebias(equalize="bolukbasi:equalize_pairs").fit(wefe_model)
    after = debiaser.transform(wefe_model, ignore="bolukbasi:gender_specific")
    for (metric, name), published in PUBLISHED.items():
        with warnings.catch_warnings(action="ignore"):
            found = bb.run_queries(
                metric, name, [wefe_model, after], subqueries=True, aggregate="abs_avg"
            )
        assert found.iloc[:, -1].tolist() == pytest.approx(published, abs=0.045), (metric, name)
