import os
from pathlib import Path

import pytest

from nacre.errors import JobError
from nacre.fleet.places import directories_below, find_jobs, places_of


def job(path: Path) -> Path:
    path.mkdir(parents=True)
    (path / "crawl.yaml").touch()
    return path


def ids(*directories: Path) -> list[str]:
    return [found.id for found in find_jobs(places_of(directories))]


def test_jobs_are_found_below_a_place(tmp_path: Path):
    crawls = tmp_path / "crawls"
    job(crawls / "demo")
    job(crawls / "组" / "图书馆")
    job(crawls / "demo" / "state" / "inner")
    job(crawls / ".hidden" / "x")
    job(crawls / "a" / "b" / "c")
    job(crawls / "a" / "b" / "d" / "deep")
    (crawls / "link").symlink_to(crawls / "组")
    (crawls / "file").touch()
    assert ids(crawls) == ["crawls~a~b~c", "crawls~demo", "crawls~组~图书馆"]


def test_a_job_can_be_a_place(tmp_path: Path):
    demo = job(tmp_path / "crawls" / "demo")
    job(tmp_path / "crawls" / "other")
    assert ids(demo) == ["crawls~demo"]
    assert len(ids(demo, tmp_path / "crawls")) == 2


def test_places_of_one_name_have_different_jobs(tmp_path: Path):
    job(tmp_path / "a" / "crawls" / "demo")
    job(tmp_path / "b" / "crawls" / "demo")
    assert ids(tmp_path / "a" / "crawls", tmp_path / "b" / "crawls") == [
        "crawls-2~demo", "crawls~demo",
    ]  # fmt: skip


def test_a_place_is_a_directory(tmp_path: Path):
    with pytest.raises(JobError, match="is not a directory"):
        places_of([tmp_path / "none"])


def test_a_directory_whose_name_is_not_utf_8_is_no_job(tmp_path: Path):
    for name in (b"caf\xe9", "馆".encode()):
        job = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
        job.mkdir()
        (job / "crawl.yaml").touch()
    assert [path.name for path, is_job in directories_below(tmp_path) if is_job] == ["馆"]
