"""Several embeddings and studies at once."""

from __future__ import annotations

import gc
import re
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from small_audit import FAST, QUICK, files, forest, sketch

import bayesbias as bb
from bayesbias.auditing import audit_figures, audit_steps, embeddings_compared
from bayesbias.errors import DataError, SpecError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def several(trees: bb.Study, tmp_path_factory: pytest.TempPathFactory) -> bb.Audit:
    """Two embeddings on two studies."""
    folder = tmp_path_factory.mktemp("several") / "audit"
    data = trees.to_dict()
    other = bb.Study.from_dict(data | {"name": "few/trees", "controls": {
        "neutral": data["controls"]["neutral"]}})  # fmt: skip
    embeddings = {"a b": forest("x", 0, 1.5), "plain": forest("y", 0, 0.0)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_figures, "save", sketch)
        return bb.audit(embeddings, [trees, other], out=folder, **(FAST | {"metrics": "weat_es"}))


def test_several_have_a_folder_each(several: bb.Audit) -> None:
    assert list(several.parts) == [
        ("a b", "trees"),
        ("a b", "few/trees"),
        ("plain", "trees"),
        ("plain", "few/trees"),
    ]
    assert (several.folder / "a-b" / "few-trees" / "contrasts.csv").is_file()
    part = several.parts["a b", "few/trees"]
    assert part.folder == several.folder / "a-b" / "few-trees"
    assert set(part.contrasts["contrast"]) == {"associated - none", "associated - different"}
    assert part.embedding == "a b"
    assert repr(several) == f"<Audit of a b, plain on trees, few/trees, in {several.folder}>"
    with pytest.raises(SpecError, match=r"4 parts; take one of them: audit.parts\[\('a b'"):
        several.table  # noqa: B018
    for inside in (part.folder, several.report):
        with pytest.raises(DataError, match=f"of the whole audit: {several.folder}"):
            bb.Audit(inside)


def test_the_tables_of_several_have_different_labels(several: bb.Audit) -> None:
    texts = [path.read_text("utf-8") for path in several.folder.rglob("paper/*.tex")]
    labels = [label for text in texts for label in re.findall(r"\\label{([^}]*)}", text)]
    assert "tab:a-b-few-trees-contrasts" in labels
    assert len(labels) == len(set(labels)) > 4


def test_several_are_compared(several: bb.Audit) -> None:
    assert set(several.ranking) == set(several.between) == {"trees", "few/trees"}
    ranking = several.ranking["trees"].set_index(["metric", "embedding"])
    assert ranking.loc[("weat_es", "plain"), "prob_best"] > 0.9
    between = several.between["trees"].query("contrast == 'associated - none' and second != ''")
    assert between["embedding"].tolist() == ["a b"]
    assert between["upper"].item() < 0
    # Each embedding's own contrasts are those of its part, and differences are adjusted as well.
    own = several.between["trees"].query("second == ''").set_index(["embedding", "contrast"])
    for embedding in ("a b", "plain"):
        whole = several.parts[embedding, "trees"].contrasts.query("level == 'data set'")
        for row in whole.to_dict("records"):
            for name in ("mean", "equal_mean", "equal_lower", "equal_upper"):
                found = own.loc[(embedding, row["contrast"]), name]
                assert found == pytest.approx(row[name], abs=1e-12)
    assert between["equal_mean"].item() != between["mean"].item()
    assert between["equal_upper"].item() < 0
    told = several.summary()
    assert "They are closer in a b than in plain (difference −" in told
    [sentence] = re.findall(r"They are closer in a b than in plain \(([^)]*)\)", told)[:1]
    assert "; at equal frequency −" in sentence
    assert told.startswith("trees and few/trees in a b and plain: 12 protected words; model hier")
    assert "plain on few/trees: " in told


@pytest.mark.filterwarnings("ignore:.*it cannot be checked that the most frequent words")
def test_rows_that_are_left_out_of_both_models_are_told_once(trees: bb.Study) -> None:
    first, second = (
        bb.distance_table(forest(name, seed), trees, covariates=["log_frequency"])
        for seed, name in enumerate(("one", "two"))
    )
    options: Any = SimpleNamespace(draws=100, seed=0, prob=0.89, progress=False)
    lacks = second[second["word_to_compare"] != "human0"]
    [table], warned = embeddings_compared._difference(lacks, first, options, ["associated - none"])
    assert table["equal_mean"].notna().all()
    assert warned == ["6 rows have no counterpart in the other table and are left out"]


def test_one_fit_is_in_memory_at_a_time(
    several: bb.Audit, trees: bb.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    fits: list[weakref.ref[bb.models.Fit]] = []
    most = []

    def read(self: audit_steps.Part, *of: Any) -> Any:
        content = real(self, *of)
        if isinstance(content, bb.models.Fit):
            gc.collect()
            fits.append(weakref.ref(content))
            most.append(sum(fit() is not None for fit in fits))
        return content

    def contrasts(parts: Any) -> pd.DataFrame:
        with monkeypatch.context() as patch:
            patch.setattr(audit_steps.Part, "_read", read)
            return compared(parts)

    real, compared = audit_steps.Part._read, embeddings_compared._contrasts
    monkeypatch.setattr(embeddings_compared, "_contrasts", contrasts)
    monkeypatch.setattr(audit_figures, "save", sketch)
    embeddings = {"a b": forest("x", 0, 1.5), "plain": forest("y", 0, 0.0)}
    folder = several.folder.parent / "again"
    bb.audit(embeddings, trees, out=folder, **(FAST | {"metrics": "weat_es"}))
    assert most == [1] * 4


def test_several_have_a_figure(several: bb.Audit) -> None:
    figures = several.between_figures
    assert set(figures) == {"trees", "few/trees"}
    assert figures["trees"].svg.is_file()
    page = several.report.read_text("utf-8")
    section = page.split('id="embeddings-compared"')[1].split("</section>")[0]
    assert section.count('<figure class="picture"') == 2


def test_several_in_one_report(several: bb.Audit) -> None:
    page = several.report.read_text("utf-8")
    for embedding, study in several.parts:
        assert f'data-name="{embedding}, {study}"' in page


@pytest.mark.slow
def test_one_more_embedding_takes_over_what_is_done(
    folder: Path,
    wood: bb.Embedding,
    trees: bb.Study,
    monkeypatch: pytest.MonkeyPatch,
    sketched: None,
) -> None:
    old = files(folder)
    fitted: list[str] = []
    real = audit_steps.fit

    def count(table: pd.DataFrame, spec: Any, **options: Any) -> bb.models.Fit:
        fitted.append(f"{'/'.join(table['embedding'].unique())} {getattr(spec, 'name', spec)}")
        return real(table, spec, **options)

    monkeypatch.setattr(audit_steps, "fit", count)
    (folder / "mine.txt").write_text("mine")
    (folder / "scores.csv").write_text("edited")
    bb.audit([wood, forest("second", 1)], trees, out=folder, **QUICK)
    # Each model, and the leading one once more at equal frequency.
    assert fitted == [*(f"second {name}" for name in QUICK["models"]), "second hierarchical"]
    new = files(folder)
    for name in ("fits/hierarchical.nc", "contrasts.csv", "figures/means.png"):
        assert new[f"forest/trees/{name}"] == old[name]
        assert name not in new  # moved
    assert new["mine.txt"] == b"mine"
    assert new["scores.csv"] == b"edited"  # it is no longer as we left it
    assert new["forest/trees/scores.csv"] == old["scores.csv"]
