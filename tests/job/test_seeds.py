"""Seeds enter a run in portions, and after a crash go on where the last commit was."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nacre.core.events import Events
from nacre.engine.counters import SEEDS_SKIPPED
from nacre.fetch.guard import AddressGuard
from nacre.job import seeds
from nacre.job.session import Session
from nacre.machine.clock import SystemClock
from nacre.machine.layout import Layout
from nacre.scope.seeds import Entry, read_seeds
from nacre.settings.settings import JobSettings
from nacre.store.disk import RealDisk
from nacre.store.recovery import StartOptions

SEEDS = [f"http://h{number}.test/" for number in range(25)] + ["http://", "+http://(test,b,"]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeds, "_PORTION", 10)


def seed_list() -> Iterator[Entry]:
    return read_seeds(SEEDS)


async def session(root: Path, *, stopped: bool) -> dict[str, Any]:
    """Open a session, take in the first portion or all, and close it."""
    one = Session(Layout(root), JobSettings(), RealDisk(), SystemClock(), Events())
    one.open(AddressGuard(), seed_list, StartOptions())
    book, commit, loader = one.scheduling.seeds, one.storing.commit, one._edits.loader
    before = len(list(book.rows()))
    async with asyncio.TaskGroup() as group:
        group.create_task(commit.run())
        await loader.load_rest(lambda: stopped)
        commit.finish()
    facts = {
        "before": before,
        "rows": len(list(book.rows())),
        "queued": one.frontier.totals.queued,
        "skipped": one.storing.store.counter(SEEDS_SKIPPED),
        "done": loader.is_done,
        "prefixes": len(one.rules.scope_state.directives(accept=True)),
    }
    await one.close()
    return facts


def test_a_run_that_was_cut_off_goes_on_with_the_rest(tmp_path: Path):
    first = asyncio.run(session(tmp_path, stopped=True))
    assert (first["rows"], first["queued"], first["done"]) == (10, 10, False)
    second = asyncio.run(session(tmp_path, stopped=False))
    assert (second["before"], second["rows"], second["queued"]) == (10, 25, 25)
    assert (second["done"], second["prefixes"]) == (True, 1)
    third = asyncio.run(session(tmp_path, stopped=False))
    assert (third["rows"], third["queued"], third["done"]) == (25, 25, True)
    told = next(tmp_path.glob("runs/*/logs/job.log")).read_text()
    assert told.count("is not a seed") == 1
    assert "line 26: 'http://' is not a seed" in told
    assert (first["skipped"], second["skipped"], third["skipped"]) == (0, 1, 1)
