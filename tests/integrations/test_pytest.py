"""The pytest plugin, by running pytest: what passes, fails, is undecided, skipped or refused, and what is said."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from surefoot.integrations import pytest as plugin
from surefoot.numerics.designs import acceptance
from surefoot.sequential import AcceptanceTest

ROOT = Path(__file__).parents[2]
PLUGIN = "surefoot.integrations.pytest"
LOADED = acceptance  # pytest inside pytest forgets what it has loaded, and numpy loads only once


@pytest.fixture
def run(pytester, monkeypatch):
    """Run pytest with the plugin on a file of tests, whatever is installed here."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("COLUMNS", "200")

    def run_it(source: str, *options: str, apart: bool = False) -> pytest.RunResult:
        pytester.makepyfile("import random\nimport unittest\n\nimport pytest\n\n\n" + source)
        how = pytester.runpytest_subprocess if apart else pytester.runpytest_inprocess
        return how("-p", PLUGIN, "--strict-markers", "-p", "no:cacheprovider", *options)

    return run_it


def test_a_good_test_passes_and_tells_its_rate_and_how_many_ran(run):
    result = run("""
@pytest.mark.surefoot(at_least=0.95, unacceptable=0.8, error=0.05)
def test_policy():
    pass
""")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "*= surefoot =*",
            "*::test_policy passed after 18 runs (at most 75): 100.0% [[]84.6%, 100.0%] of them succeeded",
        ]
    )


def test_the_verdict_is_that_of_the_rule_on_the_same_outcomes(run):
    outcomes = [random < 0.9 for random in (0.3, 0.95, 0.2, 0.99, 0.1, 0.5, 0.93, 0.4)] + [True] * 80
    rule = AcceptanceTest(0.9, 0.6, error=0.1)
    state = rule.start()
    for outcome in outcomes:
        if not state.finished:
            state = rule.step(state, outcome)
    result = run(f"""
OUTCOMES = {outcomes}

@pytest.mark.surefoot(at_least=0.9, unacceptable=0.6, error=0.1)
def test_policy(surefoot_run):
    assert OUTCOMES[surefoot_run - 1]
""")
    words = "passed" if state.verdict == "accepted" else "failed"
    result.stdout.fnmatch_lines([f"*test_policy {words} after {state.rollouts} runs (at most {rule.horizon})*"])


@pytest.mark.parametrize("slow", [True, False])
def test_runs_count_in_the_order_they_are_started_however_long_they_take(run, slow):
    """No run begins before the one before it has ended, so that quick failures are not counted first."""
    result = run(f"""
import time
SPANS = []

@pytest.mark.surefoot(at_least=0.9, unacceptable=0.5, error=0.1)
def test_policy(surefoot_run):
    began = time.perf_counter()
    success = surefoot_run % 4 != 0
    time.sleep(0.004 if success is {slow} else 0.0)
    SPANS.append((surefoot_run, began, time.perf_counter()))
    assert success

def test_order():
    assert [number for number, _, _ in SPANS] == list(range(1, len(SPANS) + 1))
    assert all(before[2] <= after[1] for before, after in zip(SPANS, SPANS[1:]))
""")
    result.stdout.fnmatch_lines(["*test_policy * after * runs*"])
    assert "test_order" not in "".join(line for line in result.outlines if "FAILED" in line)


def test_a_failing_test_says_the_rate_the_interval_and_how_many_ran(run):
    result = run("""
@pytest.mark.surefoot(at_least=0.95, unacceptable=0.8)
def test_policy(surefoot_run):
    print("run", surefoot_run)
    assert surefoot_run % 2
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            ">       assert surefoot_run % 2",
            "*- surefoot -*",
            "failed after 6 runs (at most 75): 50.0% [[]21.2%, 88.3%] of them succeeded",
            "Asked for: a rate of at least 95%; 80% is unacceptable; each error at most 5% (90% interval).",
            "Failed runs: 2, 4, 6. Above is the last of them.",
            "*Captured stdout call*",
            "run 6",
            "FAILED *::test_policy - surefoot: failed after 6 runs*",
        ]
    )
    assert "run 5" not in result.stdout.str()


def test_undecided_fails_and_says_what_would_decide(run):
    result = run("""
@pytest.mark.surefoot(at_least=0.95, unacceptable=0.8, horizon=20)
def test_policy(surefoot_run):
    if surefoot_run == 3:
        pytest.fail("slipped", pytrace=False)

@pytest.mark.surefoot(at_least=0.99, unacceptable=0.9, horizon=29, error=0.05)
def test_all_well():
    pass
""")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(
        [
            "slipped",
            "undecided after 20 runs (at most 20): 95.0% [[]*] of them succeeded",
            "All 20 runs were used without a decision, which is not a pass. horizon=75 always decides.",
        ]
    )


def test_a_crash_is_a_failed_run(run):
    result = run("""
@pytest.mark.surefoot
def test_policy():
    raise KeyError("gripper")
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E       KeyError: 'gripper'", "*failed after 2 runs (at most 75): 0.0%*"])


FIXTURES = """
LOG = []

@pytest.fixture(scope="module")
def robot():
    LOG.append("robot")
    yield
    LOG.append("robot off")

@pytest.fixture
def scene(robot):
    LOG.append("scene")
    yield []
    LOG.append("clear")

class TestPolicy:
    @pytest.mark.surefoot(at_least=0.9, unacceptable=0.7)
    def test_fresh(self, scene, tmp_path, monkeypatch):
        assert not hasattr(self, "used")
        assert scene == []
        assert list(tmp_path.iterdir()) == []
        (tmp_path / "used").touch()
        self.used = True
        scene.append(1)

def test_log():
    assert LOG == ["robot"] + ["scene", "clear"] * 12
"""


def test_fixtures_of_a_function_are_set_up_anew_for_every_run_and_wider_ones_once(run):
    run(FIXTURES).assert_outcomes(passed=2)


def test_wider_fixtures_end_after_the_last_run(run, pytester):
    pytester.makepyfile(
        test_zz="import sys\ndef test_after():\n    seen = [m for n, m in sys.modules.items() if n == 'test_aa'][0]\n"
        "    assert seen.LOG[-2:] == ['clear', 'robot off']\n",
        test_aa="import pytest\n" + FIXTURES.partition("def test_log")[0],
    )
    result = pytester.runpytest_inprocess("-p", PLUGIN, "test_aa.py", "test_zz.py")
    result.assert_outcomes(passed=2)


def test_parametrized_tests_are_decided_one_by_one(run):
    result = run("""
@pytest.mark.parametrize("rate", [1.0, 0.5])
@pytest.mark.surefoot(at_least=0.9, unacceptable=0.7)
def test_policy(rate, surefoot_run):
    assert random.Random(surefoot_run).random() < rate
""")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*test_policy[[]0.5] failed after*", "*test_policy[[]1.0] passed after 12 runs*"])


def test_unittest_cases_are_run_with_their_own_set_up(run):
    result = run("""
class TestPolicy(unittest.TestCase):
    ups = 0
    def setUp(self):
        type(self).ups += 1
        self.fresh = True
    @pytest.mark.surefoot(at_least=0.9, unacceptable=0.7)
    def test_a(self):
        self.assertTrue(self.fresh)
        self.fresh = False
    def test_b(self):
        self.assertEqual(self.ups, 13)
""")
    result.assert_outcomes(passed=2)


def test_a_skip_or_an_error_around_a_run_ends_the_test_as_that(run):
    result = run("""
@pytest.mark.surefoot
def test_skips(surefoot_run):
    if surefoot_run == 3:
        pytest.skip("no robot")

@pytest.fixture
def camera(surefoot_run):
    if surefoot_run == 4:
        raise OSError("no camera")

@pytest.mark.surefoot
def test_set_up(camera):
    pass

@pytest.fixture
def arm(surefoot_run):
    yield
    if surefoot_run == 2:
        raise OSError("stuck")

@pytest.mark.surefoot
def test_tear_down(arm):
    pass

@pytest.mark.skip(reason="not today")
@pytest.mark.surefoot
def test_never():
    raise AssertionError
""")
    result.assert_outcomes(skipped=2, errors=2, failed=1)
    result.stdout.fnmatch_lines(["*OSError: no camera", "*OSError: stuck"])
    result.stdout.fnmatch_lines(["Run 2 failed in its teardown, so no further run was made."])


def test_both_tear_downs_that_fail_are_told(run):
    result = run("""
@pytest.fixture(scope="module")
def room():
    yield
    raise OSError("room")

@pytest.fixture
def arm(room):
    yield
    raise OSError("arm")

@pytest.mark.surefoot
def test_policy(arm):
    pass
""")
    result.assert_outcomes(failed=1, errors=2)
    result.stdout.fnmatch_lines(["*OSError: arm", "*OSError: room"])


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ("(at_least=0.8, unacceptable=0.95)", "`unacceptable` must be below `at_least`; got unacceptable=0.95*"),
        ("(at_least=0.8, unacceptable=0.8)", "`unacceptable` must be below `at_least`*"),
        ("(at_least=95)", "`at_least` must be strictly between 0 and 1; got 95. Write 0.95 for 95%."),
        ("(atleast=0.9)", "its arguments must be among at_least, unacceptable, error, horizon; got atleast. Write *"),
        ("(0.95, 0.8)", "its arguments must be named; got 0.95, 0.8. Write *"),
        ("(error='5%')", "`error` must be a number; got '5%'."),
        ("(horizon=5)", "`horizon` must be at least 14; got 5. Fewer rollouts cannot be accepted*"),
    ],
)
def test_a_wrong_mark_is_a_usage_error_with_the_cure(run, mark, said):
    result = run(f"@pytest.mark.surefoot{mark}\ndef test_policy():\n    pass\n")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: *::test_policy: @pytest.mark.surefoot: {said.replace('[', '[[]')}"])


def test_a_test_cannot_be_expected_to_fail_as_well(run):
    result = run("@pytest.mark.xfail\n@pytest.mark.surefoot\ndef test_policy():\n    pass\n")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *must have one of the marks `surefoot` and `xfail`; got both.*"])


def test_tests_without_the_mark_are_left_alone(run):
    result = run("def test_plain(surefoot_run):\n    assert surefoot_run == 1\n")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*surefoot =*")


def test_setup_only_runs_nothing(run):
    result = run("@pytest.mark.surefoot\ndef test_policy(tmp_path):\n    raise AssertionError\n", "--setup-only")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*SETUP*F tmp_path*"])


def test_the_verdict_is_in_the_junit_file(run, pytester):
    run(
        """
@pytest.mark.surefoot
def test_policy(record_property, surefoot_run):
    record_property("seed", surefoot_run)
""",
        f"--junitxml={pytester.path / 'out.xml'}",
        "-o",
        "junit_family=xunit1",
    )
    case = ElementTree.parse(pytester.path / "out.xml").getroot().find(".//testcase")
    found = {one.get("name"): one.get("value") for one in case.iter("property")}
    assert found["surefoot_verdict"] == "passed"
    assert found["surefoot_runs"] == "18"
    assert found["seed"] == "18"
    assert float(found["surefoot_low"]) == pytest.approx(0.846, abs=1e-3)


@pytest.mark.end_to_end
def test_it_plays_with_xdist(run):
    pytest.importorskip("xdist")
    result = run(
        """
@pytest.mark.surefoot
@pytest.mark.parametrize("rate", [1.0, 0.99, 0.5])
def test_policy(rate, surefoot_run):
    assert random.Random(surefoot_run).random() < rate
""",
        "-p",
        "xdist",
        "-n",
        "2",
        apart=True,
    )
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["*test_policy[[]0.5] failed after 6 runs*", "*test_policy[[]1.0] passed after 18 runs*"]
    )
    result.stdout.fnmatch_lines(["FAILED *- surefoot: failed after 6 runs*"])


def test_a_wrong_mark_is_said_by_xdist_too(run):
    pytest.importorskip("xdist")
    result = run(
        "@pytest.mark.surefoot(at_least=2)\ndef test_policy():\n    pass\n", "-p", "xdist", "-n", "1", apart=True
    )
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *`at_least` must be strictly between 0 and 1; got 2*"])


def test_pytest_finds_the_plugin_and_starts_no_slower():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"surefoot": PLUGIN}
    program = (
        f"import pytest, sys; before = set(sys.modules); import {PLUGIN}; print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not {name for name in loaded if not name.startswith("surefoot")}
    assert loaded <= {"surefoot", "surefoot._lazy", "surefoot.integrations", PLUGIN}


def test_a_session_that_is_told_to_stop_ends_the_runs(run):
    result = run("""
@pytest.mark.surefoot(at_least=0.95, unacceptable=0.8)
def test_policy(request):
    request.session.shouldstop = "enough"
""")
    result.stdout.fnmatch_lines(["*test_policy stopped after 1 run (at most 75), 0 failures"])


def test_a_worker_hands_its_refusal_to_the_session_that_started_it():
    wrong = pytest.mark.surefoot(at_least=2).mark
    item = SimpleNamespace(nodeid="test_a.py::test_policy", stash={}, get_closest_marker={"surefoot": wrong}.get)
    config, items = SimpleNamespace(workeroutput={}), [item]
    plugin.pytest_collection_modifyitems(config, items)
    assert items == []
    with pytest.raises(pytest.UsageError, match=r"test_a.py::test_policy:"):
        plugin.pytest_testnodedown(SimpleNamespace(workeroutput=config.workeroutput))
    plugin.pytest_testnodedown(SimpleNamespace(workeroutput={}))  # a worker without a fault says nothing


@pytest.mark.parametrize(("hits", "outcome"), [(90, "passed"), (20, "failed"), (84, "skipped")])
def test_a_gate_in_a_test_fails_where_a_need_is_broken_and_skips_where_it_is_open(run, pytester, hits, outcome):
    rows = [f"{name},{int(at < count)}" for name, count in (("new", hits), ("old", 90)) for at in range(100)]
    (pytester.path / "pr.csv").write_text("policy,success\n" + "\n".join(rows) + "\n")
    (pytester.path / "release.toml").write_text("[gate]\n[[gate.need]]\nnot_worse_by = 0.1\n")
    result = run(
        """
def test_release(surefoot_gate):
    assert surefoot_gate("pr.csv", "release.toml", first="new", second="old").passed
""",
        "-rs",
        apart=True,
    )
    result.assert_outcomes(**{outcome: 1})
    if outcome == "failed":
        assert "FAIL: success not worse by 10 points" in result.stdout.str()
