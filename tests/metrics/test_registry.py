"""Metrics by name, class or instance, and their options."""

from __future__ import annotations

from typing import Any

import pytest

import bayesbias as bb
from bayesbias.errors import SpecError
from bayesbias.metrics import as_metrics


def test_names_classes_and_instances_may_be_mixed() -> None:
    own = bb.metrics.SemAxis()
    assert as_metrics(["weat", bb.metrics.RND, own]) == [
        bb.metrics.WEAT(),
        bb.metrics.RND(),
        own,
    ]
    assert as_metrics("weat_es") == [bb.metrics.WEATEffectSize()]
    assert as_metrics(bb.metrics.MAC) == [bb.metrics.MAC()]


def test_each_metric_takes_the_options_that_it_has() -> None:
    plain = bb.metrics.WEAT(return_effect_size=True)
    weat, mac = as_metrics([plain, "mac"], {"ddof": 1})
    assert weat == bb.metrics.WEAT(return_effect_size=True, ddof=1)
    assert mac == bb.metrics.MAC()
    assert as_metrics([plain], {}) == [plain]


@pytest.mark.parametrize(
    ("metrics", "options", "message"),
    [
        ([], {}, "no metric is given; name at least one"),
        (5, {}, "'metric' is an int; expected a name such as 'weat'"),
        ([bb.Query], {}, "'metric' is the class Query; expected a name"),
        (["weat", 5], {}, "'metric' is an int; expected a name"),
        (["weat", bb.metrics.WEAT(ddof=1)], {}, "two metrics are called 'weat'"),
        (["weat", "mac"], {"ddoff": 1}, "'ddoff' is not an option of 'weat', 'mac'.*Did you mean"),
        ("ect", {"ddof": 1}, "'ddof' is not an option of 'ect'; there is none"),
    ],
)
def test_what_is_not_a_metric_is_refused(
    metrics: Any, options: dict[str, object], message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        as_metrics(metrics, options)
