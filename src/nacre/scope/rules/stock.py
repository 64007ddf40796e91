"""Registers Nacre's own DecideRules, and builds the stock scope from them.

`rules_for` is that scope with the options of `nacre crawl`.
"""

from collections.abc import Sequence

from pydantic import ValidationError

from nacre.errors import ConfigError, Problem
from nacre.messages import message
from nacre.scope.rules.combine import Not, RuleSequence
from nacre.scope.rules.expression import ExpressionRule
from nacre.scope.rules.hops import (
    HopCrossesDomain,
    HopsPathMatchesRegex,
    PrerequisiteAccept,
    TooManyHops,
    TooManyLinkHops,
    Transclusion,
)
from nacre.scope.rules.nutch import NUTCH_RULES
from nacre.scope.rules.regex import FilePattern, MatchesListRegex, MatchesRegex, QueueMatchesRegex
from nacre.scope.rules.rule import RULES, Accept, AnyRule, Reject, Rule
from nacre.scope.rules.seeds import AddRedirectFromRoot, HasVia, SeedAccept, SeedScope, SourceSeed
from nacre.scope.rules.server import (
    ContentLength,
    ContentTypeMatchesRegex,
    FetchStatusIs,
    FetchStatusMatchesRegex,
    GeoLocation,
    IdenticalDigest,
    IpAddressSet,
    ResourceLongerThan,
    ResourceNoLongerThan,
    ResponseLengthBetween,
    StatusBetween,
)
from nacre.scope.rules.surt import OnDomains, OnHosts, SurtPrefixed, ViaSurtPrefixed
from nacre.scope.rules.url import PathLoop, PathologicalPath, SchemeNotInSet, TooManyPathSegments
from nacre.scope.scope import Decision
from nacre.scope.seed_index import Coercion
from nacre.scope.seed_scope import ScopeKind

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
    "rules_for",
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
RULES.add(FetchStatusIs, StatusBetween, FetchStatusMatchesRegex, ContentTypeMatchesRegex)
RULES.add(ResourceLongerThan, ResourceNoLongerThan, ResponseLengthBetween, ContentLength)
RULES.add(IdenticalDigest)
RULES.add(*NUTCH_RULES)


def stock_rules() -> tuple[AnyRule, ...]:
    """Heritrix's stock scope in its stock order.

    Embeds come after the hop limit, which does not apply to them, and before the lists that refuse.
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


def rules_for(
    kind: str = ScopeKind.PREFIX,
    *,
    depth: int | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> tuple[AnyRule, ...]:
    """Return the stock list, with the options in their places.

    Args:
        kind: What the seeds let in.
        depth: Navigational hops allowed; None for no limit but the 20 hops of the stock list.
        include: Expressions of which one must be found in a page's URL; none given: all pages.
        exclude: Expressions of which none may be found in a page's URL.

    Raises:
        ConfigError: There is no scope of that name, an expression is none, or the depth is
            negative.
    """
    if depth is not None and depth < 0:
        problem = message("scope.depth-format", "{depth} is no depth", depth=depth)
        raise ConfigError(
            [
                Problem(
                    "depth",
                    problem,
                    message("scope.number-of-links", "a number of links, 0 or more"),
                    "3",
                )
            ]
        )
    scope = _scope(kind)
    stock = stock_rules()
    hop_limit: AnyRule = TooManyHops()
    rules: list[AnyRule] = [Reject(), _accepting(scope), hop_limit]
    if depth is not None:
        rules.append(TooManyLinkHops(max_hops=depth))
    rules += [Transclusion(), *stock[4:6]]
    if include:
        rules.append(_regexes(include, comment="--include", negate=True))
    if exclude:
        rules.append(_regexes(exclude, comment="--exclude", negate=False))
    return (*rules, *stock[6:])


def _scope(name: str) -> ScopeKind:
    try:
        return ScopeKind(name)
    except ValueError:
        names = ", ".join(ScopeKind)
        raise ConfigError(
            [
                Problem(
                    "scope",
                    message(
                        "scope.is-not-scope",
                        "{name!r} is not a scope; one of: {names}",
                        name=name,
                        names=names,
                    ),
                )
            ]
        ) from None


def _accepting(kind: ScopeKind) -> AnyRule:
    if kind is ScopeKind.ANY:
        return Accept()
    if kind is ScopeKind.PAGE:
        return SeedAccept()
    return SurtPrefixed(coerce=Coercion(kind.value))


def _regexes(patterns: Sequence[str], *, comment: str, negate: bool) -> MatchesListRegex:
    try:
        return MatchesListRegex(
            decision=Decision.REJECT,
            regexes=tuple(patterns),
            search=True,
            negate=negate,
            spare=True,
            comment=comment,
        )
    except ValidationError as error:
        problems = (str(item["msg"]).removeprefix("Value error, ") for item in error.errors())
        raise ConfigError(
            [
                Problem(comment, text, message("scope.regular-expression", "a regular expression"))
                for text in problems
            ]
        ) from None
