"""The ledger: versions of the signals of sites and URLs, and what holds for a URL at a time.

A version holds from the capture that it was read in to the capture of the next version. Signals of
a site hold for all its URLs, and are stored once. What was not collected is unknown, never allowed.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from nacre.errors import URIError
from nacre.rights.paths import applying
from nacre.rights.policy_files import SITE_KINDS, license_urls
from nacre.rights.robots_lines import CRAWL
from nacre.rights.signals import HEADER, HTML, ROBOTS, RSL, TDMREP, PreferenceSignal
from nacre.rights.vocabulary import (
    ALLOWED,
    DISALLOWED,
    UNKNOWN,
    UNSTATED,
    Preference,
    strictest,
)
from nacre.uri.parse import Resolver
from nacre.wire.robots_tag import RSL_LINK

OWN: Final = "reply"
"""The source of the own signals of a URL: its headers and its HTML."""

ABSENT: Final = "absent"

USES: Final = ("train-ai", "search", "ai-input", "tdm")
"""Uses whose values are shown although nothing is stated."""
_OF_ROBOTS: Final = frozenset(("train-ai", "search", "ai-input", "license", "use"))
_OF_LICENSES: Final = frozenset(("train-ai", "search", "ai-input", "ai-index", "ai-all", "all"))
_TDM_ORDER: Final = (HTML, HEADER, TDMREP)
_MOST_LICENSES: Final = 50
_SELDOM: Final = frozenset((CRAWL, "llms.txt", "all", "index", "follow"))


class SignalVersion(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The signals of a place during an interval.

    Attributes:
        since: Time of the capture in which they were found first, µs since the epoch.
        url: URL of that capture.
        record_id: WARC-Record-ID of that capture, without angle brackets; "" if it was not stored.
        signals: The signals; none if the place stated nothing.
        state: `absent` if the server has no such file, `unknown` if not all is recorded that this
            capture states; else "".
        until: Time of the capture with the next version; 0 if there is none.
        number: Number of versions before it.
    """

    since: int
    url: str
    record_id: str
    signals: tuple[PreferenceSignal, ...] = ()
    state: str = ""
    until: int = 0
    number: int = 0

    @property
    def is_known(self) -> bool:
        """Whether it is recorded what the capture states."""
        return self.state != UNKNOWN

    def holds_at(self, time: int) -> bool:
        """Return whether a time is in the interval."""
        return self.since <= time and (not self.until or time < self.until)

    def has_same(self, signals: tuple[PreferenceSignal, ...], state: str = "") -> bool:
        """Return whether a later capture has the same signals."""
        return self.signals == signals and self.state == state


def renewed_signals(
    last: SignalVersion | None, headers: tuple[PreferenceSignal, ...]
) -> tuple[PreferenceSignal, ...]:
    """Return the signals of a page after a 304: its headers replace those of the same name.

    Args:
        last: The version before; None if there is none.
        headers: The signals of the reply.
    """
    kept = last.signals if last is not None else ()
    names = {(signal.source, signal.name) for signal in headers}
    rest = tuple(signal for signal in kept if (signal.source, signal.name) not in names)
    renewed = headers + rest
    return kept if set(renewed) == set(kept) else renewed


class HeldSignal(NamedTuple):
    """A signal that holds for a URL, and the version that has it."""

    signal: PreferenceSignal
    version: SignalVersion


class HeldPreferences(NamedTuple):
    """The preferences that hold for a URL at a time.

    Attributes:
        url: The URL.
        time: The time, µs since the epoch.
        held: The signals, those of the site first.
        missing: Sources that were not collected: `robots.txt`, `tdmrep.json`, …, `reply` for its
            headers and HTML, `rsl` for a license file that is named.
    """

    url: str
    time: int
    held: Sequence[HeldSignal]
    missing: tuple[str, ...]

    def value(self, key: str) -> str:
        """Return the value of a preference: that stated, `none`, or `unknown`.

        What is disallowed by one source is disallowed. Else it is `unknown` if a source was not
        collected that could disallow it.
        """
        stated = self._stated(key)
        if key == CRAWL:
            return ALLOWED if ALLOWED in stated else strictest(stated)
        value = strictest(stated)
        if value != DISALLOWED and self._is_open(key, is_stated=bool(stated)):
            return UNKNOWN
        return value

    def has(self, wanted: Preference) -> bool:
        """Return whether a preference holds; of a directive: whether it is given."""
        if not wanted.value:
            return any(wanted.key == preference.key for preference in self.preferences())
        return self.value(wanted.key) == wanted.value or wanted in self.preferences()

    def is_unknown(self, wanted: Preference) -> bool:
        """Return whether a preference might hold, since a source of it was not collected."""
        if self.has(wanted):
            return False
        if not wanted.value:
            return OWN in self.missing
        return self.value(wanted.key) == UNKNOWN

    def preferences(self) -> list[Preference]:
        """Return the preferences that are stated, each once, in the order of their sources."""
        found = (each for held in self.held for each in held.signal.preferences)
        return list(dict.fromkeys(found))

    def text(self) -> str:
        """Return the preferences as a cell of a table: `train-ai=n, noarchive`."""
        keys = dict.fromkeys(
            preference.key for preference in self.preferences() if preference.key not in _SELDOM
        )
        parts = []
        for key in keys:
            value = self.value(key)
            parts.append(key if value in (UNSTATED, UNKNOWN, "") else f"{key}={value}")
        return ", ".join(sorted(parts))

    def _stated(self, key: str) -> list[str]:
        found = [
            (held.signal.source, each.value)
            for held in self.held
            for each in held.signal.preferences
            if each.key == key and each.value
        ]
        if key == "tdm":
            source = next((name for name in _TDM_ORDER if any(name == s for s, _ in found)), "")
            return [value for name, value in found if name == source]
        if key in _OF_ROBOTS and self.value(CRAWL) == DISALLOWED:
            # Rules on the use of paths that may not be crawled allow nothing (attach, section 3).
            return [value for name, value in found if (name, value) != (ROBOTS, ALLOWED)]
        return [value for _, value in found]

    def _is_open(self, key: str, *, is_stated: bool) -> bool:
        """Return whether a source was not collected that could state a preference."""
        if key == "tdm":
            return OWN in self.missing or (TDMREP in self.missing and not is_stated)
        sources = {OWN} | ({ROBOTS} if key in _OF_ROBOTS else set())
        sources |= {RSL} if key in _OF_LICENSES else set()
        return not sources.isdisjoint(self.missing)


def hold(
    url: str,
    time: int,
    own: SignalVersion | None,
    site: Mapping[str, SignalVersion | None],
    licenses: Mapping[str, SignalVersion | None],
    *,
    is_collected: bool,
) -> HeldPreferences:
    """Return what holds for a URL at a time.

    Args:
        url: The URL.
        time: µs since the epoch.
        own: The version of the URL's signals at that time; None if there is none.
        site: The same of each kind of file of its site.
        licenses: The same of license files by their URLs, those that `named_licenses` returns.
        is_collected: Its own signals were collected at that time.
    """
    versions = [version for version in site.values() if version is not None]
    versions += [version for version in licenses.values() if version is not None]
    versions += [own] if own is not None else []
    held = [
        HeldSignal(signal, version)
        for version in versions
        for signal in applying(version.signals, url)
    ]
    missing = [kind for kind in SITE_KINDS if not _is_known(site.get(kind))]
    missing += [RSL] if not all(map(_is_known, licenses.values())) else []
    missing += [] if _is_known(own) or (own is None and is_collected) else [OWN]
    return HeldPreferences(url, time, held, tuple(missing))


def _is_known(version: SignalVersion | None) -> bool:
    return version is not None and version.is_known


def named_licenses(url: str, own: SignalVersion | None, robots: SignalVersion | None) -> list[str]:
    """Return the URLs of the license files (RSL) that are named for a URL: the first 50."""
    versions = [version for version in (robots, own) if version is not None]
    signals = (signal for version in versions for signal in applying(version.signals, url))
    files = license_urls(s for s in signals if s.source == ROBOTS or s.name == RSL_LINK)
    return list(dict.fromkeys(_absolute(url, files[:_MOST_LICENSES])))


def _absolute(url: str, files: Sequence[str]) -> Iterator[str]:
    """Yield the URLs of files as they are fetched; a text that is no URL stays, as unknown."""
    try:
        resolver = Resolver(url) if files else None
    except URIError:
        resolver = None
    for file in files:
        yield (resolver and resolver.resolve(file)) or file
