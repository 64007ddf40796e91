"""What an incremental run leaves out of the WARCs."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from nacre.annotations import UNRECORDED
from nacre.archive.delta import Delta, DeltaError, rebuild
from nacre.archive.record import CaptureFacts, capture_records
from nacre.config.effective import Effective
from nacre.core.capture import Capture
from nacre.core.crawluri import CrawlURI
from nacre.core.history import Base, HistoryRecord, Noted, Original
from nacre.core.processor import Keep, Visit
from nacre.engine.keeping import Bases, Keeping, KeepSettings, Kept
from nacre.history.dedup import Digests
from nacre.store.file_table import put_row
from nacre.store.files import FileKind, FileRow, FileState
from nacre.store.store import Store
from tests.archive.captures import BEGAN, HEAD, counting_ids, make_capture
from tests.archive.files import MemoryFiles, make_writer
from tests.store.memory import MemoryEngine

URL = "http://example.test/"
DAY = 86_400_000_000
TEXT = " ".join(f"{n * n * 104729 % 99991:x}" for n in range(2000)).encode()


class Archive:
    """A WARC with one page, known to a store."""

    def __init__(self, folder: Path, body: bytes = TEXT, **settings: Any) -> None:
        self.capture = make_capture(body=body, url=URL)
        files, ids = MemoryFiles(), counting_ids()
        writer = make_writer(files)
        written = writer.write(capture_records(self.capture, CaptureFacts(), ids))[0]
        writer.rotate()
        (self.path,) = files.save(folder)
        self.store = Store(MemoryEngine())
        self.digests = Digests(self.store)
        self.original = Original(URL, BEGAN, written.record.id, 1, written.offset)
        self.digests.put(self.capture.payload_digest, "", self.original)
        self.row = FileRow(FileKind.WARC, "x.open", self.path.name, state=FileState.CLOSED)
        put_row(self.store, 1, self.row)
        self.known = HistoryRecord(
            URL, 200, BEGAN, BEGAN, self.capture.payload_digest, record_id=written.record.id
        )
        self.bases = Bases(folder, self.store, self.digests)
        self.keeping = Keeping(self.store, Effective([KeepSettings(**settings)]), self.bases, 1)

    def decide(
        self,
        capture: Capture,
        known: HistoryRecord | None = None,
        *,
        patchable: bool = False,
        notable: bool = False,
        silent: bool = False,
    ) -> tuple[Kept, Visit]:
        visit = Visit(CrawlURI(capture.url, b"k", "q"), capture.status, capture)
        visit.history, visit.keep = (
            known or self.known,
            Keep(patchable=patchable, silent=silent, notable=notable),
        )
        return self.keeping.decide(visit, capture, visit.keep), visit


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path)


def later(body: bytes = TEXT + b" and more", days: float = 7, **facts: Any) -> Capture:
    return make_capture(body=body, url=URL, began=BEGAN + round(days * DAY), **facts)


def test_what_resembles_the_last_version_is_a_difference_from_it(archive: Archive):
    capture = later()
    kept, visit = archive.decide(capture, patchable=True)
    assert kept.delta is not None
    assert rebuild(kept.delta, HEAD + TEXT) == HEAD + TEXT + b" and more"
    assert (kept.delta.base_id, kept.delta.number) == (archive.original.record_id, 1)
    assert (kept.delta.base_file, kept.delta.base_offset) == (
        archive.path.name, archive.original.offset
    )  # fmt: skip
    assert visit.keep is not None
    assert visit.keep.base == Base(archive.original.record_id, BEGAN, archive.known.digest, "", 1)
    assert visit.keep.size == len(kept.delta.patch) < 200
    assert visit.annotations == ["delta:1"]


def test_the_next_one_is_a_difference_from_the_same_base(archive: Archive):
    base = Base(archive.original.record_id, BEGAN, archive.known.digest, "", 1)
    known = replace(archive.known, date=BEGAN + DAY, digest="sha1:X", record_id="d", base=base)
    kept, _ = archive.decide(later(), known, patchable=True)
    assert kept.delta is not None
    assert (kept.delta.base_id, kept.delta.number) == (archive.original.record_id, 2)


@pytest.mark.parametrize(
    ("capture", "settings"),
    [
        (later(TEXT[::-1]), {}),
        (later(days=30), {}),
        (later(truncated="length"), {}),
        (later(request=b"POST / HTTP/1.1\r\n\r\n"), {}),
        (later(status=404), {}),
        (later(), {"versions": 1}),
        (later(), {"saving": 1.0}),
        (later(), {"largest": 5000}),
        (later(b"short"), {"largest": 5000}),
        (later(), {"full_every": 0}),
    ],
)
def test_what_is_stored_in_full(tmp_path: Path, capture: Capture, settings: dict[str, Any]):
    assert Archive(tmp_path, **settings).decide(capture, patchable=True)[0] == Kept()


@pytest.mark.parametrize(("number", "differs"), [(14, True), (15, False)])
def test_of_sixteen_versions_one_is_stored_in_full(archive: Archive, number: int, differs: bool):
    base = Base(archive.original.record_id, BEGAN, archive.known.digest, "", number)
    known = replace(archive.known, digest="sha1:X", base=base)
    assert (archive.decide(later(), known, patchable=True)[0].delta is not None) == differs


def test_nobody_asked_for_differences(archive: Archive):
    assert archive.decide(later())[0] == Kept()


def test_a_base_that_is_not_as_it_has_to_be_is_no_base(archive: Archive):
    archive.path.write_bytes(archive.path.read_bytes()[:-900])
    assert archive.decide(later(), patchable=True)[0] == Kept()
    archive.path.unlink()
    assert archive.decide(later(), patchable=True)[0] == Kept()


def delta_of(archive: Archive) -> Delta:
    kept, _ = archive.decide(later(), patchable=True)
    assert kept.delta is not None
    return kept.delta


def test_the_base_of_a_difference_is_read_also_where_its_file_is_open(archive: Archive):
    delta = delta_of(archive)
    assert archive.bases.block(delta) == HEAD + TEXT
    row = replace(archive.row, path=archive.path.name, state=FileState.OPEN)
    put_row(archive.store, 1, row)
    assert archive.bases.block(delta) == HEAD + TEXT


def test_the_base_of_a_difference_that_is_lost_or_unknown_is_an_error(archive: Archive):
    delta = delta_of(archive)
    put_row(archive.store, 1, replace(archive.row, state=FileState.LOST))
    with pytest.raises(DeltaError, match=f"does not know <{delta.base_id}>"):
        archive.bases.block(delta)
    archive.digests.drop(archive.known.digest, "")
    with pytest.raises(DeltaError, match="does not know"):
        archive.bases.block(delta)


@pytest.mark.parametrize("state", [FileState.OPEN, FileState.LOST])
def test_a_base_in_a_file_that_is_open_or_lost_is_no_base(archive: Archive, state: FileState):
    put_row(archive.store, 1, replace(archive.row, path=archive.path.name, state=state))
    assert archive.decide(later(), patchable=True)[0] == Kept()


@pytest.mark.parametrize(
    "change",
    [{"record_id": "urn:uuid:other"}, {"url": "http://example.test/other"}, {"base": "b"}],
)
def test_only_a_full_version_of_the_same_page_is_a_base(archive: Archive, change: dict[str, str]):
    original = replace(archive.original, **change)
    archive.digests.put(archive.known.digest, "", original)
    assert archive.decide(later(), patchable=True)[0] == Kept()


@pytest.mark.parametrize("change", [{"original": "http://b.test/"}, {"date": 0}, {"record_id": ""}])
def test_what_is_known_of_another_page_is_no_base(archive: Archive, change: dict[str, Any]):
    known = replace(archive.known, **change)
    assert archive.decide(later(), known, patchable=True)[0] == Kept()


# ---- confirmations

SAME = make_capture(b"HTTP/1.1 304 Not Modified\r\n\r\n", b"", url=URL, status=304)


@pytest.mark.parametrize(
    ("confirmed", "settings", "omitted"),
    [
        (0, {}, False),  # the first after a change
        (BEGAN - 3_600_000_000, {}, True),  # 09:00 and 10:00 of one day
        (BEGAN - 11 * 3_600_000_000, {}, False),  # 23:00 of the day before
        (BEGAN - 3_600_000_000, {"confirmations": 3600}, False),
        (BEGAN, {"confirmations": 0}, False),
        (BEGAN - 9 * DAY, {"confirmations": 100 * 86_400}, True),
    ],
)
@pytest.mark.parametrize("capture", [SAME, make_capture(body=TEXT, url=URL)])
def test_confirmations_are_written_now_and_then(
    tmp_path: Path, capture: Capture, confirmed: int, settings: dict[str, Any], omitted: bool
):
    archive = Archive(tmp_path, **settings)
    known = replace(archive.known, confirmed=confirmed)
    kept, visit = archive.decide(capture, known)
    assert kept.omitted == omitted
    assert (UNRECORDED in visit.annotations) == omitted
    assert visit.keep is not None
    assert visit.keep.unrecorded == omitted


def test_a_change_is_never_left_out(archive: Archive):
    known = replace(archive.known, confirmed=BEGAN)
    assert not archive.decide(later(days=0), known)[0].omitted


@pytest.mark.parametrize("capture", [SAME, make_capture(body=TEXT, url=URL)])
def test_what_confirms_a_difference_is_a_note(archive: Archive, capture: Capture):
    known = replace(archive.known, base=Base("b", BEGAN - DAY, "sha1:B"))
    kept, _ = archive.decide(capture, known, patchable=True)
    assert kept == Kept(confirms=archive.known.record_id)


def test_what_confirms_a_note_is_a_note(archive: Archive):
    noted = Noted("n", archive.known.digest)
    known = replace(archive.known, digest="sha1:OLD", noted=noted)
    same = make_capture(body=TEXT, url=URL)
    assert archive.decide(SAME, known)[0] == Kept(confirms="n")
    assert archive.decide(same, known, notable=True)[0] == Kept(confirms="n")
    assert archive.decide(same, known)[0] == Kept()
    # The bytes that were stored in full before do not confirm the note.
    known = replace(
        known, digest=archive.known.digest, noted=Noted("n", "sha1:NEW"), confirmed=BEGAN
    )
    assert archive.decide(same, known, notable=True)[0] == Kept()


def test_without_differences_the_same_bytes_are_stored_in_full_again(archive: Archive):
    known = replace(archive.known, base=Base("b", BEGAN - DAY, "sha1:B"))
    assert archive.decide(make_capture(body=TEXT, url=URL), known)[0] == Kept()
    assert archive.decide(SAME, known)[0].confirms


def test_after_its_time_a_difference_is_stored_in_full_again(archive: Archive):
    known = replace(archive.known, base=Base("b", BEGAN - 31 * DAY, "sha1:B", number=1))
    assert archive.decide(make_capture(body=TEXT, url=URL), known, patchable=True)[0] == Kept()


@pytest.mark.parametrize("date", [0, BEGAN])
def test_no_note_takes_the_place_of_the_only_copy(archive: Archive, date: int):
    capture = later()
    visit = Visit(CrawlURI(URL, b"k", "q"), 200, capture, noted=True)
    visit.history, visit.keep = replace(archive.known, date=date), Keep(notable=True)
    assert archive.keeping.decide(visit, capture, visit.keep) == Kept()
    assert visit.noted == bool(date)


# ---- failures


def failure(url: str, hours: float = 0, status: int = 503) -> Capture:
    began = BEGAN + round(hours * 3_600_000_000)
    return make_capture(url=url, status=status, began=began)


def test_of_failures_one_is_written_for_each_host_and_day(archive: Archive):
    asked = [
        (failure("http://a.test/1"), False),
        (failure("http://a.test/2", 1), True),
        (failure("http://b.test/1", 1), False),
        (failure("http://a.test/1", 13.9, 403), True),
        (failure("http://a.test/1", 14.1, 500), False),
    ]
    for capture, omitted in asked:
        assert archive.decide(capture, silent=True)[0].omitted == omitted, capture.url


def test_a_refusal_with_status_200_is_kept(archive: Archive):
    for _ in range(2):
        assert not archive.decide(later(), silent=True)[0].omitted


def test_all_failures_are_written_if_that_is_wanted(tmp_path: Path):
    archive = Archive(tmp_path, failures=0)
    for _ in range(3):
        assert not archive.decide(failure("http://a.test/1"), silent=True)[0].omitted
