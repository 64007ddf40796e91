from pathlib import Path

import pytest
from msgspec import structs

from nacre.core.states import ExitStatus
from nacre.frontier.queues import QueueRow, QueueState
from nacre.inspect.reports.crawler_reports import NonemptyQueuesReport, ThreadsReport
from nacre.inspect.reports.row_reports import HostsReport
from nacre.inspect.reports.source import (
    JobReportSource,
    SeedFacts,
    queue_facts,
    source_of,
)
from nacre.inspect.view import LiveFigures, ToeFacts
from nacre.machine.layout import Layout
from nacre.store.store import Store
from tests.inspect.reports.given import RUN, SETTINGS, fill
from tests.report.visits import NOW
from tests.store.memory import MemoryEngine


@pytest.fixture
def store() -> Store:
    made = Store(MemoryEngine())
    fill(made)
    return made


def test_a_run_in_numbers(store: Store):
    facts = JobReportSource(store, SETTINGS, RUN).facts()
    assert (facts.job, facts.run, facts.status) == ("books", RUN.name, "FINISHED")
    assert (facts.seeds_crawled, facts.seeds_uncrawled) == (2, 2)
    assert (facts.discovered, facts.queued, facts.finished, facts.succeeded) == (3, 1, 2, 2)


def test_a_run_without_an_end_is_called_running_only_while_it_runs(store: Store):
    cut_off = structs.replace(RUN, exit=ExitStatus.NONE)
    assert JobReportSource(store, SETTINGS, cut_off).facts().status == "CRASHED"
    live = LiveFigures(0, (), 0.0)
    assert JobReportSource(store, SETTINGS, cut_off, live=live).facts().status == "RUNNING"


def test_redirect_targets_are_seeds(store: Store):
    assert list(JobReportSource(store, SETTINGS, RUN).seeds()) == [
        SeedFacts("http://ok.test/", 200, ""),
        SeedFacts("http://moved.test/", 301, "http://www.moved.test/"),
        SeedFacts("http://later.test:8080/", 0, "", "not tried yet"),
        SeedFacts("http://www.moved.test/", 0, ""),
    ]


def test_what_remains_is_told_by_host(store: Store):
    source = JobReportSource(store, SETTINGS, RUN)
    assert list(source.remaining()) == [("later.test", 1)]
    rows = HostsReport().build(source)["rows"]
    assert [(row["host"], row["remaining"]) for row in rows] == [("later.test", 1)]


def test_queues(store: Store):
    source = JobReportSource(store, SETTINGS, RUN)
    assert sum(source.queue_states().values()) == len(list(source.queues())) == 3
    data = NonemptyQueuesReport().build(source)
    assert [row["queue"] for row in data["rows"]] == ["test,later,#8080"]


def test_times_of_queues():
    row = QueueRow("a,", state=QueueState.SNOOZED, wake=NOW, last_dequeue=0.0, size=1, waiting=2)
    facts = queue_facts(row, -1, offset=10.0)
    assert (facts.wake_time, facts.last_dequeue_time) == ("2026-11-20T10:00:11.500Z", None)
    assert (facts.state, facts.current_size, facts.average_cost) == ("snoozed", 3, 0.0)
    ready = structs.replace(row, state=QueueState.READY, last_dequeue=1e300, spent=3, costs=2)
    facts = queue_facts(ready, 7)
    assert (facts.wake_time, facts.last_dequeue_time) == (None, None)
    assert (facts.average_cost, facts.total_budget) == (1.5, 7)


def test_only_a_running_job_has_workers(store: Store):
    layout = Layout(Path("job"))
    assert ThreadsReport().build(source_of(store, layout, SETTINGS, None))["threads"] == 0
    live = LiveFigures(25, [ToeFacts(3, "http://a/", "", "", 0, "fetch-http", 1.5)], 0.0)
    data = ThreadsReport().build(source_of(store, layout, SETTINGS, live))
    assert (data["threads"], data["active"], data["rows"][0]["step"]) == (25, 1, "fetch-http")
