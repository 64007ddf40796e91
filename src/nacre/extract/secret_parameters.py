"""Parameters that hold a secret, a time or a random number. Pure.

Requests with them are not repeated: another page, or another moment, needs another value.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from urllib.parse import urlsplit

from nacre.extract.page_values import decode

_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_RUN = re.compile(r"[^/?&=.:;,@()!]+")
_SECRET = frozenset(
    (
        *("token", "csrf", "xsrf", "jwt", "sig", "sign", "signature", "signed", "hmac", "auth"),
        *("authorization", "authenticity", "session", "sessionid", "sessid", "sid", "secret"),
        *("password", "passwd", "nonce", "ts", "timestamp", "rand", "random", "rnd", "expires"),
        *("expiry", "credential", "credentials", "apikey", "accesskey", "otp"),
        *("jsessionid", "phpsessid", "cachebuster", "nocache", "bust", "buster", "_"),
    )
)
_SECRET_PAIRS = frozenset((("api", "key"), ("access", "key"), ("cache", "bust")))
_RANDOM = re.compile(
    r"eyJ[\w-]{8,}\.|(?<![0-9a-f])[0-9a-f]{32,}(?![0-9a-f])"
    r"|(?=[^/?&]*\d)(?=[^/?&]*[a-z])(?=[^/?&]*[A-Z])[\w+-]{32,}"
)
_MOMENT = re.compile(r"(?<!\d)1\d{9}(?:\d{3})?(?!\d)")
_OWN_HEADERS = frozenset((b"authorization", b"proxy-authorization"))


def carries_credentials(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether header lines hold credentials that a script adds, cookies not counted."""
    names = (name.lower() for name, _ in headers)
    return any(name in _OWN_HEADERS or is_secret(name.decode("latin-1")) for name in names)


def _words(name: str) -> list[str]:
    return [word.lower() for word in _CAMEL.findall(name)]


def is_secret(name: str) -> bool:
    """Return whether a name is that of a token, signature, session, time or random number."""
    words = _words(name)
    if name in _SECRET or "".join(words) in _SECRET:
        return True
    pairs = set(pairwise(words))
    return any(word in _SECRET for word in words) or bool(pairs & _SECRET_PAIRS)


def is_volatile(url: str) -> bool:
    """Return whether a URL contains a secret, a time or a random number in its query."""
    query = urlsplit(url).query
    names = (pair.partition("=")[0] for pair in query.split("&"))
    return any(is_secret(name) for name in names if name) or has_random(query)


def has_random(query: str) -> bool:
    """Return whether a part of a URL holds a key, a digest or a time of day."""
    return _RANDOM.search(query) is not None or _MOMENT.search(query) is not None


def is_cookie_bound(url: str, cookies: Sequence[str]) -> bool:
    """Return whether a URL holds the value of a cookie."""
    texts = {decode(run, plus=True) for run in _RUN.findall(url)}
    return any(
        (len(value) >= 4 and value in texts) or (len(value) >= 8 and value in url)
        for value in cookies
    )
