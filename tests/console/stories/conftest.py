from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.console.stories.chromium import open_browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all stories of a process; each has a context of its own."""
    with open_browser() as opened:
        yield opened
