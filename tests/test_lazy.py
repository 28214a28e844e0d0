"""Tests of `surefoot._lazy`."""

import importlib

import pytest

from surefoot import _lazy


def test_a_name_is_fetched_from_its_module_and_a_module_is_itself():
    fetch, names = _lazy.attach("surefoot", {"Tally": "surefoot.core.tally", "stats": "surefoot.stats"})
    from surefoot import stats
    from surefoot.core.tally import Tally

    assert fetch("Tally") is Tally
    assert fetch("stats") is stats
    assert names() == ["Tally", "stats"]


def test_the_names_of_a_package_are_those_it_imports_for_type_checkers(tmp_path):
    file = tmp_path / "__init__.py"
    file.write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n"
        "    from surefoot import stats as stats\n"
        "    from surefoot.core.tally import Tally as Tally\n"
        "    from surefoot.analysis.attempts import Attempts as Attempts\n"
    )
    assert list(_lazy.homes("surefoot", str(file)).items()) == [
        ("Attempts", "surefoot.analysis.attempts"),
        ("Tally", "surefoot.core.tally"),
        ("stats", "surefoot.stats"),
    ]


ROOMS = ["core", "numerics", "table", "files", "auditing", "analysis", "study", "runners", "reporting", "console"]


@pytest.mark.parametrize(
    ("package", "name", "said"),
    [
        ("surefoot", "Tallies", "; dir(surefoot) lists what is public"),
        ("surefoot", "rollouts", "; did you mean surefoot.Rollouts?"),
        ("surefoot", "wilson", "; did you mean surefoot.stats.wilson?"),
        ("surefoot.stats", "foo", "; dir(surefoot.stats) lists what is public"),
        ("surefoot.stats", "wilsn", "; did you mean surefoot.stats.wilson?"),
        ("surefoot.stats", "compare", "; did you mean surefoot.compare?"),
        ("surefoot.planning", "Plan_Rate", "; did you mean surefoot.planning.plan_rate?"),
        *((f"surefoot.{room}", "compare", "; did you mean surefoot.compare?") for room in ROOMS),
        *((f"surefoot.{room}", "nothing_like_it", "; dir(surefoot) lists what is public") for room in ROOMS),
    ],
)
def test_a_name_that_is_not_there_says_where_to_look(package, name, said):
    room = importlib.import_module(package)
    with pytest.raises(AttributeError) as refused:
        getattr(room, name)
    assert str(refused.value) == f"module {package!r} has no attribute {name!r}{said}"
    assert not hasattr(room, name)


def test_a_room_that_is_not_public_says_what_is_public_of_it():
    said = "module 'surefoot' has no attribute 'auditing'; what is public of it is surefoot.Audit, surefoot.audit"
    assert str(_lazy.MissingNameError("surefoot", "auditing")) == said
