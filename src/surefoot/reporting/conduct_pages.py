"""The conduct of a study on a page: voids, operators, robots, durations, drift."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from surefoot.core import formatting
from surefoot.reporting.figures import grid_figure, short
from surefoot.reporting.style import COLOURS, INK, canvas, drawing, letters
from surefoot.reporting.tables import cells_of, rows_under, section
from surefoot.study.conduct import Part

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from surefoot.reporting.rollout_pages import RolloutLinks
    from surefoot.study.conduct import Conduct, Reached
    from surefoot.study.plans import Plan
    from surefoot.study.status import Account

MOST_WAYS = 12
"""More ways to fail than this are told by the table alone."""
FEW = 5
"""Conditions that a policy met less often than this on average are told by the list of rollouts alone."""
SEPARATOR = " · "
"""What stands between a task and its condition in the name of a part."""
FAILED = ("policy", "what went wrong", "count", "of its rollouts", "interval", "notes")
DASHES = ("-", "--", "-.", ":")


def conduct_sections(account: Account, figures: dict[str, Any], links: RolloutLinks) -> list[dict[str, Any]]:
    """The sections of the page; one that has nothing to tell is left out. Its counts lead to their rollouts."""
    conduct, found = account.conduct, []
    if conduct is None:
        return []
    policies = account.plan.policies
    if conduct.funnel:
        table = _by_policy("Stage", policies, [(_stage_of(one), one.policy, _reached(one)) for one in conduct.funnel])
        found.append(section("How far rollouts got", ["Rollouts that got as far as each stage, or further."], table))
    if conduct.modes:
        rows = []
        for one in conduct.modes:
            share = ["", ""] if one.share is None else list(cells_of(one.share))
            rows.append([one.policy, one.failure, str(one.count), *share, "; ".join(one.notes)])
        to = [{2: links.to(policy=one.policy, failure=one.failure, outcome="counted")} for one in conduct.modes]
        failures = rows_under("Failures", FAILED, rows, links=to)
        lines = [f"Each interval by itself, {formatting.percent(account.plan.confidence)}. Described, not tested."]
        found.append(section("What went wrong", lines, failures, figures=[figures.get("failures")]))
    if conduct.voids:
        rows = [[str(one.turn), one.policy, one.reason, one.note, "yes" if one.seen else "no"] for one in conduct.voids]
        header = ("turn", "policy", "reason", "note", "an outcome was seen")
        seen = {row.turn for row in links.rows}
        to = [{0: links.to(turn=str(one.turn))} if one.turn in seen else {} for one in conduct.voids]
        voids = rows_under("Voids", header, rows, links=to)
        found.append(section(f"{account.plan.unit.capitalize()}s that do not count", table=voids))
    if conduct.times:
        lines = [
            f"{one.policy}: {100.0 * one.by(one.limit):.1f}% of {formatting.rollouts(one.rollouts)} had succeeded "
            f"after {one.limit:g} s."
            for one in conduct.times
        ]
        found.append(section("Time to success", lines, figures=[figures.get("times")]))
    found += _course(account, conduct, figures, links)
    people = [("scored", one) for one in conduct.scorers] + [("ran", one) for one in conduct.robots]
    rows = [[what, one.name, str(one.recorded)] for what, one in people]
    to = [links.of_operator(one.name) if what == "scored" else {} for what, one in people]
    table = rows_under("By whom", ("as", "name", "results"), rows, links=to)
    return [*found, section("Who, where and when", conduct_lines(conduct), table)]


def _course(account: Account, conduct: Conduct, figures: dict[str, Any], links: RolloutLinks) -> list[dict[str, Any]]:
    """How each policy did in each third of the study, on each rig, by each operator, and in each condition."""
    success, policies = account.plan.measure == "success", account.plan.policies
    contexts = len({one.part for one in conduct.conditions})
    many = contexts > len(account.plan.tasks) and sum(one.rollouts for one in conduct.conditions) < FEW * len(
        conduct.conditions
    )
    shown = (*conduct.stages, *conduct.places, *(_of_tasks(conduct.conditions) if many else conduct.conditions))
    if not shown:
        return []
    lines = ["Described, not tested: the verdict comes from the declared rule."]
    if many:
        few = f"The {contexts:,} conditions were met by each policy fewer than {FEW} times on average"
        lines.append(f"{few}: each rollout is in the list below.")
    cells = [(one.part, one.policy, f"{_mean(one, success=success)} ({one.rollouts:,})") for one in shown]
    to = {(one.part, one.policy): links.of_part(one.policy, one.part) for one in shown}
    table = _by_policy("success (rollouts)" if success else "mean score (rollouts)", policies, cells, to)
    return [section("Over the course of the study", lines, table, figures=[figures.get("thirds")])]


def _of_tasks(parts: Sequence[Part]) -> list[Part]:
    """Tasks in place of tasks and conditions; none where there are no tasks."""
    kept: dict[tuple[str, str], list[Part]] = {}
    for one in parts:
        task, dot, _ = one.part.partition(SEPARATOR)
        if dot:
            kept.setdefault((task, one.policy), []).append(one)
    found = []
    for (task, policy), each in kept.items():
        rollouts = sum(one.rollouts for one in each)
        found.append(Part(policy, task, rollouts, sum(one.rollouts * one.mean for one in each) / rollouts))
    return found


def _by_policy(
    what: str,
    policies: Sequence[str],
    cells: Iterable[tuple[str, str, str]],
    links: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> Any:
    """A table with a row for each part and a column for each policy; a cell may lead to its rollouts."""
    parts: dict[str, dict[str, str]] = {}
    for part, policy, text in cells:
        parts.setdefault(part, {})[policy] = text
    rows = [[part, *(each.get(policy, "") for policy in policies)] for part, each in parts.items()]
    columns = list(enumerate(policies, 1))
    to = [{place: found for place, name in columns if (found := links.get((part, name)))} for part in parts]
    return rows_under(what, ("part", *policies), rows, links=to)


def _stage_of(one: Reached) -> str:
    return f"{one.task}: {one.stage}" if one.task else one.stage


def _reached(one: Reached) -> str:
    return f"{one.reached:,}/{one.rollouts:,}, {one.reached / one.rollouts:.0%}"


def conduct_lines(conduct: Conduct) -> list[str]:
    """When the study was run, in sentences: its sessions and its longest pause."""
    if not conduct.sessions:
        return []
    first, last = conduct.sessions[0], conduct.sessions[-1]
    many = formatting.counted(len(conduct.sessions), "session")
    lines = [f"Run in {many}, from {_minute(first.began)} to {_minute(last.ended)} UTC."]
    gaps = [
        (datetime.fromisoformat(after.began) - datetime.fromisoformat(before.ended)).total_seconds() / 3600
        for before, after in zip(conduct.sessions, conduct.sessions[1:], strict=False)
    ]
    if gaps:
        lines.append(f"The longest pause between two sessions was {max(gaps):.1f} hours.")
    if conduct.minutes >= 1.0:
        lines.append(f"Rollouts took {conduct.minutes:,.0f} minutes.")
    if conduct.minutes_saved >= 1.0:
        lines.append(f"About {conduct.minutes_saved:,.0f} minutes were saved.")
    return lines


def conduct_figures(account: Account) -> dict[str, Figure]:
    """The figures of a study's course, by name; what tells of policies is known once it is unblinded."""
    if account.conduct is None:
        return {}
    made = {
        "failures": failures_figure(account.conduct),
        "times": times_figure(account.conduct),
        "thirds": stages_figure(account.conduct, account.plan),
    }
    return {name: figure for name, figure in made.items() if figure is not None}


def failures_figure(conduct: Conduct) -> Figure | None:
    """How often each policy failed in each way, the commonest way first."""
    ways = list(dict.fromkeys(one.failure for one in sorted(conduct.modes, key=lambda one: -one.count)))
    policies = list(dict.fromkeys(one.policy for one in conduct.modes))
    if not ways or len(ways) > MOST_WAYS:
        return None
    counts = {(one.policy, one.failure): one.count for one in conduct.modes}
    most, cells = max(counts.values()), {}
    for row, way in enumerate(ways):
        for column, policy in enumerate(policies):
            count = counts.get((policy, way), 0)
            light = round(255 - 110 * count / most), round(255 - 60 * count / most)
            cells[row, column] = (f"{count:,}", f"#{light[0]:02x}{light[1]:02x}ff", INK)
    return grid_figure(ways, policies, cells)


def stages_figure(conduct: Conduct, plan: Plan) -> Figure | None:
    """How each policy did in each third of the study: lines that fall or cross show a drift."""
    parts = list(dict.fromkeys(one.part for one in conduct.stages))
    if not parts:
        return None
    times = 100.0 if plan.measure == "success" else 1.0
    with drawing():
        figure, axes = canvas(7.2, 3.0)
        for place, policy in enumerate(plan.policies):
            means = {one.part: times * one.mean for one in conduct.stages if one.policy == policy}
            met = [(parts.index(part), mean) for part, mean in means.items()]
            dash = DASHES[place % len(DASHES)]
            axes.plot(*zip(*met, strict=True), dash, marker="o", color=COLOURS[place % len(COLOURS)], label=policy)
        axes.set_xticks(range(len(parts)), parts)
        above = plan.high + 0.03 * (plan.high - plan.low)  # a dot at the top is whole
        axes.set(xlim=(-0.3, len(parts) - 0.7), ylim=(times * plan.low, times * above))
        axes.set_ylabel("% succeeded" if plan.measure == "success" else "mean score")
        _legend(axes)
    return figure


def times_figure(conduct: Conduct) -> Figure | None:
    """The share of each policy's rollouts that had succeeded by each time, to the time limit."""
    if not conduct.times:
        return None
    with drawing():
        figure, axes = canvas(7.2, 3.2)
        for place, one in enumerate(conduct.times):
            shares = [100.0 * number / one.rollouts for number in range(len(one.seconds) + 1)]
            axes.step(
                [0.0, *one.seconds, one.limit],
                [*shares, shares[-1]],
                where="post",
                color=COLOURS[place % len(COLOURS)],
                linewidth=1.7,
                label=one.policy,
            )
        axes.set(xlim=(0, max(one.limit for one in conduct.times)), ylim=(0, 100))
        axes.set_xlabel("seconds")
        axes.set_ylabel("% succeeded")
        _legend(axes)
    return figure


def _legend(axes: Axes) -> None:
    """The names of the lines, beside them: over them they would hide what is drawn."""
    handles, names = axes.get_legend_handles_labels()
    shown = [short(name, 18) for name in names]
    axes.figure.legend(
        handles,
        shown,
        frameon=False,
        loc="outside right upper",
        fontsize=letters(8.5, 2 * len(names)),
        handlelength=1.6,
    )


def _mean(one: Part, *, success: bool) -> str:
    return f"{100.0 * one.mean:.1f}%" if success else f"{one.mean:.3g}"


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")
