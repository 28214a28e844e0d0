"""Numbers as text, rounded so that they never claim more than was computed.

A lower end is rounded down and an upper end up; an estimate to the nearest.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from surefoot.core.words import USUAL, Words, plural

Toward = Literal["down", "nearest", "up"]
Scale = Literal["rate", "gain", "score", "score gain"]
"""What a number is: a rate or a gain between rates (shown in percent and points), or a score as it is."""


def rounded(value: float, digits: int, toward: Toward = "nearest") -> float:
    """`value` to `digits` decimals, on the side asked for.

    A value within a few rounding errors of a printable one is that one: 0.76 shown in percent is 76.0.
    """
    if abs(value) >= 2.0**53:  # has no decimals
        return value
    unit = 10.0**digits
    scaled = value * unit
    near = round(scaled)
    if toward == "nearest" or math.isclose(scaled, near, rel_tol=1e-12, abs_tol=1e-12):
        return near / unit
    return (math.floor(scaled) if toward == "down" else math.ceil(scaled)) / unit


MOST_DIGITS = 8
"""Decimals shown at most; what is smaller is an error of computing."""


def number(value: float, scale: Scale = "rate", toward: Toward = "nearest", *, least: int = 0) -> str:
    """The number as people read it: ``76.0%``, ``+15.0``, ``0.413``.

    One decimal in percent and points, three of a score; more where a value near 0, or a rate near 1, would be shown as
    if it were there: ``0.003%``, ``99.995%``.

    Args:
        value: The number; a share where it is a rate or a gain.
        scale: What it is.
        toward: To which side it is rounded.
        least: The fewest decimals, where an interval beside it needs more than usual.
    """
    unit, usual = (100.0, 1) if scale in ("rate", "gain") else (1.0, 3)
    ends = (0.0, 1.0) if scale == "rate" else (0.0,)
    usual = max(usual, least)
    digits = max(usual, _first_digit(unit * min(abs(value - end) for end in ends)))
    shown = rounded(unit * value, digits, toward)
    if shown in (0.0, 100.0):
        digits = usual
    return f"{shown:{'+' if scale in ('gain', 'score gain') else ''}.{digits}f}{'%' if scale == 'rate' else ''}"


def _first_digit(value: float) -> int:
    """The place of the first decimal that is not 0; 0 where there is none to show."""
    if value * 10.0**MOST_DIGITS < 1e-3:
        return 0
    return min(MOST_DIGITS, -math.floor(math.log10(value * (1 + 5e-13))))


def digits_of(low: float, high: float, scale: Scale = "rate") -> int:
    """The decimals that an interval needs: its width is at least two units of the last, or as many as are shown."""
    unit, usual = (100.0, 1) if scale in ("rate", "gain") else (1.0, 3)
    half = unit * (high - low) / 2.0
    return usual if half <= 0.0 else min(MOST_DIGITS, max(usual, math.ceil(-math.log10(half) - 1e-9)))


def estimate(value: float, low: float, high: float, scale: Scale = "rate") -> str:
    """An estimate with its interval, in as many decimals as the interval needs: ``76.0% [62.5%, 85.8%]``.

    Example:
        >>> from surefoot.core.formatting import estimate
        >>> estimate(0.76043, 0.76013, 0.76073), estimate(0.00041, 0.00013, 0.00078, "gain")
        ('76.04% [76.01%, 76.08%]', '+0.04 points [+0.01, +0.08]')
    """
    least = digits_of(low, high, scale)
    return f"{number(value, scale, least=least)}{unit(scale)} {span(low, high, scale, least=least)}"


def span(low: float, high: float, scale: Scale = "rate", *, least: int = 0) -> str:
    """Both ends, rounded outward: ``[62.5%, 85.8%]``; of a gain, an end that rounds to 0 but excludes it is open."""
    ends = number(low, scale, "down", least=least), number(high, scale, "up", least=least)
    gain = scale in ("gain", "score gain")
    left = "(" if gain and low > 0.0 and float(ends[0]) == 0.0 else "["
    right = ")" if gain and high < 0.0 and float(ends[1]) == 0.0 else "]"
    return f"{left}{ends[0]}, {ends[1]}{right}"


def unit(scale: Scale) -> str:
    """The word after a number of this scale."""
    return " points" if scale == "gain" else ""


def margin(value: float, scale: Scale) -> str:
    """A margin with its unit, as it was given and never rounded: ``5.0 points``, ``1.25 points``."""
    shown, given = number(value, scale).lstrip("+"), f"{100 * value if scale == 'gain' else value:.10g}"
    return (shown if float(shown) == float(given) else given) + unit(scale)


def percent(share: float, toward: Toward = "down") -> str:
    """A confidence as people say it: ``95%``, ``98.33%``; rounded down, to two decimals unless nearly 0 or 1."""
    rest = min(share, 1.0 - share)
    digits = -math.floor(math.log10(rest)) if 0.0 < rest < 1e-4 else 2
    return f"{rounded(100 * share, digits, toward):.15g}%"


def p_value(value: float) -> str:
    """A p-value rounded up to three digits: ``p = 0.034``, ``p < 0.0001``."""
    if value < 1e-4:
        return "p < 0.0001"
    digits = max(3, 2 - math.floor(math.log10(value)))
    return f"p = {min(1.0, rounded(value, digits, 'up')):.{digits}f}"


def counted(count: int, noun: str) -> str:
    """``1 pair``, ``50 pairs``, ``1,000 pairs``."""
    return f"{count:,} {noun if count == 1 else plural(noun)}"


def rollouts(count: int, words: Words = USUAL) -> str:
    """``1 rollout``, ``50 rollouts``, ``1,000 rollouts``; or samples, or whatever the table calls them."""
    return f"{count:,} {words.rollout if count == 1 else words.rollouts}"


def policies(count: int, words: Words = USUAL) -> str:
    """``1 policy``, ``3 policies``; or models, or whatever the table calls them."""
    return f"{count:,} {words.policy if count == 1 else words.policies}"


def tasks(count: int, words: Words = USUAL) -> str:
    """``1 task``, ``16 tasks``; or benchmarks, or whatever the table calls them."""
    return f"{count:,} {words.task if count == 1 else words.tasks}"


def environments(count: int, words: Words = USUAL) -> str:
    """``1 environment``, ``50 environments``; or questions, or whatever the table calls them."""
    return f"{count:,} {words.environment if count == 1 else words.environments}"


def lines(places: Sequence[int], most: int = 8) -> str:
    """Lines of a file in a row, the first few of many: ``line 5``, ``lines 5, 9``."""
    return f"line{'' if len(places) == 1 else 's'} {some_names([f'{place:,}' for place in places], most)}"


def some_names(names: Sequence[str], most: int = 5) -> str:
    """Names in a row, the first few of many; parted by semicolons where one holds a comma."""
    more = f" and {len(names) - most + 1:,} more" if len(names) > most else ""
    shown = names[: most - 1 if more else most]
    return ("; " if any("," in name for name in shown) else ", ").join(shown) + more


CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)
"""Characters that move a cursor, clear a screen, turn the direction of writing, or that a file cannot hold."""


def visible(text: str) -> str:
    """Text with every control character shown as an escape; line ends and tabs stay.

    Names come from files that anyone may have written. Everything that is printed or put into a page goes through here.

    Example:
        >>> from surefoot.core.formatting import visible
        >>> print(visible("new\\x1b[2J"))
        new\\x1b[2J
    """
    return CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def one_line(text: str) -> str:
    """A name on one line, so that it cannot print lines of its own."""
    return " ".join(text.split()) if "\n" in text or "\r" in text else text


FORMULA = re.compile(r"[=+\-@\t\r]")


def csv_text(rows: Iterable[Sequence[Any]]) -> str:
    """Rows as CSV for people to open: a text that a spreadsheet would take for a formula stands behind an apostrophe.

    Example:
        >>> from surefoot.core.formatting import csv_text, from_csv
        >>> csv_text([["item", "rate"], ["=1+1", -0.5]])
        "item,rate\\n'=1+1,-0.5\\n"
        >>> from_csv("'=1+1")
        '=1+1'
    """
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([[_csv_cell(cell) for cell in row] for row in rows])
    return out.getvalue()


def _csv_cell(cell: Any) -> Any:
    if not isinstance(cell, str) or not (FORMULA.match(cell) or _quoted(cell)):
        return visible(cell) if isinstance(cell, str) else cell
    return cell if _plain_number(cell) else f"'{visible(cell)}"


def _plain_number(cell: str) -> bool:
    return re.fullmatch(r"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?", cell) is not None


def _quoted(cell: str) -> bool:
    return cell.startswith("'") and FORMULA.match(cell.lstrip("'")) is not None


def from_csv(cell: str) -> str:
    """What `csv_text` was given for this cell."""
    return cell[1:] if _quoted(cell) else cell


def json_text(data: Any) -> str:
    """JSON for people to read; control characters stand in it as JSON's own escapes, so nothing is lost."""
    text = json.dumps(data, indent=2, allow_nan=False, ensure_ascii=False)
    return CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def finalize(value: object) -> object:
    """What a template prints of a value: its text, with control characters shown; markup stays markup."""
    text = value if isinstance(value, str) else str(value)  # a record that prints as a sentence holds names too
    if not CONTROLS.search(text):
        return value
    return type(text)(visible(text))
