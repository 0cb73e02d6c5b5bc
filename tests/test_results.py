"""What every result offers: a table, a summary in words, HTML and LaTeX."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from latex_documents import complaints, needs_latex

import bayesbias as bb
from bayesbias._core.rounded_table import rounded_table

OFFERED = ("table", "summary", "_repr_html_", "to_latex")
#: Names with characters that LaTeX gives a meaning to.
NAME = "wood_50% & more #1"


@pytest.fixture(scope="module")
def embeddings(wood: bb.Embedding) -> list[bb.Embedding]:
    noise = np.random.default_rng(1).normal(0, 0.3, wood.vectors.shape)
    return [
        bb.Embedding(wood.words, wood.vectors, NAME),
        bb.Embedding(wood.words, wood.vectors + noise, "b_c"),
    ]


@pytest.fixture(scope="module")
def query(trees: bb.Study) -> bb.Query:
    groups, stereotypes = trees.groups.values(), trees.stereotypes.values()
    return bb.Query(groups, stereotypes, ["oak_s", "fir"], ["oak 100%", "fir"])


@pytest.fixture(scope="module")
def lists(demo: bb.Embedding) -> bb.wordlists.BuiltLists:
    return bb.build_lists(demo, "gender", size=8, progress=False)


def scored(query: bb.Query, embeddings: list[bb.Embedding]) -> dict[str, Any]:
    metric = bb.metrics.WEATEffectSize()
    measurement = metric.on(query, embeddings[0])
    return {
        "value": metric.run_query(query, embeddings[0]),
        "posterior": measurement.posterior(draws=100),
        "permutation test": measurement.permutation_test(iterations=50),
    }


@pytest.fixture(scope="module")
def results(
    embeddings: list[bb.Embedding],
    query: bb.Query,
    trees: bb.Study,
    lists: bb.wordlists.BuiltLists,
    made: Path,
) -> dict[str, Any]:
    return {
        **scored(query, embeddings),
        "ranking": bb.rank_posterior("weat_es", [query], embeddings, draws=50),
        "silhouettes": bb.silhouettes("weat_es", query, embeddings, runs=5, progress=False),
        "several silhouettes": bb.run_silhouettes(
            ["weat_es", "mac"], query, embeddings, runs=5, progress=False
        ),
        "word check": bb.check_words(query, embeddings[0], samples=10),
        "word check of several": bb.check_words(trees, embeddings, samples=10),
        "comparison of lists": bb.compare_lists("age", "demo", draws=50, samples=5),
        "sembias": bb.metrics.sembias(["demo", "demo-100d"], partial=True, draws=20),
        "factual association": bb.metrics.factual_association("demo", draws=20),
        "word report": bb.word_report("imam", "demo", n=3),
        "built lists": lists,
        "classifier": lists.classifier,
        "pmi bias": bb.metrics.pmi_bias(
            bb.corpus.Corpus(["she sews", "he rides", "he sews"] * 20, name=NAME),
            bb.Query([["she"], ["he"]], [["sews", "rides"]], ["oak_s", "fir"], ["a_b 5%"]),
        ),
        "matched study": bb.load_study("weat_7").match_controls("demo", seed=1),
        "before and after": bb.before_after(
            *(*embeddings, trees),
            **{"draws": 50, "metrics": ["weat_es"], "residual": ()},
            **{"similarity": (), "analogies": (), "progress": False},
        ),
        "audit": bb.Audit(made),
        "part of an audit": next(iter(bb.Audit(made).parts.values())),
        "check of an audit": bb.check(made, "associated - none < 0 with P > 0.5 for any word"),
        "check of a fit": bb.check(
            bb.Audit(made).fits["hierarchical"], "associated - none > 0 with P >= 0.5"
        ),
    }


NAMES = [
    *("value", "posterior", "permutation test", "ranking", "silhouettes"),
    "several silhouettes",
    *(
        "word check",
        "word check of several",
        "comparison of lists",
        "sembias",
        "factual association",
        "word report",
        "built lists",
        "classifier",
        "matched study",
    ),
    "pmi bias",
    *("before and after", "audit", "part of an audit", "check of an audit", "check of a fit"),
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
def test_a_result_has_a_table_a_summary_html_and_latex(results: dict[str, Any], name: str) -> None:
    result = results[name]
    assert isinstance(result.table, pd.DataFrame)
    assert len(result.table)
    assert result.summary().strip()
    assert "<" in result._repr_html_()
    check_latex(result.to_latex())
    given = result.to_latex(caption="Ours & theirs, 5%")
    assert r"\caption{Ours \& theirs, 5\%}" in given


@needs_latex
@pytest.mark.filterwarnings("ignore::bayesbias.errors.BayesBiasWarning")
def test_latex_compiles_all_results_and_they_fit_on_the_page(
    results: dict[str, Any], tmp_path: Path
) -> None:
    assert not complaints([result.to_latex() for result in results.values()], tmp_path)


def check_latex(latex: str) -> None:
    """Check what a compiler would refuse, and what a reader should not see."""
    environments: list[str] = []
    for kind, environment in re.findall(r"\\(begin|end)\{(\w+)\}", latex):
        if kind == "begin":
            environments.append(environment)
        else:
            assert environments.pop() == environment
    assert not environments
    tables = latex.count(r"\begin{table}")
    assert tables
    for rule in ("toprule", "midrule", "bottomrule", "caption"):
        assert latex.count(rf"\{rule}") == tables
    for table in latex.split(r"\end{table}")[:-1]:
        cells = {len(re.findall(r"(?<!\\)&", line)) for line in rows(table)}
        assert len(cells) == 1
    plain = re.sub(r"\\[_%#$&{}]", "", latex)
    assert not re.search(r"[_%#]", plain)
    assert plain.count("$") % 2 == 0
    assert plain.count("{") == plain.count("}")
    shown = plain.replace(r"\ifdim\width>\linewidth", "")
    assert not re.search(r"[−–→≤≥∞…<>]", re.sub(r"\$[^$]*\$", "", shown))
    assert not re.search(r"\d\.\d{7}", latex)
    assert not re.search(r"\bnan\b|\bNone\b|<NA>", latex)


def rows(table: str) -> Iterator[str]:
    return (line for line in table.splitlines() if line.endswith(r"\\"))


def test_captions_name_numbers_and_intervals(results: dict[str, Any]) -> None:
    for name, wanted in (
        ("posterior", r"from 14 words, with 89\% interval"),
        ("ranking", r"of 1 query), the least biased first: scores and ranks with 89\% intervals"),
        ("silhouettes", r"with 89\% intervals, from 5 runs with up to 6 words"),
        ("before and after", r"6 protected words: changes with 89\% intervals"),
        ("part of an audit", r"6 protected words): contrasts by the model hierarchical, with 89\%"),
        ("built lists", "16 words in lists built by frequency"),
        ("classifier", r"held-out words: macro F1 0.59 (89\% interval"),
    ):
        assert wanted in results[name].to_latex(), name


def test_every_class_with_a_summary_is_a_whole_result() -> None:
    found = set()
    for module in pkgutil.walk_packages(bb.__path__, "bayesbias."):
        if module.name.endswith("__main__"):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(value) and value.__module__ == module.name:
                found |= {value} if hasattr(value, "summary") else set()
    for result in found:
        fields = getattr(result, "__dataclass_fields__", {})
        assert not [name for name in OFFERED if not (hasattr(result, name) or name in fields)]
    assert len(found) > 15


def test_rows_of_different_measures_are_rounded_each_by_its_own_interval() -> None:
    frame = pd.DataFrame(
        {
            "before": [12.3456, 0.123456, 3.14159],
            "change": [-1.2345, 0.012345, 0.5],
            "lower": [-3.0, 0.0101, np.nan],
            "upper": [2.0, 0.0152, np.nan],
            "probability": [0.5, 0.9999, np.nan],
        }
    )
    assert rounded_table(frame, by_row=True).columns == (
        ("12.3", "0.1235", "3.14"),
        ("−1.2 [−3.0, 2.0]", "0.0123 [0.0101, 0.0152]", "0.50"),
        ("0.50", ">0.99", ""),
    )


def test_texts_and_mixed_columns_are_rounded_too() -> None:
    frame = pd.DataFrame({"value": [1200, 0.123456789, ["a", "b"], None, "c", True]})
    table = rounded_table(frame.astype(object))
    assert table.columns == (("1,200", "0.123", "a, b", "", "c", "True"),)
    assert table.is_number == (False,)
    values = pd.DataFrame({"p_value": [0.0002, 0.0412], "size": [np.inf, -np.inf]})
    assert rounded_table(values).columns == (("<0.001", "0.041"), ("∞", "−∞"))
