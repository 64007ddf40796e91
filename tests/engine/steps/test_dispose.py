"""What follows a final visit: links, the delay of its queue, counts, and a later fetch."""

from typing import Any
from unittest.mock import Mock

import pytest
from msgspec import structs

import nacre.settings.chains  # noqa: F401 - it adds the processors
from nacre.config.effective import Effective, fixed
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.history import HistoryRecord
from nacre.core.processor import PageUnit, Result, Visit
from nacre.engine.candidates.prospects import Prospects
from nacre.engine.chain.entry import PROCESSORS
from nacre.engine.limits import Pacer
from nacre.engine.steps.dispose import DisposeStep, FollowLinksStep, QueueDelays
from nacre.frontier.bandwidth import BandwidthLimits, BandwidthSettings
from nacre.frontier.frontier import Attempt
from nacre.frontier.policy import Backoff, DelayCause
from nacre.frontier.settings import PolitenessSettings
from nacre.report.statistics import StepCounts, Stored
from tests.archive.captures import make_capture
from tests.engine.chain.test_plan import kit

URL = "http://a.test/x"
LINKS = [Outlink("http://a.test/y", Hop.LINK, "a/@href")]


class StandingClock:
    def now(self) -> float:
        return 1000.0

    def monotonic(self) -> float:
        return 50.0

    async def sleep(self, seconds: float) -> None:
        raise AssertionError(seconds)


def visit_of(status: int = 200, url: str = URL, duration: int = 2000, **facts: Any) -> Visit:
    """A visit with a reply that took two seconds; `capture=None` has none."""
    body = b"x" * 1000
    capture = make_capture(body=body, url=url, status=status, duration=duration)
    said: dict[str, Any] = {"capture": capture, "started": 46.0, "crawl_delay": 0.0} | facts
    return Visit(CrawlURI(url, b"k", "test,a,"), status, **said)


# ---- links


class Linked:
    def __init__(self, *, error_pages: bool = False, learns: bool = True) -> None:
        self.candidates, self.prospects = Mock(), Mock(spec=Prospects)
        self.candidates.admit.return_value = 7
        self.counts = StepCounts("Disposition", "candidates")
        self.step = FollowLinksStep(
            self.candidates,
            self.prospects if learns else None,
            Effective((error_pages, True)),
            self.counts,
        )

    def follow(self, visit: Visit, gate: Any = True) -> bool:
        self.step.follow(visit, gate, 1000.0)
        return bool(self.candidates.admit.called)


@pytest.mark.parametrize(
    ("status", "error_pages", "followed"),
    [
        (200, False, True), (399, False, True), (199, False, False), (400, False, False),
        (-4, False, False), (404, True, True), (199, True, True),
    ],
)  # fmt: skip
def test_links_of_errors_are_followed_where_the_settings_say_so(
    status: int, error_pages: bool, followed: bool
):
    linked = Linked(error_pages=error_pages)
    assert linked.follow(visit_of(status, outlinks=LINKS)) is followed
    assert (linked.counts.handled, linked.counts.links) == ((1, 7) if followed else (0, 0))


def test_the_settings_of_a_sheet_count():
    assert Linked().follow(visit_of(404, outlinks=LINKS, overlay=1))


@pytest.mark.parametrize("open_", [True, False])
def test_a_gate_decides_for_each_visit(open_: bool):
    gate = Mock(opens=Mock(return_value=open_))
    assert Linked().follow(visit_of(outlinks=LINKS), gate) is open_
    assert not Linked().follow(visit_of(outlinks=LINKS), False)


def test_a_page_without_links_teaches_all_the_same():
    linked = Linked()
    visit = visit_of()
    assert not linked.follow(visit)
    assert linked.counts.handled == 0
    linked.prospects.learn.assert_called_once_with(visit)
    assert not Linked(learns=False).follow(visit)


# ---- delays


def delays(
    settings: dict[str, Any] | None = None,
    bandwidth: dict[str, Any] | None = None,
    robots: Any = None,
    known: Backoff | None = None,
) -> QueueDelays:
    pacer = Pacer(fixed(BandwidthSettings(**bandwidth or {})), Mock())
    frontier = Mock(backoff=Mock(return_value=known or Backoff()))
    cache = Mock(get=Mock(return_value=robots))
    return QueueDelays(
        fixed(PolitenessSettings(**settings or {})), frontier, pacer, cache, StandingClock()
    )


def test_the_delay_follows_from_the_duration():
    visit = visit_of()
    attempt = delays({"delay_factor": 5.0}).attempt(visit)
    assert (attempt.status, attempt.delay, attempt.alone) == (200, 10.0, False)
    assert attempt.backoff is not None
    assert visit.delay == 10.0


@pytest.mark.parametrize(
    ("facts", "delay", "alone"),
    [
        ({"crawl_delay": 20.0}, 20.0, True),
        ({"retry_after": 15.0}, 15.0, False),
        ({"crawl_delay": 20.0, "retry_after": 25.0}, 25.0, True),
        ({"crawl_delay": 0.0}, 10.0, False),
    ],
)
def test_what_a_site_asks_for_counts_where_it_is_longer(
    facts: dict[str, Any], delay: float, alone: bool
):
    attempt = delays({"delay_factor": 5.0}).attempt(visit_of(**facts))
    assert (attempt.delay, attempt.alone) == (delay, alone)


@pytest.mark.parametrize(
    ("robots", "delay", "alone"),
    [
        (None, 10.0, False),
        ((Mock(), None), 10.0, False),
        ((Mock(), Mock(crawl_delay=30.0)), 30.0, True),
        ((Mock(), Mock(crawl_delay=None)), 10.0, False),
    ],
)
def test_robots_txt_is_looked_at_where_the_visit_did_not(robots: Any, delay: float, alone: bool):
    attempt = delays({"delay_factor": 5.0}, robots=robots).attempt(visit_of(crawl_delay=None))
    assert (attempt.delay, attempt.alone) == (delay, alone)


def test_the_bandwidth_of_a_host_may_demand_more():
    # Head and body at 50 bytes a second take longer than ten seconds.
    visit = visit_of()
    assert visit.capture is not None
    size = len(visit.capture.head) + 1000
    attempt = delays({"delay_factor": 5.0}, {"per_host": 50}).attempt(visit)
    assert attempt.delay == BandwidthLimits(0, 50).delay(size, 2.0, 0) > 10.0
    assert visit.delay == attempt.delay
    assert attempt.cause is DelayCause.BANDWIDTH


def test_a_site_that_is_busy_waits_longer():
    before = Backoff(2.0, 100.0)
    attempt = delays({"delay_factor": 5.0}, known=before).attempt(visit_of(503))
    assert attempt.backoff == Backoff(4.0, 100.0)
    assert attempt.delay == 40.0
    assert attempt.cause is DelayCause.REFUSED


@pytest.mark.parametrize(
    "facts", [{"url": "dns:a.test"}, {"started": 0.0}, {"starved": True}], ids=str
)
def test_what_asked_no_site_costs_it_no_delay(facts: dict[str, Any]):
    visit = visit_of(1, **facts)
    assert delays().attempt(visit) == Attempt(1)
    assert visit.delay is None


@pytest.mark.parametrize(("status", "delay"), [(-2, 20.0), (-4, 20.0), (-5, 0.0), (-5000, 0.0)])
def test_without_a_reply_the_time_spent_counts_where_a_site_was_asked(status: int, delay: float):
    visit = visit_of(capture=None)
    visit.status = status
    attempt = delays({"delay_factor": 5.0}).attempt(visit)
    assert attempt == Attempt(status, delay, cause=attempt.cause)
    assert bool(attempt.cause) == (delay > 0.0)


# ---- the end


class Ended:
    def __init__(self, *, lets_go: bool = False) -> None:
        self.parts = Mock()
        self.parts.speculation.lets_go.return_value = lets_go
        self.parts.delays.attempt.return_value = Attempt(200, 5.0)
        self.counts = StepCounts("Disposition", "disposition")
        names = ("frontier", "delays", "speculation", "statistics", "logs", "quotas", "outcomes")
        parts = {name: getattr(self.parts, name) for name in names}
        self.step = DisposeStep(**parts, clock=StandingClock(), counts=self.counts)


def test_all_who_count_learn_of_a_final_visit():
    ended, visit = Ended(), visit_of()
    ended.step.finish(visit, Stored.NOVEL, 1000.0)
    parts = ended.parts
    parts.frontier.finished.assert_called_once_with(visit.uri, Attempt(200, 5.0), 50.0)
    parts.statistics.count.assert_called_once_with(visit, Stored.NOVEL, 1000.0, 0)
    parts.logs.finished.assert_called_once_with(visit, 1000.0)
    parts.quotas.count.assert_called_once_with(visit, Stored.NOVEL)
    parts.outcomes.put.assert_called_once_with(visit)
    parts.speculation.learn.assert_called_once_with(visit)
    assert ended.counts.handled == 1


def test_a_guess_that_was_let_go_is_in_no_log_but_its_outcome_is_kept():
    ended, visit = Ended(lets_go=True), visit_of()
    ended.step.finish(visit, Stored.NOTHING, 1000.0)
    parts = ended.parts
    assert not parts.statistics.count.called
    assert not parts.logs.finished.called
    assert parts.frontier.finished.called
    assert parts.outcomes.put.called
    assert ended.counts.handled == 1


@pytest.mark.parametrize(
    ("stored", "known", "saved"),
    [(Stored.NOT_MODIFIED, True, 77), (Stored.DUPLICATE, True, 0), (Stored.NOT_MODIFIED, False, 0)],
)
def test_what_was_not_sent_again_is_counted_as_saved(stored: Stored, known: bool, saved: int):
    ended = Ended()
    history = HistoryRecord(URL, 200, 1, length=77) if known else None
    visit = visit_of(304, history=history)
    ended.step.finish(visit, stored, 1000.0)
    ended.parts.statistics.count.assert_called_once_with(visit, stored, 1000.0, saved)


# ---- fetched again


class LaterClock:
    def now(self) -> float:
        return 100.0


@pytest.mark.parametrize(
    ("delay", "path", "expected"),
    [(60, "", [("http://a.test/", 160.0)]), (None, "", []), (60, "P", [])],
)
def test_it_comes_again_after_the_delay(
    delay: int | None, path: str, expected: list[tuple[str, float]]
):
    later: list[tuple[str, float]] = []
    given = kit()._replace(clock=LaterClock(), later=lambda uri, due: later.append((uri.url, due)))
    entry = PROCESSORS.read({"processor": "reschedule", "delay": delay})
    work = type(entry).make(fixed(entry), given)
    visit = Visit(CrawlURI("http://a.test/", b"", "test,a,", path=path))
    if work.accepts(visit):
        assert work.process(visit) is Result.PROCEED
    assert later == expected


# ---- pages


def page_of(*requests: Visit) -> PageUnit:
    return PageUnit("id", "always", visits=list(requests))


def request_of(queue: str, duration: int, **facts: Any) -> Visit:
    visit = visit_of(**facts)
    visit.uri = structs.replace(visit.uri, queue=queue)
    assert visit.capture is not None
    visit.capture.duration = duration
    return visit


def test_queue_of_a_page_waits_as_after_one_long_fetch():
    visit = visit_of()
    assert visit.capture is not None
    visit.capture.duration = 1000
    visit.page = page_of(
        request_of(visit.uri.queue, 500), request_of(visit.uri.queue, 500), request_of("b", 9000)
    )
    assert delays({"delay_factor": 5.0}).attempt(visit).delay == 10.0


def test_queues_of_the_requests_of_a_page_wait_too():
    visit = visit_of()
    page = page_of(
        request_of(visit.uri.queue, 9000),
        request_of("b", 1000),
        request_of("b", 1000),
        request_of("c", 10, retry_after=30.0),
    )
    attempts = delays({"delay_factor": 5.0}).attempts_beside(visit, page)
    assert {queue: attempt.delay for queue, attempt in attempts.items()} == {"b": 10.0, "c": 30.0}
