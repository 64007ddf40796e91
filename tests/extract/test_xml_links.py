from nacre.core.crawluri import Hop
from nacre.extract.document import Document
from nacre.extract.links import LinkCollector
from nacre.extract.settings import ExtractSettings
from nacre.extract.xml_links import extract_xml


def _links(source, url="http://a.test/d/x.xml"):
    links = LinkCollector(Document(url, body=source.encode()), ExtractSettings())
    extract_xml(links.document, links)
    return [(o.url, o.hop.value, o.context) for o in links.outlinks]


_X = ("X", "=SPECULATIVE_MISC")


def test_absolute_urls_anywhere_are_guesses():
    source = """<r xmlns="http://ns.test/" xmlns:a.b='http://ns.test/b' notxmlns="http://z.test/">
    <!-- http://no.test/ --><a b='http://b.test/?x=1&amp;y=2'>
    see http://c.test/x, <b>or</b> https://d.test/</a><c><![CDATA[<i src="http://e.test/f">]]></c></r>"""
    assert _links(source) == [
        (url, *_X)
        for url in (
            "http://z.test/",
            "http://b.test/?x=1&y=2",
            "http://c.test/x",
            "https://d.test/",
            "http://e.test/f",
        )
    ]


def test_svg_is_followed_as_a_browser_shows_it():
    source = """<?xml-stylesheet href="s.css"?><svg><image xlink:href="a.png"/><use href="#i"/>
    <a href="page">x</a><use href="http://b.test/i.svg#j"/><style>p{b:url(bg.png)}</style>
    <rect fill="url(#g)" style="b:url(c.png)"/><x href="what/ever.html"/>
    <x href="nothing"/></svg>"""
    assert _links(source) == [
        ("http://a.test/d/s.css", "E", "xml-stylesheet/@href"),
        ("http://a.test/d/a.png", "E", "image/@href"),
        ("http://a.test/d/page", "L", "a/@href"),
        ("http://b.test/i.svg", "E", "use/@href"),
        ("http://a.test/d/bg.png", "E", "=EMBED_MISC"),
        ("http://a.test/d/c.png", "E", "=EMBED_MISC"),
        ("http://a.test/d/what/ever.html", *_X),
    ]


def test_feed_links_have_their_meaning_and_are_no_guesses():
    source = """<rss><item><link>http://a.test/1</link><enclosure url='http://a.test/1.mp3'/>
    <description>&lt;a href="http://b.test/"&gt;</description></item></rss>"""
    assert _links(source) == [
        ("http://a.test/1", "L", "item/link"),
        ("http://a.test/1.mp3", "E", "item/enclosure/@url"),
        ("http://b.test/", "L", "a/@href"),
    ]


def test_text_of_a_feed_has_guesses_too():
    source = "<rss><item><description>see http://b.test/1 &lt;a href='http://b.test/2'&gt;"
    source += "</description><x>http://b.test/2 http://b.test/3</x></item></rss>"
    assert _links(source) == [
        ("http://b.test/2", "L", "a/@href"),
        ("http://b.test/1", *_X),
        ("http://b.test/3", *_X),
    ]


def test_feed_dates_are_kept():
    body = b"<rss><item><link>/1</link><pubDate>2024-01-02</pubDate></item></rss>"
    links = LinkCollector(Document("http://a.test/", body=body), ExtractSettings())
    extract_xml(links.document, links)
    assert [(o.url, o.lastmod) for o in links.outlinks] == [("http://a.test/1", "2024-01-02")]
    assert links.outlinks[0].hop is Hop.LINK


def test_external_entities_are_never_seen():
    source = '<!DOCTYPE r [<!ENTITY x SYSTEM "http://evil.test/">]><r href="&x;">&x;</r>'
    assert _links(source) == []


def test_deep_and_broken_documents_keep_their_links():
    source = "<a>" * 50_000 + "<l>http://a.test/deep</l><b>http://a.test/cut"
    assert _links(source) == [("http://a.test/deep", *_X)]
    assert _links("<r><a href='x>http://a.test/1</r><q>http://a.test/2</q>") == [
        ("http://a.test/2", *_X)
    ]
