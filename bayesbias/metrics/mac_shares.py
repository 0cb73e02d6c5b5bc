"""The share of distances that lie farther from 1 than MAC does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayesbias._core.validation import one_of
from bayesbias.errors import SpecError

if TYPE_CHECKING:
    import pandas as pd

_BY = ("connection", "protected_group", "protected_word", "word_class")


def mac_band(
    table: pd.DataFrame,
    mac: float | None = None,
    *,
    targets: Sequence[str] | None = None,
    attributes: Sequence[str] | None = None,
) -> tuple[float, float]:
    """Return the ends of the band 1 ± (1 − MAC), with the MAC of a table or a given one."""
    if mac is None:
        from bayesbias.metrics.mac import MAC

        mac = MAC().from_table(table, targets=targets, attributes=attributes).value
    if isinstance(mac, bool) or not isinstance(mac, int | float) or not 0 <= mac <= 2:
        raise SpecError(f"'mac' is {mac!r}; expected a mean distance, from 0 to 2.")
    width = abs(1.0 - float(mac))
    return 1.0 - width, 1.0 + width


def shares_beyond_mac(
    table: pd.DataFrame,
    *,
    mac: float | None = None,
    by: str = "connection",
    targets: Sequence[str] | None = None,
    attributes: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Return the shares of distances within and beyond the band 1 ± (1 − MAC).

    MAC is a mean of means: a value of 0.86 is read as "stereotypes are at a similarity of 0.14".
    If many neutral words are farther from 1 than that, in either direction, 0.14 is not unusual for
    two words, and MAC alone says little. Compare the row of the neutral controls with the others.

    Parameters
    ----------
    table : DataFrame
        A distance table of one embedding.
    mac : float, optional
        The mean distance that sets the band; by default the MAC of the table, as
        ``MAC().from_table(table)`` returns it.
    by : {"connection", "protected_group", "protected_word", "word_class"}
        What to have a row for.
    targets, attributes : sequence of str, optional
        Groups and lists whose MAC is taken, as in `Metric.from_table`.

    Returns
    -------
    DataFrame
        The level of `by`, the number of ``rows``, the shares that are ``closer`` (below the band),
        ``within`` it and ``farther`` (above it), and ``beyond``, the sum of closer and farther. The
        ends of the band are in ``attrs["band"]``.

    Raises
    ------
    SpecError
        If `by` or `mac` is something else.

    References
    ----------
    Dobrzeniecka, Urbaniak (2024), doi:10.1162/coli_a_00507.

    See Also
    --------
    bayesbias.plot_densities : The densities of the distances, with this band.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> bb.metrics.shares_beyond_mac(table).round(2)
       connection  rows  closer  within  farther  beyond
    0  associated    55    0.56    0.33     0.11    0.67
    1   different   110    0.41    0.54     0.05    0.46
    2       human   405    0.69    0.31     0.00    0.69
    3        none  3615    0.34    0.53     0.13    0.47
    """
    import pandas as pd

    from bayesbias.distances import check_table

    one_of("by", by, _BY)
    rows = check_table(table)
    low, high = mac_band(rows, mac, targets=targets, attributes=attributes)
    distance = rows["cosine_distance"]
    sides = pd.DataFrame(
        {
            by: rows[by],
            "rows": 1,
            "closer": distance < low,
            "within": (distance >= low) & (distance <= high),
            "farther": distance > high,
        }
    )
    grouped = sides.groupby(by, observed=True)
    result = grouped[["closer", "within", "farther"]].mean()
    result.insert(0, "rows", grouped["rows"].sum())
    result["beyond"] = 1.0 - result["within"]
    result = result.reset_index()
    result[by] = result[by].astype("str")
    result.attrs["band"] = (float(np.round(low, 12)), float(np.round(high, 12)))
    return result
