from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from drawn import assert_apart, names, simulated_table
from scipy.stats import gaussian_kde

import bayesbias as bb
from bayesbias.errors import DataError, SpecError
from bayesbias.plots.style import CONNECTION_STYLES


def test_the_shares_are_those_of_the_table() -> None:
    table = simulated_table(3, groups=2, words=3, controls=40)
    ax = bb.plot_densities(table)
    shares = bb.metrics.shares_beyond_mac(table)
    written = [text.get_text() for text in ax.texts]
    expected = [f"{v:.0%}" for v in shares[["closer", "within", "farther"]].to_numpy().ravel()]
    assert written == expected
    assert [name.split("\n")[0] for name in names(ax)] == [
        CONNECTION_STYLES[name].label for name in shares["connection"]
    ]
    assert_apart(ax)


def test_the_band_is_that_of_the_whole_table_for_a_group() -> None:
    table = simulated_table(3, groups=2, words=3, controls=40)
    low, high = bb.metrics.shares_beyond_mac(table).attrs["band"]
    group = str(table["protected_group"].iloc[0])
    for ax in (bb.plot_densities(table), bb.plot_densities(table, group=group)):
        ends = np.asarray(ax.patches[0].get_corners())[:, 0]
        assert ends.min() == pytest.approx(low)
        assert ends.max() == pytest.approx(high)
    own = table[table["protected_group"] == group]
    shares = bb.metrics.shares_beyond_mac(own, mac=low)
    assert ax.texts[0].get_text() == f"{shares['closer'].iloc[0]:.0%}"


def test_densities_are_those_of_scipy_up_to_their_height() -> None:
    table = simulated_table(3, groups=2, words=3, controls=40)
    ax = bb.plot_densities(table, connections=["none"])
    outline = pd.DataFrame(ax.collections[0].get_paths()[0].vertices, columns=["x", "y"])
    curve = outline.groupby("x")["y"].max()
    values = table.loc[table["connection"] == "none", "cosine_distance"]
    density = gaussian_kde(values, "silverman")(curve.index)
    np.testing.assert_allclose(curve, 0.78 * density / density.max(), atol=1e-6)


def test_equal_distances_and_single_ones_are_drawn() -> None:
    table = simulated_table(3, groups=2, words=3, controls=4).assign(cosine_distance=0.9)
    table["cosine_similarity"] = 0.1
    ax = bb.plot_densities(table)
    assert "100%" in [text.get_text() for text in ax.texts]


def test_bad_input() -> None:
    table = simulated_table(3, groups=2, words=3, controls=4)
    with pytest.raises(SpecError, match="connections"):
        bb.plot_densities(table, connections=["neutrall"])
    with pytest.raises(DataError, match="no group 'x'"):
        bb.plot_densities(table, group="x")
    with pytest.raises(SpecError, match="'mac'"):
        bb.plot_densities(table, mac=3)
    with pytest.raises(DataError, match="nothing to draw"):
        bb.plot_densities(table, connections=[])
