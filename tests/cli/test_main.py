"""Commands as a person meets them: what they print, and how they end."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import surefoot as sf
from surefoot.cli.main import COMMANDS, run


def said(capsys, *words: str) -> tuple[int, str, str]:
    code = run(words)
    out, err = capsys.readouterr()
    return code, out, err


def test_a_rate_is_one_line_with_interval_and_n(capsys):
    assert said(capsys, "rate", "38/50") == (0, "76.0% [62.5%, 85.8%] n=50 (95% Wilson interval).\n", "")


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


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["rate", "a/b"], 64, "A tally must be SUCCESSES/ROLLOUTS"),
        (["rate", "38"], 64, "A tally must be SUCCESSES/ROLLOUTS"),
        (["rate", "nan/50"], 64, "A tally must be SUCCESSES/ROLLOUTS"),
        (["rate", "2.5/10"], 64, "A tally must be SUCCESSES/ROLLOUTS"),
        (["rate", "38/0"], 65, "`trials` must be at least 1"),
        (["rate", "12/10"], 65, "`successes` must be at most `trials`; got 12 successes in 10 trials."),
        (["rate", "--", "-1/5"], 65, "`successes` must be at least 0"),
        (["rate", "38/50", "--confidence", "0"], 64, "`confidence` must be strictly between 0 and 1; got 0"),
        (["rate", "38/50", "--confidence", "1"], 64, "`confidence` must be strictly between 0 and 1; got 1"),
        (["rate", "38/50", "--confidence", "95"], 64, "Write 0.95 for 95%."),
        (["rate", "38/50", "--confidence", "nan"], 64, "`confidence` must be strictly between 0 and 1"),
        (["rate", "38/50", "--using", "guess"], 64, "`--using` must be one of wilson"),
        (
            ["rate", "38/50", "--using", "wald", "--lower"],
            64,
            "`--using` must be one of wilson, clopper-pearson, optimal",
        ),
        (["rate", "38/50", "--using", "optimal"], 64, "give a seed"),
        (["rate", "38/50", "--lower", "--upper"], 64, "must not be given together"),
        (["rate", "38/50", "--requires", "0.6", "--lower"], 64, "must stand alone"),
        (["rate", "38/50", "--requires", "60"], 64, "must be strictly between 0 and 1"),
        (["rate", "38/50", "--nonsense"], 64, "See `surefoot rate --help`."),
        (["rate"], 64, "Missing argument"),
        (["nonsense"], 64, "No such command"),
        (["plan", "rate", "5"], 64, "Write 0.05 for 5 points."),
        (["plan", "bound"], 64, "must leave exactly one to be found"),
        (["plan", "compare", "--second", "0.6", "--sequential"], 64, "must come with both rates"),
        (["plan", "compare", "--first", "0.9", "--second", "0.6", "--horizon", "9"], 64, "come with `--sequential`"),
    ],
)
def test_bad_input_is_one_sentence_and_an_exit_code(capsys, words, code, text):
    found, out, err = said(capsys, *words)
    assert found == code
    assert out == ""
    assert err.startswith("surefoot: ")
    assert err.count("\n") == 1
    assert text in err


def test_plans_show_what_other_sizes_buy(capsys):
    _, out, _ = said(capsys, "plan", "rate", "0.05")
    assert out.startswith("381 rollouts: ")
    assert "What n buys you" in out
    _, out, _ = said(capsys, "plan", "bound", "--tightness", "0.1")
    assert out.startswith("69 rollouts: ")


def test_a_sequential_plan_stands_beside_the_fixed_one(capsys):
    _, out, _ = said(capsys, "plan", "compare", "--first", "0.9", "--second", "0.6", "--sequential", "--json")
    found = json.loads(out)
    fixed, stopping = found["fixed"], found["sequential"]
    assert stopping["rule"]["horizon"] >= fixed["rollouts"]
    assert stopping["expected_pairs"] < fixed["rollouts"]
    assert stopping["power"] > 0.8


def test_help_is_there_for_every_command(capsys):
    for name in COMMANDS:
        code, out, _ = said(capsys, name, "--help")
        assert code == 0
        assert out.startswith("Usage:")
    assert said(capsys)[0] == 0


@pytest.mark.parametrize("group", [[], ["study"], ["plan"]])
def test_every_summary_fits_a_terminal_of_eighty_columns(capsys, monkeypatch, group):
    monkeypatch.setenv("COLUMNS", "80")
    listed = said(capsys, *group, "--help")[1].split("Commands:\n")[1]
    assert "..." not in listed
    assert all(len(line) <= 80 for line in listed.splitlines())


@pytest.mark.parametrize(
    "words",
    [
        ("rate", "38/50"),
        ("rate", "1/2", "nowhere.csv"),
        ("rate", "9/8"),
        ("compare", "17/20", "14/20"),
        ("compare", "17", "20", "14", "20"),
        ("compare", "17/20"),
        ("compare", "now.csv", "then.csv"),
    ],
)
def test_words_without_options_mean_what_they_mean_after_two_dashes(capsys, words):
    command, *rest = words  # after the dashes the words go through the parser of options, and find none
    assert said(capsys, command, *rest) == said(capsys, command, "--", *rest)


def test_a_reader_that_leaves_early_sees_no_traceback():
    shell = f"{sys.executable} -m surefoot rate 38/50 | true"
    done = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_the_version_is_the_packages(capsys):
    assert said(capsys, "--version") == (0, f"surefoot {sf.__version__}\n", "")


def test_the_package_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "surefoot", "rate", "1/0"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 65
    assert "Traceback" not in done.stderr


def test_of_two_files_the_first_named_is_the_first_policy(capsys, tmp_path):
    for name, successes in (("zeta", 18), ("alpha", 3)):
        rows = "".join(f"{int(i < successes)}\n" for i in range(20))
        (tmp_path / f"{name}.csv").write_text(f"success\n{rows}")
    _, out, _ = said(capsys, "compare", str(tmp_path / "zeta.csv"), str(tmp_path / "alpha.csv"))
    assert out.startswith("zeta against alpha: +75.0 points")
    assert "zeta is better than alpha" in out
    assert "zeta 90.0% [69.8%, 97.3%] n=20; alpha 15.0% [5.2%, 36.1%] n=20 (95% Wilson intervals)" in out


def test_policies_that_stand_first_by_the_alphabet_alone_are_named(capsys, tmp_path):
    path = tmp_path / "results.csv"
    path.write_text("policy,success\n" + "candidate,1\nbaseline,0\n" * 20)
    code, _, err = said(capsys, "compare", str(path), "--gate")
    assert code == 1  # the baseline is worse: whoever meant the candidate reads why
    assert "note: 'baseline' is first by the alphabet, 'candidate' second: say --first, --second." in err
    asked = ("--first", "candidate", "--second", "baseline")
    assert said(capsys, "compare", str(path), "--gate", *asked)[::2] == (0, "")


def test_of_two_folders_the_first_named_is_the_first_policy(capsys, tmp_path):
    for name, successes in (("zeta", 18), ("alpha", 3)):
        (tmp_path / name).mkdir()
        rows = "".join(f"{int(i < successes)}\n" for i in range(20))
        (tmp_path / name / "results.csv").write_text(f"success\n{rows}")
    _, out, err = said(capsys, "compare", str(tmp_path / "zeta"), str(tmp_path / "alpha"))
    assert out.startswith("zeta against alpha: +75.0 points")
    assert "note: zeta/results.csv: The policy is called 'zeta', after the path." in err  # and not 'results.csv' twice


@pytest.mark.parametrize(
    ("here", "first", "second"),
    [("x", "../y/new", "new"), ("y/new", ".", "../../x/new"), ("", "y/new", "x/new"), ("x", "../y/new", ".")],
)
@pytest.mark.parametrize("alike", [True, False])
def test_two_folders_of_one_name_are_compared_in_the_order_they_are_named(
    capsys, tmp_path, monkeypatch, here, first, second, alike
):
    for name, successes in (("y/new", 18), ("x/new", 3)):
        (tmp_path / name).mkdir(parents=True)
        rows = "".join(f"{int(place < successes)}\n" for place in range(20))
        (tmp_path / name / ("results.csv" if alike else f"results_{successes}.csv")).write_text(f"success\n{rows}")
    monkeypatch.chdir(tmp_path / here)
    _, out, err = said(capsys, "compare", first, second)
    assert "+75.0 points" in out.splitlines()[0]
    assert "alphabet" not in err


def test_the_demo_writes_its_rollouts_for_other_commands(capsys, tmp_path):
    data, page = tmp_path / "results.csv", tmp_path / "demo.html"
    code, out, _ = said(capsys, "demo", "-o", str(page), "--data", str(data))
    assert (code, page.exists()) == (0, True)
    assert f"Wrote {data}" in out
    assert sf.read(data).where(policy="new").tally() == sf.Tally(105, 120)
    code, _, err = said(capsys, "demo", "--data", str(tmp_path / "nowhere" / "results.csv"))
    assert (code, err.startswith("surefoot: `--data` must be in a folder that exists")) == (64, True)


def test_a_ranking_names_the_policies_of_which_nothing_is_known(capsys, tmp_path):
    (tmp_path / "results.csv").write_text("policy,success\na,1\na,1\nb,0\nb,1\nc,\n")
    code, out, _ = said(capsys, "rank", str(tmp_path / "results.csv"))
    assert code == 0
    assert "Left out, no success is known of them: c." in out
