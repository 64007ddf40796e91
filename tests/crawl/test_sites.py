"""Three documentation sites under three names in one job, compared with the files on disk."""

import json

import pytest

from tests.cases.table import cases_folder
from tests.crawl.conftest import DIRECTIVES, STARTS, Sites
from tests.crawl.coverage import Places, listed

pytestmark = pytest.mark.crawl


def captured_paths(sites: Sites, name: str, status: int) -> set[str]:
    """URL paths of one site with a status, that links (not guesses) led to."""
    origin = sites.origin(name)
    return {
        line.url.removeprefix(origin)
        for line in sites.crawled.log
        if line.url.startswith(origin + "/")
        and line.status == status
        and not line.guessed
        and not line.extra
    }


def test_the_crawl_finishes(sites):
    assert sites.crawled.ending == "FINISHED"


@pytest.mark.parametrize("name", STARTS)
def test_what_links_reach_is_captured_and_nothing_else(sites, name):
    reachable, _ = sites.folders[name].reachable(STARTS[name])
    assert len(reachable) > 100
    # What a guess found first may be linked to as well.
    every = {
        line.url.removeprefix(sites.origin(name))
        for line in sites.crawled.log
        if line.status == 200
    }
    assert reachable - every == set()
    assert captured_paths(sites, name, 200) - reachable == set()


@pytest.mark.parametrize("name", STARTS)
def test_bodies_are_the_files(sites, name, captures):
    origin, folder = sites.origin(name), sites.folders[name]
    checked = 0
    for url, capture in captures.items():
        if capture.status == 200 and url.startswith(origin + "/"):
            file = folder.file(url.removeprefix(origin))
            assert file is not None
            assert capture.body == file.read_bytes(), url
            checked += 1
    assert checked >= len(captured_paths(sites, name, 200))


@pytest.fixture(scope="module")
def captures(sites):
    return sites.crawled.captures()


def test_every_way_of_framing_was_used(sites, captures):
    def seen(name: str, header: str) -> set[str]:
        url = sites.origin(name) + STARTS[name]
        return {captures[url].headers.get(header, "")}

    assert all(DIRECTIVES[name] for name in ("anarchism", "tomcat10-docs"))
    assert seen("postfix-doc", "content-length") != {""}
    assert seen("anarchism", "content-encoding") == {"gzip"}
    assert seen("tomcat10-docs", "transfer-encoding") == {"chunked"}


def test_every_capture_is_in_the_log_and_the_reverse(sites, captures):
    logged = {line.url: line.status for line in sites.crawled.log if line.status >= 200}
    assert {url: capture.status for url, capture in captures.items()} == logged


@pytest.mark.parametrize("name", STARTS)
def test_the_coverage_list(sites, name):
    """Every page of the list was captured, and every broken link of it gave 404."""
    folder = cases_folder()
    if not (folder / "coverage.jsonl").is_file():
        pytest.skip(f"no coverage lists: {folder} is absent")
    rows = map(json.loads, (folder / "coverage.jsonl").read_text().splitlines())
    row = next(row for row in rows if row["package"] == name)
    wanted = dict(listed(row, folder))
    places = Places(sites.crawled.statuses, sites.origin(name))
    assert row["start"] == STARTS[name]
    assert list(wanted.values()).count(200) == row["reachable_ok"]
    assert {path: places.status(path) for path in wanted} == wanted
