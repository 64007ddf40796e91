"""The requests that a page may not send: `browser.block`."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from nacre.errors import ConfigError, Problem
from nacre.scope.patterns.matching import PatternList, examine
from nacre.scope.state import ReadLines
from nacre.uri.parse import host

_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\]")
_EASY = re.compile(r"\|\|([^/^$*|]+)\^(\$(third-party|important|all))?")
_SINK = re.compile(r"(?:0\.0\.0\.0|127\.0\.0\.1|::1?)\s+(\S+)")
_NEVER = frozenset(("localhost", "localhost.localdomain", "local", "broadcasthost", "0.0.0.0"))  # noqa: S104 - names in files of hosts
"""Names in files of hosts that are about the machine itself."""


class BlockList(NamedTuple):
    """Hosts and expressions of requests that a page may not send.

    Attributes:
        hosts: Names, with all below them.
        patterns: Expressions; a URL in which one is found is blocked.
    """

    hosts: frozenset[str] = frozenset()
    patterns: PatternList = PatternList([])

    def find(self, url: str) -> str:
        """Return the host that blocks a URL, or `/REGEX/` for an expression; "" if none does."""
        name = host(url) if self.hosts else ""
        while name:
            if name in self.hosts:
                return name
            name = name.partition(".")[2]
        return "/REGEX/" if self.patterns.matches(url) else ""


def block_list(entries: Sequence[str], read_lines: ReadLines) -> BlockList:
    """Return the list that the entries of `browser.block` make.

    Args:
        entries: Host names, `/REGEX/`, and names of files, which end with `.txt`. Lines of files
            in other forms are passed over, as lists for advertisement blockers have many.
        read_lines: Reads a file.

    Raises:
        ConfigError: A file cannot be read, or an entry is none of these.
    """
    hosts: set[str] = set()
    patterns: list[str] = []
    problems: list[Problem] = []
    for entry in entries:
        if entry.endswith(".txt"):
            try:
                lines = read_lines(entry)
            except OSError as error:
                reason = f"cannot be read: {error.strerror or error}"
                problems.append(Problem(_PATH, reason, file=entry))
                continue
            hosts.update(filter(None, map(_host_of, lines)))
            patterns.extend(filter(None, map(_pattern_of, lines)))
        elif pattern := _pattern_of(entry):
            patterns.append(pattern)
        elif name := _host_of(entry):
            hosts.add(name)
        else:
            problems.append(Problem(_PATH, f"{entry!r} is not understood", _EXPECTED))
    notes = filter(None, map(examine, patterns))
    problems += [Problem(_PATH, f"/{n.pattern}/: {n.message}") for n in notes if not n.usable]
    if problems:
        raise ConfigError(problems)
    return BlockList(frozenset(hosts), PatternList(patterns, search=True))


_PATH = "browser.block"
_EXPECTED = "a host name, `/REGEX/`, or the name of a file that ends with `.txt`"


def _pattern_of(line: str) -> str:
    """Return the expression of a line; "" if it is none."""
    line = line.strip()
    return line[1:-1] if len(line) > 2 and line[0] == line[-1] == "/" else ""


def _host_of(line: str) -> str:
    """Return the host that a line names, by itself or as blockers write it; "" for none."""
    line = line.strip().lower()
    match = _EASY.fullmatch(line) or _SINK.match(line)
    name = match[1] if match is not None else line
    return name if _HOST.fullmatch(name) and name not in _NEVER else ""
