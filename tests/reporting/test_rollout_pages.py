"""Tests of `surefoot.reporting.rollout_pages`: every number leads to exactly the rollouts that it counts."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import parse_qsl

import polars as pl
import pytest

import surefoot as sf
from surefoot.reporting import pages, rollout_pages
from surefoot.reporting.reports import Report
from surefoot.reporting.rollout_pages import RolloutLinks, gathered, rows_of_study, rows_of_table
from tests.support.clip_studies import filmed
from tests.support.clips import GIF


@pytest.fixture(autouse=True, scope="module")
def undrawn():
    """Pages without their figures, which take a second each."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pages, "drawn_for_page", lambda _: {})
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


def told(study):
    """The report of a study with only what its list of rollouts needs."""
    rows = rows_of_study(study.fold, study.clips)
    rollouts = sf.read(pl.DataFrame({"policy": [row.policy for row in rows], "success": [1] * len(rows)}))
    return replace(sf.report(rollouts), rollouts=rows)


def test_every_rollout_of_a_study_has_a_row(tmp_path, monkeypatch):
    study = filmed(tmp_path)
    rows = rows_of_study(study.fold, study.clips)
    assert [row.turn for row in rows] == list(range(1, 17))
    assert {row.counts for row in rows if row.turn <= 2} == {"void"}
    assert {row.turn for row in rows if row.counts == "failure"} == {3, 6, 9, 12, 15}
    assert (rows[2].clip, rows[2].clip_fault) == ("", "there is no such file")
    assert (rows[3].clip, rows[4].clip) == ("https://lab.example/4.mp4", "")
    kept = study.fold.results[6]
    assert (rows[5].clip, rows[5].clip_hash) == (str(tmp_path / "study.clips" / kept.clip.file), kept.clip.sha256)
    assert (rows[5].policy, rows[5].failure, rows[5].duration, rows[5].operator) == (
        study.fold.turns[6].policy,
        "dropped <it>",
        9.0,
        "Ann",
    )
    monkeypatch.setattr(rollout_pages, "MOST", 15)
    assert rows_of_study(study.fold, study.clips) == ()


def test_a_study_of_scores_tells_scores(tmp_path):
    study = filmed(tmp_path, measure="score")
    rows = rows_of_study(study.fold, None)
    assert {row.counts for row in rows} == {"scored", "void"}
    assert (rows[4].score, rows[6].clip) == (0.05, "")


def test_a_blinded_study_has_none(tmp_path):
    study = filmed(tmp_path, unblinded=False)
    assert rows_of_study(study.fold, study.clips) == ()
    page = sf.report(study)
    page.save(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8") + json.dumps(page.data())
    assert not (tmp_path / "report.clips").exists()
    assert not any(one.clip.sha256 in text for one in study.fold.results.values() if one.clip and one.clip.sha256)


def test_clips_lie_beside_the_page_whole_and_as_they_were_recorded(tmp_path):
    study = filmed(tmp_path)
    clips = {number: one.clip.file for number, one in study.fold.results.items() if one.clip and one.clip.file}
    (tmp_path / "study.clips" / clips[6]).write_bytes(GIF + b"another film")
    (tmp_path / "study.clips" / clips[7]).unlink()
    made = told(study)
    made.save(tmp_path / "a report.html")
    beside = tmp_path / "a report.clips"
    assert sorted(one.name for one in beside.iterdir()) == sorted(
        file for number, file in clips.items() if number not in (6, 7)
    )
    page = (tmp_path / "a report.html").read_text(encoding="utf-8")
    assert f'href="./a%20report.clips/{clips[8]}"' in page
    assert clips[6] not in page
    assert (beside / clips[8]).read_bytes() == GIF + bytes([8])
    made.save(tmp_path / "bare.html", clips=False)
    assert not (tmp_path / "bare.clips").exists()
    assert 'href="./' not in (tmp_path / "bare.html").read_text(encoding="utf-8")


def test_a_page_with_the_studys_own_name_shares_its_folder(tmp_path):
    study = filmed(tmp_path)
    before = {one.name: one.stat().st_mtime_ns for one in study.clips.path.iterdir()}
    told(study).save(tmp_path / "study.html")
    assert {one.name: one.stat().st_mtime_ns for one in study.clips.path.iterdir()} == before


def test_a_table_that_names_clips_has_rows_too(tmp_path):
    (tmp_path / "films").mkdir()
    (tmp_path / "films" / "1.gif").write_bytes(GIF)
    lines = ["policy,success,valid,video", "new,1,1,films/1.gif", "old,0,1,https://a.b/c", "old,,1,", "old,1,0,x.gif"]
    (tmp_path / "results.csv").write_text("\n".join(lines), encoding="utf-8")
    rollouts = sf.read(tmp_path / "results.csv")
    rows = rows_of_table(rollouts, "success")
    assert [row.counts for row in rows] == ["success", "failure", "unknown", "void"]
    assert [row.clip for row in rows] == [str(tmp_path / "films" / "1.gif"), "https://a.b/c", "", ""]
    assert [bool(row.clip_fault) for row in rows] == [False, False, False, True]
    assert list(gathered(rows, tmp_path / "report.clips")) == [rows[0].clip]
    sf.report(rollouts).save(tmp_path / "report.html")
    assert len(list((tmp_path / "report.clips").iterdir())) == 1
    bare = sf.read(pl.DataFrame({"policy": ["new"], "success": [1]}))
    assert rows_of_table(bare, "success") == ()


def test_a_table_copies_no_file_from_outside_its_folder(tmp_path, caplog):
    secret, folder = tmp_path / "secret.gif", tmp_path / "theirs"
    secret.write_bytes(GIF)
    (folder / "films").mkdir(parents=True)
    (folder / "films" / "ok.gif").write_bytes(GIF + b"own")
    (folder / "link.gif").symlink_to(secret)
    (folder / "up").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.gif")
    named = [str(secret), "../secret.gif", "films/../../secret.gif", "link.gif", "up/secret.gif", "pipe.gif", "."]
    lines = ["policy,success,clip", *(f"new,1,{name}" for name in named), "old,0,films/ok.gif"]
    (folder / "results.csv").write_text("\n".join(lines), encoding="utf-8")
    rollouts = sf.read(folder / "results.csv")
    rows = rows_of_table(rollouts, "success")
    assert [row.clip for row in rows] == [""] * len(named) + [str(folder / "films" / "ok.gif")]
    assert all(row.clip_fault for row in rows[: len(named)])
    sf.report(rollouts).save(folder / "report.html")
    assert [one.read_bytes() for one in (folder / "report.clips").iterdir()] == [GIF + b"own"]
    assert "copied 1 clip" in caplog.text


def test_a_report_keeps_its_rows_and_leaves_out_very_many(tmp_path):
    made = told(filmed(tmp_path))
    assert Report.from_dict(made.to_dict()).rollouts == made.rollouts
    assert len(made.data()["rollouts"]) == 16
    assert replace(made, rollouts=made.rollouts * 100).data()["rollouts"] == []
