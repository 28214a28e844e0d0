"""Tests of `surefoot.cli.columns`: the role of every column, kept in a file, and every word printed can be typed."""

from __future__ import annotations

import json
import tomllib

import pytest

import surefoot as sf
from surefoot.cli.main import run
from tests.support.command_line import said


@pytest.fixture
def results(tmp_path):
    """Six scenes by two robots, three trials of each; the new policy is better on one of the robots only."""
    rows = ["policy,scene_id,robot,trial,note,success"]
    for name in ("new", "old"):
        for scene in range(6):
            for robot in ("arm", "base"):
                for trial in (1, 2, 3):
                    won = trial < 3 if name == "new" and robot == "arm" else trial == 1
                    rows.append(f"{name},s{scene},{robot},{trial},same,{int(won)}")
    path = tmp_path / "results.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_every_column_has_its_role_and_why(capsys, results):
    code, out, _ = said(capsys, "columns", str(results))
    assert code == 0
    roles = {line.split()[0]: line.split()[1] for line in out.splitlines()[:-1]}
    assert roles == {"scene_id": "unit", "trial": "repeat", "robot": "setting", "note": "nothing"}
    assert out.splitlines()[-1] == "Read as: unit scene_id (6), repeat trial (3), setting robot (2)."


def test_json_is_the_design(capsys, results):
    code, out, _ = said(capsys, "columns", str(results), "--json")
    found = sf.design(sf.read(results))
    assert code == 0
    assert json.loads(out) == json.loads(json.dumps({**found.to_dict(), "roles": found.roles}))


def test_what_is_said_wins(capsys, results):
    _, out, _ = said(capsys, "columns", str(results), "--unit", "robot", "--ignore", "scene_id,trial")
    assert out.splitlines()[-1] == "Read as: unit robot (2)."


def test_roles_are_kept_beside_the_file_and_used_and_said(capsys, results):
    asked = ("compare", str(results), "--first", "new", "--second", "old")
    code, out, _ = said(capsys, "columns", str(results), "--unit", "robot", "--ignore", "scene_id,trial", "--save")
    kept = results.with_name("surefoot.toml")
    assert (code, f"Wrote {kept}" in out) == (0, True)
    assert tomllib.loads(kept.read_text())["columns"] == {"unit": "robot", "ignore": ["scene_id", "trial"]}
    code, out, err = said(capsys, *asked)
    assert code == 0
    assert "For these 2 settings (robot): " in out
    assert f"note: columns as {kept} says: unit robot, ignore scene_id, trial." in err
    _, out, err = said(capsys, *asked, "--unit", "scene_id", "--ignore", "note")  # what is said now wins
    assert "For these 6 scenes: " in out
    assert "columns as" not in err


def test_json_with_save_stays_json(capsys, results):
    code, out, err = said(capsys, "columns", str(results), "--save", "--json")
    assert (code, json.loads(out)["type"]) == (0, "Design")
    assert "Wrote " in err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[columns\nunit=1", "surefoot.toml must be TOML"),
        ("columns = 3", "`columns` must be a table of roles, [columns]; got 3."),
        ("[columns]\nscene = 'robot'", "`[columns]` must name roles among unit, repeat, setting, cluster, run, ignore"),
        ("[columns]\nunit = 3", "`unit` must be a column's name or a list of names; got 3."),
        ("[columns]\nsetting = [1, 2]", "`setting` must be a column's name or a list of names; got [1, 2]."),
        ("[columns]\nunit = ['scene_id', 'robot']", "one column must be the unit; got 'scene_id' and 'robot'."),
    ],
)
def test_a_bad_file_of_roles_is_refused_in_a_sentence(capsys, results, text, says):
    results.with_name("surefoot.toml").write_text(text)
    code, out, err = said(capsys, "compare", str(results), "--first", "new", "--second", "old")
    assert (code, out) == (65, "")
    assert says in err


@pytest.mark.parametrize("word", ["scene_id", "scene", "scenes", "Scene", "SCENE_ID"])
def test_any_word_that_an_answer_prints_can_be_typed(capsys, results, word):
    asked = ("compare", str(results), "--first", "new", "--second", "old")
    code, out, _ = said(capsys, *asked, "--unit", word)
    assert (code, "For these 6 scenes: " in out) == (0, True)
    code, out, _ = said(capsys, *asked, "--by", word)
    assert (code, "on every level of scene_id; all 6 hold together" in out) == (0, True)
    code, out, _ = said(capsys, *asked, "--by", f"robot,{word}")
    assert (code, "on every level of robot, scene_id; all 12 hold together" in out) == (0, True)


@pytest.mark.parametrize("option", ["--unit", "--repeat", "--setting", "--cluster", "--run", "--ignore", "--by"])
def test_a_column_that_is_not_there_is_answered_by_those_that_are(capsys, results, option):
    code, out, err = said(capsys, "compare", str(results), "--first", "new", "--second", "old", option, "zz")
    assert (code, out) == (65, "")
    assert "there must be a column 'zz'; these are there:" in err
    for line in str(sf.design(sf.read(results))).splitlines():
        assert line in err


def test_levels_that_disagree_stand_before_the_answer(capsys, results):
    """On the arm 2/3 against 1/3 of 18, on the base 1/3 against 1/3: the gain is the mean, 1/6."""
    _, out, _ = said(capsys, "compare", str(results), "--first", "new", "--second", "old")
    lines = out.splitlines()
    answer = next(place for place, line in enumerate(lines) if line.startswith("For these 6 scenes: "))
    assert "new - old = +16.7 points" in lines[answer]
    assert all("levels of" in line or "depends on" in line or "By " in line for line in lines[:answer])


@pytest.mark.parametrize("form", ["github", "junit", "json"])
def test_every_format_carries_the_target_and_the_other_answer(capsys, results, form):
    asked = ("compare", str(results), "--first", "new", "--second", "old", "--gate", "--format", form)
    for target, about, other in (
        ("these", "these 6 scenes", "scenes like these 6"),
        ("like", "scenes like these 6", "these 6 scenes"),
    ):
        _, out, _ = said(capsys, *asked, "--target", target)
        if form != "json":
            assert f"For {about}" in out
            assert f"For {other}" in out
            continue
        body = json.loads(out)
        assert (body["about"], body["target"]) == (about, target)
        assert body["other"]["about"] == other
        assert body["other"]["gain"]["interval"]["estimate"] == pytest.approx(1 / 6)


def test_a_role_may_be_a_field_inside_objects(tmp_path, capsys):
    rows = [
        f'{{"policy": "{policy}", "meta": {{"scene": "s{scene}", "at": [{take}]}}, "success": {scene % 2}}}'
        for policy in "ab"
        for scene in range(6)
        for take in range(3)
    ]
    path = tmp_path / "nested.jsonl"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert run(["columns", str(path), "--unit", "meta.scene", "--repeat", "meta.at[0]"]) == 0
    assert "Read as: unit meta.scene (6), repeat meta.at[0] (3)." in capsys.readouterr().out
    assert run(["columns", str(path), "--unit", "meta.scent"]) == 65
    assert "there must be a column 'meta.scent'; these are there:" in capsys.readouterr().err
