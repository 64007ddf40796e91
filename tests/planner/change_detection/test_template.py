"""What is learned of the pages of a site: noise by pairs, its frame by URLs, events by runs."""

import random
from difflib import SequenceMatcher

import pytest
from msgspec.structs import replace

from nacre.core.pagerow import PageView, Piece
from nacre.extract.pageview import page_view
from nacre.planner.change_detection import template as module
from nacre.planner.change_detection.pairing import differences
from nacre.planner.change_detection.template import (
    PieceDifference,
    Template,
    by_place,
    event_keys,
    fingerprint,
    in_words,
    skeletons,
    substitution,
)


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


def _pair(
    template: Template, one: PageView, two: PageView, *, changed: bool = True
) -> frozenset[int]:
    differing = differences(one.pieces, two.pieces)
    return template.learn_pair(one, two, differing, looked_changed=changed)


def _noise(template: Template, one: PageView, two: PageView) -> list[bool]:
    return [template.is_noise(each) for each in differences(one.pieces, two.pieces)]


def test_words_that_differ_within_seconds_are_noise_between_the_same_words() -> None:
    template = Template()
    for number in range(2):
        assert _noise(template, ONE, TWO) == [False]
        assert _pair(template, ONE, TWO) == frozenset((CLOCK,)), number
    assert _noise(template, ONE, _view("Heading", "A text of some length.", "at 9.59")) == [True]
    other = _view("Heading", "A text of some length.", "at the old place")
    assert _noise(template, ONE, other) == [False]
    assert not template.is_volatile(CLOCK), "a place is more than what differs in it"
    assert (template.pairs, template.false_changes) == (2, 2)


@pytest.mark.parametrize(
    ("was", "now", "is_noise"),
    [
        ("1,000", "2,000", False),
        ("10.50", "12.75", False),
        ("12", "13", False),
        ("12 %", "13 %", False),
        ("五 12", "五 13", True),
        ("1,000 visitors", "2,000 visitors", True),
    ],
)
def test_a_number_alone_is_noise_only_where_pairs_showed_it(
    was: str, now: str, *, is_noise: bool
) -> None:
    counter, cell = "<main><p>{}</p></main>", "<table><tr><td>{}</td></tr></table>"
    template = Template()
    for _ in range(2):
        _pair(template, page_view(counter.format(was)), page_view(counter.format(now)))
    old, new = (page_view(cell.format(text)) for text in (was, now))
    assert _noise(template, old, new) == [is_noise]
    assert not template.is_volatile(old.pieces[0].place)


def test_a_counter_in_one_paragraph_is_no_excuse_for_the_others() -> None:
    body = "<p>Opening hours: nine to five.</p><p>{} people look at this now</p>"
    one, two, three = (page_view(body.format(number)) for number in (3, 8, 9))
    template = Template()
    for _ in range(9):
        _pair(template, one, two)
    assert _noise(template, one, three) == [True]
    edited = page_view(body.format(3).replace("five", "four"))
    assert _noise(template, one, edited) == [False]


def test_a_place_with_nothing_in_common_within_seconds_is_noise() -> None:
    one, two = (_view("Heading", "A text of some length.", text) for text in ("Ads", "Offer!"))
    template = Template()
    for _ in range(5):
        _pair(template, one, two)
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
    assert _pair(template, ONE, _view("Heading"), changed=False) >= {CLOCK, TEXT}


def test_unchanged_pages_that_looked_changed_are_the_noise_of_a_template() -> None:
    template = Template()
    before = template.noise
    _pair(template, ONE, ONE, changed=True)
    assert 0.0 < before < template.noise
    for _ in range(50):
        _pair(template, ONE, ONE, changed=False)
    assert template.noise < 0.05


def test_a_place_where_nothing_lived_on_is_suspected_until_pairs_tell_against_it() -> None:
    template = Template()
    for _ in range(4):
        template.learn_visit(ONE, TWO)
    assert template.is_suspect(CLOCK)
    assert not template.is_suspect(TEXT)
    assert not template.is_volatile(CLOCK)
    for _ in range(3):
        _pair(template, ONE, ONE, changed=False)
    assert not template.is_suspect(CLOCK)


GIVEN, TAKEN = (_view("Heading", "A text of some length.", text) for text in ("Ads", "Offer!"))


def test_one_pair_proves_noise_where_nothing_ever_lived_on() -> None:
    template = Template()
    for _ in range(4):
        template.learn_visit(GIVEN, TAKEN)
    _pair(template, GIVEN, TAKEN)
    assert template.is_volatile(CLOCK)
    assert template.is_suspect(CLOCK)
    [one] = differences(GIVEN.pieces, TAKEN.pieces)
    assert template.is_noise(one)
    assert not template.is_proven_noise(one), "one pair may have met an edit"


def test_a_place_that_is_noise_by_pairs_alone_is_suspect_too() -> None:
    template = Template()
    for _ in range(5):
        _pair(template, GIVEN, TAKEN)
    template.learn_visit(GIVEN, GIVEN)
    assert template.is_suspect(CLOCK)


# ---- the frame of the site


def _pages(count: int, foot: str = "Copyright") -> list[PageView]:
    return [_view(f"Heading {number}", f"Text of {number}.", foot) for number in range(count)]


def test_a_block_of_three_urls_belongs_to_the_frame() -> None:
    template = Template()
    for number, view in enumerate(_pages(4)):
        assert template.is_frame(_piece(ONE, "Heading")) is False
        template.learn_page(view)
        assert template.is_frame(_piece(view, "Copyright")) == (number >= 2)
    assert template.pages == 4


def test_visits_of_one_url_make_nothing_a_frame() -> None:
    template = Template()
    old = _view("Heading", "Version 0", "foot")
    template.learn_page(old)
    for number in range(1, 30):
        new = _view("Heading", f"Version {number}", "foot")
        template.learn_page(new, old)
        old = new
    assert template.pages == 1
    assert template.frequency(_piece(old, "Heading")) == 1
    assert len(template.blocks) == 3


def test_the_newest_version_of_each_url_counts() -> None:
    template = Template()
    old, new = _pages(40), _pages(40, "All rights reserved")
    for view in old:
        template.learn_page(view)
    for one, two in zip(old, new, strict=True):
        template.learn_page(two, one)
    assert template.frequency(_piece(old[0], "Copyright")) == 0
    assert template.frequency(_piece(new[0], "All rights")) == 40


def test_what_is_remembered_of_a_site_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, most in (("_MAX_PLACES", 2), ("_MAX_BLOCKS", 9)):
        monkeypatch.setattr(module, name, most)
    template = Template()
    template.begin_run(1.0)
    for view in _pages(40):
        template.learn_page(view)
        _pair(template, view, ONE)
        template.learn_visit(view, ONE)
        template.learn_differences(differences(view.pieces, ONE.pieces))
    assert len(template.places) == 2
    sizes = (template.blocks, template.skeletons, template.events)
    assert max(len(one) for one in sizes) <= 9
    assert template.frequency(_piece(_pages(1)[0], "Copyright")) > 20, "what is common stays"
    assert template.pairs == 40


# ---- events of a run


def _edit(was: str, now: str, kind: str = "text") -> PieceDifference:
    sides = [Piece(kind, 1, text) if text else None for text in (was, now)]
    return PieceDifference(*sides)


@pytest.mark.parametrize(
    ("edits", "event"),
    [
        (
            [(f"Class{n} (product 3.2.1 API)", f"Class{n} (product 3.2.3 API)") for n in range(5)],
            True,
        ),
        ([("", "We use cookies")] * 5, True),
        ([("Offer of the week", "")] * 5, True),
        ([("© 2025 A", "© 2026 A")] * 4, False),
        ([(f"Text {n}", f"Text {n} edited {n}") for n in range(9)], False),
        ([(f"地址{n}:伦敦", f"地址{n}:都柏林") for n in range(5)], True),
    ],
)
def test_the_same_difference_on_five_urls_of_a_run_is_an_event(
    edits: list[tuple[str, str]], event: bool
) -> None:
    template = Template()
    template.begin_run(1.0)
    for was, now in edits:
        template.learn_differences([_edit(was, now)])
    assert template.is_event(event_keys(_edit(*edits[-1])), own=1) == event
    template.begin_run(2.0)
    assert not template.is_event(event_keys(_edit(*edits[-1])))


def test_a_menu_entry_needs_two_urls_and_on_a_list_five() -> None:
    template = Template()
    template.begin_run(1.0)
    entry = _edit("", "Careers", "nav")
    template.learn_differences([entry])
    assert template.is_event(event_keys(entry))
    assert not template.is_event(event_keys(entry), own=1)
    assert not template.is_event(event_keys(entry, listing=True))
    assert not template.is_event(event_keys(_edit("", "Careers", "text")))


def test_a_page_counts_once_in_an_event() -> None:
    template = Template()
    template.begin_run(1.0)
    template.learn_differences([_edit(f"a 3.2.1 {n}", f"a 3.2.3 {n}") for n in range(9)])
    assert template.witnesses(event_keys(_edit("b 3.2.1", "b 3.2.3"))) == 1


@pytest.mark.parametrize(
    ("was", "now", "words"),
    [
        ("product 3.2.1 API", "product 3.2.3 API", ("3.2.1", "3.2.3")),
        ("at 9.10", "at 9.11", ("9.10", "9.11")),
        ("3.2.1 and 3.2.1 again", "3.2.3 and 3.2.3 again", ("3.2.1 and 3.2.1", "3.2.3 and 3.2.3")),
        ("第三章", "第四章", ("三", "四")),
        ("all new", "something else", None),
        ("made in Hamburg", "made with love in Hamburg", ("", "with love")),
        ("", "", None),
    ],
)
def test_substitutions(was: str, now: str, words: tuple[str, str] | None) -> None:
    assert substitution(was, now) == words


def test_long_texts_are_compared_within_bounds() -> None:
    long = " ".join(map(str, range(100_000)))
    assert substitution(long, long[::-1]) is None
    assert substitution(f"a {long} 3.2.1 b", f"a {long} 3.2.3 b") == ("3.2.1", "3.2.3")
    assert skeletons(f"a {long}", f"a {long} x")
    assert not skeletons("one two three", "four five six")


def test_differences_in_words() -> None:
    assert in_words(_edit("a 3.2.1", "a 3.2.3")) == "3.2.1 → 3.2.3"
    assert in_words(_edit("", "Careers")) == "+ Careers"
    assert in_words(_edit("Careers", "")) == "- Careers"


def test_the_same_text_of_another_kind_is_the_same_block() -> None:
    piece = _piece(ONE, "Heading")
    assert fingerprint(piece) == fingerprint(replace(piece, kind="text"))
    assert by_place(ONE)[CLOCK] != by_place(TWO)[CLOCK]


@pytest.mark.parametrize(
    ("edits", "event"),
    [
        ([("Copyright 2023 Acme", "Copyright 2024 Acme")] * 4, False),
        (
            [
                (f"Report {n} is due by 31 March 2023 .", f"Report {n} is due by 31 March 2024 .")
                for n in range(4)
            ],
            True,
        ),
        (
            [(f"We may {n} it", f"We may not {n} it") for n in ("read", "keep", "print", "move")],
            False,
        ),
        ([(f"版权{n}所有 2023", f"版权{n}所有 2024") for n in range(4)], False),
    ],
)
def test_a_short_substitution_is_the_same_between_the_same_words(
    edits: list[tuple[str, str]], event: bool
) -> None:
    template = Template()
    template.begin_run(1.0)
    for was, now in edits:
        template.learn_differences([_edit(was, now)])
    for was, now in (
        ("The claim is due by 31 March 2023 .", "The claim is due by 31 March 2024 ."),
        ("Owners could sell data", "Owners could not sell data"),
    ):
        keys = event_keys(_edit(was, now))
        assert template.is_event(keys) == (event and "claim" in was)


def test_many_long_texts_are_compared_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def note(_: None, one: list[str], two: list[str], *, autojunk: bool) -> SequenceMatcher[str]:
        sizes.append(len(one) * len(two))
        return SequenceMatcher(None, one, two, autojunk=autojunk)

    monkeypatch.setattr(module, "SequenceMatcher", note)
    for size in (60, 390):
        one, two = (" ".join(random.Random(seed).choices("ab", k=size + seed)) for seed in (1, 3))
        assert substitution(f"x {one} y", f"z {two} w") is None
    assert sizes
    assert max(sizes) <= 10_000
