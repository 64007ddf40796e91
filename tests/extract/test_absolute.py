import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.extract.absolute import absolute_urls


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("http://a.test/x.", ["http://a.test/x."]),
        (" http://a.test/x) ", ["http://a.test/x)"]),
        (
            "See http://a.test/x, (https://b.test/y). Or HTTP://C.TEST!",
            ["http://a.test/x", "https://b.test/y", "HTTP://C.TEST"],
        ),
        ("in http://a.test/x_(y) and", ["http://a.test/x_(y)"]),
        ('<a href="http://a.test/x">', ["http://a.test/x"]),
        ("nothing at https:// all", []),
        ("ftp://a.test/ www.a.test", []),
    ],
)
def test_absolute_urls(text, urls):
    assert absolute_urls(text) == urls


@given(st.lists(st.sampled_from(["http://", "a.test", ")", "(", "]", ".", " ", "<"]), max_size=40))
def test_found_urls_stand_in_the_text(pieces):
    text = "".join(pieces)
    assert all(url in text and url.startswith("http") for url in absolute_urls(text))


def test_many_brackets_are_cut_in_linear_time():
    assert absolute_urls("x http://a.test/" + ")." * 200_000)[0].startswith("http://a.test/")
