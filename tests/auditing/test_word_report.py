"""What is known of one word, against NumPy, the lists and the fit themselves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import percentileofscore

import bayesbias as bb
from bayesbias.errors import DataError, SpecError, VocabularyError


@pytest.fixture(scope="module")
def fit(demo: bb.Embedding) -> bb.models.Fit:
    with pytest.warns(bb.errors.BayesBiasWarning):
        table = bb.distance_table(demo, "religion")
    return bb.fit(table, draws=200, progress=False)


def section(report: bb.WordReport, name: str):  # type: ignore[no-untyped-def]
    return report.table[report.table["section"] == name].set_index("item")


def test_numbers_are_numpys(demo: bb.Embedding) -> None:
    axes = {"gender": ("he", "she"), "good": ("good", "bad")}
    report = bb.word_report("nurse", demo, axes=axes, n=5)  # type: ignore[arg-type]
    vectors = demo.vectors.astype(float)
    norms = np.linalg.norm(vectors, axis=1)
    unit = vectors / norms[:, None]
    row = demo.index["nurse"]
    vector = section(report, "vector")
    assert vector.loc["rank", "value"] == demo.ranks[row]
    assert vector.loc["norm", "value"] == pytest.approx(norms[row], rel=1e-6)
    assert vector.loc["norm", "percentile"] == pytest.approx(
        percentileofscore(norms, norms[row], kind="mean")
    )
    cosines = unit @ unit[row]
    cosines[row] = -2
    best = np.argsort(-cosines)[:5]
    near = section(report, "neighbour")
    assert near.index.tolist() == [demo.words[i] for i in best]
    np.testing.assert_allclose(near["value"], cosines[best], atol=1e-5)
    for name, (first, second) in axes.items():
        axis = unit[demo.index[first]] - unit[demo.index[second]]
        along = unit @ axis / np.linalg.norm(axis)
        found = section(report, "projection").loc[name]
        assert found["value"] == pytest.approx(along[row], abs=1e-6)
        assert found["percentile"] == pytest.approx(
            percentileofscore(along, along[row], kind="mean"), abs=0.01
        )


def test_lists_are_all_lists_with_the_word(demo: bb.Embedding) -> None:
    named = set(section(bb.word_report("nurse", demo), "list").index)
    for collection in bb.wordlists.COLLECTIONS:
        for name, words in bb.word_sets(collection).items():
            assert (f"{collection}:{name}" in named) == ("nurse" in words)
    assert "study gender (stereotype: woman)" in named


def test_distances_are_those_of_the_fit(demo: bb.Embedding, fit: bb.models.Fit) -> None:
    report = bb.word_report("imam", demo, fit=fit, prob=0.5)
    means = fit.means(prob=0.5).query("protected_word == 'imam'").set_index("connection")
    found = section(report, "distance").rename(index={"neutral": "none"})
    assert set(found.index) == set(means.index)
    for connection, row in found.iterrows():
        wanted = means.loc[connection, ["mean", "lower", "upper"]].astype(float).tolist()
        assert row[["value", "lower", "upper"]].tolist() == wanted


def test_distances_at_equal_covariates_and_as_observed(demo: bb.Embedding) -> None:
    table = bb.distance_table(demo, bb.load_study("religion"), covariates=["log_frequency"])
    fit = bb.fit(table, covariates=["log_frequency"], draws=100, progress=False)
    items = section(bb.word_report("imam", demo, fit=fit), "distance").index
    for kind in ("neutral", "human"):
        assert {f"{kind}, equal covariates", f"{kind}, as observed"} <= set(items)


def test_an_attribute_has_mean_distances(demo: bb.Embedding, fit: bb.models.Fit) -> None:
    found = section(bb.word_report("greedy", demo, fit=fit), "distance")
    rows = fit.table[fit.table["word_to_compare"] == "greedy"]
    jew = rows[rows["protected_group"] == "jew"]["cosine_distance"]
    value = found.loc["to the words of jew (associated, mean of 5)", "value"]
    assert value == pytest.approx(jew.mean())


def test_no_axis_where_the_words_are_missing(demo: bb.Embedding) -> None:
    small = demo.subset(["king", "queen", "nurse"])
    report = bb.word_report("nurse", small, n=2)
    assert "projection" not in set(report.table["section"])
    assert "doctor" not in report.summary()


def test_refusals(demo: bb.Embedding, fit: bb.models.Fit) -> None:
    with pytest.raises(VocabularyError, match="lacks 'qwx'"):
        bb.word_report("qwx", demo)
    with pytest.raises(DataError, match="does not have 'nurse'; it is about"):
        bb.word_report("nurse", demo, fit=fit)
    with pytest.raises(SpecError, match="'fit' is an int"):
        bb.word_report("nurse", demo, fit=3)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'axes' is a list"):
        bb.word_report("nurse", demo, axes=["he"])  # type: ignore[arg-type]
    with pytest.raises(VocabularyError, match="'zzq'.*axis"):
        bb.word_report("nurse", demo, axes={"a": ("he", "zzq")})
