from pathlib import Path

import pytest

from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI
from nacre.core.processor import Visit
from nacre.core.status import FetchStatus
from nacre.engine.candidates.identity import Identity, canonicalizer
from nacre.engine.candidates.rejected_uris import RejectedUris
from nacre.engine.outcomes import Outcomes
from nacre.frontier.rows import future_key, pack, pack_future, queue_id, queue_key
from nacre.inspect.explain.answers import PathStep, PrerequisiteAnswer, Standing
from nacre.inspect.explain.url_state import FoundVia, UrlLookup, find_waiting
from nacre.inspect.view import View
from nacre.machine.layout import Layout
from nacre.scope.subject import Subject
from nacre.settings.settings import JobSettings
from nacre.store.store import Store
from tests.store.memory import MemoryEngine

SETTINGS = JobSettings()
IDENTITY = Identity(canonicalizer(SETTINGS.uri), fixed(SETTINGS.frontier))
HOME = "http://a.test/"
QUEUE = IDENTITY.queue(HOME)
NOW = 1_000_000.0


class Clock:
    """A clock that stands at `NOW`."""

    def now(self) -> float:
        return NOW

    def monotonic(self) -> float:
        return 0.0


class LiveVisits:
    """What a running job answers: the visits in process."""

    def __init__(self, *visits: Visit) -> None:
        self.visits = visits

    def in_process(self) -> tuple[Visit, ...]:
        return self.visits


def uri(path: str, **facts: object) -> CrawlURI:
    url = HOME + path
    return CrawlURI(url, IDENTITY.key(url), QUEUE, via=HOME, path="L", **facts)  # type: ignore[arg-type]


class Job:
    """A job's store, to which each test adds rows."""

    def __init__(self, *busy: CrawlURI) -> None:
        self.store = Store(MemoryEngine())
        live = LiveVisits(*map(Visit, busy)) if busy else None
        view = View(Layout(Path("job")), SETTINGS, self.store, Clock(), live)  # type: ignore[arg-type]
        self.lookup = UrlLookup(view, IDENTITY, lambda _: QUEUE, lambda: HOME)

    def queued(self, path: str, number: int, **facts: object) -> CrawlURI:
        one = uri(path, **facts)
        self.store.put("seen", one.key, b"")
        self.store.put("queue", queue_key(queue_id(QUEUE), one, number), pack(one))
        return one

    def future(self, path: str, due: float) -> CrawlURI:
        one = uri(path, attempts=2, last_status=-2)
        self.store.put("seen", one.key, b"")
        self.store.put("future", future_key(due, queue_id(QUEUE), 1), pack_future(one))
        return one

    def done(self, path: str, status: int, via: str = "", hops: str = "") -> None:
        url = HOME + path
        visited = CrawlURI(url, IDENTITY.key(url), QUEUE, via=via, path=hops, context="a/@href")
        Outcomes(self.store).put(Visit(visited, status=status))

    def standing(self, path: str) -> Standing:
        return self.lookup.standing(self.lookup.find(HOME + path))


def test_a_uri_is_found_in_its_queue_with_the_number_before_it():
    job = Job()
    job.queued("a", 1)
    second = job.queued("b", 2)
    found = find_waiting(job.store, QUEUE, second.key)
    assert found is not None
    assert (found.where, found.uri.url, found.ahead, found.due) == ("queue", HOME + "b", 1, None)


def test_a_uri_is_found_among_those_that_wait_for_their_time():
    job = Job()
    one = job.future("x", NOW + 60.0)
    found = find_waiting(job.store, QUEUE, one.key)
    assert found is not None
    assert (found.where, found.ahead, found.due) == ("future", None, NOW + 60.0)


def test_a_uri_of_no_queue_is_not_found():
    job = Job()
    job.queued("a", 1)
    assert find_waiting(job.store, QUEUE, IDENTITY.key(HOME + "b")) is None
    assert find_waiting(job.store, "test,other", IDENTITY.key(HOME + "a")) is None


def test_each_standing():
    job = Job(uri("busy"))
    job.queued("queued", 1)
    job.done("finished", 200)
    refused = HOME + "refused"
    subject = Subject(refused, "L", HOME, "a/@href")
    RejectedUris(job.store).add(IDENTITY.key(refused), subject, "some rule")
    job.store.put("seen", IDENTITY.key(HOME + "seen"), b"")
    found = {path: job.standing(path) for path in ("busy", "queued", "finished", "refused", "seen")}
    assert found == {
        "busy": Standing.IN_PROCESS, "queued": Standing.QUEUED, "finished": Standing.FINISHED,
        "refused": Standing.REFUSED, "seen": Standing.SEEN,
    }  # fmt: skip
    assert job.standing("never") is Standing.UNKNOWN


def test_the_uri_of_the_frontier_is_the_one_in_process_or_the_one_that_waits():
    busy = uri("busy")
    job = Job(busy)
    waits = job.queued("queued", 1)
    assert job.lookup.find(HOME + "busy").pending == busy
    pending = job.lookup.find(HOME + "queued").pending
    assert pending is not None
    assert pending.key == waits.key
    assert job.lookup.find(HOME + "x").pending is None


@pytest.mark.parametrize(
    ("status", "waits"), [(FetchStatus.DELETED, True), (200, False), (-2, False)]
)
def test_only_a_deleted_uri_may_wait_again(status: int, waits: bool):
    job = Job()
    job.queued("x", 1)
    job.done("x", status)
    assert (job.lookup.find(HOME + "x").waiting is not None) is waits


def test_how_a_url_was_found():
    job = Job()
    job.queued("queued", 1, context="img/@src", source="tag")
    job.done("done", 200, via=HOME, hops="L")
    assert job.lookup.find(HOME + "queued").discovery == FoundVia(
        HOME + "queued", "L", HOME, "img/@src", "tag"
    )
    assert job.lookup.find(HOME + "done").discovery == FoundVia(HOME + "done", "L", HOME, "a/@href")
    assert job.lookup.find(HOME + "new").discovery == FoundVia(
        HOME + "new", "L", HOME, is_known=False
    )


def test_an_outcome_is_shared_by_urls_of_one_canonical_form():
    job = Job()
    job.done("a?PHPSESSID=0123456789abcdef0123456789abcdef", 404)
    found = job.lookup.outcome(HOME + "a?")
    assert found is not None
    assert found.status == 404
    assert job.lookup.outcome(HOME + "b") is None


def test_the_pages_from_the_seed_to_a_url():
    job = Job()
    job.done("", 200)
    job.done("a", 301, via=HOME, hops="L")
    assert job.lookup.way(HOME + "a") == [
        PathStep(HOME, "", 200), PathStep(HOME + "a", "L", 301),
    ]  # fmt: skip
    assert job.lookup.way(HOME + "unknown") == [PathStep(HOME + "unknown", "", None)]
    assert job.lookup.way("") == []


def test_a_path_that_never_ends_is_cut():
    job = Job()
    for number in range(100):
        job.done(f"p{number}", 200, via=f"{HOME}p{number + 1}", hops="L")
    assert len(job.lookup.way(HOME + "p0")) == 60


def test_a_prerequisite_that_waits_is_named_with_the_time_left():
    job = Job()
    job.queued("x", 1)
    job.future("robots.txt", NOW + 60.0)
    waiting = job.lookup.find(HOME + "x").waiting
    assert job.lookup.behind(waiting) == PrerequisiteAnswer(HOME + "robots.txt", 2, -2, 60.0)


def test_a_prerequisite_in_process_is_named_without_a_time():
    job = Job(uri("robots.txt", attempts=1, last_status=-4))
    job.queued("x", 1)
    waiting = job.lookup.find(HOME + "x").waiting
    assert job.lookup.behind(waiting) == PrerequisiteAnswer(HOME + "robots.txt", 1, -4)


def test_without_a_prerequisite_a_uri_waits_for_its_turn_alone():
    job = Job()
    job.queued("x", 1)
    assert job.lookup.behind(job.lookup.find(HOME + "x").waiting) is None
    assert job.lookup.behind(None) is None
