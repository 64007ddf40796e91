"""What a site's template is learned to be: noise by place, boilerplate by piece, slots."""

import pytest
from msgspec.structs import replace

from nacre.core.pageview import PageView, Piece
from nacre.extract.pageview import page_view
from nacre.recrawl.planner.change_detection import template as module
from nacre.recrawl.planner.change_detection.template import Template, by_place, fingerprint


def _view(*texts: str) -> PageView:
    """A page with a heading, a paragraph and a note, as far as they are given."""
    names = ("h1", "p", "div")
    inner = "".join(f"<{name}>{text}</{name}>" for name, text in zip(names, texts, strict=False))
    return page_view(f"<html><body>{inner}</body></html>")


def _place(view: PageView, text: str) -> int:
    return next(piece.place for piece in view.pieces if text in piece.text)


def _piece(view: PageView, text: str) -> Piece:
    return next(piece for piece in view.pieces if text in piece.text)


ONE = _view("Heading", "A text of some length.", "at 9.10")
TWO = _view("Heading", "A text of some length.", "at 9.11")
CLOCK, TEXT = _place(ONE, "at 9"), _place(ONE, "A text")


def test_what_differs_within_seconds_is_noise() -> None:
    template = Template()
    assert not template.is_volatile(CLOCK)
    for _ in range(5):
        assert template.learn_pair(ONE, TWO, looked_changed=True) == frozenset((CLOCK,))
    assert template.is_volatile(CLOCK)
    assert not template.is_volatile(TEXT)
    assert template.volatility(CLOCK) > 0.5 > template.volatility(TEXT)
    assert (template.pairs, template.false_changes) == (5, 5)


def test_of_a_place_that_never_came_little_is_believed() -> None:
    template = Template()
    assert 0.0 < template.volatility(12345) < 0.5
    assert not template.is_volatile(12345)
    assert not template.is_suspect(12345)


def test_a_piece_that_only_one_of_two_fetches_has_differs() -> None:
    template = Template()
    assert template.learn_pair(ONE, _view("Heading"), looked_changed=False) >= {CLOCK, TEXT}


def test_unchanged_pages_that_looked_changed_are_the_noise_of_a_template() -> None:
    template = Template()
    before = template.noise
    template.learn_pair(ONE, ONE, looked_changed=True)
    assert 0.0 < before < template.noise
    for _ in range(50):
        template.learn_pair(ONE, ONE, looked_changed=False)
    assert template.noise < 0.05


def test_a_place_where_nothing_lived_on_is_suspected_until_pairs_tell_against_it() -> None:
    template = Template()
    for _ in range(4):
        template.learn_visit(ONE, TWO)
    assert template.is_suspect(CLOCK)
    assert not template.is_suspect(TEXT)
    assert not template.is_volatile(CLOCK)
    for _ in range(3):
        template.learn_pair(ONE, ONE, looked_changed=False)
    assert not template.is_suspect(CLOCK)


def test_one_pair_proves_noise_where_nothing_ever_lived_on() -> None:
    template = Template()
    for _ in range(4):
        template.learn_visit(ONE, TWO)
    template.learn_pair(ONE, TWO, looked_changed=True)
    assert template.is_volatile(CLOCK)
    assert template.is_suspect(CLOCK)


def test_a_place_that_is_noise_by_pairs_alone_is_suspect_too() -> None:
    template = Template()
    for _ in range(5):
        template.learn_pair(ONE, TWO, looked_changed=True)
    template.learn_visit(ONE, ONE)
    assert template.is_suspect(CLOCK)


def _pages(count: int, foot: str = "Copyright") -> list[PageView]:
    return [_view(f"Heading {number}", f"Text of {number}.", foot) for number in range(count)]


def test_a_piece_on_most_pages_is_boilerplate_and_stays_known() -> None:
    template = Template()
    old, new = _pages(40), _pages(200, "All rights reserved")
    for view in old:
        template.learn_page(view)
    assert template.is_common(_piece(old[0], "Copyright"))
    assert not template.is_common(_piece(old[0], "Text of 0"))
    for view in new:
        template.learn_page(view)
    assert template.frequency(_piece(old[0], "Copyright")) < 0.3 * template.pages
    assert template.is_common(_piece(old[0], "Copyright"))
    assert template.is_common(_piece(new[0], "All rights"))


def test_of_a_few_pages_nothing_is_boilerplate() -> None:
    template = Template()
    for view in _pages(2):
        template.learn_page(view)
    assert not template.is_common(_piece(_pages(1)[0], "Copyright"))
    assert not template.is_slot(CLOCK)


def test_a_place_that_many_pages_have_is_a_slot() -> None:
    template = Template()
    for number, view in enumerate(_pages(50)):
        template.learn_page(view if number % 5 == 0 else _view(f"Heading {number}"))
    assert template.is_slot(_place(ONE, "Heading"))
    assert template.is_slot(CLOCK)
    assert not template.is_slot(12345)


def test_old_pages_fade() -> None:
    template = Template()
    for view in _pages(201):
        template.learn_page(view)
    assert template.pages == 101
    assert template.frequency(_piece(ONE, "Heading")) == 0
    assert template.slots[CLOCK] == 101


def test_what_is_remembered_of_a_site_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_MAX_PLACES", "_MAX_PRINTS", "_MAX_ONCE"):
        monkeypatch.setattr(module, name, 2)
    template = Template()
    views = _pages(40)
    for view in views:
        template.learn_page(view)
        template.learn_pair(view, ONE, looked_changed=True)
        template.learn_visit(view, ONE)
        for piece in view.pieces:
            template.is_common(piece)
    assert len(template.places) == len(template.prints) == len(template.slots) == 2
    assert len(template.once) <= 2
    assert template.pairs == 40


def test_the_same_text_of_another_kind_is_another_piece() -> None:
    piece = _piece(ONE, "Heading")
    other = replace(piece, kind="text")
    assert fingerprint(piece) != fingerprint(other)
    assert by_place(ONE)[CLOCK] != by_place(TWO)[CLOCK]
