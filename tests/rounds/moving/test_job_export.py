"""A job of batch rounds and back: the same queues, the same rows."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.history import HistoryRecord
from nacre.core.pagerow import DiscoveryRow
from nacre.crawldb.row import ONE
from nacre.errors import JobError
from nacre.frontier.pending import pending
from nacre.history.dedup import History
from nacre.inspect.stored_job import read_only
from nacre.machine.layout import Layout
from nacre.recrawl.pagestore import PageStore
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.moving import job_import
from nacre.rounds.moving.job_export import export_job, precedence_of
from nacre.rounds.moving.job_import import import_job
from nacre.rounds.tables.readers import TableView
from nacre.settings.load import load_job
from tests.examples import examples
from tests.rounds.made import INTERVAL, NOW, Row, found
from tests.rounds.steps.fetched import FetchedCycle

SHARED = (
    "key", "url", "status", "last_status", "last_time", "via", "path", "source", "score", "cash",
    "digest", "framing", "record_id", "warc_date", "etag", "last_modified", "length", "depth",
)  # fmt: skip
URLS = [
    "http://a.example/",
    "http://a.example/%D6%D0",
    "http://www.国.example/x",
    "http://b.example/1",
]


def crawl(folder: Path) -> FetchedCycle:
    folder.mkdir()
    return FetchedCycle(folder)


def exported(made: FetchedCycle, target: Path) -> tuple[int, ...]:
    view = TableView(made.cycle, made.newest, LocalEngine(1), made.place, INTERVAL)
    source = Layout(made.folder)
    job = load_job(source).settings
    return tuple(asyncio.run(export_job(view, job, source, Layout(target), NOW)))


def imported(made: FetchedCycle, job: Path) -> Any:
    with made.context() as context:
        return import_job(context, Layout(job))


def shared(made: FetchedCycle) -> list[dict[str, Any]]:
    return [{name: one[name] for name in SHARED} for one in made.rows()]


def rows_of(said: dict[str, tuple[int, int, bool]]) -> tuple[list[Row], list[Row], list[Row]]:
    """Adds, states, captures of URLs: status, halvings of the score, whether it has a capture."""
    adds: list[Row] = []
    states: list[Row] = []
    captures: list[Row] = []
    for key, (status, halved, captured) in said.items():
        waits = status == 1
        score = ONE >> halved if waits else 0
        adds.append(found(key, score=score, cash=score, path="LL", via="http://v.example/书",
                          depth=3, inlinks=0))  # fmt: skip
        code = {1: None, 2: 200, 3: 410, 4: 302, 5: 301, 6: 304}[status]
        time = None if waits else NOW * 1000 + status
        states.append({
            "key": key, "status": status, "fetch_time": NOW, "interval": INTERVAL, "retries": 0,
            "modified": 0, "last_status": code, "last_time": time,
        })  # fmt: skip
        if captured and not waits:
            captures.append({"key": key, "digest": "sha1:A", "framing": "chunked", "length": 7,
                             "record_id": f"urn:uuid:{key}", "warc_date": NOW * 1000,
                             "etag": b'"1"', "last_modified": b"x"})  # fmt: skip
    return adds, states, captures


SAID = st.dictionaries(
    st.sampled_from(URLS),
    st.tuples(st.integers(1, 6), st.integers(0, 9), st.booleans()),
    min_size=1,
)


@examples(4)
@given(SAID)
def test_there_and_back_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, said: dict[str, tuple[int, int, bool]]
):
    folder = tmp_path_factory.mktemp("moved")
    mine, other = crawl(folder / "1"), crawl(folder / "2")
    adds, states, captures = rows_of(said)
    mine.add(*adds)
    mine.set("state", *states)
    if captures:
        mine.set("capture", *captures)
    visited = sum(1 for status, _, _ in said.values() if status != 1)
    assert exported(mine, folder / "job") == (visited, len(said) - visited, 0)
    result = imported(other, folder / "job")
    assert (result.rows.visited, result.taken.new) == (visited, len(said))
    theirs = {one["key"]: one for one in shared(other)}
    for one in shared(mine):
        # The seed of a URL that was visited, and its precedence, are in no store.
        assert theirs[one["key"]] == one


def test_what_waits_is_in_the_order_of_its_score(tmp_path: Path):
    made = crawl(tmp_path / "1")
    made.add(*(found(f"http://a.example/{number}", score=ONE >> number, path="L")
               for number in (3, 0, 2)))  # fmt: skip
    made.set("state", {"key": "http://a.example/2", "status": 1, "fetch_time": NOW + 60_000})
    exported(made, tmp_path / "job")
    with read_only(str(Layout(tmp_path / "job").store)) as store:
        waiting = [entry.uri for entry in pending(store)]
    assert [(one.url[-1], one.precedence) for one in waiting] == [("0", 0), ("3", 3), ("2", 2)]
    assert waiting[2].not_before == pytest.approx(NOW / 1000 + 60)


def waiting_of(job: Path) -> list[tuple[Any, ...]]:
    with read_only(str(Layout(job).store)) as store:
        found = [entry.uri for entry in pending(store)]
    return [
        (one.url, one.precedence, one.attempts, one.last_status, one.not_before) for one in found
    ]


def test_queues_and_retries_are_the_same_there_and_back(tmp_path: Path):
    mine, other = crawl(tmp_path / "1"), crawl(tmp_path / "2")
    names = ["m", "z", "a", "retry", "later", "best"]
    mine.add(
        *(found(f"http://a.example/{name}", path="L", first_seen=at,
                score=ONE if name == "best" else ONE // 2)
          for at, name in enumerate(names))
    )  # fmt: skip
    failed = {"status": 1, "interval": INTERVAL, "last_time": NOW * 1000}
    mine.set(
        "state",
        {"key": "http://a.example/retry", "fetch_time": NOW - 9, "retries": 2, "last_status": -2,
         **failed},
        {"key": "http://a.example/later", "fetch_time": NOW + 60_000, "retries": 1,
         "last_status": 503, **failed},
    )  # fmt: skip
    exported(mine, tmp_path / "job")
    there = waiting_of(tmp_path / "job")
    assert [(url[17:], precedence, *rest) for url, precedence, *rest in there] == [
        ("best", 0, 0, 0, 0.0),
        ("m", 1, 0, 0, 0.0),
        ("z", 1, 0, 0, 0.0),
        ("a", 1, 0, 0, 0.0),
        ("retry", 1, 2, -2, 0.0),
        ("later", 1, 1, 503, NOW / 1000 + 60),
    ]
    imported(other, tmp_path / "job")
    exported(other, tmp_path / "back")
    assert waiting_of(tmp_path / "back") == there


@pytest.mark.slow
def test_what_the_job_gave_up_waits_in_rounds_and_not_in_a_job(tmp_path: Path):
    mine, other, third = (crawl(tmp_path / name) for name in "123")
    mine.add(found(URLS[0], path="L"), found(URLS[3], path="P"))
    state = {"status": 1, "interval": INTERVAL, "retries": 1}
    mine.set("state", {"key": URLS[0], "last_status": 500, "last_time": NOW * 1000,
                       "fetch_time": NOW, "last_reason": "given-up", **state})  # fmt: skip
    assert exported(mine, tmp_path / "job")[:2] == (1, 1)
    result = imported(other, tmp_path / "job")
    assert (result.rows.visited, result.rows.waiting, result.rows.robots) == (1, 0, 1)
    (row,) = other.rows()
    assert (row["status"], row["last_status"], row["last_reason"]) == (1, 500, "given-up")
    assert row["fetch_time"] == NOW + 3_600_000, "as after an error of a server in rounds"
    assert exported(other, tmp_path / "back")[:2] == (1, 0)
    assert imported(third, tmp_path / "back").rows.waiting == 0


def test_a_capture_is_history(tmp_path: Path):
    made = crawl(tmp_path / "1")
    adds, states, captures = rows_of({URLS[0]: (2, 0, True)})
    made.add(*adds)
    made.set("state", *states)
    made.set("capture", *captures)
    exported(made, tmp_path / "job")
    with read_only(str(Layout(tmp_path / "job").store)) as store:
        record = History(store).get(URLS[0])
    assert record == HistoryRecord(
        url=URLS[0], status=200, visited=NOW * 1000 + 2, date=NOW * 1000, digest="sha1:A",
        framing="chunked", record_id=f"urn:uuid:{URLS[0]}", etag=b'"1"', last_modified=b"x",
        length=7, visits=1,
    )  # fmt: skip


def test_a_recrawl_knows_its_pages_and_how_they_were_reached(tmp_path: Path):
    made = crawl(tmp_path / "1")
    adds, states, _ = rows_of({URLS[1]: (2, 0, False), URLS[3]: (1, 0, False)})
    made.add(*adds)
    made.set("state", *states)
    exported(made, tmp_path / "job")
    with read_only(str(Layout(tmp_path / "job").store)) as store:
        pages = PageStore(store)
        assert [(one.url, one.life, one.visits) for one in pages.scan()] == [(URLS[1], "live", 1)]
        way = pages.way(URLS[1])
    assert way == DiscoveryRow("http://v.example/书", "LL")


@pytest.mark.parametrize(
    ("score", "precedence"),
    [(ONE, 0), (5 * ONE, 0), (ONE // 2, 1), (ONE // 8, 3), (1, 32), (0, 127)],
)
def test_precedences(score: int, precedence: int):
    assert precedence_of(score) == precedence


def test_directories_that_are_not_new(tmp_path: Path):
    made = crawl(tmp_path / "1")
    with pytest.raises(JobError, match="nothing to export"):
        exported(made, tmp_path / "job")
    made.add(found(URLS[0]))
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with pytest.raises(JobError, match="is not empty"):
        exported(made, tmp_path / "full")
    with pytest.raises(JobError):
        imported(made, tmp_path / "1")


def test_a_job_that_runs_is_read_as_of_a_checkpoint_that_it_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    mine, other = crawl(tmp_path / "1"), crawl(tmp_path / "2")
    adds, states, _ = rows_of({URLS[0]: (2, 0, False), URLS[1]: (1, 2, False)})
    mine.add(*adds)
    mine.set("state", *states)
    exported(mine, tmp_path / "job")
    layout, asked = Layout(tmp_path / "job"), []

    def answers(socket: Path, command: str, **arguments: str) -> dict[str, str]:
        asked.append((socket, command, arguments))
        layout.checkpoints.mkdir(parents=True)
        layout.store.rename(layout.checkpoints / "cp1")  # nothing is left but the checkpoint
        layout.store.mkdir()
        return {"name": "cp1"}

    monkeypatch.setattr(job_import, "is_running", lambda socket: socket == layout.socket)
    monkeypatch.setattr(job_import, "send_command", answers)
    result = imported(other, layout.root)
    assert asked == [(layout.socket, "checkpoint", {"name": ""})]
    assert (result.rows.visited, result.rows.waiting, result.taken.new) == (1, 1, 2)
    assert sorted(one["key"] for one in other.rows()) == sorted(URLS[:2])
