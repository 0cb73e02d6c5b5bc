"""Seeds: numbers, generators, or new each time."""

from __future__ import annotations

import numpy as np
import pytest

from bayesbias._core.random import as_seed, generator_for
from bayesbias.errors import SpecError


def test_a_number_stays_and_none_is_new() -> None:
    assert as_seed(7) == 7
    assert as_seed(np.int64(7)) == 7
    assert as_seed(None) != as_seed(None)


def test_a_generator_gives_another_seed_each_time() -> None:
    rng = np.random.default_rng(1)
    first, second = as_seed(rng), as_seed(rng)
    assert first != second
    assert first == as_seed(np.random.default_rng(1))


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1"])
def test_what_is_not_a_seed(seed: object) -> None:
    with pytest.raises(SpecError, match="'seed' is"):
        as_seed(seed)  # type: ignore[arg-type]


def test_generators_depend_on_the_words() -> None:
    one, same, other = (generator_for(1, words).random() for words in ("ab", "ab", "ba"))
    assert one == same != other
