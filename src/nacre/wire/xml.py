"""XML of configuration files, read safely, with line numbers.

A DOCTYPE is refused, and with it every entity, internal or external: nothing is expanded and
nothing is opened.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat  # the parser without what opens files; a DOCTYPE ends it

from nacre.errors import ConfigError, Problem

MAX_DEPTH = 200
"""Elements inside each other; more is no configuration."""


@dataclass(slots=True)
class Element:
    """One element.

    Attributes:
        tag: Its name without prefix.
        namespace: URI of its namespace; "" for none.
        attributes: By name; one with a namespace as `{uri}name`.
        line: Line of its start tag, from 1.
        text: All text directly inside it, as written; comments are left out.
        children: Elements directly inside it.
    """

    tag: str
    namespace: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    def find(self, tag: str) -> "Element | None":
        """The first child of a name."""
        return next(self.find_all(tag), None)

    def find_all(self, tag: str) -> Iterator["Element"]:
        """The children of a name, in order."""
        return (child for child in self.children if child.tag == tag)

    def text_of(self, tag: str) -> str | None:
        """Text of the first child of a name; None when there is no such child."""
        child = self.find(tag)
        return None if child is None else child.text

    def walk(self) -> Iterator["Element"]:
        """The element and all below it, in document order."""
        yield self
        for child in self.children:
            yield from child.walk()


class _RefusedError(Exception):
    """The document holds what is not read; raised inside the parser."""


class _Builder:
    """Takes what the parser finds and keeps the tree."""

    def __init__(self) -> None:
        self.root: Element | None = None
        self._open: list[Element] = []
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text

    @property
    def line(self) -> int:
        """Where the parser is."""
        return self._parser.CurrentLineNumber

    def parse(self, data: bytes) -> None:
        """Parse a whole document."""
        self._parser.Parse(data, True)  # noqa: FBT003 - pyexpat takes no names

    def _doctype(self, *_: object) -> None:
        raise _RefusedError(
            "a DOCTYPE; it is not read, so that no entity can open or multiply anything"
        )

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise _RefusedError(f"more than {MAX_DEPTH} elements inside each other")
        namespace, _, tag = name.rpartition(" ")
        element = Element(
            tag,
            namespace,
            {_qualified(name): value for name, value in attributes.items()},
            self.line,
        )
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)

    def _end(self, _: str) -> None:
        self._open.pop()

    def _text(self, data: str) -> None:
        self._open[-1].text += data


def _qualified(name: str) -> str:
    namespace, _, local = name.rpartition(" ")
    return f"{{{namespace}}}{local}" if namespace else local


def read_xml(data: bytes, file: str) -> Element:
    """The root element of a document.

    Args:
        data: The document.
        file: Its name, for messages.

    Raises:
        ConfigError: It is not well-formed, has a DOCTYPE, or goes too deep; with its line.
    """
    builder = _Builder()
    try:
        builder.parse(data)
    except _RefusedError as error:
        raise _error(f"this XML has {error}", file, builder.line) from None
    except expat.ExpatError as error:
        message = f"not well-formed XML: {expat.ErrorString(error.code)}"
        raise _error(message, file, error.lineno) from None
    except (LookupError, ValueError) as error:
        raise _error(f"this XML cannot be decoded: {error}", file, builder.line) from None
    if builder.root is None:
        raise _error("this XML has no element", file, 1)
    return builder.root


def _error(message: str, file: str, line: int) -> ConfigError:
    return ConfigError([Problem("", message, file=file, line=line)])
