"""Pictures of a page: what its viewport shows, the whole page, and a small one for lists."""

import base64
import binascii

from nacre.browser.cdp import CdpError
from nacre.browser.emulation import viewport_of
from nacre.browser.open_page import OpenPage

MAX_HEIGHT = 16_384
"""Pixels of the highest picture of a whole page; the part below is left out."""

MAX_BYTES = 8_000_000
"""Bytes of the largest picture that is returned."""

THUMBNAIL = (640, 360)

_SECONDS = 15.0


async def take_picture(page: OpenPage, kind: str, height: int) -> bytes:
    """Return a picture of a page; b"" if it cannot be taken, or is too large.

    Args:
        page: The page, at the size of its viewport.
        kind: `view` or `fullPage`, a PNG; `thumbnail`, a JPEG.
        height: Height of its document, CSS pixels.

    Raises:
        BrowserGoneError: The browser has ended.
    """
    width, view, scale, _ = viewport_of(page.task)
    params: dict[str, object]
    if kind == "thumbnail":
        small = THUMBNAIL[0] / width
        clip = _clip(width, THUMBNAIL[1] / small, small / scale)
        params = {"format": "jpeg", "quality": 75, "clip": clip}
    elif kind == "fullPage":
        height = min(max(height, view), round(MAX_HEIGHT / scale))
        params = {"format": "png", "clip": _clip(width, height, 1.0)}
    else:
        params = {"format": "png", "clip": _clip(width, view, 1.0)}
    picture = await _capture(page, {**params, "captureBeyondViewport": kind == "fullPage"})
    return picture if len(picture) <= MAX_BYTES else b""


def _clip(width: float, height: float, scale: float) -> dict[str, float]:
    return {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}


async def _capture(page: OpenPage, params: dict[str, object]) -> bytes:
    try:
        reply = await page.call("Page.captureScreenshot", params, seconds=_SECONDS)
        return base64.b64decode(reply.get("data", ""))
    except (CdpError, binascii.Error):
        return b""
