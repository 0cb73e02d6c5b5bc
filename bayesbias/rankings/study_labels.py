"""The names that people read in place of those in tables: of queries and word sets of a study."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import combinations

from bayesbias._core.wording import capitalized, enumerated
from bayesbias.wordlists import Study

#: What is between targets and attributes in the name of a query.
_BETWEEN = " wrt "
#: How a word set is called, by the first part of its name.
_SETS = {"group": "{}: protected words", "stereotype": "{}: stereotypes", "control": "{} controls"}
_NAME_OF_SET = re.compile(r"(group|stereotype|control): (.+)", re.DOTALL)


def contrast_title(contrast: str) -> str:
    """Return a contrast as it is printed.

    >>> contrast_title("associated - none")
    'associated − neutral'
    """
    return re.sub(r"\bnone\b", "neutral", contrast).replace(" - ", " − ")


class StudyLabels:
    """Labels for the queries and word sets that are made of a study.

    Parameters
    ----------
    study : Study
        The study, with the labels of its groups.

    Examples
    --------
    >>> import bayesbias as bb
    >>> labels = StudyLabels(bb.load_study("religion"))
    >>> labels.query("jew and muslim wrt jew stereotypes and muslim stereotypes")
    'Judaism and Islam, by their stereotypes'
    >>> labels.query("jew and muslim wrt muslim stereotypes")
    'Judaism and Islam, by the stereotypes of Islam'
    >>> labels.word_set("stereotype: jew")
    'Judaism: stereotypes'
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        groups, described = list(study.groups), list(study.stereotypes)
        # Queries are of one group, of two, or of all; some metrics need those with stereotypes
        # first.
        rest = [name for name in groups if name not in described]
        self._targets = _lists(groups, [*described, *rest])
        attributes = _lists(described, described)
        self._attributes = {
            enumerated([f"{name} stereotypes" for name in names]): names
            for names in attributes.values()
        }
        self._sets = {name: self.word_set(name) for name in study.word_sets()}

    def query(self, name: str) -> str:
        """Return a query in words; one that the study does not make keeps its name."""
        targets, attributes = self._parsed(name)
        if not targets:
            return name
        groups = self._named(targets)
        if attributes is None:
            return f"{groups}, by all attributes"
        if not attributes:
            return groups
        if set(attributes) == set(targets):
            return f"{groups}, by {'their' if len(targets) > 1 else 'its'} stereotypes"
        return f"{groups}, by the stereotypes of {self._named(attributes)}"

    def query_cells(self, name: str) -> tuple[str, str]:
        """Return the groups of a query, and the groups of its stereotypes, as a table has them.

        >>> import bayesbias as bb
        >>> labels = StudyLabels(bb.load_study("religion"))
        >>> labels.query_cells("jew and muslim wrt muslim stereotypes")
        ('Judaism and Islam', 'Islam')
        >>> labels.query_cells("jew and muslim wrt jew stereotypes and muslim stereotypes")
        ('Judaism and Islam', 'the same')
        """
        targets, attributes = self._parsed(name)
        if not targets:
            return name, ""
        if attributes is None:
            return self._named(targets), "all attributes"
        same = bool(attributes) and set(attributes) == set(targets)
        return self._named(targets), "the same" if same else self._named(attributes)

    def _parsed(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
        """Return the groups of a query and those of its stereotypes; None if it has all."""
        if name in self._targets:
            return self._targets[name], ()
        for between in re.finditer(_BETWEEN, name):
            targets = self._targets.get(name[: between.start()])
            rest = name[between.end() :]
            if targets is None:
                continue
            if rest in self._attributes:
                return targets, self._attributes[rest]
            if rest == f"attributes of {self._study.name}":
                return targets, None
        return (), ()

    def _named(self, groups: Iterable[str]) -> str:
        return enumerated([self._study.group_label(name) for name in groups])

    def word_set(self, name: str) -> str:
        """Return a word set of the study as people read it."""
        found = _NAME_OF_SET.fullmatch(name)
        if found is None:
            return name
        kind, of = found.groups()
        label = of if kind == "control" else self._study.group_label(of)
        return capitalized(_SETS[kind].format(label))

    def pair(self, first: str, second: str) -> str:
        """Return two word sets of one kind as people read them."""
        one, other = (_NAME_OF_SET.fullmatch(name) for name in (first, second))
        if one is None or other is None or one[1] != other[1]:
            return f"{self.word_set(first)} / {self.word_set(second)}"
        labels = [found[2] for found in (one, other)]
        if one[1] != "control":
            labels = [self._study.group_label(name) for name in labels]
        return capitalized(_SETS[one[1]].format(" / ".join(labels)))

    def text(self, text: str) -> str:
        """Return a text with the quoted names of word sets replaced."""
        for name, label in self._sets.items():
            text = text.replace(repr(name), repr(label))
        return text


def _lists(names: list[str], ordered: list[str]) -> dict[str, tuple[str, ...]]:
    """Return single names, pairs and all of them, by how a query enumerates them."""
    several = [*((name,) for name in names), *combinations(names, 2), tuple(names), tuple(ordered)]
    return {enumerated(some): some for some in several if some}
