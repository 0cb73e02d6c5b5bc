"""The NUTS engine: sample the PyMC model of a spec with one of four samplers."""

from __future__ import annotations

import inspect
import logging
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import xarray as xr

from bayesbias._core.progress import progress_bar
from bayesbias._core.validation import one_of
from bayesbias.errors import MissingDependencyError, warn
from bayesbias.models.model_data import ModelData, dataset
from bayesbias.models.spec import ModelSpec

SAMPLERS = ("nutpie", "pymc", "numpyro", "blackjax")

#: What a sampler needs besides PyMC.
_PACKAGES = {
    "nutpie": ("nutpie",),
    "pymc": (),
    "numpyro": ("jax", "numpyro"),
    "blackjax": ("jax", "blackjax"),
}
_PIP = {
    "nutpie": "pip install nutpie",
    "numpyro": "pip install 'bayesbias[numpyro]'",
    "blackjax": "pip install 'bayesbias[blackjax]'",
}
#: The first BlackJAX that PyMC's interface to it does not work with.
_BLACKJAX_TOO_NEW = (1, 6)

#: Statistics to keep, under PyMC's names; nutpie's names for them where they differ.
_STATS = (
    "diverging",
    "tree_depth",
    "n_steps",
    "energy",
    "acceptance_rate",
    "reached_max_treedepth",
)
_NUTPIE_NAMES = {
    "tree_depth": "depth",
    "acceptance_rate": "mean_tree_accept",
    "reached_max_treedepth": "maxdepth_reached",
}
_MAX_TREE_DEPTH = 10

#: Up to this many unknowns a dense mass matrix can be learned in the warm-up.
_SMALL = 150
#: Seconds between two looks at what nutpie has drawn.
_POLL = 0.5
#: An interrupted chain counts if it has this many draws after the warm-up.
_FEWEST = 10

_Values: TypeAlias = Mapping[str, npt.NDArray[Any]]
#: Draws and statistics by name, chains one after another, and the number of chains.
_Raw: TypeAlias = tuple[_Values, _Values, int]


@dataclass(frozen=True)
class NutsDraws:
    """What a sampler drew.

    Attributes
    ----------
    posterior : Dataset
        The parameters of the model, by chain, draw and the words.
    sample_stats : Dataset
        ``diverging`` and, where the sampler has them, ``tree_depth``, ``n_steps``, ``energy``,
        ``acceptance_rate`` and ``reached_max_treedepth``, by chain and draw.
    interrupted : bool
        Whether the user stopped the sampler, and this is what it had drawn.
    """

    posterior: xr.Dataset
    sample_stats: xr.Dataset
    interrupted: bool


@dataclass(frozen=True)
class _Settings:
    """How to sample, the same for every sampler."""

    draws: int
    tune: int
    chains: int
    cores: int
    seed: int
    target_accept: float
    progress: bool
    small: bool

    @property
    def steps(self) -> int:
        """The steps of one chain."""
        return self.tune + self.draws


def check_sampler(sampler: str) -> None:
    """Refuse a sampler that is not known, not installed or too new.

    Parameters
    ----------
    sampler : str
        One of `SAMPLERS`.

    Raises
    ------
    SpecError
        If there is no such sampler.
    MissingDependencyError
        If a package is missing or cannot be used; the message says what to install.
    """
    one_of("sampler", sampler, SAMPLERS)
    for package in _PACKAGES[sampler]:
        if find_spec(package) is None:
            raise MissingDependencyError(
                f"sampler={sampler!r} needs the package {package!r}, which is not installed: "
                f"{_PIP[sampler]}"
            )
    if sampler == "blackjax":
        installed = version("blackjax")
        if tuple(map(int, re.findall(r"\d+", installed)[:2])) >= _BLACKJAX_TOO_NEW:
            raise MissingDependencyError(
                f"sampler='blackjax' needs BlackJAX before {'.'.join(map(str, _BLACKJAX_TOO_NEW))} "
                f"because PyMC cannot use newer ones; {installed} is installed: {_PIP[sampler]}"
            )


def sample_nuts(
    spec: ModelSpec,
    data: ModelData,
    *,
    draws: int,
    tune: int,
    chains: int,
    cores: int | None,
    seed: int,
    sampler: str,
    target_accept: float,
    progress: bool,
) -> NutsDraws:
    """Sample the posterior of a model.

    Parameters
    ----------
    spec : ModelSpec
        The model.
    data : ModelData
        The rows.
    draws, tune : int
        Draws of each chain, and warm-up steps before them.
    chains : int
        Number of chains.
    cores : int or None
        Chains that run at the same time; None for all cores. NumPyro and BlackJAX run all
        chains as one computation and do not use it.
    seed : int
        The same seed gives the same draws.
    sampler : str
        One of `SAMPLERS`.
    target_accept : float
        Target of the acceptance rate.
    progress : bool
        Whether to show progress bars.

    Returns
    -------
    NutsDraws
        The draws.

    Raises
    ------
    KeyboardInterrupt
        If the user stopped the sampler before there were draws worth keeping.

    Warns
    -----
    BayesBiasWarning
        If the user stopped the sampler; the draws made until then are returned.
    """
    check_sampler(sampler)
    settings = _Settings(
        draws=draws,
        tune=tune,
        chains=chains,
        cores=min(chains, cores or os.cpu_count() or 1),
        # Samplers take seeds of different sizes; this one fits all.
        seed=int(np.random.SeedSequence(seed).generate_state(1)[0]),
        target_accept=target_accept,
        progress=progress,
        small=sum(prod(data.shape(p.by)) for p in spec.parameters) <= _SMALL,
    )
    run = {"nutpie": _nutpie, "pymc": _pymc, "numpyro": _numpyro, "blackjax": _blackjax}[sampler]
    # Imported here because it takes seconds, and before PyMC is silenced because it sets its level.
    from bayesbias.models.nuts.pymc_model import build_pymc_model

    with _quiet():
        values, stats, kept = run(build_pymc_model(spec, data), spec, data, settings)
    n = len(values[spec.scale])
    interrupted = n < draws * chains
    if interrupted:
        warn(
            f"interrupted: {n} of {draws * chains} draws were kept ({kept} of {chains} chains, "
            f"{n // kept} draws each)"
        )
    posterior = dataset(spec, data, values, kept)
    by_chain = {
        name: (("chain", "draw"), stats[name].reshape(kept, -1)) for name in _STATS if name in stats
    }
    coords = {name: posterior[name] for name in ("chain", "draw")}
    return NutsDraws(posterior, xr.Dataset(by_chain, coords=coords), interrupted)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep PyMC's log lines and the samplers' known warnings from the user."""
    logger = logging.getLogger("pymc")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            # PyTensor from pip has no BLAS to link with; these models multiply no matrices.
            warnings.filterwarnings("ignore", "PyTensor could not link to a BLAS", UserWarning)
            # PyMC's dense mass matrix is chosen on purpose.
            warnings.filterwarnings("ignore", "QuadPotentialFullAdapt is an exp", UserWarning)
            # PyMC forks its workers before it samples; they touch no thread of this process.
            warnings.filterwarnings("ignore", ".*use of fork\\(\\) may lead", DeprecationWarning)
            warnings.filterwarnings("ignore", "os.fork\\(\\) was called", RuntimeWarning)
            yield
    finally:
        logger.setLevel(level)


def _nutpie(model: Any, spec: ModelSpec, data: ModelData, settings: _Settings) -> _Raw:
    """Sample with nutpie, which runs in threads of its own while we look on."""
    import nutpie

    with progress_bar("compiling the model", total=None, show=settings.progress, unit="steps"):
        compiled = nutpie.compile_pymc_model(
            model,
            backend="numba",
            gradient_backend="pytensor",
            default_initialization_strategy="support_point",
            var_names=[p.name for p in spec.parameters],
            freeze_model=False,
        )
    running = nutpie.sample(
        compiled,
        draws=settings.draws,
        tune=settings.tune,
        chains=settings.chains,
        cores=settings.cores,
        seed=settings.seed,
        target_accept=settings.target_accept,
        maxdepth=_MAX_TREE_DEPTH,
        save_warmup=False,
        progress_bar=False,
        return_raw_trace=True,
        blocking=False,
        **_low_rank(nutpie.sample),
    )
    try:
        trace = _wait(running, settings)
    except KeyboardInterrupt:
        trace = running.abort()
    except BaseException:
        # A sampler that is left running when Python ends crashes it.
        running.cancel()
        raise
    return _from_arrow(spec, data, settings, *trace.get_arrow_trace())


def _low_rank(sample: Callable[..., Any]) -> dict[str, Any]:
    """Return the options of a low-rank mass matrix.

    It finds ridges, such as that of ``m`` and ``co`` in model 'connection', where a diagonal one
    leaves a fortieth of the effective draws. Gamma draws its eigenvalues towards one; with nutpie's
    own, 1e-5, it takes minutes to decompose as long as there are fewer draws than unknowns. Before
    0.16.9 the same gamma does much more: there 1e-2 hides the ridge.
    """
    if "adaptation" in inspect.signature(sample).parameters:
        return {"adaptation": "low_rank", "mass_matrix_gamma": 1e-2}
    return {"low_rank_modified_mass_matrix": True, "mass_matrix_gamma": 3e-5}


def _wait(running: Any, settings: _Settings) -> Any:
    """Return what nutpie drew when it is done; until then advance the bar."""
    total = settings.chains * settings.steps
    with progress_bar("sampling", total=total, show=settings.progress, unit="steps") as advance:
        counted = 0
        while True:
            try:
                return running.wait(timeout=_POLL)
            except TimeoutError:
                pass
            if settings.progress:
                done = sum(batch.num_rows for batch in running.inspect().get_arrow_trace()[0])
                advance(done - counted)
                counted = done


def _from_arrow(
    spec: ModelSpec, data: ModelData, settings: _Settings, draws: list[Any], stats: list[Any]
) -> _Raw:
    """Read nutpie's tables, one of draws and one of statistics for each chain."""
    import pyarrow as pa

    # The first steps of a chain are its warm-up.
    lengths = [max(0, batch.num_rows - settings.tune) for batch in draws]
    kept, length = _most(lengths, settings.draws)

    def column(batches: list[Any], name: str, shape: tuple[int, ...] = ()) -> npt.NDArray[Any]:
        parts = []
        for chain in kept:
            part = pa.record_batch(batches[chain]).column(name).slice(settings.tune, length)
            flat = part.flatten() if pa.types.is_nested(part.type) else part
            parts.append(flat.to_numpy(zero_copy_only=False).reshape(length, *shape))
        return np.concatenate(parts)

    values = {p.name: column(draws, p.name, data.shape(p.by)) for p in spec.parameters}
    names = {name: _NUTPIE_NAMES.get(name, name) for name in _STATS}
    return values, {name: column(stats, theirs) for name, theirs in names.items()}, len(kept)


def _most(lengths: list[int], draws: int) -> tuple[list[int], int]:
    """Return which chains to keep, and how many draws of each, so that most draws are kept.

    Chains of an interrupted run differ in length, and those that wait for a core have none. Cutting
    all to the shortest would throw finished chains away for the sake of one that just began.
    """
    order = sorted(range(len(lengths)), key=lambda chain: -lengths[chain])
    worth = [chain for chain in order if lengths[chain] >= min(_FEWEST, draws)]
    if not worth:
        raise KeyboardInterrupt
    best = max(range(len(worth)), key=lambda place: (place + 1) * lengths[worth[place]])
    return sorted(worth[: best + 1]), lengths[worth[best]]


def _pymc(model: Any, spec: ModelSpec, data: ModelData, settings: _Settings) -> _Raw:
    """Sample with PyMC's own sampler, one process for each chain."""
    import pymc as pm

    with ExitStack() as stack:
        try:
            result = pm.sample(
                draws=settings.draws,
                tune=settings.tune,
                chains=settings.chains,
                cores=settings.cores,
                random_seed=settings.seed,
                progressbar=False,
                step=None,
                var_names=[p.name for p in spec.parameters],
                nuts_sampler="pymc",
                initvals=None,
                init="jitter+adapt_full" if settings.small else "jitter+adapt_diag",
                jitter_max_retries=10,
                trace=None,
                discard_tuned_samples=True,
                compute_convergence_checks=False,
                keep_warning_stat=False,
                return_inferencedata=True,
                idata_kwargs=None,
                callback=_counter(stack, settings),
                mp_ctx=None,
                blas_cores="auto",
                model=model,
                compile_kwargs=None,
                nuts={"target_accept": settings.target_accept, "max_treedepth": _MAX_TREE_DEPTH},
            )
        except ValueError as err:
            # PyMC stops quietly at Ctrl-C, and then says this if that was during the warm-up.
            if "Not enough samples to build a trace" in str(err):
                raise KeyboardInterrupt from err
            raise
    # After Ctrl-C PyMC itself picks the chains and cuts them, as `_most` does.
    kept = result["posterior"].sizes
    if kept["draw"] < min(_FEWEST, settings.draws):
        raise KeyboardInterrupt
    return _from_groups(spec, result)


def _counter(stack: ExitStack, settings: _Settings) -> Callable[..., None]:
    """Return what PyMC is to call after each step: it advances a bar.

    The bar is opened at the first step, when the workers are there already: a bar has a thread, and
    a process with threads had better not be forked.
    """
    counts = [0] * settings.chains
    bar: list[Callable[[float], None]] = []
    one_by_one = min(settings.cores, settings.chains) == 1

    def count(trace: object, draw: Any) -> None:
        # Chains that run one by one are stopped one by one by PyMC; Ctrl-C is meant for all.
        if one_by_one and any(n < settings.steps for n in counts[: draw.chain]):
            raise KeyboardInterrupt
        if not bar:
            total = settings.chains * settings.steps
            opened = progress_bar("sampling", total=total, show=settings.progress, unit="steps")
            bar.append(stack.enter_context(opened))
        counts[draw.chain] += 1
        bar[0](1)

    return count


def _numpyro(model: Any, spec: ModelSpec, data: ModelData, settings: _Settings) -> _Raw:
    """Sample with NumPyro."""
    options = {
        "adapt_step_size": True,
        "adapt_mass_matrix": True,
        "dense_mass": settings.small,
        "max_tree_depth": _MAX_TREE_DEPTH,
    }
    return _jax("numpyro", model, spec, settings, options)


def _blackjax(model: Any, spec: ModelSpec, data: ModelData, settings: _Settings) -> _Raw:
    """Sample with BlackJAX."""
    return _jax("blackjax", model, spec, settings, {"is_mass_matrix_diagonal": not settings.small})


def _jax(
    sampler: str, model: Any, spec: ModelSpec, settings: _Settings, options: dict[str, Any]
) -> _Raw:
    """Sample with JAX: one computation, which cannot be looked into while it runs."""
    from pymc.sampling.jax import sample_jax_nuts

    with progress_bar("sampling", total=None, show=settings.progress, unit="steps"):
        result = sample_jax_nuts(
            draws=settings.draws,
            tune=settings.tune,
            chains=settings.chains,
            target_accept=settings.target_accept,
            random_seed=settings.seed,
            initvals=None,
            jitter=True,
            model=model,
            var_names=[p.name for p in spec.parameters],
            nuts_kwargs=options,
            progressbar=False,
            keep_untransformed=False,
            # The other method needs as many devices as there are chains; a computer has one.
            chain_method="vectorized",
            idata_kwargs=None,
            compute_convergence_checks=False,
            nuts_sampler=sampler,
        )
    return _from_groups(spec, result)


def _from_groups(spec: ModelSpec, result: Any) -> _Raw:
    """Read PyMC's result, which is an InferenceData (PyMC 5) or a DataTree (PyMC 6)."""
    posterior, stats = result["posterior"], result["sample_stats"]

    def draws(array: xr.DataArray, by: tuple[str, ...] = ()) -> npt.NDArray[Any]:
        values = array.transpose("chain", "draw", *by).to_numpy()
        return values.reshape(-1, *values.shape[2:])

    return (
        {p.name: draws(posterior[p.name], p.by) for p in spec.parameters},
        {name: draws(stats[name]) for name in _STATS if name in stats},
        posterior.sizes["chain"],
    )
