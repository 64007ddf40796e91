import pytest

from bench.histories.rates import Step, cause_of, is_menu, page_text, shared_words

HEAD = b"<html><body class='a'>First sentence. Second one. "


def step(old: bytes, new: bytes, *, is_real: bool = False, document: str = "A/t.html") -> Step:
    site = document.partition("/")[0]
    return Step(document, site, page_text(HEAD + old), page_text(HEAD + new), is_real)


@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        (b"x", b"x", "same"),
        (b"x", b"x<!-- 1 -->", "markup"),
        (b"<i id=3>x</i>", b"<i id=4>x</i>", "markup"),
        (b"3 views", b"4 views", "numbers"),
        (b"x", b"before", "returning"),
        (b"x", b"A new notice. x", "shared"),
        (b"x", b"only here", "own"),
    ],
)
def test_causes_of_a_difference(old: bytes, new: bytes, cause: str):
    both = [
        step(b"x", b"A new notice. x", document="A/one.html"),
        step(b"x", b"A new notice. x", document="A/two.html"),
        step(b"x", b"only here", document="B/other.html"),
    ]
    before = [page_text(HEAD + b"before").text]
    assert cause_of(step(old, new), before, shared_words(both)) == cause


def test_a_recorded_change_is_real_whatever_else_differs():
    assert cause_of(step(b"x", b"y", is_real=True), [], set()) == "real"


def test_pages_that_are_mostly_menu():
    links = b"".join(b"<a href='/%d'>A long entry of a menu</a>" % n for n in range(9))
    assert is_menu(links + b"<p>A few words.</p>")
    assert not is_menu(links[:80] + b"<p>" + b"Many words of a text. " * 20 + b"</p>")
