"""What surefoot says: answers and refusals of every command, beside the sentences of notes, in one file to read.

`texts.txt` is what a reviewer sees change. Write it anew by ``python -m tests.whole.test_texts``.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import re
import tempfile
from pathlib import Path

import pytest

from surefoot.cli import files as reading
from surefoot.cli.main import run
from surefoot.core import assumptions, notes, sentences
from surefoot.study.plans import Plan
from surefoot.study.studies import Study

HERE = Path(__file__).with_name("texts.txt")

ANSWERS = """
rate 38/50
rate 38/50 --lower
rate 38/50 --requires 0.6
rate 170/340 --population 500
rate rows.csv
rate rows.csv --pass-at 2
compare 17/20 14/20
compare 170/200 120/200 --margin 0.02 --gate
compare --pairs 20,12,2,16
compare --counts counts.csv
compare rows.csv --first a --second c
compare rows.csv --first a --second b --score progress
compare rows.csv --first a --second b --by kind
compare rows.csv --first a --second b --cost tokens=90
compare rows.csv before.csv
rank rows.csv
rank preferences.csv --seed 7
best rows.csv
gate rows.csv needs.toml
slices rows.csv --first a --second c
items rows.csv
columns rows.csv
band 0.2 0.9 1.0 0.75 1.0 0.6 1.0 0.95
audit rows.csv
plan rate 0.1
plan bound --tightness 0.1
plan band 0.2
plan mean 0.1 --spread 0.2
plan compare --first 0.9 --second 0.6
plan compare --first 0.9 --second 0.5 --units 20
plan gate needs.toml --expect success=0.8
replay rows.csv --first a --second c
replay pairs.csv
study status study.db
study verify study.db
"""

REFUSALS = """
rat 38/50
rate 38
rate 38/50 --confidence 95
rate 60/50
rate none.csv
rate empty.csv
rate 38/50 --weights units
rate rows.csv --confidnce 0.9
compare 17/20
compare 17/20 rows.csv
compare rows.csv
compare rows.csv --first a --second d
compare rows.csv --first a --second b --score tokens
compare 17/20 14/20 --by kind
best rows.csv --within 5
gate rows.csv
slices rows.csv --first a --second b --only c
items rows.csv --draw 9
band 0.5 7
plan rate 5
plan compare --first 0.9
plan race --rates 0.5,0.6 --policies 2
replay rows.csv --claim either
watch rows.csv --first a --second b --horizon 50
report rows.csv --width 3in
report rows.csv -o page.doc
report study.db --margin 0.1
study status none.db
study run study.db
study record study.db 1 perhaps
"""


def files(folder: Path) -> None:
    """Small files on which every command has an answer."""
    rng = random.Random(7)
    for name in ("rows.csv", "before.csv"):
        lines = ["policy,item,attempt,kind,success,progress,tokens"]
        for item in range(24):
            for k, policy in enumerate("abc"):
                for attempt in range(2):
                    success = rng.random() < 0.85 - 0.25 * k
                    results = f"{success:d},{rng.random():.2f},{rng.randint(10, 90)}"
                    lines.append(f"{policy},q{item},{attempt},s{item % 3},{results}")
        (folder / name).write_text("\n".join(lines))
    (folder / "empty.csv").write_text("")
    (folder / "counts.csv").write_text("policy,successes,rollouts\na,17,20\nb,12,20\nc,9,20\n")
    met = "a,b,first\nb,c,first\na,c,second\nb,a,tie\n" * 6
    (folder / "preferences.csv").write_text(f"first,second,preferred\n{met}")
    (folder / "pairs.csv").write_text("\n".join(f"{rng.random():.2f},{rng.random():.2f}" for _ in range(40)))
    need = '[gate]\nfirst = "a"\n[[gate.need]]\nmeasure = "success"\nrate_at_least = 0.5\n'
    (folder / "needs.toml").write_text(need)
    study = Study.create(Plan(policies=("new", "old"), horizon=20), folder / "study.db", author="me")
    assert study.version


def said(words: str) -> str:
    """What a command prints, with its exit code where it is not 0."""
    out, err = io.StringIO(), io.StringIO()
    expected, reading.EXPECTED = reading.EXPECTED, float("inf")  # how far it is, is not said, however slow the machine
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words.split())
    reading.EXPECTED = expected
    ended = f"[{code}]\n" if code else ""
    lines = (line.rstrip() for line in f"$ surefoot {words}\n{err.getvalue()}{out.getvalue()}{ended}".splitlines())
    return "\n".join(lines) + "\n"


def steady(text: str) -> str:
    """A text without what is drawn anew for each study."""
    return re.sub(r"\b(?=[0-9a-f]*\d)[0-9a-f]{16,}\b", "<hash>", text)


def commands() -> str:
    """Answers, then refusals."""
    every = (ANSWERS.strip().splitlines(), REFUSALS.strip().splitlines())
    return "\n\n".join("\n".join(steady(said(words)) for words in each) for each in every)


def catalogue() -> str:
    """The sentences of notes and assumptions that only have places for values, and those about verdicts."""
    kinds = [f"{kind}: {text}" for kind, text in sorted(notes.PLAIN.items())]
    holds = [f"{name}: {text}" for name, text in sorted(vars(assumptions).items()) if isinstance(text, str)]
    known = {name: value for name, value in vars(sentences).items() if name.isupper() and name != "SHOWN" and value}
    told = [f"{name}: {value}" for name, value in known.items()]
    return "\n".join(["# Notes", *kinds, "", "# Assumptions", *[one for one in holds if one[0].isupper()], "",
                      "# Verdicts", *told])  # fmt: skip


def written() -> str:
    """The whole file."""
    return f"{commands()}\n{catalogue()}\n"


@pytest.mark.slow
def test_what_surefoot_says_is_what_the_file_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files(tmp_path)
    assert written() == HERE.read_text(encoding="utf-8")


def test_the_sentences_of_notes_are_those_of_the_file():
    assert f"{catalogue()}\n" in HERE.read_text(encoding="utf-8")


def test_no_refusal_of_the_file_shows_a_mark_or_a_traceback():
    text = HERE.read_text(encoding="utf-8")
    assert "\ue000" not in text
    assert "Traceback" not in text
    refused = text[text.index("$ surefoot rat 38/50") : text.index("# Notes")]
    for block in refused.split("$ surefoot ")[1:]:
        assert block.rstrip().endswith(("[64]", "[65]")), block


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        files(Path(place))
        HERE.write_text(written(), encoding="utf-8")
