"""The last sections of a report: how it was done, with what, after whom, and how to cite it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import pandas as pd

from bayesbias import __version__
from bayesbias.auditing.audit_result import Audit
from bayesbias.auditing.audit_steps import CHAINS
from bayesbias.auditing.model_check import AGREED, ERRORS, HMC, POINTS
from bayesbias.debias import DEBIASERS
from bayesbias.html import Block, Code, Definitions, Fold, References, Section, literal
from bayesbias.metrics import METRICS
from bayesbias.models import ModelSpec
from bayesbias.models.diagnostics import ESS_MIN, R_HAT_MAX

_WORKS = {
    "dobrzeniecka": "Dobrzeniecka & Urbaniak (2024), A Bayesian approach to uncertainty in word "
    "embedding bias estimation, *Computational Linguistics* 50(2), "
    "[doi:10.1162/coli_a_00507](https://doi.org/10.1162/coli_a_00507).",
    "thesis": "Dobrzeniecka (2021), *Conceptual and methodological problems with bias detection "
    "and avoidance in natural language processing*, master's thesis.",
    "badilla": "Badilla, Bravo-Marquez & Pérez (2020), WEFE: the word embeddings fairness "
    "evaluation framework, *IJCAI 2020*, 430–436, "
    "[doi:10.24963/ijcai.2020/60](https://doi.org/10.24963/ijcai.2020/60).",
    "manzini": "Manzini, Lim, Tsvetkov & Black (2019), Black is to criminal as Caucasian is to "
    "police: detecting and removing multiclass bias in word embeddings, *NAACL-HLT 2019*, 615–621, "
    "[doi:10.18653/v1/N19-1062](https://doi.org/10.18653/v1/N19-1062).",
    "caliskan": "Caliskan, Bryson & Narayanan (2017), Semantics derived automatically from "
    "language corpora contain human-like biases, *Science* 356(6334), 183–186, "
    "[doi:10.1126/science.aal4230](https://doi.org/10.1126/science.aal4230).",
    "splietho": "Spliethöver & Wachsmuth (2021), Bias silhouette analysis: towards assessing the "
    "quality of bias metrics for word embedding models, *IJCAI 2021*, 552–559, "
    "[doi:10.24963/ijcai.2021/77](https://doi.org/10.24963/ijcai.2021/77).",
    "antoniak": "Antoniak & Mimno (2021), Bad seeds: evaluating lexical methods for bias "
    "measurement, *ACL-IJCNLP 2021*, 1889–1904, "
    "[doi:10.18653/v1/2021.acl-long.148](https://doi.org/10.18653/v1/2021.acl-long.148).",
    "watanabe": "Watanabe (2010), Asymptotic equivalence of Bayes cross validation and widely "
    "applicable information criterion in singular learning theory, *Journal of Machine Learning "
    "Research* 11, 3571–3594, "
    "[jmlr.org](https://www.jmlr.org/papers/v11/watanabe10a.html).",
    "vehtari-loo": "Vehtari, Gelman & Gabry (2017), Practical Bayesian model evaluation using "
    "leave-one-out cross-validation and WAIC, *Statistics and Computing* 27, 1413–1432, "
    "[doi:10.1007/s11222-016-9696-4](https://doi.org/10.1007/s11222-016-9696-4).",
    "sivula": "Sivula, Magnusson, Matamoros & Vehtari (2020), Uncertainty in Bayesian "
    "leave-one-out cross-validation based model comparison, "
    "[arXiv:2008.10296](https://arxiv.org/abs/2008.10296).",
    "vehtari-rhat": "Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), Rank-normalization, "
    "folding, and localization: an improved R-hat for assessing convergence of MCMC, *Bayesian "
    "Analysis* 16(2), 667–718, [doi:10.1214/20-BA1221](https://doi.org/10.1214/20-BA1221).",
    "margossian": "Margossian et al. (2024), Nested R-hat: Assessing the convergence of Markov "
    "chain Monte Carlo when running many short chains, *Bayesian Analysis*, "
    "[doi:10.1214/24-BA1453](https://doi.org/10.1214/24-BA1453).",
    "neal": "Neal (2011), MCMC using Hamiltonian dynamics, in *Handbook of Markov Chain Monte "
    "Carlo*, CRC Press, [arXiv:1206.1901](https://arxiv.org/abs/1206.1901).",
}


def method_sections(audit: Audit) -> list[Section]:
    """Return the sections on methods, provenance and citation."""
    return [
        Section("Methods", [*_methods(audit)]),
        Section("How this was made", [*_provenance(audit)], id="provenance"),
        Section("References and citation", [*_citation()], id="references"),
    ]


def _methods(audit: Audit) -> Iterator[str | Block]:
    options, seed = audit.record["options"], audit.record["seed"]
    prob, draws = options["prob"], options["draws"]
    specs = {name: ModelSpec.from_dict(data) for name, data in audit.record["models"].items()}
    engines = pd.concat([part.diagnostics for part in audit.parts.values()])
    sampled = list(dict.fromkeys(engines.loc[engines["engine"] == "nuts", "model"]))
    heavy = f" Sampled with NUTS instead: {literal(', '.join(sampled))}." if sampled else ""
    yield (
        "**Distances.** For each protected word and each attribute the cosine distance of their "
        "vectors: 0 is the same direction, 1 unrelated, 2 opposite. An attribute is *associated* "
        "if it is a stereotype of the word's own group, *different* if of another group, *human* "
        "or *none* (neutral) if it is a control word. Bias is where own stereotypes are closer "
        "than controls. This follows [Dobrzeniecka & Urbaniak](#ref-dobrzeniecka)."
    )
    yield (
        f"**Models.** All models were fitted to all distances with the exact engine of bayesbias "
        f"({CHAINS * draws:,} independent draws, seed {seed}): given a few standard deviations "
        "the models are Gaussian, so means integrate out, and the standard deviations are drawn "
        f"from a grid or by importance sampling.{heavy} Intervals are the narrowest that hold "
        f"{prob:.0%} of the posterior."
    )
    for name, spec in specs.items():
        yield Fold(f"{name}: {spec.title}", [Code(str(spec)), f"From: {literal(spec.reference)}."])
    yield (
        "**Comparison.** WAIC ([Watanabe](#ref-watanabe)) estimates how well a model predicts new "
        "distances of these words. Leave-one-out cross-validation leaves out all distances of an "
        "attribute at once ([Vehtari et al.](#ref-vehtari-loo)): attributes are a sample of all "
        "that could have been listed, so that is the prediction that matters. Both are on the "
        "deviance scale, lower is better; a difference is called clear if it is larger than two "
        "of its standard errors and than 8, below which these are too uncertain "
        "([Sivula et al.](#ref-sivula)). Means and contrasts are not from the model that predicts "
        "best but from *interaction*, where it was fitted. With lists drawn from large pools of "
        "words, two designs with 40 tables each, its 89% intervals of group contrasts held the "
        "pool's own contrast in 87 to 97% of cases, those of *crossed*, which also predicts well, "
        "in 31 to 88%."
    )
    if options["confirm"]:
        yield (
            "**Check of the draws.** The exact draws of the leading model were checked in three "
            "ways. The log posterior density, computed row by row, and the log density that the "
            f"exact engine draws from were evaluated at {POINTS['draws']} draws and "
            f"{POINTS['far']} points far from them; they must differ by a constant. Given the "
            "scales, the draws of the coefficients were standardised; they must have mean 0 and "
            "standard deviation 1. The scales were drawn again by Hamiltonian Monte Carlo "
            f"([Neal](#ref-neal)): {HMC['chains']} chains from each of {HMC['starts']} exact "
            f"draws, moved twice as far from their mean, ran in rounds of {HMC['round']} draws "
            f"after {HMC['warm']} warm-up steps, until R-hat between starts "
            f"([Margossian et al.](#ref-margossian)) was below {R_HAT_MAX:g} and the effective "
            f"sample sizes reached {ESS_MIN} ([Vehtari et al.](#ref-vehtari-rhat)). Compared are "
            "contrasts of "
            "the data set and of groups, and the parameters that belong to no single word, among "
            "them all scales. They agree if means, standard deviations and the ends of 89% "
            f"equal-tailed intervals, minus {ERRORS:g} Monte Carlo standard errors, differ by no "
            f"more than {AGREED:g} posterior standard deviations."
        )
    yield (
        f"**Verdicts.** *Closer* and *farther* are said only where the {prob:.0%} interval "
        "excludes 0, *open* everywhere else. The contrast of a group is the average of its words, "
        "that of the whole data set the average of its groups; attributes stand for the "
        "population that they are drawn from. Differences smaller than "
        f"{options['rope']:g} are taken not to matter in `prob_in_rope` of the tables."
    )
    if any((part.contrasts["equal_mean"].notna()).any() for part in audit.parts.values()):
        yield (
            "**Frequency.** Attributes that are frequent words tend to be closer to everything. "
            "So the leading model was fitted once more with a slope for the log frequency of "
            "attributes, taken from the order of the vocabulary; contrasts at equal frequency are "
            "those of attributes with the same frequency."
        )
    yield (
        f"**Metrics.** The classical metrics, as [WEFE](#ref-badilla) has them, on the queries "
        "that the groups and their own stereotypes make. Their intervals are from a Bayesian "
        f"bootstrap over the words ({CHAINS * draws:,} draws)."
    )
    yield Definitions({name: _about(METRICS.get(name)) for name in _metric_names(audit)})
    yield (
        "**Word lists.** Lists are compared with random words of about the same frequency, and "
        "pairs of lists with their words dealt out at random ([Antoniak & Mimno](#ref-antoniak))."
        + (
            " Silhouettes ([Spliethöver & Wachsmuth](#ref-splietho)) measure random parts of the "
            "lists that grow to the whole: where the parts disagree, the value hangs on single "
            "words."
            if options["silhouettes"]
            else ""
        )
    )
    if options["debias"]:
        yield (
            "**Debiasing.** Changes of distances are from a model of the differences of the same "
            "pairs of words, before and after; all vectors are scaled to length one."
        )
        learned = audit.record["debias"]  # for each study from other words
        yield Definitions(
            {
                f"{name} on {study}" if len(learned) > 1 else name: f"{literal(own[name])}. "
                f"{_about(DEBIASERS[name])}"
                for study, own in learned.items()
                for name in options["debias"]
            }
        )


def _metric_names(audit: Audit) -> list[str]:
    return list(
        dict.fromkeys(name for part in audit.parts.values() for name in part.scores["metric"])
    )


def _about(kind: Any) -> str:
    """Return what a metric's value says, and its source, from its own documentation."""
    text = inspect.getdoc(kind) or ""
    source = re.search(r"References\n-+\n(.*?)(?:\n\n|$)", text, re.DOTALL)
    meaning = getattr(kind, "orientation", "")
    told = [f"{literal(meaning)}."] if meaning else []
    if source:
        told.append(_linked(" ".join(source[1].split())))
    return " ".join(told)


def _linked(text: str) -> str:
    """Turn what identifies a work into a link."""
    text = re.sub(r"doi:(10\.[^\s,]*[^\s,.])", r"[doi:\1](https://doi.org/\1)", text)
    return re.sub(r"arXiv:([\d.]*\d)", r"[arXiv:\1](https://arxiv.org/abs/\1)", text)


def _provenance(audit: Audit) -> Iterator[str | Block]:
    record = audit.record
    for name, about in record["embeddings"].items():
        yield f"# Embedding {literal(name)}"
        yield Definitions(
            {
                "source": f"`{_code(about['source'])}`",
                "read": f"{about['words']:,} words × {about['dimensions']} dimensions",
                "SHA-256": f"`{about['sha256']}`",
            }
        )
    for name, about in record["studies"].items():
        yield f"# Study {literal(name)}"
        lists = about["lists"]
        terms = {
            "source": literal(lists["source"] or "not given"),
            "SHA-256": f"`{about['sha256']}`",
        }
        yield Definitions(terms)
        if lists["notes"]:
            yield "\n".join(f"- {literal(note)}" for note in lists["notes"])
    yield "# Software"
    versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    steps = audit.steps.values()
    yield Definitions(
        {
            "seed": f"`{record['seed']}`",
            "versions": literal(f"Python {record['python']}, {versions}"),
            "made": max((step["made"] for step in steps), default="–"),
            "time": f"{sum(step['seconds'] for step in steps):.0f} s in all",
        }
    )
    yield (
        "Everything on this page is in open files beside it; `audit.json` has the hash of each, "
        "and of what it was made from. The same call does only what has changed."
    )
    files = [f"{file}  {digest}" for step in steps for file, digest in step["files"].items()]
    yield Fold(f"{len(files)} files and their SHA-256", Code("\n".join(files)))


def _code(text: str) -> str:
    return text.replace("\\", "\\\\").replace("`", "\\`")


def _citation() -> Iterator[str | Block]:
    yield References(_WORKS)
    yield "# How to cite"
    yield (
        "Cite the software, and the work whose method it follows, "
        "[Dobrzeniecka & Urbaniak](#ref-dobrzeniecka):"
    )
    yield Code(
        "@software{bayesbias,\n"
        "  author  = {{The bayesbias developers}},\n"
        "  title   = {bayesbias: social bias in word embeddings, measured with its uncertainty},\n"
        f"  version = {{{__version__}}}\n"
        "}\n"
        "@article{dobrzeniecka2024,\n"
        "  author  = {Dobrzeniecka, Alicja and Urbaniak, Rafal},\n"
        "  title   = {A {Bayesian} Approach to Uncertainty in Word Embedding Bias Estimation},\n"
        "  journal = {Computational Linguistics},\n"
        "  volume  = {50},\n"
        "  number  = {2},\n"
        "  year    = {2024},\n"
        "  doi     = {10.1162/coli_a_00507}\n"
        "}"
    )
