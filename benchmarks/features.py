"""What can each tool do, seen by running it? Every cell is a probe: a call with a known right answer.

A peer is called only by its public names. "none" says that we know of no call for the job, so nothing was run; "no"
says that the call is there and its answer was wrong, with what it said. A probe that cannot be run at
all is an error here.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import sqlite3
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import dated, importable, write

TOOLS = {
    "surefoot": "surefoot",
    "fieldtrial": "fieldtrial",
    "orbit": "orbit-eval",
    "binomial_cis": "binomial_cis",
    "STEP": "sequentialized_barnard_tests",
    "nscore": "nscore",
    "ville": "ville",
    "evalica": "evalica",
    "banditeval": "banditeval",
    "scipy": "scipy",
    "statsmodels": "statsmodels",
}
APART = {"banditeval"}
"""Peers that `make bench` may fail to install: it needs torch."""
BIN = Path(sys.executable).parent
PROBES: dict[str, dict[str, Callable[[], tuple[bool, str]]]] = {}


def probe(feature: str, tool: str) -> Callable[[Callable[[], tuple[bool, str]]], Callable[[], tuple[bool, str]]]:
    """Put a check into the table: it returns whether the answer was right, and a few words on it."""

    def keep(check: Callable[[], tuple[bool, str]]) -> Callable[[], tuple[bool, str]]:
        PROBES.setdefault(feature, {})[tool] = check
        return check

    return keep


def command(*words: str, folder: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a tool's command from the benchmark environment."""
    return subprocess.run(
        [str(BIN / words[0]), *words[1:]],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        stdin=subprocess.DEVNULL,
    )


def refused(call: Callable[[], Any]) -> tuple[bool, str]:
    """Whether a call raises one of Python's errors for bad arguments, and what it said otherwise."""
    try:
        said = call()
    except (ValueError, TypeError):
        return True, ""
    return False, f"answered {said}"[:60]


# --- one rate ------------------------------------------------------------------------------------------------

RATE = "95% Clopper-Pearson interval of 38 of 50"
RARE = "the same at a confidence of 99.9998%"
TOO_MANY = "12 successes of 10 are refused"
SAME = "an optimal lower bound: the same data give the same bound"
SHORTAGE = "expected shortage of 50 rollouts within 1e-6 of the truth"


def near(low: float, high: float, error: float) -> tuple[bool, str]:
    from scipy.special import betaincinv

    right = float(betaincinv(38, 13, error / 2)), float(betaincinv(39, 12, 1 - error / 2))
    off = max(abs(low - right[0]), abs(high - right[1]))
    return off < 1e-9, "" if off < 1e-9 else f"off by {off:.1g}"


def fieldtrial_rate(error: float) -> tuple[bool, str]:
    said = json.loads(
        command("fieldtrial", "ci", "38/50", "--method", "clopper-pearson", "--level", str(1 - error), "--json").stdout
    )
    return near(said["interval"]["low"], said["interval"]["high"], error)


def binomial_cis_rate(error: float) -> tuple[bool, str]:
    from binomial_cis import binom_ci

    low = binom_ci(38, 50, error / 2, "lb", verbose=False, randomized=False)
    high = binom_ci(38, 50, error / 2, "ub", verbose=False, randomized=False)
    return near(float(low), float(high), error)


def surefoot_rate(error: float) -> tuple[bool, str]:
    from surefoot import Tally
    from surefoot.stats import clopper_pearson

    found = clopper_pearson(Tally(38, 50), confidence=1 - error)
    return near(found.low, found.high, error)


def scipy_rate(error: float) -> tuple[bool, str]:
    from scipy.stats import binomtest

    found = binomtest(38, 50).proportion_ci(1 - error, method="exact")
    return near(found.low, found.high, error)


def statsmodels_rate(error: float) -> tuple[bool, str]:
    from statsmodels.stats.proportion import proportion_confint

    return near(*proportion_confint(38, 50, alpha=error, method="beta"), error)


for _tool, _check in {
    "surefoot": surefoot_rate,
    "fieldtrial": fieldtrial_rate,
    "binomial_cis": binomial_cis_rate,
    "scipy": scipy_rate,
    "statsmodels": statsmodels_rate,
}.items():
    for _feature, _error in ((RATE, 0.05), (RARE, 2e-6)):
        PROBES.setdefault(_feature, {})[_tool] = lambda check=_check, error=_error: check(error)


@probe(TOO_MANY, "surefoot")
def _() -> tuple[bool, str]:
    from surefoot import Tally

    return refused(lambda: Tally(12, 10))


@probe(TOO_MANY, "fieldtrial")
def _() -> tuple[bool, str]:
    return command("fieldtrial", "ci", "12/10").returncode != 0, ""


@probe(TOO_MANY, "binomial_cis")
def _() -> tuple[bool, str]:
    from binomial_cis import binom_ci

    return refused(lambda: float(binom_ci(12, 10, 0.05, "lb", verbose=False)))


@probe(TOO_MANY, "scipy")
def _() -> tuple[bool, str]:
    from scipy.stats import binomtest

    return refused(lambda: binomtest(12, 10).statistic)


@probe(TOO_MANY, "statsmodels")
def _() -> tuple[bool, str]:
    from statsmodels.stats.proportion import proportion_confint

    return refused(lambda: tuple(round(float(end), 3) for end in proportion_confint(12, 10, method="wilson")))


@probe(SAME, "surefoot")
def _() -> tuple[bool, str]:
    from surefoot import Tally
    from surefoot.stats import optimal_lower

    found = {optimal_lower(Tally(38, 50), rng=np.random.default_rng(7)).value for _ in range(5)}
    return len(found) == 1, ""


@probe(SAME, "binomial_cis")
def _() -> tuple[bool, str]:
    from binomial_cis import binom_ci

    found = {float(binom_ci(38, 50, 0.05, "lb", verbose=False)) for _ in range(5)}
    return len(found) == 1, f"{len(found)} bounds in 5 calls"


@probe(SHORTAGE, "surefoot")
def _() -> tuple[bool, str]:
    from surefoot.stats import max_expected_shortage

    found = max_expected_shortage(50)
    return found.low <= 0.11721976 + 1e-8 and found.high >= 0.11721976 - 1e-8 and found.high - found.low <= 1e-6, ""


@probe(SHORTAGE, "binomial_cis")
def _() -> tuple[bool, str]:
    from binomial_cis import max_expected_shortage

    low, high, *_ = max_expected_shortage(0.05, 50, tol=1e-3, verbose=False)
    right = low <= 0.11721976 + 1e-8 and high >= 0.11721976 - 1e-8 and high - low < 1e-6
    return right, f"{low:.6f} to {high:.6f} at its default care"


# --- two policies ----------------------------------------------------------------------------------------------

COHERENT = "interval and test of two policies never contradict (all tallies of 12 and 12)"
BARNARD = "an exact test keeps its size (5%, 10 v 10, every common rate)"
SCORES = "a gain in scores, stopped when the evidence is in"
SUCCESS = "a gain in successes, stopped when the evidence is in"
BOTH = "... by betting, with a p-value and an interval beyond 0 at that moment"
NAN = "a score that is not a number is refused"
FINAL = "a decision once made stays"
TASKS = [(k, j) for k in range(13) for j in range(13)]


def contradictions(answer: Callable[[int, int], tuple[float, float, bool]]) -> tuple[bool, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [answer(k, j) for k, j in TASKS]
    wrong = sum((low > 0 or high < 0) != different for low, high, different in found)
    return wrong == 0, f"{wrong} of {len(TASKS)} contradict"


@probe(COHERENT, "surefoot")
def _() -> tuple[bool, str]:
    from surefoot import Tally, Verdict
    from surefoot.stats import exact_gain

    def answer(k: int, j: int) -> tuple[float, float, bool]:
        found = exact_gain(Tally(k, 12), Tally(j, 12))
        return found.interval.low, found.interval.high, found.verdict is not Verdict.UNDECIDED

    return contradictions(answer)


@probe(COHERENT, "fieldtrial")
def _() -> tuple[bool, str]:
    from fieldtrial.stats.compare import boschloo_test, newcombe_interval

    def answer(k: int, j: int) -> tuple[float, float, bool]:
        return *newcombe_interval(k, 12, j, 12), boschloo_test(k, 12, j, 12).pvalue <= 0.05

    return contradictions(answer)


@probe(COHERENT, "statsmodels")
def _() -> tuple[bool, str]:
    from statsmodels.stats.proportion import confint_proportions_2indep, test_proportions_2indep

    def answer(k: int, j: int) -> tuple[float, float, bool]:
        low, high = confint_proportions_2indep(k, 12, j, 12, compare="diff")
        return low, high, bool(test_proportions_2indep(k, 12, j, 12, compare="diff").pvalue <= 0.05)

    return contradictions(answer)


def size(p_value: Callable[[int, int], float]) -> tuple[bool, str]:
    """The largest chance of p <= .05 over a grid of common rates, from the tallies the test rejects."""
    rejected = [(k, j) for k in range(11) for j in range(11) if p_value(k, j) <= 0.05]
    rates = np.linspace(0, 1, 1001)
    mass = {k: math.comb(10, k) * rates**k * (1 - rates) ** (10 - k) for k in range(11)}
    worst = float(np.max(sum((mass[k] * mass[j] for k, j in rejected), np.zeros_like(rates))))
    return worst <= 0.05 + 1e-12, f"size {worst:.4f}"


@probe(BARNARD, "surefoot")
def _() -> tuple[bool, str]:
    from surefoot import Tally
    from surefoot.stats import exact_gain

    return size(lambda k, j: exact_gain(Tally(k, 10), Tally(j, 10)).p_value)


@probe(BARNARD, "fieldtrial")
def _() -> tuple[bool, str]:
    from fieldtrial.stats.compare import boschloo_test

    return size(lambda k, j: boschloo_test(k, 10, j, 10).pvalue)


@probe(BARNARD, "scipy")
def _() -> tuple[bool, str]:
    from scipy.stats import boschloo_exact

    return size(lambda k, j: float(boschloo_exact([[k, j], [10 - k, 10 - j]]).pvalue) if 0 < k + j < 20 else 1.0)


@probe(BARNARD, "statsmodels")
def _() -> tuple[bool, str]:
    from statsmodels.stats.proportion import test_proportions_2indep

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return size(lambda k, j: float(np.nan_to_num(test_proportions_2indep(k, 10, j, 10).pvalue, nan=1.0)))


def draws(binary: bool) -> tuple[list[float], list[float]]:
    rng = np.random.default_rng(5)
    first, second = rng.beta(6, 2, 100), rng.beta(2, 6, 100)
    if binary:
        return (first > 0.5).astype(float).tolist(), (second > 0.5).astype(float).tolist()
    return first.tolist(), second.tolist()


def surefoot_state(binary: bool) -> Any:
    from surefoot.sequential import ExactBinary, FiniteHorizonMixture, run

    rule = ExactBinary(100, claim="either") if binary else FiniteHorizonMixture(100, claim="either")
    return run(rule, zip(*draws(binary), strict=True))[-1]


def stopped(pairs: int) -> tuple[bool, str]:
    """How early says little on one draw, and the tools' claims differ: see the tables of pairs to a decision."""
    return pairs < 100, ""


@probe(SUCCESS, "surefoot")
def _() -> tuple[bool, str]:
    return stopped(surefoot_state(True).pairs)


@probe(SCORES, "surefoot")
def _() -> tuple[bool, str]:
    return stopped(surefoot_state(False).pairs)


@probe(BOTH, "surefoot")
def _() -> tuple[bool, str]:
    state = surefoot_state(False)
    return state.p_value <= 0.05 and state.interval.low > 0, ""


def fieldtrial_anytime(binary: bool) -> Any:
    from fieldtrial.stats.confseq import paired_anytime_test

    first, second = draws(binary)
    return paired_anytime_test(np.subtract(first, second))


@probe(SUCCESS, "fieldtrial")
def _() -> tuple[bool, str]:
    return stopped(int(fieldtrial_anytime(True).rejected_at or 100))


@probe(SCORES, "fieldtrial")
def _() -> tuple[bool, str]:
    return stopped(int(fieldtrial_anytime(False).rejected_at or 100))


@probe(BOTH, "fieldtrial")
def _() -> tuple[bool, str]:
    found = fieldtrial_anytime(False)
    return found.test.pvalue <= 0.05 and found.sequence.lower[-1] > 0, ""


def step_rule(kind: str) -> Any:
    import sequentialized_barnard_tests as step

    if kind == "SAVI":
        return step.MirroredSaviTest(alternative=step.Hypothesis.P0LessThanP1, alpha=0.05)
    return step.MirroredStepTest(alternative=step.Hypothesis.P0LessThanP1, alpha=0.05, n_max=100)


@probe(SUCCESS, "STEP")
def _() -> tuple[bool, str]:
    rule = step_rule("SAVI")
    rule.reset()
    for pairs, (one, other) in enumerate(zip(*draws(True), strict=True), 1):
        if "AcceptAlternative" in str(rule.step(int(other), int(one)).decision):
            return stopped(pairs)
    return False, "undecided after 100"


@probe(BOTH, "STEP")
def _() -> tuple[bool, str]:
    rule = step_rule("SAVI")
    rule.reset()
    said: Any = None
    for one, other in zip(*draws(True), strict=True):
        said = rule.step(int(other), int(one))
    keys = sorted((said.info or {}).keys())
    return any("interval" in key for key in keys), "no interval in its answer"


def nscore_rule(binary: bool) -> Any:
    import nscore.nonparametric_nsm as scores
    import nscore.nsm as successes
    from statistical_comparison_core.base import TwoSampleMeanHypothesis

    names = [name for name in dir(scores) if name.startswith("Continuous") and name.endswith("NsmTest")]
    kind = successes.BernoulliNsmTest if binary else getattr(scores, names[0])
    rule = kind(alternative=TwoSampleMeanHypothesis.P0LessThanP1, alpha=0.05, c=np.linspace(0, 1, 2 if binary else 11))
    rule.reset()
    return rule


def nscore_stop(binary: bool) -> tuple[bool, str]:
    rule = nscore_rule(binary)
    for pairs, (one, other) in enumerate(zip(*draws(binary), strict=True), 1):
        said = rule.step(int(other) if binary else other, int(one) if binary else one)
        if "AcceptAlternative" in str(said.decision):
            return stopped(pairs)
    return False, "undecided after 100"


@probe(SUCCESS, "nscore")
def _() -> tuple[bool, str]:
    return nscore_stop(True)


@probe(SCORES, "nscore")
def _() -> tuple[bool, str]:
    return nscore_stop(False)


@probe(BOTH, "nscore")
def _() -> tuple[bool, str]:
    rule = nscore_rule(True)
    said: Any = None
    for one, other in zip(*draws(True), strict=True):
        said = rule.step(int(other), int(one))
    return any("interval" in key for key in (said.info or {})), "no interval in its answer"


@probe(NAN, "surefoot")
def _() -> tuple[bool, str]:
    from surefoot.sequential import FiniteHorizonMixture

    rule = FiniteHorizonMixture(10)
    return refused(lambda: rule.step(rule.start(), (math.nan, 0.5)))


@probe(NAN, "nscore")
def _() -> tuple[bool, str]:
    rule = nscore_rule(False)
    return refused(lambda: rule.step(0.5, math.nan).decision)


@probe(NAN, "ville")
def _() -> tuple[bool, str]:
    import ville

    return refused(lambda: ville.BettingCS().fit(np.array([0.5, math.nan, 0.7])).interval())


@probe(NAN, "fieldtrial")
def _() -> tuple[bool, str]:
    from fieldtrial.stats.confseq import paired_anytime_test

    return refused(lambda: paired_anytime_test([0.5, math.nan, 0.1]).test.pvalue)


def stays(decide: Callable[[float, float], bool]) -> tuple[bool, str]:
    """A clear win for 40 pairs, then 200 that go the other way: is the decision still there?"""
    made = max(decide(1.0, 0.0) for _ in range(40))
    kept = min(decide(0.0, 1.0) for _ in range(200))
    return made and kept, "" if made and kept else "decided, then undecided" if made else "never decided"


@probe(FINAL, "surefoot")
def _() -> tuple[bool, str]:
    from surefoot.sequential import FiniteHorizonMixture

    rule = FiniteHorizonMixture(240)
    state = rule.start()

    def decide(one: float, other: float) -> bool:
        nonlocal state
        if not state.finished:
            state = rule.step(state, (one, other))
        return state.verdict.name == "BETTER"

    return stays(decide)


@probe(FINAL, "nscore")
def _() -> tuple[bool, str]:
    rule = nscore_rule(True)
    return stays(lambda one, other: "AcceptAlternative" in str(rule.step(int(other), int(one)).decision))


@probe(SCORES, "ville")
def _() -> tuple[bool, str]:
    import ville

    first, second = draws(False)
    test = ville.BettingABTest().fit(np.ravel(np.column_stack([first, second])), np.tile([1, 0], 100))
    rollouts = test.stopping_time()
    return (False, "undecided after 200 rollouts") if rollouts is None else stopped(math.ceil(int(rollouts) / 2))


# --- many, whole distributions, files, studies ---------------------------------------------------------------

BAND = "a band that holds the whole distribution of a score (95%, 20 scores, checked on 4,000 draws)"
LETTERS = "compact letters for 30 policies within a second"
LEROBOT = "reads LeRobot's eval_info.json"
INSPECT = "reads an Inspect log"
GATE = "one command compares two files and gives CI an exit code"
TAMPER = "an outcome changed in the database is noticed"


@probe(BAND, "surefoot")
def _() -> tuple[bool, str]:
    from surefoot import Scores
    from surefoot.reference import two_sided_band

    rng = np.random.default_rng(3)
    band = two_sided_band(Scores(rng.random(20).tolist()))
    drawn = np.sort(rng.random((4000, 20)), axis=1)  # of the uniform law, whose distribution function is x itself
    below, above = np.arange(20) / 20, np.arange(1, 21) / 20
    held = np.mean(np.max(np.maximum(above - drawn, drawn - below), axis=1) <= band.offset)
    return bool(0.94 <= held <= 0.96), f"held in {held:.3f}"


@probe(LETTERS, "surefoot")
def _() -> tuple[bool, str]:
    from surefoot.stats import compact_letters

    separated = [(str(i), str(j)) for i in range(30) for j in range(i + 4, 30)]
    began = time.process_time()
    found = compact_letters([str(i) for i in range(30)], separated)
    return time.process_time() - began < 1.0 and len(found.letters) == 30, ""


def samples() -> Path:
    return Path(__file__).parent.parent / "tests" / "fixtures"


@probe(LEROBOT, "surefoot")
def _() -> tuple[bool, str]:
    from surefoot import read

    return len(read(samples() / "lerobot" / "eval_info.json", policy="act")) > 0, ""


@probe(LEROBOT, "orbit")
def _() -> tuple[bool, str]:
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a", "b"):
            (Path(folder) / name).mkdir()
            (Path(folder) / name / "eval_info.json").write_bytes(
                (samples() / "lerobot" / "eval_info.json").read_bytes()
            )
        said = command("orbit", "compare", f"{folder}/a", f"{folder}/b", "--json")
    return said.returncode in (0, 1) and "{" in said.stdout, said.stderr.strip()[-60:]


@probe(INSPECT, "surefoot")
def _() -> tuple[bool, str]:
    from surefoot import read

    return len(read(samples() / "inspect" / "log.json")) > 0, ""


def two_files(folder: str) -> None:
    for name, successes in (("old", 14), ("new", 39)):
        lines = [f"{name},t,{i},{int(i < successes)}" for i in range(40)]
        Path(folder, f"{name}.csv").write_text("policy,task,seed,success\n" + "\n".join(lines) + "\n")


@probe(GATE, "surefoot")
def _() -> tuple[bool, str]:
    with tempfile.TemporaryDirectory() as folder:
        two_files(folder)
        codes = [
            command("surefoot", "compare", *pair, "--gate", folder=folder).returncode
            for pair in (("new.csv", "old.csv"), ("old.csv", "new.csv"))
        ]
    return codes[0] == 0 and codes[1] != 0, f"codes {codes}"


@probe(GATE, "orbit")
def _() -> tuple[bool, str]:
    with tempfile.TemporaryDirectory() as folder:
        two_files(folder)
        rows = [Path(folder, f"{name}.csv").read_text().split("\n", 1)[1] for name in ("old", "new")]
        Path(folder, "log.csv").write_text("version,skill,episode,success\n" + "".join(rows))
        codes = [
            command("orbit", "release", "log.csv", "--incumbent", old, "--candidate", new, folder=folder).returncode
            for old, new in (("old", "new"), ("new", "old"))
        ]
    return codes[0] == 0 and codes[1] != 0, f"codes {codes}"


@probe(TAMPER, "surefoot")
def _() -> tuple[bool, str]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "robot.py").write_text("import os\nprint(os.environ['SUREFOOT_POLICY'] == 'new')\n")
        for words in (
            ("create", "plan.toml", "--policies", "new,old", "--horizon", "20", "--assume", "0.9,0.3", "--yes"),
            ("run", "--command", f"{sys.executable} robot.py"),
            ("unblind", "--reason", "done"),
        ):
            done = command("surefoot", "study", *words, folder=folder)
            if done.returncode:
                raise RuntimeError(done.stderr)
        before = command("surefoot", "study", "verify", folder=folder).returncode
        with contextlib.closing(sqlite3.connect(Path(folder, "study.db"))) as data:
            changed = data.execute(
                """update log set event = replace(event, '"result":false', '"result":true')
                where event like '%"result":false%'"""
            ).rowcount
            data.commit()
        after = command("surefoot", "study", "verify", folder=folder).returncode
    return before == 0 and changed > 0 and after != 0, f"verify gave {before}, then {after}"


@probe(TAMPER, "fieldtrial")
def _() -> tuple[bool, str]:
    with tempfile.TemporaryDirectory() as folder:
        rates = "baseline=0.6,q50=0.7"
        for words in (("init", "s"), ("lock", "s"), ("simulate", "s", "--rates", rates), ("unblind", "s", "--yes")):
            command("fieldtrial", *words, folder=folder)
        before = command("fieldtrial", "analyze", "s", folder=folder)
        with contextlib.closing(sqlite3.connect(Path(folder, "s", "fieldtrial.db"))) as data:
            data.execute("update trial set success = 1")
            data.commit()
        after = command("fieldtrial", "analyze", "s", folder=folder)
    if before.returncode:
        msg = f"fieldtrial could not be run: {before.stderr}"
        raise RuntimeError(msg)
    return after.returncode != 0, "" if after.returncode else "analysed without a word"


# --- preferences, the best of several --------------------------------------------------------------------------

STRENGTH = "strengths from 70 wins and 30 losses, with an interval that holds log(7/3)"
UNDEFEATED = "a policy that never lost is refused or put first"
BEST = "the best of five is named, wrongly in at most 5% where all are equal (60 lists of 100)"


def stronger(first: float, second: float, low: float, high: float) -> tuple[bool, str]:
    """Whether log-strengths of two differ as they must, and the interval of the first holds half of it."""
    right = math.log(7 / 3)
    off = abs(first - second - right)
    return off < 1e-6 and low < right / 2 < high, "" if off < 1e-6 else f"off by {off:.1g}"


@probe(STRENGTH, "surefoot")
def _() -> tuple[bool, str]:
    from surefoot.stats import bradley_terry

    found = bradley_terry([("a", "b", 1)] * 70 + [("a", "b", 0)] * 30, rng=1)
    place = dict(zip(found.names, range(2), strict=True))
    one = found.intervals[place["a"]]
    return stronger(found.log_strengths[place["a"]], found.log_strengths[place["b"]], one.low, one.high)


@probe(STRENGTH, "evalica")
def _() -> tuple[bool, str]:
    import evalica

    games = ["a"] * 100, ["b"] * 100, [evalica.Winner.X] * 70 + [evalica.Winner.Y] * 30
    found = evalica.bootstrap(evalica.bradley_terry, *games, random_state=1, tolerance=1e-12, limit=10_000)
    logs = np.log(evalica.bradley_terry(*games, tolerance=1e-12, limit=10_000).scores)
    return stronger(logs["a"], logs["b"], np.log(found.low["a"]), np.log(found.high["a"]))


@probe(UNDEFEATED, "surefoot")
def _() -> tuple[bool, str]:
    from surefoot.stats import bradley_terry

    return refused(lambda: bradley_terry([("a", "b", 1)] * 10, rng=1))


@probe(UNDEFEATED, "evalica")
def _() -> tuple[bool, str]:
    import evalica

    found = evalica.bradley_terry(["a"] * 10, ["b"] * 10, [evalica.Winner.X] * 10).scores
    return bool(found["a"] > found["b"]), f"answered {found['a']:.3g} and {found['b']:.3g}"


def few_wrong(wrong: int) -> tuple[bool, str]:
    """Whether so many of 60 lists are no proof of more than 5%."""
    from scipy.special import betainc

    return wrong == 0 or bool(betainc(wrong, 61 - wrong, 0.05) > 1e-3), f"{wrong} of 60"


def equals() -> np.ndarray[Any, Any]:
    return (np.random.default_rng(5).random((60, 100, 5)) < 0.5).astype(float)


@probe(BEST, "surefoot")
def _() -> tuple[bool, str]:
    from surefoot.sequential import ClosedRanking, simulate_ranking

    found = simulate_ranking(ClosedRanking(tuple("abcde"), 100, binary=True, question="best"), equals())
    return few_wrong(int((found.better.sum(axis=2) == 4).any(axis=1).sum()))


@probe(BEST, "banditeval")
def _() -> tuple[bool, str]:
    from benchmarks.best_arm import bandit

    named = sum(0 <= bandit(one, 250) < 5 for one in equals())
    return few_wrong(named)


# --- the table -----------------------------------------------------------------------------------------------


def cell(check: Callable[[], tuple[bool, str]] | None) -> str:
    if check is None:
        return "none"
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        held, words = check()
    return ("yes" if held else "**no**") + (f" ({words})" if words else "")


def main() -> int:
    rows = []
    tools = {name: package for name, package in TOOLS.items() if name not in APART or importable(name)}
    for feature, checks in PROBES.items():
        cells = [cell(checks.get(tool)) for tool in tools]
        rows.append([feature, *cells])
        print(f"{feature}: " + ", ".join(f"{tool} {said}" for tool, said in zip(tools, cells, strict=True)), flush=True)
    lines = [
        "## What each tool does, by running it",
        "",
        f"{dated(list(tools.values()))}. Command: `python -m benchmarks.features`. yes: the call gave the known right "
        "answer; no: it did not, with what it said; none: we know of no call for it, so nothing was run.",
        "",
        "| what | " + " | ".join(tools) + " |",
        "|---" * (len(tools) + 1) + "|",
        *("| " + " | ".join(row) + " |" for row in rows),
    ]
    write("features", lines)
    return 0 if all(row[1].startswith("yes") for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
