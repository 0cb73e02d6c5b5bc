"""The summary says no more than the intervals allow."""

from __future__ import annotations

import re
import warnings
from functools import cache
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated import KINDS, simulated_table

import bayesbias as bb
from bayesbias._core.interval_text import ends_text, estimate_text
from bayesbias._core.wording import counted
from bayesbias.auditing.effect_tables import contrasts_table
from bayesbias.auditing.report import (
    bias_text,
    checks_text,
    difference_text,
    models_section,
)
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
    parts = (bias_text.association(table, 0.89, 0.05), bias_text.for_whom(table, 0.89))
    return " ".join(text for part in parts for text in part)


def test_strong_bias_is_said() -> None:
    text = told(contrasts(0, 1.0))
    assert text.startswith(
        "Protected words are closer to the stereotypes of their own group than to neutral words (−"
    )
    assert "The three comparisons together support a bias." in text
    assert "All three comparisons support a bias for" in text
    assert "6 of 6 words are closer (89% interval excludes 0): " in text
    assert "inconclusive" not in text


def test_without_bias_nothing_is_established() -> None:
    table = next(t for t in map(contrasts, range(9)) if set(t["verdict"]) == {"inconclusive"})
    text = told(table)
    assert text.startswith("It is inconclusive whether protected words are closer to the stereo")
    assert "No association is shown, and no bias." in text
    assert "None of 6 words shows a difference" in text
    assert "For no group do all three comparisons support a bias." in text


@pytest.mark.slow
def test_false_claims_are_as_rare_as_the_intervals_promise() -> None:
    # 11% of tables without bias are to be called biased; of 30, hardly ever more than 9.
    claim = re.compile(
        r"Protected words are \w+ \w+ the stereotypes of their own group than \w+ neu"
    )
    texts = [next(bias_text.association(contrasts(seed), 0.89, 0.05)) for seed in range(30)]
    claims = sum(claim.match(text) is not None for text in texts)
    assert claims <= 9


def of_verdicts(*verdicts: str, level: str = "data set", group: str = "") -> pd.DataFrame:
    """The contrasts of one level with the given verdicts, in the order of the tables."""
    signs = {"closer": -1.0, "farther": 1.0, "inconclusive": 0.0}
    means = [0.1 * signs[verdict] for verdict in verdicts]
    return pd.DataFrame(
        {
            "contrast": list(difference_text.OTHERS)[: len(verdicts)],
            "level": level, "group": group, "word": "",
            "mean": means, "lower": np.array(means) - 0.06, "upper": np.array(means) + 0.06,
            "prob_negative": 0.5, "verdict": verdicts,
        }
    )  # fmt: skip


@pytest.mark.parametrize("verdicts", [*product(("closer", "farther", "inconclusive"), repeat=3)])
def test_bias_is_said_only_where_all_three_contrasts_support_it(verdicts: tuple[str, ...]) -> None:
    text = " ".join(bias_text.association(of_verdicts(*verdicts), 0.89, 0.05))
    assert ("support a bias" in text) == (set(verdicts) == {"closer"})
    assert ("This is an association" in text) == (
        verdicts[0] == "closer" and set(verdicts) != {"closer"}
    )
    if "closer" not in verdicts:
        assert "No association is shown, and no bias." in text
    # Each of the three is named with its interval.
    for name in difference_text.OTHERS.values():
        assert re.search(rf"{name} \([−.\d]+, (89% interval )?[−.\d]+ to [−.\d]+", text)


def test_bias_needs_all_three_contrasts() -> None:
    text = " ".join(bias_text.association(of_verdicts("closer", "closer"), 0.89, 0.05))
    assert "Without stereotypes of other groups to compare with" in text
    assert "this cannot show a bias" in text


def test_bias_of_a_group_needs_all_three_contrasts() -> None:
    one = of_verdicts("closer", "closer", "closer", level="group", group="one")
    two = of_verdicts("closer", "closer", "inconclusive", level="group", group="two")
    text = " ".join(bias_text.for_whom(pd.concat([one, two]), 0.89))
    assert "All three comparisons support a bias for one." in text


def test_what_is_between_is_inconclusive() -> None:
    table = next(
        t for t in (contrasts(seed, 0.2) for seed in range(20))
        if t["verdict"].iloc[0] == "inconclusive" and t["mean"].iloc[0] < -0.03
    )  # fmt: skip
    [first, *_] = bias_text.association(table, 0.89, 0.05)
    assert re.search(r"inconclusive|not clearly closer", first)
    assert re.search(r"neutral words \(−0\.\d+, (89% interval )?−0\.\d+ to 0\.\d+", first)


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
    text = " ".join(bias_text.for_whom(table, 0.89))
    n, claims = len(table), int(below.sum() + above.sum())
    if not claims:
        assert text.startswith(f"None of {counted(n, 'word')} shows a difference")
        return
    for verdict, chosen in (("closer", below), ("farther", above)):
        said = re.search(rf"(\d+) of {counted(n, 'word')} (?:is|are) {verdict}", text)
        assert (int(said[1]) if said else 0) == chosen.sum()
    left = re.search(r"for (\d+) the data do not decide", text)
    assert (int(left[1]) if left else 0) == n - claims
    wrong = " ".join(bias_text.false_claims(table))
    assert wrong.endswith(f": {claims / 2:.1f}.")


@given(st.floats(-2, 2), st.floats(-2, 2))
def test_ends_never_look_like_they_include_or_exclude_zero_wrongly(
    one: float, other: float
) -> None:
    low, high = sorted((one, other))
    text = ends_text(low, high)
    if low > 0 or high < 0:
        numbers = [float(number.replace("−", "-")) for number in re.findall(r"−?\d+\.\d+", text)]
        # Signs, as the product of two small numbers may be 0.
        assert all(number > 0 if low > 0 else number < 0 for number in numbers)
        assert len(numbers) + text.count("just") == 2
    for end, shown in zip((low, high), text.split(" to "), strict=True):
        if "just" in shown:
            assert shown == f"just {'below' if end < 0 else 'above'} 0"
        else:
            assert (float(shown.replace("−", "-")) == 0) == (end == 0)


@given(st.floats(-2, 2), st.floats(1e-3, 2))
def test_estimates_have_no_more_digits_than_their_intervals(mean: float, width: float) -> None:
    text = estimate_text(mean, mean - width / 2, mean + width / 2)
    shown = text.partition(", ")[0]
    decimals = len(shown.partition(".")[2])
    assert 10.0**-decimals > width / 100 or decimals == 2
    assert abs(float(shown.replace("−", "-")) - mean) <= 0.5 * 10.0**-decimals + 1e-12


def test_small_differences_are_called_small() -> None:
    table = contrasts(0).head(1).assign(lower=-0.03, upper=0.02, verdict="inconclusive")
    assert "probably smaller than 0.05" in " ".join(bias_text.association(table, 0.89, 0.05))
    wide = table.assign(lower=-0.06)
    assert "smaller than" not in " ".join(bias_text.association(wide, 0.89, 0.05))


def at_equal(table: pd.DataFrame, *verdicts: str) -> pd.DataFrame:
    """The same contrasts, with these verdicts at equal frequency."""
    signs = {"closer": -1.0, "farther": 1.0, "inconclusive": 0.0}
    means = np.array([0.2 * signs[verdict] for verdict in verdicts])
    ends = {"equal_mean": means, "equal_lower": means - 0.05, "equal_upper": means + 0.05}
    return table.assign(**ends)


def test_the_first_paragraph_has_each_contrast_at_equal_frequency() -> None:
    verdicts = ("closer", "closer", "inconclusive")
    table = at_equal(of_verdicts(*verdicts), *verdicts)
    text = " ".join(bias_text.association(table, 0.89, 0.05))
    first = "neutral words (−0.10, 89% interval −0.16 to −0.04; at equal frequency −0.20, −0.25 to"
    assert f"{first} −0.15; negative: closer)" in text
    assert "(0.00, −0.06 to 0.06; at equal frequency 0.00, −0.05 to 0.05)" in text
    assert text.count("at equal frequency ") == 3
    assert text.endswith("At equal frequency, the verdicts are the same.")
    without = " ".join(bias_text.association(of_verdicts(*verdicts), 0.89, 0.05))
    assert "frequency" not in without


def test_it_is_said_where_frequency_changes_a_verdict() -> None:
    raw = of_verdicts("closer", "inconclusive", "inconclusive")
    *_, last = bias_text.association(
        at_equal(raw, "inconclusive", "farther", "inconclusive"), 0.89, 0.05
    )
    assert last == (
        "At equal frequency, the verdict is inconclusive compared with neutral words (frequency "
        "may explain the difference) and farther compared with human words: no association is "
        "shown, and no bias."
    )
    *_, last = bias_text.association(at_equal(raw, "closer", "closer", "closer"), 0.89, 0.05)
    assert last.endswith("other groups: the three comparisons together support a bias.")
    # What they support together may be the same.
    *_, last = bias_text.association(at_equal(raw, "closer", "closer", "farther"), 0.89, 0.05)
    assert last.endswith("and farther compared with stereotypes of other groups.")
    [*_, last] = bias_text.association(at_equal(of_verdicts("closer"), "closer"), 0.89, 0.05)
    assert last == "At equal frequency, the verdict is the same."


def test_groups_and_words_are_judged_at_equal_frequency() -> None:
    one = at_equal(
        of_verdicts("closer", "closer", "inconclusive", level="group", group="one"),
        "closer", "closer", "closer",
    )  # fmt: skip
    two = at_equal(
        of_verdicts("closer", "closer", "closer", level="group", group="two"),
        "inconclusive", "closer", "closer",
    )  # fmt: skip
    text = " ".join(bias_text.for_whom(pd.concat([one, two]), 0.89))
    assert "one (−0.10, −0.16 to −0.04; at equal frequency −0.20, −0.25 to −0.15) and two" in text
    assert "At equal frequency, the verdict is inconclusive for two." in text
    assert "support a bias for two; at equal frequency they do for one." in text
    same = " ".join(bias_text.for_whom(at_equal(one, "closer", "closer", "inconclusive"), 0.89))
    assert "do all three comparisons support a bias; the same at equal frequency." in same
    none = " ".join(bias_text.for_whom(two, 0.89))
    assert none.endswith("support a bias for two; at equal frequency they do for none.")
    words = [
        at_equal(of_verdicts("closer", "inconclusive", level="word").assign(word=word), *verdicts)
        for word, verdicts in (("a", ("closer", "farther")), ("b", ("inconclusive", "closer")))
    ]
    table = pd.concat(words)
    text = " ".join(bias_text.for_whom(table, 0.89))
    assert text.endswith("a and b. At equal frequency: 1 closer and 1 inconclusive.")
    text = " ".join(bias_text.other_contrasts(table))
    assert text.endswith("2 inconclusive. At equal frequency: 1 closer and 1 farther.")
    text = " ".join(bias_text.for_whom(words[0], 0.89))
    assert text.endswith("At equal frequency, the verdicts are the same.")


def test_an_interval_without_a_model_is_compared() -> None:
    table = of_verdicts("closer").assign(t_lower=-0.2, t_upper=0.01)
    text = " ".join(bias_text.sensitivity(table))
    assert text == "A t-interval without a model includes 0 (−0.20 to 0.01)."
    text = " ".join(bias_text.sensitivity(table.assign(t_upper=-0.01)))
    assert "excludes 0 as well" in text


def comparison(gap: float, error: float, name: str = "WAIC") -> pd.DataFrame:
    values = {name: [0.0, gap], "SE": 9.0, f"d{name}": [0.0, gap], "dSE": [np.nan, error]}
    return pd.DataFrame(values, index=["crossed", "separate"])


def test_models_are_preferred_only_by_a_clear_difference() -> None:
    clear = [*checks_text.models(comparison(50, 10), comparison(50, 10, "LOO"), "crossed")]
    assert all(text.endswith("a clear difference.") for text in clear)
    assert clear[0].startswith("By WAIC, the model crossed predicts best; separate is second")
    close = [
        *checks_text.models(comparison(15, 10), comparison(50, 10, "LOO"), "separate", ["mind"])
    ]
    assert close[0].endswith("not a clear difference.")
    small = [*checks_text.models(comparison(7, 1), comparison(9, 1, "LOO"), "crossed")]
    assert [text.endswith("not a clear difference.") for text in small] == [True, False]
    assert "some of these criteria are unreliable" in close[2]
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
    names = ["metric", "value", "lower", "upper", "prob_above", "neutral"]
    text = " ".join(
        checks_text.metrics(pd.DataFrame(rows, columns=names), {"ripa": "no pairs"}, 0.95)
    )
    assert text.startswith(
        "Of 3 values of 2 metrics that can lie on either side of the value without bias, 2 have a "
        "95% interval that excludes it; 1 is inconclusive."
    )
    assert "1 value of RNSB can lie on one side of it only" in text
    assert "1 value could not be measured. Not measured: RIPA." in text


def test_failed_checks_are_not_hidden() -> None:
    check = {
        "model": "separate", "quantities": 3, "agrees": False, "sampler_ok": False,
        "disagree": ["density", "coefficients", "draws"], "chains": 8, "draws": 1000,
        "density": {"points": 16, "far": 6, "largest": 0.5, "relative": 1e-3},
        "coefficients": {"mean": 0.4, "sd": 1.2}, "r_hat": 1.3, "ess": 20.0,
        "largest": {"mean": 2.5, "sd": 0.1, "lower": 2.4, "upper": 2.6},
        "noticeable": dict.fromkeys(("mean", "sd", "lower", "upper"), 0.1),
        "problems": ["R-hat is 1.3"],
    }  # fmt: skip
    notices = [*models_section.confirmation(check)]
    assert [notice.kind for notice in notices] == ["warning", "warning"]
    assert notices[0].title == "The exact draws fail checks of: density, coefficients, draws"
    assert "mean: 2.50 (0.10)" in notices[0].text
    assert notices[1].title == "Problems of the second sampler"
    assert "hat is 1.3" in notices[1].text


@pytest.mark.slow
def test_stronger_bias_is_told_in_order() -> None:
    means = [contrasts(3, strength)["mean"].iloc[0] for strength in (0.0, 0.5, 1.0)]
    assert all(second < first for first, second in pairwise(means))
