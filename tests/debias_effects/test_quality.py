"""Side effects of debiasing, against SciPy, gensim and simulation."""

from __future__ import annotations

import tomllib
from functools import partial
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

import bayesbias as bb
from bayesbias._core.blocks import blocks
from bayesbias._core.remote_files import REMOTE_FILES
from bayesbias.debias_effects.benchmarks import (
    ANALOGIES,
    SIMILARITIES,
    Question,
    analogy_questions,
    similarity_pairs,
)
from bayesbias.debias_effects.quality import _accuracy_draws
from bayesbias.errors import BayesBiasWarning, DataError, NotFoundError, SpecError, VocabularyError
from bayesbias.numerics.intervals import interval

DATA = Path(bb.__file__).parent / "debias_effects" / "data"


@pytest.fixture(scope="module")
def debiased(demo: bb.Embedding) -> bb.Embedding:
    return bb.debias.HardDebias().fit(demo).transform(demo)


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The analogies that come with the package, as a file in the usual format."""
    lines, section = [], ""
    for question in analogy_questions("basic")[1]:
        if question.section != section:
            section = question.section
            lines.append(f": {section}")
        lines.append(" ".join(question[1:]))
    path = tmp_path_factory.mktemp("analogies") / "questions-words.txt"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


# Built-in benchmarks


@pytest.mark.parametrize("name", [*SIMILARITIES, *ANALOGIES])
def test_builtin_benchmarks_name_source_and_licence(name: str) -> None:
    data = tomllib.loads((DATA / f"{name}.toml").read_text("utf-8"))
    assert all(data[key] for key in ("title", "source", "licence", "notes"))


def test_rg_65_is_the_printed_list() -> None:
    name, pairs = similarity_pairs("rg_65")
    scores = [pair.score for pair in pairs]
    assert (name, len(pairs)) == ("rg_65", 65)
    assert scores == sorted(scores)
    assert len({frozenset(pair[:2]) for pair in pairs}) == 65
    # The paper took its pairs from 48 words.
    assert len({word for pair in pairs for word in pair[:2]}) == 48
    assert (min(scores), max(scores)) == (0.02, 3.94)


def test_mc_30_agrees_with_rg_65() -> None:
    """The same pairs judged 25 years later: the two papers' correlation is printed as 0.97."""
    first = {frozenset(pair[:2]): pair.score for pair in similarity_pairs("rg_65")[1]}
    second = {frozenset(pair[:2]): pair.score for pair in similarity_pairs("mc_30")[1]}
    assert len(second) == 30
    both = [(first[pair], score) for pair, score in second.items()]
    assert np.corrcoef(np.array(both).T)[0, 1] == pytest.approx(0.97, abs=0.005)


def test_several_benchmarks_at_once(demo: bb.Embedding, tmp_path: Path) -> None:
    """Each row is that of the benchmark alone, and its value SciPy's."""
    few = tmp_path / "few.tsv"
    few.write_text("man\twoman\t8\nxyzzy\tplugh\t2\n", "utf-8")
    names = ["simlex_999", "rg_65", few]
    with pytest.warns(BayesBiasWarning, match="1 of the 2 pairs of 'few'"):
        both = bb.debias_effects.word_similarity(demo, names, draws=50)
    assert both["benchmark"].tolist() == ["simlex_999", "rg_65", "few"]
    for name in ("simlex_999", "rg_65"):
        alone = bb.debias_effects.word_similarity(demo, name, draws=50)
        row = both[both["benchmark"] == name].reset_index(drop=True)
        assert row.equals(alone)
        pairs = [p for p in similarity_pairs(name)[1] if not demo.match(p[:2]).missing]
        assert row["n_pairs"].item() == len(pairs)
        assert row["coverage"].item() == len(pairs) / len(similarity_pairs(name)[1])
        vectors = [demo.vectors[demo.match(p[:2]).rows].astype(float) for p in pairs]
        cosines = [a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in vectors]
        expected = spearmanr(cosines, [p.score for p in pairs]).statistic
        assert row["spearman"].item() == pytest.approx(expected, abs=1e-6)
    last = both.iloc[-1]
    assert (last["n_pairs"], last["n_lost"], last["coverage"]) == (1, 1, 0.5)
    assert np.isnan([last["spearman"], last["lower"], last["upper"]]).all()
    with (
        pytest.warns(BayesBiasWarning, match="few"),
        pytest.raises(VocabularyError, match="every benchmark"),
    ):
        bb.debias_effects.word_similarity(demo, [few, few])
    with pytest.raises(SpecError, match="empty"):
        bb.debias_effects.word_similarity(demo, [])


@pytest.mark.parametrize(
    ("name", "line", "word"),
    [
        ("simverb_3500", "refrain\tabstain\t8.8\napprove\tchange\t1\n", "refrain"),
        ("mturk_771", "mouth\ttrap\t2.333333333\noak\ttree\t4.576923077\n", "mouth"),
        ("rare_words", "reviles\tabuse\t5.86\narchery\tsport\t7.00\n", "reviles"),
    ],
)
def test_benchmarks_by_name(
    name: str, line: str, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines of the published files, from a folder in place of the network."""
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / REMOTE_FILES[name].filename).write_text(line, "utf-8")
    monkeypatch.setenv("BAYESBIAS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BAYESBIAS_MIRROR", (tmp_path / "shelf").as_uri())
    found, pairs = similarity_pairs(name)
    assert (found, pairs[0].first, len(pairs)) == (name, word, 2)


def test_the_demo_knows_all_analogies(demo: bb.Embedding) -> None:
    for embedding in (demo, bb.load_embedding("demo-100d")):
        found = bb.debias_effects.word_analogies(embedding, draws=10)
        assert found["n_lost"].sum() == 0
    assert list(found["n_questions"]) == [132] * 6 + [792]


# Similarity


def test_similarity_is_spearmans_correlation(demo: bb.Embedding) -> None:
    pairs = [p for p in similarity_pairs("rg_65")[1] if p.first in demo and p.second in demo]
    keyed = demo.to_gensim()
    cosines = [keyed.similarity(p.first, p.second) for p in pairs]
    wanted = spearmanr(cosines, [p.score for p in pairs]).statistic
    found = bb.debias_effects.word_similarity(demo, "rg_65", draws=500).iloc[0]
    assert found["spearman"] == pytest.approx(wanted)
    assert found["n_pairs"] == len(pairs) == 65 - found["n_lost"]
    assert found["lower"] < wanted < found["upper"]


def test_similarity_equals_gensims(demo: bb.Embedding, tmp_path: Path, rng: object) -> None:
    assert isinstance(rng, np.random.Generator)
    words = rng.choice(demo.words[:3000], (200, 2), replace=False)
    path = tmp_path / "random.tsv"
    path.write_text("".join(f"{a}\t{b}\t{rng.normal():.3f}\n" for a, b in words), "utf-8")
    _, spearman, _ = demo.to_gensim().evaluate_word_pairs(str(path), case_insensitive=False)
    found = bb.debias_effects.word_similarity(demo, path, draws=100).iloc[0]
    assert found["spearman"] == pytest.approx(spearman.statistic)
    assert (found["benchmark"], found["n_pairs"]) == ("random", 200)


def test_similarity_interval_is_a_bootstrap(tmp_path: Path) -> None:
    """As wide as the large-sample standard error says, for pairs drawn from a normal law."""
    rng = np.random.default_rng(1)
    n, rho = 400, 0.6
    angle = rng.uniform(0.2, np.pi - 0.2, n)
    words = [f"a{i}" for i in range(n)] + [f"b{i}" for i in range(n)]
    vectors = np.vstack([np.tile([1.0, 0.0], (n, 1)), np.c_[np.cos(angle), np.sin(angle)]])
    ranks = np.argsort(np.argsort(np.cos(angle)))
    score = rho * (ranks - ranks.mean()) / ranks.std() + np.sqrt(1 - rho**2) * rng.normal(size=n)
    path = tmp_path / "pairs.txt"
    path.write_text("".join(f"a{i} b{i} {score[i]}\n" for i in range(n)))
    found = bb.debias_effects.word_similarity(bb.Embedding(words, vectors), path, kind="eti").iloc[
        0
    ]
    resampled = []
    for _ in range(400):
        some = rng.integers(n, size=n)
        resampled.append(spearmanr(np.cos(angle)[some], score[some]).statistic)
    low, high = np.quantile(resampled, [0.055, 0.945])
    assert found["upper"] - found["lower"] == pytest.approx(high - low, rel=0.15)


def test_change_of_similarity(demo: bb.Embedding, debiased: bb.Embedding) -> None:
    found = bb.debias_effects.word_similarity([demo, debiased], "rg_65", draws=500)
    values = found["spearman"].to_numpy()
    last = found.iloc[1]
    assert last["change"] == pytest.approx(values[1] - values[0])
    # Paired: narrower than two intervals that know nothing of each other.
    apart = np.hypot(*(found["upper"] - found["lower"]))
    assert last["change_upper"] - last["change_lower"] < 0.7 * apart
    assert np.isnan(found["change"].iloc[0])
    alone = bb.debias_effects.word_similarity(demo, "rg_65", draws=500).iloc[0]
    assert alone["lower"] == found["lower"].iloc[0]


def test_pairs_that_one_embedding_lacks_are_left_out_for_all(demo: bb.Embedding) -> None:
    part = demo.subset([word for word in demo.words if word != "hill"], "part")
    found = bb.debias_effects.word_similarity([demo, part], "rg_65", draws=10)
    assert list(found["n_pairs"]) == [14, 14]
    assert found["change"].iloc[1] == 0


def test_zero_vectors_are_lost(demo: bb.Embedding) -> None:
    vectors = np.array(demo.vectors)
    vectors[demo.index["hill"]] = 0
    hollow = demo.with_vectors(vectors, "hollow")
    assert bb.debias_effects.word_similarity(hollow, "rg_65", draws=10)["n_pairs"].item() == 14


LAYOUTS = {
    "wordsim353.csv": "Word 1,Word 2,Human (mean)\nlove,sex,6.77\ntiger,cat,7.35\n",
    "set1.csv": "Word 1,Word 2,Human (mean),1,2\nlove,sex,6.77,9,6\ntiger,cat,7.35,9,7\n",
    "wordsim_similarity_goldstandard.txt": "love\tsex\t6.77\ntiger\tcat\t7.35\n",
    "SimLex-999.txt": "word1\tword2\tPOS\tSimLex999\tconc(w1)\nlove\tsex\tN\t6.77\t5\n"
    "tiger\tcat\tN\t7.35\t5\n",
    "MEN_natural": "love sex 6.770000\ntiger cat 7.350000\n",
    "MEN_lemma": "love-n sex-n 6.770000\ntiger-n cat-n 7.350000\n",
    "RG65.csv": "love;sex;6.77\ntiger;cat;7.35\n",
    "german.csv": "love;sex;6,77\ntiger;cat;7,35\n",
    "mturk-771.csv": "love,sex,6.77\r\ntiger,cat,7.35\r\n",
    "numbered.csv": ",word1,word2,similarity\n0,love,sex,6.77\n1,tiger,cat,7.35\n",
    "remarks.txt": "# from somewhere\n\nlove\tsex\t6.77\n# more\ntiger\tcat\t7.35",
    "quoted.csv": '"love","sex","6.77"\n"tiger","cat","7.35"\n',
    "marked.txt": "\ufefflove sex 6.77\ntiger cat 7.35\n",
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_of_similarity_files(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(LAYOUTS[name].encode())
    assert similarity_pairs(path) == (path.stem, [("love", "sex", 6.77), ("tiger", "cat", 7.35)])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("love sex 6.77\ntiger cat\n", "line 2: 'tiger cat' is not a pair; expected two words"),
        ("word1,word2,score\n\nlove,sex,x\n", "line 3: 'love,sex,x' is not a pair"),
        ("love\tsex\t6.77\n\tcat\t7.35\n", "line 2: .*is not a pair"),
        ("love,sex,6.77\ntiger,cat,nan\n", "line 2: 'tiger,cat,nan' is not a pair"),
        ("word1,word2,score\n", "line 1: 'word1,word2,score' is not a pair"),
        ("", "no pair of words"),
    ],
)
def test_bad_lines_of_similarity_files(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=message):
        similarity_pairs(path)


WORDS = st.text("abcdefgh'", min_size=1, max_size=6)


@given(
    pairs=st.lists(
        st.tuples(WORDS, WORDS, st.floats(0, 10).map(lambda x: round(x, 2))), min_size=1, max_size=8
    ),
    separator=st.sampled_from(["\t", ",", ";", " "]),
    header=st.booleans(),
)
def test_similarity_files_round_trip(
    pairs: list[tuple[str, str, float]],
    separator: str,
    header: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("pairs") / "pairs.txt"
    lines = [separator.join(["word1", "word2", "score"])] * header
    lines += [separator.join(map(str, pair)) for pair in pairs]
    path.write_text("\n".join(lines), "utf-8")
    assert similarity_pairs(path)[1] == pairs


# Analogies


@pytest.mark.parametrize("limit", [None, 4000])
def test_analogies_equal_gensims(demo: bb.Embedding, questions: Path, limit: int | None) -> None:
    _, sections = demo.to_gensim().evaluate_word_analogies(
        str(questions), restrict_vocab=limit or len(demo)
    )
    found = bb.debias_effects.word_analogies(demo, questions, limit=limit, draws=10).set_index(
        "section"
    )
    for section in sections[:-1]:
        row = found.loc[section["section"]]
        asked = len(section["correct"]) + len(section["incorrect"])
        assert row["n_questions"] == asked
        assert row["accuracy"] * asked == pytest.approx(len(section["correct"]))
    assert (found["n_lost"].sum() > 0) == (limit is not None)


def test_analogies_without_exclusion(demo: bb.Embedding) -> None:
    """As complete_analogy answers them one by one."""
    found = bb.debias_effects.word_analogies(demo, exclude=False, draws=10).set_index("section")
    asked = [q for q in analogy_questions("basic")[1] if q.section == "comparative"]
    right = [
        bb.metrics.complete_analogy(demo, q.a, q.b, q.c, exclude=False, n=1)["word"].item() == q.d
        for q in asked
    ]
    assert found.loc["comparative", "accuracy"] == pytest.approx(np.mean(right))


def test_names_with_capitals(demo: bb.Embedding) -> None:
    """In a vocabulary with both, the name is meant, not the same word in lower case."""
    words = [word for q in analogy_questions("basic")[1] for word in q[1:] if word.istitle()]
    names = list(dict.fromkeys(words))
    vectors = np.array(demo.vectors)
    rows = [demo.index[name.lower()] for name in names]
    cased = np.vstack([vectors[rows], vectors])
    cased[len(names) + np.array(rows)] *= -1  # what is written in lower case means something else
    both = [demo, bb.Embedding([*names, *demo.words], cased, "cased")]
    found = bb.debias_effects.word_analogies(both, draws=10)
    capitals = found[found["section"] == "capital"]
    assert list(capitals["n_questions"]) == [132, 132]
    assert capitals["change"].iloc[1] == pytest.approx(0, abs=0.05)


def test_blocks_do_not_matter(demo: bb.Embedding, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = bb.debias_effects.word_analogies(demo, draws=20)
    smaller = partial(blocks, budget=300_000)
    monkeypatch.setattr("bayesbias.debias_effects.quality.blocks", smaller)
    assert whole.equals(bb.debias_effects.word_analogies(demo, draws=20))


def test_names_seeds_and_matching(demo: bb.Embedding) -> None:
    """By name as by object; a generator as a seed; words found as the embedding is told to."""
    words = [f"/c/en/{word}" for word in demo.words]
    prefixed = bb.Embedding(words, demo.vectors, "demo").with_matching(prefix="/c/en/")
    for measured in (bb.debias_effects.word_similarity, bb.debias_effects.word_analogies):
        expected = measured(demo, draws=20)
        assert measured("demo", draws=20).equals(expected)
        assert measured([prefixed], draws=20).equals(expected)
        matching = bb.embeddings.Matching().changed(prefix="/c/en/", strategy="all")
        assert measured(prefixed.with_matching(matching), draws=20).equals(expected)
        first, again = (measured(demo, draws=20, seed=np.random.default_rng(2)) for _ in range(2))
        assert first.equals(again)
    drift = bb.debias_effects.neighbour_drift("demo", prefixed, ["nurse", "Clock"], k=5)
    assert list(drift["word"]) == ["nurse", "Clock"]


def simulated(
    rng: np.random.Generator, pairs: int, hardness: float, noise: float
) -> tuple[list[Question], np.ndarray, np.ndarray]:
    """All questions of a number of pairs, some harder than others, before and after a change."""
    places = list(permutations(range(pairs), 2))
    questions = [Question("s", f"a{i}", f"b{i}", f"a{j}", f"b{j}") for i, j in places]
    effect = rng.normal(0, hardness, pairs)
    moved = effect + rng.normal(0, noise, pairs)
    level = rng.logistic(size=len(places))
    sums = [np.array([e[i] + e[j] for i, j in places]) for e in (effect, moved)]
    return questions, sums[0] + 1.5 > level, sums[1] + 1.5 > level


def test_intervals_of_accuracy_hold_the_truth() -> None:
    """Pairs differ in how hard they are, so questions are not independent; the intervals know."""
    rng = np.random.default_rng(5)
    deep = rng.normal(0, 1.0, (200_000, 2)).sum(axis=1)
    truth = float((1 / (1 + np.exp(-(1.5 + deep)))).mean())
    held = narrow = 0
    for _ in range(150):
        questions, right, _ = simulated(rng, 14, hardness=1.0, noise=0.3)
        draws = _accuracy_draws(questions, [right], [True], ["s"], 300, rng)["s"][0]
        low, high = interval(draws)
        held += bool(low <= truth <= high)
        # As if all questions were independent.
        spread = 1.6 * np.sqrt(truth * (1 - truth) / len(right))
        narrow += bool(abs(right.mean() - truth) <= spread)
    assert 0.8 <= held / 150 <= 0.99
    assert narrow / 150 < 0.7


def test_perfect_answers_have_an_interval(demo: bb.Embedding, debiased: bb.Embedding) -> None:
    found = bb.debias_effects.word_analogies([demo, debiased], draws=500).set_index(
        ["embedding", "section"]
    )
    row = found.loc[(debiased.name, "nationality")]
    assert (row["accuracy"], row["change"]) == (1, 0)
    assert 0.8 < row["lower"] < 0.97
    # That all answers are the same does not prove that all others would be.
    assert row["change_lower"] < 0 < row["change_upper"]


def test_a_broken_embedding_is_found_out(demo: bb.Embedding, rng: np.random.Generator) -> None:
    noise = rng.normal(0, 1.5 * demo.vectors.std(), demo.vectors.shape)
    broken = demo.with_vectors(demo.vectors + noise, "broken")
    found = bb.debias_effects.word_analogies([demo, broken], draws=500).iloc[-1]
    assert found["change_upper"] < 0
    assert found["prob_change_negative"] > 0.99


def test_the_same_embedding_does_not_change(demo: bb.Embedding) -> None:
    same = demo.with_vectors(demo.vectors, "same")
    for found in (
        bb.debias_effects.word_similarity([demo, same], draws=50),
        bb.debias_effects.word_analogies([demo, same], draws=50),
    ):
        last = found[found["embedding"] == "same"]
        columns = ["change", "change_lower", "change_upper", "prob_change_negative"]
        assert (last[columns] == 0).all(axis=None)
    drift = bb.debias_effects.neighbour_drift(demo, same, n_words=50)
    assert (drift[["kept", "jaccard"]] == 1).all(axis=None)
    assert (drift[["gone", "new"]] == "").all(axis=None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (": s\na b c d\na b c\n", "line 3: 'a b c' has 3 words; expected four"),
        (":\na b c d\n", "line 1: a section without a name"),
        (": s\n", "no questions; expected four words in each line"),
    ],
)
def test_bad_lines_of_analogy_files(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=message):
        analogy_questions(path)


def test_remarks_in_analogy_files(questions: Path, tmp_path: Path) -> None:
    """The file of Mikolov et al. begins with one."""
    path = tmp_path / "remarked.txt"
    path.write_text("// Copyright\n" + questions.read_text("utf-8"), "utf-8")
    assert analogy_questions(path)[1] == analogy_questions("basic")[1]


def test_sections_without_known_questions(demo: bb.Embedding, tmp_path: Path) -> None:
    path = tmp_path / "some.txt"
    path.write_text("man woman king queen\n: odd\nxyzzy plugh xyzzy plover\n", "utf-8")
    found = bb.debias_effects.word_analogies(demo, path, draws=50).set_index("section")
    assert list(found.index) == ["questions", "odd", "all sections"]
    assert list(found["n_questions"]) == [1, 0, 1]
    assert list(found["n_lost"]) == [0, 1, 1]
    assert found.loc["odd", ["accuracy", "lower", "upper"]].isna().all()
    assert found.loc["all sections", "lower"] < found.loc["all sections", "upper"]


# Neighbours


def test_drift_by_hand() -> None:
    angles = np.radians([0, 10, 20, 30, 90])
    before = bb.Embedding(list("abcde"), np.c_[np.cos(angles), np.sin(angles)], "before")
    angles[[1, 4]] = angles[[4, 1]]
    after = bb.Embedding(list("abcde"), np.c_[np.cos(angles), np.sin(angles)], "after")
    found = bb.debias_effects.neighbour_drift(before, after, ["a", "c"], k=2).set_index("word")
    # Before, b and c are nearest to a; after, e and c are.
    assert found.loc["a"].to_list() == [0.5, 1 / 3, "b", "e"]
    assert list(found.index) == ["a", "c"]


def test_drift_equals_gensims_neighbours(demo: bb.Embedding, debiased: bb.Embedding) -> None:
    words = ["nurse", "church", "music", "river"]
    found = bb.debias_effects.neighbour_drift(demo, debiased, words, k=15).set_index("word")
    keyed = [one.to_gensim() for one in (demo, debiased)]
    for word in words:
        old, new = ({w for w, _ in kv.most_similar(word, topn=15)} for kv in keyed)
        assert found.loc[word, "kept"] == pytest.approx(len(old & new) / 15)
        assert found.loc[word, "jaccard"] == pytest.approx(len(old & new) / len(old | new))
        assert set(filter(None, found.loc[word, "gone"].split(", "))) == old - new
        assert set(filter(None, found.loc[word, "new"].split(", "))) == new - old


def test_the_sample_of_drift(demo: bb.Embedding, debiased: bb.Embedding) -> None:
    found = bb.debias_effects.neighbour_drift(demo, debiased, n_words=40, vocabulary=300, seed=3)
    assert len(found) == 40
    assert set(found["word"]) <= set(demo.words[:300])
    assert found.equals(
        bb.debias_effects.neighbour_drift(demo, debiased, n_words=40, vocabulary=300, seed=3)
    )
    other = bb.debias_effects.neighbour_drift(demo, debiased, n_words=40, vocabulary=300, seed=4)
    assert set(found["word"]) != set(other["word"])
    assert found["kept"].is_monotonic_increasing


# What is refused


def test_what_is_refused(demo: bb.Embedding, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no benchmark 'rg_66'.*Did you mean 'rg_65'"):
        bb.debias_effects.word_similarity(demo, "rg_66")
    with pytest.raises(NotFoundError, match="no benchmark .*there are 'basic'"):
        bb.debias_effects.word_analogies(demo, tmp_path / "none.txt")
    with pytest.raises(SpecError, match="'benchmark' is 3"):
        bb.debias_effects.word_analogies(demo, 3)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'embeddings' is an int; expected an Embedding"):
        bb.debias_effects.word_similarity(3)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="'embeddings' is an int; expected an Embedding"):
        bb.debias_effects.word_similarity([3])  # type: ignore[list-item]
    with pytest.raises(SpecError, match="two embeddings are called 'demo'"):
        bb.debias_effects.word_similarity([demo, demo])
    few = demo.subset(["hill", "coast", "forest", "bird"], "few")
    with pytest.raises(VocabularyError, match="only 2 of the 65 pairs of 'rg_65' have both"):
        bb.debias_effects.word_similarity(few)
    with pytest.raises(VocabularyError, match="none of the 792 questions of 'basic' has all"):
        bb.debias_effects.word_analogies(few)
    with pytest.raises(SpecError, match="'limit' is 0"):
        bb.debias_effects.word_analogies(demo, limit=0)
    with pytest.raises(SpecError, match="'draws' is 1"):
        bb.debias_effects.word_similarity(demo, draws=1)
    with pytest.raises(SpecError, match="'after' is an int"):
        bb.debias_effects.neighbour_drift(demo, 3)  # type: ignore[arg-type]
    with pytest.raises(VocabularyError, match="none of the words in common .'xyzzy'"):
        bb.debias_effects.neighbour_drift(demo, demo, ["xyzzy"])
    with pytest.raises(SpecError, match="'few' has 3 words to choose 10 neighbours"):
        bb.debias_effects.neighbour_drift(few, few)
    with pytest.warns(BayesBiasWarning, match="lacks words, left out: 'xyzzy'"):
        bb.debias_effects.neighbour_drift(demo, demo, ["hill", "xyzzy"])
