"""Changed preferences of sites and pages as entries of the change feed."""

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
        gone: The signals of before that are not in the capture.
        new: The signals that were not there before.
    """

    url: str
    time: float
    run: int
    source: str
    record_id: str
    gone: Sequence[PreferenceSignal]
    new: Sequence[PreferenceSignal]

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
    time = version.since / 1e6
    return RightsChange(version.url, time, run, source, version.record_id, gone, new)


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
    texts = list(_texts(change))
    return ChangeEntry(
        id=entry_id(f"rights {change.source} {change.url}", change.time),
        url=change.url,
        kind=change.kind,
        time=iso(change.time),
        run=change.run,
        reason=change.source,
        texts=texts[:MOST_SIGNALS],
        more=max(0, len(texts) - MOST_SIGNALS),
        record_id=change.record_id,
    )


def _texts(change: RightsChange) -> Iterator[DifferingText]:
    """Yield the lines that went, each with the line in its place, and then those that came."""
    new = list(change.new)
    for gone in change.gone:
        words = [DifferingWords(GONE, gone.line)]
        successor = next((signal for signal in new if _place(signal) == _place(gone)), None)
        if successor is not None:
            new.remove(successor)
            words.append(DifferingWords(NEW, successor.line))
        yield DifferingText(gone.source, words)
    for signal in new:
        yield DifferingText(signal.source, [DifferingWords(NEW, signal.line)])


def _place(signal: PreferenceSignal) -> tuple[str, str, str]:
    return signal.source, signal.name, signal.path
