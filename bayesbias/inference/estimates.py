"""What the parameters say about distances: expected distances per cell, and contrasts of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._arrays import Array
from bayesbias._intervals import Kind, describe
from bayesbias._validate import did_you_mean, quoted
from bayesbias.errors import SpecError
from bayesbias.inference.spec import FACTORS, ModelSpec


def expected(spec: ModelSpec, posterior: xr.Dataset, over: Iterable[str]) -> xr.DataArray:
    """Return the expected outcome, for words that are not in `over` or for new ones that are.

    A parameter that differs by a factor in `over` counts with what it is pooled towards (its value
    for a word drawn from the same population), or, if it is not pooled, with its average.
    """
    gone = set(over)

    def value(name: str) -> xr.DataArray:
        parameter = spec[name]
        lost = [factor for factor in parameter.by if factor in gone]
        if not lost:
            return posterior[name]
        if parameter.prior.sd is None:
            return posterior[name].mean(lost)
        start: xr.DataArray = xr.zeros_like(posterior[spec.scale]) + parameter.prior.arguments[0]
        start = start.isel({d: 0 for d in start.dims if d not in ("chain", "draw")}, drop=True)
        return sum((value(parent) for parent in parameter.prior.mean), start=start)

    total = value(spec.mean[0])
    for name in spec.mean[1:]:
        total = total + value(name)
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
        raise SpecError(f"'contrast' is {text!r}; {example}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise SpecError(f"'contrast' is {text!r}; {example}") from None

    # Each part is a constant and a weight per name.
    def walk(node: ast.expr) -> Array:
        result: Array = np.zeros(len(names) + 1)
        if isinstance(node, ast.Name):
            if node.id not in names:
                raise SpecError(
                    f"'contrast' is {text!r}, and there is no {node.id!r} here; there are "
                    f"{quoted(names)}.{did_you_mean(node.id, names)}"
                )
            result[names.index(node.id)] = 1
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
