"""XML, read so that nothing in it is expanded, fetched or executed."""

from __future__ import annotations

from collections.abc import Callable
from xml.parsers import expat

from surefoot.errors import DataError

Attributes = dict[str, str]
DEEPEST = 200


class Reader:
    """What is called while an XML document is read, in order; the methods that a reader needs are given to it."""

    def starts(self, name: str, attributes: Attributes, /) -> None:
        """An element begins; names carry no namespace."""

    def ends(self, name: str, content: str, /) -> None:
        """An element ends; its own text, without that of the elements in it."""


def read_xml(content: bytes, reader: Reader, source: str) -> None:
    """Walk through an XML document."""
    parser = expat.ParserCreate()
    texts: list[list[str]] = []

    def start(name: str, attributes: Attributes) -> None:
        if len(texts) >= DEEPEST:
            raise DataError("XML must not be nested this deeply.", source=source)
        texts.append([])
        reader.starts(_local(name), attributes)

    def end(name: str) -> None:
        reader.ends(_local(name), "".join(texts.pop()))

    def data(text: str) -> None:
        texts[-1].append(text)

    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, data
    parser.StartDoctypeDeclHandler = _refuse(source)
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        why = expat.errors.messages.get(error.code, str(error.code))
        raise DataError(
            f"the file must be complete XML; {why} at line {error.lineno}, column {error.offset}.", source=source
        ) from None
    except ValueError as error:  # an encoding that Python has and expat cannot use
        raise DataError(f"the file must be readable XML; {error}.", source=source) from None
    except LookupError as error:
        raise DataError(f"XML must be in a known encoding; {error}.", source=source) from None


def _refuse(source: str) -> Callable[..., None]:
    def refuse(*_: object) -> None:
        raise DataError(
            "XML must not declare a document type (<!DOCTYPE ...>): its content could grow without limit. "
            "Remove the declaration.",
            source=source,
        )

    return refuse


def _local(name: str) -> str:
    return name.rpartition(":")[2]
