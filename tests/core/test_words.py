"""Do sentences use the words of the table, and nothing else of it?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from string import Formatter

import polars as pl
import pytest

import surefoot as sf
from surefoot.cli.main import run
from surefoot.core import formatting
from surefoot.core.assumptions import ONE_RATE, RATE_BY_TASK
from surefoot.core.notes import PLAIN, Note, fill
from surefoot.core.words import NOUNS, Words, in_its_words, plural, worded


def rows(columns: tuple[str, str, str, str], count: int = 24) -> pl.DataFrame:
    """Two of something, on the same items of two kinds, with outcomes that do not depend on what columns are called."""
    return pl.DataFrame(
        [
            (who, kind, f"{kind} {item}", int((item * size + len(kind)) % 7 < ends))
            for who, size, ends in (("small", 3, 3), ("big", 5, 5))
            for kind in ("cut", "pour")
            for item in range(count)
        ],
        schema=[*columns],
        orient="row",
    )


MODELS = ("model", "benchmark", "question", "correct")
ROBOTS = ("policy", "task", "scene", "success")


def test_plurals_follow_the_rule_and_can_be_said() -> None:
    assert [plural(noun) for noun in ("policy", "box", "batch", "essay", "trial", "hypothesis")] == [
        *("policies", "boxes", "batches", "essays", "trials", "hypothesises"),
    ]
    assert Words(environment="hypothesis", environments="hypotheses").environments == "hypotheses"
    assert str(Words()) == "policy (policies), rollout (rollouts), task (tasks), environment (environments)"
    assert (Words(policy="agent").a_policy, Words().a_rollout, Words().a_task) == ("an agent", "a rollout", "a task")
    assert Words(environment="question").an_environment == "a question"
    with pytest.raises(ValueError, match=r"`policy` must be a noun; got ''"):
        Words(policy="")


def test_words_are_read_back_from_json() -> None:
    words = Words(policy="model", rollout="sample")
    assert Words.from_dict(words.to_dict()) == words


def test_numbers_of_things_are_said_in_any_words() -> None:
    assert (formatting.rollouts(2), formatting.policies(1)) == ("2 rollouts", "1 policy")
    words = Words(rollout="sample")
    assert (formatting.rollouts(1, words), formatting.rollouts(1_000, words)) == ("1 sample", "1,000 samples")


def test_what_is_worded_is_worded_with_all_that_it_holds() -> None:
    words = Words(rollout="sample")
    gain = sf.stats.exact_gain(sf.Tally(3, 5), sf.Tally(1, 5))
    said = worded({"gain": (gain,), "none": None}, words)["gain"][0]
    assert said == gain  # words are no part of what is known
    assert [one.words for one in said.assumptions] == [words] * len(said.assumptions)
    assert worded(gain, Words()) is gain
    assert Note.from_dict(worded(Note("no common task"), words).to_dict()).words == words
    assert "words" not in Note("no common task").to_dict()


def test_every_sentence_with_words_can_be_said_in_others() -> None:
    words = Words(**{one: f"{one}x" for one in NOUNS})
    for sentence in [*PLAIN.values(), "{words.a_rollout}"]:
        places = [(name, shown) for _, name, shown, _ in Formatter().parse(sentence) if name and "." not in name]
        several = {"names": ("one", "two"), "quoted": ("one", "two"), "lines": (2, 5)}
        values = {name: several.get(shown or "", 2) for name, shown in places}
        said = fill(sentence, words=words, **values)
        assert "{" not in said
        assert not any(noun in said.split() for noun in NOUNS)
    assert str(worded(ONE_RATE, words)) == "The rolloutxes are independent and share one success rate."
    assert worded(RATE_BY_TASK, words).brief.startswith("the rolloutxes")
    assert "taskx" in str(worded(Note("no common task"), words))


def test_a_function_answers_in_the_words_of_its_table() -> None:
    @in_its_words
    def said(_: sf.Rollouts) -> Note:
        return Note("no common task")

    table = sf.read(rows(MODELS))
    assert "between models" in str(said(table))
    assert "between engines" in str(said(replace(table, words=Words(policy="engine"))))


def page(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What commands say of a file, and its page, without the pictures' data and the command to make it again."""
    for words in (["rate"], ["compare", "--first", "big", "--second", "small"], ["rank"], ["audit"], ["compare"]):
        run([words[0], str(path), *words[1:]])
    run(["compare", str(path), "--by", "task", "--first", "big", "--second", "small"])
    target = path.with_suffix(".html")
    run(["report", str(path), "-o", str(target)])
    shown = capsys.readouterr()
    body = target.read_text().partition("<body>")[2]
    return f"{shown.out}{shown.err}{body}{sf.report(sf.read(path)).markdown()}".lower()


def test_models_are_never_called_policies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "eval.csv"
    rows(MODELS).write_csv(path)
    said = page(path, capsys)
    assert "polic" not in said
    assert "rollout" not in said
    for noun in ("models", "samples", "benchmarks", "questions"):
        assert noun in said, noun


def test_policies_are_never_called_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "lab.csv"
    rows(ROBOTS).write_csv(path)
    said = page(path, capsys)
    assert "model" not in said
    for noun in ("policies", "rollouts", "tasks", "environments"):
        assert noun in said, noun


def test_answers_do_not_depend_on_words() -> None:
    ours, theirs = (sf.compare(sf.read(rows(columns)), "big", "small") for columns in (ROBOTS, MODELS))
    assert (theirs.gain, theirs.verdict, theirs.p_value) == (ours.gain, ours.verdict, ours.p_value)
    assert (str(ours.about), str(theirs.about)) == ("scenes like these 48", "questions like these 48")
    assert theirs.words.policy == "model"
    assert sf.Comparison.from_dict(theirs.to_dict()) == theirs
    body = theirs.to_dict()
    del body["words"]  # written before there were any
    assert sf.Comparison.from_dict(body).words == Words()


@pytest.mark.parametrize("name", ["x", "cluster", "betting", "Paired", "{words}", "rng=7", "polıcy", "score"])
def test_a_column_of_any_name_breaks_no_sentence(name: str) -> None:
    table = sf.read(rows((name, "task", "scene", "success")), columns={"policy": name, "score": "", "cluster": ""})
    assert table.words == Words()
    assert table.called("policy") == name
    found, usual = sf.compare(table, "big", "small"), sf.compare(sf.read(rows(ROBOTS)), "big", "small")
    assert replace(found, reading=usual.reading) == usual
    assert f"<th>{name}</th>" in table._repr_html_()


def test_a_report_speaks_the_words_it_carries() -> None:
    made = sf.report(sf.read(rows(MODELS)))
    assert made.data()["overview"]["words"]["policies"] == "models"
    assert "96 samples" in str(sf.read(rows(MODELS)))
    assert "of samples" in str(sf.report(sf.read(rows(MODELS)).where(policy="big")))


def test_several_epochs_are_epochs():
    assert [plural(noun) for noun in ("epoch", "batch", "policy", "box")] == ["epochs", "batches", "policies", "boxes"]
