"""SIGKILL at random moments of a process that commits: all that it acknowledged is there."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nacre.store.disk import RealDisk
from nacre.store.file_table import file_rows, get_row
from nacre.store.files import FileKind, FileState
from nacre.store.recovery import StartOptions, recover
from nacre.store.store import Store
from tests.store.writing import record

KILLS = 20


def one_life(job, seconds):
    """Let a process write until it is killed; the last visit that it acknowledged."""
    command = [sys.executable, "-m", "tests.store.writing", str(job)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2], env=environment()
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first, "it ended before its first commit"
        time.sleep(seconds)
        process.kill()
        lines = (first + process.stdout.read()).split(b"\n")
    assert process.returncode == -9
    return int(lines[-2])


def environment():
    return {"PYTHONPATH": "src:."}


def check(job, least):
    with Store.open(str(job / "state")) as store:
        recover(store, RealDisk(), str(job), StartOptions(archives=("archive",)))
        visits = list(store.scan("urls", b""))
        assert [int(key) for key, _ in visits] == list(range(len(visits)))
        assert len(visits) >= least
        contents: dict[int, bytes] = {}
        for n, (_, place) in enumerate(visits):
            number, offset = map(int, place.split())
            if number not in contents:
                row = get_row(store, number)
                assert row is not None
                contents[number] = (job / row.final).read_bytes()
                assert len(contents[number]) == row.size
            assert contents[number][offset:].startswith(record(n))
        log = (job / "logs/crawl.log").read_bytes()
        assert log == b"".join(b"visit %d\n" % n for n in range(len(visits)))
        rows = [row for _, row in file_rows(store) if row.kind == FileKind.WARC]
        assert all(row.state == FileState.CLOSED for row in rows)
        assert {str(p) for p in (job / "archive").iterdir()} == {
            str(job / row.final) for row in rows
        }
        return len(visits)


@pytest.mark.kill
@pytest.mark.timeout(120)
def test_twenty_kills_lose_nothing_that_was_acknowledged(tmp_path):
    rng, total, gained = random.Random(11), 0, 0
    for _ in range(KILLS):
        acknowledged = one_life(tmp_path, rng.uniform(0.0, 0.15))
        count = check(tmp_path, acknowledged)
        gained += count > total
        total = count
    assert gained == KILLS
