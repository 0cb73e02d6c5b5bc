"""What all debiasing methods have in common, and hard debiasing."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

import bayesbias as bb
from bayesbias.debias import base, vector_targets
from bayesbias.errors import (
    BayesBiasWarning,
    DataError,
    NotFittedError,
    NotFoundError,
    SpecError,
    VocabularyError,
)
from bayesbias.wordlists.catalogue import COLLECTIONS, STUDIES

PAIRS = [(f"f{i}", f"m{i}") for i in range(6)]
GROUPS = [[f for f, _ in PAIRS], [m for _, m in PAIRS]]
WORDS = [w for pair in PAIRS for w in pair] + [f"w{i}" for i in range(200)]

# What each method is fitted with.
DEFINITIONS: dict[str, Any] = {
    "pairs": PAIRS,
    "sets": PAIRS,
    "words": [w for pair in PAIRS for w in pair],
    "groups": GROUPS,
}
OPTIONS: dict[str, dict[str, Any]] = {
    "multiclass_hard_debias": {"n_components": 1},
    "soft_debias": {"strength": 200.0},
    "double_hard_debias": {"n_words": 20},
    "half_sibling_regression": {"alpha": 10.0},
    "repulsion_attraction_neutralization": {"n_epochs": 20, "n_neighbours": 10},
}
# Methods that equalise pairs or sets.
EQUALIZE = ("hard_debias", "multiclass_hard_debias", "double_hard_debias")
PREFIXES = bb.embeddings.Matching(fallbacks=("exact", "lower", "prefix:/c/en/"))


@pytest.fixture
def emb(rng: np.random.Generator) -> bb.Embedding:
    """Random vectors in which the pairs differ along the first axis, and some words lean."""
    vectors = rng.normal(size=(len(WORDS), 12))
    for i in range(6):
        vectors[2 * i + 1] = vectors[2 * i] + rng.normal(size=12) * 0.2
    vectors[:12:2, 0] += 1.5
    vectors[1:12:2, 0] -= 1.5
    vectors[12:, 0] *= 2
    return bb.Embedding(WORDS, vectors, "planted")


def made(name: str, **options: Any) -> bb.debias.Debiaser:
    return bb.debias.DEBIASERS[name](**OPTIONS.get(name, {}), **options)


def definition(name: str) -> Any:
    return DEFINITIONS[bb.debias.DEBIASERS[name].learns_from]


def fitted(name: str, emb: bb.Embedding, **options: Any) -> Any:
    return made(name, **options).fit(emb, definition=definition(name))


@pytest.mark.parametrize("name", bb.debias.DEBIASERS)
class TestEveryMethod:
    def test_returns_an_embedding_of_the_same_words(self, name: str, emb: bb.Embedding) -> None:
        before = emb.vectors.copy()
        after = fitted(name, emb).transform(emb)
        assert after.words == emb.words
        assert after.name == f"planted_{name}"
        assert after.vectors.dtype == np.float32
        assert not np.allclose(after.vectors, before)
        np.testing.assert_array_equal(emb.vectors, before)
        assert fitted(name, emb).transform(emb, name="other").name == "other"

    def test_removes_the_planted_direction(self, name: str, emb: bb.Embedding) -> None:
        """What leans along the groups' difference leans less afterwards, for words in no group."""
        after = fitted(name, emb).transform(emb)

        def share(e: bb.Embedding) -> float:
            squares = e.vectors[12:].astype(np.float64) ** 2
            return float((squares[:, 0] / squares.sum(axis=1)).mean())

        assert share(after) < 0.7 * share(emb)

    def test_target_changes_only_the_target(self, name: str, emb: bb.Embedding) -> None:
        chosen = ["w3", "w50", "w199"]
        debiaser = fitted(name, emb)
        after = debiaser.transform(emb, target=chosen)
        rest = [i for i, w in enumerate(WORDS) if w.startswith("w") and w not in chosen]
        expected = emb.vectors[rest].astype(np.float64)
        if debiaser.unit:
            expected /= np.linalg.norm(expected, axis=1, keepdims=True)
        np.testing.assert_allclose(after.vectors[rest], expected, rtol=1e-5, atol=1e-6)
        whole = debiaser.transform(emb)
        for word in chosen:
            np.testing.assert_allclose(after[word], whole[word], rtol=1e-4, atol=1e-5)

    def test_ignore_leaves_words(self, name: str, emb: bb.Embedding) -> None:
        debiaser = fitted(name, emb)
        after = debiaser.transform(emb, ignore=["w7"])
        expected = emb["w7"].astype(np.float64)
        if debiaser.unit:
            expected /= np.linalg.norm(expected)
        np.testing.assert_allclose(after["w7"], expected, rtol=1e-5, atol=1e-6)

    def test_same_result_each_time(self, name: str, emb: bb.Embedding) -> None:
        first = fitted(name, emb)
        results = [first.transform(emb), first.transform(emb), fitted(name, emb).transform(emb)]
        for other in results[1:]:
            np.testing.assert_array_equal(results[0].vectors, other.vectors)

    def test_into_an_array(self, name: str, emb: bb.Embedding) -> None:
        debiaser = fitted(name, emb)
        expected = debiaser.transform(emb).vectors
        array = np.zeros_like(emb.vectors)
        after = debiaser.transform(emb, out=array)
        np.testing.assert_array_equal(array, expected)
        assert np.shares_memory(after.vectors, array)

    def test_to_a_file(self, name: str, emb: bb.Embedding, tmp_path: Path) -> None:
        debiaser = fitted(name, emb)
        after = debiaser.transform(emb, out=tmp_path / "after.npy")
        np.testing.assert_allclose(after.vectors, debiaser.transform(emb).vectors, atol=1e-7)
        assert sorted(os.listdir(tmp_path)) == ["after.npy", "after.vocab.txt"]

    def test_another_embedding(self, name: str, emb: bb.Embedding) -> None:
        """What is written is what is given, whatever was learnt from."""
        debiaser = fitted(name, emb)
        other = bb.Embedding(WORDS, emb.vectors[::-1].copy(), "other")
        after = debiaser.transform(other)
        assert after.name == f"other_{name}"
        again = debiaser.transform(emb)
        np.testing.assert_array_equal(again.vectors, fitted(name, emb).transform(emb).vectors)
        assert not np.allclose(after.vectors, again.vectors)

    def test_another_dimension_is_refused(self, name: str, emb: bb.Embedding) -> None:
        narrow = bb.Embedding(WORDS, emb.vectors[:, :5], "narrow")
        with pytest.raises(SpecError, match="was fitted on 12 dimensions, and embedding 'narro"):
            fitted(name, emb).transform(narrow)

    def test_not_fitted(self, name: str, emb: bb.Embedding) -> None:
        for error in (NotFittedError, SklearnNotFittedError):
            with pytest.raises(error, match=r"has not been fitted; call fit\(embedding"):
                made(name).transform(emb)

    def test_clone_and_parameters(self, name: str, emb: bb.Embedding) -> None:
        debiaser = fitted(name, emb)
        copied = clone(debiaser)
        assert copied.get_params() == debiaser.get_params() == made(name).get_params()
        assert not hasattr(copied, "n_features_in_")
        assert repr(copied).startswith(type(debiaser).__name__ + "(")
        parameter = next(iter(debiaser.get_params()))
        assert copied.set_params(**{parameter: 7}) is copied
        assert copied.get_params()[parameter] == 7
        with pytest.raises(SpecError, match="has no parameter 'nonsense'"):
            debiaser.set_params(nonsense=1)

    def test_scikit_learn_knows_whether_it_is_fitted(self, name: str, emb: bb.Embedding) -> None:
        debiaser = made(name)
        with pytest.raises(SklearnNotFittedError):
            check_is_fitted(debiaser)
        check_is_fitted(debiaser.fit(emb, definition=definition(name)))
        with pytest.raises(SpecError):
            debiaser.fit(emb, definition=3)  # type: ignore[arg-type]
        with pytest.raises(SklearnNotFittedError):
            check_is_fitted(debiaser)
        assert get_tags(debiaser).transformer_tags is not None
        assert not is_classifier(debiaser)

    def test_fit_transform(self, name: str, emb: bb.Embedding) -> None:
        after = made(name).fit_transform(emb, None, definition=definition(name), ignore=["w7"])
        expected = fitted(name, emb).transform(emb, ignore=["w7"])
        np.testing.assert_array_equal(after.vectors, expected.vectors)
        assert after.name == expected.name

    def test_in_a_pipeline(self, name: str, emb: bb.Embedding) -> None:
        others = [("w0", "w1"), ("w2", "w3")]
        pipeline = Pipeline([("first", bb.debias.Projection()), ("second", made(name))])
        pipeline.fit(emb, first__definition=others, second__definition=definition(name))
        check_is_fitted(pipeline)
        after = pipeline.transform(emb)
        assert after.name == f"planted_projection_{name}"
        between = bb.debias.Projection().fit_transform(emb, definition=others)
        expected = fitted(name, between).transform(between)
        np.testing.assert_array_equal(after.vectors, expected.vectors)

    def test_how_it_is_described(self, name: str, emb: bb.Embedding) -> None:
        method = bb.debias.DEBIASERS[name]
        assert method.learns_from in DEFINITIONS
        assert method.reference in " ".join((method.__doc__ or "").split())
        if method.default_definition is None and method.learns_from != "groups":
            with pytest.raises(SpecError, match=f"learns from {method.learns_from}, and none are"):
                made(name).fit(emb)

    def test_words_are_checked(self, name: str, emb: bb.Embedding) -> None:
        debiaser = fitted(name, emb)
        with pytest.raises(VocabularyError, match="has no word of 'target'"):
            debiaser.transform(emb, target=["nobody"])
        with pytest.raises(SpecError, match="'ignore' leaves no word to be changed"):
            debiaser.transform(emb, ignore=WORDS)
        with pytest.raises(SpecError, match="'target' is empty"):
            debiaser.transform(emb, target=[])

    def test_words_that_are_not_there_are_named(self, name: str, emb: bb.Embedding) -> None:
        debiaser = fitted(name, emb)
        for what in ("target", "ignore"):
            words = ["w1", "nobody", "w2", "none"]
            expected = debiaser.transform(emb, **{what: ["w1", "w2"]}).vectors
            text = f"planted lacks 2 of 4 words of '{what}': 'nobody', 'none'"
            with pytest.warns(BayesBiasWarning, match=text) as caught:
                after = debiaser.transform(emb, **{what: words})
            assert len(caught) == 1
            np.testing.assert_array_equal(after.vectors, expected)

    def test_words_are_found_as_in_fit(self, name: str, emb: bb.Embedding) -> None:
        """A vocabulary with prefixes is debiased as one without, and nothing is lost on the way."""
        prefixed = bb.Embedding([f"/c/en/{word}" for word in WORDS], emb.vectors, "prefixed")
        options = {"equalize": [("f0", "m0"), ("F1", "M1")]} if name in EQUALIZE else {}
        plain = fitted(name, emb, **options)
        given = made(name, **options).fit(prefixed, definition=definition(name), matching=PREFIXES)
        bound = prefixed.with_matching(PREFIXES)
        words: list[dict[str, Any]] = [{}, {"target": ["w1", "W2"]}, {"ignore": ["w1", "W2", "m4"]}]
        for chosen in words:
            expected = plain.transform(emb, **chosen).vectors
            for after in (
                given.transform(prefixed, **chosen),
                fitted(name, bound, **options).transform(bound, **chosen),
                plain.transform(bound, **chosen),
            ):
                np.testing.assert_array_equal(after.vectors, expected)
        exact = bb.embeddings.Matching(fallbacks=("exact",))
        strict = made(name).fit(emb, definition=definition(name), matching=exact)
        with pytest.raises(VocabularyError, match=r"has no word of 'target' \('W2'\)"):
            strict.transform(emb, target=["W2"])
        with pytest.raises(SpecError, match="'matching' is a list; expected a Matching"):
            strict.fit(emb, matching=["lower"])  # type: ignore[arg-type]

    def test_the_result_matches_words_as_the_embedding_does(
        self, name: str, emb: bb.Embedding, tmp_path: Path
    ) -> None:
        bound = emb.with_matching(threshold=0.7)
        debiaser = fitted(name, bound)
        for out in (None, tmp_path / "after.npy"):
            assert debiaser.transform(bound, out=out).matching == bound.matching


def test_what_fit_takes_is_the_same_for_all() -> None:
    methods = bb.debias.DEBIASERS.values()
    assert {method.fit for method in methods} == {bb.debias.Debiaser.fit}
    assert {method.transform for method in methods} == {bb.debias.Debiaser.transform}


def test_a_pipeline_of_defaults(demo: bb.Embedding) -> None:
    pipeline = make_pipeline(bb.debias.HardDebias(), bb.debias.LEACE(n_words=100))
    after = pipeline.fit_transform(demo)
    first = bb.debias.HardDebias().fit_transform(demo)
    expected = bb.debias.LEACE(n_words=100).fit(first).transform(first)
    np.testing.assert_array_equal(after.vectors, expected.vectors)
    assert after.name == "demo_hard_debias_leace"
    np.testing.assert_array_equal(clone(pipeline).fit(demo).transform(demo).vectors, after.vectors)


def test_embeddings_by_name(demo: bb.Embedding) -> None:
    after = bb.debias.HardDebias().fit("demo").transform("demo")
    np.testing.assert_array_equal(
        after.vectors, bb.debias.HardDebias().fit(demo).transform(demo).vectors
    )


def test_errors_are_light() -> None:
    """The error is scikit-learn's too, but bayesbias is imported without scikit-learn."""
    code = "import sys, bayesbias.errors, bayesbias.wordlists; print('sklearn' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_errors_can_be_pickled(emb: bb.Embedding) -> None:
    """As another process may raise them."""
    with pytest.raises(NotFittedError) as caught:
        made("hard_debias").transform(emb)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value)
    assert str(again) == str(caught.value)


# Hard debiasing


def test_neutralised_words_are_orthogonal_to_the_direction(emb: bb.Embedding) -> None:
    debiaser = fitted("hard_debias", emb)
    after = debiaser.transform(emb)
    along = after.vectors[12:] @ debiaser.directions_.T
    np.testing.assert_allclose(along, 0, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(after.vectors, axis=1), 1, atol=1e-6)


def test_equalised_pairs_are_as_far_from_every_neutral_word(emb: bb.Embedding) -> None:
    for ignore in (None, [w for pair in PAIRS for w in pair]):
        after = fitted("hard_debias", emb).transform(emb, ignore=ignore)
        for first, second in PAIRS:
            closeness = after.vectors[12:] @ np.column_stack([after[first], after[second]])
            np.testing.assert_allclose(closeness[:, 0], closeness[:, 1], atol=1e-5)
            assert not np.allclose(after[first], after[second], atol=0.1)


def test_a_word_in_two_pairs_is_equalised_from_where_the_first_has_left_it(
    emb: bb.Embedding,
) -> None:
    words = ["f0", "m0", "m1"]
    once, twice = (
        bb.debias.HardDebias(equalize=pairs).fit(emb, definition=PAIRS)
        for pairs in ([("f0", "m0")], [("f0", "m0"), ("f0", "m1")])
    )
    [direction] = once.directions_

    def outside(vector: np.ndarray) -> np.ndarray:
        return vector - (vector @ direction) * direction

    first = once.transform(emb, ignore=words)
    after = twice.transform(emb, ignore=words)
    alone = emb["m1"] / np.linalg.norm(emb["m1"])
    common = (outside(first["f0"]) + outside(alone)) / 2
    for word in ("f0", "m1"):
        np.testing.assert_allclose(outside(after[word]), common, atol=1e-5)
    np.testing.assert_allclose(after["m0"], first["m0"], atol=1e-6)


def test_direction_is_scikit_learns(emb: bb.Embedding) -> None:
    debiaser = fitted("hard_debias", emb)
    unit = emb.vectors / np.linalg.norm(emb.vectors, axis=1, keepdims=True)
    pairs = [unit[[2 * i, 2 * i + 1]] for i in range(6)]
    pca = PCA(n_components=6).fit(np.vstack([p - p.mean(axis=0) for p in pairs]))
    cosine = abs(float(pca.components_[0] @ debiaser.directions_[0]))
    assert cosine == pytest.approx(1, abs=1e-5)
    np.testing.assert_allclose(
        debiaser.explained_variance_ratio_[:6], pca.explained_variance_ratio_, atol=1e-5
    )


def test_spellings_of_pairs_are_equalised() -> None:
    words = ["he", "she", "He", "She", "HE", "doctor"]
    emb = bb.Embedding(words, np.random.default_rng(3).normal(size=(6, 8)), "cased")
    debiaser = bb.debias.HardDebias().fit(emb, definition=[("he", "she")])
    after = debiaser.transform(emb, ignore=words[:5])
    for first, second in (("he", "she"), ("He", "She")):
        assert after["doctor"] @ after[first] == pytest.approx(after["doctor"] @ after[second])
    # "SHE" is not there, so "HE" has nothing to be equal to.
    assert after["HE"] == pytest.approx(emb["HE"] / np.linalg.norm(emb["HE"]), abs=1e-6)


def test_pairs_are_equalised_in_one_case_or_as_they_are_found() -> None:
    """Both words of a pair have the same case, unless the vocabulary has them in none."""
    words = ["en/he", "en/she", "en/He", "en/SHE", "en/garcon", "en/Fille", "en/doctor"]
    emb = bb.Embedding(words, np.random.default_rng(3).normal(size=(7, 8)), "cased")
    debiaser = bb.debias.HardDebias(equalize=[("He", "She"), ("garçon", "fille")]).fit(
        emb.with_matching(prefix="en/"), definition=[("he", "she")]
    )
    after = debiaser.transform(emb.with_matching(prefix="en/"), ignore=words[:6])
    for first, second in (("he", "she"), ("garcon", "Fille")):
        along = [after["en/doctor"] @ after[f"en/{word}"] for word in (first, second)]
        assert along[0] == pytest.approx(along[1], abs=1e-6)
    for word in ("en/He", "en/SHE"):
        assert after[word] == pytest.approx(emb[word] / np.linalg.norm(emb[word]), abs=1e-6)


def test_multiclass_keeps_definitional_words_and_removes_the_space(emb: bb.Embedding) -> None:
    sets = [("f0", "m0", "w0"), ("f1", "m1", "w1"), ("f2", "m2", "w2")]
    debiaser = bb.debias.MulticlassHardDebias(n_components=2, equalize=[("f3", "m3", "w3")])
    debiaser.fit(emb, definition=sets)
    after = debiaser.transform(emb)
    rest = [i for i, w in enumerate(WORDS) if w not in {w for s in sets for w in s} | {"w3"}]
    rest = [i for i in rest if WORDS[i] not in ("f3", "m3")]
    np.testing.assert_allclose(after.vectors[rest] @ debiaser.directions_.T, 0, atol=1e-6)
    for word in ("f0", "w2"):
        assert after[word] == pytest.approx(emb[word] / np.linalg.norm(emb[word]), abs=1e-6)
    closeness = after.vectors[rest] @ np.column_stack([after[w] for w in ("f3", "m3", "w3")])
    np.testing.assert_allclose(closeness[:, 0], closeness[:, 1], atol=1e-5)
    np.testing.assert_allclose(closeness[:, 0], closeness[:, 2], atol=1e-5)


def test_builtin_lists(demo: bb.Embedding) -> None:
    with pytest.warns(BayesBiasWarning, match="lacks a word of 1 of 7 pairs or sets of 'defin"):
        bb.debias.MulticlassHardDebias(n_components=1).fit(
            demo.subset([w for w in demo.words if w != "she"]),
            definition="manzini:gender_definitional_sets",
        )
    with pytest.raises(NotFoundError, match="has no such list; there are .* Did you mean 'defin"):
        bb.debias.HardDebias().fit(demo, definition="bolukbasi:definitional_pair")
    with pytest.raises(NotFoundError, match="no list 'gender_specifics'"):
        bb.debias.HardDebias().fit(demo).transform(demo, ignore="bolukbasi:gender_specifics")


PUBLISHED_TUPLES = [
    f"{collection}:{name}" for collection in COLLECTIONS for name in bb.word_tuples(collection)
]


@pytest.mark.filterwarnings("ignore:.*lacks a word of")
@pytest.mark.parametrize("name", PUBLISHED_TUPLES)
def test_multiclass_removes_what_published_sets_span(demo: bb.Embedding, name: str) -> None:
    """At its default it removes as many components as scikit-learn's PCA finds, at most ten."""
    collection, _, key = name.partition(":")
    debiaser = bb.debias.MulticlassHardDebias().fit(demo, definition=name)
    found = [demo.match(words) for words in bb.word_tuples(collection)[key]]
    rows = [words.rows for words in found if not words.missing and len(words.distinct()) > 1]
    unit = demo.vectors / np.linalg.norm(demo.vectors, axis=1, keepdims=True)
    sets = np.vstack([unit[r] - unit[r].mean(axis=0) for r in rows]).astype(np.float64)
    rank = min(10, np.linalg.matrix_rank(sets, tol=1e-4))
    assert debiaser.directions_.shape == (rank, demo.dim)
    pca = PCA().fit(np.vstack([sets, -sets])).components_[:rank]  # about zero
    np.testing.assert_allclose(
        debiaser.directions_.T @ debiaser.directions_, pca.T @ pca, atol=1e-4
    )
    after = debiaser.transform(demo.subset(demo.words[:300]))
    exempt = {row for r in rows for row in r}
    rest = [i for i in range(300) if i not in exempt]
    np.testing.assert_allclose(after.vectors[rest] @ debiaser.directions_.T, 0, atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*lacks a word of")
@pytest.mark.parametrize("name", STUDIES)
def test_multiclass_fits_the_groups_of_every_study(demo: bb.Embedding, name: str) -> None:
    study = bb.load_study(name)
    sets = list(zip(*study.groups.values(), strict=False))
    directions = bb.debias.MulticlassHardDebias().fit(demo, definition=sets).directions_
    assert 1 <= len(directions) <= min(10, len(sets) * (len(study.groups) - 1))


def test_pairs_are_checked(emb: bb.Embedding) -> None:
    fit = bb.debias.HardDebias().fit
    with pytest.raises(VocabularyError, match="lacks a word of each of the 1 pairs or sets"):
        fit(emb, definition=[("he", "she")])
    with pytest.raises(SpecError, match=r"holds \('f0', 'm0', 'w0'\); expected pairs"):
        fit(emb, definition=[("f0", "m0", "w0")])
    with pytest.raises(SpecError, match="expected two words or more that differ"):
        fit(emb, definition=[("f0", "f0")])
    with pytest.raises(SpecError, match="'definition' is empty"):
        fit(emb, definition=[])
    with pytest.raises(SpecError, match="'definition' is 3; expected a list of pairs"):
        fit(emb, definition=3)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'embedding' is an int; expected an Embedding"):
        fit(3)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'n_components' is 7, .* span 6 dimensions"):
        bb.debias.HardDebias(n_components=7).fit(emb, definition=PAIRS)
    with pytest.raises(
        SpecError,
        match="'n_components' is 10.* 6 dimensions.*n_components=6",
    ):
        bb.debias.MulticlassHardDebias(n_components=10).fit(emb, definition=PAIRS)
    with pytest.raises(SpecError, match="sets of different lengths"):
        bb.debias.MulticlassHardDebias().fit(emb, definition=[("f0", "m0"), ("f1", "m1", "w1")])


def test_pairs_that_do_not_differ(emb: bb.Embedding) -> None:
    same = bb.Embedding(WORDS, np.ones_like(emb.vectors), "same")
    with pytest.raises(SpecError, match="have the same vector, so there is no direction"):
        bb.debias.HardDebias().fit(same, definition=PAIRS)


def test_sets_are_equalised_as_the_vocabulary_spells_them(emb: bb.Embedding) -> None:
    titled = bb.Embedding([word.title() for word in WORDS], emb.vectors, "titled")
    debiaser = fitted("multiclass_hard_debias", emb)
    np.testing.assert_array_equal(
        debiaser.transform(titled).vectors, debiaser.transform(emb).vectors
    )


def test_an_array_that_cannot_take_the_vectors_is_refused(emb: bb.Embedding) -> None:
    """In the first place that of the embedding itself, which does not change."""
    array = np.array(emb.vectors)
    mine = bb.Embedding(WORDS, array, "mine")
    before = array.copy()
    debiaser = fitted("hard_debias", emb)
    read_only = np.zeros_like(array)
    read_only.flags.writeable = False
    for message, out in (
        ("'out' is the array of embedding 'mine'", array),
        ("'out' is an array of the shape .* and the type float64", before.astype(np.float64)),
        (r"expected numpy.empty\(\(212, 12\)", before[1:]),
        ("'out' is a read-only array", read_only),
        ("'out' is an int; expected an array, or the name of a .npy file", 3),
    ):
        with pytest.raises(SpecError, match=message):
            debiaser.transform(mine, out=out)
    np.testing.assert_array_equal(array, before)


def test_words_that_a_method_leaves_are_no_target(emb: bb.Embedding) -> None:
    debiaser = fitted("half_sibling_regression", emb)
    with pytest.raises(SpecError, match="leaves the words it has learnt from as they are"):
        debiaser.transform(emb, target=["f0", "m0"])
    # These are not neutralised either, but equalised.
    fitted("multiclass_hard_debias", emb).transform(emb, target=["f0", "m0"])


def test_words_to_ignore_that_are_not_there_are_told(emb: bb.Embedding) -> None:
    with pytest.warns(BayesBiasWarning, match="planted has no word of 'ignore': 'he', 'she'"):
        fitted("hard_debias", emb).transform(emb, ignore=["he", "she"])


@pytest.mark.parametrize("name", EQUALIZE)
class TestEqualising:
    def test_pairs_that_are_not_there_are_named(self, name: str, emb: bb.Embedding) -> None:
        expected = fitted(name, emb, equalize=[("f0", "m0")])
        text = r"lacks a word of 1 of 2 pairs or sets of 'equalize', left out: "
        with pytest.warns(BayesBiasWarning, match=rf"planted {text}\('f1', 'nobody'\)"):
            debiaser = fitted(name, emb, equalize=[("f0", "m0"), ("f1", "nobody")])
        assert debiaser.not_equalized_ == (("f1", "nobody"),)
        # Not once more, for the same embedding.
        after = debiaser.transform(emb)
        np.testing.assert_array_equal(after.vectors, expected.transform(emb).vectors)
        less = emb.subset([word for word in WORDS if word != "m0"], "less")
        with pytest.warns(BayesBiasWarning, match=rf"less {text}\('f0', 'm0'\)"):
            debiaser.transform(less)

    def test_none_is_an_error(self, name: str, emb: bb.Embedding) -> None:
        for pairs in ([("he", "nobody")], "bolukbasi:equalize_pairs"):
            with pytest.raises(VocabularyError, match="each of the .* pairs or sets of 'equalize'"):
                fitted(name, emb, equalize=pairs)


def test_words_of_published_lists_are_not_named(demo: bb.Embedding) -> None:
    """Few vocabularies have all of them; pytest makes errors of warnings."""
    debiaser = bb.debias.HardDebias(equalize="bolukbasi:equalize_pairs").fit(demo)
    assert ("twin_brother", "twin_sister") in debiaser.not_equalized_
    debiaser.transform(demo, ignore="bolukbasi:gender_specific")
    bb.debias.HalfSiblingRegression().fit(demo)


def test_other_words_that_are_not_there_are_named(emb: bb.Embedding) -> None:
    with pytest.warns(BayesBiasWarning, match="lacks 1 of 3 words of 'definition': 'q'"):
        bb.debias.HalfSiblingRegression().fit(emb, definition=["f0", "m0", "q"])
    with pytest.warns(BayesBiasWarning, match="lacks 1 of 3 words of 'neutral_words': 'q'"):
        bb.debias.SoftDebias(2000.0, neutral_words=["w0", "w1", "q"]).fit(emb, definition=PAIRS)


@pytest.mark.parametrize("name", bb.debias.DEBIASERS)
def test_a_fit_that_fails_leaves_nothing_behind(
    name: str, emb: bb.Embedding, rng: np.random.Generator
) -> None:
    debiaser = fitted(name, emb)
    other = bb.Embedding([f"x{i}" for i in range(30)], rng.normal(size=(30, 7)), "other")
    with pytest.raises(VocabularyError):
        debiaser.fit(other, definition=definition(name))
    for embedding in (emb, other):
        with pytest.raises(NotFittedError, match="has not been fitted"):
            debiaser.transform(embedding)


def test_vectors_that_become_infinite_are_named(
    tmp_path: Path, emb: bb.Embedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    debiaser = fitted("projection", emb)
    monkeypatch.setattr(
        type(debiaser), "_change", lambda self, vectors, rows: np.full_like(vectors, np.inf)
    )
    with np.errstate(all="ignore"), pytest.raises(DataError, match=f"{WORDS[0]!r}.*infinite"):
        debiaser.transform(emb, out=tmp_path / "after.npy")
    assert not (tmp_path / "after.npy").exists()


def test_zero_vectors_stay(emb: bb.Embedding) -> None:
    vectors = np.array(emb.vectors)
    vectors[40] = 0
    holed = bb.Embedding(WORDS, vectors, "holed")
    after = fitted("hard_debias", emb).transform(holed)
    assert not after.vectors[40].any()


# Files


def test_mapped_embeddings_go_to_files(emb: bb.Embedding, tmp_path: Path) -> None:
    emb.save(tmp_path / "before.npy")
    mapped = bb.load_embedding(tmp_path / "before.npy")
    debiaser = fitted("hard_debias", emb)
    after = debiaser.transform(mapped, out=tmp_path / "after.npy")
    np.testing.assert_array_equal(after.vectors, debiaser.transform(emb).vectors)


def test_ranks_that_a_file_does_not_keep_are_told(emb: bb.Embedding, tmp_path: Path) -> None:
    ranked = bb.Embedding(emb.words, emb.vectors, "ranked", ranks=np.arange(len(emb)) + 5)
    debiaser = fitted("hard_debias", emb)
    with pytest.warns(BayesBiasWarning, match="after.npy: npy files do not keep the ranks"):
        after = debiaser.transform(ranked, out=tmp_path / "after.npy")
    assert after.ranks[0] == 5
    assert bb.load_embedding(tmp_path / "after.npy").ranks[0] == 1


def interrupted(monkeypatch: pytest.MonkeyPatch, blocks: int, error: BaseException) -> list[int]:
    """Let writing fail after some blocks; return where the sizes of blocks are noted."""
    monkeypatch.setattr(base, "_BLOCK", 16)
    written: list[int] = []
    append = vector_targets.FileTarget.append

    def failing(self: vector_targets.FileTarget, rows: np.ndarray) -> None:
        if len(written) == blocks:
            raise error
        written.append(len(rows))
        append(self, rows)

    monkeypatch.setattr(vector_targets.FileTarget, "append", failing)
    return written


def test_an_interrupted_run_goes_on(
    emb: bb.Embedding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    debiaser = fitted("hard_debias", emb)
    out = tmp_path / "after.npy"
    with monkeypatch.context() as patch:
        written = interrupted(patch, 5, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            debiaser.transform(emb, out=out)
        assert len(written) == 5
    assert not out.exists()
    with monkeypatch.context() as patch:
        written = interrupted(patch, 1000, KeyboardInterrupt())
        after = debiaser.transform(emb, out=out)
        assert sum(written) == len(WORDS) - 5 * 16
    np.testing.assert_array_equal(after.vectors, debiaser.transform(emb).vectors)
    assert sorted(os.listdir(tmp_path)) == ["after.npy", "after.vocab.txt"]


def test_blocks_begin_at_the_same_rows_wherever_a_run_was_killed(
    emb: bb.Embedding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    debiaser = fitted("hard_debias", emb)
    out = tmp_path / "after.npy"
    with monkeypatch.context() as patch:
        interrupted(patch, 5, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            debiaser.transform(emb, out=out)
    part = tmp_path / ".after.npy.part"
    # Killed in the middle of a row of the fourth block.
    os.truncate(part, part.stat().st_size - 4 * emb.dim * 24 - 2)
    with monkeypatch.context() as patch:
        written = interrupted(patch, 1000, KeyboardInterrupt())
        after = debiaser.transform(emb, out=out)
    assert sum(written) == len(WORDS) - 3 * 16
    assert set(written[:-1]) == {16}
    np.testing.assert_array_equal(after.vectors, debiaser.transform(emb).vectors)


def test_two_runs_do_not_write_one_file(
    emb: bb.Embedding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, first, second = tmp_path / "after.npy", *(fitted("hard_debias", emb) for _ in range(2))
    append, refused = vector_targets.FileTarget.append, []

    def meanwhile(self: vector_targets.FileTarget, rows: np.ndarray) -> None:
        append(self, rows)
        with pytest.raises(DataError) as caught:
            second.transform(emb, out=out)
        refused.append(str(caught.value))

    with monkeypatch.context() as patch:
        patch.setattr(vector_targets.FileTarget, "append", meanwhile)
        after = first.transform(emb, out=out)
    assert refused
    assert str(out) in refused[0]
    assert f"process {os.getpid()} on " in refused[0]
    np.testing.assert_array_equal(after.vectors, first.transform(emb).vectors)
    assert sorted(os.listdir(tmp_path)) == ["after.npy", "after.vocab.txt"]


def test_what_another_run_left_is_not_used(
    emb: bb.Embedding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "after.npy"
    with monkeypatch.context() as patch:
        interrupted(patch, 5, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            fitted("hard_debias", emb).transform(emb, out=out)
    other = bb.debias.HardDebias().fit(emb, definition=PAIRS[:3])
    after = other.transform(emb, out=out)
    np.testing.assert_array_equal(after.vectors, other.transform(emb).vectors)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk(emb: bb.Embedding, tmp_path: Path) -> None:
    (tmp_path / "after.npy").write_bytes(b"what was there")
    (tmp_path / ".after.npy.part").symlink_to("/dev/full")
    with pytest.raises(DataError, match="cannot be written .*; make room or give another place"):
        fitted("hard_debias", emb).transform(emb, out=tmp_path / "after.npy")
    assert (tmp_path / "after.npy").read_bytes() == b"what was there"


def test_a_disk_that_is_full_in_the_end(
    emb: bb.Embedding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "after.npy"
    with monkeypatch.context() as patch:
        patch.setattr(vector_targets.os, "replace", _no_room)
        with pytest.raises(DataError, match=r"goes on from what .* in \.after\.npy\.part\."):
            fitted("hard_debias", emb).transform(emb, out=out)
    assert sorted(os.listdir(tmp_path)) == [".after.npy.part", ".after.npy.part.json"]
    after = fitted("hard_debias", emb).transform(emb, out=out)
    np.testing.assert_array_equal(after.vectors, fitted("hard_debias", emb).transform(emb).vectors)


def _no_room(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_file_is_emptied_before_it_is_said_to_be_of_another_run(
    emb: bb.Embedding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "after.npy"
    with monkeypatch.context() as patch:
        interrupted(patch, 5, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            fitted("hard_debias", emb).transform(emb, out=out)
    other = bb.debias.HardDebias().fit(emb, definition=PAIRS[:3])
    with monkeypatch.context() as patch:
        opened = Path.open

        def refused(path: Path, *args: Any, **options: Any) -> Any:
            return (_no_room if path.suffix == ".part" else opened)(path, *args, **options)

        patch.setattr(Path, "open", refused)
        with pytest.raises(DataError, match="No space left"):
            other.transform(emb, out=out)
    after = other.transform(emb, out=out)
    np.testing.assert_array_equal(after.vectors, other.transform(emb).vectors)


def test_out_is_checked_first(emb: bb.Embedding, tmp_path: Path) -> None:
    debiaser = fitted("hard_debias", emb)
    with pytest.raises(SpecError, match="the suffix is '.bin'; expected '.npy'"):
        debiaser.transform(emb, out=tmp_path / "after.bin")
    with pytest.raises(DataError, match="does not exist; make it first"):
        debiaser.transform(emb, out=tmp_path / "no" / "after.npy")
