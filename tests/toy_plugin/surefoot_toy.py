"""One of each that a package can add to surefoot: a rule, a format, a store, a figure and a runner."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from surefoot.files.importers import About, Sheet, frame_of
from surefoot.sequential.betting import BettingRule
from surefoot.study.events import Line, head_of
from surefoot.study.stores import refused


@dataclass(frozen=True, slots=True)
class Third(BettingRule):
    """Bets a third of the wealth on every pair."""

    name: ClassVar[str] = "third"
    title: ClassVar[str] = "rule of thirds"
    label: ClassVar[str] = "THIRD"
    summary: ClassVar[str] = "Always bets a third."
    place: ClassVar[int] = 0
    chosen_to: ClassVar[int | None] = None

    def opening(self):
        return np.zeros((1, 1))

    def stake(self, memory, log_wealth, seen, beyond, past):
        return np.full(memory.shape[1], 1.0 / 3.0), None

    def learn(self, memory, seen, outcome, how):
        return memory.copy()


class ToyFormat:
    """A line of a policy's name, and of 1 or 0 for each rollout: ``new 1101``."""

    ABOUT = About(
        name="toy log",
        file="*.toy, written by nobody",
        becomes="1 and 0 after a policy's name are its successes and failures",
        example="surefoot rate log.toy",
    )

    @staticmethod
    def recognises(head):
        return head.text.startswith("#toy\n")

    @staticmethod
    def load(head):
        lines = (line.split() for line in head.path.read_text().splitlines()[1:])
        return Sheet(
            frame_of(({"policy": name, "success": int(one)} for name, ones in lines for one in ones), head.name),
            "toy log",
        )


class ToyStore:
    """A study's log as lines of JSON in a file: ``toy://path``; for one process."""

    def __init__(self, address):
        self.path = Path(address.removeprefix("toy://"))

    @property
    def clips(self):
        return self.path.with_suffix(".clips")

    def append(self, lines, *, after):
        kept = self.read()
        if after != head_of(kept[-1] if kept else None):
            raise refused(lines, len(kept))
        with self.path.open("a") as file:
            for line in lines:
                seed = {} if line.private is None else {"seed": line.private.reveal()}
                file.write(json.dumps(line.to_dict() | seed) + "\n")

    def read(self, after=0):
        text = self.path.read_text() if self.path.exists() else ""
        return [Line.from_dict(json.loads(row)) for row in text.splitlines()[after:]]


def dots(overview):
    """A dot for every policy."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3, 2))
    figure.subplots().plot(range(len(overview.policies)), "o")
    return figure


class Always:
    """The policy called new succeeds always, and no other ever."""

    def __call__(self, turn):
        return turn.policy == "new"
