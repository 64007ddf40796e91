"""Quotas of disk space."""

import os
from pathlib import Path

import pytest

from nacre.job.quotas import QuotaLevel, decide_quota, disk_usage

FREE, WARNING, FULL = QuotaLevel.FREE, QuotaLevel.WARNING, QuotaLevel.FULL


@pytest.mark.parametrize(
    ("used", "quota", "before", "level", "tells"),
    [
        (0, 0, FREE, FREE, False),
        (10**15, 0, FULL, FREE, True),
        (899, 1000, FREE, FREE, False),
        (900, 1000, FREE, WARNING, True),
        (999, 1000, WARNING, WARNING, False),
        (860, 1000, WARNING, WARNING, False),
        (849, 1000, WARNING, FREE, True),
        (1000, 1000, WARNING, FULL, True),
        (2000, 1000, FULL, FULL, False),
        (999, 1000, FULL, WARNING, True),
    ],
)
def test_levels(used: int, quota: int, before: QuotaLevel, level: QuotaLevel, tells: bool):
    found = decide_quota(used, quota, before)
    assert (found.level, found.hold, found.tells) == (level, level is FULL, tells)


def test_the_numbers_in_words():
    assert decide_quota(950_000_000, 10**9).text == "95 %, 950 MB of 1.0 GB are used"


def test_usage_counts_files_once_and_follows_no_links(tmp_path: Path):
    folder = tmp_path / "job" / "新闻"
    folder.mkdir(parents=True)
    (folder / "a").write_bytes(b"x" * 100_000)
    one = disk_usage(tmp_path / "job")
    assert one >= 100_000
    os.link(folder / "a", folder / "b")
    (tmp_path / "outside").write_bytes(b"x" * 500_000)
    (folder / "c").symlink_to(tmp_path / "outside")
    (folder / "loop").symlink_to(folder)
    assert disk_usage(tmp_path / "job") < 150_000
    assert disk_usage(tmp_path / "none") == 0
