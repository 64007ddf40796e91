"""Copies of lines of the audit log in `JOB/job.log`: who did what to a job travels with it.

The log of a run, `JOB/latest/logs/job.log`, is written by the process that crawls, and by no other.
"""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from nacre.console.access.audit import AuditEntry, append
from nacre.console.fleet.places import FoundJob

FILE: Final = "job.log"


def note_line(time: str, level: str, text: str) -> str:
    """A line of the log of a job (pure).

    Args:
        time: RFC 3339 with milliseconds.
        level: `INFO`, `WARNING` or `SEVERE`.
        text: What is said; line feeds become blanks.
    """
    return f"{time} {level} {' '.join(text.split())}"


def audit_text(entry: AuditEntry) -> str:
    """The words of a line of the audit log for a job: who, how, and what came of it (pure)."""
    place = f", from {entry.address}" if entry.address else ""
    what = entry.action if entry.outcome == "done" else f"refused ({entry.outcome}): {entry.action}"
    return f"{what}, by {entry.who} ({entry.how}{place})"


async def copy_to_jobs(
    entry: AuditEntry, known: Iterable[FoundJob], names: Sequence[str] = ()
) -> None:
    """Copy a line of the audit log to the jobs that it is about; one about nobody is not copied.

    Args:
        entry: The line.
        known: All jobs.
        names: Ids of the jobs, where they are several.
    """
    wanted = {*names, entry.job} - {""}
    if not entry.who or not wanted:
        return
    line = note_line(entry.time, "INFO", audit_text(entry))
    for job in known:
        if job.id in wanted:
            await asyncio.to_thread(append_note, job.layout.root, line)


def append_note(root: Path, line: str) -> None:
    """Add a line to the log of a job; a job whose directory cannot be written has none.

    Args:
        root: Directory of the job.
        line: Without its end.
    """
    with suppress(OSError):
        if root.is_dir():
            append(root / FILE, f"{line}\n".encode("utf-8", "backslashreplace"))
