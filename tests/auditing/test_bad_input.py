"""What is refused, before any work."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_audit import FAST, QUICK, files, forest

import bayesbias as bb
from bayesbias._core.locks import locked
from bayesbias.auditing import audit_memory, audit_steps
from bayesbias.auditing.audit_run import write_report
from bayesbias.errors import BayesBiasError, DataError, NotFoundError, SpecError, VocabularyError

BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"embedding": "nowhere.txt"}, NotFoundError, "'nowhere.txt' is neither a file nor a known"),
    ({"embedding": ["demo", "nope"]}, NotFoundError, "'nope' is neither a file nor a known"),
    ({"embedding": 3}, SpecError, "'embedding' is an int; expected an Embedding, a file, a name"),
    ({"embedding": []}, SpecError, "'embedding' is empty; give at least one"),
    ({"embedding": ["demo", "demo"]}, SpecError, "two embeddings are called 'demo'; give them"),
    ({"study": "relligion"}, BayesBiasError, "religion"),
    ({"study": 3}, SpecError, "'study' is an int; expected a Study, a file, a name such as"),
    ({"study": []}, SpecError, "'study' is empty; give at least one"),
    ({"study": ["gender", "gender"]}, SpecError, "two studies are called 'gender'"),
    ({"models": "crosed"}, SpecError, "'model' is 'crosed'.*Did you mean 'crossed'"),
    ({"models": "embeddings"}, SpecError, "model 'embeddings' is for several embeddings in one"),
    ({"models": ["baseline"]}, SpecError, "'models' is 'baseline'; one of them needs a mean"),
    ({"models": "connection"}, SpecError, "such as 'separate', .*'crossed', 'interaction'\\.$"),
    ({"models": bb.load_model("interaction").vary(covariates=["log_frequency"])}, SpecError,
     "'models' is 'interaction'; one of them needs a mean .* and no covariates, such as"),
    ({"models": []}, SpecError, "'models' is empty; one of them needs a mean"),
    ({"models": ["crossed"] * 2}, SpecError, "'models' holds 'crossed' twice; name each once"),
    ({"metrics": "waet"}, SpecError, "'metric' is 'waet'.*Did you mean 'weat'"),
    ({"debias": "hard"}, SpecError, "'debias' is 'hard'; expected one of.*hard_debias"),
    ({"debias": ["leace"] * 2}, SpecError, "'debias' holds 'leace' twice"),
    ({"debias": "hard_debias"}, SpecError, "'hard_debias' learns from pairs.*has 3 groups"),
    ({"draws": 10}, SpecError, "'draws' is 10; expected a whole number, 100 or more"),
    ({"prob": 1.5}, SpecError, "'prob' is 1.5"),
    ({"rope": 0}, SpecError, "'rope' is 0; expected a number above 0"),
    ({"seed": -1}, SpecError, "'seed' is -1"),
    ({"n_jobs": 0}, SpecError, "'n_jobs' is 0"),
    ({"matching": ("exact",)}, SpecError, "'matching' is a tuple; expected a Matching"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "error", "text"), BAD, ids=lambda value: str(value)[:40])
def test_bad_input(
    tmp_path: Path, given: dict[str, Any], error: type[Exception], text: str, sketched: None
) -> None:
    arguments = {"embedding": "demo", "study": "religion"} | given
    with pytest.raises(error, match=text):
        bb.audit(
            arguments.pop("embedding"), arguments.pop("study"), out=tmp_path / "x", **arguments
        )
    assert not (tmp_path / "x").exists()


@pytest.mark.slow
def test_bad_folders(
    tmp_path: Path, wood: bb.Embedding, trees: bb.Study, folder: Path, sketched: None
) -> None:
    def run(out: Path, **more: Any) -> None:
        bb.audit(wood, trees, out=out, **(QUICK | more))

    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="file is a file; give the name of a folder"):
        run(tmp_path / "file")
    with pytest.raises(DataError, match="the folder .*deep does not exist; make it first"):
        run(tmp_path / "deep" / "er")
    full = tmp_path / "full"
    full.mkdir()
    (full / "thesis.docx").write_text("years of work")
    with pytest.raises(DataError, match="full holds files and no audit; nothing of it is"):
        run(full, force=True)
    assert files(full) == {"thesis.docx": b"years of work"}
    other = forest("other")
    with pytest.raises(SpecError, match=r"holds the audit of forest on trees; give another"):
        bb.audit(other, trees, out=folder, **QUICK)
    old = files(folder)
    bb.audit(other, trees, out=folder, force=True, **QUICK)
    assert set(files(folder)) == set(old)
    assert bb.Audit(folder).table["embedding"].unique().tolist() == ["other"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "damaged, or not the record of an audit"),
        ('{"schema": 1}', "damaged, or not the record of an audit"),
        ("[]", "damaged, or not the record of an audit"),
    ],
)
def test_damaged_records(
    folder: Path, wood: bb.Embedding, trees: bb.Study, text: str, message: str
) -> None:
    (folder / "audit.json").write_text(text)
    with pytest.raises(DataError, match=message):
        bb.Audit(folder)
    with pytest.raises(DataError, match=message):
        bb.audit(wood, trees, out=folder, **QUICK)


def test_records_of_others(folder: Path, tmp_path: Path) -> None:
    path = folder / "audit.json"
    record = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(record | {"schema": 99}))
    with pytest.raises(DataError, match="written by a newer bayesbias; upgrade"):
        bb.Audit(folder)
    record["steps"]["table"]["files"] = {"../outside.csv": "0"}
    path.write_text(json.dumps(record))
    with pytest.raises(DataError, match="damaged, or not the record"):
        bb.Audit(folder)
    with pytest.raises(DataError, match=r"is not the folder of an audit: it has no audit.json"):
        bb.Audit(tmp_path)
    with pytest.raises(DataError, match="there is no folder '.*nowhere'"):
        bb.Audit(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "change",
    [
        {"parts": []},
        {"parts": [{}]},
        {"parts": "x"},
        {"parts": [{"embedding": "forest", "study": "trees", "folder": "../../x"}]},
        {"parts": [{"embedding": "forest", "study": "trees", "folder": "/etc"}]},
        {"parts": [{"embedding": "forest", "study": "shrubs", "folder": ""}]},
        {"options": {}},
        {"options": []},
        {"embeddings": {}},
        {"embeddings": {"forest": {"source": "a.txt", "words": "12", "sha256": ""}}},
        {"studies": {}},
        {"studies": {"trees": {"lists": {}}}},
        {"steps": {"table": {}}},
        {"steps": {"table": {"key": "0", "files": ["a"], "warnings": []}}},
        {"schema": "1"},
        {"schema": None},
    ],
    ids=str,
)
def test_records_with_wrong_parts(folder: Path, change: dict[str, Any]) -> None:
    path = folder / "audit.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | change))
    with pytest.raises(DataError):
        write_report(folder)
    with pytest.raises(BayesBiasError):
        bb.Audit(folder).summary()


def test_a_record_that_is_nested_deeply(folder: Path) -> None:
    (folder / "audit.json").write_text('{"schema": ' + "[" * 100_000)
    with pytest.raises(DataError, match="audit.json: damaged"):
        bb.Audit(folder)


def test_a_folder_that_is_a_link_does_not_lead_outside(
    folder: Path, wood: bb.Embedding, trees: bb.Study, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    (folder / "fits").rename(outside)
    (folder / "fits").symlink_to(outside)
    before = files(outside)
    for run in (bb.Audit, write_report):
        with pytest.raises(DataError, match="damaged, or not the record"):
            run(folder)
    with pytest.raises(DataError, match="damaged, or not the record"):
        bb.audit(wood, trees, out=folder, force=True, **QUICK)
    assert files(outside) == before


def test_an_embedding_without_the_words(tmp_path: Path, trees: bb.Study, sketched: None) -> None:
    small = bb.Embedding(["oak", "fir"], np.eye(2), "small")
    with pytest.raises(VocabularyError, match="'small' has no word of 'stereotype: oak'"):
        bb.audit([forest(), small], trees, out=tmp_path / "x", **FAST)
    assert not (tmp_path / "x").exists()


def test_another_audit_of_the_folder_is_refused_before_work(
    folder: Path, wood: bb.Embedding, trees: bb.Study
) -> None:
    before = files(folder)
    with locked(folder):
        for run in (
            lambda: bb.audit(wood, trees, out=folder, **QUICK),
            lambda: write_report(folder),
        ):
            with pytest.raises(DataError) as caught:
                run()
            assert f"process {os.getpid()} on {socket.gethostname()}" in str(caught.value)
            assert str(folder) in str(caught.value)
    assert files(folder) == before


@pytest.mark.slow
def test_of_two_audits_that_begin_at_once_one_is_done(
    tmp_path: Path, trees: bb.Study, sketched: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one comes when the first has looked at the folder and loaded its embedding."""
    out, table = tmp_path / "x", audit_steps.distance_table

    def meanwhile(*args: Any, **options: Any) -> Any:
        monkeypatch.setattr(audit_steps, "distance_table", table)
        bb.audit(forest("first"), trees, out=out, **FAST)
        return table(*args, **options)

    monkeypatch.setattr(audit_steps, "distance_table", meanwhile)
    with pytest.raises(SpecError, match="holds the audit of first on trees"):
        bb.audit(forest("second", seed=1), trees, out=out, **FAST)
    assert bb.Audit(out).table["embedding"].unique().tolist() == ["first"]


def test_an_audit_beyond_the_memory_is_refused_before_any_work(
    wood: bb.Embedding, trees: bb.Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_memory, "machine_memory", lambda: 1e8)
    with pytest.raises(DataError, match=r"of 168 distances needs about .* GB.*use fewer draws"):
        bb.audit(wood, trees, out=tmp_path / "audit", **FAST)
    assert not (tmp_path / "audit").exists()


def test_memory_that_large_audits_took() -> None:
    """Measured: 60 to 1,000 protected words, all models."""
    specs = [bb.load_model(name) for name in ("crossed", "interaction")]
    measured = ((60, 800, 4_000, 1.1e9), (200, 5_000, 4_000, 4e9), (1_000, 10_000, 2_000, 6.5e9))
    for words, attributes, draws, peak in measured:
        names = {"protected_word": words, "word_to_compare": attributes, "protected_group": 5,
                 "word_class": 7, "connection": 4}  # fmt: skip
        columns = {
            name: pd.Categorical.from_codes(
                np.zeros(words * attributes, dtype=np.int16), [str(i) for i in range(n)]
            )
            for name, n in names.items()
        }
        needed = audit_memory.memory_needed(pd.DataFrame(columns), specs, draws)
        assert needed == pytest.approx(peak, rel=0.3)


def test_a_machine_that_does_not_say_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sysconf", raising=False)
    assert audit_memory.machine_memory() is None
    audit_memory.check_memory([pd.DataFrame()], [], 10**12)  # nothing is known against it
