"""Cookies of a browser context: those that a page gets before, and those that it has after."""

import contextlib
from collections.abc import Sequence
from typing import Any

from nacre.browser.cdp import CdpError
from nacre.browser.network_log import clean_text
from nacre.browser.process import PageContext
from nacre.core.rendered import BrowserCookie

MAX_COOKIES = 3000


async def set_cookies(context: PageContext, cookies: Sequence[BrowserCookie]) -> None:
    """Set cookies in the context of a page; the browser may refuse some.

    Raises:
        BrowserGoneError: The browser has ended.
    """
    params = [_describe(cookie) for cookie in cookies[:MAX_COOKIES]]
    if not params:
        return
    try:
        await _set(context, params)
    except CdpError:  # one that is not valid spoils all
        for entry in params:
            with contextlib.suppress(CdpError):
                await _set(context, [entry])


async def read_cookies(context: PageContext) -> tuple[BrowserCookie, ...]:
    """Return the cookies of the context of a page.

    Raises:
        CdpError, BrowserGoneError: They cannot be read.
    """
    reply = await context.cdp.call("Storage.getCookies", {"browserContextId": context.context_id})
    entries = [entry for entry in reply.get("cookies", ()) if isinstance(entry, dict)]
    return tuple(_parse(entry) for entry in entries[:MAX_COOKIES])


async def _set(context: PageContext, cookies: list[dict[str, object]]) -> None:
    await context.cdp.call(
        "Storage.setCookies", {"cookies": cookies, "browserContextId": context.context_id}
    )


def _describe(cookie: BrowserCookie) -> dict[str, object]:
    host = cookie.domain.lstrip(".")
    params: dict[str, object] = {
        "name": cookie.name,
        "value": cookie.value,
        "path": cookie.path,
        "secure": cookie.secure,
        "httpOnly": cookie.http_only,
        "url": f"{'https' if cookie.secure else 'http'}://{host}/",
    }
    if cookie.domain.startswith("."):
        params["domain"] = cookie.domain
    if cookie.expires is not None:
        params["expires"] = cookie.expires
    if cookie.same_site in ("Strict", "Lax", "None"):
        params["sameSite"] = cookie.same_site
    return params


def _parse(entry: dict[str, Any]) -> BrowserCookie:
    expires = entry.get("expires", -1)
    is_session = entry.get("session") or not isinstance(expires, int | float) or expires < 0
    return BrowserCookie(
        name=clean_text(str(entry.get("name", "")), 4096),
        value=clean_text(str(entry.get("value", "")), 4096),
        domain=clean_text(str(entry.get("domain", "")), 300),
        path=clean_text(str(entry.get("path", "/")), 4096),
        expires=None if is_session else float(expires),
        secure=entry.get("secure") is True,
        http_only=entry.get("httpOnly") is True,
        same_site=clean_text(str(entry.get("sameSite", "")), 10),
    )
