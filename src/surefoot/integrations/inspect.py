"""When may an Inspect evaluation stop, because it is known how it compares with a baseline?

`BaselineComparison` is an early-stopping manager: ``Task(..., early_stopping=BaselineComparison("baseline.eval"))``.
Each sample is a pair with the baseline's result on the same sample. Pairs enter a sequential rule in the order in which
the samples were declared, whatever order they finish in, so that many samples at once give the verdict of one at a
time. Once the rule has decided, no further sample is started, and the verdict is written into the log.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.verdict import Verdict
from surefoot.errors import DataError
from surefoot.files.formats.inspect_logs import GRADES

if TYPE_CHECKING:
    from pathlib import Path

    from inspect_ai.dataset import Sample
    from inspect_ai.log import EvalConfig, EvalLog, EvalSpec
    from inspect_ai.scorer import SampleScore
    from inspect_ai.util import EarlyStop

    from surefoot.sequential.betting import BettingState
    from surefoot.sequential.finite_horizon_mixture import FiniteHorizonMixture
    from surefoot.sequential.rules import Claim

About = Literal["items like these", "these items"]
"""What the verdict is about: see `BaselineComparison`."""
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
    _course: _Course | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        _check.choice(self.about, "about", dict.fromkeys(get_args(About)))
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
        if epochs != 1:
            raise ValueError(
                f"`epochs` must be 1 to stop early; got {epochs}. Inspect runs every sample once before it runs any "
                "sample again, so stopping early would save nothing."
            )
        if not task.dataset.shuffled and not self.randomised:
            raise ValueError(f"the samples must be in random order; got them in the order of the dataset. {SHUFFLE}")
        _refuse_unscored_errors(task.config)
        known = _known(self.baseline, self.scorer, self.low)
        order = _paired(samples, known)
        self._course = _Course(self.rule(len(order)), order, known, task)
        return "surefoot"

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:  # noqa: A002
        """Called by Inspect before it starts a sample; stops it once the rule has ended."""
        course = self._begun()
        if not course.state.finished:
            course.running.add(str(id))
            return None
        from inspect_ai.util import EarlyStop

        return EarlyStop(id=id, epoch=epoch, reason=f"surefoot: {course.verdict()}")

    async def complete_sample(
        self,
        id: str | int,  # noqa: A002
        epoch: int,  # noqa: ARG002
        scores: dict[str, SampleScore],
    ) -> None:
        """Called by Inspect with the scores of a sample; pairs enter the rule in the declared order."""
        course = self._begun()
        course.running.discard(str(id))
        values = {name: score.score.value for name, score in scores.items()}
        course.enter(str(id), values)

    async def complete_task(self) -> dict[str, Any]:
        """Called by Inspect at the end; what it returns is in the log, at ``results.early_stopping.metadata``."""
        course = self._begun()
        course.close()
        return course.metadata()

    def _begun(self) -> _Course:
        if self._course is None:
            raise RuntimeError("start_task must be called first; another method was. Let Inspect call them.")
        return self._course


class _Known(NamedTuple):
    """A baseline: the scores of its samples by id, and what its samples were."""

    where: str
    model: str
    scorer: str
    scores: dict[str, float]
    items: dict[str, str]
    unscored: int


class _Course:
    """One eval: which results are there, and what the rule knows of them."""

    def __init__(self, rule: FiniteHorizonMixture, order: Sequence[str], known: _Known, task: EvalSpec) -> None:
        self.rule, self.order, self.known = rule, order, known
        self.state: BettingState = rule.start()
        self.results: dict[str, float] = {}
        self.running: set[str] = set()
        self.open = True
        self.refused: str | None = None
        self.unscored: list[str] = []
        self.seed = task.config.sample_shuffle

    def enter(self, sample: str, values: Mapping[str, Any]) -> None:
        """Take a result; a result that was taken stays what it was."""
        if sample in self.results or self.refused is not None:
            return
        if not values:
            self.results[sample] = self.rule.low  # it ran, and no scorer could make anything of it
            self.unscored.append(sample)
        else:
            try:
                self.results[sample] = _chosen(values, self.known.scorer, f"sample {sample}")
            except DataError as error:
                self.refused = str(error)  # the eval is worth more than the comparison: it goes on
        self._advance()

    def _advance(self) -> None:
        while self.refused is None and not self.state.finished:
            sample = self.order[self.state.pairs]
            if sample not in self.results:
                return
            try:
                self.state = self.rule.step(self.state, (self.results[sample], self.known.scores[sample]))
            except ValueError as error:
                self.refused = f"sample {sample}: {error}"

    def close(self) -> None:
        """The end of the eval: what has begun and has no score has failed."""
        failed = sorted(self.running, key=self.order.index)
        self.running.clear()
        self.open = False
        for sample in failed:
            self.enter(sample, {})

    def sentence(self) -> str:
        """What was found, and where it holds."""
        run, all_of = len(self.results), len(self.order)
        if self.refused is not None:
            return f"Not compared with the baseline: {self.refused}"
        if not self.state.pairs:
            return "Not compared with the baseline: no sample was run."
        found = self.state.interval
        gain = formatting.estimate(found.estimate, found.low, found.high, found.scale)
        p_value, sure = formatting.p_value(self.state.p_value), formatting.percent(self.rule.confidence)
        only = "" if self.rule.population is None else " It says nothing about other items."
        size = f"{run:,} of {all_of:,} samples run"
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
            "samples_run": len(self.results),
            "samples": len(self.order),
            "unscored_as_lowest": list(self.unscored),
            "rule": self.rule.to_dict(),
            "scorer": self.known.scorer,
            "baseline": self.known.where,
            "baseline_model": self.known.model,
            "baseline_unscored_as_lowest": self.known.unscored,
            "sample_shuffle": self.seed,
            "order_sha256": hashlib.sha256(json.dumps(list(self.order)).encode()).hexdigest(),
        }


def _refuse_unscored_errors(config: EvalConfig) -> None:
    """An error that is passed over without a score would never enter the comparison, and a crash is an outcome."""
    ends = config.fail_on_error is None or config.fail_on_error is True
    passed_over = not ends or bool(config.continue_on_fail)
    if passed_over and not config.score_on_error:
        raise ValueError(
            "an error must end the eval or be scored; got an eval that skips errors. "
            "Add --score-on-error: a crash is an outcome."
        )


def _known(baseline: str | Path | EvalLog, scorer: str | None, low: float) -> _Known:
    """The baseline's scores: of each sample the mean over its epochs, the lowest where it has none."""
    from inspect_ai.log import EvalLog, read_eval_log

    log = baseline if isinstance(baseline, EvalLog) else read_eval_log(str(baseline))
    where = log.location or str(baseline)
    if not log.samples:
        raise DataError("the baseline must hold samples; it has none.", source=where)
    if scorer is None:
        names = sorted({name for sample in log.samples for name in sample.scores or {}})
        if len(names) != 1:
            got = ", ".join(names) if names else "none"
            raise DataError(f"the baseline must have one scorer, or `scorer` name one; it has {got}.", source=where)
        scorer = names[0]
    values: dict[str, list[float]] = {}
    items: dict[str, str] = {}
    unscored = 0
    for sample in log.samples:
        given = {name: score.value for name, score in (sample.scores or {}).items()}
        if given:
            value = _chosen(given, scorer, f"{where}: sample {sample.id}")
        else:
            value, unscored = low, unscored + 1
        values.setdefault(str(sample.id), []).append(value)
        items[str(sample.id)] = _item(sample.input, sample.target)
    scores = {sample: math.fsum(each) / len(each) for sample, each in values.items()}
    return _Known(where, log.eval.model, scorer, scores, items, unscored)


def _paired(samples: Iterable[Sample], known: _Known) -> tuple[str, ...]:
    """The ids in the declared order, each with a result of the baseline on the same item.

    Raises:
        DataError: The baseline lacks some, or has other items under their ids.
    """
    listed = list(samples)
    order = tuple(str(sample.id) for sample in listed)
    missing = [sample for sample in order if sample not in known.scores]
    if missing:
        raise DataError(
            f"the baseline must hold every sample of the eval; it lacks {len(missing):,}: "
            f"{formatting.some_names(missing)}. Run the baseline in full.",
            source=known.where,
        )
    other = [str(sample.id) for sample in listed if _item(sample.input, sample.target) != known.items[str(sample.id)]]
    if other:
        raise DataError(
            f"a sample must be the same item in the baseline; {formatting.some_names(other)} has another input or "
            "target there. Give every sample its own id: Inspect numbers the samples that have none.",
            source=known.where,
        )
    return order


def _item(given: Any, target: Any) -> str:
    """What tells one item from another; a conversation counts by its words."""
    words = given if isinstance(given, str) else [[message.role, message.text] for message in given]
    return json.dumps([words, target])


def _chosen(values: Mapping[str, Any], scorer: str, where: str) -> float:
    """The value of the scorer, or of "scorer.key", as a number.

    Raises:
        DataError: There is none, or it is no number.
    """
    value: Any = values.get(scorer)
    if value is None:
        name, _, key = scorer.rpartition(".")
        parts = values.get(name)
        value = parts.get(key) if isinstance(parts, Mapping) else None
    if value is None:
        raise DataError(f"the scorer {scorer!r} must have scored it; got {', '.join(values)}.", source=where)
    if isinstance(value, str):
        value = GRADES.get(value, GRADES.get(value.lower(), value))
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"the score must be C, I, P, N or a number; got {value!r}.", source=where)
    return number
