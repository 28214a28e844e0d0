"""A hook that stops an Inspect evaluation once its comparison with a baseline is decided.

`BaselineComparison` is an early-stopping manager: ``Task(..., early_stopping=BaselineComparison("baseline.eval"))``.
Each sample is a pair with the baseline's result on the same sample. Pairs enter a sequential rule in the order in which
the samples were started, whatever order they finish in, so that many samples at once give the verdict of one at a
time. A sample is not started while those that still run may decide. Once the rule has decided, none is started any
more, and the verdict is written into the log.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.verdict import Verdict
from surefoot.errors import DataError
from surefoot.integrations.inspect_baselines import Known, chosen, known_of, paired

if TYPE_CHECKING:
    from pathlib import Path

    from inspect_ai.dataset import Sample
    from inspect_ai.hooks import SampleAttemptEnd
    from inspect_ai.log import EvalLog, EvalSpec
    from inspect_ai.scorer import SampleScore
    from inspect_ai.util import EarlyStop

    from surefoot.sequential.betting import BettingState
    from surefoot.sequential.finite_horizon_mixture import FiniteHorizonMixture
    from surefoot.sequential.rules import Claim

About = Literal["items like these", "these items"]
"""What the verdict is about: see `BaselineComparison`."""
Crashes = Literal["failure", "exclude"]
"""What a sample counts for whose first attempt ends with an error: see `BaselineComparison`."""
SLACK = 0.1
"""So many samples may run beyond those that are surely needed, as a share of the pairs."""
FIRST_WAIT, LEAST_WAIT, LONGEST_TIMES = 600.0, 1.0, 3.0
"""For how long a start is held back while nothing ends: at first; later at least, and as times the longest sample."""
SHUFFLE = (
    "Run it with --sample-shuffle 7, or call dataset.shuffle(seed=7); or say randomised=True if the order is random."
)


@dataclass(eq=False, repr=False)
class BaselineComparison:
    """An early-stopping manager for Inspect: stops once the eval is shown to be better or worse than a baseline log.

    The eval comes first and the baseline second, so a positive gain says that the eval is better. The rule is
    `surefoot.sequential.FiniteHorizonMixture` over all samples of the eval: the error is kept although it looks after
    every sample. One manager serves one eval at a time.

    Args:
        baseline: The log of the baseline, or where it is. It must hold every sample of the eval, by id.
        confidence: One minus the chance of a wrong verdict, over all looks together.
        claim: "either", "first better", "first not worse" or "same", as in the rule; the latter two need a margin.
        margin: A gain that would not matter, in units of the score.
        about: "items like these": the gain on items of which the dataset is a sample. "these items": what a complete
            run of this dataset would show, which takes fewer samples and says nothing about other items.
        scorer: The scorer that is compared, or "scorer.key" where it gives several values. Needed where the baseline
            has several.
        low: The lowest score possible.
        high: The highest score possible.
        randomised: Declares that the samples come in random order although Inspect did not shuffle them.
        crashes: What a sample counts for whose first attempt ends with an error, whether it is retried or not:
            "failure", the lowest score; or "exclude", left out before its outcome is known (of a list: a tie). Left
            out: "exclude" in an eval that retries, else "failure". With `score_on_error` the last attempt's score.

    Example:
        >>> from surefoot.integrations.inspect import BaselineComparison
        >>> BaselineComparison("logs/baseline.eval", claim="either", about="these items").about
        'these items'
    """

    baseline: str | Path | EvalLog
    _: KW_ONLY
    confidence: float = 0.95
    claim: Claim = "either"
    margin: float = 0.0
    about: About = "items like these"
    scorer: str | None = None
    low: float = 0.0
    high: float = 1.0
    randomised: bool = False
    crashes: Crashes | None = None
    _course: _Course | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        _check.choice(self.about, "about", dict.fromkeys(get_args(About)))
        if self.crashes is not None:
            _check.choice(self.crashes, "crashes", dict.fromkeys(get_args(Crashes)))
        if self.crashes == "exclude" and self.about == "these items" and self.margin:
            raise _check.wrong("crashes", "be 'failure' for these items with a margin: a tie is within every margin.")
        self.rule(1)  # a wrong argument is refused here, not when the eval starts

    def rule(self, samples: int) -> FiniteHorizonMixture:
        """The rule for so many samples."""
        from surefoot.sequential.finite_horizon_mixture import FiniteHorizonMixture

        return FiniteHorizonMixture(
            samples,
            confidence=self.confidence,
            claim=self.claim,
            low=self.low,
            high=self.high,
            margin=self.margin,
            population=samples if self.about == "these items" else None,
        )

    async def start_task(self, task: EvalSpec, samples: list[Sample], epochs: int) -> str:
        """Called by Inspect before the first sample.

        Raises:
            ValueError: The eval cannot be compared as it is set up.
            DataError: The baseline cannot be read, or its samples are not those of the eval.
        """
        if self._course is not None and self._course.open:
            raise ValueError(
                "a BaselineComparison must serve one eval at a time; got a second one before the first has ended. "
                "Make a new one for each model and each retry."
            )
        if not task.dataset.shuffled and not self.randomised:
            raise ValueError(f"the samples must be in random order; got them in the order of the dataset. {SHUFFLE}")
        known = known_of(self.baseline, self.scorer, self.low)
        order = paired(samples, known)
        retried = bool(task.config.retry_on_error) and not (self.margin and self.about == "these items")
        crashes = self.crashes or ("exclude" if retried else "failure")
        self._course = _Course(self.rule(len(order)), order, known, task, crashes, epochs)
        if task.eval_id:
            COURSES[task.eval_id] = self._course
            _listen()
        return "surefoot"

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:  # noqa: A002
        """Called by Inspect before it starts a sample; waits while others may decide, and stops it once they have."""
        course = self._begun()
        await course.turn(str(id), epoch)
        if not course.stopped:
            return None
        from inspect_ai.util import EarlyStop

        return EarlyStop(id=id, epoch=epoch, reason=f"surefoot: {course.verdict()}")

    async def complete_sample(
        self,
        id: str | int,  # noqa: A002
        epoch: int,
        scores: dict[str, SampleScore],
    ) -> None:
        """Called by Inspect with the scores of a sample; pairs enter the rule in the order of their starts."""
        self._begun().enter(str(id), epoch, {name: score.score.value for name, score in scores.items()})

    async def complete_task(self) -> dict[str, Any]:
        """Called by Inspect at the end; what it returns is in the log, at ``results.early_stopping.metadata``."""
        course = self._begun()
        course.close()
        COURSES.pop(course.eval_id, None)
        return course.metadata()

    def _begun(self) -> _Course:
        if self._course is None:
            raise RuntimeError("start_task must be called first; another method was. Let Inspect call them.")
        return self._course


class _Course:
    """One eval: which samples were started and what came of them, and what the rule knows of them."""

    def __init__(
        self,
        rule: FiniteHorizonMixture,
        order: Sequence[str],
        known: Known,
        task: EvalSpec,
        crashes: Crashes,
        epochs: int,
    ) -> None:
        self.rule, self.order, self.known = rule, order, known
        self.crashes, self.epochs, self.eval_id = crashes, epochs, task.eval_id
        self.state: BettingState = rule.start()
        self.started: dict[str, int] = {}  # the epoch that counts, in the order of the starts
        self.begun: dict[tuple[str, int], float] = {}  # when each sample and epoch was started
        self.results: dict[str, float | None] = {}  # None is left out
        self.queue: list[str] = []  # the order of the starts
        self.entered: list[str] = []
        self.place = 0
        self.open = True
        self.refused: str | None = None
        self.unscored: list[str] = []
        self.excluded: list[str] = []
        self.seed = task.config.sample_shuffle
        self.scored_errors = bool(task.config.score_on_error)
        self.longest, self.halvings, self.quiet_from = 0.0, 0, time.monotonic()
        self.looked: tuple[Any, bool] = (None, False)
        self.line: list[object] = []
        self.news: Any = None

    @property
    def stopped(self) -> bool:
        """Whether no further sample is needed; epochs that remain after all samples decided nothing are run."""
        decided = self.state.verdict is not Verdict.UNDECIDED
        return self.state.finished and (decided or self.epochs == 1 or self.place < len(self.order))

    async def turn(self, sample: str, epoch: int) -> None:
        """Wait while the samples that run may decide; at most some times as long as the longest took."""
        import anyio

        if (sample, epoch) in self.begun:  # once more: its first attempt ended with an error
            self.crashed(sample, epoch)
        me, alone = object(), None
        self.line.append(me)
        while sample not in self.started and not self.stopped and (self.line[0] is not me or self.may_decide()):
            alone = len(anyio.get_running_tasks()) == 1 if alone is None else alone
            if alone:  # called one after the other: none can end meanwhile
                break
            self.news = self.news or anyio.Event()
            with anyio.move_on_after(self.quiet_from + self._patience() - time.monotonic()):
                await self.news.wait()
            if self.line[0] is me and time.monotonic() - self.quiet_from > self._patience():
                self.halvings += 1  # one that runs hangs, or never says that it has ended
                break
        if not self.stopped:
            self.start(sample, epoch)
        self.line.remove(me)
        self._tell()

    def _patience(self) -> float:
        longest = max(LEAST_WAIT, LONGEST_TIMES * self.longest) if self.results else FIRST_WAIT
        return longest / 2.0**self.halvings

    def may_decide(self) -> bool:
        """Whether the samples that were started might end the rule without another, whatever they come to."""
        waiting = self.queue[self.place :]
        if self.refused is not None or len(waiting) <= SLACK * self.state.pairs:
            return False
        now = (len(self.queue), len(self.results))
        if self.looked[0] != now:  # many wait for the same
            ends = (self.rule.high, self.rule.low, None)
            self.looked = now, any(self._ended(waiting, end) for end in ends)
        return self.looked[1]

    def _ended(self, waiting: Sequence[str], end: float | None) -> bool:
        """Whether the rule ends if the samples without a result come to this; None is a tie."""
        state = self.state
        for sample in waiting:
            theirs = self.known.scores[sample]
            value = self.results.get(sample, theirs if end is None else end)
            if value is None and self.rule.population is None:
                continue
            state = self.rule.step(state, (theirs if value is None else value, theirs))
            if state.finished:
                return True
        return False

    def start(self, sample: str, epoch: int) -> None:
        """A sample is started; its first epoch is the one that counts."""
        self.begun.setdefault((sample, epoch), time.monotonic())
        if sample not in self.started:
            self.started[sample] = epoch
            self.queue.append(sample)

    def crashed(self, sample: str, epoch: int) -> None:
        """The first attempt ended with an error: decided on before the outcome of another attempt is known."""
        if self.crashes == "failure":
            self.enter(sample, epoch, {})
        elif self.started.get(sample) == epoch and sample not in self.results:
            self.excluded.append(sample)
            self._take(sample, epoch, None)

    def enter(self, sample: str, epoch: int, values: Mapping[str, Any]) -> None:
        """Take a result; a result that was taken stays what it was."""
        self.start(sample, epoch)
        self.longest = max(self.longest, time.monotonic() - self.begun[sample, epoch])
        if self.started[sample] != epoch or sample in self.results or self.refused is not None:
            return
        value = self.rule.low  # it ran, and no scorer could make anything of it
        if not values:
            self.unscored.append(sample)
        else:
            try:
                value = chosen(values, self.known.scorer, f"sample {sample}")
            except DataError as error:
                self.refused = str(error)  # the eval is worth more than the comparison: it goes on
        self._take(sample, epoch, value)

    def _take(self, sample: str, epoch: int, value: float | None) -> None:
        if self.started[sample] == epoch:
            self.results[sample] = value
        self._advance()
        self._tell()

    def _tell(self) -> None:
        """Something has happened that those who wait must look at."""
        self.quiet_from = time.monotonic()
        if self.news is not None:
            self.news.set()
            self.news = None

    def _advance(self) -> None:
        while self.refused is None and not self.state.finished and self.place < len(self.queue):
            sample = self.queue[self.place]
            if sample not in self.results:
                return
            value, theirs = self.results[sample], self.known.scores[sample]
            self.place += 1
            if value is None and self.rule.population is None:
                continue
            try:
                self.state = self.rule.step(self.state, (theirs if value is None else value, theirs))
                self.entered.append(sample)
            except ValueError as error:
                self.refused = f"sample {sample}: {error}"

    def close(self) -> None:
        """The end of the eval: what has begun and has no score has failed."""
        self.open = False
        for sample in self.queue:
            if sample not in self.results:
                self.crashed(sample, self.started[sample])

    def sentence(self) -> str:
        """What was found, and where it holds."""
        run, all_of = len(self.begun), len(self.order) * self.epochs
        if self.refused is not None:
            return f"Not compared with the baseline: {self.refused}"
        if not self.state.pairs:
            return "Not compared with the baseline: no sample was run."
        found = self.state.interval
        gain = formatting.estimate(found.estimate, found.low, found.high, found.scale)
        p_value, sure = formatting.p_value(self.state.p_value), formatting.percent(self.rule.confidence)
        only = "" if self.rule.population is None else " It says nothing about other items."
        size = f"{run:,} of {all_of:,} samples run"
        if self.excluded:
            counts = "left out" if self.rule.population is None else "count as ties"
            size += f"; {len(self.excluded):,} crashed at first and {counts}"
        return f"{self.verdict()} ({size}): {gain}, {p_value}; {sure} over all looks.{only}"

    def verdict(self) -> str:
        """What was decided, and after how many pairs."""
        found = {
            Verdict.BETTER: "better than the baseline",
            Verdict.WORSE: "worse than the baseline",
            Verdict.SAME: "the same as the baseline within the margin",
            Verdict.UNDECIDED: "no difference from the baseline shown",
        }[self.state.verdict]
        if self.state.verdict is Verdict.BETTER and self.rule.claim == "first not worse":
            found = "not worse than the baseline by the margin"
        where = found.capitalize() if self.rule.population is None else f"On these {len(self.order):,} items {found}"
        return f"{where} after {formatting.counted(self.state.pairs, 'pair')}"

    def metadata(self) -> dict[str, Any]:
        """What goes into the log: plain data, enough to check the verdict from the samples in it."""
        import surefoot

        compared = self.refused is None and self.state.pairs > 0
        found = self.state.interval if compared else None
        return {
            "surefoot": surefoot.__version__,
            "sentence": self.sentence(),
            "verdict": self.state.verdict.value if self.refused is None else None,
            "ending": self.state.ending if self.refused is None else "refused",
            "refused": self.refused,
            "gain": None if found is None else found.estimate,
            "low": None if found is None else found.low,
            "high": None if found is None else found.high,
            "p_value": self.state.p_value if compared else None,
            "pairs": self.state.pairs,
            "samples_run": len(self.begun),
            "samples": len(self.order),
            "epochs": self.epochs,
            "entered": list(self.entered),
            "crashes": self.crashes,
            "excluded": list(self.excluded),
            "unscored_as_lowest": list(self.unscored),
            "rule": self.rule.to_dict(),
            "scorer": self.known.scorer,
            "baseline": self.known.where,
            "baseline_model": self.known.model,
            "baseline_unscored_as_lowest": self.known.unscored,
            "sample_shuffle": self.seed,
            "order_sha256": hashlib.sha256(json.dumps(list(self.order)).encode()).hexdigest(),
        }


COURSES: dict[str, _Course] = {}
"""The evals that are compared now, by Inspect's own name of each."""


@cache
def _listen() -> None:
    """Have Inspect say when an attempt ends with an error: the manager is not told, and a retry comes much later."""
    try:
        from inspect_ai.hooks import Hooks, SampleAttemptEnd, hooks
    except ImportError:  # an older Inspect: a crash is known when the sample is retried, or at the end
        return
    del SampleAttemptEnd

    @hooks(name="surefoot", description="Tells surefoot of samples that crashed.")
    class Attempts(Hooks):
        def enabled(self) -> bool:
            return bool(COURSES)

        async def on_sample_attempt_end(self, data: SampleAttemptEnd) -> None:
            course = COURSES.get(data.eval_id)
            if course is not None and data.error is not None and (data.will_retry or not course.scored_errors):
                course.crashed(str(data.summary.id), data.summary.epoch)
