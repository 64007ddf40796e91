"""The canonicalisation rules, each a small value: text of a URL in, text of a URL out.

They make the seen key only; what is requested never passes through them. A rule does what
Heritrix's does in one pass; `Canonicalizer` repeats the list until nothing changes. Source:
Heritrix 3, canonicalization rules.
"""

import re
from dataclasses import dataclass
from typing import ClassVar, Protocol


class Rule(Protocol):
    """One canonicalisation rule.

    Attributes:
        marks: Characters of which a URL must contain one before the rule can change it; "" when
            the rule may change any URL.
    """

    @property
    def marks(self) -> str:
        """See above."""
        ...

    def apply(self, url: str) -> str:
        """The URL after the rule; the same object when it does not match."""
        ...


_USERINFO = re.compile(r"((?:https?|ftps?)://)[^/]+@(.*)", re.IGNORECASE | re.DOTALL)
_WWW = re.compile(r"(https?://)www\.([^/]*/.+)", re.IGNORECASE | re.DOTALL)
_WWWN = re.compile(r"(https?://)www[0-9]*\.([^/]*/.+)", re.IGNORECASE | re.DOTALL)
_CFTOKEN = re.compile(r"cftoken=.")
_SLASHES = re.compile(r"//+")
_SESSIONS = [
    re.compile(pattern + r"(?:&|\Z)", re.IGNORECASE | re.ASCII)
    for pattern in (
        r"jsessionid=[0-9a-z]{32}",
        r"phpsessid=[0-9a-z]{32}",
        r"sid=[0-9a-z]{32}",
        r"aspsessionid[a-z]{8}=[a-z]{24}",
    )
]


@dataclass(frozen=True, slots=True)
class StripUserinfo:
    """Drop `user:password@` of http, https, ftp and ftps URLs."""

    marks: ClassVar[str] = "@"

    def apply(self, url: str) -> str:
        """See `Rule.apply`."""
        found = _USERINFO.fullmatch(url)
        return found[1] + found[2] if found else url


@dataclass(frozen=True, slots=True)
class StripSessionIDs:
    """Drop jsessionid, phpsessid and sid (32 letters or digits) and ASPSESSIONID (24 letters).

    Only the last of each that ends the URL or stands before `&`, as in Heritrix.
    """

    marks: ClassVar[str] = "="

    def apply(self, url: str) -> str:
        """See `Rule.apply`."""
        lower = url.lower()
        if "sid=" not in lower and "sessionid" not in lower:
            return url
        for pattern in _SESSIONS:
            last = None
            for found in pattern.finditer(url):
                last = found
            if last and last.start():
                url = url[: last.start()] + url[last.end() :]
        return url


@dataclass(frozen=True, slots=True)
class StripSessionCFIDs:
    """Drop `CFID=…&CFTOKEN=…` of ColdFusion; only the last pair, as in Heritrix."""

    marks: ClassVar[str] = "="

    def apply(self, url: str) -> str:
        """See `Rule.apply`."""
        lower = url.lower()
        if "&cftoken=" not in lower or "cfid=" not in lower:
            return url
        parts, lowered = url.split("&"), lower.split("&")
        for at in range(len(parts) - 2, -1, -1):
            start = lowered[at].rfind("cfid=", 0, len(parts[at]) - 1)
            if start >= 0 and at + start and _CFTOKEN.match(lowered[at + 1]):
                head = "&".join([*parts[:at], parts[at][:start]])
                return head + "&".join(parts[at + 2 :])
        return url


@dataclass(frozen=True, slots=True)
class FixupQueryString:
    """Drop an empty query, and the `&` before and after a query.

    Heritrix takes one such character each time it looks; this rule takes all at once, so that a
    canonical URL stays what it is.
    """

    marks: ClassVar[str] = "?"

    def apply(self, url: str) -> str:
        """See `Rule.apply`."""
        while (mark := url.rfind("?")) > 0:
            query = url[mark + 1 :]
            if query and query[0] != "&" and query[-1] != "&":
                return url
            query = query.strip("&")
            url = url[: mark + 1] + query if query else url[:mark]
        return url


@dataclass(frozen=True, slots=True)
class Lowercase:
    """Lower-case the whole URL. It merges pages whose paths differ in case only."""

    marks: ClassVar[str] = ""

    def apply(self, url: str) -> str:
        """See `Rule.apply`."""
        return url if url.islower() else url.lower()


@dataclass(frozen=True, slots=True)
class StripWWWN:
    """Drop `www.`, `www1.` … of http and https hosts, unless the path is a mere slash."""

    marks: ClassVar[str] = ""

    def apply(self, url: str) -> str:
        """See `Rule.apply`."""
        found = _WWWN.fullmatch(url)
        return found[1] + found[2] if found else url


@dataclass(frozen=True, slots=True)
class StripWWW:
    """Drop `www.` of http and https hosts, unless the path is a mere slash."""

    marks: ClassVar[str] = ""

    def apply(self, url: str) -> str:
        """See `Rule.apply`."""
        found = _WWW.fullmatch(url)
        return found[1] + found[2] if found else url


@dataclass(frozen=True, slots=True)
class StripExtraSlashes:
    """Make runs of slashes behind the scheme one slash, in the query too; http and https only."""

    marks: ClassVar[str] = ""

    def apply(self, url: str) -> str:
        """See `Rule.apply`."""
        if not url.startswith(("http://", "https://")) or url.find("//", 8) < 0:
            return url
        start = url.find("://") + 3
        return url[:start] + _SLASHES.sub("/", url[start:])


@dataclass(frozen=True, slots=True)
class SortQuery:
    """Sort the parameters of the query by their bytes."""

    marks: ClassVar[str] = "?"

    def apply(self, url: str) -> str:
        """See `Rule.apply`."""
        path, mark, query = url.partition("?")
        return f"{path}{mark}{'&'.join(sorted(query.split('&')))}" if "&" in query else url
