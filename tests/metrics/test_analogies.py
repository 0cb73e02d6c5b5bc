from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

import bayesbias as bb
from bayesbias.errors import SpecError, VocabularyError

MODULE = import_module("bayesbias.metrics.analogies")


def brute_force(
    emb: bb.Embedding, pair: tuple[str, str], delta: float, unwanted: set[str], vocabulary: int
) -> list[tuple[str, str, float, float]]:
    """Try all pairs of words, and keep the best for each x."""
    unit = {w: emb[w].astype(float) / np.linalg.norm(emb[w].astype(float)) for w in emb.words}
    axis = unit[pair[0]] - unit[pair[1]]
    best = []
    words = [word for word in emb.words[:vocabulary] if word not in unwanted]
    for x in words:
        options = []
        for y in words:
            step = unit[x] - unit[y]
            distance = np.linalg.norm(step)
            if x != y and distance <= delta:
                score = step @ axis / distance / np.linalg.norm(axis)
                options.append((score, y, distance))
        if options and max(options)[0] > 0:
            score, y, distance = max(options)
            best.append((x, y, score, distance))
    return sorted(best, key=lambda item: -item[2])


@pytest.fixture
def simulated(rng: np.random.Generator) -> bb.Embedding:
    vectors = rng.standard_normal((120, 8)) * rng.uniform(0.5, 3, (120, 1))
    return bb.Embedding(["she", "he", *(f"w{i}" for i in range(118))], vectors, "simulated")


@pytest.mark.parametrize("numbers", [1, 700, 10**6])
@pytest.mark.parametrize(("delta", "unrestricted"), [(0.8, False), (1.0, True), (1.3, False)])
def test_is_what_all_pairs_give(
    simulated: bb.Embedding,
    monkeypatch: pytest.MonkeyPatch,
    numbers: int,
    delta: float,
    unrestricted: bool,
) -> None:
    monkeypatch.setattr(MODULE, "_NUMBERS", numbers)
    unwanted = set() if unrestricted else {"she", "he"}
    expected = brute_force(simulated, ("she", "he"), delta, unwanted, 90)
    found = bb.metrics.analogies(
        simulated, delta=delta, n=1000, unrestricted=unrestricted, vocabulary=90
    )
    assert list(zip(found["x"], found["y"], strict=True)) == [e[:2] for e in expected]
    np.testing.assert_allclose(found["score"], [e[2] for e in expected], atol=1e-12)
    np.testing.assert_allclose(found["distance"], [e[3] for e in expected], atol=1e-12)
    assert (found["distance"] <= delta + 1e-9).all()
    top = bb.metrics.analogies(
        simulated, delta=delta, n=5, vocabulary=90, unrestricted=unrestricted
    )
    assert top["x"].tolist() == [e[0] for e in expected[:5]]


def test_finds_planted_pairs(rng: np.random.Generator) -> None:
    step = np.zeros(40)
    step[0] = 0.2
    bases = rng.standard_normal((20, 40))
    bases[:, 0] = 0
    bases /= np.linalg.norm(bases, axis=1, keepdims=True)
    vectors = [v for base in bases for v in (base + step, base - step)]
    words = [f"{side}{i}" for i in range(20) for side in ("f", "m")]
    emb = bb.Embedding(words, vectors)
    found = bb.metrics.analogies(emb, ("f0", "m0"), n=19)
    assert sorted(found["x"]) == sorted(f"f{i}" for i in range(1, 20))
    assert [y[1:] for y in found["y"]] == [x[1:] for x in found["x"]]
    np.testing.assert_allclose(found["score"], 1, atol=1e-6)


def test_same_vectors_and_zero_vectors_make_no_analogy() -> None:
    vectors = [[1, 0.2, 0], [1, -0.2, 0], [1, 0.2, 0], [2, 0.4, 0], [0, 0, 0]]
    emb = bb.Embedding(["she", "he", "twin", "long", "zero"], vectors)
    assert bb.metrics.analogies(emb).empty
    found = bb.metrics.analogies(emb, unrestricted=True)
    assert found[["x", "y"]].to_numpy().tolist() == [["she", "he"], ["twin", "he"], ["long", "he"]]


def test_real_words(demo: bb.Embedding) -> None:
    found = bb.metrics.analogies(demo, n=20)
    pairs = set(zip(found["x"], found["y"], strict=True))
    assert {("her", "his"), ("mother", "father"), ("daughter", "son")} <= pairs
    assert found["score"].is_monotonic_decreasing
    assert not {"she", "he"} & {*found["x"], *found["y"]}
    checked = bb.metrics.analogies(demo, n=20, unrestricted=True)
    assert checked.loc[0, ["x", "y", "answer"]].tolist() == ["she", "he", "he"]
    for x, answer in zip(checked["x"], checked["answer"], strict=True):
        told = bb.metrics.complete_analogy(demo, "she", x, "he", exclude=False, n=1)
        assert told["word"].tolist() == [answer]


def test_complete_analogy(demo: bb.Embedding) -> None:
    unit = demo.vectors.astype(float)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    a, b, c = (demo.index[word] for word in ("man", "king", "woman"))
    wanted = unit[b] - unit[a] + unit[c]
    cosines = unit @ wanted / np.linalg.norm(wanted)
    free = bb.metrics.complete_analogy(demo, "man", "king", "woman", exclude=False, n=5)
    assert free["word"].tolist() == [demo.words[i] for i in np.argsort(-cosines)[:5]]
    np.testing.assert_allclose(free["cosine"], np.sort(cosines)[::-1][:5], atol=1e-12)
    cosines[[a, b, c]] = -2
    bound = bb.metrics.complete_analogy(demo, "man", "king", "woman", n=5)
    assert bound["word"].tolist() == [demo.words[i] for i in np.argsort(-cosines)[:5]]
    assert "king" in free["word"].tolist()


def test_complete_analogy_agrees_with_gensim(demo: bb.Embedding) -> None:
    expected = demo.to_gensim().most_similar(["king", "woman"], ["man"], topn=8)
    found = bb.metrics.complete_analogy(demo, "man", "king", "woman", n=8)
    assert found["word"].tolist() == [word for word, _ in expected]
    np.testing.assert_allclose(found["cosine"], [cosine for _, cosine in expected], atol=1e-5)


def test_errors(tiny: bb.Embedding) -> None:
    with pytest.raises(VocabularyError, match="'queen' is not in the embedding 'tiny'"):
        bb.metrics.analogies(tiny, ("queen", "he"))
    with pytest.raises(SpecError, match=r"'pair' is \('he', 'he'\); expected two different"):
        bb.metrics.analogies(tiny, ("he", "he"))
    with pytest.raises(SpecError, match=r"'pair' is the string 'he'; expected a list"):
        bb.metrics.analogies(tiny, "he")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'delta' is 0; expected a distance above 0 and up to 2"):
        bb.metrics.analogies(tiny, delta=0)
    with pytest.raises(SpecError, match="'n' is 0"):
        bb.metrics.analogies(tiny, n=0)
    with pytest.raises(SpecError, match="'vocabulary' is 1; expected a whole number, 2 or more"):
        bb.metrics.analogies(tiny, vocabulary=1)
    same = bb.Embedding(["he", "she"], [[1.0, 0.0], [2.0, 0.0]], "same")
    with pytest.raises(SpecError, match="'she' and 'he' have the same vector in 'same'; give"):
        bb.metrics.analogies(same)
    with pytest.raises(VocabularyError, match="'queen' is not in the embedding 'tiny'"):
        bb.metrics.complete_analogy(tiny, "he", "queen", "she")
    with pytest.raises(SpecError, match="'tiny' has 2 words to choose 10 neighbours from"):
        bb.metrics.complete_analogy(tiny, "he", "nurse", "she")
