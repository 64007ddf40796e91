"""`/api/v1/audit`: who changed what, the newest first."""

import asyncio

import msgspec

from nacre.console.access.audit import AuditEntry
from nacre.console.access.audit_reader import AuditFilter, audit_page
from nacre.console.call import Call
from nacre.core.clock import iso
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


class AuditLines(msgspec.Struct, frozen=True):
    """A page of the audit log.

    Attributes:
        items: The lines, the newest first.
        next: The `after` of the next, older page; null for none. There can be one after a page with
            few lines: a search ends after some megabytes of the log, and goes on from there.
        as_of: The time of the answer, RFC 3339.
        trouble: Why lines cannot be written now; "" where they can.
    """

    items: tuple[AuditEntry, ...]
    next: str | None
    as_of: str
    trouble: str = ""


async def list_audit(call: Call) -> AuditLines:
    """A page of the audit log."""
    query: AuditQuery = call.query
    log = call.services.audit
    wanted = AuditFilter(query.who, query.job, query.action, query.outcome)
    page = await asyncio.to_thread(audit_page, log.path, int(query.after or 0), query.limit, wanted)
    now = iso(call.services.clock.now())
    return AuditLines(page.entries, str(page.end) if page.end else None, now, log.trouble)
