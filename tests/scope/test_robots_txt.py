import codecs
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from nacre.scope.robots_txt import (
    MAX_BYTES,
    AgentRules,
    RobotsPolicy,
    RobotsRule,
    RobotsSettings,
    RobotsState,
    normal_path,
    normal_pattern,
    outcome_of,
    parse_robots,
)


def allows(text: str | bytes, agent: str = "nacre", target: str = "/x") -> bool:
    data = text if isinstance(text, bytes) else text.encode()
    return parse_robots(data).for_agent(agent).verdict(target).allowed


def delay(text: str, agent: str = "nacre") -> float | None:
    return parse_robots(text.encode()).for_agent(agent).crawl_delay


@pytest.mark.parametrize(
    "line",
    [
        "Disallow: /x",
        "disallow:/x",
        "  DISALLOW  :  /x  ",
        "Disallow /x",
        "Disallow\t/x",
        "disalow: /x",
        "Dissallow: /x",
        "Disallow: /x # because",
        "Disallowed: /x",
        "Disallow: /x\0y",
    ],
)
def test_lines_that_forbid(line):
    verdict = parse_robots(f"User-agent: *\n{line}\n".encode()).for_agent("nacre").verdict("/x")
    assert verdict == (False, line.strip())


@pytest.mark.parametrize(
    "line",
    ["Disallow:", "Disallow", "#Disallow: /x", "Disallow /x y", "Dis: /x", ": /x", "/x", "\0"],
)
def test_lines_that_do_not(line):
    assert allows(f"User-agent: *\n{line}\n")


def test_a_rule_before_any_agent_is_nobodys():
    assert allows("Disallow: /x\n\nUser-agent: other\nDisallow: /\n")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n", "\r\r\n"])
def test_line_ends(end):
    assert not allows(end.join(("User-agent: *", "Disallow: /x", "Allow: /y", "")))


def test_our_group_counts_and_that_of_all_only_without_it():
    text = "User-agent: *\nDisallow: /\n\nUser-agent: NACRE\nDisallow: /y\n"
    assert allows(text)
    assert not allows(text, target="/y")
    assert not allows(text, agent="other", target="/z")
    assert allows("User-agent: *\nDisallow: /\nUser-agent: nacre\nDisallow:\n")


def test_groups_of_one_agent_are_one():
    text = "User-agent: nacre\nDisallow: /x\nUser-agent: *\nDisallow: /\nUser-agent: nacre\n"
    assert not allows(text + "Disallow: /y", target="/y")
    assert not allows(text + "Disallow: /y", target="/x")
    assert allows(text + "Disallow: /y", target="/z")


@pytest.mark.parametrize("between", ["", "\n", "# x\n", "Sitemap: /s\n", "Crawl-delay: 1\n", "?\n"])
def test_only_rules_divide_groups(between):
    text = f"User-agent: nacre\n{between}User-agent: other\nDisallow: /x\n"
    assert not allows(text)
    assert not allows(text, "other")


def test_rules_divide_groups_even_empty_ones():
    assert allows("User-agent: nacre\nDisallow:\nUser-agent: other\nDisallow: /x\n")


@pytest.mark.parametrize(
    ("line", "agent", "ours"),
    [
        ("nacre", "nacre", True),
        ("Nacre/2.1", "nacre", True),
        ("nacre bot", "nacre", True),
        ("nacre2", "nacre", True),  # Google reads the token up to the digit
        ("nacre-news", "nacre", False),
        ("nacrebot", "nacre", False),
        ("my nacre", "nacre", False),
        ("nacre", "Nacre/1.0", True),
        ("archive.org_bot", "archive.org_bot", True),
        ("archive.org_bot/3", "archive.org_bot", True),
        ("archive", "archive.org_bot", False),
        ("bot1", "bot2", False),
        ("nacre", "first, nacre", True),
        ("*", "nacre", True),
        ("* for all", "nacre", True),
        ("*bot", "nacre", False),
        ("", "nacre", False),
    ],
)
def test_names(line, agent, ours):
    assert allows(f"User-agent: {line}\nDisallow: /x", agent) is not ours


def test_several_agents_take_the_groups_of_all():
    text = "User-agent: a\nDisallow: /a\nUser-agent: b\nDisallow: /b\nUser-agent: *\nDisallow: /c"
    assert [allows(text, "a,b", target) for target in ("/a", "/b", "/c")] == [False, False, True]
    assert not allows(text, "a,*", "/c")


def test_an_index_page_allows_its_directory():
    text = "User-agent: *\nDisallow: /\nAllow: /d/index.html\n"
    assert [allows(text, target=t) for t in ("/d/index.html", "/d/", "/d/x")] == [True, True, False]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("10", 10.0), ("0.5", 0.5), (".5", 0.5), ("3 seconds", 3.0), ("1<br>", 1.0), ("0", 0.0)]
    + [(bad, None) for bad in ("", "-1", "soon", "nan", "inf", "9" * 400)],
)
def test_crawl_delay(value, seconds):
    assert delay(f"User-agent: *\nCrawl-delay: {value}\n") == seconds


def test_crawl_delay_is_for_the_agents_named_since_the_last_one():
    text = "User-agent: a\nCrawl-delay: 1\nUser-agent: b\nUser-agent: c\nCrawl-delay: 2\n\n"
    text += "User-agent: *\nDisallow: /x\nCrawl-delay: 3\n"
    assert [delay(text, name) for name in ("a", "b", "c", "d")] == [1, 2, 2, 3]
    assert delay(text, "a,b") == 2


def test_crawl_delay_of_all_is_not_for_a_named_agent():
    assert delay("User-agent: *\nCrawl-delay: 5\nDisallow:\nUser-agent: nacre\nDisallow: /") is None


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8, codecs.BOM_UTF8[:2], codecs.BOM_UTF8[:1]])
def test_byte_order_marks(mark):
    assert not allows(mark + b"User-agent: nacre\nDisallow: /x\n")


def test_a_broken_mark_spoils_its_line_only():
    assert allows(b"\xef\x11\xbfUser-agent: nacre\nDisallow: /x\n")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16(encoding):
    mark = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}.get(encoding, b"")
    assert not allows(mark + "User-agent: *\nDisallow: /ü".encode(encoding), target="/%C3%BC")
    assert allows(mark + "User-agent: *\nDisallow: /x".encode(encoding)[:-1])


@pytest.mark.parametrize("end", [b"\n", b"\r"])
def test_a_line_that_the_limit_cuts_is_no_rule(end):
    text = end.join((b"User-agent: *", b"Disallow: /x", b"Disallow: /y/private"))
    found = parse_robots(text, len(text) - 8).for_agent("nacre")
    assert not found.verdict("/x").allowed
    assert found.verdict("/y").allowed
    assert parse_robots(b"x" * 100, 50).for_agent("nacre").verdict("/").allowed


def test_the_limit_is_at_least_what_the_standard_asks():
    filler = b"#" * 99 + b"\n"
    text = b"User-agent: *\n" + filler * 5_119 + b"Disallow: /x\n"
    assert not allows(text)
    assert allows(text.replace(b"Disallow", filler * 2 + b"Disallow"))


def test_html_is_no_robots_txt():
    assert allows("<html><body>User-agent: *<br>\nDisallow: /<br>\n</body></html>")


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    "piece",
    ["User-agent: a{}\n", "Disallow: /{}\n", "Crawl-delay: {}\n", "{}\n", "{}\r", "\n", ":"],
)
def test_large_hostile_files_are_read_in_time(piece):
    text = "User-agent: *\n" + "".join(map(piece.format, range(MAX_BYTES // len(piece))))
    rules = parse_robots(text.encode()).for_agent("nacre")
    assert rules.verdict("/x").allowed


@given(st.binary(max_size=300))
def test_no_bytes_change_the_rules_of_another_group(data):
    others = b"User-agent: *\nDisallow: /" + data
    assert parse_robots(others).for_agent("nacre").verdict("/robots.txt").allowed
    mine = b"User-agent: nacre\nDisallow: /a\n"
    assert not parse_robots(mine + others).for_agent("nacre").verdict("/a?b=c").allowed


TOKENS = st.sampled_from(
    ["user-agent: nacre\n", "user-agent: *\n", "allow: /a\n", "disallow: /\n", "\n", "x: y\n"]
)


@given(st.lists(TOKENS, max_size=12))
def test_a_verdict_names_its_line(pieces):
    verdict = parse_robots("".join(pieces).encode()).for_agent("nacre").verdict("/ab")
    assert verdict.line in {"", "allow: /a", "disallow: /"}
    assert verdict.allowed is not verdict.line.startswith("disallow")


def rules(*lines: str) -> AgentRules:
    return AgentRules(
        RobotsRule(line[0] == "+", line[1:].encode(), line.encode()) for line in lines
    )


def rules_allow(target: str, *lines: str) -> bool:
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
    assert not [path for path in matching.split() if rules_allow(path, "-" + pattern)]
    assert [path for path in others.split() if rules_allow(path, "-" + pattern)] == others.split()


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
    assert not rules_allow(target, "-" + pattern)


def test_reserved_characters_differ_from_their_escapes():
    assert rules_allow("/a/b", "-/a%2Fb")
    assert rules_allow("/a%2Fb", "-/a/b")
    assert rules_allow("/a?b", "-/a%3Fb")
    assert rules_allow("/xyz", "-/x%2Az")


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
    assert rules_allow("/robots.txt", "-/")
    assert rules_allow("/robots.txt#x", "-/robots.txt")
    assert not rules_allow("/robots.txt?x", "-/")
    assert not rules_allow("/a/robots.txt", "-/")


def test_no_rules():
    assert AgentRules([]).verdict("/") == (True, "")
    assert AgentRules([], 2.5).crawl_delay == 2.5


def test_an_empty_target_is_the_root():
    assert not rules_allow("", "-/$")
    assert rules_allow("#fragment", "-/f")


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
    assert rules_allow(target, *lines) is plain(lines, target)


@given(st.text(max_size=60))
def test_normal_forms_are_fixed_points(text):
    once = normal_path("/" + text)
    assert normal_path(once.decode()) == once
    pattern = normal_pattern(text.encode())
    assert normal_pattern(pattern) == pattern


@pytest.mark.timeout(60)
def test_hostile_patterns_cost_little():
    stars = "*a" * 8_000
    for line in ("-/" + stars + "b", "-/" + "*" * 16_000 + "b", "-/" + stars + "$"):
        assert rules_allow("/" + "a" * 2_000, line)
    many = [f"-/*{number}x" for number in range(40_000)]
    assert rules_allow("/" + "1" * 2_000, *many)
    assert not rules_allow("/39999x", *many)


def test_settings():
    settings = RobotsSettings()
    assert settings.policy is RobotsPolicy.OBEY
    assert settings.max_bytes >= 500 * 1024
    assert settings.max_redirects >= 5
    assert settings.ttl <= 86400
    with pytest.raises(ValidationError):
        RobotsSettings(agent="*")


@pytest.mark.parametrize(
    ("statuses", "outcome"),
    [
        ((200, 204, 206), RobotsState.RULES),
        ((301, 302, 303, 307, 308), RobotsState.REDIRECT),
        ((400, 401, 403, 404, 410, 429, 451), RobotsState.ALLOW),
        ((500, 503, 599, 999, 0, -1, -2, -3, -4, -6, -7), RobotsState.UNREACHABLE),
    ],
)
def test_what_a_status_means(statuses, outcome):
    assert {outcome_of(status) for status in statuses} == {outcome}


def test_rules_hold_longer_than_a_queue_waits():
    with pytest.raises(ValidationError, match="3600"):
        RobotsSettings.model_validate({"ttl": "5m"})
