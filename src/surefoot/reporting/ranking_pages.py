"""The ranking of a study, on a page and as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surefoot.core import formatting, sentences
from surefoot.core.sentences import fill
from surefoot.core.verdict import Verdict
from surefoot.reporting.figures import draw_intervals
from surefoot.reporting.style import COLOURS, FAINT, canvas, drawing, letters, narrow, row_height
from surefoot.reporting.tables import cells_of, rows_under, section

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from surefoot.study.ranking import RankedPair, RankedPolicy, StudyRanking
    from surefoot.study.status import Account

LETTERS = "Two {words.policies} share a letter exactly when no difference between them was shown."
DECIDED = "who is better"


def ranking_figure(account: Account, ranking: StudyRanking) -> Figure:
    """Means with their intervals, letters, and the rollouts that each policy took of those it might have."""
    what = "success rate" if account.plan.measure == "success" else "mean score"
    used = [one.rollouts for one in ranking.policies]
    most = account.plan.horizon if ranking.still is None else max(used)
    with drawing():
        figure, axes = canvas(7.2, 1.0 + row_height(len(ranking.policies)) * len(ranking.policies))
        if narrow():
            rows = [
                (one.policy, one.interval, f"{one.letters or one.standing}  {_of(one, most)}")
                for one in ranking.policies
            ]
            draw_intervals(axes, rows, what)
            return figure
        figure.clear()
        axes, beside = figure.subplots(1, 2, sharey=True, width_ratios=(3.0, 1.3))
        draw_intervals(
            axes, [(one.policy, one.interval, one.letters or one.standing) for one in ranking.policies], what
        )
        places = range(len(ranking.policies))
        beside.barh(places, [most] * len(used), height=0.5, color=FAINT, alpha=0.25)
        beside.barh(places, used, height=0.5, color=COLOURS[0])
        look = {"textcoords": "offset points", "va": "center", "fontsize": letters(9, len(used))}
        for place, count in zip(places, used, strict=True):
            beside.annotate(f"{count:,}", (most, place), (4, 0), **look)
        beside.set(xlim=(0, most * 1.3), xlabel=f"rollouts, of {most:,}" if ranking.still is None else "rollouts")
        beside.set_xticks([0, most])
        beside.tick_params(axis="y", length=0, labelleft=False)
        beside.spines["left"].set_visible(False)
    return figure


def ranking_sections(account: Account, figures: dict[str, Any]) -> list[dict[str, Any]]:
    """The sections of the page: where everybody stands, and by how much they differ."""
    ranking = account.finding.ranking if account.finding is not None else None
    if ranking is None:
        return []
    level = formatting.percent(account.plan.confidence)
    if ranking.still is not None:
        return [_race_section(ranking, level, figures)]
    together = f"All claims of who is better hold together at {level}, over all looks. {fill(LETTERS)}"
    header = ["place", "policy", "letters", "rollouts", "joined after", "standing"]
    rows = [_policy_row(one) for one in ranking.policies]
    standing = rows_under("Where each policy stands", header, rows)
    lines = ranking.said if ranking.question.startswith("top ") else [together]
    made = [section("The ranking", list(lines), standing, figures=[figures.get("ranking")])]
    if any(pair.gain is not None for pair in ranking.pairs):
        header = ["first", "second", DECIDED, "gain", f"{level} for all sizes together"]
        pairs = rows_under("Every two policies", header, [pair_row(pair) for pair in ranking.pairs])
        made.append(section("By how much they differ", [_family(ranking, level)], pairs))
    return made


def _race_section(ranking: StudyRanking, level: str, figures: dict[str, Any]) -> dict[str, Any]:
    """Who is out, who runs on, and what each did: intervals that allow for all looks."""
    lines = [*ranking.said, f"The intervals hold for all policies together, at any moment ({level})."]
    header = ["standing", "policy", "estimate", level, "rollouts", "joined after"]
    rows = []
    for one in ranking.policies:
        joined = formatting.counted(one.joined, "round") if one.joined else ""
        cells = ["", ""] if one.interval is None else list(cells_of(one.interval))
        rows.append([one.standing, one.policy, *cells, f"{one.rollouts:,}", joined])
    table = rows_under("Where each policy stands", header, rows)
    return section("The race", lines, table, figures=[figures.get("ranking")])


def _family(ranking: StudyRanking, level: str) -> str:
    """What the sizes promise, apart from the ranking."""
    held = f"all {len(ranking.pairs)} intervals hold together at {level}, over all looks."
    return (
        f"The sizes are a separate family: {held} The claims of who is better hold together at {level} by themselves; "
        "the interval of a claimed pair ends at 0."
    )


def _of(one: RankedPolicy, most: int) -> str:
    return f"{one.rollouts:,} of {most:,}"


def _policy_row(one: RankedPolicy) -> list[str]:
    joined = formatting.counted(one.joined, "round") if one.joined else ""
    now = one.standing or ("runs" if one.running else "")
    return [one.place, one.policy, one.letters, f"{one.rollouts:,}", joined, now]


def pair_row(pair: RankedPair) -> list[str]:
    """Two policies, what is claimed, and the gain with its interval, as cells."""
    said = sentences.CELL[pair.verdict]
    if pair.paused:
        said = "not decidable within the horizon"
    elif pair.verdict is Verdict.UNDECIDED:
        said = "open" if pair.open else "not asked"
    if pair.gain is None:
        return [pair.first, pair.second, said, "", ""]
    return [pair.first, pair.second, said, *cells_of(pair.gain)]
