import pytest

from nacre.core.crawluri import Hop
from nacre.extract.html.elements import json_strings
from tests.extract.pages import extracted, found, outlinks

ELEMENTS = [
    ("<a href=x>", [("L", "/dir/x", "a/@href")]),
    ("<area href=x>", [("L", "/dir/x", "area/@href")]),
    ("<A HREF = 'X' >", [("L", "/dir/X", "a/@href")]),
    ("<a data-remote=true href=x>", [("L", "/dir/x", "a[data-remote='true']/@href")]),
    ("<a ping='/p1 /p2'>", []),
    ("<a ping='/p' href=x>", [("L", "/dir/x", "a/@href"), ("X", "/p", "a/@ping")]),
    ("<a href='javascript:go(\"/k.html\")'>", [("X", "/k.html", "=JS_MISC")]),
    ("<a href='JavaScript:void(0)'>", []),
    ("<svg><a xlink:href=x></a></svg>", [("L", "/dir/x", "a/@href")]),
    ("<link rel=stylesheet href=s.css>", [("E", "/dir/s.css", "link[rel='stylesheet']/@href")]),
    ("<link rel=preload href=f>", [("E", "/dir/f", "link[rel='preload']/@href")]),
    ("<link rel=manifest href=f>", [("E", "/dir/f", "link[rel='manifest']/@href")]),
    ("<link rel=canonical href=f>", [("L", "/dir/f", "link/@href")]),
    ("<link href=f>", []),
    (
        "<link imagesrcset='a 1x, b 2x' rel=preload>",
        [
            ("E", "/dir/a", "link/@imagesrcset"),
            ("E", "/dir/b", "link/@imagesrcset"),
        ],
    ),
    (
        "<img src=a srcset='b 1x,c' lowsrc=d longdesc=e usemap='#m'>",
        [
            ("E", "/dir/a", "img/@src"),
            ("E", "/dir/b", "img/@srcset"),
            ("E", "/dir/c", "img/@srcset"),
            ("E", "/dir/d", "img/@lowsrc"),
            ("E", "/dir/e", "img/@longdesc"),
            ("E", "/dir/page.html", "img/@usemap"),
        ],
    ),
    (
        "<video src=a poster=b><source src=c><track src=d></video>",
        [
            ("E", "/dir/a", "video/@src"),
            ("E", "/dir/b", "video/@poster"),
            ("E", "/dir/c", "source/@src"),
            ("E", "/dir/d", "track/@src"),
        ],
    ),
    (
        "<svg><image xlink:href=a /><use href='#b'/><use href='c#d'/></svg>",
        [
            ("E", "/dir/a", "image/@xlink:href"),
            ("E", "/dir/c", "use/@href"),
        ],
    ),
    (
        "<blockquote cite=a></blockquote><q cite=b></q>",
        [
            ("L", "/dir/a", "blockquote/@cite"),
            ("L", "/dir/b", "q/@cite"),
        ],
    ),
    ("<html manifest=m>", [("E", "/dir/m", "html/@manifest")]),
    ("<head profile=p>", [("E", "/dir/p", "head/@profile")]),
    ("<body background=b>", [("E", "/dir/b", "body/@background")]),
    ("<form action=a>", [("L", "/dir/a", "form/@action")]),
    ("<form action=a method=POST>", []),
    ("<button formaction=a formmethod=get>", [("L", "/dir/a", "button/@formaction")]),
    ("<button formaction=a>", []),
    (
        "<form><button formaction=a><input type=image formaction=b></form>",
        [("L", "/dir/a", "button/@formaction"), ("L", "/dir/b", "input/@formaction")],
    ),
    ("<form method=post><button formaction=a></form>", []),
    ("<form><button formaction=a formmethod=POST></form>", []),
    (
        "<form method=post><button formaction=a formmethod=''></form>",
        [("L", "/dir/a", "button/@formaction")],
    ),
    ("<form id=x></form><form method=post><button form=y formaction=a></form>", []),
    (
        "<form id=x></form><form method=post><button form=x formaction=a></form>",
        [("L", "/dir/a", "button/@formaction")],
    ),
    ("<option value='/x/y.html'>", [("L", "/x/y.html", "option/@value")]),
    ("<option value='yes/no maybe'>", []),
    ("<input type=image src=a value='text'>", [("E", "/dir/a", "input/@src")]),
    (
        "<object data=o codebase=/cb/ archive='a b' usemap='#m'></object>",
        [
            ("L", "/cb/", "object/@codebase"),
            ("E", "/cb/o", "object"),
            ("E", "/cb/a", "object"),
            ("E", "/cb/b", "object"),
            ("E", "/dir/page.html", "object/@usemap"),
        ],
    ),
    ("<object classid='clsid:D27CDB6E'></object>", []),
    (
        "<applet code=A codebase=j/ archive='a.jar,b.jar'></applet>",
        [
            ("L", "/dir/j/", "applet/@codebase"),
            ("E", "/dir/j/a.jar", "applet"),
            ("E", "/dir/j/b.jar", "applet"),
            ("E", "/dir/j/A.class", "applet"),
        ],
    ),
    ("<applet code=A.class>", [("E", "/dir/A.class", "applet")]),
    ("<param name=movie value=/m.swf>", [("L", "/m.swf", "param/@value")]),
    ("<param name=FlashVars value='file=/v.flv&x=1'>", [("X", "/v.flv", "param/@value")]),
    (
        "<embed src=a flashvars='u=%2Fb.xml'>",
        [
            ("E", "/dir/a", "embed/@src"),
            ("X", "/b.xml", "embed/@flashvars"),
        ],
    ),
    ("<meta http-equiv=Refresh content='0;URL=q.html'>", [("R", "/dir/q.html", "meta")]),
    (
        "<meta property=og:image content=/i.png>",
        [("E", "/i.png", "meta[name='og:image']/@content")],
    ),
    ("<meta property=og:image:type content=image/png>", []),
    ("<meta property=og:url content=/u.html>", [("X", "/u.html", "meta")]),
    ("<meta name=description content=/u.html>", []),
    ("<meta itemprop=image content=/i.png>", [("E", "/i.png", "meta/@content")]),
    ("<meta itemprop=url content=/u.html>", [("X", "/u.html", "meta")]),
    ("<frame longdesc=l.html>", [("E", "/dir/l.html", "frame/@longdesc")]),
    (
        "<style>@import 'a.css'; b{c:url(d.png)}</style>",
        [
            ("E", "/dir/a.css", "=EMBED_MISC"),
            ("E", "/dir/d.png", "=EMBED_MISC"),
        ],
    ),
    ("<textarea><a href=x></textarea><title><a href=y></title>", []),
    ("<a href=a.html href=b.html>", [("L", "/dir/a.html", "a/@href")]),
    ("<a href='a&amp;b&copy=c'>", [("L", "/dir/a&b&copy=c", "a/@href")]),
]


@pytest.mark.parametrize(("page", "expected"), ELEMENTS, ids=[page for page, _ in ELEMENTS])
def test_elements(page: str, expected: list[tuple[str, str, str]]):
    assert found(page) == expected


@pytest.mark.parametrize(("page", "expected"), ELEMENTS, ids=[page for page, _ in ELEMENTS])
def test_elements_in_a_page_too_large_for_a_tree(page: str, expected: list[tuple[str, str, str]]):
    """The two readings of a page agree, but for the order of nested ones."""
    assert found(page + "<p>" * 101_000) == expected


def test_frames_are_links_when_asked_for():
    page = "<iframe src=a></iframe>"
    assert found(page) == [("E", "/dir/a", "iframe/@src")]
    assert found(page, treat_frames_as_embeds=False) == [("L", "/dir/a", "iframe/@src")]


def test_post_forms_when_asked_for_and_none_when_not():
    page = "<form action=a method=post></form><form action=b></form>"
    assert len(found(page, only_form_gets=False)) == 2
    assert found(page, ignore_form_action_urls=True) == []


def test_nofollow_is_obeyed_when_asked_for():
    page = "<a href=a rel='noopener NoFollow'></a><a href=a#x></a><a href=b rel=nofollow></a>"
    assert [link.rel for link in outlinks(page)] == ["noopener nofollow", "nofollow"]
    assert found(page, obey_rel_nofollow=True) == [("L", "/dir/a", "a/@href")]


def test_text_of_a_link():
    page = (
        "<a href=a> two \n <b>words</b></a>"
        "<a href=b><img alt='a picture' src=i></a>"
        f"<a href=c>{'x' * 999}</a>"
    )
    texts = [link.text for link in outlinks(page, anchor_text=True) if link.hop == Hop.LINK]
    assert texts == ["two words", "a picture", "x" * 200]
    assert {link.text for link in outlinks(page)} == {""}


def test_path_of_an_element_when_asked_for():
    assert outlinks("<ul><li><a href=x>")[0].path == ""
    assert outlinks("<ul><li><a href=x>", element_path=True)[0].path == "html/body/ul/li/a"


def test_meta_robots_are_recorded_and_obeyed_when_asked_for():
    page = (
        "<meta name=ROBOTS content='NoIndex, NOFOLLOW'>"
        "<meta http-equiv=refresh content='0;r'><a href=x>"
    )
    result = extracted(page)
    assert result.robots == {"noindex", "nofollow"}
    assert [link.hop for link in result.outlinks] == [Hop.REDIRECT, Hop.LINK]
    assert found(page, obey_meta_robots=True) == [("R", "/dir/r", "meta")]


def test_value_and_meta_content_can_be_left_out():
    page = "<option value=/x/y.html><meta name=u content=/x/z.html>"
    assert found(page, value_attributes=False, meta_content=False) == []


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<script src=a.js></script>", [("E", "/dir/a.js", "script/@src")]),
        ("<svg><script xlink:href=a.js /></svg>", [("E", "/dir/a.js", "script/@xlink:href")]),
        ("<script>x='/k.html'</script>", [("X", "/k.html", "=JS_MISC")]),
        ("<script type=module>x='/k.html'</script>", [("X", "/k.html", "=JS_MISC")]),
        ("<script type='TEXT/JavaScript; x'>x='/k.html'</script>", [("X", "/k.html", "=JS_MISC")]),
        ("<script type=text/x-other>x='/k.html'</script>", []),
        ("<script>var x = '<a href=no>'</script>", []),
        ("<script type=text/template><a href=t></script>", [("L", "/dir/t", "a/@href")]),
        (
            '<script type=application/ld+json>{"@id": ["/i/a.png"], "n": 1}</script>',
            [("X", "/i/a.png", "=JSON_MISC")],
        ),
        (
            '<script type=importmap>{"imports": {"a": "./a.js", "b": "bare"}}</script>',
            [("E", "/dir/a.js", "script[type='importmap']")],
        ),
        (
            '<script type=speculationrules>{"prefetch": [{"urls": ["/n.html"]}]}</script>',
            [("X", "/n.html", "=JSON_MISC")],
        ),
    ],
)
def test_script_elements(page: str, expected: list[tuple[str, str, str]]):
    assert found(page) == expected


def test_strings_of_json_in_order():
    assert list(json_strings('{"a": ["x", {"b": "y"}], "c": "z", "d": 1}')) == ["x", "y", "z"]


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "nonsense", "\ud800"])
def test_what_is_no_json_holds_none(text: str):
    assert list(json_strings(text)) == []
