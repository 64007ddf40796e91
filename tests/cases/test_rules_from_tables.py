"""What the tables of conformance found, and that their readers and predicates mean what they say.

The rows here are our own; those of the tables stay in their folder.
"""

import base64
from pathlib import Path

import pytest

from nacre.extract.css import css_urls
from nacre.extract.dispatch import extract
from nacre.extract.document import Document
from nacre.extract.settings import ExtractSettings
from nacre.planner.schedules.nutch import NutchDatum, NutchSchedule, PageState
from tests.cases import spellings
from tests.cases.differences import DIFFERENCES
from tests.cases.table import Differs, Row, json_lines
from tests.cases.tables import (
    cdx_golden,
    decide_rules,
    extract_html,
    http_replies,
    nutch_regex_filter,
    nutch_schedule,
    sitemap,
)

SITE = "http://a.test"


def speculated(document: str) -> list[str]:
    """What is found in XML, all of it speculative."""
    page = Document(f"{SITE}/x/data.xml", mime="text/xml", body=document.encode())
    found = extract(page, ExtractSettings(infer_favicon=False)).outlinks
    assert {(link.hop.value, link.context) for link in found} <= {("X", "=SPECULATIVE_MISC")}
    return [link.url.removeprefix(SITE) for link in found]


@pytest.mark.parametrize(
    ("document", "urls"),
    [
        ("<r><l>/news/1.html</l></r>", ["/news/1.html"]),
        ("<r><l>\n //cdn.test/a.js </l></r>", ["http://cdn.test/a.js"]),
        ("<r><l><![CDATA[/list.php?a=1&b=2]]></l></r>", ["/list.php?a=1&b=2"]),
        ("<r><l>/list.php?a=1&amp;b=2</l></r>", ["/list.php?a=1&b=2"]),
        ("<r><l>/通知/1.html</l></r>", ["/%E9%80%9A%E7%9F%A5/1.html"]),
        ("<item><enclosure url='/a/1.mp3' length='1'/></item>", ["/a/1.mp3"]),
        ("<item><enclosure URL='1.mp3'/></item>", ["/x/1.mp3"]),
        ("<item><enclosure url='//m.test/1.mp3'/></item>", ["http://m.test/1.mp3"]),
        ("<r><m:content url='/v.mp4'/><thumbnail url='/t.jpg'/></r>", ["/v.mp4", "/t.jpg"]),
        ("<r><l>/</l><l>// a comment</l><l>/* that */</l><l>news/1.html</l></r>", []),
        ("<r><l>see /news/1.html there</l><l>/news /1.html</l><l>/^a+$/</l></r>", []),
        ("<r icon='/i/a.png' at='//cdn.test/b'/>", ["/i/a.png", "http://cdn.test/b"]),
        ("<r path='/usr/bin' of='a/b.png'/>", []),
        ("<r url='text/html' width='/'/>", []),
        ("<xsl:template match='/html/body'/>", []),
    ],
)
def test_xml_names_places_from_the_root_on(document: str, urls: list[str]):
    assert speculated(document) == urls


@pytest.mark.parametrize(
    ("text", "url"),
    [
        (r"a{b:u\72l(x.png)}", "x.png"),
        (r"a{b:\75 rl('x.png')}", "x.png"),
        (r"a{b:\000055R\4c( x.png )}", "x.png"),
        (r"a{b:ur\l(x.png)}", "x.png"),
        (r"@\69mport 'x.css';", "x.css"),
        (r"@imp\6fr\74'x.css';", "x.css"),
        (r"a{b:image\2dset('x.png' 1x)}", "x.png"),
        (r"a{b:s\72 c('x.png')}", "x.png"),
        (r"a{b:url(im\67 /\56fe.png)}", "img/图.png"),
        (r"a{b:url(a\ b\(1\).png)}", "a b(1).png"),
        (r"a{b:url('\2f\2f cdn.test/x.png')}", "//cdn.test/x.png"),
        ("a{b:url('x\\\n.png')}", "x.png"),
    ],
)
def test_escapes_in_style_sheets_are_letters(text: str, url: str):
    assert css_urls(text) == [url]


def test_escapes_make_no_name_of_what_is_none():
    assert css_urls(r"a{content:'\75rl(x)'} .u\rl{} .\75rl-x(y){} a{b:\75rx(y)}") == []


FETCHED = 1_700_000_000_000


@pytest.mark.parametrize("state", list(PageState))
def test_a_fixed_interval_stays_whatever_the_page_does(state: PageState):
    fixed = NutchDatum(100.0, FETCHED, modified=5, retries=2, fixed=7200.0)
    after = NutchSchedule().fetched(fixed, FETCHED, state)
    assert after == NutchDatum(7200.0, FETCHED + 7_200_000, modified=5, retries=0, fixed=7200.0)
    far_apart = NutchSchedule(fixed_interval=5.0).fetched(NutchDatum(9.0, 0, 1), FETCHED, state)
    assert (far_apart.interval, far_apart.fetch_time) == (5.0, FETCHED + 5_000)


def test_the_default_schedule_has_no_fixed_interval_and_gone_pages_keep_theirs():
    fixed = NutchDatum(100.0, FETCHED, fixed=7200.0)
    after = NutchSchedule(kind="default").fetched(fixed, FETCHED, PageState.UNKNOWN)
    assert (after.interval, after.fixed) == (100.0, 7200.0)
    gone = NutchSchedule().gone(fixed, FETCHED)
    assert (gone.interval, gone.fixed) == (150.0, 7200.0)
    assert NutchSchedule().fetched(gone, FETCHED, PageState.MODIFIED).interval == 7200.0


@pytest.mark.parametrize("place", ["metadata", "md", "conf", ""])
def test_the_table_of_schedules_reads_a_fixed_interval(place: str):
    said = {"fixedInterval": 60.0}
    row: Row = {
        "schedule": "adaptive", "event": "fetched", "conf": {}, "interval": 9, "modified": 7,
        "fetched_at": FETCHED, "state": "modified",
        "expected": {
            "interval": 60, "next_fetch": FETCHED + 60_000, "modified": 7, "retries": 0,
        },
    }  # fmt: skip
    assert nutch_schedule.TABLE.check(row | ({place: said} if place else said)) is None


@pytest.mark.parametrize(
    ("text", "older"),
    [
        ("?foo==bar", True),
        ("page?foo==bar", True),
        ("/page?a=1&b==2", True),
        ("/page?=b", True),
        ("/page?a", True),
        ("/a!b/c", True),
        ("http://localhost/a", True),
        ("word", True),
        ("/page?foo=bar&a=", False),
        ("a/b.html", False),
        ("http://a.test/b?c=d", False),
    ],
)
def test_what_only_the_older_rule_for_strings_takes(text: str, older: bool):
    row: Row = {"input": text, "expected": True}
    assert spellings.is_of_the_older_rule(row, answer=False) is older
    assert not spellings.is_of_the_older_rule(row, answer=True)


def test_readers_of_tables_skip_empty_lines(tmp_path: Path):
    (tmp_path / "rows.jsonl").write_text('\n{"id": 1}\n\n  \n{"id": 2}\n\n')
    assert [row["id"] for row in json_lines("rows.jsonl")(tmp_path)] == [1, 2]
    golden = tmp_path / "cdx_golden"
    golden.mkdir()
    (golden / "a.cdxj").write_text('\ntest,a)/ 20260101000000 {"filename": "a"}\n\n')
    (golden / "b.cdx").write_text(" CDX N b a m s k r M S V g\n\ntest,a)/ 20260101000000 "
                                  "http://a.test/ text/html 200 X - - 1 0 a\n\n")  # fmt: skip
    assert [row["key"] for row in cdx_golden.load(tmp_path)] == ["test,a)/", "test,a)/"]
    filters = tmp_path / "nutch_regex_filter"
    filters.mkdir()
    (filters / "a.rules").write_text("+.\n")
    (filters / "a.urls").write_text("\n+http://a.test/\n\n")
    assert len(list(nutch_regex_filter.TABLE.load(tmp_path))) == 1


def test_decide_rules_know_seeds_and_the_address_of_the_server():
    seed: Row = {"rule": "SeedAcceptDecideRule", "config": {}, "expected": "ACCEPT"}
    assert decide_rules.check(seed | {"uri": {"url": SITE, "seed": True}}) is None
    assert decide_rules.check(seed | {"uri": {"url": SITE, "seed": False}}) == "NONE"
    address: Row = {
        "rule": "IpAddressSetDecideRule", "config": {"ipAddresses": ["192.0.2.0/24"]},
        "expected": "ACCEPT",
    }  # fmt: skip
    assert decide_rules.check(address | {"uri": {"url": SITE, "server_ip": "192.0.2.7"}}) is None
    assert (
        decide_rules.check(address | {"uri": {"url": SITE, "server_ip": "198.51.100.7"}}) == "NONE"
    )


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.0 200 OK\r\nX: y\r\n\r\n"])
@pytest.mark.parametrize(("size", "cut"), [(99, None), (100, None), (101, "length")])
def test_a_server_closes_behind_a_reply_that_only_its_end_ends(head: bytes, size: int, cut: str):
    reply = head + b"x" * size
    expected = {"limit": 100, "stored_length": min(size, 100), "truncated_reason": cut}
    row = {"reply_base64": base64.b64encode(reply).decode(), "expected": expected}
    assert http_replies.ends_with_connection(row)
    assert http_replies.check(row) is None


@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
    ],
)
def test_a_reply_that_tells_its_end_does_not_need_that(reply: bytes):
    row = {"reply_base64": base64.b64encode(reply).decode()}
    assert not http_replies.ends_with_connection(row)


FORM = "<form action='/s?x=1'><input name='q' value='v'></form><a href='/there'>a</a>"


def _built(url: str, **more: object) -> Row:
    return {
        "extractor": "html-forms", "match": "contains", "base": f"{SITE}/", "document": FORM,
        "content_type": "text/html", "origin": "upstream-test", "expected": [{"url": url}],
    } | more  # fmt: skip


def test_form_submissions_are_urls_made_of_controls():
    assert extract_html.builds_its_links(_built(f"{SITE}/s?x=1&q=v"))
    assert not extract_html.builds_its_links(_built(f"{SITE}/s?x=1"))
    assert not extract_html.builds_its_links(_built(f"{SITE}/lost.html"))
    assert not extract_html.builds_its_links(_built(f"{SITE}/s?x=1&q=v", extractor="html"))
    template = {"extractor": "multiple-regex", "config": {"template": "/t?${a[1]}"}}
    assert extract_html.builds_its_links(_built(f"{SITE}/t?7", **template))
    in_it = {"document": f"<p>{SITE}/t?7</p>"}
    assert not extract_html.builds_its_links(_built(f"{SITE}/t?7", **template, **in_it))


def test_a_strict_location_only_leaves_out_what_lies_outside():
    decided = next(d for d in DIFFERENCES if d.name == "strict location")
    listed = "".join(f"<url><loc>{SITE}{path}</loc></url>" for path in ("/in/a", "/out", "/in/b"))
    row: Row = {
        "url": f"{SITE}/in/sitemap.xml", "content_type": "text/xml", "is_index": False,
        "document": f"<urlset>{listed}</urlset>", "parser_config": "strict=true",
        "expected": [{"url": f"{SITE}/in/{name}", "lastmod": None} for name in "ab"],
    }  # fmt: skip
    differs = sitemap.TABLE.check(row)
    assert isinstance(differs, Differs)
    answer = differs.answer
    assert decided.applies(row, answer)
    assert not decided.applies(row, answer[:-1])
    assert not decided.applies(row | {"expected": row["expected"][:1]}, answer)
    assert not decided.applies(row | {"parser_config": "strict=false"}, answer)
    everything = [{"url": f"{SITE}{path}", "lastmod": None} for path in ("/in/a", "/out", "/in/b")]
    assert not decided.applies(row | {"expected": everything}, answer)
