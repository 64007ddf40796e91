"""Texts that return: a change the first times, noise once a page goes to and fro."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.pagerow import PageView, Piece
from nacre.extract.pageview import page_view
from nacre.planner.change_detection.change import Change, ChangeClass
from nacre.planner.change_detection.returning import (
    RETURNED,
    PastVersions,
    newest_version,
    own_text,
    unstored_version,
    whole_version,
    with_past,
    with_wholes,
)

CHANGE = Change(ChangeClass.MINOR, 0.1, "text")


def _reasons(texts: str, every: int = 1) -> list[str]:
    """What is held of each version of a page, one a visit: `new`, `returned` or `noise`."""
    past = PastVersions((ord(texts[0]),))
    found = []
    for number, text in enumerate(texts[1:], 1):
        change, past = with_past(CHANGE, past, ord(text), number * every)
        noise = change.kind is ChangeClass.NOISE
        found.append("noise" if noise else "new" if change.reason == "text" else "returned")
    return found


@pytest.mark.parametrize(
    ("texts", "reasons"),
    [
        ("AB", ["new"]),
        ("ABA", ["new", "returned"]),
        ("ABCA", ["new", "new", "returned"]),
        ("ABABABA", ["new", "returned", "returned", "returned", "noise", "noise"]),
        ("ABABABCB", ["new", "returned", "returned", "returned", "noise", "new", "returned"]),
        ("ABACADAEA", ["new", "returned"] * 4),
        ("ABCDEFGHIA", ["new"] * 9),
    ],
)
def test_a_text_that_returns_is_known(texts: str, reasons: list[str]) -> None:
    assert _reasons(texts) == reasons


def test_what_returns_seldom_is_a_change_each_time() -> None:
    assert _reasons("ABABABABAB", every=10) == ["new"] + ["returned"] * 8


def test_a_page_that_goes_to_and_fro_with_most_of_its_text_changes_each_time() -> None:
    past, large = PastVersions((1, 2), (5, 6, 7)), CHANGE._replace(kind=ChangeClass.MAJOR)
    change, _ = with_past(large, past, 2, 8)
    assert (change.kind, change.reason) == (ChangeClass.MAJOR, RETURNED)


def test_a_return_is_never_proven_to_be_noise() -> None:
    past = PastVersions((1, 2), (5, 6, 7))
    change, _ = with_past(CHANGE, past, 2, 8)
    assert (change.kind, change.proven) == (ChangeClass.NOISE, False)


def test_the_same_text_changes_nothing() -> None:
    past = PastVersions((1, 2), (3,))
    assert with_past(CHANGE, past, 1, 9) == (CHANGE, past)


def _view(text: str, menu: str = "Start") -> PageView:
    return page_view(f"<ul><li><a href=/>{menu}</a></ul><h1>公告</h1><p>{text}</p>")


def test_menus_clocks_and_the_order_of_blocks_are_no_part_of_the_text() -> None:
    text = own_text(_view("期限为2026年"))
    assert own_text(_view("期限为2026年", menu="首页")) == text
    assert own_text(page_view("<p>期限为2026年</p><div>公告</div>")) == text
    assert own_text(_view("期限为2027年")) != text
    assert own_text(_view("浏览次数:1")) == own_text(_view("浏览次数:22"))


LIKELY = Change(ChangeClass.TEMPLATE, 0.1, "navigation")


def _proofs(versions: str, change: Change = LIKELY, every: int = 1) -> str:
    """Which versions of a page are proven to be noise: `+`; others are stored: `.`."""
    past, proofs = PastVersions((1,), wholes=(ord(versions[0]),)), ""
    for number, version in enumerate(versions[1:], 1):
        verdict, past = with_wholes(change, past, ord(version), number * every)
        proofs += "+" if verdict.proven else "."
        assert verdict.proven == (verdict.reason == RETURNED)
    return proofs


@pytest.mark.parametrize(
    ("versions", "proofs"),
    [
        ("AB", "."),
        ("ABB", ".+"),
        ("ABABAB", "....+"),
        ("ABABABCAD", "....+.+."),
        ("ABCDEFGHIA", "........."),
    ],
)
def test_a_version_that_is_stored_is_proven_if_the_page_goes_to_and_fro(
    versions: str, proofs: str
) -> None:
    assert _proofs(versions) == proofs


def test_versions_that_return_seldom_and_changes_are_stored_each_time() -> None:
    assert "+" not in _proofs("ABABABABAB", every=10)
    assert "+" not in _proofs("ABABABABAB", CHANGE)


def test_a_whole_version_has_all_that_a_reader_sees() -> None:
    views = [
        _view("期限"),
        _view("期限", menu="首页"),
        _view("时限"),
        page_view("<h1>公告</h1><p>期限</p><ul><li><a href=/>Start</a></ul>"),
        page_view("<ul><li><a href=/x>Start</a></ul><h1>公告</h1><p>期限</p>"),
    ]
    assert len({whole_version(view) for view in views}) == len(views)
    assert whole_version(_view("期限")) == whole_version(views[0])


_PIECES = st.lists(
    st.builds(Piece, st.sampled_from(["text", "nav"]), st.just(7), st.sampled_from("期限abc")),
    max_size=12,
).map(tuple)


@given(_PIECES, _PIECES)
def test_a_version_that_is_not_stored_is_restored(
    before: tuple[Piece, ...], after: tuple[Piece, ...]
) -> None:
    stored, newest = PageView(before), PageView(after)
    unstored = unstored_version(stored, newest)
    assert unstored is not None
    assert newest_version(stored, unstored).pieces == after
    assert newest_version(stored, None) == stored
    other = PageView((*before, Piece("text", 7, "read in another way")))
    assert newest_version(other, unstored) == other


def test_the_shared_pieces_of_two_versions_are_not_repeated() -> None:
    stored = page_view("<h1>公告</h1><p>a<p>b<p>c<p>d<footer>End</footer>")
    newest = page_view("<h1>通知</h1><p>b<p>x<p>c<p>a<p>d<footer>Ende</footer>")
    unstored = unstored_version(stored, newest)
    assert unstored is not None
    edits = [(e.start, e.end, [piece.text for piece in e.pieces]) for e in unstored.edits]
    assert edits == [(0, 2, ["通知"]), (3, 3, ["x"]), (4, 4, ["a"]), (5, 6, ["Ende"])]


def test_a_text_that_is_repeated_between_others_is_compared_in_few_steps() -> None:
    pieces = [
        tuple(Piece("text", 7, text) for n in range(500) for text in ("p", f"{side}{n}"))
        for side in "ab"
    ]
    calls = 0

    def profile(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(profile)
    try:
        unstored = unstored_version(
            *(PageView((*side, Piece("text", 7, "end"))) for side in pieces)
        )
    finally:
        sys.setprofile(None)
    assert unstored is not None
    assert len(unstored.edits) == 500
    assert calls < 100_000


def test_what_differs_in_too_much_cannot_be_left_out() -> None:
    stored = page_view("<h1>公告</h1>")
    assert unstored_version(stored, page_view("<h1>公告</h1>" + "<p>" + "长" * 12_000)) is None
    assert unstored_version(stored, page_view("<h1>公告</h1>" + "<p>" + "长" * 10_000)) is not None


def test_many_short_pieces_are_as_much_as_a_long_one() -> None:
    stored = page_view("<h1>公告</h1>")
    assert unstored_version(stored, page_view("<h1>公告</h1>" + "<p>a" * 2_500)) is None
    assert unstored_version(stored, page_view("<h1>公告</h1>" + "<p>a" * 2_000)) is not None
