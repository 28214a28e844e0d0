"""A name is a name: whatever policies, tasks, files and columns are called, the answers are the same and show it.

Every command runs once with names that mean nothing and once with words that sentences, options and values use; the
first output, with its names replaced, must be the second.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest

import surefoot as sf
from surefoot.cli.main import run

WORDS = ("None", "Paired", "betting", "cluster", "in pairs", "rng=7", "score")  # in the order that they sort
CASES = [(WORDS[at], WORDS[(at + 2) % 7], WORDS[(at + 4) % 7]) for at in range(7)]


def plain(words: tuple[str, ...], token: str) -> dict[str, str]:
    """Names that mean nothing for some words, in the same order."""
    return {word: f"Z{token}{place}z" for place, word in enumerate(sorted(words))}


def written(folder: Path, names: dict[str, str], tasks: dict[str, str], file: str, column: str) -> Path:
    """Three policies on two tasks, twelve seeds each, in a column of the user's own name."""
    chance = random.Random(5)
    rows = [
        f"{task},{names[policy]},{seed},{int(chance.random() < level)}"
        for seed in range(12)
        for task in tasks.values()
        for policy, level in zip(sorted(names), (0.9, 0.5, 0.3), strict=True)
    ]
    folder.mkdir()
    path = folder / f"{file}.csv"
    path.write_text("\n".join((f"task,{column},seed,success", *rows)) + "\n", encoding="utf-8")
    return path


def level(text: str) -> str:
    """Output without what only the length of a name changes: the widths of columns and the quotes of a shell."""
    return re.sub(r"[─━ ]+", " ", text.replace("'", "")).strip()


@pytest.mark.sample(3)
@pytest.mark.parametrize("words", CASES, ids=[" ".join(case) for case in CASES])
@pytest.mark.parametrize(
    "command",
    [
        ("compare", "--first", 0, "--second", 1),
        ("compare", "--first", 0, "--second", 1, "--json"),
        ("compare", "--first", 0, "--second", 2, "--by", "task"),
        ("rank",),
        ("audit",),
        ("audit", "--json"),
        ("replay", "--first", 0, "--second", 1, "--horizon", "24"),
        ("report", "-o", "report.md"),
    ],
    ids=lambda command: " ".join(map(str, command)),
)
def test_names_change_nothing_but_names(words, command, tmp_path, capsys, monkeypatch):
    names, tasks = plain(words, "p"), plain(tuple(reversed(words))[:2], "t")
    file, column = {words[1]: "Zfz"}, {words[2]: "Zcz"}
    seen = {}
    for kind in ("plain", "worded"):
        given = [{word: word for word in of} if kind == "worded" else of for of in (names, tasks, file, column)]
        policy, task, name, own = given
        path = written(tmp_path / kind, policy, task, *name.values(), *own.values())
        monkeypatch.chdir(path.parent)
        asked = [policy[sorted(policy)[word]] if isinstance(word, int) else word for word in command[1:]]
        code = run([command[0], path.name, "--column", f"policy={next(iter(own.values()))}", *asked])
        out, err = capsys.readouterr()
        text = out + err + "".join(page.read_text(encoding="utf-8") for page in path.parent.glob("report.md"))
        seen[kind] = (code, text)
    code, text = seen["plain"]
    for word, token in (*names.items(), *tasks.items(), *file.items(), *column.items()):
        text = text.replace(token, word)
    assert (code, level(masked(text))) == (seen["worded"][0], level(masked(seen["worded"][1])))


def masked(text: str) -> str:
    """Output without what the bytes of the file and the time change: hashes and dates."""
    return re.sub(r"sha256:[0-9a-f]+|\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?( UTC)?", "...", text)


@pytest.mark.parametrize("word", WORDS)
def test_a_refusal_shows_names_as_they_are(word, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(f"{word}.csv").write_text(f"policy,success\n{word},1\nother,0\n", encoding="utf-8")
    assert run(["compare", f"{word}.csv", "--first", word, "--second", "columns={'policy': ...}"]) != 0
    err = capsys.readouterr().err
    assert repr(word) in err
    assert "columns={'policy': ...}" in err
    assert "--seed 7" not in err
    Path(f"{word}.csv").write_text(f"policy,rate\n{word},1\nother,0\n", encoding="utf-8")
    assert run(["audit", f"{word}.csv"]) != 0
    assert capsys.readouterr().err.startswith(f"surefoot: {word}.csv: ")


@pytest.mark.parametrize("word", WORDS)
def test_python_and_the_command_line_name_an_argument_each_in_its_way(word, tmp_path, capsys):
    path = tmp_path / f"{word}.csv"
    path.write_text(f"policy,flag\n{word},2\n", encoding="utf-8")
    with pytest.raises(sf.DataError, match=r'columns=\{"success": \.\.\.\}') as refused:
        sf.read(path)
    assert refused.value.source == f"{word}.csv"
    assert refused.value.cure in str(refused.value)
    assert run(["audit", str(path)]) == 65
    err = capsys.readouterr().err
    assert f"{word}.csv: " in err
    assert "--column success=YOURS" in err


def test_a_refusal_says_which_argument_and_which_value():
    with pytest.raises(ValueError, match="`confidence` must be strictly between 0 and 1") as refused:
        sf.stats.wilson(sf.Tally(1, 2), confidence=95)
    about = refused.value
    assert (about.argument, about.value, about.cure) == ("confidence", 95, "Write 0.95 for 95%.")
    with pytest.raises(TypeError, match="`rng` must be") as mistyped:
        sf.stats.optimal_lower(sf.Tally(1, 2), rng=0.5)
    assert (mistyped.value.argument, mistyped.value.value) == ("rng", 0.5)


def test_json_of_a_report_carries_values(tmp_path):
    path = written(tmp_path / "a", {word: word for word in CASES[0]}, {"t": "t"}, "results", "policy")
    data = json.loads(json.dumps(sf.report(sf.read(path)).data()))
    for comparison in data["overview"]["comparisons"]:
        stated = comparison["gain"]["interval"]["assumptions"]
        assert all(one["type"] == "Assumption" and one["kind"] and one["says"].endswith(".") for one in stated)
        assert comparison["reading"]["paired"] is True
        assert comparison["reading"]["why"] == ""


def test_tables_head_columns_as_the_user_calls_them(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{model},{suite},{n},{int(n % 4 < k)}" for n in range(8) for suite in "xy" for model, k in (("a", 3), ("b", 1))
    ]
    Path("r.csv").write_text("\n".join(("model,suite,seed,success", *rows)) + "\n", encoding="utf-8")
    assert run(["rank", "r.csv", "--column", "task=suite"]) == 0
    assert re.search(r"^ *model +rate", capsys.readouterr().out, flags=re.MULTILINE)
    assert run(["report", "r.csv", "--column", "task=suite", "-o", "report.html"]) == 0
    assert re.search(r"^ *model +success rate", capsys.readouterr().out, flags=re.MULTILINE)
    page = Path("report.html").read_text(encoding="utf-8")
    assert '<th scope="col">model</th>' in page
    assert '<th scope="col">suite</th>' in page
    assert '<th scope="col">policy</th>' not in page
