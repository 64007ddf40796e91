"""Names and passwords in a URL: taken out of it, and out of texts that show it."""

import re
from typing import NamedTuple
from urllib.parse import unquote

from nacre.errors import URIError
from nacre.messages import message
from nacre.uri.parse import origin, split

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
