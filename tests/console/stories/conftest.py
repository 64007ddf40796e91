from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.console.stories.chromium import open_browser

# The time is a limit on a busy machine, and no test is about it.
expect.set_options(timeout=60_000)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all stories of a process; each has a context of its own."""
    with open_browser() as opened:
        yield opened
