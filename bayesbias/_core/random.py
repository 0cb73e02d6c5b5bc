"""Seeds: whole numbers that give the same result each time, or a generator to take one from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias
from zlib import crc32

import numpy as np

from bayesbias._core.validation import at_least

#: A whole number, a NumPy generator, or None for a new seed each time.
Seed: TypeAlias = int | np.random.Generator | None


def as_seed(seed: Seed, name: str = "seed") -> int:
    """Return a seed that can be written down: the number itself, or one that a generator draws."""
    if seed is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**32))
    return at_least(name, seed, 0)


def generator_for(seed: int, words: Iterable[str]) -> np.random.Generator:
    """Return a generator that also depends on the words, so that equal lists have equal draws."""
    return np.random.default_rng([seed, crc32("\n".join(words).encode())])
