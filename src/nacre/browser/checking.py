"""Checks that pages can be run here: the browser, its isolation, a page from itself, and fonts."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any, Final

import msgspec

from nacre.browser import process_tree
from nacre.browser.authority import CertificateAuthority
from nacre.browser.cdp import BrowserGoneError, CdpError
from nacre.browser.finding import (
    COMMANDS,
    INSTALL,
    InstalledBrowser,
    find_browser,
    read_build_time,
    read_version,
)
from nacre.browser.memory import free_memory
from nacre.browser.process import BrowserLaunch, BrowserProcess, PageContext, open_context
from nacre.browser.proxy import RecordingProxy
from nacre.browser.settings import BrowserSettings
from nacre.browser.slots import count_cores, count_slots
from nacre.core.clock import Clock
from nacre.core.rendered import BrowserRequest, ReplyWriter
from nacre.errors import BrowserError
from nacre.messages import Message, error_text, message, plural

OLDEST: Final = 60
"""Age of a Chromium at which the check warns, days: a release with security fixes comes weekly."""
_DAY: Final = 86400.0
_URL: Final = "https://check.nacre.test/"
_TITLE: Final = "Nacre"
_PAGE: Final = (
    b"<!doctype html><meta charset=utf-8><title></title><script>document.title='Nacre'</script>"
)
_LOAD_TIME: Final = 20.0
_FONTS: Final = """
["AB", "\\u6c49\\u5b57", "\\u304b\\u306a", "\\ud55c\\uae00"].map(pair => {
  const [first, second] = [...pair].map(letter => {
    const canvas = new OffscreenCanvas(48, 48), context = canvas.getContext("2d");
    context.font = "32px sans-serif";
    context.fillText(letter, 4, 36);
    return context.getImageData(0, 0, 48, 48).data.join();
  });
  return first !== second;
})
"""
"""Whether two letters look different: without a font both are the same empty box."""
_SCRIPTS: Final = ("Latin", "Chinese", "Japanese", "Korean")


class BrowserFact(msgspec.Struct, frozen=True):
    """A fact about the browser of this machine.

    Attributes:
        subject: `browser`, `start`, `network`, `sandbox`, `page`, `fonts` or `pages`.
        state: `ok`; `warning`: pages can be run; `missing`: no page can be run.
        text: The fact.
        remedy: The command or the setting that helps; "" if nothing is to be done.
    """

    subject: str
    state: str
    text: str
    remedy: str = ""


class _OwnPage:
    """Answers each request with a page of the check."""

    async def handle(self, _request: BrowserRequest, reply: ReplyWriter) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n"
        reply.begin(200, head % len(_PAGE), "length")
        reply.write(_PAGE)
        reply.end()


async def check_browser(settings: BrowserSettings, clock: Clock) -> list[BrowserFact]:
    """Start the browser, load a page from this process in it, and return the facts.

    The first fact whose state is `missing` is the last: what follows needs it.

    Args:
        settings: Command and isolation.
        clock: For the age of the browser.
    """
    try:
        browser = find_browser(settings.command)
    except BrowserError as error:
        return [BrowserFact("browser", "missing", error_text(error), INSTALL)]
    version = await asyncio.to_thread(read_version, browser)
    facts = [_describe(browser, version, clock.now())]
    with tempfile.TemporaryDirectory() as scratch:
        facts += await _try(browser, settings, Path(scratch), clock)
    if all(fact.state != "missing" for fact in facts):
        facts.append(_describe_slots(settings))
    return facts


async def _try(
    browser: InstalledBrowser, settings: BrowserSettings, scratch: Path, clock: Clock
) -> list[BrowserFact]:
    authority = CertificateAuthority()
    isolated = settings.isolation == "namespace"
    process = BrowserProcess(
        BrowserLaunch(browser, scratch, isolated=isolated, authority=authority.spki_hash)
    )
    begin = clock.monotonic()
    try:
        await process.start()
        facts = [_ok("start", message("browser.check-start", "started in {seconds:.2f} s",
                                      seconds=clock.monotonic() - begin))]  # fmt: skip
        facts.append(_describe_network(process.pid, isolated=isolated))
        return facts + await _load(process, RecordingProxy(authority), clock)
    except BrowserError as error:
        return [_describe_no_start(browser, error)]
    finally:
        await process.stop()
        authority.delete()


async def _load(process: BrowserProcess, proxy: RecordingProxy, clock: Clock) -> list[BrowserFact]:
    port = process.sockets[1].getsockname()[1]
    listener = await proxy.serve(process.sockets[1], _OwnPage())
    begin = clock.monotonic()
    seconds = 0.0
    fonts: list[object] = []
    try:
        page = await open_context(process, port)
        title = await _open(page)
        seconds = clock.monotonic() - begin
        fonts = await _evaluate(page, _FONTS) if title == _TITLE else []
    except (CdpError, BrowserGoneError, TimeoutError) as error:
        title = error_text(error) or "timeout"
    finally:
        listener.close()
    if title != _TITLE:
        text = message("browser.check-page-failed", "a page of the check was not loaded: {reason}",
                       reason=title)  # fmt: skip
        return [BrowserFact("page", "missing", text, INSTALL)]
    text = message(
        "browser.check-page", "{url} loaded through the proxy in {seconds:.2f} s",
        url=_URL, seconds=seconds,
    )  # fmt: skip
    return [
        _describe_sandbox(process.pid),
        _ok("page", text),
        _describe_fonts([bool(has) for has in fonts]),
    ]


async def _open(page: PageContext) -> str:
    loaded = asyncio.Event()

    def listen(method: str, _params: dict[str, Any]) -> None:
        if method == "Page.loadEventFired":
            loaded.set()

    page.cdp.listen(page.session, listen)
    await page.cdp.call("Page.enable", session=page.session)
    await page.cdp.call("Page.navigate", {"url": _URL}, session=page.session, timeout=_LOAD_TIME)
    async with asyncio.timeout(_LOAD_TIME):
        await loaded.wait()
    return str(await _evaluate(page, "document.title"))


async def _evaluate(page: PageContext, expression: str) -> Any:  # noqa: ANN401 - JSON
    parameters = {"expression": expression, "returnByValue": True}
    reply = await page.cdp.call("Runtime.evaluate", parameters, session=page.session)
    return reply["result"].get("value")


def _ok(subject: str, text: str) -> BrowserFact:
    return BrowserFact(subject, "ok", text)


def _describe(browser: InstalledBrowser, version: str, now: float) -> BrowserFact:
    days = int(max(0.0, now - read_build_time(browser)) / _DAY)
    text = plural(
        "browser.check-version",
        "{program}, version {version}, {days} day old",
        "{program}, version {version}, {days} days old",
        days=days, program=browser.program, version=version or "?",
    )  # fmt: skip
    if days <= OLDEST:
        return _ok("browser", text)
    name = browser.name.rpartition("/")[2]
    remedy = f"apt-get update && apt-get install {name}" if name in COMMANDS else ""
    return BrowserFact("browser", "warning", text, remedy)


def _describe_no_start(browser: InstalledBrowser, error: BrowserError) -> BrowserFact:
    text = error_text(error)
    if isinstance(text, Message) and text.code == "browser.no-start":
        text = message("browser.check-no-start", "{program} does not start: {reason}",
                       program=browser.program, reason=text.params["reason"])  # fmt: skip
    remedy = INSTALL
    if browser.name not in COMMANDS:
        remedy = message(
            "browser.check-other-command",
            "leave browser.command out, which takes an installed Chromium; to install one: "
            "{install}",
            install=INSTALL,
        )
    return BrowserFact("start", "missing", text, remedy)


def _describe_network(pid: int, *, isolated: bool) -> BrowserFact:
    networks = process_tree.list_networks(pid)
    if networks == ["lo"]:
        return _ok("network", message("browser.check-network", "a namespace with loopback only"))
    if isolated:
        text = message("browser.check-other-network", "the browser reaches {networks}",
                       networks=", ".join(networks) or "?")  # fmt: skip
        return BrowserFact("network", "missing", text)
    text = message(
        "browser.check-no-network",
        "flags alone keep the browser from other networks (browser.isolation: none)",
    )
    return BrowserFact("network", "warning", text, "browser.isolation: namespace")


def _describe_sandbox(pid: int) -> BrowserFact:
    modes = [process_tree.read_seccomp(process) for process in process_tree.list_renderers(pid)]
    if modes and all(mode == process_tree.SECCOMP_FILTER for mode in modes):
        return _ok(
            "sandbox", message("browser.check-sandbox", "renderers run in Chromium's sandbox")
        )
    text = message(
        "browser.check-no-sandbox", "renderers run without a filter of system calls (seccomp)"
    )
    return BrowserFact("sandbox", "missing", text, INSTALL)


def _describe_fonts(available: list[bool]) -> BrowserFact:
    missing = [name for name, has in zip(_SCRIPTS, available, strict=False) if not has]
    if not missing:
        return _ok("fonts", message("browser.check-fonts", "for {scripts}",
                                    scripts=", ".join(_SCRIPTS)))  # fmt: skip
    packages = "fonts-liberation " * ("Latin" in missing) + "fonts-noto-cjk" * (
        missing != ["Latin"]
    )
    text = message(
        "browser.check-no-fonts", "none for {scripts}: pictures of pages have empty boxes",
        scripts=", ".join(missing),
    )  # fmt: skip
    return BrowserFact("fonts", "warning", text, f"apt-get install {packages}".rstrip())


def _describe_slots(settings: BrowserSettings) -> BrowserFact:
    text = plural(
        "browser.check-slots",
        "{count} page at once, in all jobs of a user",
        "{count} pages at once, in all jobs of a user",
        count=count_slots(settings.pages, count_cores(), free_memory()),
    )
    return _ok("pages", text)
