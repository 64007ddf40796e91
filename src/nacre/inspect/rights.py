"""Queries on the ledger of preferences: what holds for a URL at a time, and all its rows."""

from collections.abc import Iterator
from typing import Final

import msgspec

from nacre.core.clock import iso_millis
from nacre.engine.rights_book import OWN_PREFIX, SITE_PREFIX, RightsRows, own_key, site_key
from nacre.history.dedup import History
from nacre.rights.ledger import OWN, USES, HeldPreferences, SignalVersion, named_licenses
from nacre.rights.paths import applying
from nacre.rights.policy_files import SITE_KINDS
from nacre.rights.signals import ROBOTS, RSL, PreferenceSignal
from nacre.rights.vocabulary import Preference
from nacre.store.store import Store
from nacre.uri.parse import origin

MOST_ROWS: Final = 1_000
"""Rows that reports and histories have; a site may state something else with each reply."""
_NOTHING: Final = PreferenceSignal("", "", "", ())


class LedgerRow(msgspec.Struct, frozen=True):
    """A signal during an interval, or that a source had none.

    Attributes:
        source: Kind of the source: `robots.txt`, `header`, `html`, `tdmrep.json`, `ai.txt`,
            `llms.txt`, `rsl`; `reply` for the headers and HTML of a URL without signals.
        preferences: What it states, such as `train-ai=n, noarchive`; "" for nothing.
        line: As the site wrote it.
        path: Pattern of the paths that it is about; "" for all.
        agent: The crawlers that it addresses; "" for all.
        since: Time of the capture in which it was found first, RFC 3339.
        until: Time of the capture with the next version; "" if there is none.
        url: URL of the first of these captures.
        record_id: WARC-Record-ID of that capture; "" if it was not stored.
        state: `absent` if the server has no such file, `unknown` if not all that the capture states
            is recorded; else "".
    """

    source: str
    preferences: str
    line: str
    path: str
    agent: str
    since: str
    until: str
    url: str
    record_id: str
    state: str = ""


class UrlRights(msgspec.Struct, frozen=True):
    """The preferences that hold for a URL at a time.

    Attributes:
        url: The URL.
        time: The time, RFC 3339.
        uses: Values of `train-ai`, `search`, `ai-input`, `tdm` and of all that is stated: `y`, `n`,
            another value, `none` if nothing is stated, `unknown` if a source was not collected.
        signals: The signals that hold.
        missing: Sources that were not collected; `reply` stands for headers and HTML.
    """

    url: str
    time: str
    uses: dict[str, str]
    signals: list[LedgerRow]
    missing: tuple[str, ...]


def url_rights(store: Store, url: str, time: int) -> UrlRights:
    """Return the preferences that hold for a URL after its last fetch; see `url_rights_after`."""
    history = History(store).get(url)
    return url_rights_after(store, url, time, 0 if history is None else history.visited)


def url_rights_after(store: Store, url: str, time: int, fetched: int) -> UrlRights:
    """Return the preferences that held for a URL at a time.

    Its headers and HTML were not collected if it was not fetched before, or when the own signals
    of all replies were not recorded.

    Args:
        store: The store of the job.
        url: The URL.
        time: µs since the epoch.
        fetched: Time of the last fetch until then, µs; 0 if there was none.
    """
    rows = RightsRows(store)
    held, since = rows.holding(url, time), rows.since
    is_recorded = fetched > 0 and since is not None and fetched >= since
    if not is_recorded and OWN not in held.missing and rows.at(own_key(url), time) is None:
        held = held._replace(missing=(*held.missing, OWN))
    return described(held)


def described(holding: HeldPreferences) -> UrlRights:
    """Return what holds for a URL, as faces show it."""
    keys = dict.fromkeys((*USES, *(preference.key for preference in holding.preferences())))
    uses = {key: holding.value(key) for key in keys}
    stated = {preference.key for preference in holding.preferences() if not preference.value}
    uses |= dict.fromkeys(stated, "given")
    rows = [ledger_row(held.version, held.signal) for held in holding.held]
    return UrlRights(holding.url, _time(holding.time), uses, rows, holding.missing)


def ledger_row(version: SignalVersion, signal: PreferenceSignal) -> LedgerRow:
    """Return the row of a signal in a version."""
    stated = ", ".join(Preference(*pair).text for pair in signal.preferences)
    return LedgerRow(
        source=signal.source,
        preferences=stated,
        line=signal.line,
        path=signal.path,
        agent=signal.agent,
        since=_time(version.since),
        until=_time(version.until) if version.until else "",
        url=version.url,
        record_id=version.record_id,
        state=version.state,
    )


def _time(micros: int) -> str:
    return iso_millis(micros / 1e6)


def url_versions(store: Store, url: str) -> Iterator[LedgerRow]:
    """Yield all signals that ever held for a URL, source by source, oldest first.

    Where a source that was collected had no signal for it, there is a row without preferences.
    """
    rows = RightsRows(store)
    place = origin(url)
    keys = [(kind, site_key(place, kind)) for kind in SITE_KINDS]
    robots = list(rows.versions(site_key(place, ROBOTS)))
    own = list(rows.versions(own_key(url)))
    pairs = [(None, version) for version in robots] + [(version, None) for version in own]
    files = dict.fromkeys(
        file for mine, robot in pairs for file in named_licenses(url, mine, robot)
    )
    keys += [(RSL, site_key(file, RSL)) for file in files]
    keys.append((OWN, own_key(url)))
    for kind, key in keys:
        for version in rows.versions(key):
            signals = applying(version.signals, url) or [
                msgspec.structs.replace(_NOTHING, source=kind)
            ]
            for signal in signals:
                yield ledger_row(version, signal)


def ledger_rows(store: Store) -> Iterator[LedgerRow]:
    """Yield all rows of the ledger, those of sites first."""
    rows = RightsRows(store)
    for prefix in (SITE_PREFIX, OWN_PREFIX):
        for key, version in rows.all_versions(prefix):
            kind = (
                OWN if prefix == OWN_PREFIX else key.decode("utf-8", "replace").rpartition(" ")[2]
            )
            nothing = [msgspec.structs.replace(_NOTHING, source=kind)]
            for signal in version.signals or nothing:
                yield ledger_row(version, signal)
