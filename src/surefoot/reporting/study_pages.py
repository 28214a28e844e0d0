"""A study on a page: its own verdict first, or while it is blinded its progress only; and how it was conducted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from surefoot.core import formatting, sentences
from surefoot.core.verdict import Verdict
from surefoot.reporting.figures import grid_figure, short
from surefoot.reporting.page_sections import ranking_caption, ranking_figure, ranking_sections
from surefoot.reporting.style import COLOURS, FAINT, INK, canvas, drawing, letters
from surefoot.reporting.tables import COMPARED, FEW, cells_of, comparison_row, rows_under, section
from surefoot.study.conduct import Part
from surefoot.study.plans import LISTED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from surefoot.analysis.comparisons import Comparison
    from surefoot.reporting.rollout_pages import RolloutLinks
    from surefoot.study.conduct import Conduct, Reached
    from surefoot.study.plans import Plan
    from surefoot.study.status import Account, StudyFinding


UNSOUND = (
    "The study's log does not verify, so do not rely on anything below; what was found is listed under deviations."
)
NOT_THE_VERDICT = (
    "These intervals are for rollouts whose number is fixed beforehand. Here the rule decided when to stop, so read "
    "them as a description: the verdict above comes from the declared rule."
)


def progress_lines(account: Account) -> list[str]:
    """How far the study is and whether to go on, with nothing that gives a policy away."""
    of = f"{account.blocks:,} of at most {account.most or account.plan.horizon:,} {account.plan.unit}s count"
    lines = [f"{account.decision.capitalize()}.", f"{_ran(account)} {of}."]
    if account.blinded:
        lines.append("The study is blinded: what was found for each policy is shown once it is unblinded.")
    lines += conduct_lines(account.conduct) if account.conduct is not None else []
    return lines if account.sound else [UNSOUND, *lines]


def study_answers(account: Account, finding: StudyFinding) -> list[str]:
    """What the declared rule found, in sentences; no verdict but its own."""
    plan = account.plan
    going = account.ending is None
    if going:
        first = "Not decided yet: the study goes on."
    elif finding.ranking is not None and finding.ranking.still is not None:
        first = finding.ranking.said[0]
    elif plan.in_pairs:
        scale: formatting.Scale = "gain" if plan.measure == "success" else "score gain"
        edge = formatting.margin(plan.margin, scale) if plan.margin else ""
        first = sentences.headline(finding.verdict, *plan.policies, margin=edge)
    else:
        first = sentences.OF_ALL[finding.verdict].format(first=plan.policies[0])
    listed = bool(finding.claims) and not going
    first = str(finding.claims[0]) if listed else first
    if account.exploratory and not going:
        first = f"Exploratory: {first[0].lower() if finding.verdict is Verdict.UNDECIDED else first[0]}{first[1:]}"
    rule = (
        f"Declared: rule {plan.rule!r}, claim {plan.claim!r}, {formatting.percent(plan.confidence)} over all looks, "
        f"at most {plan.horizon:,} {account.plan.unit}s."
    )
    said, also = finding.statement.splitlines() if finding.ranking is None else finding.ranking.said, list[str]()
    if listed and finding.p_value is not None:  # the headline says of what it is decided
        said = [f"After {formatting.counted(account.blocks, 'pair')}: {formatting.p_value(finding.p_value)}."]
        also = [str(claim) for claim in finding.claims[1:]]
        for policy, mean in zip(plan.policies, finding.on_list, strict=False):
            helped = " ".join(str(note) for note in mean.notes if getattr(note, "kind", "") == "predictions")
            also.append(f"A complete run of {policy} would show {mean} {helped}")
    lines = list(dict.fromkeys([first, *also, *gain_lines(account.plan, finding), *said, _ran(account), rule]))
    if account.exploratory:
        lines.append(
            "A binding part of the plan was amended after the first result, so the stated confidence does not hold."
        )
    return lines if account.sound else [UNSOUND, *lines]


def _ran(account: Account) -> str:
    """How many rollouts were run, and what became of them."""
    return str(account.counts or f"{formatting.rollouts(account.recorded)} recorded.")


def gain_lines(plan: Plan, finding: StudyFinding) -> list[str]:
    """What may still be true, in a sentence; then the gain as it is estimated and as it was observed."""
    interval = finding.interval
    if interval is None:
        return []
    scale: formatting.Scale = "gain" if plan.measure == "success" else "score gain"
    possible = sentences.still_possible(
        interval.low,
        interval.high,
        width=plan.high - plan.low,
        scale=scale,
        confidence=interval.confidence,
        kind=finding.kind,
    )
    lines = [possible, f"Gain {interval}"]
    pairs = interval.trials or 0
    if finding.observed is not None:
        means = zip(plan.policies, finding.means, strict=True)
        each = "; ".join(f"{name} {_raw(plan, mean, pairs)}" for name, mean in means)
        raw = formatting.number(finding.observed, scale) + formatting.unit(scale)
        lines.append(f"Observed in {formatting.counted(pairs, 'pair')}: {each}; a gain of {raw}.")
    if finding.of_list is not None:
        lines.append(f"Gain on the {plan.horizon} declared environments themselves: {finding.of_list}")
    # That it is about a run that stopped as declared, the first of these lines says.
    return [*lines, *(str(note) for note in finding.notes if getattr(note, "kind", "") != "after_stop")]


def _raw(plan: Plan, mean: float, pairs: int) -> str:
    return f"{round(mean * pairs)}/{pairs}" if plan.measure == "success" else formatting.number(mean, "score")


def chip(account: Account, finding: StudyFinding) -> dict[str, str]:
    """The verdict in a word."""
    if account.ending is None:
        return {"kind": "undecided", "text": "not decided yet"}
    before = "exploratory: " if account.exploratory else ""
    return {
        "kind": finding.verdict.value,
        "text": before + (_named(account, finding) or sentences.CELL[finding.verdict]),
    }


def _named(account: Account, finding: StudyFinding) -> str:
    """How finding one policy of many ended, in a word; empty where they are ranked."""
    ranking, within = finding.ranking, account.plan.within
    if ranking is None or ranking.still is None:
        return ""
    if ranking.picks:
        return "one is picked"
    best = "the best is named" if within is None else f"one within {within:g} of the best is named"
    return best if account.ending == "verdict" else "none is named"


def study_figures(account: Account) -> dict[str, Figure]:
    """A study drawn: its evidence and gain, pair by pair, its ranking, its course; none while it is blinded."""
    finding, made = account.finding, conduct_figures(account)
    if finding is not None and finding.ranking is not None and account.blocks:
        made["ranking"] = ranking_figure(account, finding.ranking)
    if finding is None or len(finding.steps) < 2:
        return made
    made["sequence"] = _sequence_figure(account, finding)
    if finding.threshold is not None:
        made["evidence"] = _evidence_figure(finding, finding.threshold)
    return made


def study_sections(account: Account, links: RolloutLinks) -> list[dict[str, Any]]:
    """The sections of the page that are the study's own: how it was decided, and what happened on the way."""
    from surefoot.reporting.pages import drawn_for_page, shown_figure

    first, second, *_ = account.plan.policies
    level = formatting.percent(account.plan.confidence)
    captions = {
        "failures": "How often each policy failed in each way.",
        "thirds": "How each policy did in each third of the study. Described, not tested.",
        "times": "A failed rollout never succeeds; the curve ends at the time limit.",
        "ranking": ranking_caption(account),
        "sequence": f"Observed gain of {first} over {second}, pair by pair, with the interval that held at each moment "
        f"({level} over all looks).",
        "evidence": "Evidence starts at 1; if the claim is false, it reaches the line with a chance of "
        "at most 1 divided by the line's value.",
    }
    drawn = drawn_for_page(lambda: study_figures(account))
    shown = {name: shown_figure(drawn, name, captions[name], prefix="study") for name in drawn}
    line = f"Plan {account.fingerprint}, fixed before the first rollout. Log: {account.mark}."
    plan = rows_under("The plan", ("field", "value"), plan_rows(account.plan))
    figures = [shown.get("sequence"), shown.get("evidence")]
    decided = section("How it was decided", [line], plan, figures=figures, opened=False)
    return [*ranking_sections(account, shown), decided, *conduct_sections(account, shown, links)]


def fixed_size_sections(compared: Sequence[Comparison]) -> list[dict[str, Any]]:
    """What an analysis would say for which the number of rollouts had been fixed beforehand, as exploratory."""
    if not compared:
        return []
    rows = [comparison_row(one)[:-1] for one in compared]
    lines = ["Exploratory. The rule looked at these rollouts to decide when to stop, so these intervals and p-values"]
    lines[0] += " do not hold for them; they are for readers who expect them, and for comparison with other papers."
    table = rows_under("Every two policies, fixed size", COMPARED[:-1], rows)
    return [section("As if the number of rollouts had been fixed", lines, table, opened=False)]


def _sequence_figure(account: Account, finding: StudyFinding) -> Figure:
    steps, plan = finding.steps, account.plan
    times = 100.0 if plan.measure == "success" else 1.0
    pairs = [step.pairs for step in steps]
    with drawing():
        figure, axes = canvas(7.2, 3.2)
        low, high = ([times * getattr(step, end) for step in steps] for end in ("low", "high"))
        axes.fill_between(pairs, low, high, color=COLOURS[0], alpha=0.22, linewidth=0)
        axes.plot(pairs, [times * step.estimate for step in steps], color=COLOURS[0], linewidth=1.7)
        axes.axhline(0.0, color=INK, linewidth=1.0)
        axes.set(xlim=(1, max(pairs)), ylim=(-times * (plan.high - plan.low), times * (plan.high - plan.low)))
        axes.set_xlabel("pairs of rollouts")
        axes.set_ylabel("gain in points" if plan.measure == "success" else "gain in score")
    return figure


def _evidence_figure(finding: StudyFinding, threshold: float) -> Figure:
    known = [(step.pairs, step.evidence) for step in finding.steps if step.evidence is not None]
    with drawing():
        figure, axes = canvas(7.2, 3.2)
        axes.plot([0, *(pairs for pairs, _ in known)], [1.0, *(max(e, 1e-6) for _, e in known)], color=COLOURS[0])
        axes.axhline(threshold, color=INK, linewidth=1.0)
        axes.axhline(1.0, color=FAINT, linewidth=0.6)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.minorticks_off()
        axes.set_xlabel("pairs of rollouts")
        axes.set_ylabel(f"evidence (decides at {threshold:g})")
    return figure


def plan_rows(plan: Plan) -> list[tuple[str, str]]:
    """The fields of a plan as a person reads them; of a long list only how many values it has."""
    unasked = {"question"} if plan.in_pairs else set()
    unasked |= {"low", "high"} if plan.measure == "success" else set()
    told = {name: value for name, value in plan.to_dict().items() if name not in {"type", "schema", *unasked}}
    told |= {name: formatting.counted(len(told[name]), "value") for name in LISTED if told[name]}
    return [(name.replace("_", " "), text) for name, value in told.items() if (text := _told(value))]


def progress_page(account: Account, made: str) -> str:
    """A blinded study as a page: progress, and whether to go on."""
    from surefoot import __version__
    from surefoot.reporting.pages import environment

    lines = progress_lines(account)
    return (
        environment()
        .get_template("progress.html.j2")
        .render(
            title=account.plan.title,
            answers=lines,
            deviations=account.deviations,
            made=made,
            version=__version__,
            fingerprint=account.fingerprint,
            mark=account.mark,
        )
    )


def _told(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_told(item) for item in value)
    if isinstance(value, dict):  # a part of a plan: its name, then what is said of it
        said = {name: text for name, one in value.items() if name not in ("type", "schema") and (text := _told(one))}
        name, points = said.pop("name", ""), said.pop("points", "")
        more = "; ".join(f"{what.replace('_', ' ')} {text}" for what, text in said.items())
        return f"{name}{f' {points}' if points else ''}{f' ({more})' if more and name else more}"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else "" if value is None else str(value)


MOST_WAYS = 12
"""More ways to fail than this are told by the table alone."""
SEPARATOR = " · "
"""What stands between a task and its condition in the name of a part."""
FAILED = ("policy", "what went wrong", "count", "of its rollouts", "interval", "notes")
DASHES = ("-", "--", "-.", ":")


def conduct_sections(account: Account, figures: dict[str, Any], links: RolloutLinks) -> list[dict[str, Any]]:
    """The sections of the page; one that has nothing to tell is left out. Its counts lead to their rollouts."""
    conduct, found = account.conduct, []
    if conduct is None:
        return []
    policies = conduct.policies or account.plan.policies
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
    scored, ran = ({one.name: str(one.recorded) for one in each} for each in (conduct.scorers, conduct.robots))
    names = list(dict.fromkeys((*scored, *ran)))
    rows = [[name, scored.get(name, ""), ran.get(name, "")] for name in names]
    table = rows_under("By whom", ("name", "scored", "ran"), rows, links=[links.of_operator(name) for name in names])
    return [*found, section("Who, where and when", conduct_lines(conduct), table)]


def _course(account: Account, conduct: Conduct, figures: dict[str, Any], links: RolloutLinks) -> list[dict[str, Any]]:
    """How each policy did in each third of the study, on each rig, by each operator, and in each condition."""
    success, policies = account.plan.measure == "success", conduct.policies or account.plan.policies
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
        for place, policy in enumerate(dict.fromkeys(one.policy for one in conduct.stages)):
            means = {one.part: times * one.mean for one in conduct.stages if one.policy == policy}
            met = [(parts.index(part), mean) for part, mean in means.items()]
            dash = DASHES[place % len(DASHES)]
            axes.plot(*zip(*met, strict=True), dash, marker="o", color=COLOURS[place % len(COLOURS)], label=policy)
        axes.set_xticks(range(len(parts)), [part.removesuffix(" third") for part in parts])
        axes.set_xlabel("third of the study")
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
