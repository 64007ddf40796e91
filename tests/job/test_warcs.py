"""The WARC files and indexes that a store knows."""

from pathlib import Path

import pytest

from nacre.errors import JobError
from nacre.job.warcs import committed_sizes, find_index, known_files, missing_files, reindex
from nacre.machine.layout import Layout
from nacre.settings.settings import JobSettings
from nacre.store.disk import RealDisk
from nacre.store.file_table import file_rows, put_row
from nacre.store.files import FileKind, FileRow, FileState
from nacre.store.recovery import examine_files
from nacre.store.store import Store

WARC = (
    b"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
    b"WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: http://a.test/\r\n"
    b"Content-Type: text/plain\r\nContent-Length: 2\r\n\r\nok\r\n\r\n"
)
FINAL = "runs/1/archive/a.warc"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(tmp_path)
    made.config.write_text("name: job\nseeds: [http://a.test/]\n")
    made.state.mkdir()
    (tmp_path / FINAL).parent.mkdir(parents=True)
    (tmp_path / FINAL).write_bytes(WARC)
    return made


def store_of(layout: Layout) -> Store:
    return Store.open(str(layout.store), memory=JobSettings().store.memory)


def know(layout: Layout, *rows: FileRow) -> None:
    with store_of(layout) as store:
        for number, row in enumerate(rows, 1):
            put_row(store, number, row)
        store.set_counter("files", len(rows))
        store.commit()


def closed(kind: FileKind, final: str, size: int) -> FileRow:
    return FileRow(kind, final + ".open", final, state=FileState.CLOSED, size=size)


def test_an_index_that_was_never_made_is_made_and_known(layout: Layout):
    know(layout, closed(FileKind.WARC, FINAL, len(WARC)))
    (made,) = reindex(layout, JobSettings())
    assert (made.warc, made.lines) == (layout.root / FINAL, 1)
    assert made.index_path.read_bytes().startswith(b"test,a)/ 20260101000000")
    with store_of(layout) as store:
        found = find_index(store, FINAL)
        assert found is not None
        number, row = found
        assert (number, row.state, row.size) == (
            2,
            FileState.CLOSED,
            made.index_path.stat().st_size,
        )


def test_an_index_that_is_known_keeps_its_row(layout: Layout):
    index = FINAL.removesuffix(".warc") + ".cdxj"
    know(layout, closed(FileKind.WARC, FINAL, len(WARC)), closed(FileKind.INDEX, index, 999))
    list(reindex(layout, JobSettings()))
    with store_of(layout) as store:
        rows = [(number, row.final) for number, row in file_rows(store)]
    assert rows == [(1, FINAL), (2, index)]


def test_a_warc_that_is_still_open_is_left_for_the_next_start(layout: Layout):
    know(layout, FileRow(FileKind.WARC, FINAL, FINAL, state=FileState.OPEN, size=len(WARC)))
    assert list(reindex(layout, JobSettings())) == []


def test_a_job_that_never_ran_has_no_files(layout: Layout):
    assert known_files(layout, JobSettings()) == []
    with pytest.raises(JobError, match="has not run yet"):
        next(reindex(layout, JobSettings()))


def test_what_is_gone_or_short_is_missing_and_what_is_being_written_has_a_size(layout: Layout):
    know(
        layout,
        closed(FileKind.WARC, FINAL, len(WARC)),
        closed(FileKind.WARC, "runs/1/archive/gone.warc", 10),
        closed(FileKind.INDEX, "runs/1/archive/gone.cdxj", 5),
        FileRow(FileKind.WARC, FINAL, FINAL, state=FileState.OPEN, size=7),
    )
    with store_of(layout) as store:
        known = examine_files(store, RealDisk(), str(layout.root))
    missing = sorted(file.row.final for file in missing_files(known))
    assert missing == ["runs/1/archive/gone.cdxj", "runs/1/archive/gone.warc"]
    assert committed_sizes(known) == {str(layout.root / FINAL): 7}
