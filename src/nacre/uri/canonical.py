"""From a URL to its seen key: the canonical form, by a list of rules, and its hash.

The canonical form only decides whether a URL was seen before; requests, archive and indexes use the
URL itself. Each rule is a small value that works as Heritrix's rule in one pass; `Canonicalizer`
repeats the list until nothing changes. Rules have an order, and a name (`rule`); `DEFAULT` merges
only equivalent URLs, `HERITRIX` is the stock list of Heritrix; `Regex` is the rule that an operator
writes. Source: Heritrix 3, canonicalization rules.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from typing import ClassVar, Protocol

import re2

from nacre.errors import ConfigError
from nacre.messages import message
from nacre.uri.parse import authority, host


class RewriteRule(Protocol):
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
        """Return the URL after the rule; the same object when it does not match."""
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
        """See `RewriteRule.apply`."""
        match = _USERINFO.fullmatch(url)
        return match[1] + match[2] if match else url


@dataclass(frozen=True, slots=True)
class StripSessionIDs:
    """Drop jsessionid, phpsessid and sid (32 letters or digits) and ASPSESSIONID (24 letters).

    Only the last of each that ends the URL or is before `&`, as in Heritrix.
    """

    marks: ClassVar[str] = "="

    def apply(self, url: str) -> str:
        """See `RewriteRule.apply`."""
        lower = url.lower()
        if "sid=" not in lower and "sessionid" not in lower:
            return url
        for pattern in _SESSIONS:
            last = None
            for match in pattern.finditer(url):
                last = match
            if last and last.start():
                url = url[: last.start()] + url[last.end() :]
        return url


@dataclass(frozen=True, slots=True)
class StripSessionCFIDs:
    """Drop `CFID=…&CFTOKEN=…` of ColdFusion; only the last pair, as in Heritrix."""

    marks: ClassVar[str] = "="

    def apply(self, url: str) -> str:
        """See `RewriteRule.apply`."""
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

    Heritrix removes one such character per pass; this rule removes all at once, so that a canonical
    URL does not change again.
    """

    marks: ClassVar[str] = "?"

    def apply(self, url: str) -> str:
        """See `RewriteRule.apply`."""
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
        """See `RewriteRule.apply`."""
        return url if url.islower() else url.lower()


@dataclass(frozen=True, slots=True)
class StripWWWN:
    """Drop `www.`, `www1.` … of http and https hosts, unless the path is a mere slash."""

    marks: ClassVar[str] = ""

    def apply(self, url: str) -> str:
        """See `RewriteRule.apply`."""
        match = _WWWN.fullmatch(url)
        return match[1] + match[2] if match else url


@dataclass(frozen=True, slots=True)
class StripWWW:
    """Drop `www.` of http and https hosts, unless the path is a mere slash."""

    marks: ClassVar[str] = ""

    def apply(self, url: str) -> str:
        """See `RewriteRule.apply`."""
        match = _WWW.fullmatch(url)
        return match[1] + match[2] if match else url


@dataclass(frozen=True, slots=True)
class StripExtraSlashes:
    """Collapse runs of slashes after the scheme, in the query too; http and https only."""

    marks: ClassVar[str] = ""

    def apply(self, url: str) -> str:
        """See `RewriteRule.apply`."""
        if not url.startswith(("http://", "https://")) or url.find("//", 8) < 0:
            return url
        start = url.find("://") + 3
        return url[:start] + _SLASHES.sub("/", url[start:])


@dataclass(frozen=True, slots=True)
class SortQuery:
    """Sort the parameters of the query by their bytes."""

    marks: ClassVar[str] = "?"

    def apply(self, url: str) -> str:
        """See `RewriteRule.apply`."""
        path, mark, query = url.partition("?")
        return f"{path}{mark}{'&'.join(sorted(query.split('&')))}" if "&" in query else url


TIME_LIMIT = 0.05
"""Seconds for one match of an expression that RE2 refuses; longer counts as no match."""

_REFERENCE = re.compile(r"\$(?:(\d)|\{(\d+)\})|\\(.)", re.DOTALL)


class Match(Protocol):
    """A match of either regex engine."""

    def group(self, number: int, /) -> str | None:
        """Return the text of a group; None if it took no part."""
        ...


@dataclass(frozen=True, slots=True)
class Regex:
    """Rewrite a URL that matches as a whole; other URLs stay.

    Attributes:
        regex: Regular expression for the whole URL. RE2 runs it; one with look-around or
            back-references runs with a limit of 50 ms.
        format: The new URL; `$1` or `${1}` stands for a group, empty if it took no part, and a
            backslash makes the next character plain.

    Raises:
        ConfigError: The expression is invalid, or the format has a group that the expression does
            not have.
    """

    marks: ClassVar[str] = ""

    regex: str = "(.*)"
    format: str = "$1"
    _match: Callable[[str], Match | None] = field(init=False, repr=False, compare=False)
    _parts: tuple[str | int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile."""
        match, groups = _compile(self.regex)
        parts = _parse_format(self.format)
        if any(isinstance(part, int) and part > groups for part in parts):
            raise ConfigError(
                message(
                    "uri.no-group",
                    "{format!r} refers to a group that {regex!r} does not have",
                    format=self.format,
                    regex=self.regex,
                )
            )
        object.__setattr__(self, "_match", match)
        object.__setattr__(self, "_parts", parts)

    def apply(self, url: str) -> str:
        """See `RewriteRule.apply`."""
        match = self._match(url)
        if match is None:
            return url
        return "".join(
            [part if isinstance(part, str) else match.group(part) or "" for part in self._parts]
        )


def _compile(expression: str) -> tuple[Callable[[str], Match | None], int]:
    """A whole match by RE2, or by the slower module within a time limit; and the group count."""
    options = re2.Options()
    options.log_errors = False
    try:
        fast = re2.compile(expression, options)
    except re2.error:
        return _compile_slow(expression)
    return fast.fullmatch, fast.groups


def _compile_slow(expression: str) -> tuple[Callable[[str], Match | None], int]:
    import regex as backtracking  # noqa: PLC0415 - slow to load and rarely needed

    try:
        slow = backtracking.compile(expression, backtracking.VERSION1)
    except backtracking.error as error:
        raise ConfigError(
            message(
                "uri.is-not-regular-expression",
                "{expression!r} is not a regular expression: {error}",
                expression=expression,
                error=error,
            )
        ) from error

    def match(text: str) -> Match | None:
        try:
            matched: Match | None = slow.fullmatch(text, timeout=TIME_LIMIT)
        except TimeoutError:
            return None
        return matched

    return match, slow.groups


def _parse_format(text: str) -> tuple[str | int, ...]:
    parts: list[str | int] = []
    end = 0
    for reference in _REFERENCE.finditer(text):
        parts.append(text[end : reference.start()])
        number = reference[1] or reference[2]
        parts.append(int(number) if number else reference[3])
        end = reference.end()
    parts.append(text[end:])
    return tuple(part for part in parts if part != "")


HOST_HASH_SIZE = 4
"""Bytes of a host hash."""
SEEN_KEY_SIZE = 16
"""Bytes of a seen key."""

_URL_HASH_SIZE = SEEN_KEY_SIZE - HOST_HASH_SIZE
_MAX_ROUNDS = 64

RULES: dict[str, Callable[..., RewriteRule]] = {
    "StripUserinfo": StripUserinfo,
    "StripSessionIDs": StripSessionIDs,
    "StripSessionCFIDs": StripSessionCFIDs,
    "FixupQueryString": FixupQueryString,
    "Lowercase": Lowercase,
    "StripWWWN": StripWWWN,
    "StripWWW": StripWWW,
    "StripExtraSlashes": StripExtraSlashes,
    "Regex": Regex,
    "SortQuery": SortQuery,
}
"""The rules by name. Heritrix's class names, which end in `RewriteRule`, are understood too."""

DEFAULT: tuple[RewriteRule, ...] = (
    StripUserinfo(),
    StripSessionIDs(),
    StripSessionCFIDs(),
    FixupQueryString(),
)
"""Merges URLs that differ only in a visitor's id, or in an empty query."""

HERITRIX: tuple[RewriteRule, ...] = (
    Lowercase(),
    StripUserinfo(),
    StripWWWN(),
    StripSessionIDs(),
    StripSessionCFIDs(),
    FixupQueryString(),
)
"""The stock list of Heritrix: also merges hosts with and without `www`, upper and lower case."""


def rule(name: str, **params: str) -> RewriteRule:
    """Make a rule by name.

    Args:
        name: A key of `RULES`, or Heritrix's name of it.
        params: `regex` and `format` of `Regex`; no other rule has any.

    Raises:
        ConfigError: There is no such rule, or it does not take these parameters.
    """
    make = RULES.get(name) or RULES.get(name.removesuffix("Rule"))
    if make is None:
        raise ConfigError(
            message(
                "uri.no-canonicalisation-rule",
                "no canonicalisation rule {name!r}; there are {names}",
                name=name,
                names=", ".join(RULES),
            )
        )
    try:
        return make(**params)
    except TypeError as error:
        raise ConfigError(
            message(
                "uri.rule-does-not-take",
                "rule {name!r} does not take {names}",
                name=name,
                names=", ".join(params),
            )
        ) from error


class Canonicalizer:
    """Applies rules in their order, again and again until nothing changes.

    So the result is a fixed point: canonicalised again it stays. Only a `Regex` that never comes
    to rest ends after 64 rounds.
    """

    def __init__(self, rules: Iterable[RewriteRule] = DEFAULT) -> None:
        self.rules = tuple(rules)
        marks = {mark for r in self.rules for mark in r.marks}
        # Without these characters a URL is canonical already; "" is in every URL.
        self._marks = tuple(sorted(marks)) if all(r.marks for r in self.rules) else ("",)

    def canonical(self, url: str) -> str:
        """Return the canonical form of a normalised URL."""
        for mark in self._marks:
            if mark in url:
                return self._apply(url)
        return url

    def _apply(self, url: str) -> str:
        for _ in range(_MAX_ROUNDS):
            before = url
            for rewrite_rule in self.rules:
                url = rewrite_rule.apply(url)
            if url == before:
                break
        return url


def seen_key(canonical: str) -> bytes:
    """Return the seen key of a canonical URL: 4 bytes for the host, then 12 for the whole URL.

    The scheme counts: http and https are different pages. Keys of one host and port are adjacent,
    whatever their scheme.
    """
    where = authority(canonical) or host(canonical)
    data = canonical.encode("utf-8", "surrogatepass")
    return host_hash(where) + blake2b(data, digest_size=_URL_HASH_SIZE).digest()


@lru_cache(maxsize=16_384)
def host_hash(name: str) -> bytes:
    """4 bytes for a host, with its port where explicit; store, workers and CrawlDb share it."""
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=HOST_HASH_SIZE).digest()
