"""The algebra of the exact engine against one dense multivariate normal."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from brute_force import SCIPY, BruteForce, by_name, deviations, make_table
from scipy import stats

import bayesbias as bb
from bayesbias.errors import BayesBiasWarning, SpecError
from bayesbias.models.exact import gaussian_block, leave_out
from bayesbias.models.exact.compiled_model import Compiled, compile_model
from bayesbias.models.exact.leave_out import log_density_left_out
from bayesbias.models.model_data import ModelData, model_data

pytestmark = pytest.mark.numpy_only

#: What parameters of these names have besides factors and priors.
MORE = {
    "slope": {"covariate": "length"},
    "other": {"covariate": "row_covariate"},
    "s_all": {"over": "embedding"},
    "t_all": {"over": "embedding"},
    "tu_all": {"over": "embedding"},
    "ca": {"common": "t_all"},
    "cu": {"common": "tu_all"},
    "cv": {"common": "tu_all", "only": "stereotype"},
    "cs": {"common": "t_all", "covariate": "row_covariate"},
}


def own_model(mean: list[str], **parameters: tuple[list[str], str]) -> bb.models.ModelSpec:
    return bb.models.ModelSpec.from_dict(
        {
            "name": "own",
            "mean": mean,
            "scale": "s",
            "parameters": {
                n: {"by": by, "prior": p, **MORE.get(n, {})} for n, (by, p) in parameters.items()
            },
            **({"common": "s_all"} if "s_all" in parameters else {}),
        }
    )


WORD, COMPARED, GROUP = ["protected_word"], ["word_to_compare"], ["protected_group"]
OWN = {
    # Two crossed terms; one of them pooled in two steps, in factors of another order.
    "two crossed terms": own_model(
        ["a", "u"],
        t=([], "HalfNormal(1)"),
        top=([], "Normal(0.5, 0.4)"),
        g=(GROUP, "Normal(top, 0.2)"),
        a=(["protected_word", "protected_group"], "Normal(0.1 + g + top, t)"),
        tu=(["connection"], "InverseGamma(3, 0.5)"),
        u=(["connection", "word_to_compare"], "Normal(0.2, tu)"),
        s=([], "LogNormal(-1, 0.5)"),
    ),
    "three terms": own_model(
        ["a", "u", "v"],
        a=(WORD, "Normal(1, 0.5)"),
        tu=([], "HalfStudentT(3, 0.5)"),
        u=(COMPARED, "Normal(0, tu)"),
        v=(["word_class", "protected_word"], "Normal(0, 0.3)"),
        s=(["connection"], "Gamma(2, 4)"),
    ),
    # Own parts with known and with unknown scales; one is part of some rows only.
    "embeddings with common parts": own_model(
        ["ca", "cu", "cv"],
        s_all=(["attribute_kind"], "Exponential(2)"),
        t_all=(["connection"], "HalfNormal(1)"),
        tu_all=(["attribute_kind"], "Exponential(5)"),
        bar=(["connection", "embedding"], "Normal(1, 0.3)"),
        ca=(["protected_word", "embedding", "connection"], "Normal(bar, 0.2)"),
        tu=(["embedding"], "Exponential(5)"),
        cu=(["word_to_compare", "embedding"], "Normal(0, tu)"),
        tv=(["attribute_kind"], "Gamma(2, 4)"),
        cv=(["embedding", "word_class"], "Normal(0.1, tv)"),
        s=(["connection", "embedding"], "Exponential(2)"),
    ),
    "residuals with a common part": own_model(
        ["a"],
        s_all=([], "Exponential(2)"),
        a=(["protected_word", "embedding"], "Normal(1, 0.5)"),
        s=([], "Exponential(2)"),
    ),
    "slopes with a common part": own_model(
        ["a", "cs"],
        t_all=(["connection"], "Exponential(2)"),
        a=(["protected_word", "embedding"], "Normal(1, 0.5)"),
        ts=(["embedding"], "Exponential(5)"),
        cs=(["connection", "embedding"], "Normal(0, ts)"),
        s=(["embedding"], "Exponential(2)"),
    ),
    "one mean": own_model(["a"], a=([], "Normal(1, 0.5)"), s=(["connection"], "Exponential(2)")),
    "several effects of attributes": own_model(
        ["a", "u", "v", "slope"],
        top=(["connection"], "Normal(1, 0.3)"),
        t=(["connection"], "Exponential(2)"),
        a=(["protected_word", "connection"], "Normal(top, t)"),
        tu=(["attribute_kind"], "Exponential(5)"),
        u=(COMPARED, "Normal(0, tu)"),
        tv=(["connection"], "Exponential(5)"),
        v=(["word_to_compare", "protected_group"], "Normal(0, tv)"),
        slope=([], "Normal(0, 0.1)"),
        s=(["connection"], "Exponential(2)"),
    ),
    "slopes that are pooled": own_model(
        ["a", "u", "slope", "other"],
        a=(WORD, "Normal(1, 0.5)"),
        tu=([], "Exponential(5)"),
        u=(COMPARED, "Normal(0, tu)"),
        common=([], "Normal(0.1, 0.2)"),
        ts=([], "Exponential(5)"),
        slope=(["connection"], "Normal(common, ts)"),
        other=([], "Normal(0, 0.1)"),
        s=(["connection"], "Exponential(2)"),
    ),
    "residual scale in a prior": own_model(
        ["a"], s=([], "Exponential(2)"), a=(WORD, "Normal(0.5, s)")
    ),
}

LAYOUTS = {"balanced": {}, "unbalanced": {"keep": 0.75, "without": ("x1", "human")}}


def cases() -> list:
    """Every model in every kind of table."""
    found = []
    for name in [*bb.models.MODELS, *OWN]:
        ways = [("none", None), ("few", None)]
        if name in bb.models.MODELS:
            ways += [("many", None)]
        if name in bb.models.MODELS and not bb.load_model(name).common:
            ways += [("none", "one"), ("none", "connection")]
        for kind in LAYOUTS:
            for error, residual in ways:
                label = f"{name}-{kind}-{error}-{residual or 'own'}"
                found.append(pytest.param((name, kind, error, residual), id=label))
    return found


class Case:
    """A model with a table, compiled, with a few sets of scales."""

    def __init__(self, name: str, kind: str, errors: str = "none", residual: str | None = None):
        spec = OWN.get(name) or bb.load_model(name).vary(residual=residual)
        several = 1 if "embedding" not in spec.factors else 3 if name in OWN else 2
        table = make_table(3, errors=errors, embeddings=several, **LAYOUTS[kind])
        if spec.covariates:
            rng = np.random.default_rng(7)
            length = {w: rng.normal() for w in sorted(set(table["word_to_compare"]))}
            of_word = table["word_to_compare"].astype(str).map(length).to_numpy(dtype=float)
            table = table.assign(length=of_word, row_covariate=rng.normal(size=len(table)))
        self.build(spec, table)

    def build(self, spec: bb.models.ModelSpec, table: pd.DataFrame) -> None:
        self.spec, self.table = spec, table
        self.data: ModelData = model_data(spec, table)
        self.compiled: Compiled = compile_model(spec, self.data)
        rng = np.random.default_rng(5)
        self.log_scales = rng.normal(-1.5, 0.7, size=(3, self.compiled.layout.n_scales))
        self.brute = BruteForce(spec, table)

    @classmethod
    def of(cls, spec: bb.models.ModelSpec, table: pd.DataFrame) -> Case:
        case = cls.__new__(cls)
        case.build(spec, table)
        return case

    def given(self, scales: np.ndarray):
        return self.brute.given(by_name(self.compiled, scales))

    def check_density(self, tolerance: float = 1e-8) -> None:
        blocks = self.compiled.blocks
        ours = sum(block.log_density(self.log_scales[:, block.scales]) for block in blocks)
        # A scale that nothing depends on keeps its prior and is in no block.
        used = np.concatenate([block.scales for block in blocks])
        for s in np.setdiff1d(np.arange(self.compiled.layout.n_scales), used):
            prior, log_scale = self.compiled.layout.priors[s], self.log_scales[:, s]
            density = SCIPY[prior.family](*prior.arguments)
            ours = ours + density.logpdf(np.exp(log_scale)) + log_scale
        theirs = np.array([self.given(scales).log_density() for scales in self.log_scales])
        np.testing.assert_allclose(ours - ours[0], theirs - theirs[0], rtol=1e-9, atol=tolerance)

    def check_gradient(self) -> None:
        for block in self.compiled.blocks:
            at = self.log_scales[:, block.scales]
            values, gradient = block.gradient(at)
            np.testing.assert_allclose(values, block.log_density(at), rtol=1e-12)
            for place in range(at.shape[1]):
                step = np.zeros(at.shape[1])
                step[place] = 1e-4
                slope = (block.log_density(at + step) - block.log_density(at - step)) / 2e-4
                np.testing.assert_allclose(gradient[:, place], slope, rtol=1e-5, atol=1e-5)

    def check_coefficients(self) -> None:
        scales, chain = self.log_scales[1], self.brute.chain
        mean, covariance = deviations(self.compiled, scales)
        expected_mean, expected_covariance = self.given(scales).posterior()
        np.testing.assert_allclose(chain @ mean, expected_mean, atol=1e-9)
        np.testing.assert_allclose(chain @ covariance @ chain.T, expected_covariance, atol=1e-9)

    def check_left_out(self, by: str, tolerance: float = 1e-8) -> None:
        level, names = pd.factorize(self.table[by].astype("str"))
        n, scales = len(names), self.log_scales[:2]
        ours = log_density_left_out(self.compiled, self.data, scales, level, n)
        gaussians = [self.given(one) for one in scales]
        theirs = [[g.log_conditional(level == k) for k in range(n)] for g in gaussians]
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


@cache
def case_of(few: int, *case: str | None) -> Case:
    return Case(*case)


@pytest.fixture(params=[60, 0], ids=["", "eliminated"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """With few coordinates nothing is eliminated from the dense matrix; here also then."""
    monkeypatch.setattr(gaussian_block, "_FEW", request.param)
    return int(request.param)


@pytest.mark.parametrize("case", cases())
def test_density_of_the_scales(case: tuple, few: int) -> None:
    case_of(few, *case).check_density()


@pytest.mark.parametrize("case", cases())
def test_gradient_of_the_density(case: tuple, few: int) -> None:
    case_of(few, *case).check_gradient()


@pytest.mark.slow
@pytest.mark.parametrize("case", cases())
def test_coefficients_given_the_scales(case: tuple, few: int) -> None:
    case_of(few, *case).check_coefficients()


@pytest.mark.slow
@pytest.mark.parametrize("by", ["word_to_compare", "protected_word"])
@pytest.mark.parametrize("case", cases())
def test_rows_left_out(case: tuple, by: str, few: int) -> None:
    case_of(few, *case).check_left_out(by)


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("name", [*bb.models.MODELS, *OWN])
def test_variance_of_a_weighted_sum(name: str, kind: str, rng: np.random.Generator) -> None:
    case = case_of(60, name, kind)
    scales = case.log_scales
    weights = rng.normal(size=case.compiled.layout.n_coefficients)
    found = sum(
        b.variance(scales[:, b.scales], weights[b.coefficients]) for b in case.compiled.blocks
    )
    expected = []
    for one in scales:
        covariance = deviations(case.compiled, one)[1]
        expected.append(weights @ covariance @ weights)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("name", [*bb.models.MODELS, *OWN])
def test_coefficients_are_turned_back_into_noise(
    name: str, kind: str, few: int, rng: np.random.Generator
) -> None:
    """The noise has the length that a dense normal distribution gives, and so its density."""
    case = case_of(few, name, kind)
    scales = case.log_scales[1]
    mean, covariance = deviations(case.compiled, scales)
    for block in case.compiled.blocks:
        own = np.ix_(block.coefficients, block.coefficients)
        normal = stats.multivariate_normal(mean[block.coefficients], covariance[own])
        values = normal.rvs(5, random_state=rng).reshape(5, -1)
        solved = block.solve(np.tile(scales[block.scales], (5, 1)))
        noise, log_density = block.whiten(solved, values)
        expected = normal.logpdf(values)
        np.testing.assert_allclose(np.diff(log_density), np.diff(expected), atol=1e-5)
        apart = values - mean[block.coefficients]
        lengths = np.einsum("si,si->s", apart, np.linalg.solve(covariance[own], apart.T).T)
        np.testing.assert_allclose((noise**2).sum(axis=1), lengths, rtol=1e-5)


@pytest.mark.parametrize("name", ["crossed", "interaction", "two crossed terms"])
def test_large_systems_are_solved_alike(
    name: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = case_of(few, name, "unbalanced")

    def everything() -> list[np.ndarray]:
        found = [np.concatenate(deviations(case.compiled, case.log_scales[0]), axis=None)]
        for block in case.compiled.blocks:
            found += block.gradient(case.log_scales[:, block.scales])
        return found

    small = everything()
    monkeypatch.setattr(gaussian_block, "_SMALL", 0)
    for one, other in zip(small, everything(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)


def test_scales_beyond_the_digits_have_no_density(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a matrix cannot be factorised, and only there."""
    case = case_of(60, "crossed", "balanced")
    [block] = case.compiled.blocks
    at = case.log_scales[:, block.scales]
    density, (_, slopes) = block.log_density(at), block.gradient(at)
    solve = gaussian_block.Block.solve

    def fails(self: gaussian_block.Block, some: np.ndarray) -> gaussian_block.Solution:
        if (some == at[1]).all(axis=1).any():
            raise np.linalg.LinAlgError("not positive definite")
        return solve(self, some)

    monkeypatch.setattr(gaussian_block.Block, "solve", fails)
    expected = np.where([False, True, False], -np.inf, density)
    np.testing.assert_allclose(block.log_density(at), expected, rtol=1e-12)
    values, gradient = block.gradient(at)
    np.testing.assert_allclose(values, expected, rtol=1e-12)
    np.testing.assert_array_equal(gradient[1], 0)
    np.testing.assert_allclose(gradient[[0, 2]], slopes[[0, 2]], rtol=1e-9)


@pytest.mark.parametrize("number", [1, 5000])
def test_small_matrices_that_are_not_positive_definite(number: int) -> None:
    good = np.tile([[2.0, 0.5], [0.5, 1.0]], (number, 1, 1))
    expected = np.linalg.inv(np.linalg.cholesky(good))
    np.testing.assert_allclose(gaussian_block._inverse_cholesky(good), expected, atol=1e-12)
    good[-1, 1, 1] = 0.1
    with pytest.raises(np.linalg.LinAlgError):
        gaussian_block._inverse_cholesky(good)


def test_words_are_merged_where_they_can_be() -> None:
    """The tables above have units that only their outcomes distinguish, and others."""
    balanced = Case("crossed", "balanced").compiled.blocks
    assert sum(d.shape[0] for block in balanced for d in block.deviations if d.first_side) == 13
    assert sum(d.shape[0] for block in balanced for d in block.deviations if not d.first_side) == 4
    assert len(Case("hierarchical", "balanced").compiled.blocks) == 4
    many = Case("crossed", "unbalanced", "many").compiled.blocks
    assert sum(len(block.deviations) for block in many) == 0


@pytest.mark.parametrize("kind", LAYOUTS)
@pytest.mark.parametrize("name", ["interaction", "crossed", "two crossed terms"])
def test_units_put_together_at_any_cost(
    name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in large tables: units in many clusters, each slot tied to little."""
    monkeypatch.setattr(gaussian_block, "_FEW", 0)
    monkeypatch.setattr(gaussian_block, "_CALLS", 0.0)
    monkeypatch.setattr(gaussian_block, "_KINDS", 1)
    case = Case(name, kind)
    if name == "interaction":
        assert any(len(c.parts) > 1 for block in case.compiled.blocks for c in block.clusters)
    case.check_density()
    case.check_gradient()
    case.check_coefficients()
    case.check_left_out("word_to_compare")


def test_residuals_with_a_common_part_are_matched_by_their_words() -> None:
    """Also in a model without a factor of attribute words, and in any order of the rows."""
    spec = own_model(
        ["m"],
        m=(["protected_word", "embedding"], "Normal(1, 0.5)"),
        s_all=([], "Exponential(2)"),
        s=(["embedding"], "Exponential(2)"),
    )
    table = make_table(3, embeddings=2)
    shuffled = bb.check_table(table.sample(frac=1, random_state=1).reset_index(drop=True))
    found = []
    for rows in (table, shuffled):
        case = Case.of(spec, rows)
        case.check_density()
        blocks = case.compiled.blocks
        found.append(sum(block.log_density(case.log_scales[:, block.scales]) for block in blocks))
    np.testing.assert_allclose(*found, rtol=1e-12)


def test_rows_that_are_alone_have_both_variances() -> None:
    """Where a pair is in one embedding, only the sum of the two variances matters."""
    spec = OWN["residuals with a common part"]
    table = make_table(3, embeddings=2)
    other = table["word_to_compare"].isin(["xa", "yb", "hc", "na", "nb"])
    alone = other == (table["embedding"] == "e1")
    pair = ["protected_word", "word_to_compare"]
    shared = (table[pair] == table.loc[alone, pair].iloc[0]).all(axis=1)
    assert shared.sum() == 2  # embeddings that share no pair are refused
    case = Case.of(spec, bb.check_table(table[alone | shared]))
    case.check_density()
    case.check_gradient()
    rows = np.flatnonzero(~shared[alone | shared])
    covariance = case.compiled.residuals.covariance(case.log_scales, rows)
    total = np.exp(2 * case.log_scales).sum(axis=1)
    np.testing.assert_allclose(covariance, total[:, None, None] * np.eye(len(rows)), rtol=1e-12)


@pytest.mark.parametrize("errors", ["none", "many"])
@pytest.mark.parametrize("name", ["embeddings", "embeddings with common parts"])
def test_the_covariance_of_residuals(name: str, errors: str) -> None:
    case = case_of(60, name, "unbalanced", errors)
    rows = np.random.default_rng(1).permutation(len(case.table))[:50]
    found = case.compiled.residuals.covariance(case.log_scales, rows)
    expected = [case.given(one).noise[np.ix_(rows, rows)] for one in case.log_scales]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_many_distinct_errors() -> None:
    case = Case.of(bb.load_model("crossed"), make_table(4, words=9, errors="many"))
    case.check_density()
    case.check_coefficients()
    case.check_left_out("word_to_compare")


def test_rows_that_are_there_twice() -> None:
    table = make_table(5, keep=0.8)
    twice = pd.concat([table, table.sample(15, random_state=1)], ignore_index=True)
    for name in ("separate", "crossed"):
        case = Case.of(bb.load_model(name), bb.check_table(twice, duplicates="keep"))
        case.check_density()
        case.check_coefficients()
        case.check_left_out("word_to_compare")


@pytest.mark.parametrize("name", ["crossed", "hierarchical", "two crossed terms"])
def test_in_small_batches(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(name, "unbalanced")
    level = case.table["word_to_compare"].cat.codes.to_numpy(dtype=np.intp)

    def everything() -> list[np.ndarray]:
        rng = np.random.default_rng(1)
        found = [b.log_density(case.log_scales[:, b.scales]) for b in case.compiled.blocks]
        for block in case.compiled.blocks:
            drawn: list[int] = []
            at = case.log_scales[:, block.scales]
            block.draw(at, rng, lambda rows, values, drawn=drawn: drawn.extend(rows))
            assert sorted(drawn) == list(range(len(at)))
        args = (case.compiled, case.data, case.log_scales, level, level.max() + 1)
        return [*found, log_density_left_out(*args)]

    at_once = everything()
    monkeypatch.setattr(gaussian_block, "_BUDGET", 1)
    monkeypatch.setattr(gaussian_block, "_TOGETHER", 1)
    monkeypatch.setattr(leave_out, "_BUDGET", 1)
    assert case.compiled.blocks[0].batch == 1
    for one, other in zip(at_once, everything(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("name", ["interaction", "several effects of attributes"])
@pytest.mark.parametrize("keep", ["balanced", "unbalanced"])
def test_rows_in_small_blocks(name: str, keep: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long table is summed, and its levels are left out, some rows at a time."""
    case = Case(name, keep)
    level = case.table["word_to_compare"].cat.codes.to_numpy(dtype=np.intp)

    def left_out() -> np.ndarray:
        compiled = compile_model(case.spec, case.data)
        return log_density_left_out(compiled, case.data, case.log_scales, level, level.max() + 1)

    at_once = left_out()
    monkeypatch.setenv("BAYESBIAS_MEMORY", "0.0001")
    np.testing.assert_array_equal(left_out(), at_once)


def test_rows_by_level(monkeypatch: pytest.MonkeyPatch) -> None:
    level = np.array([2, 0, 1, 0, 2, 2, 0, 3])
    monkeypatch.setenv("BAYESBIAS_MEMORY", str(3 * 4 * 8 / 1e6))  # four rows of one term
    found = [part.tolist() for part in leave_out._rows_by_level(level, 1)]
    assert found == [[1, 3, 6, 2], [0, 4, 5, 7]]
    monkeypatch.setenv("BAYESBIAS_MEMORY", "1e-9")  # a level is never split
    found = [part.tolist() for part in leave_out._rows_by_level(level, 1)]
    assert found == [[1, 3, 6], [2], [0, 4, 5], [7]]


def test_sums_of_few_coefficients() -> None:
    """Coefficients with the weight 0 may be given or left out."""
    case = Case("interaction", "balanced")
    rng = np.random.default_rng(2)
    for block in case.compiled.blocks:
        solved = block.solve(case.log_scales[:, block.scales])
        size = len(block.coefficients)
        columns = rng.permutation(size)[: size // 3]
        weights = np.zeros((3, size))
        weights[:, columns] = rng.integers(1, 4, (3, len(columns)))
        few = block.predict(solved, weights[:, columns], columns)
        for one, other in zip(few, block.predict(solved, weights, np.arange(size)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("scale", ["tau", "tau_word"])
@pytest.mark.parametrize("log_value", [-9.0, -7.0, 4.0])
def test_extreme_scales(scale: str, log_value: float) -> None:
    case = Case("crossed", "unbalanced")
    case.log_scales[:, case.compiled.layout.scales[scale]] = log_value
    case.log_scales[0] = -1.5
    case.check_density()
    case.check_left_out("word_to_compare", tolerance=1e-6)


@pytest.mark.parametrize("name", ["connection", "hierarchical", "crossed"])
def test_scales_far_in_the_tails(name: str, rng: np.random.Generator) -> None:
    # Proposals reach this far; rounding there must not stop the work.
    for block in case_of(60, name, "balanced").compiled.blocks:
        scales = rng.uniform(-24, 3, size=(300, len(block.scales)))
        values = block.log_density(scales)
        assert not np.isnan(values).any()
        assert values.max() < block.log_density(np.full((1, len(block.scales)), -1.5))[0] + 5


# A common part beside small own ones: precisions are large numbers whose sum is small, and so lose
# digits like the square of the own scale.
@pytest.mark.parametrize(("log_value", "tolerance"), [(-12.0, 1e-2), (-7.0, 1e-6), (4.0, 1e-8)])
@pytest.mark.parametrize("scale", ["tau", "tau_e", "tau_word", "tau_word_e", "tau_pair_e", "s"])
def test_extreme_scales_of_common_and_own_parts(
    scale: str, log_value: float, tolerance: float
) -> None:
    case = Case("embeddings", "unbalanced")
    case.log_scales[:, case.compiled.layout.scales[scale]] = log_value
    case.log_scales[0] = -1.5
    case.check_density(tolerance if scale.endswith("_e") else 1e-8)
    if log_value > -12:
        case.check_gradient()


@pytest.mark.parametrize("log_value", [-9.0, 4.0])
def test_small_residuals_beside_a_common_part_and_known_errors(log_value: float) -> None:
    case = Case("embeddings", "unbalanced", "few")
    case.log_scales[:, case.compiled.layout.scales["s_e"]] = log_value
    case.log_scales[0] = -1.5
    case.check_density()
    case.check_gradient()


@pytest.mark.slow
def test_a_scale_without_any_row() -> None:
    """One of two embeddings has no human controls: that residual scale is as its prior says."""
    table = make_table(3, embeddings=2)
    gone = (table["embedding"] == "e1") & (table["connection"] == "human")
    rows = bb.check_table(table[~gone])
    data = bb.load_model("embeddings").to_dict()
    data["parameters"]["s_e"]["by"] = ["connection", "embedding"]
    spec = bb.models.ModelSpec.from_dict(data)
    case = Case.of(spec, rows)
    case.check_coefficients()
    case.check_left_out("word_to_compare")
    with pytest.warns(BayesBiasWarning, match="have no row"):
        fit = bb.fit(rows, spec, engine="exact", draws=500, seed=1)
    unused = fit.posterior["s_e"].sel(connection="human", embedding="e1").to_numpy().ravel()
    assert stats.kstest(unused, stats.expon(scale=1 / 3).cdf).pvalue > 0.001


@pytest.mark.parametrize("kind", LAYOUTS)
def test_a_mean_that_is_in_twice(kind: str) -> None:
    """What both terms are pooled towards counts twice, also where it is the largest parameter."""
    spec = own_model(
        ["a", "u"],
        b=(WORD, "Normal(0.5, 0.5)"),
        a=(WORD, "Normal(b, 0.5)"),
        u=(WORD, "Normal(b, 0.3)"),
        s=([], "Exponential(2)"),
    )
    case = Case.of(spec, make_table(3, **LAYOUTS[kind]))
    case.check_density()
    case.check_coefficients()
    case.check_left_out("word_to_compare")


def test_only_for_a_normal_likelihood() -> None:
    spec = bb.load_model("separate").vary(likelihood="student_t")
    with pytest.raises(SpecError, match="its likelihood is 'student_t', not 'normal'.*nuts"):
        compile_model(spec, model_data(spec, make_table()))
