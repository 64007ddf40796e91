"""The DecideRules that a configuration can name, and the stock scope made of them."""

from typing import Annotated

from pydantic import Field

from nacre.scope.decide import Accept, Reject
from nacre.scope.hoprules import (
    PrerequisiteAccept,
    SeedAccept,
    TooManyHops,
    TooManyLinkHops,
    Transclusion,
)
from nacre.scope.nutch.rules import AnyNutchRule
from nacre.scope.rule import Decision
from nacre.scope.surtrules import SurtPrefixed
from nacre.scope.urlrules import (
    MatchesListRegex,
    PathLoop,
    PathologicalPath,
    SchemeNotInSet,
    TooManyPathSegments,
)

__all__ = [
    "Accept",
    "AnyRule",
    "MatchesListRegex",
    "PathLoop",
    "PathologicalPath",
    "PrerequisiteAccept",
    "Reject",
    "SchemeNotInSet",
    "SeedAccept",
    "SurtPrefixed",
    "TooManyHops",
    "TooManyLinkHops",
    "TooManyPathSegments",
    "Transclusion",
    "stock_rules",
]

AnyRule = Annotated[
    Accept
    | Reject
    | SurtPrefixed
    | TooManyHops
    | TooManyLinkHops
    | Transclusion
    | MatchesListRegex
    | PathologicalPath
    | PathLoop
    | TooManyPathSegments
    | PrerequisiteAccept
    | SeedAccept
    | SchemeNotInSet
    | AnyNutchRule,
    Field(discriminator="rule"),
]
"""A rule of a configuration, chosen by its `rule` name or Heritrix's class name."""


def stock_rules() -> tuple[AnyRule, ...]:
    """Heritrix's stock scope in its stock order. Source: reference/heritrix.md 1.3.

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
