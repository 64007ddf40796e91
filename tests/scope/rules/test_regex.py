"""Rules that match the URL with regular expressions."""

import pytest
from pydantic import ValidationError

from nacre.scope.rules.regex import (
    EXTENSIONS,
    FilePattern,
    FilePreset,
    MatchesListRegex,
    MatchesRegex,
    QueueMatchesRegex,
    pattern_list,
    usable_regex,
)
from nacre.scope.state import ScopeState
from tests.scope.asking import says

A, R, N = "ACCEPT", "REJECT", "NONE"
GIF, HTML = "http://a.test/x.gif", "http://a.test/x.html"


def asked(url, **fields):
    return says({"rule": "matches-list-regex", **fields}, url)


@pytest.mark.parametrize(
    ("fields", "url", "expected"),
    [
        ({"regexes": [r".*\.gif", r".*\.png"]}, GIF, A),
        ({"regexes": [r".*\.gif", r".*\.png"]}, HTML, N),
        ({"regexes": [r"\.gif"]}, GIF, N),
        ({"regexes": [r"\.gif"], "search": True}, GIF, A),
        ({"regexes": [r"\.gif", "a"], "search": True, "all": True}, GIF, A),
        ({"regexes": [r"\.gif", "zz"], "search": True, "all": True}, GIF, N),
        ({"regexes": [r".*\.gif"], "negate": True}, GIF, N),
        ({"regexes": [r".*\.gif"], "negate": True}, HTML, A),
        ({"regexes": [r".*\.gif"], "decision": "reject"}, GIF, R),
        ({"regexes": [], "negate": True}, GIF, N),
    ],
)
def test_a_list_of_expressions(fields, url, expected):
    assert asked(url, **fields) == expected


@pytest.mark.parametrize(
    ("known", "expected"),
    [({"path": "L"}, R), ({"path": "E"}, N), ({"path": "P"}, N), ({"is_seed": True}, N)],
)
def test_what_a_page_needs_is_spared(known, expected):
    rule = {"rule": "matches-list-regex", "regexes": [".*"], "decision": "REJECT", "spare": True}
    assert says(rule, GIF, **known) == expected


def test_one_expression_matches_the_whole_url():
    assert says({"rule": "matches-regex", "regex": r"http://a\.test/.*"}, GIF) == A
    assert says({"rule": "matches-regex", "regex": r"a\.test"}, GIF) == N


def test_the_defaults_match_nothing():
    for rule in ("matches-regex", "queue-matches-regex", "matches-list-regex"):
        assert says({"rule": rule}, GIF) == N


@pytest.mark.parametrize("preset", [FilePreset.IMAGES, FilePreset.AUDIO, FilePreset.VIDEO])
def test_names_of_files_of_a_kind(preset):
    for ending in EXTENSIONS[preset].split():
        for name in (ending, ending.upper()):
            assert says({"rule": "file-pattern", "preset": preset}, f"http://a.test/f.{name}") == A
    assert says({"rule": "file-pattern", "preset": preset}, HTML) == N
    assert says({"rule": "file-pattern", "preset": preset}, GIF + "?x") == N


def test_all_kinds_of_files_are_those_of_the_lists_together():
    for endings in EXTENSIONS.values():
        assert says({"rule": "file-pattern"}, f"http://a.test/f.{endings.split()[0]}") == A
    assert says({"rule": "file-pattern", "preset": "misc"}, "http://a.test/f.pdf") == A
    assert says({"rule": "file-pattern", "preset": "misc"}, GIF) == N


def test_a_pattern_of_ones_own():
    assert says({"rule": "file-pattern", "preset": "custom", "regex": r".*\.html"}, HTML) == A
    assert says({"rule": "file-pattern", "preset": "custom", "regex": r".*\.html"}, GIF) == N
    with pytest.raises(ValidationError, match="`preset: CUSTOM` needs a `regex`"):
        FilePattern(preset=FilePreset.CUSTOM)


def test_the_queue_is_matched_as_a_whole():
    assert says({"rule": "queue-matches-regex", "regex": "test,a,"}, GIF) == A
    assert says({"rule": "queue-matches-regex", "regex": "test,"}, GIF) == N
    assert says({"rule": "queue-matches-regex", "regex": "other"}, GIF, f_queue="other") == A
    state = ScopeState(queue_of=lambda url: "all")
    assert says({"rule": "queue-matches-regex", "regex": "all"}, GIF, state) == A


@pytest.mark.parametrize(
    ("rule", "fields"),
    [
        (MatchesRegex, {"regex": "a("}),
        (MatchesListRegex, {"regexes": ["a", "b["]}),
        (QueueMatchesRegex, {"regex": "(?<n"}),
        (FilePattern, {"regex": "*"}),
        (MatchesListRegex, {"timeout": 61}),
    ],
)
def test_expressions_that_are_none_are_refused(rule, fields):
    with pytest.raises(ValidationError, match=r"not a regular expression|less than or equal"):
        rule(**fields)


def test_expressions_that_backtrack_are_timed_and_counted():
    state = ScopeState()
    assert not pattern_list(["a+b"], state).is_timed
    assert state.counts == []
    found = pattern_list([r"(a+)+\1b"], state, timeout=0.001)
    assert not found.matches("a" * 5_000)
    assert state.timeouts() == 1


def test_javas_syntax_will_do():
    assert usable_regex(r"\p{Alpha}+\Q.\E") == r"\p{Alpha}+\Q.\E"
