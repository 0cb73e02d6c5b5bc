"""The normal numbers of R: Mersenne Twister and inversion, its defaults, for published seeds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

_WORD = 2**32
_BIG = 134217728  # 2**27: two words make one number


class RandomR:
    """What ``set.seed(seed)`` and then ``rnorm`` give in R 3.6 and later."""

    def __init__(self, seed: int) -> None:
        state = []
        # R scrambles the seed fifty times; the first word of the state is the position.
        for step in range(50 + 625):
            seed = (69069 * seed + 1) % _WORD
            if step > 50:
                state.append(seed)
        self.twister = np.random.MT19937()
        self.twister.state = {
            "bit_generator": "MT19937",
            "state": {"key": np.array(state, dtype=np.uint32), "pos": 624},
        }

    def rnorm(self, n: int, mean: float, sd: float) -> npt.NDArray[np.float64]:
        uniform = self.twister.random_raw(2 * n) * 2.3283064365386963e-10
        both = (np.floor(_BIG * uniform[0::2]) + uniform[1::2]) / _BIG
        result: npt.NDArray[np.float64] = mean + sd * ndtri(both)
        return result
