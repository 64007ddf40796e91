"""What `make traps` says of a goal: a miss is never silent, and a known one must not get worse."""

from pathlib import Path

import pytest

from bench.traps import GOAL, KNOWN_MISSES, WORLDS, folder_of, judged, needed
from bench.worlds.calendar import Calendar
from bench.worlds.shop import Shop

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "took", "said", "failed"),
    [
        ("shop", 130, "shop meets the goal of 1.3", False),
        ("shop", 131, "shop MISSES the goal of 1.3", True),
        ("shop", None, "shop MISSES the goal of 1.3", True),
        ("MediaWiki", 145, "a known miss, which must stay below 1.5", False),
        ("MediaWiki", 151, "worse than the 1.5 of its known miss", True),
        ("MediaWiki", None, "worse than the 1.5 of its known miss", True),
        ("MediaWiki", 120, "take it out of KNOWN_MISSES", False),
    ],
)
def test_what_is_said_of_a_goal(name: str, took: int | None, said: str, *, failed: bool) -> None:
    told, is_failure = judged(name, took, 100)
    assert said in told
    assert is_failure is failed


def test_known_misses_are_worlds_and_are_told_in_the_docs() -> None:
    text = (ROOT / "docs/performance.md").read_text()
    for name, bound in KNOWN_MISSES.items():
        assert name in WORLDS
        assert bound > GOAL
        assert f"- {name} misses the goal." in text


def test_the_requests_until_95_percent() -> None:
    assert needed([1, 1, 2, 19, 20], 20) == 4
    assert needed([1, 1, 2, 18], 20) is None


def test_replies_are_kept_for_one_version_of_a_world() -> None:
    assert folder_of(Calendar(), "x") != folder_of(Shop(products=151), "x")
    assert folder_of(Calendar(), "x") == folder_of(Calendar(), "x")
    assert folder_of(Calendar(events=7), "x") != folder_of(Calendar(), "x")
