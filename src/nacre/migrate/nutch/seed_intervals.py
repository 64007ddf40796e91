"""Intervals that seeds of Nutch have in their metadata become sheets."""

import re
from collections.abc import Mapping

from nacre.errors import URIError
from nacre.migrate.draft import Draft
from nacre.migrate.nutch.seeds import SeedInterval
from nacre.migrate.report import FileNote, Report
from nacre.uri.login import take_login
from nacre.uri.parse import parse

_KIND = "recrawl.schedule.kind"
_NUTCH = "recrawl.schedule.nutch."
_MOST = 5_000
"""URLs that are told apart; each is an expression in crawl.yaml."""
_SOURCE = "nutch.fetchInterval"


def map_seed_intervals(intervals: Mapping[str, SeedInterval], draft: Draft, report: Report) -> None:
    """Make a sheet of each interval, and associate it with the URLs that have it, and no others.

    Args:
        intervals: Intervals by URL as written in the seed list.
        draft: The new job, its schedule included.
        report: Notes what became of them.
    """
    if not intervals:
        return
    kind = str(draft.settings.get(_KIND, ""))
    what = f"intervals of seeds ({len(intervals)}) "
    if not kind.startswith("nutch-"):
        note = f"{what}left out: they need one of Nutch's schedules in {_KIND}"
        report.files.append(FileNote(_SOURCE, note, check=True))
        return
    if len(intervals) > _MOST:
        note = f"{what}left out: more than {_MOST} are not told apart; make sheets of whole hosts"
        report.files.append(FileNote(_SOURCE, note, check=True))
        return
    sheets: dict[str, dict[str, float]] = {}
    expressions: dict[str, list[str]] = {}
    unread = 0
    for url, interval in intervals.items():
        try:
            expression = re.escape(take_login(parse(url))[0])
        except URIError:
            unread += 1
            continue
        keeps = interval.fixed and kind != "nutch-default"
        name = f"{'fixed' if keeps else 'interval'}{interval.seconds}"
        setting = f"{_NUTCH}{'fixed_interval' if keeps else 'interval'}"
        sheets[name] = {setting: float(interval.seconds)}
        expressions.setdefault(name, []).append(expression)
    _put(draft, sheets, expressions)
    note = f"{what}became sheets"
    if unread:
        note += f", but for {unread} that are no URL"
    report.files.append(FileNote(_SOURCE, note, check=bool(unread)))


def _put(
    draft: Draft, sheets: dict[str, dict[str, float]], expressions: dict[str, list[str]]
) -> None:
    if not sheets:
        return
    by_sheet = [
        {"rule": {"rule": "matches-list-regex", "regexes": found}, "sheets": [name]}
        for name, found in expressions.items()
    ]
    draft.put("sheets", {**draft.settings.get("sheets", {}), **sheets}, _SOURCE)
    before = draft.settings.get("sheet_associations", [])
    draft.put("sheet_associations", [*before, *by_sheet], _SOURCE)
