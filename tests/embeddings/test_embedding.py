from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.embeddings import Matching, unit_vectors
from bayesbias.errors import BayesBiasWarning, DataError, SpecError, VocabularyError


def test_basics(tiny: bb.Embedding) -> None:
    assert len(tiny) == 5
    assert tiny.dim == 2
    assert tiny.name == "tiny"
    assert tiny.words[1] == "she"
    assert tiny.index["clock"] == 4
    assert "nurse" in tiny
    assert "Nurse" not in tiny
    assert list(tiny) == list(tiny.words)
    assert repr(tiny) == "<Embedding 'tiny': 5 words × 2 dimensions>"


def test_vectors_cannot_be_changed(tiny: bb.Embedding) -> None:
    with pytest.raises(ValueError, match="read-only"):
        tiny.vectors[0, 0] = 1
    with pytest.raises(TypeError):
        tiny.index["he"] = 3  # type: ignore[index]


def test_float32_is_not_copied(rng: np.random.Generator) -> None:
    vectors = rng.normal(size=(3, 4)).astype(np.float32)
    assert np.shares_memory(bb.Embedding("abc", vectors).vectors, vectors)
    assert vectors.flags.writeable


def test_missing_word_names_the_spelling_that_is_there() -> None:
    embedding = bb.Embedding(["nasa"], [[1.0, 2.0]], "x")
    with pytest.raises(VocabularyError, match=r"'NASA' is not in .* 'x'. It has 'nasa'."):
        embedding["NASA"]
    for word in ("xyzzy", "", 5):
        with pytest.raises(KeyError):
            embedding[word]  # type: ignore[index]


def test_missing_word_that_may_be_misspelt() -> None:
    embedding = bb.Embedding(["worker", "rich"], np.eye(2), "x")
    for word in ("workr", "worker ", "Workr"):
        with pytest.raises(VocabularyError, match=r"It has 'worker'\."):
            embedding[word]
    with pytest.raises(VocabularyError, match=r"'poor' is not in the embedding 'x'\.$"):
        embedding["poor"]


def test_repr_of_one_word() -> None:
    assert repr(bb.Embedding(["a"], [[1.0]], "x")) == "<Embedding 'x': 1 word × 1 dimension>"


def test_first_of_duplicates_wins_and_they_are_counted() -> None:
    with pytest.warns(BayesBiasWarning, match="2 duplicate words left out.*'b'"):
        embedding = bb.Embedding(["a", "b", "b", "c", "b"], np.arange(10).reshape(5, 2), "x")
    assert embedding.words == ("a", "b", "c")
    assert embedding["b"].tolist() == [2, 3]
    assert embedding["c"].tolist() == [6, 7]
    assert "2 duplicate words" in embedding.notes[0]


@pytest.mark.parametrize(
    ("words", "vectors", "message"),
    [
        (["a"], [[1.0], [2.0]], "1 words but 2 vectors"),
        ([], np.empty((0, 3)), "not empty"),
        (["a"], [1.0], "shape"),
        (["a"], [["x"]], "expected numbers"),
        (["a", "b"], [[1.0, 2.0], [3.0]], "not a matrix"),
        ([1], [[1.0]], "is not a string"),
        (["a", "b"], [[1.0], [np.nan]], r"'b' \(row 1\) holds NaN"),
        (["a"], [[1e300]], "NaN or infinite"),
    ],
)
def test_bad_arrays_are_refused(words: list[str], vectors: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        bb.Embedding(words, vectors)  # type: ignore[arg-type]


def test_zero_vector_is_kept_but_has_no_cosine(jobs: bb.Study) -> None:
    words = ["he", "she", "engineer", "nurse", "clock"]
    embedding = bb.Embedding(words, [[1, 0], [0, 1], [1, 1], [0, 0], [1, 2]], "x")
    assert embedding["nurse"].tolist() == [0, 0]
    with pytest.raises(DataError, match="vector of 'nurse' is zero"):
        bb.distance_table(embedding, jobs)


def test_unit_vectors_of_extreme_lengths() -> None:
    embedding = bb.Embedding(["tiny", "huge"], [[3e-40, 4e-40], [3e37, 4e37]])
    np.testing.assert_allclose(
        unit_vectors(embedding, np.arange(2)), [[0.6, 0.8], [0.6, 0.8]], rtol=1e-5
    )


def test_subset(tiny: bb.Embedding) -> None:
    part = tiny.subset(["clock", "he"], name="part")
    assert part.words == ("clock", "he")
    assert part["clock"].tolist() == [-3, 4]
    assert part.name == "part"
    with pytest.raises(VocabularyError, match="'it'.*leave these words out"):
        tiny.subset(["he", "it"])


def test_travels_to_another_process(tiny: bb.Embedding) -> None:
    for again in (pickle.loads(pickle.dumps(tiny)), copy.deepcopy(tiny)):
        assert again.words == tiny.words
        np.testing.assert_array_equal(again.vectors, tiny.vectors)
        assert not again.vectors.flags.writeable


class TestLookup:
    embedding = bb.Embedding(["jose", "NASA", "Paris", "/c/en/nurse", "/c/en/jose"], np.eye(5))

    def spelling(self, word: str, *fallbacks: str) -> str | None:
        found = self.embedding.match([word], Matching(fallbacks or ("exact",)))
        return found.entries[0] if found.found else None

    def test_exact_only(self) -> None:
        assert self.spelling("jose") == "jose"
        assert self.spelling("Jose") is None

    @pytest.mark.parametrize(
        ("word", "fallbacks", "expected"),
        [
            ("JOSE", ("exact", "lower"), "jose"),
            ("paris", ("title",), "Paris"),
            ("nasa", ("upper",), "NASA"),
            ("José", ("strip_accents",), None),
            ("José", ("lower", "strip_accents"), "jose"),
            ("nurse", ("exact", "prefix:/c/en/"), "/c/en/nurse"),
            ("JOSÉ", ("exact", "strip_accents", "lower", "prefix:/c/en/"), None),
            ("JOSÉ", ("lower", "strip_accents", "prefix:/c/en/"), "jose"),
            ("Nurse", ("exact", "lower", "prefix:/c/en/"), "/c/en/nurse"),
        ],
    )
    def test_fallbacks(self, word: str, fallbacks: tuple[str, ...], expected: str | None) -> None:
        assert self.spelling(word, *fallbacks) == expected

    def test_order_and_missing(self) -> None:
        found = self.embedding.match(["xyzzy", "Paris", "plugh", "jose"])
        assert found.found == ("Paris", "jose")
        assert found.missing == ("xyzzy", "plugh")
        assert found.rows.tolist() == [2, 0]

    def test_unknown_fallback(self) -> None:
        with pytest.raises(SpecError, match="'lowre'.*Did you mean 'lower'"):
            self.embedding.match(["a"], Matching(["lowre"]))

    def test_sets_are_sorted(self) -> None:
        assert self.embedding.match({"jose", "NASA", "Paris"}).found == ("NASA", "Paris", "jose")

    def test_white_space_is_a_word_like_any_other(self) -> None:
        embedding = bb.Embedding(["\u00a0", ""], np.eye(2))
        assert embedding.subset(embedding.words).words == embedding.words

    def test_compares_and_hashes(self) -> None:
        found = self.embedding.match(["jose", "NASA"])
        assert found != self.embedding.match(["jose"])
        assert hash(found) is not None

    def test_lone_string(self) -> None:
        with pytest.raises(SpecError, match="expected a list of words"):
            self.embedding.match("Paris")


# Ranks


def test_ranks_are_places_in_the_vocabulary(tiny: bb.Embedding) -> None:
    assert tiny.ranks.tolist() == [1, 2, 3, 4, 5]
    assert not tiny.is_part
    part = tiny.subset(["clock", "she"])
    assert part.ranks.tolist() == [5, 2]
    assert part.is_part
    assert part.subset(["she"]).ranks.tolist() == [2]
    assert part.with_vectors(np.ones((2, 3))).ranks.tolist() == [5, 2]
    for same in (copy.deepcopy(part), pickle.loads(pickle.dumps(part))):
        assert same.ranks.tolist() == [5, 2]
        with pytest.raises(ValueError, match="read-only"):
            same.ranks[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        tiny.ranks[0] = 1


def test_ranks_count_duplicates() -> None:
    with pytest.warns(BayesBiasWarning, match="duplicate"):
        embedding = bb.Embedding(["a", "b", "b", "c"], np.ones((4, 2)))
    assert embedding.ranks.tolist() == [1, 2, 4]
    with pytest.warns(BayesBiasWarning, match="duplicate"):
        embedding = bb.Embedding(["a", "b", "b", "c"], np.ones((4, 2)), ranks=[9, 8, 7, 6])
    assert embedding.ranks.tolist() == [9, 8, 6]


@pytest.mark.parametrize("ranks", [[1], [[1, 2]], [1.0, 2.0], [-1, 2], ["a", "b"]])
def test_bad_ranks(ranks: list[object]) -> None:
    with pytest.raises(DataError, match="'ranks' must be 2 whole numbers, one for each word"):
        bb.Embedding(["a", "b"], np.ones((2, 2)), ranks=ranks)  # type: ignore[arg-type]


def test_given_ranks_are_copied() -> None:
    ranks = np.array([5, 2])
    embedding = bb.Embedding(["a", "b"], np.ones((2, 2)), ranks=ranks)
    ranks[0] = 99
    assert embedding.ranks.tolist() == [5, 2]


def test_ranks_of_the_demo(demo: bb.Embedding) -> None:
    for embedding in (demo, bb.load_embedding("demo-100d")):
        assert embedding.words[:3] == ("the", ",", ".")
        assert embedding.ranks[:3].tolist() == [1, 2, 3]
        assert (np.diff(embedding.ranks) > 0).all()
        assert embedding.ranks[embedding.index["nurse"]] == 6795
