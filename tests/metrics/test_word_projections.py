from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, DataError, SpecError, VocabularyError

# genderProjections.csv of Dobrzeniecka and Urbaniak (rfl-urbaniak/BayesBias), the figure of section
# 2.3 of the thesis: dot products of GloVe vectors (6B, 50 dimensions) with those of he and she.
PUBLISHED = {
    "maestro": (5.032984895489, 3.212002109847),
    "skipper": (9.97800950557, 5.6428627008925),
    "protege": (4.8432534688719, 3.7211715409883),
    "philosopher": (8.694703775346, 6.359310608793),
    "captain": (17.733018546549, 13.0314808519386),
    "architect": (11.108029932477, 7.8793116805871),
    "financier": (4.7338018045512, 1.4907419773323),
    "warrior": (8.535148717882, 8.2251723053),
    "broadcaster": (8.770713999262, 7.429738584013),
    "magician": (6.639856703536, 6.9251344543),
    "pilot": (13.70626086551, 14.195354193387),
    "boss": (15.101242262922, 11.870415188848),
    "homemaker": (4.954032009547, 8.9747509880319),
    "nurse": (12.954202846056, 17.969310693038),
    "receptionist": (3.895325112478, 7.712666496366),
    "librarian": (8.71613415715, 9.919621829462),
    "socialite": (1.13234936688, 6.357676335999),
    "hairdresser": (3.97757302014, 7.677699753157),
    "nanny": (5.712461330233, 9.874956908758),
    "bookkeeper": (4.398698881867, 4.537040468923),
    "stylist": (3.714011031998, 8.806158525441),
    "housekeeper": (5.93379345551051, 9.8865657230369),
    "designer": (9.9575229057696, 13.1801716294536),
    "counselor": (8.79761350873, 10.311984052848),
}


@pytest.mark.oracle
def test_the_published_dot_products(demo: bb.Embedding) -> None:
    found = bb.metrics.project_words(demo, list(PUBLISHED), x="he", y="she", normalize=False)
    # The demo keeps three digits of each number of a vector.
    np.testing.assert_allclose(found[["x", "y"]], list(PUBLISHED.values()), atol=0.003)


def test_cosines_with_a_word_are_similarities(demo: bb.Embedding) -> None:
    found = bb.metrics.project_words(demo, ["nurse", "Boss"], x="he")
    assert list(found.columns) == ["word", "word_set", "x"]
    assert found["word"].tolist() == ["nurse", "Boss"]
    expected = [demo.similarity(word, "he") for word in ("nurse", "boss")]
    np.testing.assert_allclose(found["x"], expected, atol=1e-6)


def test_a_pair_is_the_difference_of_its_words(demo: bb.Embedding) -> None:
    plain = bb.metrics.project_words(demo, ["nurse"], x=("he", "she"), normalize=False)
    vector = demo["nurse"].astype(float) @ (demo["he"].astype(float) - demo["she"])
    assert plain["x"].item() == pytest.approx(vector, rel=1e-6)
    scaled = bb.metrics.project_words(demo, ["nurse"])
    he, she, nurse = (
        demo[w].astype(float) / np.linalg.norm(demo[w]) for w in ("he", "she", "nurse")
    )
    expected = nurse @ (he - she) / np.linalg.norm(he - she)
    assert scaled["x"].item() == pytest.approx(expected, abs=1e-6)


def test_several_pairs_are_the_first_component_of_scikit_learn(demo: bb.Embedding) -> None:
    pairs = bb.word_tuples("bolukbasi")["definitional_pairs"]
    words = ["nurse", "captain", "librarian"]
    found = bb.metrics.project_words(demo, words, x=pairs)["x"].to_numpy()
    unit = demo.vectors / np.linalg.norm(demo.vectors, axis=1, keepdims=True)
    centred = []
    for pair in pairs:
        both = unit[[demo.index[word.lower()] for word in pair]].astype(float)
        centred += list(both - both.mean(axis=0))
    direction = PCA(1).fit(centred).components_[0]
    expected = unit[[demo.index[word] for word in words]] @ direction
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-6)
    # Towards the first words of the pairs, here the female ones.
    assert found[0] > 0 > found[1]


def test_it_is_what_direct_bias_averages(demo: bb.Embedding) -> None:
    female, male = zip(*bb.word_tuples("bolukbasi")["definitional_pairs"], strict=True)
    words = ["nurse", "captain", "librarian", "boss"]
    query = bb.Query([female, male], [words], ["female", "male"])
    score = bb.metrics.DirectBias().run_query(query, demo)
    found = bb.metrics.project_words(demo, words, x=list(zip(female, male, strict=True)))
    assert found["x"].abs().mean() == pytest.approx(score.value, abs=1e-6)


def test_missing_words(demo: bb.Embedding) -> None:
    with pytest.warns(BayesBiasWarning, match="lacks 'xyzzy'"):
        found = bb.metrics.project_words(demo, {"a": ["nurse", "xyzzy"], "b": ["boss"]})
    assert found["word_set"].tolist() == ["a", "b"]
    with pytest.raises(VocabularyError, match="none of the words 'xyzzy'"):
        bb.metrics.project_words(demo, ["xyzzy"])
    with pytest.raises(VocabularyError, match="lacks 'xyzzy' of the axis 'y'"):
        bb.metrics.project_words(demo, ["nurse"], y=("he", "xyzzy"))


@pytest.mark.parametrize("axis", [(), ("he",), ("he", "she", "it"), [("he", "she"), ("man",)]])
def test_what_is_no_axis(demo: bb.Embedding, axis: object) -> None:
    with pytest.raises(SpecError, match="'x'.*a pair of words"):
        bb.metrics.project_words(demo, ["nurse"], x=axis)  # type: ignore[arg-type]


def test_a_pair_of_the_same_word_is_refused(demo: bb.Embedding) -> None:
    with pytest.raises(SpecError, match="the same vector"):
        bb.metrics.project_words(demo, ["nurse"], x=("he", "he"))
    zero = bb.Embedding(["a", "b", "c"], [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    with pytest.raises(DataError, match="'c'"):
        bb.metrics.project_words(zero, ["c"], x=("a", "b"))
