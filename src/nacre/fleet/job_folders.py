"""The directories of jobs: moves, and the deletion of a job that never ran."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from nacre.errors import JobError
from nacre.fleet.places import CLASSES, CXML, PROFILE, REPORT
from nacre.fleet.refusals import RefusedRequestError
from nacre.fleet.standing import OF_FOLDER
from nacre.machine.layout import CONFIG, SEEDS, Layout
from nacre.messages import message
from nacre.settings.new_job import LOGINS
from nacre.settings.schema import BESIDE

_FILES: Final = frozenset(
    (CONFIG, SEEDS, BESIDE, CLASSES, CXML, PROFILE, REPORT, f"{Path(REPORT).stem}.json", "job.log",
     "state/console.out", "state/changes.jsonl", f"state/{OF_FOLDER}")
)  # fmt: skip
_FOLDERS: Final = frozenset((LOGINS, "control", "action", "state", "state/edits"))
_OF_ANY_NAME: Final = frozenset((LOGINS, "control", "state/edits"))
"""Folders whose files have their own names."""
_NAMED: Final = 3
"""Names that a refusal shows."""
_MOST: Final = 10_000
"""Entries that are looked at; a job that never ran has a few."""


def rename_job(source: Path, target: Path) -> None:
    """Move the directory of a job, without copying.

    Raises:
        RefusedRequestError: The target exists (409), or the directory cannot be moved (422).
    """
    if os.path.lexists(target):
        raise RefusedRequestError(
            409,
            "exists",
            message(
                "console.move-target-exists",
                "{target} is there already; nothing was moved",
                target=target,
            ),
        )
    try:
        source.rename(target)
    except OSError as error:
        raise RefusedRequestError(
            422,
            "place",
            message(
                "console.move-failed",
                "{source} cannot become {target}: {strerror}; nothing was moved. On another file "
                "system `mv` does it while the job rests",
                source=source,
                target=target,
                strerror=error.strerror,
            ),
        ) from None


def require_never_ran(layout: Layout) -> None:
    """Refuse a job that has run, or that has files of a run.

    Raises:
        JobError: The job has such files, or its state belongs to another user.
    """
    if ever_ran(layout):
        raise JobError(
            message(
                "console.job-with-archive",
                "{name} ran: its archive is never deleted here. To delete it, remove {root} on the "
                "command line",
                name=layout.root.name,
                root=layout.root,
            )
        )


def ever_ran(layout: Layout) -> bool:
    """Whether a job has files of a run: a store, versions of rounds, or the directory of a run.

    Raises:
        JobError: The state of the job belongs to another user.
    """
    runs = layout.root / "runs"
    return layout.has_store or layout.in_rounds or (runs.is_dir() and any(runs.iterdir()))


def forget_job(layout: Layout) -> None:
    """Delete a job that never ran, and its directory.

    Raises:
        JobError: The job has run, or its directory has other files or cannot be deleted.
    """
    require_never_ran(layout)
    files, folders, remaining = list[str](), list[str](), list[str]()
    for path, is_folder, is_file in _entries(layout.root):
        if is_folder and path in _FOLDERS:
            folders.append(path)
        elif is_file and (path in _FILES or path.rpartition("/")[0] in _OF_ANY_NAME):
            files.append(path)
        else:
            remaining.append(path)
    if remaining:
        more = f" and {len(remaining) - _NAMED} more" if len(remaining) > _NAMED else ""
        raise JobError(
            message(
                "console.job-with-more-files",
                "{root} has more than what a job has that never ran: {names}{more}; move it "
                "elsewhere, or delete the directory on the command line",
                root=layout.root,
                names=", ".join(remaining[:_NAMED]),
                more=more,
            )
        )
    try:
        for path in files:
            if path != CONFIG:
                (layout.root / path).unlink(missing_ok=True)
        for path in sorted(folders, reverse=True):
            (layout.root / path).rmdir()
        # Delete the configuration last: if the rest cannot be deleted, the directory remains a job.
        layout.config.unlink(missing_ok=True)
        layout.root.rmdir()
    except OSError as error:
        raise JobError(
            message(
                "console.deletion-incomplete",
                "{root} cannot be deleted whole: {strerror}",
                root=layout.root,
                strerror=error.strerror,
            )
        ) from error


def _entries(root: Path) -> Iterator[tuple[str, bool, bool]]:
    """All below a directory: path, whether it is a folder, whether it is an ordinary file.

    A folder that no job has is not looked into.

    Raises:
        JobError: A folder cannot be read, or has too much.
    """
    todo, number = [""], 0
    while todo:
        folder = todo.pop()
        try:
            with os.scandir(root / folder) as entries:
                children = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            raise JobError(
                message(
                    "console.folder-unreadable",
                    "{root} cannot be read: {strerror}",
                    root=root / folder,
                    strerror=error.strerror,
                )
            ) from error
        number += len(children)
        if number > _MOST:
            raise JobError(
                message(
                    "console.job-with-many-files",
                    "{root} has more than {most:,} files; delete it on the command line",
                    root=root,
                    most=_MOST,
                )
            )
        for entry in children:
            path = f"{folder}/{entry.name}" if folder else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            yield path, is_folder, entry.is_file(follow_symlinks=False)
            if is_folder and path in _FOLDERS:
                todo.append(path)
