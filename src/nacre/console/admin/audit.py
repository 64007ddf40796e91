"""`/api/v1/audit`: who changed what, the newest first."""

import asyncio

import msgspec

from nacre.console.access.audit import AuditEntry
from nacre.console.access.audit_reader import AuditFilter, audit_page
from nacre.console.call import Call
from nacre.console.item_list import ItemList
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
        trouble: Why lines cannot be written now; "" where they can.
    """

    trouble: str = ""


async def list_audit(call: Call) -> AuditLines:
    """A page of the audit log."""
    query: AuditQuery = call.query
    log = call.services.audit
    wanted = AuditFilter(query.who, query.job, query.action, query.outcome)
    page = await asyncio.to_thread(audit_page, log.path, int(query.after or 0), query.limit, wanted)
    end = str(page.end) if page.end else None
    return AuditLines(page.entries, end, call.now, log.trouble)
