"""Types of arrays."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

#: Numbers.
Array: TypeAlias = npt.NDArray[np.floating]
#: Places in something else.
Codes: TypeAlias = npt.NDArray[np.intp]
