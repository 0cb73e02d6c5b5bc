"""What `check_words` says of lists, against what is known of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cityblock

import bayesbias as bb
from bayesbias.embeddings import Matching
from bayesbias.errors import DataError, NotFoundError, SpecError, VocabularyError
from bayesbias.wordlists.check import recommendations


@pytest.fixture(scope="module")
def planted() -> bb.Embedding:
    """Two thousand random words; a0 … and b0 … point in opposite ways, c0 … in a third."""
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(2030, 20))
    for i in range(3):
        vectors[10 * i : 10 * i + 10] += 4 * np.array([[1, 0], [-1, 0], [0, 1]])[i] @ np.eye(2, 20)
    named = [f"{kind}{i}" for kind in "abc" for i in range(10)]
    return bb.Embedding([*named, *(f"w{i}" for i in range(2000))], vectors, "planted")


def words(kind: str, n: int = 10) -> list[str]:
    return [f"{kind}{i}" for i in range(n)]


def warned(found: bb.wordlists.WordCheck, *parts: str) -> bool:
    return any(all(part in text for part in parts) for text in found.warnings)


class TestLists:
    def test_coverage(self, demo: bb.Embedding) -> None:
        lists = {
            "a": ["nurse", "Nurse", "xyzzy", "doctor", "doctor"],
            "b": bb.WordSet("b", ["doctor"]),
        }
        found = bb.check_words(lists, [demo], samples=10)
        table = found.lists.set_index("word_set")
        assert table.loc["a", "n_words"] == 4
        assert table.loc["a", "n_found"] == 3
        assert table.loc["a", "coverage"] == 0.75
        assert table.loc["a", "missing"] == ["xyzzy"]
        assert table.loc["a", "shared"] == ["doctor"]
        assert table.loc["a", "same_vector"] == ["Nurse"]
        assert table.loc["a", "duplicates"] == ["doctor"]
        assert table.loc["b", "embedding"] == "demo"
        assert table.loc["b", "duplicates"] == []
        assert warned(found, "'a' lacks 1 of 4 words in 'demo' ('xyzzy'): replace them")
        assert warned(found, "'a' has only 2 words in 'demo'", "add words, at least 5")
        assert warned(found, "'b' has only 1 word in 'demo'")
        assert warned(found, "'a' holds words twice ('doctor')")
        assert warned(found, "'a' holds words that fall together", "('Nurse'): remove them")
        assert warned(found, "'a' and 'b' share 1 word ('doctor')")

    def test_cohesion_and_the_word_that_fits_least(self, planted: bb.Embedding) -> None:
        lists = {"a": [*words("a"), "w7"], "w": words("w", 6)}
        found = bb.check_words(lists, planted)
        table = found.lists.set_index("word_set")
        assert table.loc["a", "fits_least"] == "w7"
        vectors = np.stack([planted[word].astype(float) for word in lists["a"]])
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = unit @ unit.T
        assert table.loc["a", "fits_least_cosine"] == pytest.approx(cosines[-1, :-1].mean())
        assert table.loc["a", "cohesion"] == pytest.approx(cosines[np.triu_indices(11, 1)].mean())
        assert table.loc["a", "cohesion_percentile"] == 100
        assert abs(table.loc["a", "cohesion_random"]) < 0.05
        assert not warned(found, "The words of 'a' are hardly closer")
        assert warned(found, "The words of 'w' are hardly closer to each other than random words")

    def test_lists_of_one_and_two_words(self, planted: bb.Embedding) -> None:
        table = bb.check_words({"one": ["a1"], "two": ["b1", "b2"]}, planted, samples=5).lists
        assert table["cohesion"].isna().tolist() == [True, False]
        assert table["fits_least"].tolist() == ["", ""]
        assert table["fits_least_cosine"].isna().all()

    def test_a_list_without_any_word(self, planted: bb.Embedding) -> None:
        lists = {"a": words("a"), "b": words("b"), "gone": ["x", "y"]}
        found = bb.check_words(lists, planted, samples=5)
        assert found.lists["n_found"].tolist() == [10, 10, 0]
        measured = found.pairs.set_index(["first", "second"])["coherence"]
        assert measured.notna().tolist() == [True, False, False]
        assert warned(found, "'gone' lacks 2 of 2 words")
        assert not warned(found, "'gone' has only")

    @pytest.mark.parametrize(
        ("name", "lists"),
        [
            ("gender", bb.load_study("gender")),
            ("weat_7", bb.load_study("weat_7")),
            ("query:weat_7", bb.load_query("weat_7")),
        ],
    )
    def test_a_study_or_query_by_name(
        self, demo: bb.Embedding, name: str, lists: bb.Study | bb.Query
    ) -> None:
        by_name = bb.check_words(name, demo, samples=5)
        pd.testing.assert_frame_equal(by_name.lists, bb.check_words(lists, demo, samples=5).lists)

    def test_a_file(self, demo: bb.Embedding, tmp_path: Path) -> None:
        file = tmp_path / "own.toml"
        file.write_text(
            '[target_sets]\na = ["he"]\nb = ["she"]\n'
            '[attribute_sets]\nc = ["math"]\nd = ["poetry"]\n',
            "utf-8",
        )
        assert len(bb.check_words(file, demo, samples=5).lists) == 4

    def test_lists_one_at_a_time_get_the_same_numbers(self, planted: bb.Embedding) -> None:
        both = bb.check_words({"w": words("w"), "a": words("a")}, planted).lists
        one = bb.check_words({"a": words("a")}, planted).lists
        pd.testing.assert_frame_equal(both.iloc[1:].reset_index(drop=True), one)


class TestFrequency:
    def test_places_of_the_vocabulary(self, demo: bb.Embedding) -> None:
        lists = {"common": ["the", "of", "and"], "rare": list(demo.words[9000:9005])}
        found = bb.check_words(lists, demo, samples=5)
        assert found.lists["median_rank"].tolist() == [4, 36945]
        assert found.pairs["frequency_ratio"].item() == pytest.approx(36945 / 4)
        assert warned(
            found,
            "The words of 'common' are 9.2e+03 times as frequent as those of 'rare' in 'demo'",
            "ByFrequency(match_frequency=True)",
        )

    @pytest.mark.parametrize("order", ["alphabetical", "random", "short"])
    def test_vocabularies_in_another_order(self, demo: bb.Embedding, order: str) -> None:
        rng = np.random.default_rng(0)
        known = {
            "alphabetical": sorted(demo.words),
            "random": rng.permutation(demo.words).tolist(),
            "short": demo.words[:500],
        }[order]
        found = bb.check_words({"a": ["he"], "b": ["she"]}, demo.subset(known), samples=5)
        assert found.lists["median_rank"].isna().all()
        assert found.pairs["frequency_ratio"].isna().all()
        assert not warned(found, "times as frequent")
        assert warned(found, "has only 500 words: cohesion and coherence") == (order == "short")

    @pytest.mark.parametrize("kind", ["table", "mapping", "corpus"])
    def test_counts(self, planted: bb.Embedding, kind: str) -> None:
        counts = {"a0": 10, "a1": 30, "a2": 20, "b0": 2, "b1": 2, "W3": 5}

        class Corpus:
            def counts(self) -> pd.DataFrame:
                return pd.DataFrame({"word": list(counts), "count": list(counts.values())})

        given = {"table": Corpus().counts(), "mapping": counts, "corpus": Corpus()}[kind]
        lists = {"a": words("a", 3), "b": words("b", 3), "c": ["c0", "w3"]}
        found = bb.check_words(
            lists,
            planted,
            frequencies=given,
            matching=Matching(("exact", "upper")),
            samples=5,
        )
        assert "median_rank" not in found.lists
        assert found.lists["median_count"].tolist() == [20, 2, 2.5]
        assert found.lists["uncounted"].tolist() == [[], ["b2"], ["c0"]]
        ratios = found.pairs.set_index(["first", "second"])["frequency_ratio"]
        assert ratios["a", "b"] == 10
        assert warned(found, "The words of 'a' are 10 times as frequent as those of 'b'")
        assert not warned(found, "'frequencies' has no counts")

    def test_words_that_are_not_counted(self, planted: bb.Embedding) -> None:
        lists = {"a": words("a", 5), "b": words("b", 5)}
        counts = dict.fromkeys(words("a"), 3) | {"b0": 1}
        found = bb.check_words(lists, planted, frequencies=counts, samples=5)
        assert found.lists["median_count"].tolist() == [3, 0]
        assert found.pairs["frequency_ratio"].isna().all()
        assert warned(found, "'frequencies' has no counts of 4 of the 5 words of 'b' ('b1'")

    def test_rows_of_one_word_are_added_up(self, planted: bb.Embedding) -> None:
        table = pd.DataFrame({"word": ["a0", "a0"], "count": [1, 2]})
        found = bb.check_words({"a": ["a0"]}, planted, frequencies=table, samples=5)
        assert found.lists["median_count"].item() == 3


class TestTags:
    tags = pd.DataFrame(
        {
            "word": ["a0", "a0", "a1", "a1", "b0", "B1", "b1"],
            "tag": ["NOUN", "VERB", "NOUN", "ADJ", "VERB", "ADJ", "VERB"],
            "count": [3, 1, 2, 0, 7, 1, 1],
        }
    )

    def test_mix_and_distance(self, planted: bb.Embedding) -> None:
        lists = {"a": ["a0", "a1", "a2"], "b": ["b0", "b1"]}
        found = bb.check_words(lists, planted, tags=self.tags, samples=5)
        shares = found.tags.set_index(["word_set", "tag"])["share"]
        assert shares["a"].to_dict() == {"NOUN": 0.875, "VERB": 0.125}
        assert shares["b"].to_dict() == {"VERB": 1.0}
        assert found.lists["tags"].tolist() == ["NOUN 0.88, VERB 0.12", "VERB 1.00"]
        assert found.lists["untagged"].tolist() == [["a2"], []]
        wanted = cityblock([0.875, 0.125], [0, 1]) / 2
        assert found.pairs["tag_distance"].item() == pytest.approx(wanted)
        assert warned(
            found,
            "'a' and 'b' are of different parts of speech (distance 0.88: NOUN 0.88, VERB 0.12 "
            "against VERB 1.00)",
        )

    def test_words_without_tags(self, planted: bb.Embedding) -> None:
        lists = {"a": words("a"), "c": words("c")}
        found = bb.check_words(lists, planted, tags=self.tags, samples=5)
        assert found.pairs["tag_distance"].isna().all()
        assert warned(found, "'tags' has no parts of speech of 8 of the 10 words of 'a'")

    def test_absent_where_not_given(self, planted: bb.Embedding) -> None:
        found = bb.check_words({"a": ["a0"], "b": ["b0"]}, planted, samples=5)
        assert found.tags.empty
        assert not {"tags", "untagged", "uncounted", "median_count"} & set(found.lists)
        assert "tag_distance" not in found.pairs


class TestPairs:
    def test_surnames_of_garg(self, demo: bb.Embedding) -> None:
        # The two lists share 19 of their 20 names.
        garg = bb.word_sets("garg")
        lists = {name: garg[name] for name in ("names_white", "names_black")}
        found = bb.check_words(lists, demo, samples=20)
        assert len(found.pairs["shared"].item()) == 19
        assert warned(found, "'names_white' and 'names_black' share 19 words ('harris'")
        assert warned(found, "point the same way in 'demo' (similarity 1.00)")
        assert found.pairs["coherence"].item() < 0.1

    def test_words_of_two_sides_that_share_a_vector_are_shared(self, demo: bb.Embedding) -> None:
        """A name and a pleasant word, once lower-cased."""
        query = bb.Query([["Joy", "Ann"], ["Tom", "Sam"]], [["joy", "peace"], ["hatred", "war"]])
        found = bb.check_words(query, demo, samples=20)
        assert found.lists["shared"].tolist() == [["Joy"], [], ["joy"], []]
        both = "'target: Target set 0' and 'attribute: Attribute set 0' share 1 word ('Joy')"
        assert warned(found, both, "to itself")

    def test_words_that_share_a_vector_are_shared(self, demo: bb.Embedding) -> None:
        found = bb.check_words({"a": ["Nurse", "he"], "b": ["nurse"]}, demo, samples=5)
        assert found.pairs["shared"].item() == ["Nurse"]

    def test_sides_of_a_query(self, planted: bb.Embedding) -> None:
        query = bb.Query(
            [words("a"), words("b"), words("c")], [["w1", "a1"], ["w2"]], "ABC", ["J", "K"]
        )
        found = bb.check_words(query, planted, samples=5)
        assert list(zip(found.pairs["first"], found.pairs["second"], strict=True)) == [
            ("target: A", "target: B"),
            ("target: A", "target: C"),
            ("target: B", "target: C"),
            ("attribute: J", "attribute: K"),
        ]
        assert found.pairs["side"].tolist() == ["target"] * 3 + ["attribute"]
        assert warned(found, "'target: A' and 'attribute: J' share 1 word ('a1')", "to itself")

    def test_sides_of_a_study(self, demo: bb.Embedding) -> None:
        found = bb.check_words(bb.load_study("religion"), demo, samples=50)
        assert found.pairs["side"].value_counts().to_dict() == {"group": 3, "stereotype": 3}
        # Neutral words are meant to have nothing in common.
        assert not warned(found, "control: neutral")
        assert warned(found, "'stereotype: christian' has only 3 words in 'demo'")

    def test_lists_that_differ_and_lists_that_do_not(self, planted: bb.Embedding) -> None:
        lists = {
            "a": words("a"),
            "b": words("b"),
            "v": words("w"),
            "w": [f"w{i}" for i in range(10, 20)],
        }
        found = bb.check_words(lists, planted)
        pairs = found.pairs.set_index(["first", "second"])
        assert pairs.loc[("a", "b"), "coherence_percentile"] == 100
        assert pairs.loc[("a", "b"), "coherence"] > 0.9
        assert pairs.loc[("a", "b"), "similarity"] < -0.8
        assert pairs.loc[("v", "w"), "coherence_percentile"] < recommendations.PERCENTILE
        assert warned(
            found, "direction between 'v' and 'w' hardly separates them", "randomly reassigned"
        )
        assert not warned(found, "direction between 'a' and 'b' hardly separates")

    def test_pairs_of_words(self, rng: np.random.Generator) -> None:
        middle, way = rng.normal(size=(8, 20)), rng.normal(size=20)
        known = [f"{kind}{i}" for kind in "mf" for i in range(8)]
        vectors = np.vstack([middle + way, middle - way, rng.normal(size=(1200, 20))])
        made = bb.Embedding([*known, *(f"w{i}" for i in range(1200))], vectors, "made")
        men, women = words("m", 8), words("f", 8)
        found = bb.check_words({"m": men, "f": women}, made)
        assert found.pairs["n_pairs"].item() == 8
        assert found.pairs["pca_percentile"].item() > 99
        assert found.pairs["pca"].item() > found.pairs["pca_shuffled"].item()
        assert not warned(found, "meant as pairs")
        found = bb.check_words({"m": men, "f": [*women[3:], *women[:3]]}, made)
        assert warned(
            found, "If 'm' and 'f' are meant as pairs: shuffled pairs explain about as much"
        )
        # Lists of other lengths are no pairs; a pair of which one word is missing is left out.
        found = bb.check_words({"m": men, "f": women[:7], "g": [*women[:7], "gone"]}, made)
        pairs = found.pairs.set_index(["first", "second"])
        assert pairs["n_pairs"].tolist() == [0, 7, 0]
        assert pairs["pca"].isna().tolist() == [True, False, True]

    def test_lists_of_a_query_are_not_meant_as_pairs(self, planted: bb.Embedding) -> None:
        first, second = words("w"), [f"w{i}" for i in range(10, 20)]
        plain = bb.check_words({"v": first, "w": second}, planted)
        query = bb.check_words(bb.Query([first, second], [], "vw"), planted)
        assert plain.pairs["pca_percentile"].item() < recommendations.PERCENTILE
        assert plain.pairs["pca"].item() == query.pairs["pca"].item()
        assert warned(plain, "If 'v' and 'w' are meant as pairs")
        assert not warned(query, "meant as pairs")

    def test_few_words_cannot_stand_out(self, planted: bb.Embedding) -> None:
        # Two lists of two words can be dealt out in three ways only.
        found = bb.check_words({"a": words("a", 2), "b": words("b", 2)}, planted)
        assert found.pairs["coherence_percentile"].item() < recommendations.PERCENTILE
        assert not warned(found, "randomly reassigned")


def test_healthy_lists_get_no_warning(demo: bb.Embedding) -> None:
    for name in ("weat_6", "weat_7", "weat_8"):
        found = bb.check_words(bb.load_query(name), [demo, bb.load_embedding("demo-100d")])
        assert found.warnings == (), name
        assert found.summary() == "Nothing speaks against these lists."


def test_coverage_is_warned_of_beyond_a_share(demo: bb.Embedding) -> None:
    # One word of 242 may be missing.
    found = bb.check_words({"n": bb.word_sets("controls")["neutral"]}, demo, samples=5)
    assert found.lists["missing"].item() == ["younglings"]
    assert not warned(found, "lacks")


class TestStability:
    def test_spread_over_embeddings(self, demo: bb.Embedding) -> None:
        noisy = [
            demo.with_vectors(
                demo.vectors + np.random.default_rng(i).normal(0, 0.1, demo.vectors.shape),
                f"noisy {i}",
            )
            for i in range(3)
        ]
        query = bb.load_query("weat_7")
        found = bb.check_words(query, noisy, samples=5)
        table = found.stability.set_index(["first", "second", "measure"])
        assert len(table) == 4 + 2 * 3
        for measure in ("coherence", "similarity", "pca"):
            values = found.pairs.loc[found.pairs["first"] == "target: Math", measure].to_numpy()
            row = table.loc[("target: Math", "target: Arts", measure)]
            assert row["n_embeddings"] == 3
            assert row["mean"] == pytest.approx(values.mean())
            assert row["sd"] == pytest.approx(values.std(ddof=1))
            assert (row["min"], row["max"]) == (values.min(), values.max())
        cohesion = found.lists.loc[found.lists["word_set"] == "target: Arts", "cohesion"]
        row = table.loc[("target: Arts", "", "cohesion")]
        assert row["sd"] == pytest.approx(cohesion.std())
        assert found.lists["embedding"].tolist() == [e.name for e in noisy] * 4

    def test_one_embedding_has_none(self, demo: bb.Embedding) -> None:
        assert bb.check_words({"a": ["he", "she"]}, demo, samples=5).stability.empty

    def test_the_same_in_several_embeddings_is_told_once(self, demo: bb.Embedding) -> None:
        several = [demo, bb.load_embedding("demo-100d"), demo.subset(["he", "it"], "small")]
        found = bb.check_words({"a": ["he", "she", "xyzzy"]}, several, samples=5)
        lacking = [text for text in found.warnings if "lacks" in text]
        assert lacking == [
            "'a' lacks 2 of 3 words in 'small' and 2 other embeddings ('she', 'xyzzy'): replace "
            "them, or use an embedding that has them."
        ]


class TestInvariance:
    def test_same_seed_same_result(self, demo: bb.Embedding) -> None:
        query = bb.load_query("weat_6")
        first, again, other = (
            bb.check_words(query, demo, samples=50, seed=seed) for seed in (1, 1, 2)
        )
        pd.testing.assert_frame_equal(first.lists, again.lists)
        pd.testing.assert_frame_equal(first.pairs, again.pairs)
        assert not first.pairs["pca_shuffled"].equals(other.pairs["pca_shuffled"])
        assert first.pairs["coherence"].equals(other.pairs["coherence"])

    def test_scale_does_not_matter(self, demo: bb.Embedding) -> None:
        query = bb.load_query("weat_6")
        longer = demo.with_vectors(demo.vectors * 3)
        first, second = (bb.check_words(query, e, samples=20) for e in (demo, longer))
        pd.testing.assert_frame_equal(first.lists, second.lists, rtol=1e-4)
        pd.testing.assert_frame_equal(first.pairs, second.pairs, rtol=1e-3)

    def test_order_of_lists_does_not_matter(self, planted: bb.Embedding) -> None:
        a, b = words("a", 7), words("w", 7)
        one = bb.check_words({"a": a, "b": b}, planted, samples=5).pairs.iloc[0]
        other = bb.check_words({"b": b, "a": a}, planted, samples=5).pairs.iloc[0]
        for measure in ("coherence", "similarity", "pca"):
            assert one[measure] == pytest.approx(other[measure])


def test_how_it_looks(demo: bb.Embedding) -> None:
    found = bb.check_words({"<b>": ["he", "xyzzy"]}, demo, samples=5)
    assert repr(found) == "<WordCheck: 1 list, 0 pairs, 1 embedding, 2 warnings>"
    assert found.summary().splitlines() == list(found.warnings)
    page = found._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert page.count("<table") == 1
    with pytest.raises(AttributeError):
        found.warnings = ()  # type: ignore[misc]


class TestErrors:
    @pytest.mark.parametrize(
        ("lists", "options", "error", "message"),
        [
            ({"a": []}, {}, SpecError, "'a' is empty"),
            ({}, {}, SpecError, "'lists' is empty; give at least one list"),
            ("gendre", {}, NotFoundError, "no study or query 'gendre'.*Did you mean 'gender'"),
            (
                bb.WordSet("a", ["he"]),
                {},
                SpecError,
                "'lists' is a WordSet; expected a Study",
            ),
            ({"a": "he"}, {}, SpecError, "'a' is the string 'he'; expected a list"),
            ({"a": ["he", 3]}, {}, SpecError, "'a' holds 3, which is not a string"),
            ({"a": ["he"]}, {"samples": 0}, SpecError, "'samples' is 0; expected"),
            ({"a": ["he"]}, {"seed": -1}, SpecError, "'seed' is -1; expected"),
            ({"a": ["he"]}, {"matching": ["lower"]}, SpecError, "expected a Matching"),
            (
                {"a": ["xyzzy"], "b": ["plugh"]},
                {},
                VocabularyError,
                r"embedding 'demo' has none of the words of the lists \('xyzzy', 'plugh'\)",
            ),
        ],
    )
    def test_arguments(
        self,
        demo: bb.Embedding,
        lists: dict[str, list[str]],
        options: dict[str, object],
        error: type[Exception],
        message: str,
    ) -> None:
        with pytest.raises(error, match=message):
            bb.check_words(lists, demo, **options)  # type: ignore[arg-type]

    def test_embeddings(self) -> None:
        with pytest.raises(SpecError, match="'embeddings' is an int"):
            bb.check_words({"a": ["he"]}, 3)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("frequencies", "error", "message"),
        [
            (
                pd.DataFrame({"word": ["he"]}),
                DataError,
                "'frequencies' has no column 'count'",
            ),
            (
                pd.DataFrame({"w": ["he"], "count": [1]}),
                DataError,
                "no column 'word'; expected 'word', 'count', got 'w', 'count'",
            ),
            (
                {"he": -1},
                DataError,
                "'frequencies' counts 'he' -1 times; expected 0 or more",
            ),
            ({"he": np.nan}, DataError, "counts 'he' nan times"),
            ({"he": "often"}, DataError, "the counts of 'frequencies' are not numbers"),
            ({}, DataError, "'frequencies' holds no words"),
            ({3: 4}, DataError, "holds the word 3, which is not a string"),
            ("counts.csv", SpecError, "'frequencies' is a str; expected a table"),
        ],
    )
    def test_frequencies(
        self, demo: bb.Embedding, frequencies: object, error: type[Exception], message: str
    ) -> None:
        with pytest.raises(error, match=message):
            bb.check_words({"a": ["he"]}, demo, frequencies=frequencies)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("tags", "error", "message"),
        [
            (
                pd.DataFrame({"word": ["he"], "count": [1]}),
                DataError,
                "'tags' has no column",
            ),
            (
                {"he": "PRON"},
                SpecError,
                r"'tags' is a dict; expected .*tag_words\(corpus\)",
            ),
            (
                pd.DataFrame({"word": ["he"], "tag": ["PRON"], "count": [np.inf]}),
                DataError,
                "'tags' counts 'he' inf times",
            ),
        ],
    )
    def test_tags(
        self, demo: bb.Embedding, tags: object, error: type[Exception], message: str
    ) -> None:
        with pytest.raises(error, match=message):
            bb.check_words({"a": ["he"]}, demo, tags=tags)  # type: ignore[arg-type]

    def test_vectors_without_a_direction(self) -> None:
        vectors = np.ones((5, 3), dtype=np.float32)
        vectors[1] = 0
        zero = bb.Embedding(list("abcde"), vectors, "zero")
        with pytest.raises(DataError, match="'zero': the vector of 'b' is zero"):
            bb.check_words({"x": ["a", "b"]}, zero)


def test_a_generator_is_a_seed(demo: bb.Embedding) -> None:
    query = bb.load_query("weat_7")
    first, again, other = (
        bb.check_words(query, demo, samples=5, seed=np.random.default_rng(seed)).lists
        for seed in (1, 1, 2)
    )
    pd.testing.assert_frame_equal(first, again)
    assert not first["cohesion_random"].equals(other["cohesion_random"])
