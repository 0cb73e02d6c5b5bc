"""Lists of the words nearest to attribute words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from bayesbias._core.array_types import Codes
from bayesbias._core.validation import one_of
from bayesbias.errors import SpecError, warn
from bayesbias.wordlists.build import build_notes
from bayesbias.wordlists.build.balanced_choice import take
from bayesbias.wordlists.build.base import ChosenWords, ListMethod, ListRequest
from bayesbias.wordlists.build.clusters import CENTROIDS, Centroids, Clusters, cluster
from bayesbias.wordlists.wordset import WordSet

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class ByCluster(ListMethod):
    """Choose the words nearest to the attributes, the same number for each attribute word.

    A later test of these lists with the same attributes is circular; `build_lists` warns of it.

    Parameters
    ----------
    centroids : {"fixed", "spherical", "free"}, default "fixed"
        Whether the centroids stay at the attribute words, move to the mean directions of their
        clusters (spherical k-means), or to their means (k-means). Centroids that move may end far
        from the attribute, and one cluster may take most words.

    Raises
    ------
    SpecError
        If `centroids` is not one of these.

    See Also
    --------
    build_lists : Build lists with this method.

    Examples
    --------
    >>> import bayesbias as bb
    >>> bb.wordlists.ByCluster("spherical")
    ByCluster(centroids='spherical')
    """

    name: ClassVar[str] = "clusters"

    centroids: Centroids = "fixed"

    def __post_init__(self) -> None:
        one_of("centroids", self.centroids, CENTROIDS)

    def check(self, attributes: tuple[WordSet, ...]) -> None:
        """Refuse to cluster around nothing."""
        if not attributes:
            raise SpecError(
                "the method 'clusters' needs 'attributes', the words to cluster around, such as "
                "[word_sets('weat')['career'], word_sets('weat')['family']]."
            )

    def choose(self, candidates: pd.DataFrame, request: ListRequest) -> ChosenWords:
        """Take the candidates nearest to each centroid."""
        around = request.attribute_rows
        centres = tuple(request.embedding.words[row] for row in around)
        clusters = cluster(request.embedding, request.rows, around, self.centroids)
        by_similarity = _nearest_first(candidates, clusters, request.rows, centres)
        words = take(by_similarity, request.groups, request.size, "cluster", centres, None)
        warn(build_notes.CIRCULAR)
        notes = build_notes.of_closeness(clusters, centres)
        return ChosenWords(words, "farther from the attributes", notes)

    def settings(self) -> list[str]:
        """Return what the centroids did."""
        return [f"{self.centroids} centroids"]


def _nearest_first(
    candidates: pd.DataFrame, clusters: Clusters, rows: Codes, centres: Sequence[str]
) -> pd.DataFrame:
    """Return the candidates with their clusters, those nearest to a centroid first."""
    place = np.searchsorted(rows, candidates.index.to_numpy())
    names = np.array(centres, dtype=object)
    clustered = candidates.assign(
        cluster=names[clusters.labels[place]], similarity=clusters.similarity[place]
    )
    return clustered.sort_values(["similarity", "rank"], ascending=[False, True])
