from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from bench.histories.__main__ import parse_budget
from bench.histories.driver import (
    RunOptions,
    count_pages,
    job_settings,
    recrawl_options,
    remove_run,
)
from bench.histories.repositories import candidates, find_repository, folders_of, label
from bench.histories.worlds import (
    RunPlan,
    addresses,
    read_plan,
    read_worlds,
    service_folders,
    step_times,
    write_plan,
)
from nacre.settings.settings import JobSettings


def test_our_worlds_are_read():
    worlds = read_worlds()
    assert {"demo", "dating", "kafka"} <= set(worlds)
    for world in worlds.values():
        assert world.repository.startswith("https://github.com/")
        times = step_times(world)
        assert len(times) == world.steps + 1
        assert times[1] - times[0] == world.days * 86_400
    assert worlds["demo"].kind == "ota"
    assert worlds["kafka"].kind == "site"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[x]\nrepository = 'a'\n", "start"),
        ("[x]\nrepository = 'a'\nstart = '2024'\nstep = 3", "step"),
        ("[x]\nrepository = 'a'\nstart = '2024'\ndays = 'seven'", "days"),
    ],
)
def test_a_wrong_world_is_refused_by_its_field(tmp_path: Path, text: str, said: str):
    file = tmp_path / "worlds.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match=said):
        read_worlds(file)


def test_each_service_has_an_address():
    folders = service_folders(["B/T.html", "A/x y.html", "A/z.pdf", "C/r.json", "README.md", ""])
    assert folders == ["A/", "B/"]
    assert addresses("127.0.49.9", folders) == {"127.0.49.9": "A/", "127.0.49.10": "B/"}
    with pytest.raises(ValueError, match="--bind"):
        addresses("127.0.49.254", folders)


def test_places_of_a_repository(tmp_path: Path):
    url = "https://github.com/apache/kafka-site.git"
    assert label(url) == "apache+kafka-site"
    places = [str(place.relative_to(tmp_path)) for place in candidates(url, [tmp_path])]
    assert places[0] == "apache+kafka-site"
    assert {"apache/kafka-site", "kafka-site/.git", "kafka-site.bundle"} <= set(places)
    assert find_repository(url, "main", [tmp_path]) is None
    assert folders_of(None) == folders_of("") == []
    assert folders_of(str(tmp_path))[0] == tmp_path


def test_a_folder_of_repositories_that_is_missing_is_refused(tmp_path: Path):
    with pytest.raises(ValueError, match="档案 is no folder"):
        folders_of(f"{tmp_path}:{tmp_path}/档案")


def test_only_folders_of_runs_are_removed(tmp_path: Path):
    out = tmp_path / "out"
    remove_run(out)
    assert not out.exists()
    out.mkdir()
    (out / "thesis.txt").write_text("论文")
    with pytest.raises(ValueError, match="has files that no run wrote"):
        remove_run(out)
    with pytest.raises(ValueError, match="is no folder of a run"):
        read_plan(out)
    assert (out / "thesis.txt").exists()
    plan = RunPlan("repo", "main", [0], 0, 0, "127.0.49.1", 80, "clock", "log")
    write_plan(out, plan)
    assert read_plan(out) == plan
    remove_run(out)
    assert not out.exists()


@pytest.mark.parametrize("text", ["none", "all", "5", "0.5", "100"])
def test_a_budget_is_accepted(text: str):
    assert parse_budget(text) == text


@pytest.mark.parametrize("text", ["", "x", "-5", "0", "nan", "inf", "百"])
def test_what_is_no_budget_is_refused(text: str):
    with pytest.raises(ArgumentTypeError, match="is no budget"):
        parse_budget(text)


def test_budgets_become_options():
    assert recrawl_options(RunOptions(), 100, 1) == ["--keep", "strict"]
    words = recrawl_options(RunOptions(budget="5", assignments=("a.b=1",)), 101, 2)
    assert words == ["--keep", "strict", "--budget", "8", "--set", "a.b=1"]
    assert recrawl_options(RunOptions(budget="all"), 100, 1)[2:4] == ["--set", "recrawl.recall=1"]


def test_pages_of_the_first_crawl_are_counted():
    log = ["1\t200\t9\t0\t/a.html\n", "1\t200\t9\t1\t/a.html\n", "1\t200\t9\t0\t/b/\n",
           "1\t404\t9\t0\t/c.html\n", "1\t200\t9\t0\t/s.css\n"]  # fmt: skip
    assert count_pages(log) == 2


def test_the_job_has_valid_settings():
    settings = JobSettings.model_validate(job_settings("x", 3))
    assert settings.name == "x"
    assert settings.politeness.delay == 0
    rules = [rule.model_dump() for rule in settings.scope]
    assert [rule["max_hops"] for rule in rules if "max_hops" in rule] == [3]
