"""The schedules of a job: which pages are under one, by the sheets that apply to them."""

from pathlib import Path

from nacre.history.pagestore import PageStore
from nacre.history.schedule.timetable import Timetable, TimingRows, timing_of
from nacre.job.admission.rulefiles import RuleFiles, mime_rates
from nacre.job.admission.scoping import scope_state
from nacre.job.configuration.preview import make_sheets
from nacre.job.configuration.settings import JobSettings
from nacre.job.configuration.sheet_list import sheet_list
from nacre.job.configuration.sheets import Sheets
from nacre.job.seeding.seedbook import SeedBook
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
    schedules = sheets.overlays.settings.then(lambda s: s.recrawl.schedule)
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
    files = RuleFiles(root)
    state = scope_state(root, files)
    SeedBook(store, state).load()
    sheets = make_sheets(settings, sheet_list(settings, root), state)
    return timetable_of(settings, sheets, files, PageStore(store))


def has_schedules(settings: JobSettings) -> bool:
    """Some pages may be under a schedule."""
    said = settings.recrawl.schedule.kind != "worth"
    return said or any(
        str(path).startswith("recrawl") for sheet in settings.sheets.values() for path in sheet
    )
