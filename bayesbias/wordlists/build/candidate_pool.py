"""The words of a vocabulary that may get into a list, and why the others may not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bayesbias._core.array_types import Codes
from bayesbias._core.blocks import blocks
from bayesbias.embeddings import Embedding, Matching
from bayesbias.wordlists.build.group_classifier import GroupClassifier, most_probable
from bayesbias.wordlists.build.labelled_words import ASSOCIATED
from bayesbias.wordlists.wordset import WordSet

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]


def left_for(name: str) -> str:
    """Return why words of a group without a list are left out."""
    return f"in the group {name!r}"


class Pool:
    """All words of an embedding, from which some are taken away, each for one reason.

    Parameters
    ----------
    embedding : Embedding
        Whose words they are.
    classifier : GroupClassifier
        What estimates their groups.
    """

    def __init__(self, embedding: Embedding, classifier: GroupClassifier) -> None:
        self.embedding = embedding
        self.names = tuple(classifier.classes_)
        self.classifier = classifier
        n = len(embedding)
        self._why: npt.NDArray[np.object_] = np.full(n, "", dtype=object)
        self._group: Codes = np.full(n, -1, dtype=np.intp)
        self._probability: npt.NDArray[np.float32] = np.full(n, np.nan, dtype=np.float32)
        #: How many words without a label were classified, and how many got into each group.
        self.n_judged = 0
        self.n_classified: dict[str, int] = {}
        # The group of each labelled word, -1 for others.
        self.label: Codes = np.full(n, -1, dtype=np.intp)
        labelled = embedding.match(classifier.labelled_["word"], Matching(("exact",)))
        group = dict(zip(classifier.labelled_["word"], classifier.labelled_["group"], strict=True))
        self.label[labelled.rows] = [self.names.index(group[word]) for word in labelled.found]

    def left(self) -> Codes:
        """Return the rows of the words that are still there."""
        return np.flatnonzero(self._why == "")

    def drop(self, rows: Codes, why: str) -> None:
        """Take words away, those that are still there."""
        self._why[rows[self._why[rows] == ""]] = why

    def drop_if(self, unwanted: Callable[[str, int], bool], why: str) -> None:
        """Take words away that a function of the word and its row does not want."""
        words = self.embedding.words
        rows = [row for row in self.left().tolist() if unwanted(words[row], row)]
        self.drop(np.array(rows, dtype=np.intp), why)

    def drop_without_direction(self) -> None:
        """Take words away whose vectors are zero, NaN or infinite."""
        vectors = self.embedding.vectors
        for part in blocks(len(vectors), self.embedding.dim):
            norms = np.linalg.norm(vectors[part], axis=1)
            bad = np.flatnonzero(~(np.isfinite(norms) & (norms > 0)))
            self.drop(part.start + bad, "no direction")

    def classify(self, threshold: float, wanted: Sequence[str], progress: bool) -> None:
        """Classify the words, and take away those of no group or an unwanted one."""
        rows = self.left()
        probabilities = self.classifier.probabilities(self.embedding, rows, progress=progress)
        best, certain = most_probable(probabilities)
        label = self.label[rows]
        self._group[rows] = np.where(label < 0, best, label)
        self._probability[rows] = probabilities[np.arange(len(rows)), self._group[rows]]
        sure = (label < 0) & (certain >= threshold)
        self.n_judged = int((label < 0).sum())
        self.n_classified = {
            name: int((sure & (best == code)).sum()) for code, name in enumerate(self.names)
        }
        self.drop(rows[(label < 0) & ~sure], "unsure")
        for code, name in enumerate(self.names):
            if name not in wanted:
                self.drop(rows[self._group[rows] == code], left_for(name))

    def candidates(self, rank: Floats, count: Floats | None) -> pd.DataFrame:
        """Return the words that are left, by rank; the index is that of the embedding's rows."""
        import pandas as pd

        rows = self.left()
        rows = rows[np.argsort(rank[rows], kind="stable")]
        return pd.DataFrame(
            {
                "group": [self.names[code] for code in self._group[rows]],
                "word": [self.embedding.words[row] for row in rows],
                "how": np.where(self.label[rows] >= 0, "labelled", "classified"),
                "probability": self._probability[rows],
                "rank": rank[rows].astype(np.intp),
                **({} if count is None else {"count": count[rows]}),
                # Frequencies are about inversely proportional to ranks (Zipf's law).
                "log_frequency": -np.log(rank[rows]) if count is None else np.log(count[rows]),
            },
            index=rows,
        )

    def associated(self, size: int, rank: Floats, source: str) -> dict[str, WordSet]:
        """Return the most frequent words that go with a group without meaning it, by group."""
        result = {}
        for code, name in enumerate(self.names):
            rows = np.flatnonzero((self._group == code) & (self._why == left_for(name)))
            rows = rows[np.argsort(rank[rows], kind="stable")][:size]
            if name.startswith(ASSOCIATED) and rows.size:
                words = [self.embedding.words[row] for row in rows]
                result[name.removeprefix(ASSOCIATED)] = WordSet(name, words, source)
        return result

    def reasons(self) -> dict[str, int]:
        """Return how many words were taken away for each reason, the most frequent first."""
        return dict(Counter(self._why[self._why != ""].tolist()).most_common())

    def left_out(self, chosen: Codes, why: str) -> pd.DataFrame:
        """Return all words that were not chosen, with the reasons; that of the rest is `why`."""
        import pandas as pd

        reasons = np.where(self._why == "", why, self._why)
        out = np.setdiff1d(np.arange(len(reasons)), chosen)
        names = np.array([*self.names, None], dtype=object)
        return pd.DataFrame(
            {
                "word": [self.embedding.words[row] for row in out],
                "why": pd.Categorical(reasons[out]),
                "group": names[self._group[out]],
                "probability": self._probability[out],
            }
        )
