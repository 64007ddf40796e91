"""A URL as parsed by `java.net.URL`, for Nutch's filters and normalizers.

It is laxer than the URL Standard: nothing is escaped, the host keeps its case, any port number will
do, and dot segments stay.
"""

import re
from typing import NamedTuple

from nacre.errors import URIError
from nacre.messages import message

DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21}

_KNOWN = frozenset((*DEFAULT_PORTS, "file", "jar", "mailto"))
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9.+-]*):")
_BLANK = "".join(map(chr, range(0x21)))


class JavaURL(NamedTuple):
    """The parts of a URL.

    Attributes:
        protocol: Lower case.
        authority: Userinfo, host and port as written; None when there is no `//`.
        userinfo: None when there is none.
        host: As written, IPv6 in brackets; "" for none.
        port: -1 for none.
        path: Without query.
        query: None for none.
        ref: The fragment; None for none.
    """

    protocol: str
    authority: str | None
    userinfo: str | None
    host: str
    port: int
    path: str
    query: str | None
    ref: str | None

    @property
    def file(self) -> str:
        """Path and query."""
        return self.path if self.query is None else f"{self.path}?{self.query}"


def split_java(text: str) -> JavaURL:
    """Take a URL apart.

    Raises:
        URIError: The scheme is missing or unknown to Java, or the port or address is invalid.
    """
    text = text.strip(_BLANK)
    match = _SCHEME.match(text)
    if match is None or match[1].lower() not in _KNOWN:
        raise URIError(
            message(
                "uri.unknown-scheme",
                "not a URL of a known scheme: {text!r}",
                text=text[:200],
            )
        )
    before_ref, mark, ref = text[match.end() :].partition("#")
    protocol = match[1].lower()
    if protocol == "mailto":
        return JavaURL(protocol, None, None, "", -1, before_ref, None, ref if mark else None)
    before_ref, question, query = before_ref.partition("?")
    authority: str | None = None
    userinfo, host, port = None, "", -1
    if before_ref.startswith("//") and not before_ref.startswith("////"):
        authority, slash, path = before_ref[2:].partition("/")
        before_ref = slash + path
        userinfo, host, port = _authority(authority)
    return JavaURL(
        protocol,
        authority,
        userinfo,
        host,
        port,
        before_ref,
        query if question else None,
        ref if mark else None,
    )


def _authority(text: str) -> tuple[str | None, str, int]:
    userinfo, at, netloc = text.rpartition("@")
    if "@" in userinfo:
        return None, "", -1
    name, port = netloc, ""
    if netloc.startswith("["):
        name, bracket, after = netloc.partition("]")
        if not bracket or (after and not after.startswith(":")):
            raise URIError(
                message(
                    "uri.not-host-and-port", "not a host and port: {netloc!r}", netloc=netloc[:200]
                )
            )
        name, port = name + bracket, after[1:]
    elif ":" in netloc:
        name, _, port = netloc.partition(":")
    digits = port.lstrip("0") or port[:1]
    if digits and not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        raise URIError(message("uri.not-port", "not a port: {port!r}", port=port[:200]))
    return (userinfo if at else None), name, int(digits) if digits else -1
