"""robots.txt: RFC 9309, and where it leaves room, what Google's matcher does. Pure.

Theory: a file is a list of groups. A group begins with one or more `User-agent` lines and holds the
rules that follow. All groups of our agent count together; only when there is none, those of `*`.
Of the rules that match a path, the longest pattern wins, Allow on a tie; no match allows.
"""

import re
from enum import StrEnum
from typing import NamedTuple

from nacre.config.component import Bytes, Component, Seconds, setting

MAX_BYTES = 512_000
"""What RFC 9309 2.5 asks a crawler to read at least: 500 KiB."""

_MAX_LINE = 2083 * 8
_TOKEN = re.compile(r"[A-Za-z_-]+")
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})|([\x80-\xff])")
_LINES = re.compile(rb"\r\n|\n|\r")


class RobotsPolicy(StrEnum):
    """What is done with robots.txt."""

    OBEY = "obey"
    IGNORE = "ignore"
    CUSTOM = "custom"


class RobotsSettings(Component):
    """Robots exclusion."""

    policy: RobotsPolicy = setting(
        RobotsPolicy.OBEY, "`obey`; `ignore`: not even fetched; `custom`: `custom` replaces it."
    )
    custom: str = setting("", "The robots.txt that holds for every site with policy `custom`.")
    agent: str = setting("nacre", "Product token that groups are matched against.", pattern=r"\w")
    ttl: Seconds = setting(86400.0, "How long a fetched robots.txt holds.", unit="s")
    max_redirects: int = setting(5, "Redirects of robots.txt followed.", ge=0)
    max_bytes: Bytes = setting(MAX_BYTES, "Bytes of it that are read.", unit="bytes")
    obey_meta: bool = setting(
        False, "Obey meta robots and X-Robots-Tag too (nofollow); they are recorded anyway."
    )


class RobotsVerdict(NamedTuple):
    """May it be fetched, and the line that says so; "" when none speaks of it."""

    allowed: bool
    line: str


class _Rule(NamedTuple):
    allow: bool
    pattern: bytes
    line: str


class AgentRules:
    """The rules that hold for one agent.

    Attributes:
        crawl_delay: Seconds; None when there is none.
    """

    __slots__ = ("_rules", "crawl_delay")

    def __init__(self, rules: list[_Rule], crawl_delay: float | None) -> None:
        # The first match in this order decides: longest first, Allow before Disallow.
        self._rules = sorted(rules, key=lambda rule: (-len(rule.pattern), not rule.allow))
        self.crawl_delay = crawl_delay

    def verdict(self, target: str) -> RobotsVerdict:
        """Judge a request target: path and query. robots.txt itself is always allowed."""
        path = escaped(target.encode("utf-8", "surrogatepass").partition(b"#")[0]) or b"/"
        if path == b"/robots.txt":
            return RobotsVerdict(allowed=True, line="")
        for rule in self._rules:
            if matches(path, rule.pattern):
                return RobotsVerdict(rule.allow, rule.line)
        return RobotsVerdict(allowed=True, line="")

    @property
    def allows_all(self) -> bool:
        """No rule forbids anything."""
        return all(rule.allow for rule in self._rules)

    @property
    def allows_nothing(self) -> bool:
        """Everything but robots.txt is forbidden."""
        return (
            bool(self._rules)
            and not self.verdict("/").allowed
            and not any(rule.allow for rule in self._rules)
        )


class _Group:
    __slots__ = ("agents", "delay", "rules")

    def __init__(self) -> None:
        self.agents: set[str] = set()
        self.rules: list[_Rule] = []
        self.delay: float | None = None


class RobotsTxt:
    """A parsed file.

    Attributes:
        sitemaps: Values of its Sitemap lines, in order.
    """

    __slots__ = ("_groups", "sitemaps")

    def __init__(self, groups: list[_Group], sitemaps: list[str]) -> None:
        self._groups = groups
        self.sitemaps = sitemaps

    def for_agent(self, agent: str) -> AgentRules:
        """The rules for a product token, matched without regard to case."""
        token = product_token(agent)
        mine = [group for group in self._groups if token and token in group.agents]
        if not mine:
            mine = [group for group in self._groups if "*" in group.agents]
        rules = [rule for group in mine for rule in group.rules]
        delay = next((group.delay for group in mine if group.delay is not None), None)
        return AgentRules(rules, delay)


def product_token(agent: str) -> str:
    """The product token of a user agent: its leading letters, `_` and `-`, lower case."""
    match = _TOKEN.match(agent.strip())
    return match[0].lower() if match else ""


def parse_robots(data: bytes, limit: int = MAX_BYTES) -> RobotsTxt:
    """Read a robots.txt, whatever it is: what is no rule is passed over.

    Args:
        data: Its bytes, content coding removed.
        limit: Bytes read; a line cut by the limit is passed over.
    """
    if len(data) > limit:
        data = data[:limit].rpartition(b"\n")[0]
    reader = _Reader()
    for line in _LINES.split(data.removeprefix(b"\xef\xbb\xbf")):
        reader.line(line[:_MAX_LINE])
    return RobotsTxt(reader.groups, reader.sitemaps)


class _Reader:
    """Reads line by line; a rule ends the run of User-agent lines that begins a group."""

    def __init__(self) -> None:
        self.groups: list[_Group] = []
        self.sitemaps: list[str] = []
        self._naming = False

    def line(self, raw: bytes) -> None:
        parsed = _key_and_value(raw)
        if parsed is None:
            return
        key, value = parsed
        kind = _kind(key)
        if kind == "user-agent":
            self._agent(value.decode("utf-8", "replace"))
        elif kind == "sitemap":
            self.sitemaps.append(value.decode("utf-8", "replace"))
        elif kind == "crawl-delay":
            self._delay(value)
        elif kind:
            self._rule(value, raw, allow=kind == "allow")

    def _agent(self, value: str) -> None:
        if not self._naming:
            self.groups.append(_Group())
            self._naming = True
        if value.startswith("*") and not value[1:2].strip():
            self.groups[-1].agents.add("*")
        else:
            self.groups[-1].agents.add(product_token(value))

    def _rule(self, value: bytes, raw: bytes, *, allow: bool) -> None:
        self._naming = False
        if not self.groups or not value:
            return
        line = raw.strip().decode("utf-8", "replace")
        pattern = escaped(value)
        rules = self.groups[-1].rules
        rules.append(_Rule(allow, pattern, line))
        head, slash, last = pattern.rpartition(b"/")
        if allow and slash and last.startswith(b"index.htm"):
            # Google: allowing a directory's index page allows the directory.
            rules.append(_Rule(allow, head + b"/$", line))

    def _delay(self, value: bytes) -> None:
        self._naming = False
        try:
            delay = float(value)
        except ValueError:
            return
        if self.groups and 0 <= delay < float("inf") and self.groups[-1].delay is None:
            self.groups[-1].delay = delay


def _key_and_value(raw: bytes) -> tuple[bytes, bytes] | None:
    line = raw.partition(b"#")[0].strip()
    key, colon, value = line.partition(b":")
    if not colon:
        # A forgotten colon is forgiven where there are just two words.
        words = line.split()
        if len(words) != 2:
            return None
        key, value = words
    return key.strip().lower(), value.strip()


_KINDS = (
    (("user-agent", "useragent", "user agent"), "user-agent"),
    (("allow",), "allow"),
    (("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"), "disallow"),
    (("sitemap", "site-map"), "sitemap"),
    (("crawl-delay", "crawldelay"), "crawl-delay"),
)


def _kind(key: bytes) -> str:
    text = key.decode("latin-1")
    return next((kind for names, kind in _KINDS if text.startswith(names)), "")


def escaped(path: bytes) -> bytes:
    """Bytes beyond ASCII percent-escaped, existing escapes in capitals: both sides compare so."""
    if path.isascii() and b"%" not in path:
        return path
    return _ESCAPE.sub(
        lambda match: b"%" + match[1].upper() if match[1] else b"%%%02X" % match[2][0], path
    )


def matches(path: bytes, pattern: bytes) -> bool:
    """A pattern matches from the start of a path; `*` is any run, a final `$` the end.

    Linear in the number of pieces: each piece is found as early as possible, the last one of an
    anchored pattern at the end.
    """
    anchored = pattern.endswith(b"$")
    if anchored:
        pattern = pattern[:-1]
    pieces = pattern.split(b"*")
    if len(pieces) == 1:
        return path == pattern if anchored else path.startswith(pattern)
    if not path.startswith(pieces[0]):
        return False
    position = len(pieces[0])
    for piece in pieces[1:-1]:
        found = path.find(piece, position)
        if found < 0:
            return False
        position = found + len(piece)
    last = pieces[-1]
    if anchored:
        return len(path) - len(last) >= position and path.endswith(last)
    return path.find(last, position) >= 0
