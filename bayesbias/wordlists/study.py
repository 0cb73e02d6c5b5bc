"""The study: protected words, stereotypes and controls."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from bayesbias._core.constants import CONTROL_CONNECTIONS
from bayesbias._core.files import atomic
from bayesbias._core.validation import word_list
from bayesbias._core.wording import brief, did_you_mean, quoted
from bayesbias.errors import SpecError
from bayesbias.wordlists import toml_text
from bayesbias.wordlists.languages import ENGLISH, from_entry, joined, to_entry
from bayesbias.wordlists.wordset import WordSet

if TYPE_CHECKING:
    from bayesbias._core.random import Seed
    from bayesbias.embeddings import EmbeddingLike, Matching
    from bayesbias.wordlists.frequencies import Frequencies
    from bayesbias.wordlists.matched_controls import MatchedStudy

_PARTS = ("groups", "stereotypes", "controls")
_KEYS = ("name", "source", "notes", "labels", "language", *_PARTS)
# What can have a label: the study itself, its groups, and its words.
_LABELLED = ("study", "groups", "words")


class Attribute(NamedTuple):
    """A word that protected words are compared to.

    `group` is the group whose stereotype it is, None for a control; `control` is the kind of
    control, None for a stereotype.
    """

    word: str
    word_class: str
    group: str | None
    control: str | None


@dataclass(frozen=True, slots=True, init=False, repr=False, eq=False)
class Study:
    """Protected words by group, their stereotypes by group, and control words.

    Parameters
    ----------
    name : str
        The name of the study.
    groups : mapping of str to iterable of str
        The protected words of each group; at least two groups.
    stereotypes : mapping of str to iterable of str
        The stereotypical attributes of each group, under the same keys.
    controls : mapping of str to iterable of str, optional
        Control words under the keys ``human`` and ``neutral``.
    source : str, optional
        Where the words are from.
    notes : iterable of str, optional
        What a reader should know of the lists.
    labels : mapping, optional
        How figures and reports name things: ``{"study": "Religion", "groups": {"jew": "Judaism"},
        "words": {"quran": "Qur'an"}}``. Tables of data keep the names of the lists.
    language : str, default "en"
        The language of sets that are plain lists, by its code of ISO 639-1; a WordSet keeps its
        own.

    Raises
    ------
    SpecError
        If a group is empty, groups overlap, an attribute is in two groups, a word has two roles,
        the keys of groups and stereotypes do not fit, a label is of nothing in the study, or the
        language has no such code.

    Examples
    --------
    >>> import bayesbias as bb
    >>> study = bb.Study(
    ...     "roles",
    ...     groups={"man": ["he", "father"], "woman": ["she", "mother"]},
    ...     stereotypes={"man": ["engineer"], "woman": ["nurse"]},
    ...     controls={"neutral": ["clock", "grass"]},
    ... )
    >>> study
    <Study 'roles': 2 groups with 4 protected words, 2 stereotypes, 2 controls>
    >>> bb.load_study("religion").groups["jew"]
    WordSet('jew', 5 words: judaism, jew, synagogue, …)
    """

    name: str
    groups: Mapping[str, WordSet]
    stereotypes: Mapping[str, WordSet]
    controls: Mapping[str, WordSet]
    source: str
    notes: tuple[str, ...] = field(default=())
    labels: Mapping[str, Any] = field(default_factory=dict)

    def __init__(
        self,
        name: str,
        groups: Mapping[str, Iterable[str]],
        stereotypes: Mapping[str, Iterable[str]],
        controls: Mapping[str, Iterable[str]] | None = None,
        source: str = "",
        notes: Iterable[str] = (),
        labels: Mapping[str, Any] | None = None,
        language: str = ENGLISH,
    ) -> None:
        set_field = object.__setattr__
        set_field(self, "name", str(name))
        for part, given in zip(_PARTS, (groups, stereotypes, controls or {}), strict=True):
            set_field(self, part, MappingProxyType(_as_sets(name, part, given, source, language)))
        set_field(self, "source", str(source))
        set_field(self, "notes", word_list("notes", [notes] if isinstance(notes, str) else notes))
        self._check()
        set_field(self, "labels", MappingProxyType(self._checked_labels(labels or {})))

    def _checked_labels(self, labels: Mapping[str, Any]) -> dict[str, Any]:
        """Return the labels as plain dictionaries; refuse those of nothing in the study."""
        where = f"study {self.name!r}"
        if not isinstance(labels, Mapping):
            raise SpecError(f"{where}: 'labels' is {labels!r}; expected {quoted(_LABELLED)}.")
        for part in labels:
            if part not in _LABELLED:
                raise SpecError(
                    f"{where}: labels of {part!r}; expected {quoted(_LABELLED)}."
                    f"{did_you_mean(part, _LABELLED)}"
                )
        words = [word for word_set in self.word_sets().values() for word in word_set]
        checked: dict[str, Any] = {}
        if labels.get("study"):
            checked["study"] = _label(where, "study", labels["study"])
        for part, known in (("groups", list(self.groups)), ("words", words)):
            given = labels.get(part) or {}
            if not isinstance(given, Mapping):
                raise SpecError(
                    f"{where}: the labels of {part} are {given!r}; expected a dictionary of names "
                    "and labels."
                )
            for name in given:
                if name not in known:
                    raise SpecError(
                        f"{where}: a label of {name!r}, which is not one of its {part}."
                        f"{did_you_mean(name, known)}"
                    )
            if given:
                checked[part] = {name: _label(where, name, text) for name, text in given.items()}
        return checked

    @property
    def label(self) -> str:
        """The study as figures and reports name it."""
        return str(self.labels.get("study", self.name))

    @property
    def language(self) -> str:
        """The language of the sets, by its code; of several all, as ``de+en``."""
        return joined(words.language for words in self.word_sets().values())

    def group_label(self, group: str) -> str:
        """Return a group as figures and reports name it.

        Parameters
        ----------
        group : str
            The name of the group.

        Returns
        -------
        str
            Its label, or its name if it has none.

        Examples
        --------
        >>> import bayesbias as bb
        >>> bb.load_study("religion").group_label("jew")
        'Judaism'
        """
        return str(self.labels.get("groups", {}).get(group, group))

    def word_label(self, word: str) -> str:
        """Return a word as figures and reports name it.

        Parameters
        ----------
        word : str
            A word of the study.

        Returns
        -------
        str
            Its label, or the word itself if it has none.

        Examples
        --------
        >>> import bayesbias as bb
        >>> bb.load_study("religion").word_label("imam")
        'imam'
        """
        return str(self.labels.get("words", {}).get(word, word))

    def _check(self) -> None:
        where = f"study {self.name!r}"
        if len(self.groups) < 2:
            raise SpecError(
                f"{where}: {len(self.groups)} group; it needs at least two, since the stereotypes "
                "of the others are what a group is compared with."
            )
        if not self.stereotypes:
            raise SpecError(f"{where}: no stereotypes; give at least one group its attributes.")
        for group in self.stereotypes:
            if group not in self.groups:
                raise SpecError(
                    f"{where}: stereotypes of {group!r}, but the groups are "
                    f"{quoted(self.groups)}.{did_you_mean(group, self.groups)}"
                )
        for kind in self.controls:
            if kind not in CONTROL_CONNECTIONS:
                raise SpecError(
                    f"{where}: controls of the kind {kind!r}; expected "
                    f"{quoted(CONTROL_CONNECTIONS)}.{did_you_mean(kind, CONTROL_CONNECTIONS)}"
                )
        role: dict[str, str] = {}
        for label, words in self.word_sets().items():
            for word in words:
                if word in role:
                    raise SpecError(
                        f"{where}: {word!r} is both in {role[word]!r} and in {label!r}; "
                        "a word can have only one role: remove it from one of them."
                    )
                role[word] = label

    @property
    def protected_words(self) -> tuple[str, ...]:
        """All protected words, group by group."""
        return tuple(word for words in self.groups.values() for word in words)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """All attributes: stereotypes group by group, then controls."""
        stereotypes = [
            Attribute(word, f"{group}_stereotype", group, None)
            for group, words in self.stereotypes.items()
            for word in words
        ]
        controls = [
            Attribute(word, kind, None, kind)
            for kind, words in self.controls.items()
            for word in words
        ]
        return (*stereotypes, *controls)

    def word_sets(self) -> dict[str, WordSet]:
        """Return every set by a label that says what it is.

        Returns
        -------
        dict of str to WordSet
            Keys such as ``group: jew``, ``stereotype: jew`` and ``control: human``.
        """
        labels = ("group", "stereotype", "control")
        parts = (self.groups, self.stereotypes, self.controls)
        return {
            f"{label}: {key}": words
            for label, part in zip(labels, parts, strict=True)
            for key, words in part.items()
        }

    def match_controls(
        self,
        embedding: EmbeddingLike,
        on: Literal["frequency", "norm"] = "frequency",
        *,
        pool: str | Iterable[str] | None = None,
        ratio: int = 5,
        caliper: float | None = None,
        frequencies: Frequencies = "rank",
        matching: Matching | None = None,
        seed: Seed = 0,
        name: str | None = None,
    ) -> MatchedStudy:
        """Return this study with neutral controls that are as frequent as the stereotypes.

        Distances go with the frequency of words, and stereotypes are often more frequent than
        the neutral words they are compared with. Matched controls leave this out of the
        comparison. Each stereotype gets `ratio` controls, drawn at random among the words whose
        value is within the caliper; first from the study's own neutral list, then from the pool;
        no word twice. Where no word is near enough, the nearest is taken, and the result says so.

        A word is never left out for its distances, as that would choose the result.

        Parameters
        ----------
        embedding : Embedding or str
            Where the words are looked up; best with its whole vocabulary.
        on : {"frequency", "norm"}, default "frequency"
            What is matched: the log frequency, or the length of the vector.
        pool : iterable of str, or str, optional
            Words to draw from beside the study's own neutral list: a list or a `WordSet`, or the
            name of a built-in list, such as ``"controls:neutral_2"``. By default all words of the
            embedding that are made of letters, in lower case, and in no list of the study nor in
            any published list that comes with the package (opinions, people, professions). Such
            words are *unlisted*, which is less than neutral: names, or words about the topic of
            the study, may be among them. Read the words that were drawn; a pool that people have
            looked through is better.
        ratio : int, default 5
            Controls for each stereotype. More add little precision, as the few stereotypes limit
            it.
        caliper : float, optional
            How far the value of a control may be from that of its stereotype; by default a tenth
            of the standard deviation of the stereotypes.
        frequencies : str, path-like, corpus, DataFrame or mapping, default "rank"
            Where frequencies are from, as in `distance_table`.
        matching : Matching, optional
            How words are matched with the vocabulary; that of the embedding by default.
        seed : int, Generator or None, default 0
            The seed of the draw, or a NumPy generator that draws it. Other seeds give other
            controls, so that one can see how much a result depends on them.
        name : str, optional
            The name of the new study; by default this one's with ``_matched``.

        Returns
        -------
        MatchedStudy
            The study, with the tables `matches` (what each control was matched to) and `balance`
            (how good the match is). Human controls stay as they are.

        Raises
        ------
        SpecError
            If an argument is wrong, or there are too few words to draw from.
        DataError
            If stereotypes have no frequency, or the vocabulary is plainly not in the order of
            frequency.
        VocabularyError
            If the embedding has none of the stereotypes.

        Warns
        -----
        BayesBiasWarning
            If no good match is to be had: the means differ by more than a tenth of a standard
            deviation, the Kolmogorov–Smirnov distance is above 0.2 (or 1 / n for fewer than five
            stereotypes), or more than a tenth of the controls are outside the caliper.

        Examples
        --------
        >>> import bayesbias as bb
        >>> embedding = bb.load_embedding("demo")
        >>> matched = bb.load_study("weat_7").match_controls(embedding, ratio=3, seed=1)
        >>> matched.matches[["word", "matched_to", "value", "matched_value"]].head(3).round(2)
                 word matched_to  value  matched_value
        0      studio       male  -7.61          -7.75
        1  households       male  -7.90          -7.75
        2      dallas       male  -7.90          -7.75
        """
        from bayesbias.wordlists.matched_controls import match_controls

        return match_controls(
            self,
            embedding,
            on,
            pool=pool,
            ratio=ratio,
            caliper=caliper,
            frequencies=frequencies,
            matching=matching,
            seed=seed,
            name=name,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the study as plain dictionaries, for JSON and TOML.

        Returns
        -------
        dict
            ``name``, ``source``, ``notes``, ``groups``, ``stereotypes``, ``controls``;
            ``labels`` if there are any, and ``language`` if a set is not in English.
        """
        words = {
            part: {key: list(words) for key, words in getattr(self, part).items()}
            for part in _PARTS
        }
        data = {"name": self.name, "source": self.source, "notes": list(self.notes), **words}
        if self.labels:
            data["labels"] = {
                part: dict(given) if isinstance(given, Mapping) else given
                for part, given in self.labels.items()
            }
        if self.language != ENGLISH:
            data["language"] = to_entry(
                {
                    part: {key: words.language for key, words in getattr(self, part).items()}
                    for part in _PARTS
                }
            )
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Study:
        """Make a study from what `to_dict` returns.

        Parameters
        ----------
        data : mapping
            ``name``, ``groups`` and ``stereotypes``; ``controls``, ``source``, ``notes``,
            ``labels`` and ``language`` may be left out.

        Returns
        -------
        Study
            The study.
        """
        for key in data:
            if key not in _KEYS:
                raise SpecError(
                    f"a study has no {key!r}; expected {quoted(_KEYS)}.{did_you_mean(key, _KEYS)}"
                )
        for key in ("name", "groups", "stereotypes"):
            if key not in data:
                raise SpecError(f"the study has no {key!r}; it needs {quoted(_KEYS)}.")
        language = data.get("language", ENGLISH)
        parts = {part: data.get(part) or {} for part in _PARTS}
        if isinstance(language, Mapping):
            codes = from_entry(language, parts)
            parts = {
                part: {
                    key: _in_language(key, words, codes[part][key]) for key, words in sets.items()
                }
                for part, sets in parts.items()
            }
            language = ENGLISH
        return cls(
            data["name"],
            parts["groups"],
            parts["stereotypes"],
            parts["controls"],
            data.get("source", ""),
            data.get("notes", ()),
            data.get("labels"),
            language,
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write the study to a ``.toml`` or ``.json`` file.

        Parameters
        ----------
        path : path-like
            Where to; `load_study` reads it back.

        Raises
        ------
        SpecError
            If the suffix is another.
        """
        target = Path(path)
        if target.suffix.lower() not in (".toml", ".json"):
            raise SpecError(f"{target}: a study is written to a .toml or .json file.")
        data = self.to_dict()
        if target.suffix.lower() == ".json":
            text = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
        else:
            text = _toml(data)
        with atomic(target) as (temporary,):
            temporary.write_text(text, "utf-8", newline="\n")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Study) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, tuple[tuple[str, WordSet], ...]]:
        return self.name, tuple(self.word_sets().items())

    def __reduce__(self) -> tuple[Any, ...]:
        # Mapping proxies cannot be pickled, and studies travel to other processes.
        return Study.from_dict, (self.to_dict(),)

    def __repr__(self) -> str:
        return (
            f"<Study {self.name!r}: {len(self.groups)} groups with {len(self.protected_words)} "
            f"protected words, {_count(self.stereotypes)} stereotypes, "
            f"{_count(self.controls)} controls>"
        )

    def _repr_html_(self) -> str:
        rows = [
            f"<tr><td>{html.escape(self._with_label(name))}</td><td>{len(words)}</td>"
            f"<td style='text-align:left'>{html.escape(words.preview())}</td></tr>"
            for name, words in self.word_sets().items()
        ]
        label = f" ({self.labels['study']})" if "study" in self.labels else ""
        return (
            f"<table><caption>Study {html.escape(self.name + label)}</caption>"
            "<thead><tr><th>set</th><th>words</th><th></th></tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table>"
        )

    def _with_label(self, name: str) -> str:
        """Return the name of a set, and how figures call its group if that is different."""
        kind, _, group = name.partition(": ")
        label = group if kind == "control" else self.group_label(group)
        return name if label == group else f"{name} ({label})"


def _as_sets(
    study: str, part: str, given: Mapping[str, Iterable[str]], source: str, language: str
) -> dict[str, WordSet]:
    if not isinstance(given, Mapping):
        names = ("human", "neutral") if part == "controls" else ("old", "young")
        example = ", ".join(f"{name!r}: […]" for name in names)
        raise SpecError(
            f"study {study!r}: {part!r} is {brief(given)}; expected a dictionary of names and "
            f"words: {{{example}}}."
        )
    sets = {}
    for key, given_words in given.items():
        words = word_list(f"{part} {key}", given_words)
        if not words:
            raise SpecError(
                f"study {study!r}: {part} {key!r} is empty; give it words or leave it out."
            )
        # A published list keeps its own source, note and language.
        sets[str(key)] = (
            replace(given_words, name=str(key), source=given_words.source or source)
            if isinstance(given_words, WordSet)
            else WordSet(str(key), words, source, language=language)
        )
    return sets


def _in_language(key: str, words: Iterable[str], language: str) -> WordSet:
    return words if isinstance(words, WordSet) else WordSet(str(key), words, language=language)


def _label(where: str, name: str, text: object) -> str:
    if not isinstance(text, str) or not text.strip():
        raise SpecError(f"{where}: the label of {name!r} is {text!r}; expected a text.")
    return text


def _count(sets: Mapping[str, WordSet]) -> int:
    return sum(len(words) for words in sets.values())


def _toml(data: Mapping[str, Any]) -> str:
    lines = [f"{key} = {toml_text.quote(data[key])}" for key in ("name", "source")]
    lines.append(f"notes = {toml_text.array(data['notes'])}")
    language = data.get("language", ENGLISH)
    if isinstance(language, str) and language != ENGLISH:
        lines.append(f"language = {toml_text.quote(language)}")
    for part in _PARTS:
        lines += toml_text.table(part, data[part])
    for part, codes in language.items() if isinstance(language, Mapping) else ():
        lines += ["", f"[language.{part}]"]
        lines += [f"{toml_text.quote(k)} = {toml_text.quote(code)}" for k, code in codes.items()]
    labels = data.get("labels", {})
    if "study" in labels:
        lines += ["", "[labels]", f"study = {toml_text.quote(labels['study'])}"]
    for part in ("groups", "words"):
        if part in labels:
            lines += ["", f"[labels.{part}]"]
            lines += [
                f"{toml_text.quote(name)} = {toml_text.quote(text)}"
                for name, text in labels[part].items()
            ]
    return "\n".join(lines) + "\n"
