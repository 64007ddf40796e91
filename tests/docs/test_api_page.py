"""What docs/api.md says can be done from Python is done by its own programs."""

import asyncio
import re
from pathlib import Path

import pytest

import nacre
from tests.cli.site import site
from tests.docs.test_readme import ROOT, run_program

pytestmark = pytest.mark.crawl


def test_every_program_of_the_page_runs(tmp_path: Path):
    programs = re.findall(r"```python\n", (ROOT / "docs" / "api.md").read_text("utf-8"))
    assert len(programs) == 3
    for number in range(len(programs)):
        _, lines = run_program("docs/api.md", tmp_path, number)
        assert lines


def test_a_job_is_used_by_its_directory(tmp_path: Path):
    _, lines = run_program("docs/api.md", tmp_path, 0)
    state, shown, standing, codes, refusal, rounds = lines
    assert (state, shown) == ("FINISHED_DOCUMENT_LIMIT", "FINISHED_DOCUMENT_LIMIT")
    assert standing
    assert codes.startswith("{200: ")
    assert "is not running" in refusal
    assert re.fullmatch(r"done 2 \d+", rounds)


def test_a_job_is_looked_at_and_visited_again(tmp_path: Path):
    home, lines = run_program("docs/api.md", tmp_path, 2)
    assert lines[0] == "FINISHED_DOCUMENT_LIMIT"
    assert f"waits: L {home}secret/x.html" in lines
    assert "deleted: 1" in lines
    assert any(line.startswith("scheduled: 1 [") for line in lines)
    assert lines.count("FINISHED") == 2
    assert any(line.startswith("{200: ") for line in lines)
    assert any(line.startswith("visits: ['new'") for line in lines)
    pages = next(line for line in lines if line.startswith("pages: "))
    assert f"{home}c.html" in pages


def test_what_is_none_is_said(tmp_path: Path):
    job = tmp_path / "作业"
    with pytest.raises(nacre.JobError, match="is not a job"):
        nacre.explain_url(job, "http://a.test/")
    with site() as home:
        opened = nacre.new_job(job, home, settings={"politeness": {"delay": 0}})
        with pytest.raises(nacre.JobError, match="has not run yet"):
            next(nacre.waiting_urls(job))
        assert asyncio.run(opened.run()) == nacre.ExitStatus.FINISHED
    with pytest.raises(
        nacre.JobError, match="there is no report 'gossip'; one of: browser, budget"
    ):
        nacre.read_report(job, "gossip")
    with pytest.raises(nacre.JobError, match="takes no URL"):
        nacre.read_report(job, "hosts", home)
    with pytest.raises(nacre.ConfigError, match="is"):
        next(nacre.waiting_urls(job, "("))
    assert nacre.page_history(job, "http://elsewhere.test/") is None
    assert list(nacre.waiting_urls(job)) == []
    assert set(nacre.report_names()) > {"crawl-summary", "savings"}
