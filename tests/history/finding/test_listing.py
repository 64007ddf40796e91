"""News of an index page: new, changed and withdrawn."""

from typing import NamedTuple

from nacre.history.finding.listing import News, Shown, compare_lists, shown


class _Link(NamedTuple):
    url: str
    text: str = "t"


def _list(*names: str, **texts: str) -> Shown:
    return shown([_Link(name, texts.get(name, "t")) for name in names])


def test_what_is_new_and_what_changed() -> None:
    news = compare_lists(_list("a", "b", "c"), _list("n", "a", "b", "c", b="other"))
    assert news == News(("n",), ("b",), ())


def test_falling_off_the_end_is_no_withdrawal() -> None:
    assert not compare_lists(_list("a", "b", "c", "d"), _list("n", "m", "a", "b")).withdrawn


def test_vanishing_from_the_middle_is() -> None:
    assert compare_lists(_list("a", "b", "c", "d"), _list("a", "c", "d")).withdrawn == ("b",)


def test_a_new_design_withdraws_nothing() -> None:
    old = _list(*"abcdefghijklm")
    assert not compare_lists(old, _list("x", "y", "l", "m")).withdrawn


def test_each_link_counts_once_and_spaces_do_not() -> None:
    assert shown([_Link("a", "x  y"), _Link("a", "z")]) == shown([_Link("a", "x y")])


def test_paging_below_a_list_does_not_make_withdrawals_of_what_falls_off_its_end() -> None:
    pages = [f"http://e.example/news/index_{number}.html" for number in (1, 2, 3)]
    old = [f"http://e.example/news/t202401{day}_{day}.html" for day in range(16, 10, -1)]
    new = [f"http://e.example/news/t202401{day}_{day}.html" for day in (18, 17)]
    assert not compare_lists(_list(*old, *pages), _list(*new, *old[:4], *pages)).withdrawn
    shorter = [*old[:2], *old[3:]]
    assert compare_lists(_list(*old, *pages), _list(*shorter, *pages)).withdrawn == (old[2],)
