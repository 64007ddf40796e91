"""What a writer is given of pages and loses of them, by what the CrawlDb says now."""

import pyarrow as pa
import pytest

from nacre.crawldb.indexed import TextTypes, index_changes
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
    rows: list[dict[str, object]], had: dict[str, tuple[str | None, str]], *refused: str
) -> set[tuple[str, str]]:
    """The keys with `given`, or with the reason why they go."""
    texts = ("key", "url", "digest", "record_id", "mime", "lang", "excluded", "dup_of")
    schema = pa.schema([(name, pa.string() if name in texts else pa.int64()) for name in row("x")])
    known = [{"key": key, "digest": one[0], "reason": one[1]} for key, one in had.items()]
    kinds = pa.schema([(name, pa.string()) for name in ("key", "digest", "reason")])
    with Kernel(again=True) as kernel:
        kernel.load("crawldb", pa.Table.from_pylist(rows, schema))
        kernel.load("had", pa.Table.from_pylist(known, kinds))
        kernel.load("refused", pa.table({"key": pa.array(refused, pa.string())}))
        query = index_changes("crawldb", "had", TYPES, 0, boost_rule([], 0.5), "refused")
        found = kernel.rows(f"select key, coalesce(reason, 'given') from ({query})")
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


def test_a_page_with_the_same_content_that_says_noindex_now_is_looked_at():
    assert changes([row("p")], {"p": ("sha1:A", "")}, "p") == {("p", "given")}
    assert changes([row("p")], {"p": ("sha1:A", "noindex")}, "p") == set()
    assert changes([row("p")], {"p": ("sha1:A", "")}, "q") == set()
