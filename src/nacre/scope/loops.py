"""Is this path a trap? Relative links that lead ever deeper repeat their segments.

Source: the path rules of Zeno, the crawler of the Internet Archive.
"""

from collections import Counter

LONG_PATH = 10
"""Segments from which a path is long enough to be judged by several repeaters."""


def has_path_loop(path: str, query: str, max_segment_repetition: int, threshold: int) -> bool:
    """True for a path or query that repeats itself like a crawler trap.

    That is: a segment, or a parameter of the query, stands there more than
    `max_segment_repetition` times, next to each other or not; or a path of ten segments or more
    holds `threshold` different segments that each reach that number.

    Args:
        path: Path of the URL, percent-encoded or not; "" for none.
        query: Query, with or without its `?`; "" for none.
        max_segment_repetition: How often one segment or parameter may stand there; 0 or less
            switches the check off.
        threshold: Different segments that make a long path a trap; 0 or less switches that off.
    """
    if max_segment_repetition <= 0:
        return False
    segments = [segment for segment in path.split("/") if segment]
    counts = Counter(segments)
    if max(_most(counts), _repeated(query)) > max_segment_repetition:
        return True
    if threshold <= 0 or len(segments) < LONG_PATH:
        return False
    repeaters = sum(count >= max_segment_repetition for count in counts.values())
    return repeaters >= threshold


def _most(counts: Counter[str]) -> int:
    return max(counts.values(), default=0)


def _repeated(query: str) -> int:
    """How often a parameter stands there, as it is written."""
    return _most(Counter(part for part in query.removeprefix("?").split("&") if part))
