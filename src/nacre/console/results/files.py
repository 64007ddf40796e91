"""The files of a job: their list, and the download of a file or a part of it."""

import asyncio
import os
from typing import Final
from urllib.parse import quote

import msgspec
from starlette.responses import Response, StreamingResponse

from nacre.console.call import Call
from nacre.console.links import cursor_of, place_of
from nacre.console.results.archive import PushState, push_state
from nacre.core.clock import iso
from nacre.fleet.job_files import FilePlace, byte_range, list_files, open_file, pieces
from nacre.fleet.refusals import RefusedRequestError, not_found
from nacre.ops.fields import Cursor, RowCount, ShortText

_CLOSED: Final = 20.0
"""Timeout in seconds for the list of files that contain secrets."""


class FileItem(msgspec.Struct, frozen=True):
    """A file of a job.

    Attributes:
        path: Its path, as in `/files/PATH`.
        size: Bytes.
        modified: When it was last written, RFC 3339.
        pushed: The configured OutbackCDX server accepted it; null if it is not an index of a closed
            WARC, or if nothing was ever posted.
    """

    path: str
    size: int
    modified: str
    pushed: bool | None = None


class FilesQuery(msgspec.Struct, frozen=True):
    """The filters of the files.

    Attributes:
        run: Only files of the run of this name; "" for all.
        after: `next` of the page before; "" for the first.
        limit: Files on a page, 1 to 500.
    """

    run: ShortText = ""
    after: Cursor = ""
    limit: RowCount = 50


class FileList(msgspec.Struct, frozen=True):
    """A page of the files of a job, the newest run first.

    Attributes:
        items: The items.
        as_of: The time of the answer, RFC 3339.
        next: The `after` of the next page; null for none.
        gone: Number of indexes of the OutbackCDX server that are no longer in the archive.
    """

    items: tuple[FileItem, ...]
    as_of: str
    next: str | None = None
    gone: int = 0


def _is_taken(path: str, state: PushState | None) -> bool | None:
    name = path.rpartition("/")[2]
    return name in state.names if state is not None and name.endswith(".cdxj") else None


async def list_job_files(call: Call) -> FileList:
    """A page of the files that can be downloaded."""
    query: FilesQuery = call.query
    layout, after = call.job().layout, place_of(query.after, FilePlace)
    page = await asyncio.to_thread(list_files, layout.root, query.limit, after, query.run)
    state = await asyncio.to_thread(push_state, layout)
    items = tuple(
        FileItem(item.path, item.size, iso(item.modified), _is_taken(item.path, state))
        for item in page.items
    )
    gone = state.gone if state is not None else 0
    following = cursor_of(page.next) if page.next is not None else None
    return FileList(items, call.now, following, gone)


async def get_file(call: Call) -> Response:
    """A file of a job, whole or a part of it (`Range`), always as a download."""
    path = str(call.params["path"])
    layout = call.job().layout
    opened = await asyncio.to_thread(open_file, layout.root, path)
    try:
        closed = await call.readers.ask("closed-files", layout.root, _CLOSED)
    except BaseException:
        os.close(opened.handle)
        raise
    if [opened.device, opened.inode] in closed:
        os.close(opened.handle)
        raise not_found("file", path)
    stamp = f'"{opened.size:x}-{int(opened.modified * 1000):x}"'
    byte_part = call.request.headers.get("range", "")
    if call.request.headers.get("if-range", stamp) != stamp:
        byte_part = ""
    try:
        part = byte_range(byte_part, opened.size)
    except RefusedRequestError:
        os.close(opened.handle)
        raise
    start, length = part or (0, opened.size)
    file = quote(path.rpartition("/")[2])
    fields = {
        "accept-ranges": "bytes",
        "content-length": str(length),
        "content-disposition": f"attachment; filename*=UTF-8''{file}",
        "etag": stamp,
    }
    if part is not None:
        fields["content-range"] = f"bytes {start}-{start + length - 1}/{opened.size}"
    kind = "application/octet-stream"
    status = 200 if part is None else 206
    return StreamingResponse(pieces(opened, start, length), status, fields, media_type=kind)
