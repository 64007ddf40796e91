"""What commands change while a console runs, by processes of their own."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from nacre.console.runners import OutsideChanges
from nacre.console.server import OpenedConsole
from nacre.fleet.books import ConsoleBooks
from nacre.fleet.database import ConsoleDatabase
from nacre.fleet.job_books import JobLabels
from nacre.fleet.places import JobRemoval, new_place
from nacre.fleet.reach import ConsoleReach
from nacre.machine.clock import SystemClock
from nacre.web.live.hub import JOBS
from tests.cli.site import nacre
from tests.console.given import LONG, GivenConsole, play
from tests.console.reached import while_served


def add_job(folder: Path) -> Path:
    root = folder / "crawls" / "图书馆"
    assert nacre("new", root, "http://127.0.0.1:9/").code == 0
    return root


def test_a_running_console_takes_over_what_commands_changed(tmp_path: Path):
    root = add_job(tmp_path)
    (tmp_path / "旧藏").mkdir()
    database = ConsoleDatabase(tmp_path / "console")

    async def scene(console: GivenConsole) -> None:
        parts = console.parts
        watch = OutsideChanges(parts, database)
        await watch.turn()
        (job,) = parts.common.fleet.jobs
        books = ConsoleBooks(tmp_path / "console", SystemClock())
        books.labels.set(job, JobLabels("国图", ("gbk",)))
        books.places.add(new_place(tmp_path / "旧藏", ()))
        await watch.turn()
        assert parts.books.labels.of(job) == JobLabels("国图", ("gbk",))
        assert [place.label for place in parts.common.fleet.places] == ["crawls", "旧藏"]
        books.removals.put(JobRemoval(str(root), 0.0, "anna"))
        books.places.remove(tmp_path / "旧藏")
        await watch.turn()
        assert parts.common.fleet.jobs == []
        assert [place.label for place in parts.common.fleet.places] == ["crawls"]
        books.removals.drop(str(root))
        await watch.turn()
        assert [one.id for one in parts.common.fleet.jobs] == [job.id]
        books.close()

    play(tmp_path, scene)
    database.close()


def command(folder: Path, *words: object) -> str:
    """The output of a command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "nacre", "console", *map(str, words), "--state", folder / "state"],
        capture_output=True, text=True, cwd=folder, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_commands_in_processes_of_their_own_change_a_console_that_serves(tmp_path: Path):
    add_job(tmp_path)

    async def scene(opened: OpenedConsole) -> None:
        parts = opened.parts

        async def run(*words: object) -> str:
            return await asyncio.to_thread(command, tmp_path, *words)

        said = await run("schedule", "add", "crawls/图书馆", "--at", "@daily")
        assert "added schedule 1 of crawls/图书馆; next: " in said
        (one,) = parts.books.schedules.all()
        assert (one.wish.job, one.path) == ("crawls~图书馆", str(tmp_path / "crawls" / "图书馆"))
        await run("job", "label", "crawls~图书馆", "--name", "国图", "--tag", "地方志")
        (job,) = parts.common.fleet.jobs
        with parts.common.hub.viewing([JOBS]) as viewer:
            while parts.books.labels.of(job).name != "国图":
                await viewer.changes(LONG)
        listed = json.loads(await run("job", "list", "--json"))
        assert listed[0]["tags"] == ["地方志"]
        lines = parts.audit.path.read_text().splitlines()
        assert [json.loads(line)["how"] for line in lines] == ["command", "command"]
        note = (tmp_path / "crawls" / "图书馆" / "job.log").read_text()
        assert "nacre console schedule add, by " in note

    while_served(tmp_path, ConsoleReach(), scene)
