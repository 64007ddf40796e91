"""Tasks of reader processes for Heritrix's interface: check, convert, and write a report.

Settings that are made of beans follow the rules of every other way to edit a job. A migration
copies no password; what remains are files and variables of this machine, which only some users may
name, and logins in URLs.
"""

import asyncio
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from nacre.config.facts import value_at
from nacre.editing.file_settings import CLOSED, for_admins, named_files, stays_in_job
from nacre.editing.secrets import plain_secrets
from nacre.errors import ConfigError, NacreError, Problem
from nacre.fleet.places import CLASSES, REPORT
from nacre.inspect.reports.run_reports import RUN_REPORTS
from nacre.inspect.reports.source import source_of
from nacre.inspect.view import reading
from nacre.job.api import check_job
from nacre.job.control import is_running
from nacre.job.edits import read_config
from nacre.machine.layout import EFFECTIVE, SEEDS, Layout
from nacre.machine.local_files import read_ordinary, replace_file
from nacre.settings.load import load_job
from nacre_migrate.answers import UnansweredError, read_answers
from nacre_migrate.draft import Draft, write_job
from nacre_migrate.heritrix.convert import convert
from nacre_migrate.heritrix.work import beside
from nacre_migrate.report import MigrationReport

_WORKSHOP: Final = ".conversion"
_MOST_EFFECTIVE: Final = 16_000_000
"""Bytes of `effective.json`: scopes and sheets may be long."""


def convert_beans(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, object]:
    """Make `crawl.yaml` of the beans of a job; with every problem, and without one written file.

    Args:
        layout: The job.
        arguments: `file`: name of the beans; `files`: the asker may name files of this machine,
            and so its variables.

    Returns:
        `problems`, and `advice` with the settings that were left out.
    """
    if is_running(layout.socket):
        notice = f"{arguments['file']} is taken over by the build after this run: the job runs"
        return {"problems": [], "advice": [notice]}
    files = bool(arguments["files"])
    root, workshop = layout.root, layout.root / _WORKSHOP
    shutil.rmtree(workshop, ignore_errors=True)
    beans = root / str(arguments["file"])
    try:
        classes = root / CLASSES
        answers = read_answers((), classes if classes.is_file() else None)
        draft, report = convert(beans, answers=answers, environ=os.environ if files else {})
        left_out = require_allowed(draft, report, layout, beans.name, files=files)
        write_job(workshop, draft, report)
        for file in workshop.iterdir():
            name = {"migration.txt": REPORT, "migration.json": "migration.json"}.get(file.name)
            _move(file, root / (name or file.name))
        facts = beans.stat()
        os.utime(layout.config, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    except UnansweredError as error:
        questions = [str(question.problem()) for question in error.questions]
        answered = "; ".join(question.answer for question in error.questions)
        questions.append(f"answer in {CLASSES} of the job, one CLASS=WHAT a line: {answered}")
        return {"problems": [" ".join(question.split()) for question in questions], "advice": []}
    except ConfigError as error:
        return {"problems": _lines(error), "advice": []}
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
    advice = [" ".join(line.split()) for line in (*left_out, *report.advice)]
    return {"problems": [], "advice": advice}


def _move(path: Path, place: Path) -> None:
    if not path.is_dir():
        path.replace(place)
        return
    place.mkdir(exist_ok=True)
    for below in path.iterdir():
        _move(below, place / below.name)


def _lines(error: ConfigError) -> list[str]:
    return [" ".join(str(problem).split()) for problem in error.problems]


def check_settings(layout: Layout, _: Mapping[str, Any]) -> dict[str, object]:
    """Check a job as `nacre check` does: problems and warnings, a line each."""
    try:
        result = asyncio.run(check_job(layout.root))
    except ConfigError as error:
        return {"problems": _lines(error), "warnings": []}
    except NacreError as error:
        return {"problems": [" ".join(str(error).split())], "warnings": []}
    return {
        "problems": [" ".join(str(problem).split()) for problem in result.problems],
        "warnings": [" ".join(str(warning).split()) for warning in result.warnings],
    }


def write_report(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, object]:
    """Write a report of the last run into its folder, as text.

    Args:
        layout: The job.
        arguments: `name`: that of the report; `toes`: what the running job said of its workers,
            None where it does not run.

    Raises:
        JobError: There is no run.
        StorageError: The store cannot be read.
    """
    # Loaded, it lets the process look at its views four times a second.
    from nacre.web.workers.views import figures_of  # noqa: PLC0415

    kind = next(report for report in RUN_REPORTS if report.name == arguments["name"])
    settings = load_job(layout).settings
    with reading(layout, settings) as view:
        toes = arguments["toes"]
        live = figures_of(toes) if toes else None
        source = source_of(view.store, layout, settings, live)
        text = "".join(line for line, _ in kind().parts(source))
        path = layout.run(source.facts().run) / "reports" / kind().file
    replace_file(path, text.encode("utf-8", "backslashreplace"))
    return {"file": path.name, "modified": path.stat().st_mtime}


def _live_values(layout: Layout) -> dict[str, object]:
    """The values by path that a running job has, which may differ from its file; {} at rest."""
    if not is_running(layout.socket):
        return {}
    try:
        settings = json.loads(read_ordinary(layout.latest.resolve() / EFFECTIVE, _MOST_EFFECTIVE))
    except (OSError, ValueError):
        return {}
    return {path: setting["value"] for path, setting in settings.items()}


def bean_values(layout: Layout, arguments: Mapping[str, Any]) -> dict[str, object]:
    """The settings that are in force, for the browser of beans.

    Args:
        layout: The job.
        arguments: `paths`: the settings.

    Returns:
        `values` by path, a path that the job does not have left out, the names of `sheets`, and
        the `rules` of the scope.
    """
    settings = load_job(layout).settings
    values: dict[str, object] = {}
    live = _live_values(layout)
    for path in arguments["paths"]:
        try:
            value = value_at(settings, path)
        except ConfigError:
            continue
        plain = value is None or type(value) in {bool, int, float, str}
        values[path] = live.get(path, value) if plain else str(value)
    rules = live.get("scope") or [rule.model_dump(mode="json") for rule in settings.scope]
    return {"values": values, "sheets": sorted(settings.sheets), "rules": rules}


# ---- settings that may be written

_NOT_NEEDED: Final = frozenset(
    ("archive.directories", "cookies.load_file", "cookies.save_file", "fetch.credentials")
)
"""Settings without which the same pages are crawled, as far as the reply needs no login."""


class RefusedSettings(NamedTuple):
    """The settings of a draft that may not be written.

    Attributes:
        problems: Those that the job cannot do without.
        left_out: A line for each of the others.
    """

    problems: tuple[Problem, ...]
    left_out: tuple[str, ...]


def require_allowed(
    draft: Draft, report: MigrationReport, layout: Layout, beans: str, *, files: bool
) -> tuple[str, ...]:
    """Remove the refused settings from a draft; return a line for each.

    Args:
        draft: The draft.
        report: What the migration did.
        layout: The job.
        beans: Name of its configuration.
        files: The asker may name files.

    Raises:
        ConfigError: The job cannot do without it.
    """
    saved = ""
    if layout.config.exists():
        saved = read_config(layout.config).decode("utf-8", "replace")
    refused = leave_out_refused(draft, saved, files=files)
    elsewhere = [] if files else files_elsewhere(report, layout.root, beans)
    if elsewhere or refused.problems:
        raise ConfigError([*elsewhere, *refused.problems])
    return refused.left_out


def leave_out_refused(draft: Draft, saved: str, *, files: bool) -> RefusedSettings:
    """Take the settings out of a draft that may not be written and are not needed (pure).

    Args:
        draft: The draft.
        saved: The present text of `crawl.yaml`; files that it names already may stay.
        files: The asker may name files.
    """
    refused = list(_refused(draft, saved, files=files))
    gone = [problem for problem in refused if problem.path in _NOT_NEEDED]
    for problem in gone:
        draft.leave_out(problem.path)
    return RefusedSettings(
        tuple(problem for problem in refused if problem.path not in _NOT_NEEDED),
        tuple(f"{problem.path} is left out: {problem.message}" for problem in gone),
    )


def _refused(draft: Draft, saved: str, *, files: bool) -> Iterator[Problem]:
    """A problem for each setting that may not be written."""
    saved_files = named_files(saved)
    for path, value in draft.settings.items():
        text = Draft({path: value}).yaml("")
        named = {} if files else named_files(text)
        if secrets := plain_secrets(text):
            yield secrets[0]._replace(path=path, file="", line=0)
        elif any(
            saved_files.get(at) != file and not stays_in_job(at, file) for at, file in named.items()
        ):
            yield for_admins(path)


def files_elsewhere(report: MigrationReport, root: Path, beans: str) -> list[Problem]:
    """A problem for each file that a migration read and that not everybody may name.

    Args:
        report: What it did.
        root: The job's directory.
        beans: Name of the configuration itself.
    """
    names = [file.name for file in report.files if file.name not in {beans, SEEDS}]
    return [for_admins("")._replace(path=name) for name in names if not _is_open(root, name)]


def _is_open(root: Path, name: str) -> bool:
    """Whether a file is none, or one beside the beans that more than its owner may read."""
    path = beside(root, name)
    try:
        mode = path.stat().st_mode
        inner = path.resolve().relative_to(root.resolve())
    except OSError:
        return True
    except ValueError:
        return False
    return bool(inner.parts) and inner.parts[0] not in CLOSED and bool(mode & 0o077)
