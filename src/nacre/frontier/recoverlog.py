"""Heritrix's recovery journal, a line for each thing that happened to a URI.

`F+ URI PATH VIA` it entered; `Fe URI` it was handed out; `Fr URI` it goes back; `Fs`, `Ff` and `Fd
URI PATH VIA` it is finished: success, failure, disregarded; `Fi URI` it counts as seen without a
fetch; `T TIME` every 10,000 lines. Source: Heritrix 3, `FrontierJournal`.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from nacre.core.status import Counted


class Tag(StrEnum):
    """What happened."""

    ADDED = "F+"
    EMITTED = "Fe"
    INCLUDED = "Fi"
    RESCHEDULED = "Fr"
    SUCCEEDED = "Fs"
    FAILED = "Ff"
    DISREGARDED = "Fd"
    NONE = ""
    """A line that holds a URI and no tag."""


ENDS = {
    Counted.SUCCESS: Tag.SUCCEEDED,
    Counted.FAILURE: Tag.FAILED,
    Counted.DISREGARDED: Tag.DISREGARDED,
}
"""How a URI that is finished counts, in the journal."""

Journal = Callable[[Tag, str, str, str], None]
"""Is told what happened to a URI, its hop path and its via."""

OTHER = frozenset(("T", "E"))
"""Lines without a URI of their own: a time, an error."""

_TAGS = frozenset(str(tag) for tag in Tag if tag)


class JournalLine(NamedTuple):
    """One line that is about a URI.

    Attributes:
        url: The URL as written.
        tag: What happened to it.
        path: Hop path; "" when not given.
        via: URL of the page it was found on; "" when not given.
    """

    url: str
    tag: Tag = Tag.NONE
    path: str = ""
    via: str = ""


def line_of(tag: Tag, url: str, path: str, via: str) -> str:
    """A line with a path and a via, which may be empty, as Heritrix writes it."""
    return f"{tag} {url} {path} {via}"


def parse_line(line: str) -> JournalLine | None:
    """Read a line of a recovery journal, or one with nothing but a URL; None for any other line.

    A hop path can be missing (a seed has none), so a second word with a colon is the via.
    """
    words = line.split()
    if not words or words[0].startswith("#"):
        return None
    if len(words) == 1:
        return JournalLine(words[0]) if ":" in words[0] else None
    if words[0] not in _TAGS:
        return None
    rest = words[2:4]
    if rest and ":" in rest[0]:
        rest.insert(0, "")
    path, via = [*rest, "", ""][:2]
    return JournalLine(words[1], Tag(words[0]), path, via)
