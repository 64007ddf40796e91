"""Captures of earlier runs are read once, each as a visit; then phase follows phase."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from nacre.core.capture import Capture
from nacre.core.crawluri import Hop, Outlink
from nacre.core.processor import Visit
from nacre.errors import StorageError
from nacre.job.job import Job
from nacre.machine.layout import Layout
from nacre.planner.slices import Slices
from nacre.recrawl import planning
from nacre.recrawl.knowledge import WHOLE
from nacre.recrawl.planning import CapturedVisits, CapturesReader, Planning
from nacre.report.statistics import Stored
from nacre.runs.runs import all_runs, plan_run
from nacre.store.store import Store
from tests.cli.site import site
from tests.crawl.again import Later, settings

PAGES = {"/": '<a href="a.html">A</a><a href="b.html">B</a>', "/a.html": "<p>A</p>"}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A job with two full runs, the second of which stored revisits, and a planned third."""
    root = tmp_path_factory.mktemp("planning") / "job"
    with site(dict(PAGES)) as url:
        asyncio.run(Job(root, settings(url)).run())
        with Store.open(str(Layout(root).store)) as store:
            plan_run(store, Layout(root), Later(7).now(), mode="full")
        asyncio.run(Job(root, settings(url), clock=Later(7)).run())
    with Store.open(str(Layout(root).store)) as store:
        plan_run(store, Layout(root), Later(14).now(), mode="incremental")
    return root, url


class _Learner:
    """Takes the visits in place of a recrawl."""

    def __init__(self) -> None:
        self.taught: list[tuple[str, int, float]] = []
        self.logged: list[tuple[str, Stored, int]] = []
        self.fails: Callable[[str], Exception | None] = lambda url: None
        self.teacher = self

    def teach(self, visit: Visit, time: float) -> Visit:
        error = self.fails(visit.uri.url)
        if error is not None:
            raise error
        self.taught.append((visit.uri.url, len(visit.outlinks), time))
        return visit

    def log(self, lesson: Visit, stored: Stored, run: int, now: float) -> None:
        self.logged.append((lesson.uri.url, stored, run))


class _Reading:
    """A reader over a copy of the job, whose store is open."""

    def __init__(self, root: Path, store: Store) -> None:
        self.store, self.learner = store, _Learner()
        self.told: list[str] = []
        self.errors: list[str] = []
        self.commits: list[str] = []
        self.root = root
        self.saturated = False
        self.files = SimpleNamespace(absolute=lambda name: str(root / name))
        self.reader = self.again()

    def again(self) -> CapturesReader:
        """Another process begins to read."""
        parts: dict[str, Any] = {
            "store": self.store,
            "commit": self,
            "run": list(all_runs(self.store))[-1],
            "visits": CapturedVisits(self, lambda url: 0, self),  # type: ignore[arg-type]
            "recrawl": self.learner,
            "versions": self,
            "logs": self,
            "now": lambda: 5.0,
            "tell": self.told.append,
        }
        self.reader = CapturesReader(**parts)
        return self.reader

    def read(self, most: int = 1_000_000) -> int:
        """Read until so many captures were taught; how many the reader counts."""
        begun = len(self.learner.taught)
        return asyncio.run(self.reader.run(lambda: len(self.learner.taught) - begun >= most))

    # what the reader uses of others

    def key(self, url: str) -> bytes:
        return url.encode()

    async def process(self, visit: Visit) -> None:
        assert visit.capture is not None
        text = visit.capture.payload(10_000).decode()
        hrefs = [piece.partition('"')[0] for piece in text.split('href="')[1:]]
        visit.add_outlinks([Outlink(visit.uri.url + href, Hop.LINK, "a/@href") for href in hrefs])

    def visit_done(self) -> None:
        self.commits.append("visit")

    async def durable(self) -> None:
        self.commits.append("durable")

    def capture(self, digest: str, framing: str) -> Capture | None:
        return self.original if digest == self.original_digest else None

    def base(self, delta: object) -> bytes:
        raise AssertionError(delta)

    def runtime_error(self, visit: Visit, error: Exception) -> None:
        self.errors.append(f"{visit.uri.url}: {error}")

    original: Capture | None = None
    original_digest = ""


@pytest.fixture
def reading(crawled: tuple[Path, str], tmp_path: Path) -> Iterator[_Reading]:
    shutil.copytree(crawled[0], tmp_path / "job", symlinks=True)
    with Store.open(str(Layout(tmp_path / "job").store)) as store:
        yield _Reading(tmp_path / "job", store)


def _paths(reading: _Reading, url: str) -> list[str]:
    return [one.removeprefix(url) for one, _, _ in reading.learner.taught]


def test_all_that_was_captured_is_read_once(reading: _Reading, crawled: tuple[Path, str]) -> None:
    count = reading.read()
    assert count == len(reading.learner.taught) == len(reading.commits)
    assert {"", "a.html", "b.html"} <= set(_paths(reading, crawled[1]))
    assert (crawled[1], 2) in {(url, links) for url, links, _ in reading.learner.taught}
    kinds = {(url.removeprefix(crawled[1]), run): stored
             for url, stored, run in reading.learner.logged}  # fmt: skip
    assert kinds["a.html", 1] is Stored.NOVEL
    assert kinds["a.html", 2] is Stored.DUPLICATE
    runs = {run.number: run.started for run in all_runs(reading.store)}
    assert {time for _, _, time in reading.learner.taught} == {runs[1], runs[2]}
    reading.again()
    assert reading.read() == 0


def test_another_process_goes_on_where_one_was_stopped(
    reading: _Reading, crawled: tuple[Path, str]
) -> None:
    assert reading.read(most=2) == 2
    reading.again()
    rest = reading.read()
    assert rest > 0
    read = [(url, time) for url, _, time in reading.learner.taught]
    assert len(read) == len(set(read)) == 2 + rest


def test_a_capture_at_which_learning_fails_keeps_no_other_out(
    reading: _Reading, crawled: tuple[Path, str]
) -> None:
    reading.learner.fails = lambda url: ValueError("odd") if url.endswith("a.html") else None
    reading.read()
    assert {f"{crawled[1]}a.html: odd"} == set(reading.errors)
    assert f"{crawled[1]}b.html" in {url for url, _, _ in reading.learner.taught}


def test_a_full_disk_ends_the_reading(reading: _Reading) -> None:
    reading.learner.fails = lambda url: StorageError("no space")
    with pytest.raises(StorageError, match="no space"):
        reading.read()


def test_people_are_told_of_much_to_read_and_commits_keep_up(
    reading: _Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "_MANY", 2)
    reading.saturated = True
    count = reading.read()
    assert reading.told == ["2 captures of earlier runs were read; there are more"]
    assert reading.commits == ["visit", "durable"] * count


def _renamed(reading: _Reading, **facts: object) -> None:
    """Give the second run other facts, as its row has them."""
    for row in list(all_runs(reading.store)):
        if row.number == 2:
            changed = msgspec.structs.replace(row, **facts)
            key = b"runs:" + (2).to_bytes(4, "big")
            reading.store.put("meta", key, msgspec.msgpack.encode(changed))
    reading.again()


def test_runs_that_the_planner_made_were_learned_of_then(reading: _Reading) -> None:
    _renamed(reading, mode="incremental")
    reading.read()
    assert {run for _, _, run in reading.learner.logged} == {1}


def test_all_runs_are_read_where_everything_is_to_be_learned_anew(reading: _Reading) -> None:
    _renamed(reading, mode="incremental")
    reading.store.set_counter(WHOLE, 1)
    reading.read()
    assert {run for _, _, run in reading.learner.logged} == {1, 2}
    assert reading.store.counter(WHOLE) == 0


def test_captures_of_a_run_of_which_nothing_is_known_count_as_of_the_first(
    reading: _Reading,
) -> None:
    """Their time is that of their directory's name."""
    first, second, _ = all_runs(reading.store)
    _renamed(reading, name="another")
    reading.read()
    assert {run for _, _, run in reading.learner.logged} == {1}
    named = datetime.strptime(second.name, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp()
    assert {time for _, _, time in reading.learner.taught} == {first.started, named}


# ---- Planning


class _Recrawl:
    """Chooses so many times, in slices."""

    def __init__(self, times: int = 1) -> None:
        self.times, self.probing = times, 0
        self.done: list[str] = []

    def begin(self) -> Slices[None]:
        yield
        self.done.append("begin")

    def more(self) -> Slices[bool]:
        yield
        self.done.append("more")
        self.times -= 1
        return self.times >= 0


class _Others:
    """The reader, what is known, the log, the time and the end."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count, self.now, self.wanted = 0, 0.0, False
        self.sealed = 0

    async def run(self, stopped: Callable[[], bool]) -> int:
        return self.count

    def job(self, line: str) -> None:
        self.lines.append(line)

    def seal_all(self) -> None:
        self.sealed += 1


def _planning(times: int = 1) -> tuple[Planning, _Recrawl, _Others]:
    recrawl, others = _Recrawl(times), _Others()
    made: Any = (recrawl, others, others, others, lambda: others.now, lambda: others.wanted)
    return Planning(*made), recrawl, others


def test_what_was_captured_is_read_before_the_first_choice() -> None:
    plan, recrawl, others = _planning(2)
    others.count = 7
    asyncio.run(plan.begin())
    assert others.lines == ["7 captures of earlier runs read for the planner"]
    assert recrawl.done == ["begin", "more"]
    assert plan.wants_more
    assert asyncio.run(plan.more())
    assert not asyncio.run(plan.more())
    assert not plan.wants_more


def test_nothing_to_read_is_not_worth_a_line() -> None:
    plan, _, others = _planning()
    asyncio.run(plan.begin())
    assert others.lines == []


def test_the_first_visits_wait_for_names_that_do_not_exist_but_not_for_ever() -> None:
    plan, recrawl, others = _planning(5)
    recrawl.probing = 2
    asyncio.run(plan.begin())
    assert recrawl.done == ["begin"]
    assert not asyncio.run(plan.look())
    others.now = 30.0
    assert asyncio.run(plan.look())
    assert not asyncio.run(plan.look()), "it was chosen before"
    answered, recrawl, _ = _planning(5)
    recrawl.probing = 1
    asyncio.run(answered.begin())
    recrawl.probing = 0
    assert asyncio.run(answered.look())


def test_who_wants_the_end_gets_no_more_visits() -> None:
    plan, recrawl, others = _planning(5)
    others.wanted = True
    asyncio.run(plan.begin())
    assert not asyncio.run(plan.more())
    assert recrawl.done == []
    plan.end()
    assert others.sealed == 1


def test_nothing_is_wanted_before_the_first_choice() -> None:
    assert not _planning()[0].wants_more
