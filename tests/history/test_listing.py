"""News of an index page: new, changed, withdrawn, and more than it shows."""

from typing import NamedTuple

from nacre.history.listing import News, Shown, compare_lists, shown


class _Link(NamedTuple):
    url: str
    text: str = "t"


def _list(*names: str, **texts: str) -> Shown:
    return shown([_Link(name, texts.get(name, "t")) for name in names])


def test_what_is_new_and_what_changed() -> None:
    news = compare_lists(_list("a", "b", "c"), _list("n", "a", "b", "c", b="other"))
    assert news == News(("n",), ("b",), (), overflow=False)


def test_falling_off_the_end_is_no_withdrawal() -> None:
    assert not compare_lists(_list("a", "b", "c", "d"), _list("n", "m", "a", "b")).withdrawn


def test_vanishing_from_the_middle_is() -> None:
    assert compare_lists(_list("a", "b", "c", "d"), _list("a", "c", "d")).withdrawn == ("b",)


def test_a_new_design_withdraws_nothing() -> None:
    old = _list(*"abcdefghijklm")
    assert not compare_lists(old, _list("x", "y", "l", "m")).withdrawn


def test_more_than_it_shows() -> None:
    pinned = ("p", "q", "r")
    assert compare_lists(_list(*pinned, "a", "b"), _list(*pinned, "x", "y")).overflow
    assert not compare_lists(_list(*pinned, "a", "b"), _list(*pinned, "x", "a")).overflow
    assert not compare_lists(Shown(), _list("x", "y", "z", "w")).overflow


def test_each_link_counts_once_and_spaces_do_not() -> None:
    assert shown([_Link("a", "x  y"), _Link("a", "z")]) == shown([_Link("a", "x y")])


def test_menus_do_not_hide_that_a_list_was_flooded() -> None:
    menu = ["http://e.example/news/", "http://e.example/about/"]
    old = [f"http://e.example/news/t2024010{day}_{day}.html" for day in range(1, 7)]
    new = [f"http://e.example/news/t2024020{day}_{day}.html" for day in range(1, 7)]
    assert compare_lists(_list(*menu, *old), _list(*menu, *new)).overflow
    assert not compare_lists(_list(*menu, *old), _list(*menu, *new[:3], *old[:3])).overflow
