"""Robots exclusion: its settings, the parser of robots.txt, and the decision on a path.

A file is a list of groups. A group begins with one or more `User-agent` lines and holds the rules
that follow. All groups of our agent count together; only when there is none, those of `*`. Lines of
other kinds do not divide groups.

Of the rules that match, the longest pattern wins, Allow on a tie; no match allows. A pattern
matches from the start of the path; `*` is any run of bytes, a final `$` the end. Sources: RFC 9309
2.2; Google's parser and matcher for cases that the RFC leaves open.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from nacre.config.component import Bytes, Component, Seconds, setting

MAX_BYTES = 512_000
"""Bytes that a crawler must read at least (RFC 9309 2.5): 500 KiB."""


class RobotsPolicy(StrEnum):
    """The policy towards robots.txt."""

    OBEY = "obey"
    IGNORE = "ignore"
    CUSTOM = "custom"


class RobotsSettings(Component):
    """Robots exclusion. For meta robots and X-Robots-Tag see `extract.obey_meta_robots`."""

    policy: RobotsPolicy = setting(
        RobotsPolicy.OBEY, "`obey`; `ignore`: it forbids nothing; `custom`: `custom` replaces it."
    )
    custom: str = setting("", "The robots.txt that applies to every site with policy `custom`.")
    agent: str = setting(
        "nacre",
        "Product token that groups are matched against; of several, separated by commas, all "
        "groups apply.",
        pattern=r"\w",
    )
    ttl: Seconds = setting(
        86400.0,
        "How long a fetched robots.txt is valid. Not too short: a queue may wait long between "
        "robots.txt and the next page.",
        unit="s",
        ge=3600,
    )
    fetch: bool = setting(
        default=True,
        doc="Fetch and archive robots.txt with the policies `ignore` and `custom` too, once for "
        "each site, and follow the sitemaps that it names. If it fails, it is not tried again.",
    )
    calculate_only: bool = setting(
        default=False,
        doc="Fetch URIs that robots.txt forbids too, with the annotation `robotExcluded`.",
    )
    max_redirects: int = setting(5, "Redirects of robots.txt followed.", ge=0)
    max_bytes: Bytes = setting(MAX_BYTES, "Bytes of robots.txt that are read.", unit="bytes")


class RobotsState(StrEnum):
    """The state of an origin's robots.txt.

    RULES: the file has rules. ALLOW: there is no file, so everything is allowed. UNREACHABLE: the
    file cannot be fetched, so nothing is allowed. REDIRECT: the file is at another URL, which
    is fetched next.
    """

    RULES = "rules"
    ALLOW = "allow"
    UNREACHABLE = "unreachable"
    REDIRECT = "redirect"


def outcome_of(status: int) -> RobotsState:
    """Return the meaning of a fetch status: RFC 9309 2.3.1.

    2xx are rules, 3xx lead elsewhere, 4xx mean that there is none (429 too: its queue slows down).
    5xx, failures of DNS or of the network, and whatever else is not a reply forbid everything.
    """
    if 200 <= status < 300:
        return RobotsState.RULES
    if 300 <= status < 400:
        return RobotsState.REDIRECT
    if 400 <= status < 500:
        return RobotsState.ALLOW
    return RobotsState.UNREACHABLE


_MAX_LINE = 2083 * 8 - 1
_TOKEN = re.compile(r"[A-Za-z_-]*")
_NAME = re.compile(r"[^\s/]*")
_NUMBER = re.compile(rb"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_ESCAPES = rb"%([0-9A-Fa-f]{2})"
# Everything but unreserved and reserved characters (RFC 3986 2.2, 2.3) and `%`.
_STRANGE = rb"[^A-Za-z0-9._~:/?#\[\]@!&'()+,;=*$%-]"
_IN_PATTERN = re.compile(_ESCAPES + rb"|(" + _STRANGE + rb")")
_IN_PATH = re.compile(_ESCAPES + rb"|([*$]|" + _STRANGE + rb")")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class RobotsRule(NamedTuple):
    """An Allow or Disallow line.

    Attributes:
        allow: Allow, not Disallow.
        pattern: Its value, as written.
        line: The whole line.
    """

    allow: bool
    pattern: bytes
    line: bytes


class RobotsVerdict(NamedTuple):
    """Return whether a path may be fetched, and the deciding line; "" if no line matches."""

    allowed: bool
    line: str


_SILENCE = RobotsVerdict(allowed=True, line="")


class _Ranked(NamedTuple):
    """What a matching pattern is worth: compared by length, then Allow before Disallow."""

    size: int
    allow: bool
    line: bytes


class _Wild(NamedTuple):
    """A pattern with `*` within it, taken apart.

    Attributes:
        ranked: What it is worth.
        head: What the path begins with.
        pieces: What follows, in this order.
        tail: What the path ends with; None when the pattern is not anchored.
    """

    ranked: _Ranked
    head: bytes
    pieces: tuple[bytes, ...]
    tail: bytes | None


class AgentRules:
    """The rules that hold for one crawler.

    Patterns without `*` are looked up, by each length that occurs; only the others are tried, so
    that a file of thousands of lines costs some microseconds.

    Args:
        rules: In the order of the file.
        crawl_delay: Seconds; None when there is none.

    Attributes:
        crawl_delay: As given.
    """

    __slots__ = ("_exact", "_lengths", "_prefixes", "_wild", "crawl_delay")

    def __init__(self, rules: Iterable[RobotsRule], crawl_delay: float | None = None) -> None:
        self.crawl_delay = crawl_delay
        self._prefixes: dict[bytes, _Ranked] = {}
        self._exact: dict[bytes, _Ranked] = {}
        wild: dict[bytes, _Wild] = {}
        for rule in rules:
            self._take(rule, normal_pattern(rule.pattern), wild)
        self._lengths = sorted({len(prefix) for prefix in self._prefixes})
        self._wild = sorted(
            wild.values(), key=lambda pattern_rule: pattern_rule.ranked[:2], reverse=True
        )

    def _take(self, rule: RobotsRule, pattern: bytes, wild: dict[bytes, _Wild]) -> None:
        ranked = _Ranked(len(pattern), rule.allow, rule.line)
        anchored = pattern.endswith(b"$")
        body = pattern[:-1] if anchored else pattern.rstrip(b"*")
        if b"*" in body:
            present = wild.get(pattern)
            if present is None or ranked[:2] > present.ranked[:2]:
                wild[pattern] = _parse_wildcards(ranked, body, anchored=anchored)
            return
        table = self._exact if anchored else self._prefixes
        if body not in table or ranked[:2] > table[body][:2]:
            table[body] = ranked

    def verdict(self, target: str) -> RobotsVerdict:
        """Judge a request target: path and query. robots.txt itself is always allowed."""
        path = normal_path(target)
        if path == b"/robots.txt":
            return _SILENCE
        best = self._best_wild(path, self._best_literal(path))
        if best is None:
            return _SILENCE
        return RobotsVerdict(best.allow, best.line.decode("utf-8", "replace"))

    def _best_literal(self, path: bytes) -> _Ranked | None:
        best, size, prefixes = self._exact.get(path), len(path), self._prefixes
        for length in self._lengths:
            if length > size:
                break
            candidate = prefixes.get(path[:length])
            if candidate is not None and (best is None or candidate[:2] > best[:2]):
                best = candidate
        return best

    def _best_wild(self, path: bytes, best: _Ranked | None) -> _Ranked | None:
        for wild in self._wild:
            if best is not None and wild.ranked[:2] <= best[:2]:
                break
            if path.startswith(wild.head) and _follows(path, wild):
                return wild.ranked
        return best


def _parse_wildcards(ranked: _Ranked, body: bytes, *, anchored: bool) -> _Wild:
    head, *pieces = body.split(b"*")
    tail = pieces.pop() if anchored else None
    return _Wild(ranked, head, tuple(filter(None, pieces)), tail)


def _follows(path: bytes, wild: _Wild) -> bool:
    """The rest of a pattern whose head matches: each piece as early as possible, so linear."""
    position = len(wild.head)
    for piece in wild.pieces:
        at = path.find(piece, position)
        if at < 0:
            return False
        position = at + len(piece)
    tail = wild.tail
    return tail is None or (len(path) - len(tail) >= position and path.endswith(tail))


def normal_path(target: str) -> bytes:
    """Return a request target as it is compared.

    Escapes of unreserved characters are decoded, others in capitals, what no URL may hold is
    escaped; so are `*` and `$`, which are literal here.
    """
    path = target.encode("utf-8", "surrogatepass").partition(b"#")[0]
    return _IN_PATH.sub(_normal, path) or b"/"


def normal_pattern(value: bytes) -> bytes:
    """The value of a rule as it is compared: like a path, but `*` and a final `$` are signs."""
    body, end = (value[:-1], b"$") if value.endswith(b"$") else (value, b"")
    return _IN_PATTERN.sub(_normal, body).replace(b"$", b"%24") + end


def _normal(match: re.Match[bytes]) -> bytes:
    escape = match[1]
    if escape is None:
        return b"%%%02X" % match[2][0]
    octet = int(escape, 16)
    return bytes((octet,)) if octet in _UNRESERVED else b"%" + escape.upper()


class _Group:
    __slots__ = ("names", "rules")

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.rules: list[RobotsRule] = []


class RobotsTxt:
    """A parsed file. Its Sitemap lines are links: `extract.sitemap` takes them."""

    __slots__ = ("_delays", "_groups")

    def __init__(self, groups: list[_Group], delays: dict[str, float]) -> None:
        self._groups = groups
        self._delays = delays

    def for_agent(self, agent: str) -> AgentRules:
        """Return the rules for a crawler.

        Args:
            agent: Its product token, or several with commas between them; `*` among them takes the
                groups for everyone too. Case does not matter.
        """
        names = agent_tokens(agent)
        mine = [group for group in self._groups if not names.isdisjoint(group.names)]
        if not mine:
            names = {"*"}
            mine = [group for group in self._groups if "*" in group.names]
        delays = [self._delays[name] for name in names if name in self._delays]
        rules = (rule for group in mine for rule in group.rules)
        return AgentRules(rules, max(delays, default=None))


def agent_tokens(agent: str) -> set[str]:
    """Return the product tokens of a crawler, lower case; `agent` has commas between them."""
    return {_leading(_NAME, text.strip()) for text in agent.split(",")} - {""}


def _leading(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.match(text)
    return match[0].lower() if match else ""


def parse_robots(data: bytes, limit: int = MAX_BYTES) -> RobotsTxt:
    """Parse a robots.txt of any content; lines that are not rules are skipped.

    Args:
        data: Its bytes, content coding removed; UTF-8, or UTF-16 with a byte order mark.
        limit: Bytes read; a line cut by the limit is passed over.
    """
    reader = _Reader()
    for line in file_lines(data, limit):
        reader.line(line)
    return RobotsTxt(reader.groups, reader.delays)


def file_lines(data: bytes, limit: int = MAX_BYTES) -> Iterator[bytes]:
    """Yield the lines of a file in UTF-8 without those that are empty; see `parse_robots`."""
    if len(data) > limit:
        data = data[: max(data.rfind(b"\n", 0, limit), data.rfind(b"\r", 0, limit), 0)]
    for line in _without_mark(data).replace(b"\r", b"\n").split(b"\n"):
        if line:
            yield line[:_MAX_LINE]


def _without_mark(data: bytes) -> bytes:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode("utf-8", "replace")
    # Google: half a byte order mark is passed over too.
    for octet in codecs.BOM_UTF8:
        if data[:1] != bytes((octet,)):
            break
        data = data[1:]
    return data


class _Reader:
    """Reads line by line; a rule ends the run of User-agent lines that begins a group."""

    def __init__(self) -> None:
        self.groups: list[_Group] = []
        self.delays: dict[str, float] = {}
        self._naming = False
        self._undelayed: list[str] = []

    def line(self, raw: bytes) -> None:
        key, value = key_and_value(raw)
        kind = _kind(key)
        if kind == "user-agent":
            self._agent(value.decode("utf-8", "replace"))
        elif kind == "crawl-delay":
            self._delay(value)
        elif kind:
            self._rule(value, raw, allow=kind == "allow")

    def _agent(self, value: str) -> None:
        if not self._naming:
            self.groups.append(_Group())
            self._undelayed = []
            self._naming = True
        names = agent_names(value)
        self.groups[-1].names |= names
        self._undelayed += names

    def _rule(self, value: bytes, raw: bytes, *, allow: bool) -> None:
        self._naming = False
        if not self.groups or not value:
            return
        rules, line = self.groups[-1].rules, raw.strip()
        rules.append(RobotsRule(allow, value, line))
        folder, slash, page = value.rpartition(b"/")
        if allow and slash and page.startswith(b"index.htm"):
            # Google: allowing a directory's index page allows the directory.
            rules.append(RobotsRule(allow, folder + b"/$", line))

    def _delay(self, value: bytes) -> None:
        """For the agents named since the last delay: they often come without rules between."""
        number = _NUMBER.match(value)
        delay = float(number[0]) if number else -1.0
        if 0 <= delay < float("inf"):
            for name in self._undelayed:
                self.delays.setdefault(name, delay)
        if self._naming:
            self._undelayed = []


def agent_names(value: str) -> set[str]:
    """Return the names of a User-agent line: its product token, and the text before `/` or a space.

    A product token has letters, `_` and `-` only. Many crawlers are called otherwise
    (`archive.org_bot`, `bot2`): their name must be there in full.
    """
    if value.startswith("*") and not value[1:2].strip():
        return {"*"}
    return {_leading(_TOKEN, value), _leading(_NAME, value)} - {"", "*"}


def key_and_value(raw: bytes) -> tuple[bytes, bytes]:
    """Return the key of a line in lower case and its value, without a comment; "" for no pair."""
    line = raw.partition(b"\0")[0].partition(b"#")[0].strip()
    key, colon, value = line.partition(b":")
    if not colon:
        # A forgotten colon is forgiven where there are just two words.
        words = line.split()
        if len(words) != 2:
            return b"", b""
        key, value = words
    return key.strip().lower(), value.strip()


_KINDS = (
    ((b"user-agent", b"useragent", b"user agent"), "user-agent"),
    ((b"allow",), "allow"),
    ((b"disallow", b"dissallow", b"dissalow", b"disalow", b"diasllow", b"disallaw"), "disallow"),
    ((b"crawl-delay", b"crawldelay"), "crawl-delay"),
)


def _kind(key: bytes) -> str:
    """Return the key of a line. Google compares only its beginning, and accepts misspellings."""
    return next((kind for names, kind in _KINDS if key.startswith(names)), "")
