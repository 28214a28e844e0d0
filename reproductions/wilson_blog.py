"""What does the blog post on Wilson intervals print, and is it so?"""

from __future__ import annotations

import math
from pathlib import Path

from reproductions.pages import Check, Page, cannot, claim, number
from surefoot import Tally, stats

SOURCE = (
    "F. Capuano (2026), *Sounder robot learning evaluation with Wilson score intervals*, a blog post. Its advice, "
    "report a Wilson interval and not a standard deviation, is surefoot's default; its code has two traps."
)


def wilson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """The interval's two ends."""
    found = stats.wilson(Tally(successes, trials), confidence=confidence)
    return found.low, found.high


def at_rate(rate: float, trials: int) -> tuple[float, float]:
    """Wilson's formula at any rate, whether or not so many rollouts can give it."""
    z = 1.959963984540054
    middle, spread = rate + z * z / (2 * trials), z * math.sqrt(rate * (1 - rate) / trials + (z / (2 * trials)) ** 2)
    return (middle - spread) / (1 + z * z / trials), (middle + spread) / (1 + z * z / trials)


def exact() -> list[Check]:
    """Every check; none needs a draw."""
    deviation = math.sqrt(0.95 * 0.05 / 10)
    last = max(n for n in range(1, 200) if 0.95 + math.sqrt(0.95 * 0.05 / n) > 1.0)
    like = [n for n in range(1, 2000) if tuple(round(end, 2) for end in at_rate(0.95, n)) == (0.85, 0.99)]
    whole = [n for n in like if abs(0.95 * n - round(0.95 * n)) < 1e-9]
    covers = [
        [stats.coverage(method, trials=10, rate=i / 2000) for i in range(1, 2000)]
        for method in (stats.wilson, stats.clopper_pearson)
    ]
    mean, worst = [sum(values) / len(values) for values in covers], [min(values) for values in covers]
    skew = {rate: (1 - 2 * rate) / math.sqrt(10 * rate * (1 - rate)) for rate in (0.1, 0.5, 0.9)}
    try:
        refused = str(stats.wilson(Tally(0, 0)))
    except ValueError as error:
        refused = str(error)
    return [
        number("code: 95% interval of 9/10", (0.60, 0.98), wilson(9, 10), to=0.01),
        claim(
            "code: `confidence=0.99` for 9/10",
            "(0.5958, 0.9821), the 95% interval again",
            "({:.4f}, {:.4f})".format(*wilson(9, 10, 0.99)),
            False,
            erratum="z = 1.96 is hard-coded, so the argument `confidence` is ignored",
        ),
        claim(
            "code: zero rollouts",
            "(0.0, 0.0)",
            f"refused: {refused}",
            False,
            erratum="certain failure is claimed where nothing is known",
        ),
        claim(
            "section 4: “if p̂ = 0.95, the interval might be [0.85, 0.99]”",
            "[0.85, 0.99]",
            "({:.2f}, {:.2f}) for 19/20, ({:.2f}, {:.2f}) for 38/40, ({:.2f}, {:.2f}) for 57/60".format(
                *wilson(19, 20), *wilson(38, 40), *wilson(57, 60)
            ),
            bool(whole),
            erratum=f"no count gives it; the formula does at n = {', '.join(map(str, like))}, where 95% is no whole "
            "count",
        ),
        claim(
            "section 3: mean ± deviation near 5% or 95% reaches “−2% or 102%”",
            "−2%, 102%",
            f"{100 * (0.05 - deviation):.1f}%, {100 * (0.95 + deviation):.1f}% for one deviation at n = 10",
            (round(100 * (0.05 - deviation)), round(100 * (0.95 + deviation))) == (-2, 102),
            note=f"and beyond 100% for every n up to {last}",
        ),
        claim(
            "section 3: left-skewed at p = 0.9, right-skewed at 0.1, symmetric at 0.5",
            "left, right, symmetric",
            f"skewness {skew[0.9]:+.2f}, {skew[0.1]:+.2f}, {skew[0.5]:.2f} at n = 10",
            skew[0.9] < 0 < skew[0.1] and skew[0.5] == 0,
        ),
        claim(
            "section 4: Wilson is “the best balance of coverage and precision”, Clopper-Pearson “ultra-conservative”",
            "no number",
            f"mean exact coverage at n = 10: Wilson {mean[0]:.3f}, Clopper-Pearson {mean[1]:.3f}",
            abs(mean[0] - 0.95) < abs(mean[1] - 0.95),
            note=f"but at its worst rate Wilson's is {worst[0]:.3f}; Clopper-Pearson's is never below {worst[1]:.3f}",
        ),
        number("code: z for 95%", 1.96, 1.959963984540054, to=0.01),
        cannot("introduction: “a -10% or 104% success rate”, “85%” against “90%”", "examples", "figures of speech"),
    ]


def page(data: Path) -> Page:  # noqa: ARG001
    """The page."""
    body = [
        "The interval is asymmetric, so its middle is not the observed rate: 9/10 gives 60% to 98%, whose middle is "
        "79%.",
        "Print the two ends, never “90% ± 19%”. Turn to [measuring](../measuring.md) for the choice of an interval.",
    ]
    return Page("wilson-blog", "A blog post on Wilson intervals", SOURCE, body, exact())
