"""WARCs that are missing or cut short: refused; by leave, what was in them is fetched again."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from nacre.core.states import ExitStatus
from nacre.errors import DamageError, StorageError
from nacre.job import repair
from tests.cli.site import many_pages, nacre, site
from tests.fault.facts import Facts, by_path, check_counters, path_of, records
from tests.fault.jobs import crawl, facts_of
from tests.fault.site import Site


def run(main: Callable[[Site], Awaitable[None]]) -> Site:
    site = Site()

    async def served() -> None:
        async with site.serving():
            await main(site)

    asyncio.run(served())
    return site


def second_warc(root: Path) -> Path:
    """A closed WARC with originals of revisits in others."""
    return sorted((root / "latest" / "archive").glob("*.warc.gz"))[1]


def remove(warc: Path) -> set[str]:
    urls = {record.url for record in records(warc)} - {""}
    warc.unlink()
    return urls


def shorten(warc: Path) -> set[str]:
    """Cut within a record; the URLs whose captures are not whole any more."""
    found = list(records(warc))
    last = found[len(found) // 2]
    with warc.open("r+b") as file:
        file.truncate(last.offset + 40)
    return {record.url for record in found if record.offset >= last.offset}


def empty(warc: Path) -> set[str]:
    urls = {record.url for record in records(warc)} - {""}
    warc.write_bytes(b"")
    return urls


def check_found_again(found: Facts, calm: Facts, site: Site, lost: set[str]) -> None:
    """Everything is there again, and what was lost was asked for once more."""
    assert [d for d in found.damage[2:] if "revisit-unresolved" not in d] == []
    assert by_path(found.payloads) == by_path(calm.payloads)
    assert {u: o.status for u, o in by_path(found.outcomes).items()} == {
        u: o.status for u, o in by_path(calm.outcomes).items()
    }
    check_counters(found)
    asked = {path for path, count in site.asked.items() if count > 1} - {"/broken.html"}
    assert {path_of(url) for url in lost} - {"/robots.txt"} <= asked
    assert found.counted == calm.counted
    for url, outcome in found.outcomes.items():
        if outcome.file:
            assert found.records[outcome.file, outcome.offset].url == url
    for original, name in found.originals:
        assert found.records[name, original.offset].id == original.record_id


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    root = tmp_path_factory.mktemp("calm") / "job"

    async def main(site: Site) -> None:
        await crawl(root, site)

    run(main)
    return facts_of(root)


@pytest.mark.parametrize("spoil", [remove, shorten, empty])
@pytest.mark.parametrize("requests", [25, 0])
def test_what_is_lost_by_leave_is_fetched_again(
    tmp_path: Path, calm: Facts, spoil: Callable[[Path], set[str]], requests: int
):
    root, lost = tmp_path / "job", set()

    async def main(site: Site) -> None:
        await crawl(root, site, requests)
        warc = second_warc(root)
        lost.update(spoil(warc))
        with pytest.raises(DamageError, match=rf"(?s){warc.name}.*--accept-loss"):
            await crawl(root, site)
        assert await crawl(root, site, accept_loss=True) is ExitStatus.FINISHED
        before = site.asked.total()
        assert await crawl(root, site) is ExitStatus.FINISHED
        assert site.asked.total() == before

    site = run(main)
    check_found_again(facts_of(root), calm, site, lost)
    told = (root / "latest" / "logs" / "recovery.log").read_text()
    assert all(url in told for url in lost)


def test_a_start_that_is_cut_off_is_gone_on_with(
    tmp_path: Path, calm: Facts, monkeypatch: pytest.MonkeyPatch
):
    root, lost = tmp_path / "job", set()

    async def cut_off(*_: object) -> None:
        raise StorageError("cut off")

    async def main(site: Site) -> None:
        await crawl(root, site, 25)
        lost.update(remove(second_warc(root)))
        with monkeypatch.context() as patch:
            patch.setattr(repair, "_remake_indexes", cut_off)
            job = asyncio.ensure_future(crawl(root, site, accept_loss=True))
            await asyncio.sleep(0.3)
            job.cancel()
            with pytest.raises(asyncio.CancelledError):
                await job
        assert await crawl(root, site) is ExitStatus.FINISHED

    site = run(main)
    check_found_again(facts_of(root), calm, site, lost)


@pytest.mark.parametrize("limit", [4, 0])
def test_the_command_line(tmp_path: Path, limit: int):
    job = tmp_path / "job"
    with site(many_pages(8)) as home:
        crawled = nacre("crawl", home, "--delay", 0, "--out", job, "--max-pages", limit or 99, "-q")
        assert crawled.code == (4 if limit else 0)
        next((job / "latest" / "archive").glob("*.warc.gz")).unlink()
        if limit:
            refused = nacre("run", job, "-q")
            assert refused.code == 1
            assert "missing" in refused.err
            assert "--accept-loss" in refused.err
        done = nacre("run", job, "--accept-loss", "--set", "limits.documents=0")
        assert done.code == 0, done.err
        assert "resumes run" in done.err
    assert nacre("archive", job, "check").code == 0
    for number in range(8):
        told = nacre("explain", job, f"{home}p{number}.html", "--json").out
        assert '"status":200' in told
