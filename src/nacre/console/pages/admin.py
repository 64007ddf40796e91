"""`/admin` and `/account`: who may use the console and what was done, and one's own access."""

import asyncio

from nacre.console.access.audit_reader import AuditFilter, audit_page
from nacre.console.api.places import place_items
from nacre.console.api.quota import quota_items
from nacre.console.api.session import list_sessions
from nacre.console.api.users import user_item
from nacre.console.call import Call, PageAnswer
from nacre.console.pages import about
from nacre.ops.roles import Role

LINES = 50
"""Lines of the audit log on a page."""


async def page(call: Call) -> PageAnswer:
    """Users, keys, sessions, places, quotas, the audit log, and what the console is made of."""
    services, query = call.services, call.request.query_params
    after = query.get("after", "")
    end = int(after) if after.isdecimal() and len(after) < 19 else 0
    wanted = AuditFilter(*(query.get(name, "").strip() for name in AuditFilter._fields))
    audit = await asyncio.to_thread(audit_page, services.audit.path, end, LINES, wanted)
    facts = {
        "users": [user_item(one) for one in services.users.all()],
        "keys": services.keys.all(),
        "sessions": (await list_sessions(call)).items,
        "places": await place_items(call),
        "quotas": quota_items(call),
        "quota_jobs": [job.id for job, _ in call.snapshots()],
        "is_restricted": bool(call.identity.places),
        "audit": audit.entries,
        "older": audit.end,
        "wanted": wanted,
        "trouble": services.audit.trouble,
        "roles": [role.title for role in Role if role],
        "versions": about.versions(),
        "packages": about.packages(),
        "page_licences": about.page_licences(),
        "is_remote": services.reach.is_remote,
        "made_key": None,
    }
    return PageAnswer("admin.html", facts)


async def account_page(call: Call) -> PageAnswer:
    """One's own role, sessions and password."""
    services = call.services
    is_user = call.session is not None and services.users.find(call.identity.name) is not None
    own = [
        item
        for item in (await list_sessions(call)).items
        if item.name == call.identity.name and call.session is not None
    ]
    return PageAnswer("account.html", {"sessions": own, "is_user": is_user})
