"""What does the web page on confidence intervals for evals print, and is it so?"""

from __future__ import annotations

from pathlib import Path

from reproductions import web_figure
from reproductions.pages import Check, Page, claim, figure, number, table
from surefoot import Tally, plan_comparison, reference, stats

SOURCE = (
    "*Confidence intervals for eval metrics*, a page of a web site on LLM evaluation. Never Wald, Wilson by default, "
    "Clopper-Pearson when coverage must be guaranteed: sound. Several of its numbers are not what its code computes."
)
SIZES = (10, 50, 100, 200, 500, 1000, 2000)
HALF_WIDTHS = dict(zip(SIZES, (25, 13, 9, 6, 4, 3, 2), strict=True))
DELTAS = dict(zip(SIZES[1:], (20, 13, 8, 5, 4, 3), strict=True))


def ends(method: object, successes: int, trials: int) -> tuple[float, float]:
    """The ends of a 95% interval."""
    found = method(Tally(successes, trials))  # type: ignore[operator]
    return found.low, found.high


def half_width(trials: int) -> float:
    """Half of the Wilson interval at 70%, in points."""
    low, high = ends(stats.wilson, round(0.7 * trials), trials)
    return 50 * (high - low)


def sights(trials: int) -> tuple[float, float]:
    """The smallest drop and gain from 70% that so many rollouts of each policy show four times in five, in points."""
    # A drop from 70% is a rise of the failures from 30%.
    return tuple(100 * plan_comparison(None, rate, rollouts=trials).gain for rate in (0.3, 0.7))  # type: ignore[return-value]


def power_at(trials: int) -> tuple[float, float]:
    """The chance to show a drop, and a gain, of the printed size."""
    delta = DELTAS[trials] / 100
    return stats.power(0.7 - delta, 0.7, trials).worse, stats.power(0.7 + delta, 0.7, trials).better


def intervals() -> list[Check]:
    """The printed output of its code."""
    wrong = "not what its code prints, nor Wald's, Jeffreys' or Agresti-Coull's"
    return [
        number("z for 95%", 1.96, 1.959963984540054, to=0.01),
        number("7/10, Wilson", (0.3968, 0.8922), ends(stats.wilson, 7, 10), to=1e-4),
        number("7/10, Clopper-Pearson", (0.3475, 0.9333), ends(stats.clopper_pearson, 7, 10), to=1e-4),
        number(
            "7/10, Wald",
            (0.4159, 0.9841),
            ends(stats.wald, 7, 10),
            to=1e-4,
            erratum="both ends are off by one in the last digit",
        ),
        number("10/10, Wilson", (0.7225, 1.0), ends(stats.wilson, 10, 10), to=1e-4),
        number("10/10, Clopper-Pearson", (0.6915, 1.0), ends(stats.clopper_pearson, 10, 10), to=1e-4),
        number("10/10, Wald", (1.0, 1.0), ends(stats.wald, 10, 10), to=1e-4, note="a single point, as the page warns"),
        number("140/200, Wilson", (0.6336, 0.7585), ends(stats.wilson, 140, 200), to=1e-4, erratum=wrong),
        number(
            "140/200, Clopper-Pearson", (0.6307, 0.7621), ends(stats.clopper_pearson, 140, 200), to=1e-4, erratum=wrong
        ),
        number("7/10 in words", (0.40, 0.89), ends(stats.wilson, 7, 10), to=0.01),
        number(
            "the dashboard: 72.5% of n = 400, in percent",
            (68.4, 76.2),
            tuple(100 * end for end in ends(stats.wilson, 290, 400)),
            to=0.1,
            erratum="too narrow; surefoot prints [67.9%, 76.7%], each end rounded outward",
        ),
        number(
            "Wald “might actually contain the true rate 88% of the time”",
            0.88,
            stats.coverage(stats.wald, trials=20, rate=0.1),
            to=0.01,
            note="exact, at n = 20 and a rate of 10%",
        ),
    ]


def sizes() -> list[Check]:
    """The table of sample sizes, and what is said about it."""
    checks = [
        number(
            f"half-width at 70%, N = {trials}, in points",
            float(printed),
            half_width(trials),
            to=1.0,
            erratum="" if trials != 50 else "13 is Wald's (12.7), not Wilson's",
        )
        for trials, printed in HALF_WIDTHS.items()
    ]
    for trials, printed in DELTAS.items():
        drop, gain = sights(trials)
        worse, better = power_at(trials)
        checks.append(
            claim(
                f"smallest detectable delta, N = {trials}",
                f"{printed} points",
                f"drop {drop:.1f}, gain {gain:.1f} points at 80% power",
                abs(drop - printed) <= 0.5,
                erratum=f"a coin-flip: {printed} points are found {worse:.0%} (drop) or {better:.0%} (gain) of the "
                "time",
            )
        )
    first = next(n for n in range(20, 400) if _wilson_half(n) < 0.07)
    needed, even = plan_comparison(0.70, 0.55).rollouts, plan_comparison(0.70, 0.55, power=0.5).rollouts
    chance = {pair: stats.power(0.70, *pair).better for pair in ((0.5, 10), (0.65, 100), (0.55, 199))}
    return [
        *checks,
        claim("N = 10 cannot tell 70% from 50%", "cannot", f"power {chance[0.5, 10]:.1%}", chance[0.5, 10] < 0.5),
        claim("N = 100 cannot tell 70% from 65%", "cannot", f"power {chance[0.65, 100]:.1%}", chance[0.65, 100] < 0.5),
        claim(
            "“with fewer than two hundred evals you usually cannot distinguish 70% from 55%”",
            "below 200: usually not",
            f"power {chance[0.55, 199]:.0%} at 199 of each, 80% from {needed}, half from {even}",
            even >= 200,
            erratum=f"from {even} of each one usually can",
        ),
        claim(
            "half-widths “drop below 7 points” at N = 200",
            "200",
            f"from N = {first}",
            first == 200,
            erratum="at 200 the half-width is 6.3 points",
        ),
        claim(
            "to halve the width, quadruple the dataset",
            "4 times",
            f"half-width {half_width(50):.1f} at 50, {half_width(200):.1f} at 200 points",
            abs(half_width(200) / half_width(50) - 0.5) < 0.03,
        ),
        claim(
            "Wilson “has good coverage even at small n”",
            "no number",
            f"least exact coverage {_least_coverage(10):.3f} at n = 10, {_least_coverage(50):.3f} at 50",
            False,
            erratum="good on average over rates; near 0 and 1 it falls far below 95%",
        ),
    ]


def two_systems() -> list[Check]:
    """The comparison of 140/200 with 120/200, and of 7/10 with 6/10."""
    a, b = Tally(140, 200), Tally(120, 200)
    newcombe, gain = stats.newcombe(a, b), stats.exact_gain(Tally(7, 10), Tally(6, 10))
    low, high = ends(stats.wilson, 7, 10), ends(stats.wilson, 6, 10)
    clear = stats.exact_gain(a, b)
    one, other = ends(stats.wilson, 140, 200), ends(stats.wilson, 120, 200)
    return [
        number("140/200 v 120/200: difference", 0.10, a.rate - b.rate, to=0.01),
        number(
            "the same, “Newcombe-Wilson” interval",
            (0.00, 0.20),
            (newcombe.low, newcombe.high),
            to=0.01,
            erratum='the code calls `method="wald"`, not Newcombe, and Wald\'s (0.007, 0.193) is not what is printed '
            "either",
        ),
        number("the same, p-value of the score test", 0.04, reference.pooled_score(a, b).p_value, to=0.01),
        claim(
            "70% v 60% of 10: the intervals “overlap completely”, not detectable",
            "not detectable",
            f"({low[0]:.2f}, {low[1]:.2f}) and ({high[0]:.2f}, {high[1]:.2f}); p = {gain.p_value:.2f}",
            0 in gain.interval,
        ),
        claim(
            "overlapping intervals as a test",
            "overlap means no difference",
            f"140/200 v 120/200: ({one[0]:.2f}, {one[1]:.2f}) and ({other[0]:.2f}, {other[1]:.2f}) overlap, p = "
            f"{clear.p_value:.3f}",
            0 in clear.interval,
            erratum="overlap is no test; compare the two directly",
        ),
        claim(
            "a noisy judge: “the fix is usually larger N”",
            "larger N",
            "a judge's bias stays whatever N is",
            False,
            erratum="more rollouts shrink the noise only; correct the bias with labels, `stats.judge_corrected_rate`",
        ),
    ]


def exact() -> list[Check]:
    """Every check; none needs a draw."""
    return [*intervals(), *sizes(), *two_systems()]


def page(data: Path) -> Page:  # noqa: ARG001
    """The page."""
    rows = []
    for trials in SIZES:
        row = [trials, f"{half_width(trials):.1f}", HALF_WIDTHS[trials]]
        if trials in DELTAS:
            drop, gain = sights(trials)
            worse, better = power_at(trials)
            row += [DELTAS[trials], f"{worse:.0%} / {better:.0%}", f"{drop:.1f}", f"{gain:.1f}"]
        else:
            row += ["“by eye”", "", "", ""]
        rows.append(row)
    web_figure.draw(SIZES[1:], [DELTAS[n] for n in SIZES[1:]], [sights(n) for n in SIZES[1:]])
    body = [
        "## Its table of sample sizes, corrected",
        "",
        *table(
            [
                "N",
                "Wilson half-width at 70%",
                "printed",
                "printed “smallest detectable delta”",
                "how often that drop / gain is found",
                "drop found 4 times in 5",
                "gain found 4 times in 5",
            ],
            rows,
        ),
        "",
        "All in points, N rollouts of each of two systems, 95% confidence, exact power of the test that `surefoot "
        "compare`",
        "runs. The printed column compares a system with a known 70%, at a coin-flip's chance; two systems that are "
        "both",
        "measured, and four chances in five, need about one and a half times as large a difference.",
        "`surefoot plan` answers the question for your own rates.",
        "",
        figure("detectable", "The printed smallest detectable difference lies below what 80% power needs at every N"),
    ]
    return Page("web-page", "A web page on intervals for evals", SOURCE, body, exact())


def _wilson_half(trials: int) -> float:
    from reproductions.wilson_blog import at_rate

    low, high = at_rate(0.7, trials)
    return (high - low) / 2


def _least_coverage(trials: int) -> float:
    # Coverage at a rate is coverage at one minus it.
    return min(stats.coverage(stats.wilson, trials=trials, rate=i / 4000) for i in range(1, 2001))
