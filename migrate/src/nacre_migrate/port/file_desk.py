"""Requests for the files of a job: the parts that a user may see, and uploads.

Settings are shown without their secrets, as on the console's own pages.
"""

import asyncio
import os
from pathlib import Path
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from nacre.editing.file_settings import has_settings
from nacre.fleet.places import CXML
from nacre.fleet.refusals import RefusedRequestError
from nacre.machine.layout import CONFIG, Layout
from nacre.ops.operation import Role
from nacre_migrate.port import answers, files
from nacre_migrate.port.actions import JobDesk, job_log, latest_run
from nacre_migrate.port.making import JobMaker

_PATIENCE: Final = 60.0
_TEXT_LIMIT: Final = 4 << 20
"""Bytes of a text that is edited, or looked through for secrets."""
_KINDS: Final = {
    ".cxml": "application/xml", ".xml": "application/xml", ".json": "application/json",
    ".gz": "application/gzip", ".warc": "application/warc", ".yaml": "text/plain; charset=utf-8",
}  # fmt: skip


class _ShownFile(NamedTuple):
    """A file as it may be shown.

    Attributes:
        path: Where it is.
        source: What is shown: the file, or its text without secrets.
        size: Bytes of that.
    """

    path: Path
    source: Path | bytes
    size: int


class FileDesk(JobDesk):
    """Answers requests for the files of jobs."""

    async def served(self, request: Request, name: str, path: str) -> Response:
        """A file or directory of a job.

        Args:
            request: The request.
            name: Short name of the job.
            path: The path below its directory, as Heritrix has it; hostile.

        Raises:
            RefusedRequestError: It is not there (404), or is not shown (403, 413, 416).
        """
        layout = self._jobs.job(name).layout
        at = files.resolve(path, latest_run(layout))
        if at.is_job_log:
            lines = await asyncio.to_thread(job_log, layout)
            return PlainTextResponse("".join(f"{line}\n" for line in lines))
        edits = self._requester.role >= Role.OPERATOR
        file, facts = await asyncio.to_thread(files.find, layout.root, at, edits=edits)
        if file.is_dir():
            if not request.url.path.endswith("/"):
                return answers.see_other(f"{answers.own_url(request)}/", "")
            names = await asyncio.to_thread(files.listed, layout.root, at)
            return answers.html(files.directory_html(file.name, names))
        await self._require_open(layout, at, file, facts)
        shown = await self._visible_file(layout, file, facts.st_size)
        match request.query_params.get("format"):
            case "paged":
                return await _paged(request, shown)
            case "textedit" if shown.size <= _TEXT_LIMIT:
                files.writable(at)
                text = await asyncio.to_thread(files.text_of, shown.source)
                return answers.html(files.edit_html(file.name, text))
        return _streamed(request, shown)

    async def _require_open(
        self, layout: Layout, at: files.JobPath, path: Path, facts: os.stat_result
    ) -> None:
        """Refuse a file that holds secrets, whatever its mode.

        Raises:
            RefusedRequestError: It does (403).
        """
        closed = await self._parts.readers.ask("closed-files", layout.root, _PATIENCE)
        is_list = at.parts[0] != "runs" and not has_settings(path.name)
        has_logins = (
            is_list
            and not files.has_beans(path.name)
            and (await asyncio.to_thread(files.has_logins, path))
        )
        if [facts.st_dev, facts.st_ino] in closed or has_logins:
            raise RefusedRequestError(403, "private", f"{path.name} holds passwords or cookies")

    async def _visible_file(self, layout: Layout, path: Path, size: int) -> _ShownFile:
        """A file as this one may see it.

        Raises:
            RefusedRequestError: It may hold secrets, and they may not see those (403); or it is
                too long for secrets to be taken out of it (413).
        """
        if has_settings(path.name):
            if size > _TEXT_LIMIT:
                raise RefusedRequestError(413, "long", f"{path.name} is too long to be shown here")
            text = await asyncio.to_thread(files.text_of, path)
            answer = await self._parts.readers.ask("shown-text", layout.root, _PATIENCE, text=text)
            data = str(answer["text"]).encode()
            return _ShownFile(path, data, len(data))
        if files.has_beans(path.name) and self._requester.role < Role.OPERATOR:
            whole = size <= _TEXT_LIMIT
            text = await asyncio.to_thread(files.text_of, path) if whole else ""
            if not whole or files.may_hold_secret(text):
                reason = f"{path.name} may hold a password: it is for operators"
                raise RefusedRequestError(403, "private", reason)
        return _ShownFile(path, path, size)

    async def put(self, request: Request) -> Response:
        """Write the body of a request as a file."""
        data = await request.body()
        request.state.note.change(None, {"bytes": len(data)})
        created = await self._written(request, data)
        return Response(status_code=201 if created else 200)

    async def post(self, request: Request) -> Response:
        """Write the text of a form as a file."""
        contents = (await answers.form(request)).get("contents", "")
        request.state.note.change(None, {"characters": len(contents)})
        await self._written(request, contents.replace("\r\n", "\n").encode())
        return answers.see_other(answers.own_url(request), "file updated")

    async def _written(self, request: Request, data: bytes) -> bool:
        """Write a file; True for a new one. Beans become the settings of the job."""
        name, path = request.path_params["job"], request.path_params["path"]
        layout = self._jobs.job(name).layout
        at = files.resolve(path, latest_run(layout))
        files.writable(at)
        maker = JobMaker(self._parts, self._jobs, self._requester)
        if at.parts != (CONFIG,):
            return await maker.write(layout, at.parts, data)
        if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
            # Clients send beans to whatever is the configuration.
            return await maker.write(layout, (CXML,), data)
        return await maker.write_settings(layout, data)


async def _paged(request: Request, shown: _ShownFile) -> Response:
    """A page of the lines of a file."""
    query = request.query_params
    number = _number(query.get("lines", ""), files.LINES)
    position = _number(query.get("pos", ""), 0)
    page = await asyncio.to_thread(files.page_of, shown.source, position, number)
    reverse = query.get("reverse") == "y"
    return answers.html(files.paged_html(shown.path.name, page, number, reverse=reverse))


def _number(text: str, default: int) -> int:
    digits = text.removeprefix("-")
    return int(text) if digits.isdecimal() and len(digits) < 19 else default


def _streamed(request: Request, shown: _ShownFile) -> Response:
    """A file, or the piece of it that is wanted."""
    piece = files.byte_range(request.headers.get("range", ""), shown.size)
    start, length = piece or (0, shown.size)
    fields = {"content-length": str(length), "accept-ranges": "bytes"}
    if piece is not None:
        fields["content-range"] = f"bytes {start}-{start + length - 1}/{shown.size}"
    kind = _KINDS.get(shown.path.suffix, "text/plain; charset=utf-8")
    content = files.content(shown.source, start, length)
    return StreamingResponse(content, 206 if piece else 200, fields, media_type=kind)
