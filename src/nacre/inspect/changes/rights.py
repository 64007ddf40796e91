"""Changed preferences of sites and pages as entries of the change feed."""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from nacre.core.changes import GONE, NEW, RIGHTS_CHANGE
from nacre.core.clock import iso
from nacre.engine.rights_book import RightsRows
from nacre.inspect.changes.feed import ChangeEntry, DifferingText, DifferingWords, entry_id
from nacre.rights.ledger import SignalVersion
from nacre.rights.signals import PreferenceSignal
from nacre.store.store import Store

MOST_SIGNALS: Final = 20
"""Differences of an entry; the others are counted."""


class RightsChange(NamedTuple):
    """Preferences that differ from those of the version before.

    Attributes:
        url: URL of the capture that has them.
        time: Time of that capture, seconds since the epoch.
        run: Number of its run.
        source: Kind of the source: `robots.txt`, …; `reply` for the headers and HTML of a page.
        record_id: WARC-Record-ID of the capture; "" if it was not stored.
        texts: The first lines that differ: those that went, each with the line in its place, and
            then those that came.
        more: Number of further lines.
    """

    url: str
    time: float
    run: int
    source: str
    record_id: str
    texts: list[DifferingText]
    more: int

    @property
    def kind(self) -> str:
        """The kind of the change."""
        return RIGHTS_CHANGE


def rights_changes(store: Store, run: int, start: float, stop: float) -> Iterator[RightsChange]:
    """Yield the changed preferences of an interval, in order of time.

    Signals that are written in another way and mean the same are no change.

    Args:
        store: The store of the job.
        run: Number of the run that the interval belongs to.
        start: Its begin, seconds since the epoch.
        stop: Its end, not included.
    """
    for source, before, after in RightsRows(store).changes(round(start * 1e6), round(stop * 1e6)):
        old = before.signals if before is not None else ()
        gone, new = _without(old, after.signals), _without(after.signals, old)
        if gone or new:
            yield _change(run, source, after, gone, new)


def _change(
    run: int,
    source: str,
    version: SignalVersion,
    gone: Sequence[PreferenceSignal],
    new: Sequence[PreferenceSignal],
) -> RightsChange:
    pairs = list(_pairs(gone, new))
    texts = [_differing_text(*pair) for pair in pairs[:MOST_SIGNALS]]
    more = len(pairs) - len(texts)
    time = version.since / 1e6
    return RightsChange(version.url, time, run, source, version.record_id, texts, more)


def _pairs(
    gone: Sequence[PreferenceSignal], new: Sequence[PreferenceSignal]
) -> Iterator[tuple[PreferenceSignal | None, PreferenceSignal | None]]:
    """Yield each signal that went with its successor, and then those that came."""
    at_place = defaultdict[tuple[str, str, str], deque[int]](deque)
    for at, signal in enumerate(new):
        at_place[_place(signal)].append(at)
    for signal in gone:
        successors = at_place[_place(signal)]
        yield signal, new[successors.popleft()] if successors else None
    for at in sorted(at for rest in at_place.values() for at in rest):
        yield None, new[at]


def _place(signal: PreferenceSignal) -> tuple[str, str, str]:
    return signal.source, signal.name, signal.path


def _differing_text(gone: PreferenceSignal | None, new: PreferenceSignal | None) -> DifferingText:
    sides = [(kind, side) for kind, side in ((GONE, gone), (NEW, new)) if side is not None]
    return DifferingText(sides[0][1].source, [DifferingWords(kind, s.line) for kind, s in sides])


def _without(
    signals: Sequence[PreferenceSignal], others: Sequence[PreferenceSignal]
) -> list[PreferenceSignal]:
    """Return the signals that mean something else than each of the others."""
    known = {_meaning(signal) for signal in others}
    return [signal for signal in signals if _meaning(signal) not in known]


def _meaning(signal: PreferenceSignal) -> object:
    return signal.source, signal.preferences, signal.path, signal.agent


def rights_entry(change: RightsChange) -> ChangeEntry:
    """Return the entry of changed preferences (pure)."""
    return ChangeEntry(
        id=entry_id(f"rights {change.source} {change.url}", change.time),
        url=change.url,
        kind=change.kind,
        time=iso(change.time),
        run=change.run,
        reason=change.source,
        texts=change.texts,
        more=change.more,
        record_id=change.record_id,
    )
