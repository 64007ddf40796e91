"""DecideRules on seeds and their descendants."""

from typing import Literal

from nacre.config.component import setting
from nacre.core.crawluri import Hop
from nacre.scope.rules.rule import Build, Predicated, Rule
from nacre.scope.scope import Decision, Opinion, Predicate, never
from nacre.scope.seed_scope import PrefixLookup, ScopeKind
from nacre.scope.state import ScopeState
from nacre.scope.subject import Subject
from nacre.uri.domain import without_www
from nacre.uri.parse import host, request_target


class SeedAccept(Predicated):
    """The URI is a seed, or the redirect target of one."""

    heritrix = "SeedAcceptDecideRule"
    rule: Literal["seed-accept"] = "seed-accept"

    @property
    def seed_scope(self) -> ScopeKind | None:
        """See `Rule.seed_scope`."""
        return ScopeKind.PAGE if self.decision is Decision.ACCEPT else None

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        return lambda subject: subject.is_seed


class SeedScope(Rule):
    """Descendants of a seed with its own scope: ACCEPT inside that scope, REJECT outside.

    It has no opinion on descendants of other seeds, and does not reject URIs that a `+` line of the
    seed list accepts. If a scope does not contain this rule, it is placed after the first rule that
    accepts URIs near the seeds.
    """

    rule: Literal["seed-scope"] = "seed-scope"
    scope: ScopeKind = setting(ScopeKind.PREFIX, "Scope of seeds that set only a depth.")

    @property
    def says(self) -> Decision:
        """See `Rule.says`."""
        return Decision.NONE

    @property
    def asks_origin(self) -> bool:
        """See `Rule.asks_origin`."""
        return True

    def build(self, state: ScopeState) -> Predicate:
        """Whether a URI is within the own scope of its seed."""
        own, default = state.own, self.scope

        def within(subject: Subject) -> bool:
            seed = own.get(subject.seed) if subject.seed else None
            return seed is not None and seed.hold(subject, default)

        return within

    def opinions(self, build: Build, depth: int = 0) -> list[Opinion]:
        """Return two opinions: one that rejects, and one that accepts."""
        test = self.test(build)
        if test is never:
            return [Opinion(self.label, Decision.ACCEPT, never, depth, self.kind)]
        own, listed = build.state.own, PrefixLookup([build.state.directives(accept=True)])
        build.state.watch(listed.forget)

        def without(subject: Subject) -> bool:
            return subject.seed in own and not test(subject) and not listed.hold(subject.url)

        return [
            Opinion(self.label, Decision.REJECT, without, depth, self.kind),
            Opinion(self.label, Decision.ACCEPT, test, depth, self.kind),
        ]


class SourceSeed(Predicated):
    """The source tag of the URI is one of these. It needs `engine.source_tags`."""

    heritrix = "SourceSeedDecideRule"
    rule: Literal["source-seed"] = "source-seed"
    seeds: frozenset[str] = setting(
        frozenset(), "Seeds as the seed list has them; an empty list never matches."
    )

    @property
    def asks_origin(self) -> bool:
        """See `Rule.asks_origin`."""
        return True

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        seeds = self.seeds
        return (lambda subject: subject.source in seeds) if seeds else never


class HasVia(Predicated):
    """The URI was found on another page: it is not a seed of the list."""

    heritrix = "HasViaDecideRule"
    rule: Literal["has-via"] = "has-via"

    @property
    def asks_origin(self) -> bool:
        """See `Rule.asks_origin`."""
        return True

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        return lambda subject: subject.via != ""


class AddRedirectFromRoot(Predicated):
    """The start page of a site redirects within it, `www` ignored: the target becomes a seed."""

    heritrix = "AddRedirectFromRootServerToScope"
    rule: Literal["add-redirect-from-root"] = "add-redirect-from-root"

    @property
    def asks_origin(self) -> bool:
        """See `Rule.asks_origin`."""
        return True

    def build(self, state: ScopeState) -> Predicate:
        """Return the test; it marks the URI as a seed where it is true."""

        def test(subject: Subject) -> bool:
            via = subject.via
            if subject.path[-1:] != Hop.REDIRECT.value or not via.startswith("http"):
                return False
            if request_target(via).partition("?")[0] != "/" or not _same_site(subject.url, via):
                return False
            subject.mark_as_seed()
            return True

        return test

    def opinions(self, build: Build, depth: int = 0) -> list[Opinion]:
        """Return its opinion; the mark is set even where a later rule decides."""
        own_opinions = super().opinions(build, depth)
        if own_opinions[0].test is not never:
            build.marks.append(own_opinions[0].test)
        return own_opinions


def _same_site(first: str, second: str) -> bool:
    name = without_www(host(first))
    return name != "" and name == without_www(host(second))
