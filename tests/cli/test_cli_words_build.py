"""The command `bayesbias words build`."""

from __future__ import annotations

import io
import json
from itertools import islice
from pathlib import Path

import pandas as pd
import pytest
from command_line import run

import bayesbias as bb
from bayesbias import corpus as corpus_room
from bayesbias.wordlists import ByFrequency, ByPartOfSpeech

PAIRED = ByFrequency(match_frequency=True)


@pytest.fixture(scope="module")
def gender(demo: bb.Embedding) -> bb.wordlists.GroupClassifier:
    return bb.wordlists.GroupClassifier(threshold=0.8, seed=3).fit(demo, "gender")


@pytest.mark.slow
def test_build(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    demo: bb.Embedding,
    gender: bb.wordlists.GroupClassifier,
) -> None:
    out = tmp_path / "lists.toml"
    command = ["words", "build", "demo", "--attributes", "weat:career,weat:family", "--size", "20"]
    command += ["--match-frequency", "--threshold", "0.8", "--seed", "3", "--out", str(out)]
    assert run(*command) == 0
    printed = capsys.readouterr()
    weat = bb.word_sets("weat")
    attributes = [weat["career"], weat["family"]]
    expected = bb.build_lists(
        demo,
        gender,
        size=20,
        attributes=attributes,
        method=PAIRED,
        progress=False,
    )
    assert bb.load_query(out) == expected.query()
    words = pd.read_csv(tmp_path / "lists.words.csv")
    assert words["word"].tolist() == expected.words["word"].tolist()
    assert f"40 words written to {out}" in printed.err
    assert f"macro F1 {gender.macro_f1_:.2f}" in printed.err
    assert "Note: Without frequencies, the order of the vocabulary" in printed.err
    for text in ("precision", "recall", "support", "neutral", "stop word", "female"):
        assert text in printed.out
    # The file is a query for every other command.
    assert run("metrics", str(out), "demo", "--metric", "weat", "--format", "csv", "-q") == 0
    assert "female and male wrt career and family" in capsys.readouterr().out


@pytest.mark.slow
def test_quiet_and_json(capsys: pytest.CaptureFixture[str], demo: bb.Embedding) -> None:
    command = ["words", "build", "demo", "--method", "clusters", "--attributes", "weat:family"]
    assert run(*command, "--size", "16", "--format", "json", "-q") == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    rows = json.loads(printed.out)
    assert len(rows) == 32
    assert {row["cluster"] for row in rows} <= set(bb.word_sets("weat")["family"])
    # Without --quiet, what makes the test circular is told once.
    assert run(*command, "--size", "16", "--format", "csv") == 0
    told = capsys.readouterr().err
    assert told.count("is circular") == 1


def test_files_of_ones_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], demo: bb.Embedding
) -> None:
    groups = tmp_path / "groups.toml"
    groups.write_text('[groups]\nflowers = "weat:flowers"\ninsects = "weat:insects"\n')
    counts = tmp_path / "counts.csv"
    frame = pd.DataFrame({"word": demo.words, "count": range(len(demo), 0, -1)})
    frame.to_csv(counts, index=False)
    stop = tmp_path / "stop.txt"
    stop.write_text("water\nlittle\n")
    command = ["words", "build", "demo", "--labelled", str(groups), "--frequencies", str(counts)]
    command += ["--size", "10", "--threshold", "0", "--stop-words", str(stop), "--leave-labelled"]
    assert run(*command, "--group", "flowers", "--format", "csv", "-q") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "group,word,how,probability,rank,count"
    assert len(lines) == 11
    assert all(line.startswith("flowers,") and ",classified," in line for line in lines[1:])


def test_train_on_a_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Sentences in which made-up women and men do different things.
    female = [f"ana{letter}" for letter in "bcdfghjklmnp"]
    male = [f"ole{letter}" for letter in "bcdfghjklmnp"]
    lines = []
    for i in range(1200):
        who, does, what = (female, "sang", "song") if i % 2 else (male, "rode", "horse")
        lines.append(f"then {who[i // 2 % 12]} {does} the {what} with {who[i // 2 * 5 % 12]}")
    (tmp_path / "text.txt").write_text("\n".join(lines))
    (tmp_path / "groups.json").write_text(json.dumps({"groups": {"she": female, "he": male}}))
    out, saved = tmp_path / "lists.toml", tmp_path / "trained.npz"
    command = ["words", "build", "--corpus", str(tmp_path / "text.txt"), "--train", "word2vec"]
    command += ["--labelled", str(tmp_path / "groups.json"), "--size", "5", "--out", str(out)]
    assert run(*command, "--save-embedding", str(saved)) == 0
    assert "Embedding" in capsys.readouterr().err
    trained = bb.load_embedding(saved)
    assert trained.dim == 300
    query = bb.load_query(out)
    assert set(query.target_sets[0]) <= {*female, "sang", "song"}
    counts = pd.read_csv(tmp_path / "lists.words.csv").set_index("word")["count"]
    assert counts[query.target_sets[0][0]] == counts.max()


@pytest.mark.slow
def test_parts_of_speech(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], demo: bb.Embedding
) -> None:
    spacy = pytest.importorskip("spacy", reason="needs the extra 'pos'")
    pipeline, text = tmp_path / "tagger", tmp_path / "text.txt"
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("attribute_ruler")
    for first, tag in (("a-g", "NOUN"), ("h-m", "VERB"), ("n-s", "ADJ"), ("t-z", "ADV")):
        ruler.add([[{"LOWER": {"REGEX": f"^[{first}]"}}]], {"POS": tag})
    nlp.to_disk(pipeline)
    text.write_text("\n\n".join(islice(bb.read_corpus("demo").lines(), 600)), "utf-8")
    command = ["words", "build", "demo", "--corpus", str(text), "--method", "pos", "--size", "12"]
    command += ["--pipeline", str(pipeline), "--unit", "paragraph", "--threshold", "0.5"]
    assert run(*command, "--format", "csv", "-q") == 0
    rows = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert rows["tag"].value_counts().to_dict() == {"NOUN": 8, "VERB": 8, "ADJ": 8}
    tags = bb.tag_words(bb.read_corpus(text, unit="paragraph"), nlp, progress=False)
    groups = bb.wordlists.GroupClassifier(threshold=0.5).fit(demo, "gender")
    built = bb.build_lists(demo, groups, method=ByPartOfSpeech(tags), size=12, progress=False)
    assert rows["word"].tolist() == built.words["word"].tolist()
    assert rows["count"].tolist() == built.words["count"].tolist()


def test_what_fails_comes_before_what_takes_long(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("spacy", reason="needs the extra 'pos'")

    def never(*arguments: object, **options: object) -> None:
        raise AssertionError("long work")

    for name in ("train_embedding", "tag_words"):
        monkeypatch.setattr(corpus_room, name, never)
    monkeypatch.setattr(bb.corpus.Corpus, "counts", never)
    few = tmp_path / "few.json"
    few.write_text(json.dumps({"groups": {"she": list("abcde"), "he": list("fghij")}}))
    (tmp_path / "b").mkdir()
    for path in (tmp_path / "x.txt", tmp_path / "b" / "x.txt"):
        path.write_text("home\n")
    for arguments, text in (
        (["--labelled", str(few)], "the group 'she' has 5 words; a classifier needs at least 10"),
        (["nowhere.bin"], "is neither a file nor a known embedding"),
        (["--method", "pos", "--pipeline", "en_none"], "spaCy has no pipeline 'en_none'"),
        (
            ["--attributes", f"{tmp_path / 'x.txt'}, {tmp_path / 'b' / 'x.txt'}"],
            "two attribute sets are called 'x'",
        ),
        (["--corpus", ""], "the source is ''"),
    ):
        assert run("words", "build", "--corpus", "demo", *arguments) == 2
        assert text in capsys.readouterr().err


def test_an_embedding_is_kept_though_no_list_can_be_built(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, saved = tmp_path / "text.txt", tmp_path / "trained.npz"
    text.write_text("one two three four\n" * 20)
    command = ["words", "build", "--corpus", str(text), "--save-embedding", str(saved)]
    assert run(*command) == 2
    assert "a classifier needs at least 10 for each group" in capsys.readouterr().err
    assert set(bb.load_embedding(saved).words) == {"one", "two", "three", "four"}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["demo", "--labelled", "gendre"], "Did you mean 'gender'?"),
        (["demo", "--attributes", "weat:carer"], "Did you mean 'career'?"),
        (["demo", "--attributes", "carer"], "'carer' is neither a file nor"),
        (["demo", "--method", "clusters"], "--method clusters needs --attributes"),
        (["demo", "--method", "pos"], "--method pos needs --corpus"),
        (["demo", "--size", "0"], "0 is not in the range x>=1"),
        (["demo", "--threshold", "2"], "2.0 is not in the range 0<=x<=1"),
        (["demo", "--group", "femal"], "Did you mean 'female'?"),
        (["demo", "--seed", "-1"], "-1 is not in the range x>=0"),
        (["demo", "--frequencies", "none.csv"], "none.csv: no such file"),
        (["demo", "--frequencies", "a.csv", "--corpus", "b"], "both give counts; give one"),
        (["--train", "word2vec"], "--train needs --corpus"),
        (["demo", "--train", "word2vec", "--corpus", "demo"], "leave EMBEDDING out"),
        (["demo", "--save-embedding", "e.npz"], "--save-embedding is for one that is trained"),
        (["nowhere.bin"], "is neither a file nor a known embedding"),
        (["demo", "--corpus", "nowhere.txt"], "nowhere.txt"),
    ],
)
def test_bad_input(
    arguments: list[str], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "lists.toml"
    assert run("words", "build", *arguments, "--out", str(out)) == 2
    printed = capsys.readouterr()
    assert text in printed.err
    assert "Traceback" not in printed.err
    assert not printed.out
    assert not list(tmp_path.iterdir())


def test_bad_files_to_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("words", "build", "demo", "--out", str(tmp_path / "lists.txt")) == 2
    assert "lists are written to a .toml file" in capsys.readouterr().err
    assert run("words", "build", "demo", "--out", str(tmp_path / "no" / "lists.toml")) == 2
    assert "does not exist; make it first" in capsys.readouterr().err
    command = ["words", "build", "--corpus", "demo", "--save-embedding", str(tmp_path / "e.xyz")]
    assert run(*command) == 2
    assert "e.xyz" in capsys.readouterr().err


def test_labelled_words_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("words", "list", "--format", "csv") == 0
    assert "labelled,gender," in capsys.readouterr().out
