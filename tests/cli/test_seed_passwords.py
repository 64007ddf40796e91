"""A password in a seed becomes a credential; it is in no file, log or output."""

import asyncio
import gzip
import json
from pathlib import Path

import pytest

from nacre.frontier.pending import pending
from nacre.job.imports import ImportMode, ImportOptions, InputLine
from nacre.settings.settings import JobSettings
from tests.cli.modes import modes_for_others
from tests.cli.site import nacre, site
from tests.job.opened import opened

WORD = "p%40ss wörd-通知"
SPOKEN = "p@ss wörd-通知"
TYPED = "p%40ss%20w%C3%B6rd-%E9%80%9A%E7%9F%A5"
FORMS = [WORD.encode(), SPOKEN.encode(), TYPED.encode(), b"wbvDtnJk"]
PAGES = {"/": '<a href="in.html">in</a>', "/in.html": "<p>inside</p>"}


def written(job: Path) -> dict[Path, bytes]:
    """All that a job wrote outside of what is closed to others."""
    files = (path for path in job.rglob("*") if path.is_file())
    closed = (job / "state", job / "logins")
    return {
        path: gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for path in files
        if not any(path.is_relative_to(place) for place in closed)
    }


def leaks(job: Path) -> list[str]:
    return [str(path) for path, data in written(job).items() if any(form in data for form in FORMS)]


def with_login(home: str) -> str:
    return home.replace("://", f"://me:{TYPED}@")


def test_a_password_of_the_command_line_is_a_credential_and_stands_nowhere(tmp_path: Path):
    job = tmp_path / "job"
    with site(PAGES, password=f"me:{SPOKEN}") as home:
        done = nacre("crawl", with_login(home), "--delay", 0, "--out", job)
        assert done.code == 0, done.err
        assert "200: 2" in done.out, "the password was sent"
        said = [done.out, done.err]
        for command in (
            ("explain", job, with_login(home)),
            ("history", job, "url", with_login(home)),
            ("check", job, "--explain", "seeds"),
            ("status", job, "--json"),
            ("report", job, "seeds"),
        ):
            told = nacre(*command)
            assert told.code == 0, (command, told.err)
            said += [told.out, told.err]
    assert "are removed from its seed" in done.err
    assert leaks(job) == []
    assert [text for text in said for form in FORMS if form.decode() in text] == []
    assert modes_for_others(job / "logins") == {}
    assert (job / "seeds.txt").read_text() == f"{home}\n"


@pytest.mark.parametrize("listed", ["file", "config"])
def test_a_password_of_a_seed_list_is_a_credential_and_stands_nowhere_else(
    tmp_path: Path, listed: str
):
    job = tmp_path / "job"
    with site(PAGES, password=f"me:{SPOKEN}") as home:
        assert nacre("new", job, home, "--delay", 0).code == 0
        config = job / "crawl.yaml"
        seed = with_login(home)
        if listed == "file":
            config.write_text(config.read_text().replace("seeds.txt", "../mine.txt"))
            (tmp_path / "mine.txt").write_text(f"{seed}\n")
        else:
            config.write_text(config.read_text().replace("seeds.txt", json.dumps([seed])))
        done = nacre("run", job)
        assert done.code == 0, done.err
        assert "200: 2" in done.out
    own = {str(config)} if listed == "config" else set()
    assert set(leaks(job)) == own
    log = (job / "latest" / "logs" / "alerts.log").read_text()
    assert "fetch.credentials" in log
    checked = nacre("check", job)
    assert checked.code == 0
    assert f"{home.rstrip('/')}: a seed has a name or a password in it" in checked.err
    shown = nacre("check", job, "--explain", "seeds").out
    assert not any(form.decode() in shown for form in FORMS)


@pytest.mark.parametrize(
    ("way", "line"),
    [
        (ImportMode.SEEDS, "{}"),
        (ImportMode.SCHEDULE, "{}"),
        (ImportMode.PENDING, "F+ {} L http://b:c@d.test/"),
    ],
)
def test_lines_that_come_in_while_a_job_runs_lose_their_passwords(
    tmp_path: Path, way: ImportMode, line: str
):
    async def play() -> None:
        async with opened(tmp_path, JobSettings(), seeds=()) as session:
            intake = session.editor.importer(ImportOptions(way))
            assert intake.take([InputLine(1, line.format(f"http://me:{TYPED}@a.test/x"))]) == []
            assert [one.password.text for one in session.scheduling.logins.known] == [SPOKEN]
            uris = [entry.uri for entry in pending(session.storing.store)]
        assert next((uri.url, uri.via) for uri in uris) == (
            "http://a.test/x",
            "http://d.test/" if way is ImportMode.PENDING else "",
        )
        async with opened(tmp_path, JobSettings(), seeds=()) as session:
            assert [one.password.text for one in session.scheduling.logins.known] == [SPOKEN]

    asyncio.run(play())
    assert leaks(tmp_path) == []
