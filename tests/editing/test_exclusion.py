import json

import pytest

from nacre.editing.exclusion import exclusion
from nacre.errors import ConfigError
from nacre.scope.rules.regex import MatchesListRegex
from nacre.scope.rules.rule import Accept, Reject
from nacre.scope.scope import Decision
from nacre.settings.settings import JobSettings

REJECT = Decision.REJECT


def test_the_first_rule_that_rejects_takes_the_expression():
    scope = [
        Reject(),
        MatchesListRegex(negate=True, decision=REJECT),
        MatchesListRegex(decision=REJECT),
    ]
    path, _, value = exclusion(scope, "/日历/").partition("=")
    assert (path, json.loads(value)) == ("scope.2.regexes", [".*(?:/日历/).*"])
    scope[2] = MatchesListRegex(decision=REJECT, regexes=("a",), search=True)
    assert json.loads(exclusion(scope, "/x/").partition("=")[2]) == ["a", "/x/"]
    assert exclusion(scope, "a") == ""


def test_a_scope_without_such_a_rule_says_what_to_add():
    with pytest.raises(ConfigError, match="matches-list-regex"):
        exclusion([Accept(), MatchesListRegex(decision=Decision.ACCEPT)], "x")


def test_the_scope_of_a_new_job_has_such_a_rule():
    assert exclusion(JobSettings().scope, "x").startswith("scope.")
