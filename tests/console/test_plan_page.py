"""The editor of a plan: a form of its fields, what it will take, and a file that reads back the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from surefoot.console.plan_page import PlanPage
from surefoot.errors import StudyError
from surefoot.study.plans import Plan
from tests.support.studies import LAB


def entered(page: PlanPage) -> TestClient:
    client = TestClient(page.app(), base_url="http://127.0.0.1:80")
    assert client.get(page.link(80)).status_code == 200
    return client


@pytest.fixture
def page(tmp_path: Path) -> PlanPage:
    (tmp_path / "plan.toml").write_text(LAB, encoding="utf-8")
    return PlanPage(tmp_path / "plan.toml")


def form(client: TestClient) -> Any:
    return client.post("/form", json={}).json()["values"]


def test_a_plan_that_is_opened_and_saved_is_the_same_plan(page: PlanPage) -> None:
    client = entered(page)
    told = client.post("/save", json={"values": form(client)}).json()
    assert told["says"].startswith(f"Wrote {page.path}.")
    assert Plan.from_toml(page.path.read_text(encoding="utf-8")) == Plan.from_toml(LAB)


def test_conditions_that_hold_commas_and_reset_lists_survive(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    plan = Plan(
        policies=("new", {"name": "old", "serving": {"temperature": 0.5, "mode": "fast"}}),
        tasks=({"name": "mug", "conditions": {"pose": 2, "mug": ["red"]}, "reset": ["arm home"]}, "towel"),
        blinded=False,
    )
    path.write_text(plan.to_toml(), encoding="utf-8")
    page = PlanPage(path)
    assert page.plan({"values": form(entered(page))}) == plan


def test_every_change_is_answered_by_what_it_will_take(page: PlanPage) -> None:
    client = entered(page)
    values = form(client)
    told = client.post("/check", json={"values": values, "rates": "0.9, 0.5, 0.1"}).json()
    assert "6 hours are 180 rollouts" in told["expects"]
    assert told["toml"].startswith("# The plan of a study")
    values["time_budget"][0]["hours_a_day"] = "3"
    assert (
        "3 hours are 90 rollouts"
        in client.post("/check", json={"values": values, "rates": "0.9,0.5,0.1"}).json()["expects"]
    )
    assert "if the rates are" in client.post("/check", json={"values": values}).json()["expects"]


@pytest.mark.parametrize(
    ("part", "name", "value", "says"),
    [
        ("", "horizon", "many", "`horizon` must be a number; got 'many'"),
        ("", "stages", "grasped 0.5, placed 0.2", "rise in points"),
        ("", "stages", "grasped", "names and values"),
        ("", "rates", "", ""),
    ],
)
def test_what_cannot_be_used_is_told(page: PlanPage, part: str, name: str, value: str, says: str) -> None:
    client = entered(page)
    values = form(client)
    if not says:
        values["policies"] = values["policies"][:1]
        says = "at least two policies"
    else:
        values[part][name] = value
    answer = client.post("/check", json={"values": values, "rates": "0.9,0.5,0.1"})
    assert answer.status_code == 422
    assert says in answer.json()["error"]


def test_a_file_that_somebody_else_changed_is_not_overwritten(page: PlanPage) -> None:
    client = entered(page)
    values = form(client)
    page.path.write_text('policies = ["a", "b"]', encoding="utf-8")
    answer = client.post("/save", json={"values": values})
    assert answer.status_code == 422
    assert "was changed since" in answer.json()["error"]
    assert page.path.read_text(encoding="utf-8") == 'policies = ["a", "b"]'


def test_it_is_for_whoever_started_it(page: PlanPage, tmp_path: Path) -> None:
    stranger = TestClient(page.app(), base_url="http://127.0.0.1:80")
    for path in ("/form", "/check", "/save"):
        assert stranger.post(path, json={}).status_code == 401
    (tmp_path / "no.toml").write_text("colour = 3", encoding="utf-8")
    with pytest.raises(StudyError, match="colour"):
        PlanPage(tmp_path / "no.toml")


def test_a_new_plan_begins_with_two_names(tmp_path: Path) -> None:
    client = entered(PlanPage(tmp_path / "new.toml"))
    assert [one["name"] for one in form(client)["policies"]] == ["new", "old"]
    assert client.post("/save", json={"values": form(client)}).status_code == 200
    assert Plan.from_toml((tmp_path / "new.toml").read_text(encoding="utf-8")).policies == ("new", "old")
