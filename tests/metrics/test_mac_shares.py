from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.errors import DataError, SpecError


def table_of(distances: dict[str, list[float]]) -> pd.DataFrame:
    rows = [
        {
            "protected_word": "imam",
            "word_to_compare": f"{connection}{i}",
            "word_class": "muslim_stereotype" if connection == "associated" else "neutral",
            "cosine_distance": distance,
            "connection": connection,
        }
        for connection, values in distances.items()
        for i, distance in enumerate(values)
    ]
    return pd.DataFrame(rows)


def test_by_hand() -> None:
    # MAC is the mean of the stereotypes, 0.75: the band is 0.75 to 1.25, with its ends.
    table = table_of({"associated": [0.5, 1.0], "none": [0.75, 1.0, 1.25, 1.5]})
    found = bb.metrics.shares_beyond_mac(table).set_index("connection")
    assert found.attrs["band"] == (0.75, 1.25)
    assert found.loc["associated"].tolist() == [2, 0.5, 0.5, 0.0, 0.5]
    assert found.loc["none"].tolist() == [4, 0.0, 0.75, 0.25, 0.25]


def test_a_given_mac_above_one_has_the_same_band_as_below() -> None:
    table = table_of({"associated": [0.5, 1.0], "none": [0.7, 1.0, 1.3, 1.5]})
    below, above = (bb.metrics.shares_beyond_mac(table, mac=mac) for mac in (0.8, 1.2))
    pd.testing.assert_frame_equal(below, above)
    by_word = bb.metrics.shares_beyond_mac(table, mac=0.8, by="protected_word")
    assert by_word["rows"].tolist() == [6]
    assert by_word["beyond"].item() == pytest.approx(4 / 6)


@pytest.mark.parametrize("mac", [-0.1, 2.5, True, "0.8", float("nan")])
def test_what_is_not_a_mean_distance_is_refused(mac: object) -> None:
    with pytest.raises(SpecError, match="'mac'"):
        bb.metrics.shares_beyond_mac(table_of({"none": [0.7, 1.0]}), mac=mac)  # type: ignore[arg-type]


def test_a_table_of_controls_needs_a_mac() -> None:
    table = table_of({"none": [0.7, 1.0]})
    with pytest.raises(DataError, match="no stereotypes"):
        bb.metrics.shares_beyond_mac(table)
    assert bb.metrics.shares_beyond_mac(table, mac=0.8)["beyond"].item() == 0.5
    with pytest.raises(SpecError, match="'by'"):
        bb.metrics.shares_beyond_mac(table, mac=0.8, by="word")


@pytest.mark.oracle
def test_the_authors_shares(thesis: Path) -> None:
    """Within ±0.14, the authors print 36%, 43%, 55% and 56% on their violins (Reddit, religion).

    The second is 43.6%, which they cut off instead of rounding it.
    """
    table = bb.read_table(thesis / "religionReddit.csv")
    found = bb.metrics.shares_beyond_mac(table, mac=0.86).set_index("connection")["within"]
    for connection, printed in {"associated": 36, "human": 55, "none": 56}.items():
        assert round(100 * found[connection]) == printed
    assert int(100 * found["different"]) == 43
    # With the MAC of this very table, 0.861, nothing changes but the last digit.
    own = bb.metrics.shares_beyond_mac(table).set_index("connection")["within"]
    assert (own - found).abs().max() < 0.006
