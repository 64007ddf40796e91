"""When the next pass of a crawl that never ends begins."""

import asyncio
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from nacre.core.states import ExitStatus
from nacre.inspect.stored_job import reading_store
from nacre.job.continuous import PassesWhenDue
from nacre.machine.layout import Layout
from nacre.messages import Message, message
from nacre.runs.passes import NextPass, next_pass, note_pass
from nacre.runs.runs import read_run, write_run
from nacre.settings.load import load_job
from nacre.settings.new_job import NewJob, create_job
from nacre.store.store import Store
from tests.job.opened import opened

NOW = 2_000_000_000.0


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A job that ran once and knows no page."""
    made = Layout(tmp_path / "job")
    create_job(made, NewJob(("http://127.0.0.1:9/",), (), {}, ""))

    async def open_it() -> None:
        async with opened(made.root, seeds=("http://127.0.0.1:9/",)):
            pass

    asyncio.run(open_it())
    return made


def end(layout: Layout, exit_status: ExitStatus) -> None:
    memory = load_job(layout).settings.store.memory
    with Store.open(str(layout.store), memory=memory) as store:
        run = read_run(store)
        assert run is not None
        write_run(store, structs.replace(run, exit=exit_status, started=NOW - 50, ended=NOW))
        store.commit()


def passes(layout: Layout, budget: str = "") -> PassesWhenDue:
    return PassesWhenDue(layout, load_job(layout).settings, budget)


def test_the_first_pass_of_a_job_without_pages_begins_at_once(layout: Layout):
    assert passes(layout).begins(NOW) == NextPass(NOW)
    end(layout, ExitStatus.FINISHED)
    assert passes(layout).begins(NOW) == NextPass(NOW)


def test_where_no_page_is_known_none_is_due_and_none_is_noted(layout: Layout):
    end(layout, ExitStatus.FINISHED)
    found = passes(layout).following(NOW - 50, NOW)
    with reading_store(layout) as store:
        noted = next_pass(store)
    assert (found, noted) == (None, None)


def test_the_reason_of_the_next_pass_is_stored_with_its_code(layout: Layout):
    end(layout, ExitStatus.FINISHED)
    reason = message("job.url-and-reason", "{url}: {why}", url="http://h.test/", why="calendar")
    memory = load_job(layout).settings.store.memory
    with Store.open(str(layout.store), memory=memory) as store:
        run = read_run(store)
        assert run is not None
        note_pass(store, run, NextPass(NOW + 60, reason))
        stored = next_pass(store)
        assert stored == NextPass(NOW + 60, reason)
        assert isinstance(stored.reason, Message)
        assert stored.reason.code == "job.url-and-reason"
        # A row of an earlier version has the English text alone.
        row = {"run": run.number, "time": NOW, "why": "calendar"}
        store.put("meta", b"next pass", msgspec.msgpack.encode(row))
        assert next_pass(store) == NextPass(NOW, "calendar")
