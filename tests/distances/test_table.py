from __future__ import annotations

from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesbias as bb
from bayesbias._core import unpacked_sizes
from bayesbias._core.constants import CONNECTIONS
from bayesbias.distances import COLUMNS
from bayesbias.embeddings import Matching
from bayesbias.errors import BayesBiasWarning, DataError, NotFoundError, SpecError, VocabularyError

# Small tables without groups; the message itself is tested.
pytestmark = pytest.mark.filterwarnings("ignore:.*in the group 'unknown'")


def test_by_hand(tiny: bb.Embedding, jobs: bb.Study) -> None:
    table = bb.distance_table(tiny, jobs)
    assert tuple(table.columns) == COLUMNS
    rows = [
        ("he", "engineer", "man_stereotype", 0.2, "associated", "man"),
        ("he", "nurse", "woman_stereotype", 0.4, "different", "man"),
        ("he", "clock", "neutral", 1.6, "none", "man"),
        ("she", "engineer", "man_stereotype", 0.4, "different", "woman"),
        ("she", "nurse", "woman_stereotype", 0.2, "associated", "woman"),
        ("she", "clock", "neutral", 0.2, "none", "woman"),
    ]
    for row, expected in zip(table.itertuples(index=False), rows, strict=True):
        assert row[:3] == expected[:3]
        assert row.cosine_distance == pytest.approx(expected[3], abs=1e-7)
        assert row.cosine_similarity == pytest.approx(1 - expected[3], abs=1e-7)
        assert row[5:] == (expected[4], expected[5], "tiny")
    assert table.attrs["missing"] == {"tiny": {}}


def test_the_religion_study_on_the_demo(demo: bb.Embedding) -> None:
    with pytest.warns(BayesBiasWarning, match="control: neutral: 'younglings'"):
        table = bb.distance_table(demo, bb.load_study("religion"))
    assert table["protected_word"].nunique() == 15
    assert set(table["connection"]) == set(CONNECTIONS)
    counts = table["connection"].value_counts()
    assert counts["associated"] == 5 * 4 + 5 * 3 + 5 * 4
    assert counts["different"] == 15 * 11 - counts["associated"]
    assert counts["human"] == 15 * 27
    assert table.attrs["missing"] == {"demo": {"control: neutral": ["younglings"]}}


def test_several_embeddings(demo: bb.Embedding) -> None:
    both = bb.distance_table([demo, bb.load_embedding("demo-100d")], bb.load_study("weat_7"))
    assert list(both["embedding"].cat.categories) == ["demo", "demo-100d"]
    alone = bb.distance_table(demo, bb.load_study("weat_7"))
    first = both[both["embedding"] == "demo"].reset_index(drop=True)
    for name in COLUMNS:
        assert first[name].tolist() == alone[name].tolist()
    assert all(isinstance(both[n].dtype, pd.CategoricalDtype) for n in ("word_class", "connection"))
    assert both.index.equals(pd.RangeIndex(len(both)))


def test_rounding_makes_no_distance_below_0_or_above_2(rng: np.random.Generator) -> None:
    """Directions that are the same or opposite, of other lengths."""
    words = [f"{kind}{i}" for kind in "pso" for i in range(100)]
    vectors = rng.normal(size=(100, 7))
    every = np.concatenate([vectors, 2 * vectors, -0.5 * vectors])
    unit = every / np.linalg.norm(every, axis=1, keepdims=True)
    assert (unit**2).sum(axis=1).max() > 1, "without rounding nothing is tested"
    groups = {"g": words[:50], "h": words[50:100]}
    stereotypes = {"g": words[100:150], "h": words[150:200]}
    study = bb.Study("s", groups, stereotypes, {"neutral": words[200:]})
    table = bb.distance_table(bb.Embedding(words, every), study)
    assert table["cosine_distance"].min() == 0
    assert table["cosine_distance"].max() == 2
    assert table["cosine_similarity"].abs().max() == 1


def test_of_many_missing_words_five_are_named(jobs: bb.Study) -> None:
    controls = [f"w{i}" for i in range(60)]
    study = bb.Study("s", jobs.groups, jobs.stereotypes, {"neutral": controls})
    words = ["he", "she", "engineer", "nurse", *controls[7:]]
    embedding = bb.Embedding(words, np.random.default_rng(3).normal(size=(len(words), 4)), "x")
    with pytest.warns(BayesBiasWarning, match="control: neutral: 'w0', .*'w4' and 2 more"):
        table = bb.distance_table(embedding, study)
    assert table.attrs["missing"] == {"x": {"control: neutral": controls[:7]}}


def test_missing_words_come_with_similar_ones(jobs: bb.Study) -> None:
    controls = ["tabel", "chair", "window", "door", "lamp", "floor"]
    study = bb.Study("s", jobs.groups, jobs.stereotypes, {"neutral": controls})
    words = ["he", "she", "engineer", "nurse", "table", *controls[1:]]
    embedding = bb.Embedding(words, np.random.default_rng(3).normal(size=(len(words), 4)), "x")
    with pytest.warns(BayesBiasWarning) as caught:
        bb.distance_table(embedding, study)
    assert str(caught[0].message) == (
        "x lacks words of the study 's', left out: control: neutral: 'tabel'. Similar words that "
        "it has: 'table' for 'tabel'."
    )


def test_a_warning_of_many_lists_with_missing_words_is_short() -> None:
    names = [f"group{number}" for number in range(30)]
    groups = {name: [f"{name}w{n}" for n in range(10)] for name in names}
    stereotypes = {name: [f"{name}s{n}" for n in range(10)] for name in names}
    lists = [*groups.values(), *stereotypes.values()]
    words = [word for some in lists for word in some[1:]]
    embedding = bb.Embedding(words, np.random.default_rng(3).normal(size=(len(words), 4)), "x")
    with pytest.warns(BayesBiasWarning, match="and words of 54 more lists") as caught:
        bb.distance_table(embedding, bb.Study("s", groups, stereotypes))
    assert len(str(caught[0].message)) < 700


def test_embeddings_that_lack_different_words(jobs: bb.Study) -> None:
    study = bb.Study("s", jobs.groups, jobs.stereotypes, {"neutral": list("abcdef")})
    rng = np.random.default_rng(3)
    base = ["he", "she", "engineer", "nurse"]
    with pytest.warns(BayesBiasWarning, match="lacks words") as caught:
        table = bb.distance_table(
            [
                bb.Embedding([*base, *"bcdef"], rng.normal(size=(9, 4)), "x"),
                bb.Embedding([*base, *"abcde"], rng.normal(size=(9, 4)), "y"),
            ],
            study,
        )
    assert {warning.filename for warning in caught} == {__file__}
    assert table.attrs["missing"] == {
        "x": {"control: neutral": ["a"]},
        "y": {"control: neutral": ["f"]},
    }
    assert list(table["word_to_compare"].cat.categories) == ["engineer", "nurse", *"abcdef"]
    counts = table.groupby(["word_to_compare", "embedding"], observed=True).size()
    assert ("a", "x") not in counts.index
    assert counts["a", "y"] == 2


@settings(deadline=None)
@given(
    hnp.arrays(
        np.float32,
        (5, 3),
        elements=st.floats(-100, 100, width=32).filter(lambda x: abs(x) > 1e-3),
    ),
    st.floats(0.01, 100),
)
def test_distances_hold_for_all_vectors(vectors: np.ndarray, scale: float) -> None:
    study = bb.Study("x", {"a": ["1"], "b": ["2"]}, {"a": ["3"], "b": ["4"]}, {"human": ["5"]})
    words = list("12345")
    table = bb.distance_table(bb.Embedding(words, vectors), study)
    assert table["cosine_distance"].between(0, 2).all()
    # The length of vectors and a rotation do not matter.
    scaled = bb.distance_table(bb.Embedding(words, vectors.astype(float) * scale), study)
    np.testing.assert_allclose(scaled["cosine_distance"], table["cosine_distance"], atol=1e-5)
    turned = bb.distance_table(bb.Embedding(words, vectors[:, [1, 2, 0]] * [-1, 1, 1]), study)
    np.testing.assert_allclose(turned["cosine_distance"], table["cosine_distance"], atol=1e-5)
    pd.testing.assert_frame_equal(bb.check_table(table), table)


def test_lost_words(jobs: bb.Study) -> None:
    words = ["he", "she", "engineer", "clock", "grass", "garlic", "soup"]
    embedding = bb.Embedding(words, np.random.default_rng(1).normal(size=(7, 4)), "x")
    with pytest.raises(
        VocabularyError,
        match=r"no word of 'stereotype: woman'.*higher threshold",
    ):
        bb.distance_table(embedding, jobs)
    study = bb.Study(
        "s", jobs.groups, {"man": ["engineer"]}, {"neutral": ["clock", "grass", "garlic", "zzz"]}
    )
    with pytest.raises(VocabularyError, match="1 of 4 words of 'control: neutral' .'zzz'"):
        bb.distance_table(embedding, study)
    with pytest.warns(BayesBiasWarning, match="control: neutral: 'zzz'"):
        table = bb.distance_table(embedding, study, matching=Matching(threshold=0.25))
    assert table.attrs["missing"] == {"x": {"control: neutral": ["zzz"]}}
    assert "zzz" not in table["word_to_compare"].cat.categories
    # A set that is lost as a whole is an error at any threshold.
    with pytest.raises(VocabularyError, match="no word of 'stereotype: woman'"):
        bb.distance_table(embedding, jobs, matching=Matching(threshold=1))


def test_words_that_fall_together(tiny: bb.Embedding) -> None:
    controls = {"neutral": ["clock", "Clock"]}
    study = bb.Study("s", {"m": ["he"], "f": ["she"]}, {"m": ["engineer"]}, controls)
    with pytest.warns(BayesBiasWarning, match="one vector for several words.*'Clock' is 'clock'"):
        assert len(bb.distance_table(tiny, study)) == 4
    for groups, stereotypes in (
        ({"m": ["he"], "f": ["He"]}, {"m": ["engineer"], "f": ["nurse"]}),
        ({"m": ["he"], "f": ["she"]}, {"m": ["nurse"], "f": ["Nurse"]}),
    ):
        with pytest.raises(DataError, match="are the same word"):
            bb.distance_table(tiny, bb.Study("s", groups, stereotypes))
    study = bb.Study("s", {"m": ["he"], "f": ["she"]}, {"m": ["engineer", "He"]})
    with pytest.raises(DataError, match=r"'he' of 'group: m' and 'He' of 'stereotype: m'"):
        bb.distance_table(tiny, study)


def test_fallbacks(tiny: bb.Embedding) -> None:
    study = bb.Study("s", {"m": ["HE"], "f": ["She"]}, {"m": ["Engineer"], "f": ["nurse"]})
    assert bb.distance_table(tiny, study)["protected_word"].tolist() == ["HE", "HE", "She", "She"]
    with pytest.raises(VocabularyError, match="'HE'"):
        bb.distance_table(tiny, study, matching=Matching(("exact",)))


def test_bad_arguments(tiny: bb.Embedding, jobs: bb.Study) -> None:
    with pytest.raises(SpecError, match="two embeddings are called 'tiny'"):
        bb.distance_table([tiny, tiny], jobs)
    with pytest.raises(SpecError, match="'embeddings' is empty"):
        bb.distance_table([], jobs)
    with pytest.raises(NotFoundError, match="'x' is neither a file nor a known embedding"):
        bb.distance_table("x", jobs)
    with pytest.raises(SpecError, match="the embedding comes first, then the study"):
        bb.distance_table(jobs, tiny)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'embeddings' is None; expected an Embedding"):
        bb.distance_table(None, jobs)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'embeddings' is an int; expected an Embedding"):
        bb.distance_table([3], jobs)  # type: ignore[list-item]
    with pytest.raises(SpecError, match="'study' is an int; expected a Study"):
        bb.distance_table(tiny, 3)  # type: ignore[arg-type]
    with pytest.raises(NotFoundError, match="no study 'relegion'"):
        bb.distance_table(tiny, "relegion")
    with pytest.raises(SpecError, match="'matching' is a tuple; expected a Matching"):
        bb.distance_table(tiny, jobs, matching=("exact",))  # type: ignore[arg-type]


def test_the_matching_of_an_embedding_is_used(jobs: bb.Study, tiny: bb.Embedding) -> None:
    prefixed = bb.Embedding([f"/c/en/{word}" for word in tiny.words], tiny.vectors, "tiny")
    bound = prefixed.with_matching(prefix="/c/en/")
    covariates: dict[str, Any] = {
        "covariates": ["log_frequency"],
        "frequencies": dict.fromkeys(tiny.words, 3),
    }
    expected = bb.distance_table(tiny, jobs, **covariates)
    pd.testing.assert_frame_equal(bb.distance_table(bound, jobs, **covariates), expected)
    given = bb.distance_table(prefixed, jobs, matching=bound.matching, **covariates)
    pd.testing.assert_frame_equal(given, expected)
    with pytest.raises(VocabularyError, match="no word of 'group: man'"):
        bb.distance_table(bound, jobs, matching=Matching())
    every = bound.with_matching(strategy="all")
    pd.testing.assert_frame_equal(bb.distance_table(every, jobs, **covariates), expected)
    with pytest.raises(SpecError, match=r"strategy='all'.*changed\(strategy='first'\)"):
        bb.distance_table(every, jobs, matching=every.matching)


# --- files


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_round_trip(tmp_path: Path, tiny: bb.Embedding, jobs: bb.Study, suffix: str) -> None:
    table = bb.distance_table(tiny, jobs)
    bb.write_table(table, tmp_path / f"t{suffix}")
    again = bb.read_table(tmp_path / f"t{suffix}")
    for name in COLUMNS:
        assert again[name].tolist() == table[name].tolist()
    assert list(again["connection"].cat.categories) == list(CONNECTIONS)


@pytest.mark.parametrize("suffix", [".csv.gz", ".parquet"])
def test_a_table_made_to_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr(unpacked_sizes, "UNPACKED_ANYWAY", 1 << 16)
    frame = pd.concat([authors(1)] * 20_000)
    path = tmp_path / f"t{suffix}"
    if suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path)
    with pytest.raises(DataError, match=rf"t\{suffix}: the table: .* bytes unpack to .* never do"):
        bb.read_table(path)


def test_words_that_look_like_gaps(tmp_path: Path) -> None:
    study = bb.Study("s", {"nan": ["null"], "NA": ["none"]}, {"NA": ["n/a"]})
    words = ["null", "none", "n/a"]
    table = bb.distance_table(bb.Embedding(words, np.eye(3) + 1), study)
    bb.write_table(table, tmp_path / "t.csv")
    again = bb.read_table(tmp_path / "t.csv")
    assert again["protected_word"].tolist() == ["null", "none"]
    assert again["protected_group"].tolist() == ["nan", "NA"]


def authors(rows: int = 3) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "protected_word": ["judaism", "judaism", "islam"][:rows],
            "word_to_compare": ["greedy", "walk", "greedy"][:rows],
            "word_class": ["jew_stereotype", "human", "jew_stereotype"][:rows],
            "cosine_distance": [0.8, 0.9, 1.1][:rows],
            "cosine_similarity": [0.2, 0.1, -0.1][:rows],
            "connection": ["associated", "human", "different"][:rows],
        }
    )


def test_files_of_the_authors(tmp_path: Path) -> None:
    frame = pd.concat([authors()] * 2, ignore_index=True)
    frame.loc[3:, "protected_word"] = ["quran", "quran", "quran"]
    frame.loc[4, "word_to_compare"] = "walk"
    frame.loc[5, "word_to_compare"] = "talk"
    frame.loc[3:, ["cosine_distance", "cosine_similarity"]] = -100
    frame.to_csv(tmp_path / "religionReddit.csv")
    with pytest.warns(BayesBiasWarning, match="are in the group 'unknown': 'islam'"):
        table = bb.read_table(tmp_path / "religionReddit.csv")
    assert len(table) == 3
    assert set(table["embedding"]) == {"religionReddit"}
    assert table["protected_group"].tolist() == ["jew", "jew", "unknown"]
    assert table.attrs["missing"] == {
        "religionReddit": {"protected_word": ["quran"], "word_to_compare": ["talk"]}
    }


def test_camel_case(tmp_path: Path) -> None:
    names = ["protectedWord", "wordToCompare", "wordClass", "cosineDistance", "cosineSimilarity"]
    authors().set_axis([*names, "connection"], axis=1).to_csv(tmp_path / "a.csv", index=False)
    assert bb.read_table(tmp_path / "a.csv")["protected_word"].nunique() == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.rename(columns={"connection": "connexion"}), "no column 'connection'"),
        (lambda t: t.drop(columns="word_class"), "no column 'word_class'"),
        (lambda t: t.assign(connection="assoc"), "'assoc'; expected one of 'associated'"),
        (lambda t: t.assign(cosine_distance=[0.8, 2.5, 0.2]), "is 2.5 in row 1 .'judaism', 'walk'"),
        (lambda t: t.assign(cosine_distance=[0.8, -0.5, 0.2]), "is -0.5 in row 1"),
        (lambda t: t.assign(cosine_distance=["a", "b", "c"]), "not a number"),
        (lambda t: t.assign(cosine_similarity=t["cosine_distance"]), "columns mixed up"),
        (lambda t: t.assign(cosine_distance=[0.8, None, 0.2]), "missing in 1 row, first in row 1"),
        (lambda t: t.assign(protected_word=["a", None, "b"]), "'protected_word' is missing"),
        (lambda t: t.iloc[:0], "no rows"),
        (lambda t: t.assign(cosine_distance=-100.0, cosine_similarity=-100.0), "every row stands"),
    ],
)
def test_wrong_tables_are_refused_by_name(tmp_path: Path, change: object, message: str) -> None:
    change(authors()).to_csv(tmp_path / "wrong.csv")  # type: ignore[operator]
    with pytest.raises(DataError, match=message) as caught:
        bb.read_table(tmp_path / "wrong.csv")
    assert "wrong.csv" in str(caught.value)


def test_check_does_not_change_its_argument() -> None:
    frame = authors()
    before = frame.copy(deep=True)
    checked = bb.check_table(frame.assign(extra=1))
    pd.testing.assert_frame_equal(frame, before)
    assert checked.columns[-1] == "extra"
    assert tuple(checked.columns[:-1]) == COLUMNS


def test_duplicated_rows() -> None:
    frame = pd.concat([authors(), authors(1)])
    with pytest.warns(BayesBiasWarning, match="1 of 4 rows are duplicates"):
        assert len(bb.check_table(frame)) == 3
    assert len(bb.check_table(frame, duplicates="keep")) == 4
    other = frame.copy()
    other.iloc[-1, frame.columns.get_loc("connection")] = "human"
    with pytest.raises(DataError, match="one class and one connection"):
        bb.check_table(other)
    frame.iloc[-1, frame.columns.get_loc("cosine_distance")] = 0.7
    frame.iloc[-1, frame.columns.get_loc("cosine_similarity")] = 0.3
    with pytest.raises(DataError, match="occurs twice with different values.*'embedding' column"):
        bb.check_table(frame)


def test_odd_columns() -> None:
    with pytest.raises(SpecError, match="the table is None"):
        bb.check_table(None)  # type: ignore[arg-type]
    twice = pd.concat([authors(), authors()[["connection"]]], axis=1)
    with pytest.raises(DataError, match="'connection' more than once"):
        bb.check_table(twice)
    groups = authors().assign(protected_group=["a", "b", "c"])
    with pytest.raises(DataError, match="'judaism' is in the groups 'a', 'b'"):
        bb.check_table(groups)
    times = authors().assign(cosine_distance=pd.to_timedelta([1, 2, 3], unit="s"))
    with pytest.raises(DataError, match="of the type timedelta"):
        bb.check_table(times)
    mixed = authors().assign(word_to_compare=pd.Categorical([1, "1", 2], ordered=False))
    with pytest.raises(DataError, match="occurs twice"):
        bb.check_table(mixed)


def test_line_ends_in_words(tmp_path: Path) -> None:
    words = ["a\rb", "c\nd", 'e"f,g']
    bb.write_table(bb.check_table(authors().assign(word_to_compare=words)), tmp_path / "t.csv")
    assert bb.read_table(tmp_path / "t.csv")["word_to_compare"].tolist() == words


def test_missing_words_by_embedding(tmp_path: Path) -> None:
    frame = pd.concat([authors().assign(embedding="x"), authors().assign(embedding="y")])
    frame.iloc[4, 3:5] = -100
    frame.to_csv(tmp_path / "T.CSV", index=False)
    missing = bb.read_table(tmp_path / "T.CSV").attrs["missing"]
    assert missing == {"x": {}, "y": {"word_to_compare": ["walk"]}}


def test_files_that_are_no_tables(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no file"):
        bb.read_table(tmp_path / "nothing.csv")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(DataError, match="cannot be read as .csv"):
        bb.read_table(tmp_path / "empty.csv")
    (tmp_path / "a.parquet").write_text("hello")
    with pytest.raises(DataError, match="cannot be read as .parquet"):
        bb.read_table(tmp_path / "a.parquet")
    with pytest.raises(SpecError, match="one of the kinds"):
        bb.read_table(__file__)
    with pytest.raises(SpecError, match="one of the kinds"):
        bb.write_table(authors(), tmp_path / "t.xlsx")


def test_names_stand_for_what_they_name(demo: bb.Embedding) -> None:
    table = bb.distance_table(demo, bb.load_study("weat_7"))
    pd.testing.assert_frame_equal(bb.distance_table("demo", "weat_7"), table)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
@pytest.mark.parametrize("point", [",", "."])
def test_semicolons_of_a_spreadsheet(
    tmp_path: Path, jobs: bb.Study, suffix: str, point: str
) -> None:
    words = [word for words in jobs.word_sets().values() for word in words]
    vectors = np.random.default_rng(1).normal(size=(len(words), 4))
    table = bb.distance_table(bb.Embedding(words, vectors, "x"), jobs)
    path = tmp_path / f"table{suffix}"
    table.to_csv(path, sep=";", decimal=point, index=False, encoding="utf-8-sig")
    pd.testing.assert_frame_equal(bb.read_table(path), table)
    with pytest.raises(DataError, match=r"no column 'protected_word'.*read_table\(\), or sep=';'"):
        bb.check_table(pd.read_csv(path, encoding="utf-8-sig"))
    if point == ",":
        with pytest.raises(DataError, match=r"not a number.*or decimal=','"):
            bb.check_table(pd.read_csv(path, sep=";", encoding="utf-8-sig"))


def test_numbers_that_are_not_text(tmp_path: Path) -> None:
    rows = "protected_word,word_to_compare,word_class,connection,cosine_distance\n"
    path = tmp_path / "table.csv"
    path.write_bytes(rows.encode() + b"he,nurse,jobs,none,0.5\nshe,nurse,jobs,none,0.\xff5\n")
    with pytest.raises(DataError, match=r"'cosine_distance' (holds something|is of the type)"):
        bb.read_table(path)


def test_what_is_not_a_table(tmp_path: Path, jobs: bb.Study) -> None:
    with pytest.raises(SpecError, match=r"the table is a Study; .*distance_table\(\)"):
        bb.check_table(jobs)  # type: ignore[arg-type]
    table = pd.DataFrame({"protected_word": ["he"], "cosine_distance": [1.0]})
    with pytest.raises(DataError, match=r"It is the index: use table.reset_index\(\)"):
        bb.check_table(table.set_index("protected_word"))
    (tmp_path / "table.xlsx").write_bytes(b"PK")
    with pytest.raises(DataError, match="table.xlsx: files of spreadsheet programs"):
        bb.read_table(tmp_path / "table.xlsx")
    with pytest.raises(NotFoundError, match="Did you mean 'table.xlsx'"):
        bb.read_table(tmp_path / "table.xls")
