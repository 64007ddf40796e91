"""How visits end: tried again, put back, or final; what is counted, told and followed then."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from nacre.annotations import SPECULATIVE_HOPELESS
from nacre.core.capture import Trust
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.processor import Result, Visit
from nacre.engine.chain.plan import Bound, DispositionPlan
from nacre.engine.disposition import FinalRecords
from nacre.engine.prerequisites import ROBOTS_FOR, ROBOTS_REDIRECTS, RobotsRow
from nacre.engine.seeding.seedbook import FALLBACK
from nacre.engine.steps.archive import Prepared
from nacre.engine.steps.fetching import FRESH
from nacre.errors import StorageError
from nacre.frontier.policy import DONE, Final, Retry, RetryKind
from nacre.report.statistics import StepCounts, Stored
from nacre.scope.robots_txt import RobotsState
from tests.engine.visiting import BEGAN, NOW, SEED, OpenJob, visiting

CUT = {"truncated": "disconnect"}
ROBOTS = "http://a.test/robots.txt"
PREREQUISITE = {"path": "P", "heritable": {ROBOTS_FOR: "http://a.test"}}
FINAL = Final("another try would not change it")
USED_UP = Final("retries used up")
GUESSED = {"is_seed": True, "heritable": {FALLBACK: "http://a.test/"}}


# ---- what is decided


DECIDED: list[tuple[int, dict[str, Any], Retry | Final | None]] = [
    # Replies.
    (200, {"capture": {}}, DONE),
    (301, {"capture": {}}, DONE),
    (404, {"capture": {}}, DONE),
    (500, {"capture": {}}, DONE),
    (429, {"capture": {}}, Retry(0, hold=True, kind=RetryKind.THROTTLED)),
    (503, {"capture": {}}, Retry(0, hold=True, kind=RetryKind.THROTTLED)),
    (503, {"capture": {}, "retry_after": 90.0}, Retry(90, True, RetryKind.THROTTLED)),
    (503, {"capture": {}, "retry_after": 9e9}, Retry(3600, True, RetryKind.THROTTLED)),
    (503, {"capture": {}, "uri": {"attempts": 5, "throttled": 5}}, USED_UP),
    (200, {"capture": CUT}, Retry(60, kind=RetryKind.TRUNCATED)),
    (200, {"capture": CUT, "uri": {"attempts": 2, "truncated": 2}}, USED_UP),
    (200, {"capture": {"truncated": "length"}}, DONE),
    # No reply.
    (-1, {}, Retry(60)),
    (-2, {}, Retry(60)),
    (-3, {}, Retry(60)),
    (-4, {}, Retry(60)),
    (-4, {"uri": {"attempts": 2}}, Retry(240)),
    (-4, {"uri": {"attempts": 20}}, Retry(900)),
    (-4, {"uri": {"attempts": 29}}, USED_UP),
    (-4, {"conclusive": True}, FINAL),
    (-5, {}, Retry(5)),
    (-5, {"uri": {"attempts": 1, "last_status": -5}}, DONE),
    (-5, {"conclusive": True}, FINAL),
    (-7, {}, DONE),
    (-5000, {}, DONE),
    (-5003, {}, DONE),
    (-9998, {}, DONE),
    # No file handle was left: the site was not asked.
    (-2, {"starved": True}, Retry(10, kind=RetryKind.STARVED)),
    (200, {"capture": {}, "starved": True}, Retry(10, kind=RetryKind.STARVED)),
    # A prerequisite holds its queue.
    (-4, {"uri": PREREQUISITE}, Retry(60, hold=True)),
    (500, {"capture": {}, "uri": PREREQUISITE}, Retry(60, hold=True)),
    (404, {"capture": {}, "uri": PREREQUISITE}, DONE),
    # Https was a guess for a seed without scheme: http comes at once.
    (-2, {"uri": GUESSED}, FINAL),
    (-61, {"uri": GUESSED}, FINAL),
    (-61, {"uri": GUESSED | {"is_seed": False}}, DONE),
    (-5000, {"uri": GUESSED}, DONE),
    (-2, {"uri": GUESSED, "starved": True}, Retry(10, kind=RetryKind.STARVED)),
    # It waits for something else.
    (-50, {"prerequisite": "dns:a.test"}, None),
    (-50, {}, None),
    (-5003, {"retire": "quota"}, None),
    (200, {"capture": {"trust": "suspect"}}, None),
    (200, {"capture": {"trust": "suspect"}, "uri": {"heritable": {FRESH: "8"}}}, DONE),
    (200, {"capture": {"trust": "first"}}, DONE),
]
"""Status and facts of a visit, and what is decided: times of retries are seconds from now."""


def test_what_is_decided(tmp_path: Path):
    def act(job: OpenJob):
        # Each has a host of its own: what is known of one decides nothing for another.
        for number, (status, facts, expected) in enumerate(DECIDED):
            visit = visit_of(job, f"http://h{number}.test/", status, dict(facts))
            decision = job.disposition.decide(visit)
            if isinstance(decision, Retry):
                decision = decision._replace(at=decision.at - job.clock.now())
            assert decision == expected, (status, facts)
            # Nothing has changed yet: the visit can still be ended.
            assert job.disposition.finished == 0

    visiting(tmp_path, act)


def visit_of(job: OpenJob, url: str, status: int, facts: dict[str, Any]) -> Visit:
    """A visit as a row of `DECIDED` says."""
    uri = {"heritable": {}} | facts.pop("uri", {})
    if "capture" not in facts:
        return job.visit(url, status, uri=uri, **facts)
    capture = dict(facts.pop("capture"))
    if trust := capture.pop("trust", ""):
        capture["trust"] = Trust(first=True)
        if trust == "suspect":
            capture["trust"].accuse()
    return job.reply(status, url, capture=capture, uri=uri, **facts)


def test_a_throttled_queue_waits_twice_its_last_delay(tmp_path: Path):
    def act(job: OpenJob):
        job.end(job.reply(200, capture={"duration": 20_000}))
        assert job.session.frontier.last_delay("test,a,") == 30.0
        visit = job.reply(503)
        decision = job.end(visit)
        assert decision == Retry(job.clock.now() + 60.0, hold=True, kind=RetryKind.THROTTLED)

    visiting(tmp_path, act)


def test_once_nothing_but_retries_is_left_they_share_the_time(tmp_path: Path):
    def act(job: OpenJob):
        visit = job.visit(status=-4)
        assert isinstance(job.end(visit), Retry)
        # Nothing else is there: the phase of the last tries begins.
        job.clock.passed += 61.0
        again = job.take()
        assert again is not None
        since = job.session.frontier.last_since(job.clock.now())
        assert since is not None
        job.clock.passed += 599.0 - (job.clock.now() - since)
        assert isinstance(job.disposition.decide(Visit(again, -4)), Retry)
        job.clock.passed += 2.0
        assert job.take() is None
        assert job.disposition.decide(Visit(again, -4)) == Final("nothing else left")

    visiting(tmp_path, act)


# ---- tried again


def test_a_retry_is_noted_in_its_log_and_keeps_its_error(tmp_path: Path):
    def act(job: OpenJob):
        visit = job.visit(status=-2, error="refused " * 100, uri={"path": "L", "via": SEED})
        assert isinstance(job.end(visit), Retry)
        assert job.session.storing.outcomes.get(visit.uri.key) is None
        assert job.take() is None
        job.clock.passed += 61.0
        again = job.take()
        assert again is not None
        assert (again.url, again.attempts, again.last_status) == (SEED, 1, -2)
        assert again.last_error == ("refused " * 100)[:200]

    done = visiting(tmp_path, act)
    assert "refused" in done.log("nonfatal-errors.log")
    assert done.log() == ""


def test_who_found_no_file_handle_asks_for_fewer_fetches(tmp_path: Path):
    told = []

    def act(job: OpenJob):
        job.change(starved=lambda: told.append("starved"))
        job.end(job.visit(status=-2, starved=True))
        assert told == ["starved"]
        job.end(job.visit(status=-2, url="http://b.test/"))
        assert told == ["starved"]

    visiting(tmp_path, act)


@pytest.mark.parametrize("status", [-4, -5000, -50], ids=["retry", "final", "deferred"])
def test_whatever_is_decided_a_visit_is_in_process_no_more(tmp_path: Path, status: int):
    quotas, done = Mock(), Mock()

    def act(job: OpenJob):
        job.change(quotas=quotas, visit_done=done)
        visit = job.visit(status=status)
        job.end(visit)
        quotas.release.assert_called_once_with(visit)
        done.assert_called_once_with()

    visiting(tmp_path, act)


# ---- put back


def deferred(job: OpenJob, visit: Visit) -> None:
    assert job.end(visit) is None
    assert job.disposition.finished == 0


@pytest.mark.parametrize(
    ("url", "row", "heritable", "expected"),
    [
        ("dns:a.test", None, {}, {}),
        (ROBOTS, None, {}, {ROBOTS_FOR: "http://a.test"}),
        (ROBOTS, None, {FALLBACK: "x"}, {ROBOTS_FOR: "http://a.test", FALLBACK: "x"}),
        (ROBOTS, None, {"other": "x"}, {ROBOTS_FOR: "http://a.test"}),
        (
            "http://a.test/moved",
            RobotsRow(RobotsState.REDIRECT, NOW * 2, next_url="http://a.test/moved", redirects=2),
            {},
            {ROBOTS_FOR: "http://a.test", ROBOTS_REDIRECTS: "2"},
        ),
        (
            ROBOTS,
            RobotsRow(RobotsState.REDIRECT, NOW * 2, next_url="http://a.test/moved", redirects=2),
            {},
            {ROBOTS_FOR: "http://a.test"},
        ),
    ],
)
def test_a_prerequisite_goes_first(
    tmp_path: Path,
    url: str,
    row: RobotsRow | None,
    heritable: dict[str, str],
    expected: dict[str, str],
):
    def act(job: OpenJob):
        if row is not None:
            job.session.fetching.robots.put("http://a.test", row)
        visit = job.visit(status=-50, prerequisite=url, uri={"heritable": heritable})
        deferred(job, visit)
        first = job.take()
        assert first is not None
        assert (first.url, first.path, first.via) == (url, "P", SEED)
        assert (first.queue, first.heritable) == (visit.uri.queue, expected)
        job.end(Visit(first, -6))
        back = job.take()
        assert back is not None
        assert (back.url, back.deferrals) == (SEED, 1)

    visiting(tmp_path, act)


def test_a_suspect_reply_is_asked_for_again_on_a_connection_of_its_own(tmp_path: Path):
    def act(job: OpenJob):
        trust = Trust()
        trust.accuse()
        deferred(job, job.reply(capture={"trust": trust}))
        again = job.take()
        assert again is not None
        assert (again.url, again.heritable[FRESH]) == (SEED, "1")

    assert visiting(tmp_path, act).types == []


def test_what_may_be_over_a_quota_waits_a_moment(tmp_path: Path):
    def act(job: OpenJob):
        deferred(job, job.visit(status=-50))
        assert job.take() is None
        job.clock.passed += 0.6
        again = job.take()
        assert again is not None
        assert again.url == SEED

    visiting(tmp_path, act)


@pytest.mark.parametrize(
    ("error", "told"), [("over 5 documents", "over 5 documents"), ("", "quota")]
)
def test_a_queue_is_retired_once_and_keeps_its_uris(tmp_path: Path, error: str, told: str):
    def act(job: OpenJob):
        visit = job.visit(status=-5003, retire="quota", error=error)
        deferred(job, visit)
        assert job.take() is None
        row = job.session.frontier.queue_states.find(visit.uri.queue).row
        assert (row.size, row.why) == (1, "quota")
        assert job.session.frontier.unretire() == 1
        again = job.take()
        assert again is not None
        assert (again.url, again.attempts) == (visit.uri.url, 0)

    done = visiting(tmp_path, act)
    assert done.log("job.log").count(f"queue test,a, retired: {told}") == 1
    assert done.log() == ""


# ---- final


@pytest.mark.parametrize(
    ("status", "facts", "counts"),
    [
        (200, {"mime": "text/html"}, {"urls": 1, "novel_urls": 1, "html": 1}),
        (302, {}, {"urls": 1, "redirects": 1}),
        (404, {}, {"urls": 1, "errors": 1}),
        (-4, {"conclusive": True}, {"urls": 0, "failures": 1}),
        (-5000, {}, {"urls": 0, "disregarded": 1}),
        (-9998, {}, {"urls": 0, "robots": 1}),
    ],
)
def test_a_final_visit_is_told_counted_and_remembered(
    tmp_path: Path, status: int, facts: dict[str, Any], counts: dict[str, int]
):
    def act(job: OpenJob):
        make = job.reply if status > 0 else lambda s, **f: job.visit(status=s, **f)
        visit = make(status, error="why", **facts)
        assert isinstance(job.end(visit), Final)
        totals = job.session.reporting.statistics.totals
        assert {name: getattr(totals, name) for name in counts} == counts
        outcome = job.session.storing.outcomes.get(visit.uri.key)
        assert outcome is not None
        assert (outcome.status, outcome.attempts, outcome.error) == (status, 1, "why")
        assert (outcome.file, outcome.offset) == (visit.warc_file, visit.warc_offset)
        stored, ended = job.disposition.records.counts, job.disposition.ending.counts
        archived = status > 0
        assert (stored.handled, ended.handled) == (archived, 1)
        assert (stored.written > 0, stored.plain > 0) == (archived, archived)
        assert job.disposition.finished == 1
        assert bool(job.known()) is archived

    done = visiting(tmp_path, act)
    (line,) = done.log().splitlines()
    assert line.split()[1:5] == [str(status), "11" if status > 0 else "-", SEED, "-"]


def test_a_guess_that_was_let_go_is_only_a_number(tmp_path: Path):
    def act(job: OpenJob):
        job.end(job.visit(status=-5000, annotations=[SPECULATIVE_HOPELESS]))
        assert job.session.scheduling.speculation.untried == 1
        assert job.session.reporting.statistics.totals.disregarded == 0

    assert visiting(tmp_path, act).log() == ""


def test_a_304_saves_what_it_confirms(tmp_path: Path):
    def act(job: OpenJob):
        job.end(job.reply(body=b"x" * 5000))
        job.end(job.reply(304, body=b"", capture={"began": BEGAN + 1}))
        totals = job.session.reporting.statistics.totals
        assert (totals.not_modified_urls, totals.not_modified_bytes) == (1, 5000)

    visiting(tmp_path, act)


LINK = Outlink("http://a.test/next", Hop.LINK, "a/@href")


@pytest.mark.parametrize(
    ("status", "settings", "followed"),
    [
        (200, {}, True),
        (302, {}, True),
        (404, {}, False),
        (404, {"engine": {"follow_error_pages": True}}, True),
        (-5, {}, False),
        (200, {"chains": {"disposition": {"candidates": {"gate": "reject"}}}}, False),
        (
            200,
            {
                "chains": {
                    "disposition": {
                        "candidates": {
                            "gate": {
                                "rule": "fetch-status",
                                "statuses": [200],
                                "decision": "reject",
                            }
                        }
                    }
                }
            },
            False,
        ),
    ],
)
def test_whose_links_are_followed(
    tmp_path: Path, status: int, settings: dict[str, Any], followed: bool
):
    def act(job: OpenJob):
        job.end(job.reply(status, outlinks=[LINK], uri={"last_status": status}))
        counts = job.disposition.links.counts
        assert (counts.handled, counts.links) == (followed, followed)
        assert (job.session.frontier.totals.queued == 1) is followed

    visiting(tmp_path, act, settings)


@pytest.mark.parametrize("taken", [True, False])
def test_an_observer_judges_once_and_may_take_the_links(tmp_path: Path, taken: bool):
    calls: list[Any] = []

    class Observer:
        def judge(self, visit: Visit) -> Any:
            calls.append(visit.uri.url)
            return len(calls)

        def follow(self, visit: Visit, judgement: Any, stored: Stored, now: float) -> bool:
            calls.append((judgement, stored))
            return taken

    def act(job: OpenJob):
        job.change(observer=Observer())
        job.end(job.visit("http://b.test/", -5000))
        job.end(job.reply(outlinks=[LINK]))
        assert job.disposition.links.counts.links == (not taken)

    visiting(tmp_path, act)
    assert calls == ["http://b.test/", (1, Stored.NOTHING), SEED, (3, Stored.NOVEL)]


@pytest.mark.parametrize("stored", [Stored.NOTHING, Stored.NOVEL, Stored.DUPLICATE])
def test_what_a_final_visit_brought_is_told_to_all_who_keep_it(stored: Stored):
    archive, unasked, answers, queues = Mock(), Mock(), Mock(), Mock()
    pages, rights = Mock(), Mock()
    pages.writer.total, pages.writer.plain = 0, 0
    archive.write.return_value, archive.totals = stored, (70, 500)
    counts = StepCounts("Disposition", "archive", plain=1000, written=30)
    records = FinalRecords(archive, unasked, answers, queues, pages, rights, counts)
    visit, prepared = Visit(CrawlURI(SEED, b"k", "q"), 200), Prepared(None)
    for _ in range(2):
        assert records.store(visit, prepared, NOW) is stored
    archive.write.assert_called_with(visit, prepared)
    unasked.disposed.assert_called_with(visit, prepared)
    answers.learn.assert_called_with(visit, NOW)
    rights.learn.assert_called_with(visit)
    queues.learn.assert_called_with(visit)
    told = (counts.handled, counts.written, counts.plain)
    assert told == ((0, 30, 1000) if stored is Stored.NOTHING else (2, 70, 1500))


# ---- the seed that a guess of https stands for


@pytest.mark.parametrize(
    ("status", "uri", "scheduled"),
    [
        (-2, {"is_seed": True}, True),
        (-61, {"is_seed": True}, True),
        (-2, {"is_seed": False}, False),
        (200, {"is_seed": True}, False),
    ],
)
def test_http_stands_in_for_a_guess_of_https(
    tmp_path: Path, status: int, uri: dict[str, Any], scheduled: bool
):
    def act(job: OpenJob):
        heritable = {FALLBACK: "http://c.test/"}
        facts: dict[str, Any] = {"uri": {"heritable": heritable, "source": "list", **uri}}
        url = "https://c.test/"
        first = job.reply(status, url, **facts) if status > 0 else job.visit(url, status, **facts)
        job.end(first)
        assert ("httpTried" in first.annotations) is scheduled
        found = []
        job.clock.passed += 60.0
        while (other := job.take()) is not None:
            found.append((other.url, other.source, other.is_seed))
            job.end(Visit(other, -5000))
        assert found == [("http://c.test/", "list", True)] * scheduled
        # It is a seed now, which the same guess does not enter twice.
        if scheduled:
            job.end(job.visit("https://c.test/", status, uri={"heritable": heritable, **uri}))
            assert job.take() is None

    visiting(tmp_path, act)


# ---- how long the queue waits


@pytest.mark.parametrize(
    ("facts", "settings", "delay"),
    [
        ({}, {}, 3.0),
        ({"capture": {"duration": 4000}}, {}, 20.0),
        ({"capture": {"duration": 4000}}, {"politeness": {"delay": 1.0}}, 1.0),
        ({"crawl_delay": 40.0}, {}, 40.0),
        ({"crawl_delay": 0.0}, {}, 3.0),
        ({"retry_after": 50.0}, {}, 50.0),
        # 90 bytes at 2 bytes a second.
        ({}, {"bandwidth": {"per_host": 2}}, 45.0),
    ],
)
def test_the_delay_after_a_reply(
    tmp_path: Path, facts: dict[str, Any], settings: dict[str, Any], delay: float
):
    def act(job: OpenJob):
        job.session.fetching.pacer.apply(NOW)
        visit = job.reply(**facts)
        job.end(visit)
        assert visit.delay == pytest.approx(delay, abs=0.1)
        assert job.session.frontier.last_delay(visit.uri.queue) == visit.delay

    visiting(tmp_path, act, {"politeness": {"delay_factor": 5.0}} | settings)


def test_robots_txt_is_looked_at_for_a_delay_where_the_visit_did_not(tmp_path: Path):
    rules = RobotsRow(RobotsState.RULES, NOW * 2, b"User-agent: *\nCrawl-delay: 25\n")

    def act(job: OpenJob):
        job.session.fetching.robots.put("http://a.test", RobotsRow(RobotsState.ALLOW, NOW + 90_000))
        first = job.reply()
        job.end(first)
        assert first.delay == 3.0
        rules_now = RobotsRow(rules.state, job.clock.now() + 80_000, rules.text)
        job.session.fetching.robots.put("http://a.test", rules_now)
        second = job.reply()
        job.end(second)
        assert second.delay == 25.0

    visiting(tmp_path, act)


@pytest.mark.parametrize(
    ("url", "status", "started", "delay"),
    [
        # Two seconds were spent, and no reply came.
        (SEED, -4, True, 10.0),
        (SEED, -4, False, 0.0),
        (SEED, -5000, True, 0.0),
        ("dns:a.test", -1, True, 0.0),
    ],
)
def test_the_delay_without_a_reply(
    tmp_path: Path, url: str, status: int, started: bool, delay: float
):
    def act(job: OpenJob):
        visit = job.visit(url, status, conclusive=True)
        if not started:
            visit.started = 0.0
        job.end(visit)
        assert job.session.frontier.last_delay(visit.uri.queue) == delay

    visiting(tmp_path, act, {"politeness": {"delay_factor": 5.0}})


def test_a_host_that_is_overloaded_is_left_alone_for_longer(tmp_path: Path):
    def act(job: OpenJob):
        visit = job.reply(503, conclusive=True)
        job.end(visit)
        assert job.session.frontier.backoff(visit.uri.queue).factor == 2.0
        assert visit.delay == 6.0

    visiting(tmp_path, act)


# ---- with whom a queue shares its host


@pytest.mark.parametrize(
    ("url", "group_by", "facts", "shares"),
    [
        ("dns:a.test", "address", {"addresses": ("192.0.2.1", "192.0.2.2")}, "192.0.2.1 192.0.2.2"),
        ("dns:a.test", "address", {}, ""),
        ("http://192.0.2.9/robots.txt", "address", {}, "192.0.2.9"),
        ("http://[2001:db8::1]/robots.txt", "address", {}, "2001:db8::1"),
        ("http://a.test/robots.txt", "address", {}, ""),
        ("dns:a.test", "none", {"addresses": ("192.0.2.1",)}, ""),
        ("http://www.example.co.uk/robots.txt", "domain", {}, "example.co.uk"),
    ],
)
def test_queues_of_one_host_share_its_delay(
    tmp_path: Path, url: str, group_by: str, facts: dict[str, Any], shares: str
):
    def act(job: OpenJob):
        visit = job.visit(url, -5000, uri={"path": "P"}, **facts)
        job.end(visit)
        queue = job.session.frontier.queue_in_memory(visit.uri.queue)
        assert queue is not None
        assert queue.row.group == shares

    visiting(tmp_path, act, {"politeness": {"group_by": group_by}})


def test_the_target_of_a_redirected_robots_txt_says_nothing_of_the_host(tmp_path: Path):
    def act(job: OpenJob):
        uri = {"path": "P", "heritable": {ROBOTS_FOR: "http://a.test", ROBOTS_REDIRECTS: "1"}}
        visit = job.visit("http://192.0.2.9/robots.txt", -5000, uri=uri)
        job.end(visit)
        queue = job.session.frontier.queue_in_memory(visit.uri.queue)
        assert queue is not None
        assert queue.row.group == ""

    visiting(tmp_path, act)


# ---- processors that a configuration adds


class Step:
    """A processor that does what it is given."""

    def __init__(self, work: Callable[[Visit], Result], *, gate: bool = True) -> None:
        self.work = work
        self.gate = gate

    def accepts(self, visit: Visit) -> bool:
        return self.gate

    def process(self, visit: Visit) -> Result:
        return self.work(visit)


def bound(name: str, step: Step) -> Bound[Any]:
    return Bound(step, StepCounts("Disposition", name))


def test_added_processors_run_at_their_places(tmp_path: Path):
    seen: list[Any] = []

    def note(result: Result) -> Callable[[Visit], Result]:
        def work(visit: Visit) -> Result:
            job = seen[0]
            known = job.known() is not None
            queued = job.session.frontier.totals.queued
            seen.append(
                (visit.step, known, bool(visit.warc_file), queued, job.disposition.finished)
            )
            return result

        return work

    go, end = Step(note(Result.PROCEED)), Step(note(Result.FINISH))
    shut = Step(note(Result.PROCEED), gate=False)
    plan = DispositionPlan(
        before=(bound("before", go), bound("shut", shut)),
        between=(bound("between", end), bound("never", go)),
        late=(bound("late", go),),
        after=(bound("after", go),),
    )

    def act(job: OpenJob):
        seen.append(job)
        job.change(plan)
        job.end(job.reply(outlinks=[LINK]))

    visiting(tmp_path, act)
    assert seen[1:] == [
        ("before", False, False, 1, 0),
        ("between", True, True, 1, 0),
        ("late", True, True, 2, 0),
        ("after", True, True, 1, 1),
    ]
    assert [step.step.handled for step in (*plan.before, *plan.between)] == [1, 0, 1, 0]


def test_a_bug_in_an_added_processor_costs_its_uri_alone(tmp_path: Path):
    def fail(_: Visit) -> Result:
        raise ValueError("a bug")

    def act(job: OpenJob):
        job.change(DispositionPlan(before=(bound("bad", Step(fail)),)))
        visit = job.reply(outlinks=[LINK])
        assert isinstance(job.end(visit), Final)
        assert (visit.status, visit.outlinks) == (-5, [])
        assert visit.annotations == ["err=ValueError"]
        assert job.session.logs.alerts.total == 1
        assert job.session.reporting.statistics.totals.failures == 1

    done = visiting(tmp_path, act)
    assert "ValueError: a bug" in done.log("runtime-errors.log")
    assert done.types == []


def test_a_fault_of_the_store_in_an_added_processor_ends_the_session(tmp_path: Path):
    def fail(_: Visit) -> Result:
        raise StorageError("full")

    def act(job: OpenJob):
        job.change(DispositionPlan(before=(bound("bad", Step(fail)),)))
        with pytest.raises(StorageError, match="full"):
            job.end(job.reply())

    assert visiting(tmp_path, act).log("runtime-errors.log") == ""


@pytest.mark.parametrize(
    ("gate", "types"),
    [
        ("accept", ["response", "request", "metadata"]),
        ("reject", []),
        ({"rule": "fetch-status", "statuses": [200], "decision": "reject"}, []),
        (
            {"rule": "fetch-status", "statuses": [404], "decision": "reject"},
            ["response", "request", "metadata"],
        ),
    ],
)
def test_the_gate_of_the_archive(tmp_path: Path, gate: Any, types: list[str]):
    def act(job: OpenJob):
        visit = job.reply()
        job.end(visit)
        assert job.disposition.pass_to_archive(visit) is bool(types)
        assert not job.disposition.pass_to_archive(job.visit("http://b.test/", -2))

    settings = {"chains": {"disposition": {"archive": {"gate": gate}}}}
    assert visiting(tmp_path, act, settings).types == types


def test_a_reply_that_a_preference_withholds_is_annotated_and_not_written(tmp_path: Path):
    head = b"HTTP/1.1 200 OK\r\nX-Robots-Tag: noarchive\r\n\r\n"

    def act(job: OpenJob):
        visit = job.reply(capture={"head": head, "headers": [(b"X-Robots-Tag", b"noarchive")]})
        assert job.disposition.records.withheld(visit) == "noarchive"
        assert visit.annotations == []
        job.end(visit)

    closed = visiting(tmp_path, act, {"rights": {"enforce": ["noarchive"]}})
    assert closed.log().count(" rightsWithheld:noarchive") == 1
    assert closed.types == []
