"""The DecideRules that a configuration can name, and the stock scope made of them."""

from nacre.scope.addressrules import GeoLocation, IpAddressSet
from nacre.scope.combine import Not, RuleSequence
from nacre.scope.decide import Accept, Reject, Rule
from nacre.scope.expressionrule import ExpressionRule
from nacre.scope.hoprules import (
    HopCrossesDomain,
    HopsPathMatchesRegex,
    PrerequisiteAccept,
    TooManyHops,
    TooManyLinkHops,
    Transclusion,
)
from nacre.scope.nutch.rules import NUTCH_RULES
from nacre.scope.regexrules import FilePattern, MatchesListRegex, MatchesRegex, QueueMatchesRegex
from nacre.scope.replyrules import (
    ContentLength,
    ContentTypeMatchesRegex,
    FetchStatus,
    FetchStatusMatchesRegex,
    IdenticalDigest,
    ResourceLongerThan,
    ResourceNoLongerThan,
    ResponseLengthBetween,
    StatusBetween,
)
from nacre.scope.rule import Decision
from nacre.scope.seedrules import AddRedirectFromRoot, HasVia, SeedAccept, SeedScope, SourceSeed
from nacre.scope.surtrules import OnDomains, OnHosts, SurtPrefixed, ViaSurtPrefixed
from nacre.scope.table import RULES, AnyRule
from nacre.scope.urlrules import PathLoop, PathologicalPath, SchemeNotInSet, TooManyPathSegments

__all__ = [
    "RULES",
    "Accept",
    "AnyRule",
    "MatchesListRegex",
    "Not",
    "PathLoop",
    "PathologicalPath",
    "PrerequisiteAccept",
    "Reject",
    "Rule",
    "RuleSequence",
    "SchemeNotInSet",
    "SeedAccept",
    "SurtPrefixed",
    "TooManyHops",
    "TooManyLinkHops",
    "TooManyPathSegments",
    "Transclusion",
    "stock_rules",
]

RULES.add(Accept, Reject, Not, RuleSequence, ExpressionRule)
RULES.add(SurtPrefixed, OnHosts, OnDomains, ViaSurtPrefixed)
RULES.add(SeedAccept, SeedScope, SourceSeed, HasVia, AddRedirectFromRoot)
RULES.add(TooManyHops, TooManyLinkHops, Transclusion, PrerequisiteAccept)
RULES.add(HopsPathMatchesRegex, HopCrossesDomain)
RULES.add(MatchesRegex, MatchesListRegex, FilePattern, QueueMatchesRegex)
RULES.add(PathologicalPath, PathLoop, TooManyPathSegments, SchemeNotInSet)
RULES.add(IpAddressSet, GeoLocation)
RULES.add(FetchStatus, StatusBetween, FetchStatusMatchesRegex, ContentTypeMatchesRegex)
RULES.add(ResourceLongerThan, ResourceNoLongerThan, ResponseLengthBetween, ContentLength)
RULES.add(IdenticalDigest)
RULES.add(*NUTCH_RULES)


def stock_rules() -> tuple[AnyRule, ...]:
    """Heritrix's stock scope in its stock order.

    Embeds come behind the hop limit, which does not bind them, and before the lists that refuse.
    """
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
