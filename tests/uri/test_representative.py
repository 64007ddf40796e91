import pytest

from nacre.uri.representative import representative

A, AX, AY, NEWS, B = (
    "http://www.a.com",
    "http://www.a.com/x/index.html",
    "http://www.a.com/abc/page.html",
    "http://www.news.a.com",
    "http://www.b.com/",
)


@pytest.mark.parametrize(
    ("source", "target", "temporary", "shown"),
    [
        (A, B, True, B),
        (A, AX, False, A),
        (AX, AY, False, AY),
        (A, AX, True, A),
        (AX, A, True, A),
        (AX, AY, True, AX),
        (AX + "/y", AY, True, AY),
        (A, NEWS, True, A),
        (NEWS + "/x", AX, True, AX),
        (A + "/?q", A + "/", False, A + "/"),
        (A + "/b/c", A + "/?q", True, A + "/?q"),
        (A + "/abc/", A + "/abcd", True, A + "/abc/"),
        (A + "/a", A + "/x?y=/z", True, A + "/a"),
    ],
)
def test_which_names_the_page(source, target, temporary, shown):
    assert representative(source, target, temporary=temporary) == shown
