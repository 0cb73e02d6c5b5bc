"""A real cluster of two workers gives the numbers of one process, also if a worker is killed."""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_audit import FAST, files, forest

import bayesbias as bb
from bayesbias.embeddings import received, to_send
from bayesbias.embeddings.embedding_file import SentEmbedding
from bayesbias.errors import BayesBiasWarning, ClusterError, MissingDependencyError, SpecError
from bayesbias.parallel import cluster_connection, current_cluster, worker_tasks

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Any]:
    """A scheduler and two processes; a process that is killed is started again."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs="CRITICAL"
    ) as started:
        yield started


def slow_square(number: int, seconds: float) -> int:
    time.sleep(seconds)
    return number**2


@pytest.mark.slow
class TestTwoWorkers:
    def test_tasks_come_in_their_order(self, two_workers: Any) -> None:
        with bb.cluster(two_workers) as connected:
            assert connected.n_workers == 2
            assert connected.dashboard.startswith("http")
            assert repr(connected) == f"<Cluster {two_workers.scheduler_address}: 2 workers>"
            assert list(connected.results(pow, ((i, 2) for i in range(3000)))) == [
                i**2 for i in range(3000)
            ]
            assert list(connected.results(pow, [])) == []
            with pytest.raises(ZeroDivisionError):
                list(connected.results(divmod, [(1, 1), (1, 0)]))
        assert current_cluster() is None

    def test_shared_arguments_are_sent_once(self, two_workers: Any) -> None:
        large = np.arange(50_000)
        other = [1, 2]
        tasks = [(large, 0), (other, 0), (large, 0)]
        with bb.cluster(two_workers) as connected:
            summed = list(connected.results(np.sum, tasks, shared=[large, other]))
        assert summed == [large.sum(), 3, large.sum()]

    def test_a_killed_worker_loses_nothing(self, two_workers: Any) -> None:
        with bb.cluster(two_workers) as connected:
            results = connected.results(slow_square, ((i, 0.2) for i in range(20)))
            got = [next(results), next(results)]
            process = next(iter(connected.client.run(os.getpid).values()))
            os.kill(process, signal.SIGKILL)
            assert [*got, *results] == [i**2 for i in range(20)]

    @pytest.mark.filterwarnings("ignore:words of the queries are lost")
    def test_metrics(self, two_workers: Any, tmp_path: Path) -> None:
        """Rankings with p-values; SemAxis needs all of an embedding, which goes by its file."""
        for name in ("demo", "demo-100d"):
            whole = bb.load_embedding(name)
            bb.Embedding(whole.words, whole.vectors).save(tmp_path / f"{name}.npy")
        several = [bb.load_embedding(tmp_path / f"{name}.npy") for name in ("demo", "demo-100d")]

        def measure() -> list[pd.DataFrame]:
            options: dict[str, Any] = {"subqueries": True, "seed": 1}
            return [
                bb.run_queries("weat_es", "gender", several, **options),
                bb.query_scores("weat", "weat_7", several, draws=200, p_values=True, seed=1),
                bb.run_queries("semaxis", "weat_7", several, **options),
                bb.rank_posterior("weat_es", "gender", several, draws=200, **options).table,
            ]

        expected = measure()
        with bb.cluster(two_workers):
            got = measure()
        for one, other in zip(expected, got, strict=True):
            pd.testing.assert_frame_equal(one, other, check_exact=True)

    def test_silhouettes_and_calibration(self, two_workers: Any) -> None:
        table = bb.distance_table("demo", "weat_7")

        def measure() -> list[pd.DataFrame]:
            grown = bb.silhouettes("weat_es", "weat_7", "demo", runs=6, chance=19, seed=1)
            calibrated = bb.calibrate("connection", table, simulations=4, draws=100, seed=3)
            return [grown.table, grown.robustness_table, calibrated.table]

        expected = measure()
        with bb.cluster(two_workers):
            got = measure()
        for one, other in zip(expected, got, strict=True):
            pd.testing.assert_frame_equal(one, other, check_exact=True)

    def test_a_file_is_mapped_by_the_workers(self, two_workers: Any, tmp_path: Path) -> None:
        path = tmp_path / "vectors.npy"
        forest("wood").save(path)
        embedding = bb.load_embedding(path, "renamed").with_matching(prefix="/c/en/")
        with bb.cluster(two_workers) as connected:
            sent = to_send(embedding)
            assert isinstance(sent, SentEmbedding)
            assert len(pickle.dumps(sent)) < 1000
            ((is_mapped, got),) = connected.results(opened_there, [(sent,)])
            assert is_mapped
            assert (got.name, got.matching, got == embedding) == (
                ("renamed", embedding.matching, True)
            )
            forest("other", 1).save(path)
            changed = to_send(bb.load_embedding(path))
            path.unlink()
            with pytest.raises(ClusterError, match="does not find .*vectors.npy"):
                list(connected.results(opened_there, [(changed,)]))

    def test_the_command_line(self, two_workers: Any, run: Callable[..., Any]) -> None:
        command = ("metrics", "weat_7", "demo", "-m", "weat", "--draws", "100", "--format", "json")
        plain = run(*command)
        on_cluster = run(*command, "--cluster", two_workers.scheduler_address)
        assert plain.code == on_cluster.code == 0
        assert on_cluster.out == plain.out
        assert "2 workers: http://" in on_cluster.err
        assert "http" not in run(*command, "-q", "--cluster", two_workers.scheduler_address).err

    def test_an_audit_with_a_killed_worker(
        self, two_workers: Any, tmp_path: Path, trees: bb.Study
    ) -> None:
        forest("from-file", 0).save(tmp_path / "from-file.npy")
        given = [tmp_path / "from-file.npy", forest("in-memory", 1)]
        bb.audit(given, trees, out=tmp_path / "one", **FAST)
        killed: list[int] = []

        def kill_when_a_fit_is_there(client: Any, stop: threading.Event) -> None:
            while not stop.wait(0.05) and not killed:
                if list((tmp_path / "two").rglob("*.nc")):
                    killed.extend(client.run(os.getpid).values())
                    os.kill(killed[0], signal.SIGKILL)

        with bb.cluster(two_workers) as connected:
            stop = threading.Event()
            killer = threading.Thread(
                target=kill_when_a_fit_is_there, args=(connected.client, stop)
            )
            killer.start()
            try:
                bb.audit(given, trees, out=tmp_path / "two", **FAST)
            finally:
                stop.set()
                killer.join()
        assert killed
        one, two = files(tmp_path / "one"), files(tmp_path / "two")
        assert set(one) == set(two)
        # Fits and the report have times in them, the record has times and the hashes of fits.
        timed = {name for name in one if name.endswith((".nc", "report.html", "audit.json"))}
        assert [name for name in one if one[name] != two[name] and name not in timed] == []
        for name in timed:
            if name.endswith(".nc"):
                first, second = (bb.load_fit(tmp_path / n / name) for n in ("one", "two"))
                for variable in first.idata.posterior.data_vars:
                    np.testing.assert_array_equal(
                        first.idata.posterior[variable], second.idata.posterior[variable]
                    )
        assert timeless(one["audit.json"]) == timeless(two["audit.json"])


def opened_there(sent: Any) -> tuple[bool, bb.Embedding]:
    embedding = received(sent)
    base: Any = embedding.vectors
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    return isinstance(base, np.memmap), embedding


def timeless(record: bytes) -> dict[str, Any]:
    """Return the record of an audit without times, and without hashes of files that hold them."""
    content: dict[str, Any] = json.loads(record)
    for step in content["steps"].values():
        del step["made"], step["seconds"]
        if "report.html" in step["files"]:
            del step["key"]  # which depends on the hashes of all files
        for name in step["files"]:
            if name.endswith((".nc", "report.html")):
                step["files"][name] = ""
    return content


@pytest.fixture(scope="module")
def in_threads() -> Iterator[Any]:
    """A scheduler and a worker in this process, which are quick to start."""
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
    ) as started:
        yield started


def entered(address: object) -> Iterator[None]:
    with bb.cluster(address, timeout=0.5):
        yield


def test_several_threads_are_warned_of(in_threads: Any) -> None:
    with pytest.warns(BayesBiasWarning, match="--nthreads 1"), bb.cluster(in_threads):
        pass


def test_a_client_stays_open(in_threads: Any) -> None:
    with distributed.Client(in_threads, set_as_default=False) as client:
        with pytest.warns(BayesBiasWarning, match="threads"), bb.cluster(client) as connected:
            assert connected.client is client
        assert client.status == "running"


def test_another_version_is_refused(in_threads: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_connection, "own_version", lambda: "9.9")
    with pytest.raises(ClusterError, match=rf"have bayesbias {bb.__version__}.* has 9\.9"):
        list(entered(in_threads))
    # A worker that came later checks it itself.
    with pytest.raises(ClusterError, match="install the same version"):
        worker_tasks.run_batch("9.9", pow, [(1, 2)])


def test_without_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'bayesbias\[distributed\]'"):
        list(entered("tcp://localhost:8786"))


def test_no_scheduler_there(tmp_path: Path) -> None:
    start = time.monotonic()
    with pytest.raises(ClusterError, match="no Dask scheduler at tcp://127.0.0.1:9 "):
        list(entered("tcp://127.0.0.1:9"))
    assert time.monotonic() - start < 10
    (tmp_path / "scheduler.json").write_text('{"address": "tcp://127.0.0.1:9"}')
    with pytest.raises(ClusterError, match="no Dask scheduler at tcp://127.0.0.1:9 .*--interface"):
        list(entered(tmp_path / "scheduler.json"))


@pytest.mark.parametrize("content", ["", "{}", "[]", "nonsense"])
def test_a_file_that_is_no_schedulers(tmp_path: Path, content: str) -> None:
    path = tmp_path / "scheduler.json"
    path.write_text(content)
    with pytest.raises(ClusterError, match="not the file of a Dask scheduler"), bb.cluster(path):
        pass


@pytest.mark.parametrize("address", ["nonsense", "tcp://host", "host:port", "", 8786, None])
def test_what_is_no_address(address: object) -> None:
    with pytest.raises(SpecError, match="tcp://host:8786"), bb.cluster(address):
        pass


def test_only_whole_files_are_sent_by_their_names(tmp_path: Path) -> None:
    forest().save(tmp_path / "vectors.npy")
    embedding = bb.load_embedding(tmp_path / "vectors.npy")
    assert to_send(embedding) is embedding  # without a cluster
    assert embedding._file is not None
    assert embedding.with_vectors(embedding.vectors, "renamed")._file is not None
    for other in (
        bb.load_embedding(tmp_path / "vectors.npy", words=["oak"]),
        embedding.subset(["oak"]),
        embedding.normalized(),
        embedding.replace(oak=np.ones(20)),
        embedding.with_vectors(embedding.vectors * 2),
    ):
        assert other._file is None


def test_a_large_embedding_without_a_file_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, wood: bb.Embedding
) -> None:
    monkeypatch.setattr("bayesbias.embeddings.embedding_file.current_cluster", object)
    assert to_send(wood) is wood
    monkeypatch.setattr("bayesbias.embeddings.embedding_file._LARGE", 1000)
    with pytest.warns(BayesBiasWarning, match="save it as .npy"):
        assert to_send(wood) is wood


def test_another_file_on_the_worker_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("bayesbias.embeddings.embedding_file.current_cluster", object)
    path = tmp_path / "vectors.npy"
    forest().save(path)
    sent = to_send(bb.load_embedding(path))
    forest(seed=1).save(path)
    with pytest.raises(ClusterError, match="is not the same"):
        received(sent)
