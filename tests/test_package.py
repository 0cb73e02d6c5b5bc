"""What holds for the package as a whole: imports, documentation, the README, the wheel."""

from __future__ import annotations

import ast
import contextlib
import importlib
import io
import re
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import matplotlib.pyplot as plt
import pytest

import bayesbias as bb

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path(bb.__file__).parent
README = ROOT / "README.md"

# Each room may import from itself and from the rooms named here.
FOUNDATION = ("errors", "_core", "numerics")
MEASURING = (
    "embeddings",
    "corpus",
    "wordlists",
    "distances",
    "models",
    "metrics",
    "debias",
    "rankings",
    "silhouette_analysis",
    "debias_effects",
)
ROOMS = {
    "errors": (),
    "_core": ("errors",),
    "numerics": ("errors", "_core"),
    "parallel": ("errors", "_core"),
    "embeddings": (*FOUNDATION, "parallel"),
    "corpus": (*FOUNDATION, "parallel", "embeddings"),
    "wordlists": (*FOUNDATION, "embeddings", "corpus"),
    "distances": (*FOUNDATION, "embeddings", "wordlists"),
    "models": (*FOUNDATION, "parallel", "distances"),
    "metrics": (*FOUNDATION, "embeddings", "corpus", "wordlists", "distances"),
    "debias": (*FOUNDATION, "embeddings", "wordlists"),
    "rankings": (*FOUNDATION, "parallel", "embeddings", "wordlists", "metrics"),
    "silhouette_analysis": (
        *(*FOUNDATION, "parallel"),
        *("embeddings", "wordlists", "metrics", "rankings"),
    ),
    "debias_effects": (*FOUNDATION, *MEASURING[:-2]),
    "plots": (*FOUNDATION, *MEASURING),
    "html": FOUNDATION,
    "auditing": (*FOUNDATION, "parallel", *MEASURING, "plots", "html"),
    "cli": (*FOUNDATION, "parallel", *MEASURING, "plots", "html", "auditing"),
    "__main__": ("cli",),
}


def modules() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path != PACKAGE / "__init__.py"]


def imports(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield what a file imports from the package: the module, and the names taken from it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "bayesbias":
            yield from ((f"bayesbias.{name.name}", []) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            if (node.module or "").startswith("bayesbias."):
                yield str(node.module), [name.name for name in node.names]
        elif isinstance(node, ast.Import):
            yield from ((n.name, []) for n in node.names if n.name.split(".")[0] == "bayesbias")


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


each_module = pytest.mark.parametrize(
    "path", modules(), ids=lambda path: str(path.relative_to(PACKAGE))
)


@each_module
def test_imports_flow_one_way(path: Path) -> None:
    room = room_of(path)
    for module, _ in imports(path):
        parts = module.split(".")
        if parts[1:] != ["__version__"]:
            # ``import bayesbias`` gives every room, which only the command line may have.
            assert len(parts) > 1 or room == "cli", f"{room} must not import {module}"
            assert len(parts) == 1 or parts[1] in (room, *ROOMS[room]), f"{room}: {module}"


# Rooms within a room, from which others may import.
INNER_ROOMS = ("bayesbias.models.exact", "bayesbias.models.nuts")


@each_module
def test_other_rooms_are_entered_by_the_door(path: Path) -> None:
    for module, names in imports(path):
        parts = module.split(".")
        if len(parts) == 1 or parts[1] in (room_of(path), *FOUNDATION, "__version__"):
            continue  # the foundation is a library of modules
        assert len(parts) == 2 or module in INNER_ROOMS, f"{module} is inside another room"
        door = importlib.import_module(module)
        for name in names:
            # Not a module: a room may divide its modules otherwise.
            assert not isinstance(getattr(door, name), ModuleType), f"{module}.{name}"
            assert not name.startswith("_"), f"{module}.{name}"


def test_no_two_modules_share_a_name() -> None:
    names = [
        p.stem for p in modules() if p.stem not in ("__init__", "base") and "cli" not in p.parts
    ]
    assert sorted(names) == sorted(set(names))


# These public functions have more parameters than others, as users of PyMC and scikit-learn expect
# keywords in notebooks; they pass them on as frozen dataclasses.
MANY_KEYWORDS = {
    "audit",
    "before_after",
    "calibrate",
    "fit",
    "query_scores",
    "rank_posterior",
    "run_queries",
    "silhouettes",
    "train_embedding",
    "train_replicates",
}
MOST_PARAMETERS = 12
MOST_LINES = 60


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def is_command(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tell whether click calls it, with a parameter for each option."""
    calls = [node for node in function.decorator_list if isinstance(node, ast.Call)]
    return any(isinstance(c.func, ast.Attribute) and c.func.attr == "command" for c in calls)


@each_module
def test_functions_have_few_parameters(path: Path) -> None:
    for function in functions(path):
        names = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        number = len([name for name in names if name.arg not in ("self", "cls")])
        is_public = function.name in MANY_KEYWORDS and function.name in public_names()
        assert number <= MOST_PARAMETERS or is_public or is_command(function), function.name


@each_module
def test_functions_have_short_bodies(path: Path) -> None:
    for function in functions(path):
        body = function.body[ast.get_docstring(function, clean=False) is not None :]
        lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0  # type: ignore[operator]
        assert lines <= MOST_LINES, function.name


def public_names() -> set[str]:
    return {name.rpartition(".")[2] for name in public()}


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


HEAVY = ("numpy", "pandas", "scipy", "pyarrow", "gensim", "matplotlib", "pymc", "arviz", "rich")
LOADED = f"print(*[m for m in {HEAVY} if m in sys.modules])"


def test_import_is_light() -> None:
    assert run(f"import sys, bayesbias; {LOADED}") == ""


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, io, contextlib\nfrom bayesbias.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n    main(['table', '--help'])\n"
    )
    assert run(code + LOADED) == ""


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ArviZ 0.23, which PyMC imports, announce 1.0: its cache has the day it last did."""
    for name in ("XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path))


@pytest.mark.slow
@pytest.mark.usefixtures("empty_cache")
def test_the_first_import_of_the_day_is_silent() -> None:
    strict = "import warnings; warnings.simplefilter('error', FutureWarning)"
    run(f"{strict}\nimport bayesbias.models.nuts.pymc_model")


@pytest.mark.slow
@pytest.mark.usefixtures("empty_cache")
def test_processes_may_import_arviz_at_once() -> None:
    """Another process takes the file that ArviZ has just written; the next attempt works."""
    taken_once = (
        "from pathlib import Path\n"
        "replace = Path.replace\n"
        "def taken(self, target):\n"
        "    replace(self, target)\n"
        "    if self.name != 'daily_warning.tmp': return\n"
        "    Path.replace = replace\n"
        "    raise FileNotFoundError(self)\n"
        "Path.replace = taken"
    )
    run(f"{taken_once}\nimport bayesbias.models.nuts.pymc_model")


def test_loading_needs_no_inference_and_no_gensim() -> None:
    code = "import sys, bayesbias as bb; bb.load_embedding('demo'); bb.load_study('religion'); "
    loaded = run(code + LOADED).split()
    assert not {"pymc", "arviz", "gensim", "matplotlib", "scipy"} & set(loaded)


def public() -> dict[str, object]:
    """Return everything public by its full name: of the root, and of the rooms it shows."""
    found = {}
    for name in dir(bb):
        thing = getattr(bb, name)
        if isinstance(thing, ModuleType):
            found |= {f"{name}.{part}": getattr(thing, part) for part in thing.__all__}
        else:
            found[name] = thing
    return found


def test_public_names() -> None:
    assert "TYPE_CHECKING" not in dir(bb)
    assert {"fit", "audit", "metrics", "errors"} <= set(dir(bb))
    assert not {"WEAT", "HardDebias", "DataError"} & set(dir(bb)), "families are one level down"
    with pytest.raises(AttributeError, match="nonsense"):
        bb.nonsense  # noqa: B018


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("WEAT", r"it is bayesbias\.metrics\.WEAT\."),
        ("harddebias", r"it is bayesbias\.debias\.HardDebias\."),
        ("distance_tabel", "Did you mean 'distance_table'"),
    ],
)
def test_names_that_are_not_at_the_root(name: str, hint: str) -> None:
    with pytest.raises(AttributeError, match=hint):
        getattr(bb, name)


def test_other_rooms_are_imported_as_such() -> None:
    code = "from bayesbias import cli; import sys; print(cli.__name__); "
    assert run(code + LOADED).strip() == "bayesbias.cli"


def documented() -> list[str]:
    names = []
    for full, thing in public().items():
        name = full.rpartition(".")[2]
        if isinstance(thing, type) and issubclass(thing, Warning | Exception):
            continue
        if not callable(thing):
            continue
        names.append(f"{thing.__module__}.{name}")
        if isinstance(thing, type):
            members = [m for m in vars(thing) if not m.startswith("_")]
            # A method that overrides one of a base class is documented there.
            inherited = {m for base in thing.__mro__[1:] for m in vars(base)}
            methods = [m for m in members if callable(getattr(thing, m)) and m not in inherited]
            names += [f"{thing.__module__}.{name}.{m}" for m in methods]
    return sorted(set(names))


CODES = {"PR01", "PR02", "PR03", "PR04", "PR07", "RT03", "SS03", "SS05", "GL01", "GL03", "GL08"}


@pytest.mark.parametrize("name", documented())
def test_docstrings(name: str) -> None:
    from numpydoc.validate import validate

    found = validate(name)
    assert [error for error in found["errors"] if error[0] in CODES] == []
    is_method = name.split(".")[-2][0].isupper()
    assert is_method or found["docstring"].count(">>> "), f"{name} has no example"


def blocks(page: Path) -> list[tuple[str, str]]:
    """The Python blocks of a page, and what each prints where the page says it."""
    pattern = r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?"
    return re.findall(pattern, page.read_text("utf-8"), re.S)


PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
NUMBER = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")


def test_readme_has_an_example() -> None:
    assert [bool(expected) for _, expected in blocks(README)] == [True]


@pytest.fixture
def as_it_was() -> Iterator[None]:
    """A page may add a metric, and draw figures."""
    with patch.dict(bb.metrics.METRICS):
        yield
    plt.close("all")


@pytest.mark.slow
@pytest.mark.usefixtures("as_it_was")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_page_is_true(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # where an audit makes its folder
    names: dict[str, object] = {}
    for code, expected in blocks(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings(action="ignore"):
            exec(compile(code, page.name, "exec"), names)
        if not expected:
            continue
        assert NUMBER.sub("#", printed.getvalue()).split() == NUMBER.sub("#", expected).split()
        # The same seed gives the same draws on one machine; on another, rounding may shift them.
        got, wanted = (list(map(float, NUMBER.findall(t))) for t in (printed.getvalue(), expected))
        assert got == pytest.approx(wanted, rel=0.01, abs=0.025)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text("utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target


def test_wheel_holds_the_data(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    for name in (
        "bayesbias/py.typed",
        "bayesbias/__init__.pyi",
        "bayesbias/embeddings/data/demo-50d.npz",
        "bayesbias/embeddings/data/demo-100d.npz",
        "bayesbias/embeddings/data/README.md",
        "bayesbias/wordlists/data/weat.toml",
        *(f"bayesbias/_models/{path.name}" for path in (ROOT / "models").glob("*.toml")),
        "bayesbias/wordlists/data/studies/religion.toml",
        "bayesbias/wordlists/data/labelled/gender.toml",
        "bayesbias/corpus/data/austen.txt.bz2",
        "bayesbias/corpus/data/README.md",
        "bayesbias/auditing/results.schema.json",
        *(f"bayesbias/html/{name}" for name in ("page.css", "dark.css", "page.js")),
        *(
            f"bayesbias/html/templates/{path.name}"
            for path in (PACKAGE / "html" / "templates").glob("*.html")
        ),
    ):
        assert name in names
    data = sum(
        (PACKAGE / "embeddings" / "data" / f"demo-{d}d.npz").stat().st_size for d in (50, 100)
    )
    assert data < 5_000_000
    assert not [name for name in names if name.startswith(("tests", "benchmarks", "scripts"))]
