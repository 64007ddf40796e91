"""Captures that turn out to be another request's reply: noted, forgotten, and fetched again.

What is owed is a row of the store that outlives the run, in the same commit group as the note, so
that neither a kill nor a recrawl loses it.
"""

from collections.abc import Callable, Iterator

import msgspec
from msgspec import structs

from nacre.annotations import UNASKED_REPLY
from nacre.archive.record import suspect_record
from nacre.archive.warc_writer import WarcWriter
from nacre.core.clock import Clock
from nacre.core.crawluri import CrawlURI, Directive
from nacre.core.history import without_capture
from nacre.core.processor import Visit
from nacre.engine.candidates.identity import again_at
from nacre.engine.observer import Supervisor
from nacre.engine.prerequisites import ROBOTS_FOR, RobotsCache
from nacre.engine.steps.archive import Prepared
from nacre.engine.steps.fetching import FRESH, UNCONDITIONAL
from nacre.frontier.frontier import Frontier
from nacre.history.dedup import History
from nacre.store.store import Store

MOST = 8
"""How often a URL is fetched again at most: some servers send a surplus with every reply."""

_FAMILY = "meta"
_PREFIX, _END = b"owed:", b"owed;"
_SUSPECT = b"suspect:"
_DISREGARDED = -5000
"""Statuses from here downwards are refusals by the operator's rules."""


class _Suspect(msgspec.Struct, frozen=True):
    """A stored capture, with the data needed to revoke it.

    Attributes:
        uri: Its URI.
        record_id: Of its first record, without angle brackets; "" when nothing was written.
        began: Its date, µs since the epoch.
    """

    uri: CrawlURI
    record_id: str
    began: int


class UnaskedReplies:
    """URLs to fetch again because servers sent unsolicited replies.

    Args:
        store: Stores the owed fetches.
        frontier: Receives it again.
        writer: Writes the notes.
        history: Forgets the captures.
        robots: Forgets rules that were suspect.
        record_id: Gives 16 bytes for a note.
        log: Takes a line of recovery.log.
        clock: The time.
        visit_done: Called after each note: it may be time to commit.
        supervisor: Asked to look when there is something to `settle`.
    """

    def __init__(  # noqa: PLR0913 - the parts that meet here
        self,
        *,
        store: Store,
        frontier: Frontier,
        writer: WarcWriter,
        history: History,
        robots: RobotsCache,
        record_id: Callable[[], bytes],
        log: Callable[[str], None],
        clock: Clock,
        visit_done: Callable[[], None],
        supervisor: Supervisor,
    ) -> None:
        self._store = store
        self._frontier = frontier
        self._writer = writer
        self._history = history
        self._robots = robots
        self._record_id = record_id
        self._log = log
        self._clock = clock
        self._visit_done = visit_done
        self._suspects: list[_Suspect] = []
        self._encode = msgspec.msgpack.Encoder().encode
        self._supervisor = supervisor

    def disposed(self, visit: Visit, prepared: Prepared | None) -> None:
        """A visit is final and stored: settle an owed fetch, and watch for a suspect reply."""
        self._pay(visit)
        capture = visit.capture
        trust = capture.trust if capture is not None else None
        if capture is None or trust is None or _times(visit.uri) >= MOST:
            return
        records = (prepared.records if prepared is not None else None) or ()
        suspect = _Suspect(visit.uri, records[0].id if records else "", capture.began)

        def add_suspect() -> None:
            self._suspects.append(suspect)
            self._supervisor.look()

        trust.tell(add_suspect)
        if trust.suspect:
            add_suspect()

    def settle(self) -> bool:
        """Record captures that became suspect since the last call, and schedule their URIs again.

        To be called between two steps, never out of a callback: it writes. Whether there was any.
        """
        suspects, self._suspects = self._suspects, []
        for suspect in suspects:
            self._take_back(suspect)
        return bool(suspects)

    def enter(self) -> int:
        """Add open refetches of earlier runs to the frontier of a new run; returns their number."""
        owed = list(owed_rows(self._store))
        now = self._clock.now()
        for uri in owed:
            self._frontier.schedule([uri], now)
        return len(owed)

    def _take_back(self, suspect: _Suspect) -> None:
        uri, now, record_id = suspect.uri, self._clock.now(), suspect.record_id
        if record_id:
            digits = self._writer.settings.date_digits
            date, fresh_id = round(now * 1e6), self._record_id()
            note = suspect_record(uri.url, date, record_id, UNASKED_REPLY, fresh_id, digits)
            self._writer.write([note])
            self._store.put(_FAMILY, _SUSPECT + record_id.encode(), b"")
        history = self._history.get(uri.url)
        if history is not None and history.visited == suspect.began:
            self._history.put(without_capture(history))
        if ROBOTS_FOR in uri.heritable:
            self._robots.drop(uri.heritable[ROBOTS_FOR])
        # It precedes URIs that promise nothing new, or the run could end without it.
        place = min(uri.directive, Directive.NORMAL)
        again = structs.replace(fresh(again_at(uri, 0.0)), directive=place)
        self._store.put(_FAMILY, _PREFIX + uri.key, self._encode(again))
        self._frontier.schedule([again], now)
        self._log(f"suspect:{UNASKED_REPLY} {uri.url}; it is fetched again")
        self._visit_done()

    def _pay(self, visit: Visit) -> None:
        uri = visit.uri
        if FRESH in uri.heritable and (visit.status > 0 or visit.status <= _DISREGARDED):
            self._store.delete(_FAMILY, _PREFIX + uri.key)


def owed_rows(store: Store) -> Iterator[CrawlURI]:
    """Return the URIs to fetch again, as they enter a frontier."""
    decode = msgspec.msgpack.Decoder(CrawlURI).decode
    return (decode(row) for _, row in store.scan(_FAMILY, _PREFIX, _END))


def was_accused(store: Store, record_id: str) -> bool:
    """Return whether a stored capture was found to be suspect: nothing is learned from it."""
    return store.get(_FAMILY, _SUSPECT + record_id.encode()) is not None


def fresh(uri: CrawlURI) -> CrawlURI:
    """Return a URI that is requested on a separate connection, and without validators."""
    marks = {UNCONDITIONAL: UNASKED_REPLY, FRESH: str(_times(uri) + 1)}
    return structs.replace(uri, heritable={**uri.heritable, **marks})


def is_suspect(visit: Visit) -> bool:
    """Return whether its reply may be another request's, as far as is known by now."""
    capture = visit.capture
    if capture is None or capture.trust is None or not capture.trust.suspect:
        return False
    return _times(visit.uri) < MOST


def _times(uri: CrawlURI) -> int:
    """How often it was fetched again."""
    return int(uri.heritable.get(FRESH, "0"))
