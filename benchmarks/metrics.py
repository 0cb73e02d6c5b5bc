"""Metrics and permutation tests beside WEFE, on WEFE's test model: `python benchmarks/metrics.py`.

WEFE needs an older NumPy, hence an environment of its own. WEFE's permutations are timed for a
hundredth of the number and multiplied: their time is proportional to it, and 10,000 take minutes.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from measuring import MODEL, WEFE, Peer, Record, alone, clock

import bayesbias as bb

PERMUTATIONS = 10_000
SCALED = 100


@dataclass(frozen=True)
class Case:
    """A query, with WEFE's names of options."""

    metric: str
    size: str
    targets: list[list[str]]
    attributes: list[list[str]]
    options: dict[str, Any] = field(default_factory=dict)
    repeats: int = 5


def cases(model: bb.Embedding, short: bool) -> Iterator[Case]:
    """Yield the queries to time."""
    weat = {name: list(words) for name, words in bb.word_sets("weat").items()}
    names = [weat["male_names"], weat["female_names"]]
    flowers = [weat["flowers"], weat["insects"]]
    feelings = [weat["pleasant_5"], weat["unpleasant_5a"]]
    for metric in ("WEAT", "MAC"):
        yield Case(metric, "25 × 25 words", flowers, feelings)
    for metric in ("RND", "RIPA", "ECT"):
        yield Case(metric, "8 × 8 words", names, [weat["career"]])
    few = PERMUTATIONS // SCALED
    test = {"calculate_p_value": True, "p_value_iterations": few}
    yield Case("WEAT", f"25 × 25 words, {PERMUTATIONS:,} permutations", flowers, feelings, test, 3)
    if short:
        return
    many = np.random.default_rng(0).choice(model.words, size=(3, 3000), replace=False).tolist()
    for metric in ("RND", "RIPA", "ECT"):
        yield Case(metric, "3,000 × 3,000 words", many[:2], many[2:], repeats=1)
    lexicon = bb.word_sets("bing_liu")
    known = [
        [w for w in lexicon[f"{side}_words"] if w in model] for side in ("positive", "negative")
    ]
    size = f"{sum(map(len, known)):,} words of the opinion lexicon"
    yield Case("RNSB", size, names, known, {"holdout": False}, 3)


def ours(case: Case, model: bb.Embedding) -> float:
    """Time a case with bayesbias; a permutation test draws all its permutations."""
    metric = bb.metrics.METRICS[case.metric.lower()]()
    query = bb.Query(case.targets, case.attributes)
    options = dict(case.options)
    if "p_value_iterations" in options:
        options |= {"p_value_iterations": PERMUTATIONS, "p_value_method": "approximate"}
    return clock(lambda: metric.run_query(query, model, **options))


def records(short: bool) -> Iterator[Record]:
    """Yield one record per case; without WEFE's model on the demo embedding, without WEFE."""
    warnings.simplefilter("ignore", bb.errors.BayesBiasWarning)
    model = bb.load_embedding("demo")
    if MODEL.exists():
        exact = bb.embeddings.Matching(("exact",))  # as WEFE finds words
        model = bb.load_embedding(MODEL, progress=False).with_matching(exact)
    here = WEFE.exists() and MODEL.exists()
    with contextlib.ExitStack() as stack:
        peer = stack.enter_context(Peer(WEFE, "peer_wefe.py")) if here else None
        if peer is not None:
            peer.ask(model=str(MODEL), words=list(model.words))
        for case in cases(model, short):
            ours(case, model)  # imports
            if peer is not None and case.repeats > 1 and not short:
                peer.ask(**vars(case))
            mine, theirs = [], []
            times = SCALED if "p_value_iterations" in case.options else 1
            for _ in range(1 if short else case.repeats):
                mine.append(ours(case, model))
                if peer is not None:
                    theirs.append(times * peer.ask(**vars(case)))
            note = f"WEFE's from {PERMUTATIONS // SCALED} permutations" if times > 1 else ""
            yield Record(case.metric, case.size, tuple(mine), "WEFE", tuple(theirs), note=note)


if __name__ == "__main__":
    alone(records)
