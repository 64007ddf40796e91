"""The browser of the stories: Debian's Chromium, which can reach this machine and nothing else."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

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


@contextmanager
def open_browser() -> Iterator[Browser]:
    """A browser without windows.

    No name but those of the loopback is resolved, so that nothing leaves the machine. As root
    Chromium has no sandbox; it shows pages of our own console only.
    """
    program = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program,
            chromium_sandbox=os.geteuid() != 0,
            args=[
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, "
                "EXCLUDE *.localhost, EXCLUDE 127.0.0.1",
                "--disable-dev-shm-usage",
            ],
        )
        try:
            yield browser
        finally:
            browser.close()
