"""A study on a page: its own verdict first; while it is blinded, its progress only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from surefoot.core import formatting, sentences
from surefoot.core.verdict import Verdict
from surefoot.reporting.conduct_pages import conduct_figures, conduct_lines, conduct_sections
from surefoot.reporting.ranking_pages import ranking_figure, ranking_sections
from surefoot.reporting.style import COLOURS, FAINT, INK, canvas, drawing
from surefoot.reporting.tables import COMPARED, comparison_row, rows_under, section
from surefoot.study.plans import LISTED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from surefoot.analysis.comparisons import Comparison
    from surefoot.reporting.rollout_pages import RolloutLinks
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
    of = f"{account.blocks:,} of at most {account.plan.horizon:,} {account.plan.unit}s count"
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
    race = finding.ranking is not None and finding.ranking.still is not None
    named = "the best is named" if account.ending == "verdict" else "none is named"
    return {"kind": finding.verdict.value, "text": f"{before}{named if race else sentences.CELL[finding.verdict]}"}


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
    from surefoot.reporting.pages import drawn_twice, shown_figure

    first, second, *_ = account.plan.policies
    level = formatting.percent(account.plan.confidence)
    captions = {
        "failures": "How often each policy failed in each way.",
        "thirds": "How each policy did in each third of the study. Described, not tested.",
        "times": "A failed rollout never succeeds; the curve ends at the time limit.",
        "ranking": "Means with their intervals, for information; letters by the ranking; rollouts used "
        "of those planned.",
        "sequence": f"Observed gain of {first} over {second}, pair by pair, with the interval that held at each moment "
        f"({level} over all looks).",
        "evidence": "Evidence starts at 1; if the claim is false, it reaches the line with a chance of "
        "at most 1 divided by the line's value.",
    }
    drawn = drawn_twice(lambda: study_figures(account))
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
