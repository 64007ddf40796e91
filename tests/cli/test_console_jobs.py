import json
from pathlib import Path

import pytest

from tests.cli.site import Done, nacre


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "crawls" / "图书馆"
    assert nacre("new", made, "http://127.0.0.1:9/").code == 0
    assert console(tmp_path, "place", "add", tmp_path / "crawls").code == 0
    return made


def console(folder: Path, *words: object) -> Done:
    return nacre("console", *words, "--state", folder / "state")


def listed(folder: Path, *words: object) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(
        console(folder, "job", "list", *words, "--json").out
    )
    return found


def test_names_and_tags(tmp_path: Path, root: Path):
    done = console(tmp_path, "job", "label", root, "--name", "国图", "--tag", "gbk", "--tag", "馆")
    assert done.out == "crawls~图书馆: 国图; tags: gbk, 馆\n"
    assert console(tmp_path, "job", "label", "crawls~图书馆", "--name", "").code == 0
    (one,) = listed(tmp_path)
    assert (one["name"], one["tags"]) == ("图书馆", ["gbk", "馆"])
    assert listed(tmp_path, "--tag", "none") == []
    assert "gbk, 馆" in console(tmp_path, "job", "list").out
    wrong = console(tmp_path, "job", "label", root, "--tag", "a,b")
    assert wrong.code == 2
    assert "has a comma" in wrong.err
    assert console(tmp_path, "job", "label", root, "--no-tags").out.endswith("tags: none\n")


def test_a_job_is_removed_and_shown_again(tmp_path: Path, root: Path):
    assert console(tmp_path, "schedule", "add", root, "--at", "@daily").code == 0
    refused = console(tmp_path, "job", "remove", root)
    assert refused.code == 2
    assert "has the schedule 1 (@daily UTC)" in refused.err
    assert console(tmp_path, "schedule", "remove", 1).code == 0
    assert console(tmp_path, "job", "show", root).code == 2
    assert "its files stay" in console(tmp_path, "job", "remove", root).out
    assert listed(tmp_path)[0]["removed"]
    assert (root / "crawl.yaml").is_file()
    assert console(tmp_path, "job", "show", root).out == "crawls~图书馆 is shown again\n"
    assert listed(tmp_path)[0]["removed"] is None


def test_a_job_goes_to_another_place_with_what_is_kept_of_it(tmp_path: Path, root: Path):
    (tmp_path / "旧藏").mkdir()
    assert console(tmp_path, "place", "add", tmp_path / "旧藏").code == 0
    assert console(tmp_path, "schedule", "add", root, "--at", "@daily").code == 0
    assert console(tmp_path, "quota", "set", "1GB", root).code == 0
    assert console(tmp_path, "job", "label", root, "--tag", "gbk").code == 0
    assert console(tmp_path, "job", "move", root, "none").code == 2
    assert (
        console(tmp_path, "job", "move", root, "crawls").out == "crawls~图书馆 is there already\n"
    )
    done = console(tmp_path, "job", "move", root, "旧藏")
    assert done.code == 0, done.err
    target = tmp_path / "旧藏" / "图书馆"
    assert (target / "crawl.yaml").is_file()
    (one,) = listed(tmp_path)
    assert (one["id"], one["tags"]) == ("旧藏~图书馆", ["gbk"])
    (kept,) = json.loads(console(tmp_path, "schedule", "list", "--json").out)
    assert (kept["path"], kept["wish"]["job"]) == (str(target), "旧藏~图书馆")
    (quota,) = json.loads(console(tmp_path, "quota", "list", "--json").out)
    assert quota["path"] == str(target)


def test_a_job_that_was_removed_stays_where_it_is(tmp_path: Path, root: Path):
    (tmp_path / "旧藏").mkdir()
    assert console(tmp_path, "place", "add", tmp_path / "旧藏").code == 0
    assert console(tmp_path, "job", "remove", root).code == 0
    refused = console(tmp_path, "job", "move", root, "旧藏")
    assert (refused.code, refused.out) == (2, "")
    assert "nacre console job show 'crawls~图书馆'` shows it again first" in refused.err
    assert (root / "crawl.yaml").is_file()
    assert listed(tmp_path)[0]["removed"]
    assert console(tmp_path, "job", "show", "crawls~图书馆").code == 0
    assert console(tmp_path, "job", "move", root, "旧藏").code == 0
    # What is made where it was is another job, which is shown.
    assert nacre("new", root, "http://127.0.0.1:9/").code == 0
    assert [(one["id"], one["removed"]) for one in listed(tmp_path)] == [
        ("crawls~图书馆", None), ("旧藏~图书馆", None),
    ]  # fmt: skip


def test_an_id_may_be_longer_than_a_path(tmp_path: Path, root: Path):
    group = root.parent / ("汉" * 60)
    long = group / ("中" * 60)
    assert nacre("new", long, "http://127.0.0.1:9/").code == 0
    name = f"crawls~{group.name}~{long.name}"
    assert len(name.encode()) > 255
    done = console(tmp_path, "job", "label", name, "--name", "x")
    assert done.code == 0, done.err
    assert done.out == f"{name}: x; tags: none\n"
    none = console(tmp_path, "job", "label", f"{name}x", "--name", "x")
    assert none.code == 2
    assert "cannot be read: File name too long" in none.err


def test_what_is_no_job_is_refused(tmp_path: Path):
    for words in (("remove",), ("show",), ("label",)):
        assert console(tmp_path, "job", *words, tmp_path / "none").code == 2


def test_kinds_of_urls_that_are_wanted(tmp_path: Path, root: Path):
    first, second = "http://a.test/calendar/", "http://a.test/日历/"
    words = ("job", "wanted", root)
    assert console(tmp_path, *words).out == ""
    assert console(tmp_path, *words, "--add", first, "--add", second).out == f"{first}\n{second}\n"
    assert console(tmp_path, *words, "--remove", first).out == f"{second}\n"
    wrong = console(tmp_path, *words, "--remove", first)
    assert wrong.code == 2
    assert "is no wanted kind" in wrong.err
    assert json.loads(console(tmp_path, *words, "--json").out) == {"prefixes": [second]}
