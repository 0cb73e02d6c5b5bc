"""From a distance table to the numbers that a model sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.validation import one_of
from bayesbias._core.wording import quoted
from bayesbias.distances import Duplicates, check_table, covariate_values
from bayesbias.errors import DataError, SpecError, warn
from bayesbias.models.spec import ATTRIBUTE_KIND, KIND_OF_CONNECTION, ModelSpec

#: An optional column: the standard error of each distance, from the vectors' own uncertainty.
STANDARD_ERROR = "standard_error"
#: An optional column: which of several trainings of the embedding a row is from.
REPLICATE = "replicate"
_PAIR = ["embedding", "protected_word", "word_to_compare"]
# Differences between embeddings below this share of the spread of distances are rounding.
_SAME = 1e-4
# So are differences within a covariate below this share of its largest value.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class ModelData:
    """The rows of a table as a model sees them.

    Attributes
    ----------
    levels : dict
        The levels of each factor of the model that occur, in order.
    codes : dict
        For each factor, the place of each row's level.
    y : array
        The outcome of each row.
    error : array or None
        The known standard error of each outcome.
    covariates : dict
        For each covariate of the model, its value in each row.
    pair : array or None
        The pair of words of each row, for a model whose residuals have a common part.
    """

    levels: dict[str, tuple[str, ...]]
    codes: dict[str, Codes]
    y: Array
    error: Array | None
    covariates: dict[str, Array] = field(default_factory=dict)
    pair: Codes | None = None

    def shape(self, by: tuple[str, ...]) -> tuple[int, ...]:
        """Return the shape of a parameter with these factors."""
        return tuple(len(self.levels[name]) for name in by)

    def index(self, by: tuple[str, ...]) -> Codes:
        """Return, for each row, its place in a flattened parameter with these factors."""
        if not by:
            return np.zeros(len(self.y), dtype=np.intp)
        return np.ravel_multi_index([self.codes[name] for name in by], self.shape(by))

    def times(self, spec: ModelSpec, name: str) -> Array | None:
        """Return what a parameter is multiplied by in each row; None for one everywhere."""
        covariate, only = spec.slopes.get(name), spec[name].only
        result = None if covariate is None else self.covariates[covariate]
        if only is not None:
            levels = self.levels[ATTRIBUTE_KIND]
            here = np.zeros(len(self.y))
            if only in levels:
                here = (self.codes[ATTRIBUTE_KIND] == levels.index(only)).astype(np.float64)
            result = here if result is None else result * here
        return result

    def counts(self, by: tuple[str, ...]) -> npt.NDArray[np.intp]:
        """Return the number of rows at each place of a parameter with these factors."""
        shape = self.shape(by)
        size = int(np.prod(shape, dtype=int))
        return np.bincount(self.index(by), minlength=size).reshape(shape)


def prepare_table(table: pd.DataFrame, *, duplicates: Duplicates | None = None) -> pd.DataFrame:
    """Return the checked table, replicates averaged into one row each.

    Without a choice, duplicated rows are left out or kept as recorded with the table.
    """
    if isinstance(table, pd.DataFrame) and REPLICATE in table.columns:
        if duplicates is not None:
            one_of("duplicates", duplicates, ("drop", "keep"))
        averaged = _average_replicates(check_table(table, duplicates="keep"))
        averaged.attrs = dict(table.attrs)
        return averaged
    return check_table(table, duplicates=duplicates)


def _average_replicates(table: pd.DataFrame) -> pd.DataFrame:
    """Average a pair's distances over the trainings; their spread gives the standard error.

    Covariates, such as the norm of a vector, are averaged, too.

    With few trainings the spread of one pair is poorly known, so that of all pairs of a
    connection (and embedding) is pooled.
    """
    if STANDARD_ERROR in table.columns:
        raise SpecError(
            f"the table has both {REPLICATE!r} and {STANDARD_ERROR!r}; the standard errors are "
            "computed from the replicates, so remove one of the two columns."
        )
    again = table.duplicated([*_PAIR, REPLICATE])
    if again.any():
        warn(f"{int(again.sum())} of {len(table)} rows repeat a pair of a replicate; left out")
        table = table[~again]
    pairs = table.groupby(_PAIR, observed=True, sort=False)
    distance = pairs["cosine_distance"]
    n = distance.transform("size").to_numpy()
    if n.min() < 2:
        row = table.iloc[int(n.argmin())]
        raise DataError(
            f"the pair ({row['protected_word']!r}, {row['word_to_compare']!r}) has one replicate "
            "only; every pair needs two or more."
        )
    squares = (table["cosine_distance"] - distance.transform("mean")) ** 2
    first = ~table.duplicated(_PAIR)
    by = [table["embedding"], table["connection"]]
    within = squares.groupby(by, observed=True).transform("sum").to_numpy()
    rows = squares.groupby(by, observed=True).transform("size").to_numpy()
    distinct = first.groupby(by, observed=True).transform("sum").to_numpy()
    error = np.sqrt(within / (rows - distinct) / n)
    mean = distance.transform("mean")
    values = {"cosine_distance": mean, "cosine_similarity": 1 - mean, STANDARD_ERROR: error}
    for name in table.select_dtypes("number").columns.difference([*values, *_PAIR, REPLICATE]):
        # One that is missing in a replicate remains missing.
        complete = pairs[name].transform("count") == n
        values[name] = pairs[name].transform("mean").where(complete)
    averaged = table.assign(**values)
    return averaged[first].drop(columns=REPLICATE).reset_index(drop=True)


def model_data(spec: ModelSpec, table: pd.DataFrame, *, observed: bool = True) -> ModelData:
    """Return the rows as the model sees them, or say what keeps them from being modelled.

    Outcomes that are not observed, but only hold the places of some to be drawn, need not vary.
    """
    levels, codes = {}, {}
    for name in spec.factors:
        levels[name], codes[name] = _factor(spec, table, name)
    y = table["cosine_distance"].to_numpy(dtype=np.float64)
    covariates = {name: _covariate(spec, table, name) for name in spec.covariates}
    pair = None
    if spec.common:
        words = table.groupby(["protected_word", "word_to_compare"], observed=True)
        pair = words.ngroup().to_numpy().astype(np.intp)
    data = ModelData(levels, codes, y, _errors(table), covariates, pair)
    _check_embeddings(spec, table)
    _check_lists(spec, table)
    if observed:
        _check_varies(spec, data)
        _check_differs(spec, data)
    return data


def _covariate(spec: ModelSpec, table: pd.DataFrame, name: str) -> Array:
    """Return a column of numbers in standard deviations from its mean, so that one prior does."""
    return standardised(name, covariate_values(table, name, user=spec.name))


def standardised(name: str, values: Array) -> Array:
    """Return a covariate in standard deviations from its mean; one that is constant is refused."""
    # Squares of very large or small numbers would be infinite, or zero; a power of two divides
    # without rounding.
    scaled: Array = np.ldexp(values, -int(np.frexp(np.abs(values).max())[1]))
    if not np.ptp(scaled) > _ROUNDING:
        raise DataError(f"the covariate {name!r} is {values[0]:g} in every row; leave it out.")
    result: Array = (scaled - scaled.mean()) / scaled.std()
    return result


def _factor(spec: ModelSpec, table: pd.DataFrame, name: str) -> tuple[tuple[str, ...], Codes]:
    if name == ATTRIBUTE_KIND and name not in table.columns:
        table = table.assign(**{name: table["connection"].map(KIND_OF_CONNECTION)})
    if name not in table.columns:
        raise DataError(
            f"model {spec.name!r} needs the column {name!r}; the table has "
            f"{quoted([str(c) for c in table.columns], 12)}."
        )
    column: pd.Series[Any] = table[name]
    if column.isna().any():
        raise DataError(f"{name!r} is missing in row {int(column.isna().argmax())}.")
    if not isinstance(column.dtype, pd.CategoricalDtype):
        if column.dtype.kind == "f":
            raise DataError(f"{name!r} holds numbers; a factor of a model holds names.")
        column = column.astype("str").astype("category")
    used = column.cat.remove_unused_categories()
    codes: Codes = used.cat.codes.to_numpy().astype(np.intp)
    return tuple(str(c) for c in used.cat.categories), codes


def _errors(table: pd.DataFrame) -> Array | None:
    if STANDARD_ERROR not in table.columns:
        return None
    try:
        error = table[STANDARD_ERROR].to_numpy(dtype=np.float64)
    except (TypeError, ValueError) as err:
        raise DataError(f"{STANDARD_ERROR!r} holds something that is not a number: {err}.") from err
    bad = np.flatnonzero(~(np.isfinite(error) & (error >= 0)))
    if bad.size:
        raise DataError(
            f"{STANDARD_ERROR!r} is {error[bad[0]]} in row {bad[0]}; expected a number, 0 or more."
        )
    return error if error.any() else None


def _check_embeddings(spec: ModelSpec, table: pd.DataFrame) -> None:
    names = list(table["embedding"].cat.remove_unused_categories().cat.categories)
    if len(names) > 1 and "embedding" not in spec.factors:
        raise DataError(
            f"the table holds {len(names)} embeddings ({quoted(names)}) and model {spec.name!r} "
            "does not distinguish them; fit one at a time, table[table.embedding == "
            f"{names[0]!r}], or use model='embeddings'."
        )
    if len(names) == 1 and "embedding" in spec.factors:
        raise DataError(
            f"model {spec.name!r} compares embeddings and the table holds only {names[0]!r}; "
            "use model='interaction'."
        )


def _check_lists(spec: ModelSpec, table: pd.DataFrame) -> None:
    """Refuse several connections of a list to a group, where a model has one effect of the two."""
    pair = {"protected_group", "word_class"}
    if not any(
        pair <= set(p.by) and "connection" not in p.by
        for p in spec.parameters
        if any("connection" in spec[parent].by for parent in p.prior.parents)
    ):
        return
    kinds = table[[*sorted(pair), "connection"]].drop_duplicates().astype("str")
    several = kinds[kinds.duplicated(sorted(pair), keep=False)]
    if len(several):
        group, words = several[["protected_group", "word_class"]].iloc[0]
        same = several[(several["protected_group"] == group) & (several["word_class"] == words)]
        raise DataError(
            f"the words of group {group!r} have the connections {quoted(same['connection'])} to "
            f"the attributes of class {words!r}; model {spec.name!r} needs one connection of a "
            "class to a group. Is 'protected_group' right? Without this column groups are named "
            "after the classes of associated attributes."
        )


def _check_varies(spec: ModelSpec, data: ModelData) -> None:
    """Refuse outcomes that are all equal: no scale could be estimated."""
    by = spec[spec.scale].by
    index = data.index(by)
    size = int(np.prod(data.shape(by), dtype=int))
    n = np.bincount(index, minlength=size)
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, index, data.y)
    np.maximum.at(high, index, data.y)
    for place in np.flatnonzero((n > 1) & (low == high)):
        raise DataError(
            f"all {n[place]} values{_of_place(data, by, place)} are "
            f"{data.y[index == place][0]:g}; their spread cannot be estimated. Are the vectors all "
            "the same?"
        )


def _check_differs(spec: ModelSpec, data: ModelData) -> None:
    """Refuse embeddings that share no pairs, or whose outcomes are the same.

    Nothing could be in common, or no scale of what differs could be estimated.
    """
    if spec.common is None or data.pair is None:
        return
    over = spec.over(spec.common)
    names = data.levels[over]
    by = spec[spec.common].by
    y = np.full((len(names), int(data.pair.max(initial=-1)) + 1), np.nan)
    y[data.codes[over], data.pair] = data.y
    if (np.isfinite(y).sum(axis=0) < 2).all():
        raise DataError(
            f"no pair of a protected word and an attribute is in two of {quoted(names)}, so model "
            f"{spec.name!r} has nothing to compare; fit each with model='interaction'."
        )
    level = np.zeros(y.shape[1], dtype=np.intp)
    level[data.pair] = data.index(by)
    for i, j in combinations(range(len(names)), 2):
        differences = y[j] - y[i]
        for place in np.unique(level):
            both = (level == place) & np.isfinite(differences)
            if both.sum() > 1 and np.ptp(differences[both]) <= _SAME * np.std(y[i, both]):
                raise DataError(
                    f"the {both.sum()} distances{_of_place(data, by, place)} are the same in "
                    f"{names[i]!r} and {names[j]!r}, up to rounding and a constant; what differs "
                    "cannot be estimated. Are the vectors the same?"
                )


def _of_place(data: ModelData, by: tuple[str, ...], place: int | np.integer[Any]) -> str:
    """Return the levels of a place in a flattened parameter, for a message; nothing for none."""
    where = np.unravel_index(place, data.shape(by)) if by else ()
    names = [data.levels[f][i] for f, i in zip(by, where, strict=True)]
    return f" of {quoted(names)}" if names else ""


def dataset(
    spec: ModelSpec, data: ModelData, values: Mapping[str, Array], chains: int
) -> xr.Dataset:
    """Lay draws out by chain, with the words as coordinates."""
    arrays = {}
    for p in spec.parameters:
        shape = data.shape(p.by)
        arrays[p.name] = (("chain", "draw", *p.by), values[p.name].reshape(chains, -1, *shape))
    draws = len(values[spec.scale]) // chains
    coords: dict[str, Any] = {"chain": np.arange(chains), "draw": np.arange(draws)}
    for name, levels in data.levels.items():
        coords[name] = np.array(levels, dtype=np.str_)
    return xr.Dataset(arrays, coords=coords)
