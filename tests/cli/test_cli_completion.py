"""The shell completes names."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("bayesbias table --study rel", ["religion"]),
        ("bayesbias table --study REL", ["religion"]),
        ("bayesbias audit --model cros", ["crossed"]),
        ("bayesbias fit --model hier", ["hierarchical"]),
        ("bayesbias metrics weat_7 demo -m weat_", ["weat_es"]),
        ("bayesbias metrics gender_", [f"gender_{number}" for number in range(1, 8)]),
        ("bayesbias debias --method lea", ["leace"]),
        ("bayesbias audit --debias inl", ["inlp"]),
        ("bayesbias words check weat_1", ["weat_1", "weat_10"]),
        ("bayesbias embedding inf", ["info"]),
    ],
)
def test_completion(run, monkeypatch: pytest.MonkeyPatch, words: str, expected: list[str]) -> None:
    monkeypatch.setenv("_BAYESBIAS_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    result = run()
    assert result.code == 0
    assert result.out.split() == [f"plain,{name}" for name in expected]


def test_files_are_completed_where_no_name_fits(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_BAYESBIAS_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "bayesbias table --study ./my")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert run().out.split() == ["file,./my"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_script_of_a_shell(run, monkeypatch: pytest.MonkeyPatch, shell: str) -> None:
    monkeypatch.setenv("_BAYESBIAS_COMPLETE", f"{shell}_source")
    result = run()
    assert result.code == 0
    assert "_BAYESBIAS_COMPLETE" in result.out
