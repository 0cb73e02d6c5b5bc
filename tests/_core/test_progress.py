"""Progress bars in a terminal; those of notebooks are tested with the notebooks."""

from __future__ import annotations

import pytest

from bayesbias._core.progress import progress_bar


@pytest.mark.parametrize(
    ("unit", "total", "done", "expected"),
    [("share", 1.0, 0.5, " 50%"), ("steps", 4, 2, "2/4"), ("bytes", 4000, 2000, "2.0/4.0 kB")],
)
def test_how_the_amount_is_printed(
    unit: str,
    total: float,
    done: float,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_bar("working", total=total, show=True, unit=unit) as advance:
        advance(done)
    printed = "".join(
        part.partition("m")[2] or part for part in capsys.readouterr().err.split("\x1b[")
    )
    assert "working" in printed
    assert expected in printed


def test_a_bar_that_nobody_sees_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("working", total=1.0, show=True, unit="share") as advance:
        advance(0.5)
    assert capsys.readouterr().err == ""
