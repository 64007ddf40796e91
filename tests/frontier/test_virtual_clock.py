"""Thirty days of manners, as the servers see them."""

from pathlib import Path

import pytest

from nacre.frontier.rows import RowStore
from nacre.store.store import Store
from tests.frontier.memory_rows import MemoryRows
from tests.frontier.simulated import DAY, Crawl


class Reopened:
    """A store on disk; opened again, it has lost what was not committed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store: Store | None = None

    def open(self) -> RowStore:
        if self.store is not None:
            self.store.close()
        self.store = Store.open(str(self.path))
        return self.store

    def commit(self) -> None:
        assert self.store is not None
        self.store.commit()


def assert_no_server_is_asked_too_early(crawl: Crawl) -> None:
    early = {n: server.early for n, server in enumerate(crawl.servers) if server.early}
    assert early == {}
    assert all(server.requests for server in crawl.servers)
    assert crawl.retries


@pytest.mark.slow
def test_no_server_is_asked_too_early() -> None:
    rows = MemoryRows()
    crawl = Crawl(
        1000, 30, rows.reopen, rows.commit, crash_every=1501, revisit=(12 * DAY, 25 * DAY)
    )
    crawl.run()
    assert_no_server_is_asked_too_early(crawl)
    assert crawl.crashes > 1


@pytest.mark.parametrize("crash_every", [0, 301])
@pytest.mark.slow
def test_busy_servers_are_not_either(crash_every: int) -> None:
    rows = MemoryRows()
    crawl = Crawl(40, 0.2, rows.reopen, rows.commit, crash_every, revisit=(60.0, 600.0))
    crawl.run()
    assert_no_server_is_asked_too_early(crawl)


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_a_hundred_thousand_queues_for_thirty_days(tmp_path: Path) -> None:
    reopened = Reopened(tmp_path / "state")
    crawl = Crawl(
        100_000, 30, reopened.open, reopened.commit, 200_003, revisit=(10 * DAY, 20 * DAY)
    )
    crawl.run()
    assert_no_server_is_asked_too_early(crawl)
    assert crawl.crashes > 1
