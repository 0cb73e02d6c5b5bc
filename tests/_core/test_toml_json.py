"""TOML and JSON from strangers: data, or one clear error, soon."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayesbias as bb
from bayesbias._core.toml_json import _LONG_KEY, read_json, read_toml
from bayesbias.errors import BayesBiasError, DataError, SpecError

BAD = {
    "many digits": b"a = " + b"9" * 5_000,
    "many hexadecimal digits": b"a = 0x" + b"f" * 5_000,
    "brackets": b"a = " + b"[" * 100_000,
    "braces": b"a = " + b"{b = " * 100_000,
    "a long key": b".".join([b"a"] * 50_000) + b" = 1",
    "a long key in quotes": b" . ".join([b'"a"', b"'b'"] * 10_000) + b" = 1",
    "a long name of a table": b"[" + b".".join([b"a"] * 50_000) + b"]",
    "a long key in a table": b"a = {" + b".".join([b"a"] * 50_000) + b" = 1}",
    "not UTF-8": b"a = '\xff'",
    "an exponent": b"a = 1e" + b"9" * 5_000 + b"x",
}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("read", [read_toml, bb.load_study, bb.load_model])
def test_toml_that_no_person_writes(tmp_path: Path, what: str, read: Any) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(BAD[what])
    with pytest.raises(BayesBiasError) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize(
    "text", ["9" * 5_000, "[" * 100_000, '{"a":' * 100_000, "{", str(2**64), f"[{-(2**63) - 1}]"]
)
def test_json_that_no_person_writes(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read_json(path)
    assert str(path) in str(caught.value)


def test_usual_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text('a.b."c.d" = ["u.s.a.", "x.y"]\n[e.f]\ng = 9223372036854775807\n')
    data = {"a": {"b": {"c.d": ["u.s.a.", "x.y"]}}, "e": {"f": {"g": 2**63 - 1}}}
    assert read_toml(path) == data
    path.write_text(json.dumps(data))
    assert read_json(path) == data


@given(st.lists(st.text("ab-_1", min_size=1), min_size=1, max_size=60))
def test_keys_are_long_by_their_parts(parts: list[str]) -> None:
    assert bool(_LONG_KEY.search(f"{'.'.join(parts)} = 1")) == (len(parts) > 32)


def test_a_long_word_does_not_make_a_long_message(tmp_path: Path) -> None:
    word = "w" * 1_000_000
    errors = [
        SpecError(f"the word {word!r} is not known; give another."),
        DataError(f"{word} x " * 3),
    ]
    for err in errors:
        assert len(str(err)) < 1_000
    assert str(errors[0]).startswith("the word 'www")
    assert "1,000,00" in str(errors[0])
    assert str(errors[0]).endswith("is not known; give another.")
    assert len(str(DataError("many words " * 100_000))) < 6_000
    with pytest.raises(BayesBiasError) as caught:
        bb.load_study(word[:200] + " " + word)
    assert len(str(caught.value)) < 5_000


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": 1}')
    assert read_json(path, most_bytes=8) == {"a": 1}
    with pytest.raises(DataError, match=r"a\.json: 8 bytes are too many for JSON; at most 7"):
        read_json(path, most_bytes=7)
