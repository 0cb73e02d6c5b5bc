"""The conditions under which a check fails: their text, what they are about, their probability."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.constants import CONNECTIONS, CONTROL_CONNECTIONS
from bayesbias._core.wording import brief, did_you_mean, quoted, shortened
from bayesbias.auditing.audit_inputs import check_distinct
from bayesbias.errors import SpecError
from bayesbias.models import Fit, contrast_weights

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.wordlists import Study

Kind: TypeAlias = Literal["data set", "group", "word"]

_EXAMPLE = "write it like 'associated - different < -0.05 with P > 0.95 for any group'"
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
# The column of a distance table that has the names of each kind.
_COLUMNS: dict[Kind, str | None] = {
    "data set": None, "group": "protected_group", "word": "protected_word"
}  # fmt: skip


class Level(NamedTuple):
    """What a contrast is of: the data set, a group or a word."""

    kind: Kind
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


@dataclass(frozen=True)
class Names:
    """The groups and words that conditions can be about, each with the connections that it has.

    A study may have labels for them, which are accepted as well.
    """

    label: str
    groups: Mapping[str, Collection[str]]
    words: Mapping[str, Collection[str]]
    group_labels: Mapping[str, str] = field(default_factory=dict)
    word_labels: Mapping[str, str] = field(default_factory=dict)
    #: Whether there are contrasts at equal frequency; of a study this is known with an embedding.
    has_frequency: bool = True

    @classmethod
    def of_study(cls, study: Study) -> Names:
        """Return what the lists of a study promise, before an embedding is read."""
        own = ["associated"] + ["different"] * (len(study.stereotypes) > 1)
        given = [*own, *(CONTROL_CONNECTIONS[kind] for kind in study.controls)]
        return cls(
            f"the study {study.name!r}",
            dict.fromkeys(study.groups, given),
            dict.fromkeys(study.protected_words, given),
            *_labels(study),
        )

    @classmethod
    def of_table(
        cls, table: pd.DataFrame, label: str, study: Study | None = None, *, has_frequency: bool
    ) -> Names:
        """Return what a distance table has; what only the study has is without connections."""

        def of(column: str, listed: Iterable[str]) -> dict[str, Collection[str]]:
            rows = table[[column, "connection"]].drop_duplicates().astype("str")
            found = {
                str(name): list(own) for name, own in rows.groupby(column, sort=False)["connection"]
            }
            return {name: found.get(name, ()) for name in [*found, *listed]}

        groups, words = (study.groups, study.protected_words) if study else ((), ())
        labels = _labels(study) if study else ({}, {})
        found = of("protected_group", groups), of("protected_word", words)
        return cls(label, *found, *labels, has_frequency)

    @property
    def connections(self) -> tuple[str, ...]:
        """All connections, in the order of every table."""
        seen = {connection for some in self.groups.values() for connection in some}
        return tuple(connection for connection in CONNECTIONS if connection in seen)

    def of(self, kind: Kind) -> Mapping[str, Collection[str]]:
        """Return the groups or the words."""
        return self.groups if kind == "group" else self.words

    def matching(self, kind: Kind, name: str) -> list[str]:
        """Return the groups or words with this name, or else those with this label."""
        if name in self.of(kind):
            return [name]
        labels = self.group_labels if kind == "group" else self.word_labels
        return [key for key, label in labels.items() if label == name]

    def described(self, kind: Kind) -> list[str]:
        """Return the groups or words as a message lists them, with their labels."""
        labels = self.group_labels if kind == "group" else self.word_labels
        return [
            f"{name!r} ({labels[name]})" if name in labels else repr(name) for name in self.of(kind)
        ]


def _labels(study: Study) -> tuple[dict[str, str], dict[str, str]]:
    """Return the labels of the groups and words that are called otherwise in tables."""
    groups = {name: study.group_label(name) for name in study.groups}
    words = {name: study.word_label(name) for name in study.protected_words}
    return tuple(  # type: ignore[return-value]
        {name: label for name, label in labels.items() if label != name}
        for labels in (groups, words)
    )


@dataclass(frozen=True)
class Condition:
    """A probability of a contrast that should not be reached, read from a text.

    Attributes
    ----------
    text : str
        As it was given, with single spaces.
    contrast : str
        A linear expression of connections.
    is_below : bool
        Whether the contrast is to be below the limit, or above it.
    limit : float
        What the contrast is compared with.
    threshold : float
        The probability from which on the condition holds.
    is_inclusive : bool
        Whether it also holds if the probability is exactly the threshold.
    kinds : tuple of str
        What it may be about: the data set, groups, words, or a name of either.
    name : str
        The group or word; nothing for the data set and for any.
    at_equal_frequency : bool
        Whether it is about the contrast at equal frequency of the attributes.
    """

    text: str
    contrast: str
    is_below: bool
    limit: float
    threshold: float
    is_inclusive: bool
    kinds: tuple[Kind, ...]
    name: str
    at_equal_frequency: bool = False

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read a condition; where it cannot be read, say at which character."""
        return _Reader(text).condition()

    @property
    def connections(self) -> list[str]:
        """The connections that the contrast has a weight for."""
        weights = contrast_weights(self.contrast, CONNECTIONS)
        return [name for name, weight in zip(CONNECTIONS, weights, strict=True) if weight]

    def levels(self, names: Names) -> list[Level]:
        """Return what it is about in a part; nothing if it names something of another part."""
        lacks = [name for name in self.connections if name not in names.connections]
        if lacks:
            raise SpecError(
                f"condition {self.text!r}: {names.label} has no {quoted(lacks)}; there are "
                f"{quoted(names.connections)}."
            )
        if self.at_equal_frequency and not names.has_frequency:
            raise SpecError(
                f"condition {self.text!r}: {names.label} has no contrasts at equal frequency; "
                "leave 'at equal frequency' out, run the audit with other 'frequencies', or fit "
                "the model with the covariate 'log_frequency'."
            )
        if self.kinds == ("data set",):
            return [Level("data set")]
        if not self.name:
            [kind] = self.kinds
            complete = [name for name, has in names.of(kind).items() if self._is_complete(has)]
            if not complete:
                raise SpecError(
                    f"condition {self.text!r}: no {kind} of {names.label} has distances of "
                    f"{quoted(self.connections)}; name other connections."
                )
            return [Level(kind, name) for name in complete]
        levels = self._named_levels(names)
        for kind, name in levels:
            if not self._is_complete(names.of(kind)[name]):
                raise SpecError(
                    f"condition {self.text!r}: {names.label} has no distances of the {kind} "
                    f"{self.name!r} for all of {quoted(self.connections)}; name another {kind}."
                )
        return levels

    def _named_levels(self, names: Names) -> list[Level]:
        """Return the group or the word with the name or the label of the condition."""
        levels = [
            Level(kind, name) for kind in self.kinds for name in names.matching(kind, self.name)
        ]
        # A name comes before the label of something else.
        levels = [level for level in levels if level.name == self.name] or levels
        if len({level.kind for level in levels}) > 1:
            raise SpecError(
                f"condition {self.text!r}: {self.name!r} is a group and a word of {names.label}; "
                f"write 'for group {self.name}' or 'for word {self.name}'."
            )
        if len(levels) > 1:
            raise SpecError(
                f"condition {self.text!r}: {self.name!r} is the label of several of "
                f"{names.label}: {quoted(level.name for level in levels)}; use one of these names."
            )
        return levels

    def _is_complete(self, connections: Collection[str]) -> bool:
        # Without rows a model only guesses from the other words.
        return set(self.connections) <= set(connections)

    def probabilities(
        self, fit: Fit, levels: Sequence[Level]
    ) -> Iterator[tuple[str, Level, float]]:
        """Yield embedding, level and the share of the draws that are beyond the limit."""
        if not levels:
            return
        embeddings = [str(name) for name in fit.table["embedding"].unique()]
        by = _COLUMNS[levels[0].kind]  # all are of one kind
        overall = "embedding" if "embedding" in fit.spec.factors else None
        draws = fit.contrast_draws(self.contrast, by=by or overall)
        for level in levels:
            chosen = draws.sel({by: level.name}) if by else draws
            if "embedding" in chosen.dims:
                for name in embeddings:
                    yield name, level, self._share(chosen.sel(embedding=name).to_numpy())
            else:
                yield ", ".join(embeddings), level, self._share(chosen.to_numpy())

    def _share(self, draws: Array) -> float:
        return float(np.mean(draws < self.limit if self.is_below else draws > self.limit))

    def holds(self, probability: float) -> bool:
        """Return whether a probability reaches the threshold."""
        above = probability > self.threshold
        return above or (self.is_inclusive and probability == self.threshold)


def as_conditions(texts: str | Iterable[str], argument: str = "fail_if") -> tuple[Condition, ...]:
    """Return one condition, or several that differ, as they are used."""
    given = [texts] if isinstance(texts, str) else texts
    if not isinstance(given, Iterable):
        raise SpecError(f"{argument!r} is {texts!r}; expected conditions: {_EXAMPLE}.")
    conditions = tuple(Condition.parse(text) for text in given)
    check_distinct(argument, [condition.text for condition in conditions])
    return conditions


def check_names(conditions: Iterable[Condition], several: Sequence[Names]) -> None:
    """Refuse conditions about something that is nowhere, before long work."""
    for condition in conditions:
        # Each part may refuse it, so all of them are asked.
        found = [condition.levels(names) for names in several]
        if any(found):
            continue
        kinds = " or ".join(condition.kinds)
        pairs = [(names, kind) for names in several for kind in condition.kinds]
        listed = dict.fromkeys(text for names, kind in pairs for text in names.described(kind))
        known = [name for names, kind in pairs for name in names.of(kind)]
        for names in several:
            known += [*names.group_labels.values()] if "group" in condition.kinds else []
            known += [*names.word_labels.values()] if "word" in condition.kinds else []
        raise SpecError(
            f"condition {condition.text!r}: there is no {kinds} {condition.name!r}; there are "
            f"{shortened(listed)}.{did_you_mean(condition.name, known)}"
        )


class _Reader:
    """Reads one condition from left to right."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            several = isinstance(text, list | tuple)
            once = " Give several one by one: check(result, *conditions)." if several else ""
            raise SpecError(f"a condition is {brief(text)}; {_EXAMPLE}.{once}")
        self._text = text
        self._plain = text.replace("−", "-")  # as numbers are printed
        self._at = 0

    def condition(self) -> Condition:
        contrast = self._contrast()
        is_below = self._take("[<>]", "< or >") == "<"
        limit = self._number("a number")
        at_equal_frequency = self._at_equal_frequency()
        for word in ("with", "P"):
            self._take(rf"{word}\b", f"'{word}'")
        is_inclusive = self._take(">=?", "> or >=") == ">="
        threshold = self._probability(is_inclusive)
        kinds, name = self._level()
        return Condition(
            " ".join(self._text.split()),
            contrast,
            is_below,
            limit,
            threshold,
            is_inclusive,
            kinds,
            name,
            at_equal_frequency,
        )

    def _refuse(self, expected: str, at: int | None = None) -> SpecError:
        place = (self._at if at is None else at) + 1
        where = "the end" if place > len(self._text) else f"character {place}"
        return SpecError(f"condition {self._text!r}, at {where}: expected {expected}; {_EXAMPLE}.")

    def _skip(self) -> None:
        rest = self._plain[self._at :]
        self._at += len(rest) - len(rest.lstrip())

    def _take(self, pattern: str, expected: str) -> str:
        self._skip()
        found = re.compile(pattern, re.IGNORECASE).match(self._plain, self._at)
        if not found:
            raise self._refuse(expected)
        self._at = found.end()
        return found.group()

    def _is_next(self, word: str) -> bool:
        self._skip()
        return bool(re.compile(rf"{word}\b", re.IGNORECASE).match(self._plain, self._at))

    def _at_equal_frequency(self) -> bool:
        if not self._is_next("at"):
            return False
        for word in ("at", "equal", "frequency"):
            self._take(rf"{word}\b", "'at equal frequency'")
        return True

    def _number(self, expected: str) -> float:
        self._skip()
        start = self._at
        number = float(self._take(_NUMBER.pattern, expected))
        if not np.isfinite(number):
            raise self._refuse(f"{expected} that is finite", start)
        return number

    def _probability(self, is_inclusive: bool) -> float:
        self._skip()
        start = self._at
        number = self._number("a probability")
        if not (0 < number <= 1 if is_inclusive else 0 <= number < 1):
            # P > 1 never holds and P >= 0 always does: neither can be meant.
            some = "above 0 and up to 1" if is_inclusive else "from 0 and below 1"
            raise self._refuse(f"a probability {some}", start)
        return number

    def _contrast(self) -> str:
        self._skip()
        start = self._at
        sign = re.search("[<>]", self._plain)
        end = sign.start() if sign else len(self._plain)
        # The names of connections are as in tables, and one of them has two.
        contrast = self._plain[start:end].rstrip()
        self._at = end
        if not contrast:
            raise self._refuse("a contrast, such as 'associated - different'", start)
        known = (*CONNECTIONS, "neutral")
        try:
            names = [node for node in ast.walk(ast.parse(contrast)) if isinstance(node, ast.Name)]
        except (SyntaxError, ValueError, MemoryError, RecursionError) as err:
            place = (getattr(err, "offset", None) or 1) - 1
            raise self._refuse("a contrast", start + min(place, len(contrast))) from None
        # ast counts bytes, and from line to line.
        for node in names:
            if node.id not in known:
                found = re.search(rf"\b{re.escape(node.id)}\b", contrast)
                at = start + (found.start() if found else 0)
                raise self._refuse(f"one of {quoted(known)}", at)
        contrast = re.sub(r"\bneutral\b", "none", contrast)
        try:
            with np.errstate(all="ignore"):
                weights = contrast_weights(contrast, CONNECTIONS)
        except (SpecError, OverflowError, RecursionError):
            weights = np.array([np.nan])
        if not np.isfinite(weights).all():
            raise self._refuse("a contrast, such as 'associated - different'", start)
        return contrast

    def _level(self) -> tuple[tuple[Kind, ...], str]:
        self._skip()
        if self._at == len(self._plain):
            return ("data set",), ""
        if self._is_next("at"):
            raise self._refuse("'for' or the end, as 'at equal frequency' stands before 'with'")
        self._take(r"for\b", "'for' or the end")
        self._skip()
        # Names stay as they were given.
        rest = self._text[self._at :].strip()
        if not rest:
            raise self._refuse("'any group', 'any word', or the name of a group or word")
        first, _, name = (part.strip() for part in rest.partition(" "))
        if first == "any":
            start = self._at + self._text[self._at :].index(name) if name else len(self._text)
            if name not in ("group", "word"):
                raise self._refuse("'group' or 'word'", start)
            return (name,), ""  # type: ignore[return-value]
        if first in ("group", "word") and name:
            return (first,), name  # type: ignore[return-value]
        return ("group", "word"), rest
