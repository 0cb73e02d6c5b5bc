"""What a covariate explains of a contrast."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, DataError, SpecError
from bayesbias.wordlists.catalogue import STUDIES

# Section 7 of the notes on the models: slope on log rank, R², raw, explained, rest, computed
# independently. In race lists and groups differ in size, and there every row counted the same.
PUBLISHED = {
    "religion": (0.053, 0.37, -0.105, -0.027, -0.079),
    "gender": (0.090, 0.62, -0.339, -0.083, -0.255),
    "race": (0.107, 0.78, -0.132, -0.145, 0.013),
    "weat_1": (-0.018, 0.07, -0.041, 0.022, -0.063),
    "weat_7": (0.062, 0.42, -0.157, -0.215, 0.058),
}


def table_of(demo: bb.Embedding, name: str) -> pd.DataFrame:
    return bb.distance_table(demo, bb.load_study(name), covariates=["log_frequency"])


def simulated(
    rng: np.random.Generator,
    n: tuple[int, int, int] = (8, 6, 40),
    slope: float = -0.1,
    gap: float = 0.0,
    shift: float = 1.0,
) -> pd.DataFrame:
    """Two groups of two words; distances of attributes are linear in x, with noise."""
    rows = []
    effects = {"a_stereotype": gap, "b_stereotype": gap, "neutral": 0.0}
    for (word_class, effect), size in zip(effects.items(), n, strict=True):
        group = word_class[0] if "_" in word_class else None
        for i in range(size):
            x = rng.normal(shift if group else 0.0)
            level = 1 + slope * x + effect + rng.normal(0, 0.05)
            for protected in ("a1", "a2", "b1", "b2"):
                own = "associated" if protected[0] == group else "different"
                rows.append(
                    {
                        "protected_word": protected,
                        "word_to_compare": f"{word_class}{i}",
                        "word_class": word_class,
                        "cosine_distance": level,
                        "connection": own if group else "none",
                        "protected_group": protected[0],
                        "x": x,
                    }
                )
    return pd.DataFrame(rows)


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.filterwarnings("ignore:extrapolated")
def test_numbers_of_the_notes(demo: bb.Embedding, name: str) -> None:
    row = bb.decompose_gaps(table_of(demo, name), contrasts=["associated - neutral"]).iloc[0]
    assert row["contrast"] == "associated - none"
    assert row["slope_from"] == "neutral"
    found = [-row["slope"], row["r2"], row["raw"], row["explained"], row["rest"]]
    atol = 0.005 if name == "race" else 0.0006
    np.testing.assert_allclose(np.delete(found, 1), np.delete(PUBLISHED[name], 1), atol=atol)
    assert found[1] == pytest.approx(PUBLISHED[name][1], abs=0.005)


def test_neutral_slope_is_that_of_scipy(rng: np.random.Generator) -> None:
    table = simulated(rng, gap=-0.1)
    row = bb.decompose_gaps(table, "x", contrasts=["associated - none"], prob=0.9).iloc[0]
    words = table.drop_duplicates("word_to_compare")
    neutral = words[words["connection"] == "none"]
    line = stats.linregress(neutral["x"], neutral["cosine_distance"])
    half = stats.t.ppf(0.95, 38) * line.stderr
    assert row["slope"] == pytest.approx(line.slope)
    assert row["slope_upper"] - row["slope"] == pytest.approx(half)
    assert row["r2"] == pytest.approx(line.rvalue**2)
    stereotypes = words[words["connection"] != "none"]
    welch = stats.ttest_ind(
        stereotypes["cosine_distance"], neutral["cosine_distance"], equal_var=False
    ).confidence_interval(0.9)
    assert (row["raw_lower"], row["raw_upper"]) == pytest.approx((welch.low, welch.high))
    assert row["raw"] == pytest.approx(row["explained"] + row["rest"])
    assert (row["n_first"], row["n_second"]) == (14, 40)


def test_slope_within_lists_is_that_of_a_regression_with_lists(rng: np.random.Generator) -> None:
    table = simulated(rng, gap=-0.3)
    row = bb.decompose_gaps(table, "x", contrasts=["associated - none"]).iloc[1]
    words = table.drop_duplicates("word_to_compare")
    design = np.column_stack([words["x"], pd.get_dummies(words["word_class"])]).astype(float)
    y = words["cosine_distance"].to_numpy()
    beta, rest, *_ = np.linalg.lstsq(design, y, rcond=None)
    df = len(y) - design.shape[1]
    error = np.sqrt(rest[0] / df * np.linalg.inv(design.T @ design)[0, 0])
    assert row["slope_from"] == "within lists"
    assert row["slope"] == pytest.approx(beta[0])
    assert row["slope_upper"] - row["slope"] == pytest.approx(stats.t.ppf(0.945, df) * error)


def test_same_attributes_cancel(demo: bb.Embedding) -> None:
    gaps = bb.decompose_gaps(table_of(demo, "gender"), contrasts=["associated - different"])
    assert (gaps["explained"] == 0).all()
    assert (gaps["raw"] == gaps["rest"]).all()
    table = table_of(demo, "gender")
    means = table.pivot_table(
        "cosine_distance", "word_to_compare", "connection", observed=True
    ).dropna(subset=["associated"])
    paired = stats.ttest_rel(means["associated"], means["different"]).confidence_interval(0.89)
    assert gaps["raw_lower"].iloc[0] == pytest.approx(paired.low)
    assert gaps["raw_upper"].iloc[0] == pytest.approx(paired.high)


def test_groups_and_embeddings(demo: bb.Embedding) -> None:
    both = [demo, bb.load_embedding("demo-100d")]
    table = bb.distance_table(both, bb.load_study("gender"), covariates=["log_frequency"])
    gaps = bb.decompose_gaps(table, by="protected_group")
    assert list(gaps.columns[:4]) == ["embedding", "protected_group", "contrast", "slope_from"]
    assert len(gaps) == 2 * 2 * 3 * 2
    one = bb.decompose_gaps(table[table["protected_group"] == "man"])
    part = gaps[gaps["protected_group"] == "man"].drop(columns="protected_group")
    pd.testing.assert_frame_equal(part.reset_index(drop=True), one)


def test_units_and_origin_of_the_covariate_do_not_matter(demo: bb.Embedding) -> None:
    table = table_of(demo, "religion")
    first = bb.decompose_gaps(table)
    # The second is that of relative frequencies, which are small.
    for origin, unit in ((7, 1 / np.log(10)), (0, 1e-9), (0, 1e9)):
        other = table.assign(log_frequency=origin + table["log_frequency"] * unit)
        second = bb.decompose_gaps(other)
        for name in ("raw", "explained", "rest", "rest_lower", "rest_upper", "r2", "outside"):
            np.testing.assert_allclose(first[name], second[name], atol=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:extrapolated")
def test_intervals_hold_the_truth(rng: np.random.Generator) -> None:
    # Explained: −0.1 × 1; rest: −0.07. The standard error of a share of 200 is 0.022.
    truth = {"raw": -0.17, "explained": -0.1, "rest": -0.07, "slope": -0.1}
    rows = pd.concat(
        bb.decompose_gaps(simulated(rng, gap=-0.07), "x", contrasts=["associated - none"])
        for _ in range(200)
    )
    for _, part in rows.groupby("slope_from"):
        for name, value in truth.items():
            held = (part[f"{name}_lower"] < value) & (value < part[f"{name}_upper"])
            assert 0.81 < held.mean() < 0.96, name


def test_extrapolation_is_told(demo: bb.Embedding) -> None:
    with pytest.warns(BayesBiasWarning, match=r"extrapolated: demo, associated - none;.*'out"):
        gaps = bb.decompose_gaps(table_of(demo, "weat_7"))
    assert gaps.set_index("contrast").loc["associated - none", "extrapolates"].all()
    assert not gaps.set_index("contrast").loc["associated - different", "extrapolates"].any()


def test_matching_leaves_little_to_explain(demo: bb.Embedding) -> None:
    study = bb.load_study("race").match_controls(demo)
    table = bb.distance_table(demo, study, covariates=["log_frequency"])
    row = bb.decompose_gaps(table, contrasts=["associated - none"]).iloc[0]
    assert abs(row["explained"]) < 0.005
    assert row["raw"] == pytest.approx(row["rest"], abs=0.005)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"on": "valence"}, SpecError, "no covariate 'valence'"),
        (
            {"on": "own"},
            DataError,
            "'own' is not a covariate of attributes: .* has values",
        ),
        ({"on": "one"}, DataError, "demo: 'one' does not vary within any list"),
        ({"on": "gappy"}, DataError, "'gappy' is nan in row 0"),
        ({"contrasts": ["none"]}, SpecError, "the contrast 'none' is not a difference"),
        (
            {"contrasts": ["none - none"]},
            SpecError,
            "not a difference of two connections",
        ),
        ({"by": "protected_word"}, SpecError, "'by' is 'protected_word'"),
        ({"prob": 1.5}, SpecError, "'prob' is 1.5"),
    ],
)
def test_mistakes(
    demo: bb.Embedding, options: dict[str, object], error: type[Exception], message: str
) -> None:
    table = table_of(demo, "race")
    table = table.assign(own=np.arange(len(table)), one=1.0, gappy=np.nan)
    with pytest.raises(error, match=message):
        bb.decompose_gaps(table, **options)  # type: ignore[arg-type]


def test_connections_that_are_not_there(demo: bb.Embedding) -> None:
    table = table_of(demo, "race")
    table = table[table["connection"] != "human"]
    assert set(bb.decompose_gaps(table)["contrast"]) == {
        "associated - none",
        "associated - different",
    }
    with pytest.raises(DataError, match="no rows with the connection 'human'"):
        bb.decompose_gaps(table, contrasts=["associated - human"])
    alone = table[table["connection"] == "none"]
    with pytest.raises(DataError, match="no contrast has two or more attributes"):
        bb.decompose_gaps(alone)


@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
def test_duplicated_rows_count_once(demo: bb.Embedding) -> None:
    table = table_of(demo, "religion")
    repeated = pd.concat([table, table.iloc[:1500]], ignore_index=True)
    pd.testing.assert_frame_equal(bb.decompose_gaps(repeated), bb.decompose_gaps(table))
