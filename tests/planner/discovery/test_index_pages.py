"""Index or content: by URL and looks, corrected by behaviour.

Which page of a list a URL is, which comes next, and when reading on is over.
"""

import math
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.pagerow import Shape
from nacre.core.urlshape import shaped
from nacre.extract.pageview import page_view
from nacre.planner.discovery.index_pages import (
    MOST_LOST,
    Hub,
    LinkFacts,
    ListPage,
    News,
    Shown,
    at_top,
    compare_lists,
    credited,
    entries_of,
    expected_loss,
    index_probability,
    is_later,
    known_entries,
    next_page,
    overflows,
    page_of,
    pinned,
    shown_entries,
)

LIST = "<ul>" + "".join(
    f"<li><a href=/2024/t2024010{n}_{n}.html>关于做好第{n}项工作的通知</a><span>2024-01-0{n}</span>"
    for n in range(1, 10)
)
ARTICLE = (
    "<div class=nav><a href=/>首页</a><a href=/xw/>新闻</a></div><h1>通知</h1>"
    + "<p>"
    + "各单位要高度重视,认真组织实施,确保各项工作落到实处。" * 30
    + "</p>"
)
INDEXES = [
    ("http://a.cn/", LIST),
    ("http://a.cn/xw/", LIST),
    ("http://a.cn/xw/index_2.html", LIST),
    ("http://a.cn/list?page=3", LIST),
    ("http://a.cn/column_77.htm", LIST),
]
CONTENTS = [
    ("http://a.cn/2024/t20240101_1.html", ARTICLE),
    ("http://a.cn/view?id=77", ARTICLE),
    ("http://a.cn/art/4711.html", ARTICLE),
    ("http://a.cn/how-to-build-a-boat", ARTICLE),
]


def _probability(url: str, html: str, fertile: int = 0) -> float:
    facts = LinkFacts(content=9, same_template=1.0) if html is LIST else LinkFacts()
    return index_probability(shaped(url), page_view(html).shape, facts, fertile)


@pytest.mark.parametrize(("url", "html"), INDEXES)
def test_index_pages(url: str, html: str) -> None:
    assert _probability(url, html) > 0.9


@pytest.mark.parametrize(("url", "html"), CONTENTS)
def test_content_pages(url: str, html: str) -> None:
    assert _probability(url, html) < 0.1


def test_shapes_tell_lists_from_texts() -> None:
    one, other = page_view(LIST).shape, page_view(ARTICLE).shape
    assert one.group == 9
    assert one.dated >= 9
    assert one.anchors / one.text > 0.6
    assert other.longest > 600
    assert other.links == 2
    assert page_view("").shape == Shape()


def test_behaviour_outweighs_looks() -> None:
    url = "http://a.cn/2024/special.html"
    assert _probability(url, ARTICLE, 2) > _probability(url, ARTICLE, 1)


def test_the_seed_is_likely_an_index() -> None:
    at_seed = index_probability(shaped("http://a.cn/x"), Shape(), LinkFacts())
    deeper = index_probability(shaped("http://a.cn/x"), Shape(), LinkFacts(), depth=3)
    assert at_seed > deeper


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
    assert found == ListPage(SITE + stem, number) or (number == 0 and found.number == 0)


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


class _Listed(NamedTuple):
    url: str
    text: str = "t"


def _list(*names: str, **texts: str) -> Shown:
    return shown_entries([_Listed(name, texts.get(name, "t")) for name in names])


def test_what_is_new_and_what_changed() -> None:
    news = compare_lists(_list("a", "b", "c"), _list("n", "a", "b", "c", b="other"))
    assert news == News(("n",), ("b",), ())


def test_falling_off_the_end_is_no_withdrawal() -> None:
    assert not compare_lists(_list("a", "b", "c", "d"), _list("n", "m", "a", "b")).withdrawn


def test_vanishing_from_the_middle_is() -> None:
    assert compare_lists(_list("a", "b", "c", "d"), _list("a", "c", "d")).withdrawn == ("b",)


def test_a_new_design_withdraws_nothing() -> None:
    old = _list(*"abcdefghijklm")
    assert not compare_lists(old, _list("x", "y", "l", "m")).withdrawn


def test_each_link_counts_once_and_spaces_do_not() -> None:
    assert shown_entries([_Listed("a", "x  y"), _Listed("a", "z")]) == shown_entries(
        [_Listed("a", "x y")]
    )


def test_paging_below_a_list_does_not_make_withdrawals_of_what_falls_off_its_end() -> None:
    pages = [f"http://e.example/news/index_{number}.html" for number in (1, 2, 3)]
    old = [f"http://e.example/news/t202401{day}_{day}.html" for day in range(16, 10, -1)]
    new = [f"http://e.example/news/t202401{day}_{day}.html" for day in (18, 17)]
    assert not compare_lists(_list(*old, *pages), _list(*new, *old[:4], *pages)).withdrawn
    shorter = [*old[:2], *old[3:]]
    assert compare_lists(_list(*old, *pages), _list(*shorter, *pages)).withdrawn == (old[2],)


def _hub(links: str, cost: float = 1.0) -> Hub:
    return Hub(frozenset(links), cost)


def test_each_link_counts_for_one_list() -> None:
    found = credited({"home": _hub("abc"), "news": _hub("abcdef"), "other": _hub("fg")})
    assert found == {"news": 6, "other": 1, "home": 0}


def test_what_is_visited_anyway_goes_first_and_cheap_before_dear() -> None:
    hubs = {"home": _hub("ab", 0.0), "dear": _hub("abcd", 4.0), "cheap": _hub("abcd", 1.0)}
    assert credited(hubs) == {"home": 2, "cheap": 2, "dear": 0}


@given(st.dictionaries(st.text(max_size=3), st.frozensets(st.integers(0, 20)), max_size=8))
def test_all_links_are_covered_once(sets: dict[str, frozenset[int]]) -> None:
    hubs = {name: Hub(frozenset(map(str, links)), 1.0 + len(name)) for name, links in sets.items()}
    assert sum(credited(hubs).values()) == len(frozenset().union(*sets.values()))


def _by_sum(window: int, arriving: float) -> float:
    total, log = 0.0, -arriving
    for count in range(2000):
        total += max(0, count - window) * math.exp(log)
        log += math.log(arriving) - math.log(count + 1)
    return total


@pytest.mark.parametrize(("window", "arriving"), [(1, 0.2), (10, 3.0), (20, 25.0), (40, 40.0)])
def test_the_loss_is_that_of_the_sum(window: int, arriving: float) -> None:
    assert expected_loss(window, arriving) == pytest.approx(_by_sum(window, arriving), abs=1e-9)


def test_a_large_loss_is_about_the_difference() -> None:
    assert expected_loss(100, 1000.0) == pytest.approx(900.0, rel=1e-6)
    assert expected_loss(10, 0.0) == 0.0


def test_a_list_that_is_read_too_seldom_overflows() -> None:
    days = [day for day in range(1, 30) if overflows(20, 2.0, day)]
    assert days == list(range(days[0], 30))
    assert 3 < days[0] < 11
    assert expected_loss(20, 2.0 * (days[0] - 1)) <= MOST_LOST * 2.0 * (days[0] - 1)
    assert not overflows(0, 2.0, 1000.0)
