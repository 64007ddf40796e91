"""The signs that a page needs a browser, on markup written for these tests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.extract.document import Document
from nacre.extract.shell import (
    BLANK,
    NO_SIGN,
    BrowserDecision,
    Signs,
    blank_signs,
    find_signs,
    has_scripts,
    may_show_signs,
    needs_browser,
    page_text,
    script_name,
    template_of,
    text_width,
)

APP = '<script type="module" src="/assets/index-4f3a2b1c.js"></script>'
OLD = '<script src="/jquery.js"></script>'
PROSE = "<p>" + "words of an article that everybody can read " * 20 + "</p>"
CHINESE = "<p>" + "关于延长期限的公告和有关事项的说明" * 20 + "</p>"
ASKS = "<noscript>You need to enable JavaScript to run this app.</noscript>"
OBSERVER = "<script>new IntersectionObserver(more); fetch('/x')</script>"
PIXEL = '<noscript><img height="1" width="1" src="https://stats.test/tr?id=1"></noscript>'
RUNS = {
    sign: BrowserDecision(sign, runs=True)
    for sign in ("mount", "noscript", "hashRoutes", "thin", "lazy")
}
PROBES = {sign: BrowserDecision(sign) for sign in ("noscript", "thin", "lazy")}


def page(body: str, head: str = "") -> str:
    return f"<!doctype html><html><head><title>A title</title>{head}</head><body>{body}</body>"


def links(number: int) -> str:
    return "".join(f'<a href="/{at}">{at}</a>' for at in range(number))


@pytest.mark.parametrize(
    ("html", "decision"),
    [
        pytest.param(page('<div id="root"></div>', APP), RUNS["mount"], id="react"),
        pytest.param(page("<div id=app>Loading…</div>", APP), RUNS["mount"], id="spinner"),
        pytest.param(page(f'{ASKS}<div id="root"></div>', APP), RUNS["mount"], id="both"),
        pytest.param(page("<app-root></app-root>", APP), RUNS["mount"], id="angular"),
        pytest.param(page("<div data-reactroot></div>", APP), RUNS["mount"], id="attribute"),
        pytest.param(page(f'{PROSE}<div id="__next"></div>', APP), RUNS["mount"], id="with text"),
        pytest.param(page(f'<div id="root">{PROSE}</div>', APP), NO_SIGN, id="rendered by server"),
        pytest.param(page(f'<div id="app"><div>{PROSE}</div></div>', APP), NO_SIGN, id="nested"),
        pytest.param(page('<div id="root"></div>'), NO_SIGN, id="no script"),
        pytest.param(page(f"{ASKS}<p>Hello</p>", APP), RUNS["noscript"], id="asks, thin"),
        pytest.param(page(ASKS + PROSE, OLD), PROBES["noscript"], id="asks, whole"),
        pytest.param(page(PIXEL + PROSE, OLD), NO_SIGN, id="pixel"),
        pytest.param(
            page("<noscript>请启用脚本</noscript>" + CHINESE, OLD), PROBES["noscript"], id="zh"
        ),
        pytest.param(
            page('<a href="#/a">a</a><a href="#/b">b</a>' + PROSE, APP),
            RUNS["hashRoutes"],
            id="routes",
        ),
        pytest.param(
            page('<a href="#!a">a</a><a href="#!b">b</a>' + PROSE, APP),
            RUNS["hashRoutes"],
            id="old routes",
        ),
        pytest.param(
            page('<a href="#a">a</a><a href="#b">b</a>' + PROSE, APP), NO_SIGN, id="fragments"
        ),
        pytest.param(page("<p>Hello</p>", APP), RUNS["thin"], id="thin"),
        pytest.param(page(CHINESE, APP), NO_SIGN, id="Chinese text"),
        pytest.param(page("<p>" + "字" * 99 + "</p>", APP), RUNS["thin"], id="99 characters"),
        pytest.param(page("<p>" + "字" * 100 + "</p>", APP), NO_SIGN, id="100 characters"),
        pytest.param(page("<p>" + "x" * 299 + "</p>", APP), RUNS["thin"], id="299 letters"),
        pytest.param(page("<p>" + "x" * 300 + "</p>", APP), NO_SIGN, id="300 letters"),
        pytest.param(page(links(9), OLD), RUNS["thin"], id="few links"),
        pytest.param(page(links(10), OLD), PROBES["thin"], id="index page"),
        pytest.param(page('<img src="/1.png">' * 5, OLD), PROBES["thin"], id="gallery"),
        pytest.param(page('<img data-src="/1.png">' * 5 + PROSE, OLD), PROBES["lazy"], id="lazy"),
        pytest.param(
            page('<img src="d.gif" data-src="/1.png">' * 5, OLD), RUNS["lazy"], id="lazy, thin"
        ),
        pytest.param(
            page('<img loading="lazy" src="/1.png">' * 9 + PROSE, OLD), NO_SIGN, id="native lazy"
        ),
        pytest.param(
            page('<img loading="lazy">' * 5 + PROSE, OLD), PROBES["lazy"], id="lazy without src"
        ),
        pytest.param(
            page(f"<ul id=feed></ul>{PROSE}{OBSERVER}"),
            PROBES["lazy"],
            id="observer",
        ),
        pytest.param(
            page(f"<ul><li>a</ul>{PROSE}{OBSERVER}"),
            NO_SIGN,
            id="observer, filled list",
        ),
        pytest.param(
            page("Hello", '<script src="https://www.google-analytics.com/ga.js"></script>'),
            NO_SIGN,
            id="statistics",
        ),
        pytest.param(
            page("Hello", '<script type="application/ld+json">{}</script>'), NO_SIGN, id="data"
        ),
        pytest.param(
            page("<p id=x></p><script>fetch('/x').then(show)</script>"), RUNS["thin"], id="inline"
        ),
        pytest.param(page("<script>var year = 2024</script>Hello"), NO_SIGN, id="inline, idle"),
        pytest.param(
            page("Moved", '<meta http-equiv="Refresh" content="0; URL=/new/">' + OLD),
            NO_SIGN,
            id="refresh",
        ),
        pytest.param(
            page("<script>location.replace('/new/')</script>" + ASKS + OLD),
            PROBES["noscript"],
            id="leads away",
        ),
        pytest.param(
            page("<script>if (old) location.replace('/new/'); import('./app.js')</script>" + ASKS),
            RUNS["noscript"],
            id="may lead away",
        ),
        pytest.param(
            f"<html><head>{OLD}</head><frameset cols='1,2'><frame src=a><frame src=b></frameset>",
            NO_SIGN,
            id="frames",
        ),
        pytest.param(f"<title>x</title>{OLD}{PROSE}", NO_SIGN, id="no head or body tags"),
        pytest.param(f"<html><head>{OLD}{PROSE}", NO_SIGN, id="open head"),
        pytest.param(page(f"<svg><path>{PROSE}", OLD), NO_SIGN, id="open svg"),
        pytest.param(
            f'<?xml version="1.0"?><html><head><script src="a.js"/></head><body>{PROSE}</body>',
            NO_SIGN,
            id="XHTML",
        ),
        pytest.param("", NO_SIGN, id="empty"),
    ],
)
def test_the_signs_of_a_page_decide(html: str, decision: BrowserDecision) -> None:
    assert needs_browser(find_signs(html)) == decision


@pytest.mark.parametrize("charset", ["utf-8", "gbk", "gb18030", "big5"])
@pytest.mark.parametrize("is_declared", [True, False])
def test_chinese_text_is_counted_in_each_encoding(charset: str, is_declared: bool) -> None:
    text = (
        "開放資料平台提供的各種說明與公告" if charset == "big5" else "关于延长期限的公告和说明"
    ) * 12
    meta = f'<meta charset="{charset}">' if is_declared else ""
    body = page(f"<p>{text}</p>", meta + APP).encode(charset)
    signs = find_signs(page_text(Document("http://a.test/", body=body)))
    assert needs_browser(signs) == NO_SIGN
    assert signs.text == 3 * len(text)


def test_a_page_in_utf_16_is_read() -> None:
    body = ("\ufeff" + page('<div id="root"></div>', APP)).encode("utf-16-le")
    assert has_scripts(body)
    assert may_show_signs(body)
    assert find_signs(page_text(Document("http://a.test/", body=body))).mount == "#root"


@pytest.mark.parametrize(
    ("html", "quick", "may_show"),
    [
        (page('<div id="root"></div>'), True, True),
        (page("<div id=app></div>"), True, True),
        (page('<a href="#/a">'), True, True),
        (page(ASKS), True, False),
        (page(ASKS), False, True),
        (page('<img data-src="a">'), False, True),
        (page('<div id="approval"></div><a href="#a">'), False, False),
    ],
)
def test_a_fast_search_leaves_out_pages_without_signs(
    html: str, quick: bool, may_show: bool
) -> None:
    assert may_show_signs(html.encode(), quick=quick) is may_show


@pytest.mark.parametrize(
    ("text", "width"),
    [("", 0), ("  a \n b ", 3), ("公告", 6), ("abc公", 6), ("日本語", 9), ("é", 1)],
)
def test_a_character_of_chinese_counts_as_three_letters(text: str, width: int) -> None:
    assert text_width(text) == width


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("/assets/index-4f3a2b1c.js", "../assets/index-99aa00ff.js"),
        ("main.js?v=1", "main.js?v=2"),
        ("/static/js/2.chunk.js", "/static/js/17.chunk.js"),
        ("https://cdn.test/app.min.js#x", "app.min.js"),
    ],
)
def test_versions_of_a_script_have_one_name(first: str, second: str) -> None:
    assert script_name(first) == script_name(second)


def test_pages_with_the_same_scripts_are_of_one_template() -> None:
    first = find_signs(page(ASKS + PROSE, OLD + '<script src="a.js?1"></script>'))
    second = find_signs(page(ASKS + CHINESE, '<script src="a.js?2"></script>' + OLD))
    assert template_of(first, needs_browser(first)) == template_of(second, needs_browser(second))
    thin = find_signs(page(ASKS, OLD + '<script src="a.js?1"></script>'))
    assert template_of(first, needs_browser(first)) != template_of(thin, needs_browser(thin))


@pytest.mark.parametrize(
    ("html", "is_blank"),
    [
        (page('<div id="root"></div>', APP), True),
        (page("<p>Hello</p><img src=logo.svg>", APP), True),
        (page(links(3) + "Hello", APP), False),
        (page("x" * 100, APP), False),
        (page(PROSE + '<div id="root"></div>', APP), False),
    ],
)
def test_a_blank_page_shows_nothing_without_scripts(html: str, is_blank: bool) -> None:
    assert find_signs(html).is_blank is is_blank


PARTS = st.sampled_from(
    [
        "<div id=root>",
        "</div>",
        "<script>",
        "</script>",
        "<noscript>",
        "</noscript>",
        "<svg>",
        "<ul>",
        "</ul>",
        "<head>",
        "<body>",
        "<img data-src=a>",
        '<a href="#/x">',
        "text",
        "公告",
        "<",
        "\0",
        "<!--",
    ]
)


@given(st.lists(PARTS, max_size=40))
def test_no_page_breaks_the_search(parts: list[str]) -> None:
    signs = find_signs("".join(parts))
    assert signs.text >= 0
    assert signs.links >= 0
    needs_browser(signs)


@given(st.lists(PARTS, max_size=12))
def test_signs_of_a_blank_page_are_those_of_any_page(parts: list[str]) -> None:
    html = "".join(parts)
    signs = find_signs(html)
    assert blank_signs(html) == (signs if signs.text < BLANK else None)


@given(st.lists(PARTS, max_size=30), st.integers(0, 400))
def test_more_text_never_makes_a_page_thin(parts: list[str], size: int) -> None:
    html = page("".join(part for part in parts if part not in {"<!--", "<script>", "<svg>"}), OLD)
    before = needs_browser(find_signs(html))
    after = needs_browser(find_signs(html.replace("<body>", "<body>" + "x" * size, 1)))
    assert before.runs or not after.runs


@given(st.builds(Signs, text=st.integers(0, 999), scripted=st.just(value=False)))
def test_without_a_script_there_is_no_sign(signs: Signs) -> None:
    assert needs_browser(signs) == NO_SIGN
