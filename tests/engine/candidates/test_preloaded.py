"""Precedences from a file: found in whatever form a URL is met, and every bad line named."""

import pytest

from nacre.config.effective import fixed
from nacre.core.crawluri import CrawlURI, Hop, Outlink
from nacre.engine.candidates.identity import Identity, Preloaded
from nacre.errors import ConfigError
from nacre.frontier.settings import FrontierSettings, UriPrecedence
from nacre.uri.canonical import DEFAULT, Canonicalizer, seen_key

CANONICAL = Canonicalizer(DEFAULT)
LINES = ["# important first", "http://a.test/key 2", "", "http://a.test/last\t 127"]


def _preloaded(lines: list[str]) -> Preloaded:
    return Preloaded(CANONICAL, lambda _: lines)


def test_urls_are_found_by_their_seen_key() -> None:
    preloaded = _preloaded(LINES)
    key = seen_key(CANONICAL.canonical("http://a.test/key"))
    assert preloaded("p.txt", key) == 2
    assert preloaded("p.txt", b"?" * 16) is None


def test_a_candidate_takes_its_place_and_others_the_base() -> None:
    choice = UriPrecedence(policy="preloaded", base=9, file="p.txt")
    settings = FrontierSettings(uri_precedence=choice)
    identity = Identity(CANONICAL, fixed(settings), preloaded=_preloaded(LINES))
    seed = identity.seed("http://a.test/key")
    parent = CrawlURI("http://a.test/", b"k" * 16, "test,a,")
    last, other = (
        identity.child(parent, Outlink(f"http://a.test/{name}", Hop.LINK, "a/@href"))
        for name in ("last", "other")
    )
    assert (seed.precedence, last.precedence, other.precedence) == (2, 127, 9)


@pytest.mark.parametrize("line", ["http://a.test/", "http://a.test/ 128", "http://a.test/ x", "5"])
def test_bad_lines_are_named(line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _preloaded(["http://a.test/ 1", line]).load("p.txt")
    assert caught.value.problems[0].line == 2
    assert caught.value.problems[0].file == "p.txt"


def test_a_missing_file_is_named() -> None:
    def read(_: str) -> list[str]:
        raise FileNotFoundError(2, "No such file or directory")

    with pytest.raises(ConfigError, match="No such file"):
        Preloaded(CANONICAL, read).load("p.txt")
