"""The ledger of preferences of a running job: reads signals from visits, and stores their versions.

A version joins the commit group of the visit that it was read in. Its rows, in the family `rights`:

- `s` + site + kind: the signals of a site (robots.txt, policy files), by its origin; of a license
  file by its URL. `u` + key of the history: the own signals of a URL (headers, HTML).
- the same key, a zero byte and eight bytes of time: an earlier version, by its end.
- `t` + eight bytes of time + key: the version of that key and time differs from one before it, or
  from a reply without signals.
- `m`: since when the own signals of all replies are recorded, so that none means none.
"""

from collections.abc import Iterator
from functools import partial
from typing import Final
from urllib.parse import urlsplit

import msgspec
from msgspec import structs

from nacre.config.effective import Effective
from nacre.core.capture import Capture
from nacre.core.crawluri import Hop, Outlink
from nacre.core.processor import Visit
from nacre.engine.prerequisites import ROBOTS_FOR
from nacre.rights.ledger import (
    ABSENT,
    OWN,
    HeldPreferences,
    SignalVersion,
    hold,
    named_licenses,
    renewed_signals,
)
from nacre.rights.policy_files import LARGEST, SITE_KINDS, policy_kind, policy_signals, policy_urls
from nacre.rights.reply_signals import reply_signals
from nacre.rights.robots_lines import robots_signals
from nacre.rights.signals import ROBOTS, RSL, FileSignals, PreferenceSignal
from nacre.rights.vocabulary import UNKNOWN, Preference
from nacre.scope.robots_txt import RobotsState, outcome_of
from nacre.store.store import Store
from nacre.uri.parse import origin
from nacre.uri.surt import history_key
from nacre.wire.coding import decode_content

FAMILY: Final = "rights"
OWN_PREFIX: Final = b"u"
SITE_PREFIX: Final = b"s"
POLICY_CONTEXT: Final = "robots.txt/policy"
"""Context of the links to policy files."""
_SINCE: Final = b"m"
_CHANGED: Final = b"t"
MOST_VERSIONS: Final = 1_000
"""Versions of a key that are stored: some sites differ with each request. Afterwards it is unknown
what holds."""
_CODING: Final = 1024
"""Bytes that a coded file may be larger than its content."""


class RightsPlan(msgspec.Struct, frozen=True):
    """The settings about preferences of a URL.

    Attributes:
        records: They are recorded.
        agent: Product token that headers and HTML may address.
        robots_agent: Product tokens that groups of robots.txt are matched against.
        robots_bytes: Bytes of robots.txt that are read.
        collects: Policy files are fetched.
        enforced: Replies for which one of them holds are not written to WARC.
    """

    records: bool = True
    agent: str = ""
    robots_agent: str = "nacre"
    robots_bytes: int = 512_000
    collects: bool = False
    enforced: tuple[Preference, ...] = ()


def own_key(url: str) -> bytes:
    """Return the key of the own signals of a URL."""
    return OWN_PREFIX + history_key(url).encode()


def site_key(place: str, kind: str) -> bytes:
    """Return the key of the signals of a site.

    Args:
        place: Its origin; of a license file the URL.
        kind: Kind of the source.
    """
    return SITE_PREFIX + f"{place} {kind}".encode()


def file_of(url: str, mime: str, capture: Capture | None = None) -> tuple[str, bytes]:
    """Return the kind of a file of preferences, and the key of its signals; "" for another file.

    Args:
        url: URL of a capture.
        mime: Its media type.
        capture: The capture; None if it is not at hand.
    """
    is_robots = urlsplit(url).path == "/robots.txt"
    kind = ROBOTS if is_robots else _policy_kind(url, mime, capture)
    return kind, site_key(url if kind == RSL else origin(url), kind) if kind else b""


def _policy_kind(url: str, mime: str, capture: Capture | None) -> str:
    head = partial(content_text, capture) if capture is not None else None
    return policy_kind(url, mime, head)


class RightsRows:
    """The rows of the ledger in a store.

    Args:
        store: The store, read-only or not.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._decoder = msgspec.msgpack.Decoder(SignalVersion)
        self._encoder = msgspec.msgpack.Encoder()

    @property
    def since(self) -> int | None:
        """Since when the own signals of all replies are recorded, µs; None: they are not."""
        row = self._store.get(FAMILY, _SINCE)
        return None if row is None else int(row)

    def record_since(self, time: int | None) -> None:
        """Note since when all replies are recorded, µs since the epoch; None: they are not."""
        if time is None:
            self._store.delete(FAMILY, _SINCE)
        else:
            self._store.put(FAMILY, _SINCE, b"%d" % time)

    def latest(self, key: bytes) -> SignalVersion | None:
        """Return the latest version of a key; None if there is none."""
        row = self._store.get(FAMILY, key)
        return None if row is None else self._decoder.decode(row)

    def put(self, key: bytes, version: SignalVersion, *, follows_none: bool = False) -> None:
        """Add a version, which ends the one before; joins the open commit group.

        After `MOST_VERSIONS`, a version follows that is unknown, and no other.

        Args:
            key: The key.
            version: The version.
            follows_none: There was a capture without signals before; it has no version.
        """
        last = self.latest(key)
        number = last.number + 1 if last is not None else 0
        if number > MOST_VERSIONS:
            return
        version = structs.replace(version, number=number)
        if number == MOST_VERSIONS:
            version = structs.replace(version, signals=(), state=UNKNOWN)
        is_change = last.is_known if last is not None else follows_none
        if is_change and version.is_known:
            self._store.put(FAMILY, _CHANGED + version.since.to_bytes(8, "big") + key, b"")
        if last is not None:
            ended = structs.replace(last, until=version.since)
            row = self._encoder.encode(ended)
            self._store.put(FAMILY, key + b"\0" + version.since.to_bytes(8, "big"), row)
        self._store.put(FAMILY, key, self._encoder.encode(version))

    def end_versions(self, url: str, mime: str, time: int) -> None:
        """End what is known of a URL, and of its site if it is a file of preferences.

        Args:
            url: URL of a capture whose signals are not recorded.
            mime: Its media type.
            time: Its time, µs since the epoch.
        """
        _, file_key = file_of(url, mime)
        for key in (own_key(url), file_key or site_key(url, RSL)):
            last = self.latest(key)
            if last is not None and last.is_known and last.since < time:
                self.put(key, SignalVersion(time, url, "", state=UNKNOWN))

    def at(self, key: bytes, time: int) -> SignalVersion | None:
        """Return the version of a key that holds at a time, µs; None if there is none."""
        last = self.latest(key)
        if last is None or last.since <= time:
            return last
        # Earlier versions are stored by their end: the first that ends later may hold.
        ends = key + b"\0" + (time + 1).to_bytes(8, "big")
        for _, row in self._store.scan(FAMILY, ends, key + b"\1", limit=1):
            version = self._decoder.decode(row)
            return version if version.holds_at(time) else None
        return None

    def versions(self, key: bytes) -> Iterator[SignalVersion]:
        """Yield the versions of a key, oldest first."""
        for _, row in self._store.scan(FAMILY, key + b"\0", key + b"\1"):
            yield self._decoder.decode(row)
        last = self.latest(key)
        if last is not None:
            yield last

    def changes(
        self, start: int, stop: int
    ) -> Iterator[tuple[str, SignalVersion | None, SignalVersion]]:
        """Yield the versions that differ from what was before, in order of time.

        Each has the kind of its source, `reply` for the own signals of a URL, and the version
        before, None for a capture without signals.

        Args:
            start: µs since the epoch.
            stop: The end, not included.
        """
        first, last = (_CHANGED + time.to_bytes(8, "big") for time in (start, stop))
        for row, _ in self._store.scan(FAMILY, first, last):
            time, key = row[1:9], row[9:]
            after = self.at(key, int.from_bytes(time, "big"))
            before = self._store.get(FAMILY, key + b"\0" + time)
            if after is not None:
                is_own = key.startswith(OWN_PREFIX)
                source = OWN if is_own else key.decode("utf-8", "replace").rpartition(" ")[2]
                yield source, None if before is None else self._decoder.decode(before), after

    def all_versions(self, prefix: bytes) -> Iterator[tuple[bytes, SignalVersion]]:
        """Yield all versions, each with its key, by key; the latest of a key comes first."""
        stop = prefix[:-1] + bytes((prefix[-1] + 1,))
        for key, row in self._store.scan(FAMILY, prefix, stop):
            yield key.partition(b"\0")[0], self._decoder.decode(row)

    def clear(self) -> None:
        """Delete all rows."""
        for key, _ in self._store.scan(FAMILY, b"", None):
            self._store.delete(FAMILY, key)

    def holding(
        self, url: str, time: int, own: tuple[PreferenceSignal, ...] | None = None
    ) -> HeldPreferences:
        """Return what holds for a URL at a time.

        Args:
            url: The URL.
            time: µs since the epoch.
            own: Its own signals, if they are not stored yet.
        """
        place, since = origin(url), self.since
        site = {kind: self.at(site_key(place, kind), time) for kind in SITE_KINDS}
        if own is not None:
            mine: SignalVersion | None = SignalVersion(time, url, "", own)
        else:
            mine = self.at(own_key(url), time)
        files = named_licenses(url, mine, site[ROBOTS])
        licenses = {file: self.at(site_key(file, RSL), time) for file in files}
        is_collected = since is not None and time >= since
        return hold(url, time, mine, site, licenses, is_collected=is_collected)


class RightsBook:
    """The ledger of a running job.

    Args:
        store: The store of the job.
        plan: What the settings say, under each combination of sheets.
        now: µs since the epoch.
    """

    def __init__(self, store: Store, plan: Effective[RightsPlan], now: int) -> None:
        self.rows = RightsRows(store)
        self._plan = plan
        self._last: tuple[bytes, SignalVersion | None] = b"", None
        self._read: tuple[Capture | None, tuple[PreferenceSignal, ...]] = None, ()
        if not plan[0].records:
            self.rows.record_since(None)
        elif self.rows.since is None:
            self.rows.record_since(now)

    def news(self, visit: Visit, capture: Capture) -> tuple[PreferenceSignal, ...] | None:
        """Return the own signals of a reply, if they differ from the version before; else None."""
        plan = self._plan[visit.overlay]
        if not plan.records or not visit.is_of_url or not capture.url.startswith("http"):
            return None
        signals = self._signals(visit, capture, plan)
        if capture.status == 304:
            return self._renewed(visit, signals)
        if not signals and (visit.history is None or not 200 <= capture.status < 300):
            return None
        last = self._latest(own_key(visit.uri.url))
        is_same = last.has_same(signals) if last is not None else not signals
        return None if is_same else signals

    def _signals(
        self, visit: Visit, capture: Capture, plan: RightsPlan
    ) -> tuple[PreferenceSignal, ...]:
        """Return the own signals of a reply; the steps that ask for them read them once."""
        if self._read[0] is not capture:
            self._read = capture, reply_signals(capture.headers, visit.metas, plan.agent)
        return self._read[1]

    def _renewed(
        self, visit: Visit, headers: tuple[PreferenceSignal, ...]
    ) -> tuple[PreferenceSignal, ...] | None:
        """Return the signals after a 304: its headers replace those with the same names."""
        if not headers:
            return None
        last = self._latest(own_key(visit.uri.url))
        if last is not None and not last.is_known:
            return None
        signals = renewed_signals(last, headers)
        return None if last is not None and last.has_same(signals) else signals

    def _latest(self, key: bytes) -> SignalVersion | None:
        if self._last[0] != key:
            self._last = key, self.rows.latest(key)
        return self._last[1]

    def learn(self, visit: Visit) -> None:
        """Store the signals of a final visit that are new, in its commit group."""
        capture, plan = visit.capture, self._plan[visit.overlay]
        if capture is None or visit.status <= 0 or not plan.records:
            return
        news = self.news(visit, capture)
        self._read = None, ()
        if news is not None:
            version = SignalVersion(capture.began, visit.uri.url, visit.record_id, news)
            follows_none = self._knows_reply_before(visit)
            self.rows.put(own_key(visit.uri.url), version, follows_none=follows_none)
            self._last = b"", None
        site = visit.uri.heritable.get(ROBOTS_FOR)
        if site is not None:
            self._learn_robots(site, visit, capture, plan)
        elif kind := _policy_kind(visit.uri.url, visit.mime, capture):
            self._learn_policy(kind, visit, capture, plan)

    def _knows_reply_before(self, visit: Visit) -> bool:
        """Return whether a reply before was recorded, with signals or without."""
        history, since = visit.history, self.rows.since
        if history is None or since is None or history.visited < since:
            return False
        return 200 <= history.status < 300 or history.status == 304

    def _learn_robots(self, site: str, visit: Visit, capture: Capture, plan: RightsPlan) -> None:
        state = outcome_of(visit.status)
        if state is RobotsState.ALLOW:
            self._put(site_key(site, ROBOTS), visit, capture, (), ABSENT)
        elif state is RobotsState.RULES:
            found = file_signals(ROBOTS, capture, plan)
            self._put(site_key(site, ROBOTS), visit, capture, *stored_signals(found))

    def _learn_policy(self, kind: str, visit: Visit, capture: Capture, plan: RightsPlan) -> None:
        place = visit.uri.url if kind == RSL else origin(visit.uri.url)
        if visit.status == 200:
            found = file_signals(kind, capture, plan)
            self._put(site_key(place, kind), visit, capture, *stored_signals(found))
        elif 400 <= visit.status < 500 and visit.status != 429:
            self._put(site_key(place, kind), visit, capture, (), ABSENT)

    def _put(
        self,
        key: bytes,
        visit: Visit,
        capture: Capture,
        signals: tuple[PreferenceSignal, ...],
        state: str = "",
    ) -> None:
        last = self.rows.latest(key)
        if last is None or not last.has_same(signals, state):
            version = SignalVersion(capture.began, visit.uri.url, visit.record_id, signals, state)
            self.rows.put(key, version)

    def withheld(self, visit: Visit) -> str:
        """Return the enforced preference for which a reply is not written to WARC; "" for none.

        robots.txt and policy files are always written: they are the evidence.
        """
        capture, plan = visit.capture, self._plan[visit.overlay]
        if not plan.enforced or capture is None or not capture.url.startswith("http"):
            return ""
        if visit.uri.is_prerequisite or _policy_kind(visit.uri.url, visit.mime, capture):
            return ""
        own = self._signals(visit, capture, plan)
        held = self.rows.holding(visit.uri.url, capture.began, own)
        return next((preference.text for preference in plan.enforced if held.has(preference)), "")


def add_policy_files(visit: Visit, capture: Capture, plan: RightsPlan) -> None:
    """Add the policy files of a site to the outlinks of its robots.txt, which has just come.

    The links of an error page in its place are dropped.
    """
    site = visit.uri.heritable.get(ROBOTS_FOR)
    if site is None or outcome_of(visit.status) is RobotsState.REDIRECT:
        return
    signals: tuple[PreferenceSignal, ...] = ()
    if outcome_of(visit.status) is RobotsState.RULES:
        signals = file_signals(ROBOTS, capture, plan).signals
    else:
        visit.filter_outlinks(lambda _: False)
    rank = len(visit.outlinks)
    links = [
        Outlink(url, Hop.INFERRED, POLICY_CONTEXT, rank=rank + number)
        for number, url in enumerate(policy_urls(site, signals))
    ]
    visit.add_outlinks(links)


def file_signals(kind: str, capture: Capture, plan: RightsPlan) -> FileSignals:
    """Return the signals of a file of preferences.

    Args:
        kind: Its kind, see `file_of`.
        capture: A reply with its content.
        plan: The settings.
    """
    if kind == ROBOTS:
        text = content_text(capture, plan.robots_bytes)
        return robots_signals(text, plan.robots_agent, plan.robots_bytes)
    return policy_signals(kind, content_text(capture, LARGEST + 1))


def stored_signals(found: FileSignals) -> tuple[tuple[PreferenceSignal, ...], str]:
    """Return the signals of a version of a file, and its state: see `SignalVersion`."""
    return found.signals, "" if found.is_whole else UNKNOWN


def content_text(capture: Capture, limit: int) -> bytes:
    """Return the content of a file, at most `limit` bytes of it, without its coding."""
    encodings = capture.header_values(b"content-encoding")
    if not encodings:
        return capture.payload(limit)
    return decode_content(capture.payload(limit + _CODING), encodings, limit).data
