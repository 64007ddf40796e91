"""Cookie files in the 7-column format of Netscape, as browsers, curl and Heritrix use it."""

import math
from collections.abc import Iterable

from nacre.fetch.set_cookie import Cookie

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
        raise ValueError(f"{len(columns)} columns; expected 7, separated by tabs")
    domain, subdomains, path, secure, expires, name, value = columns
    domain = domain.strip().removeprefix(".").lower()
    if not domain or not name:
        raise ValueError("domain or name is empty")
    if any(
        ord(c) < 32 or ord(c) == 127 for c in f"{domain}{path}{name}{value.replace(chr(9), '')}"
    ):
        raise ValueError("control characters")
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
        raise ValueError(f"{text!r} is neither TRUE nor FALSE")
    return _FLAGS[text.upper()]


def _expiry(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if math.isnan(seconds):
        raise ValueError(f"{text!r} is no time in seconds since 1970")
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
