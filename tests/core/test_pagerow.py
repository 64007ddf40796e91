import msgspec
import pytest

from nacre.core.pagerow import (
    ChosenRow,
    DiscoveryRow,
    PageKind,
    PageRow,
    TimingRow,
    VersionRow,
)

URL = "http://a.test/"


def test_a_new_page_has_no_visits():
    row = PageRow(URL)
    assert (row.kind, row.life, row.weight) == (PageKind.PAGE, "live", 1.0)
    assert (row.visits, row.last_visit, row.evidence, row.told) == (0, 0.0, b"", ())


def test_a_source_counts_once_until_the_next_visit():
    row = PageRow(URL)
    row.tell("sitemap")
    row.tell("feed")
    row.tell("sitemap")
    assert row.told == ("sitemap", "feed")
    row.answered(5.0, changed=True)
    assert (row.last_visit, row.last_change) == (5.0, 5.0)
    assert not row.told


def test_a_visit_without_a_change_keeps_the_time_of_the_last_one():
    row = PageRow(URL, last_change=3.0, last_visit=4.0, told=("feed",))
    row.answered(9.0, changed=False)
    assert (row.last_visit, row.last_change, row.told) == (9.0, 3.0, ())


def test_visits_changes_and_noise_are_counted():
    row = PageRow(URL)
    row.answered(5.0, changed=True)
    row.answered(6.0, changed=False, noise=True)
    row.unanswered()
    assert (row.visits, row.changes, row.noise, row.errors) == (2, 1, 1, 1)
    assert (row.last_visit, row.last_change) == (6.0, 5.0)


def test_a_version_keeps_what_it_does_not_tell_anew():
    row = PageRow(URL)
    row.showed("sha1:A", 100, 0.25)
    row.showed("", 0, None)
    assert (row.digest, row.bytes, row.index) == ("sha1:A", 100, 0.25)
    row.showed("sha1:B", 50, 0.0)
    assert (row.digest, row.bytes, row.index) == ("sha1:B", 50, 0.0)


def test_rates_keep_what_the_latest_visits_saw():
    row = PageRow(URL)
    row.rated(b"all", b"latest")
    row.rated(b"more")
    assert (row.evidence, row.recent) == (b"more", b"latest")


ROWS = [
    PageRow(URL, PageKind.INDEX, evidence=b"\x01", told=("feed",), recent=b"\x02"),
    TimingRow(URL, "nutch", 1.0, 2.0, 3.0, retries=1, signed=False, mime="text/html"),
    DiscoveryRow("http://a.test/", "LL", "a/@href", "tag", "http://a.test/", sitemap=True),
    VersionRow("sha1:A", "chunked", "utf-8", 7.0),
    ChosenRow(URL, 0.5, "rate", 0.25, done=True),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: type(row).__name__)
def test_a_row_is_the_same_after_the_store(row: msgspec.Struct):
    text = msgspec.msgpack.encode(row)
    assert msgspec.msgpack.decode(text, type=type(row)) == row


def test_a_row_of_an_older_version_has_defaults_for_what_came_later():
    old = msgspec.msgpack.encode([URL, "feed", "t", 1.0])
    row = msgspec.msgpack.decode(old, type=PageRow)
    assert row == PageRow(URL, PageKind.FEED, "t", 1.0)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (PageRow, ("url", "kind", "template", "first_seen", "born", "last_visit", "last_change")),
        (TimingRow, ("url", "kind", "visited", "interval", "due", "modified", "retries")),
        (DiscoveryRow, ("via", "path", "context", "source", "owner", "sitemap")),
        (VersionRow, ("digest", "framing", "charset", "full")),
        (ChosenRow, ("url", "chance", "reason", "propensity", "done")),
    ],
)
def test_fields_are_stored_in_this_order(kind: type[msgspec.Struct], names: tuple[str, ...]):
    assert tuple(field.name for field in msgspec.structs.fields(kind))[: len(names)] == names
