"""What a person should know of word lists, and can do about it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from math import comb
from typing import Any

from bayesbias._core.wording import counted, quoted

#: A list may lack this share of its words; more than `LOST_VOCABULARY_THRESHOLD` and metrics
#: refuse it.
MISSING_SHARE = 0.05
#: A list of fewer words than this depends on each of them (Spliethöver & Wachsmuth 2021 find the
#: values of short lists to vary most). The shortest lists of WEAT have six.
FEW_WORDS = 5
#: One list may be so many times as frequent as the other. WEAT assumes that they are alike
#: (Ethayarajh et al. 2019) without saying how much; of the ten tests of WEAT only the names of the
#: third differ by more in GloVe 6B.
FREQUENCY_RATIO = 5.0
#: Half of one list is of other parts of speech than the other (0 is the same mix, 1 no overlap).
TAG_DISTANCE = 0.5
#: Two means with a larger cosine point the same way. Similar lists give a difference that does not
#: tell them apart (Antoniak & Mimno 2021); men's and women's terms of WEAT have up to .89 in GloVe.
SIMILARITY = 0.9
#: A list should be more cohesive, two lists more coherent and their pairs more alike than this
#: percentage of random or shuffled ones.
PERCENTILE = 95.0
#: Fewer pairs cannot be shuffled in ways enough.
LEAST_PAIRS = 4
#: Counts or parts of speech should be known of this share of a list.
KNOWN_SHARE = 0.5
#: In a smaller vocabulary there is little to compare with.
SMALL_VOCABULARY = 1000

Row = Mapping[str, Any]

#: The side of lists that are neither of a query nor of a study.
PLAIN = "list"


def advise(
    lists: Sequence[Row],
    pairs: Sequence[Row],
    across: Sequence[tuple[str, str, list[str]]],
    mixed: Collection[str],
    sizes: Mapping[str, int],
) -> tuple[str, ...]:
    """Return warnings in sentences, for rows of lists and pairs as `check_words` makes them.

    `across` holds lists on different sides and the words they share, `mixed` the lists whose words
    need have nothing in common, `sizes` the number of words of each embedding. What is wrong in
    several embeddings is reported once, for the worst.
    """
    warned = [
        *_of_words(lists),
        *_of_cohesion([row for row in lists if row["word_set"] not in mixed]),
        *_of_overlap(pairs, across),
        *_of_usage(lists, pairs),
        *_of_directions(pairs),
    ]
    for name, size in sizes.items():
        if size < SMALL_VOCABULARY:
            warned.append(
                f"{name!r} has only {size:,} words: cohesion and coherence compare with so few "
                "others; load the whole embedding."
            )
    return tuple(warned)


def _of_words(lists: Sequence[Row]) -> Iterator[str]:
    lacking = (row for row in lists if row["coverage"] < 1 - MISSING_SHARE)
    for name, row, where in _worst(lacking, lambda row: -row["coverage"]):
        yield (
            f"{name} lacks {len(row['missing'])} of {row['n_words']} words {where} "
            f"({quoted(row['missing'])}): replace them, or use an embedding that has them."
        )
    few = (row for row in lists if 0 < _n_used(row) < FEW_WORDS)
    for name, row, where in _worst(few, lambda row: -_n_used(row)):
        yield (
            f"{name} has only {_words(_n_used(row))} {where}: a single word can change the "
            f"result; add words, at least {FEW_WORDS}."
        )
    repeated = (row for row in lists if row["duplicates"])
    for name, row, _ in _worst(repeated, lambda row: len(row["duplicates"])):
        yield f"{name} holds words twice ({quoted(row['duplicates'])}): they count once here."
    same = (row for row in lists if row["same_vector"])
    for name, row, where in _worst(same, lambda row: len(row["same_vector"])):
        yield (
            f"{name} holds words that fall together with others of it {where} "
            f"({quoted(row['same_vector'])}): remove them, or they count twice."
        )


def _of_cohesion(lists: Sequence[Row]) -> Iterator[str]:
    loose = (row for row in lists if row["cohesion_percentile"] < PERCENTILE)
    for name, row, where in _worst(loose, lambda row: -row["cohesion_percentile"]):
        odd = f"; {row['fits_least']!r} fits least" if row["fits_least"] else ""
        yield (
            f"The words of {name} are hardly closer to each other than random words {where} "
            f"(mean cosine {row['cohesion']:.2f} against {row['cohesion_random']:.2f}, percentile "
            f"{row['cohesion_percentile']:.0f}): they may mean different things{odd}."
        )


def _of_overlap(
    pairs: Sequence[Row], across: Sequence[tuple[str, str, list[str]]]
) -> Iterator[str]:
    overlapping = (row for row in pairs if row["shared"])
    for names, row, _ in _worst(overlapping, lambda row: len(row["shared"])):
        yield (
            f"{names} share {_words(len(row['shared']))} ({quoted(row['shared'])}): words in "
            "both lists cannot distinguish them; remove them from one or both."
        )
    for first, second, words in across:
        yield (
            f"{first!r} and {second!r} share {_words(len(words))} ({quoted(words)}): a word is "
            "always closest to itself; remove it from one of them."
        )


def _of_usage(lists: Sequence[Row], pairs: Sequence[Row]) -> Iterator[str]:
    for column, table, what in (
        ("uncounted", "frequencies", "counts"),
        ("untagged", "tags", "parts of speech"),
    ):

        def lost(row: Row, column: str = column) -> int:
            return len(row.get(column, ()))

        unknown = (row for row in lists if lost(row) > (1 - KNOWN_SHARE) * row["n_found"])
        for name, row, _ in _worst(unknown, lost):
            yield (
                f"{table!r} has no {what} of {lost(row)} of the {_words(row['n_found'])} of {name} "
                f"({quoted(row[column])}): take them from a larger corpus."
            )
    unlike = (row for row in pairs if _times(row) > FREQUENCY_RATIO)
    for _, row, where in _worst(unlike, _times):
        more, less = row["first"], row["second"]
        if row["frequency_ratio"] < 1:
            more, less = less, more
        yield (
            f"The words of {more!r} are {_times(row):.2g} times as frequent as those of {less!r} "
            f"{where}: frequency is a known confounder of WEAT; build matched lists with "
            "build_lists(method=ByFrequency(match_frequency=True)), or choose words of similar "
            "frequency."
        )
    tags = {(row["word_set"], row["embedding"]): row.get("tags") for row in lists}
    differing = (row for row in pairs if row.get("tag_distance", 0) > TAG_DISTANCE)
    for names, row, _ in _worst(differing, lambda row: row["tag_distance"]):
        first, second = (tags[row[side], row["embedding"]] for side in ("first", "second"))
        yield (
            f"{names} are of different parts of speech (distance {row['tag_distance']:.2f}: "
            f"{first} against {second}): choose words of the same ones."
        )


def _of_directions(pairs: Sequence[Row]) -> Iterator[str]:
    alike = (row for row in pairs if row["similarity"] > SIMILARITY)
    for names, row, where in _worst(alike, lambda row: row["similarity"]):
        yield (
            f"{names} point the same way {where} (similarity {row['similarity']:.2f}): the "
            "difference between their means may be noise; choose words that differ more."
        )
    blurred = (
        row
        for row in pairs
        if row["coherence_percentile"] < PERCENTILE and _deals(row) >= 100 / (100 - PERCENTILE)
    )
    for names, row, where in _worst(blurred, lambda row: -row["coherence_percentile"]):
        yield (
            f"The direction between {names} hardly separates them better {where} than if their "
            f"words are randomly reassigned (coherence {row['coherence']:.2f} against "
            f"{row['coherence_shuffled']:.2f}, percentile {row['coherence_percentile']:.0f}): it "
            "may represent something else, such as frequency; choose words that differ only in "
            "what you want to measure."
        )
    # Lists of queries and studies are seldom meant as pairs.
    plain = (row for row in pairs if row["side"] == PLAIN and row["n_pairs"] >= LEAST_PAIRS)
    unpaired = (row for row in plain if row["pca_percentile"] < PERCENTILE)
    for names, row, where in _worst(unpaired, lambda row: -row["pca_percentile"]):
        yield (
            f"If {names} are meant as pairs: shuffled pairs explain about as much {where} "
            f"({row['pca']:.2f} against {row['pca_shuffled']:.2f}, percentile "
            f"{row['pca_percentile']:.0f}), so the pairs do not define a direction; put words "
            "together that differ in one thing only."
        )


def _worst(rows: Iterable[Row], badness: Callable[[Row], float]) -> Iterator[tuple[str, Row, str]]:
    """Yield each list or pair by name, its worst row, and in which embeddings it is wrong."""
    by_name: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        keys = ("word_set",) if "word_set" in row else ("first", "second")
        by_name.setdefault(tuple(row[key] for key in keys), []).append(row)
    for named, wrong in by_name.items():
        worst = max(wrong, key=badness)
        others = len(wrong) - 1
        more = f" and {counted(others, 'other embedding')}" if others else ""
        yield " and ".join(map(repr, named)), worst, f"in {worst['embedding']!r}{more}"


def _n_used(row: Row) -> int:
    return int(row["n_found"] - len(row["same_vector"]))


def _times(row: Row) -> float:
    """Return how many times as frequent the more frequent list is."""
    ratio = float(row["frequency_ratio"])
    return max(ratio, 1 / ratio)


def _deals(row: Row) -> int:
    """Return in how many ways words that are not shared can be assigned to two lists."""
    first, second = (max(row[n] - len(row["shared"]), 0) for n in ("n_first", "n_second"))
    return comb(first + second, first) // (2 if first == second else 1)


def _words(n: int) -> str:
    return f"{n} word" if n == 1 else f"{n} words"
