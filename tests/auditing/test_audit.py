"""The whole job: what it leaves in the folder."""

from __future__ import annotations

import gc
import hashlib
import json
import warnings
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from small_audit import FAST, QUICK, files

import bayesbias as bb
from bayesbias.auditing import audit_steps
from bayesbias.errors import BayesBiasWarning, DataError, SpecError, VocabularyError


def test_files_are_there(made: Path) -> None:
    there = files(made)
    for name in (
        "audit.json",
        "table.csv",
        "table.parquet",
        "fits/hierarchical.nc",
        "fit-at-equal-frequency.nc",
        "comparison.csv",
        "comparison_loo.csv",
        "contrasts.csv",
        "overview.csv",
        "scores.csv",
        "lists.csv",
        "figures/means.svg",
        "figures/means.png",
        "results.json",
        "report.html",
    ):
        assert name in there
    assert not [name for name in there if Path(name).name.startswith(".")]


def test_record_has_the_hashes_of_files_and_inputs(
    made: Path, wood: bb.Embedding, trees: bb.Study
) -> None:
    record = json.loads((made / "audit.json").read_text("utf-8"))
    recorded = {
        file: digest for step in record["steps"].values() for file, digest in step["files"].items()
    }
    there = files(made)
    assert {name: hashlib.sha256(data).hexdigest() for name, data in there.items()} == (
        recorded | {"audit.json": hashlib.sha256(there["audit.json"]).hexdigest()}
    )
    assert record["seed"] == 0
    assert record["versions"]["bayesbias"] == bb.__version__
    assert record["versions"]["numpy"] == np.__version__
    lists = json.dumps(trees.to_dict(), sort_keys=True, ensure_ascii=False)
    assert record["studies"]["trees"]["sha256"] == hashlib.sha256(lists.encode()).hexdigest()
    plain = hashlib.sha256(b"forest" + "\0".join(wood.words).encode() + wood.vectors.tobytes())
    assert record["embeddings"]["forest"]["sha256"] == plain.hexdigest()


def test_numbers_are_those_of_the_functions(
    made: Path, wood: bb.Embedding, trees: bb.Study
) -> None:
    found = bb.Audit(made)
    with warnings.catch_warnings():
        # Whether so few words are in the order of their frequency cannot be seen.
        warnings.simplefilter("ignore", BayesBiasWarning)
        table = bb.distance_table(wood, trees, covariates=["log_frequency"])
    pd.testing.assert_frame_equal(found.table, bb.check_table(table))
    pd.testing.assert_frame_equal(bb.read_table(made / "table.csv"), bb.check_table(table))
    names = QUICK["models"]
    fits = {name: bb.fit(table, name, engine="exact", draws=100) for name in names}
    assert list(found.fits) == names
    for name in names:
        assert (found.fits[name].posterior == fits[name].posterior).all().to_array().all()
    with pytest.warns(BayesBiasWarning, match="WAIC is unreliable") as warned:
        comparison = bb.compare(fits)
    pd.testing.assert_frame_equal(found.comparison, comparison)
    assert found.best == comparison.index[0]
    assert "some of these criteria are unreliable" in found.report.read_text("utf-8")
    [part] = found.parts.values()
    assert str(warned[0].message) in part.warnings
    by_word = fits["hierarchical"].contrasts(by="protected_word", rope=0.05)
    mine = found.contrasts.query("level == 'word' and contrast == 'associated - none'")
    assert mine["word"].tolist() == by_word["protected_word"].tolist()
    for column in ("mean", "sd", "lower", "upper", "prob_negative", "prob_in_rope"):
        np.testing.assert_allclose(mine[column], by_word[column], rtol=1e-12)
    expected = bb.overview(fits["hierarchical"])
    pd.testing.assert_frame_equal(found.overview.table, expected.table, check_dtype=False)
    pd.testing.assert_frame_equal(found.overview.contrasts, expected.contrasts)
    [mac] = found.scores.query("metric == 'mac'").to_dict("records")
    query = bb.Query(
        trees.groups.values(),
        trees.stereotypes.values(),
        ["oak", "fir"],
        ["oak stereotypes", "fir stereotypes"],
    )
    score = bb.metrics.MAC().posterior(query, wood, draws=400)
    assert (mac["value"], mac["lower"], mac["upper"]) == (score.value, score.lower, score.upper)
    assert found.silhouettes is None
    assert found.confirmation is None
    assert found.before_after == {}


@pytest.mark.slow
def test_one_fit_in_memory_at_a_time(
    wood: bb.Embedding, trees: bb.Study, sketched: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Together, the fits of ten million distances would need many times the memory of one."""
    compared: list[weakref.ref[bb.models.Fit]] = []
    real = audit_steps.Part._criteria

    def criteria(self: audit_steps.Part, name: str) -> Any:
        found = real(self, name)
        compared.append(weakref.ref(self.fitted(name)))
        gc.collect()
        assert [fit() is not None for fit in compared] == [False] * (len(compared) - 1) + [True]
        return found

    monkeypatch.setattr(audit_steps.Part, "_criteria", criteria)
    bb.audit(wood, trees, **QUICK)
    assert len(compared) == len(QUICK["models"])


@pytest.mark.slow
def test_tables_are_replicated_once(
    wood: bb.Embedding, trees: bb.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The figure is drawn twice, but what it shows of a long table takes minutes to compute."""
    real, calls = audit_steps.plots.predicted_densities, []

    def densities(*args: Any, **options: Any) -> Any:
        calls.append(options)
        return real(*args, **options)

    monkeypatch.setattr(audit_steps.plots, "predicted_densities", densities)
    found = bb.audit(wood, trees, **FAST)
    assert calls == [{"prob": 0.89}]
    assert found.parts[wood.name, trees.name].figure("predictive").narrow.is_file()


def test_another_seed_has_other_draws(
    wood: bb.Embedding, trees: bb.Study, made: Path, sketched: None
) -> None:
    found = bb.audit(wood, trees, **(FAST | {"seed": 1}))
    old = bb.Audit(made)
    pd.testing.assert_frame_equal(found.table, old.table)
    assert not np.allclose(found.contrasts["mean"], old.contrasts["mean"], rtol=1e-6)
    np.testing.assert_allclose(found.contrasts["mean"], old.contrasts["mean"], atol=0.1)


@pytest.mark.slow
def test_a_generator_gives_a_seed_that_is_written_down(
    wood: bb.Embedding, trees: bb.Study, sketched: None
) -> None:
    found = bb.audit(wood, trees, **(FAST | {"seed": np.random.default_rng(3)}))
    assert found.record["seed"] == int(np.random.default_rng(3).integers(2**32))
    again = bb.audit(wood, trees, out="again", **(FAST | {"seed": found.record["seed"]}))
    pd.testing.assert_frame_equal(found.contrasts, again.contrasts)


@pytest.mark.slow
def test_words_are_matched_as_each_embedding_has_it(
    wood: bb.Embedding, trees: bb.Study, made: Path, sketched: None
) -> None:
    prefixed = bb.Embedding([f"/c/en/{word}" for word in wood.words], wood.vectors, "forest")
    found = bb.audit(prefixed.with_matching(prefix="/c/en/"), trees, **FAST)
    expected = bb.Audit(made).table["cosine_distance"]
    np.testing.assert_array_equal(found.table["cosine_distance"], expected)
    used = found.record["embeddings"]["forest"]["matching"]
    assert used["fallbacks"][-1] == "prefix:/c/en/"
    matching = bb.embeddings.Matching().changed(prefix="/c/en/")
    again = bb.audit(prefixed, trees, out="again", matching=matching, **FAST)
    pd.testing.assert_frame_equal(again.contrasts, found.contrasts)
    with pytest.raises(VocabularyError):
        bb.audit(prefixed, trees, out="none", **FAST)


def test_the_folder_stays(
    wood: bb.Embedding, trees: bb.Study, tmp_path: Path, sketched: None
) -> None:
    found = bb.audit(wood, trees, **FAST)
    assert repr(found) == "<Audit of forest on trees, in bayesbias-audit>"
    assert found.folder.resolve() == tmp_path / "bayesbias-audit"
    report = found.report.resolve()
    del found
    gc.collect()
    assert "<html" in report.read_text("utf-8")
    # The same again is found there, and something else does not replace it.
    again = bb.audit(wood, trees, **FAST)
    assert again.report.resolve() == report
    assert again.table.shape[0] == 6 * 28
    other = bb.Study("others", trees.groups, trees.stereotypes, trees.controls)
    with pytest.raises(
        SpecError,
        match="bayesbias-audit .*forest on trees.*another folder",
    ):
        bb.audit(wood, other, **FAST)
    with pytest.raises(SpecError, match="'out' is None; expected the name of a folder"):
        bb.audit(wood, trees, out=None, **FAST)


@pytest.mark.slow
def test_of_a_file_only_what_is_needed_is_read(
    tmp_path: Path,
    wood: bb.Embedding,
    trees: bb.Study,
    made: Path,
    monkeypatch: pytest.MonkeyPatch,
    sketched: None,
) -> None:
    from bayesbias.auditing import audit_inputs

    monkeypatch.setattr(audit_inputs, "_VOCABULARY", 300)
    path = tmp_path / "forest.txt"
    # The words of the study come last, where the first 300 rows do not reach.
    order = [*wood.words[34:], *wood.words[:34]]
    shuffled = wood.subset(order)
    bb.Embedding(shuffled.words, shuffled.vectors).save(path)
    found = bb.audit(path, trees, **FAST)
    assert found.record["embeddings"]["forest"]["words"] == 300 + 34
    np.testing.assert_allclose(
        found.table["cosine_distance"], bb.Audit(made).table["cosine_distance"], atol=1e-5
    )
    whole = bb.audit(path, trees, **(FAST | {"metrics": ["neighbourhood"]}))
    assert whole.record["embeddings"]["forest"]["words"] == len(wood)


def test_lost_words_are_told(trees: bb.Study, wood: bb.Embedding, sketched: None) -> None:
    less = wood.subset([word for word in wood.words if word not in ("neutral3", "calm")])
    found = bb.audit(less, trees, **(FAST | {"matching": bb.embeddings.Matching(threshold=0.3)}))
    page = found.report.read_text("utf-8")
    assert "2 words of the study are not in the embedding (calm, neutral3)" in page
    [part] = found.parts.values()
    assert any("lacks words of the study 'trees'" in text for text in part.warnings)


@pytest.mark.slow
def test_what_is_not_exact_is_sampled(
    wood: bb.Embedding, trees: bb.Study, monkeypatch: pytest.MonkeyPatch, sketched: None
) -> None:
    real, asked = audit_steps.fit, []

    def sample(table: pd.DataFrame, spec: bb.models.ModelSpec, **options: Any) -> bb.models.Fit:
        """Draw exactly what is to be sampled, as that takes less time."""
        asked.append((spec.likelihood, options.get("engine", "auto")))
        made = real(table, spec.vary(likelihood="normal"), **(options | {"engine": "exact"}))
        stats = xr.Dataset({"diverging": (("chain", "draw"), np.zeros((4, 100), dtype=bool))})
        how = {**made.provenance, "engine": "nuts", "sampler": "nutpie"}
        return replace(made, sample_stats=stats, provenance=how)

    monkeypatch.setattr(audit_steps, "fit", sample)
    heavy = bb.load_model("hierarchical").vary(likelihood="student_t")
    found = bb.audit(wood, trees, **(FAST | {"models": heavy, "confirm": True}))
    # Not once more, to confirm it; but at equal frequency.
    assert asked == [("student_t", "auto")] * 2
    assert "Sampled with NUTS instead: hierarchical." in found.report.read_text("utf-8")


def test_models_that_cannot_be_fitted_at_all(
    wood: bb.Embedding, trees: bb.Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise DataError("without any noise; use more rows.")

    monkeypatch.setattr(audit_steps, "fit", refuse)
    with pytest.raises(DataError, match="without any noise"):
        bb.audit(wood, trees, **FAST)


@pytest.mark.slow
def test_debiasing_is_told(
    wood: bb.Embedding, trees: bb.Study, tmp_path: Path, sketched: None
) -> None:
    folder = tmp_path / "x"
    found = bb.audit(wood, trees, out=folder, **(FAST | {"debias": "multiclass_hard_debias"}))
    table = found.before_after["multiclass_hard_debias"]
    assert {"distance", "gap", "metric"} <= set(table["what"])
    told = found.summary()
    assert "Debiasing with multiclass hard debiasing: After debiasing, protected words are" in told
    gaps = table.query("what == 'gap' and measure == 'associated - none' and group == ''")
    gap = gaps.set_index("covariates").loc["as observed"]
    assert gap["verdict"] == "narrower"
    assert 0 < gap["closed"] < 1
    assert f"The gap to neutral words closed by {gap['closed']:.0%}, " in told
    assert "At equal frequency: " in told
    page = found.report.read_text("utf-8")
    assert ">Debiasing</h2>" in page
    assert "the words in the same places of the groups" in page
    assert "<strong>At equal frequency.</strong> After debiasing" in page
    assert "gap at equal frequency" in page
    bb.audit(wood, trees, out=folder, **FAST)  # without it
    assert not (folder / "debiasing").exists()
    assert ">Debiasing</h2>" not in (folder / "report.html").read_text("utf-8")


@pytest.mark.slow
def test_silhouettes_are_told(wood: bb.Embedding, trees: bb.Study, sketched: None) -> None:
    found = bb.audit(wood, trees, **(FAST | {"silhouettes": True}))
    assert found.silhouettes is not None
    assert set(found.silhouettes["side"]) == {"targets", "attributes"}
    page = found.report.read_text("utf-8")
    assert "on random subsets of the lists, is" in page
    [part] = found.parts.values()
    assert part.robustness is not None
    assert part.robustness["percentile"].between(0, 100).eq(part.robustness["chance"].notna()).all()
    assert all("\nRandom lists: " in text for text in part.verdicts.values())
    compared = part.robustness["percentile"].notna().any()
    assert compared == ("Among random lists of the same lengths, this is at" in page)
    short = bb.Study(
        "short",
        {"oak": ["oak", "acorn"], "fir": ["fir", "cone"]},
        {"oak": ["sturdy", "old"], "fir": ["slim", "tall"]},
        {"neutral": [f"neutral{i}" for i in range(12)]},
    )
    none = bb.audit(wood, short, out="short", **(FAST | {"silhouettes": True}))
    [part] = none.parts.values()
    assert all(text.startswith("Not measured: ") for text in part.verdicts.values())
    assert part.robustness is not None
    assert part.robustness.empty


def test_groups_without_stereotypes_are_not_judged(
    wood: bb.Embedding, trees: bb.Study, sketched: None
) -> None:
    data = trees.to_dict()
    del data["stereotypes"]["fir"]
    found = bb.audit(wood, bb.Study.from_dict(data), **FAST)
    words = found.contrasts.query("level == 'word'")
    assert set(words.loc[words["group"] == "fir", "verdict"]) == {""}
    assert "3 words cannot be judged: the embedding has no stereotype of th" in found.summary()
    # Words of oak have no stereotypes of other groups to be compared with.
    others = found.contrasts.query("contrast == 'associated - different' and level != 'data set'")
    assert set(others["verdict"]) == {""}
    page = found.report.read_text("utf-8")
    assert "Compared with stereotypes of other groups: " not in page
    assert page.count("The embedding has no stereotype of its group") == 3
    assert page.count("<p>Own stereotypes compared with ") == 3


def test_without_frequencies_there_is_nothing_at_equal_frequency(
    wood: bb.Embedding, trees: bb.Study, sketched: None
) -> None:
    order = sorted(range(len(wood)), key=lambda row: wood.words[row])
    sorted_ = bb.Embedding([wood.words[row] for row in order], wood.vectors[order], "sorted")
    found = bb.audit(sorted_, trees, out="sorted", **FAST)
    assert found.contrasts["equal_mean"].isna().all()
    assert all(row["equal_mean"] is None for row in found.results["parts"][0]["contrasts"])
    paper = found.folder / "paper"
    texts = [path.read_text("utf-8") for path in paper.iterdir()]
    texts += [found.summary(), bb.model_card(found), found.to_latex()]
    assert not [text for text in texts if "equal frequency" in text or "as observed" in text]
    page = found.report.read_text("utf-8")
    assert "Contrasts at equal frequency are not given: embedding" in page
    assert "second lines" not in page
    assert "if all attributes were equally frequent" not in page


def test_a_study_without_controls(wood: bb.Embedding, trees: bb.Study, sketched: None) -> None:
    found = bb.audit(wood, bb.Study("bare", trees.groups, trees.stereotypes), **FAST)
    assert set(found.contrasts["contrast"]) == {"associated - different"}
    told = found.summary().splitlines()[2]
    assert "than to stereotypes of other groups" in told
    assert "Without neutral words and human words to compare with, this cannot show a bias." in told


@pytest.mark.slow
def test_the_leading_model_is_checked(wood: bb.Embedding, trees: bb.Study, tmp_path: Path) -> None:
    options = QUICK | {"confirm": True, "models": ["hierarchical"], "draws": 1000}
    found = bb.audit(wood, trees, out=tmp_path / "x", **options)
    assert found.confirmation is not None
    assert found.confirmation["agrees"]
    assert found.confirmation["density"]["relative"] < 1e-9
    assert list(found.fits) == ["hierarchical"]
    assert (tmp_path / "x" / "confirmation_density.csv").is_file()
    assert found.confirmation["sampler_ok"]
    assert found.confirmation["r_hat"] < 1.01
    assert found.confirmation["ess"] >= 400
    assert "do not rely" not in found.summary()
    page = found.report.read_text("utf-8")
    assert "The exact draws passed their checks" in page
    assert "difference that would have counted as a disagreement" in page
    assert "Hamiltonian Monte Carlo" in found.report.read_text("utf-8").split('id="references"')[0]
