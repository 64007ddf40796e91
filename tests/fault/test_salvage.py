"""An older store beside a newer archive: refused, salvaged, and crawled on as if nothing were."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from nacre.core.states import ExitStatus
from nacre.errors import DamageError, StorageError
from nacre.job import salvaged as salvaged_module
from nacre.job.salvaged import _Registration
from nacre.job.stopped_job import SalvageResult, salvage
from nacre.machine.layout import Layout
from nacre.store.store import Store
from tests.fault.facts import Facts, by_path, check, check_same
from tests.fault.jobs import crawl, facts_of, settings
from tests.fault.site import Site

ROBOTS = ("/robots.txt",)
"""Prerequisites are fetched again when the older store does not know them."""


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    """What an undisturbed crawl leaves."""
    root, site = tmp_path_factory.mktemp("calm") / "job", Site()

    async def main() -> None:
        async with site.serving():
            assert await crawl(root, site) is ExitStatus.FINISHED

    asyncio.run(main())
    return facts_of(root)


async def with_older_store(root: Path, site: Site, older: int, newer: int) -> None:
    """Crawl in two steps, then put the store of the first beside the archive of the second."""
    store = root / "state" / "store"
    assert await crawl(root, site, older) is ExitStatus.INTERRUPTED
    shutil.copytree(store, root / "older")
    await crawl(root, site, newer)
    shutil.rmtree(store)
    (root / "older").rename(store)


async def salvaged(root: Path, site: Site) -> SalvageResult:
    return await asyncio.to_thread(salvage, Layout(root), settings(site.url()))


def run(main: Callable[[Site], Awaitable[None]]) -> Site:
    site = Site()

    async def served() -> None:
        async with site.serving():
            await main(site)

    asyncio.run(served())
    return site


def asked(site: Site) -> dict[str, int]:
    """Requests by path, those apart that fail and are made again."""
    again = ("/broken.html", *ROBOTS)
    return {path: count for path, count in site.asked.items() if path not in again}


@pytest.mark.parametrize(("older", "newer"), [(3, 20), (12, 3), (8, 0), (1, 28)])
def test_captures_of_lost_groups_are_registered(
    tmp_path: Path, calm: Facts, older: int, newer: int
):
    root = tmp_path / "job"

    async def main(site: Site) -> None:
        await with_older_store(root, site, older, newer)
        with pytest.raises(DamageError, match=r"(?s)older than the archive.*archive JOB salvage"):
            await crawl(root, site)
        done = await salvaged(root, site)
        assert done.files >= 1
        assert done.captures >= 1
        assert done.moved == ()
        assert await crawl(root, site) is ExitStatus.FINISHED

    site = run(main)
    check_same(facts_of(root), calm, is_salvaged=True)
    assert set(asked(site).values()) == {1}


@pytest.mark.parametrize("steps", [1, 3])
def test_a_registration_that_is_cut_off_goes_on_with_the_next_start(
    tmp_path: Path, calm: Facts, steps: int, monkeypatch: pytest.MonkeyPatch
):
    root, left = tmp_path / "job", [steps]
    register = _Registration._register

    def cut_off(self: _Registration, *args: object) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise StorageError("cut off")
        register(self, *args)  # type: ignore[arg-type]

    async def main(site: Site) -> None:
        await with_older_store(root, site, 6, 16)
        with monkeypatch.context() as patch:
            patch.setattr(salvaged_module, "_STEP", 1)
            patch.setattr(_Registration, "_register", cut_off)
            with pytest.raises(ExceptionGroup):
                await salvaged(root, site)
        assert await crawl(root, site) is ExitStatus.FINISHED

    site = run(main)
    check_same(facts_of(root), calm, is_salvaged=True)
    assert set(asked(site).values()) == {1}


def test_a_store_that_is_gone_is_made_again_from_the_archive(tmp_path: Path, calm: Facts):
    root = tmp_path / "job"

    async def main(site: Site) -> None:
        await crawl(root, site, 15)
        shutil.rmtree(root / "state")
        await salvaged(root, site)
        assert await crawl(root, site) is ExitStatus.FINISHED

    site = run(main)
    found = facts_of(root)
    check(found, ROBOTS, is_salvaged=True)
    assert by_path(found.captures).keys() == by_path(calm.captures).keys()
    assert set(asked(site).values()) == {1}


def test_a_torn_record_in_the_tail_is_moved_aside_and_fetched_again(tmp_path: Path, calm: Facts):
    root = tmp_path / "job"

    async def main(site: Site) -> None:
        await with_older_store(root, site, 4, 20)
        warc = max((root / "latest" / "archive").glob("*-0000*.warc.gz"))
        content = bytearray(warc.read_bytes())
        content[-20] ^= 0xFF
        warc.write_bytes(content)
        done = await salvaged(root, site)
        assert any(warc.name in path for path in done.moved)
        assert await crawl(root, site) is ExitStatus.FINISHED

    site = run(main)
    found = facts_of(root)
    assert not found.damage
    assert by_path(found.payloads) == by_path(calm.payloads)
    assert sorted(set(asked(site).values())) == [1, 2]
    assert list(asked(site).values()).count(2) == 1


@pytest.mark.parametrize("part", [0.2, 0.5, 0.8])
def test_a_bit_flipped_in_the_log_of_the_store(tmp_path: Path, calm: Facts, part: float):
    """The store comes back as it was before; the WARCs are its witness."""
    root = tmp_path / "job"

    async def main(site: Site) -> None:
        await crawl(root, site, 24)
        flip_in_log(root / "killed", part)
        shutil.rmtree(root / "state" / "store")
        (root / "killed").rename(root / "state" / "store")
        with pytest.raises(DamageError, match="older than the archive"):
            await crawl(root, site)
        assert (await salvaged(root, site)).captures > 0
        assert await crawl(root, site) is ExitStatus.FINISHED

    with killed_store(root):
        site = run(main)
    check_same(facts_of(root), calm, ROBOTS, is_salvaged=True)
    assert set(asked(site).values()) == {1}


@contextmanager
def killed_store(root: Path) -> Iterator[None]:
    """Each time the store closes, keep it as a process leaves it that is killed: with its log."""
    close = Store.close

    def kept(self: Store) -> None:
        shutil.rmtree(root / "killed", ignore_errors=True)
        shutil.copytree(root / "state" / "store", root / "killed")
        close(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "close", kept)
        yield


def flip_in_log(store: Path, part: float) -> None:
    log = max(store.glob("*.log"), key=lambda path: path.stat().st_size)
    content = bytearray(log.read_bytes())
    assert len(content) > 10_000
    content[int(len(content) * part)] ^= 4
    log.write_bytes(content)


def test_a_start_without_the_store_is_refused(tmp_path: Path):
    """Closed WARCs that no store knows are an archive, not what a crash left behind."""
    root = tmp_path / "job"

    async def main(site: Site) -> None:
        await crawl(root, site, 15)
        shutil.rmtree(root / "state")
        with pytest.raises(DamageError, match="the store does not know this file"):
            await crawl(root, site)

    run(main)
    assert not (root / "lost+found").exists()
