"""Fixtures that several tests of files share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import samples
from tests.support.samples import put


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    for name, content in samples.all_files().items():
        put(folder, name, content)
    return folder
