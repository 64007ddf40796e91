"""The live part of the header of every page: how many jobs run, and how many alerts there are."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from nacre.console.access.roles import Requester
from nacre.console.fleet.places import FoundJob
from nacre.console.fleet.quota_book import ALL_JOBS
from nacre.console.live.snapshot import JobSnapshot
from nacre.console.services import ConsoleServices
from nacre.job.quotas import QuotaLevel
from nacre.ops.roles import Role

MENU: Final[Mapping[str, str]] = {
    "new": "new", "new_look": "new", "calendar": "calendar",
    "profile": "profiles", "profiles": "profiles", "clip": "profiles", "clips": "profiles",
    "admin": "admin", "webhooks": "admin",
    "account": "", "login": "", "problem": "", "acted": "", "api_guide": "", "api_operation": "",
}  # fmt: skip
"""The entry of the menu that the page of a template belongs to; "" for none, others to `jobs`."""


def menu_of(template: str) -> str:
    """The entry of the menu that the page of a template, such as `new.html`, belongs to."""
    return MENU.get(template.removesuffix(".html"), "jobs")


def header_facts(
    services: ConsoleServices, jobs: Sequence[tuple[FoundJob, JobSnapshot]], who: Requester
) -> dict[str, Any]:
    """The numbers of the header.

    A quota that is nearly or fully used up is an alert, too; so is trouble of the console itself,
    for administrators.

    Args:
        services: The parts of the console.
        jobs: The jobs that somebody sees; none for nobody.
        who: Who sees the page.
    """
    paths = {str(job.layout.root) for job, _ in jobs}
    if who.role and not who.places:
        paths.add(ALL_JOBS)
    alerts = sum(seen.overview.alerts for _, seen in jobs if seen.overview)
    quotas = services.quotas.all().items()
    scarce = sum(one.level != QuotaLevel.FREE for path, one in quotas if path in paths)
    own = len(services.troubles.all()) if who.role >= Role.ADMIN else 0
    return {
        "running_count": sum(seen.running for _, seen in jobs),
        "alert_count": alerts + scarce + own,
    }
