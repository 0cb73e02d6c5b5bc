"""Every command that prints a table prints it in every format."""

from __future__ import annotations

import csv
import io
import json
import operator
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from command_line import run as run_command

import bayesbias as bb
from bayesbias.cli.app import app
from bayesbias.cli.common import FORMATS, is_for_programs

QUIET = ("-q",)
QUICK_FIT = ("--draws", "100", "--seed", "1")
#: What each command is given; TABLE is a file with distances.
COMMANDS: dict[str, tuple[str, ...]] = {
    "table": ("table", "--study", "weat_7"),
    "fit": ("fit", "TABLE", "--model", "separate", *QUICK_FIT, "--by", "protected_group"),
    "fit --show means": ("fit", "TABLE", "--model", "separate", *QUICK_FIT, "--show", "means"),
    "fit --show overview": (
        "fit",
        "TABLE",
        "--model",
        "separate",
        *QUICK_FIT,
        "--show",
        "overview",
    ),
    "fit --show parameters": (
        "fit",
        "TABLE",
        "--model",
        "separate",
        *QUICK_FIT,
        "--show",
        "parameters",
    ),
    "compare": ("compare", "TABLE", "--model", "baseline", "--model", "connection", *QUICK_FIT),
    "metrics": ("metrics", "weat_7", "-m", "weat_es", "-m", "ect", "--draws", "50"),
    "metrics --p-values": ("metrics", "weat_7", "--p-values", "--draws", "0"),
    "metrics --influence": ("metrics", "weat_7", "--influence"),
    "metrics --list": ("metrics", "--list"),
    "download": ("download",),
    "pmi-bias": ("pmi-bias", "gender_1", "--min-count", "1"),
    "rank": ("rank", "weat_7", "demo", "demo-100d", "--draws", "50"),
    "rank --correlations": (
        *("rank", "weat_7", "demo", "demo-100d", "-m", "weat", "-m", "weat_es"),
        "--correlations",
    ),
    "silhouette": ("silhouette", "weat_7", "--runs", "4"),
    "silhouette --influence": ("silhouette", "weat_7", "--runs", "4", "--influence"),
    "debias --list": ("debias", "--list"),
    "before-after": (
        *("before-after", "demo", "--study", "weat_7", "--draws", "50"),
        *("--metric", "weat_es", "--no-residual"),
    ),
    "words list": ("words", "list"),
    "words list weat": ("words", "list", "weat"),
    "words check": ("words", "check", "weat_7", "--samples", "10"),
    "words build": ("words", "build", "--size", "8"),
    "embedding info": ("embedding", "info", "demo"),
    "embedding similarity": ("embedding", "similarity", "demo", "demo-100d", "-b", "rg_65"),
}
#: A command is run once in each format, and these take seconds.
SLOW = ("before-after", "words build", "fit --show parameters", "pmi-bias")
#: What is the same in every format is done once.
LONG_WORK = {
    "before-after": ("debias_effects.before_after",),
    "words build": (
        "wordlists.GroupClassifier.fit",
        "wordlists.build_lists",
    ),
    "fit --show parameters": ("models.fit",),
    "pmi-bias": ("metrics.pmi_bias",),
}


@pytest.fixture(scope="module")
def table(demo: bb.Embedding, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("formats") / "table.csv"
    bb.write_table(bb.distance_table(demo, "weat_7"), path)
    return path


class Cells(HTMLParser):
    """The cells of each row, and the tags that are open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, _: Any) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def check_text(out: str) -> None:
    assert not re.search(r"\d\.\d{7}", out)


def check_csv(out: str) -> None:
    lines = list(csv.reader(io.StringIO(out)))
    assert len(lines) > 1
    assert {len(line) for line in lines} == {len(lines[0])}


def check_json(out: str) -> None:
    parts = json.loads(out)
    assert parts
    records = parts["lists"] if isinstance(parts, dict) else parts
    assert all(record.keys() == records[0].keys() for record in records)


def check_markdown(out: str) -> None:
    lines = [line for line in out.splitlines() if line.startswith("|")]
    assert any(set(line) <= set("|-: ") for line in lines)
    assert all(line.endswith(" |") for line in lines)
    check_rounded(out)


def check_latex(out: str) -> None:
    number, long = (out.count(rf"\begin{{{name}}}") for name in ("tabular", "longtable"))
    assert number + long
    assert out.count(r"\end{tabular}") == number
    assert out.count(r"\end{longtable}") == long
    # A long table has its headings again on each page, and two lines at the foot of a page.
    for text, times in ((r"\toprule", 2), (r"\midrule", 4), (r"\bottomrule", 1)):
        assert out.count(text) == number + times * long
    assert out.count(r"\begin{table}") == out.count(r"\end{table}")
    plain = re.sub(r"\\[_%#$&{}]", "", out)
    assert not re.search(r"[_%#]", plain)
    assert plain.count("{") == plain.count("}")
    check_rounded(out)


def check_html(out: str) -> None:
    page = Cells(out)
    assert not page.open
    assert len(page.rows) > 1
    assert out.startswith("<table>")
    check_rounded(out)


def check_rounded(out: str) -> None:
    assert not re.search(r"\d\.\d{7}", out)
    assert not re.search(r"\bnan\b|\bNone\b", out)


CHECKS = {
    "text": check_text,
    "csv": check_csv,
    "json": check_json,
    "markdown": check_markdown,
    "latex": check_latex,
    "html": check_html,
}


def once(work: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that works when it is first called, and then gives the same again."""
    done: list[Any] = []

    def call(*arguments: Any, **options: Any) -> Any:
        if not done:
            done.append(work(*arguments, **options))
        return done[0]

    return call


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in COMMANDS],
)
def test_every_format_of_every_command(
    name: str,
    table: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert tuple(CHECKS) == FORMATS
    for place in LONG_WORK.get(name, ()):
        monkeypatch.setattr(f"bayesbias.{place}", once(operator.attrgetter(place)(bb)))
    command = [str(table) if word == "TABLE" else word for word in COMMANDS[name]]
    printed = {}
    for output, check in CHECKS.items():
        assert run_command(*command, *QUIET, "--format", output) == 0
        printed[output] = capsys.readouterr().out
        check(printed[output])
    assert run_command(*command, *QUIET) == 0
    assert capsys.readouterr().out == printed["text"]


def test_commands_with_a_format_are_those_that_are_tested() -> None:
    found = set()
    for name, command in app.commands.items():
        for part, each in getattr(command, "commands", {"": command}).items():
            if any("--format" in option.opts for option in each.params):
                found.add(f"{name} {part}".strip())
    tested = {
        " ".join(words[:2]) if words[0] in ("words", "embedding") else words[0]
        for words in COMMANDS.values()
    }
    assert found == tested | {"doctor"}  # which has a test of its own


def test_formats_for_programs_have_all_digits(run: Any, table: Path) -> None:
    command = ("fit", table, "--model", "separate", *QUICK_FIT, "--by", "protected_group", *QUIET)
    wanted = bb.fit(bb.read_table(table), "separate", draws=100, seed=1, progress=False)
    means = wanted.contrasts("associated - none", by="protected_group")["mean"].tolist()
    assert [row["mean"] for row in json.loads(run(*command, "--format", "json").out)] == means
    rows = csv.DictReader(io.StringIO(run(*command, "--format", "csv").out))
    assert [float(row["mean"]) for row in rows] == means
    assert [output for output in FORMATS if is_for_programs(output)] == ["csv", "json"]


def test_documents_have_the_interval_beside_its_estimate(run: Any, table: Path) -> None:
    command = ("fit", table, "--model", "separate", *QUICK_FIT, "--by", "protected_group", *QUIET)
    fitted = bb.fit(bb.read_table(table), "separate", draws=100, seed=1, progress=False)
    row = fitted.contrasts("associated - none", by="protected_group").iloc[0]
    numbers = [f"{row[name]:.3f}" for name in ("mean", "lower", "upper")]
    latex = run(*command, "--format", "latex").out
    assert r"\caption{Model separate: contrasts, with 89\% intervals.}" in latex
    signed = [f"${text}$" if text.startswith("-") else text for text in numbers]
    assert "{} [{}, {}]".format(*signed) in latex
    cell = "{} [{}, {}]".format(*numbers).replace("-", "−")
    markdown = run(*command, "--format", "markdown").out
    assert f"| {cell} |" in markdown
    assert markdown.endswith(" |\n\nModel separate: contrasts, with 89% intervals.\n")
    page = run(*command, "--format", "html").out
    assert "<caption>Model separate: contrasts, with 89% intervals.</caption>" in page
    assert [line[2] for line in Cells(page).rows[:2]] == ["mean", cell]


def test_the_suffix_of_a_file_is_a_format_too(run: Any, tmp_path: Path) -> None:
    command = ("metrics", "weat_7", "--draws", "50", *QUIET)
    for suffix, output in ((".tex", "latex"), (".html", "html"), (".md", "markdown")):
        path = tmp_path / f"scores{suffix}"
        assert run(*command, "--out", path).code == 0
        CHECKS[output](path.read_text("utf-8"))
    assert "'.tex'" in run(*command, "--out", tmp_path / "scores.docx").err


def test_unknown_formats_are_refused_and_table_is_text(run: Any) -> None:
    result = run("words", "list", "--format", "excel")
    assert result.code == 2
    assert "'latex'" in result.err
    assert run("words", "list", "--format", "table").out == run("words", "list").out


def test_words_are_escaped_in_every_document(run: Any, tmp_path: Path) -> None:
    query = tmp_path / "query.toml"
    query.write_text(
        '[target_sets]\n"a_b & <i>50%</i> | c" = ["he", "him"]\nd = ["she", "her"]\n'
        '[attribute_sets]\ne = ["boss", "career"]\nf = ["home", "family"]\n'
    )
    command = ("metrics", query, "-m", "weat", "--draws", "0", *QUIET, "--format")
    assert r"a\_b \& \textless{}i\textgreater{}50\%" in run(*command, "latex").out
    assert r"</i> \| c" in run(*command, "markdown").out
    page = run(*command, "html").out
    assert "<i>" not in page
    assert any("a_b & <i>50%</i> | c" in cell for line in Cells(page).rows for cell in line)
