import pytest

from nacre.errors import ConfigError
from nacre.scope.normalize.replace import Regex, Replacement, read_replacements
from nacre.scope.nutch.ruling import Source, lines_of

XML = """<?xml version="1.0" encoding="UTF-8"?>
<!-- x -->
<regex-normalize>
<regex>
  <pattern>(?i)(;?\\bsid=.*?)(\\?|&amp;|#|$)</pattern>
  <substitution>$2</substitution>
</regex>
<regex><pattern>(?&lt;!:)/{2,}</pattern><substitution>/</substitution></regex>
<regex><pattern>[?&amp;]$</pattern></regex>
</regex-normalize>
"""


def read(text):
    return read_replacements(Source(lines_of(text), "r.xml"))


def test_a_file_of_nutch():
    rules = read(XML)
    assert [rule.line for rule in rules] == [5, 8, 9]
    regex = Regex(rules, "r.xml")
    assert regex.normalize("http://h//a?SID=1&x=2", "default") == "http://h/a?&x=2"
    assert regex.normalize("http://h/a?sid=1", "default") == "http://h/a"
    assert [(note.file, note.line) for note in regex.notes] == [("r.xml", 8)]


@pytest.mark.parametrize(
    ("pattern", "substitution", "text", "result"),
    [
        ("a(b)?c", "[$1]", "xacabcx", "x[][b]x"),
        ("(?<n>b)", "${n}$1\\$1\\\\", "abc", "abb$1\\c"),
        (r"(.)\1", "$1", "aabb", "ab"),
        ("x*", "-", "baxc", "-b-a--c-"),
        ("é", "e", "café/é", "cafe/e"),
        ("a", "", "banana", "bnn"),
    ],
)
def test_substitutions_as_in_java(pattern, substitution, text, result):
    assert Regex([Replacement(pattern, substitution)]).normalize(text, "x") == result


def test_a_rule_that_takes_too_long_changes_nothing():
    regex = Regex([Replacement(r"^(a|aa)+(?=b)$", "x"), Replacement("a$", "!")])
    assert regex.normalize("a" * 99, "x") == "a" * 98 + "!"
    assert regex.timeouts == 1


def test_all_problems_at_once():
    rules = [("(", ""), ("a", "$1"), ("a", "$"), ("a", "${b}"), ("a", "\\")]
    with pytest.raises(ConfigError) as caught:
        Regex([Replacement(*rule, line) for line, rule in enumerate(rules, 1)], "r.xml")
    assert [(p.file, p.line) for p in caught.value.problems] == [("r.xml", n) for n in range(1, 6)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("<a/>", 1),
        ("<regex-normalize>\n<regex/></regex-normalize>", 2),
        ("<!DOCTYPE a SYSTEM 'x'><regex-normalize/>", 1),
        ("no xml", 1),
    ],
)
def test_what_is_no_such_file(text, line):
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert [(problem.file, problem.line) for problem in caught.value.problems] == [("r.xml", line)]
