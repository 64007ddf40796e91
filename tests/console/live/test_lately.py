from nacre.console.live.lately import fetched_lately, fields_of, suspected_trap, troubled_host
from nacre.console.live.snapshot import RatePoint
from nacre.job.overview import SlowQueue

NOW = 1_763_651_460.0  # 2025-11-20T15:11:00Z
SLOW = SlowQueue("test,a,", 9, 60.0, 540.0, host="a.test")


def line(url: str, status: int, path: str = "L", time: str = "2025-11-20T15:10:30.000Z") -> str:
    return f"{time} {status:>5} - {url} {path} - text/html #001 - - - -"


def test_a_host_that_refuses_is_named_with_its_status_and_delay():
    refused = [line("http://a.test/%CA%E9", 429)] * 8 + [line("http://b.test/", -2)] * 2
    lines = fields_of(["    an error", *refused, *[line("http://c.test/", 200)] * 20])
    found = troubled_host(lines, (SLOW,), NOW)
    assert found is not None
    assert (found.host, found.status, found.delay) == ("a.test", 429, 60.0)
    assert found.share == 8 / 30


def test_a_missing_page_and_what_is_long_ago_are_no_refusals():
    missing = fields_of([line("http://a.test/", 404)] * 30)
    assert troubled_host(missing, (), NOW) is None
    old = fields_of([line("http://a.test/", 429, time="2025-11-20T15:00:00.000Z")] * 30)
    assert troubled_host(old, (), NOW) is None
    assert troubled_host(fields_of([line("http://a.test/", 429)] * 3), (), NOW) is None


def points(queued: int, finished: int, seconds: float = 600.0) -> list[RatePoint]:
    return [RatePoint(NOW - seconds, 0, 0, 0), RatePoint(NOW, finished, 0, queued)]


def test_a_place_that_grows_far_from_the_seeds_looks_like_a_trap():
    deep = fields_of([line(f"http://a.test/calendar/{n}?m=/x", 200, "L" * 9) for n in range(30)])
    found = suspected_trap(deep, points(900, 100))
    assert found is not None
    assert (found.prefix, found.share) == ("http://a.test/calendar/", 1.0)
    assert suspected_trap(deep, points(90, 100)) is None
    assert suspected_trap(deep, points(900, 100, 60.0)) is None
    assert suspected_trap(deep, ()) is None
    near = fields_of([line(f"http://a.test/docs/{n}", 200) for n in range(30)])
    assert suspected_trap(near, points(900, 100)) is None
    long = fields_of([line(f"http://a.test/docs/{n}", 200, "5+LLLL") for n in range(30)])
    assert suspected_trap(long, points(900, 100)) is not None
    top = fields_of([line(f"http://a.test/{n}", 200, "L" * 9) for n in range(30)])
    assert suspected_trap(top, points(900, 100)) is None


def test_a_program_with_queries_is_a_place_of_its_own():
    """Session ids and calendars are often one program: its directory may have good pages too."""
    top = [line(f"http://a.test/list.php?sid={n:x}", 200, "L" * 9) for n in range(30)]
    news = [line(f"http://a.test/news/{n}", 200) for n in range(10)]
    found = fetched_lately(fields_of([*top, *news]))
    assert [(one.prefix, one.share) for one in found] == [
        ("http://a.test/list.php?", 0.75),
        ("http://a.test/news/", 0.25),
    ]
    inside = [line(f"http://a.test/huodong/index.php?m={n}", 200) for n in range(30)]
    assert [one.prefix for one in fetched_lately(fields_of(inside))] == [
        "http://a.test/huodong/index.php?"
    ]
    mixed = [line(f"http://a.test/bbs/{n % 2}.php?t={n}", 200) for n in range(30)]
    assert [one.prefix for one in fetched_lately(fields_of(mixed))] == ["http://a.test/bbs/"]
    month = [line(f"http://a.test/calendar/?m={n}", 200) for n in range(30)]
    assert [one.prefix for one in fetched_lately(fields_of(month))] == ["http://a.test/calendar/"]
    home = [line(f"http://a.test/?p={n}", 200) for n in range(30)]
    assert [one.prefix for one in fetched_lately(fields_of(home))] == ["http://a.test/?"]
    assert fetched_lately(fields_of([line(f"http://a.test/{n}", 200) for n in range(30)])) == ()
    trap = suspected_trap(fields_of(top), points(900, 100))
    assert trap is not None
    assert trap.prefix == "http://a.test/list.php?"
