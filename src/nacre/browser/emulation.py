"""The user agent, client hints, viewport and device that a page sees. Pure."""

import re
from typing import Any, NamedTuple

from nacre.core.rendered import PageTask


class Device(NamedTuple):
    """A device that a page is shown on.

    Attributes:
        width, height: Its viewport, CSS pixels.
        scale: Device pixels of a CSS pixel.
        platform: Its system, as in a user agent.
        system: Name of the system in client hints.
        model: Name of the model in client hints.
    """

    width: int
    height: int
    scale: float
    platform: str
    system: str = "Android"
    model: str = ""


DEVICES: dict[str, Device] = {
    "Pixel 7": Device(412, 839, 2.625, "Linux; Android 14; Pixel 7", model="Pixel 7"),
    "Galaxy S9+": Device(320, 658, 4.5, "Linux; Android 10; SM-G965U", model="SM-G965U"),
    "Galaxy Tab S4": Device(712, 1138, 2.25, "Linux; Android 10; SM-T837A", model="SM-T837A"),
}
"""Devices that `browser.device` may name: those that run a Chromium themselves."""

MAX_SIDE = 20_000
"""Longest side of a viewport, CSS pixels."""


def compose_user_agent(product: str, own: str, task: PageTask) -> str:
    """Return the user agent of a page's requests.

    Sites choose their scripts by it, so it is the browser's own; their owners still see who asks.

    Args:
        product: Name and version of the crawler, such as `nacre/0.1.0`.
        own: The browser's own user agent.
        task: Its `user_agent` replaces all; `{browser}` in it stands for the browser's own.
    """
    device = DEVICES.get(task.device)
    plain = own.replace("HeadlessChrome/", "Chrome/")
    if device is not None:
        plain = re.sub(r"\([^)]*\)", f"({device.platform})", plain, count=1)
        plain = plain.replace(" Safari/", " Mobile Safari/")
    if task.user_agent:
        return task.user_agent.replace("{browser}", plain)
    return f"{plain} (compatible; {task.operator or product})"


def override_user_agent(product: str, own: str, task: PageTask) -> dict[str, Any]:
    """Return the parameters of `Emulation.setUserAgentOverride`."""
    device = DEVICES.get(task.device)
    version = re.search(r"Chrome/(\d+)([\d.]*)", own)
    major, minor = version.groups() if version else ("0", "")
    params: dict[str, Any] = {
        "userAgent": compose_user_agent(product, own, task),
        "userAgentMetadata": {
            "brands": [
                {"brand": "Chromium", "version": major},
                {"brand": "Not.A/Brand", "version": "99"},
            ],
            "fullVersion": f"{major}{minor}",
            "platform": device.system if device else "Linux",
            "platformVersion": "",
            "architecture": "" if device else "x86",
            "model": device.model if device else "",
            "mobile": device is not None,
        },
    }
    if task.language:
        params["acceptLanguage"] = task.language
    return params


def viewport_of(task: PageTask) -> tuple[int, int, float, bool]:
    """Return width, height, device pixels of a CSS pixel, and whether it is a mobile device."""
    device = DEVICES.get(task.device)
    if device is not None:
        return device.width, device.height, device.scale, True
    width, height = task.viewport
    return min(max(width, 100), MAX_SIDE), min(max(height, 100), MAX_SIDE), 1.0, False


def override_metrics(task: PageTask, height: int = 0) -> dict[str, Any]:
    """Return the parameters of `Emulation.setDeviceMetricsOverride`.

    Args:
        task: Its viewport and device.
        height: Another height of the viewport, CSS pixels; 0 for that of the task.
    """
    width, own, scale, is_mobile = viewport_of(task)
    return {
        "width": width,
        "height": min(height, MAX_SIDE) or own,
        "deviceScaleFactor": scale,
        "mobile": is_mobile,
    }
