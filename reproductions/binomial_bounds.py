"""What do Vincent et al. print about bounds on a policy's performance, and is it so?"""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from reproductions import bounds_figures, table_one
from reproductions.pages import Check, Page, cannot, claim, figure, number
from surefoot import Tally, plan_band, plan_bound, reference, stats
from surefoot.numerics.rates import binomial, randomised_counts

SOURCE = (
    "J. A. Vincent, H. Nishimura, M. Itkina, P. Shah, M. Schwager and T. Kollar (2024), *How generalizable is my "
    "behavior cloning policy? A statistical approach to trustworthy performance evaluation*."
)
ERRORS = (0.01, 0.05, 0.10)
SIZES = range(1, 101)
SETTINGS = {
    "symbol understanding": (Tally(40, 50), Tally(6, 50)),
    "reasoning": (Tally(53, 110), Tally(12, 110)),
    "human recognition": (Tally(16, 30), Tally(4, 30)),
}
"""RT-2 and VC-1, from arXiv 2307.15818."""
POURED = {"benign": (Tally(38, 50), 0.641), "harmful": (Tally(4, 50), 0.035)}


class Curves(NamedTuple):
    """Two quantities against n, one row per error: the paper's bound and the loose one."""

    tight: np.ndarray
    loose: np.ndarray


def shortages() -> Curves:
    """The maximum expected shortage at every n, of the optimal bound and of Clopper-Pearson's."""
    return Curves(
        *(
            np.array(
                [
                    [stats.max_expected_shortage(n, using=using, confidence=1 - error).high for n in SIZES]
                    for error in ERRORS
                ]
            )
            for using in (stats.optimal_lower, stats.clopper_pearson_lower)
        )
    )


def offsets() -> Curves:
    """The offset of the worst-case band at every n, Kolmogorov-Smirnov and Dvoretzky-Kiefer-Wolfowitz."""
    tight = [[reference.ks_offset(n, confidence=1 - error) for n in SIZES] for error in ERRORS]
    loose = [[min(1.0, math.sqrt(-math.log(error) / (2 * n))) for n in SIZES] for error in ERRORS]
    return Curves(np.array(tight), np.array(loose))


def draws_for(tally: Tally, printed: float) -> tuple[float, float]:
    """Between which draws does the bound round to the printed one? Bisection: the bound rises with the draw."""
    found = []
    for edge in (printed - 0.0005, printed + 0.0005):
        low, high = 0.0, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if stats.optimal_lower(tally, draw=middle).value < edge else (low, middle)
        found.append(high)
    return found[0], found[1]


def false_alarms(trials: int) -> float:
    """The largest chance that disjoint 97.5% Clopper-Pearson bounds say RT-2 is better when both rates are equal."""
    counts = np.arange(trials + 1)
    separate = binomial.exact_low(counts, trials, 0.025)[:, None] > binomial.exact_high(counts, trials, 0.025)[None, :]
    rates = np.linspace(0.001, 0.999, 999)
    log_choose = np.array([math.lgamma(trials + 1) - math.lgamma(k + 1) - math.lgamma(trials - k + 1) for k in counts])
    mass = np.exp(log_choose + np.log(rates)[:, None] * counts + np.log1p(-rates)[:, None] * (trials - counts))
    return float(np.einsum("rk,kl,rl->r", mass, separate, mass).max())


def series(n: int, offset: float) -> float:
    """Eq. 16 as printed: the chance that the band holds."""
    total = 0.0
    for k in range(math.floor(n * (1 - offset)) + 1):
        total += math.comb(n, k) * (1 - offset - k / n) ** (n - k) * (offset + k / n) ** (k - 1)
    return 1 - offset * total


def overflow() -> int:
    """The first n at which a binomial coefficient of Eq. 16 is beyond a double."""
    n = 1000
    while True:
        try:
            float(math.comb(n, n // 2))
        except OverflowError:
            return n
        n += 1


def curves(short: Curves, offset: Curves) -> list[Check]:
    """Figures 3 and 4, and what is said about them."""
    at = {n: SIZES.index(n) for n in (10, 50, 100)}
    row = ERRORS.index(0.05)
    rollouts = [
        plan_bound(confidence=0.95, tightness=0.1, using=using).rollouts
        for using in (stats.optimal_lower, stats.clopper_pearson_lower)
    ]
    bands = plan_band(0.15).rollouts, math.ceil(-math.log(0.05) / (2 * 0.15**2))
    naive = series(40, reference.ks_offset(40))
    return [
        claim(
            "Fig. 3: “always tighter than Clopper-Pearson, and appreciably so at small sample sizes”",
            "curves",
            "; ".join(f"n = {n}: {short.tight[row, i]:.4f} v {short.loose[row, i]:.4f}" for n, i in at.items()),
            bool((short.tight < short.loose).all()),
            note="at 95%; checked at every n from 1 to 100, at 90%, 95% and 99%",
        ),
        claim(
            "“MES is decreasing in n”",
            "decreasing",
            "the largest step is below 0",
            bool((np.diff(short.tight, axis=1) < 0).all() and (np.diff(short.loose, axis=1) < 0).all()),
        ),
        claim(
            "“the minimum number of policy rollouts”",
            "fewer than Clopper-Pearson",
            f"{rollouts[0]} against {rollouts[1]} rollouts for MES ≤ 0.1 at 95%",
            rollouts[0] < rollouts[1],
        ),
        claim(
            "Fig. 4: “always tighter than the DKW bound, and appreciably so at small sample sizes”",
            "curves",
            "; ".join(f"n = {n}: {offset.tight[row, i]:.4f} v {offset.loose[row, i]:.4f}" for n, i in at.items()),
            bool((offset.tight < offset.loose).all()),
            note="at 95%; checked at every n from 1 to 100, at 90%, 95% and 99%",
        ),
        claim(
            "“ε* is decreasing in n”, and fewer rollouts",
            "decreasing",
            f"the largest step is below 0; {bands[0]} against {bands[1]} rollouts for ε* ≤ 0.15 at 95%",
            bool((np.diff(offset.tight, axis=1) < 0).all()) and bands[0] < bands[1],
        ),
        claim(
            "Eq. 16, the chance that the band holds",
            "a sum of n terms",
            f"{naive:.12f} at n = 40 and ε* = {reference.ks_offset(40):.5f}",
            abs(naive - 0.95) < 1e-10,
        ),
        claim(
            "Eq. 16 for many rollouts",
            "no limit named",
            f"its terms overflow a double from n = {overflow()}",
            False,
            erratum="compute the tail by a stable recursion; `reference.ks_offset` does for any n",
        ),
    ]


def bounds() -> list[Check]:
    """The bounds of section IV and VI-B."""
    counts, trials = np.arange(51), 50
    plain = binomial.exact_low(counts, trials, 0.05)
    drawn = randomised_counts.low(counts, np.zeros(51), trials, 0.05)
    held = [stats.coverage(stats.optimal_lower, trials=50, rate=rate) for rate in (0.05, 0.3, 0.641, 0.9)]
    largest = stats.max_expected_shortage(50)
    checks = [
        claim(
            "section IV: U = 0 is Clopper-Pearson",
            "equal",
            f"equal to {np.abs(plain - drawn).max():.0e} at n = 50",
            bool(np.abs(plain - drawn).max() < 1e-12),
        ),
        claim(
            "Eq. 9: the bound holds with 95% confidence",
            "at least 0.95",
            "exactly " + ", ".join(f"{value:.6f}" for value in held) + " at rates .05, .3, .641, .9",
            max(abs(value - 0.95) for value in held) < 1e-9,
        ),
    ]
    for setting, (tally, printed) in POURED.items():
        ends = stats.optimal_lower(tally, draw=0.5).range
        low, high = draws_for(tally, printed)
        checks.append(
            claim(
                f"VI-B: lower bound, {setting}, {tally.successes}/50",
                f"{printed:.3f}",
                f"{ends[0]:.4f} to {ends[1]:.4f}, by the draw",
                False,
                erratum=f"the draw was not recorded; U between {low:.3f} and {high:.3f} gives the printed bound",
            )
        )
    benign, harmful = (stats.optimal_lower(tally, draw=0.0).value for tally, _ in POURED.values())
    most = stats.optimal_lower(POURED["harmful"][0], draw=1.0 - 1e-12).value
    return [
        *checks,
        number(
            "VI-B: MES at n = 50",
            0.118,
            largest.high,
            to=0.001,
            erratum="the upper end of a search to 0.001; surefoot proves 0.117220 to 1e-6",
        ),
        claim(
            "VI-B: a 60% rate can be claimed for the benign setting only",
            "yes, no",
            f"at least {benign:.4f} and at most {most:.4f}, whatever the draws",
            benign > 0.6 > most,
            note=f"with no draw at all: {benign:.4f} and {harmful:.4f}",
        ),
    ]


def two_policies() -> list[Check]:
    """Section VI-C and Fig. 8."""
    checks = []
    for setting, (first, second) in SETTINGS.items():
        plain = reference.disjoint_bounds(first, second)
        best = reference.disjoint_optimal_bounds(first, second, draw=1.0 - 1e-9)
        checks.append(
            claim(
                f"Fig. 8, {setting}: RT-2 {first.successes}/{first.trials} v VC-1 {second.successes}/{second.trials}",
                "disjoint bounds",
                f"RT-2 at least {plain.first.value:.4f} (to {best.first.value:.4f} by the draw), VC-1 at most "
                f"{plain.second.value:.4f} (to {best.second.value:.4f})",
                plain.first.value > plain.second.value,
            )
        )
    alarms = [false_alarms(n) for n in (50, 110, 30)]
    return [
        *checks,
        claim(
            "Eq. 19: .975 each gives .95 jointly",
            "at least 0.95",
            f"{0.975**2:.6f} when the policies are independent",
            0.975**2 >= 0.95,
        ),
        claim(
            "VI-C: wrongly concluded in at most 5%",
            "at most 0.05",
            "at most " + ", ".join(f"{alarm:.4f}" for alarm in alarms) + " at n = 50, 110, 30",
            max(alarms) <= 0.05,
            note="far below 5%: disjoint bounds waste power; `surefoot compare` uses an exact test",
        ),
        claim(
            "VI-C: “this approach easily extends to continuous rewards”",
            "by disjoint CDF bands",
            _never(),
            False,
            erratum="full dominance cannot be shown for continuous scores, at any n; compare means, quantiles or a "
            "range",
        ),
    ]


def unseen() -> list[Check]:
    """What cannot be recomputed."""
    return [
        cannot("Fig. 2, distributions of a bound", "“hypothetical”", "an illustration without numbers"),
        cannot(
            "Fig. 6, reward distributions of five tasks", "curves", "the rollouts are not in our hands; simulated below"
        ),
    ]


def exact() -> list[Check]:
    """The checks that need no draw."""
    return [*curves(shortages(), offsets()), *bounds(), *two_policies(), *unseen()]


def page(data: Path) -> Page:  # noqa: ARG001
    """The page."""
    short, offset = shortages(), offsets()
    print("  curves of Figures 3 and 4", flush=True)
    bounds_figures.curves(
        SIZES,
        ERRORS,
        short,
        "Maximum expected shortage of the lower bound, by confidence",
        "shortage",
        ("optimal", "Clopper-Pearson"),
    )
    bounds_figures.curves(
        SIZES, ERRORS, offset, "Offset ε* of the worst-case band, by confidence", "offset", ("exact", "DKW")
    )
    bounds_figures.poured(POURED, {name: draws_for(*given) for name, given in POURED.items()})
    bounds_figures.disjoint(SETTINGS)
    simulated, words = table_one.simulated()
    body = [
        "## How tight: Figures 3 and 4",
        "",
        figure("shortage", "Maximum expected shortage against n: the optimal bound below Clopper-Pearson at every n"),
        "",
        figure("offset", "Offset of the band against n: the exact one below the DKW formula at every n"),
        "",
        "Solid: the paper's bound; dashed: the loose, common one. The gap closes as n grows, and closes faster for "
        "the band. Which",
        "errors the paper draws cannot be read off our copy; these are 10%, 5% and 1%.",
        "",
        *words,
        "",
        "## Pouring ice: the draw behind a bound",
        "",
        figure(
            "pour-ice", "The lower bounds of 38/50 and 4/50 as the draw runs from 0 to 1, with the printed ones marked"
        ),
        "",
        "The optimal bound needs a uniform draw, and the paper does not record its own. Any bound on the curve was "
        "possible;",
        "the printed one needs a draw in the shaded strip. surefoot keeps the seed and the draw in the result, and "
        "prints the",
        "bound without a draw (Clopper-Pearson, left end) beside it.",
        "",
        "## RT-2 and VC-1: Figure 8",
        "",
        figure("rt2-vc1", "Lower bounds of RT-2 above upper bounds of VC-1 in all three settings"),
        "",
        "Bars: the rates that 97.5% Clopper-Pearson bounds leave open; pale ends: how far the optimal bounds may go "
        "by the",
        "draw; ticks: the observed rates. Each conclusion holds by itself at 95%. For all three at once the 5% must "
        "be split in",
        f"three; then the bounds stay apart in {_together()}, and the exact tests of `surefoot compare` in all three "
        f"(the largest p-value is {max(stats.exact_gain(*pair).p_value or 0.0 for pair in SETTINGS.values()):.4f}).",
        "",
    ]
    checks = [*curves(short, offset), *simulated, *bounds(), *two_policies(), *unseen()]
    return Page("binomial-bounds", "Bounds on a policy's performance", SOURCE, body, checks, seed=table_one.SEED)


def _together() -> str:
    """The settings whose bounds stay apart at a third of the error."""
    found = {name: reference.disjoint_bounds(*pair, confidence=1 - 0.05 / 3) for name, pair in SETTINGS.items()}
    return " and ".join(name for name, pair in found.items() if pair.first.value > pair.second.value)


def _never() -> str:
    # Above the largest score of both samples the first policy's upper band is 1, the second's lower band 1 - offset.
    offset = reference.ks_offset(1000, confidence=0.975)
    return f"with 1,000 scores each the bands still overlap by {offset:.4f} above the largest score"
