"""A fitted model: its posterior, expected distances and contrasts."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from bayesbias._core.array_types import Array, Codes
from bayesbias._core.constants import AS_OBSERVED, EQUAL
from bayesbias._core.latex import frame_to_latex
from bayesbias._core.validation import one_of
from bayesbias._core.wording import brief, quoted
from bayesbias.errors import DataError, SpecError
from bayesbias.models.association_text import contrasts_in_words
from bayesbias.models.contrasts import Layers, contrast_weights, expected, flat, tidy_draws
from bayesbias.models.model_data import ModelData, model_data
from bayesbias.models.spec import ModelSpec
from bayesbias.numerics.intervals import Kind, check_interval, describe

if TYPE_CHECKING:
    import pymc as pm

    from bayesbias.models.criteria import Elpd
    from bayesbias.models.diagnostics import Diagnostics


#: The protected words of the study, or new ones of the same groups.
Words = Literal["listed", "population"]


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """A model fitted to a table of distances; made by `fit`, `fit_paired` and `load_fit`.

    Parameters
    ----------
    spec : ModelSpec
        The model.
    table : DataFrame
        The rows it was fitted to.
    posterior : xarray.Dataset
        Draws of each parameter; dims ``chain``, ``draw`` and those of the parameter, with the
        words as coordinates.
    sample_stats : xarray.Dataset
        What the sampler recorded of each draw, such as ``diverging``; empty for the exact engine.
    provenance : dict
        Engine, sampler, seed, versions, time and a hash of the rows.

    Examples
    --------
    >>> import bayesbias as bb
    >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    >>> fit = bb.fit(table, draws=500, seed=1)
    >>> fit
    <Fit interaction: 4,185 distances, 15 protected words, 4 × 500 draws, exact engine>
    """

    spec: ModelSpec
    table: pd.DataFrame
    posterior: xr.Dataset
    sample_stats: xr.Dataset
    provenance: Mapping[str, Any]

    def __repr__(self) -> str:
        sizes = self.posterior.sizes
        words = self.table["protected_word"].nunique()
        engine = self.provenance["engine"]
        how = "exact engine" if engine == "exact" else f"NUTS ({self.provenance['sampler']})"
        return (
            f"<Fit {self.spec.name}: {len(self.table):,} distances, {words} protected "
            f"words, {sizes['chain']} × {sizes['draw']:,} draws, {how}>"
        )

    def _repr_html_(self) -> str:
        sentences, _, details = self._summary_parts()
        contrasts = self._leading_contrasts(None, 0.89, "hdi")
        shown = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)
        if contrasts is not None:
            shown += contrasts.round(3).to_html(index=False, border=0)
        # The intervals of other parameters are many: means() and parameters() have them.
        coefficients = self.coefficients().round(3).to_html(index=False, border=0)
        return (
            f"<p><b>{html.escape(repr(self)[1:-1])}</b></p>{shown}"
            f"<p>89% intervals. {html.escape(details)}</p>"
            f"<details><summary>Parameters</summary>{coefficients}</details>"
        )

    @cached_property
    def data(self) -> ModelData:
        """The rows as the model sees them."""
        return model_data(self.spec, self.table)

    def draws(self, name: str) -> Array:
        """Return all draws of a parameter, the chains one after another.

        Parameters
        ----------
        name : str
            Name of the parameter.

        Returns
        -------
        array
            Draws × the shape of the parameter.
        """
        one_of("name", name, [parameter.name for parameter in self.spec.parameters])
        return flat(self.posterior[name])

    def means(self, *, prob: float = 0.89, kind: Kind = "hdi") -> pd.DataFrame:
        """Return the expected distance of each protected word and connection, with intervals.

        Parameters
        ----------
        prob : float, default 0.89
            Probability of the interval.
        kind : {"hdi", "eti"}, default "hdi"
            The narrowest interval, or the one with equal tails (as in the thesis's own figures).

        Returns
        -------
        DataFrame
            ``protected_word``, ``connection`` (and ``embedding``, if the model distinguishes them),
            ``mean``, ``sd``, ``lower``, ``upper``, ``protected_group``, and ``rows``, the number
            of distances behind it: with none, the estimate depends on the other words only. For a
            model with covariates, also ``covariates``, as in `contrasts`: the means with ``equal``
            covariates for all, and below them those with the covariates ``as observed``.
        """
        # The covariates of a group are those of its words, where the model has groups only.
        has_words = "protected_word" in self.spec.factors
        over = ["word_to_compare", *([] if has_words else ["protected_word"])]
        arrays = {EQUAL: self.expected(over)}
        if self.spec.covariates:
            # Covariates may differ by more than the means do: by connection, for instance.
            observed = self.expected(over, observed=True)
            equal = arrays[EQUAL].broadcast_like(observed).transpose(*observed.dims)
            arrays = {EQUAL: equal, AS_OBSERVED: observed}
        parts = []
        for name, array in arrays.items():
            part = tidy_draws(array, prob, kind)
            if "protected_word" in array.dims:
                of_word = self.groups().to_series().to_dict()
                part["protected_group"] = part["protected_word"].map(of_word)
            part["rows"] = self._rows_of(array)
            if self.spec.covariates:
                part.insert(len(array.dims) - 2, "covariates", name)
            parts.append(part)
        return pd.concat(parts, ignore_index=True)

    def _rows_of(self, array: xr.DataArray) -> Codes:
        """Return the number of rows behind each value of an array of expected distances."""
        place = np.zeros(len(self.table), dtype=np.intp)
        for dim in array.dims[2:]:
            name, index = str(dim), array.get_index(dim)
            code = self.data.codes.get(name)
            if code is None:
                code = index.get_indexer(pd.Index(self.table[name].astype("str")))
            place = place * len(index) + code
        return np.bincount(place, minlength=int(np.prod(array.shape[2:], dtype=int)))

    def coefficients(self, *, prob: float = 0.89, kind: Kind = "hdi") -> pd.DataFrame:
        """Return the parameters that belong to the whole data set, one row per level.

        These are, for instance, ``co`` of the model ``connection`` and ``bar`` of the hierarchical
        ones. The coefficients ``co`` are not identified by the data: adding a constant to all of
        them and taking it from all ``m`` changes no distance, so their intervals mostly show the
        prior. `contrasts` between them are well determined.

        Parameters
        ----------
        prob : float, default 0.89
            Probability of the interval.
        kind : {"hdi", "eti"}, default "hdi"
            Kind of interval.

        Returns
        -------
        DataFrame
            ``parameter``, ``level``, ``mean``, ``sd``, ``lower``, ``upper``.
        """
        words = {"protected_word", "word_to_compare"}
        parts = []
        for p in self.spec.parameters:
            if not words & set(p.by):
                part = tidy_draws(self.posterior[p.name], prob, kind)
                levels = part[list(p.by)].agg(", ".join, axis=1) if p.by else ""
                part = part.drop(columns=list(p.by))
                part.insert(0, "level", levels)
                part.insert(0, "parameter", p.name)
                parts.append(part)
        return pd.concat(parts, ignore_index=True)

    def predictive_coverage(
        self,
        *,
        by: str | None = "connection",
        probs: Iterable[float] = (0.5, 0.89),
    ) -> pd.DataFrame:
        """Return the share of rows that lie in their predictive intervals.

        A model that describes the distances well has about half of them in their 50% intervals. A
        smaller share means that it is too sure of these rows. The rows are those that the model was
        fitted to, so the share is above the probability if the model has many effects for few rows
        each, as ``interaction`` has of attributes. About the uncertainty of contrasts it says
        nothing: `calibrate` does.

        Parameters
        ----------
        by : str or None, default "connection"
            The column of names to have rows for, such as ``protected_group``; None for all rows
            together.
        probs : iterable of float, default (0.5, 0.89)
            Probabilities of the intervals, which have equal tails.

        Returns
        -------
        DataFrame
            The level of `by`, ``prob``, the number of ``rows``, and the ``share`` of them in the
            interval.
        """
        from bayesbias.models.predictive_coverage import coverage_table

        return coverage_table(self, by, probs)

    def contrasts(
        self,
        contrast: str = "associated - none",
        *,
        by: str | None = None,
        words: Words = "listed",
        rope: float | tuple[float, float] | None = None,
        prob: float = 0.89,
        kind: Kind = "hdi",
    ) -> pd.DataFrame:
        """Return a difference between connections, with its interval and probabilities.

        Negative values of ``associated - none`` mean that protected words are closer to the
        stereotypes of their own group than to neutral words.

        Parameters
        ----------
        contrast : str, default "associated - none"
            A linear expression of connections, such as ``associated - (human + none) / 2``.
        by : {None, "protected_word", "protected_group", "attribute_group", "embedding"}
            One contrast for the whole data set (the average of the groups that have all the
            connections of the contrast; if none has, the contrast of averages), or one per word,
            group (the average of its words) or embedding. With ``attribute_group``, and the
            contrast ``associated - different``, groups are compared on the same attributes: how
            much closer the stereotypes of a group are to its own words than to those of the other
            groups. What an attribute is like in itself, its frequency for instance, cancels there.
            A group without stereotypes that other groups are compared with has no row.
        words : {"listed", "population"}, default "listed"
            Whether the contrast is about the protected words of the study, or about new ones drawn
            from the same groups, for a model that pools words. The attributes always stand for the
            population they are from.
        rope : float or pair of float, optional
            Region of practical equivalence: differences so small that they do not matter. A number
            r stands for −r to r.
        prob : float, default 0.89
            Probability of the interval.
        kind : {"hdi", "eti"}, default "hdi"
            Kind of interval.

        Returns
        -------
        DataFrame
            ``contrast``, the level of `by`, ``mean``, ``sd``, ``lower``, ``upper``,
            ``prob_negative`` (the probability that it is below 0) and, with a rope,
            ``prob_in_rope``. For a model with covariates, also ``covariates``: each
            contrast with ``equal`` covariates for all attributes, and with the covariates ``as
            observed``.
        """
        check_interval(prob, kind)
        bounds = _rope(rope)
        parts = []
        for observed in (False, True) if self.spec.covariates else (False,):
            array = self.contrast_draws(contrast, by=by, words=words, observed=observed)
            part = tidy_draws(array, prob, kind)
            values = flat(array).reshape(len(flat(array)), -1)
            part["prob_negative"] = (values < 0).mean(axis=0)
            if bounds is not None:
                inside = (values > bounds[0]) & (values < bounds[1])
                part["prob_in_rope"] = inside.mean(axis=0)
            part.insert(0, "contrast", contrast)
            if self.spec.covariates:
                part.insert(1, "covariates", AS_OBSERVED if observed else EQUAL)
            parts.append(part)
        return pd.concat(parts, ignore_index=True)

    def contrast_draws(
        self,
        contrast: str,
        *,
        by: str | None = None,
        words: Words = "listed",
        observed: bool = False,
    ) -> xr.DataArray:
        """Return the draws of a contrast.

        Parameters
        ----------
        contrast : str
            A linear expression of connections.
        by : {None, "protected_word", "protected_group", "attribute_group", "embedding"}
            What to have one contrast for, as in `contrasts`.
        words : {"listed", "population"}, default "listed"
            The protected words of the study, or new ones of the same groups.
        observed : bool, default False
            For a model with covariates: the covariates as observed, instead of equal for all.

        Returns
        -------
        xarray.DataArray
            With dims ``chain``, ``draw`` and, if given, `by`.
        """
        if "connection" not in self.spec.factors:
            raise SpecError(
                f"model {self.spec.name!r} does not distinguish connections, so there is nothing "
                "to contrast; fit model 'interaction', for instance."
            )
        weights = contrast_weights(contrast, self.data.levels["connection"])
        several = "embedding" in self.spec.factors
        one_of("words", words, ("listed", "population"))
        if by is not None:
            levels = ["protected_word", "protected_group", "attribute_group"]
            one_of("by", by, [*levels, *(["embedding"] if several else [])])
        if by == "protected_word" and words == "population":
            raise SpecError("by='protected_word' is about the listed words; use words='listed'.")
        if words == "population":
            self._check_words_are_pooled()
        if by == "attribute_group":
            return self._same_attributes(contrast, words, observed)
        over = ["word_to_compare", *(["protected_word"] if words == "population" else [])]
        return self.contrast_of(self.expected(over, observed=observed), weights, by)

    def contrast_of(self, array: xr.DataArray, weights: Array, by: str | None) -> xr.DataArray:
        """Return a contrast of expected distances.

        Parameters
        ----------
        array : DataArray
            Draws of the expected distance, from `expected`.
        weights : array
            The weight of each connection.
        by : {None, "protected_word", "protected_group", "embedding"}
            What to have one contrast for.

        Returns
        -------
        xarray.DataArray
            With dims ``chain``, ``draw`` and, if given, `by`.
        """
        axis = array.dims.index("connection")
        result = xr.DataArray(
            (np.moveaxis(array.to_numpy(), axis, -1) * weights).sum(axis=-1),
            coords={name: array[name] for name in array.coords if name != "connection"},
            dims=[dim for dim in array.dims if dim != "connection"],
        )
        if by == "protected_word":
            return self.by_word(result)
        result = self.by_group(result)
        if by == "protected_group":
            return result
        # What the model says of a group without stereotypes, for instance, is not about its words.
        has_all = self._has_rows.to_numpy()[:, weights != 0].all(axis=1)
        if has_all.any():
            result = result.sel(protected_group=self._has_rows["protected_group"][has_all])
            result = result.mean("protected_group")
        else:
            result = self._of_all_groups(array, weights)
        return result.mean("embedding") if "embedding" in result.dims and by is None else result

    @cached_property
    def _has_rows(self) -> xr.DataArray:
        """Whether a group has rows of a connection."""
        return self._layers.lists.sum("word_class") > 0

    def mean_of_groups(self, array: xr.DataArray) -> xr.DataArray:
        """Return the average of the groups that have rows of a connection.

        Parameters
        ----------
        array : DataArray
            Draws of something for groups and connections.

        Returns
        -------
        xarray.DataArray
            Without the dim ``protected_group``.
        """
        if "connection" not in array.dims:
            return array.mean("protected_group")
        shares = self._has_rows / self._has_rows.sum("protected_group")
        rest = [dim for dim in array.dims if dim != "protected_group"]
        result: xr.DataArray = xr.dot(array, shares, dim="protected_group")
        return result.transpose(*rest)

    def _of_all_groups(self, array: xr.DataArray, weights: Array) -> xr.DataArray:
        """Return the contrast of the groups' means, each connection that of groups that have it."""
        shares = self._has_rows / self._has_rows.sum("protected_group") * weights
        result: xr.DataArray = xr.dot(
            self.by_group(array), shares, dim=["protected_group", "connection"]
        )
        return result

    def _check_words_are_pooled(self) -> None:
        """Refuse to say anything of new words if each word has its own means and nothing else."""
        for name in self.spec.mean:
            parameter = self.spec[name]
            own = {"protected_word", "connection"} <= set(parameter.by)
            if own and parameter.prior.sd is None:
                raise SpecError(
                    f"model {self.spec.name!r} does not pool protected words, so it says nothing "
                    "of new ones; use words='listed', or model 'interaction'."
                )

    def by_word(self, array: xr.DataArray) -> xr.DataArray:
        """Return one value for each protected word, also where the words of a group share it.

        Parameters
        ----------
        array : DataArray
            Draws of something for words, groups or all.

        Returns
        -------
        xarray.DataArray
            With the dim ``protected_word``.
        """
        groups = self.groups()
        if "protected_group" in array.dims:
            return array.sel(protected_group=groups).drop_vars("protected_group")
        if "protected_word" not in array.dims:
            return array * xr.ones_like(groups, dtype=float)
        return array

    def by_group(self, array: xr.DataArray) -> xr.DataArray:
        """Return one value for each group, the average of its protected words.

        Parameters
        ----------
        array : DataArray
            Draws of something for words, groups or all.

        Returns
        -------
        xarray.DataArray
            With the dim ``protected_group``.
        """
        if "protected_group" in array.dims:
            return array
        return group_means(self.by_word(array), self.groups())

    def _same_attributes(self, contrast: str, words: Words, observed: bool) -> xr.DataArray:
        """Compare groups on the same attributes: a group's own stereotypes, in other groups too."""
        if "".join(contrast.split()) != "associated-different":
            raise SpecError(
                f"by='attribute_group' compares the distances of one group's stereotypes from its "
                f"own words and from those of other groups: contrast='associated - different', not "
                f"{contrast!r}."
            )
        names = ["protected_group", "word_class", "connection"]
        pairs = self.table[names].drop_duplicates().astype("str")
        groups = list(dict.fromkeys(self.groups().to_numpy().tolist()))
        over = ["word_to_compare", *(["protected_word"] if words == "population" else [])]
        parts: dict[str, xr.DataArray] = {}
        for group in groups:
            associated = pairs[
                (pairs["protected_group"] == group) & (pairs["connection"] == "associated")
            ]
            lists = set(associated["word_class"])
            others = pairs[(pairs["connection"] == "different") & pairs["word_class"].isin(lists)]
            if lists and len(others):
                self._check_lists_alone(pairs, others, lists)
                parts[group] = self._against_others(group, others, over, observed)
        if not parts:
            raise DataError(
                f"the stereotypes of {quoted(groups)} are not compared with another group, so "
                "there is no contrast of the same attributes; use by='protected_group'."
            )
        names_of_groups = pd.Index(list(parts), name="attribute_group")
        result = xr.concat(list(parts.values()), dim=names_of_groups)
        rest = [d for d in result.dims if d not in ("chain", "draw", "attribute_group")]
        return result.transpose("chain", "draw", "attribute_group", *rest)

    def _check_lists_alone(
        self, pairs: pd.DataFrame, others: pd.DataFrame, lists: set[str]
    ) -> None:
        """Refuse a model whose means for other groups are of more, or fewer, than these lists."""
        if "word_class" in self.spec.factors:
            return
        of_others = pairs["protected_group"].isin(others["protected_group"])
        different = pairs[of_others & (pairs["connection"] == "different")]
        for _, seen in different.groupby("protected_group", sort=False)["word_class"]:
            if set(seen) != lists:
                raise SpecError(
                    f"model {self.spec.name!r} has one mean for the stereotypes of all other "
                    f"groups, here {quoted(seen)}, so it cannot compare groups on the same "
                    f"attributes, here {quoted(sorted(lists))}; use model 'interaction'."
                )

    def _against_others(
        self, group: str, others: pd.DataFrame, over: list[str], observed: bool
    ) -> xr.DataArray:
        """Return the mean over a group's lists: its own distance minus that of the other groups."""
        differences = []
        for word_class, rest in others.groupby("word_class", sort=False)["protected_group"]:
            share = self._layers.lists * 0
            share.loc[group, "associated", word_class] = 1.0
            share.loc[list(rest), "different", word_class] = 1.0
            layers = replace(self._layers, lists=share)
            array = self.by_group(self._expected(over, layers, observed))
            own = array.sel(protected_group=group, connection="associated", drop=True)
            different = array.sel(protected_group=list(rest), connection="different", drop=True)
            differences.append(own - different.mean("protected_group"))
        total: xr.DataArray = sum(differences[1:], start=differences[0])
        return total / len(differences)

    @cached_property
    def _layers(self) -> Layers:
        return Layers.of_table(self.table, self.data)

    def expected(self, over: Iterable[str], *, observed: bool = False) -> xr.DataArray:
        """Return draws of the expected distance, for words not in `over` or new ones that are.

        Parameters
        ----------
        over : iterable of str
            Factors, such as ``word_to_compare``, whose levels are averaged over.
        observed : bool, default False
            For a model with covariates: the covariates as observed, instead of equal for all.

        Returns
        -------
        xarray.DataArray
            With dims ``chain``, ``draw`` and the factors that are left. Where the model has both
            protected words and their groups as factors, words have the value of their own group.
        """
        return self._expected(over, self._layers, observed)

    def _expected(self, over: Iterable[str], layers: Layers, observed: bool) -> xr.DataArray:
        over = list(over)
        array = expected(self.spec, self.posterior, over, layers, observed=observed)
        if "protected_group" not in array.dims or "protected_word" not in self.spec.factors:
            return array
        if "protected_word" in over:
            return array
        group_of = self.groups()
        if "protected_word" in array.dims:
            array = array.sel(protected_word=group_of["protected_word"], protected_group=group_of)
        else:
            array = array.sel(protected_group=group_of)
        array = array.drop_vars("protected_group")
        rest = [d for d in array.dims if d not in ("chain", "draw", "protected_word")]
        return array.transpose("chain", "draw", "protected_word", *rest)

    def groups(self) -> xr.DataArray:
        """Return the group of each protected word.

        Returns
        -------
        xarray.DataArray
            Names of groups, with the words as coordinates.
        """
        return self._groups.copy()

    @cached_property
    def _groups(self) -> xr.DataArray:
        pairs = self.table[["protected_word", "protected_group"]].drop_duplicates()
        of_word = {str(word): str(group) for word, group in pairs.itertuples(index=False)}
        words = list(self.data.levels.get("protected_word", of_word))
        return xr.DataArray(
            [of_word[word] for word in words],
            coords={"protected_word": words},
            name="protected_group",
        )

    def unknowns(self, about: int | None = None) -> Array:
        """Return the draws of the scales as the exact engine has them.

        Parameters
        ----------
        about : int, optional
            Some of the draws, at least as many as this if there are; none of them twice, as the
            exact engine has several draws of the coefficients for each of the scales.

        Returns
        -------
        array
            Draws × unknowns, the logarithms of the scales.
        """
        scales = [self.draws(p.name) for p in self.spec.parameters if p.prior.is_positive]
        at: Array = np.log(np.concatenate([x.reshape(len(x), -1) for x in scales], axis=1))
        if about is None:
            return at
        distinct = at[: int(self.provenance.get("scale_draws", len(at)))]
        return distinct[:: max(1, len(distinct) // about)]

    def summary(self, *, prob: float = 0.89, kind: Kind = "hdi") -> str:
        """Return the result in plain words: the contrasts first, then whether to rely on them.

        The word *bias* is used only if all three contrasts support it.

        Parameters
        ----------
        prob : float, default 0.89
            Probability of the intervals.
        kind : {"hdi", "eti"}, default "hdi"
            Kind of interval.

        Returns
        -------
        str
            One line on the contrasts of the whole data set (with covariates: at equal values of
            them, and as observed), one on the model, and the diagnostics.
        """
        sentences, title, details = self._summary_parts(prob, kind)
        return "\n".join([*sentences, title, details])

    def _summary_parts(self, prob: float = 0.89, kind: Kind = "hdi") -> tuple[list[str], str, str]:
        """Return what the contrasts show, what was fitted, and the diagnostics."""
        contrasts = self._leading_contrasts(None, prob, kind)
        sentences = [] if contrasts is None else contrasts_in_words(self.spec, contrasts, prob)
        return sentences, f"{repr(self)[1:-1]}.", str(self.diagnostics())

    def to_latex(
        self,
        *,
        by: str | None = "protected_group",
        prob: float = 0.89,
        kind: Kind = "hdi",
        caption: str | None = None,
    ) -> str:
        """Return the contrasts as a LaTeX table, rounded by their intervals.

        Parameters
        ----------
        by : {None, "protected_word", "protected_group", "embedding"}, default "protected_group"
            What to have one contrast for, as in `contrasts`.
        prob : float, default 0.89
            Probability of the intervals.
        kind : {"hdi", "eti"}, default "hdi"
            Kind of interval.
        caption : str, optional
            The caption, instead of one that names the model and the intervals.

        Returns
        -------
        str
            A ``table`` environment, for the packages booktabs, graphicx and longtable. Of a
            model that does not distinguish connections, the table of `coefficients`.
        """
        frame = self._leading_contrasts(by, prob, kind)
        what = "contrasts" if frame is not None else "coefficients"
        if frame is None:
            frame = self.coefficients(prob=prob, kind=kind)
        text = f"Model {self.spec.name}: {what}, with {prob:.0%} intervals."
        titles = {"prob_negative": "P(< 0)"}
        return frame_to_latex(frame, text if caption is None else caption, titles=titles)

    def _leading_contrasts(self, by: str | None, prob: float, kind: Kind) -> pd.DataFrame | None:
        """Return associated minus each other connection; None without such connections."""
        names = self.data.levels.get("connection", ())
        if "associated" not in names or len(names) < 2:
            return None
        parts = [
            self.contrasts(f"associated - {name}", by=by, prob=prob, kind=kind)
            for name in reversed(names)
            if name != "associated"
        ]
        return pd.concat(parts, ignore_index=True)

    def parameters(self, *, prob: float = 0.89, kind: Kind = "hdi") -> pd.DataFrame:
        """Return every parameter with its interval and its convergence.

        Parameters
        ----------
        prob : float, default 0.89
            Probability of the interval.
        kind : {"hdi", "eti"}, default "hdi"
            Kind of interval.

        Returns
        -------
        DataFrame
            Indexed by ``parameter[level, …]``: ``mean``, ``sd``, ``lower``, ``upper``,
            ``mcse_mean``, ``ess_bulk``, ``ess_tail``, ``r_hat``.
        """
        from bayesbias.models.diagnostics import convergence_table

        check_interval(prob, kind)
        parts = [describe(self.draws(p.name), prob, kind) for p in self.spec.parameters]
        result = pd.concat(parts, ignore_index=True)
        convergence = convergence_table(self.spec, self.posterior)
        result.index = convergence.index
        return result.join(convergence[["mcse_mean", "ess_bulk", "ess_tail", "r_hat"]])

    def diagnostics(self) -> Diagnostics:
        """Return whether the draws and the data can be relied on, in numbers and words.

        Returns
        -------
        Diagnostics
            With ``ok``, ``problems``, ``notes``, ``table`` and a text form.
        """
        from bayesbias.models.diagnostics import diagnose

        return diagnose(self)

    def waic(self) -> Elpd:
        """Return the widely applicable information criterion (Watanabe 2010).

        Returns
        -------
        Elpd
            With ``deviance`` (the WAIC), ``se``, ``p`` and the value of each row.
        """
        from bayesbias.models.criteria import waic

        return waic(self)

    def loo(self, *, by: str | None = None) -> Elpd:
        """Return the leave-one-out estimate of predictive accuracy.

        Parameters
        ----------
        by : str, optional
            Leave out all rows of a level of this column at once: ``word_to_compare`` asks how well
            the model predicts an attribute it has not seen. By default one row at a time.

        Returns
        -------
        Elpd
            For rows, by Pareto-smoothed importance sampling. For levels, of a model with a normal
            likelihood, exact given the scales; only their posterior is reweighted.
        """
        from bayesbias.models.criteria import loo

        return loo(self, by=by)

    def pymc_model(self) -> pm.Model:
        """Return the PyMC model of this fit, to read, sample or extend.

        Returns
        -------
        pymc.Model
            With the words as coordinates and the rows as data.
        """
        from bayesbias.models.nuts.pymc_model import build_pymc_model

        return build_pymc_model(self.spec, self.data)

    @cached_property
    def idata(self) -> Any:
        """The fit as the installed ArviZ has it: InferenceData (0.23) or a DataTree (1.x).

        Groups: ``posterior``, ``sample_stats``, ``observed_data``, ``log_likelihood``,
        ``posterior_predictive``, ``prior`` and ``prior_predictive``. The rows of the table have
        their words as coordinates. A model whose residuals have a common part has no
        ``log_likelihood``, as its rows are not independent.

        All but the posterior, the observed data and what a sampler recorded is computed when it is
        read, and only the part that is read, as from a file; nothing of it is kept. The whole of
        ``log_likelihood`` or ``posterior_predictive`` takes 8 bytes for each row and draw, 270 MB
        for 4,185 rows and 8,000 draws. `waic`, `loo` and `plot_predictive_check` need far less.

        Examples
        --------
        >>> import arviz as az
        >>> import bayesbias as bb
        >>> table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
        >>> fit = bb.fit(table, "connection", draws=100)
        >>> fit.idata["posterior_predictive"]["distance"].sizes
        Frozen({'chain': 4, 'draw': 100, 'row': 4185})
        >>> list(az.summary(fit.idata, var_names=["sigma"]).index)
        ['sigma']
        """
        from bayesbias.models.inference_data import FitGroups

        return FitGroups(self).container()

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fit to a netCDF file, with its table, model, versions and seed.

        Parameters
        ----------
        path : path-like
            A ``.nc`` file.
        """
        from bayesbias.models.fit_files import save_fit

        save_fit(self, path)


def group_means(array: xr.DataArray, groups: xr.DataArray) -> xr.DataArray:
    """Average over the protected words of each group; the groups in the order of the words."""
    group_of = groups.to_numpy()
    order = list(dict.fromkeys(group_of.tolist()))
    axis = array.dims.index("protected_word")
    # xarray's own grouping takes a hundred times as long for a few words.
    values = np.stack(
        [array.to_numpy().compress(group_of == group, axis=axis).mean(axis) for group in order],
        axis=axis,
    )
    dims = ["protected_group" if dim == "protected_word" else dim for dim in array.dims]
    kept = {name: array.coords[name] for name in array.coords if name in dims}
    return xr.DataArray(values, coords={**kept, "protected_group": order}, dims=dims)


def _rope(rope: float | tuple[float, float] | None) -> tuple[float, float] | None:
    if rope is None:
        return None
    given: Any = rope
    if isinstance(rope, Real) and not isinstance(rope, bool):
        given = (-rope, rope)
    ends = tuple(given) if isinstance(given, Iterable) else ()
    is_pair = len(ends) == 2 and all(isinstance(end, Real) for end in ends)
    if not is_pair or not ends[0] < ends[1]:
        raise SpecError(
            f"'rope' is {brief(rope)}; expected a number above zero or a pair (low, high)."
        )
    return float(ends[0]), float(ends[1])
