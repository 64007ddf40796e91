"""DecideRules on the form of the URL: its scheme, its depth, and paths that repeat themselves."""

from collections import Counter
from typing import Literal

from nacre.config.component import setting
from nacre.scope.rules.rule import Predicated
from nacre.scope.scope import Decision, Predicate, never
from nacre.scope.state import ScopeState
from nacre.scope.subject import Subject
from nacre.uri.parse import scheme, split

_FOLDERS, _LONGEST = 16_384, 500
"""Folders that a rule remembers, and the letters of the longest of them."""


class PathologicalPath(Predicated):
    """A path segment, or a run of them, repeated more than `max_repetitions` times in a row."""

    heritrix = "PathologicalPathDecideRule"
    rule: Literal["pathological-path"] = "pathological-path"
    decision: Decision = setting(Decision.REJECT, "The decision of the rule: ACCEPT or REJECT.")
    max_repetitions: int = setting(2, "Repetitions allowed; 0 switches the rule off.", ge=0)

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        limit = self.max_repetitions
        if not limit:
            return never
        good: set[str] = set()

        def test(subject: Subject) -> bool:
            # The last piece never counts, and links of a page share a few folders.
            url = subject.url
            folder = url[: url.rfind("/") + 1]
            if folder in good:
                return False
            if pathological(folder, limit):
                return True
            if len(good) >= _FOLDERS:
                good.clear()
            if len(folder) <= _LONGEST:
                good.add(folder)
            return False

        return test


class PathLoop(Predicated):
    """A segment or parameter that is repeated too often, in a row or not; in no stock scope."""

    rule: Literal["path-loop"] = "path-loop"
    decision: Decision = setting(Decision.REJECT, "The decision of the rule: ACCEPT or REJECT.")
    max_segment_repetition: int = setting(
        3, "How often a segment or a parameter may occur in a URL; 0 switches the rule off.", ge=0
    )
    threshold: int = setting(
        2,
        "Different segments that occur that often in a long path and make it a trap; 0: none.",
        ge=0,
    )

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        most, threshold = self.max_segment_repetition, self.threshold

        def test(subject: Subject) -> bool:
            parts = split(subject.url)
            return has_path_loop(parts.path, parts.query or "", most, threshold)

        return test if most else never


class TooManyPathSegments(Predicated):
    """More slashes in the path than `max_path_depth`."""

    heritrix = "TooManyPathSegmentsDecideRule"
    rule: Literal["too-many-path-segments"] = "too-many-path-segments"
    decision: Decision = setting(Decision.REJECT, "The decision of the rule: ACCEPT or REJECT.")
    max_path_depth: int = setting(20, "Path segments allowed.", unit="segments", ge=0)

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        limit = self.max_path_depth

        def test(subject: Subject) -> bool:
            url = subject.url
            # The authority adds two slashes, and the query may hold more: count closely only then.
            return url.count("/") > limit and path_of(url).count("/") > limit

        return test


class SchemeNotInSet(Predicated):
    """The scheme is none of the set."""

    heritrix = "SchemeNotInSetDecideRule"
    rule: Literal["scheme-not-in-set"] = "scheme-not-in-set"
    decision: Decision = setting(Decision.REJECT, "The decision of the rule: ACCEPT or REJECT.")
    schemes: frozenset[str] = setting(
        frozenset(("http", "https", "dns")), "Schemes that can be fetched, lower case."
    )

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        schemes = self.schemes
        starts = tuple(f"{name}:" for name in sorted(schemes))
        return lambda subject: (
            not subject.url.startswith(starts) and scheme(subject.url) not in schemes
        )


def path_of(url: str) -> str:
    """Return the path of a URL without query; without authority, the text after the first slash."""
    head = url.partition("?")[0]
    slash = head.find("/", head.find("://") + 3) if "://" in head else head.find("/")
    return head[slash:] if slash >= 0 else ""


def pathological(url: str, repetitions: int) -> bool:
    r"""A segment, or a run of segments, occurs more than `repetitions` times in a row.

    The rule behind Heritrix's expression `.*?/(.*?/)\1{n,}.*`: each repetition lies between two
    slashes, so the last piece of the URL never counts. Source: Heritrix's
    PathologicalPathDecideRule.
    """
    pieces = url.split("/")[1:-1]
    count = len(pieces)
    if count <= repetitions or len(set(pieces)) == count:
        return False
    for size in range(1, count // (repetitions + 1) + 1):
        # A run of `size * repetitions` pieces that equal the one `size` later is such a repeat.
        needed = size * repetitions
        run = 0
        for index in range(count - size):
            run = run + 1 if pieces[index] == pieces[index + size] else 0
            if run >= needed:
                return True
    return False


LONG_PATH = 10
"""Segments from which a path is long enough to be judged by several repeaters."""


def has_path_loop(path: str, query: str, max_segment_repetition: int, threshold: int) -> bool:
    """Return True for a path or query that repeats itself like a crawler trap.

    That is: a segment, or a parameter of the query, occurs more than
    `max_segment_repetition` times, next to each other or not; or a path of ten segments or more
    holds `threshold` different segments that each reach that number.

    Args:
        path: Path of the URL, percent-encoded or not; "" for none.
        query: Query, with or without its `?`; "" for none.
        max_segment_repetition: How often one segment or parameter may occur; 0 or less
            switches the check off.
        threshold: Different segments that make a long path a trap; 0 or less switches that off.
    """
    if max_segment_repetition <= 0:
        return False
    segments = [segment for segment in path.split("/") if segment]
    counts = Counter(segments)
    if max(_most(counts), _count_repetitions(query)) > max_segment_repetition:
        return True
    if threshold <= 0 or len(segments) < LONG_PATH:
        return False
    repeaters = sum(count >= max_segment_repetition for count in counts.values())
    return repeaters >= threshold


def _most(counts: Counter[str]) -> int:
    return max(counts.values(), default=0)


def _count_repetitions(query: str) -> int:
    """Return the number of times that a parameter occurs, as it is written."""
    return _most(Counter(part for part in query.removeprefix("?").split("&") if part))
