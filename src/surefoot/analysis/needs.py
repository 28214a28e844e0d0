"""What a release needs: claims about any measure, as written in Python or in a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from surefoot import _check
from surefoot.core.record import Record
from surefoot.errors import DataError
from surefoot.stats.gates import ALL, BETTER, needed

GAINS = ("not_worse_by", "better_by")
RATIO = "at_most_times"
RATES = ("rate_at_most", "rate_at_least")
MEANS = ("mean_at_most", "mean_at_least")
CLAIMS = (*GAINS, RATIO, *RATES, *MEANS)
OUTCOMES = ("success", "score")
Direction = Literal["higher", "lower"]
EXAMPLE = 'measure = "success", not_worse_by = 0.02'
NO_SLICE = (
    '"no slice worse" cannot be a need: that no slice was named is no evidence that none is worse. '
    'Name the column and a margin instead: by = "benchmark", not_worse_by = 0.05.'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need(Record):
    """One thing that a release needs: a measure and exactly one claim about it.

    Attributes:
        measure: The column that is measured: success, score, duration, collision, tokens, or any other.
        not_worse_by: The first policy is not worse than the second by as much as this.
        better_by: It is better by more than this; 0 for any gain.
        at_most_times: Its mean is at most so many times that of the second.
        rate_at_most: Its rate of a yes-or-no measure is at most this.
        rate_at_least: That rate is at least this.
        mean_at_most: Its mean is at most this.
        mean_at_least: Its mean is at least this.
        limit: The most that a value can be, known beforehand; a timeout counts the limit.
        better: Whether "higher" or "lower" values are better; for a success or a score higher ones are.
        by: A column: one need for each of its levels.

    Example:
        >>> from surefoot import Need
        >>> print(Need(measure="success", by="benchmark", not_worse_by=0.05))
        success on every benchmark not worse by 5 points
    """

    measure: str = "success"
    not_worse_by: float | None = None
    better_by: float | None = None
    at_most_times: float | None = None
    rate_at_most: float | None = None
    rate_at_least: float | None = None
    mean_at_most: float | None = None
    mean_at_least: float | None = None
    limit: float | None = None
    better: Direction | None = None
    by: str | None = None

    def __post_init__(self) -> None:
        for name in ("measure", *(("by",) if self.by is not None else ())):
            if not _check.instance(getattr(self, name), name, str):
                raise _check.wrong(name, "name a column; got an empty word.")
        said = [name for name in CLAIMS if getattr(self, name) is not None]
        if len(said) != 1:
            got = f"got {' and '.join(said) or 'none'} for {self.measure!r}"
            raise ValueError(f"A need must make exactly one claim of {', '.join(CLAIMS)}; {got}.")
        if self.better is not None:
            _check.choice(self.better, "better", {"higher": 1, "lower": 1})
        if self.limit is not None:
            _check.positive(self.limit, "limit")
        self._refuse_value()

    def _refuse_value(self) -> None:
        claim, value = self.claim, _check.real(self.value, self.claim)
        if claim in GAINS and value < 0.0:
            raise _check.refused(claim, "be 0 or more", value)
        if claim == RATIO:
            _check.positive(value, claim)
        if claim in RATES and not 0.0 < value < 1.0:
            hint = f" Write {value / 100:g} for {value:g}%." if 1.0 < value < 100.0 else ""
            raise _check.wrong(claim, f"lie strictly between 0 and 1; got {value:g}.{hint}", value)
        if claim not in GAINS and self.better is not None:
            raise _check.wrong("better", f"be left out with {claim}, which says the direction.", self.better)
        if claim in GAINS and self.measure not in OUTCOMES and self.better is None:
            must = f'say whether more of {self.measure!r} is better: "higher" or "lower". The outcome is "success".'
            raise _check.wrong("better", must)
        if claim in (RATIO, *MEANS) and self.limit is None and self.measure not in OUTCOMES:
            must = f"say the most that {self.measure!r} can be, known beforehand: a bound on a mean needs it."
            raise _check.wrong("limit", must)
        if claim in (*GAINS, *MEANS) and self.limit is not None and value >= self.limit:
            raise _check.wrong(claim, f"be below the limit, {self.limit:g}; got {value:g}.", value)

    @property
    def claim(self) -> str:
        """Which claim it makes."""
        return next(name for name in CLAIMS if getattr(self, name) is not None)

    @property
    def value(self) -> float:
        """The number that it claims."""
        return getattr(self, self.claim)  # type: ignore[no-any-return]

    @property
    def compares(self) -> bool:
        """Whether it compares two policies; otherwise it is about the first alone."""
        return self.claim in (*GAINS, RATIO)

    @property
    def lower_is_better(self) -> bool:
        """Whether smaller values are better."""
        return self.better == "lower" or self.claim == RATIO

    def said(self, level: str | None = None, *, rate: bool | None = None) -> str:
        """The need in words, for one level or for all.

        Args:
            level: The level of `by` that is meant.
            rate: Whether a gain is one between rates; taken from the measure when not said.
        """
        where = f" on every {self.by}" if self.by else ""
        where = where if level is None else f' on "{level}"'
        if self.claim in GAINS:
            points = self.measure == "success" if rate is None else rate
            shown = f"{100 * self.value:.6g} points" if points else f"{self.value:,.6g}"
            worded = {"not_worse_by": f"not worse by {shown}", "better_by": f"better by more than {shown}"}
            return f"{self.measure}{where} {worded[self.claim] if self.value or self.claim[0] == 'n' else 'better'}"
        if self.claim == RATIO:
            return f"{self.measure}{where} at most {self.value:.4g} times"
        side = "at most" if self.claim.endswith("most") else "at least"
        if self.claim in RATES:
            return f"{self.measure} rate{where} {side} {100 * self.value:.6g}%"
        return f"mean {self.measure}{where} {side} {self.value:,.6g}"

    def __str__(self) -> str:
        return self.said()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate(Record):
    """What a release needs, all together.

    Attributes:
        needs: The needs.
        rule: "all", "at least 3" (or another number), or "one better, none worse".
        confidence: One minus the chance of passing a gate that does not hold, and of failing one that does.
        first: The policy that is to be released; as the table has it when not said.
        second: The policy it is compared with.

    Example:
        >>> from surefoot import Gate, Need
        >>> print(Gate(needs=(Need(not_worse_by=0.02), Need(measure="collision", rate_at_most=0.01))))
        all of: success not worse by 2 points; collision rate at most 1%
    """

    needs: tuple[Need, ...]
    rule: str = ALL
    confidence: float = 0.95
    first: str | None = None
    second: str | None = None
    source: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        _check.filled(self.needs, "needs", f"hold at least one need: {EXAMPLE}")
        _check.confidence(self.confidence)
        if not self.confidence > 0.5:
            raise _check.refused("confidence", "be above 0.5 for a gate", self.confidence)
        needed(self.rule, len(self.needs) if not any(need.by for need in self.needs) else 10**9)
        for one, other in combinations(self.needs, 2):
            _refuse_two(one, other)
        if self.rule == BETTER and not any(need.compares for need in self.needs):
            raise ValueError(f'The rule "{BETTER}" must have a need that compares: not_worse_by or at_most_times.')

    def __str__(self) -> str:
        return f"{self.rule} of: {'; '.join(map(str, self.needs))}"


def _refuse_two(one: Need, other: Need) -> None:
    """Refuse two needs that contradict each other, or of which one says the other again."""
    if one.measure != other.measure:
        return
    if one.limit != other.limit and None not in (one.limit, other.limit):
        raise ValueError(f"{one.measure!r} must have one limit; got {one.limit:g} and {other.limit:g}.")
    if None not in (one.better, other.better) and one.better != other.better:
        raise ValueError(f"Two needs contradict: {one.measure!r} is better {one.better} in one, {other.better} in the "
                         "other.")  # fmt: skip
    for kind in ("rate", "mean"):
        ends = {need.claim: need.value for need in (one, other)}
        most, least = ends.get(f"{kind}_at_most"), ends.get(f"{kind}_at_least")
        if most is not None and least is not None and least >= most:
            raise ValueError(f"Two needs contradict: the {kind} of {one.measure!r} at least {least:g} and at most "
                             f"{most:g}.")  # fmt: skip
    if one.by == other.by and one.claim == other.claim:
        raise ValueError(f"{one.measure!r} must have one need with {one.claim}; got {one.value:g} and {other.value:g}.")


def gate_of(
    needs: Gate | str | Path | Sequence[Need | Mapping[str, Any]], rule: str = ALL, confidence: float = 0.95
) -> Gate:
    """A gate from needs as they were written: a gate, a TOML file, or a list of needs or of their keys."""
    if isinstance(needs, Gate):
        return needs
    if isinstance(needs, (str, Path)):
        return read_gate(needs)
    if isinstance(needs, (Need, Mapping)):
        needs = [needs]
    if not isinstance(needs, Iterable):
        raise _check.mistyped("needs", f"be a list of needs, such as [Need({EXAMPLE})], or a TOML file", needs)
    made = tuple(need if isinstance(need, Need) else _need(need) for need in needs)
    return Gate(needs=made, rule=rule, confidence=confidence)


def _need(keys: Mapping[str, Any]) -> Need:
    keys = _check.instance(keys, "needs", Mapping, f"Write {{{EXAMPLE}}} or Need({EXAMPLE}).")  # type: ignore[type-abstract]
    known = [one.name for one in fields(Need)]
    for name in keys:
        if "slice" in str(name):
            raise ValueError(f"A need must not ask for {name!r}: {NO_SLICE}")
        if name not in known:
            raise ValueError(f"A need must have keys among {', '.join(known)}; got {name!r}.")
    measure = str(keys.get("measure", ""))
    claims = any(keys.get(name) is not None for name in CLAIMS)
    if "no slice" in measure or ("slice" in measure and not claims):
        raise ValueError(f"A need must not ask for {keys['measure']!r}: {NO_SLICE}")
    return Need(**keys)


def read_gate(path: str | Path) -> Gate:
    """The gate in a TOML file: ``[gate]`` with rule and confidence, and ``[[gate.need]]`` for every need.

    Raises:
        DataError: The file is not there, is no TOML, or holds a key that is unknown or a need that cannot be.
    """
    path = Path(path)
    try:
        body = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"the needs must be in a TOML file; {error.strerror or error}.", source=str(path)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"the needs must be TOML; {error}.", source=str(path)) from None
    try:
        return _from_toml(body, str(path))
    except (TypeError, ValueError) as error:
        raise DataError(str(error), source=str(path)) from None


def _from_toml(body: Mapping[str, Any], source: str) -> Gate:
    known = ("rule", "confidence", "first", "second", "need")
    table = body.get("gate")
    if not isinstance(table, dict) or set(body) - {"gate"}:
        strange = sorted(set(body) - {"gate"})
        raise ValueError(f"The file must hold [gate] and [[gate.need]] only; got {', '.join(strange) or 'neither'}.")
    for name in table:
        if "slice" in name or "slice" in str(table.get("rule", "")):
            raise ValueError(f"[gate] must not ask for slices: {NO_SLICE}")
        if name not in known:
            raise ValueError(f"[gate] must have keys among {', '.join(known)}; got {name!r}.")
    listed = table.get("need", [])
    if not isinstance(listed, list) or not listed:
        raise ValueError("There must be at least one [[gate.need]], in double brackets.")
    needs = []
    for place, keys in enumerate(listed, 1):
        try:
            needs.append(_need(keys))
        except (TypeError, ValueError) as error:
            raise ValueError(f"Need {place}: {error}") from None
    rest = {name: value for name, value in table.items() if name != "need"}
    return Gate(needs=tuple(needs), source=source, **rest)
