"""What a browser adds to a page, and whether that is worth running others like it."""

import pytest

from nacre.extract.gain import BrowserGain, ContentParts, find_gain, page_texts

NONE: frozenset[str] = frozenset()


def content(texts: str = "", links: str = "", requests: str = "") -> ContentParts:
    return ContentParts(
        page_texts("".join(f"<p>{text}</p>" for text in texts.split("|"))),
        frozenset(links.split()),
        frozenset(requests.split()),
    )


def gain(before: ContentParts, after: ContentParts) -> BrowserGain:
    return find_gain(before, after)


@pytest.mark.parametrize(
    ("before", "after", "is_worth"),
    [
        (content(), content("x" * 100), True),
        (content(), content("x" * 99), False),
        (content(), content("字" * 34), True),
        (content("x" * 1000), content("x" * 1000 + "|" + "y" * 199), False),
        (content("x" * 1000), content("x" * 1000 + "|" + "y" * 200), True),
        (content("x" * 1000), content(), False),
        (content(links="a b"), content(links="a b c d"), False),
        (content(links="a b"), content(links="a b c d e"), True),
        (content(), content(requests="/api/1"), False),
    ],
)
def test_a_fifth_more_is_a_gain(before: ContentParts, after: ContentParts, is_worth: bool) -> None:
    assert gain(before, after).is_worth() is is_worth


def test_requests_are_a_gain_if_the_first_page_did_not_have_them() -> None:
    first = {"/menu.json", "Menu" * 40}
    second = gain(content(), content("Menu" * 40, requests="/menu.json"))
    assert not second.is_worth(first.__contains__)
    third = gain(content(), content("Menu" * 40, requests="/menu.json /api/3"))
    assert third.is_worth(first.__contains__)


def test_requests_that_the_page_names_are_no_gain() -> None:
    before = ContentParts({}, frozenset({"/b"}), frozenset({"/a.png"}))
    assert gain(before, content(requests="/a.png /b")).requests == NONE


def test_the_parts_of_a_gain_are_in_one_order() -> None:
    found = gain(content(), content("one|two", links="c b", requests="e d"))
    assert found.parts == ["one", "two", "b", "c", "d", "e"]


def test_a_menu_counts_as_links_not_as_text() -> None:
    menu = "".join(f"<li><a href=/{at}>Chapter {at} of the manual</a></li>" for at in range(40))
    assert page_texts(f"<ul>{menu}</ul><p>One</p>") == {"One": 3}
    assert not gain(content(), content(links="a b c d")).with_links(NONE).is_worth()
