from __future__ import annotations

import json
import pickle
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, DataError, NotFoundError, SpecError
from bayesbias.wordlists import catalogue


class TestWordSet:
    def test_is_a_sequence_of_words(self) -> None:
        words = bb.WordSet("pets", ["cat", "dog"], source="a book", note="a slip")
        assert list(words) == ["cat", "dog"]
        assert words[0] == "cat"
        assert words[:1] == ("cat",)
        assert "dog" in words
        assert words.index("dog") == 1
        assert (words.source, words.note) == ("a book", "a slip")
        assert repr(words) == "WordSet('pets', 2 words: cat, dog)"

    def test_equality_is_of_name_and_words(self) -> None:
        assert bb.WordSet("a", ["x"]) == bb.WordSet("a", ["x"], source="elsewhere")
        assert bb.WordSet("a", ["x"]) != bb.WordSet("b", ["x"])
        assert len({bb.WordSet("a", ["x"]), bb.WordSet("a", ["x"])}) == 1

    def test_does_not_change(self) -> None:
        with pytest.raises(AttributeError):
            bb.WordSet("a", ["x"]).name = "b"  # type: ignore[misc]

    def test_duplicates_are_named(self) -> None:
        with pytest.warns(BayesBiasWarning, match="'a' has words more than once.*'x'"):
            assert bb.WordSet("a", ["x", "y", "x"]).words == ("x", "y")

    def test_spaces_around_words_are_removed(self) -> None:
        with pytest.warns(BayesBiasWarning, match="'a' has spaces around words, removed: 'x '"):
            assert bb.WordSet("a", ["x ", "New York"]).words == ("x", "New York")

    def test_empty_cells_of_a_column(self) -> None:
        with pytest.raises(SpecError, match=r"'a' holds nan.*column\.dropna\(\)"):
            bb.WordSet("a", ["x", float("nan")])  # type: ignore[list-item]

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ([], "'a' is empty"),
            ("xy", "is the string 'xy'; expected a list"),
            (["x", 3], "holds 3, which is not a string"),
            (["x", " "], "holds an empty word"),
            (None, "expected a list of words"),
        ],
    )
    def test_bad_words(self, words: object, message: str) -> None:
        with pytest.raises(SpecError, match=message):
            bb.WordSet("a", words)  # type: ignore[arg-type]


class TestQuery:
    query = bb.Query([["he"], ["she", "her"]], [["job"], ["home"]], ["M", "F"], ["J", "H"])

    def test_template_and_names(self) -> None:
        assert self.query.template == (2, 2)
        assert self.query.name == "M and F wrt J and H"
        assert bb.Query([["a"], ["b"], ["c"]], []).name == (
            "Target set 0, Target set 1 and Target set 2"
        )
        assert repr(self.query) == "<Query 'M and F wrt J and H', template (2, 2), 1+2 × 1+1 words>"

    def test_names_of_word_sets_are_kept(self) -> None:
        query = bb.Query([bb.WordSet("pets", ["cat"])], [bb.WordSet("loved", ["dear"], "a book")])
        assert query.name == "pets wrt loved"
        assert query.attribute_sets[0].source == "a book"

    def test_equality_and_hash(self) -> None:
        again = bb.Query([["he"], ["she", "her"]], [["job"], ["home"]], ["M", "F"], ["J", "H"])
        assert again == self.query
        assert len({again, self.query}) == 1
        assert again != bb.Query([["he"], ["she"]], [["job"], ["home"]], ["M", "F"], ["J", "H"])

    def test_subqueries(self) -> None:
        assert [q.name for q in self.query.subqueries((1, 1))] == [
            "M wrt J",
            "M wrt H",
            "F wrt J",
            "F wrt H",
        ]
        assert self.query.subqueries(("n", "n")) == [self.query]
        assert [q.template for q in self.query.subqueries((2, "n"))] == [(2, 2)]
        with pytest.raises(SpecError, match=r"needs 3 target sets, but .* has 2"):
            self.query.subqueries((3, 1))
        with pytest.raises(SpecError, match="has no number of target sets"):
            self.query.subqueries((0, 1))

    @given(st.integers(1, 4), st.integers(0, 4), st.integers(1, 4), st.integers(0, 4))
    def test_number_of_subqueries(self, n: int, m: int, t: int, a: int) -> None:
        from math import comb

        query = bb.Query([[f"t{i}"] for i in range(n)], [[f"a{i}"] for i in range(m)])
        if t > n or a > m:
            with pytest.raises(SpecError):
                query.subqueries((t, a))
        else:
            assert len(query.subqueries((t, a))) == comb(n, t) * comb(m, a)

    def test_dict_and_pickle(self) -> None:
        assert bb.Query.from_dict(json.loads(json.dumps(self.query.to_dict()))) == self.query
        assert pickle.loads(pickle.dumps(self.query)) == self.query
        with pytest.raises(SpecError, match="no 'targets'.*Did you mean 'target_sets'"):
            bb.Query.from_dict({"targets": {}, "attribute_sets": {}})
        with pytest.raises(SpecError, match="needs 'attribute_sets'"):
            bb.Query.from_dict({"target_sets": {"a": ["b"]}})

    def test_html_is_escaped(self) -> None:
        page = bb.Query([["<b>"]], [], ["a & b"])._repr_html_()
        assert "&lt;b&gt;" in page
        assert "a &amp; b" in page
        assert "<b>" not in page

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (([], []), "at least one target set"),
            (([[]], []), "'Target set 0' is empty"),
            ((["he", "she"], []), "is a list of words; expected a list of sets"),
            ((None, []), "'target_sets' is None; expected a list of sets"),
            (([["a"]], None), "'attribute_sets' is None"),
            (([["a"], 3], []), "expected a list of words"),
            (("he", []), "is 'he'; expected a list of sets"),
            (([["a"], ["b"]], [], ["A"]), "1 names for 2 target sets"),
            (([["a"], ["b"]], [], ["A", "A"]), "two target sets are called 'A'"),
        ],
    )
    def test_bad_queries(self, arguments: tuple[object, ...], message: str) -> None:
        with pytest.raises(SpecError, match=message):
            bb.Query(*arguments)  # type: ignore[arg-type]


GROUPS = {"man": ["he"], "woman": ["she"]}
STEREOTYPES = {"man": ["boss"], "woman": ["nurse"]}


class TestStudy:
    def test_parts(self) -> None:
        study = bb.load_study("religion")
        assert study.protected_words[:2] == ("judaism", "jew")
        assert len(study.protected_words) == 15
        kinds = {a.word: (a.word_class, a.group, a.control) for a in study.attributes}
        assert kinds["greedy"] == ("jew_stereotype", "jew", None)
        assert kinds["walk"] == ("human", None, "human")
        assert kinds["garlic"] == ("neutral", None, "neutral")
        assert "group: jew" in study._repr_html_()

    @pytest.mark.parametrize("suffix", [".toml", ".json"])
    @pytest.mark.parametrize("name", catalogue.STUDIES)
    def test_files(self, tmp_path: Path, name: str, suffix: str) -> None:
        study = bb.load_study(name)
        study.save(tmp_path / f"copy{suffix}")
        again = bb.load_study(tmp_path / f"copy{suffix}")
        assert again == study
        assert hash(again) == hash(study)
        assert (again.source, again.notes) == (study.source, study.notes)

    def test_odd_characters_in_toml(self, tmp_path: Path) -> None:
        study = bb.Study(
            'a "b" \\ \x7f\n', {"x y": ["\u00e9\U0001f600"], "b.c": ["d'e"]}, {"x y": ["#"]}
        )
        study.save(tmp_path / "a.toml")
        assert bb.load_study(tmp_path / "a.toml") == study

    def test_pickle(self) -> None:
        study = bb.load_study("gender")
        assert pickle.loads(pickle.dumps(study)) == study

    def test_generators(self) -> None:
        study = bb.Study("x", {"m": (w for w in ["he"]), "f": iter(["she"])}, {"m": ["boss"]})
        assert study.protected_words == ("he", "she")

    def test_published_lists_keep_their_source(self) -> None:
        assert "Dobrzeniecka" in bb.load_study("religion").controls["human"].source

    def test_references_to_built_in_lists(self, tmp_path: Path) -> None:
        path = tmp_path / "mine.toml"
        path.write_text(
            'name = "mine"\n[groups]\nf = "weat:flowers"\ni = "weat:insects"\n'
            '[stereotypes]\nf = ["nice"]\n[controls]\nneutral = "controls:neutral"\n'
        )
        assert len(bb.load_study(path).groups["f"]) == 25
        path.write_text(path.read_text().replace("weat:flowers", "weat:flower"))
        with pytest.raises(SpecError, match=r"mine\.toml: .*Did you mean 'flowers'"):
            bb.load_study(path)

    @pytest.mark.parametrize(
        ("groups", "stereotypes", "controls", "message"),
        [
            ({"man": ["he"]}, {"man": ["boss"]}, {}, "1 group; it needs at least two"),
            ({"man": ["he"], "woman": []}, STEREOTYPES, {}, "groups 'woman' is empty"),
            ({"man": ["he"], "woman": ["he"]}, STEREOTYPES, {}, "'he' is both in 'group: man' and"),
            (GROUPS, {"man": ["boss"], "woman": ["boss"]}, {}, "'boss' is both in"),
            (GROUPS, {"man": ["boss", "she"]}, {}, "'she' is both in"),
            (GROUPS, {"men": ["boss"]}, {}, "stereotypes of 'men'.*Did you mean 'man'"),
            (GROUPS, {}, {}, "no stereotypes"),
            (GROUPS, STEREOTYPES, {"humans": ["ear"]}, "Did you mean 'human'"),
            (GROUPS, STEREOTYPES, {"human": ["boss"]}, "'boss' is both in"),
            (GROUPS, STEREOTYPES, {"human": "ear"}, "is the string 'ear'"),
            ({"man": {"words": ["he"]}, "woman": ["she"]}, STEREOTYPES, {}, "expected a list"),
            ({"man": 5, "woman": ["she"]}, STEREOTYPES, {}, "'groups man' is 5; expected a list"),
            ({"man": None, "woman": ["she"]}, STEREOTYPES, {}, "expected a list of words"),
            (["he"], STEREOTYPES, {}, "expected a dictionary"),
        ],
    )
    def test_bad_studies(
        self, groups: object, stereotypes: object, controls: object, message: str
    ) -> None:
        with pytest.raises(SpecError, match=message):
            bb.Study("x", groups, stereotypes, controls)  # type: ignore[arg-type]

    def test_bad_files(self, tmp_path: Path) -> None:
        path = tmp_path / "a.toml"
        path.write_text("name = ")
        with pytest.raises(DataError, match=r"a\.toml: not valid TOML"):
            bb.load_study(path)
        path.write_text('name = "x"\nstereotypes = {}\n')
        with pytest.raises(SpecError, match=r"a\.toml: the study has no 'groups'"):
            bb.load_study(path)
        path.write_text('name = "x"\ngroup = {}\n')
        with pytest.raises(SpecError, match="Did you mean 'groups'"):
            bb.load_study(path)
        path.write_bytes(b"name = '\xff'")
        with pytest.raises(DataError, match="byte 8: not UTF-8"):
            bb.load_study(path)
        path.write_text(
            '\ufeffname = "x"\nnotes = 5\n[groups]\na=["b"]\nc=["d"]\n[stereotypes]\na=["e"]'
        )
        with pytest.raises(SpecError, match="'notes' is 5"):
            bb.load_study(path)
        path = tmp_path / "a.json"
        path.write_text("[" * 100_000)
        with pytest.raises(DataError, match="not valid JSON"):
            bb.load_study(path)
        path.write_text("[]")
        with pytest.raises(DataError, match="expected a table"):
            bb.load_study(path)
        with pytest.raises(NotFoundError, match="no study 'religon'.*Did you mean 'religion'"):
            bb.load_study("religon")
        with pytest.raises(SpecError, match="a .toml or .json file"):
            bb.load_study("religion").save(tmp_path / "a.yaml")


def test_query_by_names() -> None:
    query = bb.Query({"men": ["he"], "women": ["she", "her"]}, {"work": ["office"]})
    assert query.name == "men and women wrt work"
    assert query == bb.Query([["he"], ["she", "her"]], [["office"]], ["men", "women"], ["work"])
    study = bb.load_study("gender")
    of_study = bb.Query(study.groups, study.stereotypes)
    assert of_study.target_names == tuple(study.groups)
    assert of_study.target_sets[0].source == study.groups["man"].source
    with pytest.raises(SpecError, match="'men' is the string 'he'"):
        bb.Query({"men": "he"}, [])


def test_what_is_not_the_source_of_lists(tmp_path: Path) -> None:
    study = bb.load_study("gender")
    with pytest.raises(SpecError, match="'source' is .*expected the name of a study, or a file"):
        bb.load_study(study)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="expected the name of a query, or a file"):
        bb.load_query(["weat_7"])  # type: ignore[arg-type]
    study.save(tmp_path / "study.toml")
    with pytest.raises(SpecError, match=r"study.toml: this is a study.*Query\(study.groups"):
        bb.load_query(tmp_path / "study.toml")
    with pytest.raises(NotFoundError, match="no study '.*'.*Did you mean 'study.toml'"):
        bb.load_study(tmp_path / "studie.toml")
    (tmp_path / "lists.csv").write_text("old,young\nretired,teenager\n")
    with pytest.raises(DataError, match=r"expected a TOML or JSON file. word_sets\('lists.csv'\)"):
        bb.load_study(tmp_path / "lists.csv")
    (tmp_path / "lists.xlsx").write_bytes(b"PK")
    for load in (bb.load_study, bb.load_query, bb.word_sets):
        with pytest.raises(DataError, match="lists.xlsx: files of spreadsheet programs"):
            load(tmp_path / "lists.xlsx")
    for groups in ([["he"], ["she"]], pd.DataFrame({"man": ["he"] * 20})):
        with pytest.raises(SpecError, match="expected a dictionary of names and words: {'old'"):
            bb.Study("x", groups, {})  # type: ignore[arg-type]


def test_query_from_file(tmp_path: Path) -> None:
    path = tmp_path / "query.toml"
    path.write_text(
        '[target_sets]\nflowers = "weat:flowers"\n[attribute_sets]\nnice = ["kind", "good"]\n'
    )
    query = bb.load_query(path)
    assert query.template == (1, 1)
    assert len(query.target_sets[0]) == 25
    with pytest.raises(NotFoundError, match="Did you mean 'weat_1"):
        bb.load_query("weat_11")


class TestLabels:
    study = bb.Study(
        "roles",
        {"man": ["he"], "woman": ["she"]},
        {"man": ["engineer"], "woman": ["nurse"]},
        {"neutral": ["clock"]},
        labels={"study": "Roles", "groups": {"man": "Men"}, "words": {"he": "“he”"}},
    )

    def test_names_are_used_where_there_is_no_label(self) -> None:
        assert self.study.label == "Roles"
        assert [self.study.group_label(group) for group in self.study.groups] == ["Men", "woman"]
        assert [self.study.word_label(word) for word in ("he", "she")] == ["“he”", "she"]
        assert bb.Study("a", {"x": ["b"], "y": ["c"]}, {"x": ["d"]}).label == "a"

    def test_a_notebook_shows_them(self) -> None:
        page = self.study._repr_html_()
        assert "Study roles (Roles)" in page
        assert "<td>group: man (Men)</td>" in page
        assert "<td>stereotype: woman</td>" in page

    @pytest.mark.parametrize("suffix", ["toml", "json"])
    def test_round_trip(self, tmp_path: Path, suffix: str) -> None:
        path = tmp_path / f"study.{suffix}"
        self.study.save(path)
        assert bb.load_study(path).labels == self.study.labels
        assert pickle.loads(pickle.dumps(self.study)).labels == self.study.labels

    def test_a_label_may_look_like_the_name_of_a_list(self, tmp_path: Path) -> None:
        path = tmp_path / "study.json"
        data = self.study.to_dict()
        data["labels"] = {"study": "controls:neutral"}
        path.write_text(json.dumps(data))
        assert bb.load_study(path).label == "controls:neutral"

    def test_labels_are_no_part_of_what_is_measured(self) -> None:
        data = self.study.to_dict()
        del data["labels"]
        assert bb.Study.from_dict(data) == self.study
        assert "labels" not in bb.Study.from_dict(data).to_dict()

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            ({"group": {"man": "Men"}}, "labels of 'group'.*Did you mean 'groups'"),
            ({"groups": {"men": "Men"}}, "'men', which is not one of its groups.*mean 'man'"),
            ({"words": {"him": "Him"}}, "'him', which is not one of its words"),
            ({"words": "Him"}, "labels of words are 'Him'; expected a dictionary"),
            ({"groups": {"man": ""}}, "label of 'man' is ''; expected a text"),
            ({"study": 3}, "label of 'study' is 3; expected a text"),
            (["man"], "'labels' is"),
        ],
    )
    def test_bad_labels(self, labels: object, message: str) -> None:
        data = self.study.to_dict() | {"labels": labels}
        with pytest.raises(SpecError, match=message):
            bb.Study.from_dict(data)
