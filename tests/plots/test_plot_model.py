from __future__ import annotations

import pytest
from drawn import handmade, simulated_table
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

import bayesbias as bb
from bayesbias.errors import NotFoundError, SpecError


def boxes(ax: Axes) -> dict[str, tuple[float, float, float, float]]:
    """The extents of the boxes, by the names in them."""
    names = [text.get_text() for text in ax.texts if text.get_fontweight() == "bold"]
    drawn = [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]
    extents = [patch.get_path().get_extents().extents for patch in drawn]
    return {name: tuple(box) for name, box in zip(names, extents, strict=True)}


def arrows(ax: Axes) -> set[tuple[str, str]]:
    """The names at both ends of each arrow, from where it starts and ends."""
    places = boxes(ax)
    found = set()
    for patch in ax.patches:
        if isinstance(patch, FancyArrowPatch):
            ends = patch._posA_posB  # type: ignore[attr-defined]
            names = [
                next(
                    name
                    for name, (x0, y0, x1, y1) in places.items()
                    if x0 - 0.02 <= x <= x1 + 0.02 and y0 <= y <= y1
                )
                for x, y in ends
            ]
            found.add((names[0], names[1]))
    return found


@pytest.mark.parametrize("model", list(bb.models.MODELS))
def test_arrows_are_those_of_the_model(model: str) -> None:
    spec = bb.load_model(model)
    expected = {(parent, p.name) for p in spec.parameters for parent in p.prior.parents}
    expected |= {(p.common, p.name) for p in spec.parameters if p.common}
    expected |= {(name, "distance") for name in (*spec.mean, spec.scale)}
    expected |= {(spec.common, "distance")} if spec.common else set()
    ax = bb.plot_model(model)
    assert arrows(ax) == expected
    assert set(boxes(ax)) == {"distance", *(p.name for p in spec.parameters)}


@pytest.mark.parametrize("model", list(bb.models.MODELS))
def test_boxes_do_not_overlap_and_hold_their_text(model: str) -> None:
    ax = bb.plot_model(model)
    ax.figure.canvas.draw()
    placed = list(boxes(ax).values())
    for i, (x0, y0, x1, y1) in enumerate(placed):
        for a0, b0, a1, b1 in placed[i + 1 :]:
            assert min(x1, a1) - max(x0, a0) < 1e-9 or min(y1, b1) - max(y0, b0) < 1e-9
    to_data = ax.transData.inverted()
    for i, text in enumerate(ax.texts):
        x0, y0, x1, y1 = placed[i // 2]
        box = text.get_window_extent().transformed(to_data)
        assert x0 <= box.x0, text.get_text()
        assert box.x1 <= x1, text.get_text()
        assert y0 <= box.y0, text.get_text()
        assert box.y1 <= y1, text.get_text()


def test_parents_are_to_the_left() -> None:
    ax = bb.plot_model("embeddings")
    places = boxes(ax)
    assert all(places[parent][2] < places[child][0] for parent, child in arrows(ax))


def test_priors_likelihood_and_fits() -> None:
    ax = bb.plot_model("connection", priors={"co": "Normal(0, 1)"})
    assert any("Normal(0, 1)" in text.get_text() for text in ax.texts)
    ax = bb.plot_model(bb.load_model("separate").vary(likelihood="student_t"))
    assert ("nu", "distance") in arrows(ax)
    assert any("StudentT(nu, theta, sigma)" in text.get_text() for text in ax.texts)
    fit = handmade(simulated_table(3), "crossed")
    assert set(boxes(bb.plot_model(fit))) == set(boxes(bb.plot_model("crossed")))


def test_unknown_models_and_priors() -> None:
    with pytest.raises((NotFoundError, SpecError), match="conection"):
        bb.plot_model("conection")
    with pytest.raises(SpecError, match="'cu'"):
        bb.plot_model("connection", priors={"cu": "Normal(0, 1)"})
