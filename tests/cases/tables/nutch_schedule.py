"""Nutch's fetch schedules, default and adaptive, to the millisecond."""

from typing import Any

from nacre.planner.schedules.nutch import NutchDatum, NutchSchedule, PageState
from tests.cases.table import Row, Table, json_lines

_NAMES = {
    "db.fetch.interval.default": "interval",
    "db.fetch.interval.max": "interval_max",
    "db.fetch.schedule.adaptive.inc_rate": "inc_rate",
    "db.fetch.schedule.adaptive.dec_rate": "dec_rate",
    "db.fetch.schedule.adaptive.min_interval": "min_interval",
    "db.fetch.schedule.adaptive.max_interval": "max_interval",
    "db.fetch.schedule.adaptive.sync_delta": "sync_delta",
    "db.fetch.schedule.adaptive.sync_delta_rate": "sync_delta_rate",
}
# Where a row names no rate, the upstream class ran without nutch-default.xml.
_OF_THE_CODE = {"inc_rate": 0.2, "dec_rate": 0.2, "sync_delta_rate": 0.2}


def _check(row: Row) -> str | None:
    said = {_NAMES[name]: value for name, value in row["conf"].items() if name in _NAMES}
    schedule = NutchSchedule.model_validate({**_OF_THE_CODE, **said, "kind": row["schedule"]})
    fixed = float(_metadata(row).get("fixedInterval", 0.0))
    datum = NutchDatum(row["interval"], row.get("fetch_time", 0), row.get("modified", 0), 0, fixed)
    answer = _answer(schedule, datum, row)
    return None if answer == row["expected"] else repr(answer)


def _metadata(row: Row) -> dict[str, Any]:
    """What Nutch keeps with a page beside its times; it may also stand in the row itself."""
    return {**row, **row.get("conf", {}), **row.get("md", {}), **row.get("metadata", {})}


def _answer(schedule: NutchSchedule, datum: NutchDatum, row: Row) -> dict[str, Any]:
    due: dict[str, bool] = {}
    at = row["fetched_at"]
    if row["event"] == "fetched":
        datum = schedule.fetched(datum, at, PageState(row["state"]))
    elif row["event"] == "gone":
        datum = schedule.gone(datum, at)
    elif row["event"] == "retry":
        datum = schedule.retried(datum, at)
    else:
        due["should_fetch"], datum = schedule.due(datum, at)
    return {
        "interval": int(datum.interval),
        "next_fetch": datum.fetch_time,
        "modified": datum.modified,
        "retries": datum.retries,
        **due,
    }


TABLE = Table("nutch_schedule", json_lines("nutch_schedule.jsonl"), _check)
