"""Which page of a list a URL is, which comes next, and when reading on is over."""

from typing import NamedTuple

import pytest

from nacre.history.finding.paging import (
    Page,
    at_top,
    entries_of,
    is_later,
    known_entries,
    next_page,
    page_of,
    pinned,
)

SITE = "http://a.test"


class _Link(NamedTuple):
    url: str
    text: str = ""
    rel: str = ""


@pytest.mark.parametrize(
    ("url", "stem", "number"),
    [
        ("/news/", "/news/", 0),
        ("/news/index.html", "/news/", 0),
        ("/news/index_2.html", "/news/", 2),
        ("/news/index-13.shtml", "/news/", 13),
        ("/news/page/4/", "/news/", 4),
        ("/news/page4", "/news/", 4),
        ("/news/list_3.htm", "/news/list", 3),
        ("/news/list.htm", "/news/list", 0),
        ("/news/node_1234_2.htm", "/news/node_1234", 2),
        ("/news/node_1234.htm", "/news/node", 1234),
        ("/list?page=3", "/list", 3),
        ("/list?class=5&page=3", "/list?class=5", 3),
        ("/list?page=3&class=5", "/list?class=5", 3),
        ("/search.php?start=40", "/search", 40),
        ("/2026/t20260101_5.html", "/2026/t20260101_5", 0),
        ("/%E9%80%9A%E7%9F%A5_2.html", "/通知", 2),
        ("/%CD%A8%D6%AA_2.html", "/通知", 2),
        ("/%E9%80%9A%E7%9F%A5.html", "/通知", 0),
        ("/%E9%92%92.html", "/%E9%92%92.html", 0),
    ],
)
def test_the_page_of_a_list_is_read_from_its_url(url: str, stem: str, number: int) -> None:
    found = page_of(SITE + url)
    assert found == Page(SITE + stem, number) or (number == 0 and found.number == 0)


def test_first_pages_are_not_later_ones() -> None:
    assert not is_later(f"{SITE}/news/")
    assert not is_later(f"{SITE}/news/?page=1")
    assert not is_later(f"{SITE}/news/page/1/")
    assert is_later(f"{SITE}/news/index_1.html")
    assert is_later(f"{SITE}/news/?page=2")


def test_the_next_page_is_found_by_relation_number_or_word() -> None:
    first = f"{SITE}/news/"
    by_rel = [_Link(f"{SITE}/x"), _Link(f"{SITE}/news/older", rel="nofollow next")]
    numbers = [_Link(f"{SITE}/news/index_{n}.html", str(n + 1)) for n in (3, 1, 2)]
    words = [_Link(f"{SITE}/a.html", "Weather"), _Link(f"{SITE}/p?c=9", "下一页")]
    assert next_page(first, by_rel) == f"{SITE}/news/older"
    assert next_page(first, numbers) == f"{SITE}/news/index_1.html"
    assert next_page(f"{SITE}/news/index_2.html", numbers) == f"{SITE}/news/index_3.html"
    assert next_page(first, words) == f"{SITE}/p?c=9"
    assert next_page(f"{SITE}/news/index_3.html", numbers) == ""
    parts = [_Link(f"{SITE}/node_8.htm"), _Link(f"{SITE}/node_7_2.htm")]
    assert next_page(f"{SITE}/node_7.htm", parts) == f"{SITE}/node_7_2.htm"


def _article(number: int) -> str:
    return f"{SITE}/t20260101_{number}.html"


def test_what_stays_at_the_top_is_no_anchor() -> None:
    top: dict[str, int] = {}
    for visit in range(5):
        entries = [_article(1), _article(100 + visit), _article(99 + visit), _article(98 + visit)]
        top = at_top(top, entries)
    assert pinned(top) == {_article(1)}
    new = [_article(200 + n) for n in range(5)]
    urls = [f"{SITE}/menu/", _article(1), *new]
    old = {_article(1), f"{SITE}/menu/"}
    with_pin = known_entries(urls, new, old.__contains__, frozenset())
    without = known_entries(urls, new, old.__contains__, pinned(top))
    assert not with_pin.flooded
    assert without.flooded


def test_two_known_entries_in_a_row_are_an_anchor() -> None:
    new = [_article(n) for n in (9, 7, 6)]
    apart = known_entries(
        [_article(n) for n in (9, 8, 7, 5, 6)],
        new,
        {_article(8), _article(5)}.__contains__,
        frozenset(),
    )
    together = known_entries(
        [_article(n) for n in (9, 7, 6, 5, 4)],
        new,
        {_article(5), _article(4)}.__contains__,
        frozenset(),
    )
    assert (apart.anchored, apart.flooded) == (False, False)
    assert together.anchored


def test_a_list_is_of_its_commonest_kind_of_link() -> None:
    new = [_article(1), _article(2), f"{SITE}/about"]
    assert entries_of([f"{SITE}/", *new, _article(0)], new) == [*map(_article, (1, 2, 0))]
    assert entries_of([f"{SITE}/"], []) == []
