"""`xml:base`: the base URL of an element. Source: XML Base (W3C, 2009); RFC 4287 2."""

from typing import Final, NamedTuple

from nacre.extract.xml_scan import XmlStart, attributes
from nacre.uri.parse import Resolver

DEEPEST: Final = 16
"""Elements with `xml:base` within each other; those that lie deeper change nothing."""


def base_of(event: XmlStart) -> str:
    """Return the `xml:base` of a start tag, as written; "" for none."""
    return attributes(event.attributes).get("base", "") if "base" in event.attributes else ""


def resolve_bases(bases: tuple[str, ...], base: str) -> str:
    """Return the base URL that bases within each other give.

    Args:
        bases: From the outside in, as written; those that are no URLs change nothing.
        base: Base URL of the document.
    """
    for inner in bases:
        base = Resolver(base).resolve(inner) or base
    return base


class _OpenBase(NamedTuple):
    """An element with `xml:base` that is open; `depth`: elements of its name within each other."""

    name: str
    depth: int = 1


class BaseStack:
    """The elements with `xml:base` that are open within each other, at most `DEEPEST`.

    Attributes:
        bases: Their bases, from the outside in.
    """

    def __init__(self) -> None:
        self._open: list[_OpenBase] = []
        self.bases: tuple[str, ...] = ()

    def start(self, name: str, base: str) -> None:
        """Take a start tag; `base`: its `xml:base`, "" for none."""
        if base and len(self._open) < DEEPEST:
            self._open.append(_OpenBase(name))
            self.bases += (base,)
        elif self._open and self._open[-1].name == name:
            self._open[-1] = _OpenBase(name, self._open[-1].depth + 1)

    def ends(self, name: str) -> bool:
        """Return whether an end tag is that of the innermost element."""
        return bool(self._open) and self._open[-1] == _OpenBase(name)

    def end(self, name: str) -> None:
        """Close the element of an end tag; a tag of no open element changes nothing."""
        if self.ends(name):
            self.cut(len(self._open) - 1)
        elif self._open and self._open[-1].name == name:
            self._open[-1] = _OpenBase(name, self._open[-1].depth - 1)

    def cut(self, count: int) -> None:
        """Keep the outermost `count` elements, since the others are closed."""
        del self._open[count:]
        self.bases = self.bases[:count]
