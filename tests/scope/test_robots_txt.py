import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.scope.robots import MAX_BYTES
from nacre.scope.robots_txt import parse_robots


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
def test_never_raises(data):
    parse_robots(b"User-agent: *\nDisallow: /" + data).for_agent("nacre").verdict("/a?b=c")


TOKENS = st.sampled_from(
    ["user-agent: nacre\n", "user-agent: *\n", "allow: /a\n", "disallow: /\n", "\n", "x: y\n"]
)


@given(st.lists(TOKENS, max_size=12))
def test_a_verdict_names_its_line(pieces):
    verdict = parse_robots("".join(pieces).encode()).for_agent("nacre").verdict("/ab")
    assert verdict.line in {"", "allow: /a", "disallow: /"}
    assert verdict.allowed is not verdict.line.startswith("disallow")
