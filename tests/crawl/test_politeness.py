"""Politeness as the server sees it: its access log says when each request began and ended."""

from itertools import pairwise

import pytest

from tests.crawl.jobs import crawl
from tools.nginx import Request, Server, free_port, serving

pytestmark = pytest.mark.crawl

DELAY = 0.2
TOLERANCE = 0.005
"""nginx knows its times to a millisecond, and reads the clock once per turn of its loop."""
HOSTS = {"one.test": "127.0.9.21", "two.test": "127.0.9.22"}
PAGES = 6


@pytest.fixture(scope="module")
def requests(tmp_path_factory) -> dict[str, list[Request]]:
    folder = tmp_path_factory.mktemp("polite")
    root = folder / "root"
    root.mkdir()
    links = "".join(f'<a href="/{number}.html">{number}</a>' for number in range(PAGES))
    for name in ("index.html", *(f"{number}.html" for number in range(PAGES))):
        (root / name).write_text(f"<!DOCTYPE html><title>{name}</title>{links}")
    port = free_port(tuple(HOSTS.values()))
    servers = [Server(address, port, root) for address in HOSTS.values()]
    with serving(servers, folder / "nginx", log=True) as nginx:
        crawled = crawl(
            folder / "job",
            [f"http://{name}:{port}/" for name in HOSTS],
            dns={"hosts": HOSTS},
            politeness={"delay": DELAY, "in_flight": 1},
        )
        seen = nginx.requests()
    assert crawled.ending == "FINISHED"
    return {name: [one for one in seen if one.host == name] for name in HOSTS}


def test_both_hosts_were_crawled_whole(requests):
    expected = {"/", "/robots.txt", "/favicon.ico", *(f"/{number}.html" for number in range(PAGES))}
    for name in HOSTS:
        assert {one.target for one in requests[name]} == expected
        assert len(requests[name]) == len(expected)


def test_no_two_requests_of_a_host_start_closer_than_the_delay(requests):
    for name in HOSTS:
        for first, second in pairwise(sorted(requests[name], key=lambda one: one.began)):
            assert second.began - first.ended >= DELAY - TOLERANCE, (first, second)


def test_the_hosts_take_no_turns(requests):
    """While one host rests, the other is asked: their requests alternate."""
    merged = sorted((one for name in HOSTS for one in requests[name]), key=lambda one: one.began)
    changes = sum(first.host != second.host for first, second in pairwise(merged))
    assert changes >= len(merged) * 2 // 3
