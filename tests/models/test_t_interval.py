"""t-intervals over attributes, beside SciPy's and a direct computation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from simulated import simulated_table

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, DataError, SpecError

pytestmark = pytest.mark.numpy_only


def made(
    lists: dict[str, int], controls: dict[str, int], words: dict[str, int], seed: int = 0
) -> pd.DataFrame:
    """Distances with an effect of each attribute, for lists and groups of any length."""
    rng = np.random.default_rng(seed)
    attributes = [(f"{g} {i}", f"{g}_stereotype", g, None) for g, n in lists.items()
                  for i in range(n)]  # fmt: skip
    attributes += [(f"{k} {i}", k, None, k) for k, n in controls.items() for i in range(n)]
    effects = rng.normal(0, 0.1, len(attributes))
    rows = []
    for group, n in words.items():
        for i in range(n):
            for (word, kind, own, control), effect in zip(attributes, effects, strict=True):
                connection = control or ("associated" if own == group else "different")
                distance = 0.9 + effect + rng.normal(0, 0.05) - 0.1 * (own == group)
                rows.append((f"{group}-{i}", word, kind, distance, connection, group, "made"))
    names = ["protected_word", "word_to_compare", "word_class", "cosine_distance", "connection",
             "protected_group", "embedding"]  # fmt: skip
    return pd.DataFrame(rows, columns=names)


def means(table: pd.DataFrame, words: str, attributes: str) -> np.ndarray:
    """The mean distance of each attribute of a list from the words of a group."""
    here = table["protected_group"].eq(words) & table["word_to_compare"].str.startswith(attributes)
    return table[here].groupby("word_to_compare", sort=False)["cosine_distance"].mean().to_numpy()


def ends(frame: pd.DataFrame, row: int = 0) -> tuple[float, float]:
    return float(frame["lower"].iloc[row]), float(frame["upper"].iloc[row])


def test_one_list_is_welchs_test() -> None:
    table = made({"a": 7}, {"none": 30}, {"a": 3, "b": 2})
    found = bb.t_contrasts(table, by="protected_group", prob=0.9)
    assert found["protected_group"].to_list() == ["a"]  # b has no stereotypes
    test = stats.ttest_ind(means(table, "a", "a"), means(table, "a", "none"), equal_var=False)
    assert ends(found) == pytest.approx(tuple(test.confidence_interval(0.9)))
    assert found["df"].iloc[0] == pytest.approx(test.df)
    assert list(found) == ["contrast", "protected_group", "mean", "se", "df", "lower", "upper"]


def test_two_lists_are_students_test() -> None:
    table = made({"a": 5, "b": 9}, {}, {"a": 3, "b": 2})
    found = bb.t_contrasts(table, "associated - different", by="protected_group")
    test = stats.ttest_ind(means(table, "b", "b"), means(table, "b", "a"))
    assert ends(found, 1) == pytest.approx(tuple(test.confidence_interval(0.89)))
    assert found["df"].iloc[1] == 12


def test_the_same_attributes_are_a_test_of_one_sample() -> None:
    table = made({"a": 6}, {"none": 5}, {"a": 3, "b": 2, "c": 4})
    found = bb.t_contrasts(table, "associated - different", by="attribute_group")
    others = (means(table, "b", "a") + means(table, "c", "a")) / 2
    test = stats.ttest_1samp(means(table, "a", "a") - others, 0)
    assert ends(found) == pytest.approx(tuple(test.confidence_interval(0.89)))
    # With one list its average is the list itself.
    whole = bb.t_contrasts(table, "associated - different")
    assert ends(whole) == pytest.approx(ends(found))


def test_words_and_unequal_lists_by_hand() -> None:
    lists = {"a": 3, "b": 6, "c": 2}
    table = made(lists, {"human": 8, "none": 20}, {"a": 2, "b": 3, "c": 1}, seed=4)
    for contrast, kinds in (("associated - none", ["none"]), ("associated - human", ["human"])):
        found = bb.t_contrasts(table, contrast, by="protected_word").set_index("protected_word")
        assert len(found) == 6
        one = table[table["protected_word"] == "b-1"]
        by_list = {name: one.loc[one["word_to_compare"].str.startswith(name), "cosine_distance"]
                   for name in (*lists, *kinds)}  # fmt: skip
        degrees = sum(n - 1 for n in lists.values())
        pooled = sum(by_list[g].var() * (n - 1) for g, n in lists.items()) / degrees
        control = by_list[kinds[0]]
        parts = np.array([pooled / 6, control.var() / len(control)])
        df = parts.sum() ** 2 / (parts**2 / [degrees, len(control) - 1]).sum()
        row = found.loc["b-1"]
        assert row["mean"] == pytest.approx(by_list["b"].mean() - control.mean())
        assert row["se"] == pytest.approx(np.sqrt(parts.sum()))
        assert row["df"] == pytest.approx(df)
        assert row["upper"] - row["mean"] == pytest.approx(row["se"] * stats.t.ppf(0.945, df))
    found = bb.t_contrasts(table, "associated - different", by="protected_word")
    row = found.set_index("protected_word").loc["b-1"]
    means_of = {g: by_list[g].mean() for g in lists}
    assert row["mean"] == pytest.approx(means_of["b"] - (means_of["a"] + means_of["c"]) / 2)
    assert row["se"] == pytest.approx(np.sqrt(pooled * (1 / 6 + (1 / 3 + 1 / 2) / 4)))


def test_the_whole_table_is_the_average_of_its_groups() -> None:
    table = made({"a": 3, "b": 6, "c": 4}, {"none": 20}, {"a": 2, "b": 3, "c": 1}, seed=5)
    groups = bb.t_contrasts(table, by="protected_group")
    whole = bb.t_contrasts(table)
    assert whole["mean"].iloc[0] == pytest.approx(groups["mean"].mean())
    own = {g: means(table, g, g) for g in "abc"}
    degrees = sum(len(v) - 1 for v in own.values())
    pooled = sum(v.var(ddof=1) * (len(v) - 1) for v in own.values()) / degrees
    none = np.mean([means(table, g, "none") for g in "abc"], axis=0)
    error = pooled * sum(1 / len(v) for v in own.values()) / 9 + none.var(ddof=1) / len(none)
    assert whole["se"].iloc[0] == pytest.approx(np.sqrt(error))
    # The double difference: in a group or between groups, the average is the same.
    both = [bb.t_contrasts(table, "associated - different", by=by)["mean"].mean()
            for by in (None, "attribute_group", "protected_group")]  # fmt: skip
    assert both == pytest.approx([both[0]] * 3)
    of_list = bb.t_contrasts(table, "associated - different", by="attribute_group")
    double = bb.t_contrasts(table, "associated - different")
    assert double["se"].iloc[0] == pytest.approx(np.sqrt((of_list["se"] ** 2).sum()) / 3)
    linear = bb.t_contrasts(table, "2 * associated - none - different")
    assert linear["mean"].iloc[0] == pytest.approx(whole["mean"].iloc[0] + both[0])


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    hits = []
    for seed in range(200):
        table = made({"a": 4, "b": 6}, {"none": 15}, {"a": 2, "b": 2}, seed=seed)
        found = bb.t_contrasts(table, by="protected_group")
        hits.append((found["lower"] < -0.1) & (found["upper"] > -0.1))
    assert np.mean(hits) == pytest.approx(0.89, abs=0.05)


def with_covariate(table: pd.DataFrame, seed: int, slope: float = -0.05) -> pd.DataFrame:
    """Give attributes a covariate, lower among neutral ones, that distances depend on."""
    rng = np.random.default_rng(seed + 1000)
    words = table["word_to_compare"].unique()
    x = pd.Series(rng.normal(3, 1, len(words)), words)
    x[x.index.str.startswith("none")] -= 1
    values = table["word_to_compare"].map(x)
    distance = table["cosine_distance"] + slope * (values - 3)
    return table.assign(x=values, cosine_distance=distance)


def ancova(table: pd.DataFrame, words: str, weights: dict[str, float], name: str = "x") -> Any:
    """Mean, design, residuals and coefficients of the contrast of list means, by least squares."""
    here = table[table["protected_group"] == words]
    cells = here.groupby("word_to_compare", sort=False)[["cosine_distance", name]].mean()
    lists = cells.index.str.split().str[0].to_numpy()
    cells, lists = cells[np.isin(lists, [*weights])], lists[np.isin(lists, [*weights])]
    design = np.column_stack([*(lists == n for n in weights), cells[name]]).astype(float)
    y = cells["cosine_distance"].to_numpy()
    contrast = np.array([*weights.values(), 0.0])
    inverse = np.linalg.inv(design.T @ design)
    coefficients = design @ inverse @ contrast  # what the contrast is of the scores
    residuals = y - design @ inverse @ design.T @ y
    hat = np.einsum("ij,jk,ik->i", design, inverse, design)
    return coefficients @ y, coefficients, residuals, hat, lists


def test_stereotypes_at_equal_covariates_are_the_ordinary_analysis_of_covariance() -> None:
    table = with_covariate(made({"a": 5, "b": 9, "c": 4}, {}, {"a": 3, "b": 2, "c": 1}), 0)
    found = bb.t_contrasts(table, "associated - different", by="protected_group", covariates=["x"])
    assert list(found) == [
        "contrast", "covariates", "protected_group", "mean", "se", "df", "lower", "upper",
    ]  # fmt: skip
    assert list(found["covariates"]) == ["equal"] * 3 + ["as observed"] * 3
    mean, coefficients, residuals, _, _ = ancova(table, "b", {"a": -0.5, "b": 1.0, "c": -0.5})
    degrees = 18 - 3 - 1
    se = np.sqrt(residuals @ residuals / degrees * (coefficients @ coefficients))
    row = found.iloc[1]
    assert row["mean"] == pytest.approx(mean)
    assert row["se"] == pytest.approx(se)
    assert row["df"] == pytest.approx(degrees)
    ends_of = stats.t.interval(0.89, degrees, mean, se)
    assert (row["lower"], row["upper"]) == pytest.approx(ends_of)


def test_controls_at_equal_covariates_have_a_variance_of_their_own() -> None:
    table = with_covariate(made({"a": 5, "b": 9}, {"none": 30}, {"a": 3, "b": 2}), 1)
    found = bb.t_contrasts(table, by="protected_group", covariates=["x"]).iloc[0]
    mean, c, residuals, hat, lists = ancova(table, "a", {"a": 1.0, "b": 0.0, "none": -1.0})
    parts, degrees = [], []
    for here in (lists != "none", lists == "none"):
        degrees.append((1 - hat[here]).sum())
        parts.append(residuals[here] @ residuals[here] / degrees[-1] * (c[here] @ c[here]))
    assert found["mean"] == pytest.approx(mean)
    assert found["se"] == pytest.approx(np.sqrt(sum(parts)))
    df = sum(parts) ** 2 / sum(p**2 / d for p, d in zip(parts, degrees, strict=True))
    assert found["df"] == pytest.approx(df)


def test_as_observed_is_the_contrast_without_covariates() -> None:
    table = with_covariate(made({"a": 3, "b": 6}, {"none": 20, "human": 7}, {"a": 2, "b": 3}), 2)
    for by in (None, "protected_group", "protected_word"):
        found = bb.t_contrasts(table, "associated - human", by=by, covariates=["x"])
        plain = bb.t_contrasts(table, "associated - human", by=by)
        observed = found[found["covariates"] == "as observed"].drop(columns="covariates")
        pd.testing.assert_frame_equal(observed.reset_index(drop=True), plain)


def test_a_covariate_of_kept_duplicates_is_their_mean() -> None:
    """As is their distance, whichever of the rows comes last."""
    table = with_covariate(made({"a": 5, "b": 6}, {"none": 9}, {"a": 2, "b": 3}), 6)
    noise = np.random.default_rng(0).normal(size=len(table))
    twice = pd.concat([table.assign(x=table["x"] + sign * noise) for sign in (1, -1)])
    kept = bb.check_table(twice.reset_index(drop=True), duplicates="keep")
    found = bb.t_contrasts(kept, covariates=["x"])
    # Rows that are reversed have other means of many numbers in the last digits.
    turned = bb.t_contrasts(kept.iloc[::-1], covariates=["x"])
    pd.testing.assert_frame_equal(found, turned, rtol=1e-9)
    pd.testing.assert_frame_equal(found, bb.t_contrasts(table, covariates=["x"]), rtol=1e-9)


def test_what_cancels_changes_nothing() -> None:
    """The frequency of the same attributes, and that of the words that both lists have."""
    table = with_covariate(made({"a": 5, "b": 6}, {"none": 9}, {"a": 2, "b": 3}), 3)
    words = table["protected_word"].astype("category").cat.codes.astype(float)
    cases = [
        ("associated - different", "attribute_group", table),
        ("associated - none", "protected_group", table.assign(x=words)),
        ("associated - none", None, table.assign(x=words)),
    ]
    for contrast, by, given in cases:
        found = bb.t_contrasts(given, contrast, by=by, covariates=["x"])  # type: ignore[arg-type]
        equal, observed = (
            part.drop(columns="covariates").reset_index(drop=True)
            for _, part in found.groupby("covariates", sort=False)
        )
        pd.testing.assert_frame_equal(equal, observed)


def test_the_unit_of_a_covariate_and_the_order_of_several_do_not_matter() -> None:
    table = with_covariate(made({"a": 5, "b": 6}, {"none": 9}, {"a": 2, "b": 3}), 4)
    z = np.random.default_rng(0).normal(size=20)[
        table["word_to_compare"].astype("category").cat.codes
    ]
    table = table.assign(z=z)
    # The level where no other list is subtracted is that of the overall mean.
    for contrast in ("associated - none", "associated"):
        found = bb.t_contrasts(table, contrast, covariates=["x", "z"])
        other = table.assign(x=1e6 * table["x"] - 5)
        pd.testing.assert_frame_equal(
            found, bb.t_contrasts(other, contrast, covariates=["z", "x", "z"]), rtol=1e-9
        )
    level = bb.t_contrasts(table, "associated", covariates=["x"]).iloc[0]
    centre = table.assign(x=table["x"] - table["x"].mean())
    parts = [ancova(centre, g, {"a": g == "a", "b": g == "b"})[0] for g in "ab"]
    own = bb.t_contrasts(table, "associated", by="protected_group", covariates=["x"])
    np.testing.assert_allclose(own["mean"][:2], parts)
    assert level["mean"] == pytest.approx(np.mean(parts), abs=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.0, 0.1])
def test_intervals_at_equal_covariates_hold_the_truth_as_often_as_they_say(spread: float) -> None:
    """Also where stereotypes vary more than neutral words."""
    hits = []
    for seed in range(200):
        table = with_covariate(made({"a": 6, "b": 8}, {"none": 60}, {"a": 2, "b": 2}, seed), seed)
        words = table["word_to_compare"].unique()
        more = pd.Series(np.random.default_rng(seed).normal(0, spread, len(words)), words)
        more[more.index.str.startswith("none")] = 0
        distance = table["cosine_distance"] + 0.1 + table["word_to_compare"].map(more)
        found = bb.t_contrasts(
            table.assign(cosine_distance=distance), by="protected_group", covariates=["x"]
        )
        equal = found[found["covariates"] == "equal"]
        hits.append((equal["lower"] < -0.1) & (equal["upper"] > -0.1))
    assert np.mean(hits) == pytest.approx(0.89, abs=0.05)


def test_covariates_that_cannot_be_used() -> None:
    table = with_covariate(made({"a": 3, "b": 3}, {"none": 4}, {"a": 2, "b": 2}), 5)
    with pytest.raises(SpecError, match="has no covariate 'y'"):
        bb.t_contrasts(table, covariates=["y"])
    with pytest.raises(DataError, match="the covariate 'x' is 3 in every row; leave it out"):
        bb.t_contrasts(table.assign(x=3.0), covariates=["x"])
    with pytest.raises(DataError, match="'x' is"):
        bb.t_contrasts(table.assign(x=table["x"].where(table.index != 3)), covariates=["x"])
    by_list = table["word_class"].eq("none").astype(float)
    with pytest.raises(DataError, match="'x' does not vary within the lists of the contrast of 'a"):
        bb.t_contrasts(table.assign(x=by_list), covariates=["x"])
    few = with_covariate(made({"a": 2, "b": 2}, {"none": 4}, {"a": 2, "b": 2}), 6)
    rng = np.random.default_rng(0)
    codes = few["word_to_compare"].astype("category").cat.codes
    several = few.assign(**{name: rng.normal(size=8)[codes] for name in ("y", "z", "w", "v")})
    with pytest.raises(DataError, match="too few attributes among the .* to estimate 5 slopes"):
        bb.t_contrasts(several, covariates=["x", "y", "z", "w", "v"])
    one = with_covariate(made({"a": 3, "b": 2}, {"none": 1}, {"a": 2, "b": 2}), 7)
    with pytest.raises(DataError, match="the none controls are one word"):
        bb.t_contrasts(one, covariates=["x"])


def test_a_list_of_one_word_borrows_the_variance() -> None:
    table = made({"a": 1, "b": 6}, {"none": 20}, {"a": 2, "b": 2})
    found = bb.t_contrasts(table, by="protected_group").set_index("protected_group")
    spread = means(table, "a", "b").var(ddof=1)
    none = means(table, "a", "none")
    assert found.loc["a", "se"] == pytest.approx(np.sqrt(spread + none.var(ddof=1) / 20))


def test_missing_cells_are_left_out_where_they_matter() -> None:
    table = made({"a": 4, "b": 4}, {"none": 10}, {"a": 2, "b": 2})
    lost = table["protected_word"].eq("a-0") & table["word_to_compare"].isin(["a 0", "none 3"])
    with pytest.warns(BayesBiasWarning, match="2 of 18 attributes lack a distance"):
        some = bb.t_contrasts(table[~lost], by="protected_group").set_index("protected_group")
    without = table[~table["word_to_compare"].isin(["a 0", "none 3"])]
    all_gone = bb.t_contrasts(without, by="protected_group").set_index("protected_group")
    whole = bb.t_contrasts(table, by="protected_group").set_index("protected_group")
    pd.testing.assert_series_equal(some.loc["a"], all_gone.loc["a"])
    pd.testing.assert_series_equal(some.loc["b"], whole.loc["b"])


def test_controls_need_no_variance_of_stereotypes() -> None:
    table = simulated_table(1, stereotypes=1)
    for by in (None, "protected_group", "protected_word"):
        found = bb.t_contrasts(table, "human - none", by=by)
        stereotypes = table["connection"].isin(["associated", "different"])
        alone = bb.t_contrasts(table[~stereotypes], "human - none", by=by)
        pd.testing.assert_frame_equal(found, alone)


def test_what_cannot_be_done() -> None:
    table = made({"a": 1, "b": 1}, {"none": 10}, {"a": 2, "b": 2})
    with pytest.raises(DataError, match="at least one list needs two words"):
        bb.t_contrasts(table)
    with pytest.raises(DataError, match="the none controls are one word"):
        bb.t_contrasts(made({"a": 3, "b": 2}, {"none": 1}, {"a": 2, "b": 2}))
    ok = simulated_table(3)
    with pytest.raises(SpecError, match="needs contrast='associated - different'"):
        bb.t_contrasts(ok, by="attribute_group")
    with pytest.raises(SpecError, match="'by' is 'word'"):
        bb.t_contrasts(ok, by="word")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="there is no 'nothing' here"):
        bb.t_contrasts(ok, "associated - nothing")
    with pytest.raises(SpecError, match="'prob' is 89"):
        bb.t_contrasts(ok, prob=89)
    alone = ok[ok["protected_group"] == "g0"]
    with pytest.raises(DataError, match="stereotypes of 'g0' are not compared with another group"):
        bb.t_contrasts(alone, "associated - different", by="attribute_group")
    two = pd.concat([table, table.assign(embedding="other")])
    with pytest.raises(DataError, match="holds 2 embeddings .* give one at a time"):
        bb.t_contrasts(two)
    mixed = table.assign(
        connection=table["connection"].where(table["protected_word"] != "a-0", "none")
    )
    with pytest.raises(DataError, match="is a control for all groups or for none"):
        bb.t_contrasts(mixed)
    lacking = table[~(table["protected_word"].eq("a-0") & table["connection"].eq("associated"))]
    with pytest.raises(DataError, match="no attribute of the stereotypes of a has a distance"):
        bb.t_contrasts(lacking, by="protected_group")
    same = made({"a": 3, "b": 2}, {"none": 4}, {"a": 2, "b": 2}).assign(cosine_distance=0.9)
    with pytest.raises(DataError, match="do not vary .* Are the vectors all the same"):
        bb.t_contrasts(same)  # rounding alone would be an interval that excludes 0


@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
def test_an_attribute_without_rows_of_its_own_group_stays_in_its_list() -> None:
    table = made({"a": 5, "b": 6}, {"none": 9}, {"a": 2, "b": 2})
    some = table[
        ~(table["word_to_compare"].eq("b 0") & table["protected_group"].eq("b"))
    ].reset_index(drop=True)
    # For the words of a nothing is missing.
    for contrast in ("associated - different", "associated - none"):
        expected = bb.t_contrasts(table, contrast, by="protected_group").set_index(
            "protected_group"
        )
        found = bb.t_contrasts(some, contrast, by="protected_group").set_index("protected_group")
        pd.testing.assert_series_equal(found.loc["a"], expected.loc["a"])
        # For those of b it is as if the attribute were not listed.
        without = bb.t_contrasts(
            table[table["word_to_compare"] != "b 0"], contrast, by="protected_group"
        ).set_index("protected_group")
        pd.testing.assert_series_equal(found.loc["b"], without.loc["b"])


@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
def test_a_list_that_is_not_in_the_contrast_may_have_no_complete_attribute() -> None:
    table = made({"a": 5, "b": 6}, {"none": 9}, {"a": 2, "b": 2})
    some = table[
        ~(table["word_to_compare"].str.startswith("b") & table["protected_word"].eq("a-0"))
    ]
    found = bb.t_contrasts(some, by="protected_group").set_index("protected_group")
    own = means(table, "a", "a"), means(table, "a", "none")
    test = stats.ttest_ind(*own, equal_var=False).confidence_interval(0.89)
    assert (found.loc["a", "lower"], found.loc["a", "upper"]) == pytest.approx(tuple(test))
