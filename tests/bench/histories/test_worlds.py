from pathlib import Path

import pytest

from bench.histories.driver import RunOptions, count_pages, job_settings, recrawl_options
from bench.histories.repositories import candidates, find_repository, folders_of, label
from bench.histories.worlds import addresses, read_worlds, service_folders, step_times
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
    JobSettings.model_validate(job_settings("x", 3))
