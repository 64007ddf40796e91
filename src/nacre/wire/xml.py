"""XML of configuration files, read safely, with line numbers.

A DOCTYPE is refused, and with it every entity, internal or external: nothing is expanded and
nothing is opened.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat  # the parser without access to files; a DOCTYPE ends it

from nacre.errors import ConfigError, Problem

MAX_DEPTH = 200
"""Elements inside each other; more is not a configuration."""


@dataclass(slots=True)
class Element:
    """One element.

    Attributes:
        tag: Its name without prefix.
        namespace: URI of its namespace; "" for none.
        attributes: By name; one with a namespace as `{uri}name`.
        line: Line of its start tag, from 1.
        text: All text directly inside it, as written; comments are left out.
        marks: Lines of that text: (number of its line from 0, line of the file), where they do not
            follow from the one before.
        children: Elements directly inside it.
    """

    tag: str
    namespace: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    marks: list[tuple[int, int]] = field(default_factory=list)
    children: list["Element"] = field(default_factory=list)

    def end(self, text: str) -> None:
        """Set its text: its end tag was read."""
        self.text = text

    def find(self, tag: str) -> "Element | None":
        """Return the first child of a name."""
        return next(self.find_all(tag), None)

    def find_all(self, tag: str) -> Iterator["Element"]:
        """Return the children of a name, in order."""
        return (child for child in self.children if child.tag == tag)

    def text_of(self, tag: str) -> str | None:
        """Text of the first child of a name; None when there is no such child."""
        child = self.find(tag)
        return None if child is None else child.text

    def line_of(self, number: int) -> int:
        """Return the line of the file for a line of its text.

        Args:
            number: Line of the text, from 0.
        """
        marks_before = [mark for mark in self.marks if mark[0] <= number]
        first, line = marks_before[-1] if marks_before else (0, self.line)
        return line + number - first

    def walk(self) -> Iterator["Element"]:
        """Yield the element and all below it, in document order."""
        yield self
        for child in self.children:
            yield from child.walk()


class _RefusedError(Exception):
    """The document has refused content; raised inside the parser."""


class _Text:
    """The text of an open element."""

    __slots__ = ("_marks", "_next", "_number", "parts")

    def __init__(self, marks: list[tuple[int, int]]) -> None:
        self.parts: list[str] = []
        self._marks = marks
        self._number = 0
        self._next = -1

    def add(self, data: str, line: int) -> None:
        """Add text of a line of the file."""
        if line != self._next:
            # A comment within a line of the text: only its next line moves.
            begun = int(bool(self.parts) and not self.parts[-1].endswith("\n"))
            self._marks.append((self._number + begun, line + begun))
        self.parts.append(data)
        lines = data.count("\n")
        self._number += lines
        self._next = line + lines


class _Builder:
    """Receives the events of the parser and builds the tree."""

    def __init__(self) -> None:
        self.root: Element | None = None
        self._open: list[Element] = []
        self._texts: list[_Text] = []
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text

    @property
    def line(self) -> int:
        """The line of the parser."""
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
            {_qualify(name): value for name, value in attributes.items()},
            self.line,
        )
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        self._open.append(element)
        self._texts.append(_Text(element.marks))

    def _end(self, _: str) -> None:
        self._open.pop().end("".join(self._texts.pop().parts))

    def _text(self, data: str) -> None:
        self._texts[-1].add(data, self.line)


def _qualify(name: str) -> str:
    namespace, _, local = name.rpartition(" ")
    return f"{{{namespace}}}{local}" if namespace else local


def read_xml(data: bytes, file: str) -> Element:
    """Return the root element of a document.

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
