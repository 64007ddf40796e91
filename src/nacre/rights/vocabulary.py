"""The keys of preferences, from all sources in one vocabulary, and how they are combined.

A preference is a key with a value: `train-ai=n`. Directives have no value: `noarchive`. Keys of
other vocabularies with the same meaning are renamed; all others are kept as they were written.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final, NamedTuple

DRAFTS: Final = {
    "vocabulary": "draft-ietf-aipref-vocab-08",
    "attachment": "draft-ietf-aipref-attach-05",
    "content signals": "draft-romm-aipref-contentsignals-00",
    "tdmrep": "TDM Reservation Protocol, W3C community group",
    "rsl": "RSL-SPEC-1.0",
    "ai.txt": "Spawning ai.txt",
}
"""The documents that the parsers follow; drafts with their numbers, since they still change."""

ALLOWED: Final = "y"
DISALLOWED: Final = "n"
UNSTATED: Final = "none"
"""Nothing is stated by the sources that were collected."""
UNKNOWN: Final = "unknown"
"""A source that could state it was not collected; never read it as permission."""

_SAME: Final = {"ai-train": "train-ai"}
"""Keys of content signals and RSL, and the keys of the draft with their meaning."""
_IMPLIED: Final = {"noai": ("train-ai", DISALLOWED)}
"""Directives that state a preference too."""
_USES: Final = frozenset(
    (
        *("train-ai", "train-genai", "search", "ai-input", "ai-index", "ai-use", "ai-all", "all"),
        *("tdm", "crawl", "bots"),
    )
)
"""Known uses: `y` or `n`. Some are of RSL, some of earlier drafts."""
_DIRECTIVES: Final = frozenset(
    (
        *("noarchive", "noindex", "nofollow", "nosnippet", "none", "all", "index", "follow"),
        *("nocache", "noimageindex", "notranslate", "nositelinkssearchbox", "indexifembedded"),
        *("noai", "noimageai", "noodp", "noydir", "llms.txt"),
    )
)
"""Known preferences without a value."""
_VALUED: Final = frozenset(
    (
        *("max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"),
        *("license", "tdm-policy", "use"),
    )
)
"""Known preferences with another value, or any."""
_WRITTEN: Final = {"no": DISALLOWED, "yes": ALLOWED}
MOST_STATED: Final = 50
"""Preferences of one signal that are kept."""
_LONGEST_KEY: Final = 64
LONGEST_VALUE: Final = 300
"""Characters of a value that are kept."""


class Preference(NamedTuple):
    """A key and its value.

    Attributes:
        key: Such as `train-ai`, `search`, `tdm`, `noarchive`, `license`.
        value: `y`, `n`, or another value such as a URL; "" for a directive.
    """

    key: str
    value: str = ""

    @property
    def text(self) -> str:
        """As a user writes it: `train-ai=n`, `noarchive`."""
        return f"{self.key}={self.value}" if self.value else self.key


def preference(key: str, value: str = "") -> Preference:
    """Return a preference with the key of the vocabulary; long keys and values are cut."""
    name = _SAME.get(key, key)[:_LONGEST_KEY]
    return Preference(name, value[:LONGEST_VALUE])


def directive_preferences(words: Iterable[str]) -> tuple[Preference, ...]:
    """Return the preferences of directives for robots, and those that they imply: the first 50.

    Args:
        words: Directives in lower case, such as `noarchive` or `max-snippet:20`.
    """
    preferences: dict[Preference, None] = {}
    for word in sorted(words):
        name, _, value = word.partition(":")
        preferences[preference(name.strip(), value.strip())] = None
        if name in _IMPLIED:
            preferences[Preference(*_IMPLIED[name])] = None
    return tuple(preferences)[:MOST_STATED]


def read_preference(text: str) -> Preference | None:
    """Return the preference that a user wrote, such as `train-ai=n`; None for another text."""
    key, equals, value = text.strip().lower().partition("=")
    key, value = key.strip(), value.strip()
    if not key or (equals and not value) or any(char.isspace() for char in key + value):
        return None
    return preference(key, value)


def is_known(wanted: Preference) -> bool:
    """Return whether a preference is one that sites are known to state.

    Sites may state others: vocabularies grow, and all keys are recorded.
    """
    if not wanted.value:
        return wanted.key in _DIRECTIVES | _VALUED
    return wanted.key in _VALUED or (wanted.key in _USES and wanted.value in {ALLOWED, DISALLOWED})


def nearest_known(wanted: Preference) -> Preference | None:
    """Return the known preference that the operator may mean by another one; None for none.

    Of a use without `y` or `n`, it is that the use is disallowed: the reason to name it.
    """
    keys = _DIRECTIVES | _VALUED if not wanted.value else _USES | _VALUED
    every = sorted(_USES | _DIRECTIVES | _VALUED)
    near = wanted.key if wanted.key in every else ""
    for names in (sorted(keys), every):
        near = near or next(iter(get_close_matches(wanted.key, names, 1)), "")
    if not near:
        return None
    if near in _VALUED:
        return Preference(near, wanted.value)
    if near in _DIRECTIVES and not (near in _USES and wanted.value):
        return Preference(near)
    value = _WRITTEN.get(wanted.value, wanted.value)
    return Preference(near, value if value in {ALLOWED, DISALLOWED} else DISALLOWED)


def strictest(values: Iterable[str]) -> str:
    """Return the value that counts of several statements about a key; `none` for no statement.

    What any statement disallows is disallowed. Source: draft-ietf-aipref-vocab, "Combining
    Preferences".
    """
    stated = list(values)
    if DISALLOWED in stated:
        return DISALLOWED
    return stated[-1] if stated else UNSTATED
