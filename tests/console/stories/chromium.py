"""The browser of the stories: Debian's Chromium, which can reach this machine and nothing else."""

import atexit
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

INSTALL = "apt-get install chromium"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium() -> str:
    """The program; a test without it is skipped, and says what to install.

    `NACRE_CHROMIUM` names another one.
    """
    found = os.environ.get("NACRE_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"there is no Chromium here: {INSTALL}")
    return found


@cache
def driver() -> Playwright:
    """The driver of all browsers of this process: a thread can have only one."""
    started = sync_playwright().start()
    atexit.register(started.stop)
    return started


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A browser without windows.

    No name but those of the loopback is resolved, so that nothing leaves the machine. As root
    Chromium has no sandbox; it shows pages of our own console only.
    """
    browser = driver().chromium.launch(
        executable_path=chromium(),
        chromium_sandbox=os.geteuid() != 0,
        args=[
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, "
            "EXCLUDE 127.0.0.1",
            "--disable-dev-shm-usage",
        ],
    )
    try:
        yield browser
    finally:
        browser.close()
