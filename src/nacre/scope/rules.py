"""The DecideRules of Heritrix's stock scope and those that the `crawl` options need.

Each class is the settings of one rule; `opinions` builds it, or gives nothing where it can never
speak. Names and defaults: reference/heritrix.md 1.3.
"""

from collections.abc import Callable, Iterator
from typing import Annotated, Literal

from pydantic import Field, field_validator

from nacre.config.component import Component, setting
from nacre.core.crawluri import Hop, hop_count
from nacre.scope.hops import is_embed, link_hops, transcluded
from nacre.scope.paths import pathological
from nacre.scope.patterns import PatternList, examine
from nacre.scope.rule import Decision, Opinion, Predicate, Subject
from nacre.scope.state import Coercion, ScopeState
from nacre.uri.parse import scheme
from nacre.uri.surt import SurtPrefixSet, implied_prefix, scope_surt


class Rule(Component):
    """What all rules have."""

    enabled: bool = setting(True, "False leaves the rule out.")
    comment: str = setting("", "Free text for the operator.")

    @property
    def label(self) -> str:
        """How the rule is named in logs and explanations."""
        return f"{getattr(self, 'rule', '')}" + (f" ({self.comment})" if self.comment else "")

    def build(self, state: ScopeState) -> Predicate | None:
        """The rule's test; None when it can never be true."""
        raise TypeError(f"{type(self).__name__} builds no test")

    @property
    def says(self) -> Decision:
        """What the rule says when its test is true."""
        raise TypeError(f"{type(self).__name__} has no decision")

    def opinions(self, state: ScopeState) -> Iterator[Opinion]:
        """The rule, built; nothing when it is disabled or can never speak."""
        test = self.build(state) if self.enabled else None
        if test is not None:
            yield Opinion(self.label, self.says, test)


class Predicated(Rule):
    """A rule that says `decision` when its test is true, and nothing otherwise."""

    decision: Decision = setting(Decision.ACCEPT, "What it says: ACCEPT or REJECT.")

    @property
    def says(self) -> Decision:
        """See `Rule.says`."""
        return self.decision

    @field_validator("decision", mode="before")
    @classmethod
    def _upper(cls, value: object) -> object:
        return value.upper() if isinstance(value, str) else value


class Accept(Predicated):
    """Says ACCEPT to everything."""

    rule: Literal["accept", "AcceptDecideRule"] = "accept"
    decision: Literal[Decision.ACCEPT] = Decision.ACCEPT

    def build(self, state: ScopeState) -> Predicate | None:
        """See `Rule.build`."""
        return _always


class Reject(Predicated):
    """Says REJECT to everything: the start of a scope that lists what it wants."""

    rule: Literal["reject", "RejectDecideRule"] = "reject"
    decision: Literal[Decision.REJECT] = Decision.REJECT

    def build(self, state: ScopeState) -> Predicate | None:
        """See `Rule.build`."""
        return _always


def _always(_: Subject) -> bool:
    return True


class SurtPrefixed(Predicated):
    """The URI's SURT begins with a prefix of the set; https counts as http.

    With decision ACCEPT the set grows by the seed file's `+` lines, with REJECT by its `-` lines.
    """

    rule: Literal["surt-prefixed", "SurtPrefixedDecideRule"] = "surt-prefixed"
    seeds_as_prefixes: bool = setting(True, "The seeds imply prefixes.")
    prefixes: tuple[str, ...] = setting(
        (), "SURT prefixes, or URLs that imply them (a trailing slash means this host only)."
    )
    coerce: Coercion = setting(
        Coercion.PREFIX, "What the seeds imply: `prefix`, their `host`, `domain` or `site`."
    )
    also_check_via: bool = setting(False, "A URI whose via matches is in too.")

    def build(self, state: ScopeState) -> Predicate | None:
        """See `Rule.build`."""
        sets = [SurtPrefixSet(implied_prefix(text.lstrip("+")) for text in self.prefixes)]
        if self.seeds_as_prefixes:
            sets.append(state.seed_prefixes(self.coerce))
        sets.append(state.directives(accept=self.decision is Decision.ACCEPT))
        live = [s.match for s in sets[1:]]
        if self.prefixes:
            live.insert(0, sets[0].match)
        if self.decision is Decision.REJECT and not self.prefixes and not self.seeds_as_prefixes:
            # Only `-` directives can fill it; an empty set costs one test.
            negative = sets[-1]
            return lambda subject: bool(negative) and negative.match(subject.surt) is not None
        return _via_too(_any_match(live)) if self.also_check_via else _surt_test(live)


def _any_match(matches: list[Callable[[str], str | None]]) -> Callable[[str], bool]:
    return lambda surt: any(match(surt) is not None for match in matches)


def _surt_test(matches: list[Callable[[str], str | None]]) -> Predicate:
    if len(matches) == 1:
        only = matches[0]
        return lambda subject: only(subject.surt) is not None
    if len(matches) == 2:
        first, second = matches
        return lambda subject: first(subject.surt) is not None or second(subject.surt) is not None
    test = _any_match(matches)
    return lambda subject: test(subject.surt)


def _via_too(test: Callable[[str], bool]) -> Predicate:
    return lambda subject: (
        test(subject.surt) or (subject.via != "" and test(scope_surt(subject.via)))
    )


class TooManyHops(Predicated):
    """More hops of any kind from the seed than `max_hops`."""

    rule: Literal["too-many-hops", "TooManyHopsDecideRule"] = "too-many-hops"
    decision: Decision = setting(Decision.REJECT, "What it says: ACCEPT or REJECT.")
    max_hops: int = setting(20, "Hops allowed.", unit="hops", ge=0)

    def build(self, state: ScopeState) -> Predicate | None:
        """See `Rule.build`."""
        limit = self.max_hops

        def test(subject: Subject) -> bool:
            path = subject.path
            # A path without an overflow mark is as long as its hops.
            return len(path) > limit and hop_count(path) > limit

        return test


class TooManyLinkHops(Predicated):
    """More navigational hops (L, M, S) than `max_hops`: the depth that `--depth` counts."""

    rule: Literal["too-many-link-hops"] = "too-many-link-hops"
    decision: Decision = setting(Decision.REJECT, "What it says: ACCEPT or REJECT.")
    max_hops: int = setting(
        20, "Navigational hops allowed; 0 keeps to the seeds.", unit="hops", ge=0
    )

    def build(self, state: ScopeState) -> Predicate | None:
        """See `Rule.build`."""
        limit = self.max_hops
        return lambda subject: len(subject.path) > limit and link_hops(subject.path) > limit


class Transclusion(Predicated):
    """A short way from a page: its embeds, from anywhere."""

    rule: Literal["transclusion", "TransclusionDecideRule"] = "transclusion"
    max_trans_hops: int = setting(
        2, "Hops since the page, redirects not counted.", unit="hops", ge=0
    )
    max_speculative_hops: int = setting(1, "Speculative (X) hops among them.", unit="hops", ge=0)

    def build(self, state: ScopeState) -> Predicate | None:
        """See `Rule.build`."""
        hops, speculative = self.max_trans_hops, self.max_speculative_hops

        def test(subject: Subject) -> bool:
            path = subject.path
            return path[-1:] not in _PAGES and transcluded(path, hops, speculative)

        return test


_PAGES = frozenset(("", "L", "M", "S"))


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

    def build(self, state: ScopeState) -> Predicate | None:
        """See `Rule.build`."""
        if not self.regexes:
            return None
        patterns = PatternList(self.regexes, search=self.search, every=self.all)
        state.patterns.append(patterns)
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

    def build(self, state: ScopeState) -> Predicate | None:
        """See `Rule.build`."""
        limit = self.max_repetitions
        return (lambda subject: pathological(subject.url, limit)) if limit else None


class TooManyPathSegments(Predicated):
    """More slashes in the path than `max_path_depth`."""

    rule: Literal["too-many-path-segments", "TooManyPathSegmentsDecideRule"] = (
        "too-many-path-segments"
    )
    decision: Decision = setting(Decision.REJECT, "What it says: ACCEPT or REJECT.")
    max_path_depth: int = setting(20, "Path segments allowed.", unit="segments", ge=0)

    def build(self, state: ScopeState) -> Predicate | None:
        """See `Rule.build`."""
        limit = self.max_path_depth

        def test(subject: Subject) -> bool:
            url = subject.url
            # The authority adds two slashes, and the query may hold more: count closely only then.
            return url.count("/") > limit and _path_of(url).count("/") > limit

        return test


def _path_of(url: str) -> str:
    head = url.partition("?")[0]
    start = head.find("://")
    slash = head.find("/", start + 3) if start >= 0 else head.find("/")
    return head[slash:] if slash >= 0 else ""


class PrerequisiteAccept(Predicated):
    """The last hop is a prerequisite: what another URI needs is always in."""

    rule: Literal["prerequisite-accept", "PrerequisiteAcceptDecideRule"] = "prerequisite-accept"

    def build(self, state: ScopeState) -> Predicate | None:
        """See `Rule.build`."""
        return lambda subject: subject.path.endswith(Hop.PREREQUISITE)


class SeedAccept(Predicated):
    """The URI is a seed, or the redirect target of one."""

    rule: Literal["seed-accept", "SeedAcceptDecideRule"] = "seed-accept"

    def build(self, state: ScopeState) -> Predicate | None:
        """See `Rule.build`."""
        return lambda subject: subject.is_seed


class SchemeNotInSet(Predicated):
    """The scheme is none of the set."""

    rule: Literal["scheme-not-in-set", "SchemeNotInSetDecideRule"] = "scheme-not-in-set"
    decision: Decision = setting(Decision.REJECT, "What it says: ACCEPT or REJECT.")
    schemes: frozenset[str] = setting(
        frozenset(("http", "https", "dns")), "Schemes that can be fetched, lower case."
    )

    def build(self, state: ScopeState) -> Predicate | None:
        """See `Rule.build`."""
        known = self.schemes
        starts = tuple(f"{name}:" for name in sorted(known))
        return lambda subject: (
            not subject.url.startswith(starts) and scheme(subject.url) not in known
        )


AnyRule = Annotated[
    Accept
    | Reject
    | SurtPrefixed
    | TooManyHops
    | TooManyLinkHops
    | Transclusion
    | MatchesListRegex
    | PathologicalPath
    | TooManyPathSegments
    | PrerequisiteAccept
    | SeedAccept
    | SchemeNotInSet,
    Field(discriminator="rule"),
]
"""A rule of a configuration, chosen by its `rule` name or Heritrix's class name."""


def stock_rules() -> tuple[AnyRule, ...]:
    """Heritrix's stock scope in its stock order."""
    return (
        Reject(),
        SurtPrefixed(),
        TooManyHops(),
        Transclusion(),
        SurtPrefixed(decision=Decision.REJECT, seeds_as_prefixes=False),
        MatchesListRegex(decision=Decision.REJECT),
        PathologicalPath(),
        TooManyPathSegments(),
        PrerequisiteAccept(),
        SchemeNotInSet(),
    )
