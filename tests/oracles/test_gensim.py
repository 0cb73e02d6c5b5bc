"""gensim reads and writes the same formats; both must agree to the bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors

import bayesbias as bb

pytestmark = [
    pytest.mark.oracle,
    # gensim leaves a file open where it reads without a header.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def embedding(rng: np.random.Generator) -> bb.Embedding:
    scale = 10.0 ** rng.integers(-8, 4, size=(300, 20))
    words = [f"wörd{i}" for i in range(300)]
    return bb.Embedding(words, rng.normal(size=(300, 20)) * scale, "x")


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_we_read_what_gensim_writes(
    tmp_path: Path, embedding: bb.Embedding, binary: bool, suffix: str
) -> None:
    path = tmp_path / f"vectors.dat{suffix}"
    embedding.to_gensim().save_word2vec_format(str(path), binary=binary)
    loaded = bb.load_embedding(path)
    peer = KeyedVectors.load_word2vec_format(str(path), binary=binary)
    assert loaded.words == tuple(peer.index_to_key)
    np.testing.assert_array_equal(loaded.vectors.view(np.uint32), peer.vectors.view(np.uint32))


@pytest.mark.parametrize(
    ("suffix", "format", "options"),
    [
        (".bin", None, {"binary": True}),
        (".txt", None, {}),
        (".vec.gz", None, {}),
        (".txt", "glove", {"no_header": True}),
    ],
)
def test_gensim_reads_what_we_write(
    tmp_path: Path,
    embedding: bb.Embedding,
    suffix: str,
    format: str | None,
    options: dict[str, bool],
) -> None:
    path = tmp_path / f"vectors{suffix}"
    embedding.save(path, format=format)
    peer = KeyedVectors.load_word2vec_format(str(path), **options)
    assert tuple(peer.index_to_key) == embedding.words
    np.testing.assert_array_equal(peer.vectors, embedding.vectors)


def test_values_of_many_digits(tmp_path: Path, rng: np.random.Generator) -> None:
    # More digits than a float32 holds: where the rounding happens matters.
    values = rng.normal(size=(400, 10))
    lines = [f"w{i} " + " ".join(f"{v:.17g}" for v in row) for i, row in enumerate(values)]
    path = tmp_path / "a.txt"
    path.write_text("\n".join(lines) + "\n")
    peer = KeyedVectors.load_word2vec_format(str(path), no_header=True)
    np.testing.assert_array_equal(bb.load_embedding(path).vectors, peer.vectors)


def test_cosines(demo: bb.Embedding) -> None:
    study = bb.load_study("religion")
    table = bb.distance_table(demo, study)
    peer = demo.to_gensim()
    sample = table.sample(200, random_state=1)
    expected = [
        peer.distance(p, w)
        for p, w in zip(sample["protected_word"], sample["word_to_compare"], strict=True)
    ]
    np.testing.assert_allclose(sample["cosine_distance"], expected, atol=1e-6)
