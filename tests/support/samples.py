"""A small valid file of every format, made by hand: text ones in `fixtures/`, binary ones here."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

FIXTURES = Path(__file__).parents[1] / "fixtures"
STUDIES = {FIXTURES / name for name in ("studies", "v0_1_0", "v0_2_0")}  # studies and results: opened by another door
YAML = find_spec("yaml") is not None  # an extra


def text_files() -> dict[str, bytes]:
    """Every results file by its path under `fixtures/`."""
    return {
        path.relative_to(FIXTURES).as_posix(): path.read_bytes()
        for path in sorted(FIXTURES.rglob("*"))
        if path.is_file() and not STUDIES & {*path.parents} and (YAML or path.suffix != ".yaml")
    }


def npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def parquet(frame: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


def inspect_members() -> dict[str, bytes]:
    log = json.loads((FIXTURES / "inspect" / "log.json").read_text())
    samples = log.pop("samples")
    return {
        "_journal/start.json": json.dumps({"version": 2, "eval": log["eval"]}).encode(),
        "_journal/summaries/1.json": json.dumps(samples[:4]).encode(),
        "summaries.json": json.dumps(samples).encode(),
        "header.json": json.dumps(log).encode(),
        **{f"samples/{s['id']}_epoch_{s['epoch']}.json": json.dumps(s).encode() for s in samples},
    }


def deflated(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def zstd_zip(members: dict[str, bytes], frames: int = 1) -> bytes:
    """A zip file of method 93, each member packed in several zstd frames, written byte by byte."""
    import zstandard

    packer = zstandard.ZstdCompressor()
    body, directory = b"", b""
    for name, content in members.items():
        size = -(-len(content) // frames)
        packed = b"".join(packer.compress(content[i : i + size]) for i in range(0, len(content), size))
        common = struct.pack(
            "<HHHHHIIIHH", 63, 0, 93, 0, 33, zlib.crc32(content), len(packed), len(content), len(name), 0
        )
        local = b"PK\x03\x04" + common + name.encode()
        central = b"PK\x01\x02" + struct.pack("<H", 63) + common
        directory += central + struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + name.encode()
        body += local + packed
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(body), 0)
    return body + directory + b"PK\x05\x06" + end


def binary_files() -> dict[str, bytes]:
    table = pl.DataFrame({"policy": ["new", "old"] * 4, "seed": [1, 1, 2, 2, 3, 3, 4, 4], "success": [True, False] * 4})
    members = inspect_members()
    return {
        "table.parquet": parquet(table),
        "pairs.npy": npy(np.array([[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]])),
        "evaluations.npz": npz(
            timesteps=np.array([100, 200]),
            results=np.array([[1.0, 2.0], [3.0, 4.0]]),
            ep_lengths=np.array([[5, 6], [7, 8]]),
            successes=np.array([[False, True], [True, True]]),
        ),
        "deflate.eval": deflated(members),
        "zstd.eval": zstd_zip(members),
        "frames.eval": zstd_zip(members, frames=3),
    }


def all_files() -> dict[str, bytes]:
    """A valid file of every format by name."""
    return {**text_files(), **binary_files()}


def put(folder: Path, name: str, content: bytes | str) -> Path:
    """Write one file where a test may read it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
