"""Many policies, sequentially."""

import itertools
import json

import numpy as np
import pytest
from scipy import special

from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.sequential import RankingRule, ranking, run_ranking

NAMES = ("a", "b", "c", "d")


def rounds(rates, size, seed):
    rng = np.random.default_rng(seed)
    return [
        dict(zip(NAMES, (rng.random(len(rates)) < rates).astype(float).tolist(), strict=False)) for _ in range(size)
    ]


def test_clear_policies_are_put_in_order_and_dropped_when_settled():
    rule = RankingRule(NAMES, 150, binary=True)
    states = run_ranking(rule, rounds((0.95, 0.6, 0.25, 0.02), 150, 1))
    last = states[-1]
    assert last.ranks == ((1, 1), (2, 2), (3, 3), (4, 4))
    assert last.letters.letters == ("a", "b", "c", "d")
    assert last.finished
    assert last.running == ()
    assert last.rollouts_used < 4 * last.rounds  # somebody was dropped before the end
    assert last.rollouts_used == sum(len(state.running) for state in [rule.start(), *states[:-1]])
    assert last.verdict("a", "d") is Verdict.BETTER
    assert last.verdict("d", "a") is Verdict.WORSE
    for state, later in itertools.pairwise(states):
        assert set(later.running) <= set(state.running)
        for before, after in zip(state.verdicts, later.verdicts, strict=True):
            assert before in (Verdict.UNDECIDED, after)  # final


@pytest.mark.parametrize("verdict", [Verdict.BETTER, Verdict.WORSE])
def test_what_follows_from_two_verdicts_is_said_at_once(verdict):
    """Better than one that is better than a third; and the same the other way round."""
    pairs = (("a", "b"), ("a", "c"), ("b", "c"))
    opposite = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}[verdict]
    open_ = Verdict.UNDECIDED
    assert ranking._closed(pairs, ("a", "b", "c"), [verdict, open_, verdict]) == [verdict] * 3
    assert ranking._closed(pairs, ("a", "b", "c"), [verdict, opposite, open_]) == [verdict, opposite, opposite]
    assert ranking._closed(pairs, ("a", "b", "c"), [verdict, open_, opposite]) == [verdict, open_, opposite]
    assert ranking._closed(pairs, ("a", "b", "c"), [open_, open_, verdict]) == [open_, open_, verdict]


def test_adjusted_p_values_never_rise():
    states = run_ranking(RankingRule(NAMES, 60), rounds((0.9, 0.6, 0.5, 0.2), 60, 2))
    for one, other in itertools.permutations(NAMES, 2):
        found = [state.p_value(one, other) for state in states]
        assert all(a >= b for a, b in itertools.pairwise(found))


def test_holm_never_finds_less_than_bonferroni_and_sometimes_more():
    more = 0
    for seed in range(6):
        table = rounds((0.95, 0.75, 0.4, 0.1), 120, seed)
        holm = run_ranking(RankingRule(NAMES, 120, binary=True), table)[-1]
        plain = run_ranking(RankingRule(NAMES, 120, binary=True, adjusting="bonferroni"), table)[-1]
        assert holm.rounds <= plain.rounds
        more += holm.rollouts_used < plain.rollouts_used
    assert more


@pytest.mark.parametrize("adjusting", ["holm", "bonferroni"])
def test_intervals_agree_with_verdicts(adjusting):
    rule = RankingRule(("a", "b", "c"), 80, adjusting=adjusting)
    said = set()
    for state in run_ranking(rule, rounds((0.9, 0.5, 0.2), 80, 3)):
        for one, other in itertools.permutations(rule.names, 2):
            seen, verdict = state.interval(one, other), state.verdict(one, other)
            said.add(verdict)
            if adjusting == "holm":
                assert (seen.low > 0, seen.high < 0) == (verdict is Verdict.BETTER, verdict is Verdict.WORSE)
            elif seen.low > 0 or seen.high < 0:
                assert verdict is (Verdict.BETTER if seen.low > 0 else Verdict.WORSE)
            assert seen.confidence == 0.95
    assert said == {Verdict.BETTER, Verdict.WORSE, Verdict.UNDECIDED}


@pytest.mark.slow
@pytest.mark.parametrize("rates", [(0.5, 0.5, 0.5), (0.8, 0.4, 0.4), (0.9, 0.9, 0.5)])
def test_no_false_verdict_among_all_pairs(rates):
    """Family-wise error at any moment: the last state holds every verdict ever given."""
    runs, wrong = 250, 0
    rule = RankingRule(("a", "b", "c"), 60, confidence=0.9, binary=True)
    for seed in range(runs):
        last = run_ranking(rule, rounds(rates, 60, 1000 + seed))[-1]
        wrong += any(
            (verdict in (Verdict.BETTER, Verdict.WORSE) and (rates[i] > rates[j]) != (verdict is Verdict.BETTER))
            or (rates[i] == rates[j] and verdict is not Verdict.UNDECIDED)
            for (i, j), verdict in zip(itertools.combinations(range(3), 2), last.verdicts, strict=True)
        )
    assert wrong == 0 or special.betainc(wrong, runs - wrong + 1, 0.1) > 1e-4


def test_a_ranking_comes_back_from_json():
    rule = RankingRule(("a", "b", "c"), 30)
    state = run_ranking(rule, rounds((0.9, 0.5, 0.2), 12, 4))[-1]
    assert Record.from_dict(json.loads(json.dumps(state.to_dict()))) == state


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: RankingRule(("a",)), "`names` must be two or more different policies"),
        (lambda: RankingRule(("a", "a")), "`names` must be two or more different policies"),
        (lambda: RankingRule("abc"), "`names` must be two or more different policies; got 'abc'"),
        (lambda: RankingRule(("a", "b"), 0), "`horizon` must be at least 1"),
        (lambda: RankingRule(("a", "b"), confidence=95), "Write 0.95 for 95%"),
        (lambda: RankingRule(("a", "b"), adjusting="none"), "`adjusting` must be one of holm, bonferroni"),
    ],
)
def test_bad_declarations_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_bad_rounds_are_refused():
    rule = RankingRule(("a", "b"), 2)
    state = rule.start()
    with pytest.raises(ValueError, match=r"`scores` must name the running policies \['a', 'b'\]; got \['a'\]"):
        rule.step(state, {"a": 1.0})
    with pytest.raises(ValueError, match="`scores` must name the running policies"):
        run_ranking(rule, [{"a": 1.0, "c": 0.0}])
    with pytest.raises(ValueError, match="must be in the range"):
        rule.step(state, {"a": 1.0, "b": 1.5})
    with pytest.raises(ValueError, match="`state` must come from this rule; got a state of another"):
        RankingRule(("a", "b"), 3).step(state, {"a": 1.0, "b": 1.0})
    last = run_ranking(rule, [{"a": 1.0, "b": 1.0}] * 2)[-1]
    with pytest.raises(ValueError, match="A ranking is final"):
        rule.step(last, {"a": 1.0, "b": 1.0})
    with pytest.raises(ValueError, match="`second` must be another of a, b"):
        last.verdict("a", "x")
    assert "2 places are open after 2 rounds and 4 rollouts (at most 4)." in str(last)
    assert "after 1 round and 2 rollouts" in str(run_ranking(rule, [{"a": 1.0, "b": 1.0}])[-1])


@pytest.mark.parametrize("adjusting", ["holm", "bonferroni"])
def test_the_interval_of_a_verdict_that_follows_from_two_others_agrees_with_it_and_says_what_was_seen(adjusting):
    rule = RankingRule(("A", "B", "C"), 400, adjusting=adjusting)
    state = rule.start()
    early, late = {"A": 1.0, "B": 0.0, "C": 0.5}, {"A": 0.2, "B": 1.0, "C": 0.4}
    while not state.finished:
        scores = late if state.verdict("A", "B") is Verdict.BETTER else early
        state = rule.step(state, {name: scores[name] for name in state.running})
    assert state.p_value("A", "C") > 0.05  # by itself the pair decides nothing
    assert state.verdict("A", "C") is Verdict.BETTER
    seen, turned = state.interval("A", "C"), state.interval("C", "A")
    assert 0.0 < seen.low <= seen.estimate <= seen.high  # the pair alone leans the other way, and a note says so
    assert "the gain observed between these two, -0." in str(seen.notes[-1])
    assert seen.notes[-1].kind == turned.notes[-1].kind == "follows from others"
    assert (turned.low, turned.high) == (-seen.high, -seen.low)
    assert state.interval("A", "B").low > 0.0
