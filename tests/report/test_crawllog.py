import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.crawluri import extend_path
from nacre.core.processor import Visit
from nacre.report.crawllog import CrawlLog, LogTimes
from tests.report.visits import BEGAN, NOW, make_capture, make_visit

LINE = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (?P<status>[ \d-]{5}) (?P<size>[ \d-]{10}) "
    r"(?P<url>\S+) (?P<path>\S+) (?P<via>\S+) (?P<mime>\S+) (?P<toe>#\d{3,}) "
    r"(?P<start>-|\d{17}\+\d+) (?P<digest>\S+) (?P<source>\S+) (?P<annotations>\S+)\n",
    re.ASCII,
)


def fields(visit: Visit) -> dict[str, str]:
    line = CrawlLog().line(visit, NOW).decode()
    found = LINE.fullmatch(line)
    assert found, line
    return found.groupdict()


def test_a_whole_line():
    visit = make_visit(
        "http://example.test/a",
        capture=make_capture(b"x" * 1299),
        uri={"via": "http://example.test/", "path": "LE", "attempts": 1, "source": "example.test"},
        mime="text/html",
        toe=7,
        annotations=["duplicate:digest", "dol:3"],
    )
    assert CrawlLog().line(visit, NOW) == (
        b"2026-11-20T10:00:01.500Z   200       1299 http://example.test/a LE http://example.test/ "
        b"text/html #007 20261120100000123+12 sha1:AAAA example.test 2t,duplicate:digest,dol:3\n"
    )


def test_a_line_of_what_was_never_fetched():
    visit = make_visit("http://example.test/", -9998)
    assert CrawlLog().line(visit, NOW) == (
        b"2026-11-20T10:00:01.500Z -9998          - http://example.test/ - - unknown #000 - - - -\n"
    )


@pytest.mark.parametrize(
    ("facts", "field", "text"),
    [
        ({"status": 200}, "status", "  200"),
        ({"status": 1}, "status", "    1"),
        ({"status": -2}, "status", "   -2"),
        ({"status": -5000}, "status", "-5000"),
        ({"capture": make_capture(b"")}, "size", "         0"),
        ({"capture": make_capture(b""), "status": 304}, "size", "         0"),
        ({"capture": make_capture(b""), "status": -3}, "size", "         -"),
        (
            {"capture": make_capture(b""), "status": 1, "url": "dns:a.test"},
            "size",
            "         -",
        ),
        ({"capture": None, "status": -2}, "size", "         -"),
        ({"capture": make_capture(b"12345")}, "size", "         5"),
        # What was received, the framing of chunks included.
        (
            {"capture": make_capture(b"2\r\nab\r\n0\r\n\r\n", framing="chunked", payload_length=2)},
            "size",
            "        12",
        ),
        ({"uri": {"path": ""}}, "path", "-"),
        ({"uri": {"path": extend_path("L" * 50, "E")}}, "path", "1+" + "L" * 49 + "E"),
        ({"uri": {"via": ""}}, "via", "-"),
        ({"mime": ""}, "mime", "unknown"),
        ({"mime": "Text/HTML"}, "mime", "Text/HTML"),
        ({"mime": "text/ html"}, "mime", "text/%20html"),
        ({"toe": 1234}, "toe", "#1234"),
        ({"capture": make_capture(began=BEGAN + 877_000)}, "start", "20261120100001000+12"),
        ({"capture": make_capture(payload_digest="")}, "digest", "-"),
        ({"uri": {"source": "http://a.test/ my seed"}}, "source", "http://a.test/%20my%20seed"),
        ({"uri": {"source": "b\xfccher"}}, "source", "b\xfccher"),
        ({"uri": {"attempts": 0}}, "annotations", "-"),
        ({"uri": {"attempts": 1}}, "annotations", "2t"),
        ({"uri": {"attempts": 2}, "annotations": ["b", "a"]}, "annotations", "3t,b,a"),
        ({"annotations": ["a,b c", ""]}, "annotations", "a%2Cb%20c"),
    ],
)
def test_a_field(facts: dict[str, Any], field: str, text: str):
    assert fields(make_visit(**facts))[field] == text


hostile = st.text(max_size=20) | st.sampled_from(
    ["\r\n", "\u2028", "\x85", " ", "\ud800", "\0", "-"]
)


@given(
    source=hostile,
    mime=hostile,
    annotations=st.lists(hostile, max_size=3),
    digest=hostile,
    path=hostile,
    via=hostile,
)
def test_no_field_can_break_the_line(source, mime, annotations, digest, path, via):
    visit = make_visit(
        capture=make_capture(payload_digest=digest),
        uri={"source": source, "via": via, "path": path},
        mime=mime,
        annotations=annotations,
    )
    line = CrawlLog().line(visit, NOW).decode()
    assert line.splitlines() == [line[:-1]]
    assert len(line.split()) == 12
    assert LINE.fullmatch(line)


@given(st.dictionaries(hostile, hostile | st.integers(), max_size=3))
def test_extra_info_is_one_json_object_at_the_end(extra):
    visit = make_visit(warc_file="a.warc.gz", warc_offset=77, extra=extra)
    line = CrawlLog(extra_info=True).line(visit, NOW).decode()
    assert line.splitlines() == [line[:-1]]
    known = {"contentSize": 24, "warcFilename": "a.warc.gz", "warcFileOffset": 77}
    assert json.loads(line.split(None, 12)[12]) == known | extra


def test_extra_info_of_what_was_never_fetched():
    assert CrawlLog(extra_info=True).line(make_visit(status=-1), NOW).endswith(b" - {}\n")


def test_times_across_seconds_and_days():
    times = LogTimes()
    assert times.dashed(1_795_219_199.9999) == "2026-11-20T23:59:59.999Z"
    assert times.dashed(1_795_219_200.0) == "2026-11-21T00:00:00.000Z"
    assert times.dashed(1_795_219_199.0) == "2026-11-20T23:59:59.000Z"
    assert times.seconds(1_795_219_200.7) == "2026-11-21T00:00:00Z"
    assert times.digits(1_795_219_200_000_999) == "20261121000000000"
