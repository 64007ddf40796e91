import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.crawluri import Hop
from nacre.extract.document import Document
from nacre.extract.links import LinkCollector
from nacre.extract.settings import ExtractSettings
from nacre.extract.sitemap import (
    entries,
    extract_sitemap,
    no_sitemap,
    robots_sitemaps,
    sitemap_entries,
    unpack,
)

URL = "http://a.test/maps/sitemap.xml"


def _collect(body, extract=extract_sitemap, **settings):
    document = Document(URL, body=body if isinstance(body, bytes) else body.encode())
    links = LinkCollector(document, ExtractSettings(**settings))
    extract(document, links)
    return links


def _pages(body, **settings):
    return [(o.url, o.lastmod) for o in _collect(body, **settings).outlinks]


def test_url_set():
    body = """<urlset><url><loc> http://a.test/1?a=1&amp;b=2 </loc><lastmod>2024-01-02</lastmod>
    </url><url><lastmod>yesterday\n or so</lastmod><loc>/2</loc></url><url/><url><loc/></url>
    <url><loc>relative</loc></url><url><loc>www.b.test.com/3</loc></url></urlset>"""
    links = _collect(body)
    assert [(o.url, o.lastmod) for o in links.outlinks] == [
        ("http://a.test/1?a=1&b=2", "2024-01-02"),
        ("http://a.test/2", "yesterday or so"),
        ("http://www.b.test.com/3", ""),
    ]
    assert {(o.hop, o.context, o.sitemap) for o in links.outlinks} == {
        (Hop.MANIFEST, "=MANIFEST_MISC", False)
    }


def test_index_names_sitemaps_and_not_itself():
    body = f"""<s:sitemapindex><s:sitemap><s:loc>{URL}</s:loc></s:sitemap><s:sitemap><s:loc>
    <![CDATA[ http://a.test/2.xml ]]>\u200b</s:loc></s:sitemap></s:sitemapindex>"""
    assert [(o.url, o.sitemap) for o in _collect(body).outlinks] == [("http://a.test/2.xml", True)]


def test_images_videos_and_languages():
    body = """<urlset><url><loc>/p</loc><xhtml:link rel="alternate" hreflang="de" href="/de"/>
    <xhtml:link rel="icon" href="/i.ico"/><image:image><image:loc>/p.jpg</image:loc>
    <image:license>/licence</image:license></image:image><video:video>
    <video:thumbnail_loc>/t.jpg</video:thumbnail_loc><video:player_loc>/v</video:player_loc>
    </video:video></url></urlset>"""
    assert [(o.url[13:], o.hop.value, o.context) for o in _collect(body).outlinks] == [
        ("/p", "M", "=MANIFEST_MISC"),
        ("/de", "M", "link/@href"),
        ("/p.jpg", "E", "image/loc"),
        ("/t.jpg", "E", "video/thumbnail_loc"),
        ("/v", "E", "video/player_loc"),
    ]


def test_odd_nesting_is_tolerated():
    body = "<urlset><url><loc><url>http://a.test/1</url></loc></url><url><loc>http://a.test/2</loc>"
    assert [entry.loc for entry in entries(body)] == ["http://a.test/1", "http://a.test/2"]


@pytest.mark.parametrize(
    "url",
    [
        "<loc>http://a.test/1</loc><loc>http://a.test/2</loc>",
        "http://a.test/1</url><url>http://a.test/2",
        "<loc><a href='http://b.test/'>http://a.test/1</a></loc></url><url><loc>http://a.test/2",
    ],
)
def test_pages_without_an_entry_of_their_own(url):
    found = entries(f"<urlset><url>{url}</url></urlset>")
    assert [entry.loc for entry in found] == ["http://a.test/1", "http://a.test/2"]


def test_text_and_feeds():
    assert _pages("\ufeffhttp://a.test/1\r\n\n https://b.test/2 \nnot a url\nftp://c.test/\n") == [
        ("http://a.test/1", ""),
        ("https://b.test/2", ""),
    ]
    links = _collect(
        "<rss><channel><link>/home</link><item><link>/1</link><pubDate>2024</pubDate></item>"
    )
    assert [(o.url, o.hop.value, o.lastmod) for o in links.outlinks] == [
        ("http://a.test/home", "L", ""),
        ("http://a.test/1", "M", "2024"),
    ]


def test_other_documents_give_nothing():
    assert _pages("this is not a sitemap") == []
    assert _pages("<html><body><a href='/x'>x</a></body></html>") == []
    assert _pages(b"") == []


def test_entities_are_not_expanded():
    body = """<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY y "http://b.test/">]>
    <urlset><url><loc>&x;</loc></url><url><loc>&y;</loc></url><url><loc>/1</loc></url></urlset>"""
    assert _pages(body) == [("http://a.test/1", "")]


def test_gzip_is_unpacked_at_most_three_times():
    body = b"<urlset><url><loc>http://a.test/1</loc></url></urlset>"
    assert _pages(gzip.compress(gzip.compress(body))) == [("http://a.test/1", "")]
    assert _pages(gzip.compress(body)[:-20]) != [("http://a.test/", "")]
    packed = body
    for _ in range(5):
        packed = gzip.compress(packed)
    assert unpack(packed).startswith(b"\x1f\x8b")


def test_a_bomb_is_cut(monkeypatch):
    monkeypatch.setattr("nacre.extract.sitemap.MAX_UNPACKED", 10_000)
    assert len(unpack(gzip.compress(b"\0" * 5_000_000))) == 10_000
    assert len(unpack(b"x" * 20_000)) == 10_000


def test_links_beyond_the_cap_are_counted():
    body = "<urlset>" + "".join(f"<url><loc>/{i}</loc></url>" for i in range(10)) + "</urlset>"
    links = _collect(body, max_sitemap_links=4, max_outlinks=2)
    assert (len(links.outlinks), links.dropped) == (4, 6)


def test_robots():
    body = (
        "\ufeffSitemap: http://a.test/1.xml\rUser-agent: *\nSITEMAP :  /2.xml # comment\r\n"
        "  site-map:https://b.test/3.xml\nDisallow: /sitemap: x\nSitemap:\nSitemap: # none\n"
    )
    links = _collect(body, robots_sitemaps)
    assert [o.url for o in links.outlinks] == [
        "http://a.test/1.xml",
        "http://a.test/2.xml",
        "https://b.test/3.xml",
    ]
    assert all(o.sitemap and o.hop == Hop.MANIFEST for o in links.outlinks)


_PIECES = ["<urlset>", "<url>", "</url>", "<loc>", "</loc>", "/a", "<image:image>", "<sitemap>"]
_PIECES += ["</sitemap>", "<lastmod>", "<xhtml:link rel='alternate' href='/b'/>", "</image:image>"]


@given(st.lists(st.sampled_from(_PIECES), max_size=40).map("".join))
def test_no_nonsense_raises(source):
    assert all(entry.loc or entry.extras for entry in entries(source))
    _pages(source)


@given(st.binary(max_size=200))
def test_no_bytes_raise(body):
    _pages(body)
    _pages(b"\x1f\x8b" + body)
    links = _collect(body, robots_sitemaps)
    assert all(link.url.startswith(("http://", "https://")) for link in links.outlinks)


@pytest.mark.parametrize("piece", ["sitemap:", "sitemap: ", "\r", "sitemap: /a\n"])
def test_large_hostile_robots_are_read_in_linear_time(piece):
    links = _collect("Sitemap: /first\n" + piece * (400_000 // len(piece)), robots_sitemaps)
    assert links.outlinks[0].url == "http://a.test/first"


def test_the_date_of_a_news_sitemap_stands_in_for_lastmod() -> None:
    news = "<news:news><news:publication_date>2026-01-05</news:publication_date></news:news>"
    dated = f"<url><loc>http://a.test/1</loc><lastmod>2026-01-07</lastmod>{news}</url>"
    plain = f"<url><loc>http://a.test/2</loc>{news}</url><url><loc>http://a.test/3</loc></url>"
    found = entries(f"<urlset>{dated}{plain}</urlset>")
    assert [one.lastmod for one in found] == ["2026-01-07", "2026-01-05", ""]


def test_entries_with_what_they_say_of_themselves():
    text = (
        "<urlset><url><loc>/新闻/一</loc><priority>0.8</priority><changefreq>daily</changefreq>"
        "<lastmod>2024-05-01</lastmod><image><loc>/i.png</loc></image></url>"
        "<url><loc>http://a.test/map.xml</loc></url><url><loc>b</loc></url></urlset>"
    )
    document = Document("http://a.test/map.xml", mime="text/xml", body=text.encode("gbk"),
                        charset_header="gbk")  # fmt: skip
    [entry] = sitemap_entries(document, LinkCollector(document, ExtractSettings()))
    assert entry.loc == "http://a.test/%E6%96%B0%E9%97%BB/%E4%B8%80"
    assert (entry.priority, entry.changefreq, entry.lastmod) == ("0.8", "daily", "2024-05-01")
    assert entry.extras == ()


@pytest.mark.parametrize(
    ("body", "urls"),
    [
        (b"http://a.test/1\nftp://a.test/2\n", ["http://a.test/1"]),
        (
            b"<rss><channel><item><link>http://a.test/3</link></item></channel></rss>",
            ["http://a.test/3"],
        ),
        (b"no sitemap", []),
    ],
)
def test_entries_of_lists_and_feeds(body, urls):
    document = Document("http://a.test/map", body=body)
    links = LinkCollector(document, ExtractSettings(max_sitemap_links=5))
    assert [entry.loc for entry in sitemap_entries(document, links)] == urls


@pytest.mark.parametrize(
    ("body", "instead"),
    [
        (b"<urlset/>", ""),
        (b"<?xml version='1.0'?><s:sitemapindex xmlns:s='x'></s:sitemapindex>", ""),
        (b"<rss><channel/></rss>", ""),
        (b"<!DOCTYPE html><HTML><p>http://a.test/", "an HTML page"),
        (b"<error/>", "XML of another kind (<error>)"),
        ("没有".encode(), "text without URLs"),
        (b" \n", "empty"),
        (b"\x1f\x8b\x08damaged", "without text that can be read"),
    ],
)
def test_what_has_no_entries_is_an_empty_sitemap_or_none(body, instead):
    document = Document("http://a.test/map", body=body)
    assert sitemap_entries(document, LinkCollector(document, ExtractSettings())) == []
    assert no_sitemap(document) == instead
