"""Where to send requests that go through a proxy."""

from base64 import b64encode
from functools import lru_cache
from typing import Literal, NamedTuple, cast
from urllib.parse import unquote, urlsplit

ProxyKind = Literal["http", "https", "socks5"]

_PORTS = {"http": 3128, "https": 443, "socks5": 1080}


class Proxy(NamedTuple):
    """A proxy.

    Attributes:
        kind: `http`, `https` (TLS to the proxy) or `socks5`.
        host: Its name or address.
        port: Its port.
        username: "" for none.
        password: "" for none.
    """

    kind: ProxyKind
    host: str
    port: int
    username: str = ""
    password: str = ""


@lru_cache(maxsize=64)
def parse_proxy(url: str) -> Proxy:
    """Read a proxy URL.

    Raises:
        ValueError: It is none; the message says what is expected.
    """
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname or parts.path not in ("", "/"):
        raise ValueError("not a proxy; write http://HOST:PORT, https://... or socks5://...")
    return Proxy(
        cast("ProxyKind", parts.scheme),
        parts.hostname,
        parts.port or _PORTS[parts.scheme],
        unquote(parts.username or ""),
        unquote(parts.password or ""),
    )


def proxy_authorization(proxy: Proxy) -> bytes:
    """The Proxy-Authorization line; b"" without a user."""
    if not proxy.username:
        return b""
    pair = f"{proxy.username}:{proxy.password}".encode()
    return b"Proxy-Authorization: Basic %b\r\n" % b64encode(pair)
