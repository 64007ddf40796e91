import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.extract.embedded import urls_within


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://a.test/x?u=http://b.test/y&v=1", ["http://b.test/y", "http://b.test/y&v=1"]),
        ("http://a.test/x?u=https%3A%2F%2Fb.test%2Fy%3Fz%3D1&v=1", ["https://b.test/y?z=1"]),
        ("http://a.test/go/http://b.test/y", ["http://b.test/y"]),
        ("http://a.test/go/http:/b.test/y", ["http://b.test/y"]),
        ("http://a.test/http%3A//b.test/", ["http://b.test/"]),
        ("http://a.test/", []),
        ("http://a.test", []),
        ("http://a.test/httpd?x=http:", []),
        ("dns:a.test", []),
    ],
)
def test_urls_within_urls(url: str, expected: list[str]):
    assert urls_within(url) == expected


@given(st.text(alphabet="htps:/?&=%32Fx.", max_size=400))
def test_any_text(text: str):
    found = urls_within("http://a.test/" + text)
    assert len(found) <= 20
    assert all(url.startswith("http") for url in found)
