"""What a page sees of the browser."""

from typing import get_args

import pytest

from nacre.browser.emulation import (
    DEVICES,
    MAX_SIDE,
    compose_user_agent,
    override_metrics,
    override_user_agent,
)
from nacre.browser.settings import DeviceName
from nacre.core.rendered import PageTask

OWN = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "HeadlessChrome/156.0.1.2 Safari/537.36"
)


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (
            PageTask("http://h.test/"),
            OWN.replace("Headless", "") + " (compatible; nacre/1)",
        ),
        (
            PageTask("http://h.test/", operator="nacre/1 +https://o.test/"),
            OWN.replace("Headless", "") + " (compatible; nacre/1 +https://o.test/)",
        ),
        (PageTask("http://h.test/", user_agent="Robot/1"), "Robot/1"),
        (
            PageTask("http://h.test/", user_agent="{browser} Robot"),
            OWN.replace("Headless", "") + " Robot",
        ),
    ],
)
def test_user_agent(task, expected):
    assert compose_user_agent("nacre/1", OWN, task) == expected


def test_client_hints_name_no_headless_browser():
    params = override_user_agent("nacre/1", OWN, PageTask("http://h.test/", language="de"))
    assert "Headless" not in str(params)
    assert params["acceptLanguage"] == "de"
    assert params["userAgentMetadata"]["fullVersion"] == "156.0.1.2"


def test_the_settings_name_the_devices():
    assert {*DEVICES, ""} == set(get_args(DeviceName))


@pytest.mark.parametrize("device", sorted(DEVICES))
def test_devices(device):
    task = PageTask("http://h.test/", device=device)
    agent = override_user_agent("nacre/1", OWN, task)
    assert "Android" in agent["userAgent"]
    assert "Mobile Safari" in agent["userAgent"]
    assert agent["userAgentMetadata"]["mobile"] is True
    assert override_metrics(task)["mobile"] is True


@pytest.mark.parametrize(
    ("viewport", "height", "expected"),
    [
        ((1440, 900), 0, (1440, 900)),
        ((1440, 900), 5000, (1440, 5000)),
        ((1440, 900), 10**9, (1440, MAX_SIDE)),
        ((1, 1), 0, (100, 100)),
        ((10**6, 10**6), 0, (MAX_SIDE, MAX_SIDE)),
    ],
)
def test_viewport_is_bounded(viewport, height, expected):
    metrics = override_metrics(PageTask("http://h.test/", viewport=viewport), height)
    assert (metrics["width"], metrics["height"]) == expected
