"""The thesis's overview tables and what debiasing did, on the original authors' religion tables."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import ttest_1samp

import bayesbias as bb

pytestmark = pytest.mark.oracle

# Dobrzeniecka (2021), tables 6.1 to 6.3, column Religion.
ROWS = ("A close to N", "A close to H", "H closer than A", "D similar with A", "D closer than A")
PUBLISHED = {
    "religionGoogle": (66.67, 66.67, 20.0, 93.33, 33.33),
    "religionReddit": (66.67, 60.0, 33.33, 100.0, 33.33),
    "debiasedReligionReddit": (73.33, 46.67, 66.67, 100.0, 66.67),
}
GENERAL = {
    "religionGoogle": ("no", "slightly not"),
    "religionReddit": ("no", "slightly not"),
    "debiasedReligionReddit": ("no", "yes"),
}


def separate(thesis: Path, name: str) -> bb.models.Fit:
    return bb.fit(bb.read_table(thesis / f"{name}.csv"), "separate", seed=1)


@pytest.mark.parametrize("name", PUBLISHED)
def test_overview(thesis: Path, name: str) -> None:
    """The tables were made by hand from figures: a word or two of the fifteen may differ."""
    table = bb.overview(separate(thesis, name), kind="eti").table
    differences = [
        abs(table.loc[row, "answer"] - published)
        for row, published in zip(ROWS, PUBLISHED[name], strict=True)
    ]
    assert max(differences) < 2 * 100 / 15 + 0.1
    assert sum(d > 1 for d in differences) <= (0 if name == "religionGoogle" else 2)
    general = ("General ETI outside of 0", "General D similar to A")
    assert tuple(table.loc[list(general), "answer"]) == GENERAL[name]


def test_how_many_percentages_agree(thesis: Path) -> None:
    """Twelve of fifteen; of the four words in question, three are close calls."""
    fits = {name: separate(thesis, name) for name in PUBLISHED}
    ours = bb.overviews(fits, kind="eti").table.loc[list(ROWS)].astype(float)
    published = pd.DataFrame(PUBLISHED, index=ROWS)
    differs = (ours - published).abs() > 0.01
    assert [(name, row) for name in PUBLISHED for row in ROWS if differs.loc[row, name]] == [
        ("religionReddit", "A close to N"),
        ("religionReddit", "A close to H"),
        ("debiasedReligionReddit", "A close to H"),
    ]
    # By how much the intervals of the two distances overlap.
    for name, word, other, expected in (
        ("religionReddit", "church", "none", -0.001),
        ("religionReddit", "torah", "none", -0.044),
        ("religionReddit", "torah", "human", 0.012),
        ("debiasedReligionReddit", "islam", "human", 0.006),
    ):
        means = fits[name].means(kind="eti").set_index(["protected_word", "connection"])
        both = means.loc[[(word, "associated"), (word, other)]]
        overlap = both["upper"].min() - both["lower"].max()
        assert overlap == pytest.approx(expected, abs=0.004)


def test_what_moved(thesis: Path) -> None:
    after = separate(thesis, "debiasedReligionReddit")
    table = bb.overview(after, before=separate(thesis, "religionReddit"), kind="eti").table
    assert table.loc["General H moved closer to A", "answer"] == "yes"
    assert table.loc["General H moved closer to A", "probability"] > 0.9
    # Published as "no": the distance fell by 0.01, and co by 0.017.
    assert table.loc["General N moved closer", "answer"] == "yes"
    assert table.loc["General N moved closer", "probability"] > 0.5


def test_three_tables_in_one_call(thesis: Path) -> None:
    fits = {name: separate(thesis, name) for name in PUBLISHED}
    before = {"debiasedReligionReddit": fits["religionReddit"]}
    found = bb.overviews(fits, before=before, kind="eti")
    assert list(found.table.columns) == list(PUBLISHED)
    google = found.table["religionGoogle"]
    assert google.loc[list(ROWS)].tolist() == pytest.approx(PUBLISHED["religionGoogle"], abs=0.005)
    for name, answers in GENERAL.items():
        rows = ["General ETI outside of 0", "General D similar to A"]
        assert tuple(found.table.loc[rows, name]) == answers
    moved = found.formatted().loc["General H moved closer to A", list(PUBLISHED)]
    assert moved.tolist()[:2] == ["", ""]
    assert moved.iloc[2].startswith("yes (0.9")


def test_all_coefficients_in_one_figure(thesis: Path) -> None:
    """The thesis prints those of religion and Reddit: −0.150, −0.099, −0.073 and −0.031."""
    fits = {
        name: bb.fit(bb.read_table(thesis / f"{name}.csv"), "connection", seed=1)
        for name in PUBLISHED
    }
    ax = bb.plot_coefficients(fits)
    numbers = [text.get_text() for text in ax.texts if text.get_text().startswith("−")]
    assert len(numbers) == 12
    drawn = [float(number.replace("−", "-")) for number in numbers[4:8]]
    assert drawn == pytest.approx([-0.150, -0.099, -0.073, -0.031], abs=0.012)


def test_mac_of_the_tables(thesis: Path) -> None:
    """Mean of means of the associated and different distances; Manzini has 0.859 and 0.934."""
    for name, expected in (("religionReddit", 0.861), ("debiasedReligionReddit", 0.948)):
        score = bb.metrics.MAC().from_table(bb.read_table(thesis / f"{name}.csv"))
        assert score.value == pytest.approx(expected, abs=0.0005)


def test_preaveraged_t_test_of_the_tables(thesis: Path) -> None:
    """Manzini has p = 3.0e-7 for hard debiasing; from the authors' tables it is 4.8e-6."""
    before, after = (
        bb.read_table(thesis / f"{name}.csv")
        for name in ("religionReddit", "debiasedReligionReddit")
    )
    found = bb.metrics.preaveraged_t_test(before, after).set_index("test")
    assert found.loc["change", "n"] == 45
    assert found.loc["change", "p_value"] == pytest.approx(4.81e-6, rel=0.005)
    # The attributes as the sample: eleven, as the model has it too.
    pair = ["protected_word", "word_to_compare"]
    both = before[before["connection"].isin(["associated", "different"])].merge(after, on=pair)
    change = both["cosine_distance_y"] - both["cosine_distance_x"]
    by_attribute = change.groupby(both["word_to_compare"].astype("str")).mean()
    assert len(by_attribute) == 11
    assert ttest_1samp(by_attribute, 0).pvalue == pytest.approx(0.085, abs=0.001)


@pytest.mark.slow
def test_debiasing(thesis: Path) -> None:
    """The intervals of changes are about two thirds as wide as those of two fits."""
    before, after = (
        bb.read_table(thesis / f"{name}.csv")
        for name in ("religionReddit", "debiasedReligionReddit")
    )
    paired = bb.fit_paired(before, after, seed=1)
    narrowing = paired.narrowing()
    assert narrowing["means of words"] == pytest.approx(0.59, abs=0.03)
    assert narrowing["associated - none, words"] == pytest.approx(0.66, abs=0.03)
    assert narrowing["associated - none, data set"] == pytest.approx(0.65, abs=0.03)
    effects = paired.effects(by=None).set_index("connection")
    assert effects.loc["associated", "mean"] == pytest.approx(0.114, abs=0.008)
    assert effects.loc["associated", "prob_towards_1"] > 0.97
    gap = paired.gap_closed().iloc[0]
    assert gap["change"] == pytest.approx(0.123, abs=0.008)
    assert 0.4 < gap["closed_lower"] < 0.8
    assert gap["closed"] == pytest.approx(1.03, abs=0.1)
