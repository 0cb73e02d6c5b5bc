"""How runs are made: weights of growing subsets, warm starts, resuming, and the time it takes."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from grown_lists import Spread, made
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression

import bayesbias as bb
from bayesbias._core.wording import waiting_time
from bayesbias.errors import DataError
from bayesbias.numerics.logistic import Classifier
from bayesbias.numerics.nested_ranks import nested_rank_correlations
from bayesbias.silhouette_analysis import silhouette_runs as module
from bayesbias.silhouette_analysis.silhouette_runs import Growing


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 300),
    different=st.integers(1, 300),
    step=st.integers(1, 200),
)
def test_rank_correlations_of_growing_lists(seed: int, n: int, different: int, step: int) -> None:
    """As SciPy's of each list by itself, with ties; undefined where a row is constant."""
    rng = np.random.default_rng(seed)
    first = rng.integers(different, size=n) / 8
    second = first + rng.integers(different, size=n) / 4
    order, counts = rng.permutation(n), np.arange(2, n + 1, step)
    found = nested_rank_correlations(first, second, order, np.append(counts, 2))
    assert found[-1] == found[0] or np.isnan(found[0]), "the same size twice"
    for count, value in zip(counts, found, strict=False):
        x, y = first[order[:count]], second[order[:count]]
        if np.ptp(x) == 0 or np.ptp(y) == 0:
            assert np.isnan(value)
        else:
            assert value == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)


def growing_weights(order: Any, counts: Any) -> Any:
    """Weights 1 for the first words of an order, as many as each count says."""
    return (np.argsort(order) < counts[:, None]).astype(float)


@pytest.mark.parametrize(("sizes", "dim"), [((40, 60), 8), ((12, 9), 30)])
def test_warm_starts_find_the_same_optimum(sizes: tuple[int, int], dim: int) -> None:
    """As scikit-learn's solver on the rows that are in."""
    rng = np.random.default_rng(0)
    positive, negative = rng.normal(0.4, 1, (sizes[0], dim)), rng.normal(-0.4, 1, (sizes[1], dim))
    n = sum(sizes)
    order = rng.permutation(n)
    counts = np.arange(3, n + 1, 4)
    weights = growing_weights(order, counts)
    classifier = Classifier(positive, negative)
    found = classifier.growing(weights)
    np.testing.assert_allclose(found, classifier.coefficients(weights), atol=1e-7)
    rows = np.column_stack([np.vstack([positive, negative]), np.ones(n)])
    y = np.repeat([1, -1], sizes)
    for count, coefficients in zip(counts, found, strict=True):
        part = order[:count]
        if len(set(y[part])) == 2:
            model = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=1000)
            theirs = model.fit(rows[part], y[part]).coef_[0]
            np.testing.assert_allclose(coefficients, theirs, atol=1e-5)


def test_warm_starts_from_long_vectors() -> None:
    """With these, rows that come in are on the wrong side by far; as scikit-learn's solver."""
    rng = np.random.default_rng(0)
    sizes, dim = (60, 50), 20
    sets = [
        rng.normal(mean, 1, (n, dim)) * 3000 for mean, n in zip((0.1, -0.1), sizes, strict=True)
    ]
    order, counts = rng.permutation(110), np.arange(6, 111, 3)
    found = Classifier(*sets).growing(growing_weights(order, counts))
    rows, y = np.column_stack([np.vstack(sets), np.ones(110)]), np.repeat([1, -1], sizes)
    told = rng.normal(size=(10, dim)) * 3000
    for count, coefficients in zip(counts, found, strict=True):
        part = order[:count]
        model = LogisticRegression(
            solver="newton-cholesky", fit_intercept=False, tol=1e-10, max_iter=1000
        )
        theirs = model.fit(rows[part], y[part]).coef_[0]
        odds = told @ theirs[:-1]
        np.testing.assert_allclose(
            told @ coefficients[:-1], odds, rtol=0, atol=1e-3 * np.abs(odds).max()
        )


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("run-*.npz"))


def test_finished_runs_are_read_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    query, embeddings = made((4, 5), (12, 12))
    folder = tmp_path / "new" / "runs"

    def measured(**options: Any) -> bb.silhouette_analysis.Silhouettes:
        arguments: dict[str, Any] = {"runs": 4, "resume": folder, "side": "attributes"} | options
        return bb.silhouettes("rnsb_groups", query, embeddings, **arguments)

    plain = measured(resume=None)
    first = measured()
    assert (first.values == plain.values).all()
    assert len(kept(folder)) == 8
    # Another call measures nothing.
    calls: list[int] = []
    run = Growing.run
    monkeypatch.setattr(Growing, "run", lambda self, i: calls.append(i) or run(self, i))  # type: ignore[func-returns-value]
    with caplog.at_level(logging.INFO, "bayesbias"):
        again = measured()
    assert calls == []
    assert (again.values == plain.values).all()
    assert f"8 of 8 runs are in {folder} already." in caplog.text
    # More runs go on from there, and what is broken or gone is measured again.
    kept(folder)[0].write_bytes(b"broken")
    kept(folder)[1].unlink()
    more = measured(runs=5)
    assert (more.values[:, :4] == plain.values).all()
    assert len(kept(folder)) == 10
    # Whatever matters changes the names.
    for options in (
        {"seed": 1},
        {"step": 2},
        {"holdout": True},
        {"normalize": True},
        {"side": "targets"},
    ):
        before = len(kept(folder))
        measured(**options)
        assert len(kept(folder)) == before + 8, options
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_names_of_runs_change_with_the_code_of_a_metric() -> None:
    class Wider(Spread):
        def value(self, targets: Any, attributes: Any) -> float:
            return 2 * super().value(targets, attributes)

    query, embeddings = made((4, 5), (6,))
    ours, theirs = (
        bb.silhouettes(metric, query, embeddings, runs=2).lists[0].names()
        for metric in (Spread(), Wider())
    )
    assert set(ours).isdisjoint(theirs)
    assert len(set(ours)) == 2
    again = bb.silhouettes(Spread(), query, embeddings[:1], runs=3).lists[0].names()
    assert again[:2] == ours


def test_names_of_runs_change_with_a_metric_that_has_no_file() -> None:
    """In a notebook the source of a class cannot be asked for."""

    def names(sign: str, factor: float = 1.0) -> list[str]:
        made_up: dict[str, Any] = {"bb": bb, "__name__": "notebook"}
        exec(
            "class Mine(bb.metrics.Metric):\n"
            "    name, template, value_range = 'mine', (2, 1), (-3.0, 3.0)\n"
            f"    factor = {factor}\n"
            "    def value(self, targets, attributes):\n"
            "        one, other = (\n"
            "            max((t.unit @ a).mean() for a in attributes[0].unit) for t in targets\n"
            "        )\n"
            f"        return float(one {sign} other) * self.factor\n",
            made_up,
        )
        return bb.silhouettes(made_up["Mine"], query, embeddings, runs=2).lists[0].names()

    query, embeddings = made((4, 5), (6,))
    assert names("-") == names("-")
    assert set(names("-")).isdisjoint(names("+"))
    assert set(names("-")).isdisjoint(names("-", 0.5))


def test_an_interruption_loses_no_finished_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stopped(Spread):
        def value(self, targets: Any, attributes: Any) -> float:
            if stop and len(kept(tmp_path)) == 3:
                raise KeyboardInterrupt
            return super().value(targets, attributes)

    query, embeddings = made((4, 5), (6,))
    stop = True
    with pytest.raises(KeyboardInterrupt):
        bb.silhouettes(Stopped(), query, embeddings, runs=4, resume=tmp_path)
    assert len(kept(tmp_path)) == 3
    stop = False
    bb.silhouettes(Stopped(), query, embeddings, runs=4, resume=tmp_path)
    assert len(kept(tmp_path)) == 8


def test_resume_must_be_a_folder(tmp_path: Path) -> None:
    query, embeddings = made((4, 5), (6,))
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(DataError, match="file: the folder cannot be made \\(it is a file\\)"):
        bb.silhouettes(Spread(), query, embeddings, resume=path)


def test_runs_cannot_be_kept_in_a_folder_that_is_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query, embeddings = made((4, 5), (6,))
    monkeypatch.setattr("os.access", lambda path, mode: False)
    monkeypatch.setattr(Growing, "run", None)  # long work has not begun
    with pytest.raises(DataError, match="kept cannot be written to; give another"):
        bb.silhouettes(Spread(), query, embeddings, resume=tmp_path / "kept")


def test_the_time_is_told_before(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A clock that a run moves by a known amount for each size."""
    now = 0.0

    def slow(self: Growing, number: int) -> Any:
        nonlocal now
        now += 3 + 0.5 * len(self.counts)
        return np.zeros(len(self.counts))

    monkeypatch.setattr(module.time, "perf_counter", lambda: now)
    monkeypatch.setattr(Growing, "run", slow)
    shown = []
    bar = module.progress_bar
    monkeypatch.setattr(
        module,
        "progress_bar",
        lambda what, **options: shown.append(what) or bar(what, **options),  # type: ignore[func-returns-value]
    )
    query, embeddings = made((40, 40), (6,))
    with caplog.at_level(logging.INFO, "bayesbias"):
        bb.silhouettes(Spread(), query, embeddings, runs=10)
    # 38 sizes before the last, in 20 runs of 3 + 0.5 · 38 seconds
    assert caplog.messages == ["20 runs take about 7.3 minutes in 1 process."]
    assert shown == ["Silhouettes, about 7.3 minutes"]


def test_what_a_run_takes_at_its_start_is_not_multiplied(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock by which the first ten sizes of a run take a second each, the others a tenth."""
    now = 0.0

    def slow_at_first(self: Growing, number: int) -> Any:
        nonlocal now
        now += min(10, len(self.counts)) + 0.1 * max(0, len(self.counts) - 10)
        return np.zeros(len(self.counts))

    query, embeddings = made((400, 400), (6,))
    growing = bb.silhouettes(Spread(), query, embeddings[:1], runs=2, step=200).lists[0]
    counts = np.arange(2, 402)[:, None].repeat(2, axis=1)
    monkeypatch.setattr(module.time, "perf_counter", lambda: now)
    monkeypatch.setattr(Growing, "run", slow_at_first)
    assert replace(growing, counts=counts).seconds() == pytest.approx(10 + 0.1 * 390)


def test_short_work_is_not_announced(caplog: pytest.LogCaptureFixture) -> None:
    query, embeddings = made((4, 5), (6,))
    with caplog.at_level(logging.INFO, "bayesbias"):
        bb.silhouettes(Spread(), query, embeddings, runs=2)
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (3.4, "3 seconds"),
        (89, "89 seconds"),
        (120, "2 minutes"),
        (8000, "2.2 hours"),
        (3e5, "3.5 days"),
    ],
)
def test_time_in_words(seconds: float, text: str) -> None:
    assert waiting_time(seconds) == text


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
def test_opinion_lexicon(demo: bb.Embedding) -> None:
    """Effect sizes on thousands of words, beside a direct computation of a sample of subsets."""
    lists = bb.word_sets("weat"), bb.word_sets("bing_liu")
    query = bb.Query(
        [lists[0]["male_names"], lists[0]["female_names"]],
        [lists[1]["positive_words"], lists[1]["negative_words"]],
    )
    embeddings = [demo, bb.load_embedding("demo-100d")]
    found = bb.silhouettes("weat_es", query, embeddings, side="attributes", runs=20)
    assert found.sizes[-1] > 6000
    rng = np.random.default_rng(0)
    for _ in range(60):
        e, run, size = (int(rng.integers(n)) for n in found.values.shape)
        growing = found.lists[e]
        words = growing.measurement.words
        parts = [
            part.take(order[run][:n])
            for part, order, n in zip(
                words.attributes, growing.orders, found.counts[size], strict=True
            )
        ]
        expected = growing.measurement.metric.value(words.targets, parts)
        assert found.values[e, run, size] == pytest.approx(expected, abs=1e-10)
