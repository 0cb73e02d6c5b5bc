"""The commands `bayesbias debias` and `bayesbias before-after`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from command_line import run

import bayesbias as bb


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".bin", ".txt.gz", ".safetensors"])
def test_debias(suffix: str, tmp_path: Path, demo: bb.Embedding) -> None:
    out = tmp_path / f"after{suffix}"
    assert run("debias", "demo", str(out), "--ignore", "bolukbasi:gender_specific", "-q") == 0
    expected = bb.debias.HardDebias().fit(demo).transform(demo, ignore="bolukbasi:gender_specific")
    after = bb.load_embedding(out)
    assert after.words == demo.words
    np.testing.assert_allclose(after.vectors, expected.vectors, atol=1e-6)
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".bin"])
def test_ranks_are_kept_or_a_warning_names_the_file(
    suffix: str, tmp_path: Path, demo: bb.Embedding, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / f"after{suffix}"
    assert run("debias", "demo", str(out), "--ignore", "bolukbasi:gender_specific") == 0
    told = capsys.readouterr().err
    is_kept = bool((bb.load_embedding(out).ranks == demo.ranks).all())
    assert is_kept == (suffix == ".npz")
    assert told.count("do not keep the ranks") == (not is_kept)
    assert (f"Warning: {out}: " in told) == (not is_kept)


def test_debias_with_lists_of_ones_own(
    tmp_path: Path, demo: bb.Embedding, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "sets.txt").write_text("judaism, christianity, islam\nsynagogue\tchurch mosque\n\n")
    (tmp_path / "words.txt").write_text("violent\ngreedy\n")
    out = tmp_path / "after.npz"
    command = ["debias", "demo", str(out), "--method", "multiclass_hard_debias"]
    command += ["--definition", str(tmp_path / "sets.txt"), "--option", "n_components=2"]
    assert run(*command, "--target", str(tmp_path / "words.txt")) == 0
    assert "debiased by MulticlassHardDebias(n_components=2)" in capsys.readouterr().err
    sets = [["judaism", "christianity", "islam"], ["synagogue", "church", "mosque"]]
    debiaser = bb.debias.MulticlassHardDebias(n_components=2).fit(demo, definition=sets)
    expected = debiaser.transform(demo, target=["violent", "greedy"])
    np.testing.assert_allclose(bb.load_embedding(out).vectors, expected.vectors, atol=1e-6)


@pytest.mark.slow
def test_prefixes(tmp_path: Path, demo: bb.Embedding) -> None:
    """Words are found by the given fallbacks, while learning and while changing."""
    words = [f"/c/en/{word}" for word in demo.words]
    bb.Embedding(words, demo.vectors, "prefixed").save(tmp_path / "prefixed.npz")
    forms = ["exact", "lower", "title", "strip_accents", "prefix:/c/en/"]
    fallbacks = ["-q", *(part for form in forms for part in ("--fallback", form))]
    ignore = ["--ignore", "bolukbasi:gender_specific"]
    command = ["debias", str(tmp_path / "prefixed.npz"), str(tmp_path / "after.npy")]
    assert run(*command, *ignore, *fallbacks) == 0
    expected = bb.debias.HardDebias().fit(demo).transform(demo, ignore="bolukbasi:gender_specific")
    after = bb.load_embedding(tmp_path / "after.npy")
    np.testing.assert_allclose(after.vectors, expected.vectors, atol=1e-6)
    table = tmp_path / "table.csv"
    command = ["before-after", str(tmp_path / "prefixed.npz"), "--study", "weat_7", "--draws", "50"]
    command += ["--metric", "weat_es", "--no-residual", "--out", str(table)]
    assert run(*command, *ignore, *fallbacks) == 0
    weat = pd.read_csv(table).query("measure == 'weat_es'").iloc[0]
    assert weat["after"] != weat["before"]


@pytest.mark.parametrize("method", ["leace", "inlp"])
def test_groups(method: str, tmp_path: Path, demo: bb.Embedding) -> None:
    """Words of groups, or pairs to find them by."""
    (tmp_path / "pairs.txt").write_text("she he\nwoman, man\n")
    lists = ["bolukbasi:female_terms", "bolukbasi:male_terms"]
    options = {"n_words": 50} | ({"n_iterations": 2} if method == "inlp" else {})
    command = ["debias", "demo", str(tmp_path / "after.npz"), "--method", method, "--force"]
    command += [part for name, value in options.items() for part in ("--option", f"{name}={value}")]
    for arguments, parameters, definition in (
        (["--group", lists[0], "--group", lists[1]], {}, lists),
        (
            ["--definition", str(tmp_path / "pairs.txt")],
            {"pairs": [("she", "he"), ("woman", "man")]},
            None,
        ),
    ):
        assert run(*command, *arguments) == 0
        debiaser = bb.debias.DEBIASERS[method](**options, **parameters)
        expected = debiaser.fit(demo, definition=definition).transform(demo)
        after = bb.load_embedding(tmp_path / "after.npz")
        np.testing.assert_allclose(after.vectors, expected.vectors, atol=1e-6)


def test_list_of_methods(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("debias", "--list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(bb.debias.DEBIASERS)
    assert all(line.endswith(".") for line in lines)


@pytest.mark.slow
def test_before_after(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], demo: bb.Embedding
) -> None:
    table, figure = tmp_path / "table.csv", tmp_path / "figure.png"
    command = ["before-after", "demo", "--study", "weat_7", "--ignore", "bolukbasi:gender_specific"]
    command += ["--draws", "100", "--metric", "weat_es", "--no-residual", "--out", str(table)]
    assert run(*command, "--figure", str(figure)) == 0
    printed = capsys.readouterr()
    frame = pd.read_csv(table)
    assert f"{len(frame)} rows written to {table}" in printed.err
    assert "weat_es" in printed.out
    assert figure.stat().st_size > 10_000
    # The same from an embedding that was debiased before.
    after = bb.debias.HardDebias().fit(demo).transform(demo, ignore="bolukbasi:gender_specific")
    after.save(tmp_path / "after.npz")
    again = ["before-after", "demo", str(tmp_path / "after.npz"), "--study", "weat_7", "-q"]
    again += ["--draws", "100", "--metric", "weat_es", "--no-residual", "--format", "json"]
    assert run(*again) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == len(frame)
    changes = np.array([row["change"] for row in rows], dtype=float)
    np.testing.assert_allclose(changes, frame["change"], atol=1e-5)


@pytest.mark.slow
def test_before_after_at_equal_covariates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], demo: bb.Embedding
) -> None:
    figure = tmp_path / "figure.png"
    command = ["before-after", "demo", "--study", "weat_7", "--draws", "50", "--metric", "mac"]
    command += ["--no-residual", "--covariate", "log_frequency", "--figure", str(figure)]
    assert run(*command) == 0
    out, err = capsys.readouterr()
    assert "At equal frequency: " in err
    assert "covariates" in out
    assert "The verdict names the event, or its opposite" in out
    gaps = [line for line in out.splitlines() if line.strip().startswith("gap ")]
    assert gaps
    assert sum(" equal " in line for line in gaps) == sum(" as observed " in line for line in gaps)
    assert figure.stat().st_size > 10_000
    assert run(*command[:-2], "--format", "json", "-q") == 0
    rows = json.loads(capsys.readouterr().out)
    found = bb.before_after(
        demo, "hard_debias", "weat_7", draws=50, metrics="mac", residual=(), seed=0,
        covariates=["log_frequency"],
    ).table  # fmt: skip
    assert [row["covariates"] for row in rows] == list(found["covariates"])
    changes = np.array([row["change"] for row in rows], dtype=float)
    np.testing.assert_allclose(changes, found["change"], atol=1e-9)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["debias"], "Missing arguments 'EMBEDDING' and 'OUT'"),
        (["debias", "demo"], "Missing argument 'OUT'; or use --list"),
        (["debias", "demo", "x.xyz"], "the suffix '.xyz' is not known"),
        (["debias", "demo", "x.npz", "--method", "hard_debia"], "Did you mean 'hard_debias'?"),
        (["debias", "demo", "x.npz", "--option", "n=2"], "HardDebias has no parameter 'n'"),
        (["debias", "demo", "x.npz", "--group", "bolukbasi:male_terms"], "takes no --group"),
        (
            [
                "debias",
                "demo",
                "x.npz",
                "--method",
                "leace",
                "--equalize",
                "bolukbasi:equalize_pairs",
            ],
            "takes no --equalize",
        ),
        (["debias", "demo", "x.npz", "--fallback", "lowr"], "Did you mean 'lower'?"),
        (
            ["debias", "demo", "x.npz", "--method", "multiclass_hard_debias"],
            "learns from sets: give --definition",
        ),
        (
            ["debias", "demo", "x.npz", "--definition", "nothing.txt"],
            "is neither a file",
        ),
        (["debias", "nothing.bin", "x.npz"], "nothing.bin"),
        (["before-after", "demo", "demo-100d", "--target", "x"], "--target is for debiasing"),
        (["before-after", "demo", "demo-100d", "--group", "x"], "--group is for debiasing"),
        (["before-after", "demo", "--covariate", "size"], "'size' is not one of"),
        (
            ["before-after", "demo", "--covariate", "log_frequency", "--frequencies", "x.csv"],
            "is neither a file nor one of 'rank'",
        ),
        (["before-after", "demo", "--study", "nothing"], "no study 'nothing'"),
        (["before-after", "demo", "--figure", "x.gif"], "the suffix is '.gif'; expected one of"),
        (["before-after", "demo", "--out", "x.xls"], "the suffix is '.xls'; expected one of"),
    ],
)
def test_bad_input(
    command: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(*command) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in " ".join(err.split())
    assert "Traceback" not in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], ["10 of 10 pairs of bolukbasi:definitional_pairs", "woman–man"]),
        (["--definition", "pairs.txt"], ["1 of 2 pairs (she–he)"]),
        (["--method", "leace", "--option", "n_words=50"], ["50 (", "either side", "pairs"]),
        (
            ["--method", "leace", "--group", "a.txt", "--group", "b.txt"],
            ["3 of 4 words (he, him, his) as group 1", "3 of 3 words", "group 2"],
        ),
        (
            ["--method", "half_sibling_regression", "--definition", "a.txt"],
            ["3 of 4 words (he, him, his)"],
        ),
        (
            ["--method", "multiclass_hard_debias", "--definition", "sets.txt"],
            ["1 of 1 set (judaism–christianity–islam)"],
        ),
    ],
)
def test_debias_reports_what_it_has_learned_from(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    expected: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.txt").write_text("she he\nxyzzy man\n")
    Path("sets.txt").write_text("judaism christianity islam\n")
    Path("a.txt").write_text("he\nhim\nhis\nxyzzy\n")
    Path("b.txt").write_text("she\nher\nhers\n")
    assert run("debias", "demo", "after.npz", *options) == 0
    err = capsys.readouterr().err
    [line] = [line for line in err.splitlines() if line.startswith("learned from")]
    assert all(text in line for text in expected), line


def test_words_paired_by_their_places_are_shown() -> None:
    study = bb.Study(
        "own",
        {"men": ["he", "man", "boy"], "women": ["she", "woman"]},
        {"men": ["boss"], "women": ["nurse"]},
    )
    with pytest.warns(bb.errors.BayesBiasWarning, match="he–she, man–woman.*1 word without"):
        bb.debias.method_for("hard_debias", study)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bb.debias.method_for("leace", study)
        bb.debias.method_for("hard_debias", bb.load_study("gender"))
