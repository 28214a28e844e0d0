"""Tests of `surefoot.core.sentences`."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import Gain, Interval, Verdict
from surefoot.core import formatting, sentences
from surefoot.core.gain import decide
from surefoot.core.sentences import HOLDS, still_possible
from surefoot.sequential.after_stop import IntervalKind
from tests.support.trees import tree_of


def test_a_margin_is_shown_as_it_was_given() -> None:
    assert sentences.sentence(Verdict.SAME, -0.01, 0.01, margin=0.0125).endswith("are the same, within 1.25 points.")
    assert "by more than 0.04 points" in sentences.sentence(Verdict.BETTER, 0.1, 0.2, margin=0.0004)
    interval = Interval(-0.01, 0.01, 0.0, 0.95, "none", scale="gain")
    assert str(Gain(interval, None, Verdict.SAME, margin=0.0125)).endswith("the same (margin 1.25 points).")
    assert [formatting.margin(value, "gain") for value in (0.05, 0.1, 0.07)] == [
        "5.0 points",
        "10.0 points",
        "7.0 points",
    ]
    assert [formatting.margin(value, "score gain") for value in (0.05, 2.0, 0.0004)] == ["0.050", "2.000", "0.0004"]


def test_names_are_listed_however_many() -> None:
    listed = ["none", "a", "a and b", "a, b and c"]
    assert [sentences.listed("abc"[:many]) for many in range(4)] == listed
    assert sentences.listed("abcde", most=3) == "a, b and 3 others"


def test_better_is_said_only_when_the_verdict_is():
    for templates in (sentences.SHORT, sentences.CELL, sentences.DECIDED, sentences.NAMED, sentences.OF_ALL):
        for verdict in Verdict:
            said = templates[verdict]
            assert ("better" in said and "Cannot tell" not in said) == (verdict is Verdict.BETTER)
            assert ("worse" in said) == (verdict is Verdict.WORSE)
    assert not re.search("better|worse", sentences.NOT_WORSE)


def test_many_policies_are_answered_in_one_breath():
    assert sentences.standing("a", ["b"], []) == ("a is better than each of the others.",)
    assert sentences.standing("a", ["b"], ["c"]) == ("a is better than b; no difference was shown from c.",)
    assert sentences.standing("a", [], ["b", "c"], highest=["a"])[0].startswith(
        "Cannot tell which of 3 policies is best; a has"
    )
    assert sentences.standing("a", [], ["b", "c"], highest=["a", "b"]) == (
        "Cannot tell which of 3 policies is best; a and b are tied for the highest estimate.",
    )
    assert sentences.standing("a", [], ["b", "c"]) == ("Cannot tell which of 3 policies is best.",)
    first, below, beside = sentences.standing("a", list("bcd"), list("efg"))
    assert first == "a is better than 3 of the 6 others; no difference was shown from the other 3."
    assert (below, beside) == ("Shown worse: b, c and d.", "No difference was shown from: e, f and g.")
    first, below = sentences.standing("a", list("bcd"), ["e"])
    assert first == "a is better than 3 of the 4 others; no difference was shown from e."
    circle = sentences.standing("a", ["b"], ["d"], under=["c"])
    assert circle[0].startswith("No policy stands first: a is better than b and worse than c")
    assert circle[1:] == ("No difference was shown from: d.",)


def test_what_a_rule_has_shown_is_said_as_it_was_claimed():
    assert sentences.claimed("either", 0.0) == "one policy is better"
    assert sentences.shown(Verdict.BETTER, "either", 0.1) == "the first policy is better by more than 0.1"
    assert sentences.shown(Verdict.WORSE, "either", 0.1, "new") == "new is worse by more than 0.1"
    assert sentences.shown(Verdict.BETTER, "first not worse", 0.1, "new") == "new is not worse by more than 0.1"
    assert sentences.shown(Verdict.SAME, "same", 0.1) == "the policies differ by less than 0.1"


ELSEWHERE = {
    "analysis/needs.py": "a refusal",
    "cli/compare.py": "the help of --gate",
    "cli/main.py": "the list of commands",
    "cli/rank.py": "what tells it, where policies met unlike items",
    "core/assumptions.py": "a mean gain is the same throughout",
    "core/notes.py": "the chance of a wrong statement, and of no verdict yet",
    "reporting/pages.py": "a heading that asks",
    "reporting/regression_pages.py": "the verdict on a cost, in a cell",
    "reporting/page_sections.py": "what a ranking asks and claims, for all pairs together",
    "stats/rankings.py": "a refusal",
    "reference/repeated_runs.py": "one run cannot tell the spread",
    "study/plan_files.py": "what may be asked of a study",
}
"""Where these words are no verdict."""
VERDICT = re.compile(r"\b(is|are) (not )?(better|worse|the same)\b|annot tell|stands first")


def test_every_verdict_is_said_in_one_file():
    package, found = Path(sentences.__file__).parents[1], set()
    for path in package.rglob("*.py"):
        tree = tree_of(path)
        prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        said = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in prose]
        if any(isinstance(node.value, str) and VERDICT.search(node.value) for node in said):
            found.add(path.relative_to(package).as_posix())
    assert found == {"core/sentences.py", *ELSEWHERE}


ends = st.floats(-1.0, 1.0, allow_nan=False)


@given(ends, ends, st.floats(0.0, 0.5))
def test_no_sentence_says_better_unless_the_interval_does(one, other, margin):
    low, high = min(one, other), max(one, other)
    verdict = decide(low, high, margin)
    sentence = sentences.sentence(verdict, low, high, margin=margin)
    assert ("better" in sentence) == (low > margin)
    assert ("worse" in sentence) == (high < -margin)
    assert not re.search(r"[{}]", sentence)


def test_templates_name_only_what_the_sentence_fills_in():
    known = {"first", "second", "beyond", "margin", "least", "most", "low", "high", "shown"}
    for template in (*sentences.DECIDED.values(), sentences.NOT_WORSE):
        assert {name for _, name, _, _ in string.Formatter().parse(template) if name} <= known


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ((-0.2, 0.25), "The true gain may be anything from -20.0 to +25.0 points; all others are ruled out at 95%"),
        ((0.1234, 1.0), "The true gain may be +12.3 points or more; smaller ones are ruled out at 95%"),
        ((-1.0, 0.1234), "The true gain may be +12.4 points or less; larger ones are ruled out at 95%"),
        ((-1.0, 1.0), "No gain is ruled out yet (an anytime interval"),
    ],
)
def test_what_may_still_be_true_leaves_out_no_end(ends, said):
    assert still_possible(*ends, scale="gain", confidence=0.95, kind="anytime").startswith(said)


def test_an_interval_is_called_what_it_is():
    said = {
        kind: still_possible(-0.5, 2.5, width=5.0, scale="score gain", confidence=0.9, kind=kind)
        for kind in get_args(IntervalKind)
    }
    assert len(set(said.values())) == len(HOLDS) == len(said)
    assert all("from -0.500 to +2.500; all others are ruled out at 90%" in text for text in said.values())
    assert [kind for kind, text in said.items() if "not yet certified" in text] == ["final, not certified"]
