"""Fit the demo studies and write the fits and their cards: ``python scripts/build_models.py``."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import pandas as pd

import bayesbias as bb

TARGET = Path(__file__).parents[1] / "models" / "fits"
STUDIES = ("religion", "gender", "race")
LEAD = "interaction"
MODELS = ("baseline", "connection", "separate", "hierarchical", "crossed", LEAD)
SEED = 1
CHAINS, DRAWS = 4, 125

CARD = """\
# {study}, in the demo embedding

The model [{lead}](../{lead}.md) fitted to the distances of the study `{study}` in the embedding
`demo`: {rows} distances between {protected} protected words ({groups}) and {attributes} attributes.

## Model

```text
{spec}
```

## Results

Differences between connections, with 89% intervals. Negative values mean that protected words are
closer to the stereotypes of their own group.

{contrasts}

By group:

{by_group}

The same attributes compared between groups (`by="attribute_group"`). Negative values mean that the
stereotypes of a group are closer to its own words than to the words of the other groups.

{same}

## Models compared

{comparison}

WAIC is unreliable if the log likelihood of some rows varies a lot. The next table leaves out whole
attributes, which is the relevant comparison if the lists are samples of attributes:

{left_out}

Both tables measure prediction. The lead model was chosen by the coverage of its intervals, not by
these tables: see [calibration](../../docs/concepts/calibration.md).

## Table

{table}

## Diagnostics

{diagnostics} The draws are stored in single
precision; those of `u` and `v` are rounded to four decimals.

## How to rebuild

`make models`, or

```python
import bayesbias as bb

table = bb.distance_table(bb.load_embedding("demo"), bb.load_study("{study}"))
fit = bb.fit(table, "{lead}", engine="exact", chains={chains}, draws={draws}, seed={seed})
```

Seed {seed}, {versions}. The file `{study}.nc` contains the draws, the table, the model and all
versions.
"""


def markdown(frame: pd.DataFrame, digits: int) -> str:
    """Return a frame as a Markdown table."""
    text = frame.map(lambda v: f"{v:.{digits}f}" if isinstance(v, float) else str(v))
    lines = ["| " + " | ".join(map(str, text.columns)) + " |", "|" + "---|" * len(text.columns)]
    lines += ["| " + " | ".join(row) + " |" for row in text.itertuples(index=False)]
    return "\n".join(lines).replace("nan", "")


def build(study: str) -> bb.models.Fit:
    """Fit the model that is kept of a study."""
    table = bb.distance_table(bb.load_embedding("demo"), bb.load_study(study))
    return bb.fit(table, LEAD, engine="exact", chains=CHAINS, draws=DRAWS, seed=SEED)


def card(study: str, fit: bb.models.Fit) -> str:
    """Describe a fit."""
    fits = {name: bb.fit(fit.table, name, engine="exact", seed=SEED) for name in MODELS}
    lead = fits[LEAD]
    contrasts = bb.overview(lead).contrasts
    asked = ("associated - none", "associated - human", "associated - different")
    by_group = pd.concat([lead.contrasts(contrast, by="protected_group") for contrast in asked])
    same = lead.contrasts("associated - different", by="attribute_group").drop(columns="contrast")
    comparison = bb.compare(fits).rename_axis("model").reset_index()
    left_out = bb.compare(fits, "loo", by="word_to_compare").rename_axis("model").reset_index()
    by = fit.table.groupby(["protected_group", "connection"], observed=True)["cosine_distance"]
    table = by.agg(mean="mean", sd="std", rows="size").reset_index()
    groups = fit.table[["protected_word", "protected_group"]].drop_duplicates()
    words = groups.groupby("protected_group", observed=True)["protected_word"].agg(", ".join)
    versions = fit.provenance["versions"]
    return CARD.format(
        study=study,
        lead=LEAD,
        rows=len(fit.table),
        protected=len(groups),
        attributes=fit.table["word_to_compare"].nunique(),
        groups="; ".join(f"{group}: {of}" for group, of in words.items()),
        spec=fit.spec,
        contrasts=markdown(contrasts, 3),
        by_group=markdown(by_group, 3),
        same=markdown(same, 3),
        comparison=markdown(comparison, 1),
        left_out=markdown(left_out, 1),
        table=markdown(table, 3),
        diagnostics=fit.diagnostics(),
        chains=CHAINS,
        draws=DRAWS,
        seed=SEED,
        versions=", ".join(f"{name} {versions[name]}" for name in ("bayesbias", "numpy", "scipy")),
    )


def main() -> None:
    """Write a fit and a card for each study."""
    warnings.simplefilter("ignore", bb.errors.BayesBiasWarning)
    TARGET.mkdir(parents=True, exist_ok=True)
    for study in STUDIES:
        fit = build(study)
        small = fit.posterior.astype("float32")
        small = small.assign({name: small[name].round(4) for name in ("u", "v")})
        replace(fit, posterior=small).save(TARGET / f"{study}.nc")
        (TARGET / f"{study}.md").write_text(card(study, fit), "utf-8")
        print(f"{study}: {(TARGET / f'{study}.nc').stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
