"""The live part of the header of every page: how many jobs run, and how many alerts there are."""

from typing import Any

from nacre.console.access.roles import Requester
from nacre.console.live.poller import Poller


def header_facts(poller: Poller, identity: Requester) -> dict[str, Any]:
    """The numbers of the header, of the jobs that somebody sees; 0 for nobody.

    Args:
        poller: Knows the jobs.
        identity: Who looks.
    """
    seen_jobs = [
        seen for job, seen in poller.snapshots() if identity.role and identity.sees(job.place)
    ]
    return {
        "running_count": sum(seen.running for seen in seen_jobs),
        "alert_count": sum(seen.overview.alerts for seen in seen_jobs if seen.overview),
    }
