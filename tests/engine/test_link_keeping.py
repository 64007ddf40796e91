"""When the outlinks of a visit are written, and when a reference to them."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from nacre.archive.link_reference import links_digest
from nacre.archive.record import CaptureFacts, capture_records, outlink_lines
from nacre.config.effective import Effective
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.core.history import HistoryRecord, StoredLinks
from nacre.core.processor import Keep, Visit
from nacre.engine.keeping import KeepSettings
from nacre.engine.link_keeping import LinkKeeping
from nacre.store.file_table import put_row
from nacre.store.files import FileKind, FileRow, FileState
from nacre.store.store import Store
from tests.archive.captures import BEGAN, counting_ids, make_capture
from tests.archive.files import MemoryFiles, make_writer
from tests.store.memory import MemoryEngine

URL = "http://example.test/"
DAY = 86_400_000_000
LINKS = [Outlink(f"http://example.test/{n}", Hop.LINK, "a/@href") for n in range(20)]
DIGEST = links_digest(outlink_lines(LINKS).encode())
STORED = StoredLinks("urn:uuid:1", BEGAN, DIGEST, 1, 70)


def decide(
    links: StoredLinks | None = STORED,
    *,
    outlinks: list[Outlink] = LINKS,
    referable: bool = True,
    days: float = 1,
    state: FileState = FileState.CLOSED,
    **settings: Any,
) -> Visit:
    """A visit whose reference was asked for."""
    store = Store(MemoryEngine())
    put_row(store, 1, FileRow(FileKind.WARC, "runs/x/a.open", "runs/x/a.warc.gz", state=state))
    capture = make_capture(url=URL, began=BEGAN + round(days * DAY))
    visit = Visit(CrawlURI(URL, b"k", "q"), 200, capture, outlinks=outlinks)
    visit.history = HistoryRecord(URL, 200, BEGAN, links=links)
    visit.keep = Keep(links_referable=referable)
    keeping = LinkKeeping(Path("/none"), store, Effective([KeepSettings(**settings)]))
    reference = keeping.reference(visit, capture)
    if reference is not None:
        assert (reference.record_id, reference.digest) == ("urn:uuid:1", DIGEST)
        assert (reference.file, reference.offset) == ("a.warc.gz", 70)
        assert reference.parts == (b"outlinksAs: 1-20",)
    assert (reference is not None) == (visit.keep.links is not None)
    return visit


def refers(**given: Any) -> bool:
    keep = decide(**given).keep
    return keep is not None and keep.links is not None


def test_the_same_links_are_referred_to():
    keep = decide().keep
    assert keep is not None
    assert (keep.links, keep.links_digest) == (STORED, DIGEST)
    assert refers(state=FileState.OPEN), "it is in an earlier commit group, or in this one"


@pytest.mark.parametrize(
    "given",
    [
        {"links": None},
        {"links": replace(STORED, digest="sha1:OTHER")},
        {"links": replace(STORED, file=2)},
        {"state": FileState.LOST},
        {"outlinks": LINKS[::-1]},
        {"days": 30},
        {"days": -1},
        {"days": 1, "full_every": 0},
    ],
)
def test_otherwise_they_are_written_and_known_from_then_on(given: dict[str, Any]):
    assert not refers(**given)
    keep = decide(**given).keep
    assert keep is not None
    assert keep.links_digest


@pytest.mark.parametrize("given", [{"referable": False}, {"outlinks": LINKS[:3]}, {"outlinks": []}])
def test_few_links_and_those_of_strict_runs_are_not_compared(given: dict[str, Any]):
    keep = decide(**given).keep
    assert keep is not None
    assert (keep.links_digest, keep.links) == ("", None)


def test_without_a_keep_nothing_is_compared():
    capture = make_capture(url=URL)
    visit = Visit(CrawlURI(URL, b"k", "q"), 200, capture, outlinks=LINKS)
    store = Store(MemoryEngine())
    keeping = LinkKeeping(Path("/none"), store, Effective([KeepSettings()]))
    assert keeping.reference(visit, capture) is None


class Warc:
    """A closed WARC with the outlinks of a page, which changed since."""

    def __init__(self, folder: Path) -> None:
        files = MemoryFiles()
        writer = make_writer(files)
        facts = CaptureFacts(outlinks=LINKS)
        written = writer.write(capture_records(make_capture(url=URL), facts, counting_ids()))[-1]
        writer.rotate()
        (self.path,) = files.save(folder)
        self.row = FileRow(FileKind.WARC, "x.open", self.path.name, state=FileState.CLOSED)
        self.known = StoredLinks(written.record.id, BEGAN, DIGEST, 1, written.offset)
        self._folder = folder

    def parts(self, outlinks: list[Outlink], **changes: Any) -> tuple[bytes, ...]:
        """What of other outlinks is written; none: all."""
        store = Store(MemoryEngine())
        put_row(store, 1, replace(self.row, **changes))
        capture = make_capture(url=URL, began=BEGAN + DAY)
        visit = Visit(CrawlURI(URL, b"k", "q"), 200, capture, outlinks=outlinks)
        visit.history = HistoryRecord(URL, 200, BEGAN, links=self.known)
        visit.keep = Keep(links_referable=True)
        keeping = LinkKeeping(self._folder, store, Effective([KeepSettings()]))
        reference = keeping.reference(visit, capture)
        assert visit.keep.links == (None if reference is None else self.known)
        assert reference is None or reference.digest == visit.keep.links_digest != DIGEST
        return () if reference is None else reference.parts


NEW = Outlink("http://example.test/new", Hop.LINK, "a/@href")


def test_of_links_that_differ_a_little_the_new_ones_are_written(tmp_path: Path):
    assert Warc(tmp_path).parts([*LINKS[:5], NEW, *LINKS[6:]]) == (
        b"outlinksAs: 1-5", b"outlink: http://example.test/new L a/@href", b"outlinksAs: 7-20"
    )  # fmt: skip


def test_links_that_differ_much_are_written_in_full(tmp_path: Path):
    news = [replace(link, url=f"{link.url}/new") for link in LINKS]
    assert Warc(tmp_path).parts([*LINKS[:5], *news[5:]]) == ()


@pytest.mark.parametrize("changes", [{"state": FileState.OPEN}, {"final": "other.warc.gz"}])
def test_where_the_record_cannot_be_read_they_are_written_in_full(
    tmp_path: Path, changes: dict[str, Any]
):
    assert Warc(tmp_path).parts([*LINKS, NEW], **changes) == ()


def test_a_damaged_record_is_not_built_upon(tmp_path: Path):
    warc = Warc(tmp_path)
    data = bytearray(warc.path.read_bytes())
    data[-40] ^= 0xFF
    warc.path.write_bytes(data)
    assert warc.parts([*LINKS, NEW]) == ()
