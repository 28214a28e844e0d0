"""Tests of `surefoot.cli.rate`."""

from __future__ import annotations

import json

import pytest

import surefoot as sf
from tests.support.command_line import said


def test_a_rate_is_one_line_with_interval_and_n(capsys):
    assert said(capsys, "rate", "38/50") == (0, "76.0% [62.5%, 85.8%] n=50 (95% Wilson interval).\n", "")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("3/100000",), "0.003% [0.001%, 0.009%] n=100,000 (95% Wilson interval)."),
        (("99999/100000", "--lower"), "at least 99.995% n=100,000 (95% Clopper-Pearson bound)."),
        (("3/100000", "--upper"), "at most 0.008% n=100,000 (95% Clopper-Pearson bound)."),
        (("760430/1000000",), "76.04% [75.95%, 76.13%] n=1,000,000 (95% Wilson interval)."),
    ],
)
def test_rare_failures_and_narrow_intervals_have_the_digits_they_need(capsys, words, says):
    assert said(capsys, "rate", *words) == (0, f"{says}\n", "")


def test_a_rate_as_json_is_the_result(capsys):
    code, out, _ = said(capsys, "rate", "38/50", "--json", "--confidence", "0.9")
    assert code == 0
    assert sf.Interval.from_dict(json.loads(out)) == sf.stats.wilson(sf.Tally(38, 50), confidence=0.9)


@pytest.mark.parametrize("name", ["wilson", "clopper-pearson", "jeffreys", "agresti-coull", "wald"])
def test_every_interval_has_its_word(capsys, name):
    method = getattr(sf.stats, name.replace("-", "_"))
    _, out, _ = said(capsys, "rate", "7/9", "--using", name)
    assert out == f"{method(sf.Tally(7, 9))}\n"


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_a_bound_is_the_guaranteed_one_unless_another_is_named(capsys, side):
    guaranteed = getattr(sf.stats, f"clopper_pearson_{side}")(sf.Tally(7, 9))
    assert said(capsys, "rate", "7/9", f"--{side}")[1] == f"{guaranteed}\n"
    optimal = getattr(sf.stats, f"optimal_{side}")(sf.Tally(7, 9), rng=7)
    assert said(capsys, "rate", "7/9", f"--{side}", "--using", "optimal", "--seed", "7")[1] == f"{optimal}\n"


def test_a_required_rate_can_or_cannot_be_claimed(capsys):
    assert "can be claimed" in said(capsys, "rate", "38/50", "--requires", "0.6")[1]
    out = said(capsys, "rate", "38/50", "--requires", "0.7")[1]
    assert "cannot be claimed" in out
    assert "more rollouts" in out


def test_several_tallies_are_several_lines(capsys):
    _, out, _ = said(capsys, "rate", "1/2", "2/3", "3/4")
    assert len(out.splitlines()) == 3


def test_a_rate_of_a_list_says_so(capsys):
    code, out, _ = said(capsys, "rate", "170/340", "--population", "500")
    assert code == 0
    assert out.splitlines() == [
        "50.0% [47.0%, 53.0%] n=340 (95% hypergeometric interval).",
        "  About these 500 items, of which 340 were run. It says nothing about other items.",
    ]
    for more, words in (
        (["--population", "300"], "`--population` must be at least 340, the items run; got 300"),
        (["--population", "500", "--lower"], "`--lower` must be left out with `--population`"),
    ):
        code, _, err = said(capsys, "rate", "170/340", *more)
        assert code == 64
        assert words in err


def test_what_belongs_to_a_tally_is_refused_with_a_file(capsys, tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("policy,condition,success\n" + "".join(f"a,{n // 2},{n % 2}\n" for n in range(8)))
    for more, words in (
        (["--lower"], "`--lower` needs a tally; it does nothing with files."),
        (["--pass-at", "1", "--pass-all", "1"], "`--pass-at` and `--pass-all` must not be given together."),
    ):
        code, _, err = said(capsys, "rate", str(path), *more)
        assert (code, words in err) == (64, True)
    (found,) = json.loads(f"[{said(capsys, 'rate', '170/340', '--population', '500', '--json')[1]}]")
    assert found["trials"] == 340


@pytest.mark.parametrize(
    "words",
    [
        "38/50 --seed 7",
        "38/50 --requires 0.6 --seed 7",
        "38/50 --population 500 --seed 7",
        "38/50 --weights units",
        "38/50 --weights x",
        "38/50 --target like",
        "38/50 --unit task",
        "38/50 --pool-runs",
    ],
)
def test_an_option_that_does_nothing_is_refused(capsys, words):
    given = words.split()
    code, out, err = said(capsys, "rate", *given)
    assert (code, out) == (64, "")
    assert f"`{next(word for word in reversed(given) if word.startswith('--'))}`" in err
