import pytest

from nacre.console.links import cursor_of, page_way, place_of
from nacre.fleet.refusals import RefusedRequestError


def test_a_cursor_is_its_place():
    assert place_of(cursor_of([1.5, "图,"]), tuple[float, str]) == (1.5, "图,")
    assert place_of("", int) is None
    for wrong in ("!", "AAAA", cursor_of("text")):
        with pytest.raises(RefusedRequestError, match="not a cursor"):
            place_of(wrong, int)


def test_the_way_back_is_that_by_which_one_came():
    cursors = ["", *(f"c{number}" for number in range(1, 300)), None]
    query = {"after": "", "back": ""}
    for place in range(299):
        way = page_way(query["after"], query["back"], cursors[place + 1])
        before = None if place == 0 else (cursors[place - 1] or "")
        assert (way.previous["after"] if way.previous is not None else None) == before
        assert way.next is not None
        assert len(way.next["back"].split(".")) <= 100
        query = way.next
    assert page_way("c299", query["back"], None).next is None
    for _ in range(99):
        way = page_way(query["after"], query["back"], None)
        assert way.previous is not None
        query = way.previous
    assert query["after"] == "c200"
    assert page_way("c9", "....", "c10").next == {"after": "c10", "back": "c9"}


def test_a_way_of_long_cursors_fits_into_a_query():
    query, passed = {"after": "", "back": ""}, list[str]()
    for number in range(150):
        way = page_way(query["after"], query["back"], f"{number:03}{'x' * 300}")
        assert way.next is not None
        query = way.next
        assert len(query["back"]) <= 8000
        passed = [one for one in query["back"].split(".") if one]
        assert all(len(one) == 303 for one in passed)
    assert passed[-1].startswith("148")
    assert len(passed) > 20
