"""What counts as short, as a tail of groups in flight, and as ahead of the store."""

import pytest

from nacre.errors import DamageError
from nacre.store.examine import Found, Stray, refuse, strays
from nacre.store.files import TAIL_LIMIT, FileKind, FileRow, FileState
from tests.store.simulated import Inode, World

WARC, LOG, INDEX = FileKind.WARC, FileKind.LOG, FileKind.INDEX
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
        ((LOG, OPEN, 10, 0), 15, 5, False, False),
        ((LOG, OPEN, 10, 0), 16, 5, False, True),
        ((LOG, OPEN, 10, 0), 9, 5, True, False),
        ((LOG, CLOSED, 10, 0), 99, 0, False, False),
        ((INDEX, OPEN, 0, 0), 5, 5, False, False),
        ((INDEX, OPEN, 0, 0), 6, 5, False, True),
    ],
)
def test_verdicts(row, there, lines, short, ahead):
    kind, state, committed, tail = row
    known = FileRow(kind, "a.open", "a", state, committed, 1, tail)
    found = Found(1, known, "/job/a.open", there, lines, early=False)
    assert (found.short, found.ahead) == (short, ahead)


def test_a_final_name_that_no_commit_gave_is_ahead():
    row = FileRow(WARC, "a.open", "a", OPEN, 10)
    assert Found(1, row, "/job/a", 10, 0, early=True).ahead


def test_strays_are_files_of_ours_that_no_row_names():
    disk = World().disk
    for name in ("a.warc.gz.open", "a.warc.gz", "b.warc.gz", "b.cdxj", "b.cdxj.tmp", "b.wacz"):
        disk.names[f"/job/archive/{name}"] = Inode(b"1")
    disk.names["/job/other/c.warc"] = Inode(b"12")
    rows = [FileRow(WARC, "archive/a.warc.gz.open", "archive/a.warc.gz")]
    found = list(strays(disk, "/job", rows, ["other"]))
    names = ["archive/b.cdxj", "archive/b.cdxj.tmp", "archive/b.warc.gz"]
    assert found == [*(Stray(f"/job/{name}", 1) for name in names), Stray("/job/other/c.warc", 2)]


def test_what_fits_is_not_refused_and_every_misfit_is_named():
    row = FileRow(WARC, "a.open", "a", OPEN, 10)
    fits = Found(1, row, "/job/a.open", 12, 0, early=False)
    refuse([fits], [Stray("/job/b.open", 5)], accept_loss=False, salvage=False)
    gone = [Found(n, row, f"/job/{n}.open", None, 0, early=False) for n in (2, 3)]
    refuse([fits, *gone], [], accept_loss=True, salvage=False)
    with pytest.raises(DamageError, match=r"/job/2.open: missing(.|\n)*/job/3.open: missing"):
        refuse([fits, *gone], [], accept_loss=False, salvage=False)
    with pytest.raises(DamageError, match=r"/job/c.warc.gz: 5 bytes, but the store does not know"):
        refuse([fits], [Stray("/job/c.warc.gz", 5)], accept_loss=True, salvage=False)
    large = [Stray("/job/b.open", TAIL_LIMIT + 1)]
    refuse([fits], large, accept_loss=False, salvage=True)
    with pytest.raises(DamageError, match=r"/job/b.open: 16000001 bytes, but"):
        refuse([fits], large, accept_loss=True, salvage=False)
