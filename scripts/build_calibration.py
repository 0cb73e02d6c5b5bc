"""Run the checks of calibration, and fill the tables and the figure of the page about them.

    python scripts/build_calibration.py                    # all of it; a stopped run is continued
    python scripts/build_calibration.py --only design      # one of PARTS below
    python scripts/build_calibration.py --quick            # a few tables of each, to try it

Finished simulations are kept in ``build/calibration``. After a change of an engine or a model start
with an empty folder: ``--fresh``.
"""

from __future__ import annotations

import argparse
import io
import re
import shutil
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path

import matplotlib as mpl
import pandas as pd
from PIL import Image

import bayesbias as bb
from bayesbias.models import Engine

sys.path.insert(0, str(Path(__file__).parent))
import coverage_by_design

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "concepts" / "calibration.md"
PICTURE = ROOT / "docs" / "calibration.png"
PARTS = ("sbc", "embeddings", "nuts", "wrong", "design", "changes")
#: The model that reports lead with, where the catalogue has it.
LEAD = next(name for name in ("interaction", "crossed") if name in bb.models.MODELS)
#: Independent draws of each simulation.
DRAWS = {"exact": 999, "nuts": 199}
#: It needs several embeddings.
JOINT = "embeddings"
LEVELS = {
    "protected_word": "words",
    "protected_group": "groups",
    "attribute_group": "same attributes",
    "listed words": "whole table, listed words",
    "new words": "whole table, new words",
    "all": "whole table",
}


def layout(study: str, neutral: int | None = None) -> pd.DataFrame:
    """Return a table of the demo embedding, with so many of its neutral controls."""
    table = bb.distance_table(bb.load_embedding("demo"), bb.load_study(study))
    if neutral is None:
        return table
    words = table.loc[table["connection"] == "none", "word_to_compare"].unique()[:neutral]
    return table[(table["connection"] != "none") | table["word_to_compare"].isin(words)]


def two_embeddings(per_group: int | None = None, controls: int | None = None) -> pd.DataFrame:
    """Return a table of both demo embeddings, with 20 neutral controls: each fit takes seconds.

    With so many protected words of each group, and controls of each kind, if they are given.
    """
    names, study = ("demo", "demo-100d"), bb.load_study("religion")
    tables = [bb.distance_table(bb.load_embedding(name), study) for name in names]
    pairs = layout("religion", neutral=20)
    if per_group is not None:
        words = pairs.drop_duplicates("protected_word").groupby("protected_group", observed=True)
        pairs = pairs[pairs["protected_word"].isin(words.head(per_group)["protected_word"])]
    attributes = pairs.drop_duplicates("word_to_compare")
    if controls is not None:
        is_control = attributes["connection"].isin(["human", "none"])
        some = attributes[is_control].groupby("connection", observed=True).head(controls)
        attributes = pd.concat([attributes[~is_control], some])
    return pd.concat(
        table[
            table["protected_word"].isin(pairs["protected_word"].unique())
            & table["word_to_compare"].isin(attributes["word_to_compare"])
        ]
        for table in tables
    )


def markdown(frame: pd.DataFrame) -> str:
    """Return a table of a page."""
    rows = [frame.columns.to_list(), ["---"] * frame.shape[1], *frame.to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(str(cell) for cell in row)} |" for row in rows)


def fill(name: str, text: str) -> None:
    """Write a text between the marks of the page."""
    page = PAGE.read_text("utf-8")
    pattern = rf"(<!-- fill: {name} -->\n).*?(<!-- end -->)"
    if not re.search(pattern, page, re.S):
        raise ValueError(f"{PAGE} has no place for {name!r}.")
    filled = re.sub(pattern, lambda found: f"{found[1]}{text}\n{found[2]}", page, flags=re.S)
    PAGE.write_text(filled, "utf-8")


def calibrated(
    models: Iterable[str],
    engine: Engine,
    simulations: int,
    folder: Path,
    jobs: int,
    table: pd.DataFrame,
) -> pd.DataFrame:
    """Return what simulation-based calibration says of each model, one row each.

    For NUTS also what it says of the exact engine on the same tables, and by how much ranks differ.
    """
    rows = []
    for model in models:

        def calibrate(engine: Engine, model: str = model) -> bb.models.Calibration:
            return bb.calibrate(
                model,
                table,
                simulations=simulations,
                engine=engine,
                draws=DRAWS[engine],
                seed=1,
                n_jobs=jobs,
                out=folder / f"{engine}-{model}",
            )

        found = calibrate(engine)
        contrasts = found.table[found.table["level"] != "parameter"]
        parameters = found.table[found.table["level"] == "parameter"]
        lowest = min(1.0, float(found.table["p_value"].min()) * len(found.table))
        rows.append(
            {
                "model": f"`{model}`",
                "engine": engine,
                "tables": found.simulations,
                "coverage, contrasts": span(contrasts["coverage"]),
                "coverage, parameters": span(parameters["coverage"]),
                "smallest p, adjusted": f"{lowest:.2f}",
                "quantities that depart": departures(found),
            }
        )
        if engine == "nuts":
            same = calibrate("exact")
            key = ["simulation", "quantity", "level", "name"]
            both = found.ranks.merge(same.ranks, on=key, validate="1:1")
            differences = both["pit_x"] - both["pit_y"]
            rows[-1] |= {
                "exact draws, same tables": departures(same),
                "difference of ranks": f"{round(differences.mean(), 3) + 0.0:.3f} ± "
                f"{differences.std():.3f}".replace("-", "−"),
            }
        if (model, engine) == (LEAD, "exact"):
            draw(found)
    return pd.DataFrame(rows)


def departures(found: bb.models.Calibration) -> str:
    """Return how many quantities depart from calibration."""
    return f"{(found.table['verdict'] != 'no departure').sum()} of {len(found.table)}"


def span(values: pd.Series[float]) -> str:
    """Return from where to where values go, in a few characters."""
    ends = [f"{value:.2f}" for value in (values.min(), values.max())] if len(values) else []
    return "–".join(dict.fromkeys(ends))


def draw(found: bb.models.Calibration) -> None:
    """Write the figure of the page; with few colours the file is a third as large."""
    drawn = io.BytesIO()
    bb.plot_calibration(found)[0].figure.savefig(drawn, dpi=110, facecolor="white")
    Image.open(drawn).convert("RGB").quantize(240).save(PICTURE, optimize=True)


def misspecified(models: Iterable[str], simulations: int, folder: Path, jobs: int) -> str:
    """Return the coverage of models when the truth is that of the model that predicts best."""
    rows = []
    for study in ("religion", "gender"):
        table = layout(study)
        with warnings.catch_warnings(action="ignore"):
            fits = [bb.fit(table, model, engine="exact", seed=1) for model in models]
            by_name = {fit.spec.name: fit for fit in fits}
            best = str(bb.compare(by_name, "loo", by="word_to_compare").index[0])
        for model in models:
            found = bb.calibrate(
                model,
                table,
                truth="posterior",
                truth_model=best,
                simulations=simulations,
                seed=1,
                n_jobs=jobs,
                out=folder / f"wrong-{study}-{model}-{best}",
            )
            part = found.table.set_index(["quantity", "level"])["coverage"]
            row = {"study": study, "truth": f"`{best}`", "fitted": f"`{model}`"}
            for contrast in ("associated - none", "associated - different"):
                for level in ("protected_word", "protected_group", "all"):
                    short = contrast.replace("associated - ", "a − ").replace("none", "neutral")
                    row[f"{short}, {LEVELS[level]}"] = f"{part[contrast, level]:.2f}"
            rows.append(row)
    return f"{simulations} simulated tables for each row.\n\n{markdown(pd.DataFrame(rows))}"


def by_design(models: Iterable[str], tables: int, folder: Path, jobs: int) -> str:
    """Return the coverage with words drawn from pools, one table for each contrast."""
    designs = coverage_by_design.DESIGNS
    found = coverage_by_design.run(
        models, designs=designs, tables=tables, seed=1, jobs=jobs, out=folder / "design"
    )
    result = coverage_by_design.summarise(found)
    result.to_csv(folder / "design" / "coverage.csv", index=False)
    methods = list(result["method"].unique())
    heads = {m: m if m == coverage_by_design.T else f"`{m}`" for m in methods}
    rows = []
    for contrast in coverage_by_design.CONTRASTS:
        for level in coverage_by_design.LEVELS:
            here = result[(result["contrast"] == contrast) & (result["level"] == level)]
            if here.empty:
                continue
            row = {"contrast": in_words(contrast), "level": LEVELS[level]}
            for method in methods:
                own = here[here["method"] == method]
                row[heads[method]] = (
                    f"{span(own['coverage'])} ({own['relative_width'].mean():.2f})"
                    if len(own)
                    else ""
                )
            rows.append(row)
    groups = result[result["level"] == "protected_group"]
    by_group = []
    for name, design in designs.items():
        for contrast in coverage_by_design.CONTRASTS[:2]:
            row = {
                "design": f"{design.study}, {design.note}" + ("" if design.checking else " *"),
                "contrast": in_words(contrast),
            }
            here = groups[(groups["design"] == name) & (groups["contrast"] == contrast)]
            for method, coverage, width in zip(
                here["method"], here["coverage"], here["relative_width"], strict=True
            ):
                row[heads[method]] = f"{coverage:.2f} ({width:.2f})"
            by_group.append(row)
    error = (groups["upper"] - groups["lower"]).max() / 2
    return (
        f"Lowest to highest coverage over {len(designs)} designs, {tables} tables each; in "
        f"parentheses, the mean width relative to the t-interval.\n\n"
        f"{markdown(pd.DataFrame(rows))}\n\n"
        f"Results by design, at the level of groups. The Monte Carlo error (95%) is at most "
        f"±{error:.2f}. Designs marked with * were used to choose the model; the others were held "
        f"out for validation.\n\n{markdown(pd.DataFrame(by_group))}"
    )


def of_changes(seconds: Iterable[str], tables: int, folder: Path, jobs: int) -> str:
    """Return the coverage of changes from an embedding to another."""
    designs = ("religion-4", "gender-8", "race-3", "weat_7-15")
    parts = []
    for second in seconds:
        found = coverage_by_design.run(
            [JOINT],
            designs=designs,
            tables=tables,
            seed=1,
            jobs=jobs,
            out=folder / "design",
            second=second,
        )
        parts.append(coverage_by_design.summarise(found).assign(second=Path(second).stem))
    result = pd.concat(parts)
    rows = []
    for names, part in result.groupby(["second", "contrast", "level"], sort=False):
        other, contrast, level = map(str, names)
        row = {
            "second embedding": other,
            "contrast": in_words(contrast),
            "level": LEVELS[level],
        }
        for method, own in part.groupby("method", sort=False):
            width = f"{own['relative_width'].mean():.2f}"
            name = str(method) if method == coverage_by_design.T else f"`{method}`"
            row[name] = f"{span(own['coverage'])} ({width})"
        rows.append(row)
    return (
        f"Lowest to highest coverage over {len(designs)} designs, {tables} tables each; in "
        f"parentheses, the mean width relative to the t-interval.\n\n{markdown(pd.DataFrame(rows))}"
    )


def in_words(contrast: str) -> str:
    """Return a contrast as the page writes it."""
    return contrast.replace(" - ", " − ").replace("none", "neutral")


def main() -> None:
    """Read the command line, run the parts, fill the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--quick", action="store_true", help="a few tables of each")
    parser.add_argument("--fresh", action="store_true", help="remove what is kept, and start anew")
    parser.add_argument("--simulations", type=int, default=500)
    parser.add_argument("--nuts-simulations", type=int, default=100)
    parser.add_argument("--tables", type=int, default=100, help="drawn for each design")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--second", nargs="+", default=["debiased"], help="for changes")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "calibration")
    given = parser.parse_args()
    mpl.use("Agg")
    if given.fresh:
        shutil.rmtree(given.out, ignore_errors=True)
    simulations, nuts, tables = (
        (20, 3, 4) if given.quick else (given.simulations, given.nuts_simulations, given.tables)
    )
    models = [name for name in bb.models.MODELS if name != JOINT]
    with_contrasts = [m for m in models if "connection" in bb.load_model(m).factors]
    choice = dict.fromkeys(["hierarchical", "crossed", LEAD])
    out, jobs = given.out, given.jobs
    table = layout("religion", neutral=40)
    if "sbc" in given.only:
        fill("sbc", markdown(calibrated(models, "exact", simulations, out, jobs, table)))
    if "embeddings" in given.only:
        joint = calibrated([JOINT], "exact", min(simulations, 200), out, jobs, two_embeddings())
        fill("embeddings", markdown(joint))
    if "nuts" in given.only:
        single = calibrated(models, "nuts", nuts, out, jobs, table)
        smaller = two_embeddings(per_group=2, controls=6)
        joint = calibrated([JOINT], "nuts", nuts, out / "smaller", jobs, smaller)
        fill("nuts", markdown(pd.concat([single, joint])))
    if "wrong" in given.only:
        fill("wrong", misspecified(with_contrasts, min(simulations, 200), out, jobs))
    if "design" in given.only:
        fill("design", by_design(choice, tables, out, jobs))
    if "changes" in given.only:
        fill("changes", of_changes(given.second, min(tables, 40), out, jobs))


if __name__ == "__main__":
    main()
