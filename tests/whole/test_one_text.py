"""A result says the same wherever it stands: alone, inside another, before and after a report in other words."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.cli.main import run
from surefoot.core.record import Record

ROBOTS = {"policy": "policy", "task": "task", "trial": "trial"}
MODELS = {"policy": "model", "task": "benchmark", "trial": "sample_id"}


def table(names: Mapping[str, str], folder) -> sf.Rollouts:
    """Two policies on tasks, in a lab's own words."""
    rng = random.Random(3)
    lines = [f"{names['policy']},{names['task']},{names['trial']},success,score"]
    for task in range(6):
        for trial in range(8):
            for k, policy in enumerate("ab"):
                success = rng.random() < 0.8 - 0.3 * k
                lines.append(f"{policy},t{task},{trial},{success:d},{rng.random() * 0.5 + 0.5 * success:.2f}")
    path = folder / f"{names['policy']}.csv"
    path.write_text("\n".join(lines))
    return sf.read(path)


def inner(value: Any) -> Iterator[Record]:
    """A result and every result inside it."""
    if isinstance(value, Record):
        yield value
        for one in dataclasses.fields(value):
            yield from inner(getattr(value, one.name))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from inner(one)
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from inner(one)


def written(data: Any) -> Iterator[dict[str, Any]]:
    """Every result inside JSON-ready data."""
    if isinstance(data, dict):
        if "type" in data and "schema" in data:
            yield data
        for one in data.values():
            yield from written(one)
    elif isinstance(data, list):
        for one in data:
            yield from written(one)


def results(rollouts: sf.Rollouts) -> list[Record]:
    """What the table gives to every question."""
    return [
        sf.compare(rollouts, "a", "b"),
        sf.compare(rollouts, "a", "b", measure="score", paired=False),
        *sf.compare_by(rollouts, "a", "b", by=["task"]),
        *sf.measure(rollouts),
        sf.rank(rollouts),
        sf.best(rollouts),
        sf.audit(rollouts),
        sf.items(rollouts),
        sf.slices(rollouts, "a", "b"),
        sf.plan_from_pilot(rollouts, "a", "b"),
        sf.replay(rollouts, "a", "b"),
        sf.report(rollouts).overview,
    ]


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    return [results(table(names, folder)) for names in (ROBOTS, MODELS)]


def test_a_result_inside_another_says_what_it_says_alone(both):
    for result in (one for each in both for one in each):
        parts = list(inner(result))
        told = [repr(one) for one in written(result.to_dict())]
        for part in parts:
            assert repr(part.to_dict()) in told


def test_the_words_of_a_table_are_in_all_that_its_results_say(both):
    parts = [part for result in both[1] for part in inner(result) if type(part).__str__ is not object.__str__]
    parts = [part for part in parts if type(part).__module__.partition(".")[2][:10] != "sequential"]  # a declared rule
    said = " ".join(map(str, parts))
    said += repr([result.to_dict() for result in both[1]])
    assert " samples" in said
    assert " models" in said
    for noun in (" rollouts", " rollout ", " policies", " policy "):
        assert noun not in said, [str(part) for part in parts if noun in str(part)][:3]


def test_neither_a_report_nor_a_command_changes_what_a_result_says(both, tmp_path, capsys):
    before = [(str(part), part.to_dict()) for each in both for result in each for part in inner(result)]
    rollouts = table(MODELS, tmp_path)
    sf.report(rollouts).html()
    assert run(["compare", str(tmp_path / "model.csv")]) == 0
    capsys.readouterr()
    assert [(str(part), part.to_dict()) for each in both for result in each for part in inner(result)] == before


def test_what_a_report_writes_is_what_its_parts_say_alone(tmp_path):
    data = sf.report(table(MODELS, tmp_path)).data()
    said = [one for one in written(data) if "says" in one and one["type"] in ("Note", "Assumption")]
    assert len(said) > 10
    for one in said:
        assert str(Record.from_dict(one)) == one["says"]


def test_what_is_read_back_says_the_same(both):
    for result in both[1]:
        again = Record.from_dict(result.to_dict())
        assert str(again) == str(result)
        assert again.to_dict() == result.to_dict()


def elsewhere(folder) -> list[Record]:
    """Results that no table gives: of counts, scores, plans, rules and studies."""
    one, other = sf.Tally(17, 20), sf.Tally(12, 20)
    scores = sf.Scores([0.1, 0.4, 0.9, 1.0, 0.7, 0.3])
    rule = sf.sequential.FiniteHorizonMixture(40)
    exact = sf.sequential.ExactPairedBinary(20)
    race = sf.sequential.Race(["a", "b", "c"], horizon=20)
    ranked = sf.sequential.ClosedRanking(["a", "b", "c"], horizon=20)
    rounds = [{"a": 1.0, "b": float(n % 2), "c": 0.0} for n in range(2)]
    study = sf.Study.create(sf.Plan(policies=("new", "old"), horizon=20), folder / "study.db")
    (folder / "met.csv").write_text("first,second,preferred\n" + "a,b,first\nb,c,first\na,c,second\nb,a,tie\n" * 6)
    return [
        sf.stats.wilson(one),
        sf.stats.claim(one, at_least=0.6),
        sf.stats.exact_gain(one, other),
        sf.stats.barnard(one, other),
        sf.stats.against_baseline({"a": one, "b": other, "c": one}, "b"),
        sf.stats.score_mean(scores),
        sf.stats.band(scores),
        sf.rank_preferences(sf.read_preferences(folder / "met.csv"), rng=1),
        sf.plan_rate(0.2),
        sf.plan_mean(0.2, spread=0.3),
        sf.plan_band(0.3),
        sf.plan_comparison(0.9, 0.5),
        sf.plan_units(0.9, 0.5, units=20),
        *sf.sequential.run(rule, [(1.0, 0.0)] * 12)[-1:],
        *sf.sequential.run(exact, [(1, 0)] * 12)[-1:],
        *sf.sequential.run(race, rounds)[-1:],
        *sf.sequential.run(ranked, rounds)[-1:],
        study.plan,
        study.status(),
        sf.verify(folder / "study.db"),
    ]


@given(seed=st.integers(0, 999))
@settings(max_examples=5, deadline=None)
def test_results_of_every_room_say_the_same_in_any_order_inside_and_outside_a_report(all_results, seed):
    said, rollouts = all_results
    shuffled = list(said.items())
    random.Random(seed).shuffle(shuffled)
    for place, (result, before) in enumerate(shuffled):
        if place == len(shuffled) // 2:
            sf.report(rollouts).html()
        assert (str(result.value), result.value.to_dict()) == before


class Kept:
    """A result, known by itself and not by what it is equal to."""

    def __init__(self, value: Record) -> None:
        self.value = value


@pytest.fixture(scope="module")
def all_results(both, tmp_path_factory):
    folder = tmp_path_factory.mktemp("elsewhere")
    every = [*elsewhere(folder), *(part for each in both for result in each for part in inner(result))]
    kept = [Kept(one) for one in every]
    assert len({type(one) for one in every}) > 50
    return {one: (str(one.value), one.value.to_dict()) for one in kept}, table(MODELS, folder)


def test_no_result_can_know_who_asks():
    """What a context variable holds would change what a result says; only drawing has some."""
    room = Path(sf.__file__).parent
    holders = {path.relative_to(room).as_posix() for path in room.rglob("*.py") if "ContextVar(" in path.read_text()}
    assert holders == {"reporting/style.py"}
