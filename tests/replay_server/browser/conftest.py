from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.replay_server.browser.replayed import (
    Capture,
    LiveWeb,
    Replay,
    replay,
    replayed,
    watched_browser,
)

Opener = Callable[[Mapping[str, Capture | str]], tuple[Page, Replay]]


@pytest.fixture(scope="session")
def watched() -> Iterator[tuple[BrowserContext, LiveWeb]]:
    """A session of a browser for all tests of a process, and what stands for the live web."""
    with watched_browser() as (browser, web):
        context = browser.new_context()
        context.set_default_timeout(60_000)
        yield context, web


@pytest.fixture(scope="session")
def server() -> Iterator[Replay]:
    """One server for all tests of a process: its worker is registered once."""
    with replay() as place:
        yield place


@pytest.fixture
def show(watched: tuple[BrowserContext, LiveWeb], server: Replay) -> Iterator[Opener]:
    """Show the capture of `http://h.test/`; at the end nothing may have left."""
    context, web = watched
    before = len(web.connections)
    with ExitStack() as stack:

        def opener(captures: Mapping[str, Capture | str]) -> tuple[Page, Replay]:
            server.fill(captures)
            return stack.enter_context(replayed(context, server, "http://h.test/")), server

        yield opener
    assert web.connections[before:] == []
