"""The files of a job by Heritrix's paths: reading, writing and paging.

No path leaves the job's directory, no link is followed, and what the store, the control socket and
logins hold is never read. What is read of a file can be a text in its place, without its secrets.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from html import escape
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple
from urllib.parse import urlencode

from nacre.editing.file_settings import CLOSED, has_settings
from nacre.fleet.refusals import RefusedRequestError, not_found
from nacre.machine.layout import SEEDS

_RUN: Final = re.compile(r"(\d{8})T(\d{6})Z")
_LAUNCH: Final = re.compile(r"(\d{8})(\d{6})")
_WRITABLE: Final = re.compile(r"crawl\.yaml|[A-Za-z0-9_][A-Za-z0-9._-]*\.(cxml|txt)")
_ACTION: Final = re.compile(
    r"[A-Za-z0-9_][A-Za-z0-9._-]*\.(seeds|recover|include|schedule|force)(\.gz)?"
)
_JOB_LOG: Final = "job.log"
_BEANS: Final = re.compile(r"\.(?:c?xml|groovy|properties)(?![a-z0-9])", re.IGNORECASE)
_SECRET: Final = re.compile(r"passw(?:or)?d|secret|token|licensekey", re.IGNORECASE)
_NO_SECRET: Final = re.compile(
    r"""[\w.-]*["']?\s*(?:/?>\s*(?:<value\s*/>|</|<value>\s*(?:\$\{[^{}<]*\}\s*)?</value>)"""
    r"""|value\s*=\s*(?P<q>["'])\s*(?:\$\{[^{}"']*\})?\s*(?P=q))"""
)
"""What may follow the name of a secret: nothing, or a placeholder, as its value."""
_LOGIN: Final = re.compile(r"://[^/\s\"'<>]*:[^/\s\"'<>]*@")
_LOGIN_BYTES: Final = re.compile(rb"://[^/\s\"'<>]{0,512}:[^/\s\"'<>]{0,512}@")
_LONGEST_LOGIN: Final = 1_200
CHUNK: Final = 1 << 16
LINES: Final = 128
"""Lines of a page."""
_MOST_LINES: Final = 10_000
_PAGE: Final = 4 << 20


def launch_of(run: str) -> str:
    """The id of a launch, 14 digits, of the name of a run; any other name stays."""
    match = _RUN.fullmatch(run)
    return f"{match[1]}{match[2]}" if match is not None else run


def run_of(launch: str) -> str | None:
    """The name of a run of the id of its launch, or of itself; None for anything else."""
    if _RUN.fullmatch(launch):
        return launch
    match = _LAUNCH.fullmatch(launch)
    return f"{match[1]}T{match[2]}Z" if match is not None else None


class JobPath(NamedTuple):
    """A path below a job's directory.

    Attributes:
        parts: The names on the way.
    """

    parts: tuple[str, ...]

    @property
    def is_job_log(self) -> bool:
        """Whether it is the log of the job, of all its launches."""
        return self.parts == (_JOB_LOG,)


def resolve(path: str, latest: str) -> JobPath:
    """The path below the job's directory that a path of Heritrix names.

    Args:
        path: It, after `jobdir/`, percent-escapes decoded; hostile.
        latest: Name of the last run; "" before the first.

    Raises:
        RefusedRequestError: It names nothing that may be read (403), or nothing at all (404).
    """
    parts = [part for part in path.split("/") if part]
    if any(p in {".", ".."} or "\0" in p or "\\" in p for p in parts) or len(path) > 4096:
        raise RefusedRequestError(403, "no-such-path", "a path stays below the job's directory")
    if not parts:
        return JobPath(())
    run = latest if parts[0] == "latest" else run_of(parts[0])
    if run is not None:
        if not run:
            raise not_found("run yet")
        parts = ["runs", run, *_within_run(parts[1:])]
    elif parts[0] == "runs":
        parts = [*parts[:2], *_within_run(parts[2:])]
    if parts[0] in CLOSED or parts[0].startswith("."):
        raise RefusedRequestError(403, "closed", f"{parts[0]} of a job is not shown here")
    return JobPath(tuple(parts))


def _within_run(parts: Sequence[str]) -> list[str]:
    """Names of Heritrix in a launch as those of Nacre."""
    if parts and parts[0] == "warcs":
        return ["archive", *parts[1:]]
    return ["logs", _JOB_LOG] if list(parts) == [_JOB_LOG] else list(parts)


def writable(path: JobPath) -> None:
    """Raise RefusedRequestError (403) for a path that may not be written."""
    parts = path.parts
    if len(parts) == 1 and _WRITABLE.fullmatch(parts[0]):
        return
    if len(parts) == 2 and parts[0] == "action" and _ACTION.fullmatch(parts[1]):
        return
    raise RefusedRequestError(
        403, "not-writable",
        "crawl.yaml, NAME.cxml, NAME.txt and action/NAME.seeds, .recover, .include, .schedule and "
        ".force can be written",
    )  # fmt: skip


def find(root: Path, path: JobPath, *, edits: bool = False) -> tuple[Path, os.stat_result]:
    """The file or directory of a path, without a link on the way.

    Args:
        root: The job's directory.
        path: The path below it.
        edits: Who asks may edit jobs, and so read the beans that they sent.

    Raises:
        RefusedRequestError: There is none (404), it is a link or no ordinary file, or only its
            owner may read it, as a password (403).
    """
    at = root
    try:
        facts = at.stat()
        for part in path.parts:
            at /= part
            facts = at.lstat()
            if stat.S_ISLNK(facts.st_mode):
                raise RefusedRequestError(403, "link", f"{part} is a link")
    except (OSError, ValueError):
        raise not_found("/".join(path.parts)) from None
    if not (stat.S_ISDIR(facts.st_mode) or stat.S_ISREG(facts.st_mode)):
        raise RefusedRequestError(403, "special", f"{at.name} is no file")
    # A umask may close files of a run; there is no password in them.
    secret = stat.S_ISREG(facts.st_mode) and not facts.st_mode & 0o077 and path.parts[0] != "runs"
    if secret and not (has_settings(at.name) or at.name == SEEDS or (edits and has_beans(at.name))):
        raise RefusedRequestError(403, "private", f"only its owner may read {at.name}")
    return at, facts


def has_beans(name: str) -> bool:
    """Whether a file has a configuration of Heritrix, in which passwords stand as they are."""
    return _BEANS.search(name) is not None


def may_hold_secret(text: str) -> bool:
    """Whether beans may hold a password: something that is neither empty nor a reference."""
    if "\0" in text or _LOGIN.search(text):  # UTF-16 is not looked through
        return True
    return any(not _NO_SECRET.match(text, match.end()) for match in _SECRET.finditer(text))


def has_logins(path: Path) -> bool:
    """Whether a file has URLs with a name and a password, such as a list of seeds."""
    with path.open("rb") as file:
        tail = b""
        while data := file.read(CHUNK):
            if _LOGIN_BYTES.search(tail + data):
                return True
            tail = data[-_LONGEST_LOGIN:]
    return False


def text_of(source: Path | bytes) -> str:
    """A text in UTF-8; other bytes become signs that stand for them."""
    data = source if isinstance(source, bytes) else source.read_bytes()
    return data.decode("utf-8", "replace")


def listed(root: Path, path: JobPath) -> list[str]:
    """Names in a directory that may be read; those of directories end with `/`."""
    directory, _ = find(root, path)
    names = []
    for entry in sorted(directory.iterdir()):
        if entry.is_symlink() or entry.name.startswith("."):
            continue
        if not path.parts and entry.name in CLOSED:
            continue
        names.append(f"{entry.name}/" if entry.is_dir() else entry.name)
    return names


def listed_below(root: Path) -> Iterator[tuple[str, bool]]:
    """All files that may be read below a job's directory, the content of a folder before it.

    Yields:
        The path, and whether it is a folder.
    """
    yield from _below(root, JobPath(()), "")


def _below(root: Path, path: JobPath, shown: str) -> Iterator[tuple[str, bool]]:
    names = listed(root, path)
    for name in names:
        if name.endswith("/"):
            folder = name[:-1]
            yield from _below(root, JobPath((*path.parts, folder)), f"{shown}{name}")
    for name in names:
        if not name.endswith("/"):
            yield f"{shown}{name}", False
    if path.parts:
        yield shown[:-1], True


def _opened(source: Path | bytes) -> BinaryIO:
    return BytesIO(source) if isinstance(source, bytes) else source.open("rb")


def content(source: Path | bytes, start: int, length: int) -> Iterator[bytes]:
    """A piece of a file, or of a text; a file that grows is read to the length that it had."""
    with _opened(source) as file:
        file.seek(start)
        while length > 0 and (data := file.read(min(CHUNK, length))):
            length -= len(data)
            yield data


def byte_range(field: str, size: int) -> tuple[int, int] | None:
    """Start and length of a Range field; None for all of the file.

    Raises:
        RefusedRequestError: It is behind the end (416).
    """
    match = re.fullmatch(r"bytes=(\d{0,18})-(\d{0,18})", field.strip())
    if match is None or not (match[1] or match[2]):
        return None
    if not match[1]:
        length = min(int(match[2]), size)
        return size - length, length
    start = int(match[1])
    end = min(int(match[2]) if match[2] else size - 1, size - 1)
    if start >= size or end < start:
        raise RefusedRequestError(416, "range", f"the file has {size} bytes")
    return start, end - start + 1


class FileLines(NamedTuple):
    """Some lines of a file.

    Attributes:
        lines: They, in the order of the file.
        start: Byte at which the first begins.
        end: Byte behind the last.
        size: Bytes of the file.
    """

    lines: tuple[str, ...]
    start: int
    end: int
    size: int


def page_of(source: Path | bytes, position: int, number: int) -> FileLines:
    """A page of a file of any size.

    Args:
        source: The file, or a text in its place.
        position: Byte in its first line; of a negative one, counted from the end.
        number: Lines; of a negative number, those that end with the line of the position.
    """
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    count = min(abs(number) or LINES, _MOST_LINES)
    at = max(min(position if position >= 0 else size + position, size), 0)
    with _opened(source) as file:
        if number < 0:
            first = max(at - _PAGE, 0)
            file.seek(first)
            before = file.read(at - first)
            rest = file.readline(_PAGE) if at < size else b""
            lines = (before + rest).splitlines(keepends=True)
            page = lines[-count:]
            end = first + len(before) + len(rest)
            return FileLines(_texts(page), end - sum(map(len, page)), end, size)
        first = max(at - _PAGE, 0)
        file.seek(first)
        before = file.read(at - first)
        start = first + before.rfind(b"\n") + 1
        file.seek(start)
        lines = file.read(_PAGE).splitlines(keepends=True)[:count]
        return FileLines(_texts(lines), start, start + sum(map(len, lines)), size)


def _texts(lines: Sequence[bytes]) -> tuple[str, ...]:
    return tuple(line.decode("utf-8", "replace").rstrip("\r\n") for line in lines)


def paged_html(name: str, page: FileLines, number: int, *, reverse: bool) -> str:
    """A page of lines as HTML, with links to the pages before and after it.

    Args:
        name: The file.
        page: The lines.
        number: Lines of a page.
        reverse: The newest first.
    """
    lines = reversed(page.lines) if reverse else page.lines
    count, order = abs(number) or LINES, {"reverse": "y"} if reverse else {}

    def link(text: str, position: int, lines: int) -> str:
        query = urlencode({"format": "paged", "pos": position, "lines": lines, **order})
        return f'<a href="?{escape(query)}">{text}</a>'

    controls = " ".join(
        (
            link("start", 0, count),
            link("earlier", max(page.start - 1, 0), -count),
            f"bytes {page.start}-{page.end}/{page.size}",
            link("later", page.end, count),
            link("end", -1, -count),
        )
    )
    text = escape("\n".join(lines))
    return (
        f"<!doctype html><meta charset=utf-8><title>{escape(name)}</title>"
        f"<b>Paged view:</b> {escape(name)}<p>{controls}</p><pre>{text}</pre>"
    )


def edit_html(name: str, text: str) -> str:
    """A form to edit a text file."""
    return (
        f"<!doctype html><meta charset=utf-8><title>{escape(name)}</title><form method=post>"
        f"<p><label for=c>{escape(name)}</label></p><textarea id=c name=contents rows=40 cols=120>"
        f"\n{escape(text)}</textarea><p><button>save changes</button></p></form>"
    )


def directory_html(name: str, names: Sequence[str]) -> str:
    """The listing of a directory; its URL ends with a slash."""
    rows = "".join(f'<li><a href="{escape(entry)}">{escape(entry)}</a></li>' for entry in names)
    return (
        f"<!doctype html><meta charset=utf-8><title>{escape(name)}</title>"
        f"<h2>{escape(name)}</h2><ul>{rows}</ul>"
    )
