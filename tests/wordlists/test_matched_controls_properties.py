"""Whatever the pool: no word twice, the right number, and what is near enough is taken."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning


@st.composite
def cases(draw: st.DrawFn) -> tuple[bb.Study, bb.Embedding, dict[str, float], int]:
    """A study and an embedding whose words have random counts."""
    n = draw(st.integers(2, 6))
    ratio = draw(st.integers(1, 3))
    size = n * ratio + draw(st.integers(0, 30))
    own = draw(st.integers(1, size))
    stereotypes = [f"s{i}" for i in range(n)]
    pool = ["zq" + "".join(chr(97 + int(d)) for d in str(100 + i)) for i in range(size)]
    words = ["he", "she", *stereotypes, *pool]
    log_counts = draw(st.lists(st.floats(0, 15), min_size=len(words), max_size=len(words)))
    study = bb.Study(
        "x",
        {"a": ["he"], "b": ["she"]},
        {"a": stereotypes[:1], "b": stereotypes[1:]},
        {"neutral": pool[:own]},
    )
    counts = dict(zip(words, np.exp(log_counts).tolist(), strict=True))
    return study, bb.Embedding(words, np.ones((len(words), 2))), counts, ratio


@given(cases(), st.integers(0, 5))
def test_invariants(case: tuple[bb.Study, bb.Embedding, dict[str, float], int], seed: int) -> None:
    study, embedding, counts, ratio = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesBiasWarning)
        matched = study.match_controls(embedding, frequencies=counts, ratio=ratio, seed=seed)
    matches = matched.matches
    chosen = set(matches["word"])
    listed = {
        word for words in (*study.groups.values(), *study.stereotypes.values()) for word in words
    }
    assert len(chosen) == len(matches) == ratio * len(listed - {"he", "she"})
    assert not chosen & listed
    assert chosen == set(matched.controls["neutral"])
    assert (matches["matched_to"].value_counts() == ratio).all()
    values = np.log([counts[word] for word in matches["word"]])
    np.testing.assert_allclose(matches["value"], values)
    # A control from farther than the caliper means that nothing nearer was left.
    gaps = np.abs(matches["value"] - matches["matched_value"])
    unused = [word for word in counts if word not in chosen | listed]
    for gap, wanted, within in zip(
        gaps, matches["matched_value"], matches["within_caliper"], strict=True
    ):
        if not within:
            nearest = min((abs(np.log(counts[w]) - wanted) for w in unused), default=np.inf)
            # Words beyond the range of the stereotypes are left out if there are enough within.
            farthest = gaps[matches["within_caliper"]].max()  # not a number if there is none
            assert gap <= nearest + 1e-9 or not nearest <= farthest
    after = matched.balance.set_index("words").loc["after"]
    assert 0 <= after["ks"] <= 1
    assert after["n"] == len(matches)
