"""All commands speak alike: options have a help text, and one name means one thing."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from bayesbias.cli.app import app


def _walk(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        for key, part in command.commands.items():
            yield from _walk(part, f"{name} {key}".strip())


COMMANDS = dict(_walk(app, ""))
OPTIONS = [
    (f"{name} {option.opts[-1]}".strip(), option)
    for name, command in COMMANDS.items()
    for option in command.params
    if isinstance(option, click.Option)
]
#: Numbers that only the library can judge: both ends of a range, or a bias that a query allows.
JUDGED_LATER = ("value_range", "planted")


def _cases(options: list[tuple[str, click.Option]]) -> list[object]:
    return [pytest.param(option, id=name) for name, option in options]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_what_it_does(name: str) -> None:
    assert (COMMANDS[name].help or "").strip().partition("\n")[0].endswith(".")


@pytest.mark.parametrize("option", _cases(OPTIONS))
def test_an_option_has_a_help_text_and_shows_its_default(option: click.Option) -> None:
    assert option.help
    assert option.help.strip().endswith(".") or option.help.endswith(")")
    has_default = option.default not in (None, (), [], False) and not option.count
    if has_default and not repr(option.default).startswith("Sentinel"):
        assert option.show_default


def test_a_short_option_means_the_same_everywhere() -> None:
    meanings: dict[str, set[str]] = {}
    for _, option in OPTIONS:
        long = [text for text in option.opts if text.startswith("--")]
        for short in set(option.opts) - set(long):
            meanings.setdefault(short, set()).update(long)
    assert {short: long for short, long in meanings.items() if len(long) > 1} == {}
    assert meanings["-m"] == {"--metric"}
    assert meanings["-o"] == {"--out"}


def test_a_long_option_has_its_short_form_everywhere() -> None:
    forms: dict[str, set[tuple[str, ...]]] = {}
    for _, option in OPTIONS:
        forms.setdefault(option.opts[-1], set()).add(tuple(option.opts))
    assert {name: several for name, several in forms.items() if len(several) > 1} == {}


NUMBERS = [
    (name, option)
    for name, option in OPTIONS
    if isinstance(option.type, click.types.IntParamType | click.types.FloatParamType)
    and not option.count
    and option.name not in JUDGED_LATER
]


@pytest.mark.parametrize("option", _cases(NUMBERS))
def test_a_number_out_of_range_is_refused_by_the_name_of_its_option(option: click.Option) -> None:
    context = click.Context(click.Command("any"))
    bad = 0 if option.name == "jobs" else -1
    with pytest.raises(click.BadParameter) as caught:
        option.process_value(context, bad)
    assert option.opts[-1] in caught.value.format_message()


def test_the_share_of_missing_words_is_named_as_messages_name_it(run, tmp_path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        "name = 'x'\n[groups]\na = ['he', 'xyzzy']\nb = ['she']\n"
        "[stereotypes]\na = ['boss']\nb = ['nurse']\n"
    )
    refused = run("table", "--study", study, "--threshold", "0.1")
    assert refused.code == 2
    assert "threshold" in refused.err
    assert run("table", "--study", study, "--threshold", "0.6").code == 0


@pytest.mark.parametrize(
    ("plain", "other"),
    [
        ("metrics weat_7 -m weat --draws 0", "metrics WEAT_7 -m WEAT --draws 0"),
        ("metrics weat -m mac --draws 0", "metrics Weat -m MAC --draws 0"),
        ("table --study religion --format csv", "table --study Religion --format CSV"),
        ("words show weat:career", "words show WEAT:Career"),
        ("words show bolukbasi:definitional_pairs", "words show Bolukbasi:Definitional_Pairs"),
        ("words show query:weat_7", "words show query:WEAT_7"),
        ("words list weat", "words list WEAT"),
        ("debias --list --format json", "debias --list --format JSON"),
    ],
)
def test_names_are_accepted_in_any_case(run, plain: str, other: str) -> None:
    expected, result = run(*plain.split(), "-q"), run(*other.split(), "-q")
    assert expected.code == 0
    assert result == expected


def test_names_of_methods_and_models_are_accepted_in_any_case(run, tmp_path) -> None:
    out = tmp_path / "after.npz"
    assert run("debias", "demo", out, "--method", "HARD_DEBIAS", "-q").code == 0
    table = tmp_path / "table.csv"
    assert run("table", "--study", "weat_7", "--out", table, "-q").code == 0
    fast = ("--draws", "50", "--chains", "2", "-q", "--show", "MEANS")
    assert run("fit", table, "--model", "Baseline", *fast).code == 0


@pytest.mark.parametrize(
    ("command", "suggestion"),
    [
        ("metrics weat_7 -m WEAT_E", "weat_es"),
        ("rank WEAT_77 demo demo-100d", "weat_7"),
        ("table --study RELIGON", "religion"),
        ("table DEMO-100", "demo-100d"),
        ("debias demo x.npz --method HARD-DEBIAS", "hard_debias"),
        ("audit --debias LEACEE", "leace"),
        ("audit --model CROSED", "crossed"),
        ("words show WEAT:Carer", "career"),
        ("words list WEET", "weat"),
        ("words build --labelled GENDR", "gender"),
    ],
)
def test_misspelt_names_in_any_case_get_a_suggestion(
    run, command: str, suggestion: str, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*command.split())
    assert result.code == 2
    assert f"Did you mean '{suggestion}'?" in result.err


def test_a_file_comes_before_a_name_in_another_case(
    run, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Religion").write_text("nonsense = 1\n")
    result = run("table", "--study", "Religion")
    if (tmp_path / "religion").exists():
        pytest.skip("this file system does not tell capitals apart")
    assert "'nonsense'" in result.err
