import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.frontier.url_words import LONGEST_URL, last_word, without_session, words_of

SITE = "http://a.test"


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
