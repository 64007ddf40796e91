"""The tasks of a reader process: each answers one question about one job, as plain data."""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from nacre.config.extension import MIGRATE, find_extension, load_part
from nacre.core.message_data import to_builtins
from nacre.errors import ConfigError, NacreError
from nacre.machine.layout import Layout
from nacre.messages import error_text
from nacre.web.workers.pool import TaskTable

Arguments = Mapping[str, Any]
ReaderTask = Callable[[Layout, Arguments], Any]


def _load(module: str) -> ModuleType:
    """Import a module of the console, or one by its whole name."""
    return import_module(module if module.startswith("nacre.") else f"nacre.console.{module}")


def _of(module: str, name: str) -> ReaderTask:
    """Return a task of a module that is imported when the task is first requested."""

    def task(layout: Layout, arguments: Arguments) -> Any:  # noqa: ANN401 - as the task gives it
        read: ReaderTask = getattr(_load(module), name)
        return read(layout, arguments)

    return task


def _typed(module: str, name: str) -> ReaderTask:
    """A typed task of a module of the console, which is imported when the task is first asked."""

    def task(layout: Layout, arguments: Arguments) -> Any:  # noqa: ANN401 - plain data
        return getattr(_load(module), name).run(layout, arguments)

    return task


def _stored_status(layout: Layout, _: Arguments) -> dict[str, object]:
    """The numbers of a job that does not run, as `nacre status --json` has them."""
    from nacre.ops.status import stored_status  # noqa: PLC0415 - the worker starts faster

    layout.require()
    if layout.in_rounds:
        from nacre.ops.status import rounds_facts  # noqa: PLC0415 - few have rounds

        return {"cycle": rounds_facts(layout)}
    return stored_status(layout)


def kept_from_start(layout: Layout, _: Arguments) -> dict[str, object]:
    """The problems of a job before a start, as `job.start_survey.kept_from_start`."""
    from nacre.job import start_survey  # noqa: PLC0415 - see above

    findings: dict[str, object] = to_builtins(start_survey.kept_from_start(layout))
    return findings


_FOR_PAGES = (
    "frontier.tree", "logs.progress", "results.runs", "results.seeds", "results.handlers",
    "settings.sheets", "settings.trials",
)  # fmt: skip


def warm(_: Layout, __: Arguments) -> None:
    """Import the modules for pages of jobs before a page is requested."""
    for module in _FOR_PAGES:
        _load(module)


def look_before_start(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, object]:
    """Return what prevents a job from starting: problems of its settings, and missing disk space.

    Host names are not resolved here, because the user waits for the reply; the start resolves them.

    Args:
        layout: The job.
        arguments: `set`: texts `path=value`, which may not send a secret to another server.
    """
    from nacre.job.job import Job  # noqa: PLC0415 - the worker starts faster
    from nacre.settings.load import examine_job, load_job  # noqa: PLC0415
    from nacre.settings.secret_places import require_unmoved  # noqa: PLC0415

    try:
        assignments = [str(text) for text in arguments.get("set", ())]
        loaded = load_job(layout, assignments)
        saved, faults = examine_job(layout) if assignments else (loaded, [])
        before = saved.settings if saved is not None else None
        # Of settings that have a problem it is not known where their secrets are sent.
        require_unmoved(before, loaded.settings, strict=bool(faults), references=True)
        missing = Job(layout.root, loaded.settings).missing_space()
    except ConfigError as error:
        return {"problems": [problem._asdict() for problem in error.problems], "space": ""}
    except NacreError as error:
        return {"problems": [{"path": "", "message": error_text(error)}], "space": ""}
    return {"problems": [], "space": missing}


TASKS: Mapping[str, ReaderTask] = {
    "stored-status": _stored_status,
    "kept-from-start": kept_from_start,
    "warm": warm,
    "config-text": _typed("settings.file_tasks", "config_text"),
    "find-in-text": _typed("settings.file_tasks", "FIND_PROBLEMS"),
    "complete-text": _typed("settings.file_tasks", "complete_text"),
    "hover-text": _typed("settings.file_tasks", "hover_text"),
    "format-text": _typed("settings.file_tasks", "format_text"),
    "effective-settings": _typed("settings.file_tasks", "effective_settings"),
    "closed-files": _typed("settings.file_tasks", "closed_files"),
    "shown-text": _typed("settings.file_tasks", "shown_text"),
    "put-config": _typed("settings.file_tasks", "PUT_CONFIG"),
    "save-config": _typed("settings.file_tasks", "SAVE_CONFIG"),
    "edit-versions": _typed("settings.file_tasks", "edit_versions"),
    "edit-version": _typed("settings.file_tasks", "edit_version"),
    "named-files": _typed("nacre.web.workers.naming", "named_files"),
    "change-settings": _typed("settings.changes", "change_file"),
    "exclusions": _typed("settings.changes", "list_exclusions"),
    "dry-run": _typed("settings.trials", "dry_run"),
    "form-fields": _of("settings.form_tasks", "form_fields"),
    "form-change": _of("settings.form_tasks", "form_change"),
    "form-text": _of("settings.form_tasks", "form_text"),
    "form-values": _of("settings.form_tasks", "form_values"),
    "list-sheets": _typed("settings.sheets", "list_sheets"),
    "sheets-at": _typed("settings.sheets", "sheets_at"),
    "sheet-value": _typed("settings.sheets", "sheet_value"),
    "profiles": _typed("library.handlers", "PROFILES"),
    "profile-text": _typed("library.handlers", "PROFILE_TEXT"),
    "save-profile": _typed("library.handlers", "SAVE_PROFILE"),
    "remove-profile": _typed("library.handlers", "REMOVE_PROFILE"),
    "clips": _typed("library.handlers", "CLIPS"),
    "clip-text": _typed("library.handlers", "CLIP_TEXT"),
    "put-clip": _typed("library.handlers", "PUT_CLIP"),
    "clip-of-lines": _typed("settings.changes", "CLIP_OF_LINES"),
    "drop-clip": _typed("library.handlers", "DROP_CLIP"),
    "with-clip": _typed("library.handlers", "WITH_CLIP"),
    "settings-schema": _typed("settings.file_tasks", "json_schema"),
    "setting-facts": _typed("settings.file_tasks", "setting_facts"),
    "log-lines": _typed("logs.progress", "find_lines"),
    "progress": _typed("logs.progress", "read_progress"),
    "queues": _typed("frontier.queues", "list_queues"),
    "queue": _typed("frontier.queues", "show_queue"),
    "uris": _typed("frontier.uris", "list_uris"),
    "tree": _typed("frontier.tree", "show_tree"),
    "count": _typed("frontier.uris", "count_affected"),
    "operate": _of("nacre.web.workers.operations", "operate"),
    "import-uris": _of("nacre.web.workers.operations", "import_uris"),
    "look-at-new-job": _typed("jobs.new_jobs", "try_new_job"),
    "new-job-fields": _typed("jobs.new_jobs", "new_job_fields"),
    "make-new-job": _typed("jobs.new_jobs", "make_new_job"),
    "make-of-profile": _typed("jobs.new_jobs", "make_of_profile"),
    "look-before-start": look_before_start,
    "cycle-versions": _typed("rounds.tasks", "cycle_versions"),
    "dry-round": _typed("rounds.tasks", "dry_round"),
    "export-part": _typed("frontier.uris", "export_part"),
    "seeds": _typed("results.seeds", "list_seeds"),
    "seed-list": _typed("results.seed_list", "read_list"),
    "save-seed-list": _typed("results.seed_list", "write_list"),
    "explain": _typed("results.handlers", "explain_url"),
    "compare-captures": _typed("captures.compare", "compare_job_captures"),
    "cite-capture": _typed("captures.compare", "cite_job_capture"),
    "cite-record": _typed("captures.compare", "cite_job_record"),
    "explain-page": _typed("results.handlers", "explain_page"),
    "captures": _typed("captures.listing", "list_captures"),
    "capture-facets": _typed("captures.listing", "count_captures"),
    "capture": _typed("captures.details", "show_capture"),
    "runs": _typed("results.runs", "list_runs"),
    "changes": _typed("results.changes", "list_changes"),
    "run-changes": _typed("results.changes", "list_changes_of_run"),
    "upcoming": _typed("schedules.calendar", "list_upcoming"),
    "export-captures": _typed("captures.exports", "write_export"),
    "reports": _typed("results.report_tasks", "list_reports"),
    "report": _typed("results.report_tasks", "make_report"),
}
"""The tasks by name, as in `pool.ReaderPool.ask`."""


def find_task(name: str) -> ReaderTask:
    """Return the task of a name, of the console or of an extension.

    Args:
        name: As `pool.ReaderPool.ask` takes it.

    Raises:
        KeyError: There is none.
        NacreError: The package that has it is broken.
    """
    if name in TASKS:
        return TASKS[name]
    extension = find_extension(MIGRATE)
    if extension is None:
        raise KeyError(name)
    task: ReaderTask = load_part(MIGRATE, extension.reader_tasks[name])
    return task


READER_TASKS: Final = TaskTable(
    __name__,
    long=frozenset(
        ("check", "cite-record", "convert-beans", "count", "dry-round", "export-captures",
         "import-uris", "operate", "report", "write-report")
    ),
    writes=frozenset(("import-uris", "operate")),
)  # fmt: skip
"""The tasks of the console's pool of readers."""
