"""Stores of other versions, damage that was committed, and clocks that jump."""

import asyncio
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from nacre.core.events import Alert, Event
from nacre.core.states import ExitStatus
from nacre.errors import StorageError
from nacre.frontier.settings import PolitenessSettings
from nacre.job.job import Job
from nacre.store import schema
from nacre.store.seam import StorageEngine
from nacre.store.store import Store
from tests.cli.site import many_pages, nacre, site
from tests.fault.facts import Facts, by_path, check_same, path_of
from tests.fault.jobs import QuickClock, crawl, facts_of, prepare, settings
from tests.fault.site import Site

DAY = 86_400.0


async def halves(root: Path, between: Callable[[Site], None]) -> Site:
    """A crawl in two parts, and something between them."""
    site = Site()
    async with site.serving():
        assert await crawl(root, site, 14) is ExitStatus.INTERRUPTED
        between(site)
        assert await crawl(root, site) is ExitStatus.FINISHED
    return site


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    root = tmp_path_factory.mktemp("calm") / "job"
    asyncio.run(halves(root, lambda site: None))
    return facts_of(root)


def set_version(root: Path, version: int) -> None:
    with Store.open(str(root / "state" / "store"), memory=16_000_000) as store:
        store.put("meta", schema.KEY, b"%d" % version)
        store.commit()


def test_a_store_of_a_newer_nacre_is_refused_and_left_alone(tmp_path: Path, calm: Facts):
    root = tmp_path / "job"

    async def main() -> None:
        site = Site()
        async with site.serving():
            await crawl(root, site, 14)
            set_version(root, schema.SCHEMA + 1)
            with pytest.raises(StorageError, match=r"made by a newer Nacre.*Use the newer version"):
                await crawl(root, site)

    asyncio.run(main())
    with pytest.raises(StorageError, match="newer"):
        facts_of(root)


def test_a_store_of_an_older_nacre_is_brought_up_to_date(
    tmp_path: Path, calm: Facts, monkeypatch: pytest.MonkeyPatch
):
    migrated: list[int] = []

    def migrate(engine: StorageEngine) -> None:
        migrated.append(len(list(engine.rows("urls", b"", None))))

    def between(site: Site) -> None:
        defaults = dict(schema.upgrade.__kwdefaults__ or {})
        newer = schema.SCHEMA + 1
        defaults |= {"current": newer, "migrations": {schema.SCHEMA: migrate}}
        monkeypatch.setattr(schema.upgrade, "__kwdefaults__", defaults)

    root = tmp_path / "job"
    asyncio.run(halves(root, between))
    assert len(migrated) == 1
    assert migrated[0] >= 10
    check_same(facts_of(root), calm)


@pytest.mark.parametrize("limit", [4, 0])
def test_the_command_line_brings_an_older_store_up_to_date(tmp_path: Path, limit: int):
    """`run` does, of a job that waits and of a finished one; commands that only look name it."""
    root = tmp_path / "job"
    with site(many_pages(8)) as home:
        crawled = nacre("crawl", home, "--delay", 0, "--out", root, "--max-pages", limit or 99)
        assert crawled.code == (4 if limit else 0)
        set_version(root, schema.READABLE - 1)
        refused = nacre("status", root)
        assert refused.code == 1
        assert "nacre run JOB` brings it up to date" in refused.err
        done = nacre("run", root, "--set", "limits.documents=0")
        assert done.code == 0, done.err
        assert ("nothing was changed" in done.out) == (not limit)
    assert nacre("status", root).code == 0


def test_a_committed_member_that_was_damaged_is_found_by_the_check(tmp_path: Path, calm: Facts):
    """A start does not read the WARCs; the check does, and says where."""
    root, damaged = tmp_path / "job", []

    def between(site: Site) -> None:
        warc = max((root / "latest" / "archive").glob("*.warc.gz"))
        content = bytearray(warc.read_bytes())
        content[-12] ^= 1
        warc.write_bytes(content)
        damaged.append(warc)

    asyncio.run(halves(root, between))
    (root / "crawl.yaml").write_text("seeds: [http://127.0.0.1/]\n")
    done = nacre("archive", root, "check")
    assert done.code == 7
    assert damaged[0].name in done.out
    found = facts_of(root)
    assert found.counted == calm.counted
    assert by_path(found.captures).keys() <= by_path(calm.captures).keys()


class JumpingClock(QuickClock):
    """Its time of day is set; what is monotonic goes on."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def now(self) -> float:
        return time.time() + self.ahead


@pytest.mark.parametrize(
    ("jump", "running"),
    [
        (3 * DAY, True),
        (400 * DAY, False),
        pytest.param(-400 * DAY, True, marks=pytest.mark.slow),
        pytest.param(-3 * DAY, False, marks=pytest.mark.slow),
    ],
)
def test_a_clock_that_jumps(tmp_path: Path, calm: Facts, jump: float, running: bool):
    """Delays are kept and retries made, whether it jumps in a run or between two."""
    root, site, clock = tmp_path / "job", Site(), JumpingClock()
    times, last = [], [""]
    told: list[str] = []
    prepare(root)

    def heard(event: Event) -> None:
        if isinstance(event, Alert) and "the clock" in event.message:
            told.append(event.message)

    async def part(requests: int) -> ExitStatus:
        polite = settings(site.url(), politeness=PolitenessSettings(delay=0.06))
        job = Job(root, polite, clock=clock)
        job.events.subscribe(heard)

        def asked(path: str) -> None:
            if path == "/broken.html" and path == last[0]:
                return  # its connection was reused: asked again at once on a fresh one
            last[0] = path
            times.append(time.monotonic())
            if len(times) == requests and job.session:
                job.session.stop(ExitStatus.INTERRUPTED)
            if running and len(times) in {8, 20}:
                clock.ahead += jump if len(times) == 8 else -2 * jump

        site.on_request = asked
        return await job.run()

    async def main() -> None:
        async with site.serving():
            assert await part(14) is ExitStatus.INTERRUPTED
            clock.ahead += 0 if running else jump
            assert await part(0) is ExitStatus.FINISHED

    asyncio.run(main())
    if jump < 0 and not running:
        assert ["set back by 3 d" in text for text in told] == [True]
    gaps = [b - a for a, b in pairwise(times)]
    assert min(gaps) > 0.03, "a delay was not kept"
    assert max(gaps) < 15, "a delay of the clock's jump was waited"
    assert 2 <= site.asked["/broken.html"] <= 4
    check_crawled(facts_of(root), calm)
    assert site.asked["/robots.txt"] == (3 if running else 2), (
        "it was fetched again when it expired"
    )


def check_crawled(found: Facts, calm: Facts) -> None:
    """All was captured, everything but robots.txt once."""
    assert not found.damage
    assert not found.waiting
    assert by_path(found.payloads) == by_path(calm.payloads)
    assert {u: o.status for u, o in by_path(found.outcomes).items()} == {
        u: o.status for u, o in by_path(calm.outcomes).items()
    }
    twice = {path_of(url) for url, count in found.captures.items() if count > 1}
    assert twice <= {"/robots.txt"}
