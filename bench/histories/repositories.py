"""Git repositories of histories: their places and their content."""

import os
import re
import subprocess
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "nacre" / "histories"
_BLOBS = 3_000
_HASH = re.compile(r"[0-9a-f]{40}")


class Commit(NamedTuple):
    """A commit of a branch; its time never goes back along the branch."""

    name: str
    time: int
    parent: str


class FileChange(NamedTuple):
    """The state of a file after a commit; `blob` is None if it was deleted."""

    commit: str
    path: str
    blob: str | None


def git(repository: str | Path, *arguments: str, stdin: bytes | None = None) -> bytes:
    """Return the output of a git command.

    Raises:
        subprocess.CalledProcessError: It failed.
    """
    command = ["git", f"--git-dir={repository}", *arguments]
    return subprocess.run(command, check=True, input=stdin, stdout=subprocess.PIPE).stdout


# ---- where they are


def label(url: str) -> str:
    """Name of a repository's folder: `apache+kafka-site`."""
    return urlsplit(url).path.strip("/").removesuffix(".git").replace("/", "+")


def candidates(url: str, folders: Iterable[Path]) -> Iterator[Path]:
    """Places where a repository or its bundle may be, in the order in which they are tried."""
    whole = label(url)
    short = whole.rpartition("+")[2]
    for folder in folders:
        for name in (whole, whole.replace("+", "/"), short):
            yield from (folder / name, folder / name / "repo", folder / name / ".git")
            yield folder / f"{name}.bundle"


def folders_of(setting: str | None) -> list[Path]:
    """Return the folders of `$HISTORIES`, and the cache into which bundles are cloned.

    Raises:
        ValueError: One is no folder.
    """
    folders = [Path(part).expanduser() for part in (setting or "").split(os.pathsep) if part]
    for folder in folders:
        if not folder.is_dir():
            raise ValueError(f"$HISTORIES: {folder} is no folder; name folders of repositories")
    return [*folders, CACHE] if folders else []


def find_repository(url: str, branch: str, folders: list[Path]) -> Path | None:
    """The git directory of a public repository, cloned from its bundle if needed; None: missing."""
    for place in candidates(url, folders):
        if place.suffix == ".bundle" and place.is_file():
            return clone_bundle(place, branch, CACHE / label(url))
        if (place / "HEAD").is_file():
            return place
    return None


def clone_bundle(bundle: Path, branch: str, target: Path) -> Path:
    """Clone a bundle as a bare repository; an existing clone is used."""
    if not (target / "HEAD").is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
            fresh = Path(scratch, "repo")
            command = ["git", "clone", "-q", "--bare", "-b", branch, str(bundle), str(fresh)]
            subprocess.run(command, check=True)
            fresh.rename(target)
    return target


# ---- content


def parse_commits(text: str) -> list[Commit]:
    """Commits, the oldest first, of lines `hash time parents…` with the newest first."""
    commits: list[Commit] = []
    for line in reversed(text.splitlines()):
        name, time, *parents = line.split()
        latest = commits[-1].time if commits else 0
        commits.append(Commit(name, max(int(time), latest), parents[0] if parents else ""))
    return commits


def first_parents(repository: str | Path, branch: str) -> list[Commit]:
    """Return the commits of a branch along its first parents, the oldest first."""
    return parse_commits(
        git(repository, "log", "--first-parent", "--format=%H %ct %P", branch).decode()
    )


def parse_tree(listing: bytes) -> Iterator[tuple[str, str]]:
    """Path and blob of each file of `ls-tree -r -z`."""
    for row in listing.split(b"\0")[:-1]:
        facts, _, path = row.partition(b"\t")
        yield path.decode("utf-8", "surrogateescape"), facts.split()[2].decode()


def parse_changes(listing: bytes) -> Iterator[FileChange]:
    """Changes of `diff-tree --stdin -r -z`: a commit, and then facts and path of each file."""
    commit, fields = "", iter(listing.split(b"\0"))
    for field in fields:
        if field.startswith(b":"):
            blob = field.split()[3].decode()
            path = next(fields).decode("utf-8", "surrogateescape")
            yield FileChange(commit, path, blob if blob.strip("0") else None)
        elif _HASH.fullmatch(field.decode("ascii", "replace").strip()):
            commit = field.decode().strip()


def file_changes(repository: str | Path, commits: Iterable[Commit]) -> Iterator[FileChange]:
    """What each commit changed against its first parent."""
    pairs = "".join(f"{commit.name} {commit.parent}".rstrip() + "\n" for commit in commits)
    options = ("--stdin", "-r", "-z", "--no-renames", "--root", "-m")
    return parse_changes(git(repository, "diff-tree", *options, stdin=pairs.encode()))


def ever_named(repository: str | Path, branch: str) -> list[str]:
    """Return every path that a commit of a branch touched."""
    listing = git(repository, "log", "--format=", "--name-only", "-z", branch)
    return [name.strip("\n") for name in listing.decode("utf-8", "replace").split("\0")]


def missing_blobs(repository: str | Path, names: Iterable[str]) -> set[str]:
    """Return the blobs that a repository names and does not have: it is a partial clone."""
    text = "".join(f"{name}\n" for name in names).encode()
    lines = git(repository, "cat-file", "--batch-check", stdin=text).decode().splitlines()
    return {line.split()[0] for line in lines if line.endswith(" missing")}


class Blobs:
    """Reads blobs of a repository by one process, for several threads; close it at the end."""

    def __init__(self, repository: str | Path) -> None:
        command = ["git", f"--git-dir={repository}", "cat-file", "--batch"]
        self._git = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._lock = threading.Lock()
        self._recent: OrderedDict[str, bytes] = OrderedDict()

    def __call__(self, name: str) -> bytes:
        with self._lock:
            body = self._recent.pop(name, None)
            if body is None:
                body = self._read(name)
            self._recent[name] = body
            if len(self._recent) > _BLOBS:
                self._recent.popitem(last=False)
            return body

    def _read(self, name: str) -> bytes:
        to, back = self._git.stdin, self._git.stdout
        assert to is not None
        assert back is not None
        to.write(f"{name}\n".encode())
        to.flush()
        size = int(back.readline().split()[2])
        return back.read(size + 1)[:-1]

    def close(self) -> None:
        """End the process."""
        self._git.communicate()
