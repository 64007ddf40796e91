"""Nutch's schedules in a job: what `updatedb` makes of each outcome of a visit (pure).

Source: Nutch, `CrawlDbReducer` (the switch on the fetch status).
"""

from collections.abc import Mapping

from nacre.core.timingrow import TimingRow
from nacre.history.javafloat import rounded, single
from nacre.history.schedule.nutch import (
    NutchDatum,
    NutchRates,
    NutchSchedule,
    PageState,
)
from nacre.history.schedule.settings import NutchTimes
from nacre.history.schedule.timing import Met
from nacre.history.verdict.deletion import Answer

_GONE = frozenset((400, 401, 404, 410, -9998))
"""Statuses of pages that are not there: Nutch's GONE, ACCESS_DENIED, NOTFOUND, ROBOTS_DENIED."""
_OWN = {"mime_file", "retry_max"}


class NutchTiming:
    """One of Nutch's schedules.

    Args:
        kind: Its name in the settings: `nutch-default`, `nutch-adaptive`, `nutch-mime-adaptive`.
        settings: What the job says.
        rates: Rates by media type of its file.
    """

    def __init__(self, kind: str, settings: NutchTimes, rates: Mapping[str, NutchRates]) -> None:
        self.kind = kind
        said = {name: getattr(settings, name) for name in _fields(settings)}
        said["mime_rates"] = {**rates, **settings.mime_rates}
        self._schedule = NutchSchedule(**said, kind=kind.removeprefix("nutch-"))
        self._retry_max = settings.retry_max

    def after(self, url: str, row: TimingRow | None, met: Met) -> TimingRow:
        """See `history.schedule.timing.Timing`."""
        at = rounded(met.time * 1000.0)
        datum = NutchDatum(self._schedule.interval, at)
        if row is not None:
            datum = self._schedule.due(_datum(row), at)[1]
        mime = met.mime or (row.mime if row else "")
        signed = row.signed if row else False
        if met.status in _GONE or met.answer in {Answer.MISSING, Answer.GONE, Answer.SOFT}:
            datum = self._schedule.gone(datum, at)
        elif met.answer is Answer.SILENT:
            datum = self._failed(datum, at)
        else:
            datum, signed = self._answered(datum, at, met._replace(mime=mime), signed=signed)
        return TimingRow(
            url,
            self.kind,
            met.time,
            rounded(datum.interval),  # Nutch keeps whole seconds.
            datum.fetch_time / 1000.0,
            datum.modified / 1000.0,
            datum.retries,
            signed,
            mime,
        )

    def due(self, row: TimingRow, now: float) -> float:
        """See `history.schedule.timing.Timing`; a date too far ahead is due now, as in Nutch."""
        return self._schedule.due(_datum(row), rounded(now * 1000.0))[1].fetch_time / 1000.0

    def early(self, row: TimingRow) -> float:
        """See `history.schedule.timing.Timing`: never."""
        return 0.0

    def _failed(self, datum: NutchDatum, at: int) -> NutchDatum:
        datum = self._schedule.retried(datum, at)
        return datum if datum.retries < self._retry_max else self._schedule.gone(datum, at)

    def _answered(
        self, datum: NutchDatum, at: int, met: Met, *, signed: bool
    ) -> tuple[NutchDatum, bool]:
        moved = met.answer is Answer.MOVED
        state = PageState.UNKNOWN
        if met.status == 304 or (signed and not met.first and not moved):
            state = PageState.MODIFIED if met.changed else PageState.NOT_MODIFIED
        datum = self._schedule.fetched(datum, at, state, met.mime)
        forced = self._schedule.forced(datum)
        if forced is not None:
            return forced, False
        return datum, not moved


def _fields(settings: NutchTimes) -> set[str]:
    return set(type(settings).model_fields) - _OWN


def _datum(row: TimingRow) -> NutchDatum:
    due, modified = rounded(row.due * 1000.0), rounded(row.modified * 1000.0)
    return NutchDatum(single(row.interval), due, modified, row.retries)
