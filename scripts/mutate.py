"""Change a module in one place at a time, and see whether its tests notice.

``python scripts/mutate.py`` does so for the information criteria, WEAT and the distance table;
``python scripts/mutate.py MODULE TEST ...`` for one module and files of tests. It prints the
mutants that survive, with their lines, and exits with 1 if there are any. Mutants are made in
memory and tested in a process of their own, with the tests that reach the changed lines, the
fastest first; no file is changed. Packages that the tests import are imported once, before the
processes begin, which needs a system that can fork. Tests that are marked as slow are left out.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import json
import os
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from coverage import Coverage, CoverageData

#: The module of each target, and the tests that belong to it.
TARGETS: dict[str, tuple[str, ...]] = {
    "bayesbias/models/criteria.py": (
        "bayesbias/models/criteria.py",
        "tests/models/test_criteria.py",
        "tests/models/test_result_tables.py",
    ),
    "bayesbias/metrics/weat.py": (
        "bayesbias/metrics/weat.py",
        "tests/metrics/test_growing_lists.py",
        "tests/metrics/test_long_lists.py",
        "tests/metrics/test_metric_invariants.py",
        "tests/metrics/test_metrics.py",
        "tests/metrics/test_table_scores.py",
    ),
    "bayesbias/distances/table_builder.py": (
        "bayesbias/distances/table_builder.py",
        "tests/distances/test_table.py",
        "tests/distances/test_covariates.py",
        "tests/distances/test_control_tables.py",
    ),
}
_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
#: Seconds that the tests of a mutant may take, beside three times their usual ones.
_PATIENCE = 30.0
#: Seconds that all tests of a module may take.
_LONGEST = 3600.0


@dataclass(frozen=True)
class Mutant:
    """A module that differs from its file in one place; its statement is on the lines."""

    place: int
    alternative: int
    lines: range
    text: str


@dataclass
class Outcome:
    """What the tests did to the mutants of a module."""

    module: str
    killed: int = 0
    timed_out: int = 0
    survivors: list[Mutant] = field(default_factory=list)


def places(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below a node, without annotations and what no test can notice."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or _is_left_out(child):
                continue
            yield child
            yield from places(child)


def _is_left_out(node: ast.AST) -> bool:
    """Tell whether no test can notice a change: of what type checkers read, and of `strict=`."""
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            return True
        case ast.keyword(arg="strict"):  # a guard of `zip` against faults of our own
            return True
    return False


def alternatives(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in place of a node."""
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                yield _with(node, ops=_replaced(node.ops, place, _COMPARISONS[type(operator)]()))
        case ast.BinOp() | ast.AugAssign() if type(node.op) in _OPERATORS:
            yield _with(node, op=_OPERATORS[type(node.op)]())
        case ast.BoolOp():
            yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        case ast.UnaryOp():
            yield node.operand
        case ast.Constant(value=bool()):
            yield _with(node, value=not node.value)
        case ast.Constant(value=int() | float() as number):
            yield _with(node, value=number + 1)
        case ast.If() | ast.While() | ast.IfExp() | ast.Assert():
            yield _with(node, test=_negated(node.test))
        case ast.comprehension():
            for place, condition in enumerate(node.ifs):
                yield _with(node, ifs=_replaced(node.ifs, place, _negated(condition)))
        case ast.Return(value=ast.expr()):
            yield _with(node, value=ast.Constant(None))
        case ast.Call():
            for place, keyword in enumerate(node.keywords):
                # A truth value is flipped instead, which mostly does the same.
                if not isinstance(getattr(keyword.value, "value", None), bool):
                    rest = [*node.keywords[:place], *node.keywords[place + 1 :]]
                    yield _with(node, keywords=rest)
        case ast.Expr(value=ast.Call()) | ast.Continue():
            yield ast.Pass()


def _with(node: ast.AST, **changes: Any) -> ast.AST:
    result = copy.copy(node)
    for name, value in changes.items():
        setattr(result, name, value)
    return result


def _replaced(items: Sequence[Any], place: int, item: ast.AST) -> list[Any]:
    return [*items[:place], item, *items[place + 1 :]]


def _negated(condition: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), condition)


class _Replacement(ast.NodeTransformer):
    """Put another node in place of one."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if node is self.old else self.generic_visit(node)


def mutants(source: str) -> list[Mutant]:
    """Return the mutants of a module."""
    tree = ast.parse(source)
    result = []
    for place, (node, lines) in enumerate(_with_lines(tree)):
        for number, other in enumerate(alternatives(node)):
            result.append(Mutant(place, number, lines, f"{_short(node)}  →  {_short(other)}"))
    return result


def _with_lines(tree: ast.Module) -> Iterator[tuple[ast.AST, range]]:
    """Yield each node with the lines of the statement that it is a part of."""
    lines = {}
    for node in places(tree):
        if isinstance(node, ast.stmt):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else int(node.end_lineno or node.lineno)
            for part in [node, *places(node)]:
                lines[part] = range(first, max(first, last) + 1)
    for node in places(tree):
        yield node, lines[node]


def _short(node: ast.AST) -> str:
    """Return the code of a node on one short line."""
    text = " ".join(ast.unparse(ast.fix_missing_locations(copy.deepcopy(node))).split())
    return text if len(text) <= 70 else f"{text[:69]}…"


def mutated(source: str, mutant: Mutant) -> ast.Module:
    """Return the module with the change of a mutant."""
    tree = ast.parse(source)
    node = list(places(tree))[mutant.place]
    other = list(alternatives(node))[mutant.alternative]
    result: ast.Module = _Replacement(node, other).visit(tree)
    return ast.fix_missing_locations(result)


class _TreeLoader(SourceFileLoader):
    """Load a module from a tree instead of its file."""

    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self.code = compile(tree, path, "exec")

    def get_code(self, fullname: str) -> CodeType:
        return self.code


class MutatedImport(MetaPathFinder):
    """Import one module from a tree."""

    def __init__(self, path: Path, tree: ast.Module) -> None:
        self.name, self.path, self.tree = _module_name(path), str(path.resolve()), tree

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """Return how the module is imported."""
        if fullname != self.name:
            return None
        loader = _TreeLoader(fullname, self.path, self.tree)
        return spec_from_file_location(fullname, self.path, loader=loader)


def _module_name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts)


class Selection:
    """Run only some tests, the fastest first."""

    def __init__(self, seconds: dict[str, float], chosen: set[str]) -> None:
        self.seconds, self.chosen = seconds, chosen

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Select and sort."""
        items[:] = [item for item in items if item.nodeid in self.chosen]
        items.sort(key=lambda item: self.seconds[item.nodeid])


class Record:
    """Write down how long each test takes, which lines it reaches, and what all of them import.

    What a fixture of several tests reaches, all tests reach that use the fixture.
    """

    def __init__(self, coverage: Coverage, out: Path) -> None:
        self.coverage, self.out = coverage, out
        self.seconds: dict[str, float] = {}
        self.users: dict[str, list[str]] = {}
        self.context = ""

    def _in_context(self, context: str) -> Generator[None, object, object]:
        before, self.context = self.context, context
        self.coverage.switch_context(context)
        try:
            return (yield)
        finally:
            self.context = before
            self.coverage.switch_context(before)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Measure one test."""
        for fixture in getattr(item, "fixturenames", ()):
            self.users.setdefault(f"fixture {fixture}", []).append(item.nodeid)
        begun = time.perf_counter()
        result = yield from self._in_context(item.nodeid)
        self.seconds[item.nodeid] = time.perf_counter() - begun
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any]
    ) -> Generator[None, object, object]:
        """Measure what several tests share."""
        shared = fixturedef.scope != "function"
        context = f"fixture {fixturedef.argname}" if shared else self.context
        return (yield from self._in_context(context))

    def pytest_sessionfinish(self) -> None:
        """Write it."""
        self.coverage.stop()
        self.coverage.save()
        record = [self.seconds, self.users, _imported_packages()]
        self.out.write_text(json.dumps(record), "utf-8")


def _imported_packages() -> list[str]:
    """Return the modules that were imported from files outside the working directory."""
    here = Path.cwd()
    result = []
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        origin = Path(spec.origin) if spec and spec.origin and spec.name == name else None
        inside = origin and origin.is_relative_to(here) and "site-packages" not in origin.parts
        if origin and origin.is_file() and not inside:
            result.append(name)
    return result


def in_a_process(
    tests: Sequence[str], seconds: float, plugin: object, before: Callable[[], object]
) -> int:
    """Run tests in a process of their own and return pytest's exit code; −1 if it took too long.

    `before` is called in the process, before the package is imported.
    """
    sys.stdout.flush()
    process = os.fork()
    if not process:
        code = 3
        try:
            os.setsid()
            silent = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silent, 1)
            os.dup2(silent, 2)
            before()
            code = int(pytest.main(_arguments(tests), plugins=[plugin]))
        finally:
            os._exit(code)
    return _wait(process, seconds)


def _arguments(tests: Sequence[str]) -> list[str]:
    options = ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist"]
    # The packages were imported before pytest could rewrite their assertions.
    return [*options, "-W", "ignore::pytest.PytestAssertRewriteWarning", *tests]


def _wait(process: int, seconds: float) -> int:
    """Wait for a process, and end what it leaves behind."""
    deadline = time.monotonic() + seconds
    try:
        while time.monotonic() < deadline:
            done, status = os.waitpid(process, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        return -1
    finally:
        _end_group(process)


def _end_group(process: int) -> None:
    try:
        os.killpg(process, signal.SIGKILL)
    except ProcessLookupError:
        return  # nothing was left


def baseline(module: Path, tests: Sequence[str]) -> tuple[dict[str, float], dict[int, set[str]]]:
    """Run the tests on the module as it is; return their seconds, and those that reach a line."""
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder, "coverage"), Path(folder, "record.json")
        coverage = Coverage(data_file=str(data), include=[str(module)], config_file=False)
        if code := in_a_process(tests, _LONGEST, Record(coverage, out), coverage.start):
            sys.exit(f"{module}: the tests fail without a change (exit code {code}).")
        seconds, users, packages = json.loads(out.read_text("utf-8"))
        measured = CoverageData(str(data))
        measured.read()
        contexts = measured.contexts_by_lineno(str(module.resolve()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in packages:
            importlib.import_module(name)
    # What is reached outside tests, by the import of the module, matters to all of them.
    users[""] = list(seconds)
    return seconds, {
        line: {test for name in names for test in users.get(name, [name])}
        for line, names in contexts.items()
    }


def try_mutants(module: Path, tests: Sequence[str], *, only: Sequence[int] = ()) -> Outcome:
    """Test every mutant of a module, or those on some lines."""
    seconds, reached = baseline(module, tests)
    source = module.read_text("utf-8")
    outcome = Outcome(str(module))
    for mutant in mutants(source):
        if only and not set(only) & set(mutant.lines):
            continue
        chosen = {test for line in mutant.lines for test in reached.get(line, ())}
        finder = MutatedImport(module, mutated(source, mutant))
        before = partial(sys.meta_path.insert, 0, finder)
        limit = _PATIENCE + 3 * sum(seconds[test] for test in chosen)
        code = in_a_process(tests, limit, Selection(seconds, chosen), before) if chosen else 0
        if code == 0:
            outcome.survivors.append(mutant)
            print(f"{module}:{mutant.lines[0]}: {mutant.text}", flush=True)
        outcome.killed += code > 0
        outcome.timed_out += code < 0
    return outcome


def show(outcomes: Sequence[Outcome]) -> None:
    """Print the table."""
    print(f"\n{'':40}{'mutants':>8}{'killed':>8}{'too long':>10}{'survived':>10}")
    for outcome in outcomes:
        survived = len(outcome.survivors)
        number = outcome.killed + outcome.timed_out + survived
        counts = f"{number:8}{outcome.killed:8}{outcome.timed_out:10}{survived:10}"
        print(f"{outcome.module:40}{counts}")


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("module", nargs="?", help="path of a module from the working directory")
    parser.add_argument("tests", nargs="*", help="files and folders of its tests")
    parser.add_argument("--line", type=int, action="append", help="only statements on this line")
    given: Any = parser.parse_args(arguments)
    # The same examples of property tests each time.
    os.environ["CI"] = "1"
    sys.path.insert(0, "")
    targets = {given.module: given.tests or TARGETS[given.module]} if given.module else TARGETS
    outcomes = [
        try_mutants(Path(module), tests, only=given.line or ()) for module, tests in targets.items()
    ]
    show(outcomes)
    return int(any(outcome.survivors for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
