"""Options and fixtures that several test files share."""

from __future__ import annotations

from pathlib import Path

import pytest

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
