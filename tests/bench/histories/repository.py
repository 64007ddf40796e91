"""Tiny git repositories with commits at given times."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class Commit(NamedTuple):
    """A commit: its time, its message, and the files it writes; None deletes one."""

    time: int
    message: str
    files: Mapping[str, str | None]


def make_repository(folder: Path, commits: list[Commit], branch: str = "main") -> list[str]:
    """Make a bare repository; the names of its commits."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", branch, str(folder)], check=True)
    stream = "".join(_commit(commit, branch) for commit in commits)
    command = ["git", f"--git-dir={folder}", "fast-import", "--quiet"]
    subprocess.run(command, input=stream.encode(), check=True)
    command = ["git", f"--git-dir={folder}", "rev-list", "--reverse", branch]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def _commit(commit: Commit, branch: str) -> str:
    message = commit.message
    size = len(message.encode())
    head = f"commit refs/heads/{branch}\ncommitter T <t@a.test> {commit.time} +0000\n"
    return f"{head}data {size}\n{message}\n" + "".join(
        f'D "{path}"\n'
        if text is None
        else f'M 100644 inline "{path}"\ndata {len(text.encode())}\n{text}\n'
        for path, text in commit.files.items()
    )
