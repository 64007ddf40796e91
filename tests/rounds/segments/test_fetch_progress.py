"""The progress of a fetch: what units count, and the time that all together still take."""

from nacre.rounds.segments.fetch_progress import (
    FetchPace,
    FetchProgress,
    HostLoad,
    HostsLeft,
    UnitCounter,
    UnitProgress,
)


def test_the_host_with_the_most_left_decides():
    hosts = HostsLeft({"a": HostLoad(10, 3.0), "b": HostLoad(20, 1.0), "c": HostLoad(1, 0.0)})
    assert (hosts.seconds(), hosts.requested_hosts) == (30.0, 0)
    for _ in range(4):
        hosts.visited("a")
    assert hosts.seconds() == 20.0, "b has more left now"
    hosts.visited("b")
    assert (hosts.seconds(), hosts.requested_hosts) == (19.0, 2)
    assert (hosts.give_up("b"), hosts.give_up("b"), hosts.give_up("elsewhere")) == (19, 0, 0)
    assert hosts.seconds() == 18.0


def test_a_host_is_as_fast_as_its_visits_say():
    hosts = HostsLeft({"a": HostLoad(10, 3.0)})
    for moment in (100.0, 101.0):
        hosts.visited("a", moment)
    assert hosts.seconds() == 24.0, "two are too few"
    hosts.visited("a", 102.0)
    assert hosts.seconds() == 7.0


def test_redirects_take_nothing_from_what_is_left_of_the_list():
    hosts = HostsLeft({"a": HostLoad(2, 1.0)})
    hosts.visited("a", 1.0, listed=False)
    assert (hosts.seconds(), hosts.requested_hosts) == (2.0, 1)
    hosts.visited("b", 1.0, listed=False)
    assert (hosts.seconds(), hosts.requested_hosts) == (2.0, 2)


def counter(number: int = 3) -> UnitCounter:
    urls = {f"http://书.test/{n}" for n in range(number)}
    return UnitCounter({"书.test": HostLoad(number, 1.0)}, urls)


def test_a_unit_counts_targets_of_redirects_besides_its_list():
    unit = counter()
    assert unit.progress() == UnitProgress(0, 3, 3, 0, 0, 3.0)
    unit.visited("http://书.test/0", 10, 1.0)
    unit.visited("http://书.test/moved", 5, 2.0)
    assert unit.progress() == UnitProgress(2, 4, 3, 15, 1, 2.0)


def test_urls_of_hosts_that_are_given_up_do_not_wait():
    unit = counter(10)
    unit.visited("http://书.test/0", 0, 1.0)
    assert unit.progress(["书.test"]) == UnitProgress(1, 1, 10, 0, 1, 0.0)
    # One more of them was under way.
    unit.visited("http://书.test/1", 7, 1.0)
    assert unit.progress(["书.test"]) == UnitProgress(2, 2, 10, 7, 1, 0.0)


def test_visits_of_earlier_attempts_count_and_say_nothing_of_the_pace():
    unit = counter(10)
    for number in range(5):
        unit.visited(f"http://书.test/{number}", 0)
    unit.received(500)
    assert unit.progress() == UnitProgress(5, 10, 10, 500, 1, 5.0)


def of(
    *units: UnitProgress, urls: int = 100, deadline: float = 0.0, **more: float
) -> FetchProgress:
    """What a pace says of units when it is asked twice: when none had begun, and 10 s later."""
    pace = FetchPace(urls, deadline)
    pace.progress([], 1000.0)
    return pace.progress(units, 1000.0 + more.get("after", 10.0))


def test_units_that_wait_for_their_turn_are_in_the_total():
    begun = UnitProgress(20, 41, 40, 1_000, 2, 5.0)
    assert of(begun) == FetchProgress(20, 101, 1_000, 2, 40.5)
    assert of(begun, UnitProgress(10, 60, 60, 10, 3, 99.0)).left == 99.0
    assert of(begun, UnitProgress(10, 60, 60, 10, 3, 99.0))[:4] == (30, 101, 1_010, 5)


def test_the_time_is_not_known_before_anything_was_measured():
    assert FetchPace(5).progress([], 1.0) == FetchProgress(0, 5, 0, 0, None)
    assert of(UnitProgress(1, 5, 5, 0, 1, 0.0), urls=5, after=1.0).left is None
    assert of(UnitProgress(1, 5, 5, 0, 1, 7.0), urls=5, after=1.0).left == 7.0


def test_what_earlier_attempts_fetched_is_no_pace():
    pace = FetchPace(100)
    pace.progress([UnitProgress(50, 100, 100, 0, 1, 0.0)], 1.0)
    assert pace.progress([UnitProgress(50, 100, 100, 0, 1, 0.0)], 11.0).left is None
    # The ten seconds until the first visit of this attempt are no pace either.
    assert pace.progress([UnitProgress(60, 100, 100, 0, 1, 0.0)], 21.0).left == 40.0


def test_the_end_of_the_time_limit_comes_first():
    slow = UnitProgress(1, 100, 100, 0, 1, 3_600.0)
    assert of(slow, deadline=1_070.0).left == 60.0
    assert of(slow, deadline=900.0).left == 0.0


def test_at_the_end_nothing_is_left():
    assert of(UnitProgress(100, 100, 100, 5, 1, 0.0)) == FetchProgress(100, 100, 5, 1, 0.0)
