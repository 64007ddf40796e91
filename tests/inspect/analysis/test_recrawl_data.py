from pathlib import Path

import pytest

from nacre.archive.index import format_line
from nacre.core.history import FetchRow
from nacre.core.pagerow import PageRow
from nacre.inspect.analysis.recrawl_data import StoredRecrawlData
from nacre.inspect.archived_replies import ArchivedReply
from nacre.recrawl.pagestore import FetchLog, PageStore
from nacre.runs.runs import RunRow, write_run
from nacre.settings.settings import JobSettings
from nacre.store.file_table import put_row
from nacre.store.files import FileKind, FileRow, FileState
from nacre.store.store import Store
from tests.store.memory import MemoryEngine

URL = "http://a.test/%E9%A1%B5.html"


@pytest.fixture
def store() -> Store:
    return Store(MemoryEngine())


@pytest.fixture
def known(store: Store, tmp_path: Path) -> StoredRecrawlData:
    settings = JobSettings.model_validate({"seeds": ["http://a.test/"]})
    return StoredRecrawlData(tmp_path, store, settings, 5.0)


def index(store: Store, root: Path, run: str, data: bytes, state: FileState) -> None:
    """Write an index of a run, and note it."""
    (root / run).mkdir()
    final = f"{run}/a.cdxj"
    row = FileRow(FileKind.INDEX, f"{final}.open", final, state=state)
    (root / (row.path if state is FileState.OPEN else final)).write_bytes(data)
    put_row(store, len(list(root.iterdir())), row)


def line(url: str, when: str, status: str = "200", mime: str = "text/html") -> bytes:
    return format_line(url, when, (mime, status, "sha1:X"), (10, 77, "a.warc.gz"))


def test_captures_come_from_all_indexes_by_date(
    store: Store, known: StoredRecrawlData, tmp_path: Path
):
    later = line(URL, "20261121100000") + line("http://a.test/other", "20261121100000")
    index(store, tmp_path, "two", later, FileState.OPEN)
    index(store, tmp_path, "one", line(URL, "20261120100000"), FileState.CLOSED)
    (tmp_path / "one" / "a.warc.gz").touch()
    (tmp_path / "two" / "a.warc.gz.open").touch()
    assert list(known.captures({URL})) == [
        ArchivedReply(
            URL, "2026-11-20T10:00:00Z", "200", "text/html", "sha1:X", "one/a.warc.gz", 77
        ),
        ArchivedReply(
            URL, "2026-11-21T10:00:00Z", "200", "text/html", "sha1:X", "two/a.warc.gz.open", 77
        ),
    ]


def test_urls_of_one_key_are_told_apart(store: Store, known: StoredRecrawlData, tmp_path: Path):
    data = line("http://www.a.test/x", "20261120100000") + line("http://a.test/x", "20261121100000")
    index(store, tmp_path, "one", data, FileState.CLOSED)
    assert [one.date[:10] for one in known.captures({"http://a.test/x"})] == ["2026-11-21"]


def test_a_line_that_is_just_written_is_left_out(
    store: Store, known: StoredRecrawlData, tmp_path: Path
):
    whole = line(URL, "20261120100000")
    index(store, tmp_path, "one", whole + whole[:-20], FileState.OPEN)
    assert len(list(known.captures({URL}))) == 1


def test_an_index_that_is_away_is_passed_over(
    store: Store, known: StoredRecrawlData, tmp_path: Path
):
    index(store, tmp_path, "one", line(URL, "20261120100000"), FileState.CLOSED)
    (tmp_path / "one" / "a.cdxj").unlink()
    assert list(known.captures({URL})) == []


def test_what_lies_nowhere_cannot_be_read(store: Store, known: StoredRecrawlData, tmp_path: Path):
    index(store, tmp_path, "one", line(URL, "20261120100000"), FileState.CLOSED)
    (one,) = known.captures({URL})
    assert one.file == ""
    assert known.text(one) is None


def test_rows_visits_and_runs(store: Store, known: StoredRecrawlData):
    PageStore(store).put(PageRow(URL, visits=1))
    FetchLog(store).add(FetchRow(URL, 2.0, 1, 200))
    FetchLog(store).add(FetchRow(URL, 1.0, 1, 304))
    write_run(store, RunRow("r1", 1, 1.0, mode="incremental", parent="r0", elapsed=3.0))
    assert known.row(URL) == PageRow(URL, visits=1)
    assert [row.url for row in known.rows()] == [URL]
    assert [visit.status for visit in known.visits()] == [304, 200]
    (run,) = known.runs()
    assert (run.name, run.mode, run.parent, run.elapsed) == ("r1", "incremental", "r0", 3.0)


def test_a_run_that_has_not_begun_is_none_yet(store: Store, known: StoredRecrawlData):
    write_run(store, RunRow("r1", 1, 1.0, fresh=True))
    assert known.runs() == []
