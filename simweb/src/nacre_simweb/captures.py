"""From WARCs to captures: each record is found again in the server's log by the bytes it holds."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from nacre.archive.delta import DeltaError, page_url
from nacre.archive.fields import strip_brackets
from nacre.archive.reader import WarcEntry, WarcReader
from nacre.archive.restoring import BaseFiles, difference_of, is_delta, restore_block
from nacre.wire.http1 import ReplyReader
from nacre_simweb.answer import payload_digest, without_port
from nacre_simweb.kept import KeptCapture, KeptCaptures
from nacre_simweb.servelog import Row

_CAPTURES = frozenset({"response", "revisit"})


class CaptureRecord(NamedTuple):
    """One capture record, read by its bytes.

    Attributes:
        url: WARC-Target-URI without its port.
        date: WARC-Date.
        status: HTTP status of the block; 304 for a server-not-modified revisit.
        digest: Of the payload; for an identical revisit, "" until its original is found.
        size: Bytes of payload stored.
        refers: URL and date of the original of a revisit; None for a response.
    """

    url: str
    date: str
    status: int
    digest: str
    size: int
    refers: tuple[str, str] | None = None


def read_archive(directory: Path, rows: list[Row]) -> KeptCaptures:
    """Return an archive from all WARCs under a directory and the log of the server.

    Replies that Nacre stored as differences are rebuilt; no other records but captures count.
    """
    problems: list[str] = []
    files = sorted(path for path in directory.rglob("*.warc*") if path.is_file())
    bases = BaseFiles(files)
    records = [record for path in files for record in _records(path, bases, problems)]
    records.sort(key=lambda record: record.date)
    size = sum(path.stat().st_size for path in files)
    captures = list(_match_rows(_resolved(records, problems), rows, problems))
    order = {id(row): number for number, row in enumerate(rows)}
    captures.sort(key=lambda capture: order[id(capture.row)])
    return KeptCaptures(rows, captures, problems, size)


def _records(path: Path, bases: BaseFiles, problems: list[str]) -> Iterator[CaptureRecord]:
    def note(code: str, offset: int, message: str) -> None:
        problems.append(f"{path.name} at {offset}: {code}: {message}")

    with path.open("rb") as file:
        for entry in WarcReader(file, note):
            url = _uri(entry, "WARC-Target-URI")
            if entry.get("WARC-Type") in _CAPTURES and url.startswith("http"):
                yield _record(entry, without_port(url))
            elif is_delta(entry):
                try:
                    yield _rebuilt(entry, without_port(page_url(url)), bases)
                except DeltaError as error:
                    note(error.code, entry.offset, str(error))


def _uri(entry: WarcEntry, name: str) -> str:
    """Return a URI of the header; wget writes it in angle brackets, as WARC 1.0 has it."""
    return strip_brackets(entry.get(name) or "")


def _rebuilt(entry: WarcEntry, url: str, bases: BaseFiles) -> CaptureRecord:
    """Return the reply that a difference stands for; it takes no more room than its patch."""
    delta = difference_of(entry).delta
    status, body = _reply(restore_block(delta, bases.block))
    date = entry.get("WARC-Date") or ""
    return CaptureRecord(url, date, status, payload_digest(body), len(delta.patch))


def _record(entry: WarcEntry, url: str) -> CaptureRecord:
    block = b"".join(iter(entry.read, b""))
    date = entry.get("WARC-Date") or ""
    if entry.get("WARC-Type") == "revisit":
        target = without_port(_uri(entry, "WARC-Refers-To-Target-URI"))
        refers = target, entry.get("WARC-Refers-To-Date") or ""
        same = "identical-payload-digest" in (entry.get("WARC-Profile") or "")
        status = _reply(block)[0] or 200 if same else 304
        return CaptureRecord(url, date, status, "", 0, refers)
    status, body = _reply(block)
    return CaptureRecord(url, date, status, payload_digest(body), len(body))


def _reply(block: bytes) -> tuple[int, bytes]:
    """Status and body of a reply."""
    reader = ReplyReader("GET")
    body = reader.feed(block) + reader.eof()
    return reader.status, body


def _resolved(records: Iterable[CaptureRecord], problems: list[str]) -> Iterator[CaptureRecord]:
    """Give revisits the digest of their original; a missing original is a problem."""
    originals: dict[tuple[str, str], str] = {}
    for record in records:
        if record.refers is None:
            originals[record.url, record.date] = record.digest
            yield record
        elif record.refers in originals:
            yield record._replace(digest=originals[record.refers])
        else:
            problems.append(f"{record.url} at {record.date}: its original is not there")


def _match_rows(
    records: Iterable[CaptureRecord], rows: list[Row], problems: list[str]
) -> Iterator[KeptCapture]:
    """Each record with the reply that it holds: the next one of its URL with the same bytes."""
    by_url: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_url[row.url].append(row)
    places: dict[str, int] = defaultdict(int)
    for record in records:
        mine = by_url.get(record.url, [])
        place = places[record.url]
        while place < len(mine) and not _holds(record, mine[place]):
            place += 1
        if place == len(mine):
            problems.append(f"{record.url} at {record.date}: the server never sent this")
            continue
        places[record.url] = place + 1
        yield KeptCapture(mine[place], record.refers is None, record.size)


def _holds(record: CaptureRecord, row: Row) -> bool:
    if record.status == 304:
        return row.status == 304
    return row.status == record.status and row.digest == record.digest
