import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.errors import ConfigError
from nacre.scope.nutch.filters import (
    FilterChain,
    FilterKind,
    FilterSettings,
    guess_kind,
    make_filter,
)
from nacre.scope.nutch.regexes import Limits, RuleSource, Ruling, lines_of

FAST = """Host www.example.org   # one host
  DenyPath ^/private
Domain example.com
  DenyPath .*
Domain .
  DenyPathQuery [?&]sid=
"""


def made(kind, text, **limits):
    return make_filter(FilterKind(kind), RuleSource(lines_of(text), "f"), Limits(**limits))


@pytest.mark.parametrize(
    ("kind", "rules", "url", "passes", "line"),
    [
        ("domain", "net\napache.org\n", "http://lucene.apache.org/", True, 2),
        ("domain", "net\n", "http://x.org/", False, 0),
        ("domain", "", "http://x.org/", True, 0),
        ("domain", "co.uk", "https://www.x.co.uk", True, 1),
        ("domain", "uk", "https://www.x.co.uk", False, 0),
        ("domain", "x.org", "no url", False, 0),
        ("domain", "#x.org\nBücher.DE", "http://www.xn--bcher-kva.de/", True, 2),
        ("domain-denylist", "x.org", "http://www.x.org/", False, 1),
        ("domain-denylist", "x.org", "http://y.org/", True, 0),
        ("domain-denylist", "x.org", "no url", False, 0),
        ("prefix", "# c\n\nhttp://\nhttps://a", "https://a/b", True, 4),
        ("prefix", "http://", "ftp://a", False, 0),
        ("prefix", "", "http://a", False, 0),
        ("suffix", ".gif\n", "http://a/x.gif", True, 1),
        ("suffix", "+\n.gif\n", "http://a/x.gif", False, 2),
        ("suffix", "+\n.gif\n", "http://a/x.GIF", True, 0),
        ("suffix", "+I\n.Gif\n.gif\n", "http://a/x.GIF", False, 2),
        ("suffix", "+P\n.gif\n", "http://a/x.gif?q=1#r", False, 2),
        ("suffix", "+ I\n# c\n+P\n.com", "http://x.com", True, 0),
        ("suffix", "+P\n.gif\n", "x.gif", False, 2),
        ("validator", "", "http://a.org:80/x?y#z", True, 0),
        ("validator", "", "http://a.org:/", False, 0),
        ("validator", "", "http://1.2.3.255/", True, 0),
        ("validator", "", "http://1.2.3.256/", False, 0),
        ("validator", "", "http://localhost/", False, 0),
        ("validator", "", "http://a.1x/", False, 0),
        ("validator", "", "http://a.b/", False, 0),
        ("validator", "", "http://a.org/a/b/../c", True, 0),
        ("validator", "", "http://a.org/../c", False, 0),
        ("validator", "", "http://a.org/\u00e4", False, 0),
        ("validator", "", "http://u@a.org/", False, 0),
        ("validator", "", "http://[::1]/", False, 0),
        ("fast", FAST, "http://www.example.org/private/x", False, 2),
        ("fast", FAST, "http://example.org/private/x", True, 0),
        ("fast", FAST, "http://a.b.EXAMPLE.com/", False, 4),
        ("fast", FAST, "http://examplex.com/?sid=1", False, 6),
        ("fast", FAST, "file:/x?a&sid=1", False, 6),
        ("fast", FAST, "no url", False, 0),
    ],
)
def test_filters(kind, rules, url, passes, line):
    assert made(kind, rules).judge(url) == Ruling(passes, line, "f")


def test_fast_limits():
    limits = {"max_length": 30, "max_path_length": 5, "max_query_length": 3}
    found = made("fast", "", **limits)
    urls = ("http://a/1234?123", "http://a/12345", "http://a/?1234", "http://a.org/" + "#" * 20)
    assert [found.judge(url).passes for url in urls] == [True, False, False, False]


def test_fast_files_are_read_as_nutch_does():
    found = made("fast", "DenyPath x\nHost a\nNonsense\n  DenyPath (a)\\1\n  DenyPath\n")
    assert sorted(note.line for note in found.notes) == [1, 3, 4]
    assert not found.judge("http://a/").passes  # an empty expression is found anywhere
    with pytest.raises(ConfigError) as caught:
        made("fast", "Host a\n  DenyPath (\n  DenyPath )\n")
    assert [problem.line for problem in caught.value.problems] == [2, 3]


def test_a_hundred_thousand_hosts_are_quick_to_read_and_ask():
    lines = [text for n in range(100_000) for text in (f"Host h{n}.org", "  DenyPath ^/x")]
    found = make_filter(FilterKind.FAST, RuleSource(lines))
    assert not found.judge("http://h77777.org/x").passes
    assert found.judge("http://h77777.org/y").passes


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("conf/regex-urlfilter.txt.template", "regex"),
        ("automaton-urlfilter.txt", "automaton"),
        ("domain-urlfilter.txt", "domain"),
        ("domaindenylist-urlfilter.txt", "domain-denylist"),
        ("domainblacklist-urlfilter.txt", "domain-denylist"),
        ("prefix-urlfilter.txt", "prefix"),
        ("suffix-urlfilter.txt", "suffix"),
        ("fast-urlfilter.txt.gz", "fast"),
        ("rules.txt", "regex"),
    ],
)
def test_a_name_tells_the_kind(name, kind):
    assert guess_kind(name) is FilterKind(kind)


def test_every_filter_of_a_chain_must_keep_a_url():
    chain = FilterChain([made("prefix", "http://"), made("suffix", "+\n.gif")])
    assert chain.judge("http://a/x") == Ruling(passes=True, file="f")
    assert chain.judge("http://a/x.gif") == Ruling(passes=False, line=2, file="f")
    assert not chain.judge("ftp://a/x").passes
    assert FilterChain([]).judge("x").passes
    assert chain.timeouts() == 0


def test_settings_name_a_file_or_hold_the_rules():
    inline = FilterSettings(filter=FilterKind.PREFIX, rules="http://\n")
    assert inline.source(lambda name: []) == RuleSource(["http://"])
    source = FilterSettings(filter=FilterKind.PREFIX, file="p.txt").source(
        lambda name: [f"{name}:"]
    )
    assert make_filter(FilterKind.PREFIX, source).judge("p.txt:x").place == "p.txt:1"


@given(st.sampled_from(list(FilterKind)), st.text(max_size=60), st.text(max_size=40))
def test_any_rules_and_any_text(kind, rules, url):
    try:
        found = make_filter(kind, RuleSource(lines_of(rules)))
    except ConfigError:
        return
    assert found.judge(url).line <= len(rules) + 1
    assert found.judge("http://" + url).file == ""
