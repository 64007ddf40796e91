"""Hostile families of URLs: how many of them are asked for before they wait for all other work."""

from itertools import islice, takewhile
from pathlib import Path

import pytest

from bench.worlds.hostile import TOKENS, Hostile
from bench.worlds.replay import _ORIGIN, Kept, _Replay
from nacre.core.crawluri import Directive
from nacre.frontier.page_texts import without_echoes
from nacre.frontier.settings import TrapSettings
from nacre.frontier.url_kinds import KindNames, has_code, is_code

MOST = 300 - TrapSettings().budget
"""Requests of a family while other work waits; `traps.budget` more follow in the end."""


def until_it_waits(world: Hostile, folder: Path) -> list[str]:
    """The paths that are asked for until nothing but endless URLs is left."""
    replay = _Replay(Kept(world, folder), learn=True)
    replay.enter(_ORIGIN + "/", "", "")
    waiting = replay._queue

    def is_going_on(_: str) -> bool:
        return not waiting or waiting[0].directive < Directive.NORMAL + 3

    return list(takewhile(is_going_on, islice(replay.visits(), 1_000)))


@pytest.mark.parametrize("echo", [False, True])
@pytest.mark.parametrize("token", sorted(TOKENS))
@pytest.mark.parametrize("family", ["session", "first", "random"])
def test_a_family_without_end_is_bounded(tmp_path: Path, family: str, token: str, echo: bool):
    for fresh in (True, False):
        world = Hostile(family, token, fresh=fresh, echo=echo)
        asked = until_it_waits(world, tmp_path / str(fresh))
        assert world.truth <= set(asked)
        assert len(asked) - len(world.truth) <= MOST, fresh


@pytest.mark.parametrize(
    ("part", "code"),
    [
        ("3f9a12bc", True),
        ("48c3751e", True),
        ("dQw4w9WgXcQ", True),
        ("123e4567-e89b-12d3-a456-426614174000", True),
        ("1732829400", True),
        ("aB3_x-9Zk1", True),
        ("qxkzvbnt", True),
        ("QXKZVBNT", True),
        ("library-catalogue", False),
        ("tushuguan", False),
        ("rhythms", False),
        ("wanzhongguoshi", False),
        ("20241105", False),
        ("page12", False),
        ("t20240131", False),
        ("iphone15promax", False),
        ("covid-19", False),
        ("python3.11-doc", False),
        ("图书馆3f9a12bc", False),
        ("", False),
        ("a1b", False),
        ("1a" * 200, False),
    ],
)
def test_what_looks_like_a_session(part: str, code: bool):
    assert is_code(part) is code
    assert has_code(f"http://a.test/s/{part}/page.html?a=b") is code


def test_a_place_of_many_codes_makes_one_kind_and_one_of_few_folders_does_not():
    names = KindNames()
    for number in range(21):
        names.name(f"http://a.test/s/{number:03d}a{number}bc{number}/page1.html", learn=True)
    for token in ("00f0bd11", "abcdefgh", "abc12345", "12345678901"):
        assert names.name(f"http://a.test/s/{token}/page2.html", learn=False) == "s/{}/{}.html"
    for name in ("news", "wiki", "3f9a12bc"):
        names.name(f"http://a.test/{name}/page1.html", learn=True)
    assert names.name("http://a.test/news/page2.html", learn=False) == "news/{}.html"


@pytest.mark.parametrize(
    ("body", "left"),
    [
        (b"<p>Session 3f9a12bc of you", b"<p>Session  of you"),
        (b'<a href="/r/abcd">abcd</a> <a href="/r/abcd">a title</a>',
         b'<a></a> <a href="/r/abcd">a title</a>'),
        ("<a href=/书籍>书籍</a>".encode(), b"<a></a>"),
        ("<a href=/%E4%B9%A6%E7%B1%8D>书籍</a>".encode(), b"<a></a>"),
        ("<a href=/%CA%E9%BC%AE>书籍</a>".encode("gbk"), b"<a></a>"),
        (b"<a href=>x<a href='", b"<a href=>x<a href='"),
    ],
)  # fmt: skip
def test_what_repeats_urls_is_no_text(body: bytes, left: bytes):
    assert without_echoes(body, "http://a.test/s/3f9a12bc/p") == left


@pytest.mark.parametrize("part", [b"<a href=", b"href=x ", b" href", b"<a x", b"<a href=x"])
@pytest.mark.timeout(5)
def test_links_that_do_not_end_are_looked_at_once(part: bytes):
    body = b"<a " + part * (90_000 // len(part))
    assert without_echoes(body, "http://a.test/") == body
