"""The t-tests that were published beside MAC: of means, as if each were one observation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bayesbias.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from bayesbias.metrics.table_scores import TableSets

# The mean distance of a word (first) from a list (second).
_Means: TypeAlias = Mapping[tuple[str, str], float]
# The distance of unrelated words.
_UNRELATED = 1.0


def preaveraged_t_test(
    table: pd.DataFrame,
    after: pd.DataFrame | None = None,
    *,
    targets: Sequence[str] | None = None,
    attributes: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Return t-tests of the means that MAC averages, as published with it.

    The distances of a protected word from the words of a list are averaged first, and each mean
    then counts as one independent observation. These p-values are here for comparison, not to be
    reported: all means of a list share its few words, so they are not independent, and the
    p-values are much too small. `t_contrasts` and `fit_paired` treat the words as the sample.

    Parameters
    ----------
    table : DataFrame
        A distance table of one embedding.
    after : DataFrame, optional
        The table of the same words after debiasing.
    targets, attributes : sequence of str, optional
        Groups and lists, as in `Metric.from_table`; by default all groups and all stereotypes.

    Returns
    -------
    DataFrame
        One row per ``test``: whether the mean is 1, before and after, and whether debiasing changed
        it (a paired test, the one of Manzini et al. 2019). ``n`` is the number of means, ``mean``
        their mean (MAC, or its change), then ``sd``, ``t``, ``df`` and the two-sided ``p_value``.

    Raises
    ------
    DataError
        If the two tables do not have the same groups, lists and words.

    References
    ----------
    Manzini, Lim, Tsvetkov, Black (2019), doi:10.18653/v1/N19-1062.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> bb.metrics.preaveraged_t_test(table)[["test", "n", "mean", "t"]].round(2)
         test   n  mean     t
    0  before  45  0.87 -8.76
    """
    import pandas as pd

    from bayesbias.metrics.table_scores import table_sets

    before = _means(table_sets(table, targets, attributes))
    rows = [_one_sample("before", before, _UNRELATED)]
    if after is not None:
        changed = _means(table_sets(after, targets, attributes))
        apart = sorted(before.keys() ^ changed.keys())
        if apart:
            word, listed = apart[0]
            raise DataError(
                f"only one of the two tables has the word {word!r} with the list {listed!r} "
                f"({len(apart)} such pairs); a paired test needs the same words and lists."
            )
        change = {key: changed[key] - value for key, value in before.items()}
        rows.append(_one_sample("after", changed, _UNRELATED))
        rows.append(_one_sample("change", change, 0.0))
    return pd.DataFrame(rows)


def _means(sets: TableSets) -> _Means:
    return {
        (word, listed): 1 - float(row.mean())
        for words, of_group in zip(sets.targets.values(), sets.cosines, strict=True)
        for listed, block in zip(sets.attributes, of_group, strict=True)
        for word, row in zip(words, block, strict=True)
    }


def _one_sample(name: str, means: _Means, expected: float) -> dict[str, Any]:
    from scipy.stats import ttest_1samp

    values = np.array(list(means.values()))
    if len(values) < 2:
        raise DataError("there is only one mean to test; a t-test needs two words or two lists.")
    found = ttest_1samp(values, expected)
    return {
        "test": name,
        "n": len(values),
        "mean": float(values.mean()),
        "sd": float(values.std(ddof=1)),
        "t": float(found.statistic),
        "df": int(found.df),
        "p_value": float(found.pvalue),
    }
