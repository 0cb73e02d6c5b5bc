"""One option for duplicated rows, everywhere a table is taken, on a table like the authors' own."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated import simulated_table

import bayesbias as bb
from bayesbias.cli import main
from bayesbias.errors import SpecError


@pytest.fixture(scope="module")
def race() -> pd.DataFrame:
    """Every protected word as often as Manzini's sets name it, as in the authors' race tables."""
    table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("race"))
    sets = bb.word_tuples("manzini")["race_definitional_sets"]
    there = set(table["protected_word"])
    words = [word for one in sets for word in one if word in there]
    parts = [table[table["protected_word"] == word] for word in words]
    return pd.concat(parts, ignore_index=True)


def test_the_share_of_duplicates_is_that_of_the_authors(race: pd.DataFrame) -> None:
    """They have 2,272 of 5,112: ten words, named eighteen times."""
    assert race.duplicated().mean() == pytest.approx(2272 / 5112)


@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
def test_the_option_is_the_same_everywhere(race: pd.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "race.csv"
    bb.write_table(race, path)
    size = {"drop": int((~race.duplicated()).sum()), "keep": len(race)}

    def drawn(duplicates: str) -> int:
        ax = bb.plot_distances(race, duplicates=duplicates)  # type: ignore[arg-type]
        dots = sum(len(points.get_offsets()) for points in ax.collections)
        plt.close(ax.figure)
        return dots

    def around(duplicates: str) -> int:
        ax = bb.plot_word(race, "asian", labels=0, duplicates=duplicates)  # type: ignore[arg-type]
        dots = sum(len(points.get_offsets()) for points in ax.collections)
        plt.close(ax.figure)
        return dots

    for how, rows in size.items():
        option = {"duplicates": how}
        assert len(bb.check_table(race, **option)) == rows  # type: ignore[arg-type]
        assert len(bb.read_table(path, **option)) == rows  # type: ignore[arg-type]
        fit = bb.fit(race, "separate", draws=50, **option)  # type: ignore[arg-type]
        assert len(fit.table) == rows
        prior = bb.prior_draws(race, "separate", draws=2, **option)  # type: ignore[arg-type]
        assert prior.sizes["row"] == rows
        assert drawn(how) == rows
        out = tmp_path / f"{how}.nc"
        command = [
            "fit",
            str(path),
            "--model",
            "separate",
            "--draws",
            "50",
            "--duplicates",
            how,
            "-q",
        ]
        main([*command, "-o", str(out)])
        assert len(bb.load_fit(out).table) == rows
    assert around("keep") == 3 * around("drop")


def test_an_unknown_way_is_refused(race: pd.DataFrame) -> None:
    with pytest.raises(SpecError, match="'duplicates' is 'merge'; expected one of 'drop', 'keep'"):
        bb.plot_distances(race, duplicates="merge")  # type: ignore[arg-type]


@pytest.mark.slow
@settings(max_examples=10)
@given(times=st.integers(2, 4), seed=st.integers(0, 5))
def test_repeated_rows_narrow_the_intervals_by_the_root(times: int, seed: int) -> None:
    """Rows that are counted several times look like so much more data."""
    table = simulated_table(seed, words=2, controls=20)
    repeated = pd.concat([table] * times, ignore_index=True)
    one = bb.fit(table, "separate", draws=1000)
    many = bb.fit(repeated, "separate", duplicates="keep", draws=1000)
    ratio = many.draws("theta").std(axis=0) / one.draws("theta").std(axis=0)
    assert np.median(ratio) == pytest.approx(times**-0.5, rel=0.12)
