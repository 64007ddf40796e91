"""Lines of `JOB/job.log`: the operations on a job and their users, which travel with the job.

The log of a run, `JOB/latest/logs/job.log`, is written by the process that crawls, and by no other.
"""

from contextlib import suppress
from pathlib import Path
from typing import Final

from nacre.machine.local_files import append_lines

FILE: Final = "job.log"


def note_line(time: str, level: str, text: str) -> str:
    """A line of the log of a job (pure).

    Args:
        time: RFC 3339 with milliseconds.
        level: `INFO`, `WARNING` or `SEVERE`.
        text: What is said; line feeds become blanks.
    """
    return f"{time} {level} {' '.join(text.split())}"


def append_note(root: Path, line: str) -> None:
    """Add a line to the log of a job; a job whose directory cannot be written has none.

    Args:
        root: Directory of the job.
        line: Without its end.
    """
    with suppress(OSError):
        if root.is_dir():
            append_lines(root / FILE, f"{line}\n".encode("utf-8", "backslashreplace"))
