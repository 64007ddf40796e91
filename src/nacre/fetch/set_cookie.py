"""One cookie, and how it is read from a Set-Cookie header (RFC 6265 5.2 and 5.3)."""

import math
import re

import msgspec

from nacre.wire.date import parse_http_date

MAX_ATTRIBUTE = 1024
_MAX_FIELD = 65536
_BLANK = " \t"
_END = re.compile(rb"[\0\r\n]")
_CONTROLS = bytes(c for c in (*range(32), 127) if c != 9)
_MAX_AGE = re.compile(r"-?[0-9]+")


class Cookie(msgspec.Struct, gc=False):
    """A cookie in the jar. Text is UTF-8 with `surrogateescape`, so that no byte is lost.

    Attributes:
        name: Never empty; no controls but tabs in it, nor in `value` and `path`.
        value: As received, quotes included.
        domain: Host or parent domain, lower case, no leading dot; IPv6 in brackets.
        path: Begins with a slash.
        host_only: Goes to `domain` itself only, not to its subdomains.
        secure: Goes over https only.
        http_only: Only of interest to browsers; kept for cookie files.
        expires: Seconds since the epoch; infinite for a session cookie, which lives with the job.
        created: Order of creation, µs since the epoch; no two of a jar are equal.
        accessed: When it was last sent or set, seconds since the epoch.
    """

    name: str
    value: str
    domain: str
    path: str
    host_only: bool = True
    secure: bool = False
    http_only: bool = False
    expires: float = math.inf
    created: int = 0
    accessed: float = 0.0


class SetCookie(msgspec.Struct, gc=False):
    """What a Set-Cookie header says, before it is known whether it may.

    Attributes:
        name: Not empty.
        value: May be empty.
        domain: Domain attribute, lower case, without its leading dot; "" when absent.
        path: Path attribute; "" when absent or no path.
        secure: Secure was given.
        http_only: HttpOnly was given.
        expires: Seconds since the epoch, minus infinity for at once; infinite when not said.
    """

    name: str
    value: str
    domain: str = ""
    path: str = ""
    secure: bool = False
    http_only: bool = False
    expires: float = math.inf


def parse_set_cookie(field: bytes, now: float, max_size: int) -> SetCookie | None:
    """Read the value of a Set-Cookie header; None when there is no cookie in it to keep.

    It is cut at NUL, CR or LF; other controls, a missing name and more than `max_size` bytes of
    name and value make it void. SameSite is for browsers and is ignored, like what is unknown.
    """
    field = _END.split(field[:_MAX_FIELD], maxsplit=1)[0]
    if len(field) != len(field.translate(None, _CONTROLS)):
        return None
    pair, _, rest = field.partition(b";")
    name, equals, value = pair.partition(b"=")
    name, value = name.strip(b" \t"), value.strip(b" \t")
    if not equals or not name or len(name) + len(value) > max_size:
        return None
    cookie = SetCookie(_text(name), _text(value))
    if rest:
        _read_attributes(cookie, _text(rest), now)
    return cookie


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _read_attributes(cookie: SetCookie, text: str, now: float) -> None:
    """Apply the attributes in order: of each the last one holds, and Max-Age beats Expires."""
    age: float | None = None
    for attribute in text.split(";"):
        name, _, value = attribute.partition("=")
        name, value = name.strip(_BLANK).lower(), value.strip(_BLANK)
        if len(value) > MAX_ATTRIBUTE:
            continue
        if name == "max-age":
            age = _max_age(value, now) or age
        else:
            _read_attribute(cookie, name, value)
    if age is not None:
        cookie.expires = age


def _read_attribute(cookie: SetCookie, name: str, value: str) -> None:
    if name == "path":
        cookie.path = value if value.startswith("/") else ""
    elif name == "domain":
        cookie.domain = value.removeprefix(".").lower() if value else cookie.domain
    elif name == "expires":
        moment = parse_http_date(value)
        cookie.expires = cookie.expires if moment is None else moment
    elif name == "secure":
        cookie.secure = True
    elif name == "httponly":
        cookie.http_only = True


def _max_age(value: str, now: float) -> float | None:
    """The moment that a Max-Age means; None when it is no number.."""
    if not _MAX_AGE.fullmatch(value):
        return None
    seconds = float(value)
    return now + seconds if seconds > 0 else -math.inf


def default_path(path: str) -> str:
    """The path of a cookie whose header names none, from the path of the URL (RFC 6265 5.1.4)."""
    return path[: path.rfind("/")] or "/"


def path_matches(path: str, cookie_path: str) -> bool:
    """Whether a cookie goes to a path (RFC 6265 5.1.4)."""
    return path.startswith(cookie_path) and (
        len(path) == len(cookie_path) or cookie_path.endswith("/") or path[len(cookie_path)] == "/"
    )


def domain_matches(host: str, domain: str) -> bool:
    """Whether a cookie with a Domain goes to a host that is no IP address (RFC 6265 5.1.3)."""
    return host == domain or host.endswith(f".{domain}")
