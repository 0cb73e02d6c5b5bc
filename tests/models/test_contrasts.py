"""Contrasts of the model that leads: whose words, which attributes, at which covariates."""

from __future__ import annotations

import tracemalloc
from functools import cache

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesbias as bb
from bayesbias.errors import DataError, SpecError
from bayesbias.models.contrasts import _completed

GROUPS = {"jew": 0, "christian": 1, "muslim": 2}


@cache
def religion(covariates: bool = False) -> pd.DataFrame:
    more = {"covariates": ["log_frequency"]} if covariates else {}
    return bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"), **more)


@cache
def interaction() -> bb.models.Fit:
    return bb.fit(religion(), draws=200, seed=1)


def list_means(fit: bb.models.Fit) -> np.ndarray:
    """Return draws × stereotype lists × protected words, straight from the definition."""
    draws = {p.name: fit.draws(p.name) for p in fit.spec.parameters}
    levels = fit.data.levels
    words, groups = levels["protected_word"], fit.groups().to_numpy()
    result = np.empty((len(draws["s"]), 3, len(words)))
    for place, name in enumerate(GROUPS):
        w = levels["word_class"].index(f"{name}_stereotype")
        for p, group in enumerate(groups):
            g = levels["protected_group"].index(group)
            c = levels["connection"].index("associated" if group == name else "different")
            result[:, place, p] = (
                draws["m"][:, w, g] + draws["b"][:, w] + draws["a"][:, g]
                + draws["alpha"][:, p] + draws["theta"][:, p, c]
            )  # fmt: skip
    return result


def by_group(values: np.ndarray, fit: bb.models.Fit) -> np.ndarray:
    """Average over the words of each group: draws × lists × groups."""
    groups = fit.groups().to_numpy()
    return np.stack([values[:, :, groups == name].mean(axis=2) for name in GROUPS], axis=2)


def test_groups_are_compared_with_each_of_the_other_lists() -> None:
    fit = interaction()
    means = by_group(list_means(fit), fit)
    for name, g in GROUPS.items():
        others = [i for i in range(3) if i != g]
        expected = means[:, g, g] - means[:, others, g].mean(axis=1)
        draws = fit.contrast_draws("associated - different", by="protected_group")
        np.testing.assert_allclose(draws.sel(protected_group=name).to_numpy().ravel(), expected)


def test_the_same_attributes_are_seen_from_other_groups() -> None:
    fit = interaction()
    means = by_group(list_means(fit), fit)
    same = fit.contrast_draws("associated - different", by="attribute_group")
    for name, g in GROUPS.items():
        others = [i for i in range(3) if i != g]
        expected = means[:, g, g] - means[:, g, others].mean(axis=1)
        np.testing.assert_allclose(same.sel(attribute_group=name).to_numpy().ravel(), expected)
    # Its average is the double difference, and so is the contrast of the whole data set.
    whole = fit.contrast_draws("associated - different")
    np.testing.assert_allclose(whole, same.mean("attribute_group"))


def test_controls_have_no_effects_of_stereotypes() -> None:
    fit = interaction()
    array = fit.expected(["word_to_compare"])
    levels = fit.data.levels
    g = levels["protected_group"].index("muslim")
    w, c = levels["word_class"].index("neutral"), levels["connection"].index("none")
    p = levels["protected_word"].index("imam")
    expected = fit.draws("m")[:, w, g] + fit.draws("theta")[:, p, c]
    found = array.sel(protected_word="imam", connection="none").to_numpy().ravel()
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("model", ["separate", "crossed"])
def test_the_same_attributes_by_models_without_lists(model: str) -> None:
    """Two groups have one other list each; of three, such a model knows only their average."""
    table = religion()
    two = table[(table["protected_group"] != "jew") & (table["word_class"] != "jew_stereotype")]
    fit = bb.fit(two, model, draws=100, seed=1)
    theta = fit.draws("theta")
    groups = fit.groups().to_numpy()
    own = fit.contrast_draws("associated - different", by="attribute_group")
    for name, other in (("christian", "muslim"), ("muslim", "christian")):
        inside = theta[:, groups == name, 0].mean(axis=1)
        outside = theta[:, groups == other, 1].mean(axis=1)
        np.testing.assert_allclose(
            own.sel(attribute_group=name).to_numpy().ravel(), inside - outside
        )
    # Of two groups and three lists, what is different from a group is of two lists as well.
    for more in (table, table[table["protected_group"] != "jew"]):
        with pytest.raises(SpecError, match="jew_stereotype.* cannot compare groups on the same"):
            bb.fit(more, model, draws=50).contrasts("associated - different", by="attribute_group")


@pytest.mark.filterwarnings("ignore:.*5 of 60 cells have no row")
def test_groups_without_stereotypes_do_not_count() -> None:
    """What the model guesses of such a group is not in the contrast of all."""
    table = religion()
    table = table[table["word_class"] != "jew_stereotype"]
    fit = bb.fit(table, draws=200, seed=1)
    groups = fit.contrast_draws("associated - none", by="protected_group")
    counted = groups.sel(protected_group=["christian", "muslim"]).mean("protected_group")
    whole = fit.contrast_draws("associated - none")
    np.testing.assert_allclose(whole, counted)
    # As in the interval without a model.
    by_t = bb.t_contrasts(table, "associated - none")["mean"].item()
    by_group = bb.t_contrasts(table, "associated - none", by="protected_group")
    assert list(by_group["protected_group"]) == ["christian", "muslim"]
    assert by_t == pytest.approx(by_group["mean"].mean())
    assert float(whole.mean()) == pytest.approx(by_t, abs=0.02)
    # Controls are compared with all groups.
    controls = fit.contrast_draws("human - none")
    every = fit.contrast_draws("human - none", by="protected_group").mean("protected_group")
    np.testing.assert_allclose(controls, every)


@pytest.mark.filterwarnings("ignore:.*cells have no row")
def test_with_one_list_the_whole_contrast_is_that_of_the_list() -> None:
    """No group has own stereotypes and those of others; groups are compared on the one list."""
    table = religion()
    others = ["jew_stereotype", "christian_stereotype"]
    table = table[~table["word_class"].isin(others)]
    fit = bb.fit(table, draws=200, seed=1)
    array = fit.expected(["word_to_compare"])
    array = fit.by_group(array)
    own = array.sel(protected_group="muslim", connection="associated", drop=True)
    other = array.sel(protected_group=["jew", "christian"], connection="different", drop=True)
    whole = fit.contrast_draws("associated - different")
    np.testing.assert_allclose(whole, own - other.mean("protected_group"))
    by_t = bb.t_contrasts(table, "associated - different")["mean"].item()
    assert float(whole.mean()) == pytest.approx(by_t, abs=0.03)


def test_models_that_do_not_pool_words_say_nothing_of_new_ones() -> None:
    fit = bb.fit(religion(), "separate", draws=50)
    with pytest.raises(SpecError, match="'separate' does not pool protected words"):
        fit.contrasts(by="protected_group", words="population")


def test_whose_words() -> None:
    fit = interaction()
    listed = fit.contrasts("associated - none")
    new = fit.contrasts("associated - none", words="population")
    assert new["sd"].item() > listed["sd"].item()
    groups = fit.contrasts("associated - none", by="protected_group", words="population")
    assert list(groups["protected_group"]) == list(GROUPS)
    assert new["mean"].item() == pytest.approx(groups["mean"].mean())
    words = fit.contrasts("associated - none", by="protected_word")
    assert listed["mean"].item() == pytest.approx(words["mean"].mean())
    with pytest.raises(SpecError, match="'words' is 'new'"):
        fit.contrasts(words="new")
    with pytest.raises(SpecError, match="by='protected_word' is about the listed words"):
        fit.contrasts(by="protected_word", words="population")


def test_a_list_of_two_groups_is_compared_with_the_third_alone() -> None:
    """Distances are a list's own, so nothing is left when the same attributes are compared."""
    rng = np.random.default_rng(0)
    level = {"x": 1.0, "y": 0.9, "z": 1.1, "xy": 0.5}
    owners = {"x": "A", "y": "B", "z": "C", "xy": "AB"}
    rows = [
        {
            "protected_word": f"{group}{p}",
            "word_to_compare": f"{name}{i}",
            "word_class": name,
            "cosine_distance": mean + rng.normal(0, 0.01),
            "connection": "associated" if group in owners[name] else "different",
            "protected_group": group,
        }
        for group in "ABC"
        for p in range(2)
        for name, mean in level.items()
        for i in range(6)
    ]
    table = pd.DataFrame(rows)
    for found in (
        bb.fit(table, draws=100).contrasts("associated - different", by="attribute_group"),
        bb.t_contrasts(table, "associated - different", by="attribute_group"),
    ):
        assert list(found["attribute_group"]) == ["A", "B", "C"]
        np.testing.assert_allclose(found["mean"], 0, atol=0.02)
    two = table[table["protected_group"] != "C"]
    with pytest.raises(SpecError, match="cannot compare groups on the same attributes"):
        bb.fit(two[two["word_class"] != "z"], "crossed", draws=50).contrasts(
            "associated - different", by="attribute_group"
        )


def frequent_stereotypes() -> pd.DataFrame:
    """Return distances that follow from a covariate alone; only the stereotypes of A have much."""
    rng = np.random.default_rng(0)
    covariate = {"A_stereotype": 5.0, "B_stereotype": -1.0, "neutral": 0.0}
    rows = [
        {
            "protected_word": f"{group}{p}",
            "word_to_compare": f"{name}{i}",
            "word_class": name,
            "cosine_distance": 1 - 0.05 * (x + 0.1 * i) + rng.normal(0, 0.02),
            "connection": "none" if name == "neutral"
            else "associated" if name[0] == group else "different",
            "protected_group": group,
            "level": x + 0.1 * i,
        }
        for group, words in (("A", 2), ("B", 3))
        for p in range(words)
        for name, x in covariate.items()
        for i in range(6)
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.mark.parametrize("model", ["interaction", "crossed"])
def test_new_words_meet_the_covariates_of_their_own_group(model: str) -> None:
    spec = bb.load_model(model).vary(covariates=["level"])
    fit = bb.fit(frequent_stereotypes(), spec, draws=100, seed=1)
    by = {"by": "protected_group", "words": "population"}
    equal = fit.contrast_draws("associated - none", **by)
    observed = fit.contrast_draws("associated - none", observed=True, **by)
    rows = fit.table.assign(level=fit.data.covariates["level"])
    means = rows.groupby(["protected_group", "connection"], observed=True)["level"].mean()
    for group in ("A", "B"):
        gap = means[group, "associated"] - means[group, "none"]
        expected = fit.posterior["slope_level"] * gap
        change = (observed - equal).sel(protected_group=group)
        np.testing.assert_allclose(change, expected)
    # The same attributes have the same covariates, so nothing changes there.
    by["by"] = "attribute_group"
    np.testing.assert_allclose(
        fit.contrast_draws("associated - different", observed=True, **by),
        fit.contrast_draws("associated - different", **by),
    )


def test_covariates_as_observed_of_groups_whose_words_do_not_differ() -> None:
    table = frequent_stereotypes()
    spec = bb.models.ModelSpec.from_dict(
        {
            "name": "groups",
            "mean": ["theta", "slope"],
            "scale": "s",
            "parameters": {
                "theta": {"by": ["protected_group", "connection"], "prior": "Normal(1, 0.3)"},
                "slope": {"covariate": "level", "prior": "Normal(0, 0.1)"},
                "s": {"prior": "Exponential(2)"},
            },
        }
    )
    fit = bb.fit(table, spec, draws=200, seed=1)
    rows = table.pivot_table("cosine_distance", "protected_group", "connection")
    gaps = rows["associated"] - rows["none"]
    for words in ("listed", "population"):
        found = fit.contrasts(by="protected_group", words=words)
        assert found.shape[0] == 4
        observed = found[found["covariates"] == "as observed"].set_index("protected_group")
        np.testing.assert_allclose(observed["mean"], gaps[observed.index], atol=0.005)
    assert len(fit.contrasts()) == 2
    same = fit.contrasts("associated - different", by="attribute_group")
    np.testing.assert_allclose(same["mean"][:2], same["mean"][2:], atol=1e-12)


def test_means_at_equal_covariates_and_as_observed() -> None:
    fit = bb.fit(frequent_stereotypes(), "crossed", covariates=["level"], draws=100, seed=1)
    means = fit.means()
    levels = ["protected_word", "connection"]
    assert list(means.columns[:3]) == [*levels, "covariates"]
    assert list(means["covariates"].unique()) == ["equal", "as observed"]
    assert (means.groupby("covariates")["rows"].sum() == len(fit.table)).all()
    equal, observed = (
        means[means["covariates"] == name].set_index(levels) for name in ("equal", "as observed")
    )
    # What differs is the slope times the mean of the covariate in the rows of a cell.
    rows = fit.table.assign(level=fit.data.covariates["level"])
    level = rows.groupby(levels, observed=True)["level"].mean()
    level.index = level.index.set_levels([names.astype("str") for names in level.index.levels])
    shift = fit.draws("slope_level").mean() * level
    difference = (observed["mean"] - equal["mean"])[shift.index]
    np.testing.assert_allclose(difference, shift, atol=1e-12)
    # As observed they are near the means of the rows; at equal covariates they are not.
    raw = fit.table.groupby(levels, observed=True)["cosine_distance"].mean().to_numpy()
    assert np.abs(observed.loc[shift.index, "mean"].to_numpy() - raw).max() < 0.03
    assert np.abs(equal.loc[shift.index, "mean"].to_numpy() - raw).max() > 0.05


@pytest.mark.parametrize("by", [["protected_word"], ["protected_group", "connection"]])
def test_means_of_models_without_words_or_connections_as_observed(by: list[str]) -> None:
    table = frequent_stereotypes()
    spec = bb.models.ModelSpec.from_dict(
        {
            "name": "own",
            "mean": ["m"],
            "scale": "s",
            "parameters": {
                "m": {"by": by, "prior": "Normal(1, 1)"},
                "s": {"prior": "HalfNormal(1)"},
            },
        }
    )
    fit = bb.fit(table, spec, covariates=["level"], draws=100, seed=1)
    observed = fit.means().query("covariates == 'as observed'")
    names = {*by, "connection"}
    assert names | {"covariates"} <= set(observed.columns)
    assert observed["rows"].sum() == len(table)
    levels = sorted(names)
    raw = table.groupby(levels)["cosine_distance"].mean()
    found = observed[observed["rows"] > 0].set_index(levels)["mean"]
    np.testing.assert_allclose(found[raw.index], raw, atol=0.05)


@pytest.mark.parametrize("words", ["listed", "population"])
def test_covariates_as_observed_are_those_of_each_embedding(words: str) -> None:
    """In the second embedding the stereotypes are rarer; nothing else differs."""
    first = frequent_stereotypes()
    rarer = first["level"] - 4.0 * (first["connection"] != "none")
    second = first.assign(
        level=rarer, cosine_distance=first["cosine_distance"] - 0.05 * (rarer - first["level"])
    )
    table = pd.concat([first.assign(embedding="one"), second.assign(embedding="two")])
    spec = bb.models.ModelSpec.from_dict(
        {
            "name": "two",
            "mean": ["theta", "slope"],
            "scale": "s",
            "parameters": {
                "bar": {"by": ["connection", "embedding"], "prior": "Normal(1, 0.3)"},
                "tau": {"prior": "Exponential(5)"},
                "theta": {
                    "by": ["protected_word", "connection", "embedding"],
                    "prior": "Normal(bar, tau)",
                },
                "slope": {"covariate": "level", "prior": "Normal(0, 0.1)"},
                "s": {"prior": "Exponential(2)"},
            },
        }
    )
    fit = bb.fit(table.reset_index(drop=True), spec, draws=100, seed=1)
    draws = [
        fit.contrast_draws("associated - none", by="embedding", words=words, observed=observed)
        for observed in (False, True)
    ]
    rows = fit.table.assign(level=fit.data.covariates["level"])
    means = rows.groupby(["embedding", "protected_group", "connection"], observed=True, sort=False)[
        "level"
    ].mean()
    for name in ("one", "two"):
        of_groups = [means[name, g, "associated"] - means[name, g, "none"] for g in "AB"]
        expected = fit.posterior["slope"] * np.mean(of_groups)
        np.testing.assert_allclose((draws[1] - draws[0]).sel(embedding=name), expected)


@pytest.mark.filterwarnings("ignore:.*cells have no row")
@pytest.mark.parametrize("model", ["interaction", "crossed", "separate"])
@pytest.mark.parametrize("of_words", [False, True])
def test_covariates_as_observed_of_a_word_that_lacks_a_list(model: str, of_words: bool) -> None:
    """The list is expected to have the covariate that it has for other words."""
    table = frequent_stereotypes()
    if of_words:
        numbers = pd.factorize(table["protected_word"])[0]
        table = table.assign(level=numbers.astype(float) ** 2)
    lacks = (table["protected_word"] == "A1") & (table["connection"] == "none")
    fit = bb.fit(table[~lacks], model, covariates=["level"], draws=100, seed=1)
    for by in ("protected_word", "protected_group", None):
        equal, observed = (
            fit.contrast_draws("associated - none", by=by, observed=observed)
            for observed in (False, True)
        )
        change = (observed - equal) / fit.posterior["slope_level"]
        # Standardised: stereotypes of A are at 5, of B at -1, neutral words at 0; or no difference.
        sd = table[~lacks]["level"].std(ddof=0)
        of_group = {"A": 0.0, "B": 0.0} if of_words else {"A": 5 / sd, "B": -1 / sd}
        if by is None:
            np.testing.assert_allclose(change, np.mean(list(of_group.values())), atol=1e-9)
        else:
            for name in change[by].to_numpy():
                np.testing.assert_allclose(change.sel({by: name}), of_group[name[0]], atol=1e-9)


def test_covariates_of_missing_lists_take_little_memory_with_many_words() -> None:
    rng = np.random.default_rng(0)
    whole = np.add.outer(rng.normal(size=4000), rng.normal(size=5))
    there = np.where(rng.random(whole.shape) < 0.3, np.nan, whole)
    given = xr.DataArray(there, dims=("protected_word", "word_class"))
    _completed(given[:4])  # what is imported first does not count
    tracemalloc.start()
    found = _completed(given)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    known = ~np.isnan(there).all(axis=1)
    np.testing.assert_allclose(found[known], whole[known], atol=1e-9)
    assert peak < 20e6


@pytest.mark.parametrize("model", ["separate", "hierarchical"])
def test_rows_count_as_observed_in_models_without_lists(model: str) -> None:
    """So a contrast as observed is the one of a model without the covariate."""
    rng = np.random.default_rng(3)
    sizes = {"A": 3, "B": 20, "C": 6, "neutral": 15}
    level = {"A": -2.0, "B": 2.0, "C": 0.0, "neutral": 1.0}
    table = pd.DataFrame(
        {
            "protected_word": f"{group}{p}",
            "word_to_compare": f"{name}{i}",
            "word_class": name,
            "cosine_distance": 1 + 0.1 * (level[name] + 0.1 * i) + rng.normal(0, 0.01),
            "connection": "none" if name == "neutral"
            else "associated" if name == group else "different",
            "protected_group": group,
            "level": level[name] + 0.1 * i,
        }
        for group in "ABC" for p in range(3) for name, size in sizes.items() for i in range(size)
    )  # fmt: skip
    of_rows = table.pivot_table("cosine_distance", "protected_group", "connection")
    fit = bb.fit(table, model, covariates=["level"], draws=500, seed=1)
    found = fit.contrasts("associated - different", by="protected_group")
    observed = found[found["covariates"] == "as observed"].set_index("protected_group")["mean"]
    expected = of_rows["associated"] - of_rows["different"]
    np.testing.assert_allclose(observed, expected[observed.index], atol=0.005)


def test_what_attribute_groups_are_for() -> None:
    fit = interaction()
    with pytest.raises(SpecError, match="contrast='associated - different', not 'associated"):
        fit.contrasts("associated - none", by="attribute_group")
    table = religion()
    alone = bb.fit(table[table["protected_group"] == "jew"], "crossed", draws=50)
    with pytest.raises(DataError, match="'jew' are not compared with another group"):
        alone.contrasts("associated - different", by="attribute_group")


@pytest.mark.filterwarnings("ignore:.*cells have no row")
def test_a_group_without_stereotypes_does_not_keep_others_from_being_compared() -> None:
    table = religion()
    some = table[table["word_class"] != "jew_stereotype"]
    found = bb.fit(some, draws=500, seed=1).contrasts(
        "associated - different", by="attribute_group"
    )
    by_t = bb.t_contrasts(some, "associated - different", by="attribute_group")
    assert list(found["attribute_group"]) == list(by_t["attribute_group"])
    np.testing.assert_allclose(found["mean"], by_t["mean"], atol=0.03)


@pytest.mark.slow
def test_contrasts_at_equal_covariates() -> None:
    fit = bb.fit(religion(covariates=True), covariates=["log_frequency"], draws=300, seed=1)
    found = fit.contrasts("associated - none")
    assert list(found["covariates"]) == ["equal", "as observed"]
    equal, observed = found["mean"]
    table = fit.table
    x = (table["log_frequency"] - table["log_frequency"].mean()) / table["log_frequency"].std(
        ddof=0
    )
    lists = x.groupby([table["word_class"].astype(str)]).mean()
    stereotypes = lists[[f"{name}_stereotype" for name in GROUPS]].mean()
    slope = fit.draws("slope_log_frequency").mean()
    assert observed - equal == pytest.approx(slope * (stereotypes - lists["neutral"]), rel=1e-6)
    # The frequency of attributes cancels where they are the same.
    same = fit.contrasts("associated - different", by="attribute_group")
    half = len(same) // 2
    np.testing.assert_allclose(same["mean"][:half], same["mean"][half:], atol=1e-12)


def test_a_slope_that_is_there_is_found(rng: np.random.Generator) -> None:
    table = religion()
    words = table["word_to_compare"].astype(str)
    x = {word: rng.normal() for word in sorted(set(words))}
    moved = table["cosine_distance"] + 0.05 * words.map(x).astype(float)
    rows = table.assign(cosine_distance=moved.clip(0, 2), x=words.map(x).astype(float))
    rows = rows.drop(columns="cosine_similarity")
    fit = bb.fit(rows, covariates=["x"], draws=300, seed=1)
    slope = fit.draws("slope_x") / rows["x"].std(ddof=0)
    assert abs(slope.mean() - 0.05) < 3 * slope.std()


def test_a_prior_that_differs_by_what_does_not_follow() -> None:
    spec = bb.load_model("hierarchical").to_dict()
    spec["parameters"]["theta"]["by"] = ["protected_word"]
    with pytest.raises(DataError, match="more than one level of it; add 'connection' to 'by'"):
        bb.fit(religion(), bb.models.ModelSpec.from_dict(spec))
