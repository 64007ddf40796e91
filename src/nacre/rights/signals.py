"""A signal: what a site wrote in one place, and the preferences that it states."""

from collections.abc import Iterable
from itertools import islice
from typing import Final, NamedTuple

import msgspec

from nacre.rights.vocabulary import Preference

ROBOTS: Final = "robots.txt"
HEADER: Final = "header"
HTML: Final = "html"
TDMREP: Final = "tdmrep.json"
AI_TXT: Final = "ai.txt"
LLMS_TXT: Final = "llms.txt"
RSL: Final = "rsl"

_LONGEST: Final = 500


class PreferenceSignal(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One line, header or element in which a site states preferences.

    Attributes:
        source: Kind of the source: `robots.txt`, `header`, `html`, `tdmrep.json`, `ai.txt`,
            `llms.txt`, `rsl`.
        name: Name of the field, such as `Content-Usage`; signals of one name and source compete by
            their paths.
        line: As the site wrote it, at most 500 characters.
        preferences: What it states.
        path: Pattern of the paths that it is about, as in robots.txt; "" for all.
        agent: The crawlers that it addresses; "" for all.
    """

    source: str
    name: str
    line: str
    preferences: tuple[Preference, ...]
    path: str = ""
    agent: str = ""


class FileSignals(NamedTuple):
    """The signals of a file.

    Attributes:
        signals: The signals, in the order of the file.
        is_whole: They are all of them; else it is unknown what the others state.
    """

    signals: tuple[PreferenceSignal, ...]
    is_whole: bool = True


def first_signals(signals: Iterable[PreferenceSignal], most: int) -> FileSignals:
    """Return the first `most` signals of a file."""
    kept = tuple(islice(signals, most + 1))
    return FileSignals(kept[:most], is_whole=len(kept) <= most)


def as_written(line: str) -> str:
    """Return a line as a signal keeps it: without control characters, and not too long."""
    plain = line if line.isprintable() else "".join(c if c.isprintable() else " " for c in line)
    return plain.strip()[:_LONGEST]
