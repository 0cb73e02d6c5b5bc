"""The report of an audit."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from small_audit import FAST, QUICK, times

import bayesbias as bb
from bayesbias.auditing.audit_run import write_report
from bayesbias.errors import DataError


def requests(page: str) -> Iterator[str]:
    """What a browser would fetch."""
    yield from re.findall(r'\b(?:src|srcset|poster|data)="(?!data:)([^"]*)"', page)
    yield from re.findall(r"url\((?!#|&quot;#|'#)([^)]*)\)", page)
    yield from re.findall(r"<link[^>]*href=\"(?!data:)([^\"]*)\"", page)
    yield from re.findall(r"@import[^;]*", page)
    yield from re.findall(r"<(?:iframe|object|embed|base)\b", page)
    yield from re.findall(r"\b(?:fetch|XMLHttpRequest|WebSocket|import)\(", page)


def test_report_is_self_contained(made: Path) -> None:
    page = (made / "report.html").read_text("utf-8")
    assert list(requests(page)) == []
    assert list(requests('<img src="https://x.org/a.png"><link href="a.css">')) != []


def test_report_has_everything(made: Path, trees: bb.Study) -> None:
    page = (made / "report.html").read_text("utf-8")
    for word in trees.protected_words:
        assert f"<summary>{word}</summary>" in page
    for attribute in ("sturdy", "human0", "neutral0"):
        assert attribute in page
    for section in (
        "Summary",
        "Words",
        "Groups and data set",
        "Distances",
        "Models",
        "Classical metrics",
        "Word lists",
        "Diagnostics",
        "Methods",
        "References and citation",
    ):
        assert f">{section}</h2>" in page
    assert "Debiasing</h2>" not in page
    for doi in ("10.1162/coli_a_00507", "10.24963/ijcai.2020/60", "10.18653/v1/N19-1062",
                "10.1126/science.aal4230", "10.24963/ijcai.2021/77",
                "10.1007/s11222-016-9696-4"):  # fmt: skip
        assert f"https://doi.org/{doi}" in page
    assert "bar[connection] ~ Normal(1, 0.3)" in page
    assert "No-U-Turn" not in page.split('id="references"')[0]  # it was not run


def test_report_again_from_the_files_alone(
    folder: Path, wood: bb.Embedding, trees: bb.Study, tmp_path: Path
) -> None:
    old = (folder / "report.html").read_bytes()
    assert write_report(folder, tmp_path / "page.html").read_bytes() == old
    (folder / "report.html").unlink()
    assert write_report(folder).read_bytes() == old
    before = times(folder)
    bb.audit(wood, trees, out=folder, **QUICK)  # which knows it
    assert times(folder) == before
    (folder / "scores.csv").unlink()
    with pytest.raises(DataError, match=r"scores.csv.*run the audit again"):
        write_report(folder)
    assert (folder / "report.html").read_bytes() == old


def test_words_like_markup_and_gaps(wood: bb.Embedding, trees: bb.Study, sketched: None) -> None:
    new = {"acorn": "<b>x</b>", "cone": "nan", "sturdy": "*a*", "neutral0": "NULL", "bark": "007"}
    data = json.loads(
        re.sub(
            r'"(\w+)"',
            lambda match: json.dumps(new.get(match[1], match[1])),
            json.dumps(trees.to_dict()),
        )
    )
    words = [new.get(word, word) for word in wood.words]
    found = bb.audit(
        bb.Embedding(words, wood.vectors, "odd <i>name</i>"), bb.Study.from_dict(data), **FAST
    )
    page = found.report.read_text("utf-8")
    assert "<b>x</b>" not in page
    assert "<summary>&lt;b&gt;x&lt;/b&gt;</summary>" in page
    assert "<i>name</i>" not in page
    assert {"nan", "007"} <= set(found.contrasts["word"])
    assert "&lt;i&gt;name" in found._repr_html_()


def test_large_figures_are_shown_as_png(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bayesbias.auditing.report import section_blocks

    monkeypatch.setattr(section_blocks, "_LARGE", 10_000)
    page = write_report(folder).read_text("utf-8")
    assert "data:image/png;base64," in page
    assert list(requests(page)) == []


def test_of_very_many_words_the_largest_differences_are_shown(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bayesbias.auditing import effect_tables

    monkeypatch.setattr(effect_tables, "MOST_WORDS", 4)
    contrasts = bb.Audit(folder).contrasts
    rows = contrasts.query("level == 'word' and contrast == 'associated - none'")
    order = rows.sort_values("mean", key=lambda mean: -mean.abs())["word"].tolist()
    page = write_report(folder).read_text("utf-8")
    for word in order[:4]:
        assert f"<summary>{word}</summary>" in page
    for word in order[4:]:
        assert f"<summary>{word}</summary>" not in page
    assert "the 4 words with the largest differences of 6; all are in" in page
    assert "The 4 protected words with the largest differences by the three comparisons" in page


@pytest.mark.slow
def test_a_figure_of_very_many_words_has_those_of_the_table(
    wood: bb.Embedding, trees: bb.Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bayesbias.auditing import effect_tables

    monkeypatch.setattr(effect_tables, "MOST_WORDS", 4)
    found = bb.audit(wood, trees, out=tmp_path / "audit", **FAST)
    shown = re.findall(r"<summary>(\w+)</summary>", found.report.read_text("utf-8"))
    figure = (tmp_path / "audit" / "figures" / "means.svg").read_text("utf-8")
    words = {word for word in trees.protected_words if f"word:{word}" in figure}
    assert words == set(trees.protected_words) & set(shown)
    assert len(words) == 4
    assert set(found.contrasts["word"]) >= set(trees.protected_words)


def test_caption_of_very_many_distances(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bayesbias.auditing.report import words_section

    assert "Every distance as a dot;" in (folder / "report.html").read_text("utf-8")
    monkeypatch.setattr(words_section, "MOST_DOTS", 30)
    page = write_report(folder).read_text("utf-8")
    assert "Distances as dots, of each kind 30 at most, chosen at random;" in page


@pytest.mark.parametrize(
    "kind",
    [*bb.metrics.METRICS.values(), *bb.debias.DEBIASERS.values()],
    ids=lambda kind: kind.name,
)
def test_references_are_those_of_the_documentation(kind: Any) -> None:
    assert re.search(r"\(\d{4}\), (doi:|arXiv:|proceedings)", kind.reference)
    documented = re.search(
        r"References\n-+\n(.*?)(?:\n\n|$)", inspect.getdoc(kind) or "", re.DOTALL
    )
    if documented:  # else it is that of the class it derives from
        assert kind.reference == " ".join(documented[1].split())


def test_metrics_and_methods_are_referenced(made: Path) -> None:
    page = (made / "report.html").read_text("utf-8")
    # Of MAC and, inherited from WEAT, of its effect size.
    assert "Manzini, Lim, Tsvetkov, Black (2019)" in page
    assert "Caliskan, Bryson, Narayanan (2017)" in page
    assert bb.metrics.Metric.reference is None


@pytest.mark.slow
def test_labels_are_for_readers_and_not_for_data(
    wood: bb.Embedding, trees: bb.Study, tmp_path: Path
) -> None:
    labels = {"study": "Trees", "groups": {"oak": "Oaks"}, "words": {"acorn": "the acorn"}}
    study = bb.Study.from_dict(trees.to_dict() | {"labels": labels})
    found = bb.audit(wood, study, out=tmp_path / "x", **FAST)
    page = found.report.read_text("utf-8")
    assert "<title>Trees in forest</title>" in page
    words = page.split('id="words"')[1].split("<section id=")[0]
    assert '<tr data-key="word:acorn">' in words
    assert 'data-tip="the acorn: associated stereotypes' in words
    assert ">Oaks</text>" in words
    assert "Oaks" in found.summary()
    assert set(found.contrasts["group"]) == {"", "oak", "fir"}
    assert "acorn" in set(found.contrasts["word"])
    # Other labels draw the figures again, and fit nothing again.
    times = {name: step["made"] for name, step in found.steps.items()}
    labels["groups"]["oak"] = "Oak trees"
    again = bb.audit(
        wood,
        bb.Study.from_dict(trees.to_dict() | {"labels": labels}),
        out=tmp_path / "x",
        **FAST,
    )
    assert ">Oak trees</text>" in again.report.read_text("utf-8")
    assert again.steps["fit hierarchical"]["made"] == times["fit hierarchical"]


def test_figures_of_a_prior_are_not_drawn(made: Path) -> None:
    drawn = {path.name for path in made.rglob("coefficients-*")}
    assert drawn <= {"coefficients-narrow.svg"}


@pytest.mark.slow
def test_people_read_labels_and_programs_names(tmp_path: Path, sketched: None) -> None:
    """The groups of a study have names for tables of data and labels for people."""
    options = FAST | {"silhouettes": True, "debias": "leace", "metrics": ["weat_es", "rnd"]}
    found = bb.audit("demo", "race", out=tmp_path / "audit", **options)
    label = found.parts["demo", "race"].study.group_label("caucasian")
    page = found.report.read_text("utf-8")
    shown = page.split("<body")[1].split('id="provenance"')[0]
    # The protected word stays: it is a word of the embedding.
    names = re.findall(r"\bcaucasian (?:and|wrt|stereotypes)|(?:and|wrt) caucasian\b", shown)
    assert names == []
    assert re.findall(r"(?:group|stereotype): (?:black|caucasian|asian)", shown) == []
    assert f"{label} and " in shown
    assert "WEAT effect size" in shown
    assert "weat_es" not in shown
    paper = found.folder / "paper"
    assert label in (paper / "metrics.md").read_text("utf-8")
    assert "caucasian and" not in (paper / "metrics.md").read_text("utf-8")
    assert "weat_es" not in (paper / "metrics.md").read_text("utf-8")
    assert "black and caucasian wrt" in (found.folder / "scores.csv").read_text("utf-8")


def test_methods_state_the_coverage_of_the_calibration_page(made: Path) -> None:
    """Of intervals for groups, the lowest and the highest over all designs and contrasts."""
    table = (Path(__file__).parents[2] / "docs/concepts/calibration.md").read_text("utf-8")
    table = table.split("<!-- fill: design -->")[1].split("Results by design")[0]
    rows = [line.split(" | ") for line in table.splitlines()]
    heading = next(row for row in rows if "level" in row)
    groups = [row for row in rows if len(row) > 1 and row[1] == "groups"]
    text = re.sub(r"<[^>]*>", "", (made / "report.html").read_text("utf-8"))
    claims = {"interaction": "in {} to {}% of the tables", "crossed": "in {} to {}%."}
    for model, words in claims.items():
        column = next(i for i, name in enumerate(heading) if model in name)
        shares = [float(x) for row in groups for x in re.findall(r"\d\.\d\d", row[column])[:2]]
        assert words.format(round(100 * min(shares)), round(100 * max(shares))) in text
    designs, tables = re.findall(r"over (\d+) designs, (\d+) tables each", table)[0]
    assert f"({designs} designs, {tables} tables each)" in text
