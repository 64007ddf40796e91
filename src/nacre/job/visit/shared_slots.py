"""Where the jobs of one user share their politeness: a file in the user's cache directory."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from nacre.frontier.settings import PolitenessSettings
from nacre.frontier.slots import Moment, SlotTable

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_STALE = 30 * 86_400.0
"""Seconds after which the table of an earlier boot, or of another machine, is in nobody's use."""


def slots_directory() -> Path:
    """`nacre/slots` in `$XDG_CACHE_HOME` or ~/.cache.

    Not in `$XDG_RUNTIME_DIR`: what cron and systemd start has none, and must share, too.
    """
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(home).expanduser() / "nacre" / "slots"


def open_slots(
    politeness: PolitenessSettings, moment: Moment, tell: Callable[[str], None]
) -> SlotTable | None:
    """The table; None when it is switched off, when there is no delay, or when it cannot be had.

    Args:
        politeness: What holds for the whole crawl.
        moment: The time.
        tell: Called with a text for the operator when it fails, now or later.
    """
    if not politeness.shared_slots or politeness.delay == 0:
        return None
    try:
        # The monotonic clock is one for all processes of a boot.
        path = slots_directory() / _BOOT.read_text("ascii").strip()
        table = SlotTable(path, tell, moment)
    except (OSError, RuntimeError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or error
        tell(
            f"politeness is not shared with other jobs, as {slots_directory()} cannot be used: "
            f"{reason} (politeness.shared_slots=false switches it off)"
        )
        return None
    _sweep(path, moment.now)
    return table


def _sweep(own: Path, now: float) -> None:
    """Remove the tables of other boots that nobody wrote to for long."""
    with contextlib.suppress(OSError):
        for path in own.parent.iterdir():
            if path != own and path.lstat().st_mtime < now - _STALE:
                path.unlink()
