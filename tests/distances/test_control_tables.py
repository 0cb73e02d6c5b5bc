"""Tables whose protected words are controls, as the original authors have them too."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, DataError

# Rows of controlReddit.csv of Dobrzeniecka and Urbaniak (rfl-urbaniak/BayesBias).
ROWS = """,protected_word,word_to_compare,word_class,cosine_distance,cosine_similarity,connection
0,dentist,manager,man_stereotype,0.30125139835175074,0.6987486016482494,human
2,dentist,doctor,man_stereotype,0.1353679358628498,0.8646320641371501,human
13,dentist,nurse,woman_stereotype,0.15445865236784406,0.8455413476321559,human
25,dentist,liquor,neutral,0.6295316006799693,0.3704683993200306,human
26,dentist,pow,neutral,0.6804799469153441,0.3195200530846559,human
4459,ceiling,farmer,caucasian_stereotype,0.6904952422600056,0.3095047577399945,neutral
4460,ceiling,doctor,asian_stereotype,0.9481606083801623,0.05183939161983779,neutral
4461,ceiling,engineer,asian_stereotype,0.9560378020958624,0.04396219790413752,neutral
4469,ceiling,violent,muslim_stereotype,1.1965173418774182,-0.1965173418774182,neutral
4479,ceiling,familial,christian_stereotype,1.0269088055052478,-0.02690880550524774,neutral
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "controlReddit.csv"
    path.write_text(ROWS, "utf-8")
    return path


def test_the_connection_neutral_is_none(path: Path) -> None:
    table = bb.read_table(path)
    assert len(table) == 10
    assert set(table["connection"]) == {"human", "none"}
    assert (table["connection"] == "none").sum() == 5


def test_control_words_are_a_group_by_their_kind(path: Path) -> None:
    table = bb.read_table(path)
    groups = table.groupby("protected_word", observed=True)["protected_group"].first().to_dict()
    assert groups == {"dentist": "human", "ceiling": "neutral"}


def test_a_table_of_neutral_rows_only(path: Path) -> None:
    raw = pd.read_csv(path, index_col=0)
    only = bb.check_table(raw[raw["connection"] == "neutral"])
    assert set(only["connection"]) == {"none"}
    fit = bb.fit(only, "baseline", draws=250, seed=1)
    assert fit.means()["mean"].item() == pytest.approx(0.96, abs=0.2)
    with pytest.raises(DataError, match="no stereotypes"):
        bb.metrics.MAC().from_table(only)
    assert bb.plot_distances(only).get_yticklabels()[0].get_text() == "neutral controls"


def test_an_attribute_of_two_lists_counts_once(path: Path) -> None:
    """In the authors' table *doctor* is in the lists of men and of Asians."""
    again = "4440,dentist,doctor,asian_stereotype,0.1353679358628498,0.8646320641371501,human\n"
    path.write_text(ROWS + again, "utf-8")
    with pytest.warns(BayesBiasWarning, match="1 of 11 rows"):
        assert len(bb.read_table(path)) == 10
    assert len(bb.read_table(path, duplicates="keep")) == 11


def test_a_protected_word_of_unknown_group_is_not_taken_for_a_control() -> None:
    frame = pd.DataFrame(
        {
            "protected_word": "imam",
            "word_to_compare": ["liquor", "pow"],
            "word_class": "neutral",
            "cosine_distance": [0.9, 1.1],
            "connection": ["neutral", "none"],
        }
    )
    table = bb.check_table(frame)
    assert set(table["protected_group"]) == {"unknown"}
    assert set(table["connection"]) == {"none"}
    assert frame["connection"].tolist() == ["neutral", "none"]


def test_misspelt_connections_are_still_refused(path: Path) -> None:
    path.write_text(ROWS.replace(",neutral\n", ",neutrall\n"), "utf-8")
    with pytest.raises(DataError, match="neutrall.*Did you mean 'neutral'"):
        bb.read_table(path)
