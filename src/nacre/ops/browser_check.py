"""The check of the browser of this machine, with the settings of a job or the stock ones."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nacre.browser.checking import BrowserFact
    from nacre.settings.settings import JobSettings


def examine_browser(settings: "JobSettings | None" = None) -> "Sequence[BrowserFact]":
    """Start the browser, load a page in it, and return the facts; see `check_browser`.

    Args:
        settings: Settings of a job; None: the stock ones.
    """
    import asyncio

    from nacre.browser.checking import check_browser
    from nacre.browser.settings import BrowserSettings
    from nacre.machine.clock import SystemClock

    browser = settings.browser if settings is not None else BrowserSettings()
    return asyncio.run(check_browser(browser, SystemClock()))
