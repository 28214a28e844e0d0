"""Compact letter display of which policies can be told apart.

Two policies share a letter exactly when they were not separated. A letter is a largest group without a separated
pair; `a` is the group of the best.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from surefoot import _check
from surefoot.core.record import Record

MOST = 1_000  # groups listed before giving up
READABLE = 4  # letters of one policy that a reader can use
WORK = 200_000  # steps of the search before giving up: it never hangs


@dataclass(frozen=True, slots=True)
class Letters(Record):
    """A compact letter display.

    Attributes:
        names: The policies, best first.
        letters: The letters of each; empty when there would be too many.
        groups: The policies that share each letter, in the order of the letters.
        complete: Whether all groups could be listed.
        notes: What a reader must know besides.
    """

    names: tuple[str, ...]
    letters: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    complete: bool = True
    notes: tuple[str, ...] = ()

    @property
    def readable(self) -> bool:
        """Whether there are few enough letters to be read."""
        return self.complete and max(len(re.sub(r"\d", "", own)) for own in self.letters) <= READABLE

    def of(self, name: str) -> str:
        """The letters of one policy."""
        if name not in self.names:
            raise _check.refused("name", f"be one of {', '.join(self.names)}", name)
        return self.letters[self.names.index(name)]

    def __str__(self) -> str:
        if not self.complete:
            return self.notes[0]
        width = max(len(name) for name in self.names)
        return "\n".join(f"{name:<{width}}  {own}" for name, own in zip(self.names, self.letters, strict=True))


def compact_letters(
    names: Sequence[str], separated: Iterable[tuple[str, str]], *, estimates: Sequence[float] | None = None
) -> Letters:
    """Which policies can be told apart? Two share a letter exactly when they cannot.

    Args:
        names: The policies; best first unless `estimates` are given.
        separated: The pairs that were told apart.
        estimates: A number per policy, higher is better, to put the best first.

    Assumptions:
        The separated pairs come from one procedure that controls the error over all pairs.

    Example:
        >>> from surefoot.stats import compact_letters
        >>> print(compact_letters(["new", "old", "older"], [("new", "older")]))
        new    a
        old    ab
        older  b

    Reference:
        Piepho (2004), "An algorithm for a letter-based representation of all-pairwise comparisons"; the groups
        are found as maximal cliques (Tomita, Tanaka and Takahashi 2006), which lists the same groups faster.
    """
    ordered = _ordered(names, estimates)
    place = {name: index for index, name in enumerate(ordered)}
    together = [((1 << len(ordered)) - 1) & ~(1 << index) for index in range(len(ordered))]
    for pair in separated:
        one, other = places(pair, place, "separated")
        together[one] &= ~(1 << other)
        together[other] &= ~(1 << one)
    found: list[int] = []
    for bits in _groups(together):
        if bits is None or len(found) == MOST:
            note = f"Too many letters: more than {len(found):,} groups. Use the rank intervals instead."
            return Letters(ordered, ("",) * len(ordered), (), False, (note,))
        found.append(bits)
    members = sorted(_bits(group) for group in found)
    own = [""] * len(ordered)
    for number, group in enumerate(members):
        for index in group:
            own[index] += _letter(number)
    groups = tuple(tuple(ordered[index] for index in group) for group in members)
    shown = Letters(ordered, tuple(own), groups)
    if shown.readable:
        return shown
    return replace(shown, notes=(f"{len(groups):,} letters are too many to read: use the rank intervals instead.",))


def _ordered(names: Sequence[str], estimates: Sequence[float] | None) -> tuple[str, ...]:
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise _check.mistyped("names", "be a list of names", names)
    _check.filled(names, "names", "hold at least one policy")
    if len(set(names)) < len(names):
        raise _check.refused("names", "differ from one another", list(names))
    if estimates is None:
        return tuple(names)
    if len(estimates) != len(names):
        raise _check.wrong("estimates", f"hold one number per policy, {len(names)}; got {len(estimates)}.", estimates)
    level = [_check.real(value, f"estimates[{index}]") for index, value in enumerate(estimates)]
    return tuple(names[index] for index in sorted(range(len(names)), key=lambda i: -level[i]))


def places(pair: tuple[str, str], place: dict[str, int], argument: str) -> tuple[int, int]:
    """Where the two policies of a pair stand in the list; refuses a name that is not in it, and one name twice."""
    one, other = pair
    for name in (one, other):
        if name not in place:
            raise _check.refused(argument, f"name policies of {', '.join(place)}", name)
    if one == other:
        raise _check.refused(argument, "name two different policies", pair)
    return place[one], place[other]


def _groups(together: list[int]) -> Iterator[int | None]:
    """Every largest set of policies of which no pair is separated, as bits; None when the search grew too long."""
    stack = [(0, (1 << len(together)) - 1, 0)]  # chosen, may join, must not be missing
    for _ in range(WORK):
        if not stack:
            return
        chosen, open_, shut = stack.pop()
        if not open_:
            if not shut:
                yield chosen
            continue
        # branching only on those the pivot does not know keeps the search near the size of its answer
        pivot = max(_bits(open_ | shut), key=lambda index: (together[index] & open_).bit_count())
        for index in _bits(open_ & ~together[pivot]):
            bit = 1 << index
            stack.append((chosen | bit, open_ & together[index], shut & together[index]))
            open_, shut = open_ & ~bit, shut | bit
    yield None


def _bits(group: int) -> tuple[int, ...]:
    found = []
    while group:
        found.append((group & -group).bit_length() - 1)
        group &= group - 1
    return tuple(found)


def _letter(number: int) -> str:
    """The name of a group: a ... z, a2 ... z2, a3 ...; with its digits, so that letters can stand side by side."""
    turn, which = divmod(number, 26)
    return string.ascii_lowercase[which] + (str(turn + 1) if turn else "")
