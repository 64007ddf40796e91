"""The states of files over time, and the changes that people recorded (pure, but for `load`)."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.histories.repositories import (
    Commit,
    FileChange,
    file_changes,
    first_parents,
    git,
    parse_tree,
)

_SNAPSHOT = re.compile(r"snapshots/commit/([0-9a-f]{40})")
_REAL = re.compile(r"(?:Record new changes|Update) ")
_OTHER_HISTORY = 10 * 86_400
"""Seconds between a version and its snapshot from which on the dates belong to other histories."""


class FileState(NamedTuple):
    """A file from a time on; `blob` is None while it does not exist."""

    time: int
    blob: str | None


class Timeline:
    """The states of all files, by path.

    Args:
        only: Regular expression of the paths that exist; None or "" for all.
    """

    def __init__(self, only: str | None = None) -> None:
        self._only = re.compile(only or "")
        self._states: dict[str, list[FileState]] = {}

    @property
    def paths(self) -> Iterable[str]:
        """All paths that exist at some time."""
        return self._states

    def add(self, path: str, time: int, blob: str | None) -> None:
        """Note a state; times do not go back, and the last of one time counts."""
        if self._only.search(path):
            states = self._states.setdefault(path, [])
            if states and states[-1].time == time:
                states.pop()
            states.append(FileState(time, blob))

    @property
    def blobs(self) -> set[str]:
        """The blobs of all states."""
        return {row.blob for rows in self._states.values() for row in rows if row.blob}

    def forget(self, blobs: set[str]) -> None:
        """Treat states with these blobs as if the file did not exist."""
        for path, rows in self._states.items():
            if any(row.blob in blobs for row in rows):
                self._states[path] = [
                    row._replace(blob=None) if row.blob in blobs else row for row in rows
                ]

    def place(self, path: str, now: float) -> tuple[Sequence[FileState], int]:
        """Return the states of a file, and the index of the one at a time; -1 before the first."""
        states = self._states.get(path, ())
        return states, bisect_right(states, now, key=lambda state: state.time) - 1

    def at(self, path: str, now: float) -> FileState | None:
        """Return the state of a file at a time; None if it does not exist."""
        states, place = self.place(path, now)
        if place < 0 or states[place].blob is None:
            return None
        return states[place]


class RecordedVersion(NamedTuple):
    """A version of a document, as an archive of terms has recorded it.

    Attributes:
        time: Time of the snapshot that showed it, epoch seconds.
        blob: Its text.
        is_real: The document changed; not only the rules that select its text.
    """

    time: int
    blob: str
    is_real: bool


Versions = dict[str, list[RecordedVersion]]
"""Recorded versions by document, without the ending of its file; the oldest first."""


def commit_at(commits: Sequence[Commit], when: float) -> int:
    """Index of the last commit up to a time; the first for an earlier time."""
    return max(bisect_right(commits, when, key=lambda commit: commit.time) - 1, 0)


def load_timeline(
    repository: str | Path, branch: str, start: float, end: float, only: str | None = None
) -> Timeline:
    """Return the states of a branch from a time to another."""
    commits, timeline = first_parents(repository, branch), Timeline(only)
    first, last = commit_at(commits, start), commit_at(commits, end)
    base = commits[first]
    for path, blob in parse_tree(git(repository, "ls-tree", "-r", "-z", base.name)):
        timeline.add(path, base.time, blob)
    later = commits[first + 1 : last + 1]
    times = {commit.name: commit.time for commit in later}
    for change in file_changes(repository, later):
        timeline.add(change.path, times[change.commit], change.blob)
    return timeline


def snapshot_time(message: str, recorded: int, snapshots: dict[str, int]) -> int:
    """Time of the snapshot that a commit of versions names, epoch seconds.

    Args:
        message: Body of the commit.
        recorded: Time of the commit: it counts if no snapshot is named, or one of another history.
        snapshots: Time by commit of the snapshots.
    """
    named = _SNAPSHOT.search(message)
    time = snapshots.get(named[1], recorded) if named else recorded
    return recorded if abs(time - recorded) > _OTHER_HISTORY else time


def recorded_versions(
    messages: dict[str, tuple[int, str, str]],
    changes: Iterable[FileChange],
    snapshots: dict[str, int],
) -> Versions:
    """Versions of all documents.

    Args:
        messages: Time, subject and body by commit of the versions.
        changes: What these commits changed.
        snapshots: Time by commit of the snapshots.
    """
    versions: dict[str, set[RecordedVersion]] = defaultdict(set)
    for commit, path, blob in changes:
        recorded, subject, body = messages[commit]
        name, dot, ending = path.rpartition(".")
        if dot and ending == "md":
            time = snapshot_time(body, recorded, snapshots)
            is_real = _REAL.match(subject) is not None
            versions[name].add(RecordedVersion(time, blob or "0" * 40, is_real))
    return {name: sorted(rows) for name, rows in versions.items()}


def load_versions(versions: str | Path, snapshots: str | Path, branch: str = "main") -> Versions:
    """Return the recorded versions of a pair of repositories."""
    seconds = git(snapshots, "log", "--format=%H %ct", branch).decode().splitlines()
    at = {name: int(time) for name, time in (line.split() for line in seconds)}
    # The author's time: that of the committer is new where a history was written again.
    form = "--format=%H%x1f%at%x1f%s%x1f%b%x1e"
    text = git(versions, "log", "--first-parent", form, branch).decode("utf-8", "replace")
    messages = {}
    for entry in text.split("\x1e")[:-1]:
        name, time, subject, body = entry.lstrip("\n").split("\x1f", 3)
        messages[name] = int(time), subject, body
    changes = file_changes(versions, first_parents(versions, branch))
    return recorded_versions(messages, changes, at)


def has_real_change(rows: Sequence[RecordedVersion], old: float, new: float) -> bool:
    """Return whether the document changed between two times, and did not change back meanwhile."""
    before, after = commit_text(rows, old), commit_text(rows, new)
    return before != after and any(row.is_real and old < row.time <= new for row in rows)


def commit_text(rows: Sequence[RecordedVersion], when: float) -> str:
    """Return the version at a time; "" before the first."""
    earlier = [row for row in rows if row.time <= when]
    return earlier[-1].blob if earlier else ""
