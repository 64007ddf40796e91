import json

import pytest

from tests.cli.conftest import Crawled
from tests.cli.site import nacre


def explained(crawled: Crawled, url: str) -> str:
    done = nacre("explain", crawled.job, url)
    assert done.code == 0, done.err
    return done.out


def test_a_captured_url(crawled: Crawled):
    text = explained(crawled, crawled.home + "c.html")
    assert "captured: HTTP status 200." in text
    assert f"seed: {crawled.home} (200)" in text
    assert f"link: {crawled.home}a.html (200)" in text
    assert "by a/@href, hop path LL" in text
    assert "ACCEPT, decided by surt-prefixed" in text
    assert "allowed: no line speaks of it" in text
    assert ".warc.gz, offset " in text
    assert "the same content as " in text


def test_an_out_of_scope_url(crawled: Crawled):
    text = explained(crawled, "http://elsewhere.test/")
    assert "not crawled: out of scope, refused by the rule reject" in text
    assert f"seed: {crawled.home}" in text
    assert "REJECT, decided by reject" in text


def test_a_url_that_robots_txt_denies(crawled: Crawled):
    text = explained(crawled, crawled.home + "secret/x.html")
    assert "-9998 robots-precluded" in text
    assert "denied by the line `Disallow: /secret/`" in text


@pytest.mark.parametrize(
    ("url", "would"), [("unknown", "would be crawled"), ("a/" * 30, "would not be crawled")]
)
def test_an_unknown_url(crawled: Crawled, url: str, would: str):
    text = explained(crawled, crawled.home + url)
    assert f"never seen in this crawl; found by a link on a seed it {would}" in text


def test_an_explanation_as_json(crawled: Crawled):
    url = crawled.home.removeprefix("http://") + "a.html"
    told = json.loads(nacre("explain", crawled.job, url, "--json").out)
    assert told["standing"] == "finished"
    assert told["status"] == 200
    assert told["way"] == [{"url": crawled.home, "hop": "", "status": 200}]
    assert [o["opinion"] for o in told["scope"]["opinions"]][:2] == ["REJECT", "ACCEPT"]
    assert told["capture"]["visits"] == 1


def test_what_is_no_url(crawled: Crawled):
    assert nacre("explain", crawled.job, "http://").code == 2


def test_the_summary(crawled: Crawled):
    told = json.loads(nacre("report", crawled.job, "crawl-summary", "--json").out)
    assert told["status"] == "FINISHED"
    assert (told["uris_processed"], told["uri_successes"], told["uri_disregards"]) == (8, 7, 1)
    assert (told["novel_uris"], told["duplicate_by_hash_uris"]) == (6, 1)
    assert (told["seeds_crawled"], told["seeds_uncrawled"], told["hosts_visited"]) == (1, 0, 1)
    text = nacre("report", crawled.job, "crawl-summary", "--heritrix").out
    assert "URIs processed: 8\n" in text
    listed = nacre("report", crawled.job, "list").out.splitlines()
    listed = [line for line in listed if line.startswith("  ")]
    assert [line.split()[0] for line in listed] == json.loads(
        nacre("report", crawled.job, "list", "--json").out
    )
    assert {"crawl-summary", "threads", "savings"} <= {line.split()[0] for line in listed}
    assert all(len(line.split()) > 2 for line in listed), "each says what it is about"
    unknown = nacre("report", crawled.job, "nothing")
    assert unknown.code == 2
    assert "crawl-summary" in unknown.err


def test_status_of_a_finished_job(crawled: Crawled):
    text = nacre("status", crawled.job).out
    assert text.splitlines()[0].endswith(": finished")
    assert "8 of 8 found" in text
    told = json.loads(nacre("status", crawled.job, "--json").out)
    assert told["overview"]["finished"] == 8


def test_status_before_the_first_run(tmp_path):
    nacre("new", tmp_path / "job", "http://a.test/")
    assert nacre("status", tmp_path / "job").out == "not run yet\n"
    assert nacre("report", tmp_path / "job").code == 2
    assert nacre("frontier", tmp_path / "job", "list").code == 2


def test_a_finished_job_cannot_be_paused_and_says_what_can_be_done(crawled: Crawled):
    done = nacre("pause", crawled.job)
    assert done.code == 2
    assert "is not running; it is finished, and `" in done.err
    assert "nacre recrawl " in done.err
