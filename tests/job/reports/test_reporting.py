import json
from pathlib import Path

import pytest
from msgspec import structs

from nacre.config.effective import fixed
from nacre.errors import JobError
from nacre.frontier.frontier import Attempt
from nacre.frontier.queues import QueueRow, State
from nacre.job.admission.identity import Identity, canonicalizer
from nacre.job.configuration.settings import JobSettings
from nacre.job.layout import Layout
from nacre.job.reports.material import JobMaterial, Live, queue_facts, queue_host
from nacre.job.reports.reporting import (
    all_seeds,
    make_report,
    report_named,
    run_counts,
    write_checkpoint_reports,
    write_run_reports,
)
from nacre.job.reports.seedends import SeedTally
from nacre.job.runrow import RunRow
from nacre.job.runs.runs import write_run
from nacre.job.seeding.seedbook import SeedBook
from nacre.job.seeding.seeds import Seed
from nacre.job.states import ExitStatus, SeedsEnd
from nacre.job.visit.outcomes import Outcomes
from nacre.report.material import SeedFacts, ToeFacts
from nacre.report.stats import Statistics, Stored, totals
from nacre.scope.state import ScopeState
from nacre.store.disk import RealDisk
from nacre.store.store import Store
from nacre.uri.surt import surt_authority
from tests.frontier.making import frontier
from tests.report.visits import NOW, make_visit
from tests.store.memory import MemoryEngine

SETTINGS = JobSettings(name="books")
RUN = RunRow("20261120T100000Z", 1, NOW, exit=ExitStatus.FINISHED, elapsed=10.0)


def identity() -> Identity:
    return Identity(canonicalizer(SETTINGS.uri), fixed(SETTINGS.frontier))


def fill(store: Store) -> None:
    """Three seeds and a redirect target: one answered, one redirected, one not tried."""
    book, outcomes, names = SeedBook(store, ScopeState()), Outcomes(store), identity()
    for url in ("http://ok.test/", "http://moved.test/", "http://later.test:8080/"):
        book.add(Seed(url, url))
    target = names.seed("http://www.moved.test/")
    book.redirected(structs.replace(target, via="http://moved.test/"))
    front = frontier(store, now=NOW)
    urls = ["http://ok.test/", "http://moved.test/", "http://later.test:8080/"]
    front.schedule([names.seed(url) for url in urls], NOW)
    for _ in range(2):
        uri = front.next(NOW, 0)
        assert uri is not None
        status = 200 if uri.url == "http://ok.test/" else 301
        front.finished(uri, Attempt(status), 0)
        outcomes.put(structs.replace(make_visit(uri.url, status), uri=uri))
    front.save()
    write_run(store, RUN)


@pytest.fixture
def store() -> Store:
    made = Store(MemoryEngine())
    fill(made)
    return made


def test_a_run_in_numbers(store: Store):
    facts = JobMaterial(store, SETTINGS, RUN).facts()
    assert (facts.job, facts.run, facts.status) == ("books", RUN.name, "FINISHED")
    assert (facts.seeds_crawled, facts.seeds_uncrawled) == (2, 2)
    assert (facts.discovered, facts.queued, facts.finished, facts.succeeded) == (3, 1, 2, 2)


def test_a_run_without_an_end_is_called_running_only_while_it_runs(store: Store):
    cut_off = structs.replace(RUN, exit=ExitStatus.NONE)
    assert JobMaterial(store, SETTINGS, cut_off).facts().status == "CRASHED"
    live = Live(0, (), 0.0)
    assert JobMaterial(store, SETTINGS, cut_off, live=live).facts().status == "RUNNING"


def test_redirect_targets_are_seeds(store: Store):
    assert list(JobMaterial(store, SETTINGS, RUN).seeds()) == [
        SeedFacts("http://ok.test/", 200, ""),
        SeedFacts("http://moved.test/", 301, "http://www.moved.test/"),
        SeedFacts("http://later.test:8080/", 0, "", "not tried yet"),
        SeedFacts("http://www.moved.test/", 0, ""),
    ]


def test_what_remains_is_told_by_host(store: Store):
    material = JobMaterial(store, SETTINGS, RUN)
    assert list(material.remaining()) == [("later.test", 1)]
    rows = make_report("hosts", store, Layout(Path("job")), SETTINGS, None)["rows"]
    assert [(row["host"], row["remaining"]) for row in rows] == [("later.test", 1)]


def test_queues(store: Store):
    material = JobMaterial(store, SETTINGS, RUN)
    assert sum(material.queue_states().values()) == len(list(material.queues())) == 3
    data = make_report("frontier-nonempty", store, Layout(Path("job")), SETTINGS, None)
    assert [row["queue"] for row in data["rows"]] == ["test,later,#8080"]


def test_times_of_queues():
    row = QueueRow("a,", state=State.SNOOZED, wake=NOW, last_dequeue=0.0, size=1, waiting=2)
    facts = queue_facts(row, -1, offset=10.0)
    assert (facts.wake_time, facts.last_dequeue_time) == ("2026-11-20T10:00:11.500Z", None)
    assert (facts.state, facts.current_size, facts.average_cost) == ("snoozed", 3, 0.0)
    ready = structs.replace(row, state=State.READY, last_dequeue=1e300, spent=3, costs=2)
    facts = queue_facts(ready, 7)
    assert (facts.wake_time, facts.last_dequeue_time) == (None, None)
    assert (facts.average_cost, facts.total_budget) == (1.5, 7)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://www.example.com/a", "www.example.com"),
        ("https://www.example.com:8443/", "www.example.com"),
        ("http://localhost/", "localhost"),
        ("http://127.0.0.1:8080/", "127.0.0.1"),
        ("http://[::1]:8080/", "[::1]"),
        ("dns:www.example.com", "www.example.com"),
    ],
)
def test_the_host_of_a_queue(url: str, host: str):
    assert queue_host(surt_authority(url)) == host


def test_only_a_running_job_has_workers(store: Store):
    layout = Layout(Path("job"))
    assert make_report("threads", store, layout, SETTINGS, None)["threads"] == 0
    live = Live(25, [ToeFacts(3, "http://a/", "", "", 0, "fetch-http", 1.5)], 0.0)
    data = make_report("threads", store, layout, SETTINGS, live)
    assert (data["threads"], data["active"], data["rows"][0]["step"]) == (25, 1, "fetch-http")


def test_no_such_report_and_no_run():
    with pytest.raises(JobError, match="no report 'gossip'; there are: crawl-summary, seeds"):
        report_named("gossip")
    with pytest.raises(JobError, match="has not run yet"):
        make_report("hosts", Store(MemoryEngine()), Layout(Path("job")), SETTINGS, None)


def test_files_of_a_run(store: Store, tmp_path: Path):
    layout = Layout(tmp_path)
    assert write_run_reports(RealDisk(), layout, JobMaterial(store, SETTINGS, RUN)) == ""
    found = json.loads((layout.run(RUN.name) / "reports" / "seeds-report.json").read_text())
    assert [row["code"] for row in found["rows"]] == [0, 0, 301, 200]


def test_reports_that_cannot_be_written_are_no_disaster(store: Store, tmp_path: Path):
    (tmp_path / "runs").write_text("a file in the way")
    told = write_run_reports(RealDisk(), Layout(tmp_path), JobMaterial(store, SETTINGS, RUN))
    assert told.startswith("reports were not written")


def test_reports_of_a_checkpoint(tmp_path: Path):
    layout = Layout(tmp_path)
    checkpoint = layout.checkpoints / "cp00001"
    with Store.open(str(layout.store)) as store:
        fill(store)
        store.commit()
        layout.checkpoints.mkdir()
        store.engine.checkpoint(str(checkpoint))
        live = Live(25, (), 0.0)
        layout.scratch.mkdir()
        told = write_checkpoint_reports(RealDisk(), layout, SETTINGS, checkpoint, live)
    assert told == ""
    text = (layout.run(RUN.name) / "reports" / "crawl-report.txt").read_text()
    assert "seeds crawled: 2\n" in text
    told = write_checkpoint_reports(RealDisk(), layout, SETTINGS, tmp_path / "none", live)
    assert told.startswith("reports were not written")


def ended(*seeds: tuple[int | None, str]) -> SeedsEnd:
    """What became of seeds together: each its status (None: not tried), and who redirected to it.

    Seed number n is `http://n.test/`.
    """
    store = Store(MemoryEngine())
    book, outcomes, names = SeedBook(store, ScopeState()), Outcomes(store), identity()
    for number, (status, redirect_from) in enumerate(seeds):
        uri = structs.replace(names.seed(f"http://{number}.test/"), via=redirect_from)
        if redirect_from:
            book.redirected(uri)
        else:
            book.add(Seed(uri.url, uri.url))
        if status is not None:
            outcomes.put(structs.replace(make_visit(uri.url, status), uri=uri))
    return run_counts(RUN, all_seeds(store, names), totals(store)).seeds


FIRST = "http://0.test/"


@pytest.mark.parametrize(
    ("seeds", "end"),
    [
        ([(200, ""), (404, "")], SeedsEnd.GOT),
        ([(304, "")], SeedsEnd.GOT),
        ([(404, ""), (500, "")], SeedsEnd.ERRONEOUS),
        ([(404, ""), (-2, "")], SeedsEnd.ERRONEOUS),
        ([(-2, ""), (-61, "")], SeedsEnd.NO_REPLY),
        ([(None, "")], SeedsEnd.GOT),
        ([(None, ""), (-2, "")], SeedsEnd.NO_REPLY),
        ([(301, ""), (200, FIRST)], SeedsEnd.GOT),
        ([(301, ""), (404, FIRST)], SeedsEnd.ERRONEOUS),
        ([(301, ""), (-1, FIRST)], SeedsEnd.NO_REPLY),
        ([(301, "")], SeedsEnd.GOT),
        ([(301, ""), (-1, "")], SeedsEnd.GOT),
        ([], SeedsEnd.NO_REPLY),
    ],
)
def test_what_became_of_all_seeds(seeds: list[tuple[int | None, str]], end: SeedsEnd):
    assert ended(*seeds) is end


def test_what_an_exit_code_depends_on():
    store = Store(MemoryEngine())
    statistics = Statistics(store)
    for number, stored in enumerate((Stored.NOVEL, Stored.DUPLICATE, Stored.NOTHING)):
        statistics.count(make_visit(f"http://{number}.test/"), stored, NOW)
    statistics.seal()
    seeds = SeedTally(total=1, got=1)
    counts = run_counts(RUN, seeds, totals(store))
    assert counts == (SeedsEnd.GOT, 3, 2)
    again = structs.replace(RUN, mode="incremental")
    assert run_counts(again, seeds, totals(store)).archived is None, "it leaves out what is known"
