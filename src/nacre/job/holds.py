"""Holds: pauses with a reason that the caller gives, such as a quota, in the file `control/hold`.

A line for each, `REASON: NOTE`. The file is the only record of them, so that they last over
restarts, and can be given while the job does not run.
"""

import re
from pathlib import Path

from nacre.errors import ConfigError
from nacre.machine.local_files import read_ordinary, replace_file
from nacre.messages import message
from nacre.report.escape import flat

NAME = "hold"
"""Name of the file in `control/`."""
RESERVED = frozenset(("operator", "disk", "runtime"))
"""Reasons of the crawler itself."""
_REASON = re.compile(r"[a-z][a-z0-9-]{0,31}\Z")
LARGEST = 100_000
"""Bytes of the largest file that is read."""
_LONGEST_NOTE = 500


def check_reason(reason: str) -> str:
    """The reason, if it can be one.

    Raises:
        ConfigError: It cannot.
    """
    if not _REASON.match(reason):
        raise ConfigError(
            message(
                "job.is-no-reason-of-hold",
                "{reason!r} is no reason of a hold: it has up to 32 lower-case letters, digits and "
                "hyphens, such as quota",
                reason=reason,
            )
        )
    if reason in RESERVED:
        raise ConfigError(
            message(
                "job.is-reason-of-crawler-itself",
                "{reason!r} is a reason of the crawler itself; choose another",
                reason=reason,
            )
        )
    return reason


def holds_in(text: str) -> dict[str, str]:
    """The holds in the text of a file: reason -> note; lines that begin with `#` are comments.

    Raises:
        ConfigError: A line has no reason.
    """
    lines = (line.strip() for line in text.splitlines())
    parted = (line.partition(":") for line in lines if line and not line.startswith("#"))
    return {check_reason(reason.strip()): note.strip() for reason, _, note in parted}


def change_hold(folder: Path, reason: str, note: str | None) -> None:
    """Add a hold to the file, or take it out; nothing happens when it is not there.

    Args:
        folder: `control/` of the job.
        reason: The reason.
        note: More, for people; None takes the hold out.

    Raises:
        ConfigError: The reason or the file is wrong, or the file cannot be written.
    """
    check_reason(reason)
    path = folder / NAME
    try:
        holds = holds_in(read_ordinary(path, LARGEST).decode()) if path.exists() else {}
        if note is None:
            holds.pop(reason, None)
        else:
            holds[reason] = flat(note)[:_LONGEST_NOTE]
        if not holds:
            path.unlink(missing_ok=True)
            return
        folder.mkdir(0o700, exist_ok=True)
        text = "".join(f"{name}: {hold_note}\n" for name, hold_note in holds.items())
        replace_file(path, text.encode(), 0o600)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            message(
                "job.cannot-be-changed", "{path} cannot be changed: {error}", path=path, error=error
            )
        ) from None
