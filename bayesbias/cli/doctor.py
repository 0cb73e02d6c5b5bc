"""The command `bayesbias doctor`."""

from __future__ import annotations

import os
import platform
import re
import shutil
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import click

from bayesbias import __version__
from bayesbias.cli.common import format_option, print_rows

_MAIN = ("numpy", "scipy", "pandas", "scikit-learn", "pymc", "arviz", "matplotlib", "gensim")
#: What each sampler needs, and how it is installed.
_SAMPLERS = {
    "nutpie": (("nutpie",), "pip install nutpie"),
    "pymc": (("pymc",), "pip install pymc"),
    "numpyro": (("jax", "numpyro"), "pip install 'bayesbias[numpyro]'"),
    "blackjax": (("jax", "blackjax"), "pip install 'bayesbias[blackjax]'"),
}
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "firefox", "msedge")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@click.command(
    short_help="Show versions and optional packages.",
    epilog="Example: bayesbias doctor --format json",
)
@format_option
def doctor(output: str) -> None:
    """Show versions, samplers, threads and optional packages, for reports of problems."""
    checks = (_versions, _samplers, _threads, _extras, _surroundings)
    rows: list[dict[str, str | int]] = []
    for check in checks:
        try:
            rows += [{"part": part, "name": name, "state": state} for part, name, state in check()]
        except Exception as err:  # what is broken is what people want to know
            rows.append({"part": "error", "name": check.__name__.strip("_"), "state": str(err)})
    print_rows(rows, output, caption="The installation.")


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _versions() -> list[tuple[str, str, str]]:
    rows = [
        ("version", "bayesbias", __version__),
        ("version", "python", platform.python_version()),
        ("version", "system", platform.platform()),
    ]
    return rows + [("version", name, _version(name) or "missing") for name in _MAIN]


def _samplers() -> list[tuple[str, str, str]]:
    rows = []
    for name, (packages, remedy) in _SAMPLERS.items():
        missing = [package for package in packages if find_spec(package) is None]
        state = f"missing: {remedy}" if missing else f"available, {_version(name) or 'no version'}"
        rows.append(("sampler", name, state))
    return rows


def _threads() -> list[tuple[str, str, str]]:
    import numpy as np  # noqa: F401  # loads the BLAS that is asked about
    from threadpoolctl import threadpool_info

    rows = [("threads", "cores", str(os.cpu_count() or "unknown"))]
    for pool in threadpool_info():
        name = pool.get("internal_api", "unknown")
        number = pool.get("num_threads", "unknown")
        rows.append(("threads", f"{name} {pool.get('version') or ''}".strip(), str(number)))
    return rows + [("threads", name, os.environ.get(name, "not set")) for name in _THREADS]


def _extras() -> list[tuple[str, str, str]]:
    """Return the optional dependencies as the installed package declares them."""
    needs: dict[str, list[str]] = {}
    for text in metadata.requires("bayesbias") or ():
        marker = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", text)
        package = re.match(r"[A-Za-z0-9._-]+", text)
        if marker and package:
            needs.setdefault(marker[1], []).append(package[0])
    rows = []
    for extra, packages in sorted(needs.items()):
        missing = [package for package in packages if _version(package) is None]
        state = f"missing {', '.join(missing)}: pip install 'bayesbias[{extra}]'"
        rows.append(("extra", extra, state if missing else "installed"))
    return rows


def _surroundings() -> list[tuple[str, str, str]]:
    """Return the browser, the font of figures and where downloads are kept."""
    from matplotlib import font_manager

    browser = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    folder = Path(os.environ.get("GENSIM_DATA_DIR", Path.home() / "gensim-data"))
    return [
        ("other", "browser", browser or "none found; only tests of reports need one"),
        ("other", "font of figures", font_manager.FontProperties().get_name()),
        ("other", "fonts", str(len({font.name for font in font_manager.fontManager.ttflist}))),
        ("other", "downloads", f"{folder}{'' if folder.is_dir() else ' (none yet)'}"),
    ]
