"""A sink that ends an inspect-robots evaluation once its comparison with a baseline log is decided.

``task = SceneComparison("old.json").task(task)``, and the comparison among the sinks of ``eval(task, ...)``. Each scene
is a pair with the baseline's result on the same scene; scenes come in random order, and a sequential rule looks after
each. Once it has decided, no scene is started any more.
"""

from __future__ import annotations

import dataclasses
import json
import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot import _check
from surefoot.core import formatting, sentences
from surefoot.core.verdict import Verdict
from surefoot.errors import DataError
from surefoot.sequential.finite_horizon_mixture import FiniteHorizonMixture

if TYPE_CHECKING:
    from surefoot.sequential.betting import BettingState
    from surefoot.sequential.rules import Claim


@dataclasses.dataclass(eq=False, repr=False)
class SceneComparison:
    """A sink of inspect-robots that compares scene by scene with a baseline log, and ends the eval once it is decided.

    The eval comes first and the baseline second, so a positive gain says that the eval is better. A scene's score is
    the mean of its epochs; a trial that ends with an error has the lowest score. The error is kept although it looks
    after every scene.

    Args:
        baseline: The JSON log of the baseline, with every scene of the eval.
        scorer: The scorer that is compared; needed where the baseline has several.
        confidence: One minus the chance of a wrong verdict, over all looks together.
        claim: "either", "first better", "first not worse" or "same", as in the rule; the latter two need a margin.
        margin: A gain that would not matter, in units of the score.
        low: The lowest score possible.
        high: The highest score possible.
        seed: Seed of the order of the scenes; kept in the log with every scene.
    """

    baseline: str | Path
    scorer: str | None = None
    _: dataclasses.KW_ONLY
    confidence: float = 0.95
    claim: Claim = "either"
    margin: float = 0.0
    low: float = 0.0
    high: float = 1.0
    seed: int = 0
    state: BettingState | None = dataclasses.field(default=None, init=False)

    def __post_init__(self) -> None:
        self._rule(1)  # a wrong argument is refused here, not when the eval starts
        self._known = self._read()
        self._scores: list[float] = []

    def _rule(self, scenes: int) -> FiniteHorizonMixture:
        return FiniteHorizonMixture(
            scenes, confidence=self.confidence, claim=self.claim, low=self.low, high=self.high, margin=self.margin
        )

    def _read(self) -> dict[str, float]:
        """The baseline's mean score of every scene."""
        try:
            samples = json.loads(Path(self.baseline).read_text(encoding="utf-8"))["samples"]
            names = sorted({name for sample in samples for epoch in sample["epochs"] for name in epoch or {}})
            if self.scorer is None and len(names) == 1:
                self.scorer = names[0]
            tries = {str(sample["scene_id"]): [(one or {}).get(self.scorer) for one in sample["epochs"]]
                     for sample in samples}  # fmt: skip
        except (ValueError, KeyError, TypeError, AttributeError):
            raise DataError("the baseline must be a log of inspect-robots.", source=str(self.baseline)) from None
        if self.scorer not in names:
            raise DataError(f"`scorer` must be one of {', '.join(names)}; got {self.scorer!r}.")
        return {scene: _mean([self._within(one) for one in of]) for scene, of in tries.items() if of}

    def _within(self, value: Any) -> float:
        """A score in the range; a trial without one has failed."""
        number = self.low if value is None else float(value)
        if not self.low <= number <= self.high:
            raise DataError(f"scores must lie in [{self.low:g}, {self.high:g}]; got {number:g}.")
        return number

    def task(self, task: Any) -> Any:
        """The task with its scenes in random order, of which none is started once the rule has decided."""
        scenes = list(task.scenes)
        _check.filled(scenes, "task", "have scenes")
        if lacking := [scene.id for scene in scenes if scene.id not in self._known]:
            raise DataError(f"the baseline must hold every scene; it lacks {formatting.some_names(lacking)}.")
        random.Random(self.seed).shuffle(scenes)
        told = {"of": len(scenes), "seed": self.seed, "baseline": str(self.baseline)}
        marked = [dataclasses.replace(one, metadata={**one.metadata, "surefoot": told}) for one in scenes]
        self._rule_now, self._epochs = self._rule(len(scenes)), task.epoch_spec.count
        self._targets = {scene.id: scene.target for scene in scenes}
        self._score: Any = next((one for one in task.scorers if one.name == self.scorer), None)
        if self._score is None:
            raise DataError(f"the task must have the scorer of the baseline, {self.scorer!r}.")
        return dataclasses.replace(task, scenes=_Scenes(self, marked))

    @property
    def decided(self) -> bool:
        """Whether no further scene is needed."""
        return self.state is not None and self.state.finished

    def on_eval_start(self, spec: Any) -> None:  # noqa: ARG002
        """Called by inspect-robots before the first trial: begins anew."""
        self.state, self._scores = self._rule_now.start(), []

    def on_trial_start(self, scene_id: str, epoch: int) -> None:
        """Called by inspect-robots before a trial."""

    def log_step(self, t: int, observation: Any, action: Any, result: Any) -> None:
        """Called by inspect-robots after a step."""

    def on_trial_end(self, record: Any) -> None:
        """Called by inspect-robots after a trial; a scene enters the rule with its last epoch."""
        value = self._score(record, self._targets[record.scene_id]).value if record.status == "success" else None
        self._scores.append(self._within(value))
        if len(self._scores) == self._epochs and self.state is not None and not self.state.finished:
            pair = (_mean(self._scores), self._known[record.scene_id])
            self.state = self._rule_now.step(self.state, pair)
        if len(self._scores) == self._epochs:
            self._scores = []

    def on_eval_end(self, log: Any) -> None:
        """Called by inspect-robots after the last trial."""

    def __str__(self) -> str:
        if self.state is None or not self.state.pairs:
            return "Not compared with the baseline: no scene was run."
        found = self.state.interval
        verdict = sentences.CELL[self.state.verdict]
        of = f"after {self.state.pairs:,} of {self._rule_now.horizon:,} scenes"
        gain = formatting.estimate(found.estimate, found.low, found.high, found.scale)
        sure = formatting.percent(self.confidence)
        than = " than the baseline" if self.state.verdict in (Verdict.BETTER, Verdict.WORSE) else ""
        return f"For scenes like these: {verdict}{than}, {of}: gain {gain}; {sure} over all looks."


class _Scenes(Sequence[Any]):
    """The scenes of a task; whoever goes through them is given none once the rule has decided."""

    def __init__(self, comparison: SceneComparison, scenes: list[Any]) -> None:
        self._comparison, self._scenes = comparison, scenes

    def __len__(self) -> int:
        return len(self._scenes)

    def __getitem__(self, place: Any) -> Any:
        return self._scenes[place]

    def __iter__(self) -> Iterator[Any]:
        for scene in self._scenes:
            if self._comparison.decided:
                return
            yield scene


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
