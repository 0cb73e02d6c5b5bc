"""Covariates of words in the distance table, and as columns of one's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.distances import COLUMNS, covariate_values
from bayesbias.distances.covariates import COVARIATES
from bayesbias.errors import DataError, SpecError

COUNTS = {"he": 9, "she": 5, "engineer": 4, "nurse": 2, "clock": 1}


@pytest.fixture
def table(tiny: bb.Embedding, jobs: bb.Study) -> pd.DataFrame:
    return bb.distance_table(tiny, jobs, covariates=COVARIATES, frequencies=COUNTS)


def test_each_row_has_the_values_of_its_words(table: pd.DataFrame, tiny: bb.Embedding) -> None:
    assert list(table.columns) == [*COLUMNS, *COVARIATES]
    for row in table.itertuples():
        assert row.log_frequency == pytest.approx(np.log(COUNTS[row.word_to_compare]))
        assert row.protected_log_frequency == pytest.approx(np.log(COUNTS[row.protected_word]))
        assert row.norm == pytest.approx(np.linalg.norm(tiny[row.word_to_compare]))
        assert row.protected_norm == pytest.approx(np.linalg.norm(tiny[row.protected_word]))


def test_the_table_says_what_they_are(table: pd.DataFrame, demo: bb.Embedding) -> None:
    assert set(table.attrs["covariates"]) == set(COVARIATES)
    assert "the given counts" in table.attrs["covariates"]["log_frequency"]
    ranked = bb.distance_table(demo, bb.load_study("weat_7"), covariates=["log_frequency"])
    assert "−log(rank)" in ranked.attrs["covariates"]["log_frequency"]
    assert "covariates" not in bb.distance_table(demo, bb.load_study("weat_7")).attrs


def test_distances_are_the_same(table: pd.DataFrame, tiny: bb.Embedding, jobs: bb.Study) -> None:
    pd.testing.assert_frame_equal(table[list(COLUMNS)], bb.distance_table(tiny, jobs))


def test_ranks_are_those_of_the_whole_vocabulary(demo: bb.Embedding) -> None:
    study = bb.load_study("weat_7")
    words = [word for words in study.word_sets().values() for word in words]
    part = bb.load_embedding("demo", words=words)
    whole, parted = (
        bb.distance_table(one, study, covariates=["log_frequency"]) for one in (demo, part)
    )
    pd.testing.assert_frame_equal(whole, parted)
    math = whole[whole["word_to_compare"] == "male"]["log_frequency"]
    assert (math == -np.log(demo.ranks[demo.index["male"]])).all()


def test_each_embedding_has_its_own(demo: bb.Embedding) -> None:
    other = bb.load_embedding("demo-100d")
    table = bb.distance_table(
        [demo, other], bb.load_study("weat_7"), covariates=["log_frequency", "norm"]
    )
    values = ["log_frequency", "norm"]
    wide = table.pivot_table(values, "word_to_compare", "embedding", observed=True).dropna()
    assert (wide["log_frequency"]["demo"] == wide["log_frequency"]["demo-100d"]).all()
    assert (wide["norm"]["demo"] != wide["norm"]["demo-100d"]).all()


def test_mistakes_are_told_first(tiny: bb.Embedding, jobs: bb.Study) -> None:
    with pytest.raises(SpecError, match="Did you mean 'log_frequency'"):
        bb.distance_table(tiny, jobs, covariates=["log_frequencies"])
    with pytest.raises(SpecError, match="expected a list of words"):
        bb.distance_table(tiny, jobs, covariates="norm")
    with pytest.raises(SpecError, match="no covariate uses it; add covariates="):
        bb.distance_table(tiny, jobs, covariates=["norm"], frequencies=COUNTS)
    with pytest.raises(SpecError, match="'unknown_frequency' is"):
        bb.distance_table(tiny, jobs, covariates=["norm"], unknown_frequency="drop")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="no frequency of 'nurse' in the given counts"):
        bb.distance_table(
            tiny,
            jobs,
            covariates=["log_frequency"],
            frequencies={k: v for k, v in COUNTS.items() if k != "nurse"},
        )


def test_alphabetical_embedding_is_refused(demo: bb.Embedding) -> None:
    words = sorted(demo.words)
    shuffled = bb.Embedding(words, demo.vectors[[demo.index[word] for word in words]], "abc")
    with pytest.raises(DataError, match="'abc': the vocabulary is in alphabetical order"):
        bb.distance_table(shuffled, bb.load_study("weat_7"), covariates=["log_frequency"])
    bb.distance_table(shuffled, bb.load_study("weat_7"), covariates=["norm"])


# Columns


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_files_keep_covariates(table: pd.DataFrame, tmp_path: Path, suffix: str) -> None:
    own = table.assign(valence=[1, -2, 3, 4, 5, 6])
    bb.write_table(own, tmp_path / f"a{suffix}")
    again = bb.read_table(tmp_path / f"a{suffix}")
    for name in (*COVARIATES, "valence"):
        np.testing.assert_array_equal(covariate_values(again, name), own[name])


def test_gaps_are_named_when_used(table: pd.DataFrame) -> None:
    for bad in (np.nan, np.inf):
        gappy = table.assign(norm=[1.0, 1.0, bad, 1.0, 1.0, bad])
        bb.check_table(gappy)  # it need not be used
        with pytest.raises(DataError, match=rf"'norm' is {bad} .*'he', 'clock'.* 2 of 6 rows"):
            covariate_values(gappy, "norm")
    nullable = table.assign(norm=pd.array([1, 2, None, 4, 5, 6], dtype="Int64"))
    with pytest.raises(DataError, match=r"'norm' is nan in row 2"):
        covariate_values(nullable, "norm")


def test_what_is_no_covariate(table: pd.DataFrame) -> None:
    with pytest.raises(SpecError, match="no covariate 'nrom'.*Did you mean 'norm'"):
        covariate_values(table, "nrom")
    without = table.drop(columns=list(COVARIATES), errors="ignore").assign(mood="good")
    message = (
        r"numeric columns are none. Did you mean 'log_frequency'\? Build it with "
        r"distance_table\(..., covariates=\['log_frequency'\]\)"
    )
    with pytest.raises(SpecError, match=message):
        covariate_values(without, "log_freqency")
    with pytest.raises(SpecError, match=r"covariates=\['norm'\]"):
        covariate_values(without, "norm")
    with pytest.raises(SpecError, match="no covariate 'cosine_distance'"):
        covariate_values(table, "cosine_distance")
    with pytest.raises(DataError, match="'mood' is of the type .*; expected numbers"):
        covariate_values(table.assign(mood="good"), "mood")
    twice = pd.concat([table, table[["norm"]]], axis=1)
    with pytest.raises(DataError, match="'norm' more than once"):
        covariate_values(twice, "norm")
