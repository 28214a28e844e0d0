"""Acceptance test: is one success rate high enough, in the fewest rollouts.

One policy, no second one: a rate that is wanted against a rate that would be unacceptable, both fixed beforehand.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from surefoot import _check
from surefoot.core import formatting
from surefoot.core.assumptions import ONE_RATE, TEST_STOPPED
from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.tally import Tally

if TYPE_CHECKING:
    from surefoot.numerics.designs.acceptance import Boundaries, Endings

Acceptance = Literal["accepted", "rejected", "undecided"]
"""What is said of the rate: see `AcceptanceState.verdict`."""


@dataclass(frozen=True, slots=True)
class AcceptanceTest(Record):
    """Decides whether one success rate is high enough, with few rollouts and a known most.

    It accepts a rate of `at_least` and rejects a rate of `unacceptable`, each wrongly with a chance of at most `error`;
    a higher rate is accepted more often, a lower one less often. A rate in between may be accepted or rejected. With
    g = log(at_least / unacceptable) and l = log((1 - unacceptable) / (1 - at_least)) the log of the likelihood ratio is
    g successes - l failures: Wald's test ends when it leaves a strip. Here both edges of the strip are moved in as far
    as the errors allow, counted exactly over every way to end, the horizon included.

    Attributes:
        at_least: The rate that should be accepted.
        unacceptable: The rate that should be rejected, below it.
        error: The largest chance to accept `unacceptable`, and to reject `at_least`.
        horizon: The most rollouts. Left out, it is found from the rates and the error, and the test is always decided
            there; a longer one is cut to that. A shorter one is kept, with both errors, and may end undecided.

    Example:
        >>> from surefoot.sequential import AcceptanceTest
        >>> rule = AcceptanceTest(0.95, 0.8)
        >>> print(rule)
        Acceptance test: a success rate of 95% against one of 80%, at most 75 rollouts, each error at most 5%.
        >>> state = rule.start()
        >>> while not state.finished:
        ...     state = rule.step(state, True)
        >>> print(state)
        Accepted after 18 rollouts: 100.0% [84.6%, 100.0%] n=18 (90% acceptance test, final interval).

    Reference:
        Wald (1945), "Sequential tests of statistical hypotheses", equations 5:4 to 5:9; the closed boundaries are
        surefoot's own. The interval: Jennison and Turnbull (1983), "Confidence intervals for a binomial parameter
        following a multistage test".
    """

    at_least: float
    unacceptable: float
    _: KW_ONLY
    error: float = 0.05
    horizon: int | None = None

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "at_least", _check.fraction(self.at_least, "at_least"))
        set_(self, "unacceptable", _check.fraction(self.unacceptable, "unacceptable"))
        set_(self, "error", _check.fraction(self.error, "error"))
        if not self.unacceptable < self.at_least:
            raise _check.wrong(
                "unacceptable",
                f"be below `at_least`; got unacceptable={self.unacceptable:g}, "
                f"at_least={self.at_least:g}. The test tells the two rates apart.",
                self.unacceptable,
            )
        if self.error > 0.25:
            hint = "It is the chance to be wrong, such as 0.05."
            raise _check.refused("error", "be at most 0.25", self.error, hint)
        set_(self, "horizon", self._least_of_both(self.horizon))

    def _least_of_both(self, given: int | None) -> int:
        """The horizon given, or the one that is always enough when that is shorter."""
        from surefoot.numerics.designs import acceptance

        try:
            enough, _ = acceptance.closed(self.at_least, self.unacceptable, self.error)
        except OverflowError:
            most = formatting.rollouts(acceptance.MOST)
            raise _check.wrong(
                ("at_least", "unacceptable"),
                f"be far enough apart to be distinguished within {most}; "
                f"got {self.at_least:g} and {self.unacceptable:g} with an error of {self.error:g}.",
                (self.at_least, self.unacceptable),
            ) from None
        if given is None:
            return enough
        asked = _check.whole(given, "horizon", least=1)
        needed = math.ceil(math.log(self.error) / math.log(self.unacceptable))
        if asked < needed:
            hint = "Fewer rollouts cannot be accepted, even if all succeed."
            raise _check.refused("horizon", f"be at least {needed}", given, hint)
        return min(asked, enough)

    def start(self) -> AcceptanceState:
        """The state before the first rollout."""
        return AcceptanceState(rule=self, rollouts=0, failures=0, verdict="undecided")

    def step(self, state: AcceptanceState, success: bool) -> AcceptanceState:
        """The state after one more rollout.

        Raises:
            ValueError: The state has ended or belongs to another rule, or the outcome is neither success nor failure.
        """
        if state.rule != self:
            raise _check.wrong("state", f"come from this rule; got a state of {state.rule}", state)
        if state.finished:
            raise _check.wrong("state", f"be unfinished; got one that ended after {state.rollouts} rollouts.", state)
        if success not in (0, 1):
            raise _check.refused("success", "be True or False", success)
        rollouts, failures = state.rollouts + 1, state.failures + (not success)
        limits = self.boundaries
        verdict: Acceptance = "undecided"
        if failures <= limits.accept[rollouts]:
            verdict = "accepted"
        elif failures >= limits.reject[rollouts]:
            verdict = "rejected"
        return AcceptanceState(rule=self, rollouts=rollouts, failures=failures, verdict=verdict)

    @property
    def boundaries(self) -> Boundaries:
        """Accepts after n rollouts when failures <= accept[n], rejects when failures >= reject[n]."""
        from surefoot.numerics.designs import acceptance

        return acceptance.boundaries(self.at_least, self.unacceptable, self.error, self.horizon)

    def operating(self, rate: float) -> dict[str, float]:
        """The exact chance to be accepted, rejected or left undecided at a rate, and the mean number of rollouts.

        Example:
            >>> from surefoot.sequential import AcceptanceTest
            >>> found = AcceptanceTest(0.95, 0.8).operating(0.97)
            >>> round(found["accepted"], 3), round(found["rollouts"], 1)
            (0.99, 24.2)
        """
        from surefoot.numerics.designs import acceptance

        accepted, rejected, rollouts = acceptance.ending_chances(self.boundaries, _check.rate(rate))
        undecided = max(0.0, 1.0 - accepted - rejected)
        return {"accepted": accepted, "rejected": rejected, "undecided": undecided, "rollouts": rollouts}

    def __str__(self) -> str:
        wanted, unwanted = formatting.percent(self.at_least), formatting.percent(self.unacceptable)
        most, error = formatting.rollouts(self.horizon or 0), formatting.percent(self.error, "up")
        return (
            f"Acceptance test: a success rate of {wanted} against one of {unwanted}, at most {most}, "
            f"each error at most {error}."
        )


@dataclass(frozen=True, slots=True)
class AcceptanceState(Record):
    """What an acceptance test knows after some rollouts.

    Attributes:
        rule: The test it belongs to.
        rollouts: Rollouts seen.
        failures: Those that failed.
        verdict: "accepted": the rate is above `unacceptable`. "rejected": it is below `at_least`. Both are final.
    """

    rule: AcceptanceTest
    rollouts: int
    failures: int
    verdict: Acceptance

    @property
    def finished(self) -> bool:
        """Whether no further rollout may be added."""
        return self.verdict != "undecided" or self.rollouts >= (self.rule.horizon or 0)

    @property
    def interval(self) -> Interval:
        """Where the rate lies, once the test has ended as declared; each end is wrong with at most the test's error.

        It agrees with the verdict: after "accepted" it lies above `unacceptable`, after "rejected" below `at_least`.

        Raises:
            ValueError: The test has not ended.
        """
        from surefoot.numerics.designs import acceptance

        if not self.finished:
            raise _check.wrong("interval", "be asked for once the test has ended; got a state that goes on.")
        every = _endings(self.rule)
        low, high = acceptance.ends(every, every.place(self.rollouts, self.failures), self.rule.error)
        tally = Tally(self.rollouts - self.failures, self.rollouts)
        return Interval(
            low=min(low, tally.rate),
            high=max(high, tally.rate),
            estimate=tally.rate,
            confidence=1.0 - 2.0 * self.rule.error,
            method="acceptance test, final",
            trials=self.rollouts,
            assumptions=(ONE_RATE, TEST_STOPPED),
            data=(tally,),
        )

    def __str__(self) -> str:
        seen = formatting.rollouts(self.rollouts)
        if not self.finished:
            return f"Undecided after {seen}, {self.failures:,} failed."
        return f"{self.verdict.capitalize()} after {seen}: {self.interval}"


@lru_cache(maxsize=64)
def _endings(rule: AcceptanceTest) -> Endings:
    from surefoot.numerics.designs import acceptance

    return acceptance.endings(rule.boundaries, (rule.at_least + rule.unacceptable) / 2.0)
