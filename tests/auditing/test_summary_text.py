"""The summary says no more than the intervals allow."""

from __future__ import annotations

import re
import warnings
from functools import cache
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated import KINDS, simulated_table

import bayesbias as bb
from bayesbias._core.wording import counted
from bayesbias.auditing.effect_tables import contrasts_table
from bayesbias.auditing.report import bias_text, checks_text, difference_text
from bayesbias.errors import BayesBiasWarning

NULL = dict.fromkeys(KINDS, 1.0)
STRONG = {"associated": 0.6, "different": 1.0, "human": 1.0, "none": 1.0}


@cache
def contrasts(seed: int, strength: float = 0.0, **sizes: int) -> pd.DataFrame:
    """Contrasts of a simulated table: 0 is without bias, 1 with a lot."""
    theta = {kind: 1 - strength * (1 - value) for kind, value in STRONG.items()}
    table = simulated_table(seed, theta=theta, **sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesBiasWarning)
        fit = bb.fit(table, "crossed", engine="exact", draws=250)
    return contrasts_table(fit, prob=0.89, rope=0.05)


def told(table: pd.DataFrame) -> str:
    parts = (
        bias_text.bias(table, 0.89, 0.05),
        bias_text.beside(table),
        bias_text.words(table, 0.89),
    )
    return " ".join(text for part in parts for text in part)


def test_strong_bias_is_said() -> None:
    text = told(contrasts(0, 1.0))
    assert text.startswith(
        "Protected words are closer to the stereotypes of their own group than to neutral words: by"
    )
    assert "6 of 6 words are closer to the stereotypes of their own group than to neutral" in text
    assert "inconclusive" not in text.split("Compared")[0]


def test_without_bias_nothing_is_established() -> None:
    table = next(t for t in map(contrasts, range(9)) if set(t["verdict"]) == {"inconclusive"})
    text = told(table)
    assert text.startswith("Whether protected words are closer to the stereotypes of their own")
    assert "than to neutral words is inconclusive: the estimate is" in text
    assert "nothing is established word by word" in text
    assert "Protected words are" not in text


@pytest.mark.slow
def test_false_claims_are_as_rare_as_the_intervals_promise() -> None:
    # 11% of tables without bias are to be called biased; of 30, hardly ever more than 9.
    claims = sum(
        "is inconclusive" not in next(bias_text.bias(contrasts(seed), 0.89, 0.05))
        for seed in range(30)
    )
    assert claims <= 9


def test_what_is_between_is_inconclusive() -> None:
    table = next(
        t for t in (contrasts(seed, 0.2) for seed in range(20))
        if t["verdict"].iloc[0] == "inconclusive" and t["mean"].iloc[0] < -0.03
    )  # fmt: skip
    [first, *_] = bias_text.bias(table, 0.89, 0.05)
    assert re.search(r"inconclusive.* 0\.\d+ closer.* 89% interval", first)
    assert re.search(r"from 0\.\d+ closer to 0\.\d+ farther\.$", first)


@given(
    st.lists(
        st.tuples(st.floats(-1, 1), st.floats(1e-4, 0.5), st.floats(1e-4, 0.5)),
        min_size=1,
        max_size=8,
    )
)
def test_claims_are_those_whose_intervals_exclude_zero(
    values: list[tuple[float, float, float]],
) -> None:
    table = pd.DataFrame(
        {
            "contrast": "associated - none",
            "level": "word",
            "group": "g",
            "word": [f"w{i}" for i in range(len(values))],
            "mean": [mean for mean, _, _ in values],
            "lower": [mean - down for mean, down, _ in values],
            "upper": [mean + up for mean, _, up in values],
            "prob_negative": 0.5,
        }
    )
    below, above = table["upper"] < 0, table["lower"] > 0
    table["verdict"] = np.select([below, above], ["closer", "farther"], "inconclusive")
    text = " ".join(bias_text.words(table, 0.89))
    n = len(table)
    if not below.any() and not above.any():
        assert text.startswith(f"For none of {counted(n, 'word')} does the 89% interval tell")
        return
    closer = re.match(r"(\d+|None) of", text)
    assert closer is not None
    assert closer[1] == (str(below.sum()) if below.any() else "None")
    farther = re.search(r"(\d+) (?:is|are) farther:", text)
    assert (int(farther[1]) if farther else 0) == above.sum()
    left = re.search(r"(\d+) (?:is|are) inconclusive\.", text)
    assert (int(left[1]) if left else 0) == n - below.sum() - above.sum()


@given(st.floats(-2, 2), st.floats(-2, 2))
def test_ends_never_look_like_they_include_or_exclude_zero_wrongly(
    one: float, other: float
) -> None:
    low, high = sorted((one, other))
    text = difference_text.interval_ends({"lower": low, "upper": high})
    assert ("closer" in text and "farther" in text) == (low < 0 < high)
    if low > 0 or high < 0:
        assert all(float(number) > 0 for number in re.findall(r"[\d.]+(?:e-\d+)?", text))


def test_small_differences_are_called_small() -> None:
    table = contrasts(0).head(1).assign(lower=-0.03, upper=0.02, verdict="inconclusive")
    assert "probably smaller than 0.05" in " ".join(bias_text.bias(table, 0.89, 0.05))
    wide = table.assign(lower=-0.06)
    assert "smaller than" not in " ".join(bias_text.bias(wide, 0.89, 0.05))


def comparison(gap: float, error: float, name: str = "WAIC") -> pd.DataFrame:
    values = {name: [0.0, gap], "SE": 9.0, f"d{name}": [0.0, gap], "dSE": [np.nan, error]}
    return pd.DataFrame(values, index=["crossed", "separate"])


def test_models_are_preferred_only_by_a_clear_difference() -> None:
    clear = [*checks_text.models(comparison(50, 10), comparison(50, 10, "LOO"), "crossed")]
    assert all(text.endswith("a clear difference.") for text in clear)
    assert clear[0].startswith("By WAIC, the model crossed predicts best; separate comes next, 50")
    close = [
        *checks_text.models(comparison(15, 10), comparison(50, 10, "LOO"), "separate", ["mind"])
    ]
    assert close[0].endswith("no clear difference.")
    small = [*checks_text.models(comparison(7, 1), comparison(9, 1, "LOO"), "crossed")]
    assert [text.endswith("no clear difference.") for text in small] == [True, False]
    assert close[2] == "By their own checks some of these criteria are rough; see the diagnostics."
    assert close[3].startswith("Means and contrasts are from separate, the best of the models")
    one = comparison(0, 0).head(1)
    assert [*checks_text.models(one, one, "crossed")] == ["Only the model crossed was fitted."]


def test_metrics_that_cannot_lie_beyond_no_bias_prove_nothing() -> None:
    rows = [
        ("weat", 1.0, 0.2, 1.5, 0.99, 0.0),
        ("weat", 0.1, -0.2, 0.5, 0.6, 0.0),
        ("mac", 0.9, 0.85, 0.95, 0.0, 1.0),
        ("rnsb", 0.2, 0.1, 0.3, np.nan, 0.0),
        ("rnsb", np.nan, np.nan, np.nan, np.nan, 0.0),
    ]
    names = ["metric", "value", "lower", "upper", "p_above", "neutral"]
    text = " ".join(
        checks_text.metrics(pd.DataFrame(rows, columns=names), {"ripa": "no pairs"}, 0.95)
    )
    assert text.startswith(
        "Of 3 values of 2 metrics that can lie on both sides of no bias, 2 have a 95% interval "
        "that excludes it; for 1 it is inconclusive."
    )
    assert "1 value of rnsb cannot lie beyond no bias" in text
    assert "1 value could not be measured. Not measured: ripa." in text


def test_failed_checks_are_not_hidden() -> None:
    report = {
        "model": "separate", "quantities": 3, "agrees": False, "sampler_ok": False,
        "disagree": ["density", "coefficients", "draws"],
        "density": {"points": 16, "far": 6, "largest": 0.5, "relative": 1e-3},
        "largest": {"mean": 2.5, "sd": 0.1, "lower": 2.4, "upper": 2.6},
        "problems": ["R-hat is 1.3"],
    }  # fmt: skip
    text = " ".join(checks_text.confirmed(report))
    assert "The density that the exact engine draws from is not that of separate" in text
    assert "the draws of the coefficients do not follow this density" in text
    assert "means differ by at most 2.50 posterior standard deviations" in text
    assert "intervals by at most 2.60, more than Monte Carlo error explains." in text
    assert "fail these checks, so do not rely on these results." in text
    assert "The second sampler has problems of its own: R-hat is 1.3." in text
    assert not list(checks_text.confirmed(None))


def test_stronger_bias_is_told_in_order() -> None:
    means = [contrasts(3, strength)["mean"].iloc[0] for strength in (0.0, 0.5, 1.0)]
    assert all(second < first for first, second in pairwise(means))
