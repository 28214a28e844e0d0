"""Tests of `surefoot.study.stores.memory`; what every store does is tested in tests/study/test_stores.py."""

import pytest

from surefoot.study.events import head_of
from surefoot.study.stores import ConflictError, StoreError
from surefoot.study.stores.memory import MemoryStore
from tests.support.stores import chain, put


def test_lines_come_back_in_order_and_each_store_has_its_own():
    lines, store = chain(4), MemoryStore()
    put(store, lines)
    assert store.read() == lines
    assert store.read(after=3) == lines[3:]
    assert MemoryStore().read() == []


def test_a_line_that_does_not_follow_is_refused_and_nothing_is_kept():
    lines, store = chain(3), MemoryStore()
    put(store, lines[:1])
    with pytest.raises(ConflictError):
        store.append(lines[2:], after=head_of(lines[0]))
    with pytest.raises((ConflictError, StoreError)):
        store.append(lines[1:], after=head_of(None))
    assert store.read() == lines[:1]
    store.append(lines[1:], after=head_of(lines[0]))
    assert store.read() == lines


def test_what_is_read_is_a_copy():
    store = MemoryStore()
    put(store, chain(2))
    store.read().clear()
    assert len(store.read()) == 2
