"""Mutants: which there are, and which of them tests notice."""

from __future__ import annotations

import ast
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "mutate.py"

MODULE = '''
"""A module."""


def larger(x: int, y: int = 3) -> int:
    """Return the larger one."""
    if x > y:
        return x
    return y


def doubled(x):
    return x * 2


def unreached(x):
    return -x
'''
TESTS = """
import pytest
from numbers_compared import doubled, larger


@pytest.fixture(scope="module")
def eight():
    return doubled(4)


def test_first(eight):
    pass


def test_doubled(eight):
    assert eight == 8


def test_larger():
    assert larger(5) == 5
    assert larger(1, 2) == 2
"""


@pytest.fixture(scope="module")
def mutate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutate", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutate"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a < b <= c", {"a <= b <= c", "a < b < c"}),
        ("a is not b", {"a is b"}),
        ("a + b", {"a - b"}),
        ("a ** 2", {"a * 2", "a ** 3"}),
        ("a @ b", set()),
        ("a += 1", {"a -= 1", "a += 2"}),
        ("not a", {"a"}),
        ("-a", {"a"}),
        ("a and b", {"a or b"}),
        ("x = True", {"x = False"}),
        ("x = 'text'", set()),
        ("f(a, b=c, d=True)", {"pass", "f(a, d=True)", "f(a, b=c, d=False)"}),
        ("x = zip(a, b, strict=True)", set()),
        ("x = a if b else c", {"x = a if not b else c"}),
        ("x = [a for a in b if c]", {"x = [a for a in b if not c]"}),
        ("def f(a: 3) -> 4:\n    return a", {"def f(a: 3) -> 4:\n    return None"}),
        ("def f():\n    return", set()),
        ("if TYPE_CHECKING:\n    x = 1", set()),
        ("X: TypeAlias = a | b", set()),
    ],
)
def test_each_mutant_has_one_change(mutate: ModuleType, source: str, expected: set[str]) -> None:
    found = [ast.unparse(mutate.mutated(source, one)) for one in mutate.mutants(source)]
    assert sorted(found) == sorted(expected)


def test_a_mutant_knows_the_lines_of_its_statement(mutate: ModuleType) -> None:
    source = "@f(1)\ndef g(\n    x=2,\n):\n    return (\n        x\n        + 3\n    )\n"
    lines = {one.text: one.lines for one in mutate.mutants(source)}
    assert lines == {
        "1  →  2": range(1, 5),
        "2  →  3": range(1, 5),
        "return x + 3  →  return None": range(5, 9),
        "x + 3  →  x - 3": range(5, 9),
        "3  →  4": range(5, 9),
    }


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="mutants are tested in forked processes")
def test_survivors_are_listed(tmp_path: Path) -> None:
    """A boundary that no test is at, a default, and a function that no test calls."""
    (tmp_path / "numbers_compared.py").write_text(MODULE)
    (tmp_path / "test_numbers.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow: takes long\n")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "numbers_compared.py", "test_numbers.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    *survivors, _, _, counts = done.stdout.splitlines()
    assert survivors == [
        "numbers_compared.py:5: 3  →  4",
        "numbers_compared.py:7: x > y  →  x >= y",
        "numbers_compared.py:17: return -x  →  return None",
        "numbers_compared.py:17: -x  →  x",
    ]
    assert counts.split() == ["numbers_compared.py", "10", "6", "0", "4"]
    assert (tmp_path / "numbers_compared.py").read_text() == MODULE
