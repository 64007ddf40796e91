"""`/api/v1/audit`: who changed what, the newest first."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from nacre.console.call import AdminCall
from nacre.console.links import ItemList
from nacre.errors import StorageError
from nacre.fleet.audit import AuditEntry
from nacre.messages import message
from nacre.ops.fields import Digits, RowCount, ShortText


class AuditQuery(msgspec.Struct, frozen=True):
    """The filters of the audit log.

    Attributes:
        who: Name of a user or key, whole; "" for all.
        job: Id of a job, whole; "" for all.
        action: A part of the action, such as `DELETE` or `/config`; "" for all.
        outcome: `done`, or the code of a refusal; "" for all.
        after: The `next` of the page before; "" for the newest lines.
        limit: Lines of a page, 1 to 500.
    """

    who: ShortText = ""
    job: ShortText = ""
    action: ShortText = ""
    outcome: ShortText = ""
    after: Digits = ""
    limit: RowCount = 50


class AuditLines(ItemList[AuditEntry], frozen=True):
    """A page of the audit log.

    Attributes:
        trouble: Why lines cannot be written now; "" if they can.
    """

    trouble: str = ""


async def list_audit(call: AdminCall) -> AuditLines:
    """A page of the audit log."""
    query: AuditQuery = call.query
    log = call.parts.audit
    filters = AuditFilter(query.who, query.job, query.action, query.outcome)
    page = await asyncio.to_thread(
        audit_page, log.path, int(query.after or 0), query.limit, filters
    )
    end = str(page.end) if page.end else None
    return AuditLines(page.entries, end, call.now, log.trouble)


BUDGET: Final = 4 << 20
"""Bytes that are searched for one page."""
_BLOCK: Final = 1 << 16


class AuditFilter(NamedTuple):
    """A filter of the lines of the audit log.

    Attributes:
        who: Exact name of the requester; "" for all.
        job: Exact id of the job; "" for all.
        action: Part of the name of the action; "" for all.
        outcome: Exact outcome; "" for all.
    """

    who: str = ""
    job: str = ""
    action: str = ""
    outcome: str = ""

    def has(self, entry: AuditEntry) -> bool:
        """Whether a line matches the filter."""
        return (
            self.who in {"", entry.who}
            and self.job in {"", entry.job}
            and self.outcome in {"", entry.outcome}
            and self.action.lower() in entry.action.lower()
        )


class AuditPage(NamedTuple):
    """A page of the log.

    Attributes:
        entries: The newest first.
        end: Offset at which the next, older page ends; 0 if there is none.
    """

    entries: tuple[AuditEntry, ...]
    end: int


def audit_page(path: Path, end: int, limit: int, filters: AuditFilter) -> AuditPage:
    """A page of the log. A search that finds little ends after `BUDGET` bytes, with an `end`.

    Args:
        path: The log.
        end: Offset at which the page ends; 0 for the end of the log.
        limit: Lines of the page.
        filters: Which lines.

    Raises:
        StorageError: It cannot be read.
    """
    entries: list[AuditEntry] = []
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return AuditPage((), 0)
    except OSError as error:
        raise StorageError(
            message(
                "console.file-unreadable",
                "{path} cannot be read: {strerror}",
                path=path,
                strerror=error.strerror,
            )
        ) from error
    try:
        size = os.fstat(handle).st_size
        last = first = min(end, size) if end > 0 else size
        for start, line in _lines_before(handle, last):
            first = start
            entry = _entry(line)
            if entry is not None and filters.has(entry):
                entries.append(entry)
            if len(entries) >= limit or last - start >= BUDGET:
                break
        return AuditPage(tuple(entries), first)
    finally:
        os.close(handle)


def _lines_before(handle: int, end: int) -> Iterator[tuple[int, bytes]]:
    """The lines before an offset, the last first, each with its own offset."""
    tail, place = b"", end
    while place > 0:
        begin = max(place - _BLOCK, 0)
        first, *lines = (os.pread(handle, place - begin, begin) + tail).split(b"\n")
        offset = begin + len(first) + sum(len(line) + 1 for line in lines)
        for line in reversed(lines):
            offset -= len(line)
            if line:
                yield offset, line
            offset -= 1
        place, tail = begin, first
    if tail:
        yield 0, tail


def _entry(line: bytes) -> AuditEntry | None:
    """The entry of a line; None for one that a crash cut."""
    try:
        return msgspec.json.decode(line, type=AuditEntry)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
