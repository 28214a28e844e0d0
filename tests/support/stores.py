"""What several tests of stores share."""

from __future__ import annotations

from surefoot.study.events import Event, Line, head_of


def events(count, kind="checked"):
    return [Event(kind, {"items": [str(i)], "note": "täst \x00 \u2028"}, "Ann", "2026-01-01") for i in range(count)]


def chain(count, after=None):
    lines = []
    for event in events(count):
        after = Line.after(after, event)
        lines.append(after)
    return lines


def put(store, lines, after=None):
    """Append after what is there."""
    kept = store.read()
    store.append(lines, after=head_of(kept[-1] if kept else None) if after is None else after)
