"""Tables with known truth."""

from __future__ import annotations

import numpy as np
import pandas as pd

KINDS = ("associated", "different", "human", "none")


def simulated_table(
    seed: int = 0,
    *,
    groups: int = 2,
    words: int = 3,
    stereotypes: int = 4,
    controls: int = 6,
    theta: dict[str, float] | None = None,
    tau: float = 0.05,
    tau_word: float = 0.1,
    s: float = 0.08,
    embedding: str = "simulated",
) -> pd.DataFrame:
    """Return a table drawn from the model `crossed`."""
    rng = np.random.default_rng(seed)
    bar = {"associated": 0.8, "different": 0.9, "human": 0.9, "none": 1.0} | (theta or {})
    protected = [(f"p{g}{i}", f"g{g}") for g in range(groups) for i in range(words)]
    attributes = [(f"a{g}{i}", f"g{g}") for g in range(groups) for i in range(stereotypes)]
    attributes += [(f"{k}{i}", k) for k in ("human", "neutral") for i in range(controls)]
    mean = {(p, c): rng.normal(bar[c], tau) for p, _ in protected for c in KINDS}
    effect = {w: rng.normal(0, tau_word) for w, _ in attributes}
    rows = []
    for p, group in protected:
        for w, kind in attributes:
            c = {"human": "human", "neutral": "none", group: "associated"}.get(kind, "different")
            y = rng.normal(mean[p, c] + effect[w], s)
            label = kind if kind in ("human", "neutral") else f"{kind}_stereotype"
            rows.append((p, w, label, np.clip(y, 0, 2), c, group, embedding))
    columns = ["protected_word", "word_to_compare", "word_class", "cosine_distance", "connection",
               "protected_group", "embedding"]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)
