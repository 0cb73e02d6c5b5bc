"""The stated purity of built lists, on vocabularies whose groups are known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.wordlists.build.list_purity import expected_purity

LETTERS = "bcdfghklmp"


class ShiftedVocabulary:
    """Words of two groups and neutral ones, labelled as people label.

    Labelled words of a group are its clearest ones, and 4% of the neutral words, like surnames,
    look much like words of the first group. Neutral labels are a random sample.
    """

    def __init__(self, seed: int, n: int = 12_000) -> None:
        rng = np.random.default_rng(seed)
        self.codes = rng.choice(3, size=n, p=[0.04, 0.06, 0.9])
        means = np.zeros((n, 6))
        means[self.codes == 0, 0] = 2.6
        means[self.codes == 1, 1] = 2.6
        alike = (self.codes == 2) & (rng.random(n) < 0.04)
        means[alike, 0] = 2.0
        vectors = means + rng.normal(size=(n, 6))
        self.words = ["zy" + "".join(LETTERS[int(d)] for d in f"{i:05d}") for i in range(n)]
        self.embedding = bb.Embedding(self.words, vectors, "shifted")
        self.labelled = {}
        for code, name in enumerate(("female", "male", "neutral")):
            rows = np.flatnonzero(self.codes == code)
            if code < 2:  # the clearest of those that people thought of
                some = rng.permutation(rows)[:300]
                rows = some[np.argsort(-vectors[some, code])][:150]
            else:
                rows = rng.permutation(rows)[:1500]
            self.labelled[name] = [self.words[i] for i in rows]

    def purity(self) -> pd.DataFrame:
        """Return the stated and the true purity of the two groups, and the mean probability."""
        groups = bb.wordlists.GroupClassifier("logistic", unit=False, background=0)
        lemmas = {word: word for word in self.words}
        groups.fit(self.embedding, self.labelled, lemmas=lemmas)
        table = groups.predict(progress=False)
        new = ~table["word"].isin(groups.labelled_["word"]).to_numpy()
        rows = []
        for code, name in enumerate(("female", "male")):
            mine = new & (table["group"] == name).to_numpy()
            stated = expected_purity(groups, name, int(mine.sum()), int(new.sum()), 0.8)
            true = float((self.codes[mine] == code).mean())
            probability = float(table["probability"][mine].mean())
            rows.append(
                {"group": name, "true": true, "by_probability": probability, **stated._asdict()}
            )
        return pd.DataFrame(rows)


@pytest.mark.slow
def test_the_stated_purity_holds_where_probabilities_are_too_high() -> None:
    found = pd.concat([ShiftedVocabulary(seed).purity() for seed in range(12)])
    inside = found["true"].between(found["lower"], found["upper"])
    # Of 24 intervals of 89% about 21 are right; fewer than 18 are less probable than 0.02.
    assert inside.sum() >= 18
    assert (found["share"] - found["true"]).mean() == pytest.approx(0, abs=0.05)
    female = found[found["group"] == "female"]
    assert (female["by_probability"] - female["true"]).mean() > 0.1  # what was stated before


def classifier(errors: int, number: int, prevalence: float) -> Any:
    """What `expected_purity` reads: a group, and neutral words of which some were misclassified."""
    wrong = np.arange(number) < errors
    unseen = pd.DataFrame(
        {
            "group": ["a"] * 10 + ["neutral"] * number,
            "predicted": ["a"] * 10 + np.where(wrong, "a", "neutral").tolist(),
            "probability": 0.9,
        }
    )
    return SimpleNamespace(unseen_=unseen, prevalence_={"a": 1 - prevalence, "neutral": prevalence})


def test_purity_by_hand() -> None:
    """20 of 2,000 neutral words go wrong, so of 9,000 about 90: of 300 classified ones 210 stay."""
    found = expected_purity(classifier(20, 2000, 0.9), "a", 300, 10_000, 0.8)
    assert found.share == pytest.approx(0.7, abs=0.02)
    # The interval is that of the rate, whose posterior is a beta distribution (SciPy).
    from scipy.stats import beta

    low, high = beta(21, 1981).ppf([0.055, 0.945])
    assert found.lower == pytest.approx(1 - 9000 * high / 300, abs=0.02)
    assert found.upper == pytest.approx(1 - 9000 * low / 300, abs=0.02)
    # No error among few words proves little; more words with a higher threshold prove nothing else.
    few = expected_purity(classifier(0, 50, 0.9), "a", 300, 10_000, 0.8)
    many = expected_purity(classifier(0, 5000, 0.9), "a", 300, 10_000, 0.8)
    assert few.lower < 0.4 < 0.9 < many.lower
    # All errors are below the threshold.
    above = expected_purity(classifier(20, 2000, 0.9), "a", 300, 10_000, 0.95)
    assert above.share > 0.98
    assert expected_purity(classifier(1500, 2000, 0.9), "a", 10, 10_000, 0.8).share == 0


@pytest.mark.slow
def test_words_are_judged_by_classifiers_that_have_not_seen_them(demo: bb.Embedding) -> None:
    labelled = bb.load_labelled("gender")
    two = {name: labelled[name] for name in ("female", "male")}
    groups = bb.wordlists.GroupClassifier(background=200).fit(demo, two)
    unseen = groups.unseen_
    assert unseen["word"].tolist() == [*groups.labelled_["word"], *groups.background_]
    assert (unseen["group"][: len(groups.labelled_)] == groups.labelled_["group"]).all()
    # Unlike `predict`, which has learnt from these words.
    seen = groups.predict(unseen["word"], progress=False)[list(groups.classes_)].idxmax(axis=1)
    right = [(predicted == unseen["group"]).mean() for predicted in (unseen["predicted"], seen)]
    assert 0.7 < right[0] < right[1]


@pytest.mark.slow
def test_the_note_states_it(demo: bb.Embedding) -> None:
    built = bb.build_lists(demo, "gender", size=150, progress=False)
    [note] = [text for text in built.notes if text.startswith("Expected to be right")]
    assert "89% interval" in note
    equal = bb.wordlists.GroupClassifier(prior="equal").fit(demo, "gender")
    built = bb.build_lists(demo, equal, size=150, progress=False)
    [note] = [text for text in built.notes if text.startswith("Expected to be right")]
    assert "by their probabilities" in note
