"""`bayesbias doctor` shows the installation, whatever is missing."""

from __future__ import annotations

import json

import pytest

import bayesbias as bb
from bayesbias.cli.common import FORMATS
from bayesbias.models.nuts.sampling import SAMPLERS


def _states(run) -> dict[tuple[str, str], str]:
    result = run("doctor", "--format", "json")
    assert result.code == 0
    return {(row["part"], row["name"]): row["state"] for row in json.loads(result.out)}


def test_versions_samplers_and_extras(run) -> None:
    states = _states(run)
    assert states["version", "bayesbias"] == bb.__version__
    assert {name for part, name in states if part == "sampler"} == set(SAMPLERS)
    assert states["sampler", "nutpie"].startswith("available")
    assert {"browser", "font of figures"} <= {name for part, name in states if part == "other"}
    assert not [name for part, name in states if part == "error"]
    assert "nutpie" in run("doctor").out


def test_what_is_missing_is_named_with_its_remedy(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayesbias.cli.doctor.find_spec", lambda name: None)
    monkeypatch.setattr("bayesbias.cli.doctor._version", lambda name: None)
    monkeypatch.setattr("bayesbias.cli.doctor.shutil.which", lambda name: None)
    states = _states(run)
    assert "pip install 'bayesbias[numpyro]'" in states["sampler", "numpyro"]
    assert "pip install 'bayesbias[pos]'" in states["extra", "pos"]
    assert states["version", "numpy"] == "missing"


def test_a_broken_part_is_shown(run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> list[tuple[str, str, str]]:
        raise OSError("no such library")

    monkeypatch.setattr("bayesbias.cli.doctor._threads", broken)
    assert "no such library" in _states(run).values()


@pytest.mark.parametrize("output", FORMATS)
def test_every_format_names_the_packages(run, output: str) -> None:
    assert "pymc" in run("doctor", "--format", output).out.lower()
