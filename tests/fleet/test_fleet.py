import asyncio
import threading
from pathlib import Path

import pytest

from nacre.fleet import places as fleet_module
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.places import Fleet, FoundJob, JobPlace, RemovalBook, find_jobs, places_of


def test_an_older_look_does_not_take_away_what_a_newer_one_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    crawls = tmp_path / "crawls"
    crawls.mkdir()
    looked, go_on = threading.Event(), threading.Event()

    def slow(places: tuple[JobPlace, ...]) -> list[FoundJob]:
        found = find_jobs(places)
        if not looked.is_set():
            looked.set()
            go_on.wait(30)
        return found

    async def scene(fleet: Fleet) -> None:
        older = asyncio.create_task(fleet.scan())
        await asyncio.to_thread(looked.wait)
        (crawls / "图书馆").mkdir()
        (crawls / "图书馆" / "crawl.yaml").touch()
        newer = asyncio.create_task(fleet.scan())
        await asyncio.sleep(0)
        go_on.set()
        await asyncio.gather(older, newer)
        assert fleet.knows("crawls~图书馆")

    monkeypatch.setattr(fleet_module, "find_jobs", slow)
    database = ConsoleDatabase(tmp_path / "state")
    try:
        asyncio.run(scene(Fleet(places_of([crawls]), RemovalBook(database))))
    finally:
        database.close()
