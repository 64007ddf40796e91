"""The live part of the header of every page: how many jobs run, and how many alerts there are."""

from collections.abc import Sequence
from typing import Any

from nacre.console.live.snapshot import JobSnapshot


def header_facts(seen_jobs: Sequence[JobSnapshot]) -> dict[str, Any]:
    """The numbers of the header.

    Args:
        seen_jobs: The jobs that somebody sees; none for nobody.
    """
    return {
        "running_count": sum(seen.running for seen in seen_jobs),
        "alert_count": sum(seen.overview.alerts for seen in seen_jobs if seen.overview),
    }
