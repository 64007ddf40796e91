"""A page that was run in a browser as one unit: its members, and its records beside its requests.

While the page runs, a thread compresses the large replies of its requests and moves their bodies
into one unnamed file, so that memory and open files stay bounded. Whether a reply is a revisit is
decided in the step that stores the page: only then its digest becomes visible to others.
"""

import asyncio
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple, ParamSpec, TypeVar

import msgspec
from msgspec import structs

from nacre.archive.fields import cut_date
from nacre.archive.page_records import RecordedPage, page_records, resource_type
from nacre.archive.record import WarcRecord, response_record
from nacre.archive.warc_writer import WarcWriter, pack, pack_chunks
from nacre.browser.settings import BrowserSettings
from nacre.config.effective import Effective
from nacre.core.capture import Body, Capture
from nacre.core.processor import PageUnit, Visit
from nacre.core.rendered import RenderedPage
from nacre.engine.counters import Numbers
from nacre.engine.steps.archive import ArchiveStep, PackedReply
from nacre.errors import StorageError
from nacre.extract.pageview import page_view

P = ParamSpec("P")
R = TypeVar("R")

SMALL = 16_384
"""Bytes of a body or member that stays in memory; with 1,000 requests, 16 MB of a page."""
_IN_LOOP = 65_536
"""Bytes of a body that is compressed in the loop, within 2 ms: a thread costs more."""
_CHUNK = 1 << 20
_TEXTS = frozenset(("text", "heading", "date", "nav"))
_LONGEST_TEXT = 5_000_000
"""Characters of the text of a page that are stored."""


class _UnnamedFile:
    """A file without a name, closed with the last reference to it."""

    __slots__ = ("fd",)

    def __init__(self, scratch: Path | None) -> None:
        with tempfile.TemporaryFile(dir=scratch) as file:
            self.fd = os.dup(file.fileno())

    def __del__(self) -> None:
        if hasattr(self, "fd"):  # else it could not be made
            os.close(self.fd)


class PageSpool:
    """One unnamed file for bodies and members of a page. Appended to by one thread at a time.

    It exists until all bodies that were made from it are closed or gone.

    Args:
        scratch: Its folder; None for the system's.
    """

    def __init__(self, scratch: Path | None) -> None:
        self._scratch = scratch
        self._file: _UnnamedFile | None = None
        self._length = 0

    def add(self, chunks: Iterable[bytes]) -> Body:
        """Append bytes, and return them as a body.

        Raises:
            StorageError: The folder cannot take them.
        """
        start = self._length
        try:
            if self._file is None:
                self._file = _UnnamedFile(self._scratch)
            for chunk in chunks:
                view = memoryview(chunk)
                while view:
                    size = os.pwrite(self._file.fd, view, self._length)
                    self._length += size
                    view = view[size:]
        except OSError as error:
            where = self._scratch or tempfile.gettempdir()
            raise StorageError(
                f"a page cannot be kept in {where}: {error.strerror}; free space there"
            ) from error
        return _SpooledPart(self._file, start, self._length - start)


class _SpooledPart:
    """A `Body` in the file of a page."""

    __slots__ = ("_file", "_start", "length")

    def __init__(self, file: _UnnamedFile, start: int, length: int) -> None:
        self._file: _UnnamedFile | None = file
        self._start = start
        self.length = length

    def read(self, offset: int, size: int) -> bytes:
        """See `Body.read`; may be called from any thread."""
        if self._file is None:
            raise ValueError("it is closed")
        size = min(size, self.length - offset)
        if size <= 0:
            return b""
        try:
            return os.pread(self._file.fd, size, self._start + offset)
        except OSError as error:
            raise StorageError(f"a page cannot be read back: {error.strerror}") from error

    def close(self) -> None:
        """See `Body.close`."""
        self._file = None


class _Open(msgspec.Struct):
    """A page that is open, or that is to be stored.

    Attributes:
        spool: Its file.
        replies: By identity of their visits: replies that are compressed.
        records: Its own records with their members; None until it is ready.
    """

    spool: PageSpool
    replies: dict[int, PackedReply] = {}
    records: list[tuple[WarcRecord, bytes]] | None = None


class _Moved(NamedTuple):
    """What a thread made of a reply: its body in the spool, and its member; None: neither."""

    body: Body | None
    reply: PackedReply | None


class PageUnits:
    """Compresses what a page brings while it runs, and writes its own records.

    Args:
        archive: Decides on revisits.
        pages: The series of WARCs for the records of pages.
        browser: What is stored of a page, under each combination of sheets.
        numbers: Record ids.
        scratch: Folder of spools; None for the system's.
    """

    def __init__(
        self,
        archive: ArchiveStep,
        pages: WarcWriter,
        browser: Effective[BrowserSettings],
        numbers: Numbers,
        scratch: Path | None,
    ) -> None:
        self._archive = archive
        self.writer = pages
        self._browser = browser
        self._numbers = numbers
        self._scratch = scratch
        self._open: dict[str, _Open] = {}
        self._packing = asyncio.Lock()

    async def pack(self, page_id: str, visit: Visit) -> None:
        """Compress the reply to a request of a page, and free its memory; small ones stay.

        Args:
            page_id: Id of the page.
            visit: The visit of the request, through the fetch chain; nothing reads its body
                meanwhile.

        Raises:
            StorageError: The scratch folder is full.
        """
        capture = visit.capture
        if capture is None or capture.body.length <= SMALL or visit.status <= 0:
            return
        page = self._page(page_id)
        if id(visit) in page.replies:
            return
        capture.began = cut_date(capture.began, self._archive.writer.settings.date_digits)
        wanted = not self._archive.is_repeated(visit, capture)
        arguments = (page.spool, page_id, visit, capture, wanted)
        async with self._packing:
            if capture.body.length <= _IN_LOOP:
                moved = self._move(*arguments)
            else:
                moved = await _in_thread(self._move, *arguments)
        if moved.reply is not None:
            page.replies[id(visit)] = moved.reply
        if moved.body is not None:
            capture.move_body(moved.body)

    def _move(
        self,
        spool: PageSpool,
        page_id: str,
        visit: Visit,
        capture: Capture,
        wanted: bool,  # noqa: FBT001 - an argument of a thread
    ) -> _Moved:
        """Move a body to the spool, and compress its record. Runs in a thread."""
        body = capture.body
        parts = (body.read(at, _CHUNK) for at in range(0, body.length, _CHUNK))
        moved = spool.add(parts)
        if not wanted:
            return _Moved(moved, None)
        request = visit.request
        record = response_record(
            capture,
            self._archive.writer.settings.date_digits,
            self._numbers.record_id(),
            page_id,
            resource_type(request.resource) if request is not None else "",
        )
        record = structs.replace(record, body=moved)
        member = spool.add(pack_chunks(record, self._archive.writer.level))
        return _Moved(moved, PackedReply(record, member))

    async def make_ready(self, visit: Visit) -> None:
        """Compress the rest of a page, and make its own records, before it is stored.

        Args:
            visit: The visit of its document, final.
        """
        unit = visit.page
        if unit is None:
            return
        for request in unit.visits:
            await self.pack(unit.id, request)
        page = self._page(unit.id)
        if page.records is None and visit.capture is not None:
            async with self._packing:
                page.records = await _in_thread(self._own_records, visit, visit.capture, unit)

    def _own_records(
        self, visit: Visit, capture: Capture, unit: PageUnit
    ) -> list[tuple[WarcRecord, bytes]]:
        settings, rendered = self._browser[visit.overlay], unit.rendered
        text = None
        is_wanted = settings.store_text and not unit.is_unchanged
        if is_wanted and rendered is not None and rendered.dom:
            text = page_text(rendered)
        state = RecordedPage(
            url=capture.url,
            date=capture.began,
            status=visit.status,
            mime=visit.mime,
            unit=unit,
            viewport=settings.viewport,
            text=text,
            has_dom=settings.store_dom,
        )
        digits, level = self.writer.settings.date_digits, self.writer.level
        records = page_records(state, self._numbers.record_id, digits)
        return [(record, pack(record, level)) for record in records]

    def packed(self, page_id: str, visit: Visit) -> PackedReply | None:
        """Return the compressed reply to a request; None if it is not compressed."""
        page = self._open.get(page_id)
        return page.replies.get(id(visit)) if page is not None else None

    def write(self, visit: Visit) -> None:
        """Append the own records of a page, in the step that stores its document.

        Of a page that did not change its information is written, and nothing else: its text and
        pictures are stored. Of one of which nothing is written, there is none.
        """
        page = self._open.get(visit.page.id) if visit.page is not None else None
        if page is not None and page.records and visit.warc_file:
            if visit.page is not None and visit.page.is_unchanged and visit.capture is not None:
                page.records = self._own_records(visit, visit.capture, visit.page)
            if visit.page is not None and visit.page.rendered is not None:
                for writer in (self.writer, self._archive.writer, self._archive.large):
                    writer.name_browser(visit.page.rendered.browser)
            kept = page.records[:1] if visit.noted else page.records
            records, members = zip(*kept, strict=True)
            self.writer.write(records, members)

    def close(self, unit: PageUnit) -> None:
        """Release a page, stored or dropped: its bodies, and members that are not to be written."""
        for visit in unit.visits:
            if visit.capture is not None:
                visit.capture.body.close()
        self._open.pop(unit.id, None)

    def _page(self, page_id: str) -> _Open:
        page = self._open.get(page_id)
        if page is None:
            page = self._open[page_id] = _Open(PageSpool(self._scratch))
        return page


def page_text(page: RenderedPage) -> str:
    """Return the text of the final DOM, then that of each hash route below its URL."""
    routes = (f"{route.url}\n{dom_text(route.dom)}" for route in page.routes)
    return "\n\n".join((dom_text(page.dom), *routes))[:_LONGEST_TEXT]


def dom_text(dom: bytes) -> str:
    """Return the text of a final DOM in lines, without its title, menus included."""
    pieces = page_view(dom.decode("utf-8", "replace")).pieces
    return "\n".join(piece.text for piece in pieces if piece.kind in _TEXTS)[:_LONGEST_TEXT]


async def _in_thread(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Do work that reads bodies in a thread; a task that is cancelled meanwhile waits for it."""
    loop = asyncio.get_running_loop()
    future = loop.run_in_executor(None, lambda: work(*args, **kwargs))
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait([future])
        raise
