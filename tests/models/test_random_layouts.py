"""The exact engine fits tables of any layout: a small version of ``scripts/stress_exact.py``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from brute_force import BruteForce, by_name, make_table
from layouts import random_table

import bayesbias as bb
from bayesbias.errors import DataError
from bayesbias.models.exact import scale_draws
from bayesbias.models.exact.compiled_model import compile_model, parent_index
from bayesbias.models.exact.engine import sample_exactly
from bayesbias.models.model_data import model_data

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from stress_exact import fit_one

pytestmark = pytest.mark.numpy_only

#: Tables that once went wrong.
#: crossed 0: one protected word and duplicated rows, so that no noise is needed.
#: crossed 6: one protected word, so that two scales share one variance; an L-shaped density.
#: hierarchical 14: means were eliminated in one large unit, which was slow.
#: interaction 67: so little noise that scales which are not needed came near the floor.
KNOWN = [
    ("crossed", 0),
    ("crossed", 6),
    ("hierarchical", 14),
    ("interaction", 0),
    ("interaction", 67),
]
SMALL = {"most_words": 8, "most_attributes": 30}
MODELS = (
    *("baseline", "connection", "separate", "hierarchical", "crossed", "interaction"),
    "embeddings",
)


def problem_of(name: str, seed: int, draws: int, **size: int) -> str:
    """Return what went wrong in a fit. Time is not judged here: the machine may be busy."""
    problem = str(fit_one(name, seed, draws, **size)["problem"])
    return "" if problem.startswith("slow") else problem


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
@pytest.mark.parametrize(("name", "seed"), KNOWN)
def test_tables_that_once_failed(name: str, seed: int) -> None:
    assert problem_of(name, seed, 200) == ""


def test_words_without_a_list_do_not_join_kinds_of_attributes() -> None:
    # A protected word that has lost its stereotypes meets one kind of attribute only. The effects
    # that it would have on the others still belong to their own kinds.
    spec = bb.load_model("embeddings")
    tables = [bb.distance_table(name, "weat_7") for name in ("demo", "demo-100d")]
    table = bb.check_table(pd.concat(tables, ignore_index=True))
    first = table["protected_word"].iloc[0]
    some = table[(table["protected_word"] != first) | (table["connection"] == "none")]
    for rows in (table, some):
        blocks = compile_model(spec, model_data(spec, rows)).blocks
        assert sorted(len(block.scales) for block in blocks) == [10, 10, 22]


def test_a_list_that_one_embedding_lacks_keeps_its_connection() -> None:
    # What group x has of the stereotypes of y in one embedding is pooled to what is different,
    # although no row of that embedding shows it.
    spec = bb.load_model("embeddings")
    table = make_table(embeddings=2)
    gone = (table["word_class"] == "y_stereotype") & (table["protected_group"] == "x")
    data = model_data(spec, bb.check_table(table[~(gone & (table["embedding"] == "e1"))]))
    places = parent_index(spec, data, "m", "bar").reshape(data.shape(spec["m"].by))
    names = {"word_class": "y_stereotype", "protected_group": "x", "embedding": "e1"}
    at = tuple(data.levels[factor].index(level) for factor, level in names.items())
    connection, embedding = np.unravel_index(places[at], data.shape(spec["bar"].by))
    assert data.levels["connection"][connection] == "different"
    assert data.levels["embedding"][embedding] == "e1"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
@pytest.mark.parametrize("seed", range(100, 108))
@pytest.mark.parametrize("name", MODELS)
def test_random_layouts(name: str, seed: int) -> None:
    assert problem_of(name, seed, 100, **SMALL) == ""


@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
@pytest.mark.parametrize("seed", range(200, 206))
@pytest.mark.parametrize("name", ["crossed", "interaction", "embeddings"])
def test_density_of_random_layouts(name: str, seed: int) -> None:
    """As by one dense normal distribution."""
    several = 2 if name == "embeddings" else 1
    table = random_table(seed, embeddings=several, most_words=3, most_attributes=6)
    if table.duplicated(["embedding", "protected_word", "word_to_compare"]).any():
        table = bb.check_table(table)
    spec = bb.load_model(name)
    compiled = compile_model(spec, model_data(spec, table))
    at = np.random.default_rng(seed).normal(-2, 1, size=(2, compiled.layout.n_scales))
    ours = sum(block.log_density(at[:, block.scales]) for block in compiled.blocks)
    brute = BruteForce(spec, table)
    theirs = [brute.given(by_name(compiled, one)).log_density() for one in at]
    assert ours[1] - ours[0] == pytest.approx(theirs[1] - theirs[0], rel=1e-6, abs=1e-6)


def test_outcomes_without_any_noise_are_refused() -> None:
    """Equal distances in every cell: the residual scale has no bottom."""
    table = random_table(3, most_words=4, most_attributes=8)
    cells = table.groupby(["protected_word", "connection"], observed=True)["cosine_distance"]
    spec = bb.load_model("hierarchical")
    data = model_data(spec, table.assign(cosine_distance=cells.transform("mean")))
    with pytest.raises(DataError, match="without any noise"):
        sample_exactly(spec, data, 200, np.random.default_rng(1))


@pytest.mark.parametrize("seed", [9773, 9458])
def test_a_few_equal_rows_are_refused_before_sampling(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal rows of one list: its residual scale grows towards zero, if slowly."""

    def never(*_: object, **__: object) -> None:
        raise AssertionError("this takes minutes")

    monkeypatch.setattr(scale_draws, "_reject", never)
    spec = bb.load_model("interaction")
    data = model_data(spec, random_table(seed))
    with pytest.raises(DataError, match="without any noise"):
        sample_exactly(spec, data, 200, np.random.default_rng(seed))
