"""Searches in a catalogue give what filtering in Python gives, in order, page by page."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.archive.index_facts import PostQuery
from nacre.catalogue.build import update_catalogue
from nacre.catalogue.filters import time_of, write_cursor
from nacre.catalogue.holdings import open_holding
from nacre.catalogue.query import (
    CatalogueQuery,
    RowBudget,
    count_facets,
    iterate_items,
    search_captures,
)
from nacre.catalogue.rows import CatalogueItem, media_family
from nacre.errors import ConfigError, StorageError
from tests.catalogue.given_job import add_index, line

HOSTS = ("h.test", "www.h.test", "a.h.test", "b.test", "xn--fiqs8s.test")
PATHS = ("/", "/a", "/a/", "/a/b.html", "/a?x=1", "/ab", "/%D6%D0", "/%E4%B8%AD")


class Made(NamedTuple):
    """A capture of a test."""

    url: str
    time: str
    mime: str
    status: int
    post: bool


CAPTURES = st.builds(
    Made,
    st.builds("{}://{}{}".format, st.sampled_from(["http", "https"]), st.sampled_from(HOSTS),
              st.sampled_from(PATHS)),
    st.integers(0, 5).map(lambda day: f"2026112{day}100000"),
    st.sampled_from(["text/html", "image/png", "warc/revisit", ""]),
    st.sampled_from([200, 301, 404, 500, 0]),
    st.booleans(),
)  # fmt: skip
QUERIES = st.fixed_dictionaries(
    {
        "place": st.sampled_from(
            [("", ""), ("host", "h.test"), ("host", "WWW.h.test"), ("domain", "h.test"),
             ("prefix", "http://h.test/a"), ("prefix", "h.test/a/"), ("host", "中.test")]
        ),
        "mime": st.sampled_from(["", "page", "image/png", "page,revisit", "none"]),
        "status": st.sampled_from(["", "404", "4xx,5xx", "200", "0", "200,404"]),
        "verdict": st.sampled_from(["", "unchanged", "unknown"]),
        "start": st.sampled_from(["", "2026-11-22"]),
        "end": st.sampled_from(["", "2026-11-23", "202611"]),
        "method": st.sampled_from(["", "POST", "GET"]),
        "order": st.sampled_from(["", "newest", "oldest", "url"]),
        "limit": st.integers(1, 7),
    }
)  # fmt: skip


def selects(made: Made, query: dict[str, Any]) -> bool:
    """The naive filter."""
    name, text = query["place"]
    rest = made.url.partition("://")[2]
    host = rest.partition("/")[0]
    if name == "host" and host != {"中.test": "xn--fiqs8s.test"}.get(text, text.lower()):
        return False
    if name == "domain" and not f".{host}".endswith(f".{text}"):
        return False
    if name == "prefix":
        typed = text.removeprefix("http://")
        place = rest.removeprefix("www.").removesuffix("/")
        is_below = f"{place}/".startswith(typed) or place.startswith(typed)
        if not is_below and not (typed[-1] == "/" and place.startswith(f"{typed[:-1]}?")):
            return False
    mimes, statuses = query["mime"].split(","), query["status"].split(",")
    classes = [f"{made.status // 100}xx", str(made.status)]
    verdict = "unchanged" if made.mime == "warc/revisit" else "unknown"
    return (
        (query["mime"] == "" or made.mime in mimes or media_family(made.mime) in mimes)
        and (query["status"] == "" or any(name in statuses for name in classes))
        and query["verdict"] in ("", verdict)
        and (query["start"] == "" or made.time >= "20261122")
        and (query["end"] != "2026-11-23" or made.time < "20261124")
        and query["method"] in ("", "POST" if made.post else "GET")
    )


def asked(query: dict[str, Any]) -> CatalogueQuery:
    name, text = query["place"]
    fields = {key: value for key, value in query.items() if key != "place"}
    return CatalogueQuery(**fields, **({name: text} if name else {}))


def job(root: Path, captures: list[Made], first: int = 0) -> None:
    """A job whose captures are in two WARCs."""
    for name in ("a", "b"):
        warc = f"{name}.warc.gz"
        lines = [
            line(made.url, made.time, number, warc=warc, mime=made.mime, status=made.status,
                 post=PostQuery("POST", "q=1") if made.post else None)
            for number, made in enumerate(captures, first)
            if number % 2 == (name == "b")
        ]  # fmt: skip
        add_index(root, lines, warc=warc, is_open=True)


def pages(holding, query: CatalogueQuery, rows: int = 10_000) -> list[CatalogueItem]:
    """All pages of a query, with a budget of some rows for each."""
    items: list[CatalogueItem] = []
    cursor = ""
    for _ in range(1000):
        page = search_captures(
            holding, msgspec.structs.replace(query, cursor=cursor), RowBudget(rows, 60.0)
        )
        assert len(page.items) <= query.limit
        items += page.items
        cursor = page.next
        if not cursor:
            return items
    raise AssertionError("the pages do not end")


@settings(max_examples=60, deadline=None)
@given(st.lists(CAPTURES, max_size=25), QUERIES, st.integers(1, 30))
def test_a_search_gives_what_filtering_gives(captures, query, rows):
    with TemporaryDirectory() as folder:
        root = Path(folder, "j")
        job(root, captures)
        holding = open_holding([root])
        update_catalogue(holding.members[0])
        items = pages(holding, asked(query), rows)
        by_offset = {item.capture.offset: item.capture for item in items}
        assert len(by_offset) == len(items)
        expected = {number for number, made in enumerate(captures) if selects(made, query)}
        assert set(by_offset) == expected
        for number, capture in by_offset.items():
            made = captures[number]
            assert (capture.url, capture.timestamp, capture.mime, capture.status) == made[:4]
        order = query["order"] or ("url" if query["place"][0] else "newest")
        places = [item.capture.key if order == "url" else item.capture.timestamp for item in items]
        assert places == sorted(places, reverse=order == "newest")
        assert [item.capture.id for item in iterate_items(holding, asked(query))] == [
            item.capture.id for item in items
        ]
        counts = count_facets(holding, asked(query))
        assert counts.is_exact
        assert counts.total == len(expected)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(CAPTURES, min_size=1, max_size=15), st.lists(CAPTURES, max_size=15), QUERIES,
    st.integers(0, 5),
)  # fmt: skip
def test_a_cursor_neither_repeats_nor_loses_rows_while_rows_are_added(
    captures, more, query, before
):
    with TemporaryDirectory() as folder:
        root = Path(folder, "j")
        job(root, captures)
        holding = open_holding([root])
        update_catalogue(holding.members[0])
        question = asked(query)
        seen, cursor = [], ""
        for number in range(1000):
            if number == before:
                job(root, [*captures, *more])
                assert update_catalogue(holding.members[0]).is_complete
            page = search_captures(holding, msgspec.structs.replace(question, cursor=cursor))
            seen += [item.capture.id for item in page.items]
            cursor = page.next
            if not cursor:
                break
        assert len(seen) == len(set(seen))
        offsets = {int(text.rpartition(":")[2]) for text in seen}
        assert offsets >= {number for number, made in enumerate(captures) if selects(made, query)}


def test_members_are_merged_and_a_missing_member_is_left_out(tmp_path):
    add_index(tmp_path / "a", [line("http://h.test/", f"2026112{n}100000", n) for n in (1, 3)])
    add_index(tmp_path / "b", [line("http://h.test/", f"2026112{n}100000", n) for n in (2, 4)])
    holding = open_holding([tmp_path / "a", tmp_path / "b"])
    gone = holding.members[0]._replace(is_missing=True, root=tmp_path / "gone")
    holding.members = (holding.members[0], gone, holding.members[1])
    for member in holding.members[::2]:
        update_catalogue(member)
    items = pages(holding, CatalogueQuery(limit=1))
    assert [(item.capture.timestamp[6:8], item.capture.member) for item in items] == [
        ("24", 2), ("23", 0), ("22", 2), ("21", 0),
    ]  # fmt: skip
    oldest = pages(holding, CatalogueQuery(limit=1, order="oldest"))
    assert oldest == items[::-1]
    by_url = pages(holding, CatalogueQuery(limit=1, host="h.test"))
    assert by_url == items[::-1]
    assert search_captures(holding, CatalogueQuery()).is_complete


def test_a_url_is_found_in_all_its_spellings(tmp_path):
    urls = [
        "http://h.test/%D6%D0",
        "http://h.test/%E4%B8%AD",
        "https://www.h.test/%E4%B8%AD",
        "http://h.test/x",
    ]
    add_index(tmp_path, [line(url, offset=number) for number, url in enumerate(urls)])
    holding = open_holding([tmp_path])
    update_catalogue(holding.members[0])
    typed = pages(holding, CatalogueQuery(url="http://h.test/中"))
    assert {item.capture.url for item in typed} == set(urls[:3])
    below = pages(holding, CatalogueQuery(prefix="h.test/中"))
    assert {item.capture.url for item in below} == set(urls[:3])


def test_a_search_that_finds_nothing_says_how_far_it_came(tmp_path):
    add_index(tmp_path, [line("http://h.test/", f"20261120{n:02d}0000", n) for n in range(20)])
    holding = open_holding([tmp_path])
    update_catalogue(holding.members[0])
    page = search_captures(holding, CatalogueQuery(status="200", method="PUT"), RowBudget(5, 60))
    assert (page.items, page.looked, page.reached) == ((), 5, "20261120150000")
    assert page.next


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "4x"}, {"mime": "pages"}, {"verdict": "good"}, {"start": "yesterday"},
        {"end": "2026-13"}, {"end": "20261"}, {"host": "a b/"},
        {"url": "http://h.test/", "host": "h.test"},
        {"cursor": write_cursor((2**64 - 1, 0, 0))}, {"cursor": write_cursor((0, 0, -(2**63)))},
        {"cursor": "x"}, {"cursor": "gqFhAQ"}, {"start": "99991231", "end": "9999-12-31"},
    ],
)  # fmt: skip
def test_a_query_without_a_meaning_is_an_error(tmp_path, fields):
    add_index(tmp_path, [])
    holding = open_holding([tmp_path])
    with pytest.raises(ConfigError):
        search_captures(holding, CatalogueQuery(**fields))


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026", 1767225600, 1798761599), ("2026-02", 1769904000, 1772323199),
        ("2026-11-29", 1795910400, 1795996799), ("20261129101112", 1795947072, 1795947072),
        ("2026-11-29T10:11Z", 1795947060, 1795947119),
    ],
)  # fmt: skip
def test_times_may_be_cut(text, first, last):
    assert time_of(text, "start") == first
    assert time_of(text, "end", is_end=True) == last


def test_an_offset_beyond_any_row_is_not_that_of_another_warc(tmp_path):
    add_index(tmp_path / "job", [line("http://a.test/")])
    holding = open_holding([tmp_path / "job"])
    update_catalogue(holding.members[0])
    (item,) = search_captures(holding, CatalogueQuery()).items
    name = f"{item.capture.warc}:{1 << 38}"
    assert search_captures(holding, CatalogueQuery(ids=(item.capture.id,))).items == (item,)
    assert search_captures(holding, CatalogueQuery(ids=(name,))).items == ()


def test_a_damaged_part_of_the_database_is_an_error(tmp_path):
    add_index(tmp_path / "job", [line(f"http://a.test/{i}", offset=i) for i in range(5000)])
    holding = open_holding([tmp_path / "job"])
    update_catalogue(holding.members[0])
    path = tmp_path / "job" / "state" / "catalogue.db"
    data = path.read_bytes()
    start = 32 * 4096  # behind the pages in which the tables begin
    path.write_bytes(data[:start] + b"\xff" * (len(data) - start))
    with pytest.raises(StorageError, match="Delete the file"):
        list(iterate_items(holding, CatalogueQuery(order="url")))
