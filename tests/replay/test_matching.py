"""Look-up: which capture answers a request."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.archive.index_facts import post_query
from nacre.catalogue.captures import IndexedCapture
from nacre.replay.matching import (
    NEAR,
    CaptureMatch,
    NotArchived,
    ReplayAnswer,
    ReplayRequest,
    find_capture,
    moved_page,
    replay_request,
)
from nacre.replay.memento import seconds_timestamp, timestamp_seconds
from nacre.replay.records import ReplayError
from nacre.uri.surt import index_key
from tests.replay.archives import PAGE, URL, Archive, record


class ListIndex:
    """An index of captures in memory."""

    def __init__(self, *captures: IndexedCapture) -> None:
        self._captures = sorted(captures, key=lambda capture: capture.order)

    def exact(self, key, method=None):
        return [c for c in self._captures if c.key == key and method in (None, c.method)]

    def closest(self, key, timestamp, limit=1):
        aim = timestamp_seconds(timestamp or "2999")
        captures = self.exact(key)
        distance = lambda c: abs(timestamp_seconds(c.timestamp) - aim)  # noqa: E731
        return sorted(captures, key=distance)[:limit]

    def prefix(self, key_prefix, after="", limit=1000):
        return [c for c in self._captures if f"{c.key} ".startswith(key_prefix)][:limit]


def line(timestamp, url=URL, status=200, mime="text/html", method="", query=""):
    request = ReplayRequest(url, method=method, query=query)
    return IndexedCapture(
        request.key, timestamp.ljust(14, "0"), url, mime, status, "", "w.warc", 0, 0, method, query
    )


def found(index, url=URL, timestamp="", **fields) -> list[str]:
    match = find_capture(index, ReplayRequest(url, timestamp, **fields))
    return [c.timestamp for c in match.captures] if isinstance(match, CaptureMatch) else []


DAY1, DAY2, DAY3 = "20261101000000", "20261102000000", "20261103000000"
THREE = ListIndex(line(DAY1), line(DAY2), line(DAY3))


@pytest.mark.parametrize(
    ("timestamp", "order"),
    [
        ("", [DAY3, DAY2, DAY1]),
        (DAY2, [DAY2, DAY1, DAY3]),
        ("20261101120000", [DAY1, DAY2, DAY3]),
        ("20261101120001", [DAY2, DAY1, DAY3]),
        ("2026", [DAY3, DAY2, DAY1]),
        ("20261101", [DAY2, DAY1, DAY3]),
        ("1990", [DAY1, DAY2, DAY3]),
        ("99999999999999", [DAY3, DAY2, DAY1]),
    ],
)
def test_the_nearest_in_time_is_first_and_of_two_as_near_the_earlier(timestamp, order):
    assert found(THREE, timestamp=timestamp) == order


@given(st.lists(st.integers(0, 4_000_000_000), min_size=1, max_size=20), st.integers(0, 4 * 10**9))
def test_no_capture_is_nearer_than_the_first(seconds, aim):
    index = ListIndex(*(line(seconds_timestamp(number)) for number in seconds))
    order = [timestamp_seconds(stamp) for stamp in found(index, timestamp=seconds_timestamp(aim))]
    assert [abs(number - aim) for number in order] == sorted(abs(n - aim) for n in seconds)


def test_http_https_and_www_are_one():
    index = ListIndex(line(DAY1, "http://www.h.test/a/"))
    for url in ("https://h.test/a", "http://h.test/a/", "https://www2.h.test/A"):
        assert found(index, url) == [DAY1]


def test_upper_and_lower_case_are_told_apart_if_both_were_captured():
    index = ListIndex(
        line(DAY1, "http://h.test/wiki/Foo?A=1"), line(DAY3, "http://h.test/wiki/foo?a=1")
    )
    assert found(index, "https://www.h.test/wiki/Foo/?A=1#x", DAY3) == [DAY1, DAY3]
    assert found(index, "http://h.test/wiki/foo?a=1", DAY1) == [DAY3, DAY1]
    assert found(index, "http://h.test/wiki/FOO?a=1", DAY1) == [DAY1, DAY3]


class TestErrors:
    def test_a_success_within_the_hour_is_preferred(self):
        later = seconds_timestamp(timestamp_seconds(DAY1) + NEAR - 1)
        index = ListIndex(line(DAY1, status=503), line(later))
        assert found(index, timestamp="20261031235959")[0] == later

    def test_a_success_of_another_time_is_not(self):
        index = ListIndex(line(DAY1, status=404), line(DAY2))
        assert found(index, timestamp="20261031235959")[0] == DAY1

    def test_an_error_of_exactly_that_time_is_shown(self):
        later = seconds_timestamp(timestamp_seconds(DAY1) + 9)
        index = ListIndex(line(DAY1, status=404), line(later))
        assert found(index, timestamp=DAY1)[0] == DAY1

    def test_the_reply_to_an_options_request_is_not_the_page(self):
        later = seconds_timestamp(timestamp_seconds(DAY1) + 1)
        index = ListIndex(line(DAY1, status=204), line(later))
        assert found(index, timestamp="20261031235959")[0] == later

    def test_a_304_without_its_original_is_last(self):
        index = ListIndex(line(DAY1), line(DAY3, status=304))
        assert found(index, timestamp=DAY3)[0] == DAY1

    def test_a_revisit_with_status_304_is_as_good_as_any(self):
        index = ListIndex(line(DAY1), line(DAY3, status=304, mime="warc/revisit"))
        assert found(index, timestamp=DAY3)[0] == DAY3


@pytest.mark.parametrize(
    ("captured", "requested", "rule"),
    [
        ("http://h.test/a", "http://h.test/a?_=12", "noise"),
        ("http://h.test/a?_=1", "http://h.test/a", "noise"),
        ("http://h.test/a?_=1&b=2", "http://h.test/a?b=2&_=3", "noise"),
        ("http://h.test/a?utm_x=1&b=2", "http://h.test/a?b=2&fbclid=3", "noise"),
        ("http://h.test/?cb=jQuery1_2&x=1", "http://h.test/?x=1&cb=jQuery3_4&_=5", "noise"),
        ("http://h.test/s.css?v=1", "http://h.test/s.css?v=2", "file"),
        ("http://h.test/s.css", "http://h.test/s.css?v=2", "file"),
        ("http://h.test/s.css?v=2", "http://h.test/s.css", "file"),
        ("http://h.test/a?b=2", "http://h.test/a?b=3", ""),
        ("http://h.test/a.php?b=2", "http://h.test/a.php", ""),
        ("http://h.test/a.html?b=2", "http://h.test/a.html", ""),
        ("http://h.test/b", "http://h.test/a?_=1", ""),
        ("http://h.test/a/b.css", "http://h.test/a", ""),
    ],
)
def test_urls_that_differ_in_noise_alone(captured, requested, rule):
    match = find_capture(ListIndex(line(DAY1, captured)), ReplayRequest(requested, DAY1))
    assert (match.rule if isinstance(match, CaptureMatch) else "") == rule


def test_an_exact_url_comes_before_a_nearer_one_with_noise():
    index = ListIndex(line(DAY1, "http://h.test/a?_=1"), line(DAY3, "http://h.test/a?_=2"))
    assert found(index, "http://h.test/a?_=1", DAY3) == [DAY1]


class TestForms:
    INDEX = ListIndex(
        line(DAY1, method="POST", query="a=1&b=2"),
        line(DAY2, method="POST", query="a=1&b=3"),
        line(DAY3, method="PUT", query="a=1&b=3"),
        line(DAY3),
    )

    def test_the_body_decides(self):
        assert found(self.INDEX, method="POST", query="a=1&b=2", timestamp=DAY3) == [DAY1]
        assert found(self.INDEX, method="PUT", query="a=1&b=3", timestamp=DAY1) == [DAY3]

    def test_the_query_of_a_request_as_it_came(self):
        request = (
            b"POST / HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\na=1&b=%32"
        )
        query = post_query(request)
        assert query is not None
        assert found(self.INDEX, method=query.method, query=query.query) == [DAY1]

    def test_another_body_with_the_same_fields(self):
        assert found(self.INDEX, method="POST", query="a=9&b=3", timestamp=DAY1) == [DAY2, DAY1]
        assert found(self.INDEX, method="POST", query="a=9") == []
        assert found(self.INDEX, method="POST", query="a=1&b=2&_=12") == [DAY1]

    @pytest.mark.parametrize("method", ["DELETE", "OPTIONS", "PATCH"])
    def test_a_page_is_no_answer_to_other_methods(self, method):
        assert found(ListIndex(line(DAY1)), method=method) == []
        assert found(ListIndex(line(DAY1, method=method)), method=method) == [DAY1]
        assert found(ListIndex(line(DAY1)), method="HEAD") == [DAY1]

    def test_a_page_is_no_answer_to_a_form(self):
        assert found(ListIndex(line(DAY1)), method="POST", query="a=1") == []
        assert found(ListIndex(line(DAY1, method="POST", query="a=1"))) == []


class TestNothing:
    INDEX = ListIndex(
        line(DAY1, "http://h.test/a/b/c"),
        line(DAY2, "http://h.test/a/b/c"),
        line(DAY1, "http://h.test/a/b/d"),
        line(DAY1, "http://h.test/z"),
        line(DAY1, "http://h.test.example/"),
    )

    @pytest.mark.parametrize(
        ("url", "near"),
        [
            ("http://h.test/a/b/x?y=1", ["http://h.test/a/b/c", "http://h.test/a/b/d"]),
            ("http://h.test/a/b", ["http://h.test/a/b/c", "http://h.test/a/b/d"]),
            ("http://h.test/a/x/y", ["http://h.test/a/b/c", "http://h.test/a/b/d"]),
            ("http://h.test/q", ["http://h.test/a/b/c", "http://h.test/a/b/d", "http://h.test/z"]),
            ("http://other.test/q", []),
            ("urn:x", []),
            ("", []),
            ("http://[::1", []),
        ],
    )
    def test_what_is_near(self, url, near):
        result = find_capture(self.INDEX, ReplayRequest(url, DAY2))
        assert isinstance(result, NotArchived)
        assert [capture.url for capture in result.nearest] == near
        assert all(c.timestamp == DAY2 for c in result.nearest if c.url.endswith("/c"))


def redirect(location: str) -> bytes:
    return f"HTTP/1.1 301 Moved\r\nLocation: {location}\r\n\r\n".encode()


@pytest.mark.parametrize(
    ("requested", "captured", "is_moved"),
    [
        ("http://h.test/a", "http://h.test/a/", True),
        ("http://h.test/a/", "http://h.test/a", True),
        ("http://h.test/a?x=1", "https://www.h.test/a/?x=1", True),
        ("http://h.test/%E4%B8%AD", "http://h.test/\u4e2d/", True),
        ("http://h.test/A", "http://h.test/a/", True),
        ("http://h.test/a", "http://h.test/a", False),
        ("http://h.test/a/", "https://h.test/a/#x", False),
        ("http://h.test", "http://h.test/", False),
        ("http://h.test/a?b", "http://h.test/a?b/", False),
        ("http://h.test/a?v=1", "http://h.test/a?v=2", False),
        ("http://h.test/a", "http://h.test/b/", False),
    ],
)
def test_a_capture_whose_path_differs_in_a_slash_has_a_page_elsewhere(
    requested, captured, is_moved
):
    assert moved_page(requested, captured) == (captured if is_moved else "")
    fragment = moved_page(requested, captured.partition("#")[0] + "#part")
    assert fragment == moved_page(requested, captured)


class TestReplay:
    @pytest.fixture
    def archive(self, tmp_path):
        return Archive(tmp_path / "job")

    def answer(self, archive: Archive, url=URL, timestamp="20261120100000") -> ReplayAnswer:
        holding, index = archive.open()
        answer = replay_request(holding, index, ReplayRequest(url, timestamp))
        assert isinstance(answer, ReplayAnswer)
        return answer

    @pytest.mark.parametrize(
        "location", ["https://h.test/", "http://www.h.test", "/", "//h.test/", "https://H.test:443"]
    )
    def test_a_redirect_to_itself_is_passed_over(self, archive, location):
        archive.add(record(redirect(location)), record(PAGE + b"page", date="2026-11-20T10:00:01Z"))
        answer = self.answer(archive)
        assert answer.exchange.body.read() == b"page"
        assert [error.code for _, error in answer.skipped] == ["self-redirect"]

    def test_other_redirects_are_answers(self, archive):
        archive.add(record(redirect("http://h.test/b")), record(redirect("http://[::1")))
        assert self.answer(archive).exchange.status == 301

    def test_what_cannot_be_read_is_passed_over(self, archive):
        archive.add(record(b"", "revisit", Payload_Digest="sha1:AAAA"))
        archive.add(record(PAGE + b"page", date="2026-11-21T10:00:00Z"))
        assert self.answer(archive).exchange.body.read() == b"page"

    @pytest.mark.parametrize(("byte", "body"), [(0, b"abc"), (4, b"def"), (9, b"abc")])
    def test_the_part_of_a_video_that_is_requested(self, archive, byte, body):
        part = b"HTTP/1.1 206 Part\r\nContent-Range: bytes %s/9\r\n\r\n"
        archive.add(
            record(part % b"0-2" + b"abc"),
            record(part % b"3-5" + b"def", date="2026-11-20T10:00:01Z"),
        )
        holding, index = archive.open()
        request = ReplayRequest(URL, "20261120100000", first_byte=byte)
        answer = replay_request(holding, index, request)
        assert isinstance(answer, ReplayAnswer)
        assert answer.exchange.body.readall() == body

    def test_nothing_can_be_read(self, archive):
        archive.add(record(redirect(URL)))
        with pytest.raises(ReplayError) as caught:
            self.answer(archive)
        assert caught.value.code == "self-redirect"

    def test_nothing_is_there(self, archive):
        archive.add(record(PAGE))
        holding, index = archive.open()
        result = replay_request(holding, index, ReplayRequest("http://h.test/x"))
        assert isinstance(result, NotArchived)
        assert [capture.url for capture in result.nearest] == [URL]


def test_keys_are_those_of_the_index():
    assert ReplayRequest("http://h.test/A b").key == index_key("http://h.test/A b")


def exchange_of(method: str, body: bytes, kind: str, reply: bytes, number: int) -> list[bytes]:
    """The records of a request and its reply, as a crawler with a browser writes them."""
    url, date = "http://h.test/api", f"2026-11-20T10:00:0{number}Z"
    head = f"{method} /api HTTP/1.1\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    record_id = f"<urn:uuid:{method}>"
    return [
        record(PAGE + reply, url=url, date=date, Record_ID=record_id),
        record(
            head.encode() + body, "request", url, date, "application/http; msgtype=request",
            Concurrent_To=record_id,
        ),
    ]  # fmt: skip


FORM = "application/x-www-form-urlencoded"
MULTIPART = b'--b\r\nContent-Disposition: form-data; name="movie"\r\n\r\n\xe4\xbd\xa0\r\n--b--\r\n'
BODIES = [
    ("POST", b"movie=A+Clockwork+Orange", FORM),
    ("PUT", b'{"movie": "A", "list": [1, true, null]}', "application/json"),
    ("POST", MULTIPART, "multipart/form-data; boundary=b"),
    ("POST", b"\0\1\2", "application/octet-stream"),
]


@pytest.mark.parametrize(("method", "body", "kind"), BODIES)
def test_methods_of_one_url(tmp_path, method, body, kind):
    """Replies to other methods are not the page, and are found by the body of the request."""
    archive = Archive(tmp_path / "job")
    archive.add(
        record(PAGE + b"got", url="http://h.test/api"),
        *exchange_of(method, body, kind, b"answer", 1),
    )
    holding, index = archive.open()
    head = f"{method} /api HTTP/1.1\r\nContent-Type: {kind}\r\n\r\n".encode()
    added = post_query(head + body)
    assert added is not None
    for request, expected in [
        (ReplayRequest("http://h.test/api", "2026", method, added.query), b"answer"),
        (ReplayRequest("http://h.test/api", "20261120100001"), b"got"),
        (ReplayRequest("http://h.test/api", "20261120100001", "HEAD"), b"got"),
    ]:
        answer = replay_request(holding, index, request)
        assert isinstance(answer, ReplayAnswer)
        assert (answer.match.rule, answer.exchange.body.readall()) == ("exact", expected)


def test_a_chain_between_http_and_https(tmp_path):
    """Each redirect to another URL is followed; those to the same key, for a cookie, are not."""
    archive = Archive(tmp_path / "job")
    steps = [
        "http://h.test/r/1",
        "https://h.test/r/1",
        "http://www.h.test/r/2",
        "https://h.test/end",
    ]
    for number, (url, target) in enumerate(itertools.pairwise(steps)):
        archive.add(record(redirect(target), url=url, date=f"2026-11-20T10:00:0{number}Z"))
    archive.add(
        record(redirect(steps[-1]), url=steps[-1], date="2026-11-20T10:00:05Z"),
        record(PAGE + b"end", url=steps[-1], date="2026-11-20T10:00:06Z"),
    )
    holding, index = archive.open()
    url = steps[0]
    visited: list[int] = []
    while len(visited) < 9:
        answer = replay_request(holding, index, ReplayRequest(url, "20261120100000"))
        assert isinstance(answer, ReplayAnswer)
        visited.append(answer.exchange.status)
        if answer.exchange.status == 200:
            break
        url = answer.exchange.header("location")
    assert (url, visited) == (steps[-1], [301, 301, 200])
