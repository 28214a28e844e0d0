"""Are exact comparisons of two tallies fast, and the same numbers as scipy's where scipy is right?"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.common import Row, command_cpu, cpu, seconds, section, times
from surefoot import PairTally, Tally, reference, stats
from surefoot.numerics import log_factorials, polynomials
from surefoot.numerics.rates import hypergeometric

HERE = Path(sys.executable).parent
FIRST, SECOND = Tally(350, 500), Tally(320, 500)


def afresh(work: Callable[[], Any]) -> Callable[[], Any]:
    """The work with nothing remembered from the run before."""

    def run() -> Any:
        for kept in (
            hypergeometric.masses,
            hypergeometric.tails,
            log_factorials.log_choose,
            log_factorials.log_factorials,
            polynomials.points,
        ):
            kept.cache_clear()
        return work()

    return run


def against_scipy() -> list[Row]:
    from scipy.stats import barnard_exact, boschloo_exact

    table = [[FIRST.successes, SECOND.successes], [FIRST.failures, SECOND.failures]]
    rows = []
    for name, ours, theirs in (
        ("Boschloo", stats.boschloo, boschloo_exact),
        ("Barnard", stats.barnard, barnard_exact),
    ):
        peer: list[float] = []
        taken = cpu(lambda theirs=theirs, peer=peer: peer.append(theirs(table).pvalue))
        spent = cpu(afresh(lambda ours=ours: ours(FIRST, SECOND)), repeats=7)
        found = ours(FIRST, SECOND).p_value
        gap = abs(found - peer[0])
        what = f"{name} p-value, 350/500 v 320/500 (p = {found:.7f}, scipy {peer[0]:.7f}, apart {gap:.1e})"
        met = taken / spent >= 50 and gap <= 1e-6
        rows.append(Row(what, seconds(spent), seconds(taken), times(taken / spent), "50x, 1e-6", met))
    return rows


def commands() -> list[Row]:
    ours = command_cpu([str(HERE / "surefoot"), "compare", "700/1000", "650/1000"])
    exact = command_cpu([str(HERE / "surefoot"), "compare", "700/1000", "650/1000", "--using", "boschloo"])
    small = command_cpu([str(HERE / "surefoot"), "compare", "17/20", "14/20"])
    peer = HERE / "fieldtrial"
    theirs = command_cpu([str(peer), "compare", "700/1000", "650/1000"], repeats=1) if peer.exists() else None
    shown = "fieldtrial not installed" if theirs is None else f"fieldtrial {seconds(theirs)}"
    ratio = "" if theirs is None else times(theirs / ours)
    return [
        Row(
            "`surefoot compare 700/1000 650/1000`, whole command", seconds(ours), shown, ratio, "under 1 s", ours < 1.0
        ),
        Row("the same with Boschloo's exact test, as fieldtrial runs it", seconds(exact), shown, "", "", True),
        Row("`surefoot compare 17/20 14/20`, whole command", seconds(small), "none", "", "under 1 s", small < 1.0),
    ]


def inversions() -> list[Row]:
    from surefoot.stats import rate_gains

    rows = []
    for what, work in (
        ("exact_gain 17/20 v 14/20", lambda: stats.exact_gain(Tally(17, 20), Tally(14, 20))),
        ("exact_gain 70/100 v 60/100", lambda: stats.exact_gain(Tally(70, 100), Tally(60, 100))),
        ("exact_gain 350/500 v 320/500", lambda: stats.exact_gain(FIRST, SECOND)),
        ("exact_paired_gain, 200 pairs", lambda: stats.exact_paired_gain(PairTally(120, 20, 8, 52))),
    ):

        def fresh(work: Callable[[], Any] = work) -> None:
            rate_gains._inverted.cache_clear()
            work()

        spent = cpu(fresh, repeats=3)
        rows.append(Row(f"{what}: interval, p-value, verdict", seconds(spent), "none", "", "under 1 s", spent < 1.0))
    return rows


def rankings() -> list[Row]:
    """All 190 pairs of 20 policies, as a ranking compares them."""
    from surefoot.stats import one_sided_gains

    rows = []
    for rollouts in (20, 50):
        tallies = [Tally(round(rollouts * (0.4 + 0.025 * i)), rollouts) for i in range(20)]
        pairs = list(itertools.combinations(tallies, 2))
        one_sided_gains._ordered.cache_clear()
        spent = cpu(lambda pairs=pairs: reference.step_down_gains(pairs), repeats=1)
        what = f"all 190 pairs of 20 policies with {rollouts} rollouts each, intervals and step-down"
        rows.append(Row(what, seconds(spent), "none", "", "", True))
    many = [
        PairTally(3000 + i % 70, 500 + i % 83, 500 - i % 61, 1000 - i % 70 - i % 83 + i % 61) for i in range(19_900)
    ]
    spent = cpu(lambda: reference.step_down_gains(many), repeats=1)
    rows.append(Row("19,900 comparisons of 5,000 pairs", seconds(spent), "none", "", "under 5 s", spent < 5.0))
    undecided = stats.exact_paired_gain(PairTally(9000, 1530, 1480, 2032))
    spent = cpu(lambda: stats.outlook(undecided))
    rows.append(Row("outlook of 14,042 pairs", seconds(spent), "none", "", "under 0.05 s", spent < 0.05))
    return rows


def main() -> int:
    rows = [*against_scipy(), *commands(), *inversions(), *rankings()]
    note = "Our caches are emptied before every repeat."
    return 0 if section("exact_gains", "Exact comparisons of two tallies", rows, peers=[], note=note) else 1


if __name__ == "__main__":
    sys.exit(main())
