import asyncio
from pathlib import Path

from nacre.job.start_survey import StartFindings, StartSurvey, kept_from_start, survey_start
from nacre.machine.layout import Layout
from nacre.settings.load import load_job
from tests.cli.site import nacre


def made(root: Path, *lines: str, more: str = "") -> Layout:
    assert nacre("new", root, "http://127.0.0.1:9/").code == 0
    (root / "seeds.txt").write_text("".join(f"{line}\n" for line in lines))
    config = root / "crawl.yaml"
    config.write_text(config.read_text() + more)
    return Layout(root)


def surveyed(layout: Layout) -> StartSurvey:
    return asyncio.run(survey_start(layout, load_job(layout)))


def test_a_survey_tells_what_the_crawls_own_rules_do_not_reach(tmp_path: Path):
    hosts = "dns:\n  servers: ['127.0.0.1:9']\n  tries: 1\n  timeout: 0.2\n  hosts:\n"
    hosts += "    one.test: [127.0.0.1]\n    evil.example: [169.254.169.254]\n"
    layout = made(
        tmp_path / "job", "http://one.test/", "http://one.test/b", "http://127.0.0.1:9/",
        "http://evil.example/", "http://gone.localdomain/", "-http://one.test/b", more=hosts,
    )  # fmt: skip
    with (tmp_path / "job" / "seeds.txt").open("a") as file:
        file.write("http://[\n")
    found = surveyed(layout)
    assert (found.seeds, found.bad, found.directives) == (5, 1, 1)
    told = {one.name: one for one in found.hosts}
    assert (told["one.test"].seeds, told["one.test"].addresses) == (2, ("127.0.0.1",))
    assert told["one.test"].trouble == told["127.0.0.1"].trouble == ""
    assert "169.254.169.254 is refused" in told["evil.example"].trouble
    assert "gone.localdomain" in told["gone.localdomain"].trouble
    assert [bool(one.trouble) for one in found.hosts] == [True, True, False, False]
    assert found.space[0].free > 0
    assert found.missing_space == ""


def test_seeds_that_the_scope_refuses_and_space_that_is_missing_are_named(tmp_path: Path):
    rules = "scope:\n  - rule: matches-regex\n    regex: nothing\n    decision: ACCEPT\n"
    reserve = "disk: {reserve: 900TB}\n"
    layout = made(tmp_path / "job", "http://127.0.0.1:9/")
    text = layout.config.read_text()
    layout.config.write_text(text.partition("scope:")[0] + rules + reserve)
    found = surveyed(layout)
    assert [one.url for one in found.refused] == ["http://127.0.0.1:9/"]
    assert found.refused[0].rule
    assert "needed" in found.missing_space


def test_what_keeps_a_job_from_starting_is_counted(tmp_path: Path):
    layout = made(tmp_path / "job", "http://127.0.0.1:9/")
    assert kept_from_start(layout) == StartFindings(0, "")
    layout.config.write_text("seeds: seeds.txt\npoliteness: {dealy: 1}\n")
    told = kept_from_start(layout)
    assert told.problems == 1
    assert "\n" not in told.first_problem
    assert "dealy" in told.first_problem


def test_check_and_status_show_the_same(tmp_path: Path):
    root = tmp_path / "job"
    made(root, "http://127.0.0.1:9/")
    done = nacre("check", root, "--survey")
    assert done.code == 0, done.err
    assert "  127.0.0.1 (1): 127.0.0.1" in done.out
    assert "needed" in done.out
    (root / "crawl.yaml").write_text("seeds: seeds.txt\npoliteness: {dealy: 1}\n")
    assert "1 problem keeps it from starting" in nacre("status", root).out
