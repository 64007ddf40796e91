"""What a writer is given of pages and loses of them, by what the CrawlDb says now."""

import pyarrow as pa
import pytest

from nacre.crawldb.indexed import TextTypes, index_changes, noindex_changes
from nacre.crawldb.kernels import Kernel
from nacre.crawldb.row import Status
from nacre.crawldb.scoring import boost_rule

TYPES = TextTypes(["text/html", "application/pdf"], ["", "application/octet-stream"], ["pdf"])


def row(key: str, status: Status = Status.FETCHED, **more: object) -> dict[str, object]:
    fields = {
        "key": key, "url": None, "status": int(status), "last_time": 1, "modified": None,
        "digest": "sha1:A", "record_id": "r", "warc_date": 1, "length": 5, "mime": "text/html",
        "lang": None, "excluded": None, "dup_of": None, "score": 2**32, "cash": 0,
    }  # fmt: skip
    return fields | more


def changes(
    rows: list[dict[str, object]],
    had: dict[str, tuple[str | None, str]],
    *visits: tuple[str, int, bool],
) -> set[tuple[str, str]]:
    """The keys with `given`, or with the reason why they go, by visits with time and `noindex`."""
    texts = ("key", "url", "digest", "record_id", "mime", "lang", "excluded", "dup_of")
    schema = pa.schema([(name, pa.string() if name in texts else pa.int64()) for name in row("x")])
    known = [{"key": key, "digest": one[0], "reason": one[1]} for key, one in had.items()]
    kinds = pa.schema([(name, pa.string()) for name in ("key", "digest", "reason")])
    with Kernel(again=True) as kernel:
        kernel.load("crawldb", pa.Table.from_pylist(rows, schema))
        kernel.load("had", pa.Table.from_pylist(known, kinds))
        query = index_changes("crawldb", "had", TYPES, 0, boost_rule([], 0.5), news=bool(visits))
        kernel.execute(f"create temp table changes as {query}")
        if visits:
            names = ("key", "time", "noindex", "status", "stored")
            seen = [dict(zip(names, (*one, 200, "duplicate"), strict=True)) for one in visits]
            kernel.load("visits", pa.Table.from_pylist(seen))
            for statement in noindex_changes("changes", "visits"):
                kernel.execute(statement)
        found = kernel.rows("select key, coalesce(reason, 'given') from changes")
    return {(str(key), str(why)) for key, why in found}


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (row("p"), None),
        (row("p", digest="sha1:B"), "given"),
        (row("p", Status.NOT_MODIFIED), None),
        (row("p", Status.GONE), "gone"),
        (row("p", Status.REDIR_TEMP), "redirect"),
        (row("p", Status.REDIR_PERM), "redirect"),
        (row("p", Status.DUPLICATE, dup_of="q"), "duplicate"),
        (row("p", Status.ORPHAN), "orphan"),
        (row("p", Status.PARSE_FAILED), "unreadable"),
        (row("p", excluded="scope"), "excluded"),
        (row("p", Status.GONE, excluded="scope"), "excluded"),
        (row("p", mime="image/png"), "type"),
        (row("p", Status.UNFETCHED), None),
    ],
)
def test_a_page_that_a_writer_has(now, why):
    found = changes([now], {"p": ("sha1:A", "")})
    assert found == ({("p", why)} if why else set())


@pytest.mark.parametrize(
    "now",
    [
        row("p", Status.GONE),
        row("p", Status.DUPLICATE),
        row("p", Status.ORPHAN),
        row("p", excluded="scope"),
        row("p", record_id=None),
        row("p", Status.UNFETCHED),
        row("p", mime="image/png"),
    ],
)
def test_what_was_never_given_is_not_removed(now):
    assert changes([now], {}) == set()
    assert changes([now], {"p": (None, "gone")}) == set()


def test_what_came_back_is_given_again_and_what_no_table_knows_goes():
    assert changes([row("p")], {"p": (None, "duplicate")}) == {("p", "given")}
    assert changes([row("q")], {"p": ("sha1:A", "")}) == {("p", "unknown"), ("q", "given")}


def test_a_name_says_the_type_where_the_media_type_says_nothing():
    rows = [
        row("http://x/a.PDF?b", mime="application/octet-stream"),
        row("http://x/a.bin", mime=""),
    ]
    assert changes(rows, {}) == {("http://x/a.PDF?b", "given")}


GIVEN = {("p", "given")}


@pytest.mark.parametrize(
    ("reason", "visits", "found"),
    [
        ("", [("p", 1, True)], GIVEN),
        ("", [("p", 1, False)], set()),
        ("", [("p", 1, True), ("p", 2, False)], set()),
        ("", [("q", 1, True)], set()),
        ("noindex", [("p", 1, True)], set()),
        ("noindex", [("p", 1, False)], GIVEN),
        ("noindex", [("p", 1, False), ("p", 2, True)], set()),
        ("noindex", [("q", 1, False)], set()),
        ("noindex", [], set()),
        ("filter", [("p", 1, False)], set()),
        ("filter", [("p", 1, True)], set()),
    ],
)
def test_a_page_with_the_same_content_is_given_where_the_newest_reply_says_another_thing(
    reason, visits, found
):
    assert changes([row("p")], {"p": ("sha1:A", reason)}, *visits) == found


def test_replies_do_not_keep_what_is_new_or_gone():
    assert changes([row("p")], {}, ("p", 1, False)) == GIVEN
    assert changes([row("p")], {}, ("q", 1, True)) == GIVEN
    gone = row("p", Status.GONE)
    assert changes([gone], {"p": ("sha1:A", "")}, ("p", 1, False)) == {("p", "gone")}
    assert changes([gone], {"p": ("sha1:A", "noindex")}, ("p", 1, False)) == set()
