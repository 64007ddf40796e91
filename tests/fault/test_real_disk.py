"""A small file system that really fills up under a job, and one that may not be written."""

import asyncio
import os
import re
import subprocess
from collections.abc import Coroutine, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from nacre.core.events import Alert, Event
from nacre.core.states import ExitStatus
from nacre.errors import StorageError
from nacre.job.job import Job
from tests.cli.site import nacre
from tests.fault.facts import Facts, check_same
from tests.fault.jobs import QuickClock, crawl, facts_of, prepare, settings
from tests.fault.site import Site

pytestmark = pytest.mark.crawl
SIZE = 130_000_000
CHUNK = bytes(1 << 20)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 130 MB."""
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", str(place)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("mounting a small file system needs root")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    root, site = tmp_path_factory.mktemp("calm") / "job", Site()

    async def main() -> None:
        async with site.serving():
            await crawl(root, site)

    asyncio.run(main())
    return facts_of(root)


def remount(place: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(place)], check=True)


class FastClock(QuickClock):
    """Minutes pass in seconds, so that the disk is looked at often."""

    def monotonic(self) -> float:
        return super().monotonic() * 30


class Filler:
    """Takes the space of a file system away, and gives it back when the job complains.

    Attributes:
        told: What the job said.
        trouble: What `nacre status` said of the trouble, each time that the job said it waits.
        job: The job.
    """

    def __init__(self, place: Path, leave: int) -> None:
        self._file = place / "filler"
        self._leave = leave
        self.told: list[str] = []
        self.trouble: list[str] = []
        self.job: Job | None = None

    def fill(self) -> None:
        with self._file.open("wb", buffering=0) as file:
            free = os.statvfs(self._file).f_bavail * os.statvfs(self._file).f_frsize
            with suppress(OSError):  # full
                for _ in range((free - self._leave) // len(CHUNK) + (self._leave == 0)):
                    file.write(CHUNK)

    def heard(self, event: Event) -> None:
        if isinstance(event, Alert):
            self.told.append(event.message)
            if event.message.startswith("waiting for space") and self.job is not None:
                self.trouble.append(self.job.trouble)
            if "for space" in event.message:
                self._file.unlink(missing_ok=True)


async def run_filled(root: Path, filler: Filler) -> ExitStatus:
    """A crawl in the middle of which the disk is filled."""
    site = Site()
    prepare(root)

    def fill(_path: str) -> None:
        if site.asked.total() == 12:
            filler.fill()

    async with site.serving():
        site.on_request, site.pause = fill, 0.1
        job = Job(root, settings(site.url()), clock=FastClock())
        filler.job = job
        job.events.subscribe(filler.heard)
        return await job.run()


@pytest.mark.parametrize(
    ("leave", "words"),
    [
        # Whichever comes first: a write that fails, or the look at the space.
        (0, "No space left on device.*opening the job again|paused for space: "),
        (40_000_000, "paused for space: "),
    ],
)
def test_a_disk_that_fills_up_and_is_freed_again(small: Path, calm: Facts, leave: int, words: str):
    """Full at once, or short: the job waits, and goes on by itself when there is space."""
    filler = Filler(small, leave)
    assert asyncio.run(run_filled(small / "job", filler)) is ExitStatus.FINISHED
    assert re.search(words, "\n".join(filler.told)), filler.told
    assert filler.trouble == [text for text in filler.told if text.startswith("waiting for space")]
    check_same(facts_of(small / "job"), calm)


def test_a_directory_that_may_not_be_written(small: Path, calm: Facts):
    """Told with a remedy, exit 1, and the job goes on when it may be written again."""
    root, site = small / "job", Site()

    async def main() -> None:
        async with site.serving():
            assert await crawl(root, site, 12) is ExitStatus.INTERRUPTED
            with pytest.raises(StorageError, match=r"is read-only: mount it read-write"):
                await read_only(crawl(root, site))
            assert await crawl(root, site) is ExitStatus.FINISHED

    async def read_only(run: Coroutine[None, None, ExitStatus]) -> None:
        remount(small, "ro")
        try:
            await run
        finally:
            remount(small, "rw")

    asyncio.run(main())
    check_same(facts_of(root), calm)


def test_the_command_line_says_so_too(small: Path):
    assert nacre("new", small / "job", "http://127.0.0.1:9/").code == 0
    remount(small, "ro")
    for command in (("run", small / "job"), ("crawl", "http://127.0.0.1:9/", "--out", small / "n")):
        done = nacre(*command)
        assert done.code in {1, 2}
        assert "cannot be written" in done.err or "ead-only file system" in done.err
        assert "Traceback" not in done.err


def test_a_job_on_a_read_only_medium_can_be_looked_at(small: Path):
    root, site = small / "job", Site()

    async def main() -> str:
        async with site.serving():
            assert await crawl(root, site, 12) is ExitStatus.INTERRUPTED
            return site.url()

    url = asyncio.run(main())
    looks = [
        ("status", root),
        ("report", root),
        ("explain", root, url),
        ("frontier", root, "count"),
        ("archive", root, "check"),
    ]
    wanted = [nacre(*look) for look in looks]
    remount(small, "ro")
    try:
        seen = [nacre(*look) for look in looks]
        refused = nacre("archive", root, "index")
    finally:
        remount(small, "rw")
    assert [(done.code, done.out) for done in seen] == [(done.code, done.out) for done in wanted]
    assert {done.code for done in seen} == {0}
    assert refused.code == 2
    assert "mount it read-write" in refused.err
