import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.extract.refresh import refresh_target


@pytest.mark.parametrize(
    ("value", "target"),
    [
        ("0;url=x.html", "x.html"),
        ("5; URL = 'x.html'", "x.html"),
        ('0,url="x y"z', "x y"),
        ("0; x.html", "x.html"),
        ("0 url=x", "x"),
        ("1.5;url=x", "x"),
        ("url=x", "x"),
        ("5", None),
        ("", None),
        ("5;", None),
        ("soon", None),
        (" soon", None),
        (";soon", None),
        (";url=x", "x"),
        ("0;url='x", "x"),
    ],
)
def test_target(value: str, target: str | None):
    assert refresh_target(value) == target


@given(st.text(alphabet="0.;, url='\"x", max_size=40))
def test_a_target_is_never_empty(value: str):
    assert refresh_target(value) != ""
