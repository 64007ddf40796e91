"""A site without servers, and a browser that opens its pages: a handler answers from a table."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from nacre.browser.authority import CertificateAuthority
from nacre.browser.driver import open_page
from nacre.browser.finding import InstalledBrowser
from nacre.browser.process import (
    BrowserLaunch,
    BrowserProcess,
    PageContext,
    close_context,
    open_context,
)
from nacre.browser.proxy import ProxyListener, RecordingProxy
from nacre.core.rendered import BrowserRequest, PageTask, RenderedPage, ReplyWriter

HOST = "http://site.test"
TYPES = {"js": "text/javascript", "css": "text/css", "json": "application/json", "png": "image/png"}


class Site:
    """Answers requests from a table; all else is refused.

    Args:
        pages: Path, or whole URL of another host, to a body, or to (header lines, body). The type
            is that of the extension, else HTML. A header line `Status: 302` sets the status.

    Attributes:
        requests: All requests, in order.
    """

    def __init__(self, pages: Mapping[str, object]) -> None:
        self._pages = pages
        self.requests: list[BrowserRequest] = []

    @property
    def urls(self) -> list[str]:
        """URLs of the requests, without that of the site itself."""
        return [request.url.removeprefix(HOST) for request in self.requests]

    async def handle(self, request: BrowserRequest, reply: ReplyWriter) -> None:
        self.requests.append(request)
        path = request.url.removeprefix(HOST)
        page = self._pages.get(path, self._pages.get(path.partition("?")[0]))
        if page is None:
            return
        lines, body = page if isinstance(page, tuple) else ("", page)
        data = body.encode() if isinstance(body, str) else body
        assert isinstance(data, bytes)
        headers = dict(line.split(": ", 1) for line in lines.splitlines())
        status = int(headers.pop("Status", "200"))
        kind = TYPES.get(path.partition("?")[0].rpartition(".")[2], "text/html; charset=utf-8")
        headers = {"Content-Type": kind, "Content-Length": str(len(data)), **headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        reply.begin(status, f"HTTP/1.1 {status} X\r\n{head}\r\n".encode(), "length")
        reply.write(data)
        reply.end()


class Pages:
    """Opens pages in one browser, one after another."""

    def __init__(
        self, runner: asyncio.Runner, process: BrowserProcess, listener: ProxyListener
    ) -> None:
        self.process = process
        self._runner = runner
        self._listener = listener

    def open(
        self,
        site: Site,
        path: str = "/",
        stop: Callable[[PageContext], None] = lambda _: None,
        **task: object,
    ) -> RenderedPage:
        """Open a page of a site; `stop` gets its context before it is opened."""
        url = path if "://" in path else HOST + path
        return self._runner.run(self._open(site, PageTask(url, **task), stop))  # type: ignore[arg-type]

    async def _open(
        self, site: Site, task: PageTask, stop: Callable[[PageContext], None]
    ) -> RenderedPage:
        self._listener.assign(site)
        context = await open_context(self.process, self._listener.address[1])
        try:
            stop(context)
            return await open_page(context, task)
        finally:
            await close_context(context)


@contextmanager
def browsing(
    browser: InstalledBrowser, directory: Path, trusted: CertificateAuthority | None = None
) -> Iterator[Pages]:
    """A running browser with one page at a time; `trusted`: another authority than the proxy's."""
    authority = CertificateAuthority()
    trust = (trusted or authority).spki_hash
    with asyncio.Runner() as runner:
        process = BrowserProcess(BrowserLaunch(browser, directory, slots=1, authority=trust))
        runner.run(process.start())
        try:
            listener = runner.run(RecordingProxy(authority).serve(process.sockets[1], None))
            yield Pages(runner, process, listener)
            listener.close()
        finally:
            runner.run(process.stop())
