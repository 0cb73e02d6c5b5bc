"""What an installed package adds is there by name; what it gets wrong is a warning."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

import bayesbias as bb
from bayesbias._core import plugins
from bayesbias._core.plugins import Registry, subclass_check
from bayesbias.embeddings.formats.added_formats import ADDED_FORMATS
from bayesbias.errors import BayesBiasWarning, DataError, SpecError

EXAMPLE = Path(__file__).parent / "example_package"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Install the example package into a folder of its own; return an environment that has it."""
    folder = tmp_path_factory.mktemp("site")
    command = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    command += ["--disable-pip-version-check", "--target", str(folder), str(EXAMPLE)]
    subprocess.run([sys.executable, *command], check=True)
    path = os.pathsep.join([str(folder), str(Path(bb.__file__).parents[1])])
    return {**os.environ, "PYTHONPATH": path}


def run(code: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process that has the package."""
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.slow
def test_in_python(installed: dict[str, str], tmp_path: Path) -> None:
    code = f"""
import json
import bayesbias as bb
emb = bb.load_embedding("demo")
query = bb.load_query("weat_6").subqueries((2, 1))[0]
small = emb.subset(["she", "he", "nurse"])
small.save({str(tmp_path / "small.pairs")!r})
again = bb.load_embedding({str(tmp_path / "small.pairs")!r}, words=["he", "nurse"])
table = bb.distance_table(emb, "religion")
centred = bb.debias.DEBIASERS["centring"]().fit(emb).transform(emb)
print(json.dumps({{
    "value": bb.run_queries("nearest_gap", [query], [emb]).iloc[0, 0],
    "words": again.words,
    "equal": bool((again.vectors == small.subset(again.words).vectors).all()),
    "name": centred.name,
    "model": bb.fit(table, "one_level", draws=100, progress=False).spec.name,
    "last metric": list(bb.metrics.METRICS)[-1],
    "listed": "one_level" in bb.models.MODELS,
}}))
"""
    done = run(code, installed)
    found = json.loads(done.stdout)
    assert round(found.pop("value"), 2) == 0.21
    assert found == {
        "words": ["he", "nurse"],
        "equal": True,
        "name": "demo_centring",
        "model": "one_level",
        "last metric": "nearest_gap",
        "listed": True,
    }
    assert (
        "'bayesbias-example' adds 'broken' to 'bayesbias.metrics' (bayesbias_example:NOT_A_METRIC),"
        " which cannot be used: it is 3; expected a class that derives from Metric."
    ) in done.stderr.replace("\n", " ")


@pytest.mark.slow
def test_on_the_command_line(installed: dict[str, str], tmp_path: Path) -> None:
    def bayesbias(*arguments: str) -> str:
        call = f"from bayesbias.cli import main; main({list(arguments)!r})"
        return run(call, installed).stdout

    assert "nearest_gap" in bayesbias("metrics", "--list")
    assert "centring" in bayesbias("debias", "--list")
    target = tmp_path / "demo.pairs"
    bayesbias("debias", "demo", str(target), "--method", "centring", "--quiet")
    assert len(target.read_text("utf-8").splitlines()) == len(bb.load_embedding("demo"))
    assert "pairs" in bayesbias("embedding", "info", str(target))


def test_without_it_nothing_is_added() -> None:
    assert "nearest_gap" not in bb.metrics.METRICS
    assert not ADDED_FORMATS


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("no_such_module:Thing", "No module named 'no_such_module'"),
        ("bayesbias.metrics:WEAT", "there is a 'weat' already; give it another name"),
        ("builtins:dict", "expected a class that derives from Metric"),
    ],
)
def test_what_cannot_be_used_is_left_out(
    value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = EntryPoint("thing", value, "bayesbias.metrics")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [entry])
    own = {"weat": bb.metrics.WEAT}
    registry: Registry[type[bb.metrics.Metric]] = Registry(
        "bayesbias.metrics", own, subclass_check(bb.metrics.Metric)
    )
    with pytest.warns(BayesBiasWarning, match=message):
        assert list(registry) == ["weat"]
    assert dict(registry) == own


def test_a_registry_is_a_mapping() -> None:
    registry: Registry[int] = Registry("bayesbias.nothing", {"one": 1}, plugins.subclass_check)  # type: ignore[arg-type]
    registry["two"] = 2
    assert list(registry.items()) == [("one", 1), ("two", 2)]
    del registry["one"]
    assert (len(registry), repr(registry)) == (1, "{'two': 2}")


def test_a_format_that_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "some.odd"
    path.write_text("?", "utf-8")
    for read, message in (
        (lambda path: 1 / 0, r"the reader of the format 'odd' failed: ZeroDivisionError"),
        (lambda path: (["a", "b"], np.ones((1, 3))), r"returned 2 words and vectors of shape"),
        (lambda path: (["a"], [[np.nan]]), "NaN"),
    ):
        added = bb.embeddings.FileFormat("odd", (".odd",), read)
        monkeypatch.setitem(ADDED_FORMATS, "odd", added)  # type: ignore[arg-type]
        with pytest.raises(DataError, match=message):
            bb.load_embedding(path)
    with pytest.raises(SpecError, match="can be read, but not written"):
        bb.load_embedding("demo").save(tmp_path / "new.odd")
