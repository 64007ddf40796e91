import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.frontier.choices import QueuePrecedence, UriPrecedence
from nacre.frontier.precedence import queue_precedence, uri_precedence


@pytest.mark.parametrize(
    ("choice", "cost", "path", "precedence"),
    [
        (UriPrecedence(), 3, "LLL", 3),
        (UriPrecedence(), 500, "", 127),
        (UriPrecedence(policy="base", base=9), 3, "LLL", 9),
        (UriPrecedence(policy="hops"), 3, "", 1),
        (UriPrecedence(policy="hops"), 3, "LELR", 3),
        (UriPrecedence(policy="hops", navlinks_only=False), 3, "LELR", 5),
        (UriPrecedence(policy="hops", base=0), 1, "60+LE", 61),
        (UriPrecedence(policy="hops", base=100), 1, "60+LL", 127),
    ],
)
def test_precedence_of_uris(choice: UriPrecedence, cost: int, path: str, precedence: int) -> None:
    assert uri_precedence(choice, cost, path) == precedence


@pytest.mark.parametrize(
    ("choice", "successes", "lowest", "precedence"),
    [
        (QueuePrecedence(), 5000, 9, 3),
        (QueuePrecedence(policy="highest-uri", base=2), 5000, 9, 11),
        (QueuePrecedence(policy="highest-uri", base=250), 0, 127, 255),
        (QueuePrecedence(policy="success-counts", base=2), 99, 9, 2),
        (QueuePrecedence(policy="success-counts", base=2), 100, 9, 3),
        (QueuePrecedence(policy="success-counts", base=2), 1099, 9, 3),
        (QueuePrecedence(policy="success-counts", base=2), 1100, 9, 4),
        (QueuePrecedence(policy="success-counts", base=2), 2100, 9, 5),
        (QueuePrecedence(policy="success-counts", increments=(10,)), 25, 0, 5),
        (QueuePrecedence(policy="success-counts", increments=(1,)), 10**9, 0, 255),
    ],
)
def test_precedence_of_queues(
    choice: QueuePrecedence, successes: int, lowest: int, precedence: int
) -> None:
    assert queue_precedence(choice, successes, lowest) == precedence


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=4), st.integers(0, 300), st.integers(0, 50)
)
def test_more_successes_never_come_sooner(increments: list[int], some: int, more: int) -> None:
    choice = QueuePrecedence(policy="success-counts", increments=tuple(increments))
    assert queue_precedence(choice, some) <= queue_precedence(choice, some + more)
