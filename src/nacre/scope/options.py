"""The scope options of `nacre crawl`, compiled to a list of rules."""

from collections.abc import Sequence

from nacre.scope.coercion import Coercion, ScopeKind
from nacre.scope.compile import compile_scope
from nacre.scope.rule import Decision
from nacre.scope.rules import (
    Accept,
    AnyRule,
    MatchesListRegex,
    Reject,
    SeedAccept,
    SurtPrefixed,
    TooManyHops,
    TooManyLinkHops,
    Transclusion,
    stock_rules,
)

__all__ = ["ScopeKind", "compile_scope", "rules_for"]


def rules_for(
    kind: ScopeKind = ScopeKind.PREFIX,
    *,
    depth: int | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> tuple[AnyRule, ...]:
    """The stock list, with the options in their places.

    Args:
        kind: What the seeds let in.
        depth: Navigational hops allowed; None for no limit but the 20 hops of the stock list.
        include: Expressions of which one must be found in a page's URL; none given: all pages.
        exclude: Expressions of which none may be found in a page's URL.
    """
    stock = stock_rules()
    hop_limit: AnyRule = TooManyHops()
    rules: list[AnyRule] = [Reject(), _accepting(kind), hop_limit]
    if depth is not None:
        rules.append(TooManyLinkHops(max_hops=depth))
    rules += [Transclusion(), *stock[4:6]]
    if include:
        rules.append(_regexes(include, comment="--include", negate=True))
    if exclude:
        rules.append(_regexes(exclude, comment="--exclude", negate=False))
    return (*rules, *stock[6:])


def _accepting(kind: ScopeKind) -> AnyRule:
    if kind is ScopeKind.ANY:
        return Accept()
    if kind is ScopeKind.PAGE:
        return SeedAccept()
    return SurtPrefixed(coerce=Coercion(kind.value))


def _regexes(patterns: Sequence[str], *, comment: str, negate: bool) -> MatchesListRegex:
    return MatchesListRegex(
        decision=Decision.REJECT,
        regexes=tuple(patterns),
        search=True,
        negate=negate,
        spare=True,
        comment=comment,
    )
