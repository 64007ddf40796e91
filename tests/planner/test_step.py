"""What a change that may be noise teaches waits for a second visit."""

from functools import partial

import pytest

from nacre.planner.step import Step, Unconfirmed


@pytest.mark.parametrize(
    ("differing", "learned"),
    [
        ([set()], ["a", "b", "c", "late"]),
        ([{8}], ["a", "b", "c", "late"]),
        ([{7, 8}], []),
        ([{7}, set()], []),
    ],
)
def test_what_waits_is_learned_unless_it_was_noise(
    differing: list[set[int]], learned: list[str]
) -> None:
    found: list[str] = []
    doubts = Unconfirmed()
    for name in "abc":
        doubts.note(f"http://a.test/{name}", 7, partial(found.append, name))
    pages = doubts.pages(10)
    assert pages == ["http://a.test/a", "http://a.test/b"]
    assert found == []
    for url, places in zip(pages, differing, strict=False):
        doubts.was_paired(url, places)
    doubts.note("http://a.test/late", 7, partial(found.append, "late"))
    doubts.settle()
    assert found == learned


def test_what_nobody_looked_at_again_counts_in_the_end() -> None:
    found: list[str] = []
    doubts = Unconfirmed()
    doubts.note("http://a.test/a", 7, partial(found.append, "a"))
    doubts.was_paired("http://a.test/other", {7})
    doubts.settle()
    doubts.settle()
    assert found == ["a"]


def test_places_of_a_site_and_pages_are_bounded() -> None:
    doubts = Unconfirmed()
    for place in range(1, 100):
        doubts.note(f"http://a.test/{place}", place, print)
        doubts.note(f"http://b.test/{place}", place, print)
    assert len(doubts.pages(1000)) == 20
    assert len(doubts.pages(3)) == 3


@pytest.mark.parametrize(
    ("last", "now", "every"),
    [(-1.0, 7 * 86_400.0, 1.0), (86_400.0, 8 * 86_400.0, 7.0), (8 * 86_400.0, 86_400.0, 1.0)],
)
def test_days_between_steps_are_those_since_the_one_before(
    last: float, now: float, every: float
) -> None:
    step = Step()
    step.time = last
    step.begin(now)
    assert step.every == every
