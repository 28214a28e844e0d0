"""What several tests of after stop share."""

import pytest

from surefoot.sequential import ExactBinary, ExactPairedBinary
from surefoot.sequential.exact_rules import ExactRule
from tests.oracles import after_stop as twin
from tests.oracles import exact_designs as tables

RULES = {"binary": ExactBinary, "paired": ExactPairedBinary}
every_rule = pytest.mark.parametrize("make", RULES.values(), ids=RULES)


def moves(make: type[ExactRule]) -> list[tuple[int, int]]:
    return twin.STREAMS if make is ExactBinary else twin.PAIRS


def slow_rule(rule: ExactRule) -> tables.Rule:
    return tables.rule_from(rule.design.limits.tolist(), rule.claim == "either")
