"""Options and fixtures that several test files share."""

from __future__ import annotations

import gc
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import pytest
from _pytest.doctest import DoctestModule

from tests.support import databases, plugins

NEEDS = {
    "console/test_*.py": ("starlette", "uvicorn", "segno"),
    "test_docs.py": ("joblib", "pandas", "starlette"),
    "test_kill.py": ("uvicorn", "psycopg"),
}
"""What whole files of tests cannot do without, beyond the core dependencies; they skip where it is missing."""
hypothesis.settings.register_profile("long")  # `make slow` asks for it
EXAMPLES = {"default": 0.25, "ci": 0.25, "long": 10.0}
"""How many examples of a law are tried, as a share of those written at it or of 100."""
LAW = "_hypothesis_internal_use_settings"
pytest_plugins = ["pytester"]
collect_ignore = ["fixtures"]  # data, and the script that made some of it with an earlier version
BESIDE = Path(__file__).parents[2] / "shared" / "data"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shared-data",
        type=Path,
        default=BESIDE,
        help="folder of real evaluation files, never part of the project; tests that need it skip without it",
    )
    parser.addoption("--within", type=float, help="seconds after which no further test is begun: `make quick`")


BEGAN = time.monotonic()


def pytest_runtest_setup(item: pytest.Item) -> None:
    within = item.config.getoption("--within")
    if within is not None and time.monotonic() - BEGAN > within:
        pytest.skip("no time left: `make test` runs it")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Iterator[None]:
    """Examples are in the docstrings of src: no file here is read for them, nor imported for nothing."""
    found = yield
    return [node for node in found if not isinstance(node, DoctestModule)]


def pytest_collection() -> None:
    gc.disable()  # nothing is garbage yet


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of the cases of a test marked `sample(n)`, the first of every n is run at once, and the others by `make slow`.

    Of the examples of a law so many are tried as the profile says.
    """
    share = EXAMPLES.get(hypothesis.settings.get_current_profile_name(), 1.0)
    laws = {id(law): law for item in items if hasattr(law := getattr(item, "obj", None), LAW)}
    for law in laws.values():  # each once: its cases share it
        written = getattr(law, LAW)
        examples = max(3, round(share * written.max_examples))
        setattr(law, LAW, hypothesis.settings(written, max_examples=examples, deadline=None))  # no test is timed
    met: Counter[str] = Counter()
    for item in items:
        if marked := item.get_closest_marker("sample"):
            test = item.nodeid.partition("[")[0]
            if met[test] % marked.args[0]:
                item.add_marker(pytest.mark.slow)
            met[test] += 1


def pytest_collection_finish() -> None:
    """What was collected stays to the end: a collection of garbage in a test need not walk it each time."""
    gc.collect()
    gc.freeze()
    gc.enable()


class Missing(pytest.Module):
    """A file of tests that needs what is not installed."""

    needs: tuple[str, ...] = ()

    def collect(self) -> Iterator[pytest.Item]:
        pytest.skip(f"needs {', '.join(self.needs)}", allow_module_level=True)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    asked = [name for pattern, names in NEEDS.items() if module_path.match(pattern) for name in names]
    missing = tuple(name for name in asked if find_spec(name) is None)
    if not missing:
        return None
    skipped = Missing.from_parent(parent, path=module_path)
    skipped.needs = missing
    return skipped


@pytest.fixture(scope="session", autouse=True)
def state_of_this_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What robots keep of studies goes into a folder of the tests, not into the home of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


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


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[None]:
    """The toy package, installed."""
    with plugins.installed(plugins.put_toy(tmp_path / "site")):
        yield


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A file of the toy format."""
    path = tmp_path / "log.toy"
    path.write_text("#toy\nnew 11111111111111111111\nold 00000000001000000000\n")
    return path


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="module")
def chromium():
    """A headless browser."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()
