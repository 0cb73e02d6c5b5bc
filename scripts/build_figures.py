"""Draw the pictures of the README and the pages: ``python scripts/build_figures.py``."""

from __future__ import annotations

import io
import re
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure, SubFigure
from PIL import Image

import bayesbias as bb

DOCS = Path(__file__).parents[1] / "docs"
TITLES = {
    "jew": "judaism, jew, synagogue, torah, rabbi",
    "christian": "christianity, christian, church, bible, priest",
    "muslim": "islam, muslim, mosque, quran, imam",
}


def distances() -> None:
    """Draw all distances of the religion study, one panel per group."""
    table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    figure, axes = plt.subplots(
        1, 3, figsize=(12, 3.4), sharex=True, sharey=True, layout="constrained"
    )
    for axis, (group, title) in zip(axes, TITLES.items(), strict=True):
        bb.plot_distances(table, group=group, ax=axis)
        axis.set_title(title, fontsize=9.5)
    save(figure, "distances.png", dpi=130)


def means() -> None:
    """Draw the expected distances of the religion study, word by word."""
    table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    axes = bb.plot_means(bb.fit(table, "interaction", engine="exact", seed=1))
    save(axes.get_figure(), "means.png", dpi=130)


def before_after() -> None:
    """Draw what multiclass hard debiasing does to the religion study."""
    emb, study = bb.load_embedding("demo"), bb.load_study("religion")
    debiaser = bb.debias.MulticlassHardDebias(n_components=2)
    debiaser.fit(emb, definition="manzini:religion_definitional_sets")
    before, after = (bb.distance_table(e, study) for e in (emb, debiaser.transform(emb)))
    axes = bb.plot_before_after(bb.fit_paired(before, after, seed=1))
    save(axes.get_figure(), "before-after.png", dpi=110)


def silhouettes() -> None:
    """Draw how two metrics settle as the lists of WEAT 7 grow, in both demo embeddings."""
    embeddings = [bb.load_embedding("demo"), bb.load_embedding("demo-100d")]
    query = bb.load_query("weat_7")
    results = [
        bb.silhouettes(metric, query, embeddings, side=side)
        for metric in ("weat_es", "rnsb_groups")
        for side in ("targets", "attributes")
    ]
    save(bb.plot_silhouettes(results[0]).get_figure(), "silhouettes.png", dpi=110)
    save(bb.plot_silhouette_grid(results)[0, 0].get_figure(), "silhouette-grid.png", dpi=110)


def without_bias() -> None:
    """Draw what MAC of the religion study would be without bias."""
    found = bb.null_distribution("mac", "religion", bb.load_embedding("demo"))
    figure = bb.plot_null_distribution(found).get_figure()
    save(figure, "concepts/mac-without-bias.png", dpi=110)


def model() -> None:
    """Draw a model as a graph."""
    save(bb.plot_model("crossed").get_figure(), "concepts/crossed-model.png", dpi=110)


def gallery() -> None:
    """Run the code of the gallery, and draw each picture where it stands behind its code."""
    page = DOCS / "gallery" / "index.md"
    names: dict[str, object] = {}
    pattern = r"```python\n(.*?)```\n(?:\n!\[[^]]*\]\((.*?)\)\n)?"
    for code, picture in re.findall(pattern, page.read_text("utf-8"), re.S):
        exec(compile(code, str(page), "exec"), names)
        if picture:
            drawn = io.BytesIO()
            plt.gcf().savefig(drawn, dpi=144, facecolor="white")
            # Figures have few colours; with a palette the files are a third as large.
            small = Image.open(drawn).convert("RGB").quantize(96)
            small.save(page.with_name(picture), optimize=True)
            plt.close("all")


def save(figure: Figure | SubFigure | None, name: str, dpi: int) -> None:
    """Write a figure to the documentation."""
    assert isinstance(figure, Figure)
    figure.savefig(DOCS / name, dpi=dpi, facecolor="white", metadata={"Software": None})


if __name__ == "__main__":
    distances()
    means()
    before_after()
    silhouettes()
    without_bias()
    model()
    gallery()
