"""DecideRules on the text of the URL."""

from typing import Literal

from pydantic import field_validator

from nacre.config.component import setting
from nacre.scope.decide import Predicated
from nacre.scope.hops import is_embed
from nacre.scope.loops import has_path_loop
from nacre.scope.paths import path_of, pathological
from nacre.scope.patterns import PatternList, examine
from nacre.scope.rule import Decision, Predicate, Subject, never
from nacre.scope.state import ScopeState
from nacre.uri.parse import scheme, split

_FOLDERS = 16_384
"""Folders that a rule remembers."""


class MatchesListRegex(Predicated):
    """One of the expressions matches the URI (or all do)."""

    rule: Literal["matches-list-regex", "MatchesListRegexDecideRule"] = "matches-list-regex"
    regexes: tuple[str, ...] = setting((), "Regular expressions; an empty list never matches.")
    search: bool = setting(False, "Find anywhere; False: the whole URI must match.")
    all: bool = setting(False, "All must match; False: one is enough.")
    negate: bool = setting(False, "Speak when the list does not match.")
    spare: bool = setting(False, "Leave seeds, prerequisites and embeds alone.")

    @field_validator("regexes")
    @classmethod
    def _usable(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for note in filter(None, map(examine, value)):
            if not note.usable:
                raise ValueError(f"{note.pattern!r} is {note.message}")
        return value

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        if not self.regexes:
            return never
        patterns = PatternList(self.regexes, search=self.search, every=self.all)
        if patterns.is_timed:
            state.counts.append(lambda: patterns.timeouts)
        negate = self.negate
        if not self.spare:
            return lambda subject: patterns.matches(subject.url) is not negate
        return lambda subject: (
            patterns.matches(subject.url) is not negate
            and not subject.is_seed
            and not is_embed(subject.path)
        )


class PathologicalPath(Predicated):
    """A path segment, or a run of them, repeated more than `max_repetitions` times in a row."""

    rule: Literal["pathological-path", "PathologicalPathDecideRule"] = "pathological-path"
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
        3, "How often a segment or `name=value` may stand in a URL; 0 switches the rule off.", ge=0
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

    rule: Literal["too-many-path-segments", "TooManyPathSegmentsDecideRule"] = (
        "too-many-path-segments"
    )
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

    rule: Literal["scheme-not-in-set", "SchemeNotInSetDecideRule"] = "scheme-not-in-set"
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
