"""Visits of a unit made again from what the archive has: the same chain, rules and facts.

A session without a list works the replies through the fetch chain, without the steps that ask
servers, and judges their links by the scope, as it does while a unit fetches.
"""

from nacre.assembly.parts import replay_chain
from nacre.assembly.records import RunRecords
from nacre.core.capture import LONGEST_TYPE
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from nacre.engine.readback import Reread
from nacre.engine.steps.fetching import media_type
from nacre.history.dedup import IDENTICAL
from nacre.report.statistics import Stored
from nacre.rounds.visits.page_content import page_reader
from nacre.rounds.visits.page_links import AcceptedLinks, PageLinks
from nacre.rounds.visits.session_unit import UnitUri, listed_uri
from nacre.rounds.visits.unit_visits import VisitFact, visit_fact, with_content


class VisitReplay:
    """Makes the facts of visits again.

    Args:
        records: The records of a session with the settings of the unit.
    """

    def __init__(self, records: RunRecords) -> None:
        effective = records.rules.effective
        self._records = records
        self._chain = replay_chain(records)
        self._links = AcceptedLinks(records.scheduling.candidates)
        self._speculation = records.scheduling.speculation
        self._error_pages = effective.then(lambda s: s.engine.follow_error_pages)
        self._reader = effective.then(page_reader)

    def begin_anew(self) -> None:
        """The links of the next facts need none of those before."""
        self._links.begin_anew()

    async def fact(self, entry: UnitUri, reread: Reread, status: int, offset: int) -> VisitFact:
        """The facts of a visit, as far as its records have them.

        Args:
            entry: The URL, and how it was found.
            reread: Its reply.
            status: Its fetch status.
            offset: Offset of its first record.
        """
        stored, capture = reread.stored, reread.capture
        uri = listed_uri(self._records, entry)
        overlay = self._records.rules.sheets.of(uri)
        visit = Visit(uri, status=status, overlay=overlay)
        kind = (capture.header(b"content-type") or b"")[:LONGEST_TYPE]
        visit.received(capture, media_type(kind))
        visit.stored_at("", offset)
        if is_bodiless(reread):
            visit.add_outlinks(stored.outlinks)
        else:
            # The record contains the encoding with which the links were read.
            visit.parsed(stored.charset, frozenset(), [])
            await self._chain.run(visit)
        links = PageLinks()
        targets: list[CrawlURI] = []
        if visit.outlinks and (200 <= status < 400 or self._error_pages[visit.overlay]):
            links, targets = self._links.of(visit)
        self._speculation.learn(visit)
        seeds = any(target.is_seed for target in targets)
        fact = visit_fact(visit, stored_as(reread), b"", links, 0.0, new_seed=seeds)
        read = self._reader[visit.overlay] if not is_bodiless(reread) else None
        return with_content(fact, read, visit)


def is_bodiless(reread: Reread) -> bool:
    """A revisit of the same payload whose original is not there."""
    revisit = reread.stored.revisit
    return revisit is not None and revisit.kind == IDENTICAL and reread.capture.status == 304


def stored_as(reread: Reread) -> Stored:
    """The addition of a capture to the archive."""
    revisit = reread.stored.revisit
    if revisit is None:
        return Stored.NOVEL if reread.stored.base is None else Stored.DELTA
    return Stored.DUPLICATE if revisit.kind == IDENTICAL else Stored.NOT_MODIFIED
