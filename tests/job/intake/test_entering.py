"""Seeds enter a run in portions, and after a crash go on where the last commit was."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nacre.fetch.guard import AddressGuard
from nacre.job.clock import SystemClock
from nacre.job.configuration.settings import JobSettings
from nacre.job.events import Events
from nacre.job.intake import entering
from nacre.job.layout import Layout
from nacre.job.seeding.seeds import Entry, read_seeds
from nacre.job.session import Session
from nacre.store.disk import RealDisk
from nacre.store.recovery import Start

SEEDS = [f"http://h{number}.test/" for number in range(25)] + ["http://", "+http://(test,b,"]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entering, "_PORTION", 10)


def seeds() -> Iterator[Entry]:
    return read_seeds(SEEDS)


async def session(root: Path, *, stopped: bool) -> dict[str, Any]:
    """Open a session, take in the first portion or all, and close it."""
    one = Session(Layout(root), JobSettings(), RealDisk(), SystemClock(), Events())
    one.open(AddressGuard(), seeds, Start())
    parts = one.parts
    before = len(list(parts.seeds.rows()))
    async with asyncio.TaskGroup() as group:
        group.create_task(parts.commit.run())
        await one._entering.rest(lambda: stopped)
        parts.commit.finish()
    facts = {
        "before": before,
        "rows": len(list(parts.seeds.rows())),
        "queued": parts.frontier.totals.queued,
        "skipped": parts.store.counter(entering.SKIPPED),
        "done": one._entering.done,
        "prefixes": len(parts.scope_state.directives(accept=True)),
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
    assert told.count("is no seed") == 1
    assert "line 26: 'http://' is no seed" in told
    assert (first["skipped"], second["skipped"], third["skipped"]) == (0, 1, 1)
