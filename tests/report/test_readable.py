import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.report.readable import readable


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://a.test/", "http://a.test/"),
        ("http://a.test/%E9%80%9A%E7%9F%A5.html", "http://a.test/通知.html"),
        ("http://a.test/%CD%A8%D6%AA%B9%AB%B8%E6/1.html", "http://a.test/通知公告/1.html"),
        ("http://a.test/?q=%CD%A8%D6%AA&p=%20%2F", "http://a.test/?q=通知&p=%20%2F"),
        ("http://a.test/%E9%80%9A%2F%E7%9F%A5", "http://a.test/通%2F知"),
        ("http://a.test/%FF%FE", "http://a.test/%FF%FE"),
        ("http://a.test/%", "http://a.test/%"),
        ("http://xn--fiq228c.test/%E9", "http://中文.test/%E9"),
        ("http://a.test/%E2%80%AEgnp", "http://a.test/%E2%80%AEgnp"),
    ],
)
def test_what_people_read(url: str, shown: str):
    assert readable(url) == shown


def test_the_charset_of_the_page_is_tried():
    assert readable("http://a.test/%A4%A4%A4%E5", "big5") == "http://a.test/中文"


@given(st.text(), st.sampled_from(("", "gbk", "no such charset")))
def test_any_text_can_be_shown(text: str, charset: str):
    assert isinstance(readable(f"http://a.test/{text}", charset), str)


@given(st.binary(min_size=1, max_size=9))
def test_no_delimiter_appears(data: bytes):
    escaped = "".join(f"%{byte:02X}" for byte in data)
    shown = readable(f"http://a.test/{escaped}").removeprefix("http://a.test/")
    assert not set("/?#& <>\"'\n") & set(shown)
