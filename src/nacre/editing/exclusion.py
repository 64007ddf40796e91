"""Exclusion of URLs from the scope of a job by an expression (pure)."""

import json
from collections.abc import Sequence

from nacre.errors import ConfigError
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
    for number, rule in enumerate(scope):
        if not isinstance(rule, MatchesListRegex) or not _takes(rule):
            continue
        text = expression if rule.search else f".*(?:{expression}).*"
        if text in rule.regexes:
            return ""
        return f"scope.{number}.regexes={json.dumps([*rule.regexes, text], ensure_ascii=False)}"
    raise ConfigError(
        "the scope has no rule that could take the expression; put "
        "`{rule: matches-list-regex, decision: REJECT}` into `scope` (Settings, YAML)"
    )


def _takes(rule: MatchesListRegex) -> bool:
    """Whether one more expression of the rule excludes what it matches."""
    return rule.enabled and rule.decision is Decision.REJECT and not (rule.negate or rule.all)
