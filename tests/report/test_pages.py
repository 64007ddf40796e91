import json
import math

import pytest

from nacre.report.material import ToeFacts
from nacre.report.queues import HEADER, LARGEST, LISTED, NONEMPTY, SUMMARY
from nacre.report.stats import Stored
from nacre.report.steps import PROCESSORS, Steps, read_steps
from nacre.report.summary import CRAWL_SUMMARY, binary_size, decimal, duration
from nacre.report.threads import THREADS
from tests.report.given import Given, queue
from tests.report.visits import HEAD

SIZE = len(HEAD) + 5


@pytest.fixture
def given() -> Given:
    return Given()


def test_crawl_summary(given: Given):
    given.visited("http://a.test/1", "http://a.test/2", "http://b.test/")
    given.visited("http://c.test/", status=-2)
    assert CRAWL_SUMMARY.text(CRAWL_SUMMARY.build(given)).splitlines() == [
        "crawl name: books",
        "crawl status: Finished",
        "duration: 1h2m3s4ms",
        "",
        "seeds crawled: 2",
        "seeds uncrawled: 1",
        "",
        "hosts visited: 2",
        "",
        "URIs processed: 17",
        "URI successes: 12",
        "URI failures: 4",
        "URI disregards: 1",
        "",
        "novel URIs: 3",
        "",
        f"total crawled bytes: {3 * SIZE} ({3 * SIZE} B) ",
        f"novel crawled bytes: {3 * SIZE} ({3 * SIZE} B)",
        "",
        "URIs/sec: 0",
        "KB/sec: 0",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0ms"), (0.0004, "0ms"), (1, "1s"), (61.5, "1m1s500ms"), (90_061, "1d1h1m1s")],
)
def test_a_duration(seconds: float, text: str):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1504, "1.5 KiB"),
        (2048, "2 KiB"),
        (21_995_068, "21 MiB"),
        (72_379_142, "69 MiB"),
        (5 * 2**60, "5120 PiB"),
    ],
)
def test_a_size_as_heritrix_writes_it(number: int, text: str):
    assert binary_size(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (74.04, "74.04"),
        (10.5, "10.5"),
        (100.0, "100"),
        (1 / 3, "0.33"),
        (math.nan, "NaN"),
        (math.inf, "∞"),
    ],
)
def test_a_number_as_java_writes_it(number: float, text: str):
    assert decimal(number) == text


def test_what_was_known_and_what_was_not_tried(given: Given):
    given.visited("http://a.test/1", stored=Stored.DUPLICATE)
    given.untried = 7
    lines = CRAWL_SUMMARY.text(CRAWL_SUMMARY.build(given)).splitlines()
    assert "duplicate-by-hash URIs: 1" in lines
    assert f"duplicate-by-hash crawled bytes: {SIZE} ({SIZE} B)" in lines
    assert not any(line.startswith("not-modified") for line in lines)
    assert lines[-2:] == ["", "guesses not tried: 7"]


def test_no_threads_where_nothing_runs(given: Given):
    given.threads = 0
    assert THREADS.text(THREADS.build(given)) == "no ToeThreads\n"


def test_the_queues_that_are_not_empty(given: Given):
    wake = "2026-11-20T10:00:05.000Z"
    given.given_queues = [queue("b,", 2), queue("c,", 0), queue("a,", 1, "snoozed", wake)]
    lines = NONEMPTY.text(NONEMPTY.build(given)).splitlines()
    assert lines == [
        HEADER,
        f"a, 3 1 9 2999 1(1.2) 2026-11-20T10:00:00.000Z {wake} 5/-1 2 http://a/1 -",
        "b, 3 2 9 2999 1(1.2) 2026-11-20T10:00:00.000Z - 5/-1 2 http://a/1 -",
    ]
    assert not NONEMPTY.default
    assert all(len(line.split()) == len(HEADER.split()) for line in lines)


def test_the_frontier_at_a_glance(given: Given):
    given.given_queues = [queue("a,", 5), queue("b,", 9, "snoozed"), queue("c,", 0, "exhausted")]
    data = SUMMARY.build(given)
    assert [row["queue"] for row in data["largest"]] == ["b,", "a,", "c,"]
    assert data["queues"]["exhausted"] == 1
    text = SUMMARY.text(data)
    assert " Queued:        3\n" in text
    assert "             Active queues: 2\n" in text
    section = text.partition(" -----===== SNOOZED QUEUES =====-----\n")[2].splitlines()
    assert section[:3] == ["SNOOZED#0:", "Queue b, (p3)", "  9 items"]
    assert "exhausted" not in data["lists"]


def test_many_queues_are_not_all_listed(given: Given):
    given.given_queues = [queue(f"q{number},", number, "inactive") for number in range(LISTED + 7)]
    data = SUMMARY.build(given)
    assert len(data["lists"]["inactive"]) == LISTED
    assert [row["current_size"] for row in data["largest"]] == list(
        range(LISTED + 6, LISTED + 6 - LARGEST, -1)
    )
    assert "... and 7 more\n" in SUMMARY.text(data)


class Embroider:
    """Puts roses on cushions.

    And lilies.
    """


def test_steps_are_counted_and_outlive_the_process(given: Given):
    steps = Steps(given.store)
    step = steps.add("Fetch", "roses", Embroider())
    other = steps.add("Disposition", "archive", Embroider())
    step.handled, step.links, step.seconds = 3, 40, 1.5
    other.handled, other.written, other.plain = 2, 5000, 9000
    steps.seal()
    step.handled = 99  # lost with the process
    again = Steps(given.store)
    assert again.add("Disposition", "archive", Embroider()).written == 5000
    first = again.add("Fetch", "roses", Embroider())
    first.handled += 1
    again.seal()
    kind = f"{__name__}.Embroider"
    assert PROCESSORS.text(PROCESSORS.build(given)).splitlines() == [
        "DispositionChain - Processors report - 202611201000",
        "  Number of Processors: 1",
        "",
        f"Processor: {kind} (archive)",
        "  Function:          Puts roses on cushions.",
        "  Total CrawlURIs:   2",
        "  Revisit records:   0",
        "  Crawled content bytes (including http headers): 0 (0 B)",
        "  Total uncompressed bytes (including all warc records): 9000 (8.8 KiB)",
        "  Total size on disk (compressed): 5000 (4.9 KiB)",
        "",
        "",
        "FetchChain - Processors report - 202611201000",
        "  Number of Processors: 1",
        "",
        f"Processor: {kind} (roses)",
        "  Function:          Puts roses on cushions.",
        "  Total CrawlURIs:   4",
        "  Time:              1s500ms",
        "  40 links from 4 CrawlURIs",
        "",
        "",
    ]


def test_what_an_earlier_process_counted_is_kept(given: Given):
    steps = Steps(given.store)
    steps.add("Fetch", "roses", Embroider()).handled = 3
    steps.add("Fetch", "lilies", Embroider()).handled = 5
    steps.seal()
    again = Steps(given.store)
    again.add("Fetch", "tulips", Embroider()).handled = 1
    again.add("Fetch", "lilies", Embroider())
    again.seal()
    counted = [(step.name, step.handled) for step in read_steps(given.store)]
    assert counted == [("tulips", 1), ("lilies", 5), ("roses", 3)]


def test_steps_without_news_write_nothing(given: Given):
    steps = Steps(given.store)
    steps.add("Fetch", "roses", Embroider()).handled = 1
    steps.seal()
    given.store.commit()
    steps.seal()
    assert given.store.group.empty


def test_threads(given: Given):
    given.given_toes = [ToeFacts(3, "http://a.test/", "LE", "http://v.test/", 1, "extract", 2.5)]
    data = THREADS.build(given)
    assert (data["threads"], data["active"]) == (25, 1)
    assert THREADS.text(data).splitlines() == [
        "Toe threads report - 202611201000",
        " Job being crawled: books",
        " Number of toe threads in pool: 25 (1 active)",
        "",
        "[ToeThread #3: http://a.test/",
        " CrawlURI http://a.test/ LE http://v.test/",
        "    1 attempts",
        "    in processor: extract",
        "    ACTIVE for 2s500ms",
        "]",
    ]


@pytest.mark.parametrize("page", [CRAWL_SUMMARY, SUMMARY, PROCESSORS, THREADS])
def test_a_page_is_text_and_json(given: Given, page):
    ((text, piece),) = page.parts(given)
    data = page.build(given)
    assert text == page.text(data)
    assert json.loads(piece) == data
