"""Shares: new pages and known pages both keep a part of a budget."""

from nacre.planner.phases.shares import Shares
from nacre.planner.step import Choice


def test_new_pages_leave_a_part_to_known_ones() -> None:
    shares = Shares()
    shares.begin(100, [])
    assert (shares.room_for_new(100), shares.room_for_waiting(100)) == (95, 50)
    shares.take(0, 40)
    assert (shares.room_for_new(60), shares.room_for_waiting(60)) == (55, 10)
    shares.take(50, 0)
    assert (shares.room_for_new(10), shares.room_for_waiting(10)) == (5, 5)
    assert shares.room_for_new(3) == 3
    shares.take(0, 10)
    assert (shares.room_for_new(10), shares.room_for_waiting(10)) == (0, 0)


def test_a_step_that_goes_on_counts_what_was_chosen() -> None:
    shares = Shares()
    shares.begin(40, [Choice("http://a.test/", 1.0, "new")] * 60)
    assert shares.total == 100
    assert shares.room_for_new(40) == 35
    shares.begin(10, [])
    assert shares.total == 100, "it begins once"


def test_a_step_without_room_has_room_for_one_embed() -> None:
    shares = Shares()
    shares.begin(0, [])
    shares.begin(10, [])
    assert shares.total == 0
    assert [shares.is_full_of_embeds(10) for _ in range(3)] == [False, True, True]


def test_embeds_of_new_pages_have_a_part_of_a_tight_budget() -> None:
    shares = Shares()
    assert not shares.is_full_of_embeds(1_000), "before any choice"
    shares.begin(100, [])
    assert [shares.is_full_of_embeds(1_000) for _ in range(7)] == [False] * 5 + [True] * 2
    assert not shares.is_full_of_embeds(50), "there is room for all pages"
