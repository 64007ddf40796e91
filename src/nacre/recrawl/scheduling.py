"""The schedules of a job: which pages are under one, by the sheets that apply to them."""

from pathlib import Path

from nacre.assembly.rule_checks import mime_rates
from nacre.assembly.rules import open_rules
from nacre.engine.candidates.scope_state import RuleFiles
from nacre.engine.seeding.seedbook import SeedBook
from nacre.planner.schedules.timetable import Timetable, TimingRows, timing_of
from nacre.recrawl.pagestore import PageStore
from nacre.settings.settings import JobSettings
from nacre.settings.sheets import Sheets
from nacre.store.store import Store


def timetable_of(
    settings: JobSettings, sheets: Sheets, files: RuleFiles, rows: TimingRows
) -> Timetable | None:
    """The timetable of a job; None when no page is under a schedule.

    Raises:
        ConfigError: The file of rates by media type cannot be read.
    """
    if not has_schedules(settings):
        return None
    rates = mime_rates(settings, files)
    overlays = sheets.overlays
    schedules = overlays.settings.then(lambda s: s.recrawl.schedule)
    timings = schedules.then(lambda schedule: timing_of(schedule, rates))
    return Timetable(rows, lambda url: timings[sheets.of_url(url)])


def stored_timetable(root: Path, settings: JobSettings, store: Store) -> Timetable | None:
    """The timetable of a job that does not run, as last committed.

    Args:
        root: Its directory.
        settings: Its settings.
        store: Its store.
    """
    if not has_schedules(settings):
        return None
    rules = open_rules(settings, root)
    SeedBook(store, rules.scope_state).load()
    return timetable_of(settings, rules.sheets, rules.rule_files, PageStore(store))


def has_schedules(settings: JobSettings) -> bool:
    """Some pages may be under a schedule."""
    schedule = settings.recrawl.schedule
    return schedule.kind != "worth" or any(
        str(path).startswith("recrawl") for sheet in settings.sheets.values() for path in sheet
    )
