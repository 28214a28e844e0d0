"""CALVIN `results.json`: how many tasks in a row each sequence of instructions completed."""

from __future__ import annotations

from typing import Any

from surefoot.errors import DataError
from surefoot.files.fields import inner, number, text
from surefoot.files.importers import About, Sheet, frame_of
from surefoot.files.recognising import Head
from surefoot.files.totals import UNORDERED
from surefoot.table.findings import own_mean

ABOUT = About(
    name="CALVIN",
    file="results.json with avg_seq_len and chain_sr, by epoch",
    becomes="a sequence of five instructions, with the share of them that it completed in a row; an epoch is a policy",
    example="surefoot rank results.json",
)

AT_END = 5
"""The instructions of a sequence."""


def recognises(head: Head) -> bool:
    """A chain of success rates, alone or by epoch."""
    document = head.json_object
    return "chain_sr" in document or any("chain_sr" in inner(document, key) for key in document)


def load(head: Head) -> Sheet:
    """One row per sequence; from the shares of chains where sequences are not listed."""
    document = head.json_object
    alone = "chain_sr" in document
    rows: list[dict[str, Any]] = []
    findings, listed_all = [], True
    for name in ("",) if alone else tuple(document):
        run = document if alone else inner(document, name)
        if "chain_sr" not in run:
            continue
        lengths, is_list = _lengths(run, name, head.name)
        listed_all = listed_all and is_list
        policy = {} if alone else {"policy": name}
        place = ({"condition": str(at + 1)} for at in range(len(lengths))) if is_list else ({} for _ in lengths)
        rows += [{**policy, **at, "score": done / AT_END} for done, at in zip(lengths, place, strict=True)]
        mean = number(run.get("avg_seq_len"), head.name, "avg_seq_len")
        findings += own_mean(f"avg_seq_len of {head.name} {name}".rstrip(), mean, map(float, lengths))
    notes = [f"score is the number of instructions completed in a row, of {AT_END}."]
    notes += [] if listed_all else [UNORDERED]
    return Sheet(
        frame_of(rows, head.name),
        "CALVIN",
        tuple(notes),
        tuple(findings),
        ordered=listed_all,
        named={"policy": "epoch", "condition": "sequence"},
        roles={"condition": "unit"} if listed_all else {},
    )


def _lengths(run: dict[str, Any], name: str, source: str) -> tuple[list[int], bool]:
    """How far each sequence came, and whether the file lists the sequences in their order."""
    for key in ("results", "sequences", "seq_lens"):
        found = run.get(key)
        if isinstance(found, list) and found and all(isinstance(one, int) and 0 <= one <= AT_END for one in found):
            return [int(one) for one in found], True
    chain = [number(inner(run, "chain_sr").get(str(at)), source, f"chain_sr.{at}") for at in range(1, AT_END + 1)]
    shares = [share for share in chain if share is not None]
    if len(shares) < AT_END or any(not 0.0 <= later <= share for share, later in zip([1.0, *shares], shares)):  # noqa: B905
        raise DataError(f"`chain_sr` must give falling shares from 1 to {AT_END}; got {chain}.", source=source)
    size = _size(run, shares, name, source)
    reached = [size, *(round(share * size) for share in shares), 0]
    if any(abs(count - share * size) > 1e-3 * max(size, 1) for count, share in zip(reached[1:], shares, strict=False)):
        raise DataError(f"`chain_sr` must be shares of {size:,} sequences; some are not.", source=source)
    return [at for at in range(AT_END + 1) for _ in range(reached[at] - reached[at + 1])], False


def _size(run: dict[str, Any], shares: list[float], name: str, source: str) -> int:
    """The number of sequences: said, or all that succeeded over the mean length."""
    said = run.get("num_sequences") or run.get("n_sequences")
    if isinstance(said, int):
        return said
    done = [inner(run, "task_info", task).get("success") for task in inner(run, "task_info")]
    total = sum(one for one in done if isinstance(one, int))
    if total and sum(shares) > 0:
        return round(total / sum(shares))
    raise DataError(
        f"the number of sequences must be known{f' of {text(name)}' if name else ''}; `task_info` and `num_sequences` "
        "are missing.",
        source=source,
        cure='Write it beside the shares: "num_sequences": 1000.',
    )
