import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.extract.srcset import candidates


@pytest.mark.parametrize(
    ("value", "urls"),
    [
        ("", []),
        ("  , ,", []),
        ("a.png", ["a.png"]),
        ("a.png 1x,b.png 2x", ["a.png", "b.png"]),
        ("a.png, b.png", ["a.png", "b.png"]),
        ("a,b,c,,, d 1x", ["a,b,c", "d"]),
        ("a 1x, data:image/gif;base64,R0==, b", ["a", "data:image/gif;base64,R0==", "b"]),
        ("a 1x(x,y), b", ["a", "b"]),
        ("a (never closed, b", ["a"]),
        ("\n a\t100w\n,\n b\f2x", ["a", "b"]),
    ],
)
def test_candidates(value: str, urls: list[str]):
    assert candidates(value) == urls


@given(st.text(alphabet="a,() \n1x", max_size=60))
def test_urls_are_never_empty_and_hold_no_space(value: str):
    assert all(url and not any(map(str.isspace, url)) for url in candidates(value))


def test_length_is_no_limit():
    assert len(candidates(", ".join(f"/i/{n}.png {n}w" for n in range(20_000)))) == 20_000
