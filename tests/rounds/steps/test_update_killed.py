"""Workers that are killed in the middle of `update`: tried again, or told; the same rows."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nacre.crawldb.row import bucket_of
from nacre.errors import StorageError
from nacre.rounds.engine import TaskEngine
from nacre.rounds.engine.local import LocalEngine
from nacre.rounds.steps import update as step
from nacre.rounds.steps.generate import GenerateOptions, generate
from nacre.rounds.steps.update import UpdateOptions, UpdateResult, update
from nacre.rounds.tables.hashing import table_hash
from nacre.rounds.tables.readers import TableView
from nacre.rounds.tables.tables import CRAWLDB
from tests.rounds.steps.killed import KillingEngine
from tests.rounds.steps.test_generate import NOW, opened, seeded
from tests.rounds.steps.test_update import DAY, add, fetched, visit

BUCKETS = 8
"""Enough for tasks of several workers."""


def fetched_rounds(root: Path) -> None:
    """A segment of forty hosts that waits for `update`."""
    urls = [f"http://h{number}.site{number % 7}.example/" for number in range(40)]
    seeded(root, *urls, buckets=BUCKETS)
    with opened(root) as context:
        [segment] = generate(context, GenerateOptions()).segments
    visits = [
        visit(url, 404 if number % 5 == 0 else 200, bucket=bucket_of(url, BUCKETS))
        for number, url in enumerate(urls)
    ]
    links = [(f"{url}书/{number}", url) for url in urls for number in range(3)]
    adds = [add(key, via=via, bucket=bucket_of(key, BUCKETS)) for key, via in links]
    fetched(root, segment, (visits, adds))


def updated(root: Path, engine: TaskEngine) -> UpdateResult:
    with opened(root, NOW + DAY) as context:
        return update(replace(context, engine=engine), UpdateOptions())


def known(root: Path) -> dict[str, str]:
    """The hashes of all tables."""
    with opened(root) as context:
        version = context.cycle.newest()
        assert set(version.tables) >= {CRAWLDB}
        view = TableView(context.cycle, version, context.engine, context.place, context.interval)
        return {table: table_hash(view, table) for table in version.tables}


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A job that waits for an update, and what is known after an update that nothing disturbs."""
    folder = tmp_path_factory.mktemp("calm")
    fetched_rounds(folder / "waits")
    shutil.copytree(folder / "waits", folder / "updated")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step, "_LEAST_ROWS", 8)
        updated(folder / "updated", LocalEngine(1))
    return folder / "waits", known(folder / "updated")


@pytest.fixture
def undisturbed(
    calm: tuple[Path, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """What is known after an update that nothing disturbs; `tmp_path / "killed"` waits for one."""
    monkeypatch.setattr(step, "_LEAST_ROWS", 8)
    waits, hashes = calm
    shutil.copytree(waits, tmp_path / "killed")
    return hashes


@pytest.fixture
def pool() -> Iterator[LocalEngine]:
    made = LocalEngine(2, pauses=(0.0, 0.0, 0.0))
    yield made
    made.close()


@pytest.mark.parametrize("kills", [1, 3])
def test_the_tasks_of_killed_workers_are_done_again(tmp_path, undisturbed, pool, kills):
    engine = KillingEngine(pool, tmp_path / "kills", kills)
    found = updated(tmp_path / "killed", engine)
    assert engine.kills == kills
    assert (found.visits, found.targets) == (40, 120)
    assert known(tmp_path / "killed") == undisturbed


def test_an_update_whose_workers_are_killed_each_time_is_told_and_can_be_done_again(
    tmp_path, undisturbed, pool
):
    root = tmp_path / "killed"
    with opened(root) as context:
        before = context.cycle.newest()
    engine = KillingEngine(pool, tmp_path / "kills", 100)
    with pytest.raises(StorageError, match=r"4 times: its process died.*Nothing was committed"):
        updated(root, engine)
    assert engine.kills >= 4
    with opened(root) as context:
        assert context.cycle.newest() == before
    updated(root, pool)
    assert known(root) == undisturbed
