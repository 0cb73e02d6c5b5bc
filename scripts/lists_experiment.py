"""Hand-made word lists beside lists built from data: one question, six ways to list the genders.

    python scripts/lists_experiment.py            # the demo embedding
    python scripts/lists_experiment.py glove-6b-50d

Are women closer to family and men to career (WEAT 6)? For each pair of lists: the effect size with
its Bayesian bootstrap, the contrast of the model `interaction` (how much closer words are to the
stereotype of their own gender than to that of the other), and the silhouette of the lists.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator

import pandas as pd

import bayesbias as bb

SEED = 0


def main(name: str) -> None:
    """Print one row for each way to list the genders, as a Markdown table."""
    embedding = bb.load_embedding(name)
    rows = [row(label, lists, embedding) for label, lists in ways(embedding)]
    frame = pd.DataFrame(rows).astype(str)
    print(" | ".join(["", *frame.columns, ""]).strip())
    print("|" + "---|" * frame.shape[1])
    for cells in frame.itertuples(index=False):
        print("| " + " | ".join(cells) + " |")


def ways(embedding: bb.Embedding) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Yield the lists of the two genders, hand-made ones first."""
    weat = bb.word_sets("weat")
    yield "WEAT 6, first names", pair(weat["female_names"], weat["male_names"])
    yield "WEAT 7, terms", pair(weat["female_terms"], weat["male_terms"])
    attributes = {name: weat[name] for name in ("family", "career")}
    groups = bb.wordlists.GroupClassifier(seed=SEED).fit(embedding, bb.load_labelled("gender"))
    for label, size, method in (
        ("most frequent 25", 25, "frequency"),
        ("most frequent 100", 100, "frequency"),
        ("100, frequencies matched", 100, bb.wordlists.ByFrequency(match_frequency=True)),
        ("100 around the attributes", 100, "clusters"),
    ):
        built = bb.build_lists(
            embedding,
            groups,
            method=method,
            size=size,
            attributes=attributes,
            threshold=0.9,
            progress=False,
        )
        yield label, pair(built.word_sets["female"], built.word_sets["male"])


def pair(female: bb.WordSet, male: bb.WordSet) -> dict[str, list[str]]:
    """Return the lists by gender."""
    return {"female": list(female), "male": list(male)}


def row(label: str, lists: dict[str, list[str]], embedding: bb.Embedding) -> dict[str, str]:
    """Measure one pair of lists in three ways."""
    weat, controls = bb.word_sets("weat"), bb.word_sets("controls")
    query = bb.Query(
        [lists["male"], lists["female"]],
        [weat["career"], weat["family"]],
        target_names=["male", "female"],
    )
    score = bb.metrics.WEATEffectSize().posterior(query, embedding, seed=SEED)
    taken = {word for words in (*lists.values(), weat["family"], weat["career"]) for word in words}
    study = bb.Study(
        "gender",
        lists,
        {"female": weat["family"], "male": weat["career"]},
        {kind: [w for w in controls[kind] if w not in taken] for kind in ("human", "neutral")},
    )
    fit = bb.fit(bb.distance_table(embedding, study), "interaction", engine="exact", seed=SEED)
    gap = fit.contrasts("associated - different").iloc[0]
    found = bb.silhouettes("weat_es", query, embedding, side="targets", seed=SEED, progress=False)
    robust = found.robustness_table.iloc[0]
    return {
        "lists": label,
        "words": " + ".join(str(len(words)) for words in found.query.target_sets),
        "effect size": f"{score.value:.2f} [{score.lower:.2f}, {score.upper:.2f}]",
        "own minus other": f"{gap['mean']:.3f} [{gap['lower']:.3f}, {gap['upper']:.3f}]",
        "robustness": f"{robust['robustness']:.2f}",
        "length-adjusted": f"{robust['length_adjusted']:.2f} "
        f"[{robust['length_adjusted_lower']:.2f}, {robust['length_adjusted_upper']:.2f}]",
    }


if __name__ == "__main__":
    # Each way is named for what it is; that lists around the attributes are circular is the point.
    warnings.simplefilter("ignore", bb.errors.BayesBiasWarning)
    main(sys.argv[1] if len(sys.argv) > 1 else "demo")
