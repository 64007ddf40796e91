import io
import json
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from nacre.cli.progress import Display
from nacre.cli.running import run_and_summarize
from nacre.job.job import Job
from nacre.machine.layout import Layout
from nacre.settings.load import load_job
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
    assert "warning: seeds.txt:2: 'http://' is not a seed" in done.err
    assert "site.example is public" in done.err
    assert nacre("run", made).code == 2
    told = json.loads(nacre("check", made, "--json").out)
    assert len(told["problems"]) == 3
    assert {problem["file"] for problem in told["problems"]} == {"crawl.yaml", ""}
    assert [warning["file"] for warning in told["warnings"]] == ["seeds.txt"]
    assert len(json.loads(nacre("check", made, "--strict", "--json").out)["problems"]) == 4


def test_a_value_where_it_comes_from_and_what_it_means(made: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NACRE_ENGINE__PARALLEL", "7")
    told = json.loads(nacre("check", made, "--explain", "engine.parallel", "--json").out)
    assert told["value"] == "7"
    assert told["from"] == "environment NACRE_ENGINE__PARALLEL"
    assert told["default"] == "25"
    assert told["unit"] == "fetches"
    text = nacre("check", made, "--explain", "politeness.delay").out
    assert "value          2.0" in text
    assert "type           number or none" in text
    assert "crawl.yaml:" in text
    assert "frontier.max_retries" in nacre("check", made, "--explain", "frontier.max_retrys").err
    section = nacre("check", made, "--explain", "politeness").out.splitlines()
    assert any(line.split()[:2] == ["politeness.delay", "2.0"] for line in section)
    assert all("politeness." in line for line in section)


def test_a_setting_of_a_rule_is_explained_by_name_and_by_number(made: Path):
    by_name = nacre("check", made, "--explain", "scope.too-many-link-hops.max_hops").out
    assert "value          2" in by_name
    assert "from           file crawl.yaml:" in by_name
    assert "unit           hops" in by_name
    by_number = nacre("check", made, "--explain", "scope.3.max_hops").out
    assert by_name.splitlines()[1:] == by_number.splitlines()[1:]
    assert len(json.loads(nacre("check", made, "--explain", "scope.3", "--json").out)) > 3
    unknown = nacre("check", made, "--explain", "scope.too-many-hops.max_hosp")
    assert (unknown.code, "max_hops`?" in unknown.err) == (2, True)


def test_who_may_change_a_setting(made: Path):
    config = made / "crawl.yaml"
    config.write_text(config.read_text() + "\nsheets: {slow: {politeness: {min_delay: 60}}}\n")
    told = nacre("check", made, "--explain", "politeness.min_delay").out
    assert "sheets         slow says 60" in told
    assert "while it runs  can be changed" in told
    store = nacre("check", made, "--explain", "store.memory").out
    assert "cannot be changed" in store
    assert "it holds for the whole job" in store


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
    assert "is not a job" in done.err
    assert nacre("status", tmp_path).code == 2


TEN_MISTAKES = """\
name: [unclosed
seeds: lost.txt
politeness:
  delay: soon
  min_delai: 3
engine: {parallel: 0}
scope:
  - rule: rejct
  - rule: surt-prefixed
    corce: host
  - {rule: matches-list-regex, regexes: ['ok', '(foo']}
network: {allow: [10.0.0.0/99]}
include: [missing.yaml]
fetch: {contact: 5}
fetch: {max_length: many}
"""


def test_ten_different_mistakes_are_named_each_with_its_line(made: Path):
    (made / "crawl.yaml").write_text(TEN_MISTAKES)
    done = nacre("check", made)
    assert done.code == 2
    told = json.loads(nacre("check", made, "--json").out)["problems"]
    lines = {problem["line"] for problem in told if problem["file"] == "crawl.yaml"}
    assert lines == {1, 2, 4, 5, 6, 8, 10, 11, 12, 13, 14, 15}
    assert all(f"nacre: crawl.yaml:{line}: " in done.err for line in lines)
    assert "pydantic" not in done.err


def test_an_empty_job_is_told_what_it_lacks(made: Path):
    (made / "crawl.yaml").write_text("")
    (made / "seeds.txt").write_text("")
    done = nacre("check", made)
    assert done.code == 2
    assert "there is no seed" in done.err


def test_a_job_on_a_profile(tmp_path: Path):
    listed = nacre("new", "--list-profiles")
    assert listed.code == 0
    assert [line.split()[0] for line in listed.out.splitlines()] == [
        "broad", "domain", "gov-site", "incremental", "one-page", "site",
    ]  # fmt: skip
    job = tmp_path / "job"
    assert nacre("new", job, "http://a.test/", "--profile", "gov-site").code == 0
    done = nacre("check", job)
    assert ("nothing wrong" in done.out, done.err) == (True, "")
    assert "#  min_delay: 5.0" in (job / "crawl.yaml").read_text()
    told = nacre("check", job, "--explain", "politeness.min_delay").out
    assert "from           profile gov-site" in told
    refused = nacre("new", tmp_path / "x", "http://a.test/", "--profile", "site", "--depth", 1)
    assert (refused.code, "need --scope" in refused.err) == (2, True)
    unknown = nacre("new", tmp_path / "x", "http://a.test/", "--profile", "stie")
    assert "did you mean `site`" in unknown.err


def test_the_schema_is_printed_or_written(made: Path, tmp_path: Path):
    printed = nacre("schema").out
    assert json.loads(printed)["properties"]["politeness"]
    assert nacre("schema", "--out", tmp_path / "s.json").code == 0
    assert json.loads((tmp_path / "s.json").read_text()) == json.loads(printed)
    assert json.loads((made / ".crawl.schema.json").read_text()) == json.loads(printed)
    assert nacre("schema", "--out", tmp_path / "none" / "s.json").code == 2


def test_what_would_be_done_with_urls_before_anything_runs(made: Path):
    config = made / "crawl.yaml"
    config.write_text(
        config.read_text()
        + "\nsheets: {slow: {politeness: {delay: 60}}}\n"
        + "sheet_associations: [{sheets: [slow], surts: ['http://a.test/archive/']}]\n"
    )
    urls = ("http://a.test/archive/1", "http://b.test/", "http://a.test/", "http://")
    told = json.loads(nacre("check", made, "--dry-run", *urls, "--json").out)
    inside, outside, seed, bad = told
    assert (inside["decision"], inside["decider"]) == ("ACCEPT", "surt-prefixed")
    assert (inside["sheets"], inside["queue"]) == (["slow"], "test,a,")
    assert inside["politeness"].startswith("60 s")
    assert (inside["directive"], inside["is_seed"], inside["robots"]) == ("NORMAL", False, None)
    assert (outside["decision"], outside["sheets"]) == ("REJECT", [])
    assert (seed["is_seed"], seed["directive"]) == (True, "MEDIUM")
    assert "URL" in bad["error"]
    text = nacre("check", made, "--dry-run", *urls).out
    assert "  scope       in, by the rule surt-prefixed" in text
    assert "  scope       out, by the rule reject" in text
    assert "  robots.txt  not fetched yet" in text
    assert not (made / "state").exists()
    assert nacre("check", made, "http://a.test/").code == 2


def test_a_dry_run_after_a_run_knows_robots_txt(crawled: Crawled):
    urls = (f"{crawled.home}secret/x.html", f"{crawled.home}a.html")
    told = json.loads(nacre("check", crawled.job, "--dry-run", *urls, "--json").out)
    assert [one["robots"]["allowed"] for one in told] == [False, True]
    assert "Disallow: /secret/" in nacre("check", crawled.job, "--dry-run", *urls).out


def test_a_section_is_explained_by_the_name_of_heritrix(made: Path):
    ours = nacre("check", made, "--explain", "fetch.max_length").out
    assert nacre("check", made, "--explain", "FetchHTTP.max_length").out == ours


class _Terminal(io.StringIO):
    def __init__(self, *, real: bool) -> None:
        super().__init__()
        self._real = real

    def isatty(self) -> bool:
        return self._real


@pytest.mark.parametrize("watched", [True, False])
def test_a_job_knows_whether_somebody_watches_at_a_terminal(tmp_path, monkeypatch, watched):
    layout = Layout(tmp_path / "job")
    assert nacre("new", layout.root, "http://a.test/").code == 0
    jobs: list[Job] = []

    def run(job: Job, _display: Display, **_options: object) -> NoReturn:
        jobs.append(job)
        raise KeyboardInterrupt

    monkeypatch.setattr("nacre.cli.running.run_job", run)
    monkeypatch.setattr(sys, "stderr", _Terminal(real=watched))
    with pytest.raises(KeyboardInterrupt):
        run_and_summarize(layout, load_job(layout).settings, quiet=True, as_json=False)
    assert [job.on_terminal for job in jobs] == [watched]
