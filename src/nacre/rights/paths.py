"""Patterns of paths, as in robots.txt (RFC 9309 2.2), and the signals that apply to a URL."""

import re
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import urlsplit

from nacre.rights.signals import TDMREP, PreferenceSignal
from nacre.scope.robots_txt import AgentRules, RobotsRule, normal_pattern

_PLAIN = re.compile(r"/[A-Za-z0-9._~/-]*")
"""Characters that have no other spelling in patterns and paths."""


def request_target(url: str) -> str:
    """Return path and query of a URL, as patterns are compared with."""
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


@lru_cache(maxsize=2048)
def _rules(pattern: str) -> AgentRules:
    raw = pattern.encode("utf-8", "replace")
    return AgentRules([RobotsRule(allow=True, pattern=raw, line=b"matches")])


@lru_cache(maxsize=2048)
def _length(pattern: str) -> int:
    return len(normal_pattern(pattern.encode("utf-8", "replace")))


def is_match(pattern: str, url: str) -> bool:
    """Return whether a URL is one of those that a pattern is about; "" is about all.

    A pattern with a scheme must match the whole URL.
    """
    if not pattern:
        return True
    if "://" in pattern:
        scheme, _, remainder = pattern.partition("://")
        host, slash, path = remainder.partition("/")
        parts = urlsplit(url)
        if (parts.scheme, parts.netloc.lower()) != (scheme.lower(), host.lower()):
            return False
        return is_match(slash + path, url)
    target = request_target(url)
    if target == "/robots.txt":  # the rules of robots.txt never match it
        return pattern in ("/", "/*", "*")
    return _can_match(pattern, target) and bool(_rules(pattern).verdict(target).line)


def _can_match(pattern: str, target: str) -> bool:
    """Return whether the plain text that a pattern begins with, if any, allows a match.

    A site may have thousands of patterns, so that most are not compiled. A target with escapes may
    match in another spelling.
    """
    head = _PLAIN.match(pattern)
    return head is None or "%" in target or target.startswith(head[0])


def applying(signals: Sequence[PreferenceSignal], url: str) -> list[PreferenceSignal]:
    """Return the signals that apply to a URL, in their order.

    Of those with one source and name the longest pattern counts, and all with it; in tdmrep.json
    the first that matches.
    """
    matching = [signal for signal in signals if is_match(signal.path, url)]
    best: dict[tuple[str, str], str] = {}
    for signal in matching:
        key = signal.source, signal.name
        if key not in best or (
            signal.source != TDMREP and _length(signal.path) > _length(best[key])
        ):
            best[key] = signal.path
    return [signal for signal in matching if best[signal.source, signal.name] == signal.path]
