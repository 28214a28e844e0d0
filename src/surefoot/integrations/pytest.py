"""A pytest marker for functions that succeed only most of the time.

``@pytest.mark.surefoot(at_least=0.95, unacceptable=0.8, error=0.05)`` runs the test, with its fixtures set up anew for
every run, until `surefoot.sequential.AcceptanceTest` has decided. Runs are made one after the other and count in the
order in which they are started: none overtakes one that takes longer, whatever xdist runs beside them. pytest loads
this file at every start: it imports nothing but pytest, and does nothing where the mark is not used.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from surefoot.sequential.acceptance import AcceptanceState, AcceptanceTest

MARK = "surefoot"
DEFAULTS: dict[str, Any] = {"at_least": 0.95, "unacceptable": 0.8, "error": 0.05, "horizon": None}
"""What the mark takes, and what it takes where nothing is said."""
WRITE = "Write @pytest.mark.surefoot(at_least=0.95, unacceptable=0.8)."
WORDS = {"accepted": "passed", "rejected": "failed", "undecided": "undecided"}
_SHOWN = 10  # failed runs that are named
_WRONG = "surefoot_wrong_mark"

_RULE = pytest.StashKey["AcceptanceTest"]()
_NUMBER = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line(
        "markers",
        "surefoot(at_least=0.95, unacceptable=0.8, error=0.05, horizon=None): run a stochastic test until an exact "
        "sequential test tells whether its success rate is `at_least` or `unacceptable`, each error at most `error`.",
    )


@pytest.fixture
def surefoot_run(request: pytest.FixtureRequest) -> int:
    """The number of this run of the test, from 1 on: a seed, for instance. 1 in a test without the mark."""
    number: int = request.node.stash.get(_NUMBER, 1)
    return number


@pytest.fixture
def surefoot_gate() -> Callable[..., Any]:
    """A gate: ``surefoot_gate("pr.csv", "release.toml")`` fails where a need is broken and skips where one is open.

    Further arguments are those of `surefoot.gate`: first, second, previous (a file).
    """

    def gate(results: Any, needs: Any, *, previous: Any = None, **asked: Any) -> Any:
        import surefoot as sf

        before = None if previous is None else sf.read(previous)
        found = sf.gate(sf.read(results), needs, previous=before, **asked)
        if found.code == 2:
            pytest.skip(str(found))
        if found.code:
            pytest.fail(str(found), pytrace=False)
        return found

    return gate


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Read every mark before the first test runs, so that a wrong one stops the session at once."""
    try:
        for item in items:
            mark = item.get_closest_marker(MARK)
            if mark is not None:
                item.stash[_RULE] = _declared(item, mark)
    except pytest.UsageError as error:
        if not hasattr(config, "workeroutput"):
            raise
        config.workeroutput[_WRONG] = str(error)  # xdist would lose it: the session that started the workers says it
        items.clear()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Say what a worker of xdist has refused."""
    wrong = getattr(node, "workeroutput", {}).get(_WRONG)
    if wrong is not None:
        raise pytest.UsageError(wrong)


def _declared(item: pytest.Item, mark: pytest.Mark) -> AcceptanceTest:
    if item.get_closest_marker("xfail") is not None:
        raise pytest.UsageError(
            f"{item.nodeid}: a test must have one of the marks `surefoot` and `xfail`; got both. "
            "Remove one of them. If the rate is known to be low, give a lower `at_least`."
        )
    try:
        return rule_of(mark)
    except (TypeError, ValueError) as error:
        raise pytest.UsageError(f"{item.nodeid}: @pytest.mark.surefoot: {error}") from None


def rule_of(mark: pytest.Mark) -> AcceptanceTest:
    """The test that a mark declares."""
    from surefoot.sequential.acceptance import AcceptanceTest

    if mark.args:
        raise TypeError(f"its arguments must be named; got {', '.join(map(repr, mark.args))}. {WRITE}")
    unknown = sorted(set(mark.kwargs) - set(DEFAULTS))
    if unknown:
        raise ValueError(f"its arguments must be among {', '.join(DEFAULTS)}; got {', '.join(unknown)}. {WRITE}")
    given = {**DEFAULTS, **mark.kwargs}
    return AcceptanceTest(given["at_least"], given["unacceptable"], error=given["error"], horizon=given["horizon"])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run a marked test until it is decided, and report it as one test."""
    rule = item.stash.get(_RULE, None)
    if rule is None or item.config.getoption("setuponly", False):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _reports(item, nextitem, rule):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


class _Run(NamedTuple):
    """The reports of one run: what a test without the mark would have reported."""

    setup: pytest.TestReport
    call: pytest.TestReport | None
    teardowns: tuple[pytest.TestReport, ...]
    state: AcceptanceState


def _reports(item: pytest.Item, nextitem: pytest.Item | None, rule: AcceptanceTest) -> Iterator[pytest.TestReport]:
    """One set-up, one call and one tear-down, out of those of all runs."""
    runs: list[_Run] = []
    failed: list[int] = []
    duration, began, last_failure = 0.0, None, None
    for run in _runs(item, nextitem, rule):
        runs = [runs[0] if runs else run, run]  # the first and the last; the others are counted
        if run.call is not None:
            duration, began = duration + run.call.duration, run.call.start if began is None else began
            if run.call.failed:
                failed.append(run.state.rollouts)
                last_failure = run.call
    first, last = runs[0], runs[-1]
    if last.call is None:  # a set-up that failed or skipped: nothing to do with the rate
        yield last.setup
    elif last.call.skipped:
        yield first.setup
        yield last.call
    else:
        yield first.setup
        yield _verdict(item, last, last_failure, failed, (duration, began or last.call.start))
    yield from last.teardowns


def _runs(item: pytest.Item, nextitem: pytest.Item | None, rule: AcceptanceTest) -> Iterator[_Run]:
    """Every run with its own set-up and tear-down, until the rule has decided or a run could not be counted."""
    from _pytest.runner import call_and_report  # as the plugins that rerun tests do: pytest has no other name for it

    state, known = rule.start(), len(item.user_properties)
    stop = False
    while not stop:
        item.stash[_NUMBER] = state.rollouts + 1
        del item.user_properties[known:]
        if state.rollouts:
            _renew(item)
        setup, call = call_and_report(item, "setup", log=False), None
        if setup.passed:
            call = call_and_report(item, "call", log=False)
            if not call.skipped:
                state = rule.step(state, call.passed)
        counted = call is not None and not call.skipped
        stop = state.finished or not counted or bool(item.session.shouldfail or item.session.shouldstop)
        if stop and counted:
            item.user_properties += properties(state)  # the report of the tear-down carries them to JUnit
        # Only what is set up for each test is torn down between runs: the parent stays.
        after = nextitem if stop else item.parent
        if item.session.shouldfail or item.session.shouldstop:
            after = None
        teardowns = [call_and_report(item, "teardown", log=False, nextitem=after)]
        if hasattr(item, "_request"):
            item._request = False
            item.funcargs = None  # type: ignore[attr-defined]
        if teardowns[0].failed and not stop:
            stop = True
            rest = pytest.CallInfo.from_call(partial(item.session._setupstate.teardown_exact, nextitem), "teardown")
            if rest.excinfo is not None:
                teardowns.append(item.ihook.pytest_runtest_makereport(item=item, call=rest))
        yield _Run(setup, call, tuple(teardowns), state)


def _renew(item: pytest.Item) -> None:
    """Forget what the run before has left in the item, as pytest itself does for an item that is run again."""
    item._report_sections.clear()  # what it has printed
    if hasattr(item, "_initrequest"):
        item._initrequest()
    if isinstance(item, pytest.Function) and vars(item).get("_instance") is not None:
        item._obj = None  # a fresh instance of the class for every run
        del item._instance


def _verdict(
    item: pytest.Item,
    last: _Run,
    failure: pytest.TestReport | None,
    failed: list[int],
    timing: tuple[float, float],
) -> pytest.TestReport:
    """The report of the call: that of the last failed run, or of the last run, with the verdict on all of them."""
    state = last.state
    passed = state.verdict == "accepted"
    report = copy.copy(last.call if passed or failure is None else failure)
    if report is None:
        raise RuntimeError("a verdict needs a run")
    report.outcome = "passed" if passed else "failed"
    report.duration, report.start = timing
    report.user_properties = list(item.user_properties)
    said = sentence(state)
    if passed:
        report.longrepr = None
        return report
    title = f"surefoot: {said}"
    more = explained(state, failed, torn=last.teardowns[0].failed and not state.finished)
    longrepr: Any = report.longrepr if failure is not None else None
    crash = getattr(longrepr, "reprcrash", None)
    if crash is None or not hasattr(longrepr, "addsection"):  # a run that failed by pytest.fail, or none that failed
        report.longrepr = "\n\n".join(part for part in (title, more, str(longrepr or "")) if part)
    else:
        crash.message = title  # the line of the short summary
        longrepr.addsection("surefoot", f"{said}\n{more}")
    return report


def sentence(state: AcceptanceState) -> str:
    """What was decided, after how many runs, and the rate with its interval."""
    from surefoot.core import formatting

    runs = formatting.counted(state.rollouts, "run")
    most = f"at most {state.rule.horizon:,}"
    if not state.finished:
        return f"stopped after {runs} ({most}), {formatting.counted(state.failures, 'failure')}"
    found = state.interval
    rate = f"{formatting.estimate(found.estimate, found.low, found.high)} of them succeeded"
    return f"{WORDS[state.verdict]} after {runs} ({most}): {rate}"


def explained(state: AcceptanceState, failed: list[int], *, torn: bool) -> str:
    """What was asked for, which runs failed, and what to do."""
    from surefoot.core import formatting

    rule = state.rule
    wanted, unwanted = formatting.percent(rule.at_least), formatting.percent(rule.unacceptable)
    error, sure = formatting.percent(rule.error, "up"), formatting.percent(1.0 - 2.0 * rule.error)
    lines = [
        f"Asked for: a rate of at least {wanted}; {unwanted} is unacceptable; each error at most {error} "
        f"({sure} interval)."
    ]
    if failed:
        shown = formatting.some_names([str(number) for number in failed], _SHOWN)
        lines.append(f"Failed runs: {shown}. Above is the last of them.")
    if torn:
        lines.append(f"Run {state.rollouts} failed in its teardown, so no further run was made.")
    elif state.verdict == "undecided" and state.finished:
        from surefoot.sequential.acceptance import AcceptanceTest

        enough = AcceptanceTest(rule.at_least, rule.unacceptable, error=rule.error).horizon
        lines.append(
            f"All {rule.horizon} runs were used without a decision, which is not a pass. "
            f"horizon={enough} always decides."
        )
    return "\n".join(lines)


def properties(state: AcceptanceState) -> list[tuple[str, object]]:
    """What a report carries: to the terminal's summary, over xdist, and into JUnit XML."""
    found: list[tuple[str, object]] = [("surefoot", sentence(state)), ("surefoot_verdict", WORDS[state.verdict])]
    found += [("surefoot_runs", state.rollouts), ("surefoot_failures", state.failures)]
    if state.finished:
        interval = state.interval
        found += [
            ("surefoot_rate", interval.estimate),
            ("surefoot_low", interval.low),
            ("surefoot_high", interval.high),
        ]
    return found


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell of every test that was run many times, also of those that passed."""
    lines = []
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) == "call":
                lines += [f"{report.nodeid} {said}" for name, said in report.user_properties if name == MARK]
    if lines:
        terminalreporter.section("surefoot")
        for line in sorted(lines):
            terminalreporter.write_line(line)
