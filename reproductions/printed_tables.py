"""Do the totals and percentages of Snyder et al. follow from their own tables?"""

from __future__ import annotations

from typing import NamedTuple

from reproductions.pages import Check, claim, number

SIMULATION, HARDWARE, LEARNING = 200, 50, 1000
"""Rollouts of each policy; an undecided comparison counts them all."""


class Column(NamedTuple):
    """Rollouts to a decision per task, none where undecided, and the printed total of both policies."""

    stops: tuple[int | None, ...]
    total: int

    def sum(self, most: int) -> int:
        """The total that the column has."""
        return 2 * sum(most if stop is None else stop for stop in self.stops)


TABLE_TWO = {
    "simulation": {
        "progress, N-SCORE": Column((38, 33, 10, 18, None), 598),
        "progress, WSR": Column((36, 36, 10, 20, None), 604),
        "success, STEP": Column((154, 169, 40, 77, None), 1280),
        "success, N-SCORE": Column((None, None, 46, 98, None), 1488),
        "success, theta-SAVI": Column((None, None, 45, 98, None), 1486),
        "success, WSR": Column((None, None, 52, 103, None), 1510),
    },
    "hardware": {
        "progress, N-SCORE": Column((None, 29, 36, 16, 12), 286),
        "progress, WSR": Column((None, 29, 23, 15, 13), 260),
        "success, STEP": Column((None, None, None, 23, 15), 376),
        "success, N-SCORE": Column((None, None, None, 25, 19), 388),
        "success, theta-SAVI": Column((None, None, None, 30, 19), 398),
        "success, WSR": Column((None, None, None, 46, 17), 426),
    },
}
LEARNERS = {
    "PPO v TD3": (Column((69, 10, 142, 39, 8, 25, 70), 726), Column((60, 9, 79, 39, 7, 25, 61), 560)),
    "PPO v DDPG": (Column((27, 8, 13, 677, 42, 23, 89), 1758), Column((21, 8, 12, 267, 40, 22, 77), 894)),
    "PPO v SAC": (Column((13, 8, 46, 39, 8, 12, 56), 364), Column((12, 7, 41, 39, 7, 11, 47), 328)),
    "SAC v DDPG": (Column((10, 40, 17, 46, 8, 8, 133), 524), Column((9, 38, 14, 46, 8, 7, 109), 462)),
    "TD3 v DDPG": (Column((21, 26, 11, 46, 8, 11, 294), 834), Column((19, 23, 10, 46, 8, 10, 237), 706)),
    "SAC v TD3": (Column((14, 18, 30, None, 96, 24, 249), 2862), Column((13, 15, 20, None, 89, 22, 220), 2758)),
}
"""Table A.I: WSR and N-SCORE; Table III is two of its pairs."""


def checks() -> list[Check]:
    """Every total and percentage."""
    return [*_totals(), *_savings(), *_learners(), *_arena(), *_table_one()]


def _totals() -> list[Check]:
    found = [
        number(
            "Table II: nominal rollouts, simulation and hardware",
            (2000.0, 500.0),
            (5.0 * 2 * 200, 5.0 * 2 * 50),
            to=1.0,
        ),
        number(
            "Tables III and A.I: nominal rollouts of a pair, and of all policies",
            (14000.0, 28000.0),
            (7.0 * 2 * LEARNING, 7.0 * 4 * LEARNING),
            to=1.0,
        ),
    ]
    for half, most in (("simulation", SIMULATION), ("hardware", HARDWARE)):
        for name, column in TABLE_TWO[half].items():
            found.append(
                number(f"Table II, {half}, {name}: total", float(column.total), float(column.sum(most)), to=1.0)
            )
    return found


def _savings() -> list[Check]:
    simulation, hardware = TABLE_TWO["simulation"], TABLE_TWO["hardware"]
    sequential = [1 - simulation[name].total / 2000 for name in simulation if name.startswith("success")]
    robots = [1 - hardware[name].total / 500 for name in hardware if name.startswith("success")]
    rich, poor = simulation["progress, N-SCORE"].total, simulation["success, STEP"].total
    on_robots = [hardware[name].total for name in ("progress, N-SCORE", "progress, WSR")]
    against_step = [1 - total / hardware["success, STEP"].total for total in on_robots]
    return [
        claim(
            "VI-B: sequential savings in simulation, success",
            "25%–35%, 500–700 rollouts",
            f"{min(sequential):.1%} to {max(sequential):.1%}, {2000 * min(sequential):.0f} to "
            f"{2000 * max(sequential):.0f}",
            abs(min(sequential) - 0.25) <= 0.01 and abs(max(sequential) - 0.35) <= 0.0101,
            note="to a point",
        ),
        claim(
            "VI-B: sequential savings on hardware, success",
            "16%–25%, up to 125 rollouts",
            f"{min(robots):.1%} to {max(robots):.1%}, up to {500 * max(robots):.0f}",
            abs(min(robots) - 0.16) < 0.01,
            erratum="the least is WSR's 14.8%; no column saves 16%",
        ),
        number("VI-B: savings of partial credit in simulation, in percent", 70.0, 100 * (1 - rich / 2000), to=1.0),
        number("VI-B: the same in rollouts", 1400.0, 2000.0 - rich, to=100.0),
        claim(
            "VI-B: “an equivalent improvement over STEP of over 50%”",
            "over 50%",
            f"{1 - rich / poor:.1%}",
            1 - rich / poor > 0.5,
        ),
        claim(
            "VI-B: savings of partial credit on hardware",
            "approximately 45%",
            " and ".join(f"{1 - total / 500:.1%}" for total in on_robots),
            abs(1 - sum(on_robots) / 1000 - 0.45) < 0.01,
            note="of N-SCORE and WSR; their mean is 45%",
        ),
        claim(
            "VI-B: against STEP on hardware",
            "24%–30%",
            f"{against_step[0]:.1%} and {against_step[1]:.1%}",
            abs(against_step[0] - 0.24) <= 0.01 and abs(against_step[1] - 0.30) <= 0.01,
            note="to a point",
        ),
        claim(
            "abstract: up to 70% against batch, up to 50% against sequential tests of success",
            "70%, 50%",
            f"{1 - rich / 2000:.1%}, {1 - rich / poor:.1%}",
            rich <= 0.3 * 2000 and rich <= 0.5 * poor,
        ),
    ]


def _learners() -> list[Check]:
    found = [
        number(
            f"Table A.I, {pair}: totals of WSR and N-SCORE",
            tuple(float(column.total) for column in columns),
            tuple(float(column.sum(LEARNING)) for column in columns),
            to=1.0,
        )
        for pair, columns in LEARNERS.items()
    ]
    wsr, ours = (sum(columns[side].total for columns in LEARNERS.values()) for side in (0, 1))
    entries = [
        (w or 0, n or 0) for one, other in LEARNERS.values() for w, n in zip(one.stops, other.stops, strict=True)
    ]
    ties, worse = sum(w == n for w, n in entries), sum(w < n for w, n in entries)
    return [
        *found,
        claim(
            "Appendix C: all comparisons with N-SCORE",
            "approximately 5600",
            f"{ours:,}",
            round(ours, -2) == 5600,
            erratum="the printed columns add up to 5,708",
        ),
        number("Appendix C: all comparisons with WSR", 7100.0, float(wsr), to=100.0),
        claim(
            "Appendix C: “savings of over 80%” of 28,000",
            "over 80%",
            f"{1 - ours / 28000:.1%}",
            1 - ours / 28000 > 0.8,
            erratum="with 5,708 it is just below; and 28,000 counts each rollout once while 5,708 counts it once per "
            "pair",
        ),
        number(
            "Appendix C: improvement on WSR, in percent", 20.0, 100 * (1 - ours / wsr), to=10.0, note="a round figure"
        ),
        claim(
            "VI-C: saved on PPO v DDPG, InvertedPendulum",
            "over 400 of each, over 800 in all",
            f"{677 - 267} and {2 * (677 - 267)}",
            677 - 267 > 400,
        ),
        claim(
            "Table A.I: WSR requires more trials “uniformly across tasks and learning algorithms”",
            "always more",
            f"more in {len(entries) - ties - worse} of {len(entries)} comparisons, as many in {ties}, fewer in {worse}",
            ties == 0,
            erratum="never fewer, but in one of five as many",
        ),
        claim(
            "VI-C: SAC and TD3 return “the maximum possible reward in each rollout”; Appendix C: 1000 and 998",
            "1000 and 1000",
            "1000.0 and 998.6 in Table A.II",
            False,
            erratum="TD3's mean is below the maximum, so some rollout was; and 998.6 is not 998",
        ),
    ]


def _arena() -> list[Check]:
    return [
        claim(
            "Fig. 2: saved against WSR on RoboArena, 1419 v 1881", "at least 450", f"{1881 - 1419}", 1881 - 1419 >= 450
        ),
        number("Appendix C: saved against STEP on successes", 560.0, 1979.0 - 1419.0, to=1.0),
        number("Appendix C: error of each of six pairs", 0.0083, 0.05 / 6, to=1e-4),
        number("III: simulation rollouts of LBM 1.0", 2000.0, 5.0 * 2 * SIMULATION, to=1.0),
    ]


def _table_one() -> list[Check]:
    return [
        claim(
            "Table I: N-SCORE against WSR, nonparametric",
            "15% fewer pairs, 5 points of power",
            f"{1 - 206.8 / 247.3:.1%}, {100 * (0.889 - 0.840):.1f} points",
            abs(1 - 206.8 / 247.3 - 0.15) < 0.02,
        ),
        claim(
            "Table I: 35 Bernoulli alternatives, nine of gap 0.1",
            "35, 9",
            f"{sum(range(5, 10))}, 9: rates .05 to .95 in steps of .1, gaps .1 to .5",
            sum(range(5, 10)) == 35,
        ),
        number("VI-C: dimension of a parametric model of the times", 1001.0, 1000.0 + 1, to=1.0),
    ]
