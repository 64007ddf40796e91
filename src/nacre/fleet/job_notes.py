"""Copies of lines of the audit log in `JOB/job.log`."""

import asyncio
from collections.abc import Iterable, Sequence

from nacre.fleet.audit import AuditEntry
from nacre.fleet.places import FoundJob
from nacre.runs.runs import append_note, note_line


def audit_text(entry: AuditEntry) -> str:
    """The words of a line of the audit log for a job: who, how, and what came of it (pure)."""
    place = f", from {entry.address}" if entry.address else ""
    action = (
        entry.action if entry.outcome == "done" else f"refused ({entry.outcome}): {entry.action}"
    )
    return f"{action}, by {entry.who} ({entry.how}{place})"


async def copy_to_jobs(
    entry: AuditEntry, jobs: Iterable[FoundJob], names: Sequence[str] = ()
) -> None:
    """Copy a line of the audit log to the jobs that it is about; one about nobody is not copied.

    Args:
        entry: The line.
        jobs: All jobs.
        names: Ids of the jobs, where they are several.
    """
    ids = {*names, entry.job} - {""}
    if not entry.who or not ids:
        return
    line = note_line(entry.time, "INFO", audit_text(entry))
    for job in jobs:
        if job.id in ids:
            await asyncio.to_thread(append_note, job.layout.root, line)
