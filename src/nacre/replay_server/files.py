"""WACZ files of a holding for other viewers, in parts and for pages of other origins (`--cors`)."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from nacre.catalogue.holdings import WACZ, Holding
from nacre.fleet.job_files import byte_range
from nacre.fleet.refusals import RefusedRequestError
from nacre.machine.local_files import open_ordinary
from nacre.replay_server.parts import text_answer

FOLDER: Final = "files/"
"""What the paths of files begin with, behind the name of the holding."""
CORS: Final[Mapping[str, str]] = {
    "access-control-allow-origin": "*",
    "access-control-allow-headers": "authorization, range",
    "access-control-allow-methods": "GET, HEAD",
    "access-control-expose-headers": "content-length, content-range, accept-ranges",
    "cross-origin-resource-policy": "cross-origin",
}
"""Headers that let pages of other origins read a file, if they have the key."""
_PIECE: Final = 1 << 18


def find_file(holding: Holding, name: str) -> Path | None:
    """Return a WACZ file of a holding by its name; None if it has none of that name.

    Args:
        holding: The holding.
        name: The name, without folders; hostile.
    """
    roots = (member.root for member in holding.members if member.kind == WACZ)
    return next((root for root in roots if root.name == name), None)


async def answer_file(holding: Holding, place: str, method_and_range: tuple[str, str]) -> Response:
    """Answer with a file or a part of it.

    Args:
        holding: The holding.
        place: The name as in the path; hostile.
        method_and_range: The method, and the Range header.
    """
    path = find_file(holding, unquote(place.partition("?")[0]))
    if path is None:
        return text_answer("there is no such WACZ file", 404)
    file = await run_in_threadpool(open_ordinary, path)
    return _send(file, *method_and_range)


def _send(file: BinaryIO, method: str, field: str) -> Response:
    size = os.fstat(file.fileno()).st_size
    try:
        part = byte_range(field, size)
    except RefusedRequestError:
        file.close()
        return Response(status_code=416, headers={"content-range": f"bytes */{size}"})
    start, length = part or (0, size)
    fields = {"accept-ranges": "bytes", "content-length": str(length)}
    if part is not None:
        fields["content-range"] = f"bytes {start}-{start + length - 1}/{size}"
    status = 200 if part is None else 206
    if method == "HEAD":
        file.close()
        return Response(None, status, fields, media_type="application/wacz")
    return StreamingResponse(_pieces(file, start, length), status, fields, "application/wacz")


def _pieces(file: BinaryIO, start: int, length: int) -> Iterator[bytes]:
    """Yield a part of a file, which is closed at its end."""
    with file:
        file.seek(start)
        while length > 0 and (data := file.read(min(_PIECE, length))):
            yield data
            length -= len(data)
