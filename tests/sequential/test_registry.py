"""A rule of another package appears everywhere that ours do, with no file of ours touched."""

from __future__ import annotations

import inspect
import json
import tomllib
from itertools import product
from pathlib import Path

import polars as pl
import pytest
from tools import registry_tables

import surefoot as sf
from surefoot import _plugins, sequential
from surefoot.cli.main import run
from surefoot.errors import StudyError
from surefoot.sequential import registry
from surefoot.sequential.registry import Setting
from surefoot.sequential.validity import declared
from surefoot.study.expectations import expect
from tests.sequential import test_conformance, test_rules, test_simulation
from tests.support import conformance, plugins

RANKS = '''
"""What if one compared the totals of many policies, after so many rounds?"""

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

from surefoot.core.interval import Interval
from surefoot.core.record import Record
from surefoot.core.verdict import Verdict
from surefoot.sequential.registry import registered
from surefoot.sequential.round_rules import RoundRule, Standing
from surefoot.stats.rankings import rank_intervals


@registered
@dataclass(frozen=True, slots=True)
class Lead(RoundRule):
    """Says better once ahead by ten."""

    name: ClassVar[str] = "lead"
    title: ClassVar[str] = "rule of leads"
    label: ClassVar[str] = "LEAD"
    summary: ClassVar[str] = "Says better once ahead by ten."

    def start(self):
        return LeadState(self, 0, (0,) * len(self.names), (0.0,) * len(self.names))

    def step(self, state, scores):
        ran = self.running(state, scores)
        return LeadState(
            self,
            state.rounds + 1,
            tuple(used + (name in ran) for name, used in zip(self.names, state.rollouts)),
            tuple(total + scores.get(name, 0.0) for name, total in zip(self.names, state.totals)),
        )


@dataclass(frozen=True, slots=True)
class LeadState(Standing, Record):
    """Who is ahead."""

    rule: Lead
    rounds: int
    rollouts: tuple[int, ...]
    totals: tuple[float, ...]

    @property
    def verdicts(self):
        def said(lead):
            return Verdict.BETTER if lead >= 10.0 else Verdict.WORSE if lead <= -10.0 else Verdict.UNDECIDED

        return tuple(said(one - other) for one, other in combinations(self.totals, 2))

    @property
    def ranks(self):
        return rank_intervals(self.rule.names, self.rule.pairs, self.verdicts)

    @property
    def complete(self):
        return Verdict.UNDECIDED not in self.verdicts

    @property
    def running(self):
        return () if self.complete or self.rounds >= self.rule.horizon else self.rule.names

    @property
    def finished(self):
        return not self.running

    def interval(self, first, second):
        return Interval(-1.0, 1.0, 0.0, confidence=self.rule.confidence, method="none", scale="gain")
'''


@pytest.fixture
def third(tmp_path):
    """The toy rule for two policies."""
    with plugins.installed(plugins.put_toy(tmp_path / "site")):
        yield registry.kinds("third")[0]


@pytest.fixture
def lead(tmp_path):
    """The toy rule for many policies."""
    package = plugins.put(tmp_path / "site", "leads", {"rules": {"lead": "leads:Lead"}}, {"leads": RANKS})
    with plugins.installed(package):
        yield registry.kinds("lead")[0]


def rollouts() -> sf.Rollouts:
    return sf.read(pl.DataFrame({"policy": ["new", "old"] * 30, "success": [1, 0] * 30}))


def test_each_rule_of_the_room_is_in_the_table_of_files():
    for name, files in registry.HOMES.items():
        modules = dict.fromkeys(kind.__module__.rpartition(".")[2] for kind in registry.kinds(name))
        assert list(modules) == list(files)
    room = Path(registry.__file__).parent
    entered = {path.stem for path in room.glob("*.py") if "\n@registered\n" in path.read_text(encoding="utf-8")}
    assert entered == {file for files in registry.HOMES.values() for file in files}
    assert {name for name in registry.HOMES if registry.kinds(name)[0].ranks(2)} == {*registry.PAIRS, "race", "halve"}


def test_the_contract_on_imports_knows_every_rule():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (one for one in project["tool"]["importlinter"]["contracts"] if "Sequential rules" in one["name"])
    listed = [file for layer in contract["layers"] for file in layer.split(" | ")]
    assert sorted(listed) == sorted(file for files in registry.HOMES.values() for file in files)


def test_a_plan_of_ours_looks_for_no_other_package(monkeypatch):
    monkeypatch.setattr(_plugins, "added", lambda *_: pytest.fail("entry points were read"))
    for setting in ({}, {"measure": "score"}, {"policies": tuple("abc")}):
        assert registry.one_of(registry.advised(Setting(**setting)), Setting(**setting))
    assert sf.Plan(policies=("new", "old"), rule="wsr").rule == "wsr"


def test_a_rule_of_a_script_is_known_and_one_of_a_taken_name_is_refused():
    class Ours(sequential.Wsr):
        name = "ours"

    class Again(sequential.Wsr):
        pass

    try:
        assert registry.registered(Ours) is registry.registered(Ours) is registry.kinds("ours")[0]
        assert registry.kinds("ours") == (Ours,)
    finally:
        del registry.REGISTRY["ours"]
    with pytest.raises(ValueError, match=r"`name` must be new; got 'wsr', which surefoot\.sequential\.wsr has"):
        registry.registered(Again)
    assert registry.kinds("wsr") == (sequential.Wsr,)


def test_a_plan_names_it_and_shows_it(third, tmp_path, capsys):
    plan = sf.Plan(policies=("new", "old"), rule="third", horizon=60)
    assert '"third"    Always bets a third.' in plan.to_toml()
    assert sf.Plan.from_toml(plan.to_toml()) == plan
    assert expect(plan, (0.9, 0.2)).power > 0.9
    command = ("study", "create", str(tmp_path / "plan.toml"), "--policies", "new,old", "--rule", "third", "--check")
    assert run(command) == 0
    assert "third rule at 95%" in capsys.readouterr().out


def test_a_study_runs_to_its_verdict(third, tmp_path):
    study = sf.Study.create(sf.Plan(policies=("new", "old"), rule="third", horizon=60), tmp_path / "study.db")
    while (turn := study.next_turn()) is not None:
        study.record(turn, turn.policy == "new")
    assert study.verdict is sf.Verdict.BETTER
    assert sf.verify(study.store).sound
    study.unblind(reason="it is over")
    said = sf.report(study)
    assert "rule of thirds" in said.html()
    assert said.study.finding.threshold == pytest.approx(40.0)
    assert len(said.study.finding.steps) == study.fold.decision.state.pairs


def test_it_is_replayed(third, tmp_path, capsys):
    found = sf.replay(rollouts(), "new", "old")
    assert "THIRD" in found.rules
    alone = sf.replay(rollouts(), "new", "old", rules=["third"])
    assert alone.rules == ("THIRD",)
    assert alone.comparisons[0].stops[0].evidence[-1] >= alone.comparisons[0].stops[0].threshold == pytest.approx(20.0)
    (tmp_path / "pairs.csv").write_text("1,0\n" * 30)
    assert run(("replay", str(tmp_path / "pairs.csv"), "--rule", "third", "--json")) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)["comparisons"][0]["stops"]] == ["THIRD"]


@pytest.mark.parametrize("command", [("replay",), ("study", "create"), ("plan", "compare")])
def test_the_command_line_offers_it(third, capsys, command):
    assert third.name not in sequential.__all__
    assert run((*command, "--help")) == 0
    assert "third" in capsys.readouterr().out


def test_it_is_planned(third, capsys):
    assert run(("plan", "compare", "--first", "0.9", "--second", "0.3", "--sequential", "--rule", "third")) == 0
    assert "rule of thirds" in capsys.readouterr().out


def test_the_docs_list_it(third):
    assert "| `Third` | `third` | 2 | success, score | Always bets a third. |" in registry_tables.rules()


def test_it_is_held_to_what_every_rule_must_do(third):
    kind = conformance.of_registry()["rule of thirds"]
    assert kind.make is third
    checks = [
        check
        for suite in (test_conformance, test_rules, test_simulation)
        for name, check in vars(suite).items()
        if name.startswith("test_") and {"kind"} <= set(inspect.signature(check).parameters) <= {"kind", "claim"}
    ]
    assert len(checks) > 5
    for check in checks:
        by_claim = "claim" in inspect.signature(check).parameters
        for claim in conformance.CLAIMS if by_claim else [None]:
            check(**{"kind": kind, "claim": claim} if by_claim else {"kind": kind})


NAMES = ("new", "old", "none")


def test_a_toy_ranking_is_planned(lead, capsys):
    plan = sf.plan_ranking(lead(NAMES, 40), [1.0, 0.5, 0.0], rng=1, runs=20)
    assert plan.each[0] == plan.each[2] >= 20.0
    assert 0.0 < plan.complete <= 1.0
    quick = ("--horizon", "20", "--runs", "5")
    assert run(("plan", "rank", "--rates", "1,0.5,0", "--rule", "lead", *quick, "--json")) == 0
    assert json.loads(capsys.readouterr().out)["rule"]["type"] == "Lead"
    assert run(("plan", "rank", "--rates", "1,0.5,0", "--rule", "lead", *quick, "--futility", "0.1")) == 64
    assert "`--futility` must be 0 for rule of leads; got 0.1" in capsys.readouterr().err


def test_a_toy_ranking_is_a_study(lead, tmp_path, capsys):
    plan = sf.Plan(policies=NAMES, rule="lead", horizon=40)
    assert sf.Plan.from_toml(plan.to_toml()) == plan
    assert '"lead"    Says better once ahead by ten.' in plan.to_toml()
    study = sf.Study.create(plan, tmp_path / "study.db")
    while (turn := study.next_turn()) is not None:
        study.record(turn, turn.policy == "new" or (turn.policy == "old" and turn.block % 2 == 0))
    assert study.verdict is sf.Verdict.BETTER
    assert sf.verify(study.store).sound
    study.unblind(reason="it is over")
    assert "rule of leads" in sf.report(study).html()


@pytest.mark.slow  # 4,000 studies of each truth, one by one
def test_what_a_study_of_a_toy_ranking_would_take_is_shown(lead, tmp_path, capsys):
    few = ("--horizon", "12", "--check")
    assert run(("study", "create", str(tmp_path / "p.toml"), "--policies", "a,b,c", "--rule", "lead", *few)) == 0
    assert "lead" in capsys.readouterr().out


def test_a_toy_ranking_is_replayed(lead, tmp_path, capsys):
    table = sf.read(pl.DataFrame({"policy": list(NAMES) * 30, "success": [1, 1, 0, 1, 0, 0] * 15}))
    beside = sf.replay_ranking(table)
    assert list(beside.rankings[0].others) == ["Holm", "LEAD"]
    alone = sf.replay_ranking(table, rule="lead")
    assert alone.rankings[0].used == beside.rankings[0].others["LEAD"] == 3 * 20
    assert beside.rankings[0].used == alone.rankings[0].others["Closed"]
    (tmp_path / "rows.csv").write_text("policy,success\n" + "new,1\nold,1\nnone,0\nnew,1\nold,0\nnone,0\n" * 15)
    assert run(("replay", str(tmp_path / "rows.csv"), "--rule", "lead")) == 0
    assert f"Closed: {beside.rankings[0].used}. Holm: {beside.rankings[0].others['Holm']}." in capsys.readouterr().out


@pytest.mark.parametrize("command", [("replay",), ("study", "create"), ("plan", "rank")])
def test_the_command_line_and_the_docs_offer_a_toy_ranking(lead, capsys, command):
    assert run((*command, "--help")) == 0
    assert lead.name in capsys.readouterr().out
    assert (
        "| `Lead` | `lead` | 3 or more | success, score | Says better once ahead by ten. |" in registry_tables.rules()
    )


def test_the_tables_of_the_docs_are_up_to_date():
    for name, made in registry_tables.TABLES.items():
        assert (registry_tables.PLACE / name).read_text(encoding="utf-8") == made(), "run tools/registry_tables.py"


def test_every_rule_says_what_it_is():
    for kind in registry.kinds():
        assert all((kind.name, kind.label, kind.summary.endswith("."), kind.title != "rule"))
        assert kind.place < registry.Offered.place
    places = [kind.place for kind in registry.kinds()]
    assert len(set(places)) == len(places)


def test_a_rule_without_a_name_is_refused():
    with pytest.raises(ValueError, match="`name` must be the word in plan files; Offered has none"):
        registry.registered(registry.Offered)


@pytest.mark.parametrize(
    ("setting", "name"),
    [
        ({}, "exact"),
        ({"horizon": 500}, "exact"),
        ({"horizon": 501}, "mixture"),
        ({"measure": "score"}, "mixture"),
        ({"margin": 0.1}, "mixture"),
        ({"policies": ("a", "b", "c")}, "closed"),
        ({"policies": tuple("abcdefg"), "measure": "score"}, "closed"),
        ({"policies": tuple("abcdefgh")}, "closed"),
        ({"policies": tuple(map(str, range(17)))}, "holm"),
        ({"policies": tuple("abcdefghij"), "question": "against b"}, "closed"),
        ({"policies": tuple("abcdefghijk"), "question": "against b"}, "holm"),
        ({"policies": tuple("abcdefghijk"), "question": "top 3"}, "closed"),
    ],
)
def test_the_rule_that_fits_is_advised(setting, name):
    assert registry.advised(Setting(**setting)) == name


def test_a_name_of_two_rules_means_the_one_that_fits_the_environments():
    for environments, kind in (("independent", sequential.ExactBinary), ("shared", sequential.ExactPairedBinary)):
        rule = declared("exact", Setting(horizon=50, environments=environments))
        assert type(rule) is kind
        assert rule.table


@pytest.mark.parametrize(
    ("name", "setting", "said"),
    [
        ("nobody", {}, "one of exact, mixture, nscore, wsr, savi, fixed, closed, race, holm, halve; got 'nobody'"),
        ("closed", {}, "`rule` must take 2 policies; got 'closed'. Use 'exact' or 'mixture'"),
        ("wsr", {"policies": tuple("abc")}, "`rule` must take 3 policies; got 'wsr'. Use 'closed' or 'holm'"),
        ("closed", {"policies": tuple(map(str, range(51)))}, "`rule` must take 51 policies; got 'closed'. Use 'holm'"),
        ("exact", {"measure": "score"}, "`rule` must take scores; got exact binary design. Use rule = 'mixture'"),
        ("savi", {"environments": "shared"}, "`rule` must hold for shared environments; got theta-SAVI"),
        ("savi", {"futility": 0.1}, "`futility` must be 0 for theta-SAVI, which cannot stop for it; got 0.1"),
        ("holm", {"policies": tuple("abc"), "futility": 0.5}, "`futility` must be from 0"),
        (
            "holm",
            {"policies": tuple("abc"), "question": "best"},
            "`question` must be 'ranking' or 'against NAME' for Holm",
        ),
        (
            "closed",
            {"policies": tuple("abc"), "margin": 0.1},
            "`claim` and `margin` must be 'either' and 0 for a ranking",
        ),
    ],
)
def test_a_rule_that_does_not_fit_is_refused(name, setting, said):
    with pytest.raises(ValueError, match=said):
        declared(name, Setting(**setting))


def test_a_first_plan_that_ranks_by_the_mixture_means_holm():
    plan = sf.Plan(policies=("a", "b", "c"), rule="mixture")
    assert (plan.rule, plan.decides) == ("mixture", "holm")
    assert isinstance(sf.Study.create(plan, ":memory:").fold.decision.rule, sequential.RankingRule)
    with pytest.raises(StudyError, match="Use 'closed' or 'holm'"):
        sf.Study.create(sf.Plan(policies=("a", "b", "c"), rule="wsr"), ":memory:")


@pytest.mark.parametrize(("name", "measure"), list(product(registry.PAIRS, ("success", "score"))))
def test_rules_and_states_answer_the_same_questions(name, measure):
    kind = registry.kinds(name)[0]
    if measure not in kind.measures:
        return
    rule = declared(name, Setting(horizon=12, measure=measure))
    states = sequential.run(rule, [(1.0, 0.0)] * 12)
    assert all((state.evidence is None) == (rule.threshold is None) for state in states)
    assert all(state.evidence is None or state.standing is None for state in states)
    assert (rule.operating(0.9, 0.1) is None) == (rule.table == "")


def test_only_rules_about_lists_take_one():
    about = registry.Setting(horizon=50, population=80, environments="shared")
    assert registry.one_of("mixture", about).made(about).population == 80
    for name, said in (
        ("wsr", "`population` must be left out for WSR, whose claim is not about a list; got 80."),
        ("exact", "`population` must be the horizon, 50, for exact paired binary design; got 80."),
    ):
        with pytest.raises(ValueError, match=said):
            registry.one_of(name, about).made(about)
