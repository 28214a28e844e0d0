"""Tests of `surefoot.study.guarantees`."""

from __future__ import annotations

import html

import pytest

import surefoot as sf
from tests.support.studies import begun, driven, outcomes


@pytest.mark.parametrize(
    ("changes", "rule", "promise", "needs"),
    [
        ({"rule": "exact", "horizon": 40}, "exact binary design rule, read after every pair, 40 pairs at most",
         "over all looks together, is at most 5%: 2.5% in each direction", "Pairs are independent of one another"),
        ({"rule": "mixture", "confidence": 0.9875}, "finite-horizon mixture rule",  # a promise is rounded up
         "is at most 1.25%: 0.63% in each direction", "random order that the study drew"),
        ({"rule": "mixture", "claim": "first better", "environments": "shared", "conditions": ("a", "b")},
         "finite-horizon mixture rule, read after every pair",
         "is not better than old, the chance that it is called so",
         "Both policies of a pair met the same task and condition"),
        ({"rule": "fixed", "horizon": 30}, "fixed size rule, read once, after 30 pairs",
         "a wrong verdict is at most 5%",
         "Whoever scored a rollout did not know its policy"),
        ({"policies": ("new", "old", "older")}, "Holm's ranking, read after every round", "any wrong statement",
         "random order that the study drew"),
    ],
)  # fmt: skip
def test_the_deciding_rule_its_promise_and_what_it_needs_are_on_the_page(changes, rule, promise, needs):
    study = driven(begun(**changes), outcomes(5, new=0.95, old=0.3, older=0.1))
    study.unblind(reason="decided")
    page = html.unescape(sf.report(study).html())
    methods, must = page[page.index("<h3>Methods") :].split("<h3>What must hold")
    assert rule in methods
    assert promise in methods
    assert needs in must
    assert methods.index(rule) < methods.index("interval for each policy")
