"""Tables with random layouts, for finding what the exact engine cannot do."""

from __future__ import annotations

import numpy as np
import pandas as pd

import bayesbias as bb

COLUMNS = ["protected_word", "word_to_compare", "word_class", "connection", "protected_group"]
_SMALLEST, _LARGEST = 0.001, 0.5


def _between(rng: np.random.Generator, low: float, high: float) -> float:
    """Return a number between two, uniform on the log scale."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def random_table(
    seed: int, *, embeddings: int = 1, most_words: int = 40, most_attributes: int = 300
) -> pd.DataFrame:
    """Return a distance table whose layout and scales are drawn at random.

    1 to 10 groups, 1 to 40 protected words, 2 to 300 attributes per list; rows missing at random or
    whole cells of words and lists; some connections only; known standard errors; duplicated rows.
    """
    rng = np.random.default_rng([seed, 20260])
    n_words = int(rng.integers(1, most_words + 1))
    n_groups = int(rng.integers(1, min(10, n_words) + 1))
    if rng.random() < 0.15:
        n_words = n_groups  # one protected word per group
    group = np.sort(np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, n_words)]))
    group = group[rng.permutation(len(group))][:n_words]
    lists = [f"g{g}" for g in range(n_groups)] + ["human", "neutral"]
    if rng.random() < 0.3:  # only some lists
        some = rng.random(len(lists)) < rng.uniform(0.2, 0.9)
        some[rng.integers(len(lists))] = True
        lists = [name for name, there in zip(lists, some, strict=True) if there]
    same_size = rng.random() < 0.3
    size = int(_between(rng, 2, most_attributes))
    sizes = [size if same_size else int(_between(rng, 2, most_attributes)) for _ in lists]
    list_of = np.repeat(np.arange(len(lists)), sizes)
    p, w = (x.ravel() for x in np.indices((n_words, len(list_of))))
    of_list = list_of[w]
    names = np.array(lists)
    own = np.char.add("g", group.astype(str))[p] == names[of_list]
    connection = np.where(own, "associated", "different").astype(object)
    connection[names[of_list] == "human"] = "human"
    connection[names[of_list] == "neutral"] = "none"

    def scale() -> float:
        return 0.0 if rng.random() < 0.1 else _between(rng, _SMALLEST, _LARGEST)

    def effect(codes: np.ndarray, sd: float) -> np.ndarray:
        shape = (embeddings, int(codes.max()) + 1)
        common = rng.normal(size=(1, shape[1]))
        rho = rng.random()
        values = np.sqrt(rho) * common + np.sqrt(1 - rho) * rng.normal(size=shape)
        return sd * values[:, codes]

    kind = np.unique(connection.astype(str), return_inverse=True)[1]
    g = group[p]
    noise = np.array([_between(rng, _SMALLEST, _LARGEST) for _ in range(kind.max() + 1)])
    if rng.random() < 0.5:
        noise[:] = noise[0]
    y = 1 + effect(kind, 0.1)
    for codes in (p, p * 4 + kind, w, w * n_groups + g, of_list * n_groups + g):
        y = y + effect(codes, scale())
    y = y + noise[kind] * rng.normal(size=y.shape)
    # Whatever the scales, distances lie between 0 and 2.
    reach = np.abs(y - 1).max()
    y = 1 + (y - 1) * min(1.0, 0.98 / reach)
    table = pd.concat(
        [
            pd.DataFrame(
                {
                    "protected_word": np.char.add("p", p.astype(str)),
                    "word_to_compare": np.char.add("w", w.astype(str)),
                    "word_class": names[of_list],
                    "connection": connection,
                    "protected_group": np.char.add("g", g.astype(str)),
                    "embedding": f"e{e}",
                    "cosine_distance": y[e],
                }
            )
            for e in range(embeddings)
        ],
        ignore_index=True,
    )
    stays = np.ones(len(table), dtype=bool)
    if rng.random() < 0.5:  # rows missing at random
        stays &= rng.random(len(table)) > rng.uniform(0.02, 0.4)
    if rng.random() < 0.3:  # words without a list
        gone = rng.random((n_words, len(lists))) < rng.uniform(0.05, 0.4)
        stays &= ~np.tile(gone[p, of_list], embeddings)
    for e in range(embeddings):  # every embedding keeps a row
        stays[e * len(p)] = True
    if rng.random() < 0.2:  # known standard errors, few or many different ones
        few, many = rng.choice([0.01, 0.02, 0.05], len(table)), 0.05 * rng.random(len(table))
        table["standard_error"] = many if stays.sum() < 1000 and rng.random() < 0.5 else few
    table = table[stays]
    if embeddings == 1 and rng.random() < 0.1:
        table = pd.concat([table, table.sample(frac=0.05, random_state=seed)], ignore_index=True)
    return bb.check_table(table, duplicates="keep")
