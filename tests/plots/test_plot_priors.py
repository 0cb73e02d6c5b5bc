from __future__ import annotations

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from scipy import integrate, stats

import bayesbias as bb
from bayesbias.errors import SpecError
from bayesbias.plots.priors_plot import plot_priors


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    yield
    plt.close("all")


def curve(ax: Axes) -> tuple[np.ndarray, np.ndarray]:
    (line,) = ax.lines
    x, y = line.get_data()
    return np.asarray(x), np.asarray(y)


def test_the_priors_of_the_thesis() -> None:
    axes = plot_priors()
    assert axes.shape == (3,)
    assert [ax.get_title() for ax in axes] == ["m", "co", "sigma"]
    captions = [ax.get_title(loc="right") for ax in axes]
    assert captions == ["Normal(1, 0.5)", "Normal(0, 0.5)", "HalfCauchy(1)"]
    assert [ax.get_xlabel() for ax in axes] == [
        "cosine distance",
        "added to the distance",
        "standard deviation of distances",
    ]
    expected = [stats.norm(1, 0.5), stats.norm(0, 0.5), stats.halfcauchy()]
    for ax, distribution in zip(axes, expected, strict=True):
        x, y = curve(ax)
        np.testing.assert_allclose(y, distribution.pdf(x), rtol=1e-9)
        assert list(ax.get_yticks()) == []
        assert ax.get_ylim()[1] > y.max()
    # The central 99% of a normal prior; of a heavy tail less, and it says so.
    for ax, distribution in zip(axes[:2], expected, strict=False):
        np.testing.assert_allclose(ax.get_xlim(), distribution.interval(0.99))
        assert list(ax.texts) == []
    assert axes[2].get_xlim() == pytest.approx((0, stats.halfcauchy.ppf(0.9)), rel=0.05)
    assert [text.get_text() for text in axes[2].texts] == ["10% not shown"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HalfNormal(0.4)", stats.halfnorm(scale=0.4)),
        ("HalfStudentT(3, 0.5)", stats.t(3, scale=0.5)),
        ("Exponential(5)", stats.expon(scale=1 / 5)),
        ("Gamma(2, 0.1)", stats.gamma(2, scale=1 / 0.1)),
        ("Gamma(0.5, 1)", stats.gamma(0.5)),
        ("InverseGamma(3, 0.5)", stats.invgamma(3, scale=0.5)),
        ("LogNormal(-1, 0.7)", stats.lognorm(0.7, scale=np.exp(-1))),
    ],
)
def test_families(text: str, expected: object) -> None:
    ax = plot_priors("baseline", priors={"sigma": text})[1]
    x, y = curve(ax)
    both_sides = 2 if text.startswith("HalfStudentT") else 1
    np.testing.assert_allclose(y, both_sides * expected.pdf(x), rtol=1e-9)  # type: ignore[attr-defined]
    assert ax.get_title(loc="right") == text
    assert ax.get_xlim()[0] == 0


def test_pooled_parameters_are_averaged_over_what_they_are_pooled_towards() -> None:
    axes = plot_priors("crossed")
    by_name = dict(zip((ax.get_title() for ax in axes), axes, strict=True))
    assert list(by_name) == ["bar", "tau", "theta", "tau_word", "u", "s"]
    label = by_name["tau_word"].get_xlabel().replace("\n", " ")
    assert label == "standard deviation of effects per attribute"
    assert by_name["theta"].get_title(loc="right") == "Normal(bar, tau)"

    def theta(x: float) -> float:
        # bar integrates out of Normal(bar, tau), bar ~ Normal(1, 0.3): what is left is tau.
        return integrate.quad(
            lambda tau: stats.norm.pdf(x, 1, np.hypot(0.3, tau)) * 2 * np.exp(-2 * tau), 0, 20
        )[0]

    x, y = curve(by_name["theta"])
    np.testing.assert_allclose(y[::50], [theta(point) for point in x[::50]], rtol=0.02, atol=0.002)
    assert 0.985 < integrate.trapezoid(y, x) < 0.995
    # u ~ Normal(0, tau_word), tau_word ~ Exponential(5), has no upper bound at 0.
    x, y = curve(by_name["u"])
    assert np.isfinite(y).all()
    assert y.max() > by_name["u"].get_ylim()[1] > y[len(y) // 4]
    assert 0.98 < integrate.trapezoid(y, x) < 1


def test_a_fixed_standard_deviation_needs_no_simulation() -> None:
    model = bb.load_model("hierarchical").to_dict()
    model["parameters"] = {
        "bar": {"by": ["connection"], "prior": "Normal(1, 0.3)"},
        "shift": {"by": ["connection"], "prior": "Normal(bar, 0.2)"},
        "theta": {"by": ["protected_word", "connection"], "prior": "Normal(2 + bar + shift, 0.4)"},
        "s": {"prior": "Exponential(2)"},
    }
    x, y = curve(plot_priors(bb.models.ModelSpec.from_dict(model))[2])
    # theta = 2 + 2 bar + 0.2 z + 0.4 z'
    expected = stats.norm(4, np.sqrt(4 * 0.09 + 0.04 + 0.16))
    np.testing.assert_allclose(y, expected.pdf(x), rtol=1e-9)


def test_another_likelihood() -> None:
    spec = bb.load_model("interaction").vary(likelihood="student_t")
    axes = plot_priors(spec)
    assert axes[-1].get_title() == "nu"
    assert axes[-1].get_xlabel() == "degrees of freedom"
    assert axes[0].get_xlabel() == "cosine distance"
    assert axes[-2].get_xlabel() == "standard deviation of distances"


def test_given_axes() -> None:
    figure, grid = plt.subplots(2, 2)
    axes = plot_priors("hierarchical", axes=grid)
    assert list(axes) == list(grid.ravel())
    assert plt.get_fignums() == [figure.number]
    with pytest.raises(SpecError, match=r"'axes' holds 4; .* has 3 parameters \(m, co, sigma\)"):
        plot_priors("connection", axes=list(grid.ravel()))
    with pytest.raises(SpecError, match="Did you mean 'sigma'?"):
        plot_priors(priors={"sgma": "Exponential(1)"})
    assert plt.get_fignums() == [figure.number]


def test_the_same_figure_each_time() -> None:
    settings = dict(plt.rcParams)
    first, second = (curve(plot_priors("hierarchical")[2])[1] for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert dict(plt.rcParams) == settings


@pytest.mark.parametrize("model", ["connection", "hierarchical", "embeddings"])
def test_texts_do_not_overlap(model: str) -> None:
    axes = plot_priors(model)
    assert len(axes) == len(bb.load_model(model).parameters)
    figure = axes[0].figure
    assert len(figure.axes) == len(axes)
    figure.canvas.draw()
    texts = [t for ax in axes for t in (ax.title, ax._right_title, ax.xaxis.label, *ax.texts)]
    for ax in axes:
        low, high = ax.get_xlim()
        ticks = zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
        texts += [label for place, label in ticks if low <= place <= high]
    boxes = [t.get_window_extent() for t in texts if t.get_text()]
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[i + 1 :])
