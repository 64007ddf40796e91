"""What a site of a history replies to a URL at a time (no I/O but the reader of blobs)."""

import html
import posixpath
import re
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote, unquote

from bench.histories.timeline import FileState, Timeline, Versions

_MEDIA_TYPES = {
    "css": "text/css",
    "gif": "image/gif",
    "htm": "text/html",
    "html": "text/html; charset=utf-8",
    "jpg": "image/jpeg",
    "js": "application/javascript",
    "pdf": "application/pdf",
    "png": "image/png",
    "svg": "image/svg+xml",
    "xml": "text/xml",
}
_LISTED = (".html", ".pdf")
_INCLUDE = re.compile(rb'<!--#include\s+virtual="([^"]+)"\s*-->')
_TEMPLATE = re.compile(rb"<script[^>]*x-handlebars-template[^>]*>(.*?)</script>", re.DOTALL)
_PLACEHOLDER = re.compile(rb"\{\{(\w+)\}\}")
_VERSION = re.compile(rb'"(\w*[vV]ersion)": "([^"]*)"')
_CLASS_QUERY = re.compile(rb"\bindex\.html\?[\w./-]+")
_DEEPEST = 6
_FRAME = "includes/"
_MISSING = b"<html><title>404 Not Found</title><h1>Not Found</h1></html>"


class Answer(NamedTuple):
    """A reply.

    Attributes:
        status: 200, 301 or 404.
        kind: Media type; of a redirect its target.
        changed: Time of the last change of the text, epoch seconds; 0: unknown.
        body: The bytes.
    """

    status: int
    kind: str
    changed: float
    body: bytes


class Redirected(NamedTuple):
    """A folder without its slash."""

    target: str


class HistorySite:
    """The pages of a history.

    Args:
        timeline: The states of its files.
        blob: Returns the bytes of a blob.
        versions: Recorded versions of documents; empty if there are none.
        index: Start pages are lists of the documents below.
        ssi: Include files and fill in templates.
        plain: Drop the queries of javadoc's links.
    """

    def __init__(
        self,
        timeline: Timeline,
        blob: Callable[[str], bytes],
        versions: Versions | None = None,
        *,
        index: bool = False,
        ssi: bool = False,
        plain: bool = False,
    ) -> None:
        self.timeline = timeline
        self.versions = versions or {}
        self.has_frame = ssi
        self._blob = blob
        self._index = index
        self._plain = plain

    def reply(
        self, path: str, now: float, folder: str = "", *, other: bool = False, frame: bool = True
    ) -> Answer:
        """Return the reply to the path of a URL.

        Args:
            path: Path as in the URL, percent-encoded.
            now: The time.
            folder: Folder of the tree that is the root of the site.
            other: Serve another snapshot of the same version, if there is one.
            frame: With the frame that all pages of the site share.
        """
        if self._index and path == "/":
            return Answer(200, "text/html; charset=utf-8", now, self._listing(folder, now))
        name = self._file(unquote(path).lstrip("/"), now, folder)
        if name is None:
            return Answer(404, "text/html", 0, _MISSING)
        if isinstance(name, Redirected):
            return Answer(301, name.target, 0, b"")
        kind = _MEDIA_TYPES.get(name.rpartition(".")[2], "application/octet-stream")
        return Answer(200, kind, *self._page(name, now, other=other, frame=frame))

    def state(self, path: str, now: float, *, other: bool = False) -> FileState | None:
        """The state of a file; with `other` that of a neighbour with the same recorded version."""
        state = self.timeline.at(path, now)
        if state is None or not other:
            return state
        states, place = self.timeline.place(path, now)
        rows = self.versions.get(path.rpartition(".")[0], ())
        cuts = [row.time for row in rows if row.is_real]
        for near in (place - 1, place + 1):
            is_there = 0 <= near < len(states) and states[near].blob is not None
            if is_there and bisect_right(cuts, states[near].time) == bisect_right(cuts, state.time):
                return states[near]
        return state

    def _file(self, path: str, now: float, folder: str) -> str | Redirected | None:
        """Return the file that a path stands for, as Apache with MultiViews has it."""
        is_folder = not path or path.endswith("/")
        names = (f"{path}index.html",) if is_folder else (path, f"{path}.html")
        for name in names:
            if self.timeline.at(folder + name, now):
                return folder + name
        if not is_folder and self.timeline.at(f"{folder}{path}/index.html", now):
            return Redirected(f"/{quote(path)}/")
        return None

    def _listing(self, folder: str, now: float) -> bytes:
        paths = (path for path in self.timeline.paths if path.startswith(folder))
        names = sorted(
            path.removeprefix(folder)
            for path in paths
            if path.endswith(_LISTED) and self.timeline.at(path, now)
        )
        items = "".join(
            f'<li><a href="/{quote(name)}">{html.escape(name)}</a></li>\n' for name in names
        )
        head = "<html><head><title>Documents</title></head><body><h1>Documents</h1><ul>\n"
        return f"{head}{items}</ul></body></html>".encode()

    def _page(
        self, path: str, now: float, *, other: bool = False, frame: bool = True
    ) -> tuple[float, bytes]:
        """Time of the last change, and bytes, of a file as it is served."""
        time, body = self._included(path, now, frame=frame, other=other, depth=0)
        if self.has_frame and b"handlebars" in body:
            body = fill_templates(body)
        if self._plain:
            body = _CLASS_QUERY.sub(b"index.html", body)
        return time, body

    def _included(
        self, path: str, now: float, *, frame: bool, depth: int, other: bool = False
    ) -> tuple[float, bytes]:
        state = self.state(path, now, other=other)
        if state is None or state.blob is None:
            return 0, b""
        body, times = self._blob(state.blob), [float(state.time)]
        if not self.has_frame or depth == _DEEPEST or b"<!--#include" not in body:
            return times[0], body

        def insert(match: re.Match[bytes]) -> bytes:
            beside = posixpath.join("/", posixpath.dirname(path), match[1].decode())
            name = posixpath.normpath(beside).lstrip("/")
            if not frame and name.startswith(_FRAME):
                return b" "
            time, part = self._included(name, now, frame=frame, depth=depth + 1)
            times.append(time)
            return part

        body = _INCLUDE.sub(insert, body)
        return max(times), body


def fill_templates(body: bytes) -> bytes:
    """Fill in templates of Handlebars, whose values are versions in the page, as a browser does."""
    values: dict[bytes, bytes] = {}
    for name, value in _VERSION.findall(body):
        values.setdefault(name, value)
    return _TEMPLATE.sub(lambda part: fill(part[1], values), body)


def fill(template: bytes, values: dict[bytes, bytes]) -> bytes:
    """Put values in the places of their names; names without a value are left out."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], b""), template)
