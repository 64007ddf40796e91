"""Pages behind a redirect that sets a cookie and leads back, judged from the server's log."""

from collections import Counter

import pytest

from tests.crawl.jobs import crawl
from tools.nginx import Server, free_port, serving

pytestmark = pytest.mark.crawl

ADDRESS = "127.0.9.36"
LINKS = ("wall", "gate", "never", "loop", "plain")
DIRECTIVES = """
    location = /seed { if ($cookie_seed) { return 200 "in"; }
        add_header Set-Cookie seed=1; return 302 /seed; }
    location = /wall { if ($cookie_wall) { return 200 "in"; }
        add_header Set-Cookie wall=1; return 302 /wall; }
    location = /gate { if ($cookie_gate) { return 200 "in"; } return 302 /ask?to=/gate; }
    location = /ask { add_header Set-Cookie "gate=1; Path=/"; return 302 /back?to=$arg_to; }
    location = /back { return 302 $arg_to; }
    location = /never { add_header Set-Cookie never=1; return 302 /never; }
    location = /loop { return 302 /loop2; }
    location = /loop2 { return 302 /loop; }
    location = /plain { add_header Set-Cookie plain=1; return 302 /wall; }
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    folder = tmp_path_factory.mktemp("walls")
    root = folder / "site"
    root.mkdir()
    links = "".join(f'<a href="/{link}">x</a>' for link in LINKS)
    (root / "index.html").write_text(f"<!DOCTYPE html>{links}")
    port = free_port((ADDRESS,))
    server = Server(ADDRESS, port, root, directives=DIRECTIVES)
    with serving([server], folder / "nginx", log=True) as nginx:
        base = f"http://{ADDRESS}:{port}"
        crawled = crawl(folder / "job", [f"{base}/", f"{base}/seed"])
        asked = Counter(one.target for one in nginx.requests())
    return crawled, base, asked


@pytest.mark.parametrize("name", ["seed", "wall", "gate"])
def test_the_page_is_asked_for_again_with_the_cookie(result, name):
    crawled, base, asked = result
    assert [line.status for line in crawled.log if line.url == f"{base}/{name}"] == [302, 200]
    assert asked[f"/{name}"] == 2


def test_a_page_that_does_not_want_the_cookie_is_asked_for_twice_and_no_more(result):
    _, _, asked = result
    assert asked["/never"] == 2


def test_without_a_cookie_nothing_is_asked_for_again(result):
    _, _, asked = result
    assert (asked["/loop"], asked["/loop2"], asked["/plain"]) == (1, 1, 1)
