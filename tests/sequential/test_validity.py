"""Tests of `surefoot.sequential.validity`."""

import pytest

from surefoot._arguments import shown
from surefoot.errors import ArgumentError
from surefoot.sequential import (
    ExactBinary,
    ExactPairedBinary,
    FiniteHorizonMixture,
    FixedSize,
    NScore,
    Savi,
    Wsr,
    admit,
)
from tests.support.exact_rules import RULES


@pytest.mark.parametrize("environments", ["one", "shared", "independent", "stratified"])
@pytest.mark.parametrize("randomised", [True, False])
@pytest.mark.parametrize("rule", [FiniteHorizonMixture(9), NScore(9), Wsr(9)])
def test_betting_rules_hold_everywhere(rule, environments, randomised):
    assert admit(rule, environments, randomised=randomised) is rule


def test_a_rule_that_holds_is_given_back():
    for rule, environments in ((FixedSize(9, binary=True), "shared"), (Savi(9), "independent"), (Savi(9), "one")):
        assert admit(rule, environments, randomised=True) is rule


@pytest.mark.parametrize(
    ("rule", "environments", "randomised", "words"),
    [
        (Savi(9), "shared", True, "must hold for shared environments; got theta-SAVI. Both rollouts of a pair share"),
        (Savi(9), "stratified", True, "must hold for stratified environments"),
        (Savi(9), "independent", False, "must hold for an order that was not randomised; got theta-SAVI"),
        (FixedSize(9, binary=True, paired=False), "shared", True, "Use ExactPairedBinary for success"),
        (FixedSize(9), "one", False, "Use a betting rule, such as FiniteHorizonMixture"),
        (Wsr(9), "several", True, "`environments` must be one of one, shared, independent, stratified"),
    ],
)
def test_a_rule_that_does_not_hold_is_refused(rule, environments, randomised, words):
    with pytest.raises(ValueError, match=words):
        admit(rule, environments, randomised=randomised)


def test_whoever_is_at_the_command_line_is_told_rules_by_their_words():
    for environments, drawn, said in (
        ("shared", True, "Use exact for success, mixture for scores."),
        ("independent", False, "a betting rule, such as mixture, or draw"),
    ):
        with pytest.raises(ArgumentError) as caught:
            admit(Savi(9), environments, randomised=drawn)
        assert said in shown(caught.value.template, {"rule": "--rule"})


def test_which_collections_are_admitted():
    assert admit(ExactPairedBinary(20), "shared", randomised=True)
    assert admit(ExactBinary(20), "independent", randomised=True)
    with pytest.raises(ValueError, match="Use ExactPairedBinary"):
        admit(ExactBinary(20), "shared", randomised=True)
    for make in RULES.values():
        with pytest.raises(ValueError, match="order that was not randomised"):
            admit(make(20), "one", randomised=False)
