"""Counts of the pages that were run in a browser: their acts and costs; durable."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from nacre.annotations import BROWSER_FAILED
from nacre.core.processor import PageUnit, Visit
from nacre.store.store import Store
from nacre.store.tallies import FAMILY

_KEY: Final = b"browser"
_EXAMPLES: Final = 3
"""Examples of each reason, as URLs."""
_MOST_NAMES: Final = 100
"""Reasons that are counted by themselves; further ones count as `other`."""


class BrowserTally(msgspec.Struct):
    """The pages that were run in a browser, and their requests.

    Attributes:
        pages: Pages that were run.
        unrun: Pages that should have been run, and were not, because no browser could be started.
        unrun_pages: The first of them.
        signs: Pages by the sign that they were run by, such as `always`.
        ends: Pages by how they ended; see `RenderedPage.ended`.
        sign_pages: The first pages of each sign.
        end_pages: The first pages of each end.
        seconds: Time for which pages were open, together.
        cpu: CPU time of the browser meanwhile, seconds.
        requests: Requests that were sent for pages, those for the pages themselves left out.
        bytes: Bytes that servers sent for them, heads included.
        reused: Requests that were answered from the archive.
        refused: Requests that were not sent, by the kind of rule; see `RefusedRequest.rule`.
        refused_urls: The first URLs of each rule.
        robots_pages: Pages of which robots.txt refused a request.
        robots_requests: Requests of these pages in all, those that were refused included.
        browser: Name and version of the last browser; "" before the first page.
        repeated: Pages whose requests were repeated without a browser.
        repeated_requests: These requests.
        samples: Pages that were run although their requests were known.
        foreseen: Of their requests, those that were foreseen.
        expected: Their requests in all.
    """

    pages: int = 0
    unrun: int = 0
    unrun_pages: list[str] = []
    signs: dict[str, int] = {}
    ends: dict[str, int] = {}
    sign_pages: dict[str, list[str]] = {}
    end_pages: dict[str, list[str]] = {}
    seconds: float = 0.0
    cpu: float = 0.0
    requests: int = 0
    bytes: int = 0
    reused: int = 0
    refused: dict[str, int] = {}
    refused_urls: dict[str, list[str]] = {}
    robots_pages: int = 0
    robots_requests: int = 0
    browser: str = ""
    repeated: int = 0
    repeated_requests: int = 0
    samples: int = 0
    foreseen: int = 0
    expected: int = 0

    def add(self, url: str, page: PageUnit) -> None:
        """Count a page that was run, or whose requests were repeated."""
        if page.is_repeated:
            self.repeated += 1
            self.repeated_requests += len(page.visits)
            return
        if page.sample is not None:
            self.samples += 1
            self.foreseen += page.sample[0]
            self.expected += page.sample[1]
        self.pages += 1
        _count(self.signs, self.sign_pages, page.sign, (url,))
        rendered = page.rendered
        if rendered is not None:
            _count(self.ends, self.end_pages, rendered.ended, (url,))
            self.seconds += rendered.seconds
            self.cpu += rendered.cpu
            self.browser = rendered.browser or self.browser
        self.requests += len(page.visits)
        self.bytes += page.sizes
        self.reused += len(page.reused)
        by_robots = 0
        for request in page.refused:
            _count(self.refused, self.refused_urls, request.rule, (request.url,))
            by_robots += request.rule == "robots"
        if by_robots:
            self.robots_pages += 1
            self.robots_requests += len(page.visits) + len(page.reused) + len(page.refused)

    def leave_out(self, url: str) -> None:
        """Count a page that should have been run."""
        self.unrun += 1
        if len(self.unrun_pages) < _EXAMPLES:
            self.unrun_pages.append(url)


def _count(
    numbers: dict[str, int], examples: dict[str, list[str]], name: str, urls: Iterable[str]
) -> None:
    if name not in numbers and len(numbers) >= _MOST_NAMES:
        name = "other"
    numbers[name] = numbers.get(name, 0) + 1
    listed = examples.setdefault(name, [])
    listed += [url for url in urls if url not in listed][: _EXAMPLES - len(listed)]


def by_number(numbers: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return names and their numbers, the largest first."""
    return sorted(numbers.items(), key=lambda item: (-item[1], item[0]))


class BrowserCounts:
    """The tally of a running job; it joins the commit group of the visits that changed it.

    Args:
        store: Where it is kept.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._tally = browser_tally(store)
        self._is_changed = False

    def count(self, visit: Visit) -> None:
        """Count a final visit, if it is of a page that was run, or should have been."""
        if visit.page is not None:
            self._tally.add(visit.uri.url, visit.page)
        elif BROWSER_FAILED in visit.annotations:
            self._tally.leave_out(visit.uri.url)
        else:
            return
        self._is_changed = True

    def seal(self) -> None:
        """Write the tally if it changed; called just before a group is sealed."""
        if self._is_changed:
            self._is_changed = False
            self._store.put(FAMILY, _KEY, msgspec.msgpack.encode(self._tally))


def browser_tally(store: Store) -> BrowserTally:
    """Return the tally as last committed."""
    row = store.get(FAMILY, _KEY)
    return BrowserTally() if row is None else msgspec.msgpack.decode(row, type=BrowserTally)
