"""The case study of Badilla et al. (2020), on embeddings that the package registries have.

    python scripts/export_wefe_model.py wefe-model.npz
    python scripts/case_study.py wefe-model.npz

25 queries about gender, ethnicity and religion; WEAT, its effect size, RND and RNSB; GloVe in 50
and 100 dimensions, word2vec (the part of GoogleNews that WEFE tests with), and word2vec after hard
debiasing of gender. Prints the ranks, their correlations, and the probability of each place.
"""

from __future__ import annotations

import sys
import warnings

import bayesbias as bb

METRICS = ("weat", "weat_es", "rnd", "rnsb")
SETS = ("gender", "ethnicity", "religion")


def embeddings(path: str) -> list[bb.Embedding]:
    """Return the four embeddings."""
    word2vec = bb.load_embedding(path, "word2vec", progress=False)
    debiaser = bb.debias.HardDebias(equalize="bolukbasi:equalize_pairs").fit(word2vec)
    debiased = debiaser.transform(
        word2vec, ignore="bolukbasi:gender_specific", name="word2vec, debiased", progress=False
    )
    glove = [
        bb.load_embedding(name, label)
        for name, label in (("demo", "GloVe 50d"), ("demo-100d", "GloVe 100d"))
    ]
    return [*glove, word2vec, debiased]


def main(path: str) -> None:
    """Print the tables of the case study."""
    warnings.simplefilter("ignore", bb.errors.BayesBiasWarning)
    several = embeddings(path)
    for name in (*SETS, "all 25"):
        queries = [q for part in SETS for q in bb.query_set(part)] if name == "all 25" else name
        results = {
            metric: bb.run_queries(
                metric,
                queries,
                several,
                subqueries=True,
                aggregate="abs_avg",
                normalize=metric in ("rnd", "rnsb"),
            )
            for metric in METRICS
        }
        ranks = bb.rank(results)
        print(f"\n{name}\n{ranks.astype(int).to_string()}")
        print(bb.rank_correlations(ranks).round(2).to_string())
        found = bb.rank_posterior("weat_es", queries, several, subqueries=True)
        print(found.table.iloc[:, :7].round(2).to_string(index=False))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
