"""The schedule: which rollout comes next.

A pure function of the plan, a secret seed and the log. A block holds one rollout of every policy still in play, in
random order; contexts are interleaved, never blocked; every turn has a blind code of its own.

The order of each pair is a fair coin, forced only when one order leads by `STICK` (the big stick design of Soares and
Wu, 1983): whoever recognises the policies afterwards guesses the next order in 54% of pairs, and orders balance.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from surefoot import _check
from surefoot.core.record import Record
from surefoot.study.plans import Plan

ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # no I, O, 0 or 1: read aloud at a robot
CODE_LENGTH = 4
ROUNDS = 6
STICK = 6
"""How far one order of a pair may lead the other before the next is forced."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Turn(Record):
    """One rollout that the study asks for.

    Attributes:
        number: Its place in the schedule, from 1.
        block: The block it belongs to, from 1.
        policy: The policy to run; only the runner learns it while the study is blinded.
        code: The name the operator sees.
        task: The task, if the plan names tasks.
        condition: The initial condition, if the plan names conditions.
        rig: The rig to run it on, if the plan names rigs.
        operator: Who is to run it, if the plan names operators.
    """

    number: int
    block: int
    policy: str
    code: str
    task: str
    condition: str
    rig: str = ""
    operator: str = ""

    @property
    def item(self) -> str:
        """The item, of a study over a declared list: what its condition is."""
        return self.condition


def number_of(turn: Turn | int) -> int:
    """A turn's number."""
    return turn.number if isinstance(turn, Turn) else _check.whole(turn, "turn", least=1)


def block(
    plan: Plan, seed: str, number: int, first_turn: int, active: Sequence[str], *, schema: int
) -> tuple[Turn, ...]:
    """The turns of block `number`, of the policies still `active`; `schema` is that of the log's first line."""
    order = _order(seed, number, active) if schema > 1 else _order_in_fours(seed, number, active)
    contexts = _contexts(plan, seed, number, len(order), schema)
    return tuple(
        Turn(first_turn + place, number, policy, code(seed, first_turn + place), *contexts[place])
        for place, policy in enumerate(order)
    )


@lru_cache(maxsize=1024)
def code(seed: str, turn: int) -> str:
    """The blind code of a turn: unrelated to its policy, and never used by another turn.

    Turn numbers are permuted by a Feistel network under the seed, so that codes cannot repeat and need no memory.
    After the million turns of four letters come six letters.
    """
    length = CODE_LENGTH
    while turn > len(ALPHABET) ** length:
        length += 2
    half = len(ALPHABET) ** (length // 2)
    left, right = divmod(turn - 1, half)
    for step in range(ROUNDS):
        mixed = int.from_bytes(_digest(seed, f"code {length} {step} {right}")[:8], "big")
        left, right = right, (left + mixed) % half
    return _letters(left, length // 2) + _letters(right, length // 2)


def _letters(number: int, length: int) -> str:
    word = ""
    for _ in range(length):
        number, place = divmod(number, len(ALPHABET))
        word += ALPHABET[place]
    return word


def _order(seed: str, number: int, active: Sequence[str]) -> list[str]:
    """A random order: of two policies by a fair coin with a stick, of more by a shuffle of its own."""
    if len(active) != 2:
        return shuffle(seed, f"order {number}", sorted(active))
    return sorted(active) if _coins(seed, number)[number - 1] else sorted(active)[::-1]


@lru_cache(maxsize=64)
def _kept_coins(_: str) -> tuple[list[bool], list[int]]:
    return [], [0]


def _coins(seed: str, number: int) -> list[bool]:
    """Whether each block up to `number` runs forward; those drawn before are kept."""
    coins, lead = _kept_coins(seed)
    while len(coins) < number:
        fair = bool(_digest(seed, f"coin {len(coins) + 1}")[0] & 1)
        forward = lead[0] < 0 if abs(lead[0]) >= STICK else fair
        coins.append(forward)
        lead[0] += 1 if forward else -1
    return coins


def _order_in_fours(seed: str, number: int, active: Sequence[str]) -> list[str]:
    """The order in logs of the first schema: among four blocks two run in an order and two in its reverse."""
    group, within = divmod(number - 1, 4)
    drawn = shuffle(seed, f"order {group}", sorted(active))
    forward = shuffle(seed, f"direction {group}", (True, True, False, False))[within]
    return drawn if forward else drawn[::-1]


def _contexts(plan: Plan, seed: str, number: int, size: int, schema: int) -> list[tuple[str, ...]]:
    """The task, the condition, the rig and the operator of each turn of a block."""
    contexts, station = plan.contexts, plan.stations[0]
    if plan.environments == "independent":  # one station at most
        drawn = [int.from_bytes(_digest(seed, f"context {number} {place}"), "big") for place in range(size)]
        if plan.uneven:
            tasks = _by_task(contexts)
            return [(*_one_of(_one_of(tasks, one), one // len(tasks)), *station) for one in drawn]
        return [(*contexts[one % len(contexts)], *station) for one in drawn]
    if plan.uneven or len(plan.stations) > 1:
        deck, within = divmod(number - 1, plan.horizon)
        return [_laid_out(plan, seed, deck)[within]] * size
    return [(*_context(plan, contexts, seed, number, schema), *station)] * size


def _context(plan: Plan, contexts: Sequence[tuple[str, str]], seed: str, number: int, schema: int) -> tuple[str, str]:
    if schema > 2 and len(contexts) < plan.horizon:
        deck, within = divmod(number - 1, plan.horizon)
        return contexts[_deck(seed, f"{plan.environments} deck {deck}", len(contexts), plan.horizon)[within]]
    # Each block meets one context. A list as long as the horizon is met once, in a random order; earlier schemas
    # dealt a shorter one again and again, each lap in a fresh order.
    lap, within = divmod(number - 1, len(contexts))
    return contexts[_shuffled(seed, f"{plan.environments} lap {lap}", len(contexts))[within]]


def _by_task(contexts: Sequence[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for context in contexts:
        found.setdefault(context[0], []).append(context)
    return list(found.values())


def _one_of(items: Sequence[T], number: int) -> T:
    return items[number % len(items)]


@lru_cache(maxsize=64)
def _laid_out(plan: Plan, seed: str, deck: int) -> tuple[tuple[str, ...], ...]:
    """The task, condition, rig and operator of every pair of the horizon, in one random order.

    Tasks are met equally often, or once more; so are the conditions of each task, the rigs, the operators, and rigs and
    operators within each task.
    """
    what = f"{plan.environments} deck {deck}"
    tasks = shuffle(seed, f"{what} tasks", _by_task(plan.contexts))
    dealt: list[tuple[str, str]] = []
    for place, of_task in enumerate(tasks):
        conditions = shuffle(seed, f"{what} conditions of {of_task[0][0]}", of_task)
        often = len(range(place, plan.horizon, len(tasks)))
        dealt += sorted(conditions[each % len(conditions)] for each in range(often))
    rigs = shuffle(seed, f"{what} rigs", list(dict.fromkeys(rig for rig, _ in plan.stations)))
    people = shuffle(seed, f"{what} operators", list(dict.fromkeys(operator for _, operator in plan.stations)))
    lap = math.lcm(len(rigs), len(people))
    met = [(*context, _one_of(rigs, at), _one_of(people, at + at // lap)) for at, context in enumerate(dealt)]
    return tuple(shuffle(seed, what, met))


@lru_cache(maxsize=64)
def _deck(seed: str, what: str, size: int, length: int) -> tuple[int, ...]:
    """The contexts of the whole horizon in one random order, each met as often as any other, or once more.

    The exact paired rule is proved for environments in one random order. Laps fix how many of the first pairs meet a
    context, and its error then rises above the one declared (.0625 for .05 at 20 and at 60 pairs).
    """
    dealt = _shuffled(seed, f"{what} dealt", size)
    return tuple(dealt[place % size] for place in _shuffled(seed, what, length))


def drawn_order(seed: str, size: int) -> tuple[int, ...]:
    """The order in which a list of so many items is met: their places on the list, from 0."""
    return _shuffled(seed, "shared lap 0", size)


def shuffle(seed: str, what: str, items: Sequence[T]) -> list[T]:
    """The items in an order that the seed and the purpose fix, and nothing else tells."""
    return [items[place] for place in _shuffled(seed, what, len(items))]


@lru_cache(maxsize=64)
def _shuffled(seed: str, what: str, size: int) -> tuple[int, ...]:
    return tuple(sorted(range(size), key=lambda place: _digest(seed, f"{what} {place}")))


def seed_hash(seed: str) -> str:
    """What the plan's event commits to; the seed itself is revealed at unblinding."""
    return hashlib.sha256(f"surefoot seed {seed}".encode()).hexdigest()


def _digest(seed: str, what: str) -> bytes:
    return hmac.digest(seed.encode(), what.encode(), "sha256")
