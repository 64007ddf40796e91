"""The archive step, a processor: writes WARC records and the history of a URL.

One synchronous step: the digest of an original becomes visible to other visits only as its record
joins the open commit group, so a revisit is never durable before its original.

Large records: compressed into a file by a thread, appended by the writer thread.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import structs

from nacre.annotations import DUPLICATE_DIGEST, DUPLICATE_NOT_MODIFIED, LONG_VALIDATOR
from nacre.archive.certificates import StoredChain, store_chain
from nacre.archive.fields import cut_date
from nacre.archive.page_records import resource_type
from nacre.archive.record import CaptureFacts, WarcRecord, capture_records, noted_record
from nacre.archive.warc_writer import PackedMember, WarcWriter, pack_to_file
from nacre.config.effective import Effective
from nacre.core.capture import Body, Capture
from nacre.core.history import (
    Base,
    HistoryRecord,
    Noted,
    Original,
    RevisitProfile,
    kept_validator,
)
from nacre.core.processor import Visit
from nacre.engine.chain.entry import ChainName, Entry
from nacre.engine.counters import Numbers
from nacre.engine.keeping import Keeping, Kept, confirms, served_record_id
from nacre.engine.link_keeping import LinkKeeping, note_links
from nacre.engine.rights_book import RightsBook
from nacre.errors import StorageError
from nacre.history.dedup import (
    NOT_MODIFIED,
    DedupSettings,
    Digests,
    History,
    can_be_original,
    is_version,
    revisit_of,
)
from nacre.report.statistics import Stored
from nacre.rights.signals import PreferenceSignal


async def pack_apart(scratch: Path | None, record: WarcRecord, level: int) -> PackedMember:
    """`pack_in` in a thread. Who is cancelled meanwhile waits for it, for it reads the body.

    Raises:
        StorageError: The scratch folder cannot take it.
    """
    loop = asyncio.get_running_loop()
    work = loop.run_in_executor(None, pack_in, scratch, record, level)
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        if work.exception() is None:
            work.result().close()
        raise


def pack_in(scratch: Path | None, record: WarcRecord, level: int) -> PackedMember:
    """Return the member of a large record, in an unnamed file. Runs in a thread.

    Raises:
        StorageError: The scratch folder cannot take it.
    """
    try:
        file = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115 - closed by its owner
        try:
            return pack_to_file(record, level, file)
        except BaseException:
            file.close()
            raise
    except OSError as error:
        raise StorageError(
            f"a large record cannot be compressed in {scratch}: {error.strerror}; free space there"
        ) from error


_NOVEL = Stored.NOVEL  # the way to a member of an enumeration is long

_ALL = Kept()


class Prepared:
    """A final visit with all that is prepared before the synchronous step.

    Attributes:
        records: Its records; none when nothing is written of its kind, None when it has none.
        members: The records compressed, None for each one that is compressed when it is written;
            None: all of them are.
        judgement: Judgement of the observer; None: the observer was not called yet.
    """

    __slots__ = ("judgement", "members", "records")

    def __init__(
        self,
        records: list[WarcRecord] | None,
        members: Sequence[Body | None] | None = None,
        judgement: object = None,
    ) -> None:
        self.records = records
        self.members = members
        self.judgement = judgement


class PackedReply(NamedTuple):
    """A reply to a request of a page, compressed before it is known whether it is a revisit.

    Attributes:
        record: Its response record.
        member: The record, compressed; whoever writes it closes it.
    """

    record: WarcRecord
    member: Body


class Archive(Entry):
    """Writes WARC records and the index, and remembers the capture. Settings: `archive`, `dedup`.

    URIs that its gate leaves out are fetched and followed, but not stored.
    """

    chains = frozenset((ChainName.DISPOSITION,))
    heritrix = "WARCWriterChainProcessor"
    processor: Literal["archive"] = "archive"


class ArchiveStep:
    """Decides between full record and revisit, writes, and remembers.

    Args:
        writer: The usual series of WARCs.
        large: The series for large records.
        dedup: What counts as the same.
        history: Rows by URL.
        digests: Rows by payload.
        numbers: Record ids.
        keeping: Decides which records are written of a visit that need not be stored in full
            (`visit.keep`).
        links: Decides whether its outlinks are written.
        rights: Knows the preferences that replies state.
        scratch: Folder that large records are compressed to; None for the system's.
    """

    def __init__(  # noqa: PLR0913 - the parts that meet here
        self,
        *,
        writer: WarcWriter,
        large: WarcWriter,
        dedup: Effective[DedupSettings],
        history: History,
        digests: Digests,
        numbers: Numbers,
        keeping: Keeping,
        links: LinkKeeping,
        rights: RightsBook,
        scratch: Path | None,
    ) -> None:
        self._rights = rights
        self.writer = writer
        self.large = large
        self._dedup = dedup
        self.history = history
        self._digests = digests
        self._numbers = numbers
        self._scratch = scratch
        self._keeping = keeping
        self._link_keeping = links

    @property
    def totals(self) -> tuple[int, int]:
        """Bytes written to both series: in all, and in this session before they were compressed."""
        writer, large = self.writer, self.large
        return writer.total + large.total, writer.plain + large.plain

    def is_large(self, visit: Visit) -> bool:
        """Return whether its records must be compressed in a thread first (`prepare_large`)."""
        capture, settings = visit.capture, self.writer.settings
        return capture is not None and capture.body.length > settings.large_record

    def prepare(
        self, visit: Visit, judgement: object = None, packed: PackedReply | None = None
    ) -> Prepared:
        """Make the records of a final visit.

        Args:
            visit: The visit.
            judgement: Judgement of the observer.
            packed: Its reply, if it is compressed already.
        """
        if visit.capture is None or visit.status <= 0:
            return Prepared(None, judgement=judgement)
        if packed is None:
            return Prepared(self._records(visit, visit.capture), judgement=judgement)
        records = self._records(visit, visit.capture, packed.record)
        if not records or records[0] is not packed.record:
            return Prepared(records, judgement=judgement)
        return Prepared(records, [packed.member, *[None] * (len(records) - 1)], judgement)

    def is_repeated(self, visit: Visit, capture: Capture) -> bool:
        """Return whether a reply would become a revisit now."""
        return self._find_revisit(visit, capture) is not None

    async def prepare_large(self, visit: Visit) -> Prepared:
        """Return the same, and compress them outside the loop unless it became a small revisit."""
        if visit.capture is None or visit.status <= 0:
            return Prepared(None)
        records = self._records(visit, visit.capture)
        if visit.revisit is not None:
            return Prepared(records)
        level = self.writer.level
        members: list[PackedMember] = []
        try:
            for record in records:
                members.append(await pack_apart(self._scratch, record, level))  # noqa: PERF401 - packed members are closed if another fails
        except BaseException:
            _close(members)
            raise
        return Prepared(records, members)

    def write(self, visit: Visit, prepared: Prepared | None) -> Stored:
        """Append the records of a final visit, and remember it.

        For all but large captures nothing awaits between `prepare` and this step, so that its
        decision about duplicates still holds.
        """
        capture = visit.capture
        if capture is None or prepared is None or prepared.records is None:
            return Stored.NOTHING
        records, members = prepared.records, prepared.members
        if not records:
            return self._note_unrecorded(visit, capture)
        apart = members is not None and self.is_large(visit)
        writer = self.large if apart else self.writer
        try:
            written = writer.write(records, members, self._chain(capture))
        except BaseException:
            _close(members or ())
            raise
        visit.stored_at(written[0].name, written[0].offset, records[0].id)
        note_links(visit, written[-1], capture.began)
        return self.remember(visit, capture, records[0].id, written[0].file)

    def remember(self, visit: Visit, capture: Capture, record_id: str, file: int) -> Stored:
        """Note a capture, whose place the visit names, for later visits.

        Args:
            visit: The visit.
            capture: Its capture.
            record_id: Of its first record.
            file: Number of the WARC.
        """
        if capture.protocol == "dns":
            return _NOVEL
        if visit.noted:
            return self._remember_seen(visit, capture, record_id)
        if visit.keep is not None and visit.keep.base is not None:
            return self._remember_difference(visit, capture, record_id, file, visit.keep.base)
        if visit.revisit is None and can_be_original(capture):
            began = capture.began
            original = Original(capture.url, began, record_id, file, visit.warc_offset)
            self._digests.put(capture.payload_digest, _framing(capture), original)
            if visit.digest:
                alike = structs.replace(original, digest=capture.payload_digest)
                self._digests.put(visit.digest, _framing(capture), alike)
        self._remember(visit, capture, record_id)
        if visit.revisit is None:
            return _NOVEL
        return Stored.NOT_MODIFIED if visit.revisit.kind == NOT_MODIFIED else Stored.DUPLICATE

    def _find_revisit(self, visit: Visit, capture: Capture) -> RevisitProfile | None:
        if capture.protocol == "dns":
            return None
        return revisit_of(
            capture, self._dedup[visit.overlay], visit.history, self._digests, visit.digest
        )

    def _records(
        self, visit: Visit, capture: Capture, response: WarcRecord | None = None
    ) -> list[WarcRecord]:
        """Return the records of a visit; none if enough was written of its kind."""
        uri, digits = visit.uri, self.writer.settings.date_digits
        # Here, so that the history, the log and later references have the date of the records.
        capture.began = cut_date(capture.began, digits)
        revisit = self._find_revisit(visit, capture)
        if revisit is not None:
            visit.write_revisit(revisit)
            same = revisit.kind == NOT_MODIFIED
            visit.annotate(DUPLICATE_NOT_MODIFIED if same else DUPLICATE_DIGEST)
        decision = self._decide_records(visit, capture)
        if decision.omitted:
            return []
        if decision.confirms and revisit is None:
            visit.note_only()
        chain = self._chain(capture)
        facts = CaptureFacts(
            via=uri.via,
            path=uri.path,
            is_seed=uri.is_seed,
            source=uri.source,
            force_fetch=uri.force_fetch,
            outlinks=visit.outlinks,
            same_links=self._link_keeping.reference(visit, capture),
            annotations=visit.annotations,
            charset=visit.charset,
            robots=visit.robots_meta,
            verdict=visit.verdict,
            wall=visit.wall,
            preferences=_preference_lines(self._rights.news(visit, capture)),
            revisit=revisit,
            delta=decision.delta,
            confirms=decision.confirms,
            chain=chain.uri if chain is not None else "",
            date_digits=digits,
            page_id=visit.page.id if visit.page is not None else visit.page_id,
            resource=_resource(visit),
        )
        if visit.noted:
            return [noted_record(capture, facts, self._numbers.record_id)]
        return capture_records(capture, facts, self._numbers.record_id, response)

    def _chain(self, capture: Capture) -> StoredChain | None:
        """Return the certificate chain of the server; None if there is none, or none is stored."""
        tls = capture.tls
        if tls is None or not tls.chain or not self.writer.settings.certificates:
            return None
        return store_chain(tls.chain)

    def _decide_records(self, visit: Visit, capture: Capture) -> Kept:
        """What an incremental run makes of it; other runs write everything."""
        if visit.keep is not None:
            return self._keeping.decide(visit, capture, visit.keep)
        last = visit.history
        if capture.status == 304 and last is not None and last.date and not last.revisitable:
            return Kept(confirms=served_record_id(last))
        return _ALL

    def _note_unrecorded(self, visit: Visit, capture: Capture) -> Stored:
        """Remember a visit of which nothing is written."""
        history = visit.history
        if history is None:
            self._put(visit, HistoryRecord(visit.uri.url, visit.status, capture.began, visits=1))
            return Stored.NOTHING
        stored = self._remember_seen(visit, capture, "")
        return Stored.NOTHING if stored is Stored.NOTED else stored

    def _remember_seen(self, visit: Visit, capture: Capture, record_id: str) -> Stored:
        """The last capture stays the one to refer to; `record_id`: of the note, if there is one.

        The validators of a noted reply are sent with requests from now on.
        """
        history = visit.history
        if history is None:
            return Stored.NOTED
        same = confirms(capture, history)
        row = structs.replace(
            history,
            status=visit.status,
            visited=capture.began,
            visits=history.visits + 1,
            confirmed=capture.began if record_id and same else history.confirmed,
        )
        if record_id and not same and history.date and is_version(capture):
            row = structs.replace(
                row,
                noted=Noted(record_id, capture.payload_digest),
                etag=_validator(visit, capture, b"etag"),
                last_modified=_validator(visit, capture, b"last-modified"),
                confirmed=0,
            )
        self._put(visit, row)
        if not same:
            return Stored.NOTED
        return Stored.NOT_MODIFIED if capture.status == 304 else Stored.DUPLICATE

    def _remember_difference(
        self, visit: Visit, capture: Capture, record_id: str, file: int, base: Base
    ) -> Stored:
        """Later versions are compared with it, but no revisit refers to it."""
        self.keep_original(
            capture,
            Original(
                capture.url, capture.began, record_id, file, visit.warc_offset, base=base.record_id
            ),
        )
        self._remember(visit, capture, record_id)
        return Stored.DELTA

    def keep_original(self, capture: Capture, original: Original) -> None:
        """Remember the place of a payload; a payload that is stored in full is not replaced."""
        if can_be_original(capture):
            framing, digest = _framing(capture), capture.payload_digest
            stored = self._digests.get(digest, framing)
            if stored is None or stored.base:
                self._digests.put(digest, framing, original)

    def _remember(self, visit: Visit, capture: Capture, record_id: str) -> None:
        last, revisit = visit.history, visit.revisit
        visits = last.visits + 1 if last else 1
        if revisit is not None and revisit.kind == NOT_MODIFIED and last is not None:
            row = structs.replace(
                last, status=304, visited=capture.began, visits=visits, confirmed=capture.began
            )
        elif is_version(capture):
            original = revisit.original if revisit else None
            row = HistoryRecord(
                url=visit.uri.url,
                status=visit.status,
                visited=capture.began,
                date=original.date if original else capture.began,
                digest=revisit.digest if revisit else capture.payload_digest,
                framing=_framing(capture),
                record_id=original.record_id if original else record_id,
                etag=_validator(visit, capture, b"etag"),
                last_modified=_validator(visit, capture, b"last-modified"),
                length=capture.payload_length,
                visits=visits,
                original=original.url if original and original.url != visit.uri.url else "",
                base=visit.keep.base if visit.keep is not None else None,
                confirmed=capture.began if last is not None and confirms(capture, last) else 0,
            )
        elif last is not None:
            row = structs.replace(last, status=visit.status, visited=capture.began, visits=visits)
        else:
            row = HistoryRecord(visit.uri.url, visit.status, capture.began, visits=visits)
        self._put(visit, row)

    def _put(self, visit: Visit, row: HistoryRecord) -> None:
        """Keep the row of a visit, with the record that has its outlinks.

        The reply to another method than GET is no version of what a URL has.
        """
        if not visit.is_of_url:
            return
        links = visit.keep.links if visit.keep is not None else None
        if links is None and visit.history is not None:
            links = visit.history.links
        rendered = visit.page is not None and not visit.page.is_repeated
        if (links, rendered) != (row.links, row.rendered):
            row = structs.replace(row, links=links, rendered=rendered)
        self.history.put(row)


def _close(members: Sequence[Body | None]) -> None:
    for member in members:
        if member is not None:
            member.close()


def _preference_lines(news: tuple[PreferenceSignal, ...] | None) -> tuple[str, ...]:
    """Return the lines about the own signals of a reply; none if they are those of before."""
    if news is None:
        return ()
    return tuple(f"{signal.source}: {signal.line}" for signal in news) or ("none",)


def _resource(visit: Visit) -> str:
    """Return the WARC-Resource-Type of a visit; "" outside of pages in a browser."""
    if visit.request is not None:
        return resource_type(visit.request.resource)
    return "document" if visit.page is not None else ""


def _framing(capture: Capture) -> str:
    return "chunked" if capture.framing == "chunked" else ""


def _validator(visit: Visit, capture: Capture, name: bytes) -> bytes:
    """Return a validator of a reply; "" (with an annotation) if it is too long to store."""
    received = capture.header(name)
    validator = kept_validator(received)
    if received and not validator:
        visit.annotate(LONG_VALIDATOR)
    return validator
