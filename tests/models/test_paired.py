"""Before and after debiasing, with known truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from simulated import simulated_table

import bayesbias as bb
from bayesbias._core.interval_text import estimate_text
from bayesbias.errors import BayesBiasWarning, DataError, SpecError

MOVED = {"associated": 0.12, "different": 0.04, "human": 0.0, "none": -0.02}
PAIR = ["protected_word", "word_to_compare"]


def after_of(table: pd.DataFrame, rng: np.random.Generator, noise: float = 0.02) -> pd.DataFrame:
    """Move every distance by what its connection is due, and a little noise."""
    moved = table["connection"].map(MOVED).to_numpy() + rng.normal(0, noise, len(table))
    return table.assign(cosine_distance=table["cosine_distance"] + moved, embedding="after")


def plain_model() -> bb.models.ModelSpec:
    """Return a model of the means of words and connections only."""
    spec = bb.load_model("embeddings").to_dict()
    names = ("centre", "bar", "tau", "tau_e", "theta", "s", "s_e")
    kept = {name: spec["parameters"][name] for name in names}
    kept["theta"]["prior"] = "Normal(bar, tau_e)"
    spec |= {"mean": ["theta"], "name": "plain", "parameters": kept}
    return bb.models.ModelSpec.from_dict(spec)


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


def test_the_embeddings_have_names(paired: bb.models.PairedFit) -> None:
    assert paired.names == ("simulated", "after")
    assert paired.joint.data.levels["embedding"] == ("before", "after")
    text = "PairedFit embeddings: 460 pairs of words, before simulated, after after"
    assert repr(paired) == f"<{text}>"
    assert paired.summary().splitlines()[-1] == f"{text}."


def test_before_and_change_are_after_in_every_draw(paired: bb.models.PairedFit) -> None:
    """The means of each word, from the parameters: before + change = after."""
    joint = paired.joint
    expected = joint.expected(["word_to_compare"])
    before, after = (expected.sel(embedding=name, drop=True) for name in ("before", "after"))
    for name in MOVED:
        others = [other for other in MOVED if other != name]
        change = paired.change_draws(f"{name} - {others[0]}", by="protected_word")
        gap = [x.sel(connection=name) - x.sel(connection=others[0]) for x in (before, after)]
        assert change.dims == ("chain", "draw", "protected_word")
        np.testing.assert_allclose(gap[0] + change, gap[1], atol=1e-12)
    effects = paired.effects().set_index(["protected_word", "connection"])
    mean = {"before": before, "after": after, "mean": after - before}
    for column, array in mean.items():
        wanted = array.mean(["chain", "draw"]).to_series()
        found = effects[column].reorder_levels(wanted.index.names)
        np.testing.assert_allclose(found.loc[wanted.index], wanted, atol=1e-12)
    grew = (after > before).mean(["chain", "draw"]).to_series()
    nearer = (abs(after - 1) < abs(before - 1)).mean(["chain", "draw"]).to_series()
    for column, wanted in (("prob_positive", grew), ("prob_towards_1", nearer)):
        found = effects[column].reorder_levels(wanted.index.names)
        np.testing.assert_allclose(found.loc[wanted.index], wanted, atol=1e-12)


@pytest.mark.parametrize("contrast", ["associated - none", "associated - human", "none"])
def test_changes_are_those_of_the_joint_contrasts(
    paired: bb.models.PairedFit, contrast: str
) -> None:
    joint = paired.joint.contrasts(contrast, by="embedding").set_index("embedding")
    draws = paired.joint.contrast_draws(contrast, by="embedding")
    change = draws.sel(embedding="after", drop=True) - draws.sel(embedding="before", drop=True)
    np.testing.assert_allclose(paired.change_draws(contrast), change, atol=1e-12)
    found = paired.changes(contrast).iloc[0]
    assert found["contrast"] == contrast
    assert found["mean"] == pytest.approx(joint["mean"]["after"] - joint["mean"]["before"])
    assert found["sd"] == pytest.approx(float(change.std()), rel=1e-3)
    assert found["prob_negative"] == float((change < 0).mean())
    assert found["lower"] < found["mean"] < found["upper"]
    gap = paired.gap_closed(contrast).iloc[0]
    for name in ("before", "after"):
        assert gap[name] == pytest.approx(joint["mean"][name])
    assert gap["change"] == pytest.approx(found["mean"])
    assert (gap["change_lower"], gap["change_upper"]) == (found["lower"], found["upper"])


@pytest.mark.parametrize("by", ["protected_word", "protected_group"])
def test_changes_by_level_are_those_of_the_joint_contrasts(
    paired: bb.models.PairedFit, by: Any
) -> None:
    contrast = "associated - none"
    joint = paired.joint.contrasts(contrast, by=by)
    table = joint.pivot_table("mean", by, "embedding", observed=True)
    found = paired.changes(contrast, by=by).set_index(by)
    assert len(found) == (10 if by == "protected_word" else 2)
    wanted = (table["after"] - table["before"]).loc[found.index]
    np.testing.assert_allclose(found["mean"], wanted, atol=1e-12)
    gaps = paired.gap_closed(contrast, by=by).set_index(by)
    np.testing.assert_allclose(gaps["before"], table["before"].loc[gaps.index], atol=1e-12)
    np.testing.assert_allclose(gaps["change"], found["mean"].loc[gaps.index], atol=1e-12)


@pytest.mark.parametrize("by", ["protected_word", "protected_group"])
def test_means_are_those_of_the_effects(paired: bb.models.PairedFit, by: Any) -> None:
    means = paired.means(by=by)
    assert set(means["embedding"]) == {"before", "after"}
    wide = means.pivot_table("mean", [by, "connection"], "embedding", observed=True)
    effects = paired.effects(by=by).set_index([by, "connection"]).loc[wide.index]
    for name in ("before", "after"):
        np.testing.assert_allclose(wide[name], effects[name], atol=1e-12)
    np.testing.assert_allclose(wide["after"] - wide["before"], effects["mean"], atol=1e-12)
    assert (means["lower"] < means["mean"]).all()
    assert (means["mean"] < means["upper"]).all()


def test_means_of_words_are_those_of_the_joint_model(paired: bb.models.PairedFit) -> None:
    keys = ["embedding", "protected_word", "connection"]
    joint = paired.joint.means().set_index(keys).sort_index()
    found = paired.means().set_index(keys).sort_index()
    for column in ("mean", "sd", "lower", "upper"):
        np.testing.assert_allclose(found[column], joint[column].loc[found.index], atol=1e-12)


def test_pairs_are_matched_by_word(rng: np.random.Generator) -> None:
    before = simulated_table(3)
    after = after_of(before, rng).sample(frac=1, random_state=1)
    table = bb.fit_paired(before, after, draws=50, seed=1).joint.table
    for name, rows in (("before", before), ("after", after)):
        order = rows.set_index(PAIR)["cosine_distance"]
        own = table[table["embedding"] == name]
        keys = pd.MultiIndex.from_frame(own[PAIR].astype(str))
        np.testing.assert_allclose(own["cosine_distance"], order.loc[keys].to_numpy())
        assert len(own) == 120


def test_pairs_of_one_table_only_are_left_out(rng: np.random.Generator) -> None:
    before = simulated_table(3)
    after = after_of(before, rng)
    lost = after["word_to_compare"] == "a00"
    with pytest.warns(BayesBiasWarning, match="6 rows have no counterpart"):
        paired = bb.fit_paired(before, after[~lost], draws=50)
    assert "a00" not in paired.joint.posterior["word_to_compare"].to_numpy()
    assert paired.joint.table["embedding"].value_counts().to_dict() == {"before": 114, "after": 114}


def test_after_has_its_own_standard_errors_and_covariates(rng: np.random.Generator) -> None:
    before = simulated_table(3)
    columns = {
        name: pd.DataFrame(
            {"standard_error": rng.choice(errors, 120), "log_norm": rng.normal(size=120)}
        )
        for name, errors in (("before", (0.01, 0.02)), ("after", (0.03, 0.05)))
    }
    first = before.join(columns["before"])
    second = after_of(before, rng).join(columns["after"]).sample(frac=1, random_state=1)
    spec = plain_model().vary(covariates=["log_norm"])
    joint = bb.fit_paired(first, second, spec, draws=50, seed=1).joint
    for name, rows in (("before", first), ("after", second)):
        own = joint.table[joint.table["embedding"] == name]
        keys = pd.MultiIndex.from_frame(own[PAIR].astype(str))
        wanted = rows.set_index(PAIR).loc[keys]
        for column in ("cosine_distance", "standard_error", "log_norm"):
            np.testing.assert_allclose(own[column], wanted[column].to_numpy(), err_msg=name)
        similarity = 1 - own["cosine_distance"]
        np.testing.assert_allclose(own["cosine_similarity"], similarity, atol=1e-12)
    assert joint.data.error is not None
    np.testing.assert_array_equal(joint.data.error, joint.table["standard_error"])
    assert joint.posterior["slope_log_norm"].sizes.keys() == {"chain", "draw", "embedding"}


def test_each_embedding_has_its_own_slope(rng: np.random.Generator) -> None:
    """What a covariate does to the change of a contrast, with slopes that are known."""
    before = simulated_table(3)
    words = before["word_to_compare"].unique()
    neutral = pd.Series(words, words).str.startswith("neutral")
    x = pd.Series(rng.normal(size=len(words)), words) - 1.0 * neutral
    before["x"] = before["word_to_compare"].map(x)
    # The second embedding differs by the effect of the covariate alone, and noise.
    shift = 0.05 * before["x"] + rng.normal(0, 0.005, len(before))
    after = before.assign(cosine_distance=before["cosine_distance"] + shift, embedding="after")
    paired = bb.fit_paired(before, after, plain_model(), covariates=["x"], draws=500, seed=1)
    slopes = paired.draws("slope_x") / before["x"].std(ddof=0)
    assert (slopes[:, 1] - slopes[:, 0]).mean() == pytest.approx(0.05, abs=0.005)
    for table in (paired.changes("associated - none"), paired.gap_closed("associated - none")):
        assert list(table["covariates"]) == ["equal", "as observed"]
    mean = paired.changes("associated - none")["mean"]
    rows = before.assign(shift=shift).groupby("connection")["shift"].mean()
    assert mean[0] == pytest.approx(0, abs=0.01)
    assert mean[1] == pytest.approx(rows["associated"] - rows["none"], abs=0.01)
    without = bb.fit_paired(before, after, plain_model(), draws=50)
    for table in (without.changes(), without.effects(), without.means()):
        assert "covariates" not in table
    assert without.kinds() == {}


@pytest.fixture(scope="module")
def at_equal() -> bb.models.PairedFit:
    before = simulated_table(3)
    rng = np.random.default_rng(5)
    words = before["word_to_compare"].unique()
    x = pd.Series(rng.normal(size=len(words)), words)
    before["log_frequency"] = before["word_to_compare"].map(x)
    after = after_of(before, rng)
    return bb.fit_paired(
        before, after, plain_model(), covariates=["log_frequency"], draws=300, seed=1
    )


@pytest.mark.parametrize("by", ["protected_word", "protected_group", None])
def test_effects_and_means_are_given_both_ways(at_equal: bb.models.PairedFit, by: Any) -> None:
    joint = at_equal.joint
    effects = at_equal.effects(by=by)
    assert list(effects["covariates"].unique()) == ["equal", "as observed"]
    place = list(effects.columns).index("covariates")
    assert effects.columns[place - 1] == "connection"
    for kind, part in effects.groupby("covariates"):
        array = joint.expected(["word_to_compare"], observed=kind == "as observed")
        if by != "protected_word":
            array = joint.by_group(array)
        mean = array.mean(["chain", "draw"])
        if by is None:
            mean = mean.mean("protected_group")  # both groups have all connections
        wide = part.set_index([*([by] if by else []), "connection"])
        for name in ("before", "after"):
            wanted = mean.sel(embedding=name, drop=True).to_series()
            if by:
                wanted = wanted.reorder_levels(wide.index.names)
            np.testing.assert_allclose(wide[name], wanted.loc[wide.index], atol=1e-12)
        if by:
            means = at_equal.means(by=by).query("covariates == @kind and embedding == 'after'")
            np.testing.assert_allclose(means["mean"], part["after"], atol=1e-12)
    equal, observed = (effects.query("covariates == @k")["after"] for k in ("equal", "as observed"))
    assert not np.allclose(equal, observed, atol=1e-3)


def test_all_that_is_shown_says_which_covariates(at_equal: bb.models.PairedFit) -> None:
    first, second, last = at_equal.summary().splitlines()
    assert last == f"{repr(at_equal)[1:-1]}."
    gaps = at_equal.gap_closed()
    effects = at_equal.effects(by=None)
    for told, title, kind in (
        (first, "At equal frequency: ", "equal"),
        (second, "As observed: ", "as observed"),
    ):
        assert told.startswith(f"{title}The gap between own stereotypes and neutral words went")
        gap = gaps[gaps["covariates"] == kind].iloc[0]
        ends = estimate_text(
            gap["change"], gap["change_lower"], gap["change_upper"], "89% interval"
        )
        assert f"(change {ends})" in told
        for row in effects[effects["covariates"] == kind].to_dict("records"):
            assert estimate_text(row["mean"], row["lower"], row["upper"]) in told
    assert len(at_equal.table) == 2 * 2 * 4
    page = at_equal._repr_html_()
    assert "89% intervals, at equal frequency and as observed." in page
    assert page.count("<td>as observed</td>") == 8
    latex = at_equal.to_latex()
    assert "89\\% intervals, at equal frequency and as observed." in latex
    assert latex.count("& as observed &") == 8
    assert "P(less related)" in latex


def test_what_a_change_can_be_asked_for(rng: np.random.Generator) -> None:
    before = simulated_table(3)
    paired = bb.fit_paired(before, after_of(before, rng), plain_model(), draws=50)
    with pytest.raises(SpecError, match="'by' is 'embedding'; expected one of"):
        paired.changes(by="embedding")


@pytest.mark.parametrize("lacking", ["before", "after"])
def test_the_table_without_a_covariate_is_named(lacking: str, rng: np.random.Generator) -> None:
    before = simulated_table(3)
    tables = {"before": before, "after": after_of(before, rng)}
    for name, table in tables.items():
        if name != lacking:
            tables[name] = table.assign(x=rng.normal(size=len(table)))
    with pytest.raises(SpecError, match=f"the table '{lacking}' has no covariate 'x'"):
        bb.fit_paired(**tables, model=plain_model(), covariates=["x"], draws=50)


def test_tables_that_do_not_go_together(rng: np.random.Generator) -> None:
    before = simulated_table(3)
    after = after_of(before, rng)
    with pytest.raises(DataError, match="no pair of words in common"):
        bb.fit_paired(before, after.assign(word_to_compare="x" + after["word_to_compare"]))
    swapped = after["connection"].replace({"human": "none", "none": "human"})
    with pytest.raises(DataError, match="has 'connection' 'human' in one table and 'none' in"):
        bb.fit_paired(before, after.assign(connection=swapped))
    for name in ("protected_group", "word_class"):
        changed = after[name].astype("str") + "_other"
        with pytest.raises(DataError, match=f"has '{name}' '.*' in one table and '.*_other' in"):
            bb.fit_paired(before, after.assign(**{name: changed}))
    for tables in (
        (before.assign(standard_error=0.05), after),
        (before, after.assign(standard_error=0.05)),
    ):
        with pytest.raises(DataError, match="has standard errors and the table '.*' has none"):
            bb.fit_paired(*tables)
    with pytest.raises(DataError, match="the table 'after' holds several embeddings"):
        bb.fit_paired(before, pd.concat([after, before]))
    with pytest.raises(SpecError, match="model 'crossed' does not distinguish embeddings"):
        bb.fit_paired(before, after, "crossed")


@pytest.mark.parametrize("moved", [0.0, 0.05, 1e-8])
def test_tables_that_are_the_same_are_refused(moved: float, rng: np.random.Generator) -> None:
    """Up to a constant and rounding: nothing could be learnt about what differs."""
    before = simulated_table(3)
    noise = rng.normal(0, moved, 120) if moved < 1e-3 else moved
    same = before.assign(cosine_distance=before["cosine_distance"] + noise, embedding="same")
    message = r"the \d+ distances of 'associated' are the same in 'before' and 'after', up to round"
    with pytest.raises(DataError, match=message):
        bb.fit_paired(before, same)
    # It is enough that those of one connection are.
    after = after_of(before, rng)
    human = before["connection"] == "human"
    distance = after["cosine_distance"].where(~human, same["cosine_distance"])
    with pytest.raises(DataError, match="the 36 distances of 'human' are the same in 'before' and"):
        bb.fit_paired(before, after.assign(cosine_distance=distance))


def test_embeddings_without_a_common_pair() -> None:
    before = simulated_table(1)
    after = before.assign(embedding="after", word_to_compare="other " + before["word_to_compare"])
    message = "no pair of a protected word and an attribute is in two of 'simulated', 'after'"
    with pytest.raises(DataError, match=message):
        bb.fit(pd.concat([before, after]), "embeddings")


def test_tables_need_not_name_their_embeddings(rng: np.random.Generator) -> None:
    before = simulated_table(3)
    tables = [table.drop(columns="embedding") for table in (before, after_of(before, rng))]
    paired = bb.fit_paired(tables[0], tables[1], plain_model(), draws=50)
    assert paired.names == ("embedding", "embedding")


def test_a_model_of_the_user(rng: np.random.Generator) -> None:
    before = simulated_table(3)
    paired = bb.fit_paired(before, after_of(before, rng), plain_model(), draws=50)
    assert "u" not in paired.joint.posterior
    assert paired.joint.spec.name == "plain"


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
