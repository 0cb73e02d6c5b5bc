"""Debiasing methods with the definitions that fit a study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bayesbias._core.random import Seed
from bayesbias._core.validation import named
from bayesbias._core.wording import counted, shortened
from bayesbias.debias.base import Debiaser
from bayesbias.debias.debias_words import Groups, Tuples, Words, as_tuples
from bayesbias.debias.debiasers import DEBIASERS
from bayesbias.embeddings import Embedding, Matching
from bayesbias.errors import SpecError, warn
from bayesbias.wordlists import Study, load_study

_GENDER_PAIRS = "bolukbasi:definitional_pairs"
_GENDER_WORDS = "bolukbasi:gender_specific"
# The published pairs or sets that differ by the groups of built-in studies. Those of weat_7 are not
# made of its protected words: its stereotypes are men's and women's words.
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
    definition: Tuples | Words | Groups | None
    described: str

    def fit(self, embedding: Embedding, matching: Matching | None = None) -> Debiaser:
        """Learn from an embedding."""
        return self.debiaser.fit(embedding, definition=self.definition, matching=matching)


def method_for(name: str, study: Study, seed: Seed = 0) -> Method:
    """Return a method as it is used for a study, or say why it cannot be.

    Pairs and sets are those published for a built-in study, else the words in the same places of
    its groups. Methods that learn from groups get the protected words; gender is learned from
    published pairs and words.
    """
    debiaser = DEBIASERS[named("debiaser", name, DEBIASERS)]()
    published = _published_definition(study)
    of_gender = published == _GENDER_PAIRS
    tuples = (
        as_tuples("definition", published).tuples
        if published
        else tuple(zip(*study.groups.values(), strict=False))
    )
    definition: Tuples | Words | Groups | None = published or tuples
    source = published or "the words in the same places of the groups"
    options: dict[str, Any] = {"seed": seed} if "seed" in debiaser.get_params() else {}
    if debiaser.learns_from == "groups":
        if of_gender:
            options["pairs"], definition = published, None
        else:
            definition = {group: list(words) for group, words in study.groups.items()}
            source = "the protected words of each group"
    elif debiaser.learns_from == "words":
        definition = _GENDER_WORDS if of_gender else study.protected_words
        source = _GENDER_WORDS if of_gender else "the protected words"
    elif debiaser.learns_from == "sets":
        options["n_components"] = len(tuples[0]) - 1
    elif len(tuples[0]) != 2:
        raise SpecError(
            f"the method {name!r} learns from pairs, and the study {study.name!r} has "
            f"{len(tuples[0])} groups; use 'multiclass_hard_debias', 'soft_debias' or 'leace'."
        )
    if not published and debiaser.learns_from in ("pairs", "sets"):
        _warn_paired_by_place(debiaser, study, tuples)
    if "exclude" in debiaser.get_params() and not of_gender:
        options["exclude"] = None  # by default words of gender
    debiaser.set_params(**options)
    return Method(debiaser, definition, f"{debiaser!r}, learned from {source}")


def _warn_paired_by_place(
    debiaser: Debiaser, study: Study, tuples: tuple[tuple[str, ...], ...]
) -> None:
    """Show which words are taken for counterparts of each other, as nobody has said so."""
    lengths = [len(words) for words in study.groups.values()]
    rest = max(lengths) - min(lengths)
    left_out = (
        f", and the longer lists end with {counted(rest, 'word')} without one" if rest else ""
    )
    shown = shortened(("–".join(together) for together in tuples), 4)
    warn(
        f"{debiaser.name} learns from {debiaser.learns_from}, and the study {study.name!r} has "
        f"none: words in the same places of its groups are taken for counterparts ({shown})"
        f"{left_out}. Order the groups so that this is right, or fit the method with a definition."
    )


def _published_definition(study: Study) -> str:
    """Return the name of the published list that fits a built-in study; nothing for others."""
    if study.name in _DEFINITIONS and study == load_study(study.name):
        return _DEFINITIONS[study.name]
    return ""
