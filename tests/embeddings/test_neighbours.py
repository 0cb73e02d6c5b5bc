from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import bayesbias as bb
from bayesbias.embeddings import nearest, neighbours
from bayesbias.errors import DataError, SpecError


def embedding(vectors: object, name: str = "e") -> bb.Embedding:
    matrix = np.asarray(vectors, dtype=np.float32)
    return bb.Embedding([f"w{i}" for i in range(len(matrix))], matrix, name)


def brute_force(
    matrix: np.ndarray, query: np.ndarray, k: int, exclude: set[int]
) -> tuple[list[int], list[float]]:
    """Sort all words, one by one, in double precision."""
    found = []
    for row, vector in enumerate(matrix.astype(float)):
        length = np.sqrt((vector**2).sum())
        if row not in exclude and np.isfinite(length) and length > 0:
            cosine = float((vector * query).sum() / length / np.sqrt((query**2).sum()))
            found.append((-round(cosine, 12), row))
    best = sorted(found)[:k]
    return [row for _, row in best], [-cosine for cosine, _ in best]


# Small whole numbers: many ties, and zero vectors.
matrices = arrays(np.float32, (17, 3), elements=st.integers(-2, 2).map(float))


@given(matrices, st.integers(1, 5), st.data())
@settings(max_examples=80)
def test_is_what_sorting_all_words_gives(matrix: np.ndarray, k: int, data: st.DataObject) -> None:
    matrix[:8] += 0.5  # so many words have a direction
    queries = data.draw(arrays(float, (4, 3), elements=st.integers(-3, 3).map(float)))
    queries[:, 0] += 0.25
    unwanted = data.draw(st.lists(st.sets(st.integers(0, 16), max_size=3), min_size=4, max_size=4))
    exclude = [np.array(sorted(rows, reverse=True), dtype=np.intp) for rows in unwanted]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "_MOST_ROWS", data.draw(st.sampled_from([1, 4, 100])))
        rows, cosines = nearest(embedding(matrix), queries, k, exclude=exclude)
    for i in range(4):
        expected = brute_force(matrix, queries[i], k, unwanted[i])
        assert rows[i].tolist() == expected[0]
        np.testing.assert_allclose(cosines[i], expected[1], atol=1e-11)


def test_real_words_in_blocks(demo: bb.Embedding, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.arange(0, 6000, 200)
    unit = demo.vectors.astype(float)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    cosines = unit[rows] @ unit.T
    cosines[np.arange(len(rows)), rows] = -2
    monkeypatch.setattr(neighbours, "_MOST_ROWS", 1000)
    found, values = nearest(demo, demo.vectors[rows], 50, exclude=[row[None] for row in rows])
    np.testing.assert_array_equal(found, np.argsort(-cosines, axis=1, kind="stable")[:, :50])
    np.testing.assert_allclose(values, -np.sort(-cosines, axis=1)[:, :50], atol=1e-12)


def test_agrees_with_scikit_learn(rng: np.random.Generator) -> None:
    from sklearn.neighbors import NearestNeighbors

    matrix = rng.standard_normal((400, 12)).astype(np.float32)
    rows, cosines = nearest(embedding(matrix), matrix[:20], 7)
    model = NearestNeighbors(n_neighbors=7, metric="cosine").fit(matrix.astype(float))
    distances, expected = model.kneighbors(matrix[:20].astype(float))
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_allclose(1 - cosines, distances, atol=1e-12)


def test_matrix_on_disk_with_an_empty_row(
    tmp_path: Path, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "v.npy"
    matrix = rng.standard_normal((60, 5)).astype(np.float32)
    matrix[40] = 0
    np.save(path, matrix)
    mapped = bb.Embedding([f"w{i}" for i in range(60)], np.load(path, mmap_mode="r"))
    monkeypatch.setattr(neighbours, "_MOST_ROWS", 16)
    rows, _ = nearest(mapped, matrix[:2], 20)
    for i in range(2):
        assert rows[i].tolist() == brute_force(matrix, matrix[i].astype(float), 20, set())[0]


def test_lengths_do_not_matter_and_nothing_gives_nothing(rng: np.random.Generator) -> None:
    matrix = rng.standard_normal((30, 4))
    scaled = matrix * rng.uniform(0.01, 100, (30, 1))
    rows, _ = nearest(embedding(matrix), matrix[:5], 6)
    again, _ = nearest(embedding(scaled), 7 * matrix[:5], 6)
    np.testing.assert_array_equal(rows, again)
    assert nearest(embedding(matrix), np.empty((0, 4)), 6)[0].shape == (0, 6)


def test_errors() -> None:
    emb = embedding(np.eye(3))
    with pytest.raises(SpecError, match="'k' is 0; expected a whole number, 1 or more"):
        nearest(emb, np.ones((1, 3)), 0)
    with pytest.raises(SpecError, match=r"shape \(3,\); expected vectors × 3 dimensions"):
        nearest(emb, np.ones(3), 1)
    with pytest.raises(SpecError, match="2 arrays in 'exclude' for 1 vectors"):
        nearest(emb, np.ones((1, 3)), 1, exclude=[np.array([0]), np.array([1])])
    with pytest.raises(DataError, match="zero, NaN or infinite has no neighbours"):
        nearest(emb, np.zeros((1, 3)), 1)
    with pytest.raises(SpecError, match="'e' has 2 words to choose 3 neighbours from; ask for"):
        nearest(emb, np.ones((1, 3)), 3, exclude=[np.array([1, 1])])
    with pytest.raises(SpecError, match="has 2 words to choose 3 neighbours"):
        nearest(embedding([[1, 0], [0, 0], [0, 1]]), np.ones((1, 2)), 3)
