"""JUnit XML, as pytest, promptfoo, Maven, Jest and most test runners write it: one testcase per test."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from surefoot.errors import DataError
from surefoot.files.fields import filled, repeated
from surefoot.files.importers import ITEMS, About, Sheet, frame_of
from surefoot.files.recognising import LARGEST_TEXT, Head
from surefoot.files.xml_files import Attributes, Reader, read_xml
from surefoot.table.findings import Finding, own_total

ABOUT = About(
    name="JUnit XML",
    file="junit.xml (pytest --junitxml, promptfoo, Maven, Jest)",
    becomes="classname::name is the condition; a skipped test has no outcome; a further attempt is a repeat",
    example="surefoot compare pr.xml main.xml",
)

BEGINS = re.compile(r"\s*<(?:\?xml\s|!DOCTYPE\s|!--|(?:\w+:)?testsuites?[\s/>])")
SUITE = re.compile(r"<(?:\w+:)?testsuites?[\s/>]")
FAILED = ("failure", "error")
RETRIED = ("rerunFailure", "rerunError", "flakyFailure", "flakyError")
"""Earlier or further attempts of a test, as Maven writes them."""


def recognises(head: Head) -> bool:
    """XML with a test suite near its beginning."""
    return bool(BEGINS.match(head.text) and SUITE.search(head.text))


def load(head: Head) -> Sheet:
    """One row per attempt at a test; classname::name is the condition, skipped tests have no outcome."""
    if head.size > LARGEST_TEXT:
        raise DataError(f"JUnit XML must be at most {LARGEST_TEXT >> 20:,} MiB.", source=head.name)
    suites = _Suites(head.name)
    read_xml(head.path.read_bytes(), suites, head.name)
    filled(suites.rows, "the file must hold testcases", head.name)
    rows, notes = suites.rows, []
    if len({row["task"] for row in rows}) < 2:
        for row in rows:
            del row["task"]
    else:
        notes.append("A test suite is a task.")
    if repeated(rows, "task", "condition"):
        notes.append("Attempts at one test are repeats.")
    skipped = sum(row["success"] is None for row in rows)
    if skipped:
        notes.append(f"{skipped:,} skipped tests have no outcome.")
    findings = (*suites.findings, *([_retries(suites.retried, head.name)] if suites.retried else []))
    return Sheet(
        frame_of(rows, head.name), "JUnit XML", tuple(notes), findings, named={"condition": "test"}, roles=ITEMS
    )


def _retries(times: int, source: str) -> Finding:
    return Finding(
        about="retries",
        values={"times": times},
        says=f"{source}: tests that failed were run again, {times:,} times.",
        threatens="Whether a test is run again depends on its result, so a rate over all attempts is biased.",
        remedy="Count first attempts only, by `where`: repeat=1.",
        serious=False,
    )


class _Suites(Reader):
    """The testcases met so far, and what their suites say of them."""

    def __init__(self, source: str) -> None:
        self.source, self.rows, self.findings, self.retried = source, list[dict[str, Any]](), list[Finding](), 0
        self._suites: list[_Suite] = []
        self._case: Attributes | None = None
        self._found: dict[str, list[str]] = {}

    def starts(self, name: str, attributes: Attributes) -> None:
        if name in ("testsuite", "testsuites"):
            if self._suites:
                self._suites[-1].leaf = False
            self._suites.append(_Suite(attributes))
        elif name == "testcase":
            if self._case is not None:
                raise DataError("a testcase must not hold another.", source=self.source)
            self._case, self._found = attributes, {}
        elif self._case is not None and name in (*FAILED, "skipped", *RETRIED):
            self._found.setdefault(name, []).append(attributes.get("message") or attributes.get("type") or name)

    def ends(self, name: str, _content: str) -> None:
        if name in ("testsuite", "testsuites"):
            self.findings += self._suites.pop().totals(self.source)
        elif name == "testcase" and self._case is not None:
            self._ended(self._case)
            self._case = None

    def _ended(self, case: Attributes) -> None:
        title = "::".join(filter(None, (case.get("classname"), case.get("name"))))
        if not title:
            raise DataError("a testcase must have a name.", source=self.source, row=len(self.rows) + 1)
        suite = self._suites[-1] if self._suites else _Suite({})
        kind = next((one for one in (*FAILED, "skipped") if one in self._found), "passed")
        suite.count(kind)
        again = [(one, why) for one in RETRIED for why in self._found.get(one, ())]
        self.retried += len(again)
        ended = {"passed": True, "skipped": None}.get(kind, False)
        last = ended, self._found[kind][0] if kind in FAILED else None
        for success, failure in (*((False, why) for _, why in again), last):
            self.rows.append(
                {
                    "task": suite.name,
                    "condition": title,
                    "success": success,
                    "failure": None if failure is None else failure[:1000],
                    "duration": _seconds(case.get("time")),
                }
            )


def _seconds(written: str | None) -> float | None:
    """A test's time; some writers put a comma in thousands, and one that is no number tells nothing."""
    try:
        seconds = float((written or "").replace(",", ""))
    except ValueError:
        return None
    return seconds if 0.0 <= seconds < 1e12 else None


class _Suite:
    """One test suite: its attributes and what was counted in it."""

    def __init__(self, attributes: Attributes) -> None:
        self.attributes, self.leaf, self.name = attributes, True, attributes.get("name")
        self._counts: Counter[str] = Counter()

    def count(self, kind: str) -> None:
        self._counts[kind] += 1

    def totals(self, source: str) -> list[Finding]:
        """Its own totals that its testcases do not give; one that holds suites may count them or not."""
        if not self.leaf or not self._counts:
            return []
        counted = {"tests": self._counts.total(), "failures": self._counts["failure"], "errors": self._counts["error"]}
        found = []
        for name, count in counted.items():
            says = self.attributes.get(name, "")
            if says.isdecimal() and int(says[:18]) != count:
                found.append(own_total(f"{name} of the suite {(self.name or '')[:60]!r} in {source}", int(says), count))
        return found
