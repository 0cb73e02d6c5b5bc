"""The words that lean most to either group, in two dimensions, before and after debiasing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayesbias._core.array_types import Array
from bayesbias._core.random import Seed, as_seed
from bayesbias._core.validation import one_of
from bayesbias.embeddings import Embedding, EmbeddingLike, as_embeddings, unit_rows
from bayesbias.errors import SpecError
from bayesbias.metrics.residual_bias import ClusterTest
from bayesbias.wordlists import Query, word_sets

if TYPE_CHECKING:
    import pandas as pd


def map_biased_words(
    embeddings: EmbeddingLike | Iterable[EmbeddingLike],
    groups: Query | None = None,
    *,
    n_words: int = 200,
    method: Literal["pca", "tsne"] = "pca",
    vocabulary: int = 50_000,
    seed: Seed = 0,
) -> pd.DataFrame:
    """Place the words that lean most to either of two groups in two dimensions.

    The words are those that lean most in the first embedding; the others, debiased versions of it,
    show the same words. If these still form two clouds, the bias is hidden and not removed (Gonen &
    Goldberg 2019). `plot_word_map` draws the result, and `ClusterTest` measures it.

    Parameters
    ----------
    embeddings : Embedding, str, or iterable of them
        The embedding before debiasing, and any number of embeddings after it.
    groups : Query, optional
        Two target sets, the groups; by default the male and female terms of Bolukbasi et al.
    n_words : int, default 200
        How many words of each side; at most a quarter of the vocabulary.
    method : {"pca", "tsne"}, default "pca"
        The first two principal components, or t-SNE as in the paper. Distances between clouds mean
        something in the first only; the second also draws clouds where there are hardly any.
    vocabulary : int, default 50,000
        The words are chosen among this many first words.
    seed : int or Generator, default 0
        Of t-SNE and of the clusters.

    Returns
    -------
    DataFrame
        One row per embedding and word: ``embedding``, ``word``, ``side`` (the name of the group),
        ``x`` and ``y``. ``attrs`` holds ``purity`` by embedding, the value of `ClusterTest` in all
        dimensions, and the ``method``.

    Raises
    ------
    SpecError
        If the query does not have two target sets, or there are too few words.
    VocabularyError
        If a later embedding lacks words of the first.

    References
    ----------
    Gonen, Goldberg (2019), doi:10.18653/v1/N19-1061.

    Examples
    --------
    >>> import bayesbias as bb
    >>> emb = bb.load_embedding("demo")
    >>> found = bb.metrics.map_biased_words([emb, bb.debias.HardDebias().fit_transform(emb)])
    >>> found.groupby(["embedding", "side"]).size().tolist()
    [200, 200, 200, 200]
    >>> {name: round(value, 2) for name, value in found.attrs["purity"].items()}
    {'demo': 1.0, 'demo_hard_debias': 0.89}
    """
    import pandas as pd

    one_of("method", method, ("pca", "tsne"))
    several = as_embeddings(embeddings)
    asked = _bolukbasi() if groups is None else groups
    if not isinstance(asked, Query) or len(asked.target_sets) != 2:
        raise SpecError("'groups' needs two target sets: bb.Query([male, female], []).")
    query = Query(asked.target_sets, [])
    number = as_seed(seed)
    first = several[0]
    parts, purity = [], {}
    for embedding in several:
        test = ClusterTest(n_words=n_words, vocabulary=vocabulary, original=first)
        score = test.run_query(query, embedding, seed=number)
        if score.reason is not None:
            raise SpecError(f"no words lean to a side in {embedding.name!r}: {score.reason}.")
        sides = (score["first_words"], score["second_words"])
        words = [word for side in sides for word in side]
        names = np.repeat(query.target_names, [len(side) for side in sides])
        place = _placed(embedding, words, method, number)
        columns = {"word": words, "side": names, "x": place[:, 0], "y": place[:, 1]}
        parts.append(pd.DataFrame(columns).assign(embedding=embedding.name))
        purity[embedding.name] = score.value
    table = pd.concat(parts, ignore_index=True)[["embedding", "word", "side", "x", "y"]]
    table.attrs = {"purity": purity, "method": method}
    return table


def _bolukbasi() -> Query:
    lists = word_sets("bolukbasi")
    return Query([lists["male_terms"], lists["female_terms"]], [], ["male", "female"])


def _placed(embedding: Embedding, words: list[str], method: str, seed: int) -> Array:
    """Return two coordinates for each word."""
    rows = [embedding.index[word] for word in words]
    vectors = np.asarray(embedding.vectors[rows], dtype=np.float64)
    unit = unit_rows(vectors, words, embedding.name)
    if method == "pca":
        from sklearn.decomposition import PCA

        result: Array = PCA(n_components=2, svd_solver="full").fit_transform(unit)
        return result
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (len(words) - 1) / 3)
    tsne = TSNE(n_components=2, init="pca", perplexity=perplexity, random_state=seed)
    result = np.asarray(tsne.fit_transform(unit), dtype=np.float64)
    return result
