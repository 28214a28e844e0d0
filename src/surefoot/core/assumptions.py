"""What must hold for a result, and what does it promise then? Values, each with its sentence.

Every condition and every promise that a result can state stands in this file, so that one read back from JSON is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

from surefoot.core.notes import SENTENCES, WORDED, Note
from surefoot.core.sentences import fill
from surefoot.core.words import USUAL, worded

PROMISES: set[str] = set()
"""The kinds that say what a method promises; the others say what it needs."""
FIXES_SIZE: set[str] = set()
"""The kinds that say that the number of rollouts was fixed beforehand."""
_MEASURED: set[str] = set()
"""The kinds that say how near a method that is not proved comes to its promise: said with every answer."""
_BRIEF: dict[str, str] = {}


class Assumption(Note):
    """Something a result rests on, or promises if all it rests on holds.

    Code asks for its kind and values, and whether it is a promise; only people read the sentence.

    Attributes:
        kind: What it is about, a few words.
        values: The numbers and names in it.
    """

    __slots__ = ()

    @property
    def promise(self) -> bool:
        """Whether it says what is promised, and not what must hold."""
        return self.kind in PROMISES

    @property
    def brief(self) -> str:
        """What it says first, without the rest, to be put into a longer sentence."""
        said = fill(_BRIEF[self.kind], words=self.words, **self.values)
        return said[:1].lower() + said[1:]


Environments = Literal["one", "shared", "independent", "stratified"]
"""How environments were met: one for all rollouts; the same ones by every policy; a new one by each rollout; a new one
by each rollout within every task (for a rule: both rollouts of a pair from one stratum)."""
Assumed = Assumption | str
"""What the assumptions of a result hold; a bare sentence only where a result of surefoot 0.1 was read back."""


def conditions(stated: Sequence[Assumed]) -> list[str]:
    """What must hold, of all that results state: without what is promised if it does."""
    return [str(one) for one in stated if isinstance(one, str) or not one.promise]


def promises(stated: Sequence[Assumed]) -> list[str]:
    """What is promised, of all that results state."""
    return [str(one) for one in stated if not isinstance(one, str) and one.promise]


def holds_if(stated: Sequence[Assumed]) -> str:
    """What a result of a fixed size rests on, in one sentence; in another, how near an unproved method comes."""
    needed = [one for one in stated if not isinstance(one, str) and not one.promise]
    if not any(one.kind in FIXES_SIZE for one in needed):
        needed.append(worded(SIZE_FIXED, next((one.words for one in needed), USUAL)))
    near = [f" {one}" for one in stated if not isinstance(one, str) and one.kind in _MEASURED]
    return f"This holds if {'; '.join(one.brief for one in needed)}.{''.join(near)}"


def _needs(kind: str, brief: str, more: str = "", *, fixes_size: bool = False) -> str:
    _BRIEF[kind], SENTENCES[kind] = brief, partial(fill, f"{brief}{'; ' + more if more else ''}.")
    FIXES_SIZE.update({kind} if fixes_size else ())
    WORDED.add(kind)
    return kind


def _need(kind: str, brief: str, more: str = "", *, fixes_size: bool = False) -> Assumption:
    return Assumption(_needs(kind, brief, more, fixes_size=fixes_size))


def _promise(kind: str, says: str) -> Assumption:
    PROMISES.add(kind)
    return _need(kind, says)


def _measured(kind: str, says: str) -> Assumption:
    _MEASURED.add(kind)
    return _promise(kind, says)


# What belongs together and what stands alone

ONE_RATE = _need("one rate", "The {words.rollouts} are independent and share one success rate")
RATE_BY_POLICY = _need(
    "rate by policy", "All {words.rollouts} are independent, and each {words.policy} has one success rate"
)
RATE_BY_TASK = _need(
    "rate by task",
    "The {words.rollouts} are independent",
    "on each {words.task} each {words.policy} has one success rate",
)
ONE_MEAN = _need("one mean", "The {words.rollouts} are independent and share one mean score")
MEAN_BY_POLICY = _need(
    "mean by policy", "All {words.rollouts} are independent, and those of each {words.policy} share one mean score"
)
MEAN_BY_TASK = _need(
    "mean by task",
    "All {words.rollouts} are independent, and those of one {words.policy} on one {words.task} share one mean score",
)
MEANS_DIFFER = _need(
    "means differ by task",
    "The {words.rollouts} are independent",
    "those of different {words.tasks} may have different means, and {words.a_task} weighs by its {words.rollouts}. "
    "Guaranteed for {words.tasks} drawn at random; for fixed {words.tasks} the error allowed is that of the "
    "worst case known",
)
ONE_DISTRIBUTION = _need(
    "one distribution", "The {words.rollouts} are independent and their scores share one distribution"
)
SCORES_ALIKE = _need("scores alike", "The scores are independent with one distribution")
TWO_DISTRIBUTIONS = _need(
    "two distributions",
    "The {words.rollouts} of the two {words.policies} are independent, and the scores of each {words.policy} share one "
    "distribution",
)
STREAMS = _need("two streams", "All {words.rollouts} are independent: the two {words.policies} were run separately")
PAIRS_APART = _need(
    "pairs apart",
    "The pairs are independent of one another",
    "the two {words.rollouts} of a pair may depend on each other",
)
SCORE_PAIRS_APART = _need(
    "score pairs apart",
    "The pairs are independent of one another",
    "the two scores of a pair may depend on each other",
)
PAIRS_ONE_GAIN = _need(
    "pairs of one gain",
    "The pairs are independent and share one mean gain",
    "the two scores of a pair may depend on each other",
)
PAIRS_GAIN_BY_TASK = _need(
    "pairs by task", "The pairs are independent, and those of one {words.task} share one mean gain"
)
PAIRS_GAINS_DIFFER = _need(
    "pairs differ by task",
    "The pairs are independent",
    "those of different {words.tasks} may have different mean gains, and {words.a_task} weighs by its pairs. "
    "Guaranteed for {words.tasks} drawn at random; for fixed {words.tasks} the error allowed is that of the "
    "worst case known",
)
PAIRS_IN_TURN = _need(
    "pairs in turn", "Pairs are independent of one another, and their mean gain is the same throughout"
)
PAIRS_EXCHANGEABLE = _need(
    "pairs exchangeable",
    "Under no gain the two scores of a pair are exchangeable",
    "the interval assumes a constant shift",
)
NO_TREND = _need(
    "no trend",
    "Under the null, each pair's expected gain given earlier pairs is at most 0: {words.environments} do not come "
    "in an order that follows the effect. The {words.rollouts} within a pair may depend on each other",
)
CLUSTERS_APART = _need(
    "clusters apart", "The clusters are independent of one another", "{words.rollouts} inside a cluster need not be"
)
CLUSTERS_DRAWN = _need(
    "clusters drawn",
    "The clusters are independent and drawn alike from those meant",
    "inside a cluster anything goes, and how a cluster fails depends on its size only mildly",
)
DOCUMENTS_APART = _need("documents apart", "The documents are independent of one another")
TASKS_DRAWN = _need("tasks drawn", "The {words.tasks} are independent draws from those that matter")
RUNS_OF_DRAWN_TASKS = _need(
    "runs of drawn tasks",
    "The {words.tasks} are independent draws from those that matter, and all runs did all {words.tasks}",
)
RUNS_OF_THESE_TASKS = _need(
    "runs of these tasks", "These {words.tasks} are all that matters, and all runs did all {words.tasks}"
)
NOTHING_SHARED = _need(
    "runs share nothing",
    "Nothing is shared by a whole run but the {words.policy}: if runs are trained or set up anew, say shared_runs=True",
)
RUNS_DIFFER = _need(
    "runs differ",
    "Whatever a whole run shares (a training seed, a day, a set-up) differs independently between runs",
)
SAME_MEAN = _need(
    "same mean",
    "The mean score does not change during the run",
    "independent {words.rollouts} of one {words.policy} fulfil that",
)

# What was fixed beforehand

SIZE_FIXED = _need(
    "size fixed", "The number of {words.rollouts} was fixed beforehand, not by looking at results", fixes_size=True
)
RANGE_FIXED = _need("range fixed", "The range of the scores was fixed before the first was seen")
RANGE_BEFORE_PAIRS = _need("range before pairs", "The score range was fixed before the first pair")
HORIZON_FIXED = _need("horizon fixed", "The horizon was fixed before the first pair")
STOPPED_BY_RULE = _need(
    "stopped by rule", "The rule was declared before the first pair, and the run stopped where it says"
)
TEST_STOPPED = _need(
    "test stopped", "The test was declared before the first {words.rollout}, and the run stopped where it says"
)
IN_ORDER = _need("in order", "The scores are in the order they were recorded")
IN_ORDER_OF_FIXED_SIZE = _need(
    "in order, size fixed",
    "The scores are in the order they were recorded, and their number was fixed beforehand",
    fixes_size=True,
)
ITEMS_DRAWN = _need(
    "items drawn", "The items run were drawn at random from the list, each as likely as any other and none twice"
)
LIST_DECLARED = _need(
    "list declared", "The list was fixed before the first outcome, and an item that crashed counts as a failure"
)
LISTED_PAIRS = _need(
    "listed pairs",
    "The list was fixed before the first pair, its order was drawn at random, and an item that crashed counts with the "
    "lowest score. The {words.rollouts} within a pair may depend on each other",
)
LISTED_ITEMS = _need(
    "listed items",
    "The list was fixed before the first outcome, its order was drawn at random, and an item that crashed counts with "
    "the lowest score",
)
PREDICTED_BEFORE = _need(
    "predicted before",
    "The predictions were fixed for all items before the first outcome. They may be wrong",
)
RANGE_BEFORE_ITEMS = _need("range before items", "The score range was fixed before the first outcome")
ITEMS_FIXED = _need("items fixed", "How many items to run was fixed beforehand", fixes_size=True)
DRAWN_ONCE = _need(
    "drawn once",
    "The draw is made once and kept: if it is drawn again until the result is liked, the bound holds less often",
)
LIST_IN_RANDOM_ORDER = _needs(
    "list in random order",
    "The list of {environments:,} {words.environments} was fixed, and they were run in an order drawn at random",
)
NO_LOOK = _needs("no look", "The number of {what} is fixed beforehand: no looking in between", fixes_size=True)
SPREAD_AS_ASSUMED = _need(
    "spread as assumed",
    "The scores have the assumed mean and spread",
    "a plan, not a guarantee: the interval itself is guaranteed",
)
NUMBER_KEPT = _need("number kept", "The {words.rollouts} are independent and their number is kept", fixes_size=True)

# What people and judges did

HUMANS_TRUE = _need("humans true", "The human labels are the truth")
LABELS_DRAWN = _need(
    "labels drawn blindly",
    "The labelled items are a random sample of all items, drawn without looking at how they went",
)
JUDGED_DRAWN = _need("judged drawn", "The labelled items are a random sample of all judged items")
SCORED_DRAWN = _need("scored drawn", "The items that humans scored are a random sample of all items")
JUDGE_CALIBRATED = _need(
    "judge calibrated", "The judge errs on the judged items as often as on the calibration items of the same truth"
)
JUDGES_APART = _need(
    "judges apart",
    "The items are independent, and each judge labelled every item without seeing the other's label",
)
PREFERENCES_APART = _need(
    "preferences apart",
    "Each preference (or session) is independent of the others, and the strength of {words.a_policy} does not depend "
    "on its rival",
)
ENVIRONMENTS_MET: dict[Environments, Assumption] = {
    "one": _need("one environment", "Every {words.rollout} was in the same {words.environment}"),
    "shared": _need(
        "shared environments", "Both {words.policies} of a pair met the same {words.task} and condition, set up alike"
    ),
    "independent": _need("environments apart", "Each {words.rollout} drew its own {words.task} and condition"),
    "stratified": _need(
        "environments by kind",
        "Both {words.policies} of a pair met the same kind of {words.environment}, each drawn afresh",
    ),
}
RANDOM_ORDER = _need("random order", "The {words.policies} were run in the random order that the study drew")
BLINDED = _need("blinded", "Whoever scored {words.a_rollout} did not know its {words.policy}")
NOTHING_HIDDEN = _need("nothing hidden", "No pair was voided, and no result undone, because of its outcome")

# Which gain it is, and what is promised

WEIGHED = {
    "given": _promise("weighed as given", "The gain is the average over {words.tasks}, weighed as given"),
    "tasks": _promise("weighed alike", "The gain is the average over {words.tasks}, each weighing the same"),
    "rollouts": _promise(
        "weighed by rollouts",
        "The gain is the average over {words.tasks}, each weighing by its share of the {words.rollouts}",
    ),
}
ANY_RATE = _promise("rate guaranteed", "Coverage is at least the confidence, whatever the rate")
RATE_EXACT = _promise("rate exact", "Coverage is exactly the confidence, whatever the rate")
RATE_NEAR = _promise("rate near", "Coverage is close to the confidence, not guaranteed: see `coverage`")
NOT_FOR_USE = _promise(
    "not for use",
    "Wald is here to be compared against: it covers far too little for few {words.rollouts} or extreme rates",
)
ANY_SCORES = _promise(
    "scores guaranteed", "Coverage is at least the confidence, whatever the distribution of the scores"
)
NO_HEAVY_TAIL = _promise(
    "no heavy tail", "Approximate: coverage is close to the confidence only for many scores without a heavy tail"
)
ANY_RATES = _promise("gain guaranteed", "The error is at most 1 - confidence, whatever the rates")
GAIN_NEARLY = _promise("gain nearly", "The error is close to 1 - confidence, not guaranteed")
GAIN_MEASURED = _promise(
    "gain measured", "The error is close to 1 - confidence: measured on small layouts by enumeration, not proved"
)
SCORES_MEASURED = _measured(
    "scores measured",
    "Level measured, not proved: at most 4.9 false verdicts in 100 where 5 are allowed, over 77 layouts of "
    "{words.tasks} and 14 kinds of scores",
)
TEST_GUARANTEED = _promise("test guaranteed", "The error is at most the level, whatever the common rate")
MANY_ROLLOUTS = _promise(
    "many rollouts", "Coverage is close to the confidence for many {words.rollouts}, not guaranteed"
)
CLUSTERS_MEASURED = _measured(
    "clusters measured",
    "Approximate, measured: at most 5.1 false verdicts in 100 where 5 are allowed, also where clusters fail whole; up "
    "to 7 with ten clusters or fewer",
)
GAIN_CLOSE = _promise(
    "exact gain better", "Coverage is close to the confidence, not guaranteed; `exact_gain` guarantees it"
)
PAIRED_GAIN_CLOSE = _promise(
    "exact paired gain better", "Coverage is close to the confidence, not guaranteed; `exact_paired_gain` guarantees it"
)
EACH_END = _promise("each end a bound", "Each end is a bound of its own, with half of the error")
SEARCHED = _promise(
    "maximum searched", "With more than two groups the largest p-value over their means is a numerical maximum"
)
BAND_EXACT = _promise(
    "band exact", "The confidence is exact when no two scores can be equal, and at least as stated otherwise"
)
BAND_AT_LEAST = _promise("band at least", "The confidence is at least as stated")
BANDS_TOGETHER = _promise(
    "bands together", "Each {words.policy}'s band holds with half the error: all gains and ranges here hold together"
)
ANYTIME = _promise("anytime", "All the intervals hold together with the confidence: look, and stop, whenever you like")
ITEMS_SOFTENED = _promise(
    "items softened",
    "Approximate; as if z² more items had been labelled, spread evenly over the table, so its width is never 0",
)
SCORES_SOFTENED = _promise(
    "scores softened",
    "Approximate; as if z² more items had been scored, half at each end of the range, so its width is never 0",
)
JUDGE_MEASURED = _promise(
    "judge measured",
    "Approximate; measured coverage at least 93.5% at a confidence of 95%, from 30 labels on, whatever the bias "
    "of the judge",
)
ROUGH = _promise("documents rough", "Approximate; documents of unequal size, the judge left out")
SIMULATED = _promise(
    "judge simulated",
    "Coverage was at least the confidence in every simulation; it carries the uncertainty of the calibration",
)
JUDGE_NEARLY = _promise(
    "judge nearly",
    "Coverage is close to the confidence, not guaranteed: it fell to .92 at 95% where true failures were rare",
)
EACH_STRENGTH = _promise("each strength", "Each interval holds approximately by itself, not all of them together")
