"""`surefoot compare` and `surefoot plan compare` as a person or a gate meets them; wording that cannot overstate."""

import json

import pytest

import surefoot as sf
from surefoot import Tally, stats
from surefoot.cli.main import run as surefoot
from tests.support.command_line import said
from tests.support.lists import listed
from tests.support.two_rates import published


def test_two_tallies_give_five_lines_to_act_on(capsys):
    code, out, err = said(capsys, "compare", "17/20", "14/20")
    answer, rates, method, todo, holds = out.splitlines()
    assert holds.startswith("  This holds if all rollouts are independent and their numbers were fixed beforehand")
    assert (code, err) == (0, "")
    assert "17/20 85.0% [63.9%, 94.8%]" in rates
    gain = "first - second = +15.0 points, 95% interval [-12.9, +41.9], p = 0.290."
    assert answer == f"For rollouts like these: cannot tell. {gain}"
    assert method == "  Method: exact unconditional."
    assert "20 rollouts each could have shown a true gain of +28." in todo
    assert "About 121 rollouts of each policy would" in todo


def test_a_decided_comparison_says_by_how_much_and_when_it_holds(capsys):
    _, out, _ = said(capsys, "compare", "6/50", "40/50")
    lines = out.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("For rollouts like these: first is worse. first - second = -68.0 points, ")
    assert "95% interval [-80.1, -50.8]" in lines[0]
    assert "independent" in lines[3]


def test_pairs_are_counted_as_pairs(capsys):
    _, out, _ = said(capsys, "compare", "--pairs", "20,12,2,16")
    assert "exact unconditional paired, 50 pairs" in out
    assert out.startswith("For pairs like these: first is better. first - second = +20.0 points")


def test_json_holds_the_gain_and_what_could_be_seen(capsys):
    _, out, _ = said(capsys, "compare", "17/20", "14/20", "--json", "--confidence", "0.9")
    data = json.loads(out)
    assert sf.Gain.from_dict(data["gain"]) == stats.exact_gain(Tally(17, 20), Tally(14, 20), confidence=0.9)
    assert data["outlook"]["type"] == "Outlook"
    assert data["said"].startswith("Cannot tell")
    assert json.loads(said(capsys, "compare", "6/50", "40/50", "--json")[1])["outlook"] is None


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("compare",), 64, "two tallies, `--pairs` or files"),
        (("compare", "3/10"), 64, "must have two tallies"),
        (("compare", "12/10", "3/10"), 65, "at most `trials`"),
        (("compare", "0/0", "3/10"), 65, "must be at least 1"),
        (("compare", "--pairs", "1,2"), 64, "must be BOTH,FIRST,SECOND,NEITHER"),
        (("compare", "--pairs", "0,0,0,0"), 65, "must be at least 1"),
        (("compare", "--pairs", "1,-2,3,4"), 65, "must be at least 0"),
        (("compare", "1/2", "1/2", "--pairs", "1,2,3,4"), 64, "must be given alone"),
        (("compare", "1/2", "1/2", "--using", "magic"), 64, "must be one of"),
        (("compare", "1/2", "1/2", "--using", "mcnemar"), 64, "must be one of"),
        (("compare", "1/2", "1/2", "--using", "fisher", "--gate"), 64, "need the exact gain"),
        (("compare", "1/2", "1/2", "--confidence", "95"), 64, "Write 0.95 for 95%"),
        (("compare", "1/2", "1/2", "--margin", "-1"), 64, "`--margin` must be 0 or more"),
        (("compare", "nowhere.csv"), 65, "nowhere.csv"),
        (("compare", "1/2", "a.csv"), 64, "must have two tallies or files, not both; got 1/2 a.csv."),
        (
            ("compare", "1/2", "1/2", "--by", "task"),
            64,
            "`--by` needs a file of results; it does nothing",
        ),
        (("compare", "1/2", "1/2", "--low", "0"), 64, "`--low` needs a file of results;"),
        (("compare", "--pairs", "1,2,3,4", "--paired"), 64, "`--paired` needs a file of results;"),
        (("compare", "--counts", "rt2-vc1", "--gate"), 64, "it does nothing with `--counts`"),
        (("compare", "a.csv", "b.csv", "--details"), 64, "`--details` needs a tally or `--pairs`"),
        (("compare", "a.csv", "--by", "task", "--paired"), 64, "`--paired` must be left out with `--by`"),
        (("compare", "--counts", "nowhere.csv"), 65, "no such file"),
        (("plan", "compare"), 64, "`--second` must be given"),
        (("plan", "compare", "--second", "0.5"), 64, "`--first` must be given, or `--rollouts`"),
    ],
)
def test_misuse_is_one_line_and_a_code(capsys, words, code, text):
    found, out, err = said(capsys, *words)
    assert found == code
    assert out == ""
    assert text in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "name",
    [
        "newcombe",
        "miettinen-nurminen",
        "agresti-caffo",
        "barnard",
        "boschloo",
        "fisher",
        "pooled-score",
        "disjoint-bounds",
    ],
)
def test_every_method_has_its_word(capsys, name):
    result = published(name.replace("-", "_"))(Tally(7, 9), Tally(3, 9))
    assert said(capsys, "compare", "7/9", "3/9", "--using", name)[1] == f"{result}\n"


@pytest.mark.parametrize("name", ["tango", "newcombe-paired", "mcnemar", "mcnemar-midp"])
def test_every_paired_method_has_its_word(capsys, name):
    result = published(name.replace("-", "_"))(sf.PairTally(3, 5, 1, 2))
    assert said(capsys, "compare", "--pairs", "3,5,1,2", "--using", name)[1] == f"{result}\n"


def test_details_add_the_named_methods(capsys):
    out = said(capsys, "compare", "7/9", "3/9", "--details")[1]
    for name in ("Newcombe", "Miettinen-Nurminen", "Barnard", "Boschloo", "Fisher"):
        assert name in out


@pytest.fixture
def results(tmp_path):
    rows = ["policy,task,success"]
    rows += [f"new,stack,{int(i < 18)}" for i in range(20)] + [f"old,stack,{int(i < 6)}" for i in range(20)]
    path = tmp_path / "results.csv"
    path.write_text("\n".join(rows))
    return str(path)


def test_files_are_compared_and_gated(capsys, results):
    code, out, _ = said(capsys, "compare", results, "--first", "new", "--second", "old", "--gate")
    assert code == 0
    assert out.startswith("For rollouts like these: new is better. new - old = +60.0 points")
    code, out, _ = said(capsys, "compare", results, "--first", "old", "--second", "new", "--by", "task", "--gate")
    assert code == 1
    assert "For rollouts like these on stack: old is worse." in out
    assert said(capsys, "compare", results, "--first", "new", "--second", "none", "--gate")[0] == 3


def test_serious_findings_and_the_gate_are_in_the_json(capsys, logged_twice):
    for words in (("compare", *logged_twice, "--gate"), ("rank", *logged_twice)):
        body = json.loads(said(capsys, *words, "--json")[1])
        assert "duplicated rows" in [finding["about"] for finding in body["findings"]]
    tasks = json.loads(said(capsys, "compare", *logged_twice, "--by", "task", "--gate", "--json")[1])
    assert [body["gate"]["code"] for body in tasks] == [3]
    body = json.loads(said(capsys, "compare", "17/20", "14/20", "--gate", "--json")[1])
    assert (body["gate"]["code"], body["gate"]["says"]) == (2, "Gate: cannot tell (exit code 2).")
    ((lower, upper),) = body["gate"]["bounds"]
    assert (lower["side"], upper["side"], lower["confidence"]) == ("lower", "upper", 0.95)
    assert "gate" not in json.loads(said(capsys, "compare", "17/20", "14/20", "--json")[1])


def test_clean_results_read_back_from_json(capsys, results):
    for word, kind in (("compare", sf.Comparison), ("rank", sf.Ranking)):
        raw = ("--raw",) if word == "compare" else ()
        body = json.loads(said(capsys, word, results, "--json", *raw)[1])
        assert kind.from_dict(body).to_dict() == body


def test_a_list_is_compared_only_in_an_order_that_was_drawn(tmp_path, capsys):
    file = tmp_path / "results.csv"
    listed()[0].write_csv(file)
    asked = ["compare", str(file), "--first", "new", "--second", "old", "--population", "120"]
    assert surefoot(asked) == 64
    assert "in file order 11 to 21% of such verdicts were false" in capsys.readouterr().err
    assert surefoot([*asked, "--randomised", "--helped-by", "guess"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("On these 120 items new is better (")
    assert "It says nothing about other items." in out
    assert "The predictions do not explain the scores" in out
    assert "At this number of items: " in out
    assert surefoot([*asked, "--randomised", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["type"] == "ListComparison"
    assert surefoot([*asked, "--randomised", "--gate"]) == 64
    assert "--gate" in capsys.readouterr().err
    assert surefoot(["compare", str(file), "--first", "new", "--second", "old", "--randomised"]) == 64
    assert "`--randomised` needs `--population`" in capsys.readouterr().err


def test_files_are_compared_by_labels_and_runs_by_policy_only(capsys, results):
    code, out, err = said(capsys, "compare", results, "--by", "policy")
    assert (code, out) == (65, "")
    assert "`--by` must name a column of labels; 'policy' is the policy." in err
    for words, text in (
        (
            (results, "--previous", results, "--first", "new", "--second", "old"),
            "`--first` must be left out with `--previous`; it does nothing there.",
        ),
    ):
        code, out, err = said(capsys, "compare", *words)
        assert (code, out, err.count(text)) == (64, "", 1)


def test_models_questions_and_all_of_k(tmp_path, capsys):
    rows = [
        f"{m},q{q},{s},{int((q + s * k) % 3 > 0)}" for k, m in enumerate("abc", 1) for q in range(12) for s in (1, 2)
    ]
    path = tmp_path / "runs.csv"
    path.write_text("model,question,sample_id,correct\n" + "\n".join(rows), encoding="utf-8")
    assert surefoot(["compare", str(path), "--first", "a", "--second", "b"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("For these 12 questions: cannot tell. a - b = ")
    assert "Read as: unit question (12), repeat sample_id (2), paired by question." in out
    assert surefoot(["compare", str(path), "--first", "a", "--second", "b", "--pass-all", "2"]) == 0
    assert "pass^2" in capsys.readouterr().out
    assert surefoot(["compare", str(path), "--first", "a", "--second", "b", "--pass-all", "2", "--pass-at", "2"]) == 64
    assert surefoot(["compare", str(path), "--first", "d", "--second", "b"]) == 65
    assert "`--first` must be one of the models 'a', 'b', 'c'; got 'd'." in capsys.readouterr().err
    assert surefoot(["compare", "0.76", "80%"]) == 64
    assert "A tally must be SUCCESSES/ROLLOUTS" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        "17/20 14/20 --weights units",
        "17/20 14/20 --target like",
        "17/20 14/20 --dealt",
        "17/20 14/20 --lower-is-better",
        "FILE --pass-at 1 --format github",
        "FILE --pass-at 1 --weights rollouts",
        "FILE --pass-at 1 --target these",
        "FILE --by task --dealt",
        "FILE --by task --paired",
        "FILE --population 50 --randomised --target like",
        "FILE --previous FILE --target like",
        "FILE --previous FILE --lower-is-better",
        "FILE --previous FILE --dealt",
    ],
)
def test_an_option_that_does_nothing_is_refused(capsys, results, words):
    given = [results if word == "FILE" else word for word in words.split()]
    code, out, err = said(capsys, "compare", *given)
    assert (code, out) == (64, "")
    assert f"`{next(word for word in reversed(given) if word.startswith('--'))}`" in err


def test_times_have_a_limit_that_is_said(capsys, tmp_path):
    file = tmp_path / "times.csv"
    took = [(p, t + 10 * n) for p, t in (("new", 20), ("old", 60)) for n in range(20)]
    file.write_text("policy,seconds\n" + "".join(f"{name},{time}\n" for name, time in took))
    words = (str(file), "--score", "seconds", "--lower-is-better")
    for command in (("compare", "--first", "new", "--second", "old"), ("rank",), ("best",)):
        code, _, err = said(capsys, *command, *words)
        assert (code, "State the range that the scoring allows, --low and --high" in err) == (65, True)
        code, out, err = said(capsys, *command, *words, "--high", "200")
        assert (code, "note: Scores above 200 count as 200." in err, "outside its range" in out) == (0, True, False)
    code, _, err = said(capsys, "compare", *words, "--first", "new", "--second", "old", "--gate")
    assert (code, "State the range that the scoring allows, --low and --high" in err) == (3, True)


def test_a_time_beside_success_is_what_less_is_better_of(capsys, tmp_path):
    file = tmp_path / "times.csv"
    took = [("fast", 12, 38), ("slow", 25, 17)]  # 60 s at most: a failure takes them all
    rows = [f"{p},s{n},{int(n < ok)},{t + n % 7 if n < ok else 60}\n" for p, t, ok in took for n in range(40)]
    file.write_text("policy,start,success,time_s\n" + "".join(rows))
    words = (str(file), "--lower-is-better", "--high", "60")
    for command in (("compare", "--first", "fast", "--second", "slow"), ("rank",), ("best",)):
        code, _, err = said(capsys, *command, *words, "--column", "score=time_s")
        assert (code, "Of which is less better: success, or 'time_s'? Say --score time_s" in err) == (65, True)
        code, out, _ = said(capsys, *command, *words, "--score", "time_s")
        assert (code, "contradicts" in out, "fast is" in out or "fast has the lowest" in out) == (0, False, True)
        assert said(capsys, *command, *words[:2], "--column", "score=")[0] == 0
    table = sf.read(str(file), columns={"score": "time_s"}, high=60)
    for ask in (sf.best, sf.rank):
        with pytest.raises(sf.DataError, match="Of which is less better") as refused:
            ask(table, lower_is_better=True)
        assert 'Say measure="score", or measure="success".' in str(refused.value)
    assert sf.best(table, measure="score", lower_is_better=True).pick == "fast"


def test_stages_without_an_order_are_refused_in_the_words_of_the_reader(capsys, tmp_path):
    file = tmp_path / "stages.csv"
    file.write_text("policy,stage\nnew,grasp\nold,reach\n")
    code, _, err = said(capsys, "rate", str(file))
    assert (code, "Add a column of scores" in err, "stages=" in err) == (65, True, False)
    with pytest.raises(sf.DataError, match=r'to the most: stages=\["reach", "grasp", "place"\]'):
        sf.read(str(file))
