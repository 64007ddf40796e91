"""The preferences in a robots.txt: `Content-Usage`, `Content-Signal`, `License`; its other rules.

Sources: draft-ietf-aipref-attach, section 3: a rule of a group, with a path before the preferences
or none. Content signals of Cloudflare: the same place. RSL 1.0: `License` belongs to no group.
"""

from collections.abc import Iterator
from itertools import chain, islice

from nacre.rights.signals import (
    ROBOTS,
    FileSignals,
    PreferenceSignal,
    as_written,
    first_signals,
)
from nacre.rights.usage import signal_preferences, usage_preferences
from nacre.rights.vocabulary import ALLOWED, DISALLOWED, Preference, preference
from nacre.scope.robots_txt import agent_names, agent_tokens, file_lines, key_and_value

CRAWL = "crawl"
"""Key of what Allow and Disallow say."""
_MOST, _MOST_LICENSES = 2_000, 20
"""Lines of a file that are kept, and those that name a license among them."""
_MOST_NAMES, _LONGEST_NAMES = 20, 200
"""Names of a group that its signals have, and their characters."""
_READERS = {
    b"content-usage": ("Content-Usage", usage_preferences),
    b"content-signal": ("Content-Signal", signal_preferences),
}
_CRAWLED = {b"allow": ALLOWED, b"disallow": DISALLOWED}
_RawLine = tuple[bytes, bytes, bytes]
"""A line: its key, its value, and the line as it is."""


class _Group:
    """The lines of one group: those about uses, and those about crawling."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.tokens: set[str] = set()
        self.uses: list[_RawLine] = []
        self.crawls: list[_RawLine] = []

    @property
    def name(self) -> str:
        """Its names, as its signals have them."""
        return ", ".join(self.names[:_MOST_NAMES])[:_LONGEST_NAMES]


def robots_signals(text: bytes, agent: str, limit: int) -> FileSignals:
    """Return the signals of a robots.txt for a crawler, at most 2,000.

    Allow and Disallow come last, and fill the room that the others leave: a file may have thousands
    of them.

    Args:
        text: The file, content coding removed.
        agent: Product tokens of the crawler, with commas between them.
        limit: Bytes that are read.
    """
    groups, licenses = _read(text, limit)
    tokens = agent_tokens(agent)
    mine = [group for group in groups if not tokens.isdisjoint(group.tokens)]
    if not mine:
        mine = [group for group in groups if "*" in group.tokens]
    named = islice(_stating(map(_license, licenses)), _MOST_LICENSES)
    groups_named = [(group, group.name) for group in mine]
    uses = _stating(_use(line, name) for group, name in groups_named for line in group.uses)
    found = first_signals(chain(named, uses), _MOST)
    crawls = _stating(_crawl(line, name) for group, name in groups_named for line in group.crawls)
    more = islice(crawls, _MOST - len(found.signals))
    return FileSignals((*found.signals, *more), found.is_whole)


def _stating(signals: Iterator[PreferenceSignal]) -> Iterator[PreferenceSignal]:
    return (signal for signal in signals if signal.preferences)


def _read(text: bytes, limit: int) -> tuple[list[_Group], list[_RawLine]]:
    groups: list[_Group] = []
    licenses: list[_RawLine] = []
    is_naming = False
    for raw in file_lines(text, limit):
        key, value = key_and_value(raw)
        if key == b"user-agent":
            if not is_naming:
                groups.append(_Group())
            is_naming = True
            name = value.decode("utf-8", "replace")
            groups[-1].names.append(name)
            groups[-1].tokens |= agent_names(name)
        elif key == b"license":
            licenses.append((key, value, raw))
        elif key in _CRAWLED or key in _READERS:
            is_naming = False
            if groups:
                lines = groups[-1].crawls if key in _CRAWLED else groups[-1].uses
                lines.append((key, value, raw))
    return groups, licenses


def _texts(line: _RawLine) -> tuple[str, str]:
    """Return the value of a line, and the line as a signal keeps it."""
    _, value, raw = line
    return value.decode("utf-8", "replace"), as_written(raw.decode("utf-8", "replace"))


def _license(raw: _RawLine) -> PreferenceSignal:
    value, line = _texts(raw)
    stated = (preference("license", value),) if "://" in value else ()
    return PreferenceSignal(ROBOTS, f"License {value[:200]}", line, stated)


def _crawl(raw: _RawLine, agent: str) -> PreferenceSignal:
    value, line = _texts(raw)
    stated = (Preference(CRAWL, _CRAWLED[raw[0]]),) if value else ()
    return PreferenceSignal(ROBOTS, CRAWL, line, stated, value, agent)


def _use(raw: _RawLine, agent: str) -> PreferenceSignal:
    value, line = _texts(raw)
    name, read = _READERS[raw[0]]
    path = ""
    if value.startswith("/"):
        path, _, value = value.replace("\t", " ").partition(" ")
    return PreferenceSignal(ROBOTS, name, line, read(value.strip()), path, agent)
