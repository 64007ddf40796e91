"""What a start mends, what it refuses, and what the operator can do then.

What counts as short, as a tail of groups in flight, and as ahead of the store.
"""

import asyncio
import random

import pytest

from nacre.errors import DamageError
from nacre.store.file_table import file_rows, get_row
from nacre.store.files import TAIL_LIMIT, FileKind, FileRow, FileState
from nacre.store.recovery import (
    ExaminedFile,
    LostData,
    StartOptions,
    StrayFile,
    recover,
    refuse_damage,
    stray_files,
)
from nacre.store.store import Store
from tests.store.simulated import Inode, World
from tests.store.workload import LOG, ROOT, Crawl, check


def start(world, **how):
    return recover(
        Store(world.engine), world.disk, ROOT, StartOptions(archives=("archive",), **how)
    )


@pytest.fixture
def crawled():
    """A world in which 13 visits were made and the job ended."""
    world = World()
    start(world)
    asyncio.run(Crawl(world, []).run(13))
    start(world)
    return world


def row_of(world, number):
    row = get_row(Store(world.engine), number)
    assert row is not None
    return row


def shorten(world, path, size):
    world.disk.names[path] = Inode(world.disk.content(path)[:size])


def lengthen(world, path, size):
    world.disk.names[path] = Inode(world.disk.content(path) + bytes(size))


def snapshot(world):
    return {path: bytes(inode.live) for path, inode in world.disk.names.items()}


def warcs(world):
    rows = file_rows(Store(world.engine))
    return [(n, f"{ROOT}/{row.final}") for n, row in rows if row.kind == FileKind.WARC]


def test_a_second_start_finds_nothing_to_do(crawled):
    before = snapshot(crawled)
    found = start(crawled)
    assert (found.moved, found.lost, found.replayed) == ([], [], 0)
    assert snapshot(crawled) == before
    assert check(crawled, 13) == 13
    assert start(crawled).epoch == found.epoch + 1


def test_a_short_or_missing_file_stops_the_start(crawled):
    (one, first), (_, second) = warcs(crawled)[:2]
    shorten(crawled, first, 5)
    del crawled.disk.names[second]
    before = snapshot(crawled)
    with pytest.raises(DamageError) as caught:
        start(crawled)
    message = str(caught.value)
    assert f"{first}: 5 bytes; {row_of(crawled, one).size} were committed" in message
    assert f"{second}: missing" in message
    assert "--accept-loss" in message
    assert snapshot(crawled) == before


def test_an_accepted_loss_names_the_ranges_and_is_not_told_again(crawled):
    (one, first), (two, second) = warcs(crawled)[:2]
    sizes = row_of(crawled, one).size, row_of(crawled, two).size
    shorten(crawled, first, 5)
    del crawled.disk.names[second]
    found = start(crawled, accept_loss=True)
    paths = [path.removeprefix(ROOT + "/") for path in (first, second)]
    assert list(found.lost) == [
        LostData(one, FileKind.WARC, paths[0], 5, sizes[0]),
        LostData(two, FileKind.WARC, paths[1], 0, sizes[1]),
    ]
    assert row_of(crawled, one).size == 5
    assert row_of(crawled, two).state == FileState.LOST
    assert start(crawled).lost == []


@pytest.mark.parametrize("size", [None, 9])
def test_a_lost_log_goes_on_with_what_is_left(crawled, size):
    path = f"{ROOT}/{LOG}"
    left = crawled.disk.content(path)[: size or 0]
    whole = len(crawled.disk.content(path))
    if size is None:
        del crawled.disk.names[path]
    else:
        shorten(crawled, path, size)
    found = start(crawled, accept_loss=True)
    assert [(lost.path, lost.start, lost.end) for lost in found.lost] == [(LOG, size or 0, whole)]
    asyncio.run(Crawl(crawled, []).run(14))
    assert crawled.disk.content(path) == left + b"visit 13\n"


def test_a_tail_that_groups_in_flight_explain_is_moved_away(crawled):
    number, path = warcs(crawled)[0]
    lengthen(crawled, path, TAIL_LIMIT)
    (moved,) = start(crawled).moved
    assert moved.startswith(f"{ROOT}/lost+found/")
    assert crawled.disk.content(moved) == bytes(TAIL_LIMIT)
    assert crawled.disk.size(path) == row_of(crawled, number).size
    assert check(crawled, 13) == 13


def test_a_longer_tail_shows_an_older_store(crawled):
    _, path = warcs(crawled)[0]
    lengthen(crawled, path, TAIL_LIMIT + 1)
    before = snapshot(crawled)
    with pytest.raises(DamageError, match=r"older than the archive(.|\n)*nacre archive JOB salv"):
        start(crawled)
    assert snapshot(crawled) == before


def test_a_log_with_one_line_too_many_shows_an_older_store(crawled):
    lengthen(crawled, f"{ROOT}/{LOG}", 1)
    with pytest.raises(DamageError, match="older than the archive"):
        start(crawled)


def test_a_large_file_that_the_store_does_not_know_shows_an_older_store(crawled):
    crawled.disk.names[f"{ROOT}/archive/new.warc.gz"] = Inode(bytes(TAIL_LIMIT + 1))
    with pytest.raises(DamageError, match="does not know this file"):
        start(crawled)


def test_small_unknown_files_are_moved_and_foreign_ones_stay(crawled):
    crawled.disk.names[f"{ROOT}/archive/new.warc.gz.open"] = Inode(b"abc")
    crawled.disk.names[f"{ROOT}/archive/README"] = Inode(b"mine")
    crawled.disk.names[f"{ROOT}/lost+found/new.warc.gz.open"] = Inode(b"from before")
    assert start(crawled).moved == [f"{ROOT}/lost+found/new.warc.gz.open.1"]
    assert crawled.disk.content(f"{ROOT}/lost+found/new.warc.gz.open.1") == b"abc"
    assert f"{ROOT}/archive/README" in crawled.disk.names


@pytest.mark.parametrize("keep", range(3, 13))
def test_an_older_store_is_refused_and_can_be_salvaged(keep):
    """The store goes back by some groups, as with a damaged log; the files stay."""
    world = World()
    start(world)
    copies = []

    def copy(_):
        families = {name: dict(rows) for name, rows in world.engine.durable.items()}
        copies.append((families, len(families["urls"])))

    world.after = copy
    asyncio.run(Crawl(world, []).run(13))
    world.after = None
    older, count = next(found for found in copies if found[1] >= keep)
    world.engine.families = {name: dict(rows) for name, rows in older.items()}
    world.engine.durable = older
    if count < 13:
        with pytest.raises(DamageError, match="older than the archive"):
            start(world)
    tails = []

    def register(tail):
        tails.append(world.disk.content(tail.path)[tail.start : tail.end])
        return tail.end

    start(world, salvage=register)
    assert b"".join(tails).count(b"<12>") == (3 + 12 % 7) * (count < 13)
    log = world.disk.content(f"{ROOT}/{LOG}")
    assert log == b"".join(b"visit %d\n" % n for n in range(13))
    for _, row in file_rows(Store(world.engine)):
        assert world.disk.size(f"{ROOT}/{row.final}") == row.size or row.kind == FileKind.LOG
    before = snapshot(world)
    start(world)
    assert snapshot(world) == before


def test_a_log_whose_fsync_failed_is_written_anew(crawled):
    path = f"{ROOT}/{LOG}"
    inode = crawled.disk.names[path]
    start(crawled, suspects=[path])
    assert crawled.disk.names[path] is not inode
    assert check(crawled.crash(random.Random(1), "drop"), 13) == 13


WARC, LOG_EXAMINE, INDEX = FileKind.WARC, FileKind.LOG, FileKind.INDEX
OPEN, CLOSED = FileState.OPEN, FileState.CLOSED


@pytest.mark.parametrize(
    ("row", "there", "lines", "short", "ahead"),
    [
        ((WARC, OPEN, 10, 0), 10, 0, False, False),
        ((WARC, OPEN, 10, 0), 9, 0, True, False),
        ((WARC, OPEN, 10, 0), None, 0, True, False),
        ((WARC, OPEN, 10, 0), 10 + TAIL_LIMIT, 0, False, False),
        ((WARC, OPEN, 10, 0), 11 + TAIL_LIMIT, 0, False, True),
        ((WARC, OPEN, 10, 2 * TAIL_LIMIT), 11 + TAIL_LIMIT, 0, False, False),
        ((WARC, CLOSED, 10, 0), 11 + TAIL_LIMIT, 0, False, True),
        ((LOG_EXAMINE, OPEN, 10, 0), 15, 5, False, False),
        ((LOG_EXAMINE, OPEN, 10, 0), 16, 5, False, True),
        ((LOG_EXAMINE, OPEN, 10, 0), 9, 5, True, False),
        ((LOG_EXAMINE, CLOSED, 10, 0), 99, 0, False, False),
        ((INDEX, OPEN, 0, 0), 5, 5, False, False),
        ((INDEX, OPEN, 0, 0), 6, 5, False, True),
    ],
)
def test_verdicts(row, there, lines, short, ahead):
    kind, state, committed, tail = row
    known = FileRow(kind, "a.open", "a", state, committed, 1, tail)
    found = ExaminedFile(1, known, "/job/a.open", there, lines, early=False)
    assert (found.short, found.ahead) == (short, ahead)


def test_a_final_name_that_no_commit_gave_is_ahead():
    row = FileRow(WARC, "a.open", "a", OPEN, 10)
    assert ExaminedFile(1, row, "/job/a", 10, 0, early=True).ahead


def test_strays_are_files_of_ours_that_no_row_names():
    disk = World().disk
    for name in ("a.warc.gz.open", "a.warc.gz", "b.warc.gz", "b.cdxj", "b.cdxj.tmp", "b.wacz"):
        disk.names[f"/job/archive/{name}"] = Inode(b"1")
    disk.names["/job/other/c.warc"] = Inode(b"12")
    rows = [FileRow(WARC, "archive/a.warc.gz.open", "archive/a.warc.gz")]
    found = list(stray_files(disk, "/job", rows, ["other"]))
    names = ["archive/b.cdxj", "archive/b.cdxj.tmp", "archive/b.warc.gz"]
    assert found == [
        *(StrayFile(f"/job/{name}", 1) for name in names),
        StrayFile("/job/other/c.warc", 2),
    ]


def test_what_fits_is_not_refused_and_every_misfit_is_named():
    row = FileRow(WARC, "a.open", "a", OPEN, 10)
    fits = ExaminedFile(1, row, "/job/a.open", 12, 0, early=False)
    refuse_damage([fits], [StrayFile("/job/b.open", 5)], accept_loss=False, salvage=False)
    gone = [ExaminedFile(n, row, f"/job/{n}.open", None, 0, early=False) for n in (2, 3)]
    refuse_damage([fits, *gone], [], accept_loss=True, salvage=False)
    with pytest.raises(DamageError, match=r"/job/2.open: missing(.|\n)*/job/3.open: missing"):
        refuse_damage([fits, *gone], [], accept_loss=False, salvage=False)
    with pytest.raises(DamageError, match=r"/job/c.warc.gz: 5 bytes, but the store does not know"):
        refuse_damage([fits], [StrayFile("/job/c.warc.gz", 5)], accept_loss=True, salvage=False)
    large = [StrayFile("/job/b.open", TAIL_LIMIT + 1)]
    refuse_damage([fits], large, accept_loss=False, salvage=True)
    with pytest.raises(DamageError, match=r"/job/b.open: 16000001 bytes, but"):
        refuse_damage([fits], large, accept_loss=True, salvage=False)
