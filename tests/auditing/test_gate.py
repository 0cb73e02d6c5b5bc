"""Conditions that fail a check: how they are read, their probabilities, and where they are kept."""

from __future__ import annotations

import importlib.util
import json
import re
from importlib.resources import files as resources
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from small_audit import FAST, QUICK, forest, sketch, times

import bayesbias as bb
from bayesbias.auditing import audit_figures, audit_run, audit_steps
from bayesbias.auditing.audit_result import AuditPart
from bayesbias.auditing.conditions import Condition, Names, check_names
from bayesbias.errors import DataError, SpecError

ALWAYS = "associated - different < 9 with P > 0.5"
NEVER = "associated - different < -9 with P > 0.5"


@pytest.fixture(scope="module")
def fitted(made: Path) -> bb.models.Fit:
    return bb.Audit(made).fits["hierarchical"]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory, trees: bb.Study) -> bb.Audit:
    """Two embeddings, one of them without bias."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_figures, "save", sketch)
        return bb.audit(
            [forest("leaning", 0, 3.0), forest("level", 1, 0.0)],
            trees,
            out=tmp_path_factory.mktemp("two") / "audit",
            fail_if=["associated - different < -0.1 with P > 0.95", NEVER],
            **FAST,
        )


# How conditions are read


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("associated - different < -0.05 with P > 0.95",
         ("associated - different", True, -0.05, 0.95, False, ("data set",), "")),
        ("  different-associated>.1e0 WITH p>=1  for any group ",
         ("different-associated", False, 0.1, 1.0, True, ("group",), "")),
        ("associated − neutral < −2 with P > 0 for any  word",
         ("associated - none", True, -2.0, 0.0, False, ("word",), "")),
        ("(human + none) / 2 - associated > +3. with P>.5 for group New York",
         ("(human + none) / 2 - associated", False, 3.0, 0.5, False, ("group",), "New York")),
        ("associated - none < 0 with P > .5 for word −x",
         ("associated - none", True, 0.0, 0.5, False, ("word",), "−x")),
        ("associated - none < 0 with P > .5 for anyone",
         ("associated - none", True, 0.0, 0.5, False, ("group", "word"), "anyone")),
        ("associated - none < 0 with P > .5 for group",
         ("associated - none", True, 0.0, 0.5, False, ("group", "word"), "group")),
        ("associated - none < -0.05 At  equal frequency with P > .5 for any group",
         ("associated - none", True, -0.05, 0.5, False, ("group",), "", True)),
        ("associated - none < 0 with P > .5 for at equal frequency",
         ("associated - none", True, 0.0, 0.5, False, ("group", "word"), "at equal frequency")),
    ],
)  # fmt: skip
def test_conditions_are_read(text: str, expected: tuple[Any, ...]) -> None:
    read = Condition.parse(text)
    assert read == Condition(" ".join(text.split()), *expected)


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("", "the end", "a contrast"),
        ("< 3", "character 1", "a contrast"),
        ("associated - different", "the end", "< or >"),
        ("associated - Different < 1", "character 14", "'different'"),
        ("associated - < 1", "character 13", "a contrast"),
        ("associated - associated < 1 with P > .5", "character 1", "a contrast"),
        ("associated * human < 1 with P > .5", "character 1", "a contrast"),
        ("1e999 * human < 1 with P > .5", "character 1", "a contrast"),
        ("associated <= 1", "character 13", "a number"),
        ("associated < nan", "character 14", "a number"),
        ("associated < 1e999 with P > .5", "character 14", "finite"),
        ("associated < 1 P > .5", "character 16", "'with'"),
        ("associated < 1 with Q > .5", "character 21", "'P'"),
        ("associated < 1 with P < .5", "character 23", "> or >="),
        ("associated < 1 with P >", "the end", "a probability"),
        ("associated < 1 with P > 95%", "character 25", "below 1"),
        ("associated < 1 with P > 1", "character 25", "below 1"),
        ("associated < 1 with P >= 0", "character 26", "above 0"),
        ("associated < 1 with P > .5 in oak", "character 28", "'for' or the end"),
        ("associated < 1 at equal with P > .5", "character 25", "'at equal frequency'"),
        ("associated < 1 at Frequency", "character 19", "'at equal frequency'"),
        ("associated < 1 with P > .5 at equal frequency", "character 28", "stands before 'with'"),
        ("associated < 1 with P > .5 for", "the end", "'any group'"),
        ("associated < 1 with P > .5 for any", "the end", "'group' or 'word'"),
        ("associated < 1 with P > .5 for any trees", "character 36", "'group' or 'word'"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_position(
    text: str, place: str, expected: str
) -> None:
    with pytest.raises(SpecError) as caught:
        Condition.parse(text)
    message = str(caught.value)
    assert f"condition {text!r}, at {place}: expected " in message
    assert expected in message
    assert "write it like 'associated - different < -0.05" in message


@given(
    st.text(max_size=40) | st.text("associated different<>=-+*/()0.5 withPfor any\n", max_size=60)
)
@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        Condition.parse(text)
    except SpecError:
        return


# Probabilities


def test_probabilities_are_the_shares_of_draws_counted_one_by_one(fitted: bb.models.Fit) -> None:
    """From the parameters themselves: the mean of a word and connection, averaged by hand."""
    means = fitted.expected(["word_to_compare"])
    groups = fitted.groups().to_series()
    words = [str(word) for word in means["protected_word"].to_numpy()]

    def counted(chosen: list[str], limit: float) -> float:
        number = total = 0
        for chain in range(means.sizes["chain"]):
            for draw in range(means.sizes["draw"]):
                one = means.isel(chain=chain, draw=draw)
                by_group: dict[str, list[float]] = {}
                for word in chosen:
                    cell = one.sel(protected_word=word)
                    values = dict(zip(cell["connection"].to_numpy(), cell.to_numpy(), strict=True))
                    gap = values["associated"] - values["none"]
                    by_group.setdefault(str(groups[word]), []).append(gap)
                gap = np.mean([np.mean(gaps) for gaps in by_group.values()])
                number += gap < limit
                total += 1
        return number / total

    limit = round(float(fitted.contrasts()["mean"].iloc[0]), 3)
    start = f"associated - neutral < {limit} with P > 0.5"
    oak = [word for word in words if groups[word] == "oak"]
    for end, chosen in (("", words), (" for group oak", oak), (" for acorn", ["acorn"])):
        result = bb.check(fitted, start + end)
        [probability] = result.table["probability"]
        assert probability == pytest.approx(counted(chosen, limit), abs=1e-12)
        assert 0.02 < probability < 0.98 or end
        assert result.passed == (probability <= 0.5)
    opposite = bb.check(fitted, start.replace("<", ">")).table["probability"].item()
    assert opposite == pytest.approx(1 - counted(words, limit))


def test_probabilities_are_those_of_the_contrasts(made: Path) -> None:
    contrasts = bb.Audit(made).contrasts
    for level, count in (("group", 2), ("word", 6)):
        result = bb.check(made, f"associated - human < 0 with P > 0.9 for any {level}")
        rows = contrasts[
            (contrasts["level"] == level) & (contrasts["contrast"] == "associated - human")
        ]
        assert len(rows) == count
        wanted = dict(zip(level + " " + rows[level], rows["prob_negative"], strict=True))
        assert dict(zip(result.table["level"], result.table["probability"], strict=True)) == wanted
        assert result.passed == (max(wanted.values()) <= 0.9)


def test_conditions_at_equal_frequency_are_about_another_fit(made: Path) -> None:
    part = next(iter(bb.Audit(made).parts.values()))
    rows = part.contrasts.query("level == 'group' and contrast == 'associated - none'")
    limit = float(rows["equal_mean"].mean())
    start = f"associated - none < {limit:.4f}"
    raw, equal = f"{start} with P > 0.5 for any group", f"{start} at equal frequency with P > 0.5"
    result = bb.check(made, raw, f"{equal} for any group", equal)
    assert list(result.table["condition"]) == [raw, raw, *[f"{equal} for any group"] * 2, equal]
    adjusted = bb.fit(
        part.table, "hierarchical", draws=100, seed=0, covariates=["log_frequency"], progress=False
    )
    draws = adjusted.contrast_draws("associated - none", by="protected_group")
    wanted = (draws < round(limit, 4)).mean(("chain", "draw")).to_numpy()
    np.testing.assert_allclose(result.table["probability"][2:4], wanted)
    assert (result.table["probability"][:2].to_numpy() != wanted).all()
    # A fit with the covariate has these draws itself.
    found = bb.check(adjusted, f"{equal} for any group").table
    np.testing.assert_allclose(found["probability"], wanted)


def test_each_fit_is_judged_once(
    made: Path, fitted: bb.models.Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[bb.models.Fit] = []
    real = bb.models.Fit.diagnostics
    monkeypatch.setattr(bb.models.Fit, "diagnostics", lambda fit: judged.append(fit) or real(fit))
    bb.check(fitted, ALWAYS, NEVER)
    assert len(judged) == 1
    equal = f"{ALWAYS[:-13]} at equal frequency with P > 0.5"
    bb.check(made, ALWAYS, equal, f"{equal} for any group")
    assert len(judged) == 2


def test_equal_frequency_needs_frequencies(
    made: Path, fitted: bb.models.Fit, trees: bb.Study, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    condition = "associated - none < 0 at equal frequency with P > 0.5"
    with pytest.raises(SpecError, match="this fit has no contrasts at equal frequency; leave"):
        bb.check(fitted, condition)
    words = sorted(forest().words)
    vectors = np.random.default_rng(0).standard_normal((len(words), 20))
    unordered = bb.Embedding(words, vectors, "sorted")
    with pytest.raises(SpecError, match="sorted on trees has no contrasts at equal frequency"):
        bb.audit(unordered, trees, out=tmp_path / "out", fail_if=condition, **FAST)
    assert not (tmp_path / "out").exists()
    # A folder without the fit is not one that passed.
    monkeypatch.setattr(AuditPart, "fit_at_equal_frequency", None)
    with pytest.raises(DataError, match="has no fit at equal frequency; run the audit again"):
        bb.check(made, condition)


@pytest.mark.parametrize("condition", [ALWAYS, f"{ALWAYS[:-13]} at equal frequency with P > 0.5"])
def test_draws_that_failed_their_checks_decide_nothing(
    made: Path, monkeypatch: pytest.MonkeyPatch, condition: str
) -> None:
    assert bb.check(made, condition).doubts == []
    failed = {"agrees": False, "disagree": ["density"]}
    monkeypatch.setattr(AuditPart, "confirmation", failed)
    [doubt] = bb.check(made, condition).doubts
    assert doubt.endswith("the exact draws failed their checks (density)")


def test_the_threshold_itself_counts_only_if_asked_for(fitted: bb.models.Fit) -> None:
    limit = round(float(fitted.contrasts()["mean"].iloc[0]), 3)
    p = bb.check(fitted, f"associated - none < {limit} with P > 0").table["probability"].item()
    assert 0 < p < 1
    for sign, failed in ((">", False), (">=", True)):
        result = bb.check(fitted, f"associated - none < {limit} with P {sign} {p!r}")
        assert result.table["failed"].tolist() == [failed]


def test_each_embedding_of_a_model_of_several_is_checked(trees: bb.Study) -> None:
    both = [forest("leaning", 0, 3.0), forest("level", 1, 0.0)]
    table = pd.concat([bb.distance_table(one, trees) for one in both], ignore_index=True)
    fit = bb.fit(table, "embeddings", draws=100, progress=False)
    for end, number in (("", 1), (" for any group", 2), (" for word acorn", 1)):
        found = bb.check(fit, f"associated - different < -0.1 with P > 0.9{end}").table
        assert found["embedding"].value_counts().to_dict() == {"leaning": number, "level": number}
        leaning = found["embedding"] == "leaning"
        assert found.loc[leaning, "probability"].min() > found.loc[~leaning, "probability"].max()


@pytest.mark.filterwarnings("ignore:model 'hierarchical'.*have no row")
def test_levels_without_distances_are_left_out(wood: bb.Embedding, trees: bb.Study) -> None:
    table = bb.distance_table(wood, trees)
    gone = (table["protected_word"] == "acorn") & (table["connection"] == "human")
    fit = bb.fit(table[~gone], "hierarchical", draws=100, progress=False)
    levels = bb.check(fit, "associated - human < 9 with P > 0.5 for any word").table["level"]
    assert "word acorn" not in set(levels)
    assert len(levels) == 5
    with pytest.raises(SpecError, match="no distances of the word 'acorn'"):
        bb.check(fit, "associated - human < 9 with P > 0.5 for acorn")


# What conditions can be about


@pytest.mark.parametrize(
    ("condition", "named"),
    [
        (f"{NEVER} for oak", ["'for group oak'", "'for word oak'"]),
        (f"{NEVER} for acrn", ["group or word 'acrn'", "Did you mean 'acorn'"]),
        (f"{NEVER} for group acorn", ["group 'acorn'", "'oak', 'fir'"]),
        (f"{NEVER} for word sturdy", ["word 'sturdy'"]),
    ],
)
def test_names_that_are_not_there_are_refused_before_work(
    tmp_path: Path,
    trees: bb.Study,
    fitted: bb.models.Fit,
    monkeypatch: pytest.MonkeyPatch,
    condition: str,
    named: list[str],
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("work was begun")

    monkeypatch.setattr(audit_run, "load_all", never)
    for call in (
        lambda: bb.audit("demo", trees, out=tmp_path / "x", fail_if=condition, **FAST),
        lambda: bb.check(fitted, condition),
    ):
        with pytest.raises(SpecError) as caught:
            call()
        assert all(name in str(caught.value) for name in [condition, *named])
    assert not (tmp_path / "x").exists()


def labelled(trees: bb.Study) -> bb.Study:
    labels = {"groups": {"oak": "Broad-leaved", "fir": "Conifers"}, "words": {"acorn": "Acorn"}}
    return bb.Study.from_dict({**trees.to_dict(), "labels": labels})


def test_labels_of_the_study_are_names_too(made: Path, trees: bb.Study) -> None:
    part = next(iter(bb.Audit(made).parts.values()))
    names = Names.of_table(part.table, "trees", labelled(trees), has_frequency=True)
    for before, label, name in (
        ("for group", "Conifers", "fir"),
        ("for", "Conifers", "fir"),
        ("for word", "Acorn", "acorn"),
        ("for", "acorn", "acorn"),
    ):
        condition = Condition.parse(f"{NEVER} {before} {label}")
        check_names([condition], [names])
        assert [level.name for level in condition.levels(names)] == [name]
    assert Names.of_study(labelled(trees)).matching("group", "Conifers") == ["fir"]


def test_unknown_names_are_refused_with_names_and_labels(trees: bb.Study) -> None:
    names = Names.of_study(labelled(trees))
    with pytest.raises(SpecError) as caught:
        check_names([Condition.parse(f"{NEVER} for group Conifer")], [names])
    text = str(caught.value)
    assert "'oak' (Broad-leaved), 'fir' (Conifers)" in text
    assert "Did you mean 'Conifers'?" in text


def test_a_name_comes_before_a_label_and_labels_must_be_unique(trees: bb.Study) -> None:
    confusing = {**trees.to_dict(), "labels": {"groups": {"oak": "fir"}}}
    names = Names.of_study(bb.Study.from_dict(confusing))
    assert [n for _, n in Condition.parse(f"{NEVER} for group fir").levels(names)] == ["fir"]
    words = list(trees.protected_words)[:2]
    same = {**trees.to_dict(), "labels": {"words": dict.fromkeys(words, "Tree")}}
    names = Names.of_study(bb.Study.from_dict(same))
    with pytest.raises(
        SpecError, match="the label of several of the study 'trees': 'oak', 'acorn'"
    ):
        Condition.parse(f"{NEVER} for Tree").levels(names)


def test_connections_that_a_study_lacks_are_refused_before_work(tmp_path: Path) -> None:
    study = bb.Study("few", {"a": ["he"], "b": ["she"]}, {"a": ["strong"], "b": ["kind"]})
    with pytest.raises(SpecError, match="the study 'few' has no 'none'"):
        bb.audit(
            "nowhere", study, out=tmp_path / "x", fail_if="associated - neutral < 0 with P > 0.5"
        )


def test_words_that_an_embedding_lacks_are_refused_before_models(
    tmp_path: Path, wood: bb.Embedding, trees: bb.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("a model was fitted")

    monkeypatch.setattr(audit_steps, "fit", never)
    rows = [row for row, word in enumerate(wood.words) if word != "acorn"]
    lacking = bb.Embedding([wood.words[row] for row in rows], wood.vectors[rows], "lacking")
    matching = bb.embeddings.Matching(threshold=0.5)
    with pytest.raises(SpecError, match="lacking on trees has no distances of the word 'acorn'"):
        bb.audit(
            [wood, lacking], trees, out=tmp_path / "x", matching=matching,
            fail_if=f"{NEVER} for acorn", **FAST,
        )  # fmt: skip


def test_bad_calls(fitted: bb.models.Fit, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no condition is given"):
        bb.check(fitted)
    with pytest.raises(SpecError, match="twice"):
        bb.check(fitted, ALWAYS, NEVER, ALWAYS)
    with pytest.raises(SpecError, match=r"check\(result, \*conditions\)"):
        bb.check(fitted, [ALWAYS, NEVER])  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="a condition is 3"):
        bb.check(fitted, 3)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'fail_if' is 3"):
        bb.audit(out=tmp_path / "x", fail_if=3)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="expected an Audit, a Fit"):
        bb.check(fitted.table, ALWAYS)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="not the folder of an audit"):
        bb.check(tmp_path, ALWAYS)


# Results


def test_every_embedding_is_checked(two: bb.Audit) -> None:
    gate = two.gate
    assert gate is not None
    assert gate.table["embedding"].tolist() == ["leaning"] * 2 + ["level"] * 2
    assert gate.table["failed"].tolist() == [True, False, False, False]
    assert not gate.passed
    assert repr(gate) == "<Check: 1 of 2 conditions failed>"
    [line] = gate.failures()
    assert line.startswith("associated - different < -0.1 with P > 0.95 (data set of leaning on")
    conditions = gate.table["condition"].unique()
    pd.testing.assert_frame_equal(bb.check(two, *conditions).table, gate.table)
    part = bb.check(two.parts["level", "trees"], *conditions)
    assert part.passed
    assert part.failures() == []


def test_long_lists_of_failures_are_shortened(fitted: bb.models.Fit) -> None:
    result = bb.check(fitted, f"{ALWAYS} for any word")
    [line] = result.failures()
    assert line.endswith("and 3 more)")
    assert "\n" not in line


def test_the_folder_keeps_the_gate(
    folder: Path, wood: bb.Embedding, trees: bb.Study, sketched: None
) -> None:
    assert bb.Audit(folder).gate is None
    before = times(folder)
    result = bb.audit(wood, trees, out=folder, fail_if=ALWAYS, **QUICK)
    assert result.gate is not None
    assert not result.gate.passed
    after = times(folder)
    changed = {file for file in after if after[file] != before[file]}
    assert changed == {"results.json", "report.html"}
    again = bb.audit(wood, trees, out=folder, fail_if=[ALWAYS], **QUICK)
    assert times(folder) == after
    assert again.gate is not None
    pd.testing.assert_frame_equal(again.gate.table, result.gate.table)


@pytest.mark.parametrize(
    "gate", ["[]", "{}", '{"conditions": []}', '{"conditions": [{"failed": false}]}']
)
def test_a_damaged_gate_is_not_one_that_passed(folder: Path, gate: str) -> None:
    path = folder / "results.json"
    text = path.read_text("utf-8")
    assert '"gate": null' in text
    path.write_text(text.replace('"gate": null', f'"gate": {gate}'), "utf-8")
    with pytest.raises(DataError, match=r"results.json: damaged"):
        _ = bb.Audit(folder).gate


def test_html_shows_conditions_in_full(fitted: bb.models.Fit) -> None:
    shown = bb.check(fitted, f"{NEVER} for any group")._repr_html_()
    assert "associated - different &lt; -9 with P &gt; 0.5 for any group" in shown


def schema() -> dict[str, Any]:
    text = (resources("bayesbias.auditing") / "results.schema.json").read_text("utf-8")
    return dict(json.loads(text))


TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def check_shape(value: Any, shape: dict[str, Any], root: dict[str, Any]) -> None:
    """Check what our schema uses of JSON Schema."""
    if "$ref" in shape:
        check_shape(value, root["$defs"][shape["$ref"].rpartition("/")[2]], root)
    if "oneOf" in shape:
        check_shape(value, shape["oneOf"][value is not None], root)
    if "const" in shape:
        assert value == shape["const"]
    if "enum" in shape:
        assert value in shape["enum"]
    if "type" in shape:
        kinds = [shape["type"]] if isinstance(shape["type"], str) else shape["type"]
        assert any(isinstance(value, TYPES[kind]) for kind in kinds), (value, kinds)
        assert not isinstance(value, bool) or "boolean" in kinds
    if value is not None and "minimum" in shape:
        assert shape["minimum"] <= value <= shape["maximum"]
    if isinstance(value, list):
        assert len(value) >= shape.get("minItems", 0)
        for item in value:
            check_shape(item, shape["items"], root)
    if isinstance(value, dict) and "properties" in shape | {"additionalProperties": 0}:
        assert set(shape.get("required", ())) <= set(value)
        for name, inner in value.items():
            other = shape.get("additionalProperties", {})
            check_shape(inner, shape.get("properties", {}).get(name, other), root)


def refuse_constant(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


def validate(content: Any) -> None:
    check_shape(content, schema(), schema())
    if importlib.util.find_spec("jsonschema"):
        from jsonschema import Draft202012Validator

        Draft202012Validator.check_schema(schema())
        Draft202012Validator(schema()).validate(content)


def test_results_follow_the_published_schema(made: Path, two: bb.Audit) -> None:
    for folder in (made, two.folder):
        text = (folder / "results.json").read_text("utf-8")
        content = json.loads(text, parse_constant=refuse_constant)
        validate(content)
        part = content["parts"][0]
        # All that is written is described.
        assert set(content) == set(schema()["properties"])
        for name, value in (
            ("part", part), ("contrast", part["contrasts"][0]), ("metric", part["metrics"][0])
        ):  # fmt: skip
            assert set(value) == set(schema()["$defs"][name]["properties"])


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content.pop("gate"),
        lambda content: content.update(schema=2),
        lambda content: content["parts"][0].pop("model"),
        lambda content: content["parts"][0]["contrasts"][0].update(prob_negative=1.5),
        lambda content: content["parts"][0]["contrasts"][0].update(mean="0"),
        lambda content: content["gate"].update(passed=1),
    ],
)
def test_the_schema_refuses_other_content(two: bb.Audit, damage: Any) -> None:
    content = json.loads((two.folder / "results.json").read_text("utf-8"))
    damage(content)
    with pytest.raises(AssertionError):
        check_shape(content, schema(), schema())
    if importlib.util.find_spec("jsonschema"):
        from jsonschema import Draft202012Validator

        assert not Draft202012Validator(schema()).is_valid(content)


def test_results_are_the_numbers_of_the_tables(made: Path) -> None:
    audit = bb.Audit(made)
    content = audit.results
    [part] = content["parts"]
    assert (part["embedding"], part["study"], part["model"]) == ("forest", "trees", "hierarchical")
    assert content["versions"]["bayesbias"] == bb.__version__
    assert (content["seed"], content["draws"], content["gate"]) == (0, 100, None)
    assert part["study_sha256"] == audit.record["studies"]["trees"]["sha256"]
    for name, table in (("contrasts", audit.contrasts), ("metrics", audit.scores)):
        frame = pd.DataFrame(part[name])
        same = table[frame.columns].astype(object).where(table[frame.columns].notna(), None)
        assert frame.astype(object).where(frame.notna(), None).equals(same)


def test_junit_has_one_case_per_condition(two: bb.Audit) -> None:
    assert two.gate is not None
    root = ET.fromstring(two.gate.to_junit())
    assert root.tag == "testsuites"
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("4", "1", "0")
    suites = root.findall("testsuite")
    assert [suite.get("name") for suite in suites] == ["leaning on trees", "level on trees"]
    assert [suite.get("failures") for suite in suites] == ["1", "0"]
    for suite in suites:
        names = [case.get("name") for case in suite.findall("testcase")]
        assert names == ["associated - different < -0.1 with P > 0.95", NEVER]
    [failure] = root.iter("failure")
    assert re.fullmatch(r"data set: P = \d\.\d{4}", str(failure.get("message")))


def test_junit_holds_any_name() -> None:
    name = 'a<b>&"c"\x01 ü'
    row = {
        "condition": f"c < 1 with P > 0.5 for {name}",
        "embedding": name,
        "study": "",
        "level": f"word {name}",
        "probability": 0.9,
        "threshold": 0.5,
        "failed": True,
        "doubt": "",
    }
    text = bb.Check(pd.DataFrame([row, row | {"level": "word x"}])).to_junit()
    root = ET.fromstring(text.encode())
    [suite] = root.findall("testsuite")
    plain = 'a<b>&"c"\ufffd ü'
    assert suite.get("name") == plain
    [case] = suite.findall("testcase")
    assert case.get("name") == "c < 1 with P > 0.5 for " + plain
    [failure] = case.findall("failure")
    assert failure.text == f"word {plain}: P = 0.9000\nword x: P = 0.9000"


# Draws that cannot be relied on


def sampled(fitted: bb.models.Fit, how: str) -> bb.models.Fit:
    """The draws of a fit as if NUTS had made them: independent, or with one bad diagnostic."""
    sizes = fitted.posterior.sizes
    shape = (sizes["chain"], 1000)
    rng = np.random.default_rng(0)
    base = fitted.posterior.isel(draw=rng.integers(sizes["draw"], size=1000)).assign_coords(
        draw=np.arange(1000)
    )
    noise = {name: array + 0.05 * rng.standard_normal(array.shape) for name, array in base.items()}
    diverging = np.zeros(shape, dtype=bool)
    if how == "divergences":
        diverging[0, :3] = True
    if how == "R-hat":
        noise = {n: a + (0.2 * a.coords["chain"]) for n, a in noise.items()}
    if how == "effective sample size":
        noise = {
            n: a.copy(data=np.repeat(a.to_numpy()[:, ::100], 100, 1)) for n, a in noise.items()
        }
    stats = xr.Dataset({"diverging": (("chain", "draw"), diverging)})
    about = {**fitted.provenance, "engine": "nuts", "interrupted": False}
    return bb.models.Fit(fitted.spec, fitted.table, xr.Dataset(noise), stats, about)


@pytest.mark.parametrize("how", ["divergences", "R-hat", "effective sample size"])
@pytest.mark.parametrize("condition", [ALWAYS, NEVER])
def test_bad_diagnostics_decide_nothing(fitted: bb.models.Fit, how: str, condition: str) -> None:
    good = bb.check(sampled(fitted, "none"), condition)
    assert good.doubts == []
    assert good.passed == (condition == NEVER)
    bad = bb.check(sampled(fitted, how), condition)
    assert not bad.passed
    assert bad.failures() == []
    [line] = bad.doubts
    assert line.startswith("forest: the fit is not to be relied on: ")
    assert how in line
    assert repr(bad) == "<Check: 0 of 1 condition failed, 1 cannot be decided>"
    assert bad.summary().splitlines()[1] == f"Cannot tell: {line}"
    root = ET.fromstring(bad.to_junit())
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("1", "0", "1")
    [error] = root.iter("error")
    assert error.get("type") == "diagnostics"
    assert how in str(error.text)
    assert how in bad.to_latex()


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["diagnostics", "confirmation"])
def test_an_audit_with_a_bad_fit_decides_nothing(
    wood: bb.Embedding,
    trees: bb.Study,
    tmp_path: Path,
    sketched: None,
    monkeypatch: pytest.MonkeyPatch,
    run: Any,
    damage: str,
) -> None:
    """By the audit and by the command: exit code 1, one line, and an error in the JUnit file."""
    if damage == "diagnostics":
        real = audit_steps.diagnostics_table

        def table(fits: Any) -> pd.DataFrame:
            return real(fits).assign(ok=False, problems="9 divergences")

        monkeypatch.setattr(audit_steps, "diagnostics_table", table)
    else:
        real_conclusion = audit_steps.conclusion

        def conclusion(checks: Any) -> dict[str, Any]:
            return {**real_conclusion(checks), "agrees": False, "disagree": ["density", "draws"]}

        monkeypatch.setattr(audit_steps, "conclusion", conclusion)
    vectors, lists = tmp_path / "wood.txt", tmp_path / "trees.toml"
    wood.save(vectors)
    trees.save(lists)
    reason = (
        "9 divergences" if damage == "diagnostics" else "failed their checks (density and draws)"
    )
    found = run(
        "audit", f"wood={vectors}", "--study", lists, "--out", tmp_path / "audit", "--quiet",
        "--model", "hierarchical", "--metric", "mac", "--draws", 100, "--no-silhouettes",
        *(["--no-confirm"] if damage == "diagnostics" else []),
        "--fail-if", NEVER, "--junit", tmp_path / "gate.xml",
    )  # fmt: skip
    assert found.code == 1
    [line] = [line for line in found.err.splitlines() if not line.startswith("Warning")]
    assert line.startswith("Cannot tell: wood on trees: the fit is not to be relied on: ")
    assert reason in line
    assert ET.parse(tmp_path / "gate.xml").getroot().get("errors") == "1"
    audit = bb.Audit(tmp_path / "audit")
    validate(audit.results)
    assert audit.results["gate"]["passed"] is False
    assert audit.gate is not None
    assert not audit.gate.passed
    assert reason in audit.gate.doubts[0]
