"""Whatever a file holds, reading it gives a table or a `DataError`: never another error, a hang or an execution."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import surefoot as sf
from surefoot.files.archives import Archive
from tests.support import samples
from tests.support.samples import put

FILES = samples.all_files()
NAMES = sorted(FILES)
TOKENS = (
    *(b"NaN", b"Infinity", b"-1", b"1e999", b"null", b"true", b"{}", b"[]", b'""', b"{", b"}", b"[", b"]", b",", b":"),
    *(b"\x00", b"\xff\xfe", b"\xc3", b"\n", b"\r\n", b'"', b"'", b"\t", b";", b"&a", b"*a", b"!!python/name:os.system"),
    *(b"\x80\x04", b"PK\x03\x04", b"PAR1", b"\x93NUMPY", b"99999999999999999999", b"0.5", b"\\ud800", b"#{", b"(9, 2)"),
    *(b"policy", b"success", b"score", b"n", b"rate", b"%", "±".encode(), "🤖".encode(), b"|O", b"}}}}", b"[[[["),
    *(b'"\n', b'\n"', b'","', b"yes", b"fail", b"0.5'", b'"a": 1, "a": 2', b"Trial", b"ACT"),
)
SECONDS = 20
CHECKS_OFF = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
LONG_RUN = 20_000
"""Inputs for each of five seeds: 100,000 in all."""


def mutated(content: bytes, chance: random.Random) -> bytes:
    """The file with a few random injuries."""
    body = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 3, 8))):
        size = len(body)
        at = chance.randrange(size + 1)
        span = chance.randrange(1, 1 + min(64, max(1, size)))
        kind = chance.randrange(7)
        if kind == 0 and size:
            body[min(at, size - 1)] ^= 1 << chance.randrange(8)
        elif kind == 1 and size:
            body[min(at, size - 1)] = chance.randrange(256)
        elif kind == 2:
            del body[at : at + span]
        elif kind == 3:
            body[at:at] = body[at : at + span] * chance.choice((1, 2, 50))
        elif kind == 4:
            body[at:at] = chance.choice(TOKENS)
        elif kind == 5:
            body[at : at + span] = chance.choice(TOKENS)
        else:
            other = FILES[chance.choice(NAMES)]
            start = chance.randrange(len(other))
            body[at : at + span] = other[start : start + span]
    if chance.random() < 0.1:
        del body[chance.randrange(len(body) + 1) :]
    return bytes(body)


@contextmanager
def no_hang() -> Iterator[None]:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"reading took more than {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def survives(path: Path, content: bytes, *, label: str, policies_in: list[str] | None = None) -> int:
    """How many rollouts were read, none when the file was refused; fails unless that was in a sentence."""
    path.write_bytes(content)
    try:
        with no_hang():
            rollouts = sf.read(path, policies_in=policies_in)
            for group in rollouts.summary():
                assert 0 <= group.successes <= group.outcomes <= group.rollouts
            return len(rollouts)
    except sf.DataError as error:
        if path.name not in str(error):
            pytest.fail(f"{label}: the refusal does not name the file: {error}")
        return 0
    except BaseException as error:
        kept = path.with_name(f"crash-{label}")
        kept.write_bytes(content)
        raise AssertionError(f"{label}: {type(error).__name__}: {error}; input kept at {kept}") from error


def campaign(folder: Path, seed: int, inputs: int) -> int:
    chance = random.Random(seed)
    path = folder / "fuzzed"
    read = 0
    for number in range(inputs):
        name = NAMES[number % len(NAMES)]
        label = f"{seed}-{number}-{name.replace('/', '_')}"
        read += survives(path, mutated(FILES[name], chance), label=label) > 0
    return read


def test_injured_files(tmp_path: Path) -> None:
    inputs = 4 * len(NAMES)
    read = campaign(tmp_path, seed=20260101, inputs=inputs)
    assert 0 < read < inputs  # some injuries are harmless, some are not: both roads were taken


@pytest.mark.slow
@pytest.mark.parametrize("seed", [7, 8, 9, 10, 11])
def test_injured_files_at_length(tmp_path: Path, seed: int) -> None:
    before = sorted(path.name for path in tmp_path.iterdir())
    read = campaign(tmp_path, seed=seed, inputs=LONG_RUN)
    assert 0 < read < LONG_RUN
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *before,
        "fuzzed",
    ]  # nothing else was written, so nothing was run


CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["success", "failure", "0.5", "NaN", "76.0 ± 2.3", "[True,False]"]),
)
KEYS = st.one_of(
    st.sampled_from(
        ["policy", "task", "success", "score", "seed", "order", "valid", "human", "n", "rate", "successes"]
    ),
    st.text(max_size=5),
)
VALUES = st.recursive(
    CELLS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)


@settings(suppress_health_check=CHECKS_OFF)
@given(rows=st.lists(st.dictionaries(KEYS, VALUES, max_size=5), min_size=1, max_size=5))
def test_any_json_lines(tmp_path: Path, rows: list[dict[str, object]]) -> None:
    import json

    content = "\n".join(json.dumps(row) for row in rows).encode()
    survives(tmp_path / "rows.jsonl", content, label="jsonl")


@settings(suppress_health_check=CHECKS_OFF)
@given(header=st.lists(KEYS, min_size=1, max_size=5), cells=st.lists(st.lists(CELLS, max_size=5), max_size=5))
def test_any_csv(tmp_path: Path, header: list[str], cells: list[list[object]]) -> None:
    import csv
    import io

    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(header)
    writer.writerows(cells)
    survives(tmp_path / "rows.csv", file.getvalue().encode("utf-8", "replace"), label="csv")


PACKED = [name for name in NAMES if name.endswith((".xlsx", ".eval"))]


@pytest.mark.parametrize("files", [15, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", PACKED)
def test_injured_members_of_a_zip_file(tmp_path: Path, name: str, files: int) -> None:
    """The zip file is whole; what it holds is not."""
    chance = random.Random(20260102)
    path = put(tmp_path, "packed", FILES[name])
    with Archive(path, name) as archive:
        members = {one: archive.read(one) for one in archive.names}
    for number in range(files):
        one = chance.choice(sorted(members))
        injured = {**members, one: mutated(members[one], chance)}
        survives(path, samples.deflated(injured), label=f"{number}-{name.replace('/', '_')}")


SHEET = st.sampled_from(["Trial", "Initial pose", "task", "seed", "ACT", "DP", "pi0", "policy", "", "grasped", "id"])
SHEET_CELLS = st.one_of(CELLS, st.sampled_from(["yes", "no", "1", "0", "", "fail", "1.0", "50", "90%", "left", "1'"]))


@settings(suppress_health_check=CHECKS_OFF)
@given(header=st.lists(SHEET, min_size=2, max_size=6), data=st.data())
def test_any_sheet_with_a_column_per_policy(tmp_path: Path, header: list[str], data: st.DataObject) -> None:
    import csv
    import io

    rows = data.draw(st.lists(st.lists(SHEET_CELLS, min_size=len(header), max_size=len(header)), max_size=5))
    file = io.StringIO()
    csv.writer(file).writerows([header, *rows])
    content = file.getvalue().encode("utf-8", "replace")
    survives(tmp_path / "sheet.csv", content, label="sheet")
    survives(tmp_path / "sheet.csv", content, label="sheet", policies_in=data.draw(st.permutations(header))[:2])


LOGS = [name for name in NAMES if name.endswith(".json")]


@settings(suppress_health_check=CHECKS_OFF)
@given(name=st.sampled_from(LOGS), data=st.data())
def test_any_value_anywhere_in_a_log(tmp_path: Path, name: str, data: st.DataObject) -> None:
    """A known log in which one place, at any depth, holds something else or nothing."""
    import json

    document = json.loads(FILES[name])
    place, key = document, None
    for _ in range(data.draw(st.integers(1, 8))):
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], (dict, list)):
            break
        inner = place[key]
        if data.draw(st.booleans()) and inner:
            place = inner
            key = None
    if key is None:
        key = next(iter(place)) if isinstance(place, dict) else 0
    if data.draw(st.booleans()):
        place[key] = data.draw(VALUES)
    else:
        del place[key]
    survives(tmp_path / "log.json", json.dumps(document).encode(), label="log")


@settings(suppress_health_check=CHECKS_OFF)
@given(content=st.binary(max_size=200))
def test_any_bytes(tmp_path: Path, content: bytes) -> None:
    survives(tmp_path / "bytes", content, label="bytes")


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", NAMES)
def test_cut_anywhere(tmp_path: Path, name: str) -> None:
    """Cut off after every few bytes, a file is refused or gives no more than it had."""
    content = FILES[name]
    whole = survives(tmp_path / "whole", content, label="whole")
    for end in range(0, len(content), max(1, len(content) // 25)):
        assert survives(tmp_path / "cut", content[:end], label=f"cut-{end}") <= whole
