"""`/`: all jobs of all places."""

from typing import Any
from urllib.parse import urlencode

from msgspec import to_builtins

from nacre.console.access.roles import Role
from nacre.console.api.jobs import job_item
from nacre.console.call import Call, PageAnswer
from nacre.console.pages import new_job
from nacre.console.pages.action_buttons import many_buttons


async def page(call: Call) -> PageAnswer:
    """The list of all jobs; without jobs it is the form of a new one."""
    if not call.snapshots() and call.identity.role >= Role.OPERATOR:
        return PageAnswer("new.html", new_job.facts(call, {}))
    return PageAnswer("jobs.html", facts(call))


def facts(call: Call) -> dict[str, Any]:
    """The facts of the list."""
    services, query = call.services, call.query
    seen_jobs = call.snapshots()
    items = [
        job_item(job, seen, call.language, labels)
        for job, seen in seen_jobs
        if query.wants(job, seen, labels := services.labels.of(job))
    ]
    return {
        "query": query,
        "filters": urlencode({name: v for name, v in to_builtins(query).items() if v}),
        "tags": sorted(
            {query.tag, *services.labels.all_tags([job for job, _ in seen_jobs])} - {""}
        ),
        "states": sorted({query.state, *(seen.state for _, seen in seen_jobs)} - {""}),
        "jobs": items,
        "running": sum(item.running for item in items),
        "many": many_buttons(call.language.texts.gettext, call.identity),
        "places": [
            str(place.root) for place in services.fleet.places if call.identity.sees(place.label)
        ],
    }
