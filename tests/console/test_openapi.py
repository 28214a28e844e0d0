"""Tests of `surefoot.console.openapi`."""

from __future__ import annotations

import json

import pytest

from surefoot.console.openapi import DESCRIPTION
from tests.support.consoles import Console, study


@pytest.fixture
def console(tmp_path):
    return Console(study(tmp_path))


# --- how they describe themselves ---


def test_the_description_names_every_route(console):
    described = {
        (path, method.upper())
        for path, entry in DESCRIPTION["paths"].items()
        for method in entry
        if method != "parameters"
    }
    served = {
        (route.path.replace("{number:int}", "{number}"), method)
        for route in console.app.routes
        if getattr(route, "path", "").startswith("/api/")
        for method in route.methods - {"HEAD"}
    }
    assert described == served - {("/api/v1/openapi.json", "GET")}
    assert console.client().get("/api/v1/openapi.json").json() == json.loads(json.dumps(DESCRIPTION))


def test_statuses_fit_the_description(console):
    schema = DESCRIPTION["components"]["schemas"]
    client = console.client("runner")
    assert set(client.get("/api/v1/status").json()) <= set(schema["Status"]["properties"])
    assert set(client.post("/api/v1/turns/next").json()) == set(schema["Next"]["required"])
