"""What the parameters say about distances: expected distances per cell, and contrasts of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._core.array_types import Array
from bayesbias._core.constants import CONNECTIONS
from bayesbias._core.wording import brief, did_you_mean, quoted
from bayesbias.errors import SpecError
from bayesbias.models.model_data import ModelData
from bayesbias.models.spec import FACTORS, KIND_OF_CONNECTION, ModelSpec
from bayesbias.numerics.intervals import Kind, describe


@dataclass(frozen=True)
class Layers:
    """How the lists of a table, and the covariates in it, belong to groups and connections.

    Attributes
    ----------
    lists : DataArray
        protected_group × connection × word_class: the share of each list in a connection.
    covariates : dict of DataArray
        For each covariate, its mean by protected word and list, and by embedding if the model
        distinguishes them. For a list without a row of the word, what it is expected to be.
    group_of : DataArray
        The group of each protected word.
    rows : DataArray, optional
        The number of rows by the same, for a model that does not distinguish lists: its means are
        those of rows. Otherwise lists count equally.
    """

    lists: xr.DataArray
    covariates: Mapping[str, xr.DataArray]
    group_of: xr.DataArray
    rows: xr.DataArray | None

    def covariate(self, name: str) -> xr.DataArray:
        """Return the mean of a covariate by protected word and connection, as the model has it."""
        share = self.lists.sel(protected_group=self.group_of).drop_vars("protected_group")
        if self.rows is not None:
            rows = self.rows.where(share > 0, 0.0)
            total = rows.sum("word_class")
            share = (rows / total.clip(min=1.0)).where(total > 0, share)
        result: xr.DataArray = xr.dot(self.covariates[name], share, dim="word_class")
        return result

    def covariate_of_groups(self, name: str) -> xr.DataArray:
        """Return the mean of a covariate by group and connection; words count equally."""
        groups = self.lists["protected_group"]
        member = (self.group_of == groups).astype(float)
        share = member / member.sum("protected_word")
        result: xr.DataArray = xr.dot(self.covariate(name), share, dim="protected_word")
        return result

    @classmethod
    def of_table(cls, table: pd.DataFrame, data: ModelData) -> Layers:
        """Read them off the rows that were fitted."""
        names = ["protected_group", "connection", "word_class"]
        pairs = table[names].drop_duplicates().astype("str")
        levels = [list(dict.fromkeys(pairs[name])) for name in names]
        if "connection" in data.levels:
            levels[1] = list(data.levels["connection"])
        codes = [
            pd.Index(some).get_indexer(pairs[name])
            for some, name in zip(levels, names, strict=True)
        ]
        there = np.zeros([len(some) for some in levels])
        there[tuple(codes)] = 1.0
        share = xr.DataArray(
            there / there.sum(axis=-1, keepdims=True).clip(min=1.0),
            coords=dict(zip(names, levels, strict=True)),
            dims=names,
        )
        means = {}
        words = table[["protected_word", "protected_group"]].drop_duplicates().astype("str")
        group_of = xr.DataArray(
            words["protected_group"].to_numpy(),
            coords={"protected_word": words["protected_word"].to_numpy()},
            dims="protected_word",
        )
        # A word's frequency, or its norm, is that in each embedding.
        by = ["protected_word", "word_class", *({"embedding"} & set(data.levels))]
        counted = None
        for name, values in data.covariates.items():
            frame = table[by].assign(value=values)
            cells = frame.groupby(by, sort=False, observed=True)["value"].agg(["mean", "size"])
            cells = cells.reset_index().astype(dict.fromkeys(by, "str"))
            order = {of: cells[of].unique() for of in by} | {
                "protected_word": group_of["protected_word"]
            }
            found = cells.set_index(by).to_xarray().sel(order)
            means[name] = _completed(found["mean"])
            counted = found["size"].fillna(0.0)
        return cls(share, means, group_of, None if "word_class" in data.levels else counted)


def _completed(mean: xr.DataArray) -> xr.DataArray:
    """Return means by protected word and list, where missing as the others add up.

    A sum of effects of words and of lists, by least squares: a list's own mean for a property of
    attributes, and a word's own value for one of protected words.
    """
    if not np.isnan(mean.to_numpy()).any():
        return mean
    from scipy import sparse
    from scipy.sparse import linalg

    by = ("protected_word", "word_class")
    rest = [dim for dim in mean.dims if dim not in by]
    stacked = mean.transpose(*rest, *by)
    tables = stacked.to_numpy().reshape(-1, *(mean.sizes[dim] for dim in by)).copy()
    for table in tables:
        known = ~np.isnan(table)
        if not known.any():
            continue
        words, lists = np.nonzero(known)
        places = np.concatenate([words, len(table) + lists])
        rows = np.tile(np.arange(len(words)), 2)
        shape = len(words), sum(table.shape)
        # Sparse: the effects of thousands of words would take gigabytes, and minutes.
        effects = sparse.csr_array((np.ones(len(rows)), (rows, places)), shape=shape)
        fitted = linalg.lsqr(effects, table[known], atol=0.0, btol=0.0, conlim=0.0)[0]
        whole = np.add.outer(fitted[: len(table)], fitted[len(table) :])
        table[~known] = whole[~known]
    return stacked.copy(data=tables.reshape(stacked.shape))


def expected(
    spec: ModelSpec,
    posterior: xr.Dataset,
    over: Iterable[str],
    layers: Layers | None = None,
    *,
    observed: bool = False,
) -> xr.DataArray:
    """Return the expected outcome, for words that are not in `over` or for new ones that are.

    A parameter that differs by a factor in `over` counts with what it is pooled towards (its value
    for a word drawn from the same population), or, if it is not pooled, with its average. One that
    differs by list is averaged over the lists of each group and connection. Slopes count with the
    covariates at their overall mean, the same for all; with `observed`, at their means by protected
    word and connection, in which lists count as they do in the model.
    """
    gone = set(over)

    def value(name: str, lost: set[str]) -> xr.DataArray:
        parameter = spec[name]
        averaged = [factor for factor in parameter.by if factor in lost]
        if not averaged:
            return posterior[name]
        if parameter.prior.sd is None:
            return posterior[name].mean(averaged)
        start: xr.DataArray = xr.zeros_like(posterior[spec.scale]) + parameter.prior.arguments[0]
        start = start.isel({d: 0 for d in start.dims if d not in ("chain", "draw")}, drop=True)
        return sum((value(parent, lost) for parent in parameter.prior.mean), start=start)

    def term(name: str) -> xr.DataArray:
        array = value(name, gone)
        if "word_class" in array.dims and layers is not None and "connection" in spec.factors:
            folded = xr.dot(array, layers.lists, dim="word_class")
            # A group without such a list has what the lists are pooled towards.
            lacks = 1 - layers.lists.sum("word_class")
            if bool(lacks.any()):
                folded = folded + lacks * value(name, gone | {"word_class", "protected_group"})
            array = folded
        only = spec[name].only
        if only is not None:
            names = [c for c in CONNECTIONS if KIND_OF_CONNECTION[c] == only]
            connections = posterior["connection"].to_numpy()
            here = xr.DataArray(
                np.isin(connections, names).astype(float), coords={"connection": connections}
            )
            array = array * here
        covariate = spec[name].covariate
        if covariate is not None:
            assert layers is not None
            of_groups = "protected_word" in gone or (
                "protected_group" in spec.factors and "protected_word" not in spec.factors
            )
            of_rows = layers.covariate_of_groups if of_groups else layers.covariate
            array = array * of_rows(covariate)
        return array

    names = [name for name in spec.mean if observed or spec[name].covariate is None]
    total = term(names[0])
    for name in names[1:]:
        total = total + term(name)
    order = [f for f in dict.fromkeys([*FACTORS, *spec.factors]) if f in total.dims]
    return total.transpose("chain", "draw", *order)


def flat(array: xr.DataArray) -> Array:
    """Return draws × the rest, chains one after another."""
    values = array.to_numpy()
    return values.reshape(values.shape[0] * values.shape[1], *values.shape[2:])


def tidy_draws(array: xr.DataArray, prob: float, kind: Kind = "hdi") -> pd.DataFrame:
    """Return one row for each level of an array of draws: mean, sd, lower, upper."""
    names = [str(dim) for dim in array.dims if dim not in ("chain", "draw")]
    array = array.transpose("chain", "draw", *names)
    numbers = describe(flat(array), prob, kind)
    if not names:
        return numbers
    index = pd.MultiIndex.from_product([array[n].to_numpy() for n in names], names=names)
    return pd.concat([index.to_frame(index=False), numbers], axis=1)


def contrast_weights(text: str, names: tuple[str, ...]) -> Array:
    """Return the weight of each name in a linear expression such as ``associated - none``."""
    example = "write it like 'associated - none' or 'associated - (human + none) / 2'."
    if not isinstance(text, str):
        several = isinstance(text, list | tuple)
        once = " For several contrasts, call it once for each." if several else ""
        raise SpecError(f"'contrast' is {brief(text)}; {example}{once}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise SpecError(f"'contrast' is {text!r}; {example}") from None

    # Each part is a constant and a weight per name.
    def walk(node: ast.expr) -> Array:
        result: Array = np.zeros(len(names) + 1)
        if isinstance(node, ast.Name):
            # The column of tables keeps the name of the literature; people also say neutral.
            name = "none" if node.id == "neutral" and "neutral" not in names else node.id
            if name not in names:
                raise SpecError(
                    f"'contrast' is {text!r}, and there is no {node.id!r} here; there are "
                    f"{quoted(names)}.{did_you_mean(node.id, names)}"
                )
            result[names.index(name)] = 1
            return result
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            result[-1] = float(node.value)
            return result
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -walk(node.operand)
        if isinstance(node, ast.BinOp):
            left, right = walk(node.left), walk(node.right)
            if isinstance(node.op, ast.Add):
                return left + right
            if isinstance(node.op, ast.Sub):
                return left - right
            if isinstance(node.op, ast.Div) and not right[:-1].any() and right[-1]:
                return np.asarray(left / right[-1])
            if isinstance(node.op, ast.Mult) and not right[:-1].any():
                return np.asarray(left * right[-1])
            if isinstance(node.op, ast.Mult) and not left[:-1].any():
                return np.asarray(right * left[-1])
        raise SpecError(f"'contrast' is {text!r}; {example}")

    weights = walk(tree)
    if not weights[:-1].any() or weights[-1]:
        raise SpecError(f"'contrast' is {text!r}; {example}")
    return weights[:-1]
