"""The NUTS engine: four samplers, the same draws in the same form."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayesbias._core.arviz_versions import convergence
from bayesbias.errors import BayesBiasWarning, MissingDependencyError, SpecError
from bayesbias.models.exact.engine import sample_exactly
from bayesbias.models.model_data import ModelData, model_data, prepare_table
from bayesbias.models.nuts import sampling
from bayesbias.models.nuts.sampling import NutsDraws, check_sampler, sample_nuts
from bayesbias.models.spec import ModelSpec, load_model

# Not in alphabetical order, so that a sampler that sorts them is found out.
WORDS = ("rabbi", "imam", "monk")
ALL = pytest.mark.parametrize("sampler", sampling.SAMPLERS)


def small_table() -> pd.DataFrame:
    """Three protected words, two stereotypes of each and three neutral words."""
    rng = np.random.default_rng(3)
    rows = []
    for i, word in enumerate(WORDS):
        for j in range(9):
            connection = "none" if j > 5 else "associated" if j // 2 == i else "different"
            mean = {"associated": 0.7, "different": 0.9, "none": 1.0}[connection]
            distance = mean + 0.05 * i + rng.normal(0, 0.1)
            rows.append((word, f"attribute{j}", "class", distance, connection))
    names = ["protected_word", "word_to_compare", "word_class", "cosine_distance", "connection"]
    return prepare_table(pd.DataFrame(rows, columns=names))


def model_and_data(name: str) -> tuple[ModelSpec, ModelData]:
    spec = load_model(name)
    return spec, model_data(spec, small_table())


def sample(sampler: str, model: str = "separate", **changed: Any) -> NutsDraws:
    options: dict[str, Any] = {
        "draws": 500,
        "tune": 300,
        "chains": 2,
        "cores": 2,
        "seed": 7,
        "target_accept": 0.9,
        "progress": False,
    }
    return sample_nuts(*model_and_data(model), sampler=sampler, **{**options, **changed})


@cache
def first_run(sampler: str) -> NutsDraws:
    """Sample once for all tests that only look at the draws."""
    for package in sampling._PACKAGES[sampler]:
        pytest.importorskip(package)
    return sample(sampler)


def interrupting(after: int) -> Callable[..., Any]:
    """Stand in for the progress bar, and press Ctrl-C after so many steps."""

    @contextmanager
    def progress_bar(*args: object, **options: object) -> Iterator[Callable[[float], None]]:
        done = 0.0

        def advance(amount: float) -> None:
            nonlocal done
            done += amount
            if done >= after:
                raise KeyboardInterrupt

        yield advance

    return progress_bar


def test_an_unknown_sampler_is_refused() -> None:
    with pytest.raises(SpecError, match="'sampler' is 'nutpy'.*Did you mean 'nutpie'"):
        check_sampler("nutpy")


@pytest.mark.parametrize(
    ("sampler", "package", "line"),
    [
        ("nutpie", "nutpie", "pip install nutpie"),
        ("numpyro", "numpyro", "pip install 'bayesbias\\[numpyro\\]'"),
        ("numpyro", "jax", "pip install 'bayesbias\\[numpyro\\]'"),
        ("blackjax", "blackjax", "pip install 'bayesbias\\[blackjax\\]'"),
        ("blackjax", "jax", "pip install 'bayesbias\\[blackjax\\]'"),
    ],
)
def test_a_missing_package_is_named(
    monkeypatch: pytest.MonkeyPatch, sampler: str, package: str, line: str
) -> None:
    monkeypatch.setattr(sampling, "find_spec", lambda name: None if name == package else object())
    with pytest.raises(
        MissingDependencyError, match=f"{package!r}, which is not installed: {line}"
    ):
        check_sampler(sampler)


@pytest.mark.parametrize(("installed", "good"), [("1.5", True), ("1.6.2", False), ("2", False)])
def test_blackjax_must_not_be_too_new(
    monkeypatch: pytest.MonkeyPatch, installed: str, good: bool
) -> None:
    monkeypatch.setattr(sampling, "find_spec", lambda name: object())
    monkeypatch.setattr(sampling, "version", lambda name: installed)
    if good:
        check_sampler("blackjax")
    else:
        with pytest.raises(MissingDependencyError, match=f"before 1.6 .* {installed} is installed"):
            check_sampler("blackjax")


def test_pymc_needs_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "find_spec", lambda name: None)
    check_sampler("pymc")


@pytest.mark.parametrize(
    ("lengths", "kept", "draws"),
    [
        ([2000, 2000, 2000], [0, 1, 2], 2000),
        ([2000, 30, 2000, 0], [0, 2], 2000),
        ([470, 500, 3, 480], [0, 1, 3], 470),
        ([0, 10, 9], [1], 10),
    ],
)
def test_most_draws_are_kept(lengths: list[int], kept: list[int], draws: int) -> None:
    assert sampling._most(lengths, 2000) == (kept, draws)


def test_a_short_run_is_whole_and_hardly_begun_chains_are_not_kept() -> None:
    assert sampling._most([5, 5], 5) == ([0, 1], 5)
    with pytest.raises(KeyboardInterrupt):
        sampling._most([9, 0, 3], 2000)


def test_an_interrupt_stops_the_chains_that_pymc_would_begin_next() -> None:
    settings = sampling._Settings(
        draws=2, tune=1, chains=3, cores=1, seed=0, target_accept=0.9, progress=False, small=True
    )
    with ExitStack() as stack:
        count = sampling._counter(stack, settings)
        for chain in (0, 0, 0, 1):
            count(None, SimpleNamespace(chain=chain))
        with pytest.raises(KeyboardInterrupt):
            count(None, SimpleNamespace(chain=2))


@pytest.mark.slow
@ALL
def test_draws_are_laid_out_by_the_words(sampler: str) -> None:
    found = first_run(sampler)
    spec, data = model_and_data("separate")
    assert data.levels["protected_word"] == WORDS
    assert set(found.posterior.data_vars) == {"theta", "sigma"}
    assert found.posterior["sigma"].dims == ("chain", "draw")
    assert found.posterior["theta"].dims == ("chain", "draw", *spec["theta"].by)
    assert found.posterior["theta"].shape == (2, 500, 3, 3)
    for name, levels in data.levels.items():
        assert tuple(found.posterior[name].to_numpy()) == levels
    assert not found.interrupted


@pytest.mark.slow
@ALL
def test_statistics_have_the_names_of_pymc(sampler: str) -> None:
    stats = first_run(sampler).sample_stats
    assert {"diverging", "tree_depth", "n_steps", "energy", "acceptance_rate"} <= set(stats)
    assert ("reached_max_treedepth" in stats) == (sampler in ("nutpie", "pymc"))
    for array in stats.data_vars.values():
        assert array.dims == ("chain", "draw")
        assert array.shape == (2, 500)
        assert array.dtype.kind in "biuf"
    assert stats["diverging"].dtype == bool
    assert 0.7 < stats["acceptance_rate"].mean() <= 1


@pytest.mark.slow
@ALL
def test_the_posterior_is_that_of_the_exact_engine(sampler: str) -> None:
    posterior = first_run(sampler).posterior
    exact, _ = sample_exactly(*model_and_data("separate"), 20_000, np.random.default_rng(1))
    error = convergence(posterior)["mcse_mean"]
    for name, draws in exact.items():
        found = posterior[name]
        both = np.hypot(error[name].to_numpy(), draws.std(0) / np.sqrt(len(draws)))
        off = found.mean(("chain", "draw")).to_numpy() - draws.mean(0)
        assert np.all(np.abs(off) < 5 * both)
        ratio = found.std(("chain", "draw")).to_numpy() / draws.std(0)
        assert np.all(np.abs(np.log(ratio)) < 0.25)


def equal_draws(first: NutsDraws, again: NutsDraws) -> bool:
    """Tell whether two runs are the same path.

    Once in some hundred runs they are not: compiled code adds numbers up in an order that depends
    on where they lie in memory, and a trajectory that turns back one step earlier for it leads to
    other draws from there on. Without the seed, no two runs would be equal.
    """
    return all(
        bool(np.allclose(there, here, rtol=1e-6))
        for group in ("posterior", "sample_stats")
        for there, here in zip(
            getattr(first, group).data_vars.values(),
            getattr(again, group).data_vars.values(),
            strict=True,
        )
    )


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["nutpie", "pymc"])
def test_the_same_seed_gives_the_same_draws_and_no_output(
    sampler: str, capfd: pytest.CaptureFixture[str]
) -> None:
    first = first_run(sampler)
    logger = logging.getLogger("pymc")
    level = logger.level
    capfd.readouterr()
    runs = [first]
    # Any two, as the first may be the one that differs: see `equal_draws`.
    for _ in range(3):
        runs.append(sample(sampler, progress=True))
        if any(equal_draws(runs[-1], earlier) for earlier in runs[:-1]):
            break
    else:
        pytest.fail("no two of four runs with the same seed are equal")
    assert not equal_draws(first, sample(sampler, seed=8, progress=True))
    # Neither on standard output nor, where there is no terminal, on standard error.
    assert capfd.readouterr() == ("", "")
    assert logger.level == level


@pytest.mark.slow
@pytest.mark.parametrize(("sampler", "model"), [("nutpie", "hierarchical"), ("pymc", "separate")])
def test_an_interrupt_keeps_the_draws(
    sampler: str, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "progress_bar", interrupting(after=600))
    with pytest.warns(BayesBiasWarning, match=r"interrupted: \d+ of 80000 draws were kept"):
        found = sample(sampler, model, draws=40_000, tune=100, progress=True)
    assert found.interrupted
    assert 10 <= found.posterior.sizes["draw"] < 40_000
    assert found.posterior.sizes["draw"] == found.sample_stats.sizes["draw"]
    # The coordinates that a pooled model is sampled in are not among its parameters.
    assert set(found.posterior.data_vars) == {p.name for p in load_model(model).parameters}
    for array in found.posterior.data_vars.values():
        assert np.isfinite(array).all()
        assert (array.isel(draw=0) != array.isel(draw=-1)).all()


@pytest.mark.slow
def test_an_interrupt_of_the_warm_up_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "progress_bar", interrupting(after=1))
    with pytest.raises(KeyboardInterrupt):
        sample("pymc", draws=100, tune=1_000_000, progress=True)
