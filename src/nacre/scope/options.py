"""The scope options of `nacre crawl`, compiled to a list of rules."""

from collections.abc import Sequence

from pydantic import ValidationError

from nacre.errors import ConfigError, Problem
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
    kind: str = ScopeKind.PREFIX,
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

    Raises:
        ConfigError: There is no scope of that name, or an expression is none.
    """
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
        known = ", ".join(ScopeKind)
        raise ConfigError([Problem("scope", f"{name!r} is no scope; one of: {known}")]) from None


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
        said = (str(item["msg"]).removeprefix("Value error, ") for item in error.errors())
        raise ConfigError(
            [Problem(comment, text, "a regular expression") for text in said]
        ) from None
