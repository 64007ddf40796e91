"""DecideRules on how a URI was found: its hops, and whether it is a seed."""

from typing import Literal

from nacre.config.component import setting
from nacre.core.crawluri import Hop, hop_count
from nacre.scope.decide import Predicated
from nacre.scope.hops import link_hops, transcluded
from nacre.scope.rule import Decision, Predicate, Subject
from nacre.scope.state import ScopeState

_PAGES = frozenset(("", "L", "M", "S"))


class TooManyHops(Predicated):
    """More hops of any kind from the seed than `max_hops`."""

    rule: Literal["too-many-hops", "TooManyHopsDecideRule"] = "too-many-hops"
    decision: Decision = setting(Decision.REJECT, "What it says: ACCEPT or REJECT.")
    max_hops: int = setting(20, "Hops allowed.", unit="hops", ge=0)

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        limit = self.max_hops

        def test(subject: Subject) -> bool:
            path = subject.path
            # Without an overflow mark a path has as many letters as hops: no need to count.
            return (len(path) > limit or "+" in path) and hop_count(path) > limit

        return test


class TooManyLinkHops(Predicated):
    """More navigational hops (L, M, S) than `max_hops`: the depth that `--depth` counts."""

    rule: Literal["too-many-link-hops"] = "too-many-link-hops"
    decision: Decision = setting(Decision.REJECT, "What it says: ACCEPT or REJECT.")
    max_hops: int = setting(
        20, "Navigational hops allowed; 0 keeps to the seeds.", unit="hops", ge=0
    )

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        limit = self.max_hops

        def test(subject: Subject) -> bool:
            path = subject.path
            return (len(path) > limit or "+" in path) and link_hops(path) > limit

        return test


class Transclusion(Predicated):
    """A short way from a page: its embeds, from anywhere."""

    rule: Literal["transclusion", "TransclusionDecideRule"] = "transclusion"
    max_trans_hops: int = setting(
        2, "Hops since the page, redirects not counted.", unit="hops", ge=0
    )
    max_speculative_hops: int = setting(1, "Speculative (X) hops among them.", unit="hops", ge=0)

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        hops, speculative = self.max_trans_hops, self.max_speculative_hops

        def test(subject: Subject) -> bool:
            path = subject.path
            return path[-1:] not in _PAGES and transcluded(path, hops, speculative)

        return test


class PrerequisiteAccept(Predicated):
    """The last hop is a prerequisite: what another URI needs is always in."""

    rule: Literal["prerequisite-accept", "PrerequisiteAcceptDecideRule"] = "prerequisite-accept"

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        letter = str(Hop.PREREQUISITE)
        return lambda subject: subject.path[-1:] == letter


class SeedAccept(Predicated):
    """The URI is a seed, or the redirect target of one."""

    rule: Literal["seed-accept", "SeedAcceptDecideRule"] = "seed-accept"

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        return lambda subject: subject.is_seed
