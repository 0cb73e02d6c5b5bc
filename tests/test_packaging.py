"""What is distributed: the wheel, the source distribution, and the recipes around them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
#: Packages that conda-forge calls by another name.
CONDA_NAMES = {"matplotlib": "matplotlib-base"}


def python(*arguments: str, cwd: Path = ROOT, path: str | None = None) -> str:
    """Run Python and return what it prints."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    if path is not None:
        environment["PYTHONPATH"] = path
    done = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    python("-m", "hatchling", "build", "-d", str(folder))
    return folder


@pytest.mark.slow
def test_twine_accepts_them(distributions: Path) -> None:
    files = sorted(map(str, distributions.iterdir()))
    assert [Path(file).name.rsplit(".", 1)[1] for file in files] == ["whl", "gz"]
    assert python("-m", "twine", "check", "--strict", *files).count("PASSED") == 2


@pytest.mark.slow
def test_source_distribution_installs_and_works(distributions: Path, tmp_path: Path) -> None:
    (source,) = distributions.glob("*.tar.gz")
    command = ["install", "--quiet", "--no-deps", "--no-build-isolation"]
    python("-m", "pip", *command, "--target", str(tmp_path / "site"), str(source))
    code = (
        "import bayesbias as bb; print(bb.__file__); "
        "table = bb.distance_table('demo', 'religion'); "
        "print(len(bb.fit(table, 'interaction', draws=50, progress=False).contrasts()))"
    )
    where, rows = python("-c", code, cwd=tmp_path, path=str(tmp_path / "site")).split()
    assert Path(where).is_relative_to(tmp_path)
    assert int(rows) > 0


@pytest.mark.slow
def test_source_distribution_has_no_more_than_it_needs(distributions: Path) -> None:
    (source,) = distributions.glob("*.tar.gz")
    assert source.stat().st_size < 30_000_000
    with tarfile.open(source) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    assert not [name for name in names if name.startswith((".venv", ".oracle", "site/", "build/"))]
    assert {"LICENSE", "README.md", "models/interaction.toml"} <= set(names)


def test_conda_recipe_has_the_same_dependencies() -> None:
    recipe = (ROOT / ".ci" / "conda" / "meta.yaml").read_text("utf-8")
    listed = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    found = [line.strip().removeprefix("- ") for line in listed.splitlines()]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    expected = ["python " + project["requires-python"]]
    for requirement in project["dependencies"]:
        parts = re.fullmatch(r"([\w.-]+)(.*)", requirement)
        assert parts is not None
        expected.append(f"{CONDA_NAMES.get(parts[1], parts[1])} {parts[2]}")
    assert found == expected


def test_image_copies_what_the_wheel_is_built_from() -> None:
    kept = {
        line.removeprefix("!")
        for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
        if line.startswith("!")
    }
    assert {"bayesbias", "models", "pyproject.toml", "README.md", "LICENSE"} <= kept
    assert all((ROOT / name).exists() for name in kept)


@pytest.mark.parametrize(
    ("known", "code", "said"),
    [
        ([], 0, "Audited 1 of 2 packages: 0 known vulnerabilities."),
        (
            [{"id": "PYSEC-1", "fix_versions": ["1.1"]}],
            1,
            "old 1.0: PYSEC-1, fixed in 1.1\nAudited 1 of 2 packages: 1 known vulnerabilities.",
        ),
    ],
)
def test_known_vulnerabilities_are_named(
    tmp_path: Path, known: list[dict[str, object]], code: int, said: str
) -> None:
    packages = [
        {"name": "old", "version": "1.0", "vulns": known},
        {"name": "odd", "skip_reason": "not found"},
    ]
    answer = tmp_path / "pip-audit"
    printed = json.dumps({"dependencies": packages})
    answer.write_text(f"#!{sys.executable}\nprint({printed!r})\n", "utf-8")
    answer.chmod(0o755)
    script = ROOT / "scripts" / "audit_dependencies.py"
    done = subprocess.run([sys.executable, script, answer], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (code, said)


def test_an_audit_without_an_answer_fails_nothing(tmp_path: Path) -> None:
    answer = tmp_path / "pip-audit"
    answer.write_text(f"#!{sys.executable}\nraise SystemExit('no network')\n", "utf-8")
    answer.chmod(0o755)
    script = ROOT / "scripts" / "audit_dependencies.py"
    done = subprocess.run([sys.executable, script, answer], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (
        0,
        "The packages could not be audited: no network",
    )
