"""Templates of URLs: placeholders by look, and dates."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.history.urlshape import date_of, shaped

SHAPES = [
    ("http://a.cn/", "http://a.cn/"),
    ("http://a.cn/art/t20201231_4321.html", "http://a.cn/art/t{date}_{int}.html"),
    ("http://a.cn/2024-01/31/content_77.htm", "http://a.cn/{year}-{int}/{int}/content_{int}.htm"),
    ("http://a.cn/202401/x.shtml", "http://a.cn/{month}/x.shtml"),
    ("http://a.cn/p?id=12&b=x", "http://a.cn/p/?b=x/?id={int}"),
    ("http://a.cn/1700000000/1700000000123", "http://a.cn/{unix}/{unixms}"),
    ("http://a.cn/f/9f86d081884c7d659a2feaa0c55ad015", "http://a.cn/f/{hex}"),
    ("http://a.cn/123e4567-e89b-12d3-a456-426614174000.html", "http://a.cn/{uuid}.html"),
    ("http://a.cn/how-to-build-a-boat", "http://a.cn/{slug}"),
    ("http://a.cn/2024/01/31/t.html", "http://a.cn/{year}/{int}/{int}/t.html"),
    ("http://a.cn/99999999/", "http://a.cn/{int}/"),
]


@pytest.mark.parametrize(("url", "expected"), SHAPES)
def test_shapes(url: str, expected: str) -> None:
    assert shaped(url).name == expected


DATES = [
    ("http://a.cn/t20240131_1.html", "2024-01-31"),
    ("http://a.cn/2024-01/31/c_1.htm", "2024-01-31"),
    ("http://a.cn/2024/01/31/x", "2024-01-31"),
    ("http://a.cn/202401/31/x", "2024-01-31"),
    ("http://a.cn/202401/x", "2024-01-01"),
    ("http://a.cn/2024/0131/x", "2024-01-31"),
    ("http://a.cn/id/123456", None),
    ("http://a.cn/20240231/x", None),
    ("http://a.cn/2024/x", None),
]


@pytest.mark.parametrize(("url", "expected"), DATES)
def test_dates_of_urls(url: str, expected: str | None) -> None:
    moment = date_of(shaped(url).tokens)
    told = moment and datetime.fromtimestamp(moment, UTC).date().isoformat()
    assert told == expected


@pytest.mark.timeout(20)
@pytest.mark.parametrize("part", ["a", "a-", "1", "0a", "a1", "f-", "-a-b"])
def test_hostile_names_are_read_once(part: str) -> None:
    url = "http://a.test/" + "/".join([part * (500 // len(part)) + "!"] * 4)
    for _ in range(500):
        assert shaped(url).segments[0] == "http://a.test"


@given(st.text("ab1/-_.?=&20", max_size=60))
def test_any_url_has_a_template(path: str) -> None:
    one = shaped("http://a.cn/" + path)
    assert one.name.startswith("http://a.cn")
    assert one.name.count("{") == len(one.tokens)
