"""Captures that turn out to be another request's reply: noted, forgotten, and fetched again.

What is owed is a row of the store that outlives the run, in the same commit group as the note, so
that neither a kill nor a recrawl loses it. See `core.trust`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec
from msgspec import structs

from nacre.archive.record import suspect_record
from nacre.core.clock import Clock
from nacre.core.crawluri import CrawlURI, Directive
from nacre.core.history import without_capture
from nacre.core.processor import Visit
from nacre.frontier.frontier import Frontier
from nacre.job.admission.identity import again_at
from nacre.job.numbers import Numbers
from nacre.job.visit.fetching import FRESH, UNCONDITIONAL
from nacre.job.visit.logs import JobLogs
from nacre.job.visit.preconditions import ROBOTS_FOR
from nacre.job.visit.robots_cache import RobotsCache
from nacre.job.visit.writing import ArchiveStep, Prepared
from nacre.store.store import Store

UNASKED = "unaskedReply"
"""Why: as it stands in the note, and for the planner."""

MOST = 8
"""How often a URL is fetched again at most: some servers send a surplus with every reply."""

_FAMILY = "meta"
_PREFIX, _END = b"owed:", b"owed;"
_SUSPECT = b"suspect:"
_DISREGARDED = -5000
"""Statuses from here downwards say that the URL is not wanted."""


class _Suspect(msgspec.Struct, frozen=True):
    """A capture that was stored, and what is needed to take that back.

    Attributes:
        uri: Its URI.
        record_id: Of its first record, without angle brackets; "" when nothing was written.
        began: Its date, µs since the epoch.
    """

    uri: CrawlURI
    record_id: str
    began: int


@dataclass(frozen=True)
class UnaskedParts:
    """The parts that are needed here."""

    store: Store
    frontier: Frontier
    archive: ArchiveStep
    robots: RobotsCache
    numbers: Numbers
    logs: JobLogs
    clock: Clock
    visit_done: Callable[[], None]


class UnaskedReplies:
    """What is owed because servers sent replies that nobody asked for.

    Attributes:
        attention: Called when there is something to `settle`.
    """

    def __init__(self, parts: UnaskedParts) -> None:
        self._parts = parts
        self._suspects: list[_Suspect] = []
        self._encode = msgspec.msgpack.Encoder().encode
        self.attention: Callable[[], None] = _nobody

    def disposed(self, visit: Visit, prepared: Prepared | None) -> None:
        """A visit is final and stored: what was owed is paid, or it may itself be accused yet."""
        self._pay(visit)
        capture = visit.capture
        trust = capture.trust if capture is not None else None
        if capture is None or trust is None or _times(visit.uri) >= MOST:
            return
        records = prepared.records if prepared is not None else ()
        suspect = _Suspect(visit.uri, records[0].id if records else "", capture.began)

        def told() -> None:
            self._suspects.append(suspect)
            self.attention()

        trust.told = told
        if trust.suspect:
            told()

    def settle(self) -> bool:
        """Note what was accused since the last call, and put it into the frontier again.

        To be called between two steps, never out of a callback: it writes. Whether there was any.
        """
        suspects, self._suspects = self._suspects, []
        for suspect in suspects:
            self._take_back(suspect)
        return bool(suspects)

    def enter(self) -> int:
        """A new run begins: what an earlier one still owes enters its frontier. How many."""
        owed = list(owed_rows(self._parts.store))
        now = self._parts.clock.now()
        for uri in owed:
            self._parts.frontier.schedule([uri], now)
        return len(owed)

    def _take_back(self, suspect: _Suspect) -> None:
        parts, uri = self._parts, suspect.uri
        now = parts.clock.now()
        if suspect.record_id:
            note = suspect_record(
                uri.url, round(now * 1e6), suspect.record_id, UNASKED, parts.numbers.record_id()
            )
            parts.archive.writer.write([note])
            parts.store.put(_FAMILY, _SUSPECT + suspect.record_id.encode(), b"")
        known = parts.archive.history.get(uri.url)
        if known is not None and known.visited == suspect.began:
            parts.archive.history.put(without_capture(known))
        if ROBOTS_FOR in uri.heritable:
            parts.robots.drop(uri.heritable[ROBOTS_FOR])
        # It goes before what promises nothing new, or the run would end without it.
        place = min(uri.directive, Directive.NORMAL)
        again = structs.replace(fresh(again_at(uri, 0.0)), directive=place)
        parts.store.put(_FAMILY, _PREFIX + uri.key, self._encode(again))
        parts.frontier.schedule([again], now)
        parts.logs.recovery(f"suspect:{UNASKED} {uri.url}; it is fetched again")
        parts.visit_done()

    def _pay(self, visit: Visit) -> None:
        uri = visit.uri
        if FRESH in uri.heritable and (visit.status > 0 or visit.status <= _DISREGARDED):
            self._parts.store.delete(_FAMILY, _PREFIX + uri.key)


def owed_rows(store: Store) -> Iterator[CrawlURI]:
    """What is to be fetched again, as it enters a frontier."""
    decode = msgspec.msgpack.Decoder(CrawlURI).decode
    return (decode(row) for _, row in store.scan(_FAMILY, _PREFIX, _END))


def was_accused(store: Store, record_id: str) -> bool:
    """Whether a stored capture was found to be suspect: nothing is learned from it."""
    return store.get(_FAMILY, _SUSPECT + record_id.encode()) is not None


def fresh(uri: CrawlURI) -> CrawlURI:
    """A URI that is asked for on a connection of its own, and without validators."""
    marks = {UNCONDITIONAL: UNASKED, FRESH: str(_times(uri) + 1)}
    return structs.replace(uri, heritable={**uri.heritable, **marks})


def is_suspect(visit: Visit) -> bool:
    """Whether its reply may be another request's, as far as is known by now."""
    capture = visit.capture
    if capture is None or capture.trust is None or not capture.trust.suspect:
        return False
    return _times(visit.uri) < MOST


def _times(uri: CrawlURI) -> int:
    """How often it was fetched again."""
    return int(uri.heritable.get(FRESH, "0"))


def _nobody() -> None:
    """Nobody looks yet."""
