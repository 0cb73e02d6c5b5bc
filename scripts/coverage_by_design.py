"""Coverage of intervals with real words, a check that trusts no model.

    python scripts/coverage_by_design.py hierarchical crossed my-model.toml
    python scripts/coverage_by_design.py --designs religion-4 --tables 40 --jobs 2 crossed
    python scripts/coverage_by_design.py --second debiased embeddings

From large pools of real words small lists are drawn, as a study would have them: attributes from
the neighbours of a study's stereotypes or from the opinion lexicon, controls from thousands of
neutral words, protected words from the neighbours of a group's words. The distance table is built
and fitted, and the intervals of its contrasts are compared with the contrasts of the whole pools.
The t-interval over attributes (`bayesbias.t_contrasts`) stands beside every model.

With ``--second`` the contrasts are changes: from the embedding to itself after hard debiasing by
gender (``debiased``), or to another embedding, by its name or file. Models then compare embeddings
(`bayesbias.fit_paired`), and the t-interval is that of differences of the same pairs of words.

It needs ``pip install 'bayesbias[glove]'``. Finished tables are kept in the folder of ``--out``:
the same command continues a run that was stopped, and more tables or models are added to it. Each
table is drawn from its own seed: the same for every model and any number of processes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt
import pandas as pd

import bayesbias as bb
from bayesbias._core.files import atomic
from bayesbias._core.progress import progress_bar
from bayesbias.numerics.uniformity import clustered_share

Array = npt.NDArray[np.float64]

T = "t-interval"
CONTRASTS = ("associated - none", "associated - different", "associated - human")
WHOLE = ("listed words", "new words")
LEVELS = ("protected_word", "protected_group", "attribute_group", *WHOLE)
PROB = 0.89
VOCABULARY = 40_000
NEUTRAL = slice(1000, 30_000)
ATTRIBUTE_POOL, PEOPLE_POOL, NEUTRAL_POOL = 400, 100, 4000


@dataclass(frozen=True)
class Design:
    """What a drawn study looks like."""

    study: str
    lists: tuple[int, ...]  # stereotypes of each group; one number is for all
    words: tuple[int, ...] = (4,)  # protected words of each group
    human: int = 27
    neutral: int = 200
    opinion: bool = False  # stereotypes are from the opinion lexicon
    checking: bool = True  # not used when models were chosen
    note: str = field(default="")


DESIGNS = {
    "religion-4": Design("religion", (4,), checking=False, note="4 per list"),
    "gender-8": Design("gender", (8,), checking=False, note="8 per list"),
    "race-3": Design("race", (3,), (3,), note="3 per list, 3 protected words per group"),
    "weat_7-15": Design("weat_7", (15,), (6,), note="15 per list, 6 protected words per group"),
    "weat_1-5": Design("weat_1", (5,), (8,), note="5 per list, 8 protected words per group"),
    "gender-2-words": Design("gender", (6,), (2,), note="6 per list, 2 protected words per group"),
    "religion-unequal": Design(
        "religion", (3, 5, 10), (2, 4, 8), note="3, 5 and 10 per list; 2, 4 and 8 protected words"
    ),
    "opinion-4": Design("gender", (4,), opinion=True, note="opinion words, 4 per list"),
    "opinion-10": Design("weat_7", (10,), opinion=True, note="opinion words, 10 per list"),
}


class Vectors:
    """Unit vectors of the frequent words of an embedding, and neighbours among them."""

    def __init__(self, embedding: bb.Embedding) -> None:
        self.embedding = embedding
        self.words = [str(word) for word in embedding.words[:VOCABULARY]]
        self.row = {word: i for i, word in enumerate(self.words)}
        unit = np.asarray(embedding.vectors[:VOCABULARY], dtype=np.float64)
        self.unit: Array = unit / np.linalg.norm(unit, axis=1, keepdims=True)
        self.is_word = np.array([word.isalpha() for word in self.words])

    def rows(self, words: Iterable[str]) -> list[int]:
        """Return the rows of the words that there are."""
        return [self.row[word] for word in words if word in self.row]

    def neighbours(self, seeds: list[int], n: int, banned: set[int]) -> list[int]:
        """Return the words nearest to the mean of the seeds, themselves included."""
        score = self.unit @ self.unit[seeds].mean(axis=0)
        score[~self.is_word] = -9
        score[list(banned)] = -9
        nearest: list[int] = np.argsort(-score)[:n].tolist()
        return nearest


@dataclass(frozen=True)
class Pools:
    """The populations that lists are drawn from."""

    people: dict[str, list[int]]
    lists: dict[str, list[int]]  # by group, and of the controls


@dataclass(frozen=True)
class Drawn:
    """A table, and the true contrasts of it; or two, and the true changes from one to the other."""

    tables: tuple[pd.DataFrame, ...]
    truth: dict[str, float]  # by contrast, level and name, joined


def key(*parts: str) -> str:
    """Return the name of a contrast at a level."""
    return " | ".join(parts)


def pools(vectors: Vectors, design: Design, seed: int) -> Pools:
    """Return the pools of a design; only the neutral one depends on the seed."""
    study = bb.load_study(design.study)
    rng = np.random.default_rng([seed, zlib.crc32(design.study.encode())])
    protected = {g: vectors.rows(words) for g, words in study.groups.items()}
    people = {g: vectors.neighbours(rows, PEOPLE_POOL, set()) for g, rows in protected.items()}
    # No word is protected word and attribute at once.
    banned = {i for pool in (protected, people) for rows in pool.values() for i in rows}
    if design.opinion:
        opinions = bb.word_sets("bing_liu")
        lists = {
            g: [i for i in vectors.rows(opinions[name]) if vectors.is_word[i] and i not in banned]
            for g, name in zip(protected, ("positive_words", "negative_words"), strict=True)
        }
    else:
        lists = {
            g: vectors.neighbours(vectors.rows(study.stereotypes[g]), ATTRIBUTE_POOL, banned)
            for g in protected
        }
    human = vectors.rows(study.controls["human"])
    lists["human"] = vectors.neighbours(human, ATTRIBUTE_POOL, banned)
    candidates = [
        i for i in range(NEUTRAL.start, NEUTRAL.stop) if vectors.is_word[i] and i not in banned
    ]
    lists["none"] = rng.choice(candidates, NEUTRAL_POOL, replace=False).tolist()
    return Pools(people, lists)


def per_group(numbers: tuple[int, ...], groups: Iterable[str]) -> dict[str, int]:
    """Return a number for each group; one number is for all."""
    names = list(groups)
    return dict(zip(names, numbers * len(names) if len(numbers) == 1 else numbers, strict=True))


def draw(several: Sequence[Vectors], design: Design, pool: Pools, seed: int, number: int) -> Drawn:
    """Draw a study from the pools, build its tables, and compute what is true of them."""
    vectors = several[0]
    rng = np.random.default_rng([seed, number])
    used: set[int] = set()

    def some(rows: list[int], n: int) -> list[int]:
        chosen = [i for i in rng.permutation(rows).tolist() if i not in used][:n]
        used.update(chosen)
        return chosen

    names = list(pool.people)
    people = {g: some(pool.people[g], n) for g, n in per_group(design.words, names).items()}
    sizes = {**per_group(design.lists, names), "human": design.human, "none": design.neutral}
    lists = {of: some(pool.lists[of], n) for of, n in sizes.items()}

    def words(rows: list[int]) -> list[str]:
        return [vectors.words[i] for i in rows]

    study = bb.Study(
        design.study,
        groups={g: words(rows) for g, rows in people.items()},
        stereotypes={g: words(lists[g]) for g in names},
        controls={"human": words(lists["human"]), "neutral": words(lists["none"])},
    )
    tables = tuple(bb.distance_table(v.embedding, study) for v in several)
    first, *rest = (truths(v, pool, people) for v in several)
    return Drawn(tables, {k: rest[0][k] - first[k] for k in first} if rest else first)


def truths(vectors: Vectors, pool: Pools, people: dict[str, list[int]]) -> dict[str, float]:
    """Return the contrasts between the whole pools, for the protected words that were drawn."""
    centre = {of: vectors.unit[rows].mean(axis=0) for of, rows in pool.lists.items()}

    def distance(rows: list[int], of: str) -> Array:
        return np.asarray(1 - vectors.unit[rows] @ centre[of])

    def contrast(rows: list[int], group: str, against: str) -> Array:
        """Return one value per protected word."""
        own = distance(rows, group)
        if against == "different":
            rest = [distance(rows, g) for g in people if g != group]
            return np.asarray(own - np.mean(rest, axis=0))
        return own - distance(rows, against)

    result: dict[str, float] = {}
    for name in CONTRASTS:
        against = name.split(" - ")[1]
        of_group = {}
        for group, rows in people.items():
            values = contrast(rows, group, against)
            of_group[group] = values.mean()
            result[key(name, "protected_group", group)] = float(values.mean())
            for row, value in zip(rows, values, strict=True):
                result[key(name, "protected_word", vectors.words[row])] = float(value)
        result[key(name, "listed words", "")] = float(np.mean(list(of_group.values())))
        everybody = [contrast(rows, group, against).mean() for group, rows in pool.people.items()]
        result[key(name, "new words", "")] = float(np.mean(everybody))
    for group, rows in people.items():
        rest = [distance(others, group).mean() for g, others in people.items() if g != group]
        value = distance(rows, group).mean() - np.mean(rest)
        result[key(CONTRASTS[1], "attribute_group", group)] = float(value)
    return result


def differences(before: pd.DataFrame, after: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose distances are changes; one is added, so that they could be distances."""
    pair = ["protected_word", "word_to_compare"]
    other = after.set_index(pair)["cosine_distance"]
    same = other.loc[pd.MultiIndex.from_frame(before[pair])].to_numpy()
    return before.drop(columns="cosine_similarity").assign(
        cosine_distance=1 + same - before["cosine_distance"]
    )


def contrasts_of(
    method: str, tables: Sequence[pd.DataFrame], seed: int
) -> Callable[[str, Any, Any], pd.DataFrame]:
    """Return a function of a contrast, a level and the words it is about."""
    shown: dict[str, Any] = {"prob": PROB, "kind": "eti"}
    settings: dict[str, Any] = {"engine": "exact", "draws": 500, "seed": seed, "progress": False}
    if method == T:
        # It speaks of the listed words; beside new ones it stands for comparison.
        table = tables[0] if len(tables) == 1 else differences(tables[0], tables[1])
        return lambda contrast, by, words: bb.t_contrasts(table, contrast, by=by, prob=PROB)
    if len(tables) == 1:
        fit = bb.fit(tables[0], method, **settings)
        return lambda contrast, by, words: fit.contrasts(contrast, by=by, words=words, **shown)
    paired = bb.fit_paired(tables[0], tables[1], method, **settings)
    return lambda contrast, by, words: paired.changes(contrast, by=by, **shown)


def intervals(method: str, tables: Sequence[pd.DataFrame], seed: int) -> Iterator[dict[str, Any]]:
    """Yield contrast, level, name, lower and upper of a model, or of the t-interval."""
    contrasts = contrasts_of(method, tables, seed)
    for contrast in CONTRASTS:
        for level in LEVELS:
            if level == "attribute_group" and contrast != CONTRASTS[1]:
                continue
            if level == "new words" and len(tables) > 1:  # a change is that of listed words
                continue
            by: Any = None if level in WHOLE else level
            try:
                found = contrasts(contrast, by, "population" if level == "new words" else "listed")
            except bb.errors.SpecError:  # a level that the model does not have
                continue
            for _, row in found.iterrows():
                ends = {"contrast": contrast, "lower": row["lower"], "upper": row["upper"]}
                yield {**ends, "level": level, "name": "" if by is None else str(row[by])}


def measure(method: str, drawn: Drawn, seed: int, path: Path) -> None:
    """Write the intervals of a table beside the truth."""
    with warnings.catch_warnings(action="ignore"):
        try:
            rows = list(intervals(method, drawn.tables, seed))
        except bb.errors.DataError as err:
            rows = [{"failure": str(err)}]
    for row in rows:
        if "failure" not in row:
            row["truth"] = drawn.truth[key(row["contrast"], row["level"], row["name"])]
    with atomic(path) as (temporary,):
        temporary.write_text(json.dumps(rows), "utf-8")


def embeddings(second: str | None) -> list[bb.Embedding]:
    """Return the embedding, and the second with the same words."""
    first = bb.load_embedding("glove-6b-50d")
    if second is None:
        return [first]
    if second == "debiased":
        return [first, bb.debias.HardDebias().fit(first).transform(first)]
    other = bb.load_embedding(second)
    words = [word for word in first.words if word in other][:VOCABULARY]
    return [
        bb.Embedding(words, np.stack([e[word] for word in words]), e.name) for e in (first, other)
    ]


def folder_of(method: str) -> str:
    """Return a name that changes with the model."""
    if method == T:
        return T
    spec = bb.load_model(method)
    digest = hashlib.sha256(json.dumps(spec.to_dict(), sort_keys=True).encode()).hexdigest()
    return f"{spec.name}-{digest[:8]}"


def run(
    models: Iterable[str],
    *,
    designs: Iterable[str],
    tables: int,
    seed: int,
    jobs: int,
    out: Path,
    second: str | None = None,
    progress: bool = True,
) -> pd.DataFrame:
    """Measure what is not measured yet, and return every interval beside its truth."""
    if second is not None:
        out = out / f"to-{Path(second).stem}"
    methods = {T: T} | {bb.load_model(model).name: str(model) for model in models}
    wanted = [
        (design, name, number, out / design / folder_of(method) / f"{seed}-{number:05}.json")
        for design in designs
        for number in range(tables)
        for name, method in methods.items()
    ]
    left = [task for task in wanted if not task[3].is_file()]

    def tasks() -> Iterator[Any]:
        several = [Vectors(embedding) for embedding in embeddings(second)]
        last: tuple[str, int] | None = None
        pool_of: dict[str, Pools] = {}
        for design, name, number, path in left:
            if design not in pool_of:
                pool_of[design] = pools(several[0], DESIGNS[design], seed)
            if last != (design, number):
                with warnings.catch_warnings(action="ignore"):
                    drawn = draw(several, DESIGNS[design], pool_of[design], seed, number)
                last = (design, number)
            path.parent.mkdir(parents=True, exist_ok=True)
            yield joblib.delayed(measure)(methods[name], drawn, number, path)

    with progress_bar("Drawing and fitting", total=len(wanted), show=progress, unit="steps") as bar:
        bar(len(wanted) - len(left))
        workers = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
        for _ in workers(tasks()) if left else ():
            bar(1)
    frames = []
    for design, name, number, path in wanted:
        frame = pd.DataFrame(json.loads(path.read_text("utf-8")))
        frames.append(frame.assign(design=design, method=name, table=number))
    return pd.concat(frames, ignore_index=True)


def summarise(found: pd.DataFrame) -> pd.DataFrame:
    """Return coverage, and width as a ratio to the t-interval's, by design, contrast and level."""
    if "failure" in found:
        found = found[found["failure"].isna()]
    found = found.assign(
        hit=(found["lower"] <= found["truth"]) & (found["truth"] <= found["upper"]),
        width=found["upper"] - found["lower"],
    )
    unit = ["design", "table", "contrast", "level", "name"]
    base = found.loc[found["method"] == T, [*unit, "width"]]
    found = found.merge(base, on=unit, suffixes=("", "_t"))
    by = ["design", "contrast", "level", "method"]
    rows: list[dict[str, object]] = [
        {
            **dict(zip(by, names, strict=True)),
            **clustered_share(part["hit"], part["table"]),
            "relative_width": float((part["width"] / part["width_t"]).mean()),
            "tables": part["table"].nunique(),
        }
        for names, part in found.groupby(by, sort=False)
    ]
    return pd.DataFrame(rows)


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=["hierarchical", "crossed"])
    parser.add_argument("--designs", nargs="+", choices=DESIGNS, default=list(DESIGNS))
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--second", help="measure changes: debiased, or another embedding")
    parser.add_argument("--out", type=Path, default=Path("build/coverage-by-design"))
    given = parser.parse_args()
    found = run(
        given.models,
        designs=given.designs,
        tables=given.tables,
        seed=given.seed,
        jobs=given.jobs,
        out=given.out,
        second=given.second,
    )
    result = summarise(found)
    result.to_csv(given.out / "coverage.csv", index=False)
    print(f"Coverage of {PROB:.0%} intervals, and mean width as a ratio to the t-interval's")
    for (design, contrast), part in result.groupby(["design", "contrast"], sort=False):
        kind = "for checking" if DESIGNS[str(design)].checking else "used to choose models"
        print(f"\n{design} ({DESIGNS[str(design)].note}; {kind}), {contrast}")
        text = (
            part["coverage"].map("{:.2f}".format)
            + " × "
            + part["relative_width"].map("{:.2f}".format)
        )
        wide = part.assign(text=text).set_index(["level", "method"])["text"].unstack()  # noqa: PD010
        order = [level for level in LEVELS if level in wide.index]
        print(wide.loc[order, list(part["method"].unique())].fillna("").to_string())
    if "failure" in found:
        failed = found[found["failure"].notna()]
        for method, part in failed.groupby("method"):
            print(f"\n{method} failed on {len(part)} tables: {part['failure'].iloc[0]}")


if __name__ == "__main__":
    main()
