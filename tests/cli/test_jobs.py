import json
from pathlib import Path

import pytest

from tests.cli.conftest import Crawled
from tests.cli.site import nacre


@pytest.fixture
def made(tmp_path: Path) -> Path:
    job = tmp_path / "job"
    assert nacre("new", job, "http://a.test/", "--depth", 2, "--delay", 2).code == 0
    return job


def test_a_new_job_is_commented_and_has_nothing_wrong(made: Path):
    text = (made / "crawl.yaml").read_text()
    assert "# More hops of any kind" in text
    assert "#  min_delay: 3.0" in text
    assert "#  delay:" not in text
    done = nacre("check", made)
    assert done.code == 0
    assert "nothing wrong" in done.out


def test_comments_can_be_taken_away(made: Path):
    config = made / "crawl.yaml"
    lines = config.read_text().splitlines()
    start = lines.index("#engine:")
    lines[start : start + 2] = [line[1:] for line in lines[start : start + 2]]
    config.write_text("\n".join(lines))
    done = nacre("check", made, "--explain", "engine.parallel")
    assert f"file crawl.yaml:{start + 2}" in done.out


def test_all_problems_at_once(made: Path):
    config = made / "crawl.yaml"
    config.write_text(config.read_text() + "\nfrontier: {max_retris: 1}\nlimits: {time: soon}\n")
    (made / "seeds.txt").write_text("http://a.test/\nhttp://\nsite.example\n")
    done = nacre("check", made)
    assert done.code == 2
    assert "did you mean `frontier.max_retries`?" in done.err
    assert "limits.time" in done.err
    assert "seeds.txt:2: 'http://' is no seed" in done.err
    assert "site.example is public" in done.err
    assert nacre("run", made).code == 2
    told = json.loads(nacre("check", made, "--json").out)
    assert len(told["problems"]) == 4
    assert {problem["file"] for problem in told["problems"]} == {"crawl.yaml", "seeds.txt", ""}


def test_a_value_where_it_comes_from_and_what_it_means(made: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NACRE_ENGINE__PARALLEL", "7")
    told = json.loads(nacre("check", made, "--explain", "engine.parallel", "--json").out)
    assert told["value"] == "7"
    assert told["from"] == "environment NACRE_ENGINE__PARALLEL"
    assert told["default"] == "25"
    assert told["unit"] == "fetches"
    text = nacre("check", made, "--explain", "politeness.delay").out
    assert "value    2.0" in text
    assert "type     number or none" in text
    assert "crawl.yaml:" in text
    assert "frontier.max_retries" in nacre("check", made, "--explain", "frontier.max_retrys").err
    assert "politeness.min_delay" in nacre("check", made, "--explain", "politeness").err


def test_a_finished_job_is_not_changed(crawled: Crawled):
    store = crawled.job / "state" / "store"
    before = {path.name for path in store.iterdir()}
    done = nacre("run", crawled.job)
    assert done.code == 0
    assert "nothing was changed" in done.out
    assert "recrawl" in done.out
    assert json.loads(nacre("run", crawled.job, "--json").out)["changed"] is False
    assert {path.name for path in store.iterdir()} == before


def test_what_is_no_job(tmp_path: Path):
    done = nacre("run", tmp_path)
    assert done.code == 2
    assert "is no job" in done.err
    assert nacre("status", tmp_path).code == 2
