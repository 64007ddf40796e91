"""Tests on hop paths."""

from functools import lru_cache

from nacre.core.crawluri import Hop, split_path

_NAVIGATION = "LMS"

MAX_REDIRECTS = 20
"""Redirects in a row that a transclusion may take, as in browsers; Heritrix follows them for ever,
which a server that invents a longer URL each time makes use of."""


@lru_cache(maxsize=16_384)
def transcluded(path: str, max_hops: int, max_speculative: int) -> bool:
    """A short way from a page: an embed, or what an embed needs.

    Looks at the hops since the last L, S or M: at least one, at most `max_speculative` X, and at
    most `max_hops` that are no redirect; of redirects there may be `MAX_REDIRECTS`.
    """
    hops = speculative = redirects = 0
    for letter in reversed(split_path(path)[1]):
        if letter in _NAVIGATION:
            break
        if letter == "R":
            redirects += 1
            continue
        hops += 1
        if letter == "X":
            speculative += 1
    if hops > max_hops or speculative > max_speculative:
        return False
    return hops + redirects > 0 and redirects <= MAX_REDIRECTS


def link_hops(path: str) -> int:
    """Number of navigational hops (L, and M and S, which lead to pages too)."""
    overflow, letters = split_path(path)
    return overflow + sum(letters.count(letter) for letter in _NAVIGATION)


def is_embed(path: str) -> bool:
    """The last hop that is no redirect is an embed or a prerequisite."""
    letters = split_path(path)[1].rstrip("R")
    return letters.endswith((Hop.EMBED, Hop.PREREQUISITE))
