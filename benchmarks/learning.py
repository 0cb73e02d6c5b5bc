"""What we compute instead of calling scikit-learn or gensim: `python benchmarks/learning.py`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from gensim.models import KeyedVectors
from measuring import Record, alone, check, copy_seconds, in_turns
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression

import bayesbias as bb
from bayesbias.numerics.logistic import Classifier
from bayesbias.numerics.two_means import two_means


def records(short: bool) -> Iterator[Record]:
    """Yield a classifier, clusters and neighbours."""
    repeats = 1 if short else 5
    yield _classifier(600 if short else 6_000, repeats)
    yield _clusters(500 if short else 5_000, repeats)
    yield _neighbours(5_000 if short else 400_000, repeats)


def _classifier(number: int, repeats: int) -> Record:
    """Learn to tell two classes apart, as RNSB does."""
    rng = np.random.default_rng(0)
    sides = [rng.normal(mean, 1, (number // 2, 300)) / 17 for mean in (0.1, -0.1)]
    rows = np.column_stack([np.vstack(sides), np.ones(number)])
    labels = np.repeat([1, -1], number // 2)
    weights = np.ones((1, number))

    def theirs() -> np.ndarray:
        model = LogisticRegression(fit_intercept=False, tol=1e-8, max_iter=1000)
        return np.asarray(model.fit(rows, labels).coef_[0])

    found = Classifier(*sides).coefficients(weights)[0]
    check(np.allclose(found, theirs(), atol=1e-3), "other coefficients")
    ours, peers = in_turns(
        lambda: Classifier(sides[0], sides[1]).coefficients(weights), theirs, repeats
    )
    return Record("logistic regression", f"{number:,} × 300", ours, "scikit-learn", peers)


def _clusters(number: int, repeats: int) -> Record:
    """Find two clusters, as the cluster test of residual bias does."""
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((number, 300), dtype=np.float32)
    vectors[: number // 2, 0] += 6
    ours, theirs = in_turns(
        lambda: two_means(vectors, 0),
        lambda: KMeans(2, n_init=10, random_state=0).fit_predict(vectors),
        repeats,
    )
    return Record("two clusters, ten starts", f"{number:,} × 300", ours, "scikit-learn", theirs)


def _neighbours(number: int, repeats: int) -> Record:
    """Find the nearest words; the matrix is read once."""
    words = [f"w{i}" for i in range(number)]
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((number, 100), dtype=np.float32)
    embedding, keyed = bb.Embedding(words, vectors), KeyedVectors(100)
    keyed.add_vectors(words, vectors)
    found = embedding.most_similar("w7")["word"].tolist()
    check(found == [word for word, _ in keyed.most_similar("w7")], "other neighbours")
    ours, theirs = in_turns(
        lambda: embedding.most_similar("w7"), lambda: keyed.most_similar("w7"), repeats
    )
    floor = copy_seconds(vectors.nbytes) / 2  # reading is half of copying
    return Record("nearest words", f"{number:,} × 100", ours, "gensim", theirs, "reading", floor)


if __name__ == "__main__":
    alone(records)
