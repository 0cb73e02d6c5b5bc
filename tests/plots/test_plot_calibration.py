"""The figure of a calibration: a line for each quantity, strong where it departs."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import assert_apart, ranked
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

import bayesbias as bb
from bayesbias.errors import SpecError
from bayesbias.numerics.uniformity import distribution, points


def curves(ax: Axes) -> list[Line2D]:
    """The lines of quantities: neither the axes' own nor those for orientation."""
    return [line for line in ax.lines if len(np.asarray(line.get_xdata())) > 2]


@pytest.mark.slow
def test_panels_and_lines() -> None:
    axes = bb.plot_calibration(ranked())
    titles = [ax.get_title(loc="left") for ax in axes]
    assert titles == ["whole table", "groups", "protected words", "parameters", "coverage"]
    assert [len(curves(ax)) for ax in axes] == [2, 2, 4, 2, 6]
    labels = [text.get_text() for text in axes[0].figure.legends[0].get_texts()]
    assert labels == ["associated − neutral", "associated − human", "parameters",
                      "95% if all is right"]  # fmt: skip
    for ax in axes:
        assert_apart(ax)


def test_lines_are_the_ranks() -> None:
    calibration = ranked()
    axes = bb.plot_calibration(calibration)
    pit = calibration.ranks.loc[calibration.ranks["name"] == "two", "pit"].to_numpy()
    line = curves(axes[1])[1]
    assert np.asarray(line.get_ydata())[1:-1] == pytest.approx(distribution(pit) - points())
    shares = np.asarray(curves(axes[-1])[2].get_ydata())
    stated = np.asarray(curves(axes[-1])[2].get_xdata())
    own = calibration.ranks[calibration.ranks["level"] == "protected_group"]["pit"]
    half = int(np.flatnonzero(np.isclose(stated, 0.5))[0])
    assert shares[half] == pytest.approx(((2 * own - 1).abs() <= 0.5).mean())


def test_what_departs_is_strong() -> None:
    right = bb.plot_calibration(ranked())
    wrong = bb.plot_calibration(ranked(spread=0.4))
    assert {line.get_linewidth() for ax in right[:-1] for line in curves(ax)} == {0.9}
    assert {line.get_linewidth() for ax in wrong[:-1] for line in curves(ax)} == {1.5}
    # Intervals too narrow: below the diagonal.
    for line in curves(wrong[-1]):
        assert np.interp(0.5, line.get_xdata(), line.get_ydata()) < 0.4


def test_without_parameters() -> None:
    axes = bb.plot_calibration(ranked(parameters=False))
    assert len(axes) == 4
    for ax in axes:
        assert_apart(ax)


def test_something_else_is_refused() -> None:
    with pytest.raises(SpecError, match="'calibration' is a str; expected what calibrate()"):
        bb.plot_calibration("crossed")  # type: ignore[arg-type]
