"""One cookie: read from a Set-Cookie header (RFC 6265 5.2, 5.3), from files, and from the store.

Cookie files are in the 7-column format of Netscape, as browsers, curl and Heritrix use it.
"""

import math
import re
from collections.abc import Iterable, Iterator

import msgspec

from nacre.messages import message
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

    def note_use(self, now: float) -> None:
        """Note that it is sent."""
        self.accessed = now

    def enter_jar(self, old: "Cookie | None", latest: int, now: float) -> None:
        """Fill in missing times of creation and use.

        Args:
            old: The cookie that it replaces: it keeps that one's age.
            latest: `created` of the youngest cookie of the jar.
            now: Seconds since the epoch.
        """
        if old is not None:
            self.created = old.created
        self.created = self.created or max(latest + 1, int(now * 1e6))
        self.accessed = self.accessed or now


class SetCookie(msgspec.Struct, gc=False):
    """The contents of a Set-Cookie header, before the check whether it may set them.

    Attributes:
        name: Not empty.
        value: May be empty.
        domain: Domain attribute, lower case, without its leading dot; "" when absent.
        path: Path attribute; "" when absent or no path.
        secure: Secure was given.
        http_only: HttpOnly was given.
        expires: Seconds since the epoch, minus infinity for at once; infinite if not set.
    """

    name: str
    value: str
    domain: str = ""
    path: str = ""
    secure: bool = False
    http_only: bool = False
    expires: float = math.inf

    def read_attribute(self, name: str, value: str) -> None:
        """Apply an attribute other than Max-Age; its name is in lower case."""
        if name == "path":
            self.path = value if value.startswith("/") else ""
        elif name == "domain":
            self.domain = value.removeprefix(".").lower() if value else self.domain
        elif name == "expires":
            moment = parse_http_date(value)
            self.expires = self.expires if moment is None else moment
        elif name == "secure":
            self.secure = True
        elif name == "httponly":
            self.http_only = True

    def expire_at(self, time: float) -> None:
        """Apply Max-Age, given as seconds since the epoch."""
        self.expires = time


def parse_set_cookie(field: bytes, now: float, max_size: int) -> SetCookie | None:
    """Read the value of a Set-Cookie header; None when there is no cookie in it to keep.

    It is cut at NUL, CR or LF; other controls, a missing name and more than `max_size` bytes of
    name and value make it void. SameSite is for browsers and is ignored, like unknown attributes.
    """
    field = _END.split(field[:_MAX_FIELD], maxsplit=1)[0]
    if len(field) != len(field.translate(None, _CONTROLS)):
        return None
    pair, _, attributes = field.partition(b";")
    name, equals, value = pair.partition(b"=")
    name, value = name.strip(b" \t"), value.strip(b" \t")
    if not equals or not name or len(name) + len(value) > max_size:
        return None
    cookie = SetCookie(_text(name), _text(value))
    if attributes:
        _read_attributes(cookie, _text(attributes), now)
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
            cookie.read_attribute(name, value)
    if age is not None:
        cookie.expire_at(age)


def _max_age(value: str, now: float) -> float | None:
    """Return the moment that a Max-Age means; None when it is not a number.."""
    if not _MAX_AGE.fullmatch(value):
        return None
    seconds = float(value)
    return now + seconds if seconds > 0 else -math.inf


def default_path(path: str) -> str:
    """The path of a cookie whose header names none, from the path of the URL (RFC 6265 5.1.4)."""
    return path[: path.rfind("/")] or "/"


def path_matches(path: str, cookie_path: str) -> bool:
    """Return whether a cookie goes to a path (RFC 6265 5.1.4)."""
    return path.startswith(cookie_path) and (
        len(path) == len(cookie_path) or cookie_path.endswith("/") or path[len(cookie_path)] == "/"
    )


def domain_matches(host: str, domain: str) -> bool:
    """Whether a cookie with a Domain goes to a host that is not an IP address (RFC 6265 5.1.3)."""
    return host == domain or host.endswith(f".{domain}")


_HEADER = "# Netscape HTTP Cookie File\n"
_HTTP_ONLY = "#HttpOnly_"
_FLAGS = {"TRUE": True, "FALSE": False}


def parse_netscape(text: str) -> tuple[list[Cookie], list[str]]:
    """Read a cookie file: domain, subdomain flag, path, secure flag, expiry, name, value.

    The subdomain flag holds, whether the domain has a leading dot or not; expiry 0 is a session
    cookie; `#HttpOnly_` before the domain is understood; the value may be missing.

    Args:
        text: The file, decoded as UTF-8 with `surrogateescape`.

    Returns:
        The cookies, and one text for each line that cannot be used.
    """
    cookies: list[Cookie] = []
    problems: list[str] = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if not line.strip() or (line.startswith("#") and not line.startswith(_HTTP_ONLY)):
            continue
        try:
            cookies.append(_parse_line(line))
        except ValueError as error:
            problems.append(f"line {number}: {error}")
    return cookies, problems


def _parse_line(line: str) -> Cookie:
    columns = line.removeprefix(_HTTP_ONLY).split("\t", 6)
    if len(columns) == 6:
        columns.append("")
    if len(columns) != 7:
        raise ValueError(
            message(
                "fetch.columns-expected",
                "{number} columns; expected 7, separated by tabs",
                number=len(columns),
            )
        )
    domain, subdomains, path, secure, expires, name, value = columns
    domain = domain.strip().removeprefix(".").lower()
    if not domain or not name:
        raise ValueError(message("fetch.domain-or-name-is-empty", "domain or name is empty"))
    if any(
        ord(c) < 32 or ord(c) == 127 for c in f"{domain}{path}{name}{value.replace(chr(9), '')}"
    ):
        raise ValueError(message("fetch.control-characters", "control characters"))
    return Cookie(
        name,
        value,
        domain,
        path if path.startswith("/") else "/",
        host_only=not _flag(subdomains),
        secure=_flag(secure),
        http_only=line.startswith(_HTTP_ONLY),
        expires=_expiry(expires),
    )


def _flag(text: str) -> bool:
    if text.upper() not in _FLAGS:
        raise ValueError(
            message(
                "fetch.is-neither-true-nor-false", "{text!r} is neither TRUE nor FALSE", text=text
            )
        )
    return _FLAGS[text.upper()]


def _expiry(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if math.isnan(seconds):
        raise ValueError(
            message(
                "fetch.time-format",
                "{text!r} is not a time in seconds since 1970",
                text=text,
            )
        )
    return seconds or math.inf


def format_netscape(cookies: Iterable[Cookie]) -> str:
    """Write a cookie file; a tab in a name or path, which the format cannot hold, leaves it out."""
    lines = [_HEADER]
    for cookie in cookies:
        if "\t" in cookie.name or "\t" in cookie.path:
            continue
        lines.append(_format_line(cookie))
    return "".join(lines)


def _format_line(cookie: Cookie) -> str:
    columns = (
        cookie.domain if cookie.host_only else f".{cookie.domain}",
        "FALSE" if cookie.host_only else "TRUE",
        cookie.path,
        "TRUE" if cookie.secure else "FALSE",
        "0" if math.isinf(cookie.expires) else str(max(1, int(cookie.expires))),
        cookie.name,
        cookie.value,
    )
    return (_HTTP_ONLY if cookie.http_only else "") + "\t".join(columns) + "\n"


class _Row(msgspec.Struct, array_like=True, frozen=True, gc=False):
    """A cookie in the store; text as bytes, since it need not be valid UTF-8."""

    domain: str
    name: bytes
    value: bytes
    path: bytes
    host_only: bool
    secure: bool
    http_only: bool
    expires: float
    created: int
    accessed: float


_ROWS = msgspec.msgpack.Decoder(list[_Row])


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def encode_cookies(cookies: Iterable[Cookie]) -> bytes:
    """Return the cookies of a domain as one row."""
    return msgspec.msgpack.encode(
        [
            _Row(
                cookie.domain,
                _bytes(cookie.name),
                _bytes(cookie.value),
                _bytes(cookie.path),
                cookie.host_only,
                cookie.secure,
                cookie.http_only,
                cookie.expires,
                cookie.created,
                cookie.accessed,
            )
            for cookie in cookies
        ]
    )


def decode_cookies(row: bytes) -> Iterator[Cookie]:
    """Yield the cookies of a row."""
    for row_cookie in _ROWS.decode(row):
        name, value, path = (
            text.decode("utf-8", "surrogateescape")
            for text in (row_cookie.name, row_cookie.value, row_cookie.path)
        )
        yield Cookie(
            name,
            value,
            row_cookie.domain,
            path,
            row_cookie.host_only,
            row_cookie.secure,
            row_cookie.http_only,
            row_cookie.expires,
            row_cookie.created,
            row_cookie.accessed,
        )
