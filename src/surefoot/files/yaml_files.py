"""YAML, read so that it can neither run code nor grow."""

from __future__ import annotations

from typing import Any

from surefoot.errors import DataError
from surefoot.files.recognising import Head

LARGEST = 1 << 22
DEEPEST = 50
NOTHING = ("", "~", "null", "Null", "NULL")


def yaml_of(head: Head) -> dict[str, Any]:
    """The mapping in a YAML file; every scalar as text, no tags, no aliases."""
    try:
        import yaml  # type: ignore[import-untyped]
    except ImportError:
        raise DataError(
            "YAML needs the `yaml` extra: in a clone of surefoot, pip install '.[yaml]'.", source=head.name
        ) from None
    if head.size > LARGEST:
        raise DataError(
            f"a YAML file must be at most {LARGEST >> 20} MiB; got {head.size >> 20} MiB.", source=head.name
        )
    content = head.whole_text()
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        depth = 0
        for event in yaml.parse(content, Loader=loader):  # read piece by piece, so that a bad one ends it early
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or depth > DEEPEST:
                raise DataError(
                    f"YAML must have no aliases and at most {DEEPEST} levels: its content could grow without limit.",
                    source=head.name,
                )
        _refuse_doubled(yaml.compose(content, Loader=loader), head.name)
        document = yaml.load(content, Loader=loader)  # the base loader makes text, lists and mappings, nothing else
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}" if mark is not None else ""
        raise DataError(
            f"the file must be readable YAML; {getattr(error, 'problem', error)}{place}.", source=head.name
        ) from None
    except (RecursionError, ValueError) as error:
        raise DataError(f"the file must be readable YAML; {str(error)[:100]}.", source=head.name) from None
    if not isinstance(document, dict):
        raise DataError("the YAML file must hold a mapping.", source=head.name)
    return document


def _refuse_doubled(node: Any, source: str) -> None:
    """Refuse a mapping that names a key twice: YAML's own reader keeps the last, unsaid."""
    if node is None or node.id == "scalar":
        return
    if node.id == "sequence":
        for item in node.value:
            _refuse_doubled(item, source)
        return
    seen: set[str] = set()
    for key, value in node.value:
        _refuse_doubled(value, source)
        if key.id != "scalar":
            continue
        if key.value in seen:
            line = key.start_mark.line + 1
            raise DataError(
                f"a key must be named once in a mapping; got {key.value[:60]!r} twice, again at line {line}.",
                source=source,
            )
        seen.add(key.value)


def value_of(value: Any) -> Any:
    """A scalar's text, or none when YAML writes nothing."""
    return None if value is None or (isinstance(value, str) and value in NOTHING) else value
