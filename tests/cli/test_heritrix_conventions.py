"""What scripts and habits of Heritrix's operators count on."""

from functools import partial
from pathlib import Path

import pytest

from nacre.core.states import JobState
from tests.cli.site import many_pages, nacre, site
from tests.cli.test_control import ended, finished, running, until
from tests.migrate.heritrix.xmltext import bean, cxml, migrated

pytestmark = pytest.mark.crawl


def test_scripts_find_the_warcs_where_heritrix_puts_them(tmp_path: Path):
    with site({"/": "<p>文</p>"}) as url:
        told = nacre("crawl", url, "--out", tmp_path / "job", "--set", "politeness.delay=0")
    assert told.code == 0
    run = tmp_path / "job" / "latest"
    assert (run / "warcs").readlink() == Path("archive")
    assert [*(run / "warcs").glob("*.warc.gz")]
    assert nacre("archive", tmp_path / "job", "check").code == 0


def test_a_crawl_that_pauses_at_its_start_asks_for_nothing_yet(tmp_path: Path):
    job = tmp_path / "job"
    with site() as url:
        made = nacre("new", job, url, "--set", "engine.pause_at_start=true")
        assert made.code == 0, made.err
        with running(job, "run", job, "--set", "politeness.delay=0") as process:
            until(lambda: "paused (by the operator)" in nacre("status", job).out)
            log = job / "latest" / "logs" / "crawl.log"
            assert log.read_text() == ""
            assert nacre("resume", job).code == 0
            code, _, err = ended(process)
    assert code == 0, err
    assert f"{JobState.PAUSED}" in (job / "latest" / "logs" / "job.log").read_text()
    assert url in log.read_text()


@pytest.mark.parametrize("value", [True, False])
def test_the_pause_is_migrated(tmp_path: Path, value: bool):
    said, _, _ = migrated(
        tmp_path, cxml(bean("c", "CrawlController", pauseAtStart=str(value).lower()))
    )
    assert said.engine.pause_at_start is value


def _has_finished(job: Path, least: int) -> bool:
    return finished(job) > least


def test_logs_are_rotated_at_checkpoints_and_no_line_is_lost(tmp_path: Path):
    job = tmp_path / "job"
    quick = ("--set", "politeness.delay=0", "--set", "checkpoint.rotate_logs=true")
    with site(many_pages(60), slow=0.02) as url:
        assert nacre("new", job, url, *quick).code == 0
        with running(job, "run", job, "-q") as process:
            for name, least in (("cp-1", 3), ("cp-2", 20)):
                until(partial(_has_finished, job, least))
                assert nacre("checkpoint", job, "--name", name).code == 0
            code, _, err = ended(process)
    assert code == 0, err
    logs = job / "latest" / "logs"
    assert {file.name for file in logs.glob("crawl.log*")} == {
        "crawl.log",
        "crawl.log.cp-1",
        "crawl.log.cp-2",
    }
    lines = [line for file in logs.glob("crawl.log*") for line in file.read_text().splitlines()]
    urls = [line.split()[3] for line in lines]
    assert len(urls) == len(set(urls)) == finished(job)
    assert nacre("archive", job, "check").code == 0
