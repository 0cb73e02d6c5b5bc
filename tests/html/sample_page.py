"""A page as rich as an audit's, with made-up numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure as MatplotlibFigure

from bayesbias.html import (
    Choice,
    Code,
    Column,
    Definitions,
    Figure,
    Fold,
    Notice,
    Page,
    References,
    Section,
    Table,
    figure_svg,
    literal,
)
from bayesbias.plots.style import CONNECTION_STYLES, INK, tidy

GROUPS = {
    "jewish": "judaism jew synagogue torah rabbi talmud kosher hanukkah yiddish zion sabbath "
    "hebrew passover kibbutz yeshiva menorah bagel shalom cantor tel-aviv",
    "christian": "christianity christian church bible priest gospel baptism easter pope cathedral "
    "apostle monk parish sermon bishop vicar hymn crucifix chapel saint",
    "muslim": "islam muslim mosque quran imam ramadan hijab halal mecca sharia caliph minaret "
    "muezzin sunni shia sheikh hajj allah ayatollah قرآن",
}
ATTRIBUTES = [
    *("violent", "terrorist", "dirty", "uneducated", "greedy", "cheap", "hairy", "liberal"),
    *("judgemental", "conservative", "familial", "kitchen", "carpet", "weather", "honest", "tall"),
]
COLORS = {style.label: style.color for style in CONNECTION_STYLES.values()}
HARMFUL = "<script>alert(1)</script>"


def words(rng: np.random.Generator) -> pd.DataFrame:
    rows = [(word, group) for group, text in GROUPS.items() for word in text.split()]
    frame = pd.DataFrame(rows, columns=["word", "group"]).astype({"group": "category"})
    shift = frame["group"].astype(str).map({"jewish": -0.05, "christian": -0.02, "muslim": -0.14})
    frame["mean"] = shift + rng.normal(0, 0.06, len(frame))
    width = rng.uniform(0.04, 0.12, len(frame))
    frame["lower"], frame["upper"] = frame["mean"] - width, frame["mean"] + width
    frame["below"] = 1 / (1 + np.exp(frame["mean"] / width * 2.5))
    frame["distance"] = 0.9 + frame["mean"]
    frame["nearest"] = rng.choice(ATTRIBUTES, len(frame))
    frame["n"] = rng.integers(80, 1400, len(frame))
    frame.loc[[7, 31], ["mean", "lower", "upper", "below", "distance"]] = np.nan
    return frame


def long_frame(rows: int = 2000) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    mean = rng.normal(0, 1, rows)
    return pd.DataFrame(
        {
            "word": [f"word{number:04d}" for number in range(rows)],
            "group": pd.Categorical(rng.choice(list(GROUPS), rows)),
            "mean": mean,
            "lower": mean - 0.5,
            "upper": mean + 0.5,
            "share": rng.uniform(0, 1, rows),
            "rank": rng.permutation(rows),
            "a": rng.normal(0, 100, rows),
            "nearest": rng.choice(ATTRIBUTES, rows),
            "b": rng.normal(0, 0.001, rows),
        }
    )


def forest(frame: pd.DataFrame) -> MatplotlibFigure:
    """Four intervals a word."""
    rng = np.random.default_rng(2)
    figure = MatplotlibFigure(figsize=(6.4, 0.2 * len(frame) + 1), layout="constrained")
    axes = figure.subplots()
    for lane, style in enumerate(CONNECTION_STYLES.values()):
        y = np.arange(len(frame)) + 0.18 * (lane - 1.5)
        x = 0.95 + rng.normal(0, 0.05, len(frame)) + (frame["mean"].fillna(0) if lane == 0 else 0)
        half = rng.uniform(0.03, 0.12, len(frame))
        axes.hlines(y, x - half, x + half, color=style.color, linewidth=1.1)
        marks = axes.scatter(x, y, s=9, marker=style.marker, zorder=3, label=style.label)
        marks.set(facecolors="white" if lane % 2 else style.color, edgecolors=style.color)
    axes.set_yticks(range(len(frame)), frame["word"], fontsize=8.5)
    axes.set_ylim(len(frame) - 0.4, -0.6)
    axes.axvline(1, color=INK, linewidth=0.8, zorder=0)
    axes.set_xlabel("expected cosine distance, 89% intervals (1: unrelated)")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, fontsize=8.5)
    tidy(axes)
    return figure


def dots() -> MatplotlibFigure:
    rng = np.random.default_rng(3)
    figure = MatplotlibFigure(figsize=(6.4, 3.2), layout="constrained")
    axes = figure.subplots()
    for place, style in enumerate(reversed(CONNECTION_STYLES.values())):
        x = rng.normal(0.8 + 0.05 * (3 - place), 0.15, 300)
        y = place + rng.uniform(-0.27, 0.27, 300)
        axes.scatter(x, y, s=9, c=style.color, marker=style.marker, alpha=0.35, linewidths=0)
        axes.plot([x.mean()] * 2, [place - 0.36, place + 0.36], color=INK, linewidth=2.2)
    axes.set_yticks(range(4), [style.label for style in reversed(CONNECTION_STYLES.values())])
    axes.set_xlabel("cosine distance")
    tidy(axes)
    return figure


def png() -> bytes:
    import io

    stream = io.BytesIO()
    dots().savefig(stream, format="png", dpi=200)
    return stream.getvalue()


def closest(word: str, rng: np.random.Generator) -> list[str | Table | Figure]:
    frame = pd.DataFrame(
        {
            "attribute": rng.choice(ATTRIBUTES, 6, replace=False),
            "connection": rng.choice(list(COLORS), 6),
            "distance": np.sort(rng.uniform(0.4, 0.9, 6)),
        }
    )
    columns = {
        "attribute": "Attribute",
        "connection": Column(title="Connection", colors=COLORS),
        "distance": Column(title="Distance", bar=True, scale=(0, 1.2)),
    }
    return [
        f"The attributes closest to *{literal(word)}*, of 134.",
        Table(frame, columns=columns),
    ]


def sample_page() -> Page:
    rng = np.random.default_rng(20260)
    frame = words(rng)
    figure_of_words = Figure(
        figure_svg(forest(frame)),
        alt="Expected distances of 60 words from four kinds of attributes, with 89% intervals.",
        caption="Each word has four intervals. Where the orange one lies left of the others, the "
        "word is closer to the stereotypes of its own group than to the rest.",
    )
    harm = pd.DataFrame(
        {
            "list": ["muslim stereotypes", "neutral controls", HARMFUL, "human controls"],
            "words": [4, 60, 12, 34],
            "found": [1.0, 0.9996, 0.5, 0.97],
            "cohesion": [0.31, 0.08, np.nan, 0.12],
            "state": ["good", "good", "few words found", "good"],
        }
    )
    models = pd.DataFrame(
        {
            "model": ["crossed", "hierarchical", "separate", "connection", "baseline"],
            "loo": [-6223.2, -3111.9, -3092.4, -2950.2, -2916.3],
            "se": [135.1, 231.0, 232.2, 221.0, 222.4],
            "difference": [0.0, 3111.3, 3130.8, 3273.0, 3306.9],
            "difference_se": [np.nan, 203.5, 204.3, 203.9, 204.2],
            "weight": [0.99997, 0.00002, 0.00001, 0.0, 0.0],
        }
    )
    coefficients = pd.DataFrame(
        {
            "connection": list(COLORS),
            "mean": [-0.104, -0.021, -0.035, 0.006],
            "lower": [-0.162, -0.071, -0.082, -0.041],
            "upper": [-0.048, 0.027, 0.013, 0.052],
            "probability": [0.9993, 0.76, 0.88, 0.41],
        }
    )
    metrics = pd.DataFrame(
        {
            "metric": ["WEAT", "WEAT effect size", "RND", "RNSB", "MAC", "ECT", "RIPA"],
            "value": [0.21, 0.83, 0.032, 0.094, 0.91, 0.87, 0.042],
            "lower": [0.02, 0.11, -0.011, 0.051, 0.88, 0.71, -0.031],
            "upper": [0.41, 1.45, 0.077, 0.161, 0.93, 0.95, 0.113],
            "neutral": ["0", "0", "0", "0", "1", "1", "0"],
            "p": [0.041, 0.039, 0.00008, np.nan, np.nan, np.nan, np.nan],
        }
    )
    for name in ("value", "lower", "upper"):
        metrics[{"value": "half"}.get(name, f"half_{name}")] = metrics[name] / 2
    metrics["says"] = "above this value the targets are closer to the attributes, below farther"
    interval = {"interval": ("lower", "upper")}
    word_table = Table(
        frame,
        "All 60 protected words. Click on a word for the attributes closest to it.",
        {
            "word": "Word",
            "group": "Group",
            "mean": Column(
                title="Associated − neutral",
                note="how much smaller the expected distance to the stereotypes of the word's own "
                "group is than that to neutral words, with 89% intervals; grey: holds 0",
                reference=0.0,
                interval=("lower", "upper"),
            ),
            "below": Column(
                title="P(< 0)",
                note="the probability that the word is closer to its stereotypes",
                percent=True,
                bar=True,
            ),
            "distance": Column(title="Distance", note="to the stereotypes of its own group"),
            "nearest": "Closest attribute",
            "n": Column(title="Rank", note="place in the vocabulary, by frequency"),
        },
        details=[closest(word, rng) for word in frame["word"]],
    )
    return Page(
        "Bias in demo: religion",
        [
            Section(
                "Summary",
                [
                    "Words of islam are closer to the stereotypes of their group than to neutral "
                    "words: by 0.14 on average (89% interval 0.06 to 0.22). For the other two "
                    "groups such a difference is **likely, not certain**.",
                    "- Of 60 protected words, 14 are closer to their own stereotypes than to "
                    "neutral words with a probability above 97%; for 31 the intervals hold zero.\n"
                    "- The model that lets attributes differ, *crossed*, predicts unseen "
                    "attributes far better than the others "
                    "([model comparison](#model-comparison)).\n"
                    "- WEAT finds the same direction; its interval is 0.02 to 0.41, from nearly "
                    "nothing to a lot.",
                    Notice(
                        "The word *younglings* is not in the embedding and was left out. Only 4 "
                        "stereotypes stand for each group: the intervals say how sure the model is "
                        "of *these* words, not of all words one could have chosen.",
                        "warning",
                        "Few words",
                    ),
                    Notice("Distances are cosine distances: 0 is the same direction, 1 unrelated."),
                ],
            ),
            Section(
                "Word by word",
                [
                    "The expected distance of each word from each kind of attribute.",
                    figure_of_words,
                    word_table,
                ],
            ),
            Section(
                "Connections",
                [
                    "How the kind of connection changes the expected distance, over all words.",
                    Choice(
                        "Embedding",
                        {
                            name: [
                                Table(
                                    coefficients,
                                    f"Coefficients in {name}.",
                                    {
                                        "connection": Column(title="Connection", colors=COLORS),
                                        "mean": Column(title="Change", reference=0, **interval),
                                        "probability": Column(
                                            title="P(< 0)", percent=True, bar=True
                                        ),
                                    },
                                ),
                                Figure(
                                    figure_svg(dots()),
                                    alt="Every distance as a dot, in four rows.",
                                    caption=f"Every distance in {name}, with the means.",
                                ),
                            ]
                            for name in ("demo", "demo-100d", "glove.6B.50d")
                        },
                    ),
                ],
            ),
            Section(
                "Model comparison",
                Table(
                    models,
                    "Leave-one-attribute-out deviance; less is better.",
                    {
                        "model": "Model",
                        "loo": "LOO",
                        "se": "SE",
                        "difference": "Difference",
                        "difference_se": "SE of it",
                        "weight": Column(title="Weight", percent=True, bar=True),
                    },
                ),
            ),
            Section(
                "Metrics",
                [
                    Table(
                        metrics,
                        "Classical metrics, each with the 89% interval of a Bayesian bootstrap.",
                        {
                            "metric": "Metric",
                            "value": Column(title="Value", places=2, **interval),
                            "half": Column(
                                title="Half", interval=("half_lower", "half_upper"), brief=True
                            ),
                            "neutral": "No bias at",
                            "p": Column(title="p", note="of a permutation test"),
                            "says": "What it says",
                        },
                    ),
                    Choice("Embedding", {"demo": "In *demo*.", "demo-100d": "In *demo-100d*."}),
                ],
            ),
            Section(
                "Health of the lists",
                [
                    Table(
                        harm,
                        "What may be wrong with the lists.",
                        {
                            "list": "List",
                            "words": "Words",
                            "found": Column(title="Found", percent=True, bar=True),
                            "cohesion": "Cohesion",
                            "state": Column(
                                title="State",
                                colors={"good": "#009E73", "few words found": "#D55E00"},
                            ),
                        },
                    ),
                    f"The list `{literal(HARMFUL)}` has few words; so has *{literal('f**k')}*.",
                ],
            ),
            Section(
                "Diagnostics",
                [
                    "The draws are independent; there is nothing to converge.",
                    Fold(
                        "All numbers",
                        [
                            Definitions(
                                {
                                    "engine": "exact",
                                    "draws": "4 × 2,000",
                                    "largest R̂": "1.001",
                                    "smallest effective sample size": "3,910",
                                }
                            ),
                            Figure(png(), alt="Dots in four rows.", caption="A picture of dots."),
                        ],
                    ),
                ],
            ),
            Section(
                "Methods",
                [
                    "Every distance between a protected word and an attribute is kept and modelled "
                    "([Dobrzeniecka & Urbaniak](#ref-bayes)); WEAT is that of "
                    "[Caliskan et al.](#ref-weat)",
                    "# The model",
                    "The expected distance of word *w* from attributes of connection *c* is "
                    "`theta[w, c]`, drawn towards the mean of the connection.",
                    "# How to cite",
                    Code(
                        "@software{bayesbias,\n  title = {bayesbias: Social bias in word "
                        "embeddings, measured with its uncertainty},\n  year = {2026},\n}"
                    ),
                    "# References",
                    References(
                        {
                            "weat": "Caliskan, A., Bryson, J. J., & Narayanan, A. (2017). "
                            "Semantics derived automatically from language corpora contain "
                            "human-like biases. *Science*, 356(6334), 183–186. "
                            "[doi:10.1126/science.aal4230](https://doi.org/10.1126/science.aal4230)",
                            "bayes": "Dobrzeniecka, A., & Urbaniak, R. (2022). A Bayesian approach "
                            "to uncertainty in word embedding bias estimation.",
                        }
                    ),
                ],
            ),
        ],
        subtitle="How close 60 protected words are to stereotypes, and how sure one can be.",
        facts={
            "Embedding": "demo (50 dimensions)",
            "Study": "religion",
            "Protected words": "60",
            "Attributes": "134",
            "Model": "crossed, exact",
            "Made": "2026-03-01, bayesbias 0.1.0",
        },
        footer="Made by [bayesbias](https://example.org/bayesbias) 0.1.0, seed 0.",
    )
