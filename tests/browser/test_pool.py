"""A pool of pages: shared slots, crashes, hangs, memory, and replaced browsers."""

import asyncio
import itertools
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from nacre.browser import process_tree
from nacre.browser.authority import CertificateAuthority
from nacre.browser.cdp import BrowserGoneError
from nacre.browser.finding import InstalledBrowser
from nacre.browser.pool import BrowserPool
from nacre.browser.process import PageContext
from nacre.browser.proxy import RecordingProxy
from nacre.browser.running import PageParts, PoolLimits
from nacre.browser.settings import BrowserSettings
from nacre.core.rendered import BrowserRequest, PageTask, RenderedPage, ReplyWriter
from nacre.errors import BrowserError
from tests.browser.loop import in_loop, wait_until

Script = Callable[[PageContext, PageTask], Awaitable[RenderedPage]]


NUMBERS = itertools.count()
LIMITS = PoolLimits(answer=5.0, interval=0.1)


class PlainHandler:
    """Answers each request with its own URL, and notes it."""

    def __init__(self) -> None:
        self.urls: list[str] = []

    async def handle(self, request: BrowserRequest, reply: ReplyWriter) -> None:
        self.urls.append(request.url)
        body = f"<title>{request.url}</title>".encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
        reply.begin(200, head.encode(), "length")
        reply.write(body)
        reply.end()


async def evaluate(context: PageContext, expression: str, seconds: float = 20.0) -> Any:
    reply = await context.cdp.call(
        "Runtime.evaluate",
        {"expression": expression, "awaitPromise": True},
        session=context.session,
        timeout=seconds,
    )
    return reply["result"].get("value")


async def load(context: PageContext, task: PageTask) -> RenderedPage:
    events: list[str] = []
    context.cdp.listen(context.session, lambda method, _params: events.append(method))
    await context.cdp.call("Page.enable", session=context.session)
    await context.cdp.call("Page.navigate", {"url": task.url}, session=context.session)
    await wait_until(lambda: "Page.loadEventFired" in events)
    title = await evaluate(context, "document.title")
    return RenderedPage(ended="settled", url=task.url, title=title)


async def crash(context: PageContext, _task: PageTask) -> RenderedPage:
    return RenderedPage(ended="crash", title=str(context.process.pid))


async def hang(context: PageContext, _task: PageTask) -> RenderedPage:
    await evaluate(context, "while (true) {}", seconds=0.2)
    return RenderedPage(ended="settled")


async def stop_browser(context: PageContext, _task: PageTask) -> RenderedPage:
    os.kill(context.process.pid, signal.SIGSTOP)
    return RenderedPage(ended=await context.stop.wait())


async def kill_browser(context: PageContext, _task: PageTask) -> RenderedPage:
    os.kill(context.process.pid, signal.SIGKILL)
    await context.cdp.closed.wait()
    raise BrowserGoneError("the browser has ended")


async def fill_memory(context: PageContext, _task: PageTask) -> RenderedPage:
    await evaluate(context, "window.hog = []; for (let i = 0; i < 40; i++) hog.push("
                            "new Uint8Array(1e7).fill(i)); hog.length")  # fmt: skip
    return RenderedPage(ended=await context.stop.wait())


class Scripts:
    """Drives each page by a script of the test: that of its URL, in turn, or `load`."""

    def __init__(self) -> None:
        self.of: dict[str, list[Script]] = {}
        self.pids: list[int] = []
        self.open = 0
        self.most = 0

    async def open_page(self, context: PageContext, task: PageTask) -> RenderedPage:
        self.pids.append(context.process.pid)
        self.open += 1
        self.most = max(self.most, self.open)
        scripts = self.of.get(task.url, [load])
        try:
            return await (scripts.pop(0) if len(scripts) > 1 else scripts[0])(context, task)
        finally:
            self.open -= 1


@asynccontextmanager
async def pooled(
    browser: InstalledBrowser,
    directory: Path,
    scripts: Scripts,
    limits: PoolLimits = LIMITS,
    pages: int = 2,
) -> AsyncIterator[BrowserPool]:
    authority = CertificateAuthority()
    scratch = directory / f"scratch-{next(NUMBERS)}"
    pool = BrowserPool(
        BrowserSettings(command=str(browser.program), pages=pages),
        scratch,
        directory / "slots",
        PageParts(RecordingProxy(authority), scripts.open_page, authority.spki_hash),
        limits,
    )
    try:
        yield pool
    finally:
        await pool.close()
        assert files(scratch) == []


def files(directory: Path) -> list[Path]:
    return list(directory.glob("*"))


@pytest.mark.browser
@in_loop
async def test_two_pages_at_once_have_their_own_requests(
    installed_browser: InstalledBrowser, tmp_path: Path
) -> None:
    scripts = Scripts()
    both = asyncio.Barrier(2)

    async def meet(context: PageContext, task: PageTask) -> RenderedPage:
        await both.wait()
        page = await load(context, task)
        await both.wait()
        return page

    urls = ["https://a.test/", "https://b.test/"]
    scripts.of = {url: [meet] for url in urls}
    handlers = [PlainHandler(), PlainHandler()]
    async with pooled(installed_browser, tmp_path, scripts) as pool:
        assert pool.slots == 2
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(pool.render(PageTask(url), handler))
                for url, handler in zip(urls, handlers, strict=True)
            ]
        pages = [task.result() for task in tasks]
    assert [page.title for page in pages] == urls
    assert [{url.removesuffix("favicon.ico") for url in each.urls} for each in handlers] == [
        {url} for url in urls
    ]
    assert len(set(scripts.pids)) == 1
    assert all(page.cpu > 0 and page.browser for page in pages)


@pytest.mark.browser
@in_loop
async def test_two_jobs_share_the_slots_of_the_machine(
    installed_browser: InstalledBrowser, tmp_path: Path
) -> None:
    scripts = Scripts()
    async with (
        pooled(installed_browser, tmp_path, scripts, pages=1) as first,
        pooled(installed_browser, tmp_path, scripts, pages=1) as second,
        asyncio.TaskGroup() as group,
    ):
        tasks = [
            group.create_task(pool.render(PageTask(f"http://{number}.test/"), PlainHandler()))
            for number, pool in enumerate((first, second, first, second))
        ]
    assert [task.result().ended for task in tasks] == ["settled"] * 4
    assert scripts.most == 1
    assert len(set(scripts.pids)) == 2
    assert not any(map(process_tree.is_running, scripts.pids))


@pytest.mark.browser
@in_loop
async def test_a_page_that_crashes_or_hangs_is_tried_once_more_alone(
    installed_browser: InstalledBrowser, tmp_path: Path
) -> None:
    scripts = Scripts()
    scripts.of = {
        "http://once.test/": [crash, load],
        "http://twice.test/": [crash],
        "http://hang.test/": [hang],
    }
    urls = [*scripts.of, "http://fine.test/"]
    async with pooled(installed_browser, tmp_path, scripts) as pool, asyncio.TaskGroup() as group:
        tasks = [group.create_task(pool.render(PageTask(url), PlainHandler())) for url in urls]
    assert [task.result().ended for task in tasks] == ["settled", "crash", "hang", "settled"]
    assert len(scripts.pids) == 7
    assert len(set(scripts.pids)) == 4, "each second attempt has a fresh browser"


@pytest.mark.browser
@in_loop
async def test_a_url_that_killed_a_browser_is_not_run_again(
    installed_browser: InstalledBrowser, tmp_path: Path
) -> None:
    scripts = Scripts()
    scripts.of = {"http://kill.test/": [kill_browser], "http://stop.test/": [stop_browser]}
    async with pooled(installed_browser, tmp_path, scripts) as pool:
        for url in ("http://kill.test/", "http://stop.test/", "http://kill.test/"):
            assert (await pool.render(PageTask(url), PlainHandler())).ended == "browserGone"
        assert len(scripts.pids) == 2
        page = await pool.render(PageTask("http://fine.test/"), PlainHandler())
    assert page.ended == "settled"
    assert len(set(scripts.pids)) == 3


@pytest.mark.browser
@in_loop
async def test_the_page_that_fills_the_memory_ends(
    installed_browser: InstalledBrowser, tmp_path: Path
) -> None:
    scripts = Scripts()
    ended = asyncio.Event()

    async def outlive(context: PageContext, task: PageTask) -> RenderedPage:
        page = await load(context, task)
        await ended.wait()
        return page if await evaluate(context, "1 + 1") == 2 else RenderedPage(ended="hang")

    scripts.of = {"http://hog.test/": [fill_memory], "http://small.test/": [outlive]}
    limits = PoolLimits(memory=400_000_000, interval=0.1)
    async with pooled(installed_browser, tmp_path, scripts, limits) as pool:
        async with asyncio.TaskGroup() as group:
            small = group.create_task(pool.render(PageTask("http://small.test/"), PlainHandler()))
            hog = group.create_task(pool.render(PageTask("http://hog.test/"), PlainHandler()))
            hog.add_done_callback(lambda _task: ended.set())
        assert (hog.result().ended, small.result().ended) == ("memory", "settled")
        await pool.render(PageTask("http://fine.test/"), PlainHandler())
    assert len(set(scripts.pids)) == 2, "a browser that took too much memory is replaced"


@pytest.mark.browser
@in_loop
async def test_a_page_that_fills_the_memory_and_does_not_end_is_killed(
    installed_browser: InstalledBrowser, tmp_path: Path
) -> None:
    scripts = Scripts()
    stuck = asyncio.Event()

    async def fill_and_stay(context: PageContext, task: PageTask) -> RenderedPage:
        stuck.set()
        await fill_memory(context, task)
        await context.cdp.closed.wait()
        raise BrowserGoneError("the browser has ended")

    async def wait_for_end(context: PageContext, _task: PageTask) -> RenderedPage:
        await stuck.wait()
        return RenderedPage(ended=await context.stop.wait())

    scripts.of = {"http://hog.test/": [fill_and_stay], "http://other.test/": [wait_for_end, load]}
    limits = PoolLimits(memory=150_000_000, interval=0.1)
    async with pooled(installed_browser, tmp_path, scripts, limits) as pool:
        async with asyncio.TaskGroup() as group:
            other = group.create_task(pool.render(PageTask("http://other.test/"), PlainHandler()))
            hog = group.create_task(pool.render(PageTask("http://hog.test/"), PlainHandler()))
        assert (hog.result().ended, other.result().ended) == ("memory", "settled")
        fine = await pool.render(PageTask("http://fine.test/"), PlainHandler())
    assert fine.ended == "settled"


@pytest.mark.browser
@in_loop
async def test_a_browser_is_replaced_after_its_pages_and_when_it_was_killed_idle(
    installed_browser: InstalledBrowser, tmp_path: Path
) -> None:
    scripts = Scripts()
    limits = PoolLimits(pages=2, interval=0.1)
    async with pooled(installed_browser, tmp_path, scripts, limits) as pool:
        for number in range(3):
            await pool.render(PageTask(f"http://{number}.test/"), PlainHandler())
        assert len(set(scripts.pids)) == 2
        os.kill(scripts.pids[-1], signal.SIGKILL)
        await wait_until(lambda: not process_tree.is_running(scripts.pids[-1]))
        page = await pool.render(PageTask("http://last.test/"), PlainHandler())
    assert page.ended == "settled"
    assert len(set(scripts.pids)) == 3


@pytest.mark.browser
@in_loop
async def test_a_pool_that_is_closed_starts_no_browser(
    installed_browser: InstalledBrowser, tmp_path: Path
) -> None:
    scripts = Scripts()
    opened = asyncio.Event()

    async def wait_for_end(context: PageContext, _task: PageTask) -> RenderedPage:
        opened.set()
        return RenderedPage(ended=await context.stop.wait())

    scripts.of = {"http://long.test/": [wait_for_end]}
    async with pooled(installed_browser, tmp_path, scripts) as pool, asyncio.TaskGroup() as group:
        page = group.create_task(pool.render(PageTask("http://long.test/"), PlainHandler()))
        await opened.wait()
        await pool.close()
    assert page.result().ended == "browserGone"
    with pytest.raises(BrowserError, match="the run has ended"):
        await pool.render(PageTask("http://next.test/"), PlainHandler())
    assert len(scripts.pids) == 1


@pytest.mark.browser
@in_loop
async def test_a_browser_ends_when_no_page_comes_for_a_time(
    installed_browser: InstalledBrowser, tmp_path: Path
) -> None:
    scripts = Scripts()
    limits = PoolLimits(idle=0.05, interval=0.1)
    async with pooled(installed_browser, tmp_path, scripts, limits) as pool:
        await pool.render(PageTask("http://first.test/"), PlainHandler())
        await wait_until(lambda: not process_tree.is_running(scripts.pids[0]))
        page = await pool.render(PageTask("http://last.test/"), PlainHandler())
    assert page.ended == "settled"
    assert len(set(scripts.pids)) == 2


@in_loop
async def test_a_start_that_failed_is_not_repeated_for_each_page(public_directory: Path) -> None:
    program, starts = public_directory / "chromium", public_directory / "starts"
    program.write_text(f"#!/bin/sh\necho start >>{starts}; echo it is broken >&2; exit 3\n")
    program.chmod(0o755)
    starts.touch()
    starts.chmod(0o666)
    for pause, count in ((60.0, 1), (0.0, 4)):
        pool = BrowserPool(
            BrowserSettings(command=str(program), isolation="none"),
            public_directory / "scratch",
            public_directory / "slots",
            PageParts(RecordingProxy(CertificateAuthority()), load),
            PoolLimits(pause=pause),
        )
        for _ in range(3):
            with pytest.raises(BrowserError, match="it is broken"):
                await pool.render(PageTask("http://a.test/"), PlainHandler())
        assert len(lines_of(starts)) == count
        await pool.close()


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines()


@in_loop
async def test_a_pool_without_a_browser_names_the_remedy(tmp_path: Path) -> None:
    authority = CertificateAuthority()
    pool = BrowserPool(
        BrowserSettings(command="no-such-browser"),
        tmp_path / "scratch",
        tmp_path / "slots",
        PageParts(RecordingProxy(authority), load),
    )
    with pytest.raises(BrowserError, match=r"no browser no-such-browser.*apt-get install"):
        await pool.render(PageTask("http://a.test/"), PlainHandler())
    await pool.close()
