import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.scope.robots_rules import AgentRules, RobotsRule, normal_path, normal_pattern


def rules(*lines: str) -> AgentRules:
    return AgentRules(
        RobotsRule(line[0] == "+", line[1:].encode(), line.encode()) for line in lines
    )


def allows(target: str, *lines: str) -> bool:
    return rules(*lines).verdict(target).allowed


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("/", "/ /a /a?b", ""),
        ("/fish", "/fish /fish.html /fish/salmon /fishheads?id=1", "/Fish /catfish /?id=fish"),
        ("/fish*", "/fish /fishheads", "/catfish"),
        ("/fish/", "/fish/ /fish/?id=1 /fish/salmon", "/fish /fish.html"),
        ("/*.php", "/i.php /f/a.php?x /f/a.php5", "/ /windows.PHP"),
        ("/*.php$", "/a.php /f/a.php", "/a.php?x /a.php/ /a.php5"),
        ("/fish*.php", "/fish.php /fishes/cat.php?x", "/Fish.PHP"),
        ("/$", "/", "/a /?"),
        ("/a$b", "/a$b /a$bc /a%24b", "/a"),
        ("*", "/ /a", ""),
        ("*a*b*$", "/ab /xaybz", "/ba"),
        ("/a*ab$", "/aab /aabab", "/ab /aabx"),
        ("fish", "", "/fish"),
        ("/a?b", "/a?b /a?bc", "/a /ab"),
    ],
)
def test_patterns(pattern, matching, others):
    assert not [path for path in matching.split() if allows(path, "-" + pattern)]
    assert [path for path in others.split() if allows(path, "-" + pattern)] == others.split()


@pytest.mark.parametrize(
    ("pattern", "target"),
    [
        ("/%7ejoe/", "/~joe/x"),
        ("/~joe/", "/%7Ejoe/x"),
        ("/a%3cd.html", "/a%3Cd.html"),
        ("/a<d.html", "/a%3cd.html"),
        ("/foo/bar/ツ", "/foo/bar/%e3%83%84"),
        ("/%62%61%7A", "/baz"),
        ("/a b", "/a%20b"),
        ("/x/%2A", "/x/*"),
        ("/x/%24", "/x/$"),
        ("/%zz", "/%zz"),
    ],
)
def test_escapes_mean_the_same_either_way(pattern, target):
    assert not allows(target, "-" + pattern)


def test_reserved_characters_differ_from_their_escapes():
    assert allows("/a/b", "-/a%2Fb")
    assert allows("/a%2Fb", "-/a/b")
    assert allows("/a?b", "-/a%3Fb")
    assert allows("/xyz", "-/x%2Az")


@pytest.mark.parametrize(
    ("lines", "target", "line"),
    [
        (("-/", "+/p"), "/page", "+/p"),
        (("+/folder", "-/folder"), "/folder/page", "+/folder"),
        (("-/folder", "+/folder"), "/folder/page", "+/folder"),
        (("+/page", "-/*.htm"), "/page.htm", "-/*.htm"),
        (("+/page", "-/*.ph"), "/page.php5", "+/page"),
        (("+/$", "-/"), "/", "+/$"),
        (("+/$", "-/"), "/page.htm", "-/"),
        (("-/a", "-/a*"), "/ab", "-/a*"),
        (("-/a***", "+/abc"), "/abc", "-/a***"),
        (("-/*b", "+/*c"), "/xbxc", "+/*c"),
        (("-/a/*/c", "+/a/"), "/a/b/c", "-/a/*/c"),
        (("-/x",), "/y", ""),
    ],
)
def test_the_longest_pattern_decides_and_allow_on_a_tie(lines, target, line):
    verdict = rules(*lines).verdict(target)
    assert verdict == (line[:1] != "-", line)


def test_robots_txt_is_always_allowed():
    assert allows("/robots.txt", "-/")
    assert allows("/robots.txt#x", "-/robots.txt")
    assert not allows("/robots.txt?x", "-/")
    assert not allows("/a/robots.txt", "-/")


def test_no_rules():
    assert AgentRules([]).verdict("/") == (True, "")
    assert AgentRules([], 2.5).crawl_delay == 2.5


def test_an_empty_target_is_the_root():
    assert not allows("", "-/$")
    assert allows("#fragment", "-/f")


def plain(lines: list[str], target: str) -> bool:
    """The same by regular expressions, line by line."""
    best = (-1, True)
    path = normal_path(target).decode("latin-1")
    for line in lines:
        pattern = normal_pattern(line[1:].encode()).decode("latin-1")
        body = pattern.removesuffix("$")
        expression = ".*".join(re.escape(piece) for piece in body.split("*"))
        expression += r"\Z" if pattern.endswith("$") else ""
        if re.compile(expression, re.DOTALL).match(path):
            best = max(best, (len(pattern), line[0] == "+"))
    return best[1]


LINE = st.tuples(st.sampled_from("+-"), st.text("/ab*$%2Aé", min_size=1, max_size=8)).map("".join)


@given(st.lists(LINE, max_size=8), st.text("/ab*$%2é", max_size=10).map("/".__add__))
def test_lookups_answer_as_trying_each_pattern_does(lines, target):
    assert allows(target, *lines) is plain(lines, target)


@given(st.text(max_size=60))
def test_normal_forms_are_fixed_points(text):
    once = normal_path("/" + text)
    assert normal_path(once.decode()) == once
    pattern = normal_pattern(text.encode())
    assert normal_pattern(pattern) == pattern


@pytest.mark.timeout(5)
def test_hostile_patterns_cost_little():
    stars = "*a" * 8_000
    for line in ("-/" + stars + "b", "-/" + "*" * 16_000 + "b", "-/" + stars + "$"):
        assert allows("/" + "a" * 2_000, line)
    many = [f"-/*{number}x" for number in range(40_000)]
    assert allows("/" + "1" * 2_000, *many)
    assert not allows("/39999x", *many)
