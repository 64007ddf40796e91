"""

The recovery journal tells what happened, and another crawl takes over from it.
"""

import asyncio
import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.crawluri import CrawlURI
from nacre.core.events import Events
from nacre.engine import logs
from nacre.engine.logs import NAME, AlertCounter, JobLogs, RecoveryJournal
from nacre.frontier.frontier import Attempt
from nacre.frontier.pending import NO_JOURNAL, JournalTag, pending
from nacre.frontier.policy import Retry
from nacre.job.imports import ImportMode, ImportOptions
from nacre.job.session import Session
from nacre.machine.clock import SystemClock
from nacre.scope.scope import Decision, Logged, SequenceLog
from nacre.scope.subject import Subject
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from tests.job.opened import opened
from tests.report.visits import NOW, make_visit
from tests.store.memory import MemoryEngine

TIME = "2026-11-20T10:00:01.500Z"


class Clock:
    def now(self) -> float:
        return NOW

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        raise AssertionError(f"logs do not wait, here {seconds} s")


class Written:
    """The logs, and the lines they got."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        self.alerts = AlertCounter(Store(MemoryEngine()), "20261120100000", Events())
        self.logs = JobLogs(self._line, Clock(), self.alerts)

    def _line(self, name: str, text: bytes) -> None:
        self.lines.append((name, text.decode()))

    def of(self, name: str) -> list[str]:
        return [text for found, text in self.lines if found == name]


@pytest.fixture
def written() -> Written:
    return Written()


def test_a_final_visit(written: Written):
    visit = make_visit(uri_errors=[("http://[", 'no "absolute"\nURL'), ("a b\r\nc", "bad")])
    written.logs.finished(visit, NOW)
    assert len(written.of(logs.CRAWL)) == 1
    assert written.of(logs.URI_ERRORS) == [
        f"{TIME} http://example.test/ \"no 'absolute' URL\" http://[\n",
        f'{TIME} http://example.test/ "bad" a%20b%0D%0Ac\n',
    ]


@given(href=st.text(), message=st.text())
def test_no_link_can_break_uri_errors(href: str, message: str):
    written = Written()
    written.logs.finished(make_visit(uri_errors=[(href, message)]), NOW)
    (line,) = written.of(logs.URI_ERRORS)
    assert line.splitlines() == [line[:-1]]
    assert line.count('"') - href.count('"') == 2


def test_an_attempt_that_will_be_repeated(written: Written):
    written.logs.nonfatal(make_visit(status=-2, error="no route\nto host"))
    written.logs.nonfatal(make_visit(status=503))
    first, second = written.of(logs.NONFATAL)
    assert first.startswith(f"{TIME}    -2          - http://example.test/ ")
    assert first.endswith("\n    no route to host\n")
    assert second.endswith("\n    status 503\n")


def test_a_fault_of_the_crawler(written: Written):
    try:
        raise ValueError("odd\x1b[31m\u2028text")
    except ValueError as error:
        written.logs.runtime_error(make_visit(status=-5), error)
    (entry,) = written.of(logs.RUNTIME)
    head, *rest = entry.splitlines()
    assert head.startswith(f"{TIME}    -5 ")
    assert rest[0] == "    Traceback (most recent call last):"
    assert rest[-2:] == ["    ValueError: odd [31m", "    text"]
    assert all(line.startswith("    ") for line in rest)
    told = (
        f"{TIME} WARNING ValueError while crawling http://example.test/; see runtime-errors.log\n"
    )
    assert written.of(logs.ALERTS) == written.of(logs.JOB) == [told]
    assert written.alerts.total == 1


def test_the_life_of_the_job(written: Written):
    written.logs.job("run 1\nbegins")
    assert written.lines == [(logs.JOB, f"{TIME} INFO run 1 begins\n")]


def test_progress(written: Written):
    written.logs.progress("a row")
    assert written.lines == [(logs.PROGRESS, "a row\n")]


def test_a_decision_of_a_sequence(written: Written):
    subject = Subject("http://a.test/", "LE", "http://via.test/", source="http://s.test/")
    plain = SequenceLog("scope", False, False, (), ())
    extra = plain._replace(extra=True)
    feed = plain._replace(feed=True, name="feed")
    written.logs.decided(Logged(plain, subject, Decision.REJECT, 2, "TooManyHopsDecideRule"))
    written.logs.decided(Logged(extra, subject, Decision.NONE, -1, ""))
    written.logs.decided(Logged(feed, subject, Decision.ACCEPT, 0, "my rule"))
    told = '{"hopPath":"LE","via":"http://via.test/","seed":"http://s.test/","host":"a.test"}'
    assert written.of("scope.log") == [
        f"{TIME} 2 TooManyHopsDecideRule REJECT http://a.test/\n",
        f"{TIME} -1 - NONE http://a.test/ {told}\n",
    ]
    (line,) = written.of("feed.jsonl")
    assert json.loads(line) == {
        "timestamp": TIME,
        "number": 0,
        "rule": "my rule",
        "decision": "ACCEPT",
        "url": "http://a.test/",
        **json.loads(told),
    }


SETTINGS = JobSettings.model_validate(
    {"frontier": {"recovery_log": True}, "politeness": {"delay": 0, "in_flight": 9}}
)


def take(session: Session) -> CrawlURI:
    uri = session.frontier.next(2e9, 0.0)
    assert uri is not None
    return uri


async def crawl(root: Path) -> Path:
    """A little of everything happens; the journal."""
    async with opened(root, SETTINGS) as session:
        front = session.frontier
        seed = take(session)
        lines = [f"F+ http://a.test/{name} L http://a.test/" for name in ("ok", "bad", "not", "x")]
        await session.editor.import_lines(
            [*lines, "Fs http://a.test/old"], ImportOptions(ImportMode.IMPORT)
        )
        front.finished(seed, Attempt(200), 0.0)
        await session.storing.commit.flush()
        again = take(session)
        front.retry(again, Attempt(-2), Retry(0.0, hold=True), 2e9, 0.0)
        for status in (200, -5, -9998):
            front.finished(take(session), Attempt(status), 0.0)
        await session.editor.delete(lambda url: url.endswith("/x"), lambda _: True)
        await session.editor.import_lines(
            ["http://b.test/waits"], ImportOptions(ImportMode.SCHEDULE)
        )
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
            for way in (ImportMode.FINISHED, ImportMode.PENDING):
                options = ImportOptions(way, retain_failures=True)
                told = await session.editor.import_lines(text, options)
                assert not told.rejected
            return [entry.uri.url for entry in pending(session.storing.store)]

    assert asyncio.run(play()) == ["http://b.test/waits"]


def test_a_time_every_ten_thousand_lines():
    found: list[tuple[str, bytes]] = []
    journal = RecoveryJournal(lambda name, data: found.append((name, data)), SystemClock())
    for _ in range(20_001):
        journal.note(JournalTag.EMITTED, "http://a.test/", "", "")
    journal.seal()
    journal.seal()
    ((name, data),) = found
    lines: Sequence[str] = gzip.decompress(data).decode().splitlines()
    assert name == NAME
    assert [n for n, line in enumerate(lines) if line.startswith("T 20")] == [10_000, 20_001]


def test_none_unless_it_is_wanted(tmp_path: Path):
    async def play() -> Session:
        async with opened(tmp_path) as session:
            assert session.frontier.journal is NO_JOURNAL
            return session

    assert not (asyncio.run(play()).directory / "logs" / NAME).exists()


def test_logs_that_end_get_new_names_and_lines_wait_until_they_have(tmp_path: Path):
    async def main() -> dict[str, str]:
        async with opened(tmp_path) as session:
            lines, commit = session.reporting.lines, session.storing.commit
            folder = session.directory / "logs"
            lines("some.log", b"before\n")
            await commit.flush()
            lines.end_all(".cp1")
            lines("some.log", b"held\n")
            lines("other.log", b"new\n")
            await commit.flush()  # the files that end
            await commit.flush()  # what their end left: their names
            assert not (folder / "other.log").exists()
            lines.go_on()
            await commit.flush()
        return {path.name: path.read_text() for path in sorted(folder.glob("*er.log"))} | {
            path.name: path.read_text() for path in sorted(folder.glob("some*"))
        }

    assert asyncio.run(main()) == {
        "other.log": "new\n", "some.log": "held\n", "some.log.cp1": "before\n",
    }  # fmt: skip
