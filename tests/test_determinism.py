"""The same seed gives the same numbers, with any number of threads and processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

# All that takes a seed, or shares its work among threads; with one process or two.
RESULTS = """
import json, sys, warnings
import numpy as np
import bayesbias as bb

def main():
    warnings.simplefilter("ignore")
    jobs = int(sys.argv[1])
    demo, study, query = bb.load_embedding("demo"), bb.load_study("religion"), "weat_7"
    table = bb.distance_table(demo, study)
    fits = {name: bb.fit(table, name, draws=50, seed=3) for name in ("crossed", "interaction")}
    fit = fits["interaction"]
    queries = [bb.load_query(name) for name in ("weat_6", "weat_7", "weat_8")]
    shared = {"seed": 3, "n_jobs": jobs, "progress": False}
    scores = bb.run_queries("weat_es", queries, ["demo", "demo-100d"], **shared)
    ranks = bb.rank_posterior("rnsb", queries, ["demo", "demo-100d"], draws=20, **shared)
    grown = bb.silhouettes("weat_es", query, demo, runs=5, **shared)
    checked = bb.calibrate("hierarchical", table, simulations=2, draws=50, **shared)
    numbers = {
        "contrasts": fit.contrasts(by="protected_word"),
        "waic": bb.compare(fits),
        "loo": bb.compare(fits, "loo", by="word_to_compare"),
        "scores": scores,
        "ranking": ranks.table,
        "silhouettes": grown.table,
        "calibration": checked.table,
        "words": bb.check_words(queries[1], demo, samples=20, seed=3).pairs,
        "debiased": bb.debias.LEACE().fit(demo, queries[1]).transform(demo).vectors[::500],
    }
    for name, value in numbers.items():
        frame = value.select_dtypes("number").to_numpy() if hasattr(value, "columns") else value
        numbers[name] = np.asarray(frame, dtype=float).tolist()
    print(json.dumps(numbers))

if __name__ == "__main__":
    main()
"""


def results(tmp_path: Any, threads: int, jobs: int) -> dict[str, list[list[float]]]:
    script = tmp_path / "results.py"
    script.write_text(RESULTS, "utf-8")
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = os.environ | dict.fromkeys(names, str(threads))
    command = [sys.executable, str(script), str(jobs)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[list[float]]] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_numbers_do_not_depend_on_threads_and_processes(tmp_path: Any) -> None:
    one = results(tmp_path, threads=1, jobs=1)
    assert all(one.values())
    for threads, jobs in ((2, 1), (1, 2), (2, 2)):
        other = results(tmp_path, threads, jobs)
        for name, numbers in one.items():
            # As texts: NaN is equal to NaN there.
            assert json.dumps(other[name]) == json.dumps(numbers), (name, threads, jobs)
