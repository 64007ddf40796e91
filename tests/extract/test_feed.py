from hypothesis import given
from hypothesis import strategies as st

from nacre.core.crawluri import Hop
from nacre.extract.feed import FeedLink, feed_links, is_feed, resolve_based

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
