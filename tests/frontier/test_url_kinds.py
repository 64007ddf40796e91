from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.frontier.url_kinds import (
    LONGEST_URL,
    KindNames,
    ValuesRow,
    counts,
    last_word,
    shape_of,
    whole_of,
    without_session,
    words_of,
)

SITE = "http://a.test"


def named(*paths: str) -> list[str]:
    names = KindNames()
    return [names.name(SITE + path, learn=True) for path in paths]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", ""),
        ("/news", "{}"),
        ("/news/today.html", "news/{}.html"),
        ("/news/today/", "news/{}/"),
        ("/2026/05/12.html", "{int}/{int}/{}.html"),
        ("/2026/05/%E9%80%9A", "{int}/{int}/{}"),
        ("/list?color=red&page=12", "list/?color=red/?page={number}"),
        ("/cal?date=2026-05-01", "cal/?date={number}"),
        ("/cal?date=", "cal/?date="),
        ("/git?a=blob;h=4f5a", "git/?a=blob/?h={}"),
        ("/(S(lit3py55t21z5v55vlm25s55))/a.aspx", "{}.aspx"),
        ("/wiki/Category:Birds", "wiki/Category:{}"),
        ("/wiki/Birds:_a_Story", "wiki/{}"),
        ("/wiki/Birds:%20a%20Story", "wiki/{}"),
        ("/wiki/Birds:", "wiki/{}"),
    ],
)
def test_the_kind_of_a_url(path: str, kind: str) -> None:
    assert named(path) == [kind]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/2026/05/12.html", "/1826/77/a-long-name-of-it.html"),
        ("/2026/05/a/", "/2027/06/b/"),
        ("/2026/05/%E9%80%9A", "/2027/06/name"),
        ("/show?id=5", "/show?id=8"),
        ("/show?date=2026-05-01", "/show?date=2026-12-31"),
    ],
)
def test_digits_and_names_do_not_tell_kinds_apart(one: str, other: str) -> None:
    assert len(set(named(one, other))) == 1
    assert len({*named(one), *named(other)}) == 1


def test_a_parameter_of_many_values_has_a_placeholder_from_then_on() -> None:
    names = KindNames()
    words = [f"{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(60)]
    kinds = [names.name(f"{SITE}/list?word={word}", learn=True) for word in words]
    assert kinds[:40] == [f"list/?word={word}" for word in words[:40]]
    assert set(kinds[40:]) == {"list/?word={}"}
    assert names.name(f"{SITE}/list?word=aa", learn=False) == "list/?word={}"


def test_what_was_noted_is_recalled() -> None:
    names, again = KindNames(), KindNames()
    words = [f"{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(60)]
    for word in words[:30]:
        names.name(f"{SITE}/list?word={word}", learn=True)
    assert set(names.changed) == {"?word", "/"}
    for row in names.changed.values():
        again.recall(ValuesRow(row.name, row.values))
    for word in words[30:]:
        again.name(f"{SITE}/list?word={word}", learn=True)
    assert again.name(f"{SITE}/list?word=zz", learn=True) == "list/?word={}"


def test_a_look_teaches_nothing() -> None:
    names = KindNames()
    assert names.name(f"{SITE}/list?word=red", learn=False) == "list/?word=red"
    assert len(names) == 0
    assert not names.changed


def test_what_is_kept_of_a_hostile_site_is_bounded() -> None:
    names = KindNames()
    for number in range(6_000):
        name = f"{chr(97 + number % 26)}{chr(97 + number // 26 % 26)}{chr(97 + number // 676)}"
        names.name(f"{SITE}/{name}/x?{name}=y", learn=True)
    assert len(names) == 200
    assert names.name(f"{SITE}/new/x?new=y", learn=True) == "{}/{}/?new={}"
    assert names.entries < 200 * 300


@given(st.lists(st.text(max_size=60), max_size=20))
def test_the_kind_of_a_url_is_the_same_when_it_is_asked_again(paths: list[str]) -> None:
    names = KindNames()
    for path in paths:
        names.name(f"{SITE}/{path}", learn=True)
    for path in paths:
        kind = names.name(f"{SITE}/{path}", learn=False)
        assert names.name(f"{SITE}/{path}", learn=True) == kind


_PIECES = st.sampled_from(
    [*"/?&;=:.-_%", "a", "Word", "12", "5", "2026", "0123456789abcdef", "(S(ab1))", "通知", "%20"]
)


@given(st.lists(_PIECES, max_size=10), st.randoms(use_true_random=False))
def test_urls_of_one_shape_are_of_one_kind(pieces: list[str], chance: Random) -> None:
    other = [chance.choice("19") if piece == "5" else piece for piece in pieces]
    if "/" in other[-1:]:
        other[-2:-1] = ["name"]
    elif other and "?" not in other:
        other[-1:] = ["name"]
    urls = [f"{SITE}/{''.join(each)}" for each in (pieces, other)]
    if shape_of(urls[0]) == shape_of(urls[1]):
        assert len({KindNames().name(url, learn=True) for url in urls}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/2026/05/12.html", "/1826/77/a-name.html"),
        ("/2026/05/12/", "/2027/06/name/"),
        ("/2026/%E9%80%9A", "/2027/name"),
        ("/show?id=5&c=a", "/show?id=8&c=a"),
    ],
)
def test_digits_and_names_are_no_part_of_a_shape(one: str, other: str) -> None:
    assert shape_of(SITE + one) == shape_of(SITE + other)


def test_what_counts_and_what_is_a_whole() -> None:
    assert counts("cal/?month={number}")
    assert counts("{int}/{}")
    assert not counts("wiki/{}")
    assert whole_of("again list/?page={number}/?section=a") == "again list/?…"
    assert whole_of("list/{}") == ""


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/", []),
        ("/News/today.html", ["News", "today.html"]),
        ("/item/5", ["item", "item=5"]),
        ("/2026/05/a-day/", ["=2026", "2026=05", "a-day"]),
        ("/list?color=red&page=2", ["list", "?color", "red", "?page", "page=2"]),
        ("/git;a=blob", ["git", "git=a", "blob"]),
        ("/x?p=a;h=4f5", ["=x", "?p", "p=a", "?h", "4f5"]),
        ("/a/%E9%80%9A", ["=a", "\u00e9\u0080\u009a"]),
        ("/(S(lit3py55t21z5v55vlm25s55))/page", ["page"]),
        ("/page;jsessionid=0123", ["page"]),
        ("/page?sid=0123456789abcdef", ["page"]),
    ],
)
def test_the_words_of_a_url(path: str, words: list[str]) -> None:
    assert words_of(SITE + path) == [word.encode() for word in words]


@pytest.mark.parametrize(
    ("path", "before", "word"),
    [
        ("/News/today.html", "/News/", b"today.html"),
        ("/News/today/", "/News/", b"today"),
        ("/item/5", "/item/", b"item=5"),
        ("/list?color=red", "/list?color=", b"red"),
        ("/list?color=red&page=2", "/list?color=red&page=", b"page=2"),
    ],
)
def test_the_last_word_is_found_at_once(path: str, before: str, word: bytes) -> None:
    assert last_word(SITE + path) == (SITE + before, word)


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/5", "//5", "/a=b", "/%E9%80%9A", "/通知", "/list?", "/list?a", "/list?a="),
        *("/list?sid=0123456789abcdef", "/list?a=1;jsessionid=abc", "/list?a=b=c"),
        "/" + "x" * LONGEST_URL,
    ],
)
def test_a_last_word_that_is_not_found_at_once(path: str) -> None:
    assert last_word(SITE + path) is None


_PIECES = st.sampled_from(
    [
        *"/?&;=:|+,%._-~",
        "a",
        "Word",
        "12",
        "5",
        "x1",
        "jsessionid",
        "sid",
        "(S(ab1))",
        "通知",
        "%20",
    ]
)


@given(st.lists(_PIECES, max_size=14).map("".join), st.sampled_from([SITE, "https://b.test"]))
def test_the_last_word_is_the_last_of_all_words(rest: str, site: str) -> None:
    url = f"{site}/{rest}"
    found = last_word(url)
    if found is not None:
        before, word = found
        words = words_of(url)
        assert words[-1] == word
        assert url.startswith(before)
        other = words_of(f"{before}another-word")
        assert other == [*words[:-1], b"another-word"], "the other words are those of its beginning"


def test_a_url_without_a_session_is_left_as_it_is() -> None:
    assert without_session(f"{SITE}/a?b=c") == f"{SITE}/a?b=c"
    assert without_session(f"{SITE}/a?PHPSESSID=0123456789abcdef&b=c") == f"{SITE}/a?&b=c"


def test_long_urls_are_told_apart_by_short_texts() -> None:
    folders = [f"{SITE}/{sign * 1_000}/" for sign in "ab"]
    texts = [shape_of(f"{folder}x{end}") for folder in folders for end in (".html", "?q=1")]
    texts += [word[0] for folder in folders if (word := last_word(f"{folder}name"))]
    assert len(set(texts)) == len(texts) == 6
    assert max(map(len, texts)) <= 200
    assert shape_of(f"{folders[0]}y.html") == texts[0]
    assert last_word(f"{folders[0]}other") == (texts[4], b"other")
