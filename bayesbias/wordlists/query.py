"""The query: target sets against attribute sets."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

from bayesbias._core.validation import word_list
from bayesbias._core.wording import brief, did_you_mean, enumerated, quoted
from bayesbias.errors import SpecError
from bayesbias.wordlists.languages import ENGLISH, from_entry, joined, to_entry
from bayesbias.wordlists.wordset import WordSet

#: How many target and attribute sets a metric takes; "n" stands for any number.
Template = tuple[int | Literal["n"], int | Literal["n"]]

_SIDES = ("target_sets", "attribute_sets")


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Query:
    """A question to an embedding: are these targets closer to those attributes.

    Parameters
    ----------
    target_sets : iterable of lists of str or WordSet, or mapping
        The words of the groups that are compared; at least one set. The keys of a mapping are
        the names of the sets.
    attribute_sets : iterable of lists of str or WordSet, or mapping
        The words of the concepts they are compared by; may be empty for metrics without them.
    target_names, attribute_names : iterable of str, optional
        The names of the sets. By default the keys of a mapping, the names of the WordSets, or
        ``Target set 0`` and so on.
    language : str, default "en"
        The language of sets that are plain lists, by its code of ISO 639-1; a WordSet keeps its
        own.

    Raises
    ------
    SpecError
        If there is no target set, a set is empty, names do not fit the sets or repeat, or the
        language has no such code.

    Examples
    --------
    >>> import bayesbias as bb
    >>> query = bb.load_query("weat_7")
    >>> query
    <Query 'Math and Arts wrt Male terms and Female terms', template (2, 2), 8+8 × 8+8 words>
    >>> [q.name for q in query.subqueries((2, 1))]
    ['Math and Arts wrt Male terms', 'Math and Arts wrt Female terms']
    >>> bb.Query({"men": ["he"], "women": ["she"]}, {"career": ["office", "salary"]})
    <Query 'men and women wrt career', template (2, 1), 1+1 × 2 words>
    """

    target_sets: tuple[WordSet, ...]
    attribute_sets: tuple[WordSet, ...]

    def __init__(
        self,
        target_sets: Iterable[Iterable[str]],
        attribute_sets: Iterable[Iterable[str]],
        target_names: Iterable[str] | None = None,
        attribute_names: Iterable[str] | None = None,
        language: str = ENGLISH,
    ) -> None:
        targets = as_sets("target", target_sets, target_names, language)
        if not targets:
            raise SpecError("a query needs at least one target set.")
        object.__setattr__(self, "target_sets", targets)
        object.__setattr__(
            self,
            "attribute_sets",
            as_sets("attribute", attribute_sets, attribute_names, language),
        )

    @property
    def target_names(self) -> tuple[str, ...]:
        """The names of the target sets."""
        return tuple(words.name for words in self.target_sets)

    @property
    def attribute_names(self) -> tuple[str, ...]:
        """The names of the attribute sets."""
        return tuple(words.name for words in self.attribute_sets)

    @property
    def template(self) -> tuple[int, int]:
        """The numbers of target and attribute sets."""
        return len(self.target_sets), len(self.attribute_sets)

    @property
    def name(self) -> str:
        """The query in words, as WEFE writes it: ``T1 and T2 wrt A1 and A2``.

        A language other than English is added: ``T1 and T2 wrt A1 and A2 (de)``.
        """
        text = enumerated(self.target_names)
        if self.attribute_sets:
            text += f" wrt {enumerated(self.attribute_names)}"
        return text if self.language == ENGLISH else f"{text} ({self.language})"

    @property
    def language(self) -> str:
        """The language of the sets, by its code; of a bilingual query both, as ``de+en``."""
        return joined(words.language for side in self._sides() for words in side)

    def subqueries(self, template: Template) -> list[Query]:
        """Return the queries of a smaller template that this one holds.

        Parameters
        ----------
        template : tuple
            The numbers of target and attribute sets; ``"n"`` keeps all of them.

        Returns
        -------
        list of Query
            One for each choice of target sets and attribute sets, in their order.

        Raises
        ------
        SpecError
            If the template asks for more sets than there are.
        """
        if not isinstance(template, tuple) or len(template) != 2:
            raise SpecError(f"the template is {template!r}; expected two numbers such as (2, 1).")
        sizes = []
        for side, wanted, available in zip(
            ("target", "attribute"), template, self.template, strict=True
        ):
            size = available if wanted == "n" else wanted
            if not isinstance(size, int) or size < 0 or (side == "target" and not size):
                raise SpecError(f"the template {template!r} has no number of {side} sets.")
            if size > available:
                raise SpecError(
                    f"the template {template!r} needs {size} {side} sets, but the query "
                    f"{self.name!r} has {available}."
                )
            sizes.append(size)
        return [
            Query(targets, attributes)
            for targets in combinations(self.target_sets, sizes[0])
            for attributes in combinations(self.attribute_sets, sizes[1])
        ]

    def word_sets(self) -> dict[str, WordSet]:
        """Return every set by a label that says which side it is on.

        Returns
        -------
        dict of str to WordSet
            Keys such as ``target: Math`` and ``attribute: Male terms``.
        """
        sides = (("target", self.target_sets), ("attribute", self.attribute_sets))
        return {f"{side}: {words.name}": words for side, sets in sides for words in sets}

    def to_dict(self) -> dict[str, Any]:
        """Return the query as plain dictionaries, for JSON and TOML.

        Returns
        -------
        dict
            ``target_sets`` and ``attribute_sets``, each a dictionary of names and words; and
            ``language`` if a set is not in English, one code or a table of codes.
        """
        sides = dict(zip(_SIDES, self._sides(), strict=True))
        data: dict[str, Any] = {
            side: {words.name: list(words) for words in sets} for side, sets in sides.items()
        }
        if self.language != ENGLISH:
            data["language"] = to_entry(
                {
                    side: {words.name: words.language for words in sets}
                    for side, sets in sides.items()
                }
            )
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Query:
        """Make a query from what `to_dict` returns.

        Parameters
        ----------
        data : mapping
            ``target_sets`` and ``attribute_sets``, each a mapping of names to words;
            ``language`` may be left out.

        Returns
        -------
        Query
            The query.
        """
        keys = (*_SIDES, "language")
        if not isinstance(data, Mapping):
            raise SpecError(f"a query is a table with {quoted(keys)}; this is {data!r}.")
        for key in data:
            if key not in keys:
                raise SpecError(
                    f"a query has no {key!r}; expected {quoted(keys)}.{did_you_mean(key, keys)}"
                )
        for key in _SIDES:
            if not isinstance(data.get(key), Mapping):
                raise SpecError(f"a query needs {key!r}, a table of names and their words.")
        codes = from_entry(data.get("language", ENGLISH), {side: data[side] for side in _SIDES})
        targets, attributes = (
            [
                replace(words, name=name)
                if isinstance(words, WordSet)
                else WordSet(name, words, language=codes[side][name])
                for name, words in data[side].items()
            ]
            for side in _SIDES
        )
        return cls(targets, attributes)

    def __repr__(self) -> str:
        sides = ["+".join(str(len(s)) for s in side) or "0" for side in self._sides()]
        return f"<Query {self.name!r}, template {self.template}, {' × '.join(sides)} words>"

    def _sides(self) -> tuple[Sequence[WordSet], Sequence[WordSet]]:
        return self.target_sets, self.attribute_sets

    def _repr_html_(self) -> str:
        rows = [
            f"<tr><td>{side}</td><td>{html.escape(words.name)}</td><td>{len(words)}</td>"
            f"<td style='text-align:left'>{html.escape(words.preview())}</td></tr>"
            for side, sets in zip(("target", "attribute"), self._sides(), strict=True)
            for words in sets
        ]
        return (
            f"<table><caption>{html.escape(self.name)}</caption>"
            "<thead><tr><th></th><th>set</th><th>words</th><th></th></tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table>"
        )


def as_sets(
    side: str,
    sets: Iterable[Iterable[str]],
    names: Iterable[str] | None,
    language: str = ENGLISH,
) -> tuple[WordSet, ...]:
    """Return the sets of one side, ``target`` or ``attribute``, each with a name of its own."""
    if isinstance(sets, str | WordSet) or not isinstance(sets, Iterable):
        raise SpecError(
            f"'{side}_sets' is {brief(sets)}; expected a list of sets of words: [[…], […]]."
        )
    if isinstance(sets, Mapping):
        names = list(sets) if names is None else names
        sets = [
            words if isinstance(words, WordSet) else word_list(name, words)
            for name, words in sets.items()
        ]
    given = list(sets)
    if any(isinstance(item, str) for item in given):
        raise SpecError(f"'{side}_sets' is a list of words; expected a list of sets: [[…], […]].")
    if names is None:
        labels = [
            item.name if isinstance(item, WordSet) else f"{side.title()} set {i}"
            for i, item in enumerate(given)
        ]
    else:
        labels = [str(name) for name in names]
    if len(labels) != len(given):
        raise SpecError(f"{len(labels)} names for {len(given)} {side} sets; give one for each.")
    if len(set(labels)) < len(labels):
        raise SpecError(
            f"two {side} sets are called {max(labels, key=labels.count)!r}; "
            "give them different names."
        )
    return tuple(
        replace(item, name=label)
        if isinstance(item, WordSet)
        else WordSet(label, item, language=language)
        for label, item in zip(labels, given, strict=True)
    )
