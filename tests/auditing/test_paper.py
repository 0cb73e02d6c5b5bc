"""What an audit leaves for a paper and for a model card."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from latex_documents import complaints, needs_latex

import bayesbias as bb
from bayesbias.auditing import bibliography, card_section
from bayesbias.auditing.audit_result import AuditPart
from bayesbias.auditing.audit_run import write_report
from bayesbias.auditing.paper import methods_text
from bayesbias.errors import SpecError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> bb.Audit:
    return bb.audit(
        "demo",
        "gender",
        out=tmp_path_factory.mktemp("audits") / "audit",
        models=["interaction", "hierarchical"],
        metrics=["weat", "rnd"],
        debias="hard_debias",
        draws=100,
        confirm=False,
        silhouettes=False,
        progress=False,
    )


def read(audit: bb.Audit, name: str) -> str:
    return (audit.folder / "paper" / name).read_text("utf-8")


def test_tables_have_the_numbers_of_the_audit(audit: bb.Audit) -> None:
    contrasts = audit.contrasts[audit.contrasts["level"].isin(["data set", "group"])]
    for name in ("contrasts.tex", "contrasts.md"):
        text = read(audit, name).replace("$", "").replace("−", "-")
        rows = [line for line in text.splitlines() if line.strip("| ").startswith("associated")]
        assert len(rows) == len(contrasts)
        for line, row in zip(rows, contrasts.itertuples(), strict=True):
            mean, lower, upper = map(float, re.findall(r"-?\d+\.\d+", line)[:3])
            assert mean == pytest.approx(row.mean, abs=6e-3)
            assert lower == pytest.approx(row.lower, abs=6e-3)
            assert upper == pytest.approx(row.upper, abs=6e-3)
            equal = list(map(float, re.findall(r"-?\d+\.\d+", line)[-3:]))
            expected = [row.equal_mean, row.equal_lower, row.equal_upper]
            np.testing.assert_allclose(equal, expected, atol=6e-3)
    by_word = audit.contrasts[audit.contrasts["level"] == "word"]
    lines = read(audit, "words.md").replace("−", "-").splitlines()[4:]
    words = list(by_word["word"].unique())
    assert [line.split("|")[1].strip() for line in lines] == [w for w in words for _ in range(2)]
    for number, line in enumerate(lines):
        cells = [cell.strip() for cell in line.split("|")]
        means = [float(cell.partition(" [")[0]) for cell in cells[4:7]]
        own = by_word[by_word["word"] == cells[1]]
        name, column = ("equal", "equal_mean") if number % 2 else ("as observed", "mean")
        assert cells[3] == name
        assert list(own["contrast"]) == [
            f"associated - {n}" for n in ("none", "human", "different")
        ]
        np.testing.assert_allclose(means, own[column], atol=6e-3)
    assert "89% intervals" in read(audit, "contrasts.md").splitlines()[0]
    assert "\\toprule" in read(audit, "metrics.tex")
    assert "at equal frequency" in audit.to_latex()


@needs_latex
@pytest.mark.skipif(shutil.which("bibtex") is None, reason="BibTeX is not installed")
def test_latex_compiles_tables_methods_and_references(audit: bb.Audit, tmp_path: Path) -> None:
    paper = audit.folder / "paper"
    (tmp_path / "references.bib").write_text(read(audit, "references.bib"), "utf-8")
    texts = [path.read_text("utf-8") for path in sorted(paper.glob("*.tex"))]
    ending = "\\bibliographystyle{plainnat}\\bibliography{references}\n"
    assert not complaints(texts, tmp_path, ending=ending, runs=3)


@needs_latex
@pytest.mark.skipif(shutil.which("bibtex") is None, reason="BibTeX is not installed")
def test_bibtex_reads_all_references(tmp_path: Path) -> None:
    (tmp_path / "references.bib").write_text("\n".join(bibliography.entries().values()), "utf-8")
    ending = "\\bibliographystyle{plainnat}\\bibliography{references}\n"
    assert not complaints([r"\nocite{*}Text."], tmp_path, ending=ending, runs=3)


def test_methods_say_what_was_done(audit: bb.Audit) -> None:
    text = " ".join(read(audit, "methods.md").split())
    table = audit.table
    for said in (
        f"{len(table):,} distances in all",
        f"{table['protected_word'].nunique()} protected words",
        "400 independent draws",
        "seed 0",
        "89% highest-density intervals",
        "smaller than 0.05 in absolute value",
        "depend on the frequency of words (Valentini et al., 2022)",
        "log frequency of attributes (from the vocabulary's order, −log(rank))",
        "two-sample t-intervals over attributes",
        "interaction and hierarchical were compared by WAIC",
        "WEAT (Caliskan et al., 2017) and RND (Garg et al., 2018)",
        "hard debiasing (Bolukbasi et al., 2016)",
    ):
        assert said in text, said
    assert "silhouettes" not in text
    assert "No-U-Turn" not in text


def test_everything_cited_is_in_the_bibliography(audit: bb.Audit) -> None:
    cited = {
        key
        for group in re.findall(r"\\citep\{([^}]+)\}", read(audit, "methods.tex"))
        for key in group.split(",")
    }
    entries = set(re.findall(r"@\w+\{(\w+),", read(audit, "references.bib")))
    assert cited == entries
    assert len(cited) > 8
    assert "@" not in read(audit, "methods.md")
    # Outside of citations nothing is left that LaTeX would stumble over.
    plain = re.sub(r"\\citep\{[^}]+\}", "", read(audit, "methods.tex"))
    assert not re.search(r"(?<!\\)[_%&#]", plain)


def test_every_metric_and_method_has_an_entry() -> None:
    for kind in [*bb.metrics.METRICS.values(), *bb.debias.DEBIASERS.values()]:
        assert bibliography.keys_of(kind.reference), kind


@pytest.mark.parametrize("key", sorted(bibliography.entries()))
def test_entries_are_complete(key: str) -> None:
    entry = bibliography.entries()[key]
    assert entry.count("{") == entry.count("}")
    if key == bibliography.SOFTWARE:
        return
    assert re.fullmatch(r"\d{4}", bibliography.field(key, "year"))
    assert bibliography.field(key, "title")
    assert any(bibliography.field(key, name) for name in ("doi", "eprint", "url"))
    assert re.fullmatch(r"[\w\- éö&.]+, \d{4}", bibliography.in_words(key))


def test_nuts_is_named_where_it_was_used(audit: bb.Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    part = next(iter(audit.parts.values()))
    sampled = part.diagnostics.assign(engine="nuts")
    monkeypatch.setitem(vars(part), "diagnostics", sampled)
    assert "4 chains of 100 draws with the No-U-Turn sampler" in methods_text(part)


def test_markov_chains_of_scales_are_named_where_they_were_used(
    audit: bb.Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = next(iter(audit.parts.values()))
    drawn = part.diagnostics
    assert set(drawn["scale_sampler"]) == {"rejection"}
    page = write_report(audit.folder).read_text("utf-8")
    assert "deviations are drawn by rejection sampling." in page
    read_diagnostics = property(lambda self: drawn.assign(scale_sampler="hmc"))
    monkeypatch.setattr(AuditPart, "diagnostics", read_diagnostics)
    text = methods_text(part)
    assert "independent draws from" not in text
    assert "Hamiltonian Monte Carlo [@neal2011mcmc]" in text
    page = write_report(audit.folder).read_text("utf-8")
    assert "rejection sampling" not in page
    assert "400 draws" in page
    one = drawn["model"].eq("interaction").map({True: "hmc", False: "rejection"})
    some = property(lambda self: drawn.assign(scale_sampler=one))
    monkeypatch.setattr(AuditPart, "diagnostics", some)
    page = write_report(audit.folder).read_text("utf-8")
    assert "by rejection sampling, in independent draws; those of interaction by" in page


def test_model_card(audit: bb.Audit, tmp_path: Path) -> None:
    card = tmp_path / "README.md"
    section = bb.model_card(audit, card)
    text = card.read_text("utf-8")
    assert text.startswith("---\ntags:\n- word-embeddings\n---\n\n# demo\n")
    assert text.count(card_section.HEADING) == 1
    assert section in text
    assert audit.summary() in section
    [header] = [line for line in section.splitlines() if line.startswith("| contrast")]
    assert header.endswith("| P(closer) | verdict | at equal frequency |")
    # The same again changes nothing; what others wrote stays.
    card.write_text(f"{text}\n## Uses\n\nAny.\n", "utf-8")
    bb.model_card(audit.folder, card)
    assert card.read_text("utf-8") == f"{text}\n## Uses\n\nAny.\n"


def test_model_card_under_its_own_heading(audit: bb.Audit, tmp_path: Path) -> None:
    card = tmp_path / "README.md"
    card.write_text("# Mine\n\n## Bias, Risks, and Limitations\n\nOld.\n\n## Uses\n", "utf-8")
    section = bb.model_card(audit, card)
    expected = f"# Mine\n\n## Bias, Risks, and Limitations\n\n{section}\nOld.\n\n## Uses\n"
    assert card.read_text("utf-8") == expected
    card.write_text("<!-- bayesbias: start -->\n", "utf-8")
    with pytest.raises(SpecError, match="without '<!-- bayesbias: end -->' after it"):
        bb.model_card(audit, card)
    assert card.read_text("utf-8") == "<!-- bayesbias: start -->\n"
