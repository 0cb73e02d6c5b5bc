"""Numbers, lists and articles in sentences, as a reader expects them."""

from __future__ import annotations

import pandas as pd
import pytest

from bayesbias._core.validation import one_of
from bayesbias._core.wording import (
    brief,
    counted,
    did_you_mean,
    enumerated,
    plural,
    similar_word,
    with_article,
)
from bayesbias.errors import SpecError


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("89% interval", "an 89%"),
        ("8 of 10", "an 8"),
        ("80% interval", "an 80%"),
        ("800 words", "an 800"),
        ("11 words", "an 11"),
        ("18 words", "an 18"),
        ("1 word", "a 1"),
        ("110 words", "a 110"),
        ("95% interval", "a 95%"),
        ("audit", "an audit"),
        ("table", "a table"),
    ],
)
def test_articles(words: str, expected: str) -> None:
    assert with_article(words).startswith(expected)


def test_numbers_and_lists() -> None:
    assert [counted(n, "word") for n in (0, 1, 2)] == ["0 words", "1 word", "2 words"]
    assert plural(2, "query", "queries") == "queries"
    assert [enumerated("abc"[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]


def test_the_only_name_that_begins_so_is_suggested() -> None:
    names = ["hard_debias", "double_hard_debias", "soft_debias"]
    assert did_you_mean("Hard", names) == " Did you mean 'hard_debias'?"
    assert did_you_mean("ha", names) == ""
    assert did_you_mean("prot", ["protected_word", "protected_group"]) == ""


def test_similar_words() -> None:
    words = ["worker", "work", "Zürich", "he"]
    assert similar_word("workr", words) == "worker"
    assert similar_word("worker ", words) == "worker"
    assert similar_word("Workr", words) == "worker"
    assert similar_word("banker", words) is None
    assert similar_word("", words) is None


def test_long_values_are_not_shown() -> None:
    table = pd.DataFrame({"x": range(100)})
    assert brief(table) == "a DataFrame"
    assert brief("none") == "'none'"
    with pytest.raises(SpecError, match=r"'model' is a DataFrame; expected one of 'a', 'b'\.$"):
        one_of("model", table, ["a", "b"])  # type: ignore[arg-type]
