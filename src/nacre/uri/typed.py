"""URLs as people type them at a command: whole, without a scheme, or as a path on a known site.

`TLS_README.html` is a page of the site that is crawled, and `example.org` is a host.
Names and passwords are taken out of URLs, and of texts that show them.
"""

import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote

from nacre.errors import URIError
from nacre.messages import message
from nacre.uri.domain import is_top_level
from nacre.uri.parse import authority, host, is_ip, origin, parse, split

_MOST = 1_000
"""Origins of seeds that are tried."""
_LISTED = 20
_PORT = re.compile(r"[^/?#]*:\d{1,5}(?:[/?#]|\Z)")
_RESERVED = frozenset(
    ("localhost", "local", "test", "example", "invalid", "internal", "lan", "home", "onion", "arpa")
)
"""Top-level names of hosts that cannot be registered (RFC 6761, 6762, 7686), or are usual."""


class AmbiguousUrlError(URIError):
    """A text may mean several URLs; the message lists them.

    Attributes:
        urls: The URLs.
    """

    def __init__(self, text: str, urls: list[str]) -> None:
        self.urls = tuple(urls)
        more = f"\n  and {len(urls) - _LISTED:,} more" if len(urls) > _LISTED else ""
        listed = "".join(f"\n  {url}" for url in urls[:_LISTED])
        super().__init__(f"{text!r} may be any of these; give one of them:{listed}{more}")


def is_whole(text: str) -> bool:
    """Return whether a text has a scheme: `http://a.test/`, `dns:a.test`."""
    return "://" in text.partition("?")[0] or text.startswith(("dns:", "whois:"))


def is_host_text(text: str) -> bool:
    """Whether a text without a scheme begins with a host: an address, a port, a known top level.

    Args:
        text: Such as `example.org/x`; `README.html` does not, as `.html` cannot be registered.
    """
    if text.startswith(("/", "?", "#", ".")):
        return False
    try:
        name = host(parse(f"https://{text}"))
    except URIError:
        return False
    top = name.rstrip(".").rpartition(".")[2]
    is_known = top in _RESERVED or ("." in name and is_top_level(top))
    return is_ip(name) or is_known or _PORT.match(text) is not None


def typed_url(
    text: str,
    seeds: Callable[[], Iterable[str]],
    is_known: Callable[[str], bool] = lambda _: False,
    *,
    max_length: int | None = None,
) -> str:
    """Return the URL that a typed text means.

    A complete URL is returned as parsed. Otherwise the first known URL of these is returned: the
    text as a host and a path, with https and http; the text as a path on the host of a seed, and in
    the directory of one. If none is known: a host, if the text looks like one or is the host of a
    seed, else a path on the host of the seeds.

    Args:
        text: The text, without name and password.
        seeds: Gives the URLs of seeds; only called if the text has no scheme.
        is_known: Whether there is anything of a URL.
        max_length: Longest URL, characters; None: the usual limit.

    Raises:
        AmbiguousUrlError: It may be on several hosts.
        URIError: It is no URL.
    """
    limits = {} if max_length is None else {"max_length": max_length}
    if is_whole(text):
        return parse(text, **limits)
    guesses = [] if text.startswith(("/", "?")) else _parse_all(_guesses(text), limits)
    known_url = next(filter(is_known, guesses), None)
    if known_url is not None:
        return known_url
    urls = [url for url in islice(seeds(), _MOST) if url.startswith(("http://", "https://"))]
    path = text if text.startswith(("/", "?")) else f"/{text}"
    on_hosts = _parse_all((f"{base}{path}" for base in dict.fromkeys(map(origin, urls))), limits)
    within = _parse_all(
        (url.partition("?")[0].rpartition("/")[0] + path for url in urls if _has_path(url)), limits
    )
    for places in (on_hosts, within):
        candidates = _one_of_each_host(filter(is_known, places))
        if candidates:
            return _require_single(text, candidates)
    hosts = set(map(authority, urls))
    if guesses and (is_host_text(text) or not urls or authority(guesses[0]) in hosts):
        return guesses[0]
    candidates = _one_of_each_host(on_hosts)
    if not candidates:
        return parse(guesses[0] if guesses else text, **limits)
    return _require_single(text, candidates)


def _guesses(text: str) -> tuple[str, str]:
    return f"https://{text}", f"http://{text}"


def _has_path(url: str) -> bool:
    return url.partition("://")[2].partition("?")[0].count("/") > 1


def _parse_all(texts: Iterable[str], limits: dict[str, int]) -> list[str]:
    urls: dict[str, None] = {}
    for text in texts:
        try:
            urls[parse(text, **limits)] = None
        except URIError:
            continue
    return list(urls)


def _one_of_each_host(urls: Iterable[str]) -> list[str]:
    """URLs that differ in more than the scheme: of those that do not, that with https."""
    by_host_and_path: dict[str, str] = {}
    for url in urls:
        scheme, _, host_and_path = url.partition("://")
        if host_and_path not in by_host_and_path or scheme == "https":
            by_host_and_path[host_and_path] = url
    return list(by_host_and_path.values())


def _require_single(text: str, urls: list[str]) -> str:
    if len(urls) > 1:
        raise AmbiguousUrlError(text, urls)
    return urls[0]


HIDDEN = "***"
"""What texts show in the place of a name and a password."""

_BEFORE = re.compile(r"(?:[a-z][a-z0-9+.-]*:(?=[/\\]))?[/\\]*", re.IGNORECASE)
_IN_TEXT = re.compile(r"(//)[^/\\?#\s(]*@")


class Login(NamedTuple):
    """A name and a password for one origin.

    Attributes:
        origin: `https://host` or `http://host:port`.
        username: Decoded; it may be empty.
        password: Decoded; "" for none.
    """

    origin: str
    username: str
    password: str

    def __repr__(self) -> str:
        return f"Login({self.origin})"


def take_login(url: str) -> tuple[str, Login | None]:
    """Return a normalised URL without `user:password@`, and its login; None for nothing.

    Raises:
        URIError: The name cannot be sent.
    """
    if "@" not in url:
        return url, None
    parts = split(url)
    if not parts.userinfo:
        return url, None
    name, _, password = parts.userinfo.partition(":")
    if "%3a" in name.lower():
        raise URIError(
            message("uri.user-name-cannot-hold-colon", "a user name cannot hold a colon (RFC 7617)")
        )
    start = len(parts.scheme) + len("://")
    after_login = url[start + len(parts.userinfo) + 1 :]
    return url[:start] + after_login, Login(origin(url), unquote(name), unquote(password))


def without_login(text: str) -> str:
    """Return a URL as typed, with or without scheme, less all text before the `@` of its host."""
    start = _BEFORE.match(text)
    begin = start.end() if start else 0
    end = next((place for place in range(begin, len(text)) if text[place] in "/\\?#"), len(text))
    at = text.rfind("@", begin, end)
    return text if at < 0 else text[:begin] + text[at + 1 :]


def hidden(text: str) -> str:
    """A text with the names and passwords of all URLs in it hidden; SURTs stay as they are."""
    return _IN_TEXT.sub(rf"\1{HIDDEN}@", text) if "@" in text else text


def redact(text: str) -> str:
    """Return a text that is not a URL, or is about a URL, with all possible logins hidden.

    It hides too much rather than too little: from `//` or the start of the text to the last `@`.
    """
    at = text.rfind("@")
    if at < 0:
        return text
    begin = text.find("//")
    start = begin + 2 if 0 <= begin < at else 0
    return f"{text[:start]}{HIDDEN}{text[at:]}"
