"""Before and after debiasing, with known truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from simulated import simulated_table

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, DataError, SpecError
from bayesbias.models.paired import _coupled

MOVED = {"associated": 0.12, "different": 0.04, "human": 0.0, "none": -0.02}


def after_of(table: pd.DataFrame, rng: np.random.Generator, noise: float = 0.02) -> pd.DataFrame:
    """Move every distance by what its connection is due, and a little noise."""
    moved = table["connection"].map(MOVED).to_numpy() + rng.normal(0, noise, len(table))
    return table.assign(cosine_distance=table["cosine_distance"] + moved, embedding="after")


@pytest.fixture(scope="module")
def paired() -> bb.models.PairedFit:
    before = simulated_table(3, words=5, stereotypes=8, controls=15)
    after = after_of(before, np.random.default_rng(1))
    return bb.fit_paired(before, after, seed=2, draws=1000)


def test_effects_of_the_data_set(paired: bb.models.PairedFit) -> None:
    effects = paired.effects(by=None).set_index("connection")
    for name, true in MOVED.items():
        row = effects.loc[name]
        assert row["lower"] - 0.01 < true < row["upper"] + 0.01
    assert effects.loc["associated", "prob_positive"] > 0.99
    assert effects.loc["associated", "prob_towards_1"] > 0.95
    # It was at 1 and moved away from it.
    assert effects.loc["none", "prob_towards_1"] < 0.7
    assert list(effects.columns) == [
        "before", "after", "mean", "sd", "lower", "upper", "prob_positive", "prob_towards_1",
    ]  # fmt: skip


def test_effects_by_word_and_group(paired: bb.models.PairedFit) -> None:
    words = paired.effects()
    assert list(words.columns[:2]) == ["protected_word", "connection"]
    assert len(words) == 10 * 4
    associated = words.query("connection == 'associated'")
    np.testing.assert_allclose(associated["mean"], 0.12, atol=0.03)
    groups = paired.effects(by="protected_group")
    assert list(groups["protected_group"].unique()) == ["g0", "g1"]
    inside = words[words["protected_word"].str.startswith("p0")]
    mean = inside.query("connection == 'human'")["mean"].mean()
    same = groups.query("protected_group == 'g0' and connection == 'human'")["mean"].item()
    assert same == pytest.approx(mean)
    with pytest.raises(SpecError, match="'by' is 'word'"):
        paired.effects(by="word")  # type: ignore[arg-type]


def test_gap_closed(paired: bb.models.PairedFit) -> None:
    gap = paired.gap_closed().iloc[0]
    assert gap["change"] == pytest.approx(0.14, abs=0.02)
    assert gap["change_lower"] < 0.14 < gap["change_upper"]
    true = 0.14 / -gap["before"]
    assert gap["closed_lower"] < true < gap["closed_upper"]
    assert gap["prob_narrower"] > 0.9
    assert len(paired.gap_closed(by="protected_word")) == 10


def test_the_paired_intervals_are_narrower(paired: bb.models.PairedFit) -> None:
    assert (paired.narrowing() < 0.5).all()


def test_coupling_gives_the_variance_of_after(rng: np.random.Generator) -> None:
    before, change = rng.normal(0, 1, 4000), rng.normal(0, 0.5, 4000)
    for sd in (0.8, 1.0, 1.3):
        after = rng.normal(0, sd, 4000)
        together = before + _coupled(before, after, change)
        assert together.std() == pytest.approx(after.std(), rel=0.03)
    np.testing.assert_array_equal(np.sort(_coupled(before, after, change)), np.sort(change))


def test_pairs_are_matched_by_word(rng: np.random.Generator) -> None:
    before = simulated_table(3)
    after = after_of(before, rng).sample(frac=1, random_state=1)
    shuffled = bb.fit_paired(before, after, draws=50, seed=1)
    order = after.set_index(["protected_word", "word_to_compare"])["cosine_distance"]
    keys = shuffled.difference.table[["protected_word", "word_to_compare"]].astype(str)
    expected = order.loc[pd.MultiIndex.from_frame(keys)].to_numpy()
    table = shuffled.difference.table
    np.testing.assert_allclose(table["difference"] + table["cosine_distance"], expected)


def test_pairs_of_one_table_only_are_left_out(rng: np.random.Generator) -> None:
    before = simulated_table(3)
    after = after_of(before, rng)
    lost = after["word_to_compare"] == "a00"
    with pytest.warns(BayesBiasWarning, match="6 rows have no counterpart"):
        paired = bb.fit_paired(before, after[~lost], draws=50)
    assert "a00" not in paired.difference.posterior["word_to_compare"].to_numpy()
    assert len(paired.before.table) == len(paired.after.table) == 114


def test_tables_that_do_not_go_together(rng: np.random.Generator) -> None:
    before = simulated_table(3)
    after = after_of(before, rng)
    with pytest.raises(DataError, match="no pair of words in common"):
        bb.fit_paired(before, after.assign(word_to_compare="x" + after["word_to_compare"]))
    swapped = after["connection"].replace({"human": "none", "none": "human"})
    with pytest.raises(DataError, match="is 'human' in one table and 'none' in the other"):
        bb.fit_paired(before, after.assign(connection=swapped))
    with pytest.raises(DataError, match="the table 'after' holds several embeddings"):
        bb.fit_paired(before, pd.concat([after, before]))
    with pytest.raises(SpecError, match="is of distances"):
        bb.fit_paired(before, after, "crossed")
    with pytest.raises(DataError, match="all 120 values|all 24 values"):
        bb.fit_paired(before, before.assign(embedding="same"))


def test_a_model_of_the_user(rng: np.random.Generator) -> None:
    spec = bb.load_model("paired").to_dict()
    kept = {name: spec["parameters"][name] for name in ("bar", "tau", "theta", "s")}
    kept["theta"]["prior"] = "Normal(bar, tau)"
    spec |= {"mean": ["theta"], "name": "plain", "parameters": kept}
    before = simulated_table(3)
    paired = bb.fit_paired(
        before, after_of(before, rng), bb.models.ModelSpec.from_dict(spec), draws=50
    )
    assert "u" not in paired.difference.posterior


@pytest.mark.filterwarnings("ignore:.*cells have")
def test_a_group_without_stereotypes_is_not_in_the_effect_on_the_data_set() -> None:
    study = bb.load_study("religion")
    tables = [bb.distance_table(name, study) for name in ("demo", "demo-100d")]
    tables = [t[t["word_class"] != "jew_stereotype"] for t in tables]
    paired = bb.fit_paired(*tables, draws=100, seed=1)
    groups = paired.effects(by="protected_group")
    whole = paired.effects(by=None).set_index("connection")["mean"]
    mean = groups.pivot_table(index="protected_group", columns="connection", values="mean")
    assert whole["associated"] == pytest.approx(mean["associated"][["christian", "muslim"]].mean())
    assert whole["none"] == pytest.approx(mean["none"].mean())
    # The change of the gap is the difference of the two effects.
    some = mean.loc[["christian", "muslim"]]
    gap = paired.gap_closed()["change"].item()
    assert gap == pytest.approx((some["associated"] - some["none"]).mean())
