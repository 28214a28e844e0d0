"""Options and fixtures that several test files share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import databases

BESIDE = Path(__file__).parents[2] / "shared" / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shared-data",
        type=Path,
        default=BESIDE,
        help="folder of real evaluation files, never part of the project; tests that need it skip without it",
    )


@pytest.fixture(scope="session")
def shared_data(request: pytest.FixtureRequest) -> Path:
    folder: Path = request.config.getoption("--shared-data")
    if not folder.is_dir():
        pytest.skip(f"no real files at {folder}")
    return folder


@pytest.fixture(scope="session")
def postgres() -> Iterator[databases.Cluster]:
    """A PostgreSQL server of our own."""
    why = databases.missing()
    if why:
        pytest.skip(why)
    cluster = databases.Cluster()
    yield cluster
    cluster.stop()
