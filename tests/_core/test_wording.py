"""Numbers, lists and articles in sentences, as a reader expects them."""

from __future__ import annotations

import pytest

from bayesbias._core.wording import counted, enumerated, plural, with_article


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
