"""What `make traps` says of a goal: a miss is never silent."""

from http.client import HTTPConnection
from pathlib import Path

import pytest

from bench.traps import folder_of, judged, needed, requested_paths
from bench.worlds.calendar import Calendar
from bench.worlds.replay import Kept
from bench.worlds.shop import Shop
from bench.worlds.world import Reply, served


@pytest.mark.parametrize(
    ("name", "took", "said", "failed"),
    [
        ("shop", 130, "shop meets the goal of 1.3", False),
        ("shop", 131, "shop MISSES the goal of 1.3", True),
        ("shop", None, "shop MISSES the goal of 1.3", True),
    ],
)
def test_what_is_said_of_a_goal(name: str, took: int | None, said: str, *, failed: bool) -> None:
    told, is_failure = judged(name, took, 100)
    assert said in told
    assert is_failure is failed


def test_the_requests_until_95_percent() -> None:
    assert needed([1, 1, 2, 19, 20], 20) == 4
    assert needed([1, 1, 2, 18], 20) is None


def test_what_a_crawl_log_says_was_asked_for() -> None:
    lines = [
        "2026-11-22T21:20:12.000Z     1   56 dns:wiki.test P - text/dns - - - - -",
        "2026-11-22T21:20:12.100Z   200   56 http://wiki.test/robots.txt P - text/plain - - - - -",
        "2026-11-22T21:20:12.200Z   200  980 http://wiki.test/index.php?title=A&x=b L - - - - - -",
        "2026-11-22T21:20:12.300Z   404   80 http://wiki.test/a/robots.txt L - - - - - - -",
        "2026-11-22T21:20:12.400Z    -2    - http://wiki.test/gone L - unknown - - - - -",
        "2026-11-22T21:20:12.500Z   301    0 http://wiki.test:8080/ L - - - - - - -",
    ]
    assert list(requested_paths(lines)) == ["/index.php?title=A&x=b", "/a/robots.txt", "/"]


class Moving(Calendar):
    """It answers each request with a redirect."""

    def reply(self, path: str) -> Reply:
        return Reply(302, (("Location", "{origin}/moved"),), path.encode())


def test_redirects_of_a_world_lead_to_its_own_origin() -> None:
    world = Moving()
    with served(world) as site:
        connection = HTTPConnection(site.origin.removeprefix("http://"))
        connection.request("GET", "/a?b=c")
        answer = connection.getresponse()
        assert answer.getheader("Location") == f"{site.origin}/moved"
        assert answer.read() == b"/a?b=c"
        connection.close()
    assert site.log == ["/a?b=c"]


def test_replies_that_were_kept_are_not_asked_for_again(tmp_path: Path) -> None:
    for asked_for in (1, 0):
        kept = Kept(Calendar(), tmp_path)
        assert kept.get("/about").status == 200
        assert kept.get("/about").status == 200
        assert kept.asked == asked_for


def test_replies_are_kept_for_one_version_of_a_world() -> None:
    assert folder_of(Calendar(), "x") != folder_of(Shop(products=151), "x")
    assert folder_of(Calendar(), "x") == folder_of(Calendar(), "x")
    assert folder_of(Calendar(events=7), "x") != folder_of(Calendar(), "x")
