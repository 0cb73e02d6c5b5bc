"""Forms of one word, kept together when words are split to learn from some and test on others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from bayesbias._core.array_types import Codes
from bayesbias._core.wording import quoted
from bayesbias.embeddings import candidates
from bayesbias.errors import SpecError

# English endings and what stands in their place. Of each step the first that fits is replaced.
_STEPS = (
    (
        (r"'s$|s'$", ""),
        (r"men$", "man"),
        (r"(l|r|li|ni|wi)ves$", r"\1fe"),
        (r"ies$", "y"),
        (r"(ss|sh|ch|o|x|z)es$", r"\1"),
        (r"([^isu])s$", r"\1"),
    ),
    ((r"([aeiouy].*)(?:ing|ed)$", r"\1"),),
    ((r"([bdgmnprt])\1$", r"\1"), (r"(..)e+$", r"\1"), (r"(..)y$", r"\1i")),
)


def stem(word: str) -> str:
    """Return what English forms of one word have in common, by a few rules on their ending.

    Possessive, plural and past forms get the stem of the word itself: boy's and boys, women and
    woman, wives and wife, fathered and father. Capitals and accents do not count. Two words with
    one stem by chance do no harm, since they are only kept on the same side of a split.
    """
    result = list(candidates(word.lower(), ("exact", "strip_accents")))[-1]
    for step in _STEPS:
        for ending, instead in step:
            shorter, replaced = re.subn(ending, instead, result)
            if replaced:
                result = shorter
                break
    return result


def lemmas_of(words: Iterable[str], given: Mapping[str, str] | None) -> list[str]:
    """Return the lemma of each word: the one given for it, else its stem."""
    if given is None:
        given = {}
    if not isinstance(given, Mapping) or not all(isinstance(v, str) for v in given.values()):
        raise SpecError(
            f"'lemmas' is {quoted([given])}; expected a dictionary such as {{'wives': 'wife'}}."
        )
    return [given.get(word) or stem(word) for word in words]


def group_of_lemma(codes: Codes, lemmas: Sequence[str]) -> dict[str, int]:
    """Return the group of each lemma: that of its first word, should its words be in several."""
    result: dict[str, int] = {}
    for code, lemma in zip(codes.tolist(), lemmas, strict=True):
        result.setdefault(lemma, code)
    return result


def lemma_parts(codes: Codes, lemmas: Sequence[str], n: int, rng: np.random.Generator) -> Codes:
    """Return a part from 0 to n - 1 for each word, so that words of one lemma are in one part.

    The lemmas of each group are shuffled and assigned to the parts in turn. So a group of n lemmas
    or more is in every part, and its numbers of lemmas in two parts differ by one at most, which
    scikit-learn's `StratifiedGroupKFold` does not guarantee: it balances words.
    """
    part: dict[str, int] = {}
    groups = group_of_lemma(codes, lemmas)
    for code in np.unique(codes).tolist():
        members = [lemma for lemma, group in groups.items() if group == code]
        for place in rng.permutation(len(members)).tolist():
            part[members[place]] = len(part) % n
    return np.array([part[lemma] for lemma in lemmas], dtype=np.intp)
