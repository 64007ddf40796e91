"""Answers of CDX servers: matching, order, formats, resumption, XML, TimeMaps."""

import json
import xml.etree.ElementTree as ET

import pytest

from nacre.archive.delta import MEDIA
from nacre.replay import cdx_answers
from nacre.replay.cdx_answers import answer_cdx, answer_timemap
from nacre.replay.cdx_queries import CdxQueryError
from nacre.replay.memento import MementoPlaces, TimeMapPath
from tests.replay.test_matching import ListIndex, line

SITE = "http://h.test/"


class PagedIndex(ListIndex):
    """It gives pages."""

    def prefix(self, key_prefix, after="", limit=1000):
        captures = super().prefix(key_prefix, limit=10**6)
        positions = [capture.position for capture in captures]
        if after:
            start = (
                positions.index(after) + 1
                if after in positions
                else len([c for c in captures if c.position < after])
            )
            captures = captures[start:]
        return captures[:limit]


INDEX = PagedIndex(
    line("20140126200624", SITE)._replace(digest="sha1:A", length=10, offset=0),
    line("20140127171238", SITE, 302, "unk")._replace(digest="sha1:B", length=11, offset=10),
    line("20140127171239", SITE, 0, "warc/revisit")._replace(digest="sha1:A", length=12, offset=21),
    line("20140126200825", SITE + "a", mime="text/html"),
    line("20140126200825", SITE + "a/b", 404, "image/png"),
    line("20140126200825", "http://sub.h.test/x", mime="text/css"),
    line("20140126200825", "http://h.test.example/"),
    line("20140127000000", "http://delta.test/", mime=MEDIA),
    line("20140126000000", "http://delta.test/"),
)


def ask(dialect="pywb", **parameters) -> str:
    values = {
        name.rstrip("_"): value if isinstance(value, list) else [value]
        for name, value in parameters.items()
    }
    return "".join(answer_cdx(INDEX, values, dialect=dialect).lines)


def stamps(**parameters) -> list[str]:
    return ask(fl="timestamp", output="text", **parameters).split()


def urls(**parameters) -> list[str]:
    return ask(fl="url", output="text", **parameters).split()


def test_an_exact_url():
    assert stamps(url="www.h.test") == ["20140126200624", "20140127171238", "20140127171239"]


def test_cdxj_is_the_default():
    assert ask(url="h.test", limit="1") == (
        'test,h)/ 20140126200624 {"url": "http://h.test/", "mime": "text/html", "status": "200", '
        '"digest": "sha1:A", "length": "10", "offset": "0", "filename": "w.warc"}\n'
    )
    assert ask(url="h.test", limit="1", fl="status,nosuchfield") == (
        'test,h)/ 20140126200624 {"status": "200"}\n'
    )


def test_json_is_a_line_each():
    lines = [json.loads(each) for each in ask(url="h.test", output="json").splitlines()]
    assert [each["timestamp"] for each in lines] == stamps(url="h.test")
    assert json.loads(ask(url="h.test", output="json", fields="mime,urlkey", limit="1")) == {
        "mime": "text/html", "urlkey": "test,h)/",
    }  # fmt: skip


def test_text_has_eleven_fields():
    text = ask(url="h.test", output="text", sort="reverse", limit="1")
    assert text == (
        "test,h)/ 20140127171239 http://h.test/ warc/revisit - sha1:A - - 12 21 w.warc\n"
    )


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"url": "h.test/a*"}, ["http://h.test/a", "http://h.test/a/b"]),
        ({"url": "h.test/a/", "matchType": "prefix"}, ["http://h.test/a/b"]),
        ({"url": "h.test/zzz", "matchType": "host", "from": "2014012620082", "to": "201401262009"},
         ["http://h.test/a", "http://h.test/a/b"]),
        ({"url": "*.h.test", "filter": "=mime:text/css"}, ["http://sub.h.test/x"]),
        ({"url": "*.h.test", "filter": ["!mime:html", "=status:404"]}, ["http://h.test/a/b"]),
        ({"url": "nothing.test"}, []),
        ({"url": "delta.test"}, ["http://delta.test/"]),
        ({"url": "delta.test", "differences": "1"}, ["http://delta.test/"] * 2),
    ],
)  # fmt: skip
def test_matching(parameters, expected):
    assert urls(**parameters) == expected


def test_a_domain_has_its_subdomains_and_no_other_hosts():
    assert len(urls(url="*.h.test")) == 6
    assert len(urls(url="h.test", matchType="host")) == 5


class TestOrder:
    def test_reverse(self):
        assert stamps(url="h.test", sort="reverse", limit="2") == [
            "20140127171239", "20140127171238",
        ]  # fmt: skip
        assert stamps(url="h.test", reverse="1", limit="1") == ["20140127171239"]

    def test_closest(self):
        order = stamps(url="h.test", closest="20140127171237", limit="2")
        assert order == ["20140127171238", "20140127171239"]

    def test_closest_comes_before_reverse(self):
        assert stamps(url="h.test", closest="2014", sort="reverse", limit="1") == ["20140127171239"]

    def test_of_two_as_near_the_earlier(self):
        index = PagedIndex(line("20140126200654"), line("20140126200706"))
        parameters = {"url": ["h.test"], "closest": ["20140126200700"], "limit": ["1"]}
        assert "20140126200654" in "".join(answer_cdx(index, parameters).lines)

    def test_an_empty_closest_is_none(self):
        assert stamps(url="h.test", closest="", sort="closest") == stamps(url="h.test")


class TestCollapse:
    def test_by_time_and_status(self):
        assert stamps(url="h.test", collapseTime="8") == stamps(url="h.test")
        assert stamps(url="h.test", collapseTime="8", resolveRevisits="1") == stamps(url="h.test")
        assert stamps(url="h.test", collapseTime="8", filter="!status:302") == [
            "20140126200624", "20140127171239",
        ]  # fmt: skip

    def test_by_a_field(self):
        both = {"url": "*.h.test", "dialect": "outbackcdx", "fl": "timestamp"}
        assert ask(**both, collapse="urlkey").split() == [
            "20140126200624", "20140126200825", "20140126200825", "20140126200825",
        ]  # fmt: skip
        assert ask(**both, collapseToLast="urlkey").split()[0] == "20140127171239"
        assert ask(**both, collapse="timestamp:6").split() == ["20140126200624"]


def test_revisits_are_resolved():
    lines = [
        json.loads(each)
        for each in ask(url="h.test", output="json", resolveRevisits="true").splitlines()
    ]
    assert [each["orig.offset"] for each in lines] == ["-", "-", "0"]
    assert lines[2]["mime"] == "text/html"
    assert (lines[2]["status"], lines[2]["orig.filename"]) == ("200", "w.warc")


class TestResumption:
    @pytest.mark.parametrize("url", ["*.h.test", "h.test"])
    def test_pages_have_each_capture_once(self, url):
        whole, parts, key = urls(url=url), [], ""
        while True:
            text = ask(
                url=url, fl="url", output="text", limit="2", showResumeKey="1", resumeKey=key
            )
            page, blank, key = text.partition("\n\n")
            parts += page.split()
            key = key.strip()
            if not blank:
                break
        assert parts == whole

    def test_a_query_that_finds_nothing_stops(self, monkeypatch):
        monkeypatch.setattr(cdx_answers, "SCANNED", 3)
        with pytest.raises(CdxQueryError):
            ask(url="*.h.test", filter="=status:999")
        text = ask(url="*.h.test", filter="=status:999", showResumeKey="1")
        assert text.strip().startswith("test,h)/ 20140127171239 ")


class PiecewiseIndex(PagedIndex):
    """It never gives all captures of a URL at once."""

    def exact(self, key, method=None):
        raise AssertionError(key)

    def prefix(self, key_prefix, after="", limit=1000):
        assert limit <= 2
        return super().prefix(key_prefix, after, limit)


class TestManyCapturesOfAUrl:
    INDEX = PiecewiseIndex(*(line(f"2014010100000{second}", SITE) for second in range(7)))
    URLQUERY = (("q", ("type:urlquery url:http%3A%2F%2Fh.test%2F date:20140101000005 limit:2",)),)

    @pytest.fixture(autouse=True)
    def small_pages(self, monkeypatch):
        monkeypatch.setattr(cdx_answers, "_PAGE_OF_URL", 2)

    def lines(self, **parameters) -> list[str]:
        values = {"url": ["h.test"]} | {name: [value] for name, value in parameters.items()}
        return "".join(answer_cdx(self.INDEX, values).lines).splitlines()

    def test_all_are_answered(self):
        assert [row.split()[1][-1] for row in self.lines()] == list("0123456")
        key = self.lines(limit="3", showResumeKey="1")[-1]
        assert len(self.lines(resumeKey=key)) == 4

    def test_a_query_stops(self, monkeypatch):
        monkeypatch.setattr(cdx_answers, "SCANNED", 3)
        with pytest.raises(CdxQueryError):
            self.lines()
        rows = self.lines(showResumeKey="1")
        assert len(rows) == 5
        assert rows[-1].startswith("test,h)/ 20140101000002 ")

    @pytest.mark.parametrize(("form", "count"), [("link", 6), ("cdxj", 3), ("json", 3)])
    def test_a_timemap_ends(self, monkeypatch, form, count):
        monkeypatch.setattr(cdx_answers, "SCANNED", 3)
        path = TimeMapPath(form, 1, SITE)
        answer = answer_timemap(self.INDEX, path, MementoPlaces("http://a.test/"))
        assert answer is not None
        assert "".join(answer.lines).count("\n") == count

    def test_the_nearest_is_marked_wherever_it_is(self):
        text = "".join(answer_cdx(self.INDEX, dict(self.URLQUERY)).lines)
        assert ("<numresults>7<" in text, text.count("<result>")) == (True, 2)
        far = {"q": (self.URLQUERY[0][1][0] + " offset:4",)}
        assert "closest" in "".join(answer_cdx(self.INDEX, far).lines)
        assert "closest" not in text


class TestOutback:
    def test_text_and_arrays(self):
        text = ask("outbackcdx", url="h.test", limit="1")
        assert text == (
            "test,h)/ 20140126200624 http://h.test/ text/html 200 sha1:A - - 10 0 w.warc\n"
        )
        rows = json.loads(ask("outbackcdx", url="h.test", output="json", sort="reverse"))
        assert rows[0][:3] == ["urlkey", "timestamp", "url"]
        assert [row[1] for row in rows[1:]] == [20140127171239, 20140127171238, 20140126200624]

    def test_a_range(self):
        text = ask("outbackcdx", url="h.test/a", matchType="range", limit="2", fl="url")
        assert text.split() == ["http://h.test/a", "http://h.test/a/b"]

    def test_a_key(self):
        assert ask("outbackcdx", urlkey="test,h)/a", fl="url") == "http://h.test/a\n"

    def test_xml(self):
        text = ask(q="type:urlquery url:http%3A%2F%2Fh.test%2F date:20140127000000 limit:2")
        root = ET.fromstring(text)
        assert [each.text for each in root.iter("capturedate")] == [
            "20140126200624", "20140127171238",
        ]  # fmt: skip
        assert root.findtext("request/numresults") == "3"
        assert root.findtext("request/numreturned") == "2"
        assert [each.findtext("closest") for each in root.iter("result")] == ["true", None]

    def test_xml_of_a_prefix(self):
        root = ET.fromstring(ask(q="type:prefixquery url:http%3A%2F%2Fh.test%2F"))
        first = next(root.iter("result"))
        assert [child.text for child in first] == [
            "test,h)/", "http://h.test/", "3", "3", "20140126200624", "20140127171239",
        ]  # fmt: skip
        assert root.findtext("request/resultstype") == "resultstypeurl"

    @pytest.mark.parametrize("q", ["url:none.test", "type:captures url:h.test"])
    def test_xml_of_nothing(self, q):
        assert ET.fromstring(ask(q=q)).findtext("error/title")

    def test_hostile_text_stays_text(self):
        index = PagedIndex(line("2014", "http://h.test/", mime="<x>&\0"))
        parameters = {"q": ["url:h.test"]}
        text = "".join(answer_cdx(index, parameters, now="20261120100000").lines)
        root = ET.fromstring(text)
        assert next(root.iter("mimetype")).text == "<x>&\\x00"


class TestTimeMaps:
    PLACES = MementoPlaces("http://r.test/demo/")

    def timemap(self, form: str, url: str = SITE) -> tuple[str, str]:
        answer = answer_timemap(INDEX, TimeMapPath(form, 1, url), self.PLACES)
        return ("", "") if answer is None else (answer.media, "".join(answer.lines))

    def test_link(self):
        media, text = self.timemap("link")
        assert media == "application/link-format"
        assert text.count('memento"') == 3
        assert text.startswith('<http://h.test/>; rel="original",\n')

    def test_rows(self):
        assert self.timemap("cdxj")[1] == ask(url="h.test")
        assert self.timemap("json")[1] == ask(url="h.test", output="json")
        assert self.timemap("cdxj", "http://delta.test/")[1].count("\n") == 2

    def test_nothing(self):
        assert self.timemap("link", "http://none.test/") == ("", "")

    def test_output_link_of_the_cdx_server(self):
        values = {"url": ["h.test"], "output": ["link"], "from": ["20140127"]}
        answer = answer_cdx(INDEX, values, places=self.PLACES)
        assert "".join(answer.lines).count('memento"') == 2
        many = answer_cdx(INDEX, values | {"url": ["*.h.test"]}, places=self.PLACES)
        assert "".join(many.lines).startswith("<http://r.test/demo/20140127171238/http://h.test/>;")
        alone = answer_cdx(INDEX, values | {"url": ["none.test"]}, places=self.PLACES)
        assert "".join(alone.lines) == ""
