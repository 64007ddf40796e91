"""Reading robots.txt: RFC 9309, and where it leaves room, what Google's parser does.

A file is a list of groups. A group begins with one or more `User-agent` lines and holds the rules
that follow. All groups of our agent count together; only when there is none, those of `*`. Lines of
other kinds do not divide groups.
"""

import codecs
import re

from nacre.scope.robots import MAX_BYTES
from nacre.scope.robots_rules import AgentRules, RobotsRule

_MAX_LINE = 2083 * 8 - 1
_TOKEN = re.compile(r"[A-Za-z_-]*")
_NAME = re.compile(r"[^\s/]*")
_NUMBER = re.compile(rb"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")


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
        """The rules for a crawler.

        Args:
            agent: Its product token, or several with commas between them; `*` among them takes the
                groups for everyone too. Case does not matter.
        """
        names = {_leading(_NAME, text.strip()) for text in agent.split(",")} - {""}
        mine = [group for group in self._groups if not names.isdisjoint(group.names)]
        if not mine:
            names = {"*"}
            mine = [group for group in self._groups if "*" in group.names]
        delays = [self._delays[name] for name in names if name in self._delays]
        rules = (rule for group in mine for rule in group.rules)
        return AgentRules(rules, max(delays, default=None))


def _leading(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.match(text)
    return match[0].lower() if match else ""


def parse_robots(data: bytes, limit: int = MAX_BYTES) -> RobotsTxt:
    """Read a robots.txt, whatever it is: what is no rule is passed over.

    Args:
        data: Its bytes, content coding removed; UTF-8, or UTF-16 with a byte order mark.
        limit: Bytes read; a line cut by the limit is passed over.
    """
    if len(data) > limit:
        data = data[: max(data.rfind(b"\n", 0, limit), data.rfind(b"\r", 0, limit), 0)]
    reader = _Reader()
    for line in _without_mark(data).replace(b"\r", b"\n").split(b"\n"):
        if line:
            reader.line(line[:_MAX_LINE])
    return RobotsTxt(reader.groups, reader.delays)


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
        key, value = _key_and_value(raw)
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
        names = _names(value)
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


def _names(value: str) -> set[str]:
    """The names of a User-agent line: its product token, and what stands before `/` or a space.

    A product token has letters, `_` and `-` only. Many crawlers are called otherwise
    (`archive.org_bot`, `bot2`): their name must stand there in full.
    """
    if value.startswith("*") and not value[1:2].strip():
        return {"*"}
    return {_leading(_TOKEN, value), _leading(_NAME, value)} - {"", "*"}


def _key_and_value(raw: bytes) -> tuple[bytes, bytes]:
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
    """Google compares only how a key begins, and knows the common misspellings."""
    return next((kind for names, kind in _KINDS if key.startswith(names)), "")
