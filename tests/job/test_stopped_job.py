"""A job that does not run: its frontier is changed, and what its store lost is taken over."""

import asyncio
from pathlib import Path

import pytest
from msgspec import structs

from nacre.core.states import ExitStatus
from nacre.errors import JobError
from nacre.frontier.pending import pending
from nacre.inspect.stored_job import reading_store
from nacre.job.imports import ImportMode, ImportOptions
from nacre.job.stopped_job import open_stopped, salvage
from nacre.machine.layout import Layout
from nacre.runs.runs import read_run, write_run
from nacre.scope.patterns.matching import any_text, matcher
from nacre.settings.load import load_job
from nacre.settings.new_job import NewJob, create_job
from nacre.settings.settings import JobSettings
from nacre.store.store import Store

IMPORT = ImportOptions(ImportMode.IMPORT)


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(tmp_path / "job")
    create_job(made, NewJob(("http://127.0.0.1:9/",), (), {}, ""))
    return made


def settings(layout: Layout) -> JobSettings:
    return load_job(layout).settings


def waiting(layout: Layout) -> list[str]:
    with reading_store(layout) as store:
        return sorted(entry.uri.url for entry in pending(store))


async def add(layout: Layout, *urls: str) -> None:
    async with open_stopped(layout, settings(layout), new=True) as editor:
        found = await editor.import_lines(urls, IMPORT)
        assert found.tally.scheduled == len(urls)


def test_a_first_run_begins_with_the_seeds_and_what_is_imported(layout: Layout):
    asyncio.run(add(layout, "http://b.test/1"))
    assert waiting(layout) == ["http://127.0.0.1:9/", "http://b.test/1"]


def test_changes_are_durable_when_the_block_ends(layout: Layout):
    async def delete() -> int:
        async with open_stopped(layout, settings(layout)) as editor:
            return await editor.delete(matcher("b.test"), any_text)

    asyncio.run(add(layout, "http://b.test/1", "http://b.test/2"))
    assert asyncio.run(delete()) == 2
    assert waiting(layout) == ["http://127.0.0.1:9/"]


def test_a_job_that_never_ran_has_no_frontier(layout: Layout):
    async def open_it() -> None:
        async with open_stopped(layout, settings(layout)):
            raise AssertionError("it cannot be opened")

    with pytest.raises(JobError, match="has not run yet"):
        asyncio.run(open_it())
    with pytest.raises(JobError, match="has not run yet"):
        salvage(layout, settings(layout))


def test_a_run_that_is_over_is_left_as_it_is(layout: Layout):
    asyncio.run(add(layout, "http://b.test/1"))
    memory = settings(layout).store.memory
    with Store.open(str(layout.store), memory=memory) as store:
        run = read_run(store)
        assert run is not None
        write_run(store, structs.replace(run, exit=ExitStatus.FINISHED, ended=9.0))
        store.commit()

    with pytest.raises(JobError, match="is over: recrawl it"):
        asyncio.run(add(layout, "http://b.test/2"))
    with reading_store(layout) as store:
        run = read_run(store)
    assert run is not None
    assert (run.exit, run.ended) == (ExitStatus.FINISHED, 9.0)


def test_where_nothing_was_lost_nothing_is_salvaged(layout: Layout):
    asyncio.run(add(layout, "http://b.test/1"))
    assert salvage(layout, settings(layout)) == (0, 0, ())
    assert waiting(layout) == ["http://127.0.0.1:9/", "http://b.test/1"]
