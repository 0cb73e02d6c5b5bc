"""What a person who waits for an audit is told of its steps."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest
from small_audit import CONTROLS, FAST, GROUPS, STEREOTYPES, forest

import bayesbias as bb
from bayesbias.auditing.step_plan import StepPlan
from bayesbias.models import load_model, seconds_to_fit

DOING = {
    "a/s/fit x": "fitting x (a)",
    "b/s/fit x": "fitting x (b)",
    "a/t/fit x": "fitting x (a on t)",
    "report": "writing the report",
}


@pytest.fixture
def messages(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO, logger="bayesbias.auditing.step_plan")
    return caplog


def test_times_come_from_what_is_known(messages: pytest.LogCaptureFixture) -> None:
    plan = StepPlan(DOING, {"report": 200.0})
    plan.begin("a/s/fit x")
    plan.end("a/s/fit x", 12.3)
    plan.begin("b/s/fit x", lambda: pytest.fail("the same step was just done"))
    plan.begin("a/t/fit x")  # another study: its table has another size
    plan.begin("a/t/fit x", lambda: 5.2)
    plan.begin("a/t/fit x", lambda: 0.4)
    plan.begin("report", lambda: 1.0)
    assert messages.messages == [
        "step 1 of 4: fitting x (a)",
        "  done in 12 seconds",
        "step 2 of 4: fitting x (b), about 12 seconds",
        "step 3 of 4: fitting x (a on t)",
        "step 3 of 4: fitting x (a on t), about 5 seconds",
        "step 3 of 4: fitting x (a on t)",
        "step 4 of 4: writing the report, about 3.3 minutes",
    ]


def test_nothing_is_estimated_for_nobody(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, logger="bayesbias.auditing.step_plan")
    StepPlan(DOING, {}).begin("report", lambda: pytest.fail("nobody reads this"))


def test_steps_that_nobody_announced_are_not_told(messages: pytest.LogCaptureFixture) -> None:
    plan = StepPlan({}, {})
    plan.begin("report")
    plan.end("report", 9.0)
    assert messages.messages == []


@pytest.mark.slow
def test_every_step_has_its_number(
    tmp_path: Path, sketched: None, messages: pytest.LogCaptureFixture
) -> None:
    study = bb.Study("trees", GROUPS, STEREOTYPES, CONTROLS)
    bb.audit([forest("one"), forest("two", 1)], study, out=tmp_path / "audit", **FAST)
    found = [re.fullmatch(r"step (\d+) of (\d+): (.+)", text) for text in messages.messages]
    steps = [(int(m[1]), int(m[2]), m[3]) for m in found if m]
    # Table, checks, fits with and without frequency, comparison, effects, scores and six figures of
    # both embeddings. Then the comparison of embeddings, two folders for a paper, the numbers and
    # the report.
    assert {total for _, total, _ in steps} == {2 * 13 + 1 + 2 + 2}
    assert [number for number, _, _ in steps] == [*range(1, 32)]
    words = [text.partition(", about")[0] for _, _, text in steps]
    assert words[2] == "fitting the model hierarchical (one on trees)"
    assert words[-5] == "comparing the embeddings on trees"
    assert words[-1] == "writing the report"
    recorded = bb.Audit(tmp_path / "audit").record["steps"]
    assert len(steps) == len(recorded)


def test_the_estimate_of_the_exact_engine(demo: bb.Embedding) -> None:
    table = bb.distance_table(demo, "religion")
    few = seconds_to_fit(table, load_model("interaction"), 400)
    many = seconds_to_fit(table, load_model("interaction"), 40_000)
    assert few is not None
    assert many is not None
    assert 0 < few < many
    robust = load_model("interaction").vary(likelihood="student_t")
    assert seconds_to_fit(table, robust, 400) is None
