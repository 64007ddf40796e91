from html import escape
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.crawluri import Hop
from nacre.extract.dispatch import extract
from nacre.extract.document import Document
from nacre.extract.feed import (
    DEEPEST,
    BaseStack,
    FeedLink,
    FeedText,
    base_of,
    feed_links,
    feed_parts,
    is_feed,
    resolve_based,
    resolve_bases,
)
from nacre.extract.settings import ExtractSettings
from nacre.extract.xml_scan import XmlStart

_RSS = """<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel>
<title>t</title><link>http://a.test/</link><pubDate>never</pubDate>
<atom:link href="http://a.test/feed?page=2" rel="next"/><atom:link href="/hub" rel="hub"/>
<image><url>/logo.png</url><link>http://a.test/</link></image>
<item><title>x</title><link> http://a.test/1 </link><guid isPermaLink="false">http://a.test/no</guid>
 <pubDate>Thu, 05 Jan 2017 13:34:51 +0100</pubDate>
 <enclosure url="/1.mp3?a=1&amp;b=2" type="audio/mpeg"/><media:thumbnail url="/1.jpg"/>
 <comments>/1#c</comments></item>
<item><guid>http://a.test/2</guid><dc:date>2024-01-02</dc:date></item>
<item><link>http://a.test/3
</channel>"""


def test_rss():
    assert list(feed_links(_RSS)) == [
        FeedLink("http://a.test/", Hop.LINK, "link"),
        FeedLink("http://a.test/feed?page=2", Hop.LINK, "link/@href", "next"),
        FeedLink("/logo.png", Hop.EMBED, "url"),
        FeedLink("http://a.test/", Hop.LINK, "link"),
        FeedLink(
            "http://a.test/1",
            Hop.LINK,
            "item/link",
            updated="Thu, 05 Jan 2017 13:34:51 +0100",
            is_item=True,
        ),
        FeedLink("/1.mp3?a=1&b=2", Hop.EMBED, "item/enclosure/@url"),
        FeedLink("/1.jpg", Hop.EMBED, "item/thumbnail/@url"),
        FeedLink("/1#c", Hop.LINK, "item/comments"),
        FeedLink("http://a.test/2", Hop.LINK, "item/guid", updated="2024-01-02", is_item=True),
    ]


_BASED = """<feed xml:base="/blog/"><link href="a"/><link href="/b"/>
<entry xml:base="2024/"><link href="c"/><content src="http://b.test/d"/></entry>
<entry><link href="e"/><enclosure url="//["/></entry></feed>"""


def test_what_xml_base_says_holds_for_what_is_in_it():
    found = [(link.href, link.bases) for link in feed_links(_BASED)]
    assert found[2] == ("c", ("/blog/", "2024/"))
    assert [resolve_based(link, "http://a.test/x/feed") for link in feed_links(_BASED)] == [
        "http://a.test/blog/a",
        "http://a.test/b",
        "http://a.test/blog/2024/c",
        "http://b.test/d",
        "http://a.test/blog/e",
        "",
    ]
    assert resolve_based(FeedLink("c", Hop.LINK, "link"), "http://a.test/x/feed") == "c"


def test_bases_without_end_are_bounded():
    source = "<rss>" + "<channel xml:base='a/'><link>b</link></channel>" * 20_000
    assert max(len(link.bases) for link in feed_links(source)) <= 2


_ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><updated>2001-01-01</updated>
<link href="/"/><link rel="self" href="/feed"/><logo>/l.png</logo>
<entry><published>2003-01-01</published><updated>2003-12-13T18:30:02Z</updated>
<link href="/1"/><link rel="ALTERNATE" href="/1.pdf"/><link rel="edit" href="/1/edit"/>
<link rel="enclosure" href="/1.mp4"/><content src="/1.txt"/></entry></feed>"""


def test_atom():
    found = [(link.href, link.hop, link.updated, link.is_item) for link in feed_links(_ATOM)]
    date = "2003-12-13T18:30:02Z"
    assert found == [
        ("/", Hop.LINK, "", False),
        ("/feed", Hop.LINK, "", False),
        ("/l.png", Hop.EMBED, "", False),
        ("/1", Hop.LINK, date, True),
        ("/1.pdf", Hop.LINK, date, True),
        ("/1.mp4", Hop.EMBED, "", False),
        ("/1.txt", Hop.EMBED, "", False),
    ]


def test_guid_beside_a_link_is_no_second_item():
    source = "<rss><item><link>/1</link><guid>http://a.test/?p=1</guid></item></rss>"
    assert [(link.href, link.is_item) for link in feed_links(source)] == [
        ("/1", True),
        ("http://a.test/?p=1", False),
    ]


def test_is_feed():
    assert is_feed("<?xml version='1.0'?><!-- <html> --><rdf:RDF xmlns='x'/>")
    assert not is_feed("<urlset><feed/></urlset>")
    assert not is_feed("<rs")


_PIECES = ["<item>", "</item>", "<link>", "</link>", "/a", "<link href='/b'/>", "<guid>", "</guid>"]
_PIECES += [
    "<entry>",
    "</entry>",
    "<pubDate>",
    "</pubDate>",
    "<enclosure url='/c'/>",
    "<enclosure/>",
]


@given(st.lists(st.sampled_from(_PIECES), max_size=40).map("".join))
def test_no_nonsense_raises(source):
    assert all(link.href for link in feed_links(source))


def test_a_large_open_item_is_read_in_linear_time():
    assert sum(1 for _ in feed_links("<item>" + "<link href='/b'/>" * 20_000)) == 20_000


def test_a_base_is_that_of_any_prefix():
    assert base_of(XmlStart("a", " xml:base='x/'", "")) == "x/"
    assert base_of(XmlStart("a", " href='base'", "")) == ""


def test_bases_that_are_no_urls_change_nothing():
    bases = ("//[", "", "javascript:x", "c/")
    assert resolve_bases(bases, "http://a.test/blog/feed") == "http://a.test/blog/c/"


def test_bases_end_with_their_elements():
    stack, seen = BaseStack(), []
    for name, base in (("div", "a/"), ("div", ""), ("p", "b/")):
        stack.start(name, base)
    for name in ("other", "p", "div", "div"):
        seen.append((stack.bases, stack.ends(name)))
        stack.end(name)
    both, outer = ("a/", "b/"), ("a/",)
    assert seen == [(both, False), (both, True), (outer, False), (outer, True)]
    assert stack.bases == ()


def test_elements_that_lie_too_deep_change_nothing():
    stack = BaseStack()
    for _ in range(DEEPEST + 5):
        stack.start("p", "a/")
    assert len(stack.bases) == DEEPEST
    for _ in range(DEEPEST + 5):
        stack.end("p")
    assert stack.bases == ()
    stack.start("p", "a/")
    stack.cut(0)
    assert not stack.ends("p")


ROOTED = "xml:base='/r/'"
FEED = "http://a.test/blog/feed"
HTML = (
    '<p><a href="/a">x</a><img src="/i.png" srcset="/i2.png 2x, /i3.png 3x"><video poster="/v.png" '
    'src="/v.mp4"></video><picture><source srcset="/s.webp"></picture><iframe src="/f"></iframe>'
    '<p style="background:url(/b.png)">'
)
TAKEN = {
    ("/a", "L"), ("/i.png", "E"), ("/i2.png", "E"), ("/i3.png", "E"), ("/v.png", "E"),
    ("/v.mp4", "E"), ("/s.webp", "E"), ("/f", "E"), ("/b.png", "E"),
}  # fmt: skip
XHTML = HTML.replace('3x">', '3x"/>').replace('webp">', 'webp"/>').replace(')">', ')"/></p>')


def links(
    source: str, mime: str = "application/rss+xml", *, html: bool = True
) -> set[tuple[str, str]]:
    document = Document(FEED, mime=mime, body=source.encode(), path="L")
    found = extract(document, ExtractSettings(infer_favicon=False, extract_html=html)).outlinks
    return {(link.url.removeprefix("http://a.test"), link.hop.value) for link in found}


def rss(item: str, channel: str = "", attributes: str = "") -> str:
    inner = f"<channel>{channel}<item>{item}</item></channel>"
    return f"<?xml version='1.0'?><rss {attributes}>{inner}</rss>"


def atom(entry: str, attributes: str = "") -> str:
    return f"<feed xmlns='http://www.w3.org/2005/Atom' {attributes}><entry>{entry}</entry></feed>"


@pytest.mark.parametrize(
    "source",
    [
        rss(f"<description>{escape(HTML)}</description>"),
        rss(f"<description>{escape(escape(HTML))}</description>"),
        rss(f"<description><![CDATA[{HTML}]]></description>"),
        rss(f"<description>x <![CDATA[{HTML}]]> y</description>"),
        rss(f"<content:encoded><![CDATA[{HTML}]]></content:encoded>"),
        rss(f"<description>{XHTML}</description>"),
        rss(f"<body xmlns='http://www.w3.org/1999/xhtml'>{XHTML}</body>"),
        rss("", channel=f"<description>{escape(HTML)}</description>"),
        rss(f"<media:content><media:description>{escape(HTML)}</media:description></media:content>"),
        rss(f"<atom:content type='html'>{escape(HTML)}</atom:content>"),
        f"<rdf:RDF><item><description>{escape(HTML)}</description></item></rdf:RDF>",
        atom(f"<content type='html'>{escape(HTML)}</content>"),
        atom(f"<content type='html'><![CDATA[{HTML}]]></content>"),
        atom(f"<summary type='html'>{escape(HTML)}</summary>"),
        atom(f"<content>{escape(HTML)}</content>"),
        atom(f"<content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>{XHTML}</div></content>"),
        atom("<content type='xhtml'><h:div>"
             + XHTML.replace("</", "</h:").replace("<", "<h:").replace("<h:/h:", "</h:")
             + "</h:div></content>"),
        f"<feed><subtitle type='html'>{escape(HTML)}</subtitle></feed>",
    ],
)  # fmt: skip
def test_all_links_of_the_html_are_taken(source: str):
    assert links(source, "application/xml") - TAKEN <= {("http://www.w3.org/1999/xhtml", "X")}
    assert links(source, "application/xml") >= TAKEN


def test_plain_text_is_no_html():
    source = atom(f"<content type='text'>{escape(HTML)}</content>")
    assert links(source) == set()
    assert links(rss(f"<description>{escape(HTML)}</description>"), html=False) == set()


def test_what_follows_the_html_is_read():
    source = rss(
        "<description><p>unclosed<link>no</link><content:encoded/></description><link>/1</link>"
        "<title>x</title></item><item><description><p><link>/2</link></item><item><link>/3</link>"
    )
    assert {url for url, _ in links(source)} >= {"/1", "/3"}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (atom("<content type='html'>&lt;a href=x></content>"), "/blog/x"),
        (atom("<link href='/p/1'/><content type='html'>&lt;a href=x></content>"), "/blog/x"),
        (atom("<content type='html'>&lt;a href=x></content>", "xml:base='/r/'"), "/r/x"),
        (atom("<content xml:base='s/' type='html'>&lt;a href=x></content>", ROOTED), "/r/s/x"),
        (atom("<content type='xhtml'><div xml:base='/d/'><a href='x'/></div></content>"), "/d/x"),
        (rss("<description>&lt;a href=x></description>", attributes="xml:base='/r/'"), "/r/x"),
        (rss("<link>/p/1</link><description>&lt;a href=x></description>", attributes=ROOTED),
         "/r/x"),
    ],
)  # fmt: skip
def test_the_base_of_references(source: str, expected: str):
    assert {url for url, _ in links(source)} - {"/p/1", "/r/p/1"} == {expected}


def test_without_a_base_references_of_rss_resolve_against_the_item_and_the_feed():
    text = "<description>&lt;a href=x>&lt;img src=/y></description>"
    assert links(rss(text)) == {("/blog/x", "L"), ("/y", "E")}
    for item in (text + "<link>http://b.test/p/1</link>", "<link>http://b.test/p/1</link>" + text):
        assert links(rss(item, "<link>http://a.test/home/</link>")) == {
            ("/home/", "L"), ("http://b.test/p/1", "L"), ("http://b.test/p/x", "L"),
            ("http://b.test/y", "E"), ("/blog/x", "L"), ("/y", "E"),
        }  # fmt: skip
    of_channel = rss(text, "<link>http://a.test/home/</link>")
    assert {url for url, _ in links(of_channel)} == {"/home/", "/home/x", "/blog/x", "/y"}


def test_a_base_of_a_link_holds_for_it():
    source = atom("<link xml:base='/z/' href='1'/><link href='2'/>")
    assert links(source) == {("/z/1", "L"), ("/blog/2", "L")}


def test_a_base_within_the_html_ends_with_it():
    text = "<content type='html'>&lt;base href=/b/>&lt;a href=x></content>"
    assert links(atom(text + "<link href='y'/>") + "<!-- -->") >= {("/b/x", "L"), ("/blog/y", "L")}


XHTML = "<content type='xhtml'>{}</content><link href='after'/>"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (
            "<div><a href='1'/><p xml:base='p/'><a href='2'/></p><a href='3'/></div>",
            {"1", "p/2", "3"},
        ),
        (
            "<div xml:base='d/'><p xml:base='p/'><img src='1'/></p><img src='2'/></div>",
            {"d/p/1", "d/2"},
        ),
        ("<div><a xml:base='a/' href='1'/><a href='2'/></div>", {"a/1", "2"}),
        (
            "<p><p xml:base='d/'><p><a href='1'/></p><a href='2'/></p><a href='3'/></p>",
            {"d/1", "d/2", "3"},
        ),
        ("<h:div><h:p xml:base='/r/'><h:a href='书'/></h:p></h:div>", {"/r/%E4%B9%A6"}),
        ("<div><p xml:base='p/'><a href='1'/></div>", {"p/1"}),
        ("<div><content/><a href='1'/></div>", {"1"}),
    ],
)
def test_a_base_of_any_element_holds_for_what_is_in_it(markup: str, expected: set[str]):
    found = {url.removeprefix("/blog/") for url, _ in links(atom(XHTML.format(markup)))}
    assert found == expected | {"after"}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (rss("<image xml:base='/i/'><url>1.png</url></image><link>2</link>"), {"/i/1.png", "2"}),
        (rss("<enclosure xml:base='/e/' url='1.mp3'/><link>2</link>"), {"/e/1.mp3", "2"}),
        (rss("<link xml:base='/l/'>1</link><comments>2</comments>"), {"/l/1", "2"}),
        (atom("<source xml:base='/s/'><link href='1'/></source><link href='2'/>"), {"/s/1", "2"}),
    ],
)
def test_a_base_of_elements_around_links_holds_for_them(source: str, expected: set[str]):
    assert {url.removeprefix("/blog/") for url, _ in links(source)} == expected


def test_bases_within_each_other_are_bounded():
    deep = "<p xml:base='a/'><a href='x'/>" * 50_000
    source = atom(f"<content type='xhtml'><div>{deep}</div></content><link href='after'/>")
    began = process_time()
    parts = list(feed_parts(source))
    texts = [part for part in parts if isinstance(part, FeedText)]
    assert max(len(text.bases) for text in texts) == 16
    assert len(texts) == 10_000
    assert ("/blog/after", "L") in links(source)
    assert process_time() - began < 20


def test_bases_that_are_none_change_nothing():
    assert links(atom("<content xml:base='//[' type='html'>&lt;a href=x></content>")) == {
        ("/blog/x", "L")
    }


def test_a_sitemap_that_is_a_feed_has_these_links_too():
    source = rss(f"<link>http://a.test/1</link><description>{escape(HTML)}</description>")
    document = Document(FEED, body=source.encode(), is_sitemap=True, path="M")
    found = extract(document, ExtractSettings(infer_favicon=False)).outlinks
    assert {(link.url.removeprefix("http://a.test"), link.hop.value) for link in found} == {
        ("/1", "M"), *TAKEN,
    }  # fmt: skip


def test_texts_without_end_are_bounded():
    source = rss("".join(f"<description>&lt;a href=/{n}></description>" for n in range(30_000)))
    began = process_time()
    assert sum(isinstance(part, FeedText) for part in feed_parts(source)) == 10_000
    assert len(links(source)) == 6000
    assert process_time() - began < 20


PIECES = [
    *("<rss>", "<item>", "</item>", "<content>", "</content>", "<content/>", "<description>"),
    *("&lt;a href=x>", "</description>", "<div xml:base='b'>", "</div>", "<link>l</link>"),
    *("<title>", "</title>", "<a:b", "]]>", "<![CDATA[<a href=y>", "<feed>", "<entry>", "</entry>"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=20))
def test_nonsense_between_elements_makes_no_other_link(pieces: list[str]):
    found = links("<rss>" + "".join(pieces)) | links("<feed>" + "".join(pieces))
    assert found <= {(f"/blog/{name}", "L") for name in "lxy"}


def test_bases_within_each_other_are_resolved_one_after_the_other():
    div = "<div xml:base='two/'><a href='x'>x</a></div>"
    source = atom(f"<content type='xhtml' xml:base='one/'>{div}</content>", ROOTED)
    assert ("/r/one/two/x", "L") in links(source)
