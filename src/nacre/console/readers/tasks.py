"""The tasks of a reader process: each answers one question about one job, as plain data."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from nacre.console.readers.beans import (
    bean_values,
    check_settings,
    convert_beans,
    write_report,
)
from nacre.store.layout import Layout

Arguments = Mapping[str, Any]
ReaderTask = Callable[[Layout, Arguments], Any]


def _of(module: str, name: str) -> ReaderTask:
    """A task of a module that is imported when the task is first asked for."""

    def task(layout: Layout, arguments: Arguments) -> Any:  # noqa: ANN401 - as the task gives it
        found: ReaderTask = getattr(import_module(f"nacre.console.readers.{module}"), name)
        return found(layout, arguments)

    return task


def _stored_status(layout: Layout, _: Arguments) -> dict[str, Any]:
    """The numbers of a job that does not run, as `nacre status --json` has them."""
    from nacre.ops.status import stored_status  # noqa: PLC0415 - the worker starts faster

    layout.require()
    if layout.in_rounds:
        from nacre.console.readers.rounds import rounds_facts  # noqa: PLC0415 - few have rounds

        return {"cycle": rounds_facts(layout)}
    return stored_status(layout)


def kept_from_start(layout: Layout, _: Arguments) -> dict[str, Any]:
    """The problems of a job before a start, as `job.start_survey.kept_from_start`."""
    from nacre.job import start_survey  # noqa: PLC0415 - see above

    return start_survey.kept_from_start(layout)


_FOR_PAGES = ("found", "logs", "settings", "waiting")


def warm(_: Layout, __: Arguments) -> None:
    """Import what pages of jobs need, before one is asked for."""
    for module in _FOR_PAGES:
        import_module(f"nacre.console.readers.{module}")


TASKS: Mapping[str, ReaderTask] = {
    "stored-status": _stored_status,
    "kept-from-start": kept_from_start,
    "warm": warm,
    "bean-values": bean_values,
    "check": check_settings,
    "convert-beans": convert_beans,
    "write-report": write_report,
    "config-text": _of("editing", "config_text"),
    "find-in-text": _of("editing", "find_problems"),
    "complete-text": _of("editing", "complete_text"),
    "hover-text": _of("editing", "hover_text"),
    "format-text": _of("editing", "format_text"),
    "effective-settings": _of("editing", "effective_settings"),
    "closed-files": _of("editing", "closed_files"),
    "shown-text": _of("editing", "shown_text"),
    "put-config": _of("editing", "put_config"),
    "save-config": _of("editing", "save_config"),
    "edit-versions": _of("editing", "edit_versions"),
    "edit-version": _of("editing", "edit_version"),
    "named-files": _of("settings", "named_files_of"),
    "change-settings": _of("settings", "change_settings"),
    "exclusions": _of("settings", "exclusions_of"),
    "dry-run": _of("settings", "dry_run"),
    "form-fields": _of("forms", "form_fields"),
    "form-change": _of("forms", "form_change"),
    "form-text": _of("forms", "form_text"),
    "form-values": _of("forms", "form_values"),
    "list-sheets": _of("sheets", "list_sheets"),
    "sheets-at": _of("sheets", "sheets_at"),
    "sheet-value": _of("sheets", "sheet_value"),
    "profiles": _of("library", "profiles"),
    "profile-text": _of("library", "profile_text"),
    "save-profile": _of("library", "save_profile"),
    "remove-profile": _of("library", "remove_profile"),
    "clips": _of("library", "clips"),
    "clip-text": _of("library", "clip_text"),
    "put-clip": _of("library", "put_clip"),
    "clip-of-lines": _of("library", "clip_of_lines"),
    "drop-clip": _of("library", "drop_clip"),
    "with-clip": _of("library", "with_clip"),
    "settings-schema": _of("editing", "settings_schema"),
    "setting-facts": _of("editing", "setting_facts"),
    "log-lines": _of("logs", "find_lines"),
    "progress": _of("logs", "read_progress"),
    "queues": _of("waiting", "list_queues"),
    "queue": _of("waiting", "show_queue"),
    "uris": _of("waiting", "list_uris"),
    "tree": _of("waiting", "show_tree"),
    "count": _of("waiting", "count_uris"),
    "operate": _of("operations", "operate"),
    "import-uris": _of("surgery", "import_uris"),
    "export-uris": _of("surgery", "export_uris"),
    "look-at-new-job": _of("new_jobs", "look_at_new_job"),
    "new-job-fields": _of("new_jobs", "new_job_fields"),
    "make-new-job": _of("new_jobs", "make_new_job"),
    "make-of-profile": _of("new_jobs", "make_of_profile"),
    "look-before-start": _of("starting", "look_before_start"),
    "cycle-versions": _of("rounds", "cycle_versions"),
    "dry-round": _of("dry_round", "dry_round"),
    "export-part": _of("surgery", "export_part"),
    "seeds": _of("found", "list_seeds"),
    "seed-list": _of("seed_list", "seed_list"),
    "save-seed-list": _of("seed_list", "save_seed_list"),
    "explain": _of("found", "explain_url"),
    "runs": _of("found", "list_runs"),
    "upcoming": _of("upcoming", "upcoming"),
    "reports": _of("reporting", "list_reports"),
    "report": _of("reporting", "make_report"),
}
"""The tasks by the names that `pool.ReaderPool.ask` takes."""
