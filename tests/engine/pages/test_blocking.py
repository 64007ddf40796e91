"""Requests that a page may not send, by hosts, expressions and files."""

from collections.abc import Sequence

import pytest

from nacre.engine.pages.blocking import block_list
from nacre.errors import ConfigError

FILES = {
    "lists/ads.txt": [
        "! Title: 广告", "[Adblock Plus 2.0]", "# comment", "||ads.test^",
        "||trk.test^$third-party",
        "||cdn.test/path^", "##.banner", "@@||good.test^", "0.0.0.0 sink.test # why",
        "127.0.0.1 localhost", "plain.test", r"/\/pixel\d+\.gif/", "", "||例子.test^",
    ],
}  # fmt: skip


def read(name: str) -> Sequence[str]:
    try:
        return FILES[name]
    except KeyError:
        raise FileNotFoundError(2, "no such file") from None


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://ads.test/x", "ads.test"),
        ("https://a.b.ads.test/x", "ads.test"),
        ("http://notads.test/", ""),
        ("http://trk.test:8080/", "trk.test"),
        ("http://cdn.test/path", ""),
        ("http://good.test/", ""),
        ("http://sink.test/", "sink.test"),
        ("http://localhost/", ""),
        ("http://plain.test/", "plain.test"),
        ("http://other.test/pixel12.gif?u=1", "/REGEX/"),
        ("http://other.test/pixel.gif", ""),
        ("http://own.test/", "own.test"),
        ("http://x.test/beacon?", "/REGEX/"),
        ("http://[::1]/", "[::1]"),
    ],
)
def test_hosts_expressions_and_files_block(url: str, reason: str):
    entries = ("lists/ads.txt", "own.test", "/beacon\\?/", "[::1]")
    assert block_list(entries, read).find(url) == reason


def test_nothing_blocks_without_entries():
    assert block_list((), read).find("http://ads.test/") == ""


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ("missing.txt", "cannot be read"),
        ("/(/", "not a regular expression"),
        ("http://ads.test/", "is not understood"),
        ("two words", "is not understood"),
    ],
)
def test_entries_that_cannot_be_used_are_named(entry: str, text: str):
    with pytest.raises(ConfigError, match=text):
        block_list(["own.test", entry], read)
