"""`nacre console schedule …` without a console that runs."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from nacre.fleet.database import ConsoleDatabase
from nacre.machine.layout import Layout
from nacre.runs.passes import lock_passes
from tests.cli.site import Done, nacre


@pytest.fixture
def job(tmp_path: Path) -> Path:
    root = tmp_path / "crawls" / "图书馆"
    assert nacre("new", root, "http://127.0.0.1:9/").code == 0
    return root


def schedule(folder: Path, *words: object) -> Done:
    return nacre("console", "schedule", *words, "--state", folder / "state")


def test_a_schedule_is_added_shown_changed_paused_and_removed(tmp_path: Path, job: Path):
    assert schedule(tmp_path, "list").out == "no schedules\n"
    done = schedule(
        tmp_path, "add", job, "--at", "30 2 * * 1", "--zone", "Asia/Shanghai", "--overlap", "queue",
        "--budget", "500", "--until", "2099-12-31",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "added schedule 1 of " in done.out
    assert "no console runs with these files" in done.err
    facts = json.loads(schedule(tmp_path, "show", 1, "--next", 3, "--json").out)
    assert len(facts["times"]) == 3
    assert all(time.endswith("18:30:00Z") for time in facts["times"])
    wish = facts["wish"]
    assert wish["until"] == "2099-12-31T23:59:59Z"
    assert (facts["note"]["time"], facts["notes"]) == ("", [])
    assert (wish["job"], wish["overlap"], wish["budget"]) == ("crawls~图书馆", "queue", "500")
    assert "next" in schedule(tmp_path, "show", 1).out
    assert schedule(tmp_path, "set", 1, "--at", "@daily", "--until", "never").code == 0
    (one,) = json.loads(schedule(tmp_path, "list", "--json").out)
    assert (one["wish"]["at"], one["wish"]["until"]) == ("@daily", None)
    assert one["wish"]["budget"] == "500"
    assert schedule(tmp_path, "pause", 1).out == "schedule 1 is paused\n"
    assert "paused" in schedule(tmp_path, "list").out
    assert schedule(tmp_path, "resume", 1).out == "schedule 1 goes on\n"
    assert schedule(tmp_path, "remove", 1).out == "removed schedule 1\n"
    assert schedule(tmp_path, "remove", 1).code == 2
    audit = (tmp_path / "state" / "audit.log").read_text().splitlines()
    assert [json.loads(line)["action"].split()[-1] for line in audit] == [
        "add", "set", "pause", "resume", "remove",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--at", "61 * * * *"], "61"),
        (["--at", "@daily", "--zone", "Mars/Here"], "is not a time zone"),
        (["--at", "@daily", "--until", "soon"], "'soon' is no day"),
        (["--at", "@daily", "--until", "1969-12-31"], "until: Expected `float` >= 0.0"),
        (["--at", "@daily", "--mode", "new-job", "--seed", "http://a.test/\n"], "a line break"),
        (["--at", "@daily", "--name", "x-%Y"], "only a schedule that makes new jobs has this"),
        (["--at", "@daily", "--mode", "new-job", "--name", "%s"], "no part of a date"),
        (["--at", "@daily", "--profile", "polite"], "name the job, or a profile"),
        ([], "say when, by --at"),
    ],
)
def test_what_is_no_schedule_is_refused(tmp_path: Path, job: Path, words: list[str], said: str):
    done = schedule(tmp_path, "add", job, *words)
    assert done.code == 2
    assert said in done.err
    assert schedule(tmp_path, "list").out == "no schedules\n"


def test_new_jobs_need_a_place(tmp_path: Path, job: Path):
    words = ("--at", "@daily", "--mode", "new-job", "--name", "馆-%Y")
    done = schedule(tmp_path, "add", job, *words)
    assert done.code == 2
    assert "start `nacre console DIR` once" in done.err
    assert (
        nacre("console", "place", "add", tmp_path / "crawls", "--state", tmp_path / "state").code
        == 0
    )
    assert schedule(tmp_path, "add", job, *words).code == 0
    of_profile = ("--profile", "site", "--at", "@weekly", "--seed", "http://127.0.0.1:9/")
    assert schedule(tmp_path, "add", *of_profile).code == 0
    first, second = json.loads(schedule(tmp_path, "list", "--json").out)
    assert (first["wish"]["place"], first["path"]) == ("crawls", str(job))
    assert (second["wish"]["mode"], second["path"]) == ("new-job", str(tmp_path / "crawls"))


def test_a_schedule_that_cannot_be_read_is_told_and_removed(tmp_path: Path, job: Path):
    for at in ("@daily", "@weekly"):
        assert schedule(tmp_path, "add", job, "--at", at).code == 0
    with closing(ConsoleDatabase(tmp_path / "state")) as database:
        database.rows("UPDATE schedules SET wish = ? WHERE id = 1", b'{"job": "", "at": 1}')
    done = schedule(tmp_path, "list", "--json")
    assert [one["id"] for one in json.loads(done.out)] == [2]
    assert "schedule 1 cannot be read, and does nothing: Expected `str`" in done.err
    assert schedule(tmp_path, "remove", 1).code == 0
    assert schedule(tmp_path, "list").err == ""


def wish_of(folder: Path, number: int) -> dict[str, object]:
    found: dict[str, object] = json.loads(schedule(folder, "show", number, "--json").out)["wish"]
    return found


def test_what_was_set_is_taken_away_again(tmp_path: Path, job: Path):
    words = ("--budget", "500", "--zone", "Asia/Shanghai", "--until", "2099-12-31")
    assert schedule(tmp_path, "add", job, "--at", "@daily", "--keep", "lean", *words).code == 0
    done = schedule(tmp_path, "set", 1, "--budget", "", "--zone", "", "--until", "")
    assert done.code == 0, done.err
    wish = wish_of(tmp_path, 1)
    assert (wish["budget"], wish["zone"], wish["until"]) == ("", "UTC", None)
    assert (wish["at"], wish["keep"]) == ("@daily", "lean")
    none = schedule(tmp_path, "set", 1, "--at", "")
    assert none.code == 2
    assert wish_of(tmp_path, 1) == wish


def test_a_schedule_goes_from_one_mode_to_another(tmp_path: Path, job: Path):
    folder = ("--state", tmp_path / "state")
    assert nacre("console", "place", "add", tmp_path / "crawls", *folder).code == 0
    assert schedule(tmp_path, "add", job, "--at", "@daily", "--budget", "500").code == 0
    done = schedule(tmp_path, "set", 1, "--mode", "new-job", "--name", "馆-%Y")
    assert done.code == 0, done.err
    wish = wish_of(tmp_path, 1)
    assert [wish[name] for name in ("mode", "budget", "name", "place")] == [
        "new-job", "", "馆-%Y", "crawls",
    ]  # fmt: skip
    seeds = ("--seed", "http://127.0.0.1:9/x/")
    assert schedule(tmp_path, "set", 1, "--name", "", *seeds).code == 0
    wish = wish_of(tmp_path, 1)
    assert (wish["name"], wish["seeds"]) == ("", ["http://127.0.0.1:9/x/"])
    assert schedule(tmp_path, "set", 1, "--seed", "").code == 0
    assert wish_of(tmp_path, 1)["seeds"] == []
    assert schedule(tmp_path, "set", 1, "--mode", "recrawl", "--name", "x-%Y").code == 2
    assert schedule(tmp_path, "set", 1, "--mode", "recrawl-full").code == 0
    wish = wish_of(tmp_path, 1)
    assert (wish["mode"], wish["place"]) == ("recrawl-full", "")
    of_profile = ("--profile", "site", "--at", "@weekly", *seeds)
    assert schedule(tmp_path, "add", *of_profile).code == 0
    refused = schedule(tmp_path, "set", 2, "--mode", "recrawl")
    assert (refused.code, "schedule 2 has no job" in refused.err) == (2, True)


def test_a_schedule_that_would_be_refused_by_now_is_paused_and_resumed(tmp_path: Path, job: Path):
    assert schedule(tmp_path, "add", job, "--at", "@daily").code == 0
    (job / "state").mkdir(exist_ok=True)
    with lock_passes(Layout(job), "--every 9h"):
        assert "begins its passes itself" in schedule(tmp_path, "set", 1, "--at", "@hourly").err
        assert schedule(tmp_path, "pause", 1).out == "schedule 1 is paused\n"
        assert schedule(tmp_path, "resume", 1).out == "schedule 1 goes on\n"
    job.rename(tmp_path / "elsewhere")
    done = schedule(tmp_path, "pause", 1)
    assert (done.code, done.out) == (0, "schedule 1 is paused\n")
    (one,) = json.loads(schedule(tmp_path, "list", "--json").out)
    assert (one["wish"]["paused"], one["path"]) == (True, str(job))


def test_a_batch_crawl_has_no_runs(tmp_path: Path):
    root = tmp_path / "rounds"
    assert nacre("new", root, "http://127.0.0.1:9/").code == 0
    (root / "cycle").mkdir()
    done = schedule(tmp_path, "add", root, "--at", "@daily")
    assert done.code == 2
    assert "crawled in rounds" in done.err
