"""The feed of a job: which runs and changes it has, and in which order."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from nacre.core.changes import ChangedText, ChangeRow, TextRun
from nacre.core.clock import iso
from nacre.core.states import ExitStatus
from nacre.errors import ConfigError
from nacre.inspect.changes.feed import FeedRun
from nacre.inspect.changes.reading import (
    LONGEST_POSTED,
    ChangeFilter,
    posted_changes,
    read_feed,
    read_runs,
)
from nacre.inspect.changes.wording import feed_lines
from nacre.recrawl.change_log import ChangeLog
from nacre.recrawl.pagestore import NEXT_FILE
from nacre.runs.runs import RunRow, write_run
from nacre.store.file_table import put_row
from nacre.store.files import FileKind, FileRow, FileState
from nacre.store.store import Store

TIME, DAY = 1_700_000_000.0, 86_400.0
OVER = ExitStatus.FINISHED


def run(number: int, exit_status: ExitStatus = OVER, mode: str = "incremental") -> RunRow:
    start = TIME + number * DAY
    row = RunRow(f"run-{number}", number, start, exit_status, start + 100, mode=mode)
    return row if exit_status != ExitStatus.NONE else RunRow(row.name, number, start, mode=mode)


def change(name: str, number: int, kind: str = "changed", **more: object) -> ChangeRow:
    time = TIME + number * DAY + 10 + len(name)
    return ChangeRow(f"http://a.test/{name}", time, number, kind, time, **more)  # type: ignore[arg-type]


def put_runs(store: Store, *runs: RunRow) -> None:
    for row in runs[:-1]:
        key = b"runs:" + row.number.to_bytes(4, "big")
        store.put("meta", key, msgspec.msgpack.encode(row))
    write_run(store, runs[-1])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(str(tmp_path)) as opened:
        log = ChangeLog(opened)
        put_runs(opened, run(1, mode="full"), run(2), run(3))
        for added in (
            change("a", 2, "new", title="新闻", lead="今年新增展览。"),
            change("bb", 2, texts=(ChangedText("text", (TextRun("-", "五"), TextRun("+", "六"))),)),
            change("ccc", 2, "gone", status=404),
            change("a", 3),
        ):
            log.add(added)
        opened.commit()
        yield opened


def urls(store: Store, **chosen: object) -> list[str]:
    feed = read_feed(store, "demo", ChangeFilter(**chosen))  # type: ignore[arg-type]
    return [f"{entry.run}{entry.url.rpartition('/')[2]}" for entry in feed.entries]


@pytest.mark.parametrize(
    ("chosen", "found"),
    [
        ({}, ["3a", "2ccc", "2bb", "2a"]),
        ({"since": "3"}, ["3a"]),
        ({"since": "run-3"}, ["3a"]),
        ({"since": iso(TIME + 3 * DAY)}, ["3a"]),
        ({"since": iso(TIME + 2 * DAY + 12)}, ["3a", "2ccc", "2bb"]),
        ({"since": "2030-01-01"}, []),
        ({"since": "500000w"}, ["3a", "2ccc", "2bb", "2a"]),
        ({"since": "1 d"}, []),
        ({"match": "/b+$"}, ["2bb"]),
        ({"kinds": ("new", "gone")}, ["2ccc", "2a"]),
        ({"most": 2}, ["3a", "2ccc"]),
    ],
)
def test_a_selection(store: Store, chosen: dict[str, object], found: list[str]):
    assert urls(store, **chosen) == found


@pytest.mark.parametrize(("since", "found"), [("2m", ["50000z"]), ("90 s", ["50000z"]), ("1m", [])])
def test_a_duration_counts_back_from_now(store: Store, since: str, found: list[str]):
    put_runs(store, run(50_000))  # its end, in the future, is now
    ChangeLog(store).add(change("z", 50_000))
    assert urls(store, since=since) == found


@pytest.mark.parametrize(
    "chosen",
    [
        *(
            {"since": text}
            for text in ("run-9", "0", "-1", "99", "1.5", "7x", "d", "2026-13-45", " ")
        ),
        {"kinds": ("lost",)},
        {"match": "("},
    ],
)
def test_a_selection_without_meaning(store: Store, chosen: dict[str, object]):
    with pytest.raises(ConfigError):
        urls(store, **chosen)


def test_runs_count_what_the_feed_leaves_out(store: Store):
    feed = read_feed(store, "demo", ChangeFilter(most=2))
    assert feed.runs == [
        FeedRun(3, "run-3", iso(TIME + 3 * DAY + 100), {"changed": 1}),
        FeedRun(2, "run-2", iso(TIME + 2 * DAY + 100), {"new": 1, "changed": 1, "gone": 1}),
    ]
    assert feed.left_out == 2


def test_a_run_needs_no_more_memory_than_its_newest_changes(store: Store):
    put_runs(store, run(3), run(4))
    log = ChangeLog(store)
    for number in range(300):
        name = f"{number:04}"
        log.add(structs.replace(change(name, 4), time=TIME + 4 * DAY + number / 10))
    (found, *_) = read_runs(store, ChangeFilter(most=2))
    assert [row.url[-4:] for row in found.rows] == ["0299", "0298"]
    assert found.run.counts == {"changed": 300}
    assert read_feed(store, "demo", ChangeFilter(most=2)).left_out == 298


def test_a_message_has_no_room_for_endless_differences(store: Store):
    def words(size: int) -> tuple[ChangedText, ...]:
        return (ChangedText("text", (TextRun("+", "文" * size),)),) * 2

    put_runs(store, run(3), run(4))
    for name, size in (("a", LONGEST_POSTED // 2), ("bb", 10), ("ccc", LONGEST_POSTED // 4)):
        ChangeLog(store).add(change(name, 4, texts=words(size), more=3))
    posted = posted_changes(store, "run-4")
    assert posted.counts == {"changed": 3}
    assert [(len(entry.texts), entry.more) for entry in posted.entries] == [(2, 3), (2, 3), (0, 5)]


def test_names_are_permanent_and_those_of_selections_differ(store: Store):
    feed, again = (read_feed(store, "demo", ChangeFilter()) for _ in range(2))
    part = read_feed(store, "demo", ChangeFilter(match="a"))
    assert feed == again
    assert feed.id != part.id
    assert len({entry.id for entry in feed.entries}) == 4
    assert {entry.id for entry in part.entries} <= {entry.id for entry in feed.entries}


@pytest.mark.parametrize(
    ("status", "is_listed"),
    [
        (ExitStatus.NONE, False),
        (ExitStatus.INTERRUPTED, False),
        (ExitStatus.TIME_LIMIT, True),
        (OVER, True),
    ],
)
def test_a_run_is_listed_when_it_is_over(store: Store, status: ExitStatus, is_listed: bool):
    put_runs(store, run(3), run(4, status))
    ChangeLog(store).add(change("d", 4))
    feed = read_feed(store, "demo", ChangeFilter())
    assert (feed.entries[0].run == 4) is is_listed
    assert feed.running == ("" if is_listed else "run-4")


@pytest.mark.parametrize(
    ("number", "note"),
    [(1, "There is nothing to compare yet"), (2, "Run run-2 did not end yet")],
)
def test_an_open_run_is_what_the_next_changes_come_from(tmp_path: Path, number: int, note: str):
    with Store.open(str(tmp_path)) as opened:
        first = run(1, ExitStatus.NONE if number == 1 else OVER, mode="full")
        put_runs(opened, *[first, run(2, ExitStatus.NONE)][:number])
        (line,) = feed_lines(read_feed(opened, "demo", ChangeFilter()))
    assert line.startswith(note)


def test_a_full_run_that_no_recrawl_has_read_is_named(store: Store):
    put_runs(store, run(3), run(4, mode="full"))
    path = "runs/run-4/archive/a.warc.gz"
    put_row(store, 7, FileRow(FileKind.WARC, path, path, FileState.CLOSED))
    assert read_feed(store, "demo", ChangeFilter()).unread == ["run-4"]
    store.set_counter(NEXT_FILE, 8)
    assert read_feed(store, "demo", ChangeFilter()).unread == []


def test_the_lines_of_a_feed(store: Store):
    text = "\n".join(feed_lines(read_feed(store, "demo", ChangeFilter(since="2"))))
    assert "run 2 (run-2): 1 new, 1 changed, 1 gone" in text
    assert "  new      http://a.test/a\n           新闻\n      今年新增展览。\n" in text
    assert "      text: [-五-]{+六+}\n" in text
    assert "      the page was not found (status 404)\n" in text


def test_a_time_after_the_last_run_names_that_run(store: Store):
    last = read_feed(store, "demo", ChangeFilter()).runs[0].name
    feed = read_feed(store, "demo", ChangeFilter(since="2999-01-01"))
    assert next(iter(feed_lines(feed))).endswith(f"The last one with a run before it is {last}.")


def test_a_job_without_a_second_run(tmp_path: Path):
    with Store.open(str(tmp_path)) as empty:
        write_run(empty, run(1, mode="full"))
        lines = list(feed_lines(read_feed(empty, "demo", ChangeFilter())))
    assert lines[-1].startswith("There is nothing to compare yet")
