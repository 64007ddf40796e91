from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Browser, expect

from tests.console.stories.chromium import open_browser
from tests.console.stories.running import ConsoleProcess, console_of

# The time is a limit on a busy machine, and no test is about it.
expect.set_options(timeout=200_000)


LONGEST: Final = (
    "test_every_page.py",
    "test_hostile.py",
    "test_worker.py",
    "test_watching.py",
    "test_made_up_requests.py",
    "test_editing.py",
    "test_s10_heritrix.py",
    "test_s07_recrawl.py",
)
"""Files that take longest: they begin first, so that none is left alone at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The files of the stories that take longest come first; the others keep their order."""
    items.sort(
        key=lambda item: (
            LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST)
        )
    )


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all stories of a process; each has a context of its own."""
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleProcess]:
    """One console for the stories of a process that need no console of their own.

    A story gives it a folder of jobs: `with shared.for_jobs(tmp_path / "crawls") as console`.
    """
    with console_of(tmp_path_factory.mktemp("shared")) as console:
        yield console
