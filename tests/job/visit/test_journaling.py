"""The recovery journal tells what happened, and another crawl takes over from it."""

import asyncio
import gzip
from collections.abc import Sequence
from pathlib import Path

from nacre.core.crawluri import CrawlURI
from nacre.frontier.frontier import Attempt
from nacre.frontier.listing import pending
from nacre.frontier.policy import Retry
from nacre.frontier.recoverlog import Tag
from nacre.job.clock import SystemClock
from nacre.job.configuration.settings import JobSettings
from nacre.job.intake.edits import bring_in, delete
from nacre.job.intake.intake import Options, Way
from nacre.job.session import Session
from nacre.job.visit.journaling import NAME, RecoveryJournal
from tests.job.opened import opened

SETTINGS = JobSettings.model_validate(
    {"frontier": {"recovery_log": True}, "politeness": {"delay": 0, "in_flight": 9}}
)


def take(session: Session) -> CrawlURI:
    uri = session.parts.frontier.next(2e9, 0.0)
    assert uri is not None
    return uri


async def crawl(root: Path) -> Path:
    """A little of everything happens; the journal."""
    async with opened(root, SETTINGS) as session:
        front = session.parts.frontier
        seed = take(session)
        lines = [f"F+ http://a.test/{name} L http://a.test/" for name in ("ok", "bad", "not", "x")]
        await bring_in(session.parts, [*lines, "Fs http://a.test/old"], Options(Way.IMPORT))
        front.finished(seed, Attempt(200), 0.0)
        await session.parts.commit.flush()
        again = take(session)
        front.retry(again, Attempt(-2), Retry(0.0, hold=True), 2e9, 0.0)
        for status in (200, -5, -9998):
            front.finished(take(session), Attempt(status), 0.0)
        await delete(session.parts, lambda url: url.endswith("/x"), lambda _: True)
        await bring_in(session.parts, ["http://b.test/waits"], Options(Way.SCHEDULE))
    return session.directory / "logs" / NAME


def test_what_is_written(tmp_path: Path):
    written = gzip.decompress(asyncio.run(crawl(tmp_path)).read_bytes()).decode()
    assert written == (
        "F+ http://a.test/  \n"
        "Fe http://a.test/\n"
        "Fi http://a.test/old\n"
        + "".join(f"F+ http://a.test/{n} L http://a.test/\n" for n in ("ok", "bad", "not", "x"))
        + "Fs http://a.test/  \n"
        "Fe http://a.test/ok\n"
        "Fr http://a.test/ok\n"
        "Fe http://a.test/ok\n"
        "Fs http://a.test/ok L http://a.test/\n"
        "Fe http://a.test/bad\n"
        "Ff http://a.test/bad L http://a.test/\n"
        "Fe http://a.test/not\n"
        "Fd http://a.test/not L http://a.test/\n"
        "Fd http://a.test/x L http://a.test/\n"
        "F+ http://b.test/waits  \n"
    )


def test_another_crawl_takes_over(tmp_path: Path):
    async def play() -> list[str]:
        journal = await crawl(tmp_path / "first")
        text = gzip.decompress(journal.read_bytes()).decode().splitlines()
        async with opened(tmp_path / "second", seeds=()) as session:
            for way in (Way.FINISHED, Way.PENDING):
                options = Options(way, retain_failures=True)
                told = await bring_in(session.parts, text, options)
                assert not told.rejected
            return [entry.uri.url for entry in pending(session.parts.store)]

    assert asyncio.run(play()) == ["http://b.test/waits"]


def test_a_time_every_ten_thousand_lines():
    found: list[tuple[str, bytes]] = []
    journal = RecoveryJournal(lambda name, data: found.append((name, data)), SystemClock())
    for _ in range(20_001):
        journal.note(Tag.EMITTED, "http://a.test/", "", "")
    journal.seal()
    journal.seal()
    ((name, data),) = found
    lines: Sequence[str] = gzip.decompress(data).decode().splitlines()
    assert name == NAME
    assert [n for n, line in enumerate(lines) if line.startswith("T 20")] == [10_000, 20_001]


def test_none_unless_it_is_wanted(tmp_path: Path):
    async def play() -> Session:
        async with opened(tmp_path) as session:
            assert session.parts.frontier.journal is None
            return session

    assert not (asyncio.run(play()).directory / "logs" / NAME).exists()
