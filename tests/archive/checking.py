"""Checks one WARC by itself."""

from pathlib import Path

from nacre.archive.check import Checker, CheckSummary
from nacre.archive.findings import CheckFinding


def check_file(path: Path, index: Path | None = None) -> tuple[list[CheckFinding], CheckSummary]:
    """Check one file by itself.

    Args:
        path: A WARC, plain or compressed.
        index: Its CDXJ; None when there is none to compare.

    Returns:
        What was found, in order of its place, and the counts.
    """
    checker = Checker()
    checker.file(path, index)
    return checker.finish(), checker.summary
