"""The section on methods: how everything in a report was computed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from bayesbias._core.plugins import title_of
from bayesbias._core.wording import capitalized, enumerated
from bayesbias.auditing.audit_result import Audit
from bayesbias.auditing.audit_steps import CHAINS
from bayesbias.auditing.exact_density import ERRORS, POINTS
from bayesbias.auditing.model_check import AGREED
from bayesbias.auditing.report.section_blocks import SectionBlocks
from bayesbias.auditing.second_sampler import HMC
from bayesbias.debias import DEBIASERS, Debiaser
from bayesbias.html import Block, Code, Definitions, Fold, literal
from bayesbias.metrics import METRICS, Metric
from bayesbias.models import ESS_MIN, R_HAT_MAX, ModelSpec


def methods(audit: Audit) -> SectionBlocks:
    """Write how it was done, a paragraph for each step."""
    options = audit.record["options"]
    yield _DISTANCES
    yield from _models(audit)
    yield _COMPARISON
    if options["confirm"]:
        yield _CHECK
    yield _verdicts(options)
    if any(part.contrasts["equal_mean"].notna().any() for part in audit.parts.values()):
        yield _frequency(options)
    yield from _metrics(audit)
    yield _word_lists(options)
    if options["debias"]:
        yield from _debiasing(audit)


_DISTANCES = (
    "**Distances.** The data are the cosine distances between each protected word and each "
    "attribute: 0 means the same direction, 1 unrelated, 2 opposite. An attribute is *associated* "
    "if it is a stereotype of the word's own group, *different* if it is a stereotype of another "
    "group, and *human* or *none* (neutral) if it is a control word. If own stereotypes are closer "
    "than controls, this is called an association. It is called a bias only if the comparisons "
    "with neutral words, human words and the stereotypes of other groups all support it. This "
    "follows [Dobrzeniecka & Urbaniak](#ref-dobrzeniecka)."
)
_COMPARISON = (
    "**Comparison.** WAIC ([Watanabe](#ref-watanabe)) estimates how well a model predicts new "
    "distances of these words. Leave-one-out cross-validation leaves out all distances of an "
    "attribute at once ([Vehtari et al.](#ref-vehtari-loo)). This is the prediction that "
    "matters, because the attributes are a sample of all that could have been listed. Both "
    "criteria are on the deviance scale: lower is better. A difference is called clear if it is "
    "larger than two standard errors and larger than 8; the standard errors of smaller differences "
    "are unreliable ([Sivula et al.](#ref-sivula)). Means and contrasts are not from the model "
    "that predicts best, but from *interaction*, if it was fitted. This model was chosen by "
    "coverage. With lists drawn from large pools of real words (9 designs, 60 tables each), its "
    "89% intervals for groups contained the contrast of the pools in 86 to 97% of the tables of "
    "a design; those of *crossed*, which also predicts well, in 33 to 99%."
)
_CHECK = (
    "**Check of the draws.** The exact draws of the lead model were checked in three "
    "ways. The log posterior density, computed row by row, and the log density that the "
    f"exact engine draws from were evaluated at {POINTS['draws']} draws and "
    f"{POINTS['far']} points far from them; they must differ by a constant. Given the "
    "scales, the draws of the coefficients were standardised; they must have mean 0 and "
    "standard deviation 1. The scales were drawn again by Hamiltonian Monte Carlo "
    f"([Neal](#ref-neal)): {HMC['chains']} chains from each of {HMC['starts']} exact "
    f"draws, moved twice as far from their mean, ran in rounds of {HMC['round']} draws "
    f"after {HMC['warm']} warm-up steps, until R-hat between starts "
    f"([Margossian et al.](#ref-margossian)) was below {R_HAT_MAX:g} and the effective "
    f"sample sizes reached {ESS_MIN} ([Vehtari et al.](#ref-vehtari-rhat)). Contrasts "
    "of the data set and of groups are compared, and all parameters that do not belong to a single "
    "word, including all scales. They agree if means, standard deviations and the ends of 89% "
    f"equal-tailed intervals, minus {ERRORS:g} Monte Carlo standard errors, differ by no "
    f"more than {AGREED:g} posterior standard deviations."
)


def _models(audit: Audit) -> SectionBlocks:
    options, seed = audit.record["options"], audit.record["seed"]
    draws, prob = options["draws"], options["prob"]
    specs = {name: ModelSpec.from_dict(data) for name, data in audit.record["models"].items()}
    engines = pd.concat([part.diagnostics for part in audit.parts.values()])
    sampled = list(dict.fromkeys(engines.loc[engines["engine"] == "nuts", "model"]))
    heavy = f" Sampled with NUTS instead: {literal(', '.join(sampled))}." if sampled else ""
    chains = list(dict.fromkeys(engines.loc[engines["scale_sampler"] == "hmc", "model"]))
    exact = [name for name in specs if name not in {*sampled, *chains}]
    by_chains = "by Hamiltonian Monte Carlo ([Neal](#ref-neal)), in chains"
    if not chains:
        number, how = "independent draws", "by rejection sampling"
    elif exact:
        number = "draws"
        how = (
            f"by rejection sampling, in independent draws; those of {literal(enumerated(chains))} "
            f"{by_chains}"
        )
    else:
        number, how = "draws", by_chains
    leading = {part.lead for part in audit.parts.values()}
    yield (
        f"**Models.** All models were fitted to all distances with the exact engine of bayesbias "
        f"({CHAINS * draws:,} {number}, seed {seed}): given a few standard "
        "deviations, the models are Gaussian, so the means are integrated out, and the standard "
        f"deviations are drawn {how}.{heavy} Intervals are the narrowest that "
        f"contain {prob:.0%} of the posterior."
    )
    for name, spec in specs.items():
        blocks: list[str | Block] = [Code(str(spec)), f"From: {literal(spec.reference)}."]
        yield Fold(f"{name}: {spec.title}", blocks, on_paper=name in leading)


def _verdicts(options: Mapping[str, Any]) -> str:
    return (
        f"**Verdicts.** The verdict is *closer* or *farther* if the {options['prob']:.0%} interval "
        "excludes 0, and *inconclusive* otherwise. The contrast of a group is the average over its "
        "words; that of the whole data set is the average over its groups. Attributes represent "
        "the population from which they are drawn. In the files, `prob_in_rope` is the probability "
        f"that a difference is smaller than {options['rope']:g}, too small to matter."
    )


def _frequency(options: Mapping[str, Any]) -> str:
    return (
        "**Frequency.** How frequent an attribute is may change its distance from all words "
        "([Valentini et al.](#ref-valentini)). The lead model was therefore fitted again with a "
        "slope on the log frequency of attributes. The frequencies are from "
        f"{literal(options['frequencies'])}. Contrasts at equal frequency compare attributes of "
        "the same frequency."
    )


def _metrics(audit: Audit) -> SectionBlocks:
    scores = pd.concat([part.scores for part in audit.parts.values()])
    yield (
        "**Metrics.** The classical metrics are computed as in [WEFE](#ref-badilla), for queries "
        "made of the groups and their stereotypes. Their intervals are from a Bayesian bootstrap "
        f"over the words ({CHAINS * audit.record['options']['draws']:,} draws)."
    )
    names = scores["metric"].unique()
    yield Definitions(
        {capitalized(title_of(name, METRICS)): _source(METRICS.get(name)) for name in names}
    )


def _word_lists(options: Mapping[str, Any]) -> str:
    return (
        "**Word lists.** Lists are compared with random words of about the same frequency, and "
        "pairs of lists with random reassignments of their words "
        "([Antoniak & Mimno](#ref-antoniak))."
        + (
            " Silhouettes ([Spliethöver & Wachsmuth](#ref-splietho)) measure random subsets of the "
            "lists that grow to the complete lists: if the parts disagree, the value depends on "
            "single words. The same is done with 39 random lists of the same length and similar "
            "frequency. A list is called robust if it is more robust than these (at the 5% level)."
            if options["silhouettes"]
            else ""
        )
    )


def _debiasing(audit: Audit) -> SectionBlocks:
    yield (
        "**Debiasing.** Changes of distances are estimated by one model of the same pairs of words "
        "before and after debiasing. All vectors are scaled to length one."
    )
    # For each study from other words.
    labels = {part.study.name: part.study.label for part in audit.parts.values()}
    learned = {labels[study]: methods for study, methods in audit.record["debias"].items()}
    yield Definitions(
        {
            _method(name, study if len(learned) > 1 else ""): f"{literal(methods_of[name])}. "
            f"{_source(DEBIASERS[name])}"
            for study, methods_of in learned.items()
            for name in audit.record["options"]["debias"]
        }
    )


def _method(name: str, study: str) -> str:
    title = capitalized(title_of(name, DEBIASERS))
    return f"{title}, {study}" if study else title


def _source(kind: type[Metric] | type[Debiaser] | None) -> str:
    """Return the source of a metric or a method."""
    reference = getattr(kind, "reference", None)
    return _linked(reference) if reference else ""


def _linked(text: str) -> str:
    """Turn what identifies a work into a link."""
    text = re.sub(r"(?<![\w./])((?:[a-z]+\.)+[a-z]+/[^\s,]*[^\s,.])", r"[\1](https://\1)", text)
    text = re.sub(r"doi:(10\.[^\s,]*[^\s,.])", r"[doi:\1](https://doi.org/\1)", text)
    return re.sub(r"arXiv:([\d.]*\d)", r"[arXiv:\1](https://arxiv.org/abs/\1)", text)
