"""Check a job before a run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nacre.errors import JobError

if TYPE_CHECKING:
    from nacre.config.check import Loaded
    from nacre.core.clock import Clock
    from nacre.job.checks import Findings
    from nacre.settings.settings import JobSettings
    from nacre.store.layout import Layout


def examine(
    layout: "Layout", assignments: Sequence[str] = (), *, strict: bool = False
) -> "tuple[Loaded[JobSettings] | None, Findings]":
    """Return the settings of a job, None if they cannot be read, and all findings.

    Args:
        layout: Directories of the job.
        assignments: Other settings, `path=value`.
        strict: An invalid line of a seed list is a problem.

    Raises:
        JobError: The directory is not a job.
    """
    import asyncio

    from nacre.engine.clock import SystemClock
    from nacre.fetch.dns import DnsResolver
    from nacre.job.checks import check
    from nacre.settings.contact import resolver_lookup
    from nacre.settings.load import examine_job
    from nacre.settings.settings import JobSettings

    loaded, problems = examine_job(layout, assignments)
    settings = loaded.settings if loaded else JobSettings()
    lookup = resolver_lookup(DnsResolver(settings.dns, SystemClock()))
    return loaded, asyncio.run(check(layout, loaded, problems, lookup, strict=strict))


def require_later(layout: "Layout", clock: "Clock") -> None:
    """Refuse a `--now` before the end of the last run.

    Raises:
        JobError: It is before: the history of the job would go back.
    """
    from nacre.engine.clock import MovedClock
    from nacre.inspect.view import latest_time
    from nacre.runs.start_time import refusal

    if isinstance(clock, MovedClock):
        text = refusal(clock.now(), latest_time(layout), str(layout.root))
        if text:
            raise JobError(text)
