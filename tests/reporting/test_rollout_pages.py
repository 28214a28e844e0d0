"""Tests of `surefoot.reporting.rollout_pages`: every number leads to exactly the rollouts that it counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser
from urllib.parse import parse_qsl

import polars as pl
import pytest

import surefoot as sf
from surefoot.reporting import pages
from surefoot.reporting.rollout_pages import RolloutLinks
from tests.support.clip_studies import filmed


@pytest.fixture(autouse=True, scope="module")
def undrawn():
    """Pages without their figures, which take a second each."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pages, "drawn_twice", lambda _: {})
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    told = {"success": {}, "score": {"measure": "score", "tasks": ()}}
    return {name: sf.report(filmed(tmp_path_factory.mktemp(name), **more)) for name, more in told.items()}


class Page(HTMLParser):
    """The links to the list of rollouts, each with its number, and the rows of the list."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.rows: list[dict[str, str]] = []
        self.names: list[str] = []
        self.thirds: list[str] = []
        self.clips: list[dict[str, str]] = []
        self._to = self._cell = None
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        told = dict(attrs)
        self._inside |= told.get("id") == "rollouts"
        if tag == "a" and told["href"].startswith("#rollouts"):
            self._to = told["href"]
        elif tag == "a" and self._inside:
            self.clips.append(told)
        if self._inside and tag == "tr":
            self.rows.append({"counts": told.get("data-counts", "")})
            self.thirds.append(told.get("data-third", ""))
        if self._inside and tag in ("td", "th"):
            self._cell = tag
            if tag == "td":
                self.rows[-1][self.names[len(self.rows[-1]) - 1]] = ""

    def handle_endtag(self, tag):
        self._to = None if tag == "a" else self._to
        self._cell = None if tag in ("td", "th") else self._cell
        self._inside &= tag != "table"

    def handle_data(self, text):
        if self._to is not None:
            self.links.append((text, self._to))
        if self._inside and self._cell == "th":
            self.names.append(text)
        elif self._inside and self._cell == "td":
            self.rows[-1][list(self.rows[-1])[-1]] += text

    def behind(self, address: str) -> list[dict[str, str]]:
        """The rows that an address leads to."""
        only = dict(parse_qsl(address.partition("?")[2]))
        outcome, third = only.pop("outcome", ""), only.pop("third", "")
        kinds = {"": None, "counted": ("success", "failure", "scored")}.get(outcome, (outcome,))
        rows = [row for row, part in zip(self.rows, self.thirds, strict=True) if row["counts"] and third in ("", part)]
        rows = [row for row in rows if all(row[name] == value for name, value in only.items())]
        return [row for row in rows if kinds is None or row["counts"] in kinds]


def share(good: list[dict[str, str]], counted: list[dict[str, str]], keys: Sequence[str]) -> float:
    """The share of successes: every unit weighs the same, and in it every level of the next column."""
    if not keys:
        return len(good) / len(counted)
    levels = {row[keys[0]] for row in counted}
    parts = [[[row for row in rows if row[keys[0]] == level] for rows in (good, counted)] for level in levels]
    return sum(share(*part, keys[1:]) for part in parts) / len(levels)


@pytest.mark.parametrize("measure", ["success", "score"])
def test_every_number_leads_to_exactly_the_rollouts_that_it_counts(made, measure):
    page = Page(made[measure].html())
    assert len(page.rows) == 17
    seen = set()
    for text, address in page.links:
        number = re.fullmatch(r"(?:n=)?(\d+)(?: rollouts void)?", text) or re.fullmatch(r".* \((\d+)\)", text)
        asked = dict(parse_qsl(address.partition("?")[2]))
        seen.add(frozenset(asked))
        if "turn" in asked:
            assert [row["turn"] for row in page.behind(address)] == [text]
        elif number:
            assert len(page.behind(address)) == int(number[1]), (text, address)
        else:  # the rate of a policy on a task leads to its successes
            rate = re.fullmatch(r"(\d+\.\d)%", text)
            own = page.behind(address), page.behind(address.replace("outcome=success", "outcome=counted"))
            keys = () if "third" in asked else made[measure].overview.audit.design.keys("unit", "setting")
            assert rate is None or float(rate[1]) == pytest.approx(100 * share(*own, keys), abs=0.05)
    assert {frozenset({"policy", "outcome"}), frozenset({"policy", "failure", "outcome"}), frozenset({"turn"})} <= seen
    assert {frozenset({"outcome"}), frozenset({"operator"})} <= seen
    assert measure == "score" or frozenset({"policy", "task", "outcome"}) in seen
    assert frozenset({"policy", "third", "outcome"}) in seen


def test_links_are_escaped_and_only_the_web_is_linked(tmp_path):
    lines = ["policy,success,clip,note", '"<i>a",1,javascript:alert(1),<script>1</script>', 'b,0,"https://a/""x",']
    (tmp_path / "r.csv").write_text("\n".join([*lines, "b,1,https://a/ok.mp4,"]), encoding="utf-8")
    text = sf.report(sf.read(tmp_path / "r.csv")).html(clips={})
    page = Page(text)
    assert [one["href"] for one in page.clips if one["href"]] == ["https://a/ok.mp4"]
    assert page.clips[-1]["rel"] == "noopener noreferrer"
    assert "<script>1" not in text
    assert "<i>a" not in text


def test_without_scripts_the_list_is_plain(made):
    text = made["success"].html(scripts=False)
    assert "<script" not in text
    assert "<form" not in text
    assert {address for _, address in Page(text).links} == {"#rollouts"}
    assert "study.clips" not in text


def test_a_table_without_clips_has_no_list():
    rollouts = sf.read(pl.DataFrame({"policy": ["new", "old"] * 9, "success": [1, 0, 1] * 6}))
    assert 'href="#rollouts' not in sf.report(rollouts).html()


def test_a_part_that_no_rollout_is_in_leads_nowhere(made):
    links = RolloutLinks(made["success"].rollouts, scripts=True)
    assert links.of_part("new", "another task") == ""
