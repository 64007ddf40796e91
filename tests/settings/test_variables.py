from pathlib import Path

import pytest

from nacre.job.monitors import places
from nacre.machine.layout import Layout
from nacre.runs.manifest import archive_directories
from nacre.settings.load import examine_job, load_job
from nacre.settings.new_job import NewJob, create_job
from nacre.settings.settings import JobSettings
from nacre.settings.variables import expand_variables, for_run, known_part


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def settings(*directories: str, **more: object) -> JobSettings:
    tree = {"name": "demo", "archive": {"directories": directories or ("archive",)}, **more}
    return JobSettings.model_validate(tree)


def test_the_job_and_the_environment_are_filled_in_and_the_run_later():
    plain, problems = expand_variables(
        settings(
            "${env:DISK}/warcs/${job}/${launchId}",
            "more",
            seeds="${job}.txt.gz",
            cookies={"save_file": "cookies-${launchId}.txt"},
        ),
        {"DISK": "/disk1"},
    )
    assert problems == []
    assert plain.archive.directories == ("/disk1/warcs/demo/${launchId}", "more")
    assert plain.seeds == "demo.txt.gz"
    run = for_run(plain, "20261120T151100Z")
    assert run.archive.directories == ("/disk1/warcs/demo/20261120T151100Z", "more")
    assert run.cookies.save_file == "cookies-20261120T151100Z.txt"


def test_settings_without_variables_stay_the_same_object():
    plain = settings()
    assert expand_variables(plain, {})[0] is plain
    assert for_run(plain, "x") is plain
    assert known_part("/a/b") == "/a/b"


@pytest.mark.parametrize(
    ("tree", "said"),
    [
        ({"archive": {"directories": ["${foo}"]}}, "unknown variable: ${foo}; known here: job"),
        ({"archive": {"directories": ["${env:NONE}"]}}, "the environment has no variable NONE"),
        ({"archive": {"directories": ["/x/${env:UP}"]}}, "is not a directory below the run"),
        ({"seeds": "${launchId}.txt"}, "known here: job, env:NAME"),
    ],
)
def test_what_cannot_be_filled_in(tree: dict[str, object], said: str):
    _, problems = expand_variables(settings().model_validate(tree), {"UP": "a/../../b"})
    assert said in problems[0].message


def test_a_problem_has_its_line(tmp_path: Path):
    layout = Layout(tmp_path / "job")
    create_job(layout, NewJob(["http://a.test/"]))
    layout.config.write_text("name: x\narchive:\n  directories: ['${foo}']\n")
    _, problems = examine_job(layout, environ={})
    assert [(p.file, p.line) for p in problems] == [("crawl.yaml", 3)]
    layout.config.write_text("archive: {directories: ['${env:WHERE}/${job}']}\n")
    loaded = load_job(layout, environ={"WHERE": "/big"})
    assert loaded.settings.archive.directories == ("/big/job",)


def test_space_is_looked_for_where_the_files_will_be(tmp_path: Path):
    """Or, before they are made, in the nearest directory that is there."""
    layout = Layout(Path("/jobs/x"))
    wanted = settings("more", f"{tmp_path}/big/demo/${{launchId}}")
    assert places(layout, wanted) == ["/jobs/x", str(tmp_path)]
    (tmp_path / "big" / "demo").mkdir(parents=True)
    assert places(layout, wanted) == ["/jobs/x", f"{tmp_path}/big/demo"]


def test_the_directories_of_all_runs_are_found(tmp_path: Path):
    layout = Layout(tmp_path / "job")
    for run in ("r1", "r2"):
        (layout.run(run) / "archive").mkdir(parents=True)
        (tmp_path / "big" / run).mkdir(parents=True)
    found = archive_directories(layout, settings("archive", f"{tmp_path}/big/${{launchId}}"))
    assert [str(path.relative_to(tmp_path)) for path in found] == [
        "job/runs/r1/archive",
        "big/r1",
        "job/runs/r2/archive",
        "big/r2",
    ]
