import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.frontier.novelty import AssessedLink, KindRow, Novelty, Promise, complexity
from nacre.frontier.page_texts import texts_of

SITE = "http://a.test"


def watching() -> Novelty:
    """A site of which some URLs with a query were met."""
    novelty = Novelty()
    for number in range(12):
        novelty.meet(f"{SITE}/?q={number}")
    return novelty


def entered(novelty: Novelty, url: str) -> AssessedLink:
    """Meet a URL that enters the frontier."""
    link = novelty.meet(url)
    novelty.entered([link])
    return link


def visited(novelty: Novelty, *paths: str) -> None:
    """Visit URLs that promise something new."""
    for path in paths:
        novelty.place(SITE + path, view=novelty.meet(SITE + path).view)


def page(text: str) -> bytes:
    return f"<!DOCTYPE html><title>{text}</title><p>{text}</p>".encode()


@pytest.mark.parametrize(
    ("known", "url", "promise"),
    [
        (["/Foo"], "/Bar", Promise.NEW),
        (["/wiki/Foo", "/x?title=a&action=edit"], "/x?title=Foo&action=edit", Promise.VIEW),
        (["/list?color=red", "/list?size=big"], "/list?color=red&size=big", Promise.VIEW),
        (["/list?color=red"], "/list?color=green", Promise.NEW),
        (["/item/5"], "/user/5", Promise.NEW),
        (["/list?page=2"], "/list?page=3", Promise.NEW),
        (["/(S(lit3py55t21z5v55vlm25s55))/a.aspx"], "/(S(aaaaaaaaaaaaaaaaaaaaaaaa))/a.aspx", 1),
        (["/a;jsessionid=0123456789ABCDEF"], "/a;jsessionid=FEDCBA9876543210", Promise.VIEW),
        (["/通知", "/x?t=a&v=print"], "/x?t=通知&v=print", Promise.VIEW),
        (["/%E9%80%9A", "/x?t=a&v=print"], "/x?t=%E9%80%9A&v=print", Promise.VIEW),
        (["/%CD%A8%D6%AA", "/x?t=a&v=print"], "/x?t=%CD%A8%D6%AA&v=print", Promise.VIEW),
    ],
)
def test_a_view_is_a_url_without_a_new_word(known: list[str], url: str, promise: int) -> None:
    novelty = watching()
    visited(novelty, *known)
    assert novelty.meet(SITE + url).promise == promise


def test_words_become_known_when_they_are_visited_and_not_when_they_are_met() -> None:
    novelty = watching()
    visited(novelty, "/git?a=diff", "/git?h=x&a=blob")
    two = [SITE + "/git?a=blob&h=4f", SITE + "/git?a=diff&h=4f"]
    assert [novelty.meet(url).promise for url in two] == [Promise.NEW, Promise.NEW]
    assert novelty.place(two[0], view=False) == (Promise.NEW, False)
    assert novelty.place(two[1], view=False) == (Promise.VIEW, True)


def test_hosts_know_nothing_of_each_other() -> None:
    novelty = watching()
    visited(novelty, "/Foo")
    assert novelty.meet("http://b.test/Foo").promise is Promise.NEW


def crawl_calendar(novelty: Novelty, months: int) -> Promise:
    """Months without an event, each of which leads to the next and to its days."""
    for number in range(30):
        visited(novelty, f"/help?topic={number}")
    visited(novelty, "/help?view=a", "/help?view=b")
    promise = Promise.NEW
    for number in range(months):
        url = f"{SITE}/cal?month={2000 + number // 12}-{number % 12 + 1:02d}"
        link = entered(novelty, url)
        promise = link.promise
        novelty.place(url, view=link.view)
        following = [entered(novelty, f"{url}&view={name}") for name in "ab"]
        assert novelty.visited(url, view=link.view)
        novelty.learn(url, page("Nothing on this month"), following, view=link.view)
    return promise


def test_a_calendar_becomes_poor_and_then_endless() -> None:
    assert crawl_calendar(watching(), 4) is Promise.NEW
    assert crawl_calendar(watching(), 12) is Promise.POOR
    novelty = watching()
    assert crawl_calendar(novelty, 60) is Promise.ENDLESS
    row = novelty.row(f"{SITE}/cal?month=2001-01", view=False)
    assert row is not None
    assert "had nothing new and led to" in row.reason


def test_pages_with_text_of_their_own_are_never_poor() -> None:
    novelty = watching()
    for number in range(200):
        url = f"{SITE}/thread?id={number}"
        link = novelty.meet(url)
        assert link.promise is Promise.NEW
        novelty.place(url, view=False)
        if novelty.visited(url, view=False):
            text = article(number)
            following = novelty.meet(f"{SITE}/thread?id={number + 1}")
            novelty.learn(url, page(text), [following], view=False)


def test_links_that_were_in_the_frontier_before_are_counted_once() -> None:
    novelty = watching()
    link = novelty.meet(f"{SITE}/thread?id=5")
    novelty.entered([link])
    again = novelty.meet(f"{SITE}/thread?id=5")
    row = novelty.row(f"{SITE}/thread?id=6", view=False)
    assert row is not None
    assert (again.kind, row.met) == (row.name, 1)


def test_one_page_with_something_new_redeems_its_kind() -> None:
    novelty = watching()
    crawl_calendar(novelty, 60)
    url = f"{SITE}/cal?month=2090-01"
    text = "A concert of the town's orchestra, with works by four composers of the region"
    novelty.learn(url, page(text), [], view=False)
    assert novelty.meet(f"{SITE}/cal?month=2090-02").promise is Promise.NEW


def test_views_that_lead_to_new_words_go_before_other_views() -> None:
    novelty = watching()
    visited(novelty, "/p?c=1", "/p?n=2", *(f"/h?t={n}" for n in range(20)))
    for number in range(3):
        url = f"{SITE}/p?c=1&n=2&m={number}"
        novelty.learn(url, b"", [novelty.meet(f"{SITE}/product/name-{number}")], view=True)
    row = novelty.row(f"{SITE}/p?c=1&n=2&m=1", view=True)
    assert row is not None
    assert row.leads_on
    visited(novelty, "/p?m=1")
    assert novelty.meet(f"{SITE}/p?c=1&n=2&m=1").promise is Promise.VIEW
    for number in range(3):
        novelty.learn(f"{SITE}/p?c=1&n=2&print={number}", page("A long text " * 9), [], view=True)
    visited(novelty, "/p?print=1")
    assert novelty.meet(f"{SITE}/p?c=1&n=2&print=1").promise is Promise.POOR


@pytest.mark.parametrize(
    ("form", "says", "promise"),
    [
        ("/wiki/Special:{}", [True] * 2, Promise.NEW),
        ("/wiki/Special:{}", [True] * 3, Promise.VIEW),
        ("/wiki/Special:{}", [True] * 2 + [False] * 2, Promise.NEW),
        ("/wiki/Special:{}", [False] * 2 + [True] * 3, Promise.VIEW),
        ("/find/{}", [True] * 3, Promise.VIEW),
    ],
)
def test_a_kind_whose_pages_say_noindex_goes_with_the_views(
    form: str, says: list[bool], promise: Promise
) -> None:
    novelty = watching()
    names = ["Amber", "Bronze", "Coral", "Denim", "Ebony"]
    for name, noindex in zip(names, says, strict=False):
        url = SITE + form.format(name)
        link = novelty.meet(url)
        novelty.place(url, view=link.view)
        following = novelty.meet(f"{SITE}/wiki/About_{name}")
        text = f"All that is said of {name} in this place, and where it was said before: {name * 9}"
        novelty.learn(url, page(text), [following], view=link.view, noindex=noindex)
    waiting = SITE + form.format("Flax")
    assert novelty.meet(waiting).promise is promise
    assert novelty.place(waiting, view=False) == (promise, False)
    assert novelty.meet(f"{SITE}/wiki/Gold").promise is Promise.NEW
    assert novelty.meet(f"{SITE}/wiki/Gold:_a_Metal").promise is Promise.NEW


def test_what_was_kept_is_recalled() -> None:
    row = KindRow("cal/?month={number}", met=70, read=20, dull=20, empty=20, reason="no end")
    novelty = Novelty(lambda host: [row] if host == "a.test" else [])
    for number in range(50):
        entered(novelty, f"{SITE}/cal?month={number}")
    assert novelty.meet(f"{SITE}/cal?month=51").promise is Promise.ENDLESS
    assert novelty.visited(f"{SITE}/other", view=False), "all pages of a site with a trap are read"


def article(number: int) -> str:
    """A text that has no word in common with those of other numbers."""
    return "".join(chr(0x4E00 + number * 31 + n) for n in range(60))


def read_of(novelty: Novelty, urls: list[str], text: Callable[[int], str]) -> list[str]:
    """Visit pages; those of them that were read."""
    read = []
    for number, url in enumerate(urls):
        link = entered(novelty, url)
        novelty.place(url, view=link.view)
        if novelty.visited(url, view=link.view):
            read.append(url)
            novelty.learn(url, page(text(number)), [], view=link.view)
    return read


def test_of_a_site_whose_pages_are_all_new_few_are_read() -> None:
    urls = [f"{SITE}/article/name-{number}x" for number in range(600)]
    read = read_of(watching(), urls, article)
    assert read[:24] == urls[:24]
    assert 10 < len(read) - 24 < 40
    prints = [url.replace("article", "print") for url in urls]
    assert set(read_of(watching(), prints, article)) == {
        url.replace("article", "print") for url in read
    }, "pages of one thing are read together"


def test_of_a_site_with_a_poor_kind_all_pages_are_read() -> None:
    novelty = watching()
    months = [
        f"{SITE}/cal?month={2000 + number // 12}-{number % 12 + 1:02d}" for number in range(80)
    ]
    read_of(novelty, months, lambda _: "Nothing on this month")
    urls = [f"{SITE}/article/name-{number}x" for number in range(100)]
    assert read_of(novelty, urls, article) == urls


def test_a_plain_site_is_not_read() -> None:
    novelty = Novelty()
    for name in ("one", "two", "three") * 30:
        url = f"{SITE}/docs/{name}.html"
        novelty.meet(url)
        assert not novelty.visited(url, view=False)


@given(st.lists(st.text(max_size=300), max_size=30), st.binary(max_size=300))
def test_hostile_urls_and_pages_do_no_harm(paths: list[str], body: bytes) -> None:
    novelty = Novelty()
    for path in paths * 3:
        url = f"{SITE}/{path}"
        link = novelty.meet(url)
        assert novelty.place(url, view=link.view)[0] in Promise
        if novelty.visited(url, view=link.view):
            novelty.learn(url, body, [link], view=link.view)


def test_kinds_of_a_hostile_site_are_bounded() -> None:
    novelty = Novelty()
    for number in range(6_000):
        name = f"p{number:x}q"
        novelty.visited(f"{SITE}/{name}/x?{name}=1", view=False)
        novelty.meet(f"{SITE}/{name}/x?{name}=1")
    site = novelty._sites["a.test"]
    assert len(site.kinds) <= 2_001
    assert len(site.names) <= 200


def test_texts_are_what_stands_between_tags_without_digits() -> None:
    body = b"<p>No 12 of\n 3</p><script>var x = 1;</script><b>ok</b><i>Words</i>"
    assert texts_of(body) == [b"Noof", b"Words"]


def test_complexity_counts_parameters() -> None:
    assert complexity(f"{SITE}/a") == 0
    assert complexity(f"{SITE}/a?p=1;q=2&r=3") == 3


def again_after_a_kill(novelty: Novelty) -> Novelty:
    """What a process knows that starts with what was kept."""
    later = watching()
    later.words.restore(novelty.words.take_fresh())
    return later


def test_a_url_in_process_at_a_kill_is_no_view_of_itself() -> None:
    novelty = watching()
    url = f"{SITE}/article"
    assert novelty.place(url, view=False) == (Promise.NEW, False)
    assert again_after_a_kill(novelty).place(url, view=False) == (Promise.NEW, False)
    novelty.settled(url)
    assert again_after_a_kill(novelty).meet(url).view


def test_words_of_urls_that_never_come_back_are_kept_when_there_are_many() -> None:
    novelty = watching()
    for number in range(12_000):
        novelty.place(f"{SITE}/word{number}-x", view=False)
    later = again_after_a_kill(novelty)
    assert later.meet(f"{SITE}/word0-x").view
    assert not later.meet(f"{SITE}/word11999-x").view


@pytest.mark.parametrize("markup", [b"<script ", b"<STYLE>x", b"<script></", b"</script", b"> <"])
def test_pages_of_markup_alone_are_read_at_once(markup: bytes) -> None:
    for _ in range(40):  # the test would run out of its time if each took seconds
        assert texts_of(markup * 20_000) in ([], [b"x"])


def test_scripts_and_style_sheets_are_no_text() -> None:
    page = b"<p>Some words<Script>var a<b>c</sCRIPT><p>More words<style>p {}</style>Last words"
    assert texts_of(page) == [b"Somewords", b"Morewords", b"Lastwords"]
    assert texts_of(page + b"<script>and so <b>on") == texts_of(page)


@pytest.mark.slow
def test_a_host_that_is_met_often_is_not_looked_up_again() -> None:
    asked: list[str] = []

    def recall(host: str) -> list[KindRow]:
        asked.append(host)
        return []

    novelty = Novelty(recall)
    for number in range(12_000):
        novelty.meet(f"{SITE}/")
        novelty.meet(f"http://h{number}.test/")
    assert asked.count("a.test") == 1
    assert len(novelty._sites) <= 5_000


def test_the_memory_of_all_sites_together_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nacre.frontier.novelty._ENTRIES", 2_000)
    novelty = Novelty()
    for host in range(300):
        for number in range(40):
            name = chr(97 + number % 26) * (3 + number // 26)
            entered(novelty, f"http://h{host}.test/{name}/x?{name}=1")
    sites = novelty._sites
    # Sites are counted now and then; those that were met last are there.
    assert sum(site.entries for site in sites.values()) < 2_000 + 50 * 160
    assert list(sites)[-1] == "h299.test"
    assert len(sites) < 100


def test_long_urls_take_no_more_memory_than_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nacre.frontier.novelty._ENTRIES", 2_000)
    monkeypatch.setattr("nacre.frontier.novelty._SITES_ADDED", 1)
    novelty = Novelty()
    long = "w" * 1_500
    tracemalloc.start()
    try:
        for host in range(60):
            for number in range(40):
                name = chr(97 + number % 26) * (3 + number // 26)
                url = f"http://h{host}.test/{name}/{long}/x?{name}=1"
                entered(novelty, url)
                novelty.settled(url)
            novelty.changed.clear()
            novelty.changed_values.clear()
        sites = novelty._sites
        assert list(sites)[-1] == "h59.test"
        assert tracemalloc.get_traced_memory()[0] < 2_000 * 500
    finally:
        tracemalloc.stop()
