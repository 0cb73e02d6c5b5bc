"""Draw the picture of the README: ``python scripts/build_readme_figure.py``."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

import bayesbias as bb

TARGET = Path(__file__).parents[1] / "docs" / "distances.png"
TITLES = {
    "jew": "judaism, jew, synagogue, torah, rabbi",
    "christian": "christianity, christian, church, bible, priest",
    "muslim": "islam, muslim, mosque, quran, imam",
}


def main() -> None:
    """Draw one panel a group."""
    table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("religion"))
    figure, axes = plt.subplots(
        1, 3, figsize=(12, 3.4), sharex=True, sharey=True, layout="constrained"
    )
    for axis, (group, title) in zip(axes, TITLES.items(), strict=True):
        bb.plot_distances(table, group=group, ax=axis)
        axis.set_title(title, fontsize=9.5)
    TARGET.parent.mkdir(exist_ok=True)
    figure.savefig(TARGET, dpi=130, facecolor="white", metadata={"Software": None})


if __name__ == "__main__":
    main()
