"""A crawl shared by several crawlers: each takes its part of the queues, and writes the rest down.

Source: Heritrix 3, `CrawlMapper`. Nacre differs here: with one crawler more, only 1/n of the sites
move (Heritrix: nearly all), and links are mapped after the scope has accepted them.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import model_validator

from nacre.annotations import diverted
from nacre.config.component import FileName, setting
from nacre.config.effective import Effective
from nacre.core.clock import digits14
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Candidate, Result, Visit
from nacre.core.status import FetchStatus
from nacre.engine.chain.entry import ORDERED, ChainName, Entry, Kit
from nacre.frontier.assignment import jump_hash
from nacre.scope.patterns.matching import PatternFinder
from nacre.scope.rules.regex import RegexText
from nacre.scope.state import ReadLines
from nacre.uri.domain import registered_domain
from nacre.uri.parse import host

FOLDER = "diversions"
_OPEN, _CLOSED = ".open", ".divert"
_NAME = r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$"

Name = Callable[[CrawlURI], str]
"""Determines the crawler of a URI."""


class CrawlMapper(Entry):
    """The common settings of both crawl mappers.

    In the fetch chain one sorts out URIs that are another crawler's (-5002); in the candidate
    chain, links. Its gate decides which links are mapped.
    """

    chains = frozenset((ChainName.FETCH, ChainName.CANDIDATE))
    needs = frozenset((ORDERED,))
    local_name: str = setting(
        ...,
        "Name of this crawler among the others.",
        live=False,
        sheets=False,
        sample="0",
        pattern=_NAME,
        coerce_numbers_to_str=True,
    )
    rotation_digits: int = setting(
        10,
        "A file of diverted URIs is closed when this many digits of the time change: 10 for "
        "each hour, 8 for each day.",
        unit="digits",
        ge=4,
        le=14,
        live=False,
        sheets=False,
    )

    @classmethod
    def make(cls, settings: Effective[Any], kit: Kit) -> Any:  # noqa: ANN401 - by chain
        """See `Entry.make`."""
        diversions = Diversions(settings[0], kit)
        name = settings[0].name_of(kit)
        if kit.chain is ChainName.FETCH:
            return UriMapper(settings[0].local_name, name, diversions)
        return LinkMapper(settings[0].local_name, name, diversions)

    def name_of(self, kit: Kit) -> Name:
        """Return the function that finds the crawler of a URI."""
        raise NotImplementedError


class HashCrawlMapper(CrawlMapper):
    """Divides the sites among crawlers by a hash; their names are 0, 1, 2 ….

    All hosts of a registered domain belong to one crawler.
    """

    heritrix = "HashCrawlMapper"
    behind = "preselect prepare"
    processor: Literal["hash-crawl-mapper"] = "hash-crawl-mapper"
    crawler_count: int = setting(
        1, "Number of crawlers.", ge=1, le=65_536, live=False, sheets=False
    )
    reduce_by_domain: bool = setting(
        True,
        "Hash the registered domain of the host; false: the queue key.",
        live=False,
        sheets=False,
    )
    reduce_prefix_regex: RegexText = setting(
        "",
        "Of the queue key, hash only what this matches at its beginning; empty: as "
        "`reduce_by_domain` says.",
        live=False,
        sheets=False,
    )

    @model_validator(mode="after")
    def _is_one_of_them(self) -> "HashCrawlMapper":
        name = self.local_name
        if not (name.isdecimal() and name == str(int(name)) and int(name) < self.crawler_count):
            raise ValueError(
                f"`local_name` is {name!r}; with {self.crawler_count} crawlers it is a number "
                f"from 0 to {self.crawler_count - 1}"
            )
        return self

    def name_of(self, kit: Kit) -> Name:
        """See `CrawlMapper.name_of`."""
        reduced, count = self._reduce_name(), self.crawler_count
        return lambda uri: str(jump_hash(reduced(uri), count))

    def _reduce_name(self) -> Name:
        if self.reduce_prefix_regex:
            finder = PatternFinder(f"^(?:{self.reduce_prefix_regex})")
            return lambda uri: next(finder.find(uri.queue), (uri.queue,))[0]
        if self.reduce_by_domain:
            return lambda uri: registered_domain(host(uri.url))
        return lambda uri: uri.queue


class LexicalCrawlMapper(CrawlMapper):
    """Divides the sites among crawlers by ranges of their queue keys."""

    heritrix = "LexicalCrawlMapper"
    behind = "preselect prepare"
    processor: Literal["lexical-crawl-mapper"] = "lexical-crawl-mapper"
    map_file: FileName = setting(
        ...,
        "File relative to the job with lines `KEY NAME`: queue keys up to KEY, from the one "
        "before, are the crawler's. Keys after the last belong to the first.",
        live=False,
        sheets=False,
    )

    def faults(self, read_lines: ReadLines) -> Iterator[str]:
        """See `Entry.faults`."""
        try:
            ranges = read_ranges(read_lines(self.map_file))
        except OSError as error:
            yield f"{self.map_file} cannot be read: {error.strerror or error}"
        except ValueError as error:
            yield f"{self.map_file}: {error}"
        else:
            if self.local_name not in {name for _, name in ranges}:
                yield f"{self.map_file} gives nothing to `local_name`, {self.local_name!r}"

    def name_of(self, kit: Kit) -> Name:
        """See `CrawlMapper.name_of`."""
        ranges = read_ranges(kit.state.read_lines(self.map_file))
        keys = [key for key, _ in ranges]

        def name(uri: CrawlURI) -> str:
            return ranges[bisect_left(keys, uri.queue) % len(ranges)][1]

        return name


def read_ranges(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Return the ranges of a map in order: last key, name.

    Raises:
        ValueError: A line is none, or there is none at all.
    """
    ranges: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 2:
            raise ValueError(f"line {number}: {line!r} is not `KEY NAME`")
        if not re.match(_NAME, words[1]):
            raise ValueError(f"line {number}: {words[1]!r} is not a name of a crawler (KEY NAME)")
        ranges[words[0]] = words[1]
    if not ranges:
        raise ValueError("it has no line `KEY NAME`")
    return sorted(ranges.items())


class Diversions:
    """The files of diverted URIs: `GENERATION-LOCAL-to-TARGET.open`, `.divert` once closed.

    Their lines are those of a recovery journal, `F+ URL PATH VIA`, which `nacre frontier import`
    reads. They become durable together with the visit.
    """

    def __init__(self, settings: CrawlMapper, kit: Kit) -> None:
        self._root = Path(kit.root)
        self._clock = kit.clock
        self._commit = kit.commit
        self._files = kit.commit.files
        self._digits = settings.rotation_digits
        self._local = settings.local_name
        self._folder = f"{kit.run}/{FOLDER}"
        self._generation = ""
        self._numbers: dict[str, int] = {}

    def write(self, uri: CrawlURI, target: str) -> None:
        """Write a URI down for another crawler."""
        self.time_passed()
        number = self._numbers.get(target)
        if number is None or number not in self._files.open:
            path = f"{self._folder}/{self._generation}-{self._local}-to-{target}{_OPEN}"
            number = self._numbers[target] = self._commit.log(path)
        words = ("F+", uri.url, *((uri.path or "-", uri.via) if uri.via else ()))
        self._commit.line(number, f"{' '.join(words)}\n".encode())

    def time_passed(self) -> None:
        """Close the files of a generation that is over, also where nothing is written any more."""
        generation = digits14(self._clock.now())[: self._digits]
        if generation != self._generation:
            self._begin(generation)

    def finish(self) -> None:
        """Close all files; those of earlier generations that a crash left open too."""
        for number, path in self._mine():
            self._commit.close_file(number, self._final(path.removesuffix(_OPEN)))
        self._numbers.clear()

    def _begin(self, generation: str) -> None:
        """Another generation; open files of this generation stay valid."""
        current = f"{self._folder}/{generation}-"
        if not all(path.startswith(current) for _, path in self._mine()):
            self.finish()
        self._generation = generation
        self._numbers.clear()

    def _mine(self) -> list[tuple[int, str]]:
        """Return the open files of this crawler: number and path."""
        files = self._files.open
        paths = [(number, file.row.path) for number, file in files.items()]
        mark = f"-{self._local}-to-"
        return [e for e in paths if e[1].startswith(self._folder + "/") and mark in e[1]]

    def _final(self, path: str) -> str:
        """Return a name that no file has yet: a run that resumes may return to a generation."""
        final, number = path + _CLOSED, 1
        while (self._root / final).exists():
            number += 1
            final = f"{path}-{number}{_CLOSED}"
        return final


class UriMapper:
    """The worker in the fetch chain."""

    def __init__(self, local: str, name: Name, diversions: Diversions) -> None:
        self._local = local
        self._name = name
        self._diversions = diversions
        self.finish = diversions.finish
        self.time_passed = diversions.time_passed

    def accepts(self, visit: Visit) -> bool:
        """Whether it is no prerequisite: that belongs to the crawler of the URI that needs it."""
        return not visit.uri.is_prerequisite

    async def process(self, visit: Visit) -> Result:
        """Let it go when it is another crawler's (-5002)."""
        target = self._name(visit.uri)
        if target == self._local:
            return Result.PROCEED
        self._diversions.write(visit.uri, target)
        reason = f"it belongs to the crawler {target}"
        visit.refuse(FetchStatus.BLOCKED_BY_PROCESSOR, reason, diverted(target))
        return Result.FINISH


class LinkMapper:
    """The worker in the candidate chain, after the preparation."""

    def __init__(self, local: str, name: Name, diversions: Diversions) -> None:
        self._local = local
        self._name = name
        self._diversions = diversions
        self.finish = diversions.finish
        self.time_passed = diversions.time_passed

    def accepts(self, candidate: Candidate) -> bool:
        """Return True for a URI with a queue."""
        return candidate.uri is not None

    def process(self, candidate: Candidate) -> Result:
        """Refuse it when it is another crawler's."""
        uri = candidate.uri
        if uri is None:
            return Result.PROCEED
        target = self._name(uri)
        if target == self._local:
            return Result.PROCEED
        self._diversions.write(uri, target)
        return candidate.refuse(f"to:{target} (it belongs to another crawler)")
