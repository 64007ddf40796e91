from msgspec import structs

from nacre.core.crawluri import DEAD, CrawlURI
from nacre.frontier.frontier import Attempt, Frontier
from nacre.frontier.policy import AttemptOutcome, LastTriesPhase, Retry, retry_decision
from nacre.frontier.settings import FrontierSettings
from tests.frontier.making import NOW, candidate, frontier
from tests.frontier.memory_rows import MemoryRows

SETTINGS = FrontierSettings()


def ends(front: Frontier, alive: tuple[str, ...] = (), mono: float = 0.0) -> dict[str, float]:
    """Fetch to the end, no reply but from some hosts: when each URL left, seconds; its tries."""
    left: dict[str, float] = {}
    while not front.is_empty:
        uri = front.next(NOW + mono, mono)
        for removed in front.last_tries.abandon():
            left[removed.uri.url] = mono
        if uri is None:
            wait = front.next_wake(mono)
            mono += min(max(wait or 0.0, 0.001), 1.0)
            continue
        if uri.queue[:-1] in alive:
            front.finished(uri, Attempt(200), mono)
            left[uri.url] = mono
            continue
        since = front.last_since(NOW + mono)
        last = None if since is None else LastTriesPhase(since, once=front.tries_once(uri))
        decision = retry_decision(SETTINGS, uri, AttemptOutcome(-2), NOW + mono, last)
        if isinstance(decision, Retry):
            front.retry(uri, Attempt(-2), decision, NOW + mono, mono)
        else:
            front.finished(uri, Attempt(-2), mono)
            left[uri.url] = mono
    return left


def with_robots(front: Frontier, mono: float = 0.0) -> None:
    """Let the next URI ask for robots.txt, in vain."""
    uri = front.next(NOW + mono, mono)
    assert uri is not None
    robots = candidate(uri.queue[:-1], "robots.txt", path=f"{uri.path}P")
    front.deferred(uri, robots, mono)
    first = front.next(NOW + mono, mono)
    assert first is not None
    assert first.is_prerequisite
    front.retry(first, Attempt(-2), Retry(NOW + mono + 60, hold=True), NOW + mono, mono)


def test_a_guess_that_cannot_be_reached_does_not_keep_a_crawl_alive() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("dead", "guess", path="LX"), candidate("a", "page")], NOW)
    assert max(ends(front, ("a",)).values()) < 2


def test_nor_does_the_robots_txt_that_only_guesses_need() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("dead", str(n), path="LX") for n in range(5)], NOW)
    with_robots(front)
    assert front.only_retries_remain
    left = ends(front)
    assert left["http://dead/robots.txt"] < 2
    assert set(left) >= {f"http://dead/{n}" for n in range(5)}
    assert max(left.values()) < 31


def test_pages_have_the_ten_minutes_and_their_robots_txt_too() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("dead", "page"), candidate("dead", "image", path="LE")], NOW)
    with_robots(front)
    for mono in (0.0, 29.0, 31.0, 599.0):
        front.next_wake(mono)
        assert not list(front.last_tries.abandon())
        uri = front.next(NOW + mono, mono)
        if uri is not None:
            assert not front.tries_once(uri)
            front.retry(uri, Attempt(-2), Retry(NOW + mono + 60, hold=True), NOW + mono, mono)
    assert front.last_until(NOW + 599.0, 599.0) == NOW + 600
    front.next_wake(600.0)
    assert len(list(front.last_tries.abandon())) == 3


def test_an_embed_that_failed_waits_for_no_page() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("dead", "page"), candidate("far", "image", path="LE")], NOW)
    left = ends(front)
    assert left["http://far/image"] < 2
    assert 590 < left["http://dead/page"] < 602


def test_a_slow_end_of_many_guesses_takes_half_a_minute() -> None:
    front = frontier(MemoryRows())
    front.schedule([candidate("dead", str(n), path="LX") for n in range(100)], NOW)
    while not front.only_retries_remain:
        uri = front.next(NOW, 0.0)
        assert uri is not None
        front.retry(uri, Attempt(-2), Retry(NOW + 60), NOW, 0.0)
    front.next_wake(1.0)
    while front.next(NOW + 1, 1.0) is not None:
        pass  # all are in process, and hang
    front.next_wake(1.0)
    assert front.last_until(NOW + 1, 1.0) == NOW + 31


def test_the_time_goes_on_where_an_end_was_interrupted_in_vain() -> None:
    """The URIs behind a robots.txt that failed are done with in a moment: that is not new work."""
    front = frontier(MemoryRows())
    front.schedule([candidate("dead", "guess", path="LX")], NOW)
    with_robots(front)
    front.schedule([candidate("far", "page")], NOW)
    page = front.next(NOW, 0.0)
    assert page is not None
    front.retry(page, Attempt(-2), Retry(NOW + 60), NOW, 0.0)
    front.next_wake(0.0)
    assert front.last_since(NOW) == NOW
    taken = [front.next(NOW + 5, 5.0), front.next(NOW + 5, 5.0)]
    robots = next(uri for uri in taken if uri is not None and uri.is_prerequisite)
    front.finished(robots, Attempt(-2), 5.0)
    assert not front.only_retries_remain
    behind = front.next(NOW + 5, 5.0)
    assert behind is not None
    assert behind.url == "http://dead/guess"
    front.finished(behind, Attempt(-61), 5.0)
    front.next_wake(5.0)
    assert front.last_since(NOW + 5) == NOW


def dead(host: str, path: str, hops: str = "") -> CrawlURI:
    return structs.replace(candidate(host, path, path=hops), heritable={DEAD: "1"})


def test_a_dead_seed_has_two_tries_and_keeps_no_crawl_alive() -> None:
    front = frontier(MemoryRows())
    front.schedule([dead("dead", ""), candidate("a", "page")], NOW)
    assert max(ends(front, ("a",)).values()) < 2


def test_nor_does_the_robots_txt_of_a_dead_seed_and_what_waits_behind_it() -> None:
    front = frontier(MemoryRows())
    front.schedule([dead("dead", ""), candidate("dead", "known", path="L")], NOW)
    with_robots(front)
    assert front.only_retries_remain
    left = ends(front)
    assert left["http://dead/robots.txt"] < 2
    assert max(left.values()) <= SETTINGS.last_extras_within


def test_another_page_that_cannot_be_reached_still_has_its_time() -> None:
    front = frontier(MemoryRows())
    front.schedule([dead("dead", ""), candidate("late", "page", path="L")], NOW)
    left = ends(front)
    assert left["http://dead/"] < 2
    assert left["http://late/page"] > 100


def test_a_dead_seed_takes_no_time_from_another_server_of_its_queue() -> None:
    front = frontier(MemoryRows())
    https = structs.replace(dead("both", ""), url="https://both/", queue="both:")
    http = structs.replace(candidate("both", "page", path="L"), queue="both:")
    front.schedule([https, http], NOW)
    left = ends(front)
    assert left["https://both/"] < 2
    assert left["http://both/page"] > 100
