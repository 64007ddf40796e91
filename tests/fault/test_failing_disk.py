"""ENOSPC and EIO at the operations of a job: it goes on, or says why it cannot."""

import asyncio
import errno
import random
from pathlib import Path

import pytest

from nacre.core.states import ExitStatus
from nacre.errors import StorageError
from tests.fault.facts import Facts, check, check_same
from tests.fault.jobs import settings
from tests.fault.simulation import Machine, simulated
from tests.fault.site import Site

SAMPLES = 25


class Fault:
    """Makes one operation fail, counted from the first; and those after it, if it lasts."""

    def __init__(self, failing: int, number: int, *, lasts: bool = False) -> None:
        self._left = failing
        self._number = number
        self._lasts = lasts
        self.what = ""

    def __call__(self, operation: str, path: str) -> int:
        self._left -= 1
        if self._left == -1 or (self._lasts and self._left < 0):
            self.what = self.what or f"{operation} of {path}"
            return self._number
        return 0


async def crawl(folder: Path, fault: Fault | None = None) -> tuple[Facts, int, str]:
    """A crawl in which something fails: what it left, its operations, and its last words.

    When it ends with an error it is started again, as an operator would.
    """
    site, words = Site(), ""
    with simulated(folder / "job") as machine:
        machine.reopen = random.Random(0)
        machine.world.fault = fault
        async with site.serving():
            try:
                how = await machine.run(settings(site.url()))
            except StorageError as error:
                words = str(error)
                how = await again(machine, site, folder)
            assert how is ExitStatus.FINISHED
        machine.world.fault = None  # it may lie behind the end
        found = machine.facts(machine.world, settings(site.url()), folder / "files")
    return found, len(machine.world.log), words


async def again(machine: Machine, site: Site, folder: Path) -> ExitStatus:
    """Look at what was left, and start it again."""
    machine.world.reopen(random.Random(1))
    left = machine.world.crash(random.Random(2), "keep")
    check(machine.facts(left, settings(site.url()), folder / "left"))
    return await machine.run(settings(site.url()))


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Facts, int]:
    found, operations, _ = asyncio.run(crawl(tmp_path_factory.mktemp("calm")))
    check(found)
    return found, operations


def fail_at(folder: Path, calm: tuple[Facts, int], failing: int, number: int) -> str:
    fault = Fault(failing, number)
    found, _, words = asyncio.run(crawl(folder / f"{failing}-{number}", fault))
    try:
        check_same(found, calm[0])
    except AssertionError as error:
        error.add_note(f"operation {failing}: {fault.what}, errno {number}")
        raise
    return words if fault.what else "not reached"


@pytest.mark.parametrize("number", [errno.ENOSPC, pytest.param(errno.EIO, marks=pytest.mark.slow)])
def test_an_operation_that_fails_once(tmp_path: Path, calm: tuple[Facts, int], number: int):
    luck, told = random.Random(number), []
    for failing in luck.sample(range(calm[1] - 20), SAMPLES):
        told.append(fail_at(tmp_path, calm, failing, number))
    assert told.count("not reached") < SAMPLES / 4
    assert {words for words in told if f"errno {number}" not in words} <= {"", "not reached"}


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_each_operation_fails_once(tmp_path: Path, calm: tuple[Facts, int], number: int):
    told = [fail_at(tmp_path, calm, failing, number) for failing in range(calm[1] - 20)]
    assert any(f"errno {number}" in words for words in told)


def test_a_disk_that_goes_on_failing_ends_the_job(tmp_path: Path, calm: tuple[Facts, int]):
    """Session after session without progress: the error is told, and nothing is lost."""
    attempts = [0]

    def broken(operation: str, path: str) -> int:
        failing = operation == "pwrite" and path.endswith(".warc.gz.open")
        attempts[0] += failing
        return errno.EIO if failing and attempts[0] > 6 else 0

    async def main() -> Facts:
        site = Site()
        with simulated(tmp_path / "job") as machine:
            machine.reopen, machine.lasting = random.Random(0), broken
            machine.world.fault = broken
            async with site.serving():
                with pytest.raises(StorageError, match=f"errno {errno.EIO}"):
                    await machine.run(settings(site.url()))
                assert 8 <= machine.opened <= 16
                machine.lasting = None
                await again(machine, site, tmp_path)
            return machine.facts(machine.world, settings(site.url()), tmp_path / "files")

    check_same(asyncio.run(main()), calm[0])
