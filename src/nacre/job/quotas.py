"""Quotas of disk space: when a job, or all jobs together, are warned of and held.

`decide_quota` is pure. Nothing is ever deleted. `disk_usage` counts the bytes of a directory; it
blocks, so that it belongs into a thread.
"""

import os
from collections.abc import Iterator
from enum import StrEnum

import msgspec

from nacre.messages import message
from nacre.report.formatting import size

WARN = 0.9
"""Share of a quota from which a warning is given."""
EASED = 0.85
"""Share below which a warning is over: a job at the line would warn again and again."""


class QuotaLevel(StrEnum):
    """The level of a quota: how much of it is used."""

    FREE = "free"
    WARNING = "warning"
    FULL = "full"


class QuotaDecision(msgspec.Struct, frozen=True):
    """The decision about a quota.

    Attributes:
        level: How much is used.
        hold: What it is about is to be held; False: it is to be released.
        tells: The level has changed, and the users are notified.
        text: The numbers in words.
    """

    level: QuotaLevel
    hold: bool
    tells: bool
    text: str


def decide_quota(used: int, quota: int, before: QuotaLevel = QuotaLevel.FREE) -> QuotaDecision:
    """Decide about a quota: a warning from 90 % on, a hold from 100 % on.

    Args:
        used: Bytes that are used.
        quota: Bytes that may be used; 0: no quota.
        before: The level of the last decision.
    """
    level = _level(used, quota, before)
    full = level is QuotaLevel.FULL
    text = message("job.quota-used", "{used} are used", used=size(used))
    if quota:
        text = message(
            "job.quota-share",
            "{share:.0f} %, {used} of {quota} are used",
            share=100 * used / quota,
            used=size(used),
            quota=size(quota),
        )
    return QuotaDecision(level, full, level is not before, text)


def _level(used: int, quota: int, before: QuotaLevel) -> QuotaLevel:
    if not quota:
        return QuotaLevel.FREE
    if used >= quota:
        return QuotaLevel.FULL
    lasts = before is not QuotaLevel.FREE and used >= EASED * quota
    return QuotaLevel.WARNING if used >= WARN * quota or lasts else QuotaLevel.FREE


def disk_usage(root: str | os.PathLike[str]) -> int:
    """Bytes that the files below a directory occupy; those with several names count once.

    Links are not followed. What vanishes meanwhile or cannot be read counts nothing.
    """
    total, counted = 0, set[tuple[int, int]]()
    for entry in _files(root):
        try:
            facts = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        identity = (facts.st_dev, facts.st_ino)
        if facts.st_nlink > 1 and identity in counted:
            continue
        if facts.st_nlink > 1:
            counted.add(identity)
        total += facts.st_blocks * 512
    return total


def _files(root: str | os.PathLike[str]) -> "Iterator[os.DirEntry[str]]":
    folders = [os.fspath(root)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        yield entry
        except OSError:
            continue
