"""`nacre set` and `nacre sheet` on a job that does not run."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nacre.job.apply_change import ChangeRequest, alone, change_stopped
from nacre.machine.layout import Layout
from nacre.runs.runs import take_notes
from nacre.store.disk import RealDisk
from tests.cli.site import nacre


@pytest.fixture
def job(tmp_path: Path) -> Path:
    folder = tmp_path / "job"
    assert nacre("new", folder, "http://a.test/", "--contact", "http://me.test/").code == 0
    return folder


def text(job: Path) -> str:
    return (job / "crawl.yaml").read_text()


def test_a_value_is_set_in_the_file_and_noted_for_the_log(job: Path):
    before = text(job)
    done = nacre("set", job, "politeness.delay=7", "scope.too-many-hops.max_hops=4")
    assert done.code == 0
    assert "politeness.delay: nothing -> 7.0" in done.out
    assert "for the next start" in done.out
    assert before.splitlines()[0] in text(job)
    assert "delay: 7" in text(job)
    assert nacre("check", job, "--explain", "politeness.delay").out.count("7.0") == 1
    notes = take_notes(Layout(job))
    assert "set politeness.delay: nothing -> 7.0, by " in notes[0]
    assert "(uid " in notes[0]
    assert "set scope.too-many-hops.max_hops: 20 -> 4" in notes[1]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("politeness.dealy=7", "did you mean `politeness.delay`?"),
        ("politeness.delay=soon", "(it is 'soon')"),
        ("sheets.slow.politeness.shared_slots=1", "a sheet cannot change this"),
        ("nothing", "path=value"),
        ("scope.1.files=[none.txt]", "cannot be read"),
    ],
)
def test_what_is_wrong_changes_nothing(job: Path, said: str, words: str):
    before = text(job)
    done = nacre("set", job, "politeness.max_delay=9", said)
    assert done.code == 2
    assert words in done.err
    assert text(job) == before


def test_one_site_alone(job: Path):
    for delay in (5, 6):
        done = nacre("set", job, f"politeness.delay={delay}", "--for", "http://b.test/")
        assert done.code == 0, done.err
    listed = json.loads(nacre("sheet", job, "list", "--json").out)
    assert listed[-1] == {"sheet": "for-b-test", "settings": 1, "for": ["http://b.test/"]}
    assert "6" in nacre("sheet", job, "show", "for-b-test").out
    assert nacre("check", job).code == 0


def test_sheets_are_made_associated_and_removed(job: Path):
    assert nacre("sheet", job, "add", "slow", "politeness.delay=5").code == 0
    rule = "{rule: matches-list-regex, regexes: ['.*x.*']}"
    assert nacre("sheet", job, "associate", "slow", "--rule", rule, "--order", 7).code == 0
    assert "order: 7" in text(job)
    said = ("--surt", "http://a.test/", "--surt", "http://b.test/")
    assert nacre("sheet", job, "associate", "slow", "veryPolite", *said).code == 0
    done = nacre("sheet", job, "remove", "slow")
    assert done.code == 2
    assert "dissociate" in done.err
    assert nacre("sheet", job, "dissociate", "slow", "--surt", "http://a.test/").code == 0
    assert "http://a.test/" not in nacre("sheet", job, "show", "slow").out
    assert nacre("sheet", job, "dissociate", "slow").code == 0
    assert nacre("sheet", job, "remove", "slow").code == 0
    assert "slow" not in text(job)
    assert "veryPolite" in text(job)


def test_a_preview_changes_nothing(job: Path):
    before = text(job)
    done = nacre("set", job, "politeness.delay=7", "--preview")
    assert "would touch 0 of 0 queued URIs" in done.out
    assert text(job) == before


def test_a_preview_counts_what_the_change_touches_and_nothing_else(job: Path, tmp_path: Path):
    waiting = tmp_path / "waiting.txt"
    waiting.write_text("http://a.test/1\nhttp://a.test/2\nhttp://b.test/1\n")
    assert nacre("frontier", job, "import", waiting).code == 0
    there = nacre("set", job, "politeness.delay=7", "--for", "http://b.test/", "--preview")
    assert "would touch 1 of 4 queued URIs, in 1 queue;" in there.out
    nobody = nacre("sheet", job, "add", "slow", "politeness.delay=7", "--preview")
    assert "would touch 0 of 4 queued URIs" in nobody.out


def test_commands_speak_as_the_check_of_the_file_does(job: Path):
    done = nacre("set", job, "engine.parallel=some", "politeness.group_by=adress")
    assert "engine.parallel: must be a whole number (it is 'some')" in done.err
    assert "did you mean `address`?" in done.err


@pytest.mark.parametrize("command", [("set",), ("sheet", "add", "slow")])
def test_a_secret_that_cannot_be_used_is_not_shown(job: Path, command: tuple[str, ...]):
    done = nacre(command[0], job, *command[1:], "fetch.proxy=ftp://me:hunter2@x.test/")
    assert done.code == 2
    assert "fetch.proxy: " in done.err
    assert "hunter2" not in done.out + done.err


def test_an_unknown_sheet_is_told(job: Path):
    done = nacre("sheet", job, "associate", "verPolite", "--surt", "http://a.test/")
    assert done.code == 2
    assert "did you mean `veryPolite`?" in done.err
    assert nacre("sheet", job, "show", "none").code == 2


def test_changes_at_the_same_time_are_all_kept(job: Path):
    layout, names = Layout(job), [f"s{number}" for number in range(12)]

    def change(name: str) -> None:
        with alone(layout):
            wish = ChangeRequest(assignments=[f"sheets.{name}.politeness.delay=9"])
            change_stopped(layout, wish, RealDisk(), "me")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(change, names))
    assert all(f"{name}:" in text(job) for name in names)
    assert len(take_notes(layout)) == len(names)
