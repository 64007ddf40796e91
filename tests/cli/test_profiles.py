"""`nacre profile …` and `nacre clip …`."""

import json
from pathlib import Path

import pytest

from tests.cli.site import nacre


@pytest.fixture
def job(tmp_path: Path) -> Path:
    root = tmp_path / "图书馆"
    made = nacre("new", root, "http://anna:s3cret@a.test/", "--set", "politeness.delay=7")
    assert made.code == 0, made.err
    return root


def test_a_job_becomes_a_profile(job: Path, tmp_path: Path):
    shipped = {one["name"] for one in json.loads(nacre("profile", "list", "--json").out)}
    assert shipped
    saved = nacre("profile", "save", job, "our-library", "--purpose", "地方志")
    assert saved.code == 0, saved.err
    text = nacre("profile", "show", "our-library").out
    assert "delay: 7" in text
    assert "s3cret" not in text
    assert "a.test" not in text
    assert "地方志" in nacre("profile", "list").out
    assert nacre("profile", "save", job, "our-library").code == 2
    assert nacre("profile", "save", job, "our-library", "--replace").code == 0
    assert nacre("profile", "save", job, "Our Library").code == 2
    other = tmp_path / "other"
    assert nacre("new", other, "http://b.test/", "--profile", "our-library").code == 0
    assert "7.0" in nacre("check", other, "--explain", "politeness.delay").out
    assert nacre("profile", "remove", "our-library").out == "removed our-library\n"
    assert nacre("profile", "show", "our-library").code == 2
    assert nacre("profile", "remove", min(shipped)).code == 2


def test_a_clip_is_saved_shown_put_in_and_removed(job: Path, tmp_path: Path):
    file = tmp_path / "慢.yaml"
    file.write_text("politeness:\n  delay: '{{seconds}}'\n")
    done = nacre("clip", "save", "slow", file, "--title", "慢慢来")
    assert done.code == 0, done.err
    assert "慢慢来" in nacre("clip", "list").out
    assert "# seconds=seconds: seconds" in nacre("clip", "show", "slow").out
    shown = nacre("clip", "insert", job, "slow", "--value", "seconds=9", "--preview")
    assert shown.code == 0, shown.err
    assert "+  delay: 9" in shown.out
    assert "delay: 7" in (job / "crawl.yaml").read_text()
    put = nacre("clip", "insert", job, "slow", "--value", "seconds=9")
    assert put.code == 0, put.err
    text = (job / "crawl.yaml").read_text()
    assert "delay: 9" in text
    assert "NOT-SHOWN" not in text
    newest = json.loads(nacre("settings", job, "history", "--json").out)[0]
    assert newest["why"] == "clip slow"
    wrong = nacre("clip", "insert", job, "slow", "--value", "secnds=9")
    assert wrong.code == 2
    assert "did you mean `seconds`?" in wrong.err
    assert nacre("clip", "insert", job, "slow", "--value", "9").code == 2
    assert nacre("clip", "insert", job, "none").code == 2
    assert nacre("clip", "remove", "slow").out == "removed slow\n"
    assert nacre("clip", "remove", "slow").code == 2
    piped = nacre("clip", "save", "fast", "-", "--place", "politeness", stdin="delay: 1\n")
    assert piped.code == 0, piped.err
    assert json.loads(nacre("clip", "show", "fast", "--json").out)["place"] == "politeness"
