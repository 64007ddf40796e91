"""Exclusion of URLs from the scope of a job by an expression, and how it is undone (pure)."""

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nacre.errors import ConfigError
from nacre.messages import message
from nacre.scope.rules.regex import MatchesListRegex
from nacre.scope.rules.rule import Rule
from nacre.scope.scope import Decision


def exclusion(scope: Sequence[Rule], expression: str) -> str:
    """The assignment `path=value` that excludes URLs in which an expression is found.

    It joins the expressions of the first rule `matches-list-regex` that rejects, so that a running
    job can take it.

    Args:
        scope: The rules.
        expression: A regular expression, found anywhere in the URL.

    Returns:
        The assignment; "" where the expression is there already.

    Raises:
        ConfigError: There is no such rule.
    """
    for number, rule in _rules(scope):
        text = _written(rule, expression)
        return "" if text in rule.regexes else _assignment(number, [*rule.regexes, text])
    raise ConfigError(
        message(
            "editing.scope-without-regex-rule",
            "the scope has no rule that could take the expression; put `{{rule: "
            "matches-list-regex, decision: REJECT}}` into `scope` (Settings, YAML)",
        )
    )


class ScopeExclusion(NamedTuple):
    """An expression of URLs that the scope excludes.

    Attributes:
        expression: It, as the rule has it.
        rule: Path of the rule: `scope.5`.
        pattern: The same as an expression that is found in a URL.
    """

    expression: str
    rule: str
    pattern: str


def exclusions(scope: Sequence[Rule]) -> tuple[ScopeExclusion, ...]:
    """The expressions of URLs that the scope excludes, in the order of its rules.

    Args:
        scope: The rules.
    """
    return tuple(
        ScopeExclusion(text, f"scope.{number}", _anywhere(rule, text))
        for number, rule in _rules(scope)
        for text in rule.regexes
    )


class Readmission(NamedTuple):
    """The change that undoes an exclusion.

    Attributes:
        assignment: The assignment `path=value` that takes an expression out of the scope; "" where
            no rule has it.
        regex: The same as an expression that is found in just the URLs that the rule excluded.
    """

    assignment: str
    regex: str


def readmission(scope: Sequence[Rule], expression: str) -> Readmission:
    """The change that takes an expression out of the scope again.

    Args:
        scope: The rules.
        expression: As it was excluded, or as the rule has it.
    """
    for number, rule in _rules(scope):
        named = {expression, _written(rule, expression)}
        removed = [_anywhere(rule, text) for text in rule.regexes if text in named]
        if removed:
            remaining = [text for text in rule.regexes if text not in named]
            return Readmission(_assignment(number, remaining), "|".join(dict.fromkeys(removed)))
    return Readmission("", expression)


def _rules(scope: Sequence[Rule]) -> Iterator[tuple[int, MatchesListRegex]]:
    """The rules that exclude what one of their expressions matches, with their numbers."""
    for number, rule in enumerate(scope):
        if isinstance(rule, MatchesListRegex) and _takes(rule):
            yield number, rule


def _anywhere(rule: MatchesListRegex, text: str) -> str:
    """An expression of a rule as one that is found in a URL."""
    return text if rule.search else f"^(?:{text})$"


def _written(rule: MatchesListRegex, expression: str) -> str:
    """An expression that is found anywhere in a URL, as a rule has it."""
    return expression if rule.search else f".*(?:{expression}).*"


def _assignment(number: int, regexes: Sequence[str]) -> str:
    return f"scope.{number}.regexes={json.dumps(regexes, ensure_ascii=False)}"


def _takes(rule: MatchesListRegex) -> bool:
    """Whether one more expression of the rule excludes the URLs that it matches."""
    return rule.enabled and rule.decision is Decision.REJECT and not (rule.negate or rule.all)
