"""Verdicts that are settled at the end of a run: changes that other pages of the run share.

The first pages that show an event of a site count as changed when they are visited, and are stored.
Later pages prove the event; the verdicts on the first ones are corrected when the run ends.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from nacre.core.history import FetchRow
from nacre.planner.change_detection.change import ChangeClass
from nacre.planner.change_detection.template import EventKeys, Template, on_urls
from nacre.planner.slices import ROWS, Slices
from nacre.planner.visited import Rows, VisitFinding
from nacre.recrawl.change_log import ChangeLog
from nacre.recrawl.pagestore import FAMILY, UNPROVEN, FetchLog, scan
from nacre.store.store import Store

_MOST_KEYS = 200
"""A bound of memory: a page that differs in more blocks stays a changed page."""


class UnprovenRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A visit whose differences other pages of the run may yet prove to be an event of the site.

    Attributes:
        url: The page.
        time: Of the visit, as in its `FetchRow`.
        differences: The names of the differences.
    """

    url: str
    time: float
    differences: tuple[EventKeys, ...]


class Proofs:
    """Keeps the visits of a run whose verdicts are not settled yet.

    Args:
        store: The store; a run that was killed resumes with the visits in it.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._changes = ChangeLog(store)
        self._decode: Callable[[bytes], Any] = msgspec.msgpack.Decoder(UnprovenRow).decode

    def note(self, visit: FetchRow, finding: VisitFinding) -> None:
        """Record a visit if other pages may yet prove its differences to be an event."""
        if 0 < len(finding.unproven) <= _MOST_KEYS:
            row = UnprovenRow(visit.url, visit.time, finding.unproven)
            key = UNPROVEN + visit.url.encode("utf-8", "replace")
            self._store.put(FAMILY, key, msgspec.msgpack.encode(row))

    def settle(
        self, log: FetchLog, pages: Rows, template: Callable[[str], Template]
    ) -> Slices[int]:
        """Correct the verdicts that the run settled, drop the others; return the number corrected.

        Args:
            log: The fetch log.
            pages: The rows of pages.
            template: Returns the template of the site of a URL.
        """
        corrected = 0
        for number, (key, value) in enumerate(scan(self._store, UNPROVEN)):
            if not number % ROWS:
                yield
            row: UnprovenRow = self._decode(value)
            site_template = template(row.url)
            late = row.time < site_template.run  # of a run that was cut off
            if not late and all(
                site_template.witnesses(difference) >= difference.least
                for difference in row.differences
            ):
                urls = min(site_template.witnesses(difference) for difference in row.differences)
                log.correct(row.url, row.time, str(ChangeClass.TEMPLATE), "event", on_urls(urls))
                self._changes.drop(row.url, row.time)
                page = pages.get(row.url)
                if page is not None and page.changes:
                    page.take_back_change()
                    pages.put(page)
                corrected += 1
            self._store.delete(FAMILY, UNPROVEN + key)
        return corrected
