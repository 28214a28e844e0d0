"""What do Snyder et al. print about real rollouts, and is it so? Needs the published rollouts, beside the project."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path
from typing import Any

import numpy as np

import surefoot as sf
from reproductions.pages import Check, Outcome, Page, cannot, claim, number, table
from reproductions.printed_tables import HARDWARE, SIMULATION, TABLE_TWO
from surefoot.core.verdict import Verdict
from surefoot.sequential import ExactBinary, ExactPairedBinary, FiniteHorizonMixture, NScore, Savi, Wsr, simulate

SOURCE = (
    "Snyder et al. (2026), Table II and the RoboArena figures, on other people's rollouts: LBM 1.0 (Barreiros et al. "
    "2025, Dryad doi:10.5061/dryad.xd2547dxc) and the RoboArena dump of 2025-08-05. The files are not part of this "
    "project; without them this page is left as it was."
)
TASKS = {
    "simulation": ("DumpVegetables", "PutContainer", "PutFruit", "SeparateFruit", "TurnLarge"),
    "hardware": ("BikeRotor", "CutApple", "CleanLitter", "ClearKitchen", "SetUpBreakfast"),
}
MOST = {"simulation": SIMULATION, "hardware": HARDWARE}
ARENA = {
    "π0-FAST": "pi0_fast_droid",
    "PG-Diff": "paligemma_diffusion_droid",
    "π0": "pi0_droid",
    "PG-Bin": "paligemma_binning_droid",
}
PUBLISHED = ("N-SCORE", "theta-SAVI", "WSR")
OWN = ("finite-horizon mixture", "exact design", "exact paired design")


def rules(horizon: int, confidence: float = 0.95, *, exact: bool = True) -> dict[str, Any]:
    """The published rules and ours, for successes; WSR is two-sided, as in the paper."""
    found: dict[str, Any] = {
        "N-SCORE": NScore(horizon, bins=2, confidence=confidence),
        "theta-SAVI": Savi(horizon, confidence=confidence),
        "WSR": Wsr(horizon, claim="either", confidence=confidence),
        "finite-horizon mixture": FiniteHorizonMixture(horizon, binary=True, confidence=confidence),
    }
    if exact:
        found["exact design"] = ExactBinary(horizon, confidence=confidence)
        found["exact paired design"] = ExactPairedBinary(horizon, confidence=confidence)
    return found


def stop(rule: Any, first: np.ndarray, second: np.ndarray) -> int | None:
    """After how many pairs the first policy was found better; none if it was not."""
    pairs = min(len(first), len(second))
    done = simulate(rule, first[:pairs], second[:pairs])
    return int(done.stopping_times[0]) if done.verdicts[0] is Verdict.BETTER else None


def successes_of(folder: Path) -> dict[str, list[list[np.ndarray]]]:
    """Per half of Table II, for each task: the successes of the finetuned and of the single-task policy."""
    rollouts = sf.read(folder / "lbm1" / "Fig4_AB.csv")
    found = {}
    for half, tasks in TASKS.items():
        named = [next(task for task in rollouts.tasks if task.startswith(start)) for start in tasks]
        found[half] = [
            [
                np.array([float(value) for value in rollouts.where(task=task, policy=policy).column("success")])
                for policy in ("LBM finetuned", "Single Task")
            ]
            for task in named
        ]
    return found


def table_two(folder: Path) -> dict[str, dict[str, list[int | None]]]:
    """Per half of Table II, per rule: the stops on success, in the order of the tasks."""
    return {
        half: {name: [stop(rule, *pair) for pair in pairs] for name, rule in rules(MOST[half]).items()}
        for half, pairs in successes_of(folder).items()
    }


def arena(folder: Path) -> tuple[int, dict[str, np.ndarray]]:
    """How many rollouts RoboArena has in all, and the four policies' successes, cut to the shortest list."""
    with (folder / "roboarena" / "per_trial_binary_data.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    lists = {name: [float(row[column]) for row in rows if row[column]] for name, column in ARENA.items()}
    shortest = min(len(values) for values in lists.values())
    return sum(bool(value) for row in rows for value in row.values()), {
        name: np.array(values[:shortest]) for name, values in lists.items()
    }


def page(data: Path) -> Page | None:
    """The page, or nothing without the rollouts."""
    if not (data / "lbm1").is_dir() or not (data / "roboarena").is_dir():
        print(f"  skipped: no rollouts at {data}; the page stays as it is. Name their folder with --shared-data.")
        return None
    found = table_two(data)
    count, successes = arena(data)
    checks = [*_stops(found), *_arena(count, successes), *_unseen()]
    body = [
        "## Table II, binary success",
        "",
        "Rollouts of each policy until the finetuned policy is found better than the single-task one, at 5%; a dash "
        "is undecided, and counts as all 200 or 50 in the total, which is of both policies. Rollout n of one policy "
        "is paired with rollout n of the other, in recorded order.",
        "",
        *_table(found),
        "",
        "theta-SAVI stops where the paper says on every task. N-SCORE and WSR each differ by two rollouts on one "
        "task. So do the authors' own packages, run beside the peers (`python -m benchmarks.real_rollouts`): their "
        "WSR stops at our 54 and not at the printed 52, and N-SCORE at our 17 for success and failure, at 19 as "
        "partial credit of two levels, where it stops at 87 for the printed 98 elsewhere. The printed N-SCORE and WSR "
        "columns seem to come from an earlier version. The table has our defaults, which were set before. STEP's own "
        "package gives its printed stops. Of our rules the exact designs come closest to its totals: "
        f"{_all('exact design', found)} (exact) and {_all('exact paired design', found)} (exact paired, which also "
        "holds for independent rollouts) against "
        f"{sum(part['success, STEP'].total for part in TABLE_TWO.values()):,}; the mixture, which takes any bounded "
        f"score, has {_all('finite-horizon mixture', found)}. On one run of ten tasks such differences are chance; "
        "Table I's means are what to compare rules by.",
        "",
        "## Task progress under distribution shift",
        "",
        "The progress scores of Table II are not in our files; those of the same five simulation tasks under "
        "distribution shift are (Fig. 5C of LBM 1.0). Rollouts of each policy to a decision, out of 200:",
        "",
        *_progress(data),
        "",
        "## RoboArena, binary success",
        "",
        f"Four policies, {len(successes['PG-Bin'])} rollouts each, six pairs at 5%/6. The better policy of a pair is "
        "taken from the data here, as only hindsight can; a study declares it beforehand or counts twelve claims, not "
        "six. Rollouts to a decision:",
        "",
        *_arena_table(successes),
        "",
        "The 641 rollouts are those of PG-Bin in our dump, the shortest list; only 599 sessions ran all four "
        "policies, so rollout n of one policy need not be of the same session as rollout n of another.",
    ]
    return Page("sequential-rollouts", "Sequential comparison on real rollouts", SOURCE, body, checks)


def _stops(found: dict[str, dict[str, list[int | None]]]) -> list[Check]:
    checks = []
    for half, tasks in TASKS.items():
        for name in PUBLISHED:
            printed = TABLE_TWO[half][f"success, {name}"].stops
            ours = found[half][name]
            away = [(task, a, b) for task, a, b in zip(tasks, printed, ours, strict=True) if a != b]
            why = "; ".join(f"{task} {_dash(b)} for {_dash(a)}" for task, a, b in away)
            package = {
                "N-SCORE": "the authors' package 0.1.2 gives ours for success and failure, and 19 as partial credit of "
                "two levels, where it stops at 87 for the printed 98",
                "WSR": "the authors' package 0.1.2 gives ours",
            }
            checks.append(
                Check(
                    f"Table II, {half}, success, {name}",
                    _list(printed),
                    _list(ours),
                    Outcome.DIFFERS if away else Outcome.AGREES,
                    f"{why}; {package[name]}" if away else "",
                )
            )
    return checks


def _arena(count: int, successes: dict[str, np.ndarray]) -> list[Check]:
    trials = len(successes["PG-Bin"])
    confidence = 1 - 0.05 / 6
    rules_here = rules(trials, confidence, exact=False)
    pairs = list(itertools.combinations(successes, 2))
    stops = {
        name: {pair: stop(rules_here[name], *(successes[one] for one in pair)) for pair in pairs} for name in PUBLISHED
    }
    clear = ("π0-FAST", "PG-Bin")
    reached = [stops[name][clear] for name in ("N-SCORE", "WSR")]
    undecided = {name: sum(value is None for value in part.values()) for name, part in stops.items()}
    gap = successes["π0-FAST"].mean() - successes["PG-Bin"].mean()
    return [
        claim(
            "abstract: RoboArena and LBM hardware rollouts", "over 4500", f"{count:,} in RoboArena alone", count > 4500
        ),
        number("VI-C: RoboArena trials of each policy", 641.0, float(trials), to=1.0),
        claim(
            "Appendix C: π0-FAST and PG-Bin differ by “around 20% points” in success",
            "about 0.2",
            f"{gap:.3f}",
            0.15 < gap < 0.25,
        ),
        claim(
            "Appendix C: around 80 trials for π0-FAST against PG-Bin",
            "around 80",
            f"{reached[0]} with N-SCORE, {reached[1]} with WSR",
            all(value and 70 <= value <= 90 for value in reached),
        ),
        claim(
            "Fig. A.3: on successes no method separates all policies",
            "not all",
            f"N-SCORE leaves {undecided['N-SCORE']} of six pairs undecided, WSR {undecided['WSR']}",
            all(value > 0 for value in undecided.values()),
        ),
        claim(
            "Figs. A.5a and A.5c: N-SCORE and WSR fail on two close pairs within 641 trials",
            "two pairs",
            " and ".join(" v ".join(pair) for pair in pairs if stops["N-SCORE"][pair] is None)
            + " with N-SCORE; WSR fails on them too",
            undecided["N-SCORE"] == 2
            and all(stops["WSR"][pair] is None for pair in pairs if stops["N-SCORE"][pair] is None),
        ),
    ]


def _unseen() -> list[Check]:
    return [
        cannot(
            "Table II, progress: N-SCORE and WSR",
            "38, 33, 10, 18, –; ...",
            "the progress scores of these rollouts are not in our files, which hold those under distribution shift",
        ),
        cannot(
            "Table II, success, STEP",
            "154, 169, 40, 77, –; –, –, –, 23, 15",
            "not ours; its own package, run beside the peers, gives the printed stops (benchmarks.real_rollouts)",
        ),
        cannot(
            "Fig. 2 and Fig. A.3: 1419, 1881 trials on continuous progress, over 200 fewer of π0",
            "figures",
            "the progress scores are not in our files",
        ),
        cannot("Fig. A.3: STEP on successes, 1979 trials", "1979", "not run"),
        cannot("Figs. A.4 and A.5: p-values on continuous progress, 18 trials", "figures", "the same scores"),
    ]


def _table(found: dict[str, dict[str, list[int | None]]]) -> list[str]:
    head = ["task", "STEP, printed"]
    for name in PUBLISHED:
        head += [f"{name}, printed", "ours"]
    rows = []
    for half, tasks in TASKS.items():
        printed, ours = TABLE_TWO[half], found[half]
        for i, task in enumerate(tasks):
            row = [task, _dash(printed["success, STEP"].stops[i])]
            for name in PUBLISHED:
                row += [_dash(printed[f"success, {name}"].stops[i]), _dash(ours[name][i])]
            rows.append([*row, *(_dash(ours[name][i]) for name in OWN)])
        totals = [f"**total, {half}**", printed["success, STEP"].total]
        for name in PUBLISHED:
            totals += [printed[f"success, {name}"].total, _total(ours[name], MOST[half])]
        own = [_total(ours[name], MOST[half]) for name in OWN]
        rows.append([*(str(cell) for cell in totals), *(str(cell) for cell in own)])
    return table([*head, *OWN], rows)


def _all(name: str, found: dict[str, dict[str, list[int | None]]]) -> str:
    return f"{sum(_total(found[half][name], MOST[half]) for half in TASKS):,}"


def _progress(folder: Path) -> list[str]:
    rollouts = sf.read(folder / "lbm1" / "Fig5_C.csv")
    given = {
        "N-SCORE, eleven bins": NScore(SIMULATION, bins=11),
        "WSR": Wsr(SIMULATION, claim="either"),
        "finite-horizon mixture": FiniteHorizonMixture(SIMULATION, binary=False),
    }
    rows, stops = [], []
    for task, start in [
        (task, start) for start in TASKS["simulation"] for task in rollouts.tasks if task.startswith(start)
    ]:
        pair = [
            np.array([float(value) for value in rollouts.where(task=task, policy=policy).column("score")])
            for policy in ("LBM Finetuned", "Single Task")
        ]
        stops.append([stop(rule, *pair) for rule in given.values()])
        rows.append([start, *(_dash(value) for value in stops[-1])])
    totals = [_total([row[i] for row in stops], SIMULATION) for i in range(len(given))]
    return table(["task", *given], [*rows, ["**total**", *totals]])


def _arena_table(successes: dict[str, np.ndarray]) -> list[str]:
    given = rules(len(successes["PG-Bin"]), 1 - 0.05 / 6, exact=False)
    rows = []
    for pair in itertools.combinations(successes, 2):
        one, other = (successes[name] for name in pair)
        stops = [_dash(stop(rule, one, other)) for rule in given.values()]
        rows.append([" v ".join(pair), f"{one.mean():.3f} v {other.mean():.3f}", *stops])
    return table(["pair", "success rates", *given], rows)


def _total(stops: list[int | None], most: int) -> int:
    return 2 * sum(most if value is None else value for value in stops)


def _dash(value: int | None) -> str:
    return "–" if value is None else str(value)


def _list(values: Any) -> str:
    return ", ".join(_dash(value) for value in values)
