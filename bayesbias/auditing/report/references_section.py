"""The section on references: the works that an audit follows, and how to cite it."""

from __future__ import annotations

from bayesbias.auditing.bibliography import SOFTWARE, bibliography
from bayesbias.auditing.report.section_blocks import SectionBlocks
from bayesbias.html import Code, References

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
    "valentini": "Valentini, Rosati, Fernandez Slezak & Altszyler (2022), The undesirable "
    "dependence on frequency of gender bias metrics based on word embeddings, *Findings of EMNLP "
    "2022*, [arXiv:2301.00792](https://arxiv.org/abs/2301.00792).",
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


def references() -> SectionBlocks:
    """Write the references, and what to cite."""
    yield References(_WORKS)
    yield "# How to cite"
    yield (
        "Cite the software, and the work whose method it follows, "
        "[Dobrzeniecka & Urbaniak](#ref-dobrzeniecka):"
    )
    yield Code(bibliography([SOFTWARE, "dobrzeniecka2024bayesian"]).strip())
