"""Which URLs of a page change in replay."""

import pytest

from nacre.replay.page_urls import PageAddress, UrlRewriter, locate_stray

PAGE = PageAddress("", "20260102030405", "http://h.test/a/b/page.html?q=/x/y")
BEFORE = "/20260102030405mp_/"


@pytest.mark.parametrize(
    "url",
    [
        *("", "  ", "#part", "other.html", "./other.html", "../up.html", "../../root.html"),
        *("?q=../../../..", "dir/../other", "..", "../..", ".", "a/b/../../../../root"),
        *("javascript:location='/x'", "JavaScript:x", "data:text/plain,x", "blob:http://h.test/1"),
        *("mailto:a@h.test", "tel:1", "about:blank", "about:srcdoc", "urn:isbn:1", "ws://h.test/"),
        *("名.html", "目录/名.html", "a:b/c", "http://", "http://[::1", "http://h:999999/"),
        "x#../../../../",
    ],
)
def test_url_that_stays(url: str):
    assert UrlRewriter(PAGE).rewrite(url) is None


@pytest.mark.parametrize(
    ("url", "absolute"),
    [
        ("/root", "http://h.test/root"),
        ("\\root\\x", "http://h.test/root/x"),
        ("//o.test/x", "http://o.test/x"),
        ("\\/o.test/x", "http://o.test/x"),
        ("https://o.test", "https://o.test/"),
        ("HTTPS://O.Test:443/A", "https://o.test/A"),
        ("http://h.test/a/b/page.html", "http://h.test/a/b/page.html"),
        ("http://o.test:8080/x?y=1&z=2#part", "http://o.test:8080/x?y=1&z=2#part"),
        ("http://user:word@o.test/", "http://user:word@o.test/"),
        ("http:other", "http://h.test/a/b/other"),
        ("  ht\ntp://o.test/a b\t ", "http://o.test/a%20b"),
        ("http://o.test/a/../../b", "http://o.test/b"),
        ("../../../over", "http://h.test/over"),
        ("..\\..\\..\\over", "http://h.test/over"),
        ("%2e%2E/.%2e/../over", "http://h.test/over"),
        ("a/../../../../over?x", "http://h.test/over?x"),
        ("http://o.test/目录/?词=中", "http://o.test/%E7%9B%AE%E5%BD%95/?%E8%AF%8D=%E4%B8%AD"),
        ("http://中文.cn/", "http://xn--fiq228c.cn/"),
        ("ftp://o.test/file", "ftp://o.test/file"),
        ("http://[::1]:8410/api", "http://[::1]:8410/api"),
        ("http://o.test/\x00a\x1f", "http://o.test/%00a"),
    ],
)
def test_url_that_is_rewritten(url: str, absolute: str):
    assert UrlRewriter(PAGE).rewrite(url) == BEFORE + absolute


@pytest.mark.parametrize(
    ("charset", "url"),
    [
        ("gbk", "http://o.test/%E4%B8%AD?q=%D6%D0#%E4%B8%AD"),
        ("big5", "http://o.test/%E4%B8%AD?q=%A4%A4#%E4%B8%AD"),
        ("utf-8", "http://o.test/%E4%B8%AD?q=%E4%B8%AD#%E4%B8%AD"),
        ("utf-16-le", "http://o.test/%E4%B8%AD?q=%E4%B8%AD#%E4%B8%AD"),
    ],
)
def test_query_is_written_in_the_charset_of_the_page(charset: str, url: str):
    rewriter = UrlRewriter(PAGE, charset)
    assert rewriter.rewrite("http://o.test/中?q=中#中") == BEFORE + url


def test_origin_of_replay_is_put_before_the_path():
    page = PAGE._replace(origin="http://j1.replay.localhost:8411")
    assert UrlRewriter(page).rewrite("/x") == f"{page.origin}{BEFORE}http://h.test/x"


def test_base_decides_how_far_a_url_may_climb():
    rewriter = UrlRewriter(PAGE)
    rewriter.rebase("http://o.test/one/")
    assert rewriter.rewrite("../x") is None
    assert rewriter.rewrite("../../x") == BEFORE + "http://o.test/x"
    assert rewriter.rewrite("/x") == BEFORE + "http://o.test/x"
    rewriter.rebase("/again")
    assert rewriter.base == "http://h.test/again"


@pytest.mark.parametrize("base", ["javascript:x", "data:text/html,x", "http://[", "mailto:x"])
def test_unusable_base_is_ignored(base: str):
    rewriter = UrlRewriter(PAGE)
    rewriter.rebase(base)
    assert rewriter.base == PAGE.url


@pytest.mark.parametrize(
    ("path", "referrer", "place"),
    [
        ("/x?y", "http://j1.localhost:1/2026mp_/http://h.test/a/b", "/2026mp_/http://h.test/x?y"),
        ("//o.test/x", "/2026mp_/https://h.test/?a", "/2026mp_/https://h.test/o.test/x"),
        ("/x", "http://j1.localhost:1/view/http://h.test/", None),
        ("/x", "http://j1.localhost:1/2026mp_/javascript:x", None),
        ("/x", "", None),
    ],
)
def test_stray_request_belongs_to_the_page_that_sent_it(
    path: str, referrer: str, place: str | None
):
    assert locate_stray(path, referrer) == place
