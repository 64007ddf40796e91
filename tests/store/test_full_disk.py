"""A small file system that really fills up: the store alone, or all of the job."""

import asyncio
import os
import subprocess
import sys

import pytest

from nacre.errors import StorageError
from nacre.store.commit import GroupCommit
from nacre.store.disk import RealDisk
from nacre.store.file_table import get_row
from nacre.store.files import FileKind
from nacre.store.opening import Ballast
from nacre.store.recovery import StartOptions, recover
from nacre.store.store import Store
from tests.store.running import MEMORY
from tests.store.writing import SystemClock

SIZE = 48_000_000


@pytest.fixture
def small(tmp_path):
    """A file system of 48 MB."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("mounting a small file system needs root")
    yield place
    subprocess.run(["umount", str(place)], check=True)


async def crawl(state, job, visits):
    """Visits from where the store stands; returns how many were acknowledged."""
    acknowledged = [0]
    store = Store.open(str(state), memory=MEMORY)
    recover(store, RealDisk(), str(job), StartOptions(archives=("archive",)))
    commit = GroupCommit(store, RealDisk(), str(job), SystemClock())

    async def work():
        done = sum(1 for _ in store.scan("urls", b""))
        warc = commit.create_file(FileKind.WARC, f"archive/{done}.warc.gz.open")
        log = commit.log("logs/crawl.log")
        while done < visits:
            for _ in range(50):
                offset = commit.append(warc, b"%08d" % done * 500)
                store.put("urls", b"%08d" % done, b"%d %d" % (warc, offset))
                store.put("robots", b"%08d" % done, os.urandom(4000))
                commit.line(log, b"%08d\n" % done)
                done += 1
                commit.visit_done()
            await commit.flush()
            acknowledged[0] = done
        commit.finish()

    error = None
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(commit.run())
            group.create_task(work())
    except* StorageError as failed:
        error = failed.exceptions[0]
    commit.close()
    store.close()
    return acknowledged[0], error


def check(state, job, least):
    with Store.open(str(state), memory=MEMORY) as store:
        recover(store, RealDisk(), str(job), StartOptions(archives=("archive",)))
        rows = list(store.scan("urls", b""))
        assert [int(key) for key, _ in rows] == list(range(len(rows)))
        assert len(rows) >= least
        contents: dict[int, bytes] = {}
        for key, place in rows:
            number, offset = map(int, place.split())
            if number not in contents:
                row = get_row(store, number)
                assert row is not None
                contents[number] = (job / row.final).read_bytes()
            assert contents[number][offset : offset + 4000] == key * 500
        assert (job / "logs/crawl.log").read_bytes() == b"".join(key + b"\n" for key, _ in rows)
        return len(rows)


def test_a_store_can_be_closed_though_its_files_cannot_be_merged(small):
    """In a process of its own: what is tested would hold up everything here."""
    command = [sys.executable, "-m", "tests.store.crowded", str(small)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("1901 1901\n", "")


@pytest.mark.parametrize("store_alone", [True, False])
def test_a_disk_that_fills_up_and_is_freed_again(small, tmp_path, store_alone):
    state, job = small / "state", tmp_path / "job" if store_alone else small
    ballast = Ballast(RealDisk(), str(small / "ballast"), 8_000_000)
    assert ballast.keep(str(small), 8_000_000)
    acknowledged, error = asyncio.run(crawl(state, job, 100_000))
    assert acknowledged > 500
    assert "No space left on device" in str(error)
    assert "Free some space" in str(error)
    # A large write may fail while more than that is free: then it is room enough already.
    left = RealDisk().free_space(str(small))
    assert ballast.free(str(small), 8_000_000) is (left < 8_000_000)
    count = check(state, job, acknowledged)
    done, error = asyncio.run(crawl(state, job, count + 100))
    assert error is None
    assert check(state, job, done) >= count + 100
