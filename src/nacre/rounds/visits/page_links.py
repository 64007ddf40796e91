"""Links of pages as the rows of a unit store them: by number, since most links of a site repeat.

A row has the numbers of its links, and those of the links themselves that no earlier row has.
"""

from array import array
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import cast

import msgspec

from nacre.core.crawluri import CrawlURI, Hop, Outlink, extend_path
from nacre.core.processor import Visit
from nacre.core.recent_table import LETTERS, RecentTable
from nacre.engine.candidates.candidates import Candidates

LinkFact = tuple[str, str, str, str, str]
"""A link that the scope accepts: URL, hop, rel, context, text."""

_KNOWN = 100_000
"""Links whose verdict is remembered, in each of two generations."""
_NUMBERED = 50_000
"""Links whose number is remembered; one that is forgotten gets another number."""
_REFUSED = -1
_EMBED, _REDIRECT = Hop.EMBED, Hop.REDIRECT  # enum lookup is slow
_WHOLE = "i"
_LOOK = attrgetter("url", "hop", "rel", "context", "text")
_RANK = attrgetter("rank")
_PLACES = list(range(100))
_RANKS = array(_WHOLE, _PLACES)


def int32(data: bytes) -> "array[int]":
    """Decode `PageLinks.numbers` or `PageLinks.ranks`."""
    numbers = array(_WHOLE)
    numbers.frombytes(data)
    return numbers


class PageLinks(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The links of a page that the scope accepts, in the order of the page.

    Attributes:
        numbers: The number of each link, 32 bits in native byte order.
        ranks: The position of each link among all links of the page, 32 bits in native byte order;
            b"" if the positions count from 0 without gaps, because the scope accepts all links.
        first: Number of the first link in `new`; 0 restarts the numbering.
        new: The links that no earlier row has; they get consecutive numbers.
    """

    numbers: bytes = b""
    ranks: bytes = b""
    first: int = 0
    new: list[LinkFact] = []

    def __len__(self) -> int:
        """Return the number of links."""
        return len(self.numbers) // 4

    def every_rank(self) -> "array[int]":
        """Return the decoded `ranks`, also if they are omitted as b""."""
        if self.ranks:
            return int32(self.ranks)
        return _RANKS[: len(self)] if len(self) <= len(_RANKS) else array(_WHOLE, range(len(self)))


def numbered(links: Iterable[tuple[LinkFact, int]]) -> PageLinks:
    """Return links and their ranks as a row that refers to no earlier row."""
    numbers = list(links)
    return PageLinks(
        array(_WHOLE, range(len(numbers))).tobytes(),
        _packed_ranks([rank for _, rank in numbers]),
        0,
        [link for link, _ in numbers],
    )


def _packed_ranks(ranks: list[int]) -> bytes:
    if ranks == (_PLACES[: len(ranks)] if len(ranks) <= len(_PLACES) else list(range(len(ranks)))):
        return b""
    return array(_WHOLE, ranks).tobytes()


class LinksByNumber:
    """Reads the links of rows, which must be passed in order.

    Args:
        added: Called with the new links of a row, before its numbers are resolved.

    Attributes:
        count: Links so far; equal links may be counted more than once.
    """

    def __init__(self, added: Callable[[Sequence[LinkFact]], None]) -> None:
        self._added = added
        self._base = 0
        self.count = 0

    def places(self, page: PageLinks) -> "array[int]":
        """Return the position of each link of a row among all links so far."""
        if page.new:
            if not page.first:
                self._base = self.count
            self.count += len(page.new)
            self._added(page.new)
        numbers, base = int32(page.numbers), self._base
        return array(_WHOLE, [base + number for number in numbers]) if base else numbers


class AcceptedLinks:
    """The links of a visit that the scope accepts; verdicts are remembered by URL and hop path.

    Args:
        candidates: Judges links.
    """

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates
        self._urls: RecentTable[tuple[str, str], str] = RecentTable(_KNOWN)
        self.begin_anew()

    def begin_anew(self) -> None:
        """Restart the numbering, so that the next row refers to no earlier row."""
        self._next = 0
        self._forget()

    def _forget(self) -> None:
        # By the hop path of a page: the number of each link, or `_REFUSED`.
        self._known: dict[str, dict[LinkFact, int]] = {}
        self._kept = self._letters = 0

    def of(
        self, visit: Visit, embeds: Callable[[str], bool] | None = None
    ) -> tuple[PageLinks, list[CrawlURI]]:
        """Return the accepted links, and the redirects and wanted embeds as URIs for the frontier.

        Args:
            visit: The visit.
            embeds: Whether to fetch an embedded URL; None to fetch none.
        """
        uri, outlinks = visit.uri, visit.outlinks
        if self._kept >= _NUMBERED or self._letters >= LETTERS:
            self._forget()
        looked_up = self._known.get(uri.path)
        if looked_up is None:
            looked_up = self._known[uri.path] = {}
            self._kept += 1
        looks: list[LinkFact] = list(map(_LOOK, outlinks))
        # One call looks up all links: nearly all were on earlier pages of the site.
        all_numbers = list(map(looked_up.get, looks))
        new: list[LinkFact] = []
        targets: list[CrawlURI] = []
        if None in all_numbers or embeds is not None:
            # Redirects are never remembered, so they are always judged again.
            unresolved: Iterable[int] = range(len(looks))
            if embeds is None:
                unresolved = [place for place in unresolved if all_numbers[place] is None]
            for place in unresolved:
                link, look = outlinks[place], looks[place]
                if link.hop is _REDIRECT:
                    all_numbers[place] = self._redirect(uri, link, new, targets)
                    continue
                number = looked_up.get(look)
                if number is None:
                    number = looked_up[look] = self._take(uri, link, new)
                all_numbers[place] = number
                if embeds is not None and link.hop is _EMBED and number != _REFUSED:
                    targets += self._embed_targets(uri, link, embeds)
        ranks: list[int] = list(map(_RANK, outlinks))
        if _REFUSED in all_numbers:
            ranks = [r for r, number in zip(ranks, all_numbers, strict=True) if number != _REFUSED]
            all_numbers = [number for number in all_numbers if number != _REFUSED]
        numbers = cast("list[int]", all_numbers)  # none is None any more
        first = self._next
        self._next += len(new)
        self._kept += len(new)
        packed = array(_WHOLE, numbers).tobytes()
        return PageLinks(packed, _packed_ranks(ranks), first, new), targets

    def _take(self, uri: CrawlURI, link: Outlink, new: list[LinkFact]) -> int:
        """The number of a link that pages of this path did not have; `_REFUSED`."""
        self._kept += 1
        url = self._url(uri, link)
        self._letters += len(link.url) + len(url) + len(link.context) + len(link.text)
        return self._number(link, url, new) if url else _REFUSED

    def _number(self, link: Outlink, url: str, new: list[LinkFact]) -> int:
        new.append((url, link.hop.value, link.rel, link.context, link.text))
        return self._next + len(new) - 1

    def _redirect(
        self, uri: CrawlURI, link: Outlink, new: list[LinkFact], targets: list[CrawlURI]
    ) -> int:
        """The number of a redirect, which is judged each time; `_REFUSED`."""
        number = _REFUSED
        for accepted, target in self._candidates.accepted(uri, [link]):
            targets.append(target)
            number = self._number(accepted, accepted.url, new)
        return number

    def _embed_targets(
        self, uri: CrawlURI, link: Outlink, embeds: Callable[[str], bool]
    ) -> list[CrawlURI]:
        """What the frontier would be given of an embed."""
        if not embeds(self._url(uri, link)):
            return []
        return [target for _, target in self._candidates.accepted(uri, [link])]

    def _url(self, uri: CrawlURI, link: Outlink) -> str:
        """The URL of a link as the frontier would have it; "" when it is refused."""
        way = link.url, extend_path(uri.path, link.hop)
        url = self._urls.get(way)
        if url is None:
            accepted = self._candidates.accepted(uri, [link])
            url = accepted[0][0].url if accepted else ""
            self._urls.put(way, url, len(link.url) + len(url))
        return url
