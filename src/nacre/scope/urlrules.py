"""DecideRules on the text of the URL."""

from typing import Literal

from nacre.config.component import setting
from nacre.scope.decide import Predicated
from nacre.scope.loops import has_path_loop
from nacre.scope.paths import path_of, pathological
from nacre.scope.rule import Decision, Predicate, Subject, never
from nacre.scope.state import ScopeState
from nacre.uri.parse import scheme, split

_FOLDERS = 16_384
"""Folders that a rule remembers."""


class PathologicalPath(Predicated):
    """A path segment, or a run of them, repeated more than `max_repetitions` times in a row."""

    heritrix = "PathologicalPathDecideRule"
    rule: Literal["pathological-path"] = "pathological-path"
    decision: Decision = setting(Decision.REJECT, "What it says: ACCEPT or REJECT.")
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
            good.add(folder)
            return False

        return test


class PathLoop(Predicated):
    """A segment or parameter that comes back too often, not only in a row; in no stock scope."""

    rule: Literal["path-loop"] = "path-loop"
    decision: Decision = setting(Decision.REJECT, "What it says: ACCEPT or REJECT.")
    max_segment_repetition: int = setting(
        3, "How often a segment or a parameter may stand in a URL; 0 switches the rule off.", ge=0
    )
    threshold: int = setting(
        2,
        "Different segments that come that often in a long path and make it a trap; 0: none.",
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
    decision: Decision = setting(Decision.REJECT, "What it says: ACCEPT or REJECT.")
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
    decision: Decision = setting(Decision.REJECT, "What it says: ACCEPT or REJECT.")
    schemes: frozenset[str] = setting(
        frozenset(("http", "https", "dns")), "Schemes that can be fetched, lower case."
    )

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        known = self.schemes
        starts = tuple(f"{name}:" for name in sorted(known))
        return lambda subject: (
            not subject.url.startswith(starts) and scheme(subject.url) not in known
        )
