"""Rules for settings that are made of beans, by who asked for them.

The rules are those of every other way to edit a job. A migration copies no password; what is left
are files and variables of this machine, which not everybody may name, and logins in URLs.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from nacre.editing.file_settings import CLOSED, for_admins, named_files, stays_in_job
from nacre.editing.secrets import plain_secrets
from nacre.errors import ConfigError, Problem
from nacre.job.edits import read_config
from nacre.store.layout import SEEDS, Layout
from nacre_migrate.draft import Draft
from nacre_migrate.heritrix.work import beside
from nacre_migrate.report import MigrationReport

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
