import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.errors import ConfigError
from nacre.scope.nutch.regexes import (
    AutomatonFilter,
    RegexFilter,
    RuleSource,
    Ruling,
    lines_of,
    read_signed,
)

RULES = r"""# comment
 also one
-(?i)\.gif$
-(/[^/]+)/[^/]+\1/[^/]+\1/
> example.org
-private
<
> www.example.com
+secret
<
-secret
+.
"""


def rules(text, kind=RegexFilter):
    return kind(RuleSource(lines_of(text), "f.txt"))


@pytest.mark.parametrize(
    ("url", "passes", "line"),
    [
        ("http://a.org/x.GIF", False, 3),
        ("http://a.org/x/y/x/y/x/", False, 4),
        ("http://www.example.org/private", False, 6),
        ("http://example.com/private", True, 12),
        ("http://www.example.com/secret", True, 9),
        ("http://example.com/secret", False, 11),
        ("no url with a secret", False, 11),
        ("", False, 0),
    ],
)
def test_the_first_rule_that_holds_decides(url, passes, line):
    assert rules(RULES).judge(url) == Ruling(passes, line, "f.txt")


def test_slow_patterns_are_noted_with_their_line():
    assert [(note.file, note.line) for note in rules(RULES).notes] == [("f.txt", 4)]


def test_a_match_that_takes_too_long_is_none():
    found = rules(r"-^(a|aa)+(?=b)$" + "\n+.")
    assert found.judge("a" * 100).passes
    assert found.timeouts() == 1


def test_all_bad_lines_at_once_with_file_and_line():
    with pytest.raises(ConfigError) as caught:
        rules("+.\nx\n-(\n\t+a\n")
    assert [(p.file, p.line) for p in caught.value.problems] == [("f.txt", 2), ("f.txt", 4)]
    with pytest.raises(ConfigError, match=r"f\.txt:2: '\(' is not a regular expression"):
        rules("+.\n-(\n")


def test_lines_end_as_in_java():
    assert lines_of("a\r\nb\rc\n\nd\x85e\u2028") == ["a", "b", "c", "", "d\x85e\u2028"]
    assert [rule.pattern for rule in read_signed(RuleSource(["\ufeff+a", "+ b "]))] == ["a", " b "]


def test_automata_match_the_whole():
    found = rules("-http://a/\n-@x@\n+http://.*\n> b\n+@y\n", AutomatonFilter)
    assert not found.judge("http://a/").passes
    assert found.judge("http://a/y") == Ruling(passes=True, line=3, file="f.txt")
    assert not found.judge("http://a/x").passes
    assert found.judge("ftp://b/y") == Ruling(passes=True, line=5, file="f.txt")
    assert not found.judge("ftp://a/y").passes
    assert found.timeouts() == 0
    with pytest.raises(ConfigError, match=r"f\.txt:1: .* is not an automaton"):
        rules("+(", AutomatonFilter)
    with pytest.raises(ConfigError, match=r"f\.txt:2: .*a complement \(~\) at 0 is not supported"):
        rules("+a\n-~(b)\n", AutomatonFilter)


@given(st.text(max_size=40))
def test_any_text_gets_an_answer(text):
    assert rules(RULES).judge(text).line in range(13)
