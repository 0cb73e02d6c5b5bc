"""Small words of messages and reports: numbers with their nouns, lists, articles, suggestions."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

#: The fewest letters of the beginning of a name that a name is suggested for.
_LEAST_BEGINNING = 3
#: How similar a misspelt word is to the word that was meant, and how much longer or shorter.
_MISSPELT = 0.75
_LENGTHS_APART = 2
#: The longest value that a message shows.
_BRIEF = 80
#: The covariates of distance tables in words.
_COVARIATES = {
    "log_frequency": "frequency",
    "protected_log_frequency": "frequency of the protected words",
    "norm": "norm",
    "protected_norm": "norm of the protected words",
}


def quoted(values: Iterable[object], limit: int = 8) -> str:
    """Return the values as a readable list, shortened after `limit` of them.

    >>> quoted(["he", "she", "it"], limit=2)
    "'he', 'she' and 1 more"
    """
    return shortened(map(repr, values), limit)


def shortened(items: Iterable[str], limit: int = 8) -> str:
    """Return the items as they are in a list, and of those after `limit` only their number.

    >>> shortened(["he", "she", "it"], limit=2)
    'he, she and 1 more'
    """
    shown = list(items)
    rest = len(shown) - limit
    return ", ".join(shown[:limit]) + (f" and {rest} more" if rest > 0 else "")


def did_you_mean(value: object, options: Iterable[str]) -> str:
    """Return `` Did you mean 'x'?`` when an option resembles the value, else nothing.

    >>> did_you_mean("relegion", ["religion", "gender"])
    " Did you mean 'religion'?"
    >>> did_you_mean("RELEGION", ["religion", "gender"])
    " Did you mean 'religion'?"

    The only option that begins with the value is suggested too.

    >>> did_you_mean("hard", ["hard_debias", "double_hard_debias"])
    " Did you mean 'hard_debias'?"
    """
    # By folded names, so that capitals do not hide what is alike; the first of equal ones stays.
    folded: dict[str, str] = {}
    for option in options:
        folded.setdefault(option.casefold(), option)
    given = str(value).casefold()
    close = difflib.get_close_matches(given, list(folded), n=1)
    if not close and len(given) >= _LEAST_BEGINNING:
        begun = [option for option in folded if option.startswith(given)]
        close = begun if len(begun) == 1 else []
    return f" Did you mean {folded[close[0]]!r}?" if close else ""


def similar_word(word: str, vocabulary: Iterable[str]) -> str | None:
    """Return the word of a vocabulary that a word may be a misspelling of; None if there is none.

    Only words with the same first letter and about the same length are compared, because a
    vocabulary has many.

    >>> similar_word("workr", ["work", "worker", "baker"]), similar_word("oak", ["elm"])
    ('worker', None)
    """
    plain = word.strip().casefold()
    options = [
        option
        for option in vocabulary
        if option[:1].casefold() == plain[:1] and abs(len(option) - len(plain)) <= _LENGTHS_APART
    ]
    close = difflib.get_close_matches(plain, options, n=1, cutoff=_MISSPELT)
    return close[0] if close else None


def brief(value: object) -> str:
    """Return a value as Python writes it, or its type if that is long.

    >>> brief(5), brief("x" * 100)
    ('5', 'a str')
    """
    text = repr(value)
    short = len(text) <= _BRIEF and "\n" not in text
    return text if short else kind_of(value)


def kind_of(value: object) -> str:
    """Return the type of a value in words.

    >>> kind_of("a.csv"), kind_of(5), kind_of(None)
    ('a str', 'an int', 'None')
    """
    name = type(value).__name__
    if name == "ndarray":  # read by its letters
        return f"an {name}"
    return "None" if value is None else with_article(name)


def same_name(value: object, options: Iterable[str]) -> str | None:
    """Return the option that a name is, whatever its case; None if none or several are.

    >>> same_name("WEAT", ["weat", "rnd"]), same_name("wet", ["weat", "rnd"])
    ('weat', None)
    >>> same_name("A", ["a", "A"]), same_name("Ab", ["ab", "AB"])
    ('A', None)
    """
    if not isinstance(value, str):
        return None
    several = list(options)
    if value in several:
        return value
    same = [option for option in several if option.casefold() == value.casefold()]
    return same[0] if len(same) == 1 else None


def plural(number: float, noun: str, nouns: str | None = None) -> str:
    """Return the noun in the form that the number asks for.

    >>> plural(1, "word"), plural(0, "word"), plural(2, "study", "studies")
    ('word', 'words', 'studies')
    """
    return noun if number == 1 else nouns or f"{noun}s"


def counted(number: int, noun: str, nouns: str | None = None) -> str:
    """Return a number with its noun.

    >>> counted(1, "word"), counted(12187, "word")
    ('1 word', '12,187 words')
    """
    return f"{number:,} {plural(number, noun, nouns)}"


def enumerated(items: Sequence[str], conjunction: str = "and") -> str:
    """Return the items as a list in a sentence.

    >>> enumerated(["a", "b", "c"]), enumerated(["a", "b"], "or"), enumerated(["a"])
    ('a, b and c', 'a or b', 'a')
    """
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {conjunction} {items[-1]}"


def at_equal(covariates: Sequence[str]) -> str:
    """Return at which values of the covariates an estimate is, if they are equal for all words.

    >>> at_equal(["log_frequency", "size"])
    'at equal frequency and size'
    """
    return f"at equal {enumerated([_COVARIATES.get(name, name) for name in covariates])}"


def capitalized(text: str) -> str:
    """Return a text as it begins a line.

    >>> capitalized("direct bias"), capitalized("SemAxis")
    ('Direct bias', 'SemAxis')
    """
    return text[:1].upper() + text[1:]


def p_value_text(value: float) -> str:
    """Return a p-value as it is written in a sentence, never as 0.

    >>> p_value_text(0.1172), p_value_text(0.00002)
    ('p = 0.12', 'p < 0.0001')
    """
    return f"p = {value:.2g}" if value >= 1e-4 else "p < 0.0001"


def waiting_time(seconds: float) -> str:
    """Return a time to wait in the unit that people would say it in.

    >>> waiting_time(1.2), waiting_time(20.4), waiting_time(200), waiting_time(100_000)
    ('1 second', '20 seconds', '3.3 minutes', '28 hours')
    """
    for unit, name in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds > 1.5 * unit:
            return f"{seconds / unit:.2g} {name}"
    return counted(round(seconds), "second")


def with_article(words: str) -> str:
    """Return words that begin with a number or a letter after their indefinite article.

    >>> with_article("89% interval"), with_article("95% interval"), with_article("audit")
    ('an 89% interval', 'a 95% interval', 'an audit')
    """
    digits = words[: len(words) - len(words.lstrip("0123456789"))]
    number = int(digits) if digits else None
    spoken_with_vowel = number is not None and (str(number)[0] == "8" or number in (11, 18))
    return f"{'an' if spoken_with_vowel or words[:1].lower() in {*'aeio'} else 'a'} {words}"
