"""Debiasing methods with what they need to know of a study."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bayesbias._core.validation import one_of
from bayesbias.debias import DEBIASERS, Debiaser
from bayesbias.embeddings import Embedding
from bayesbias.errors import SpecError
from bayesbias.wordlists import Study, load_study, word_tuples

_GENDER_PAIRS = "bolukbasi:definitional_pairs"
_GENDER_WORDS = "bolukbasi:gender_specific"
# What is known to tell the groups of built-in studies apart. Of weat_7 these are not the protected
# words: its stereotypes are men's and women's words.
_DEFINITIONS = {
    "gender": _GENDER_PAIRS,
    "weat_7": _GENDER_PAIRS,
    "race": "manzini:race_definitional_sets",
    "religion": "manzini:religion_definitional_sets",
}


@dataclass(frozen=True)
class Method:
    """A debiasing method, and what it learns from for a study."""

    debiaser: Debiaser
    arguments: dict[str, Any]
    described: str

    def fit(self, embedding: Embedding, fallbacks: tuple[str, ...]) -> Debiaser:
        """Learn from an embedding."""
        method: Any = self.debiaser  # each has a signature of its own
        fitted: Debiaser = method.fit(embedding, fallbacks=fallbacks, **self.arguments)
        return fitted


def method_for(name: str, study: Study, seed: int) -> Method:
    """Return a method as it is used for a study, or say why it cannot be.

    Pairs and sets are those published for a built-in study, else the words in the same places of
    its groups. Methods that learn from groups get the protected words; gender is learned from
    published pairs and words.
    """
    kind: Any = DEBIASERS[one_of("debias", name, DEBIASERS)]
    made: Debiaser = kind()
    known = _definitions(study)
    sets = _tuples(known) if known else list(zip(*study.groups.values(), strict=False))
    of_gender = known == _GENDER_PAIRS
    told = known or "the words in the same places of the groups"
    takes = inspect.signature(kind.fit).parameters
    options = {"seed": seed} if "seed" in made.get_params() else {}
    arguments: dict[str, Any] = {}
    if "groups" in takes:
        if of_gender:
            arguments["definitional_pairs"] = known
        else:
            arguments["groups"] = {group: list(words) for group, words in study.groups.items()}
            told = "the protected words of each group"
    elif "definitional_words" in takes:
        arguments["definitional_words"] = _GENDER_WORDS if of_gender else study.protected_words
        told = _GENDER_WORDS if of_gender else "the protected words"
    elif "definitional_sets" in takes:
        arguments["definitional_sets"] = known or sets
        options["n_components"] = len(sets[0]) - 1
    else:
        if len(sets[0]) != 2:
            raise SpecError(
                f"the method {name!r} learns from pairs, and the study {study.name!r} has "
                f"{len(sets[0])} groups; use 'multiclass_hard_debias', 'soft_debias' or 'leace'."
            )
        arguments["definitional_pairs"] = known or sets
        if "exclude" in takes and not of_gender:
            arguments["exclude"] = None
    made.set_params(**options)
    return Method(made, arguments, f"{made!r}, learned from {told}")


def _definitions(study: Study) -> str:
    """Return the name of the published list that fits a built-in study; nothing for others."""
    if study.name in _DEFINITIONS and study == load_study(study.name):
        return _DEFINITIONS[study.name]
    return ""


def _tuples(name: str) -> Sequence[tuple[str, ...]]:
    collection, _, key = name.partition(":")
    return word_tuples(collection)[key]
