import pytest

from nacre.editing.hover import hover

TEXT = (
    "fetch:\n  max_length: 5\nscope:\n  - rule: too-many-hops\nsheets: {a: {politeness.delay: 3}}\n"
)


@pytest.mark.parametrize(
    ("at", "title", "kind"),
    [
        ("fetch", "fetch", "section"),
        ("max_length", "max_length", "setting"),
        ("too-many-hops", "too-many-hops", "rule"),
        ("politeness.delay", "politeness.delay", "setting"),
    ],
)
def test_what_is_pointed_at_is_explained(at, title, kind):
    card = hover(TEXT, TEXT.index(at) + 2)
    assert card.found
    assert (card.title, card.kind) == (title, kind)
    assert card.doc
    assert TEXT[card.start : card.end] == at


def test_a_setting_has_its_facts():
    card = hover(TEXT, TEXT.index("max_length"))
    assert card.type == "whole number, bytes"
    assert card.default == "0"
    assert card.live
    assert "FetchHTTP.maxLengthBytes" in card.heritrix


@pytest.mark.parametrize("at", [0, 10_000])
def test_an_empty_place_says_nothing(at):
    assert not hover("\n\n", at).found
