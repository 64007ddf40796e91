"""What scripts and habits of Heritrix's operators count on."""

from pathlib import Path

import pytest

from nacre.job.states import JobState
from tests.cli.site import nacre, site
from tests.cli.test_control import ended, running, until
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
