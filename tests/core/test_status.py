import pytest

from nacre.core.crawluri import is_icon_guess
from nacre.core.status import FetchStatus, cause, with_tries


@pytest.mark.parametrize(
    ("status", "error", "said"),
    [
        (404, "", "the server answered 404 (Not Found)"),
        (599, "", "the server answered 599"),
        (407, "", "HTTP status 407: the proxy asks for a name and a password (fetch.proxy)"),
        (-2, "Connection refused (errno 111)", "connection refused"),
        (-2, "", "no connection, or its TLS handshake failed"),
        (
            -2,
            "TLS handshake: [SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:992)",
            "TLS handshake: wrong version number",
        ),
        (-3, "connection: closed before the request", "connection closed before the request"),
        (-3, "connection: Connection reset by peer (errno 104)", "connection reset by peer"),
        (-4, "silent for 20 s", "no reply: silent for 20 s"),
        (-4, "no reply within 5 s", "no reply within 5 s"),
        (
            -1,
            "x.test: DNS server 10.0.0.1 says NXDOMAIN",
            "x.test: DNS server 10.0.0.1 reports that there is no such name (NXDOMAIN)",
        ),
        (-9998, "robots.txt says 'Disallow: /'", "robots.txt says 'Disallow: /'"),
        (-8765, "", "unknown status -8765"),
        (0, "", "not tried yet"),
    ],
)
def test_causes_in_words(status: int, error: str, said: str):
    assert cause(status, error) == said


def test_every_status_has_words():
    for status in FetchStatus:
        assert len(cause(status)) > 8


@pytest.mark.parametrize(
    ("tries", "again", "said"),
    [
        (0, "", "gone"),
        (1, "", "gone"),
        (1, "next in 4 min", "gone, tried once, next in 4 min"),
        (2, "", "gone, tried twice"),
        (3, "next in 4 min", "gone, tried 3 times, next in 4 min"),
    ],
)
def test_tries_in_words(tries: int, again: str, said: str):
    assert with_tries("gone", tries, again) == said


@pytest.mark.parametrize(
    ("url", "path", "via", "guess"),
    [
        ("http://a.test/favicon.ico", "I", "http://a.test/", True),
        ("http://a.test/favicon.ico", "LLI", "http://a.test/x", True),
        ("http://a.test/favicon.ico", "E", "http://a.test/", False),
        ("http://a.test/favicon.ico", "", "", False),
        ("http://a.test/x/favicon.ico", "I", "http://a.test/x/", False),
        ("http://a.test/other", "I", "http://a.test/", False),
        ("http://a.test/404.html", "IR", "http://a.test/favicon.ico", True),
        ("http://a.test/404.html", "LR", "http://a.test/favicon.ico", False),
        ("http://a.test/404.html", "R", "http://a.test/", False),
    ],
)
def test_the_icon_that_nobody_linked_to(url: str, path: str, via: str, guess: bool):
    assert is_icon_guess(url, path, via) is guess
