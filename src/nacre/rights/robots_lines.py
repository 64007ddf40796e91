"""The preferences in a robots.txt: `Content-Usage`, `Content-Signal`, `License`; its other rules.

Sources: draft-ietf-aipref-attach, section 3: a rule of a group, with a path before the preferences
or none. Content signals of Cloudflare: the same place. RSL 1.0: `License` belongs to no group.
"""

from nacre.rights.signals import ROBOTS, PreferenceSignal, as_written
from nacre.rights.usage import signal_preferences, usage_preferences
from nacre.rights.vocabulary import ALLOWED, DISALLOWED, Preference, preference
from nacre.scope.robots_txt import agent_names, agent_tokens, file_lines, key_and_value

CRAWL = "crawl"
"""Key of what Allow and Disallow say."""
_MOST = 2_000
"""Lines of a file that are kept."""
_MOST_NAMES, _LONGEST_NAMES = 20, 200
"""Names of a group that its signals have, and their characters."""
_READERS = {
    "content-usage": ("Content-Usage", usage_preferences),
    "content-signal": ("Content-Signal", signal_preferences),
}
_CRAWLED = {"allow": ALLOWED, "disallow": DISALLOWED}


class _Group:
    """The lines of one group."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.tokens: set[str] = set()
        self.lines: list[tuple[str, str, str]] = []


def robots_signals(text: bytes, agent: str, limit: int) -> tuple[PreferenceSignal, ...]:
    """Return the signals of a robots.txt for a crawler, at most 2,000.

    Args:
        text: The file, content coding removed.
        agent: Product tokens of the crawler, with commas between them.
        limit: Bytes that are read.
    """
    groups, licenses = _read(text, limit)
    tokens = agent_tokens(agent)
    mine = [group for group in groups if not tokens.isdisjoint(group.tokens)]
    if not mine:
        mine = [group for group in groups if "*" in group.tokens]
    signals = [_license(value, line) for value, line in licenses]
    for group in mine:
        name = ", ".join(group.names[:_MOST_NAMES])[:_LONGEST_NAMES]
        signals += [_rule(key, value, line, name) for key, value, line in group.lines]
    return tuple(signal for signal in signals if signal.preferences)[:_MOST]


def _read(text: bytes, limit: int) -> tuple[list[_Group], list[tuple[str, str]]]:
    groups: list[_Group] = []
    licenses: list[tuple[str, str]] = []
    is_naming = False
    for raw in file_lines(text, limit):
        key, value = (part.decode("utf-8", "replace") for part in key_and_value(raw))
        line = as_written(raw.decode("utf-8", "replace"))
        if key == "user-agent":
            if not is_naming:
                groups.append(_Group())
            is_naming = True
            groups[-1].names.append(value)
            groups[-1].tokens |= agent_names(value)
        elif key == "license":
            licenses.append((value, line))
        elif key in _READERS or key in _CRAWLED:
            is_naming = False
            if groups:
                groups[-1].lines.append((key, value, line))
    return groups, licenses


def _license(value: str, line: str) -> PreferenceSignal:
    stated = (preference("license", value),) if "://" in value else ()
    return PreferenceSignal(ROBOTS, f"License {value[:200]}", line, stated)


def _rule(key: str, value: str, line: str, agent: str) -> PreferenceSignal:
    if key in _CRAWLED:
        stated: tuple[Preference, ...] = (Preference(CRAWL, _CRAWLED[key]),) if value else ()
        return PreferenceSignal(ROBOTS, CRAWL, line, stated, value, agent)
    name, read = _READERS[key]
    path = ""
    if value.startswith("/"):
        path, _, value = value.replace("\t", " ").partition(" ")
    return PreferenceSignal(ROBOTS, name, line, read(value.strip()), path, agent)
