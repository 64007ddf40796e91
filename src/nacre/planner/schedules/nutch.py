"""Nutch's fetch schedules, exactly: Default, Adaptive, MimeAdaptive.

Source: Nutch, `AbstractFetchSchedule` and below. Nutch computes intervals and rates in single
precision, keeps whole seconds of intervals, and times in milliseconds; so do these functions, so
that a migrated crawl plans the same dates to the millisecond. They are for people who come from
Nutch; `planner.planner` spends a budget better.

`NutchTiming` is such a schedule in a job: what `updatedb` makes of each outcome of a visit. Source:
Nutch, `CrawlDbReducer` (the switch on the fetch status).
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from nacre.config.component import Component, FileName, Seconds, setting
from nacre.core.javafloat import java_round, single
from nacre.core.pagerow import TimingRow
from nacre.messages import message
from nacre.planner.change_detection.deletion import Answer
from nacre.planner.schedules.schedules import Met

_DAY_MS = 86_400_000
_GONE_FACTOR = 1.5
_LARGEST_SHARE = 0.9


class PageState(StrEnum):
    """The data of a successful visit."""

    MODIFIED = "modified"
    NOT_MODIFIED = "notmodified"
    UNKNOWN = "unknown"


class NutchRates(NamedTuple):
    """The rates at which an interval grows (unchanged) and shrinks (changed)."""

    inc: float
    dec: float


class NutchDatum(NamedTuple):
    """The data that Nutch keeps of a page's timing.

    Attributes:
        interval: Time between fetches, s; 0 takes the default.
        fetch_time: Time of the next fetch, ms since the epoch.
        modified: Time of the last modification, ms since the epoch; 0 when unknown.
        retries: Failed tries in a row.
        fixed: Interval that an adaptive schedule obeys, s (`fixedInterval` of its metadata); 0 for
            none.
    """

    interval: float
    fetch_time: int
    modified: int = 0
    retries: int = 0
    fixed: float = 0.0


class NutchSettings(Component):
    """Settings of Nutch's schedules; the defaults are those of nutch-default.xml."""

    interval: Seconds = setting(
        2_592_000.0,
        "Interval of a page that has none (`db.fetch.interval.default`).",
        unit="s",
        live=False,
    )
    interval_max: Seconds = setting(
        7_776_000.0,
        "Longest time until the next fetch (`db.fetch.interval.max`).",
        unit="s",
        live=False,
    )
    inc_rate: float = setting(
        0.4, "Growth of the interval of an unchanged page; 0: none.", ge=0, live=False
    )
    dec_rate: float = setting(
        0.2, "Shrinkage of the interval of a changed page; 0: none.", ge=0, lt=1, live=False
    )
    fixed_interval: Seconds = setting(
        0.0,
        "Interval that an adaptive schedule does not change, as for a seed with "
        "`nutch.fetchInterval.fixed`; 0: none.",
        unit="s",
        live=False,
    )
    min_interval: Seconds = setting(60.0, "Shortest adaptive interval.", unit="s", live=False)
    max_interval: Seconds = setting(
        31_536_000.0, "Longest adaptive interval.", unit="s", live=False
    )
    sync_delta: bool = setting(
        True, "Move the next fetch towards the time of the last change.", live=False
    )
    sync_delta_rate: float = setting(
        0.3, "Share of the time since the last change by which it is moved.", ge=0, le=1, live=False
    )
    mime_rates: dict[str, NutchRates] = setting(
        dict,
        "For `nutch-mime-adaptive`: rates of media types, `[growth, shrinkage]`. Other types have "
        "those above.",
        live=False,
    )


class NutchSchedule(NutchSettings):
    """One of Nutch's schedules."""

    kind: str = setting(
        "adaptive",
        "`default`: a fixed interval; `adaptive`: it grows while a page rests; "
        "`mime-adaptive`: at rates by media type.",
        pattern="^(default|adaptive|mime-adaptive)$",
    )

    def fetched(
        self, datum: NutchDatum, fetched_at: int, state: PageState, mime: str = ""
    ) -> NutchDatum:
        """The timing after a successful visit.

        Args:
            datum: The timing before.
            fetched_at: Time of the visit, ms since the epoch.
            state: Whether the page changed.
            mime: Its media type, for `mime-adaptive`.
        """
        interval = datum.interval or self.interval
        if self.kind == "default":
            return self._fixed(datum, interval, fetched_at, state)
        fixed = datum.fixed or self.fixed_interval
        if fixed:
            following = fetched_at + java_round(single(fixed) * 1000.0)
            return NutchDatum(java_round(single(fixed)), following, datum.modified, 0, datum.fixed)
        modified = datum.modified if datum.modified > 0 else fetched_at
        rates = self.mime_rates.get(mime) if self.kind == "mime-adaptive" else None
        inc, dec = rates or NutchRates(self.inc_rate, self.dec_rate)
        if state is PageState.MODIFIED:
            interval, modified = single(interval * single(1.0 - single(dec))), fetched_at
        elif state is PageState.NOT_MODIFIED:
            interval = single(interval * single(1.0 + single(inc)))
        return self._adapted(interval, fetched_at, modified)

    def _fixed(
        self, datum: NutchDatum, interval: float, fetched_at: int, state: PageState
    ) -> NutchDatum:
        unknown = datum.modified <= 0 or state is PageState.MODIFIED
        modified = fetched_at if unknown else datum.modified
        following = fetched_at + java_round(interval * 1000.0)
        return NutchDatum(interval, following, modified, 0, datum.fixed)

    def _adapted(self, interval: float, fetched_at: int, modified: int) -> NutchDatum:
        reference = fetched_at
        if self.sync_delta:
            delta = fetched_at - modified
            if single(delta) > single(interval * 1000.0):
                interval = single(delta // 1000)
            offset, longest = java_round(delta * single(self.sync_delta_rate)), self.max_interval
            if delta > 0 and offset > int(longest) * 1000:
                # Nutch divides integers: none is left of an offset beyond the maximum.
                offset = offset // delta * int(longest) * 1000
            reference -= offset
        interval = min(max(interval, self.min_interval), self.max_interval)
        return NutchDatum(java_round(interval), reference + java_round(interval * 1000.0), modified)

    def gone(self, datum: NutchDatum, fetched_at: int) -> NutchDatum:
        """The timing of a missing page: it is requested again, at increasing intervals."""
        longer = single(datum.interval * _GONE_FACTOR)
        if longer >= self.interval_max:
            longer = self._longest
        longer = java_round(longer)
        return datum._replace(interval=longer, fetch_time=fetched_at + longer * 1000)

    @property
    def _longest(self) -> int:
        """What an interval becomes that is too long."""
        return java_round(single(self.interval_max * single(_LARGEST_SHARE)))

    def retried(self, datum: NutchDatum, fetched_at: int) -> NutchDatum:
        """The timing after a failure that may pass: one day later, whatever the interval."""
        return datum._replace(fetch_time=fetched_at + _DAY_MS, retries=datum.retries + 1)

    def forced(self, datum: NutchDatum) -> NutchDatum | None:
        """The interval that `updatedb` gives a page it never saw, if too long; else None.

        Its signature is forgotten too, so that the next visit cannot find it unchanged.
        """
        if datum.interval <= self.interval_max:
            return None
        return NutchDatum(self._longest, datum.fetch_time, fixed=datum.fixed)

    def due(self, datum: NutchDatum, now: int) -> tuple[bool, NutchDatum]:
        """Whether to fetch now, ms since the epoch; a date too far ahead is pulled to now."""
        if datum.fetch_time - now > self.interval_max * 1000.0:
            too_long = datum.interval > self.interval_max
            interval = self._longest if too_long else datum.interval
            datum = datum._replace(interval=interval, fetch_time=now)
        return datum.fetch_time <= now, datum


def read_mime_rates(text: str) -> Mapping[str, NutchRates]:
    """Rates of `adaptive-mimetypes.txt`: media type, growth, shrinkage, parted by tabs.

    Raises:
        ValueError: A line that is neither a comment nor of that form, with its number.
    """
    rates: dict[str, NutchRates] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part for part in line.split("\t") if part]
        try:
            mime, inc, dec = parts
            rates[mime.strip().lower()] = NutchRates(float(inc), float(dec))
        except ValueError:
            raise ValueError(
                message(
                    "recrawl.mime-rate-line",
                    "line {number}: not `type TAB growth TAB shrinkage`: {line!r}",
                    number=number,
                    line=line,
                )
            ) from None
    return rates


class NutchTimes(NutchSettings):
    """Nutch's schedules in a job."""

    mime_file: FileName = setting(
        "",
        "File of rates by media type, as Nutch's `adaptive-mimetypes.txt` has them (type, "
        "growth, shrinkage, separated by tabs), relative to the job; empty: none. `mime_rates` "
        "take precedence.",
        live=False,
        sheets=False,
    )
    retry_max: int = setting(
        3,
        "Failures in a row after which a page counts as gone (`db.fetch.retry.max`).",
        unit="visits",
        ge=1,
        live=False,
    )


_GONE = frozenset((400, 401, 404, 410, -9998))
"""Statuses of pages that are not there: Nutch's GONE, ACCESS_DENIED, NOTFOUND, ROBOTS_DENIED."""
_OWN = {"mime_file", "retry_max"}


class NutchTiming:
    """One of Nutch's schedules.

    Args:
        kind: Its name in the settings: `nutch-default`, `nutch-adaptive`, `nutch-mime-adaptive`.
        settings: The settings of the job.
        rates: Rates by media type of its file.
    """

    def __init__(self, kind: str, settings: NutchTimes, rates: Mapping[str, NutchRates]) -> None:
        self.kind = kind
        fields = {name: getattr(settings, name) for name in _fields(settings)}
        fields["mime_rates"] = {**rates, **settings.mime_rates}
        self._schedule = NutchSchedule(**fields, kind=kind.removeprefix("nutch-"))
        self._retry_max = settings.retry_max

    def after(self, url: str, row: TimingRow | None, met: Met) -> TimingRow:
        """See `Timing`."""
        at = java_round(met.time * 1000.0)
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
            java_round(datum.interval),  # Nutch keeps whole seconds.
            datum.fetch_time / 1000.0,
            datum.modified / 1000.0,
            datum.retries,
            signed,
            mime,
        )

    def due(self, row: TimingRow, now: float) -> float:
        """See `Timing`; a date too far ahead is due now, as in Nutch."""
        return self._schedule.due(_datum(row), java_round(now * 1000.0))[1].fetch_time / 1000.0

    def early(self, row: TimingRow) -> float:
        """See `Timing`: never."""
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
    due, modified = java_round(row.due * 1000.0), java_round(row.modified * 1000.0)
    return NutchDatum(single(row.interval), due, modified, row.retries)
