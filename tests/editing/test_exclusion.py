import json

import pytest

from nacre.editing.exclusion import exclusion, exclusions, readmission
from nacre.errors import ConfigError
from nacre.scope.patterns.matching import matcher
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


def test_an_exclusion_is_undone_as_it_was_typed_and_as_it_is_listed():
    scope = [
        Reject(),
        MatchesListRegex(decision=REJECT, regexes=("a", ".*(?:/日历/).*")),
        MatchesListRegex(decision=REJECT, regexes=("/x/",), search=True),
    ]
    assert [tuple(one) for one in exclusions(scope)] == [
        ("a", "scope.1", "^(?:a)$"),
        (".*(?:/日历/).*", "scope.1", "^(?:.*(?:/日历/).*)$"),
        ("/x/", "scope.2", "/x/"),
    ]
    for text in ("/日历/", ".*(?:/日历/).*"):
        assignment, found = readmission(scope, text)
        path, _, value = assignment.partition("=")
        assert (path, json.loads(value)) == ("scope.1.regexes", ["a"])
        assert found == "^(?:.*(?:/日历/).*)$"
    assert readmission(scope, "/x/") == ("scope.2.regexes=[]", "/x/")
    assert readmission(scope, "/y/") == ("", "/y/")


def test_what_an_expression_of_whole_urls_did_not_exclude_does_not_come_back():
    scope = [MatchesListRegex(decision=REJECT, regexes=(r"https?://www\.a\.test/bbs", "b"))]
    assignment, found = readmission(scope, r"https?://www\.a\.test/bbs")
    assert assignment == 'scope.0.regexes=["b"]'
    taken = matcher(found)
    assert taken("http://www.a.test/bbs")
    assert not taken("http://www.a.test/bbs/1.html")
