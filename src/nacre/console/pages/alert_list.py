"""`/alerts`: the last alerts of all jobs."""

import asyncio
from typing import Final

from nacre.console.admin.quotas import quota_items
from nacre.console.api.logs import AlertItem, alert_item
from nacre.console.call import Call, PageAnswer
from nacre.console.fleet.places import FoundJob
from nacre.console.logs.pages import LogQuestion, log_path, read_page
from nacre.console.problems import RefusedRequestError
from nacre.frontier.pending import any_text
from nacre.job.quotas import QuotaLevel
from nacre.ops.roles import Role

JOBS: Final = 50
"""Jobs on the page; those whose alerts are the newest come first."""
EACH: Final = 5


async def page(call: Call) -> PageAnswer:
    """The last alerts of each job that has some, the newest first; and what ails the console."""
    jobs = [job for job, seen in call.snapshots() if seen.overview and seen.overview.alerts]
    found = await asyncio.to_thread(lambda: [(job.id, last_alerts(job)) for job in jobs])
    found.sort(key=lambda one: one[1][0].time if one[1] else "", reverse=True)
    quotas = [item for item in quota_items(call) if item.level != QuotaLevel.FREE]
    own = call.services.troubles.all() if call.identity.role >= Role.ADMIN else []
    return PageAnswer("alerts.html", {"found": found[:JOBS], "quotas": quotas, "own": own})


def last_alerts(job: FoundJob) -> list[AlertItem]:
    """The last alerts of a job, the newest first; none where there is no log."""
    try:
        asked = LogQuestion(None, None, EACH, any_text)
        lines = read_page(log_path(job.layout, "alerts"), asked).lines
    except RefusedRequestError:
        return []
    return [alert_item(line) for line in reversed(lines)]
