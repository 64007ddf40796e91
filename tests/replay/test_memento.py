"""Memento: addresses, times, TimeGates, TimeMaps; examples of RFC 7089."""

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.replay.memento import (
    MementoError,
    MementoPlaces,
    ReplayPath,
    TimeMapPath,
    memento_date,
    memento_links,
    original_url,
    read_accept_datetime,
    read_replay_path,
    read_timemap_path,
    seconds_timestamp,
    timemap_lines,
    timestamp_seconds,
)

URL = "http://a.example.org/"
PLACES = MementoPlaces("http://arxiv.example.net/web/")
STAMPS = ["20000620180259", "20080414235211", "20090918055520", "20091027204954", "20100519144210"]


def test_accept_datetime_of_the_rfc():
    assert read_accept_datetime("Thu, 31 May 2007 20:35:00 GMT") == "20070531203500"


@pytest.mark.parametrize(
    "text",
    ["", "Sun", "2007-05-31T20:35:00Z", "Thu, 31 May 2007 20:35:00",
     "Thu, 31 May 2007 25:00:00 GMT",
     "Thu, 31 Foo 2007 20:35:00 GMT", "Thu, 31 May 2007 20:35:00 +0100",
     "Thu, 31 Feb 2007 20:35:00 GMT",
     "Thu, 31 May 2007 20:35:00 GMT; -P3DT5H; +P2DT6H", "٣"],
)  # fmt: skip
def test_other_dates_are_refused(text):
    with pytest.raises(MementoError):
        read_accept_datetime(text)


@given(st.datetimes(datetime(1601, 1, 1), datetime(9999, 12, 31)))  # noqa: DTZ001 - UTC
def test_dates_survive(moment):
    stamp = f"{moment.year:04}" + moment.strftime("%m%d%H%M%S")
    seconds = timestamp_seconds(stamp)
    assert seconds == int(moment.replace(tzinfo=UTC, microsecond=0).timestamp())
    assert seconds_timestamp(seconds) == stamp
    if moment.year >= 1970:
        assert read_accept_datetime(memento_date(stamp)) == stamp


@given(st.text("0123456789", min_size=1, max_size=14))
def test_any_digits_are_a_time(digits):
    assert len(seconds_timestamp(timestamp_seconds(digits))) == 14


@pytest.mark.parametrize(
    ("digits", "full"),
    [
        ("2014", "20141231235959"),
        ("201402", "20140228235959"),
        ("20140226", "20140226235959"),
        ("201412260950", "20141226095059"),
        ("2", "29991231235959"),
        ("20131709005601", "20131209005601"),
        ("20140231000000", "20140228000000"),
    ],
)
def test_short_and_odd_times(digits, full):
    assert seconds_timestamp(timestamp_seconds(digits)) == full


@pytest.mark.parametrize(
    ("path", "result"),
    [
        ("20000620180259/http://a.example.org/", ReplayPath("20000620180259", "", URL)),
        ("20000620180259id_/http://a.example.org/", ReplayPath("20000620180259", "id_", URL)),
        ("2000mp_/http:/a.example.org/", ReplayPath("2000", "mp_", URL)),
        ("mp_/http://a.example.org/", ReplayPath("", "mp_", URL)),
        ("http://a.example.org/", ReplayPath("", "", URL)),
        ("a.example.org/", ReplayPath("", "", URL)),
        ("2000/a.example.org:80/?x=1", ReplayPath("2000", "", "http://a.example.org:80/?x=1")),
        ("2000/urn:x:y", ReplayPath("2000", "", "urn:x:y")),
        ("2000//a.example.org/", ReplayPath("2000", "", URL)),
        ("20000620180259xx_/http://a.example.org/", None),
        ("200006201802599/http://a.example.org/", None),
        ("2000/", None),
        ("favicon", None),
        ("", None),
        ("٣/http://a.example.org/", None),
    ],
)
def test_addresses(path, result):
    assert read_replay_path(path) == result


@pytest.mark.parametrize(
    ("path", "result"),
    [
        ("timemap/link/http://a.example.org/", TimeMapPath("link", 1, URL)),
        ("timemap/json/2/http://a.example.org/", TimeMapPath("json", 2, URL)),
        ("timemap/cdxj/0/a.example.org/", TimeMapPath("cdxj", 1, URL)),
        ("timemap/link/", None),
        ("cdx", None),
    ],
)
def test_addresses_of_timemaps(path, result):
    assert read_timemap_path(path) == result


def test_an_unknown_form_of_timemap():
    with pytest.raises(MementoError, match="foo"):
        read_timemap_path("timemap/foo/http://a.example.org/")


@given(st.text(max_size=40))
def test_any_path_is_read(path):
    result = read_replay_path(path)
    assert result is None or ":" in result.url
    assert original_url(path)


def links_of(text: str) -> dict[str, tuple[str, str]]:
    """(URI, datetime) by relation, as a Memento client reads a Link header."""
    pattern = re.compile(r'<([^>]*)>((?:; ?\w+="[^"]*")*)(?:,\s*|\s*\Z)')
    result, end = {}, 0
    for match in pattern.finditer(text):
        assert match.start() == end
        end = match.end()
        values = dict(re.findall(r'(\w+)="([^"]*)"', match[2]))
        result[values["rel"]] = (match[1], values.get("datetime", ""))
    assert end == len(text)
    return result


def test_links_of_a_timegate():
    links = links_of(memento_links(PLACES, URL, STAMPS))
    assert links == {
        "original": (URL, ""),
        "timegate": (f"http://arxiv.example.net/web/{URL}", ""),
        "timemap": (f"http://arxiv.example.net/web/timemap/link/{URL}", ""),
        "first memento": (
            f"http://arxiv.example.net/web/20000620180259/{URL}", "Tue, 20 Jun 2000 18:02:59 GMT",
        ),
        "last memento": (
            f"http://arxiv.example.net/web/20100519144210/{URL}", "Wed, 19 May 2010 14:42:10 GMT",
        ),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("current", "relations"),
    [
        (STAMPS[2], ["first memento", "prev memento", "memento", "next memento", "last memento"]),
        (STAMPS[0], ["first memento", "next memento", "last memento"]),
        (STAMPS[1], ["first prev memento", "memento", "next memento", "last memento"]),
        (STAMPS[3], ["first memento", "prev memento", "memento", "last next memento"]),
    ],
)
def test_links_of_a_memento(current, relations):
    links = links_of(memento_links(PLACES, URL, STAMPS, current))
    assert [name for name in links if "memento" in name] == relations


def test_the_only_memento():
    links = links_of(memento_links(PLACES, URL, STAMPS[:1], STAMPS[0]))
    assert "first last memento" in links
    assert links_of(memento_links(PLACES, URL, [])).keys() == {"original", "timegate", "timemap"}


def test_a_timemap():
    text = "".join(timemap_lines(MementoPlaces(PLACES.base, "mp_"), URL, STAMPS))
    assert text.startswith(
        '<http://a.example.org/>; rel="original",\n'
        f'<http://arxiv.example.net/web/timemap/link/{URL}>; rel="self"; '
        'type="application/link-format"; from="Tue, 20 Jun 2000 18:02:59 GMT"; '
        'until="Wed, 19 May 2010 14:42:10 GMT",\n'
        f'<http://arxiv.example.net/web/{URL}>; rel="timegate",\n'
        f'<http://arxiv.example.net/web/20000620180259mp_/{URL}>; rel="first memento"; '
        'datetime="Tue, 20 Jun 2000 18:02:59 GMT",\n'
    )
    assert text.endswith('datetime="Wed, 19 May 2010 14:42:10 GMT"\n')
    assert text.count("\n") == 8


@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 70))
def test_pages_of_a_timemap_have_each_memento_once(count, size, page):
    stamps = [seconds_timestamp(number * 86400) for number in range(count)]
    pages = -(-count // size)
    texts = ["".join(timemap_lines(PLACES, URL, stamps, n, size)) for n in range(1, pages + 1)]
    found = [stamp for text in texts for stamp in re.findall(r"web/(\d{14})/", text)]
    assert found == stamps
    text = "".join(timemap_lines(PLACES, URL, stamps, page, size))
    assert text.count('rel="timemap"') == pages - 1
    assert text.count('rel="self"') == 1
    assert text in texts


@given(st.text(max_size=60))
def test_no_url_breaks_out_of_its_link(url):
    text = memento_links(PLACES, url, STAMPS, STAMPS[1])
    assert text.isascii()
    assert "\n" not in text
    assert "\r" not in text
    assert len(links_of(text)) == 7
