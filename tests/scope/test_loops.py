import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.scope.loops import has_path_loop


@pytest.mark.parametrize(
    ("path", "query", "trap"),
    [
        ("", "", False),
        ("/x/x/x", "", False),
        ("/x/x/x/x", "", True),
        ("/x/a/x/b/x/c/x", "", True),
        ("/x//x//x//", "", False),
        ("/x/y/x/y/x/y/1/2/3", "", False),
        ("/x/y/x/y/x/y/1/2/3/4", "", True),
        ("/x/1/x/2/x/3/4/5/6/7/8", "", False),
        ("/a", "?b=1&b=1&b=1&b=1", True),
        ("/a", "b=1&b=2&b=3&b=4", False),
        ("/a", "u=%2Fa%3Fb%3D1&b=1&b=1&b=1", False),
        ("/a", "x&x&x&x", True),
        ("/a", "?x&x&y&x&&&", False),
    ],
)
def test_has_path_loop(path, query, trap):
    assert has_path_loop(path, query, 3, 2) is trap


def test_switched_off():
    assert not has_path_loop("/x" * 50, "", 0, 2)
    assert not has_path_loop("/x/y/x/y/x/y/1/2/3/4", "", 3, 0)


@given(st.text(max_size=100), st.text(max_size=100), st.integers(-1, 5), st.integers(-1, 5))
def test_never_raises(path, query, repetition, threshold):
    assert has_path_loop(path, query, repetition, threshold) in {True, False}
