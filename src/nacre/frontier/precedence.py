"""Precedences of URIs and queues. Source: Heritrix 3, precedence policies."""

from nacre.core.crawluri import Hop, hop_count, split_path
from nacre.frontier.choices import QueuePrecedence, UriPrecedence

MAX_PRECEDENCE = 127
"""Of a URI; a queue's goes to 255."""

MAX_QUEUE_PRECEDENCE = 255


def uri_precedence(choice: UriPrecedence, cost: int, path: str) -> int:
    """Precedence of a URI, 0 to 127; under `preloaded` that of a URI which its file leaves out.

    Args:
        choice: The policy.
        cost: Its cost.
        path: Its hop path.
    """
    if choice.policy == "cost":
        value = cost
    elif choice.policy in {"base", "preloaded"}:
        value = choice.base
    else:
        value = choice.base + (_links(path) if choice.navlinks_only else hop_count(path))
    return min(value, MAX_PRECEDENCE)


def _links(path: str) -> int:
    """Link hops of a path; those that its number stands for are taken for links."""
    overflow, letters = split_path(path)
    return overflow + letters.count(Hop.LINK)


def queue_precedence(choice: QueuePrecedence, successes: int = 0, lowest: int = 0) -> int:
    """Precedence of a queue, 0 to 255.

    Args:
        choice: The policy.
        successes: URIs of it that were fetched with success.
        lowest: Lowest precedence among its URIs; 0 when it has none.
    """
    value = choice.base
    if choice.policy == "highest-uri":
        value += lowest
    elif choice.policy == "success-counts":
        value += _tiers(choice.increments, successes)
    return min(value, MAX_QUEUE_PRECEDENCE)


def _tiers(increments: tuple[int, ...], successes: int) -> int:
    """Steps passed: the last one repeats."""
    steps = 0
    for increment in increments[:-1]:
        if successes < increment:
            return steps
        successes -= increment
        steps += 1
    return steps + successes // increments[-1]
