import pytest

from nacre.errors import ConfigError, URIError
from nacre.scope.normalize.rule_files import (
    HostNormalizer,
    RegexNormalizer,
    Replacement,
    SchemeNormalizer,
    SlashNormalizer,
    read_replacements,
)
from nacre.scope.nutch.regexes import RuleSource, lines_of

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
    return read_replacements(RuleSource(lines_of(text), "r.xml"))


def test_a_file_of_nutch():
    rules = read(XML)
    assert [rule.line for rule in rules] == [5, 8, 9]
    regex = RegexNormalizer(rules, "r.xml")
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
    assert RegexNormalizer([Replacement(pattern, substitution)]).normalize(text, "x") == result


def test_a_rule_that_takes_too_long_changes_nothing():
    regex = RegexNormalizer([Replacement(r"^(a|aa)+(?=b)$", "x"), Replacement("a$", "!")])
    assert regex.normalize("a" * 99, "x") == "a" * 98 + "!"
    assert regex.timeouts == 1


def test_all_problems_at_once():
    rules = [("(", ""), ("a", "$1"), ("a", "$"), ("a", "${b}"), ("a", "\\")]
    with pytest.raises(ConfigError) as caught:
        RegexNormalizer([Replacement(*rule, line) for line, rule in enumerate(rules, 1)], "r.xml")
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


HOSTS = RuleSource(
    ["# c", "*.a.com a.com", "*.b.a.com b.org", "x.net  y.net", " z.net no", "only", ""]
)
SCHEMES = RuleSource(["a.org\thttp", "*.a.com https", "b.org @x", "c.org http https"])
SLASHES = RuleSource(["a.org +", "b.org -", "c.org ?"])


@pytest.mark.parametrize(
    ("normalizer", "url", "normal"),
    [
        (HostNormalizer(HOSTS), "http://a@www.A.com:80/a.com?x", "http://a@a.com:80/a.com?x"),
        (HostNormalizer(HOSTS), "http://www.b.a.com/", "http://b.org/"),
        (HostNormalizer(HOSTS), "http://a.com/", "http://a.com/"),
        (HostNormalizer(HOSTS), "http://x.net", "http://y.net"),
        (HostNormalizer(HOSTS), "http://z.net/", "http://z.net/"),
        (HostNormalizer(HOSTS), "mailto:x@x.net", "mailto:x@x.net"),
        (SchemeNormalizer(SCHEMES), "https://a.org/x", "http://a.org/x"),
        (SchemeNormalizer(SCHEMES), "http://www.a.com/", "https://www.a.com/"),
        (SchemeNormalizer(SCHEMES), "http://a.com/", "https://a.com/"),
        (SchemeNormalizer(SCHEMES), "http://a.com:80/", "http://a.com:80/"),
        (SchemeNormalizer(SCHEMES), "http://b.org/", "http://b.org/"),
        (SchemeNormalizer(SCHEMES), "https://c.org/", "https://c.org/"),
        (SlashNormalizer(SLASHES), "http://a.org:81/p?q", "http://a.org:81/p/?q"),
        (SlashNormalizer(SLASHES), "http://a.org/p.html", "http://a.org/p.html"),
        (SlashNormalizer(SLASHES), "http://a.org/p.longer", "http://a.org/p.longer/"),
        (SlashNormalizer(SLASHES), "http://a.org", "http://a.org/"),
        (SlashNormalizer(SLASHES), "http://b.org/p/#r", "http://b.org/p#r"),
        (SlashNormalizer(SLASHES), "http://b.org/", "http://b.org/"),
        (SlashNormalizer(SLASHES), "http://c.org/p", "http://c.org/p"),
    ],
)
def test_rules_by_host(normalizer, url, normal):
    assert normalizer.normalize(url, "default") == normal


@pytest.mark.parametrize(
    "normalizer", [HostNormalizer(HOSTS), SchemeNormalizer(SCHEMES), SlashNormalizer(SLASHES)]
)
def test_what_is_no_url(normalizer):
    with pytest.raises(URIError):
        normalizer.normalize("no url", "default")
