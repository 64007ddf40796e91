"""Templates of URLs: placeholders by look, and dates."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.urlshape import date_of, shaped

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
    # Chinese content systems.
    ("http://a.cn/jrzg/t20240513_123456.html", "http://a.cn/jrzg/t{date}_{int}.html"),
    ("http://a.cn/yw/202405/content_6950123.htm", "http://a.cn/yw/{month}/content_{int}.htm"),
    (
        "http://a.cn/n1/2024/0513/c1-40234567.html",
        "http://a.cn/n{int}/{year}/{int}/c{int}-{int}.html",
    ),
    ("http://a.cn/rain/a/20240513A02B7K00", "http://a.cn/rain/a/{date}{code}"),
    (
        "http://a.cn/politics/20240513/4a1a5b0c77f24c6b8d1f2e3a4b5c6d7e/c.html",
        "http://a.cn/politics/{date}/{hex}/c.html",
    ),
    (
        "http://a.cn/art/2024/5/13/art_1234_56789.html",
        "http://a.cn/art/{year}/{int}/{int}/art_{int}_{int}.html",
    ),
    ("http://a.cn/col/col12345/index.html", "http://a.cn/col/col{int}/index.html"),
    ("http://a.cn/info/1046/000123.htm", "http://a.cn/info/{int}/{int}.htm"),
    # News and weblogs.
    ("http://a.uk/world/2024/may/13/x", "http://a.uk/world/{year}/{name}/{int}/x"),
    ("http://a.uk/may/13/x", "http://a.uk/may/{int}/x"),
    ("http://a.org/2024-05-13/", "http://a.org/{day}/"),
    ("http://a.org/2024-05-13-how-to-build-a-boat/", "http://a.org/{day}-{slug}/"),
    ("http://a.org/x?day=2024-05-13", "http://a.org/x/?day={day}"),
    ("http://a.org/how-to-build-a-boat-6899456", "http://a.org/{slug}-{int}"),
    ("http://a.org/the-best-boats-of-2024", "http://a.org/{slug}"),
    ("http://a.org/thread-6899456-1-1.html", "http://a.org/thread-{int}-{int}-{int}.html"),
    ("http://a.org/6899456-how-to-build-a-boat", "http://a.org/{int}-{slug}"),
    # Codes, versions, counters.
    ("http://a.org/watch?v=dQw4w9WgXcQ", "http://a.org/watch/?v={code}"),
    ("http://a.org/item/3f2a9b1c04de.html", "http://a.org/item/{code}.html"),
    ("http://a.org/3.11/library/os.html", "http://a.org/{int}.{int}/library/os.html"),
    ("http://a.org/v2.0.1/api/", "http://a.org/v{int}.{int}.{int}/api/"),
    ("http://a.org/viewtopic.php?f=2&t=1234", "http://a.org/viewtopic.php/?f={int}/?t={int}"),
    # Escapes are letters, in UTF-8 and GBK.
    ("http://a.org/%E9%99%84%E4%BB%B61096.doc", "http://a.org/附件{int}.doc"),
    ("http://a.org/%B8%BD%BC%FE1096.doc?%C4%EA=7", "http://a.org/附件{int}.doc/?年={int}"),
    ("http://a.org/a%20b%2F12%7B3%7D", "http://a.org/a%20b%2F{int}%7B{int}%7D"),
    ("http://a.org/%31%32/%FF%01", "http://a.org/{int}/ÿ%01"),
    ("http://a.org/%E5%85%B3-%E4%BA%8E-%E4%B8%BE-%E5%8A%9E.html", "http://a.org/{slug}.html"),
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
    ("http://a.cn/2024/jan/31/x", "2024-01-31"),
    ("http://a.cn/2024/January/31/x", "2024-01-31"),
    ("http://a.cn/2024-01-31-how-to-build-a-boat/", "2024-01-31"),
    ("http://a.cn/view?on=2024-01-31", "2024-01-31"),
    ("http://a.cn/a/20240131A02B7K00", "2024-01-31"),
    ("http://a.cn/n1/2024/0131/c1-40234567.html", "2024-01-31"),
    ("http://a.cn/art/2024/1/31/art_12_34.html", "2024-01-31"),
    ("http://a.cn/2024-13-31/x", None),
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
