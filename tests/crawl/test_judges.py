"""Independent programs, and our own check, judge what a crawl of real sites left behind."""

import re

import pytest

from nacre.archive.check import Checker
from tests.crawl.replay import JUDGES, judge

pytestmark = pytest.mark.crawl


@pytest.fixture(autouse=True)
def judges():
    if not JUDGES.is_dir():
        pytest.fail("the judges are missing: run `make judges`")


def test_our_own_check_finds_nothing(sites):
    checker = Checker()
    for warc in sites.crawled.warcs:
        checker.file(warc, warc.with_name(warc.name.removesuffix(".warc.gz") + ".cdxj"))
    assert [finding for finding in checker.finish() if finding.severity != "note"] == []
    assert checker.summary.records["response"] > 400
    assert checker.summary.records["revisit"] > 0


def test_warcio_complains_of_chunked_payloads_alone(sites):
    """It digests the payload with its chunks; the standard says without (documented)."""
    chunked = {
        capture.url
        for capture in sites.crawled.captures().values()
        if capture.headers.get("transfer-encoding") == "chunked" and not capture.revisit
    }
    result = judge("warcio", "check", "-v", *(str(path) for path in sites.crawled.warcs))
    failed = re.findall(r"\w+ digest failed", result.stdout)
    assert set(failed) == {"payload digest failed"}
    assert len(failed) == len(chunked)


def test_fastwarc_checks_every_block(sites):
    for warc in sites.crawled.warcs:
        result = judge("fastwarc", "check", str(warc))
        assert result.returncode == 0, result.stdout + result.stderr


def test_cdxj_indexer_makes_the_same_lines(sites):
    for warc in sites.crawled.warcs:
        index = warc.with_name(warc.name.removesuffix(".warc.gz") + ".cdxj")
        result = judge("cdxj-indexer", "--sort", "--post-append", str(warc))
        assert result.stdout == index.read_text()
        assert result.stdout.count("\n") > 400
