"""A cluster of several hosts, each a network namespace with its own address, loses two of them.

The scheduler and the workers are started by the commands of docs/how-to/cluster.md. Namespaces need
root and the program ip, so that most machines skip this.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import bayesbias as bb

pytest.importorskip("distributed")

# The names of namespaces hold the process that made them, so that those of a killed run are known.
_PREFIX = "bayesbias"
_NETWORK = "10.203.7"
_ROOT = Path(__file__).parents[2]


def ip(*arguments: str, check: bool = True) -> str:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, timeout=10)
    if check and done.returncode:
        raise RuntimeError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def remove(namespace: str) -> None:
    """End what runs in a namespace of ours, and the namespace."""
    for process in ip("netns", "pids", namespace, check=False).split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(process), signal.SIGKILL)
    ip("netns", "delete", namespace, check=False)


def remove_leftovers() -> None:
    """Remove the namespaces of runs that were killed."""
    for line in ip("netns", "list").splitlines():
        prefix, _, rest = line.split()[0].partition("-")
        process = rest.partition("-")[0]
        if prefix == _PREFIX and process.isdigit() and not Path("/proc", process).exists():
            remove(line.split()[0])


class Hosts:
    """A bridge on the first host, to which each other one has a link of its own."""

    def __init__(self, names: list[str], folder: Path) -> None:
        self.folder = folder
        self.namespaces = {name: f"{_PREFIX}-{os.getpid()}-{name}" for name in names}
        self.addresses = {name: f"{_NETWORK}.{n}" for n, name in enumerate(names, start=1)}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def connect(self) -> None:
        first, *others = self.namespaces
        for namespace in self.namespaces.values():
            ip("netns", "add", namespace)
            ip("-n", namespace, "link", "set", "lo", "up")
        bridge = self.namespaces[first]
        ip("-n", bridge, "link", "add", "eth0", "type", "bridge")
        for number, name in enumerate(others):
            own = self.namespaces[name]
            port = f"port{number}"
            link = ("link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", own)
            ip("-n", bridge, *link)
            ip("-n", bridge, "link", "set", port, "master", "eth0", "up")
        for name, namespace in self.namespaces.items():
            ip("-n", namespace, "address", "add", f"{self.addresses[name]}/24", "dev", "eth0")
            ip("-n", namespace, "link", "set", "eth0", "up")
            # Dask looks for the address by which a host reaches others; nothing is sent there.
            ip("-n", namespace, "route", "add", "default", "dev", "eth0")

    def start(self, name: str, *command: str) -> subprocess.Popen[bytes]:
        """Run a command on a host, in a session of its own."""
        environment = os.environ | {
            "PYTHONPATH": str(_ROOT),
            "OMP_NUM_THREADS": "1",
            # Until Dask notices that a link is down: the least that it allows, by default 30 s.
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "11s",
        }
        with (self.folder / f"{name}.log").open("wb") as log:
            started = subprocess.Popen(
                ["ip", "netns", "exec", self.namespaces[name], *command],
                env=environment,
                stdout=subprocess.PIPE if name == "client" else log,
                stderr=log,
                start_new_session=True,
            )
        self.processes[name] = started
        return started

    def close(self) -> None:
        for namespace in self.namespaces.values():
            remove(namespace)
        for process in self.processes.values():
            process.kill()
            process.wait(10)


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("network namespaces need Linux and root")
    if shutil.which("ip") is None:
        pytest.skip("network namespaces need the program ip (iproute2)")
    names = ["scheduler", "client", "stays", "killed", "unplugged"]
    made = Hosts(names, tmp_path)
    try:
        try:
            remove_leftovers()
            made.connect()
        except (RuntimeError, subprocess.TimeoutExpired) as err:
            pytest.skip(f"network namespaces are not allowed here ({err})")
        yield made
    finally:
        made.close()


def save(embedding: bb.Embedding, path: Path) -> None:
    """Write all words in a format that does not keep ranks."""
    bb.Embedding(embedding.words, embedding.vectors).save(path)


@pytest.mark.slow
def test_two_of_three_worker_hosts_are_lost(hosts: Hosts, tmp_path: Path) -> None:
    vectors = tmp_path / "vectors"
    private, theirs = vectors / "private", tmp_path / "theirs"
    private.mkdir(parents=True)
    theirs.mkdir()
    for path in (vectors / "demo.npy", private / "missing.npy", private / "other.npy"):
        save(bb.load_embedding("demo"), path)
    save(bb.load_embedding("demo-100d"), theirs / "other.npy")

    dask = (sys.executable, "-m", "dask")
    file = str(tmp_path / "scheduler.json")
    # If this run is killed, the scheduler ends itself, and with it the workers.
    hosts.start("scheduler", *dask, "scheduler", "--scheduler-file", file, "--idle-timeout", "120s")
    worker = [*dask, "worker", "--scheduler-file", file, "--nworkers", "1", "--nthreads", "1"]
    worker += ["--no-nanny", "--local-directory", str(tmp_path)]
    # This host has another disk at the same place.
    mount = 'mount --bind "$0" "$1" && shift && exec "$@"'
    hosts.start("stays", "sh", "-c", mount, str(theirs), str(private), *worker)
    for name in ("killed", "unplugged"):
        hosts.start(name, *worker)
    unplug = f"ip -n {hosts.namespaces['unplugged']} link set eth0 down"
    script = str(Path(__file__).with_name("client_on_a_host.py"))
    client = hosts.start(
        "client",
        sys.executable,
        script,
        file,
        str(vectors),
        f"{hosts.addresses['killed']} kill -KILL {hosts.processes['killed'].pid}",
        f"{hosts.addresses['unplugged']} {unplug}",
    )
    out, _ = client.communicate(timeout=150)
    logs = {path.name: path.read_text() for path in tmp_path.glob("*.log")}
    assert client.returncode == 0, "\n".join(f"{name}: {log}" for name, log in logs.items())
    found = json.loads(out)

    assert found["identical"] is True
    assert len(found["workers"]) == 3
    assert [hosts.addresses["stays"] in address for address in found["remaining"]] == [True]
    assert found["dashboard"].startswith(f"http://{hosts.addresses['scheduler']}:")
    assert "does not find" in found["missing"]
    assert "is not the same" in found["other"]
