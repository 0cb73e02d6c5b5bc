"""One option for duplicated rows, everywhere a table is taken, on a table like the authors' own."""

from __future__ import annotations

import io
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
from bayesbias.errors import BayesBiasWarning, SpecError


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


@pytest.mark.parametrize("change", ["filtered", "copied", "fitted", "concatenated", "saved"])
def test_the_choice_stays_with_the_table(race: pd.DataFrame, change: str, tmp_path: Path) -> None:
    kept = bb.check_table(race, duplicates="keep")
    made: pd.DataFrame
    if change == "filtered":
        made = kept[kept["connection"] != "human"]
    elif change == "copied":
        made = kept.copy().assign(note=1)
    elif change == "fitted":
        bb.fit(kept, "separate", draws=2).save(tmp_path / "race.nc")
        made = bb.load_fit(tmp_path / "race.nc").table
    elif change == "concatenated":
        made = pd.concat([kept.iloc[:2000], kept.iloc[2000:]])
    else:
        bb.write_table(kept, tmp_path / "race.parquet")
        made = bb.read_table(tmp_path / "race.parquet")
    assert made.duplicated().any()
    assert len(bb.check_table(made)) == len(made)
    # It can be taken back, and is then forgotten.
    with pytest.warns(BayesBiasWarning, match="read the table with duplicates='keep'"):
        dropped = bb.check_table(made, duplicates="drop")
    assert not dropped.duplicated().any()
    assert "duplicates" not in dropped.attrs


def test_a_file_keeps_the_choice_only_if_it_was_made(race: pd.DataFrame, tmp_path: Path) -> None:
    bb.write_table(race, tmp_path / "race.parquet")
    bb.write_table(bb.check_table(race, duplicates="keep"), tmp_path / "race.csv")
    for name in ("race.parquet", "race.csv"):
        with pytest.warns(BayesBiasWarning, match="are duplicates"):
            table = bb.read_table(tmp_path / name)
        assert not table.duplicated().any()


def test_every_function_follows_the_choice(race: pd.DataFrame) -> None:
    """A warning of rows that are left out would be an error."""
    kept = bb.check_table(race, duplicates="keep")
    shifted = kept.drop(columns="cosine_similarity").assign(embedding="later")
    noise = np.random.default_rng(0).normal(0, 0.01, len(race))
    shifted["cosine_distance"] = (shifted["cosine_distance"] + noise).clip(0, 2)
    assert len(bb.fit_paired(kept, shifted, draws=2).joint.table) == 2 * len(race)
    assert bb.prior_draws(kept, "separate", draws=2).sizes["row"] == len(race)
    assert bb.metrics.shares_beyond_mac(kept)["rows"].sum() == len(race)
    ax = bb.plot_distances(kept)
    assert sum(len(points.get_offsets()) for points in ax.collections) == len(race)
    plt.close(ax.figure)
    plt.close(bb.plot_densities(kept).figure)
    plt.close(bb.plot_word(kept, "asian").figure)
    fit = bb.fit(kept, "separate")
    assert len(fit.table) == len(race)
    overview = bb.overview("separate", table=kept)
    pd.testing.assert_frame_equal(overview.contrasts, bb.overview(fit).contrasts)
    plan = bb.plan_sample_size("separate", table=kept, width=0.3, simulations=0)
    assert plan.n == bb.plan_sample_size(fit, width=0.3, simulations=0).n
    bb.calibrate("separate", kept, simulations=2, draws=20, progress=False)
    bb.decompose_gaps(
        kept.assign(length=kept["word_to_compare"].astype("str").str.len()), on="length"
    )


@pytest.mark.filterwarnings("ignore:.*WAIC is unreliable", "ignore:.*are duplicates")
def test_compare_takes_the_option(
    race: pd.DataFrame, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["baseline", "connection"]
    by_option = bb.compare(names, table=race, duplicates="keep")
    recorded = bb.compare(names, table=bb.check_table(race, duplicates="keep"))
    pd.testing.assert_frame_equal(by_option, recorded)
    assert by_option["WAIC"].iloc[0] != bb.compare(names, table=race)["WAIC"].iloc[0]
    bb.write_table(race, tmp_path / "race.csv")
    models = [option for name in names for option in ("--model", name)]
    main(
        ["compare", str(tmp_path / "race.csv"), *models, "--duplicates", "keep", "--format", "csv"]
    )
    printed = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert printed["WAIC"].tolist() == pytest.approx(by_option["WAIC"].tolist(), abs=0.1)
    fits = {"one": bb.fit(race, "baseline", draws=2)}
    with pytest.raises(SpecError, match="'duplicates' is about the rows of 'table'"):
        bb.compare(fits, duplicates="keep")


@pytest.mark.filterwarnings("ignore:.*are duplicates")
def test_means_of_words_do_not_depend_on_duplicates(race: pd.DataFrame) -> None:
    kept = bb.check_table(race, duplicates="keep")
    pd.testing.assert_frame_equal(bb.t_contrasts(kept), bb.t_contrasts(race))
    scores = [bb.metrics.MAC().from_table(table).value for table in (kept, race)]
    assert scores[0] == pytest.approx(scores[1])


def test_a_recorded_choice_that_is_not_known_is_refused(race: pd.DataFrame) -> None:
    table = race.copy()
    table.attrs["duplicates"] = "merge"
    with pytest.raises(SpecError, match=r"attrs\['duplicates'\].* is 'merge'; expected one of"):
        bb.fit(table)


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
