"""A tab of the browser whose faults are collected: what no page of the console may do."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Literal
from weakref import WeakKeyDictionary

from playwright.sync_api import Browser, BrowserContext, Page, Request

from nacre.fleet.sessions import COOKIE
from nacre.ops.operation import Role
from tests.console.stories.running import ConsoleProcess

Scheme = Literal["light", "dark"]

_VIOLATIONS: Final = """
window.nacreViolations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.nacreViolations.push(
    `${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`));
"""
PINNED: Final = ("sha256-xPStJVcys0gH1DSpSVHuU2pPi0f51Ox0tn+JO291Olc=",)
"""Parts of violations that are known and harmless: a style attribute that CodeMirror sets while one
types, and that is refused."""


class Watched:
    """What the pages of a context did that they may not do.

    Attributes:
        faults: Sentences: errors of scripts, violations of the policy, requests to elsewhere,
            dialogs, and answers with a status of 500 or more, but for 503.
        warnings: Number of pages that asked before they were left.
    """

    def __init__(self, context: BrowserContext, console: ConsoleProcess) -> None:
        self.faults: list[str] = []
        self.warnings = 0
        self._ours = console.url
        context.add_init_script(_VIOLATIONS)
        context.on("request", self._asked)
        context.on("response", self._answered)
        context.on("console", self._said)
        context.on("weberror", lambda error: self.faults.append(f"error: {error.error}"))
        context.on("page", lambda page: page.on("dialog", self._opened))

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self._ours, "data:", "blob:")):
            self.faults.append(f"request to {request.url}")

    def _answered(self, response: Any) -> None:
        # 503 is no fault of a page: the machine is too busy now, as it says.
        if response.status >= 500 and response.status != 503:
            self.faults.append(f"{response.status} of {response.url}")

    def _said(self, message: Any) -> None:
        text = message.text
        # A refused status is told by the answer itself; a lost console is part of a story.
        known = "Failed to load resource" in text or "htmx:sse:error" in text
        if message.type == "error" and not known:
            self.faults.append(f"console: {text}")

    def _opened(self, dialog: Any) -> None:
        # A story may leave a page with text in it.
        if dialog.type == "beforeunload":
            self.warnings += 1
            dialog.accept()
            return
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()


_WATCHED: Final[WeakKeyDictionary[BrowserContext, Watched]] = WeakKeyDictionary()


def warnings_of(page: Page) -> int:
    """The number of pages of the context of this one that asked before they were left."""
    return _WATCHED[page.context].warnings


def faults_of(page: Page) -> None:
    """Fail when a page of the context of this one did what it may not do."""
    watched = _WATCHED[page.context]
    watched.faults += [f"policy: {one}" for one in page.evaluate("window.nacreViolations ?? []")]
    found = [one for one in watched.faults if not any(known in one for known in PINNED)]
    assert not found, "\n".join(found)


@contextmanager
def tab(
    browser: Browser,
    console: ConsoleProcess,
    role: Role | None = Role.ADMIN,
    *,
    scheme: Scheme = "light",
    locale: str = "en-GB",
    width: int = 1280,
    height: int = 900,
    script: bool = True,
) -> Iterator[Page]:
    """A tab of somebody who is logged in; at its end it must have done nothing it may not do.

    Args:
        browser: The browser.
        console: The console.
        role: What they may do; None for nobody.
        scheme: What their system prefers.
        locale: The language of their browser.
        width: Of the window, in pixels.
        height: Of the window, in pixels.
        script: Scripts run.
    """
    context = browser.new_context(
        color_scheme=scheme, locale=locale, viewport={"width": width, "height": height},
        java_script_enabled=script, reduced_motion="reduce", timezone_id="UTC",
    )  # fmt: skip
    _WATCHED[context] = Watched(context, console)
    try:
        if role is not None:
            secret = console.session(role)
            context.add_cookies([{
                "name": COOKIE, "value": secret, "url": console.url.replace("http:", "https:"),
                "secure": True, "httpOnly": True, "sameSite": "Strict",
            }])  # fmt: skip
        context.set_default_timeout(200_000)
        page = context.new_page()
        yield page
        if script:
            faults_of(page)
    finally:
        context.close()
