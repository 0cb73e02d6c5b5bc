"""What an audit writes is read back as it was, and only one module names its files."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_audit import FAST

import bayesbias as bb
from bayesbias import auditing
from bayesbias.auditing import artifacts
from bayesbias.auditing.artifacts import Artifact, Columns, Step

STEPS = [value for value in vars(artifacts).values() if isinstance(value, Step)]
ARTIFACTS = [artifact for step in STEPS for artifact in step.artifacts]
ROOM = Path(auditing.__file__).parent


def test_every_artefact_is_made_by_one_step_and_has_files_of_its_own() -> None:
    declared = [value for value in vars(artifacts).values() if isinstance(value, Artifact)]
    assert sorted(a.name for a in declared) == sorted(a.name for a in ARTIFACTS)
    files = [file for artifact in ARTIFACTS for file in artifact.files]
    assert len(files) == len(set(files))


def test_no_other_module_names_a_file() -> None:
    file = re.compile(r"\S*\.(?:csv|json|txt|html|nc|svg|png|parquet)")
    for path in ROOM.rglob("*.py"):
        texts = [
            node.value
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        named = [text for text in texts if file.fullmatch(text)]
        assert bool(named) == (path.name == "artifacts.py"), (path, named)


word = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6)
odd = st.sampled_from(["nan", "NULL", "007", "1e5", "True", "", " ", "a,b", '"'])
number = st.floats(allow_infinity=True)


@given(
    st.lists(
        st.tuples(word | odd, number, st.integers(-(2**60), 2**60), st.booleans(), number | odd),
        max_size=5,
    )
)
def test_tables_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[Any, ...]]
) -> None:
    columns = Columns({"text": str, "x": float, "n": int, "ok": bool, "words": list})
    frame = pd.DataFrame(
        {
            "text": pd.Series([row[0] for row in rows], dtype="str"),
            "x": pd.Series([row[1] for row in rows], dtype=float),
            "n": pd.Series([row[2] for row in rows], dtype=int),
            "ok": pd.Series([row[3] for row in rows], dtype=bool),
            "words": pd.Series([["nan", "007"][: row[2] % 3] for row in rows], dtype=object),
        }
    )
    path = tmp_path_factory.mktemp("table") / "table.csv"
    columns.write(frame, path)
    pd.testing.assert_frame_equal(columns.read(path), frame, check_exact=True)


def test_numbers_and_texts_in_one_column(tmp_path: Path) -> None:
    columns = Columns({"question": str, "answer": object}, index="question")
    frame = pd.DataFrame({"answer": [12.5, "yes"]}, index=["A close to N", "bias"])
    columns.write(frame, tmp_path / "x.csv")
    pd.testing.assert_frame_equal(columns.read(tmp_path / "x.csv"), frame, check_dtype=False)
    assert columns.read(tmp_path / "x.csv")["answer"].tolist() == [12.5, "yes"]


def test_a_table_has_the_columns_that_are_declared(tmp_path: Path) -> None:
    columns = Columns({"word": str, "x": float})
    with pytest.raises(TypeError, match="x.csv.*'note'"):
        columns.write(pd.DataFrame({"word": ["a"], "x": [1.0], "note": ["b"]}), tmp_path / "x.csv")
    columns.write(pd.DataFrame(), tmp_path / "x.csv")
    empty = columns.read(tmp_path / "x.csv")
    assert list(empty.columns) == ["word", "x"]
    assert empty["x"].dtype == np.float64


@pytest.mark.slow
def test_every_artefact_is_read_as_it_was_made(
    wood: bb.Embedding, trees: bb.Study, monkeypatch: pytest.MonkeyPatch, sketched: None
) -> None:
    made: dict[Artifact[Any], Any] = {}
    real = Step.write

    def write(step: Step, contents: dict[Artifact[Any], Any], *paths: Path) -> None:
        made.update(contents)
        real(step, contents, *paths)

    monkeypatch.setattr(Step, "write", write)
    options = FAST | {"debias": "leace", "silhouettes": True, "confirm": True}
    result = bb.audit(wood, trees, **options)
    others = {
        artifacts.BETWEEN, artifacts.BETWEEN_FIGURE, artifacts.RANKING, artifacts.REPORT,
    }  # fmt: skip
    assert set(made) == set(ARTIFACTS) - others
    whose = {artifacts.FIT: "hierarchical", artifacts.FIGURE: artifacts.MEANS_FIGURE}
    indexed = (artifacts.COMPARISON, artifacts.COMPARISON_LOO, artifacts.OVERVIEW)
    for artifact, content in made.items():
        again = artifact.load(result.folder, whose.get(artifact, "leace"))
        if isinstance(content, pd.DataFrame) and artifact is not artifacts.TABLE:
            expected = content if artifact in indexed else content.reset_index(drop=True)
            pd.testing.assert_frame_equal(
                pd.DataFrame(again), pd.DataFrame(expected), check_exact=True
            )
        elif isinstance(content, dict | list):
            assert again == content
