"""The live part of the header of every page: how many jobs run, and how many alerts there are."""

from collections.abc import Mapping, Sequence
from typing import Any

from nacre.console.access.roles import Requester
from nacre.console.fleet.places import FoundJob
from nacre.console.fleet.quota_book import ALL_JOBS, KeptQuota
from nacre.console.live.snapshot import JobSnapshot
from nacre.job.quotas import QuotaLevel


def header_facts(
    jobs: Sequence[tuple[FoundJob, JobSnapshot]], quotas: Mapping[str, KeptQuota], who: Requester
) -> dict[str, Any]:
    """The numbers of the header. A quota that is nearly or fully used up is an alert, too.

    Args:
        jobs: The jobs that somebody sees; none for nobody.
        quotas: All quotas, by the directories of their jobs.
        who: Who sees the page.
    """
    paths = {str(job.layout.root) for job, _ in jobs}
    if who.role and not who.places:
        paths.add(ALL_JOBS)
    alerts = sum(seen.overview.alerts for _, seen in jobs if seen.overview)
    scarce = sum(one.level != QuotaLevel.FREE for path, one in quotas.items() if path in paths)
    return {"running_count": sum(seen.running for _, seen in jobs), "alert_count": alerts + scarce}
