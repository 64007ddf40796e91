import pytest

from tests.extract.pages import found, outlinks


def test_the_first_usable_base_counts_and_all_are_links():
    page = '<a href=x></a><base href="mailto:x"><base href="/b1/"><base href="/b2/">'
    assert found(page) == [
        ("L", "/b1/", "base/@href"),
        ("L", "/b2/", "base/@href"),
        ("L", "/b1/x", "a/@href"),
    ]


def test_a_relative_base_is_resolved_once():
    assert found('<base href="../up/"><img src=i.png>') == [
        ("L", "/up/", "base/@href"),
        ("E", "/up/i.png", "img/@src"),
    ]


def test_frames_outside_a_frameset_are_found():
    assert found('<p>text<frame name="m"src="f.html">') == [("E", "/dir/f.html", "frame/@src")]


def test_forms_that_are_never_closed_are_all_found():
    page = "<form action=a><form action=b method=get><form method=POST action=c><form action=d>"
    assert [url for _, url, _ in found(page)] == ["/dir/a", "/dir/b", "/dir/d"]


def test_conditional_comments_hold_elements_other_comments_do_not():
    page = "<!--[if lt IE 9]><script src=ie.js></script><![endif]--><!-- <a href=x> -->"
    assert found(page) == [("E", "/dir/ie.js", "script/@src")]


def test_documents_within_the_page():
    page = (
        "<noscript><img src=a.png style='background:url(b.png)'></noscript>"
        "<iframe srcdoc='<a href=c>&lt;iframe srcdoc=\"&lt;a href=d&gt;\"&gt;'></iframe>"
        "<frameset><noframes><a href=e></noframes></frameset>"
        "<template><a href=f></a></template>"
    )
    expected = {f"/dir/{name}" for name in ("a.png", "b.png", *"cdef")}
    assert {url for _, url, _ in found(page)} == expected
    assert found("<frameset><noframes><a href=e></noframes>") == [("L", "/dir/e", "a/@href")]


def test_srcdoc_within_srcdoc_ends_somewhere():
    page = "<a href=last>"
    for _ in range(8):
        page = f"<iframe srcdoc='{page.replace('&', '&amp;').replace(chr(39), '&#39;')}'></iframe>"
    assert found(page) == []


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "utf-8"])
def test_pages_with_a_byte_order_mark(encoding: str):
    body = "\ufeff<a href=é onclick=\"go('/k.html')\"></a>".encode(encoding.removesuffix("-sig"))
    assert found(body) == [("L", "/dir/%C3%A9", "a/@href"), ("X", "/k.html", "=JS_MISC")]


def test_queries_follow_the_charset_of_the_page():
    body = '<meta charset="gbk"><a href="中?q=中">'.encode("gbk")
    assert [link.url for link in outlinks(body)] == [
        "http://www.example.com/dir/%E4%B8%AD?q=%D6%D0"
    ]
