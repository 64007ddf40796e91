"""RFC 9309 written down once more, as briefly as it can be: the authority of decided differences.

It knows nothing of Nacre. Where the RFC leaves room it does what Google's parser does: spellings,
lines without a colon, a group ended by a rule.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_SIGNS = frozenset(b"!$&'()*+,;=:@/?#[]%") | _UNRESERVED
_FIELD = re.compile(r"\s*([A-Za-z -]+?)\s*[: \t]\s*(.*)")
_AGENT = re.compile(r"[^\s/*]+")
_NAMES = {
    "user-agent": "agent", "useragent": "agent", "user agent": "agent",
    "disallow": "disallow", "dissallow": "disallow", "dissalow": "disallow",
    "disalow": "disallow", "diasllow": "disallow", "disallaw": "disallow",
    "allow": "allow", "crawl-delay": "delay", "sitemap": "sitemap", "site-map": "sitemap",
}  # fmt: skip


class Told(NamedTuple):
    """What a robots.txt tells an agent: (is it allow?, path) of each rule; its delay, or None."""

    rules: list[tuple[bool, str]]
    delay: float | None


def told(text: bytes, agents: str) -> Told:
    """The rules of all groups that name one of the product tokens, else of those for `*`."""
    wanted = {agent.partition("/")[0].lower() for agent in agents.split(",")}
    lines = lines_of(text)
    rules, delays = list(_groups(lines, _RULES)), list(_groups(lines, {"delay", *_RULES}))
    if not any(wanted & names for names, _ in rules + delays):
        wanted = {"*"}
    return Told(
        [
            (name == "allow", value)
            for names, group in rules
            for name, value in group
            if wanted & names and name in _RULES
        ],
        next(
            (
                float(value)
                for names, group in delays
                for name, value in group
                if wanted & names and name == "delay" and re.fullmatch(r"[0-9.]+", value)
            ),
            None,
        ),
    )


def lines_of(text: bytes) -> list[tuple[str, str]]:
    """Field and value of each line that has a known field; comments are taken off."""
    decoded = text.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    found = []
    for line in re.split(r"\r\n|\r|\n", decoded):
        match = _FIELD.match(line.partition("#")[0].rstrip())
        colon = re.match(r"\s*([^:]*?)\s*:\s*(.*)", line.partition("#")[0].rstrip())
        match = colon or match
        if match and (name := _NAMES.get(match[1].lower())):
            found.append((name, match[2].strip()))
    return found


_RULES = {"allow", "disallow"}


def _groups(
    lines: list[tuple[str, str]], ending: set[str]
) -> Iterator[tuple[set[str], list[tuple[str, str]]]]:
    """Agents and lines of each group: one ends where an agent is named behind one of `ending`.

    To the rules only rules count; a crawl delay, which the RFC does not know, is for the agents
    that are named right above it.
    """
    names: set[str] = set()
    group: list[tuple[str, str]] = []
    for name, value in lines:
        if name == "agent":
            if any(field in ending for field, _ in group):
                yield names, group
                names, group = set(), []
            token = _AGENT.match(value)
            names.add("*" if re.match(r"\*(\s|$)", value) else token[0].lower() if token else "")
        elif names:
            group.append((name, value))
    yield names, group


def allowed(rules: list[tuple[bool, str]], target: str) -> bool:
    """RFC 9309 2.2.2: the longest match decides; of equal ones, allow."""
    if target == "/robots.txt":
        return True
    path, best = normal(target.encode("utf-8", "surrogateescape"), of_rule=False), (0, True)
    for allow, text in rules:
        pattern = normal(text.encode("utf-8", "surrogateescape"), of_rule=True)
        if allow and pattern.endswith((b"/index.html", b"/index.htm")):  # as Google's does
            pattern = max(
                pattern, pattern.rpartition(b"/")[0] + b"/$", key=lambda p: _reach(p, path)
            )
        if pattern and _matches(pattern, path):
            best = max(best, (len(pattern), allow))
    return best[1]


def normal(path: bytes, *, of_rule: bool) -> bytes:
    """2.2.2: escapes of unreserved characters decoded, others in capitals, odd bytes escaped.

    2.2.3: `*` and a final `$` of a rule are special; as characters they are written `%2A`, `%24`.
    """
    pieces = re.findall(rb"%[0-9A-Fa-f]{2}|.", path, re.DOTALL)
    out = []
    for number, piece in enumerate(pieces):
        if len(piece) == 3:
            value = unquote_to_bytes(piece)
            out.append(value if value[0] in _UNRESERVED else piece.upper())
        elif piece == b"*" and not of_rule:
            out.append(b"%2A")
        elif piece == b"$" and not (of_rule and number == len(pieces) - 1):
            out.append(b"%24")
        else:
            out.append(piece if piece[0] in _SIGNS else b"%%%02X" % piece[0])
    return b"".join(out)


def _matches(pattern: bytes, path: bytes) -> bool:
    """Piece by piece, each at its first place: no pattern takes more than a pass over the path."""
    body = pattern.removesuffix(b"$")
    first, *others = body.split(b"*")
    if not path.startswith(first):
        return False
    at = len(first)
    for piece in others:
        found = path.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    last = others[-1] if others else first
    return body == pattern or (path.endswith(last) and (bool(others) or path == first))


def _reach(pattern: bytes, path: bytes) -> int:
    return len(pattern) if _matches(pattern, path) else -1
