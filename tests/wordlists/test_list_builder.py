"""Word lists built from data: which words get in, which do not, and what is told of it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.stats import chisquare
from sklearn.cluster import KMeans

import bayesbias as bb
from bayesbias.errors import (
    BayesBiasWarning,
    DataError,
    NotFittedError,
    NotFoundError,
    SpecError,
    VocabularyError,
)
from bayesbias.wordlists import ByCluster, ByFrequency, ByPartOfSpeech
from bayesbias.wordlists.build.balanced_choice import matched, shares, take
from bayesbias.wordlists.build.clusters import cluster
from bayesbias.wordlists.build.parts_of_speech import PARTS_OF_SPEECH, majority_tags
from bayesbias.wordlists.build.review_sheets import contexts, read_sheet, write_sheet
from bayesbias.wordlists.build.vocabulary_frequency import counts_of, ranks
from bayesbias.wordlists.build.word_filters import as_stop_words, is_word

CAREER = bb.word_sets("weat")["career"]
FAMILY = bb.word_sets("weat")["family"]
PAIRED = ByFrequency(match_frequency=True)


def spelt(number: int) -> str:
    """A word for a number, without digits, that is no stop word."""
    return "zy" + "".join("bcdfghklmp"[int(digit)] for digit in f"{number:04d}")


# Tags of another scheme for all words of the world.
TAGS = pd.DataFrame({"word": [spelt(i) for i in range(3000)], "tag": "NN", "count": 1})
EVERY = dict.fromkeys(TAGS["word"], 1.0)


@pytest.fixture(scope="module")
def world() -> bb.Embedding:
    """3000 words on a circle and in noise: a third each at 0, 120 and 240 degrees."""
    rng = np.random.default_rng(1)
    angle = np.arange(3000) % 3 * 2 * np.pi / 3 + rng.normal(size=3000) * 0.4
    vectors = rng.normal(size=(3000, 6)) * 0.1
    vectors[:, 0], vectors[:, 1] = np.cos(angle), np.sin(angle)
    return bb.Embedding([spelt(i) for i in range(3000)], vectors, "world")


@pytest.fixture(scope="module")
def groups(world: bb.Embedding) -> bb.wordlists.GroupClassifier:
    labelled = {
        name: [spelt(i) for i in range(2400 + code, 3000, 3)]
        for code, name in enumerate(("red", "green", "neutral"))
    }
    lemmas = {word: word for word in world.words}
    return bb.wordlists.GroupClassifier().fit(world, labelled, lemmas=lemmas)


@pytest.fixture(scope="module")
def counts(world: bb.Embedding) -> dict[str, float]:
    """Counts by Zipf's law in an order other than the vocabulary's; green words are rarer."""
    rng = np.random.default_rng(2)
    rank = rng.permutation(3000) + 1.0
    rank[1::3] *= 2
    return {word: float(np.ceil(1e6 / r)) for word, r in zip(world.words, rank, strict=True)}


# --- sharing out -----------------------------------------------------------------------------


@given(st.integers(0, 200), st.lists(st.integers(0, 60), min_size=1, max_size=7))
def test_shares(size: int, available: list[int]) -> None:
    given_out = shares(size, available)
    assert sum(given_out) == min(size, sum(available))
    assert all(0 <= n <= there for n, there in zip(given_out, available, strict=True))
    # Whoever has words left gets as much as anyone else, but for what does not divide evenly.
    able = [n for n, there in zip(given_out, available, strict=True) if n < there]
    if able:
        assert max(given_out) - min(able) <= 1
    # The closed form of sharing out: everyone gets the smaller of a level and what there is.
    level = min(able, default=max(given_out))
    assert all(
        n - min(level, there) in (0, 1) for n, there in zip(given_out, available, strict=True)
    )


def test_a_closed_class_is_made_up_for() -> None:
    assert shares(50, [100] * 5) == [10] * 5
    assert shares(50, [100, 100, 100, 2, 100]) == [12, 12, 12, 2, 12]
    assert shares(52, [100, 100, 100, 2, 100]) == [13, 13, 12, 2, 12]
    assert shares(50, [1, 0, 3, 2, 100]) == [1, 0, 3, 2, 44]
    assert shares(50, [1, 0, 3, 2, 10]) == [1, 0, 3, 2, 10]


# --- pairs of like frequency -------------------------------------------------------------------


def pools(first: list[float], second: list[float]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "group": ["a"] * len(first) + ["b"] * len(second),
            "log_frequency": [*sorted(first, reverse=True), *sorted(second, reverse=True)],
        }
    )


@given(
    st.lists(st.floats(0, 10), max_size=25),
    st.lists(st.floats(0, 10), max_size=25),
    st.sampled_from([0.05, 0.2, 1.0]),
)
def test_pairs_are_within_the_caliper(a: list[float], b: list[float], caliper: float) -> None:
    frame = pools(a, b)
    pairs = matched(frame, ["a", "b"], caliper)
    assert len(set(pairs.ravel().tolist())) == pairs.size
    values = frame["log_frequency"].to_numpy()[pairs]
    assert (np.abs(values[:, 0] - values[:, 1]) <= caliper).all()
    assert (frame["group"].to_numpy()[pairs] == ["a", "b"]).all()
    # Neither group is more frequent on the whole.
    assert abs((values[:, 0] - values[:, 1]).sum()) <= 5 * caliper + 1e-9


def test_pairs_are_nearly_as_many_as_can_be() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = rng.exponential(size=60), rng.exponential(size=90)
        cost = np.abs(np.subtract.outer(np.sort(a)[::-1], np.sort(b)[::-1])) > 0.2
        most = 60 - int(cost[linear_sum_assignment(cost)].sum())
        found = len(matched(pools(list(a), list(b)), ["a", "b"], 0.2))
        assert 0.9 * most <= found <= most


def test_three_groups_are_matched() -> None:
    frame = pd.DataFrame(
        {"group": list("aabbcc"), "log_frequency": [5.0, 2.0, 4.9, 2.1, 9.0, 5.1]}, index=range(6)
    )
    assert matched(frame, ["a", "b", "c"], 0.2).tolist() == [[0, 2, 5]]
    chosen = take(frame, ["a", "b", "c"], 5, "", (), 0.2)
    assert chosen["pair"].tolist() == [1, 1, 1]


# --- words, stop words, frequencies, tags --------------------------------------------------------


@pytest.mark.parametrize(
    "word", ["he", "Mary", "twin_brother", "self-made", "o'neil", "señor", "女人"]
)
def test_words(word: str) -> None:
    assert is_word(word)


@pytest.mark.parametrize(
    "word", ["a", "1984", "'s", "n't", "--", "mp3", "gamma_", "_x", "u.s.", ""]
)
def test_non_words(word: str) -> None:
    assert not is_word(word)


def test_stop_words() -> None:
    english = as_stop_words("english")
    assert {"the", "of", "she", "him"} <= english
    assert not {"bill", "fire", "computer", "system"} & english
    assert as_stop_words(None) == frozenset()
    assert as_stop_words(["The"]) == {"the"}
    with pytest.raises(SpecError, match="'stop_words' is 'german'; expected 'english', a list"):
        as_stop_words("german")


def test_ranks() -> None:
    emb = bb.Embedding(["pear", "Apple", "fig", "nut"], np.eye(4))
    assert ranks(emb, None).tolist() == [1, 2, 3, 4]
    counts = counts_of(emb, {"pear": 5, "apple": 5, "fig": 9, "nut": 0})
    np.testing.assert_array_equal(counts, [5, 5, 9, np.nan])
    # Equally frequent words by the alphabet.
    np.testing.assert_array_equal(ranks(emb, counts), [3, 2, 1, np.nan])


def test_majority_tags() -> None:
    rows = [("light", "NOUN", 3), ("light", "VERB", 2), ("light", "NOUN", 1), ("well", "NOUN", 1)]
    rows += [("well", "ADV", 1), ("gone", "VERB", 0)]
    tags = majority_tags(pd.DataFrame(rows, columns=["word", "tag", "count"]))
    assert tags == {"light": "NOUN", "well": "ADV"}  # a tie goes by the alphabet


# --- clusters ------------------------------------------------------------------------------------


def test_free_centroids_are_those_of_scikit_learn(demo: bb.Embedding) -> None:
    attributes = np.array([demo.index[word] for word in (*CAREER, *FAMILY)])
    rows = np.setdiff1d(np.arange(100, 3000), attributes)
    found = cluster(demo, rows, attributes, "free")
    unit = demo.vectors.astype(float) / np.linalg.norm(demo.vectors, axis=1, keepdims=True)
    start = unit[attributes]
    model = KMeans(len(attributes), init=start, n_init=1, max_iter=300, tol=0).fit(unit[rows])
    assert (found.labels == model.labels_).mean() > 0.999
    centres = model.cluster_centers_
    directions = centres / np.linalg.norm(centres, axis=1, keepdims=True)
    np.testing.assert_allclose(found.drift, (start * directions).sum(axis=1), atol=0.01)
    cosines = (unit[rows] * directions[model.labels_]).sum(axis=1)
    same = found.labels == model.labels_
    np.testing.assert_allclose(found.similarity[same], cosines[same], atol=0.01)


def test_fixed_centroids_are_nearest_neighbours(demo: bb.Embedding) -> None:
    attributes = np.array([demo.index[word] for word in FAMILY])
    rows = np.arange(500, 2500)[::-1].copy()
    found = cluster(demo, rows, attributes, "fixed")
    cosines = demo.to_gensim().cosine_similarities
    for i in range(0, len(rows), 97):
        expected = cosines(demo.vectors[rows[i]], demo.vectors[attributes])
        assert found.labels[i] == expected.argmax()
        assert found.similarity[i] == pytest.approx(expected.max(), abs=1e-5)
    np.testing.assert_allclose(found.drift, 1, atol=1e-6)


def test_spherical_centroids_are_a_fixed_point(demo: bb.Embedding) -> None:
    attributes = np.array([demo.index[word] for word in FAMILY])
    rows = np.arange(500, 2500)
    found = cluster(demo, rows, attributes, "spherical")
    unit = demo.vectors[rows] / np.linalg.norm(demo.vectors[rows], axis=1, keepdims=True)
    centres = np.stack([unit[found.labels == k].sum(axis=0) for k in range(len(attributes))])
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    np.testing.assert_array_equal((unit @ centres.T).argmax(axis=1), found.labels)
    # The mean cosine to the centroid is better than that of fixed ones.
    assert found.similarity.mean() > cluster(demo, rows, attributes, "fixed").similarity.mean()


# --- lists ---------------------------------------------------------------------------------------


def test_frequency_first(
    world: bb.Embedding, groups: bb.wordlists.GroupClassifier, counts: dict[str, float]
) -> None:
    built = bb.build_lists(world, groups, size=150, frequencies=counts, threshold=0.6)
    assert groups.macro_f1_ > 0.97
    table = groups.predict().set_index("word")
    label = dict(zip(groups.labelled_["word"], groups.labelled_["group"], strict=True))
    for name in ("red", "green"):
        best = table[list(groups.classes_)].idxmax(axis=1) == name
        sure = set(table.index[best & (table[name] >= 0.6)])
        members = [
            word
            for word in world.words
            if label.get(word) == name or (word not in label and word in sure)
        ]
        expected = sorted(members, key=lambda word: (-counts[word], word))[:150]
        assert list(built.word_sets[name]) == expected
    # Nearly all are in the group they were made for.
    right = [world.index[word] % 3 == 0 for word in built.word_sets["red"]]
    assert np.mean(right) > 0.97
    assert built.words["count"].tolist() == [counts[word] for word in built.words["word"]]
    in_order = sorted(world.words, key=lambda word: (-counts[word], word))
    assert all(
        in_order[r - 1] == w for r, w in zip(built.words["rank"], built.words["word"], strict=True)
    )
    assert set(built.words["how"]) == {"labelled", "classified"}
    assert "neutral" not in built.word_sets
    assert any(
        "The words of 'red' are" in note and "times as frequent" in note for note in built.notes
    )


def test_every_word_is_in_a_list_or_left_out_once(
    world: bb.Embedding, groups: bb.wordlists.GroupClassifier, counts: dict[str, float]
) -> None:
    some = {word: count for word, count in counts.items() if world.index[word] % 7}
    built = bb.build_lists(
        world,
        groups,
        size=50,
        frequencies=some,
        stop_words=world.words[:30],
        attributes=world.words[30:50],
        include_labelled=False,
    )
    both = [*built.words["word"], *built.left_out["word"]]
    assert sorted(both) == sorted(world.words)
    why = built.left_out.set_index("word")["why"]
    assert why[world.words[5]] == "stop word"
    assert why[world.words[35]] == "attribute"
    assert why[world.words[2500]] == "labelled"
    assert why[world.words[70]] == "no frequency"
    reasons = set(why)
    assert {"unsure", "in the group 'neutral'", "less frequent"} <= reasons
    assert (built.words["how"] == "classified").all()
    text = built.summary()
    assert f"{len(why):,} words left out: " in text
    assert f"stop word {(why == 'stop word').sum()}" in text
    neutral = built.left_out[built.left_out["why"] == "in the group 'neutral'"]
    assert (neutral["group"] == "neutral").all()
    assert (neutral["probability"] >= groups.threshold).all()


def test_matched_frequencies(
    world: bb.Embedding, groups: bb.wordlists.GroupClassifier, counts: dict[str, float]
) -> None:
    def ratio(built: bb.wordlists.BuiltLists, kind: str) -> float:
        values = np.log(built.words["count"]) if kind == "geometric" else built.words["count"]
        means = values.groupby(built.words["group"]).mean()
        difference = means["red"] - means["green"]
        return float(np.exp(difference) if kind == "geometric" else means["red"] / means["green"])

    arguments = {"size": 300, "frequencies": counts}
    plain = bb.build_lists(world, groups, **arguments)
    paired = bb.build_lists(world, groups, method=PAIRED, **arguments)
    assert ratio(plain, "geometric") > 1.5
    assert ratio(paired, "geometric") == pytest.approx(1, abs=0.02)
    assert ratio(paired, "arithmetic") == pytest.approx(1, abs=0.1)
    assert not any("times as frequent" in note for note in paired.notes)
    pairs = paired.words.pivot_table("count", "pair", "group")
    assert len(pairs) == 300
    assert (np.abs(np.log(pairs["red"] / pairs["green"])) <= 0.2).all()


def test_ranks_stand_for_frequencies(
    world: bb.Embedding, groups: bb.wordlists.GroupClassifier
) -> None:
    built = bb.build_lists(world, groups, size=100)
    for _, rows in built.words.groupby("group"):
        places = [world.index[word] for word in rows["word"]]
        assert places == sorted(places)
        assert rows["rank"].tolist() == [place + 1 for place in places]
    assert "count" not in built.words
    assert built.notes[0].startswith("Without frequencies, the order of the vocabulary stands")
    assert "do not look frequent" in built.notes[0]  # made-up words are all as long
    paired = bb.build_lists(world, groups, size=100, method=PAIRED)
    logs = np.log(paired.words.pivot_table("rank", "pair", "group"))
    assert (np.abs(logs["red"] - logs["green"]) <= 0.2 + 1e-9).all()


def test_parts_of_speech(
    world: bb.Embedding, groups: bb.wordlists.GroupClassifier, counts: dict[str, float]
) -> None:
    # Six tags by turns, of which one is unwanted; pronouns are few, and none of them green.
    kinds = [*PARTS_OF_SPEECH, "ADV"]
    tag = {word: kinds[i // 3 % 6] for i, word in enumerate(world.words) if i % 11}
    pronouns = [word for word, t in tag.items() if t == "PRON"]
    for word in pronouns:
        if world.index[word] % 3 == 1 or world.index[word] > 60:
            tag[word] = "ADV"
    rows = [(word, t, 5) for word, t in tag.items()] + [(word, "X", 4) for word in tag]
    tags = pd.DataFrame(rows, columns=["word", "tag", "count"])
    method = ByPartOfSpeech(tags)
    built = bb.build_lists(world, groups, method=method, size=80, frequencies=counts)
    mix = built.words.groupby(["group", "tag"]).size()
    few = mix["red"].get("PRON", 0)
    assert 0 < few < 16
    fair = shares(80, [99, 99, 99, int(few), 99])
    assert mix["red"].to_dict() == dict(zip(PARTS_OF_SPEECH, fair, strict=True))
    assert mix["green"].to_dict() == {"ADJ": 20, "NOUN": 20, "PROPN": 20, "VERB": 20}
    assert built.words["tag"].tolist() == [tag[word] for word in built.words["word"]]
    for _, same in built.words.groupby(["group", "tag"]):
        assert same["rank"].is_monotonic_increasing
    why = built.left_out.set_index("word")["why"]
    assert why[world.words[0]] == "no part of speech"
    assert (why == "other part of speech").sum() > 300
    assert any(
        "Not all parts of speech have enough words for 'green': ADJ 20" in n for n in built.notes
    )
    # Without other frequencies the counts of the tags are taken.
    own = bb.build_lists(world, groups, method=method, size=20)
    assert (own.words["count"] == 9).all()


@pytest.fixture(scope="module")
def gender(demo: bb.Embedding) -> bb.wordlists.GroupClassifier:
    return bb.wordlists.GroupClassifier().fit(demo, "gender")


def test_pairs_of_one_part_of_speech(
    world: bb.Embedding, groups: bb.wordlists.GroupClassifier, counts: dict[str, float]
) -> None:
    tag = {word: PARTS_OF_SPEECH[i // 3 % 5] for i, word in enumerate(world.words)}
    tags = pd.DataFrame({"word": list(tag), "tag": list(tag.values()), "count": 1})
    method = ByPartOfSpeech(tags, match_frequency=True)
    built = bb.build_lists(world, groups, method=method, size=50, frequencies=counts)
    assert built.words.groupby("tag").size().to_dict() == dict.fromkeys(sorted(PARTS_OF_SPEECH), 20)
    pairs = built.words.pivot_table("tag", "pair", "group", aggfunc="first")
    assert (pairs["red"] == pairs["green"]).all()


@pytest.mark.slow
@pytest.mark.parametrize("unit", [True, False])
def test_words_without_a_direction_are_left_out(
    world: bb.Embedding, unit: bool, tmp_path: Path
) -> None:
    vectors = np.lib.format.open_memmap(tmp_path / "v.npy", "w+", np.float32, (3000, 6))
    vectors[:] = world.vectors
    vectors[5], vectors[7] = 0, 0
    emb = bb.Embedding(world.words, vectors, "holes")
    labelled = {"red": world.words[2400::3], "green": world.words[2401::3]}
    lemmas = {word: word for word in world.words}
    groups = bb.wordlists.GroupClassifier(unit=unit).fit(emb, labelled, lemmas=lemmas)
    with pytest.warns(BayesBiasWarning, match="circular"):
        built = bb.build_lists(
            emb, groups, method=ByCluster("free"), size=9, attributes=world.words[:3]
        )
    why = built.left_out.set_index("word")["why"]
    assert why[world.words[5]] == why[world.words[7]] == "no direction"
    assert (why == "no direction").sum() == 2
    assert np.isfinite(built.words["similarity"]).all()


def test_clusters(demo: bb.Embedding, gender: bb.wordlists.GroupClassifier) -> None:
    with pytest.warns(BayesBiasWarning, match="a test of these lists with these attributes is"):
        built = bb.build_lists(
            demo, gender, method="clusters", size=64, attributes=[CAREER, FAMILY]
        )
    assert any("circular" in note for note in built.notes)
    attributes = [*CAREER, *FAMILY]
    assert not set(built.words["word"]) & set(attributes)
    per = built.words.groupby(["group", "cluster"]).size()
    assert per["female"].sum() == per["male"].sum() == 64
    assert per.max() >= 4  # 64 words over 16 attributes
    # Each word is nearest to its attribute, and no word of the cluster that is nearer is left.
    unit = demo.vectors / np.linalg.norm(demo.vectors, axis=1, keepdims=True)
    cosines = pd.DataFrame(
        unit @ unit[[demo.index[word] for word in attributes]].T, demo.words, attributes
    )
    mine = cosines.loc[built.words["word"]]
    assert mine.idxmax(axis=1).tolist() == built.words["cluster"].tolist()
    np.testing.assert_allclose(mine.max(axis=1), built.words["similarity"], atol=1e-5)
    left = built.left_out[built.left_out["why"] == "farther from the attributes"]
    nearest = cosines.loc[left["word"]]
    for (group, name), chosen in built.words.groupby(["group", "cluster"]):
        inside = (left["group"].to_numpy() == group) & (nearest.idxmax(axis=1) == name).to_numpy()
        if inside.any():
            assert nearest.loc[inside, name].max() <= chosen["similarity"].min() + 1e-6


def test_moving_centroids_are_told(
    demo: bb.Embedding, gender: bb.wordlists.GroupClassifier
) -> None:
    with pytest.warns(BayesBiasWarning, match="circular"):
        built = bb.build_lists(demo, gender, method=ByCluster("free"), size=20, attributes=FAMILY)
    assert any("The centroids have moved: that of" in note for note in built.notes)
    assert "free centroids" in built.word_sets["male"].source


@pytest.mark.slow
def test_lists_from_labelled_words_of_the_demo(demo: bb.Embedding) -> None:
    built = bb.build_lists(demo, "gender", size=60, attributes=[CAREER, FAMILY], method=PAIRED)
    # Pronouns are stop words too, but labelled ones stay.
    assert {"she", "he"} <= {
        *built.words["word"],
        *built.left_out.query("why != 'stop word'")["word"],
    }
    assert "and" in set(built.left_out.query("why == 'stop word'")["word"])
    # Effects keep their sign, but are smaller than that of the hand-picked names (thesis).
    names = bb.metrics.WEATEffectSize().run_query(bb.load_query("weat_6"), demo).value
    query = built.query()
    found = bb.metrics.WEATEffectSize().run_query(query, demo).value
    assert query.target_names == ("female", "male")
    assert 0.2 < -found < names


# --- what to do with them --------------------------------------------------------------------


@pytest.fixture(scope="module")
def built(demo: bb.Embedding, gender: bb.wordlists.GroupClassifier) -> bb.wordlists.BuiltLists:
    return bb.build_lists(demo, gender, size=12, attributes={"career": CAREER, "family": FAMILY})


def test_query_and_study(built: bb.wordlists.BuiltLists) -> None:
    assert built.query().template == (2, 2)
    assert built.query().attribute_names == ("career", "family")
    other = built.query([["science", "math"], ["poetry", "art"]], ["Science", "Arts"])
    assert other.attribute_names == ("Science", "Arts")
    word = built.word_sets["male"][0]
    with pytest.raises(SpecError, match=f"'{word}': both in the list 'male' and among .* 'Set'"):
        built.query([[word]], ["Set"])
    study = built.study(
        "roles", {"male": ["engineer"], "female": ["nurse"]}, {"neutral": ["clock"]}
    )
    assert study.groups["male"].words == built.word_sets["male"].words
    assert study.notes == built.notes
    assert "build_lists: method frequency" in study.source


def test_save(built: bb.wordlists.BuiltLists, tmp_path: Path) -> None:
    path = tmp_path / "lists.toml"
    built.save(path)
    assert bb.load_query(path) == built.query()
    text = path.read_text("utf-8")
    assert text.startswith('source = "built from demo with bayesbias.build_lists: method')
    assert tuple(tomllib.loads(text)["notes"]) == built.notes
    assert bb.load_query(path).target_sets[0].source == built.word_sets["female"].source
    lists = bb.word_sets(path)
    assert list(lists) == ["female", "male", "career", "family"]
    assert lists["male"] == built.word_sets["male"]
    assert "build_lists" in lists["male"].source
    pairs = bb.load_study(path)
    assert pairs.groups["male"].words == built.word_sets["male"].words
    assert pairs.stereotypes["male"].words == FAMILY.words  # the second of each
    assert pairs.notes == built.notes
    words = pd.read_csv(tmp_path / "lists.words.csv")
    assert words["word"].tolist() == built.words["word"].tolist()
    np.testing.assert_allclose(words["probability"], built.words["probability"], rtol=1e-6)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["lists.toml", "lists.words.csv"]
    study = built.study("roles", {"male": ["engineer"], "female": ["nurse"]})
    study.save(tmp_path / "study.toml")
    assert bb.load_study(tmp_path / "study.toml") == study
    with pytest.raises(SpecError, match="lists.txt: lists are written to a .toml file"):
        built.save(tmp_path / "lists.txt")
    with pytest.raises(DataError, match="the folder .* does not exist; make it first"):
        built.save(tmp_path / "nowhere" / "lists.toml")


def test_without_attributes_a_file_is_a_query_of_targets(
    tmp_path: Path, demo: bb.Embedding, gender: bb.wordlists.GroupClassifier
) -> None:
    built = bb.build_lists(demo, gender, size=3)
    built.save(tmp_path / "lists.toml")
    assert bb.load_query(tmp_path / "lists.toml").template == (2, 0)
    with pytest.raises(SpecError, match="0 attribute sets for 2 target sets; as a study"):
        bb.load_study(tmp_path / "lists.toml")
    empty = tmp_path / "empty.toml"
    empty.write_text('source = "me"\n')
    with pytest.raises(SpecError, match="empty.toml: no lists"):
        bb.word_sets(empty)
    empty.write_text('[a]\nx = ["b"]\n[c]\nx = ["d"]\n')
    with pytest.raises(SpecError, match="two lists are called 'x'"):
        bb.word_sets(empty)


# --- a person's eye ----------------------------------------------------------------------------


def test_order_of_groups(built: bb.wordlists.BuiltLists) -> None:
    assert built.query(order=["male", "female"]).target_names == ("male", "female")
    assert built.query(order=["male"]).template == (1, 2)
    swapped = bb.metrics.WEAT().run_query(built.query(order=["male", "female"]), "demo").value
    assert swapped == pytest.approx(-bb.metrics.WEAT().run_query(built.query(), "demo").value)
    with pytest.raises(SpecError, match="'order' is 'man'.* 'female', 'male'"):
        built.query(order=["man", "female"])


def test_words_removed_by_hand(built: bb.wordlists.BuiltLists) -> None:
    first = built.word_sets["female"][0]
    less = built.without([first])
    assert less.word_sets["female"].words == built.word_sets["female"].words[1:]
    assert less.word_sets["male"] == built.word_sets["male"]
    assert len(built.word_sets["female"]) == 12  # these stay
    row = less.left_out[less.left_out["word"] == first]
    assert row["why"].item() == "removed by hand"
    assert len(less.left_out) + len(less.words) == len(built.left_out) + len(built.words)
    assert f"Removed by hand: '{first}'." in less.notes
    assert "by hand" in less.word_sets["female"].source
    assert "by hand" not in less.word_sets["male"].source
    with pytest.raises(SpecError, match="no list has 'zebra'"):
        built.without(["zebra"])
    with pytest.raises(SpecError, match="no word is left for the group 'male'"):
        built.without(built.word_sets["male"])


def test_a_review_sheet_has_no_formulas(tmp_path: Path) -> None:
    path = tmp_path / "review.csv"
    words = pd.DataFrame({"group": ["+g"] * 3, "word": ["=1+1", "'=1+1", "oak"]})
    write_sheet(path, words, {"oak": ["@oak [oak] -oak"]}, 1)
    sheet = pd.read_csv(path, keep_default_na=False)
    assert sheet["word"].tolist() == ["'=1+1", "'=1+1", "oak"]
    assert sheet["group"].unique().tolist() == ["'+g"]
    assert sheet["context_1"].tolist() == ["", "", "'@oak [oak] -oak"]
    sheet[1:].assign(decision="drop").to_csv(path, index=False)
    again = read_sheet(path, words, ["+g"])
    assert again[["group", "word", "decision"]].to_numpy().tolist() == [
        ["+g", "=1+1", ""],
        ["+g", "'=1+1", "drop"],
        ["+g", "oak", "drop"],
    ]


def test_review(built: bb.wordlists.BuiltLists, tmp_path: Path) -> None:
    path = tmp_path / "review.csv"
    one, two, three = built.word_sets["female"][:3]
    texts = [
        f"{i} here is the word {one} in {kind}" for i, kind in enumerate(("prose", "verse", "news"))
    ]
    built.review_sheet(path, bb.corpus.Corpus([*texts, f"{two} alone"]), contexts=2)
    sheet = pd.read_csv(path, keep_default_na=False)
    assert sheet["word"].tolist() == built.words["word"].tolist()
    shown = sheet.set_index("word")
    assert shown.loc[one, "context_1"].startswith("here is the word [")
    assert shown.loc[one, "context_1"] != shown.loc[one, "context_2"]
    assert shown.loc[two, "context_1"] == f"[{two}] alone"
    assert shown.loc[three, "context_1"] == ""
    # A person sorts the lines, decides about some, and deletes others.
    sheet.loc[sheet["word"] == one, ["decision", "comment"]] = ["drop", "a pronoun"]
    sheet.loc[sheet["word"] == two, "decision"] = "male"
    sheet.loc[sheet["word"] == three, "decision"] = "keep"
    sheet[sheet["decision"] != ""].sort_values("word").to_csv(path, index=False, sep=";")
    after = built.reviewed(path)
    assert one not in after.word_sets["female"]
    assert two in after.word_sets["male"]
    assert two not in after.word_sets["female"]
    words = after.words.set_index("word")
    assert words.loc[two, "how"] == "reviewed"
    assert words.loc[three, "decision"] == "keep"
    assert after.left_out.set_index("word").loc[one, "why"] == "dropped in review"
    assert "Reviewed in review.csv: 3 of 24 words decided, 1 dropped, 1 moved" in after.notes[-1]
    after.save(tmp_path / "after.toml")
    assert bb.load_query(tmp_path / "after.toml") == after.query()
    assert "decision" in pd.read_csv(tmp_path / "after.words.csv")
    for column, value, text in (
        ("decision", "dorp", "decision about .* is 'dorp'; expected 'keep', 'drop'.* 'drop'"),
        ("word", "zebra", "not in these lists: 'zebra'"),
    ):
        wrong = sheet.copy()
        wrong.loc[0, column] = value
        wrong.to_csv(path, index=False)
        with pytest.raises(DataError, match=text):
            built.reviewed(path)
    pd.concat([sheet, sheet]).to_csv(path, index=False)
    with pytest.raises(DataError, match="words with two lines"):
        built.reviewed(path)
    sheet.drop(columns="decision").to_csv(path, index=False)
    with pytest.raises(DataError, match="no column 'decision'"):
        built.reviewed(path)
    with pytest.raises(NotFoundError, match="no review sheet"):
        built.reviewed(tmp_path / "absent.csv")
    with pytest.raises(SpecError, match=r"a review sheet is a .csv file"):
        built.review_sheet(tmp_path / "review.xlsx")


def test_contexts_are_drawn_evenly() -> None:
    documents = [["w", str(i)] for i in range(10)]
    counts = np.zeros(10)
    for seed in range(2000):
        found = contexts(["w"], documents, 2, np.random.default_rng(seed))["w"]
        places = [int(text.split()[-1]) for text in found]
        assert places == sorted(places)
        counts[places] += 1
    assert chisquare(counts).pvalue > 0.001


def test_words_associated_with_a_group_are_kept_apart(world: bb.Embedding) -> None:
    labelled = {
        name: [spelt(i) for i in range(2400 + code, 3000, 3)]
        for code, name in enumerate(("red", "associated with red", "neutral"))
    }
    labelled["green"] = [labelled["neutral"].pop() for _ in range(60)]
    lemmas = {word: word for word in world.words}
    groups = bb.wordlists.GroupClassifier("logistic", background=0, prior="equal", threshold=0.4)
    groups.fit(world, labelled, lemmas=lemmas)
    built = bb.build_lists(world, groups, size=50)
    assert list(built.word_sets) == ["red", "green"]
    assert list(built.associated) == ["red"]
    apart = built.associated["red"]
    assert apart.name == "associated with red"
    assert len(apart) == 50
    assert not set(apart) & set(built.words["word"])
    assert np.mean([world.index[word] % 3 == 1 for word in apart]) > 0.95
    assert "associated with red, in no list (50)" in built.summary()


def test_a_saved_classifier_builds_the_same_lists(
    tmp_path: Path, demo: bb.Embedding, gender: bb.wordlists.GroupClassifier
) -> None:
    gender.save(tmp_path / "gender.npz")
    again = bb.build_lists(demo, tmp_path / "gender.npz", size=20)
    expected = bb.build_lists(demo, gender, size=20)
    pd.testing.assert_frame_equal(again.words, expected.words)
    # The notes state what can be expected to be right.
    found = expected.words[expected.words["how"] == "classified"]
    if len(found):
        assert any("Expected to be right among classified words" in n for n in expected.notes)


def test_looks(built: bb.wordlists.BuiltLists) -> None:
    assert repr(built) == "<BuiltLists by frequency: female 12, male 12 words>"
    page = built._repr_html_()
    assert page.count("<tr>") == 3
    assert "<li>Without frequencies" in page
    assert built.summary().splitlines()[0].startswith("female (12): she, her, women")


# --- too little, and what is wrong -----------------------------------------------------------


def test_fewer_words_than_asked_for(
    world: bb.Embedding, groups: bb.wordlists.GroupClassifier
) -> None:
    text = r"Fewer than the 5000 words asked for: \d+ for 'red', \d+ for 'green'."
    with pytest.warns(BayesBiasWarning, match=text):
        built = bb.build_lists(world, groups, size=5000)
    assert 900 < len(built.word_sets["red"]) < 1100
    assert any(note.startswith("Fewer than the 5000") for note in built.notes)


def test_a_poor_classifier_is_told(world: bb.Embedding) -> None:
    rng = np.random.default_rng(3)
    words = rng.permutation(world.words).tolist()
    labelled = {"a": words[:100], "b": words[100:200], "c": words[200:300]}
    groups = bb.wordlists.GroupClassifier(threshold=0, background=0).fit(world, labelled)
    built = bb.build_lists(world, groups, size=10)
    assert any("The classifier is poor (mean F1 0." in note for note in built.notes)


def test_groups_and_thresholds(world: bb.Embedding, groups: bb.wordlists.GroupClassifier) -> None:
    three = bb.build_lists(world, groups, size=5, groups=["neutral", "red"])
    assert list(three.word_sets) == ["neutral", "red"]
    strict = bb.build_lists(world, groups, size=300, threshold=0.95, include_labelled=False)
    assert (strict.words["probability"] >= 0.95).all()


def test_a_corpus_counts(world: bb.Embedding, groups: bb.wordlists.GroupClassifier) -> None:
    class Counted:
        def counts(self) -> pd.DataFrame:
            return pd.DataFrame({"word": world.words[:300], "count": np.arange(300) + 1})

    built = bb.build_lists(world, groups, size=10, frequencies=Counted())
    red = built.words[built.words["group"] == "red"]
    assert red["count"].is_monotonic_decreasing
    assert red["count"].min() > 250


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (
            {"method": "clustres"},
            SpecError,
            "'method' is 'clustres'; .* mean 'clusters'?",
        ),
        ({"size": 0}, SpecError, "'size' is 0; expected a whole number, 1 or more"),
        ({"size": 2.5}, SpecError, "'size' is 2.5; expected a whole number"),
        ({"groups": ["redd"]}, SpecError, "'groups' is 'redd'; expected .* mean 'red'?"),
        (
            {"groups": []},
            SpecError,
            "'groups' is empty; give some of 'red', 'green', 'neutral'",
        ),
        ({"groups": "red"}, SpecError, "'groups' is the string 'red'; expected a list"),
        (
            {"threshold": 1.5},
            SpecError,
            "'threshold' is 1.5; expected a number from 0 to 1",
        ),
        (
            {"threshold": 1.0, "include_labelled": False},
            DataError,
            r"no word of embedding 'world' is left for the group 'red' \(left out: unsure 2,400, "
            r"labelled 600\); lower the threshold, or give more labelled words",
        ),
        (
            {"method": "pos"},
            SpecError,
            r"needs 'tags', .*tag_words\(corpus\).*'bayesbias\[pos\]'",
        ),
        ({"method": "clusters"}, SpecError, "the method 'clusters' needs 'attributes'"),
        (
            {"attributes": ["qqq"]},
            VocabularyError,
            "has none of the attributes, such as 'qqq'",
        ),
        (
            {"attributes": "qqq"},
            SpecError,
            "'attributes' is 'qqq'; expected words, or sets",
        ),
        ({"attributes": [3]}, SpecError, "is 3; expected a list of words"),
        ({"frequencies": {"he": -1}}, DataError, "'frequencies' counts 'he' -1 times"),
        (
            {"frequencies": pd.DataFrame({"a": []})},
            DataError,
            "'frequencies' has no column",
        ),
        ({"frequencies": 3}, SpecError, "'frequencies' is an int; expected a table"),
        (
            {"frequencies": {"qqq": 3}},
            DataError,
            r"left for the group 'red' \(left out: no frequency 3,000\); give counts of its words",
        ),
        (
            {"method": ByPartOfSpeech(TAGS.assign(word="qqq")), "frequencies": {spelt(0): 1}},
            DataError,
            "no frequency 2,999, no part of speech 1.*; give counts of its words",
        ),
        (
            {"method": ByPartOfSpeech(TAGS.assign(word="qqq")), "frequencies": EVERY},
            DataError,
            r"\(left out: no part of speech 3,000\); give the tags of its words",
        ),
        (
            {"method": ByPartOfSpeech(TAGS)},
            DataError,
            r"other part of speech 3,000\); give universal tags, such as 'ADJ', 'NOUN'",
        ),
        (
            {"attributes": [FAMILY, bb.WordSet("family", [spelt(0)])]},
            SpecError,
            "two attribute sets are called 'family'; give them different names",
        ),
        ({"stop_words": "klingon"}, SpecError, "'stop_words' is 'klingon'"),
    ],
)
def test_bad_arguments(
    world: bb.Embedding,
    groups: bb.wordlists.GroupClassifier,
    arguments: dict[str, object],
    error: type[Exception],
    text: str,
) -> None:
    with pytest.raises(error, match=text):
        bb.build_lists(world, groups, **arguments)


def test_bad_methods() -> None:
    with pytest.raises(SpecError, match="'caliper' is 0; expected a number above 0"):
        ByFrequency(match_frequency=True, caliper=0)
    with pytest.raises(SpecError, match="'centroids' is 'loose'; expected one of"):
        ByCluster("loose")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="'tags' has no column 'tag', 'count'"):
        ByPartOfSpeech(pd.DataFrame({"word": []}))
    with pytest.raises(SpecError, match=r"needs 'tags', .*tag_words\(corpus\)"):
        ByPartOfSpeech(None)  # type: ignore[arg-type]


def test_no_pairs(world: bb.Embedding, groups: bb.wordlists.GroupClassifier) -> None:
    table = groups.predict().set_index("word")["group"]
    table.update(groups.labelled_.set_index("word")["group"])
    counts = {word: 1000.0 if group == "red" else 10.0 for word, group in table.items()}
    with pytest.raises(DataError, match="of 'red', 'green' are of similar frequency; give"):
        bb.build_lists(world, groups, frequencies=counts, method=PAIRED)


def test_attributes_that_are_missing_are_told(
    world: bb.Embedding, groups: bb.wordlists.GroupClassifier
) -> None:
    with pytest.warns(BayesBiasWarning, match="world lacks attributes: 'qqq'"):
        built = bb.build_lists(world, groups, size=5, attributes=["qqq", world.words[0]])
    assert "world lacks attributes: 'qqq'." in built.notes


def test_a_single_word_is_told(world: bb.Embedding, groups: bb.wordlists.GroupClassifier) -> None:
    with pytest.warns(BayesBiasWarning, match="A single word for 'red', 'green': nothing tells"):
        built = bb.build_lists(world, groups, size=1)
    assert any(note.startswith("A single word for 'red', 'green'") for note in built.notes)
    assert not any("single" in note for note in bb.build_lists(world, groups, size=2).notes)


def test_attributes_are_left_out_in_any_capitals() -> None:
    rng = np.random.default_rng(4)
    words = ["Family", "family", "FAMILY", "Bride", *(spelt(i) for i in range(60))]
    vectors = rng.normal(size=(64, 5)) * 0.3
    vectors[:34, 0] += 1
    vectors[34:, 1] += 1
    emb = bb.Embedding(words, vectors, "cased")
    labelled = {"she": ["Bride", *words[10:30]], "he": words[40:]}
    groups = bb.wordlists.GroupClassifier(threshold=0).fit(
        emb, labelled, lemmas={w: w for w in words}
    )
    with pytest.warns(BayesBiasWarning, match="circular"):
        built = bb.build_lists(emb, groups, method="clusters", size=20, attributes=["family"])
    assert "Bride" in built.word_sets["she"]
    out = built.left_out[built.left_out["why"] == "attribute"]
    assert out["word"].tolist() == ["Family", "family", "FAMILY"]


def test_labels_are_checked_before_a_corpus_is_counted(demo: bb.Embedding) -> None:
    class Endless:
        def counts(self) -> pd.DataFrame:
            raise AssertionError("counted")

    labelled = {name: [f"{name}q{i}" for i in range(10)] for name in "ab"}
    with pytest.raises(VocabularyError, match="has none of the 20 labelled words"):
        bb.build_lists(demo, labelled, frequencies=Endless())


def test_a_corpus_is_counted_without_a_bar(
    world: bb.Embedding, groups: bb.wordlists.GroupClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    counts = bb.corpus.Corpus.counts

    def watched(
        self: bb.corpus.Corpus, min_count: int = 1, *, progress: bool = True
    ) -> pd.DataFrame:
        asked.append(progress)
        return counts(self, min_count, progress=progress)

    monkeypatch.setattr(bb.corpus.Corpus, "counts", watched)
    corpus = bb.corpus.Corpus([" ".join(world.words[:300])] * 2)
    built = bb.build_lists(world, groups, size=10, frequencies=corpus, progress=False)
    assert asked == [False]
    assert set(built.words["count"]) == {2}


def test_labels_are_checked_before_they_are_learnt_from(demo: bb.Embedding) -> None:
    with pytest.raises(SpecError, match="'groups' is 'femal'; expected one of .* 'female'?"):
        bb.build_lists(demo, "gender", groups=["femal"])
    with pytest.raises(NotFittedError, match="call fit"):
        bb.build_lists(demo, bb.wordlists.GroupClassifier())
    with pytest.raises(SpecError, match="'labelled' is an int; expected a dictionary"):
        bb.build_lists(demo, 3)
    with pytest.raises(SpecError, match="'embedding' is an int; expected an Embedding"):
        bb.build_lists(3, "gender")
