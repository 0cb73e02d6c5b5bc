"""Metrics, permutation tests and posteriors beside WEFE 1.0.1, in one run.

    python -m venv .venv-wefe && .venv-wefe/bin/pip install wefe==1.0.1
    python scripts/export_wefe_model.py wefe-model.npz
    python benchmarks/metrics.py wefe-model.npz .venv-wefe/bin/python

WEFE needs an older NumPy, hence an environment of its own. WEFE's permutations are timed for a
hundredth of the number and multiplied: their time is proportional to it, and 10,000 take minutes.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import bayesbias as bb

EXACT = bb.embeddings.Matching(("exact",))

PERMUTATIONS = 10_000
SCALED = 100


def cases(model: bb.Embedding) -> list[dict[str, Any]]:
    """Return the queries to time, with WEFE's names of options."""
    weat = {name: list(words) for name, words in bb.word_sets("weat").items()}
    lexicon = bb.word_sets("bing_liu")
    known = [
        [w for w in lexicon[f"{side}_words"] if w in model] for side in ("positive", "negative")
    ]
    rng = np.random.default_rng(0)
    many = rng.choice(model.words, size=(3, 3000), replace=False).tolist()
    names = [weat["male_names"], weat["female_names"]]
    flowers = [weat["flowers"], weat["insects"]]
    feelings = [weat["pleasant_5"], weat["unpleasant_5a"]]
    test = {"calculate_p_value": True, "p_value_iterations": PERMUTATIONS // SCALED}
    found: list[dict[str, Any]] = [
        {
            "name": "WEAT, 25 × 25 words",
            "metric": "WEAT",
            "targets": flowers,
            "attributes": feelings,
        },
        {"name": "MAC, 25 × 25 words", "metric": "MAC", "targets": flowers, "attributes": feelings},
    ]
    for metric in ("RND", "RIPA", "ECT"):
        found.append(
            {
                "name": f"{metric}, 8 × 8 words",
                "metric": metric,
                "targets": names,
                "attributes": [weat["career"]],
                "repeats": 50,
            }
        )
        found.append(
            {
                "name": f"{metric}, 3000 × 3000 words",
                "metric": metric,
                "targets": many[:2],
                "attributes": many[2:],
                "repeats": 1,
            }
        )
    for label, options in (
        ("all words", {"holdout": False}),
        ("80% of the words", {"holdout": True}),
        ("80%, 10 iterations", {"holdout": True, "n_iterations": 10}),
    ):
        found.append(
            {
                "name": f"RNSB, opinion lexicon, {label}",
                "metric": "RNSB",
                "targets": names,
                "attributes": known,
                "options": options,
                "repeats": 3,
            }
        )
    for label, targets, attributes in (
        ("8 × 8", names, [weat["career"], weat["family"]]),
        ("25 × 25", flowers, feelings),
    ):
        found.append(
            {
                "name": f"WEAT, {label} words, {PERMUTATIONS:,} permutations",
                "metric": "WEAT",
                "targets": targets,
                "attributes": attributes,
                "options": test,
                "repeats": 1,
            }
        )
    return [{"repeats": 5, "options": {}, **case} for case in found]


def seconds(function: Callable[[], object], repeats: int) -> float:
    """Return the shortest of several durations."""
    durations = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        durations.append(time.perf_counter() - start)
    return min(durations)


def ours(case: dict[str, Any], model: bb.Embedding) -> float:
    """Time a case with bayesbias; a permutation test draws all its permutations."""
    metric = bb.metrics.METRICS[case["metric"].lower()]()
    query = bb.Query(case["targets"], case["attributes"])
    options = dict(case["options"])
    if "p_value_iterations" in options:
        options |= {"p_value_iterations": PERMUTATIONS, "p_value_method": "approximate"}
    return seconds(
        lambda: metric.run_query(query, model, matching=EXACT, **options),
        case["repeats"],
    )


def main(path: str, peer: str) -> None:
    """Time both and print the ratios, then our posteriors by themselves."""
    model = bb.load_embedding(path, progress=False)
    asked = cases(model)
    script = Path(__file__).with_name("wefe_timings.py")
    done = subprocess.run(
        [peer, str(script)],
        input=json.dumps({"model": path, "cases": asked}),
        capture_output=True,
        text=True,
        check=True,
    )
    theirs = json.loads(done.stdout.splitlines()[-1])
    print(f"{'':42}{'WEFE':>12}{'bayesbias':>12}{'ratio':>9}")
    for case in asked:
        wefe = theirs[case["name"]] * (SCALED if "p_value_iterations" in case["options"] else 1)
        mine = ours(case, model)
        print(f"{case['name']:42}{wefe * 1e3:9.2f} ms{mine * 1e3:9.3f} ms{wefe / mine:9.0f}")
    print("\n4,000 posterior draws, 25-word sets")
    query = bb.load_query("weat_1")
    pairs = query.subqueries((2, 1))[0]
    for name, metric in bb.metrics.METRICS.items():
        if metric.whole_embedding:
            continue
        q = query if metric.template[1] in ("n", 2) else pairs
        took = seconds(partial(metric().posterior, q, model, matching=EXACT), 1)
        print(f"{name:42}{took:9.3f} s")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
