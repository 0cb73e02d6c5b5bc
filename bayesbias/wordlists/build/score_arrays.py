"""Fitted classifiers as plain arrays: they give scores, and can be saved without pickling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Array, Codes

#: Arrays of a saved classifier by their names.
Arrays = dict[str, npt.NDArray[Any]]
#: Name, gamma, degree, coef0.
_Kernel = tuple[str, float, float, float]


class Scores(Protocol):
    """What gives vectors × groups, or × 1 for two groups."""

    def scores(self, vectors: Array) -> Array:
        """Return the scores of vectors."""

    def arrays(self) -> Arrays:
        """Return all that is needed to make it again."""


@dataclass(frozen=True)
class LinearScores:
    """The margins of a linear classifier."""

    coef: Array
    intercept: Array

    @classmethod
    def of(cls, estimator: Any) -> LinearScores:
        """Take the numbers from scikit-learn's classifier."""
        return cls(np.asarray(estimator.coef_), np.asarray(estimator.intercept_))

    def scores(self, vectors: Array) -> Array:
        """Return vectors × groups, or × 1 for two groups."""
        result: Array = vectors @ self.coef.T + self.intercept
        return result

    def arrays(self) -> Arrays:
        """Return coefficients and intercepts."""
        return {"coef": self.coef, "intercept": self.intercept}


@dataclass(frozen=True)
class KernelScores:
    """The margins of support vector machines, one for each group against the rest."""

    kernels: tuple[str, ...]
    #: Machines × gamma, degree, coef0, intercept.
    settings: Array
    support: tuple[Array, ...]
    weights: tuple[Array, ...]

    @classmethod
    def of(cls, estimator: Any) -> KernelScores:
        """Take the numbers from scikit-learn's machines."""
        machines = estimator.estimators_
        return cls(
            tuple(machine.kernel for machine in machines),
            np.array([[m.gamma, m.degree, m.coef0, m.intercept_[0]] for m in machines]),
            tuple(np.asarray(machine.support_vectors_) for machine in machines),
            tuple(np.asarray(machine.dual_coef_[0]) for machine in machines),
        )

    def scores(self, vectors: Array) -> Array:
        """Return what `decision_function` does, many times as fast.

        That one sums up kernels one by one, for each machine. These are products of matrices, and
        a vector that supports several machines is in one product.
        """
        from sklearn.metrics.pairwise import pairwise_kernels

        result = np.empty((len(vectors), len(self.kernels)))
        for (kernel, gamma, degree, coef0), machines, support, weights in self._by_kernel:
            products = pairwise_kernels(
                vectors,
                support,
                metric=kernel,
                filter_params=True,
                gamma=gamma,
                degree=int(degree),
                coef0=coef0,
            )
            result[:, machines] = products @ weights
        return result + self.settings[:, 3]

    @cached_property
    def _by_kernel(self) -> list[tuple[_Kernel, list[int], Array, Array]]:
        """For each kernel its machines, all that supports them, and their weights beside it."""
        by_kernel: dict[_Kernel, list[int]] = {}
        for machine, kernel in enumerate(self.kernels):
            gamma, degree, coef0, _ = self.settings[machine].tolist()
            by_kernel.setdefault((kernel, gamma, degree, coef0), []).append(machine)
        result: list[tuple[_Kernel, list[int], Array, Array]] = []
        for kernel_options, machines in by_kernel.items():
            own = [self.support[machine] for machine in machines]
            support, row = np.unique(np.concatenate(own), axis=0, return_inverse=True)
            weights = np.zeros((len(support), len(machines)))
            column = np.repeat(np.arange(len(machines)), [len(vectors) for vectors in own])
            values = np.concatenate([self.weights[machine] for machine in machines])
            np.add.at(weights, (row.ravel(), column), values)
            result.append((kernel_options, machines, support, weights))
        return result

    def arrays(self) -> Arrays:
        """Return the machines one after the other."""
        return {
            "kernels": np.array(self.kernels),
            "settings": self.settings,
            "lengths": np.array([len(weights) for weights in self.weights]),
            "support": np.concatenate(self.support),
            "weights": np.concatenate(self.weights),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> KernelScores:
        """Make it again from `arrays`."""
        ends = np.cumsum(arrays["lengths"])[:-1]
        return cls(
            tuple(str(kernel) for kernel in arrays["kernels"]),
            arrays["settings"],
            tuple(np.split(arrays["support"], ends)),
            tuple(np.split(arrays["weights"], ends)),
        )


@dataclass(frozen=True)
class ForestScores:
    """The logarithms of the shares of votes of a forest."""

    #: Where each tree begins; children count from there, -1 for a leaf.
    roots: Codes
    left: Codes
    right: Codes
    feature: Codes
    threshold: Array
    #: Nodes × groups: the votes of a leaf.
    votes: Array
    fewest: float

    @classmethod
    def of(cls, estimator: Any, fewest: float) -> ForestScores:
        """Take the numbers from scikit-learn's trees."""
        trees = [tree.tree_ for tree in estimator.estimators_]
        values = np.concatenate([tree.value[:, 0, :] for tree in trees])
        return cls(
            np.cumsum([0, *(tree.node_count for tree in trees)])[:-1],
            np.concatenate([tree.children_left for tree in trees]),
            np.concatenate([tree.children_right for tree in trees]),
            np.concatenate([tree.feature for tree in trees]),
            np.concatenate([tree.threshold for tree in trees]),
            values / values.sum(axis=1, keepdims=True),
            fewest,
        )

    def scores(self, vectors: Array) -> Array:
        """Return vectors × groups."""
        single = vectors.astype(np.float32)  # as the trees were grown
        total = np.zeros((len(vectors), self.votes.shape[1]))
        everyone = np.arange(len(vectors))
        for root in self.roots.tolist():
            node = np.full(len(vectors), root)
            moving = everyone[self.left[node] >= 0]
            while moving.size:
                here = node[moving]
                lower = single[moving, self.feature[here]] <= self.threshold[here]
                node[moving] = root + np.where(lower, self.left[here], self.right[here])
                moving = moving[self.left[node[moving]] >= 0]
            total += self.votes[node]
        result: Array = np.log(np.maximum(total / len(self.roots), self.fewest))
        return result

    def arrays(self) -> Arrays:
        """Return the trees one after the other."""
        return {name: np.asarray(value) for name, value in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> ForestScores:
        """Make it again from `arrays`."""
        parts: dict[str, Any] = {**arrays, "fewest": float(arrays["fewest"])}
        return cls(**parts)


@dataclass(frozen=True)
class Calibration:
    """A logistic regression of the group on standardised scores: Platt's scaling."""

    mean: Array
    scale: Array
    coef: Array
    intercept: Array

    @classmethod
    def of(cls, pipeline: Any) -> Calibration:
        """Take the numbers from scikit-learn's pipeline of scaler and regression."""
        scaler, regression = pipeline[0], pipeline[-1]
        return cls(scaler.mean_, scaler.scale_, regression.coef_, regression.intercept_)

    def probabilities(self, scores: Array) -> Array:
        """Return items × groups."""
        logits = (scores - self.mean) / self.scale @ self.coef.T + self.intercept
        if logits.shape[1] == 1:  # two groups: the logit of the second
            logits = np.column_stack([np.zeros(len(logits)), logits])
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        result: Array = odds / odds.sum(axis=1, keepdims=True)
        return result


@dataclass(frozen=True)
class Calibrated:
    """A classifier, and a second one that makes probabilities of its scores."""

    estimator: Scores
    calibration: Calibration

    def probabilities(self, vectors: Array) -> Array:
        """Return vectors × groups, for groups that are equally frequent."""
        return self.calibration.probabilities(self.estimator.scores(vectors))

    def arrays(self) -> Arrays:
        """Return all arrays by their names."""
        scores = {f"scores_{name}": part for name, part in self.estimator.arrays().items()}
        return scores | {f"calibration_{k}": part for k, part in vars(self.calibration).items()}

    @classmethod
    def from_arrays(cls, method: str, arrays: Mapping[str, npt.NDArray[Any]]) -> Calibrated:
        """Make it again from `arrays`, for a method ``logistic``, ``svm`` or ``forest``."""
        parts = {k.removeprefix("scores_"): v for k, v in arrays.items() if k.startswith("scores_")}
        names = ("mean", "scale", "coef", "intercept")
        calibration = Calibration(*(arrays[f"calibration_{name}"] for name in names))
        if method == "logistic":
            return cls(LinearScores(**parts), calibration)
        if method == "svm":
            return cls(KernelScores.from_arrays(parts), calibration)
        return cls(ForestScores.from_arrays(parts), calibration)
