"""Messages of the package name options where they name arguments of Python functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import bayesbias as bb
from bayesbias.cli.app import app
from bayesbias.cli.messages import in_options


@pytest.mark.parametrize(
    ("command", "message", "expected"),
    [
        ("fit", "read it with duplicates='keep'", "read it with --duplicates keep"),
        ("fit", "use engine='auto' or engine='nuts'.", "use --engine auto or --engine nuts."),
        ("-v fit x.csv", "with sampler='nutpie'", "with --sampler nutpie"),
        ("words check", "give field=…, such as field='a'.", "give --field …, such as --field a."),
        ("table", "covariates=['norm', 'x'].", "--covariate norm --covariate x."),
        ("fit", "contrast='a - b', not", "--contrast 'a - b', not"),
        ("table", "pass trust=True.", "pass --trust."),
        ("table", "or limit=5.", "or --limit 5."),
        ("fit", "'model' is 'x'; expected", "--model is 'x'; expected"),
        (
            "fit",
            "Build it with distance_table(..., covariates=['norm']), or",
            "Build it with bayesbias table --covariate norm, or",
        ),
        # These are left as they are: the command has no such option, or it is of a function.
        ("fit", "with threshold=0.2 allows", None),
        ("table", "with trust=False.", None),
        ("fit", "'model' is not in the vocabulary", None),
        ("compare", "use loo(by='word_to_compare').", None),
        ("metrics", "--option distance=cos: expected NAME=VALUE", None),
        ("fit", "table[table.embedding == 'a']", None),
        ("nonsense", "engine='nuts'", None),
        ("fit", "there is no file 'runs/seed=3/table.csv'.", None),
        ("fit", "there is no file 'seed=3/model=a.csv'.", None),
        ("fit", r"C:\runs\seed=3\table.csv: damaged", None),
        ("fit", "seed=3/table.csv: damaged", None),
    ],
)
def test_arguments_become_options(command: str, message: str, expected: str | None) -> None:
    assert in_options(message, app, command.split()) == (expected or message)


def test_errors_and_warnings_name_options(tmp_path: Path, run: Any) -> None:
    result = run("table", "demo", "--frequencies", "wordfreq")
    assert result.code == 2
    assert result.err == (
        "Error: --frequencies is given, but no covariate uses it; add --covariate log_frequency.\n"
    )
    rows = bb.distance_table(bb.load_embedding("demo"), bb.load_study("weat_7"))
    path = tmp_path / "twice.csv"
    bb.write_table(rows, path)
    pd.concat([pd.read_csv(path)] * 2).to_csv(path, index=False)
    result = run("fit", path, "--draws", "50", "-q", "--covariate", "log_freq")
    assert "Did you mean 'log_frequency'? Build it with bayesbias table --covariate" in result.err
    result = run("fit", path, "--draws", "50", "--model", "baseline")
    told = f"{len(rows):,} of {2 * len(rows):,} rows are duplicates and were left out"
    assert f"Warning: {told}; to keep them, read the table with --duplicates keep\n" in result.err
