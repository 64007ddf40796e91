"""DecideRules on how a URI was found: its hops, and whether it is a seed."""

from typing import Literal

from nacre.config.component import setting
from nacre.core.crawluri import Hop, hop_count
from nacre.scope.rules.regex import RegexText, pattern_list
from nacre.scope.rules.rule import Predicated
from nacre.scope.scope import Decision, Predicate
from nacre.scope.state import ScopeState
from nacre.scope.subject import Subject, is_transcluded, link_hops
from nacre.uri.domain import registered_domain
from nacre.uri.parse import authority, host, is_ip

_PAGES = frozenset(("", "L", "M", "S"))


class TooManyHops(Predicated):
    """More hops of any kind from the seed than `max_hops`."""

    heritrix = "TooManyHopsDecideRule"
    rule: Literal["too-many-hops"] = "too-many-hops"
    decision: Decision = setting(Decision.REJECT, "The decision of the rule: ACCEPT or REJECT.")
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
    decision: Decision = setting(Decision.REJECT, "The decision of the rule: ACCEPT or REJECT.")
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
    """Embeds of a page, on any host: few hops from the page."""

    heritrix = "TransclusionDecideRule"
    rule: Literal["transclusion"] = "transclusion"
    max_trans_hops: int = setting(
        2, "Hops since the page, redirects not counted.", unit="hops", ge=0
    )
    max_speculative_hops: int = setting(1, "Speculative (X) hops among them.", unit="hops", ge=0)

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        hops, speculative = self.max_trans_hops, self.max_speculative_hops

        def test(subject: Subject) -> bool:
            path = subject.path
            return path[-1:] not in _PAGES and is_transcluded(path, hops, speculative)

        return test


class PrerequisiteAccept(Predicated):
    """The last hop is a prerequisite: URIs that others need are always accepted."""

    heritrix = "PrerequisiteAcceptDecideRule"
    rule: Literal["prerequisite-accept"] = "prerequisite-accept"

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        letter = str(Hop.PREREQUISITE)
        return lambda subject: subject.path[-1:] == letter


class HopsPathMatchesRegex(Predicated):
    """The whole hop path matches the expression; a seed's is empty."""

    heritrix = "HopsPathMatchesRegexDecideRule"
    rule: Literal["hops-path-matches-regex"] = "hops-path-matches-regex"
    regex: RegexText = setting("", "Regular expression, such as `L{0,2}E?`.")

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        matches = pattern_list([self.regex], state).matches
        return lambda subject: matches(subject.path)


class HopCrossesDomain(Predicated):
    """The registered domain of the URI is not that of the page that it was found on."""

    heritrix = "HopCrossesAssignmentLevelDomainDecideRule"
    rule: Literal["hop-crosses-domain"] = "hop-crosses-domain"

    @property
    def asks_origin(self) -> bool:
        """See `Rule.asks_origin`."""
        return True

    def build(self, state: ScopeState) -> Predicate:
        """See `Rule.build`."""
        return lambda subject: subject.via != "" and _site(subject.url) != _site(subject.via)


def _site(url: str) -> str:
    """Return the registered domain; host and port if there is none (an IP address)."""
    name = host(url)
    domain = registered_domain(name)
    return domain if "." in domain and not is_ip(name) else authority(url)
