"""The rows of the change feed: one for each visit that found a page new, changed or gone.

They join the commit group of their visits. Noise has no row; a change that the end of a run proves
to be noise loses its row again (`proofs`).
"""

from collections.abc import Iterator, Sequence

import msgspec

from nacre.core.changes import (
    BACK_PAGE,
    CHANGED_PAGE,
    GONE_PAGE,
    MOVED_PAGE,
    NEW_PAGE,
    ChangeRow,
)
from nacre.core.history import FetchRow
from nacre.core.pagerow import PageKind, PageRow
from nacre.planner.change_detection.change import ChangeClass
from nacre.planner.change_detection.deletion import Life
from nacre.recrawl.pagestore import CHANGES, FAMILY, NEXT_FILE, run_of, scan, visit_key
from nacre.runs.runs import INCREMENTAL, RunRow
from nacre.store.file_table import file_rows
from nacre.store.files import FileKind
from nacre.store.store import Store

_PAGES = frozenset((PageKind.PAGE, PageKind.INDEX, PageKind.FILE))
"""Kinds of URLs in the feed; sitemaps, feeds, scripts and pictures are left out."""


def change_kind(visit: FetchRow, page: PageRow, step: float, *, had_version: bool) -> str:
    """Return the kind of the change that a visit found, of `CHANGE_KINDS`; "" for none.

    Args:
        visit: The visit.
        page: The row of the page, after the visit.
        step: Time of the run, as in `page.life_since`, seconds since the epoch.
        had_version: The page had content before the visit.
    """
    if page.kind not in _PAGES:
        return ""
    if visit.answer == "there":
        return _change_of_content(visit, page, step, had_version=had_version)
    if not had_version or page.life_since != step:
        return ""
    if page.life == Life.MOVED:
        return MOVED_PAGE
    return GONE_PAGE if page.life in {Life.SUSPECT, Life.GONE} else ""


def _change_of_content(visit: FetchRow, page: PageRow, step: float, *, had_version: bool) -> str:
    if visit.kind == "new":
        return NEW_PAGE
    if page.life_since == step:
        return BACK_PAGE if had_version else NEW_PAGE
    is_change = visit.kind in {ChangeClass.MINOR, ChangeClass.MAJOR}
    return CHANGED_PAGE if is_change else ""


class ChangeLog:
    """The changes of all runs, in order of time.

    Args:
        store: The store; rows join its open commit group.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._encode = msgspec.msgpack.Encoder().encode

    def add(self, row: ChangeRow) -> None:
        """Add a change."""
        key = visit_key(CHANGES, row.url, row.time)
        self._store.put(FAMILY, key, self._encode(row))

    def drop(self, url: str, time: float) -> None:
        """Delete the change of a visit that found only noise."""
        self._store.delete(FAMILY, visit_key(CHANGES, url, time))


def change_rows(store: Store, since: float = 0.0) -> Iterator[ChangeRow]:
    """Yield the changes in order of time, from a time on (seconds since the epoch)."""
    decode = msgspec.msgpack.Decoder(ChangeRow).decode
    for _, value in scan(store, CHANGES, round(since * 1e6).to_bytes(8, "big")):
        yield decode(value)


def unread_runs(store: Store, runs: Sequence[RunRow]) -> list[RunRow]:
    """Return the full runs after the first whose pages no recrawl has compared yet."""
    full = [run for run in runs if run.number > 1 and run.mode != INCREMENTAL]
    if not full:
        return []
    next_file = store.counter(NEXT_FILE)
    files = file_rows(store)
    names = {run_of(row) for n, row in files if n >= next_file and row.kind is FileKind.WARC}
    return [run for run in full if run.name in names]
