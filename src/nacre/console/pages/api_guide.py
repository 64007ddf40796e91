"""`/api/v1/`: the interface for programs, for people: its operations, and each of them in full."""

from typing import Any

import msgspec

from nacre.console.api.trial import PLACE, operation_of
from nacre.console.call import Call, PageAnswer
from nacre.console.checks import own_url
from nacre.console.operations import ApiOperation, curl_line
from nacre.ops.fields import ShortText
from nacre.ops.roles import role_named


class ApiGuideQuery(msgspec.Struct, frozen=True):
    """The query of the page.

    Attributes:
        operation: The operation that is shown in full; "" for the list of all.
        find: Only operations whose path or summary has this text; "" for all.
    """

    operation: ShortText = ""
    find: ShortText = ""


async def page(call: Call) -> PageAnswer:
    """All operations, or one of them in full."""
    query: ApiGuideQuery = call.query
    if query.operation:
        shown = operation_of(call, query.operation)
        return PageAnswer("api_operation.html", _operation_facts(call, shown))
    known: dict[str, ApiOperation] = call.request.app.state.operations()
    wanted = query.find.strip().lower()
    made = call.language.made
    found = [
        one
        for one in known.values()
        if wanted in f"{one.verb} {one.path} {one.summary} {made(one.summary)}".lower()
    ]
    return PageAnswer("api_guide.html", {"query": query, "found": found, "total": len(known)})


def _operation_facts(call: Call, shown: ApiOperation) -> dict[str, Any]:
    url = call.request.url
    # A proxy speaks HTTPS to others, and plain HTTP to the console.
    origin = own_url(call.services.reach, url.port or 80)
    if not call.services.reach.proxy:
        origin = f"{url.scheme}://{url.netloc}"
    jobs = call.snapshots()
    values = {"job": jobs[0][0].id} if jobs else {}
    needed = role_named(shown.role)
    return {
        "one": shown, "curl": curl_line(shown, origin, values), "values": values, "place": PLACE,
        "known": {kind.name for kind in shown.types},
        "may": needed is None or call.identity.role >= needed,
    }  # fmt: skip
