"""What is known of a job's pages, read from its store and its archive."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TypeVar

import msgspec

from nacre.archive.delta import MEDIA, TARGET, Delta, DeltaError, page_url
from nacre.archive.restoring import difference_at
from nacre.core.capture import Capture
from nacre.core.fetchrow import FetchRow
from nacre.core.pagerow import PageRow
from nacre.history.dedup import Digests
from nacre.history.finding.hints import Audit
from nacre.history.finding.linkwatch import RuleRow
from nacre.history.finding.novelty import KindRow
from nacre.history.finding.sitemaps import MapRow
from nacre.history.finding.traps import TrapRow
from nacre.history.pagestore import (
    AUDITS,
    GAPS,
    MAPS,
    RULES,
    SITES,
    TEMPLATES,
    TRAPS,
    PageStore,
    fetch_rows,
    scan,
)
from nacre.history.recrawl.gaps import GapRow
from nacre.history.recrawl.settings import RecrawlSettings
from nacre.history.recrawl.sites import SiteRow
from nacre.history.schedule.timetable import Due, Timetable
from nacre.history.verdict.change import ChangeSettings
from nacre.history.verdict.template import Template
from nacre.job.admission.prospects import kinds
from nacre.job.configuration.settings import JobSettings
from nacre.job.holdings.bases import Bases
from nacre.job.holdings.rereading import read_at
from nacre.job.incremental.scheduling import stored_timetable
from nacre.job.incremental.versions import page_text
from nacre.job.runs.newrun import runs, spent_by
from nacre.job.runs.runs import read_run
from nacre.job.studies.known import Captured, Run
from nacre.store.files import FileKind, FileState
from nacre.store.store import Store
from nacre.store.table import file_rows
from nacre.uri.surt import index_key

_OPEN = ".open"

T = TypeVar("T")


class StoredKnown:
    """`Known` of a job.

    Args:
        root: Its directory.
        store: Its store.
        settings: Its settings.
        now: Seconds since the epoch.

    Attributes:
        now: Seconds since the epoch.
    """

    def __init__(self, root: Path, store: Store, settings: JobSettings, now: float) -> None:
        self.now = now
        self._root = root
        self._store = store
        self._settings = settings
        self._pages = PageStore(store)
        self._bases = Bases(root, store, Digests(store))

    @property
    def settings(self) -> RecrawlSettings:
        """See `Known`."""
        return self._settings.recrawl

    @property
    def change(self) -> ChangeSettings:
        """See `Known`."""
        return self._settings.change

    @cached_property
    def sites(self) -> dict[str, SiteRow]:
        """See `Known`."""
        return self._named(SITES, SiteRow)

    @cached_property
    def rules(self) -> dict[str, RuleRow]:
        """See `Known`."""
        return self._named(RULES, RuleRow)

    @cached_property
    def traps(self) -> dict[str, TrapRow]:
        """See `Known`."""
        return self._named(TRAPS, TrapRow)

    def kinds(self) -> Iterable[tuple[str, KindRow]]:
        """See `Known`."""
        return kinds(self._store)

    @cached_property
    def gaps(self) -> dict[str, GapRow]:
        """See `Known`."""
        return self._named(GAPS, GapRow)

    @cached_property
    def maps(self) -> dict[str, MapRow]:
        """See `Known`."""
        return self._named(MAPS, MapRow)

    @cached_property
    def templates(self) -> dict[str, Template]:
        """See `Known`."""
        return self._named(TEMPLATES, Template)

    @cached_property
    def audits(self) -> dict[str, Audit]:
        """See `Known`."""
        return self._named(AUDITS, Audit)

    def runs(self) -> Sequence[Run]:
        """See `Known`."""
        last = read_run(self._store)
        return [
            Run(
                *(one.number, one.name, one.mode, one.parent),
                *(one.started, one.ended, one.elapsed, one.keep),
                spent_by(self._store, one).requests if one == last else one.spent[0],
            )
            for one in runs(self._store)
            if not one.fresh
        ]

    def row(self, url: str) -> PageRow | None:
        """See `Known`."""
        return self._pages.get(url)

    def rows(self) -> Iterator[PageRow]:
        """See `Known`."""
        return self._pages.scan()

    @cached_property
    def timetable(self) -> Timetable | None:
        """Pages under a schedule; None when there are none."""
        return stored_timetable(self._root, self._settings, self._store)

    def due(self, row: PageRow) -> Due | None:
        """See `Known`."""
        return None if self.timetable is None else self.timetable.due(row, self.now)

    def visits(self) -> Iterator[FetchRow]:
        """See `Known`."""
        return fetch_rows(self._store)

    def captures(self, urls: Collection[str]) -> Iterator[Captured]:
        """See `Known`: from the indexes of all runs, read one after the other."""
        wanted = set(urls)
        names = (name for url in wanted for name in (url, TARGET + url))
        keys = {index_key(name).encode() for name in names}
        found = [
            captured
            for directory, path in self._indexes()
            for line in _lines(path)
            if line.partition(b" ")[0] in keys and (captured := self._captured(line, directory))
        ]
        return iter(sorted((one for one in found if one.url in wanted), key=_order))

    def text(self, capture: Captured) -> str | None:
        """See `Known`."""
        found = self._read(capture) if capture.file else None
        return None if found is None else page_text(found)

    def _read(self, capture: Captured) -> Capture | None:
        path = self._root / capture.file
        return read_at(path, capture.offset, self._bases.block)

    def _named(self, prefix: bytes, kind: type[T]) -> dict[str, T]:
        decode = msgspec.msgpack.Decoder(kind).decode
        return {name.decode(): decode(row) for name, row in scan(self._store, prefix)}

    def _indexes(self) -> Iterator[tuple[PurePosixPath, Path]]:
        for _, row in file_rows(self._store):
            if row.kind is FileKind.INDEX and row.state is not FileState.LOST:
                name = row.path if row.state is FileState.OPEN else row.final
                yield PurePosixPath(row.final).parent, self._root / name

    def _captured(self, line: bytes, directory: PurePosixPath) -> Captured | None:
        _, when, text = line.split(b" ", 2)
        try:
            fields = json.loads(text)
            url, offset = page_url(str(fields["url"])), int(fields["offset"])
        except (ValueError, KeyError):
            return None  # a line that is just being written
        mime, status = str(fields.get("mime", "")), str(fields.get("status", ""))
        file = self._file(directory / str(fields.get("filename", "")))
        digest = str(fields.get("digest", ""))
        if mime == MEDIA:  # only of replies with status 200
            status = "200"
            delta = self._difference(file, offset)
            mime, digest = (delta.mime, delta.payload) if delta else (mime, digest)
        return Captured(url, _date(when.decode()), status, mime, digest, file, offset)

    def _difference(self, file: str, offset: int) -> Delta | None:
        """What the record of a difference holds; None when it cannot be read."""
        try:
            return difference_at(self._root / file, offset).delta if file else None
        except (DeltaError, OSError):
            return None

    def _file(self, path: PurePosixPath) -> str:
        """Where a WARC is now, relative to the job; "" when it is nowhere."""
        names = (str(path), f"{path}{_OPEN}")
        return next((name for name in names if (self._root / name).is_file()), "")


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            yield from file
    except FileNotFoundError:
        return  # closed and renamed at this moment, or moved away by its owner


def _order(one: Captured) -> tuple[str, str, int]:
    return one.date, one.file, one.offset


def _date(digits: str) -> str:
    """`20261120100000` as `2026-11-20T10:00:00Z`."""
    day = f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}"
    return f"{day}T{digits[8:10]}:{digits[10:12]}:{digits[12:14]}Z"
