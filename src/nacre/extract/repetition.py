"""Foresees requests and links of pages by templates, so that few pages must be run. Pure.

Each page that is run is foreseen first, by the templates that other pages taught: pages to which
the same templates apply are a class. A class is ready while its last pages were foreseen nearly in
full; one that falls below returns to the browser, until it is foreseen again. A later run begins
with what the last one learned, and verifies it by its own pages.
"""

import math
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Final

import msgspec

from nacre.extract.page_values import Values
from nacre.extract.repeating import LearnedPage, find_constants, learn_templates
from nacre.extract.request_template import (
    MAX_REQUESTS,
    RepeatedRequest,
    RequestTemplate,
    follow_reply,
    repeat_page,
)

LINK: Final = "link"
"""Kind of the links of a final document, which are learned as requests are."""
MIN_SAMPLES: Final = 3
"""Pages of a class that must have been foreseen before one is not run."""
MIN_AGAIN: Final = 2
"""The same for a class that was ready in an earlier run."""
FIDELITY: Final = 0.9
"""Least share of the requests for content of the last pages of a class that were foreseen."""
LINK_FIDELITY: Final = 0.8
"""The same of their links: many lead to headings of the page itself."""
_WASTE: Final = 0.2
"""Largest share of foreseen requests that pages did not make."""
_WINDOW: Final = 20
_MOST_PAGES: Final = 40
"""Pages that are learned from: the last ones."""
_MOST_CLASSES: Final = 100
_MOST_URLS: Final = 50_000
_MOST_KEPT: Final = 500
"""Constants that a later run gets."""

PageClass = frozenset[str]
"""Names of the templates of requests that apply to a page itself."""


class RepeatSample(msgspec.Struct, frozen=True):
    """A comparison of a page that was run with the templates.

    Attributes:
        hits: Its requests for content that were foreseen, or that earlier pages made.
        total: Its requests for content.
        links: Its links that were foreseen, or that earlier pages had.
        total_links: Its links that are not in its HTML.
        wasted: Foreseen requests that it did not make.
    """

    hits: int = 0
    total: int = 0
    links: int = 0
    total_links: int = 0
    wasted: int = 0


class RepeatPlan(msgspec.Struct, frozen=True):
    """Requests and links in place of running a page.

    Attributes:
        requests: Requests to send.
        links: Links that its final document would have.
    """

    requests: tuple[RepeatedRequest, ...] = ()
    links: tuple[str, ...] = ()


class RepetitionMemory(msgspec.Struct, frozen=True, array_like=True):
    """The knowledge of a run about a site, for later runs.

    Attributes:
        templates: The templates.
        ready: The classes of pages that need not be run, each as names of its templates.
        constants: URLs that most pages requested.
    """

    templates: tuple[RequestTemplate, ...] = ()
    ready: tuple[tuple[str, ...], ...] = ()
    constants: tuple[str, ...] = ()


NO_MEMORY: Final = RepetitionMemory()


class SiteRepetition:
    """The templates of a site, and how well they foresee its pages.

    Args:
        memory: What an earlier run learned of it.
    """

    def __init__(self, memory: RepetitionMemory = NO_MEMORY) -> None:
        self._pages: deque[LearnedPage] = deque(maxlen=_MOST_PAGES)
        self._samples: OrderedDict[PageClass, deque[RepeatSample]] = OrderedDict()
        self._known = memory.templates
        self._known_classes = frozenset(map(frozenset, memory.ready))
        self._constants = memory.constants
        self._seen = set(memory.constants)
        self.templates = memory.templates

    def learn(self, page: LearnedPage) -> RepeatSample:
        """Take in a page that was run; return the foreseen part."""
        sample = self._foresee(page)
        kind = self._class(page.url, page.values)
        if kind:
            samples = self._samples.setdefault(kind, deque(maxlen=_WINDOW))
            samples.append(sample)
            self._samples.move_to_end(kind)
            if len(self._samples) > _MOST_CLASSES:
                self._samples.popitem(last=False)
        if len(self._seen) < _MOST_URLS:
            self._seen |= page.requested
        self._pages.append(page)
        self.templates = learn_templates(self._pages, self._known)
        self._known = tuple(item for item in self._known if item in self.templates)
        return sample

    def remember(self) -> RepetitionMemory:
        """Return what a later run begins with."""
        names = {template.name for template in self.templates}
        own = {kind for kind in self._samples if self._is_ready(kind)}
        unmet = self._known_classes - self._samples.keys()
        ready = sorted(tuple(sorted(kind)) for kind in own | unmet if kind <= names)
        constants = dict.fromkeys((*sorted(find_constants(self._pages)), *self._constants))
        return RepetitionMemory(self.templates, tuple(ready), tuple(constants)[:_MOST_KEPT])

    def plan(self, url: str, values: Values) -> RepeatPlan | None:
        """Return what to do in place of running a page; None if it must be run.

        Args:
            url: Its URL.
            values: Its values; see `repeating.page_values`.
        """
        kind = self._class(url, values)
        if not kind or not self._is_ready(kind):
            return None
        return as_plan(repeat_page(self.templates, url, values))

    def _is_ready(self, kind: PageClass) -> bool:
        least = MIN_AGAIN if kind in self._known_classes else MIN_SAMPLES
        return is_ready(tuple(self._samples.get(kind, ())), least)

    def follow(self, page: str, request: RepeatedRequest, values: Values) -> RepeatPlan:
        """Return what the JSON reply to a repeated request leads to."""
        return as_plan(follow_reply(self.templates, page, request, values))

    def _class(self, url: str, values: Values) -> PageClass:
        return frozenset(
            item.name
            for item in self.templates
            if not item.after
            and item.resource != LINK
            and item.pages.matches(url)
            and item.fill(url, values)
        )

    def _foresee(self, page: LearnedPage) -> RepeatSample:
        foreseen = self._all(page.url, page.values, page.replies.get)
        hits = total = links = total_links = 0
        for url, request in page.content.items():
            is_there = url in foreseen or url in self._seen
            if request.resource == LINK:
                total_links += 1
                links += is_there
            else:
                total += 1
                hits += is_there
        wasted = sum(kind != LINK and url not in page.requested for url, kind in foreseen.items())
        return RepeatSample(hits, total, links, total_links, wasted)

    def _all(
        self, url: str, values: Values, reply: Callable[[str], Values | None]
    ) -> dict[str, str]:
        """Return all URLs that are foreseen of a page, replies followed, with their kind."""
        pending = list(repeat_page(self.templates, url, values))
        foreseen: dict[str, str] = {}
        while pending and len(foreseen) < MAX_REQUESTS:
            request = pending.pop()
            if request.url in foreseen:
                continue
            foreseen[request.url] = request.resource
            values_of_reply = reply(request.url)
            if values_of_reply:
                pending += follow_reply(self.templates, url, request, values_of_reply)
        return foreseen


def as_plan(requests: list[RepeatedRequest]) -> RepeatPlan:
    """Return requests and links apart."""
    return RepeatPlan(
        tuple(request for request in requests if request.resource != LINK),
        tuple(request.url for request in requests if request.resource == LINK),
    )


def is_ready(samples: tuple[RepeatSample, ...], least: int = MIN_SAMPLES) -> bool:
    """Return whether a class of pages need not be run, by its last pages that were.

    Args:
        samples: The comparisons of its pages.
        least: Pages that there must be.
    """
    if len(samples) < least:
        return False
    hits, total = sum(row.hits for row in samples), sum(row.total for row in samples)
    links, all_links = sum(row.links for row in samples), sum(row.total_links for row in samples)
    wasted = sum(row.wasted for row in samples)
    return (
        total > 0
        and hits >= FIDELITY * total
        and links >= LINK_FIDELITY * all_links
        and wasted <= _WASTE * (hits + wasted)
    )


def wilson_interval(hits: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """Return the interval of a share by its sample; (0, 1) without one.

    Source: Wilson, 1927, "Probable inference, the law of succession, and statistical inference".

    Args:
        hits: Hits of the sample.
        total: Its size.
        z: Quantile of the normal distribution; 1.96 for 95 %.
    """
    if not total:
        return 0.0, 1.0
    share, square = hits / total, z * z / total
    middle = share + square / 2
    spread = z * math.sqrt(share * (1 - share) / total + square / (4 * total))
    return max(0.0, (middle - spread) / (1 + square)), min(1.0, (middle + spread) / (1 + square))
