"""What a second call does, and a call after one that was stopped."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from small_audit import CONTROLS, FAST, QUICK, STEREOTYPES, files, times

import bayesbias as bb
from bayesbias.auditing import artifacts, audit_figures, audit_steps, second_sampler
from bayesbias.errors import DataError, SpecError
from bayesbias.wordlists import read_frequencies


def test_a_second_call_does_nothing(
    folder: Path, wood: bb.Embedding, trees: bb.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = times(folder)

    def never(*_: object, **__: object) -> None:
        raise AssertionError("this was done already")

    for name in ("fit", "compare", "check_words", "measure", "overview"):
        monkeypatch.setattr(audit_steps, name, never)
    monkeypatch.setattr(artifacts, "write_table", never)
    monkeypatch.setattr(audit_figures, "save", never)
    bb.audit(wood, trees, out=folder, **QUICK)
    assert times(folder) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "again"),
    [
        ("contrasts.csv", {"contrasts.csv", "means.csv", "coefficients.csv", "overview.csv"}),
        # It has the time in it, and the report has its hash.
        ("fits/baseline.nc", {"fits/baseline.nc", "report.html"}),
        (
            "figures/means.png",
            {"figures/means.png", "figures/means.svg", "figures/means-narrow.svg"},
        ),
        ("results.json", {"results.json"}),
        ("report.html", {"report.html"}),
    ],
)
@pytest.mark.parametrize("damage", ["truncated", "removed"])
def test_what_is_damaged_is_made_again_alone(
    folder: Path, wood: bb.Embedding, trees: bb.Study, name: str, again: set[str], damage: str
) -> None:
    before, old = times(folder), files(folder)
    path = folder / name
    if damage == "removed":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:100])
    bb.audit(wood, trees, out=folder, **QUICK)
    after = times(folder)
    assert {file for file in after if after[file] != before[file]} == again
    if not name.endswith(".nc"):  # which has the time in it
        assert files(folder)[name] == old[name]


def test_only_what_depends_on_a_change_is_done_again(
    folder: Path, wood: bb.Embedding, trees: bb.Study, sketched: None
) -> None:
    before = times(folder)
    bb.audit(wood, trees, out=folder, **(QUICK | {"prob": 0.5}))
    after = times(folder)
    changed = {file for file in after if after[file] != before[file]}
    assert {"contrasts.csv", "scores.csv", "figures/means.svg", "report.html"} <= changed
    assert not {"table.csv", "comparison.csv", "lists.csv", "fits/hierarchical.nc"} & changed


def test_other_frequencies_are_other_contrasts(
    folder: Path, wood: bb.Embedding, trees: bb.Study, sketched: None, tmp_path: Path
) -> None:
    before, old = times(folder), bb.Audit(folder).contrasts
    assert "from the vocabulary's order, −log(rank)" in bb.Audit(folder).report.read_text("utf-8")
    rng = np.random.default_rng(0)
    words = [word for own in (STEREOTYPES | CONTROLS).values() for word in own]
    counts = tmp_path / "counts.csv"
    rows = zip(words, rng.integers(1, 1000, len(words)), strict=True)
    counts.write_text("word,count\n" + "".join(f"{word},{count}\n" for word, count in rows))
    new = bb.audit(wood, trees, out=folder, frequencies=counts, **QUICK)
    after = times(folder)
    changed = {file for file in after if after[file] != before[file]}
    assert {"table.csv", "contrasts.csv", "results.json", "paper/methods.md"} <= changed
    assert not {"scores.csv", "lists.csv"} & changed
    assert (new.contrasts["equal_mean"] != old["equal_mean"]).all()
    np.testing.assert_array_equal(new.contrasts["mean"], old["mean"])
    about = "counts of counts.csv, log(count)"
    assert new.record["options"]["frequencies"] == about
    for file in ("report.html", "paper/methods.md"):
        assert f"from {about}" in (folder / file).read_text("utf-8")
    # The same counts, however they are given, change nothing but their name.
    again = bb.audit(wood, trees, out=folder, frequencies=read_frequencies(counts), **QUICK)
    final = times(folder)
    assert final["contrasts.csv"] == after["contrasts.csv"]
    assert "from the given counts, log(count)" in again.report.read_text("utf-8")


def test_frequencies_that_were_asked_for_must_be_there(
    wood: bb.Embedding, trees: bb.Study, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with pytest.raises(DataError, match="no frequency of 'sturdy'"):
        bb.audit(wood, trees, out=out, frequencies={"broad": 3}, **QUICK)
    same = {word: 3 for own in (STEREOTYPES | CONTROLS).values() for word in own}
    with pytest.raises(DataError, match="'log_frequency' is 1.09861 in every row"):
        bb.audit(wood, trees, out=out, frequencies=same, **QUICK)
    with pytest.raises(SpecError, match="'unknown_frequency' is 'low'"):
        bb.audit(wood, trees, out=out, unknown_frequency="low", **QUICK)  # type: ignore[arg-type]
    assert not out.exists()


def test_words_that_are_not_used_do_not_matter_to_fits(
    folder: Path, wood: bb.Embedding, trees: bb.Study
) -> None:
    before = times(folder)
    vectors = wood.vectors.copy()
    vectors[-1] += 1
    bb.audit(wood.with_vectors(vectors), trees, out=folder, **QUICK)
    after = times(folder)
    changed = {file for file in after if after[file] != before[file]}
    lists = {"lists.csv", "list_pairs.csv", "list_warnings.txt"}
    # The main numbers are those of another embedding, whose hash they have.
    assert changed == {*lists, "results.json", "report.html"}


@pytest.mark.slow
def test_force_does_all_again_with_the_same_numbers(
    folder: Path, wood: bb.Embedding, trees: bb.Study
) -> None:
    before, old = times(folder), files(folder)
    bb.audit(wood, trees, out=folder, force=True, **QUICK)
    after = times(folder)
    assert {file for file in after if after[file] == before[file]} == set()
    new = files(folder)
    for name in old:
        if name.endswith((".csv", ".parquet", ".svg", ".png", ".txt", "results.json")):
            assert new[name] == old[name], name


@pytest.mark.slow
def test_an_interrupted_audit_goes_on(
    tmp_path: Path,
    wood: bb.Embedding,
    trees: bb.Study,
    made: Path,
    monkeypatch: pytest.MonkeyPatch,
    sketched: None,
) -> None:
    folder = tmp_path / "audit"
    real = audit_steps.compare

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(audit_steps, "compare", stop)
    with pytest.raises(KeyboardInterrupt):
        bb.audit(wood, trees, out=folder, **QUICK)
    assert (folder / "fits" / "hierarchical.nc").is_file()
    assert not (folder / "comparison.csv").exists()
    before = times(folder)
    monkeypatch.setattr(audit_steps, "compare", real)
    bb.audit(wood, trees, out=folder, **QUICK)
    after = times(folder)
    assert {name: after[name] for name in before} == before
    expected = files(made)
    got = files(folder)
    assert set(got) == set(expected)
    assert all(got[name] == expected[name] for name in got if name.endswith(".csv"))


def test_sampling_that_was_interrupted_is_not_kept(
    tmp_path: Path,
    wood: bb.Embedding,
    trees: bb.Study,
    monkeypatch: pytest.MonkeyPatch,
    sketched: None,
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(second_sampler, "Chains", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bb.audit(wood, trees, out=tmp_path / "audit", **(FAST | {"confirm": True}))
    assert not list((tmp_path / "audit").rglob("confirmation*"))


@pytest.mark.slow
def test_a_killed_audit_goes_on(tmp_path: Path) -> None:
    import subprocess
    import sys
    import time

    folder = tmp_path / "audit"
    code = (
        "import bayesbias as bb; bb.audit('demo', 'weat_7', confirm=False, silhouettes=False, "
        f"out={str(folder)!r}, progress=False, draws=500)"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    while not (folder / "fits" / "separate.nc").exists():
        time.sleep(0.05)
        assert process.poll() is None
    process.kill()
    process.wait()
    before = times(folder)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = times(folder)
    kept = {name for name in before if not Path(name).name.startswith(".")}
    assert {"table.csv", "fits/baseline.nc"} <= kept
    assert after["fits/baseline.nc"] == before["fits/baseline.nc"]
    assert not [name for name in after if Path(name).name.startswith(".")]
    shutil.rmtree(folder)
