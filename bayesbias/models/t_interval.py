"""Contrasts by t-intervals over attributes: the baseline that a model has to beat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from bayesbias._core.array_types import Array
from bayesbias._core.constants import AS_OBSERVED, CONNECTIONS, CONTROL_CONNECTIONS, EQUAL
from bayesbias._core.validation import one_of, word_list
from bayesbias._core.wording import counted, quoted
from bayesbias.distances import covariate_values
from bayesbias.errors import DataError, SpecError, warn
from bayesbias.models.contrasts import contrast_weights
from bayesbias.models.model_data import prepare_table, standardised
from bayesbias.numerics.intervals import check_interval

By = Literal["protected_word", "protected_group", "attribute_group"]
_LEVELS = ("protected_word", "protected_group", "attribute_group")
_CONTROLS = tuple(CONTROL_CONNECTIONS.values())
_SAME_ATTRIBUTES = "associated - different"
# Standard errors below this are rounding: distances are between 0 and 2.
_ROUNDING = 1e-12
# Sums of covariates, which have standard deviation one, are rounding below this.
_CANCELS = 1e-10
# Fewer degrees of freedom say nothing of a variance.
_FEWEST_DEGREES = 0.5
_STEREOTYPES = "stereotypes"


def t_contrasts(
    table: pd.DataFrame,
    contrast: str = "associated - none",
    *,
    by: By | None = None,
    covariates: Iterable[str] = (),
    prob: float = 0.89,
) -> pd.DataFrame:
    """Return a difference between connections with a t-interval over the attributes.

    This is the interval that a textbook would give. The attributes are the sample: each has one
    value, its mean distance from the protected words concerned, and the interval is that of a
    difference of two means. There are few stereotypes in a list, so their variance is pooled over
    the lists of all groups; controls have their own. No prior, no pooling of estimates, and the
    protected words are taken as given. A model is worth its price if its intervals contain the
    true value as often and are narrower.

    Parameters
    ----------
    table : DataFrame
        A distance table of one embedding.
    contrast : str, default "associated - none"
        A linear expression of connections, as in `Fit.contrasts`.
    by : {None, "protected_word", "protected_group", "attribute_group"}, default None
        One contrast for each protected word, for each group (the average of its words), or for the
        whole table (the average of the groups that have all connections of the contrast; if none
        has, the contrast of averages). ``attribute_group`` compares the *same attributes* between
        groups: for the stereotypes of a group, their distance from the words of that group
        minus their mean distance from the words of the other groups. It is for the contrast
        ``associated - different``, whose average over groups is that of ``by=None`` if every group
        has stereotypes: the double difference that WEAT measures.
    covariates : iterable of str, default ()
        Columns of numbers, such as ``log_frequency``: each contrast is then also given at equal
        covariates for all words, by an analysis of covariance.
    prob : float, default 0.89
        Confidence of the interval.

    Returns
    -------
    DataFrame
        ``contrast``, the level of `by`, ``mean``, ``se``, ``df`` (Welch–Satterthwaite where
        variances differ), ``lower`` and ``upper``. With covariates also ``covariates``, as in
        `Fit.contrasts`: each contrast with ``equal`` covariates, and ``as observed``, which is the
        contrast without covariates.

    Raises
    ------
    DataError
        If the table has several embeddings, too few attributes to estimate a variance or a slope,
        or a covariate is the same in all rows.
    SpecError
        If the contrast, the level or a covariate is not known.

    Warns
    -----
    BayesBiasWarning
        If an attribute lacks a distance from one of the protected words concerned, it is left out
        of that contrast. A group without a connection of the contrast has no row.

    Notes
    -----
    A stereotype list of one word is allowed where another list has two or more: its variance is
    that of the others.

    At equal covariates, the values of the attributes have a mean for each list, and slopes on the
    covariates that all lists of the contrast and all stereotypes have in common, estimated by least
    squares. Variances are those of the residuals, pooled as without covariates, with the residual
    degrees of freedom: the ordinary analysis of covariance if all lists are stereotypes. As in
    `fit`, a covariate has its overall mean for all words. One that cancels in a contrast, such as
    the frequency of attributes in the same attributes of other groups, changes nothing.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> found = bb.t_contrasts(table, by="protected_group")
    >>> print(found.drop(columns="contrast").round(2).to_string(index=False))
    protected_group  mean   se   df  lower  upper
                jew -0.07 0.07 8.23  -0.20   0.06
          christian -0.04 0.12 8.13  -0.26   0.18
             muslim -0.19 0.08 8.19  -0.34  -0.04

    At equal frequency, the difference is smaller for gender:

    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("gender"),
    ...                           covariates=["log_frequency"])
    >>> found = bb.t_contrasts(table, covariates=["log_frequency"])
    >>> print(found.drop(columns="contrast").round(2).to_string(index=False))
     covariates  mean   se    df  lower  upper
          equal -0.26 0.03 26.86  -0.31  -0.21
    as observed -0.34 0.03 35.90  -0.38  -0.30
    """
    check_interval(prob, "eti")
    if by is not None:
        one_of("by", by, _LEVELS)
    names = tuple(dict.fromkeys(word_list("covariates", covariates)))
    layout = _Layout.of_table(prepare_table(table), names)
    weights = dict(zip(layout.names, contrast_weights(contrast, layout.names), strict=True))
    if by == "attribute_group":
        different = {"associated": 1.0, "different": -1.0}
        if {name: weight for name, weight in weights.items() if weight} != different:
            raise SpecError(
                f"'contrast' is {contrast!r}; by='attribute_group' compares the same attributes "
                f"between groups and needs contrast={_SAME_ATTRIBUTES!r}."
            )
    units = [*layout.units({n: w for n, w in weights.items() if w}, by)]
    if not units and by == "attribute_group":
        raise DataError(
            f"the stereotypes of {quoted(layout.groups)} are not compared with another group, so "
            "there is no contrast of the same attributes; use by='protected_group'."
        )
    if not units:
        raise DataError(
            f"no {by} of the table has all connections of {contrast!r}; ask for a "
            "contrast of connections that it has."
        )
    # Too short lists are reported first, with or without covariates.
    rows = {AS_OBSERVED: [unit.interval(layout, prob) for unit in units]}
    if names:
        rows = {EQUAL: [unit.at_equal(layout, prob) for unit in units], **rows}
    result = pd.DataFrame(
        [
            {
                "contrast": contrast,
                **({"covariates": kind} if names else {}),
                **({} if by is None else {by: unit.label}),
                **row,
            }
            for kind, intervals in rows.items()
            for unit, row in zip(units, intervals, strict=True)
        ]
    )
    layout.warn_of_missing()
    return result


@dataclass(frozen=True)
class _Unit:
    """A contrast as a sum over lists of means of the attributes' scores.

    The score of an attribute is a weighted sum of its distances, one weight per protected word.
    """

    label: str
    parts: dict[str, Array]  # by list, the weights of the protected words
    pool: dict[str, Array]  # weights for the lists that the variance is pooled over

    def interval(self, layout: _Layout, prob: float) -> dict[str, float]:
        """Return the contrast with the variances of the lists of stereotypes and of controls."""
        own = {name: layout.scores(name, w, self.label) for name, w in self.parts.items()}
        of_stereotypes = any(name not in _CONTROLS for name in own)
        pooled = layout.pooled_variance(self.pool, self.label) if of_stereotypes else (0.0, 0)
        mean = 0.0
        errors: dict[str, tuple[float, int]] = {}  # variance of a mean, degrees of freedom
        for name, (scores, size) in own.items():
            control = name in _CONTROLS
            variance, degrees = _variance(scores, name) if control else pooled
            kind = _kind(name)
            before, _ = errors.get(kind, (0.0, 0))
            errors[kind] = (before + size**2 * variance / len(scores), degrees)
            mean += size * float(scores.mean())
        return self._of_errors(mean, errors.values(), prob)

    def at_equal(self, layout: _Layout, prob: float) -> dict[str, float]:
        """Return the contrast at equal covariates, whose slopes all lists have in common."""
        # By attribute: its score and covariates minus the means of its list, the weight of its
        # score in the contrast, and the kind of its list.
        scores, covariates, shares, kinds = [], [], [], []
        number_of_lists: dict[str, int] = {}
        mean = 0.0
        at = np.zeros(len(layout.names_of_covariates))  # the contrast of the covariates
        for name, weights in (self.pool | self.parts).items():
            if name not in self.parts and not layout.complete(name, weights).any():
                continue
            y, size = layout.scores(name, weights, self.label)
            x = layout.scores_of_covariates(name, weights) / size
            size = size if name in self.parts else 0.0
            scores.append(y - y.mean())
            covariates.append(x - x.mean(axis=0))
            shares.append(np.full(len(y), size / len(y)))
            kinds += [kind := _kind(name)] * len(y)
            number_of_lists[kind] = number_of_lists.get(kind, 0) + 1
            mean += size * float(y.mean())
            at += size * x.mean(axis=0)
        within, rest, of_kind = np.concatenate(covariates), np.concatenate(scores), np.array(kinds)
        left, sizes, axes = np.linalg.svd(within, full_matrices=False)
        # What cancels in the scores of attributes is rounding.
        estimated = sizes > _CANCELS * np.sqrt(len(within))
        left, sizes, axes = left[:, estimated], sizes[estimated], axes[estimated]
        lost = np.abs(at - at @ axes.T @ axes)
        if lost.max() > _CANCELS:
            raise DataError(
                f"the covariate {layout.names_of_covariates[int(lost.argmax())]!r} does not vary "
                f"within the lists of the contrast of {self.label!r} (given the other "
                "covariates), so its slope cannot be estimated; leave it out."
            )
        # The contrast is a weighted sum of scores, by least squares along the axes.
        along = axes @ at / sizes
        mean -= float(along @ (left.T @ rest))
        weight = np.concatenate(shares) - left @ along
        rest = rest - left @ (left.T @ rest)
        # Degrees of freedom of the slopes count where the scores are that they depend on.
        leverage = (left**2).sum(axis=1)
        errors = []
        for kind, lists in number_of_lists.items():
            here = of_kind == kind
            degrees = float(here.sum() - lists - leverage[here].sum())
            if degrees < _FEWEST_DEGREES:
                raise DataError(
                    f"the contrast of {self.label!r} has too few attributes among "
                    f"{'the stereotypes' if kind == _STEREOTYPES else _list_name(kind)} to "
                    f"estimate {counted(len(sizes), 'slope')}; use longer lists or fewer "
                    "covariates."
                )
            variance = float(rest[here] @ rest[here]) / degrees
            errors.append((variance * float((weight[here] ** 2).sum()), degrees))
        return self._of_errors(mean, errors, prob)

    def _of_errors(
        self, mean: float, errors: Iterable[tuple[float, float]], prob: float
    ) -> dict[str, float]:
        """Return an interval from independent errors: variances, and their degrees of freedom."""
        from scipy import stats

        parts = [*errors]
        total = sum(error for error, _ in parts)
        if total <= _ROUNDING**2:
            raise DataError(
                f"the distances do not vary within the lists of the contrast of {self.label!r}, so "
                "their spread cannot be estimated. Are the vectors all the same?"
            )
        df = total**2 / sum(error**2 / degrees for error, degrees in parts)
        half = float(np.sqrt(total) * stats.t.ppf((1 + prob) / 2, df))
        return {
            "mean": mean,
            "se": float(np.sqrt(total)),
            "df": df,
            "lower": mean - half,
            "upper": mean + half,
        }


def _kind(name: str) -> str:
    """Return which lists share a variance with a list: stereotypes do, and controls do not."""
    return name if name in _CONTROLS else _STEREOTYPES


@dataclass(frozen=True)
class _Layout:
    """The distances as protected words × attributes, and who belongs to which list."""

    distances: Array
    names_of_covariates: tuple[str, ...]
    covariates: Array  # × covariates, in standard deviations from the mean
    words: tuple[str, ...]
    group_of: npt.NDArray[np.str_]  # by protected word
    list_of: npt.NDArray[np.str_]  # by attribute
    connection: dict[tuple[str, str], str]  # by group and list
    incomplete: set[int]

    @classmethod
    def of_table(cls, table: pd.DataFrame, names: tuple[str, ...]) -> _Layout:
        embeddings = table["embedding"].unique().astype("str")
        if len(embeddings) > 1:
            raise DataError(
                f"the table holds {len(embeddings)} embeddings ({quoted(embeddings)}); give one at "
                f"a time: table[table.embedding == {embeddings[0]!r}]."
            )
        # Words become texts only where there are few of them: a table may have millions of rows.
        triple = ["word_to_compare", "protected_group", "connection"]
        kinds = table[[*triple, "word_class"]].drop_duplicates(triple).astype("str")
        # The order of the table, for words as for groups.
        group = table[["protected_word", "protected_group"]].drop_duplicates("protected_word")
        word, words = pd.factorize(table["protected_word"])
        attribute, attributes = pd.factorize(table["word_to_compare"])
        shape = (len(words), len(attributes))
        place = np.ravel_multi_index((word, attribute), shape)
        rows = np.bincount(place, minlength=shape[0] * shape[1])

        # A word counts once in the mean of its group, as in models, also if its rows are repeated.
        def means(of_rows: npt.ArrayLike) -> Array:
            total = np.bincount(place, of_rows, minlength=len(rows))
            mean: Array = np.divide(total, rows, out=np.full(len(rows), np.nan), where=rows > 0)
            return mean.reshape(shape)

        values = np.zeros((*shape, len(names)))
        for number, name in enumerate(names):
            values[..., number] = means(standardised(name, covariate_values(table, name)))
        list_of = _lists(kinds).reindex(attributes.astype("str"))
        connection: dict[tuple[str, str], str] = {}
        pairs = kinds.assign(list=kinds["word_to_compare"].map(list_of))
        pairs = pairs[["protected_group", "list", "connection"]].drop_duplicates()
        for of_group, of_list, kind in pairs.itertuples(index=False):
            before = connection.setdefault((of_group, of_list), kind)
            if before != kind:
                raise DataError(
                    f"the words of group {of_group!r} have the connections {before!r} and {kind!r} "
                    f"to the {of_list}; a list has one connection to a group."
                )
        return cls(
            means(table["cosine_distance"]),
            names,
            values,
            tuple(map(str, words)),
            group["protected_group"].to_numpy(dtype=np.str_),
            list_of.to_numpy(dtype=np.str_),
            connection,
            set(),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The connections that there are, in their usual order."""
        present = set(self.connection.values())
        return tuple(name for name in CONNECTIONS if name in present)

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.group_of.tolist()))

    @property
    def stereotypes(self) -> tuple[str, ...]:
        """The lists that are no controls."""
        return tuple(n for n in dict.fromkeys(self.list_of.tolist()) if n not in _CONTROLS)

    def of_group(self, group: str) -> Array:
        """Return the weights of protected words that make a group's mean."""
        weights = (self.group_of == group).astype(np.float64)
        return np.asarray(weights / weights.sum())

    def lists(self, group: str, connection: str) -> list[str]:
        return [of for (g, of), kind in self.connection.items() if (g, kind) == (group, connection)]

    def units(self, weights: dict[str, float], by: By | None) -> Iterator[_Unit]:
        if by == "attribute_group":
            parts = {
                (group, attribute_list): self._against_others(group, attribute_list)
                for group in self.groups
                for attribute_list in self.lists(group, "associated")
                if any(self.connection.get((g, attribute_list)) == "different" for g in self.groups)
            }
            pool = {attribute_list: part for (_, attribute_list), part in parts.items()}
            for group in dict.fromkeys(of_group for of_group, _ in parts):
                own = {name: part for (g, name), part in parts.items() if g == group}
                yield _Unit(group, {name: part / len(own) for name, part in own.items()}, pool)
        elif by is None:
            yield self._average(weights)
        else:
            for label, group, members in self._members(by):
                lists_by_kind = {kind: self.lists(group, kind) for kind in weights}
                if all(lists_by_kind.values()):
                    parts_of = {
                        name: weights[kind] / len(names) * members
                        for kind, names in lists_by_kind.items()
                        for name in names
                    }
                    yield _Unit(label, parts_of, dict.fromkeys(self.stereotypes, members))

    def _members(self, by: By) -> Iterator[tuple[str, str, Array]]:
        """Yield label, group and weights of protected words."""
        if by == "protected_group":
            for group in self.groups:
                yield group, group, self.of_group(group)
        else:
            for place, word in enumerate(self.words):
                yield word, str(self.group_of[place]), np.eye(len(self.words))[place]

    def _against_others(self, group: str, attribute_list: str) -> Array:
        """Return the weights of a group's words against those of the other groups."""
        rest = [g for g in self.groups if self.connection.get((g, attribute_list)) == "different"]
        others = np.mean([self.of_group(other) for other in rest], axis=0)
        return np.asarray(self.of_group(group) - others)

    def _average(self, weights: dict[str, float]) -> _Unit:
        """Return the contrast of the whole table: the mean of the groups that have all of it.

        With the stereotypes of one group alone, which are associated with it and different from the
        others, there is none; then each connection is the mean of the groups that have it.
        """
        whole = [g for g in self.groups if all(self.lists(g, kind) for kind in weights)]
        parts: dict[str, Array] = {}
        for kind, weight in weights.items():
            groups = whole or [g for g in self.groups if self.lists(g, kind)]
            for group in groups:
                lists = self.lists(group, kind)
                for name in lists:
                    part = weight / len(groups) / len(lists) * self.of_group(group)
                    parts[name] = parts.get(name, 0) + part
        pool = {name: part for name, part in parts.items() if name not in _CONTROLS}
        return _Unit("all", parts, pool)

    def complete(self, name: str, weights: Array) -> npt.NDArray[np.bool_]:
        """Return which attributes of a list have all distances that the weights need."""
        distances = self.distances[np.ix_(np.flatnonzero(weights), self.list_of == name)]
        complete: npt.NDArray[np.bool_] = ~np.isnan(distances).any(axis=0)
        return complete

    def scores(self, name: str, weights: Array, label: str) -> tuple[Array, float]:
        """Return a list's scores for weights whose sizes sum to one, and what they were divided by.

        Attributes that lack a distance are left out.
        """
        size = float(np.abs(weights).sum())
        used = np.flatnonzero(weights)
        columns = np.flatnonzero(self.list_of == name)
        distances = self.distances[np.ix_(used, columns)]
        whole = self.complete(name, weights)
        self.incomplete.update(columns[~whole].tolist())
        if not whole.any():
            raise DataError(
                f"no attribute of {_list_name(name)} has a distance from every protected word of "
                f"the contrast of {label!r}; build the table without the words that lack distances."
            )
        return np.asarray(weights[used] @ distances[:, whole] / size), size

    def scores_of_covariates(self, name: str, weights: Array) -> Array:
        """Return, for the attributes that have scores, the same sums of their covariates."""
        used = np.flatnonzero(weights)
        columns = np.flatnonzero(self.list_of == name)[self.complete(name, weights)]
        chosen = self.covariates[np.ix_(used, columns)]
        return np.asarray(np.tensordot(weights[used], chosen, axes=1))

    def pooled_variance(self, pool: dict[str, Array], label: str) -> tuple[float, int]:
        """Return variance and degrees of freedom of the scores within lists of stereotypes."""
        squares, degrees = 0.0, 0
        for name, weights in pool.items():
            if not self.complete(name, weights).any():
                continue  # of the contrast itself, `scores` reports it
            scores, _ = self.scores(name, weights, label)
            squares += float(((scores - scores.mean()) ** 2).sum())
            degrees += len(scores) - 1
        if not degrees:
            raise DataError(
                "every list of stereotypes has one word, so their variance cannot be estimated; at "
                "least one list needs two words."
            )
        return squares / degrees, degrees

    def warn_of_missing(self) -> None:
        if self.incomplete:
            warn(
                f"{len(self.incomplete)} of {self.distances.shape[1]} attributes lack a distance "
                "from a protected word and are left out of the contrasts concerned"
            )


def _lists(of_word: pd.DataFrame) -> pd.Series[str]:
    """Return the list of each attribute: a control, or the groups whose stereotype it is.

    `of_word` has a row for each attribute, connection and group that occur together.
    """
    by_word = of_word.groupby("word_to_compare", sort=False)
    kinds = by_word["connection"].agg(frozenset)
    controls = frozenset(_CONTROLS)
    associated = of_word[of_word["connection"] == "associated"].groupby(
        "word_to_compare", sort=False
    )
    owners = associated["protected_group"].agg(" and ".join).to_dict()
    result = by_word["word_class"].first().to_dict()
    of_class: dict[str, set[str]] = {}
    for word, owner in owners.items():
        of_class.setdefault(result[word], set()).add(owner)
    for word, connections in kinds.items():
        if connections <= controls and len(connections) == 1:
            result[word] = next(iter(connections))
        elif connections & controls:
            raise DataError(
                f"the attribute {word!r} has the connections {quoted(sorted(connections))}; it is "
                "a control for all groups or for none."
            )
        elif word in owners:
            result[word] = f"stereotypes of {owners[word]}"
        elif len(of_class.get(result[word], ())) == 1:  # it has lost its rows with its own group
            [owner] = of_class[result[word]]
            result[word] = f"stereotypes of {owner}"
        # The list of a group that is not in the table keeps its class.
    return pd.Series(result, dtype="str")


def _variance(scores: Array, name: str) -> tuple[float, int]:
    if len(scores) < 2:
        raise DataError(
            f"{_list_name(name)} are one word, so their variance cannot be estimated; give two or "
            "more."
        )
    return float(scores.var(ddof=1)), len(scores) - 1


def _list_name(name: str) -> str:
    return f"the {name} controls" if name in _CONTROLS else f"the {name}"
