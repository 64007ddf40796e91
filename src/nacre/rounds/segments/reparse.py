"""The task of `parse`: rebuild the facts of a unit from its WARCs.

A session of the job with the frozen settings of the segment, but without a list, processes the
captures with the chain. Data that the archive lacks, such as failures, come from the rows of the
visits, if their file is whole. Otherwise the WARCs are the only source, and missing URLs of the
list are recorded as not attempted.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from nacre.annotations import PARSER_FAILED
from nacre.archive.delta import DeltaError
from nacre.archive.restoring import BaseFiles
from nacre.assembly.records import RunRecords
from nacre.core.capture import Capture
from nacre.core.history import HistoryRecord
from nacre.core.states import ExitStatus
from nacre.engine.readback import ReadCapture, Reread, read_at, reread
from nacre.errors import DamageError, StorageError
from nacre.job.job import Job
from nacre.rounds.segments.export import FILES, HostExtra, PartTables, parse_failed
from nacre.rounds.segments.frozen_settings import CONF, placed_settings
from nacre.rounds.segments.part_stand_ins import LostManifest, replace_manifests, warcs_of
from nacre.rounds.segments.parts import PartFile, PartManifest, UnitPlace, upload_files
from nacre.rounds.segments.unit_list import ParquetList
from nacre.rounds.storage import MissingFileError, Storage, file_sha256
from nacre.rounds.tables.seed_index import SeedPlace
from nacre.rounds.tables.tables import TaskPlace, TaskWork, local_warc
from nacre.rounds.tables.versions import TableFile
from nacre.rounds.visits.page_links import LinkFact, PageLinks, numbered
from nacre.rounds.visits.session_unit import SessionUnit, UnitHost, UnitUri
from nacre.rounds.visits.unit_replay import VisitReplay, is_bodiless, stored_as
from nacre.rounds.visits.unit_visits import UnitOptions, VisitFact, VisitFacts
from nacre.settings.settings import JobSettings
from nacre.wire.date import format_http_date

LOST = "lost"
"""The reason of a URL whose visit was lost with its facts."""

_WARC = (".warc.gz", ".warc")
_MOST = 64_000_000
"""Most bytes of a response to read."""
_EXTRA = ("latency", "backoff", "delay", "robots", "answer")


class ReparseSpec(NamedTuple):
    """One task: the facts of a unit.

    Attributes:
        place: The work place of the task.
        segment: Id of the segment.
        unit: Name of the unit.
        parts: Folders of its committed parts, in order.
        chosen: The parts whose facts are rebuilt.
        version: Number of the version to commit; only for names.
        buckets: Number of buckets of the facts.
        rules: Hash of the rules that judge links; 0 if unknown.
        archive: The WARCs of all segments and of imported jobs, which have the originals of
            revisits.
        files: The parts of the unit and their facts, by the record of the segment.
        imported: Its WARCs are those of another crawl, with more captures than the import.
        seeds: The place of the seeds that the scope looks up by key; None if the settings have all.
        conf: Name of the folder in the segment with its settings.
    """

    place: TaskPlace
    segment: str
    unit: str
    parts: tuple[str, ...]
    chosen: tuple[str, ...]
    version: int
    buckets: int
    rules: int
    archive: tuple[TableFile, ...]
    files: tuple[PartFile, ...] = ()
    imported: bool = False
    seeds: SeedPlace | None = None
    conf: str = CONF


class ReparsedPart(NamedTuple):
    """The rebuilt facts of a part.

    Attributes:
        before: Folder of the part.
        now: Folder of the part that replaces it.
        captures: Captures that were read.
        links: Links that the scope accepts.
        failed: Captures that a parser failed on.
        rebuilt: The visits, too, were made from the archive.
        lost: URLs of the list whose visits are lost.
        virtual: Change of the cash of the virtual page, in 2^-32.
        stood_in: Its manifest was damaged, so that the former `virtual` is unknown.
    """

    before: str
    now: str
    captures: int
    links: int
    failed: int
    rebuilt: bool
    lost: int
    virtual: int
    stood_in: bool = False


def reparse_task(spec: ReparseSpec) -> list[ReparsedPart]:
    """Rebuild the facts of a unit.

    Raises:
        DamageError: A WARC is not the committed one, a manifest cannot be read, or the visits of an
            imported segment are damaged.
    """
    with spec.place.open() as work:
        root = work.scratch / "job"
        settings = placed_settings(work.storage, spec.segment, root, spec.conf)
        unit_settings = settings.archive.model_copy(update={"unit": "parse"})
        settings = settings.model_copy(update={"archive": unit_settings})
        tasks: list[_Reparsing] = []

        def make(records: RunRecords, _facts: VisitFacts) -> _Reparsing:
            tasks.append(_Reparsing(spec, work, settings, records))
            return tasks[-1]

        seeds = None if spec.seeds is None else spec.seeds.open(work.scratch)
        lines = () if seeds is None else seeds.directives
        unit = SessionUnit(_NoList(), UnitOptions(), [make], seeds, lines)
        job = Job(root, settings, unit=unit)
        asyncio.run(_run_job(job))
        if not tasks:
            raise StorageError(f"{root}: no session began, so nothing was parsed")
        return tasks[-1].result()


async def _run_job(job: Job) -> None:
    await job.run()


class _NoList:
    """The list of a session without URLs."""

    hosts: frozenset[str] = frozenset()

    def fetched(self, _key: str) -> bool:
        """See `UnitList.fetched`."""
        return False

    def known_hosts(self) -> Sequence[UnitHost]:
        return ()

    def portion(self, _start: int, _number: int) -> Sequence[UnitUri | None]:
        return ()


class _Reparsing:
    """Rebuilds the facts at the end of a session without URLs: a `BackgroundTask`."""

    name = "parse"
    busy = False

    def __init__(
        self, spec: ReparseSpec, work: TaskWork, settings: JobSettings, records: RunRecords
    ) -> None:
        self._spec = spec
        self._work = work
        self._settings = settings
        self._replay = VisitReplay(records)
        self._canonical = records.queues.identity.canonical
        self._archive = _ArchiveFiles(work, spec.archive)
        self._list = ParquetList(UnitPlace(work.storage, spec.segment, spec.unit))
        self._keys: set[str] = set()
        self._parts = unit_parts(work.storage, spec)
        self._results: list[ReparsedPart] = []
        self._error: Exception | None = None

    def result(self) -> list[ReparsedPart]:
        """Return the parts; raise the error of the session."""
        if self._error is not None:
            raise self._error
        return self._results

    async def run(self) -> None:
        """Wait for cancellation."""
        await asyncio.Event().wait()

    async def ending(self, _how: ExitStatus) -> None:
        """Rebuild the facts; an error is stored, as a failed session would begin again."""
        try:
            for part in self._spec.parts:
                await self._part(part)
        except Exception as error:  # noqa: BLE001 - raised by `result`
            self._error = error

    async def _part(self, name: str) -> None:
        storage = self._work.storage
        manifest = self._parts.manifests[name]
        rows = _whole_rows(storage, manifest.files, "visits")
        if rows is not None:
            self._keys.update(row["key"] for row in rows if row["reason"] is None)
        if name not in self._spec.chosen:
            return
        if rows is None and self._spec.imported:
            raise DamageError(
                f"{storage.place}/{name}: its visits are damaged, and no other file lists "
                f"the imported captures. Drop the segment (`segments drop {self._spec.segment}`), "
                "and import or merge again"
            )
        listed = self._list
        tables = PartTables(
            self._canonical, self._spec.buckets, rules=self._spec.rules, listed=listed.listed,
            scoring=self._settings.cycle.scoring, fallbacks=listed.fallbacks,
        )  # fmt: skip
        captures = [capture async for capture in self._captures(manifest, rows, tables)]
        not_attempted: list[tuple[str, str, str]] = []
        if rows is not None:
            not_attempted = [
                (r["key"], r["url"] or r["key"], r["reason"]) for r in rows if r["reason"]
            ]
        else:
            self._keys |= tables.keys
            if manifest.last:
                not_attempted = [(key, url, LOST) for key, url in listed.remaining(self._keys)]
        tables.leave_out(not_attempted)
        self._write(name, manifest, tables, not_attempted)
        self._results[-1] = self._results[-1]._replace(
            captures=len(captures),
            links=sum(len(fact.links) for fact in captures),
            failed=sum(map(parse_failed, captures)),
            rebuilt=rows is None,
            stood_in=name in self._parts.lost,
        )

    async def _captures(
        self,
        manifest: PartManifest,
        rows: Sequence[Mapping[str, Any]] | None,
        tables: PartTables,
    ) -> AsyncIterator[VisitFact]:
        """Add all visits of a part; yield the facts of each capture."""
        self._replay.begin_anew()
        places = {(row["warc_file"], row["warc_offset"]): row for row in rows or ()}
        links_by_page = _read_links(self._work.storage, manifest)
        for file in manifest.files:
            if not file.name.endswith(_WARC):
                continue
            warc = file.name.rpartition("/")[2]
            for capture in self._archive.captures(warc):
                row = places.pop((warc, capture.stored.offset), None)
                fact = await self._fact(capture, row, warc, fresh=rows is None)
                if fact is not None:
                    tables.take(fact)
                    yield fact
                await asyncio.sleep(0)
        for row in places.values():
            if row["reason"] is None:
                links = numbered(links_by_page.get(row["key"], ()))
                tables.take(msgspec.structs.replace(row_fact(row), links=links))

    async def _fact(
        self, capture: Reread, row: Mapping[str, Any] | None, warc: str, *, fresh: bool
    ) -> VisitFact | None:
        """Return the facts of a capture; None if it is no visit of the unit."""
        offset = capture.stored.offset
        if row is not None:
            via, path, source = row["via"] or "", row["path"] or "", row["source"] or ""
            entry = UnitUri(row["url"] or row["key"], via, path, source)
            parsed = await self._replay.fact(entry, capture, row["status"], offset)
            row_facts = row_fact(row)
            if not is_bodiless(capture):
                row_facts = msgspec.structs.replace(
                    row_facts, annotations=parsed.annotations, soft_404=parsed.soft_404,
                    simhash=parsed.simhash,
                )  # fmt: skip
            return msgspec.structs.replace(
                row_facts,
                links=parsed.links, outlinks=parsed.outlinks, robots=parsed.robots,
                redirect=parsed.redirect, canonical=parsed.canonical,
                modified=parsed.modified, signature=row["signature"] or parsed.signature,
            )  # fmt: skip
        record = capture.stored
        if not fresh or record.path.endswith("P"):
            return None
        entry = UnitUri(record.url, record.via, record.path, record.source)
        identical = stored_as(capture).value == "duplicate"
        status = 200 if identical and record.status == 304 else record.status
        parsed = await self._replay.fact(entry, capture, status, offset)
        # Only a page has a history, not a reply 404 or 410.
        page = status in (200, 304)
        history = msgspec.msgpack.encode(_history(record, status)) if page else b""
        return msgspec.structs.replace(parsed, warc=warc, history=history)

    def _write(
        self,
        name: str,
        manifest: PartManifest,
        tables: PartTables,
        not_attempted: Sequence[tuple[str, str, str]],
    ) -> None:
        storage, folder = self._work.storage, self._work.scratch / "parsed"
        folder.mkdir(exist_ok=True)
        rows = tables.write(folder, _extras(storage, manifest, tables))
        folder_name = f"{name.partition('-p')[0]}-p{self._spec.version}"
        if storage.list(folder_name):
            folder_name += f"-{file_sha256(folder / 'adds.parquet')[:8]}"
        facts = list(
            upload_files(storage, [folder / f"{file}.parquet" for file in FILES], folder_name)
        )
        reasons: dict[str, int] = {}
        for _, _, reason in not_attempted:
            reasons[reason] = reasons.get(reason, 0) + 1
        new_manifest = msgspec.structs.replace(
            manifest,
            files=(*(f for f in manifest.files if not f.name.endswith(".parquet")), *facts),
            rows=rows, statuses=tables.statuses, bytes=tables.bytes,
            virtual=tables.virtual, not_attempted=reasons,
        )  # fmt: skip
        storage.put(f"{folder_name}.json", msgspec.json.encode(new_manifest))
        virtual = tables.virtual - manifest.virtual
        lost = reasons.get(LOST, 0)
        self._results.append(
            ReparsedPart(name, folder_name, 0, 0, 0, rebuilt=False, lost=lost, virtual=virtual)
        )


# ---- reading the existing parts


def read_part(storage: Storage, name: str) -> PartManifest:
    """Return the manifest of a part.

    Args:
        storage: The storage of the part.
        name: Folder of the part.

    Raises:
        DamageError: It cannot be read.
    """
    try:
        return msgspec.json.decode(storage.read(f"{name}.json"), type=PartManifest)
    except ValueError as error:  # of msgspec, or the encoding
        raise DamageError(
            f"{storage.place}/{name}.json: it is no manifest of a part ({error}); "
            "`storage check --repair` makes it again of its WARCs"
        ) from error


class UnitParts(NamedTuple):
    """The parts of a unit.

    Attributes:
        manifests: Their manifests by folder, with replacements of damaged ones.
        lost: The parts with damaged manifests.
    """

    manifests: Mapping[str, PartManifest]
    lost: frozenset[str]


def unit_parts(storage: Storage, spec: ReparseSpec) -> UnitParts:
    """Return the manifests of the parts of a unit.

    Args:
        storage: The storage of the parts.
        spec: The unit.
    """
    entries = {file.name: file for file in spec.files}
    whole: dict[str, PartManifest] = {}
    lost = []
    for name in spec.parts:
        expected = entries.get(f"{name}.json")
        try:
            data = storage.read(f"{name}.json")
            if expected is None or hashlib.sha256(data).hexdigest() == expected.sha256:
                whole[name] = msgspec.json.decode(data, type=PartManifest)
                continue
        except (MissingFileError, ValueError):
            pass
        lost.append(_lost_manifest(storage, name, spec.files))
    unit = (spec.segment, spec.unit)
    replaced = replace_manifests(lost, warcs_of(whole), spec.archive, unit, spec.parts[-1])
    return UnitParts({**whole, **replaced}, frozenset(replaced))


def _lost_manifest(storage: Storage, name: str, files: Sequence[PartFile]) -> LostManifest:
    facts = tuple(file for file in files if file.name.startswith(f"{name}/"))
    rows = _whole_rows(storage, facts, "visits")
    if rows is None:
        return LostManifest(name, facts)
    return LostManifest(name, facts, frozenset(row["warc_file"] for row in rows) - {None})


def _whole_rows(
    storage: Storage, files: Sequence[PartFile], kind: str
) -> list[dict[str, Any]] | None:
    """Return the rows of a file of facts; None if it is missing or not the committed one."""
    import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

    for file in files:
        if file.name.endswith(f"/{kind}.parquet"):
            try:
                data = storage.read(file.name)
            except MissingFileError:
                return None
            if hashlib.sha256(data).hexdigest() != file.sha256:
                return None
            rows: list[dict[str, Any]] = pq.read_table(BytesIO(data)).to_pylist()
            return rows
    return None


def _read_links(storage: Storage, manifest: PartManifest) -> dict[str, list[tuple[LinkFact, int]]]:
    """Return the links of pages without a capture, from the file of links."""
    links: dict[str, list[tuple[LinkFact, int]]] = {}
    for row in _whole_rows(storage, manifest.files, "links") or ():
        texts = (row["rel"] or "", row["context"] or "", row["anchor"] or "")
        links.setdefault(row["src"], []).append(((row["dst"], row["hop"], *texts), row["rank"]))
    return links


def _extras(storage: Storage, manifest: PartManifest, tables: PartTables) -> dict[str, HostExtra]:
    """Return the data of the file of hosts except counts; {} if the file is damaged."""
    return {
        row["host"]: HostExtra(**{name: row[name] for name in _EXTRA})
        for row in _whole_rows(storage, manifest.files, "hosts") or ()
        if row["host"] in tables.hosts
    }


class _ArchiveFiles:
    """The WARCs of the archive, which are localized on demand."""

    def __init__(self, work: TaskWork, files: Sequence[TableFile]) -> None:
        self._work = work
        self._files = {file.path.rpartition("/")[2]: file for file in files}
        self._own = BaseFiles()
        self._all: BaseFiles | None = None

    def captures(self, name: str) -> Iterator[Reread]:
        """Yield the captures of a WARC.

        Raises:
            DamageError: It is missing, or not the committed one.
        """
        file = self._files.get(name)
        if file is None:
            raise DamageError(f"{self._work.storage.place}: the archive has no {name}")
        path, digest = self._localize_file(file), "missing"
        if path.is_file():
            digest = file_sha256(path) if file.sha256 else ""
        if digest != file.sha256:
            raise DamageError(
                f"{self._work.storage.place}/{file.path}: its sha256 is {digest}, and the version "
                f"says {file.sha256}. Put back the file from a copy: facts are made of it"
            )
        self._own.add(path)
        return reread(path, self._original, self._own.block, _MOST)

    def _original(self, revisit_capture: ReadCapture) -> Capture | None:
        """Return the capture that a revisit refers to; None if it is missing."""
        record_id = (
            revisit_capture.revisit.original.record_id
            if revisit_capture.revisit is not None
            else ""
        )
        if not record_id:
            return None
        place = self._own.place(record_id)
        if place is None:
            if self._all is None:
                self._all = BaseFiles(map(self._localize_file, self._files.values()))
            place = self._all.place(record_id)
        try:
            return None if place is None else read_at(*place, self._own.block, _MOST)
        except DeltaError:
            return None

    def _localize_file(self, file: TableFile) -> Path:
        try:
            return local_warc(self._work.storage, file, self._work.scratch)
        except MissingFileError:
            return self._work.scratch / file.path  # `storage check` reports it


# ---- facts of rows


def row_fact(row: Mapping[str, Any]) -> VisitFact:
    """Return the facts of a visit from its row, without its links."""
    history = b""
    if row["warc_date"]:
        record = HistoryRecord(
            row["url"] or row["key"], status=row["status"], visited=row["time"] or 0,
            date=row["warc_date"], digest=row["digest"] or "", framing=row["framing"] or "",
            record_id=row["record_id"] or "", etag=row["etag"] or b"",
            last_modified=row["last_modified"] or b"", length=row["length"] or 0, visits=1,
        )  # fmt: skip
        history = msgspec.msgpack.encode(record)
    robots = [name for name in ("noindex", "nofollow") if row[name]]
    modified = row["modified"]
    return VisitFact(
        url=row["url"] or row["key"], status=row["status"], via=row["via"] or "",
        path=row["path"] or "", source=row["source"] or "", began=row["time"],
        duration=row["duration"], first_byte=row["first_byte"], size=row["size"],
        digest=row["payload_digest"] or "", mime=row["mime"] or "", lang=row["lang"] or "",
        modified=b"" if modified is None else format_http_date(modified / 1000).encode(),
        address=row["address"] or "", retry_after=row["retry_after"], robots=tuple(robots),
        redirect=row["redirect"] or "", new_seed=row["new_seed"],
        canonical=row["canonical"] or "", outlinks=row["outlinks"], stored=row["stored"] or "",
        warc=row["warc_file"] or "", offset=row["warc_offset"], attempts=row["attempts"],
        error=row["error"] or "", annotations=(PARSER_FAILED,) if row.get("parse_failed") else (),
        signature=row["signature"] or b"", history=history, links=PageLinks(),
        soft_404=bool(row.get("soft_404")), simhash=row.get("simhash"),
    )  # fmt: skip


def _history(capture: ReadCapture, status: int) -> HistoryRecord:
    """Return the history of a URL by its capture."""
    date, record_id = capture.date, capture.record_id
    if capture.revisit is not None:
        original = capture.revisit.original
        date, record_id = original.date, original.record_id
    return HistoryRecord(
        capture.url, status=status, visited=capture.date, date=date, digest=capture.digest,
        framing="chunked" if capture.chunked else "", record_id=record_id, etag=capture.etag,
        last_modified=capture.last_modified, length=capture.payload_length, visits=1,
    )  # fmt: skip
