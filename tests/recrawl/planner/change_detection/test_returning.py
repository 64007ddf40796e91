"""Texts that return: a change the first times, noise once a page goes to and fro."""

import pytest

from nacre.core.pageview import PageView
from nacre.extract.pageview import page_view
from nacre.recrawl.planner.change_detection.change import Change, ChangeClass
from nacre.recrawl.planner.change_detection.returning import (
    RETURNED,
    PastVersions,
    back_at_last,
    own_text,
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


def test_a_page_that_is_back_at_the_last_version_of_the_archive() -> None:
    change = Change(ChangeClass.MARKUP, proven=True)
    past = PastVersions((1, 2), wholes=(11, 12), left_out=11)
    back, now = back_at_last(change, past, 2, 12, 9)
    assert (back.kind, back.reason, back.proven) == (ChangeClass.MINOR, RETURNED, False)
    assert (now.texts, now.wholes, now.left_out) == ((2, 1), (12, 11), 0)
    often = PastVersions((1, 2), (6, 7, 8), (11, 12), (6, 7, 8), 11)
    assert back_at_last(change, often, 2, 12, 9)[0] == change
    assert back_at_last(change, past, 1, 12, 9)[0] == change, "menus alone differed"
    assert back_at_last(change, past, 3, 12, 9)[0] == change, "its text was never a change"
