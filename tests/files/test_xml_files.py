"""XML that cannot be read is refused in a sentence, and nothing in it is expanded."""

from __future__ import annotations

import pytest

from surefoot.errors import DataError
from surefoot.files.xml_files import Attributes, Reader, read_xml


class Kept(Reader):
    def __init__(self) -> None:
        self.seen: list[tuple[str, object]] = []

    def starts(self, name: str, attributes: Attributes) -> None:
        self.seen.append((name, attributes))

    def ends(self, name: str, content: str) -> None:
        self.seen.append((name, content))


def test_elements_come_in_order_with_their_own_text() -> None:
    kept = Kept()
    read_xml(b"<a:x y='1'>one<z>two</z>three</a:x>", kept, "f")
    assert kept.seen == [("x", {"y": "1"}), ("z", {}), ("z", "two"), ("x", "onethree")]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"<!DOCTYPE x><x/>", "must not declare a document type"),
        (b"<x>", "must be complete XML; no element found"),
        (b"", "no element found"),
        (b"<?xml version='1.0' encoding='klingon'?><x/>", "unknown encoding"),
        (b"<x" + b"><x" * 250 + b">", "nested this deeply"),
        (b"<x>\xff</x>", "not well-formed"),
    ],
)
def test_refusals(content: bytes, says: str) -> None:
    with pytest.raises(DataError, match=says):
        read_xml(content, Kept(), "f")
