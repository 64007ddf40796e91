import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.job.visit import logs
from nacre.job.visit.logs import JobLogs
from nacre.scope.rule import Decision, Subject
from nacre.scope.watch import Logged, SequenceLog
from tests.report.visits import NOW, make_visit

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
        self.logs = JobLogs(lambda name, text: self.lines.append((name, text.decode())), Clock())

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
    assert written.logs.alerts == 1


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
