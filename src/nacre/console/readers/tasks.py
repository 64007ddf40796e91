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


def _typed(module: str, name: str) -> ReaderTask:
    """A typed task of a module of the console, which is imported when the task is first asked."""

    def task(layout: Layout, arguments: Arguments) -> Any:  # noqa: ANN401 - plain data
        return getattr(import_module(f"nacre.console.{module}"), name).run(layout, arguments)

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


_FOR_PAGES = (
    "frontier.previews", "readers.logs", "results.runs", "results.seeds", "results.urls",
    "settings.sheets", "settings.trials",
)  # fmt: skip


def warm(_: Layout, __: Arguments) -> None:
    """Import what pages of jobs need, before one is asked for."""
    for module in _FOR_PAGES:
        import_module(f"nacre.console.{module}")


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
    "named-files": _typed("settings.edits", "named_files"),
    "change-settings": _typed("settings.edits", "change_file"),
    "exclusions": _typed("settings.edits", "list_exclusions"),
    "dry-run": _typed("settings.trials", "dry_run"),
    "form-fields": _of("forms", "form_fields"),
    "form-change": _of("forms", "form_change"),
    "form-text": _of("forms", "form_text"),
    "form-values": _of("forms", "form_values"),
    "list-sheets": _typed("settings.sheets", "list_sheets"),
    "sheets-at": _typed("settings.sheets", "sheets_at"),
    "sheet-value": _typed("settings.sheets", "sheet_value"),
    "profiles": _typed("library.tasks", "PROFILES"),
    "profile-text": _typed("library.tasks", "PROFILE_TEXT"),
    "save-profile": _typed("library.tasks", "SAVE_PROFILE"),
    "remove-profile": _typed("library.tasks", "REMOVE_PROFILE"),
    "clips": _typed("library.tasks", "CLIPS"),
    "clip-text": _typed("library.tasks", "CLIP_TEXT"),
    "put-clip": _typed("library.tasks", "PUT_CLIP"),
    "clip-of-lines": _typed("settings.edits", "CLIP_OF_LINES"),
    "drop-clip": _typed("library.tasks", "DROP_CLIP"),
    "with-clip": _typed("library.tasks", "WITH_CLIP"),
    "settings-schema": _of("editing", "settings_schema"),
    "setting-facts": _of("editing", "setting_facts"),
    "log-lines": _of("logs", "find_lines"),
    "progress": _of("logs", "read_progress"),
    "queues": _typed("frontier.queues", "list_queues"),
    "queue": _typed("frontier.queues", "show_queue"),
    "uris": _typed("frontier.uris", "list_uris"),
    "tree": _typed("frontier.tree", "show_tree"),
    "count": _typed("frontier.previews", "count_affected"),
    "operate": _of("operations", "operate"),
    "import-uris": _of("surgery", "import_uris"),
    "look-at-new-job": _of("new_jobs", "look_at_new_job"),
    "new-job-fields": _of("new_jobs", "new_job_fields"),
    "make-new-job": _of("new_jobs", "make_new_job"),
    "make-of-profile": _of("new_jobs", "make_of_profile"),
    "look-before-start": _of("starting", "look_before_start"),
    "cycle-versions": _of("rounds", "cycle_versions"),
    "dry-round": _of("dry_round", "dry_round"),
    "export-part": _typed("frontier.uris", "export_part"),
    "seeds": _typed("results.seeds", "list_seeds"),
    "seed-list": _of("seed_list", "seed_list"),
    "save-seed-list": _of("seed_list", "save_seed_list"),
    "explain": _typed("results.urls", "explain_url"),
    "runs": _typed("results.runs", "list_runs"),
    "upcoming": _of("upcoming", "upcoming"),
    "reports": _of("reporting", "list_reports"),
    "report": _of("reporting", "make_report"),
}
"""The tasks by the names that `pool.ReaderPool.ask` takes."""
