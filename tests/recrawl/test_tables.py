"""History leaves a job and enters another, as JSON Lines and as Parquet."""

import math
from pathlib import Path

import pytest

from nacre.config.extras import MissingExtraError
from nacre.core.changes import ChangedText, ChangeRow, TextRun
from nacre.core.history import Base, FetchRow, HistoryRecord
from nacre.core.pagerow import (
    DiscoveryRow,
    PageKind,
    PageRow,
    Piece,
    PieceEdit,
    TimingRow,
    UnstoredVersion,
    VersionRow,
)
from nacre.errors import JobError
from nacre.history.dedup import History
from nacre.history.rendered import RenderedDocuments
from nacre.planner.change_detection.template import PlaceCounts, Template
from nacre.planner.discovery.hints import MapRow, ReplyAudit, map_key
from nacre.planner.discovery.index_pages import Shown
from nacre.planner.discovery.link_rules import LinkHistory, RuleRow
from nacre.planner.discovery.traps import TrapRow
from nacre.planner.sites import ShownRow, SiteRow
from nacre.recrawl import tables
from nacre.recrawl.change_log import ChangeLog
from nacre.recrawl.pagestore import (
    LISTS,
    MAPS,
    RULES,
    SITES,
    TEMPLATES,
    TRAPS,
    FetchLog,
    Named,
    PageStore,
    fetch_rows,
)
from nacre.recrawl.tables import export_tables, import_tables
from nacre.store.store import Store
from tests.store.memory import MemoryEngine

URL = "http://a.test/ü?x=1"
PAGE = PageRow(URL, PageKind.INDEX, "t", 1.5, evidence=b"\x00\xff" * 28, told=("feed", "listing"))
BASE = Base("urn:uuid:1", 3, "sha1:B", "chunked", 4)
RECORD = HistoryRecord(URL, 200, 5, 5, "sha1:A", etag=b'"\xe4"', length=7, base=BASE, confirmed=6)
TIMING = TimingRow(URL, "calendar", 1.5, 60.0, math.inf, signed=False, mime="text/html")
TEMPLATE = Template({5: PlaceCounts(1.0, 0.5, 2, 1)}, {2**63: 4}, pages=3)

EDIT = PieceEdit(1, 2, (Piece("text", 7, "期限"),))
VERSION = VersionRow("sha1:A", unstored=UnstoredVersion(5, (EDIT,)))


def filled() -> Store:
    store = Store(MemoryEngine())
    pages = PageStore(store)
    pages.put(PAGE)
    pages.put_way(URL, DiscoveryRow("http://a.test/", "L", "a/@href"))
    pages.put_version(URL, VERSION)
    pages.put_timing(TIMING)
    RenderedDocuments(store).put(URL, b"<p>\xe6\x9c\x9f</p>", 5, judged=True)
    FetchLog(store).add(FetchRow(URL, 1.25, 1, 200, "there", "new", 0.5))
    words = (ChangedText("text", (TextRun("-", "五"), TextRun("+", "六"))),)
    ChangeLog(store).add(ChangeRow(URL, 1.25, 2, "changed", title="标题", texts=words))
    History(store).put(RECORD)
    for prefix, name, row in (
        (RULES, "a.test */{int}", RuleRow(LinkHistory([], [7], 1), 2, 1)),
        (
            MAPS,
            map_key(URL),
            MapRow(URL, "http://a.test/i.xml", "2026-01-01", 5.0, audit=ReplyAudit(3, 1)),
        ),
        (TRAPS, "http://a.test/{int}", TrapRow(3.0, 1.0, [5, 2**31])),
        (SITES, "a.test", SiteRow(listed=(2.0, 1.0), hours=[0.0, 1.0])),
        (LISTS, URL, ShownRow(Shown((URL,), (5,)), 2.0)),
        (TEMPLATES, "a.test", TEMPLATE),
    ):
        rows = Named(store, prefix, type(row))
        rows[name] = row
        rows.seal()
    store.commit()
    return store


@pytest.mark.parametrize("parquet", [False, True])
def test_what_leaves_comes_in_again(tmp_path: Path, parquet: bool):
    written = dict(export_tables(filled(), tmp_path, parquet=parquet))
    assert sorted(written.values()) == [0, 0, 0, *[1] * 14]
    store = Store(MemoryEngine())
    assert {path.name: count for path, count in import_tables(store, tmp_path)} == {
        path.name: count for path, count in written.items()
    }
    pages = PageStore(store)
    assert pages.get(URL) == PAGE
    assert pages.version(URL) == VERSION
    assert (pages.way(URL), pages.version(URL)) == (
        DiscoveryRow("http://a.test/", "L", "a/@href"),
        VERSION,
    )
    assert pages.timing(URL) == TIMING
    row = RenderedDocuments(store).get(URL, judged=True)
    assert row is not None
    assert (row.dom, row.began) == (b"<p>\xe6\x9c\x9f</p>", 5)
    assert list(fetch_rows(store)) == [FetchRow(URL, 1.25, 1, 200, "there", "new", 0.5)]
    assert History(store).get(URL) == RECORD
    assert Named(store, TEMPLATES, Template)["a.test"] == TEMPLATE
    assert Named(store, LISTS, ShownRow)[URL] == ShownRow(Shown((URL,), (5,)), 2.0)
    kept = Named(store, MAPS, MapRow)[map_key(URL)]
    assert (kept.index, kept.audit) == ("http://a.test/i.xml", ReplyAudit(3, 1))
    assert Named(store, TRAPS, TrapRow)["http://a.test/{int}"] == TrapRow(3.0, 1.0, [5, 2**31])
    assert Named(store, SITES, SiteRow)["a.test"].listed == (2.0, 1.0)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("pages.jsonl", "{", "line 1 is not JSON"),
        ("pages.jsonl", "[]", "line 1 is not a JSON object"),
        ("pages.jsonl", "[" * 100_000, "line 1 is not JSON"),
        ("pages.jsonl", '{"key":"中","url":"x"}', "pages.jsonl is not UTF-8"),
        ("pages.jsonl", '{"key":"x","url":"\\ud800"}', "row 1 of pages cannot be read"),
        ("pages.jsonl", f'{{"key":"x","url":"x","visits":{2**70}}}', "row 1 of pages cannot be"),
        ("pages.jsonl", '{"url":"x"}', "row 1 of pages cannot be read: 'key'"),
        ("pages.jsonl", '{"key":"x","url":5}', "row 1 of pages cannot be read: Expected `str`"),
        ("pages.jsonl", '{"key":"x","url":"x","evidence":"\\"YWJj\\""}', "evidence has 3 bytes"),
        ("pages.jsonl", '{"key":"x","url":"x","recent":"\\"YWJj\\""}', "expected 8, or none"),
        ("visits.jsonl", '{"key":"zz","url":"x"}', "row 1 of visits"),
        ("pages.parquet", "no parquet", "not a Parquet file that can be read"),
        ("other.jsonl", "", "holds no tables of history"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(
    tmp_path: Path, name: str, text: str, message: str
):
    (tmp_path / name).write_bytes(text.encode("gbk"))
    with pytest.raises(JobError, match=message):
        list(import_tables(Store(MemoryEngine()), tmp_path))


def test_without_pyarrow_the_way_to_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(tables, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r"extra `parquet` \(pyarrow\): .*with --yes"):
        list(export_tables(filled(), tmp_path, parquet=True))
