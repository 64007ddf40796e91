import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.rights.paths import applying
from nacre.rights.robots_lines import robots_signals

DRAFT = b"""User-Agent: *
Allow: /
Disallow: /never/
Content-Usage: train-ai=n
Content-Usage: /ai-ok/ train-ai=y

User-Agent: ExampleBot
Allow: /
Content-Usage: train-ai=y
"""


def stated(text: bytes, url: str, agent: str = "nacre") -> list[str]:
    signals = applying(robots_signals(text, agent, 512_000).signals, url)
    return sorted({each.text for signal in signals for each in signal.preferences})


@pytest.mark.parametrize(
    ("agent", "path", "result"),
    [
        # The table of draft-ietf-aipref-attach, section 3.
        ("nacre", "/test", ["crawl=y", "train-ai=n"]),
        ("nacre", "/never/test", ["crawl=n", "train-ai=n"]),
        ("nacre", "/ai-ok/test", ["crawl=y", "train-ai=y"]),
        ("examplebot", "/never/test", ["crawl=y", "train-ai=y"]),
    ],
)
def test_the_example_of_the_draft(agent, path, result):
    assert stated(DRAFT, f"http://h.test{path}", agent) == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        (b"User-agent: *\nContent-Signal: search=yes,ai-train=no\nAllow: /\n",
         ["crawl=y", "search=y", "train-ai=n"]),
        (b"\xef\xbb\xbfuser-agent:*\r\nCONTENT-USAGE : train-ai=n # no training\r\n",
         ["train-ai=n"]),
        (b"User-agent: *\nContent-Usage: / train-ai=n\nContent-Usage: / train-ai=y\n",
         ["train-ai=n", "train-ai=y"]),
        (b"User-agent: *\nContent-Usage:\t/p\ttrain-ai=n\n", ["train-ai=n"]),
        (b"Content-Usage: train-ai=n\n", []),
        (b"License: https://h.test/license.xml\nUser-agent: other\nDisallow: /\n",
         ["license=https://h.test/license.xml"]),
        (b"License: /license.xml\n", []),
        # A rule ends the names of a group: `b` alone has the second one.
        (b"User-agent: nacre\nContent-Usage: train-ai=n\nUser-agent: b\nDisallow: /\n",
         ["train-ai=n"]),
        ("User-agent: *\nContent-Usage: /文件/ train-ai=n\n".encode(), []),
        ("User-agent: *\nContent-Usage: /文件/ train-ai=n\n".encode("gbk"), []),
    ],
)  # fmt: skip
def test_lines_of_a_file(text, result):
    assert stated(text, "http://h.test/page") == result


def test_paths_of_other_scripts_match_in_their_escaped_form():
    text = "User-agent: *\nContent-Usage: /文件/ train-ai=n\n".encode()
    assert stated(text, "http://h.test/%E6%96%87%E4%BB%B6/x") == ["train-ai=n"]


def test_a_signal_has_its_line_and_its_group():
    text = b"User-agent: Nacre\nUser-agent: b\nDisallow: /x # y\n"
    (signal,) = robots_signals(text, "nacre", 999).signals
    assert (signal.line, signal.agent, signal.path) == ("Disallow: /x # y", "Nacre, b", "/x")


@given(st.binary(max_size=500))
def test_signals_of_any_bytes_have_a_printable_line(text):
    signals = robots_signals(
        b"User-agent: *\nContent-Usage: train-ai=n" + text, "nacre", 400
    ).signals
    assert [signal.line for signal in signals if not signal.line.isprintable()] == []
    assert {signal.source for signal in signals} <= {"robots.txt"}


def test_many_rules_on_crawling_leave_room_for_those_on_uses():
    text = b"User-agent: *\n" + b"Disallow: /a\n" * 3_000 + b"Content-Usage: train-ai=n\n"
    signals, is_whole = robots_signals(text, "nacre", 512_000)
    assert [signal.name for signal in signals][:2] == ["Content-Usage", "crawl"]
    assert (len(signals), is_whole) == (2_000, True)


def test_more_lines_on_uses_than_are_kept_are_not_all():
    text = b"User-agent: *\n" + b"Content-Usage: /a train-ai=n\n" * 2_001
    signals, is_whole = robots_signals(text, "nacre", 512_000)
    assert (len(signals), is_whole) == (2_000, False)
    assert robots_signals(text[:-30], "nacre", 512_000).is_whole


def test_the_first_licenses_leave_room_for_other_lines():
    lines = b"".join(b"License: https://l.test/%d\n" % number for number in range(2_500))
    text = lines + b"User-agent: *\nContent-Usage: train-ai=n\n"
    signals = robots_signals(text, "nacre", 512_000).signals
    assert [signal.preferences[0].key for signal in signals[-2:]] == ["license", "train-ai"]
    assert len(signals) == 21


def test_a_group_of_many_names_has_rows_of_bounded_size():
    text = b"User-agent: *\n" * 18_000 + b"Disallow: /a\n" * 18_000
    signals = robots_signals(text, "nacre", 512_000).signals
    assert len(signals) == 2_000
    assert max(len(signal.agent) for signal in signals) <= 200
