import json

import pytest

from nacre.inspect.reports.base import ReportRequest
from nacre.inspect.reports.crawl_summary import CrawlSummaryReport
from nacre.inspect.reports.crawler_reports import (
    HEADER,
    LARGEST,
    LISTED,
    FrontierSummaryReport,
    NonemptyQueuesReport,
    ProcessorsReport,
    ThreadsReport,
)
from nacre.inspect.view import ToeFacts
from nacre.report.plain import plain_text
from nacre.report.statistics import ChainStatistics, read_step_counts
from tests.inspect.reports.given import Given, queue

QUEUE = {
    "queue": "test,a,", "state": "snoozed", "precedence": 3, "current_size": 7,
    "total_enqueues": 9, "session_balance": 2990, "last_cost": 1, "average_cost": 1.5,
    "last_dequeue_time": "2026-11-20T10:00:00.000Z", "wake_time": None, "total_spend": 2,
    "total_budget": -1, "error_count": 0, "last_peek_uri": "http://a.test/%CD%A8%D6%AA%B9%AB%B8%E6",
    "last_queued_uri": "",
}  # fmt: skip


@pytest.fixture
def given() -> Given:
    return Given()


def test_no_threads_where_nothing_runs(given: Given):
    given.threads = 0
    assert ThreadsReport().text(ThreadsReport().build(given)) == "no ToeThreads\n"


def test_the_queues_that_are_not_empty(given: Given):
    wake = "2026-11-20T10:00:05.000Z"
    given.given_queues = [queue("b,", 2), queue("c,", 0), queue("a,", 1, "snoozed", wake)]
    lines = NonemptyQueuesReport().text(NonemptyQueuesReport().build(given)).splitlines()
    assert lines == [
        HEADER,
        f"a, 3 1 9 2999 1(1.2) 2026-11-20T10:00:00.000Z {wake} 5/-1 2 http://a/1 -",
        "b, 3 2 9 2999 1(1.2) 2026-11-20T10:00:00.000Z - 5/-1 2 http://a/1 -",
    ]
    assert not NonemptyQueuesReport().default
    assert all(len(line.split()) == len(HEADER.split()) for line in lines)


def test_the_frontier_at_a_glance(given: Given):
    given.given_queues = [queue("a,", 5), queue("b,", 9, "snoozed"), queue("c,", 0, "exhausted")]
    data = FrontierSummaryReport().build(given)
    assert [row["queue"] for row in data["largest"]] == ["b,", "a,", "c,"]
    assert data["queues"]["exhausted"] == 1
    text = FrontierSummaryReport().text(data)
    assert " Queued:        3\n" in text
    assert "             Active queues: 2\n" in text
    section = text.partition(" -----===== SNOOZED QUEUES =====-----\n")[2].splitlines()
    assert section[:3] == ["SNOOZED#0:", "Queue b, (p3)", "  9 items"]
    assert "exhausted" not in data["lists"]


def test_many_queues_are_not_all_listed(given: Given):
    given.given_queues = [queue(f"q{number},", number, "inactive") for number in range(LISTED + 7)]
    data = FrontierSummaryReport().build(given)
    assert len(data["lists"]["inactive"]) == LISTED
    assert [row["current_size"] for row in data["largest"]] == list(
        range(LISTED + 6, LISTED + 6 - LARGEST, -1)
    )
    assert "... and 7 more\n" in FrontierSummaryReport().text(data)


class Embroider:
    """Puts roses on cushions.

    And lilies.
    """


def test_steps_are_counted_and_outlive_the_process(given: Given):
    steps = ChainStatistics(given.store)
    step = steps.add("Fetch", "roses", Embroider())
    other = steps.add("Disposition", "archive", Embroider())
    step.handled, step.links, step.seconds = 3, 40, 1.5
    other.handled, other.written, other.plain = 2, 5000, 9000
    steps.seal()
    step.handled = 99  # lost with the process
    again = ChainStatistics(given.store)
    assert again.add("Disposition", "archive", Embroider()).written == 5000
    first = again.add("Fetch", "roses", Embroider())
    first.handled += 1
    again.seal()
    kind = f"{__name__}.Embroider"
    assert ProcessorsReport().text(ProcessorsReport().build(given)).splitlines() == [
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
    steps = ChainStatistics(given.store)
    steps.add("Fetch", "roses", Embroider()).handled = 3
    steps.add("Fetch", "lilies", Embroider()).handled = 5
    steps.seal()
    again = ChainStatistics(given.store)
    again.add("Fetch", "tulips", Embroider()).handled = 1
    again.add("Fetch", "lilies", Embroider())
    again.seal()
    counted = [(step.name, step.handled) for step in read_step_counts(given.store)]
    assert counted == [("tulips", 1), ("lilies", 5), ("roses", 3)]


def test_steps_without_news_write_nothing(given: Given):
    steps = ChainStatistics(given.store)
    steps.add("Fetch", "roses", Embroider()).handled = 1
    steps.seal()
    given.store.commit()
    steps.seal()
    assert given.store.group.empty


def test_threads(given: Given):
    given.given_toes = [ToeFacts(3, "http://a.test/", "LE", "http://v.test/", 1, "extract", 2.5)]
    data = ThreadsReport().build(given)
    assert (data["threads"], data["active"]) == (25, 1)
    assert ThreadsReport().text(data).splitlines() == [
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


@pytest.mark.parametrize(
    "page", [CrawlSummaryReport(), FrontierSummaryReport(), ProcessorsReport(), ThreadsReport()]
)
def test_a_page_is_text_and_json(given: Given, page):
    ((text, piece),) = page.parts(given)
    data = page.build(given)
    assert text == page.text(data)
    assert json.loads(piece) == data


def test_a_queue_has_its_times_and_its_inside_on_demand():
    report = NonemptyQueuesReport()
    data = {"report": "frontier-nonempty", "rows": [QUEUE], "left_out": 0}
    short = plain_text(report.document(data, ReportRequest()))
    long = plain_text(report.document(data, ReportRequest(verbose=True)))
    assert "waiting URIs" in short
    assert "precedence" not in short
    assert "2026-11-20 10:00" in long
    assert "1.5" in long


def test_the_document_of_the_frontier_lists_queues_by_state_on_demand(given: Given):
    given.given_queues = [queue("a,", 5), queue("b,", 9, "snoozed")]
    data = FrontierSummaryReport().build(given)
    short = plain_text(FrontierSummaryReport().document(data, ReportRequest()))
    long = plain_text(FrontierSummaryReport().document(data, ReportRequest(verbose=True)))
    assert "The largest queues:" in short
    assert "Queues: snoozed:" in long
    assert "Queues: snoozed:" not in short


def test_the_documents_of_workers_and_processors(given: Given):
    given.given_toes = [ToeFacts(3, "http://a.test/", "LE", "http://v.test/", 1, "extract", 2.5)]
    told = plain_text(ThreadsReport().document(ThreadsReport().build(given), ReportRequest()))
    assert "25, of which 1 are busy" in told
    assert "http://v.test/" not in told
    steps = ChainStatistics(given.store)
    steps.add("Fetch", "roses", Embroider()).handled = 3
    steps.seal()
    told = plain_text(ProcessorsReport().document(ProcessorsReport().build(given), ReportRequest()))
    assert "Fetch chain" in told
    assert "Puts roses on cushions." in told
