"""robots.txt and redirects on a real server, judged from its access log."""

import pytest

from tests.crawl.jobs import crawl
from tools.nginx import Server, free_port, serving

pytestmark = pytest.mark.crawl

HOSTS = {"open.test": "127.0.9.31", "strict.test": "127.0.9.32", "broken.test": "127.0.9.33"}
LINKS = ("public.html", "private/page.html", "private/allowed.html", "temporary", "moved/", "loop")
STRICT = """\
User-agent: *
Disallow: /private/
Allow: /private/allowed.html

User-agent: othercrawler
Disallow: /
"""
DIRECTIVES = """
    location = /temporary { return 302 /public.html?again; }
    location = /loop { return 302 /loop; }
    location /moved/ { return 301 http://open.test:{port}/here.html; }
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    folder = tmp_path_factory.mktemp("robots")
    port = free_port(tuple(HOSTS.values()))
    directives = DIRECTIVES.replace("{port}", str(port))
    servers = []
    for name, address in HOSTS.items():
        root = folder / name
        (root / "private").mkdir(parents=True)
        links = "".join(f'<a href="/{link}">x</a>' for link in LINKS)
        (root / "index.html").write_text(f"<!DOCTYPE html>{links}")
        for page in ("public.html", "here.html", "private/page.html", "private/allowed.html"):
            (root / page).write_text("<!DOCTYPE html><title>page</title>")
        extra = "location = /robots.txt { return 503; }" if name == "broken.test" else ""
        servers.append(Server(address, port, root, directives=directives + extra))
    (folder / "strict.test" / "robots.txt").write_text(STRICT)
    with serving(servers, folder / "nginx", log=True) as nginx:
        crawled = crawl(
            folder / "job",
            [f"http://{name}:{port}/" for name in HOSTS],
            dns={"hosts": HOSTS},
            frontier={"max_retries": 1, "throttled_retries": 0, "last_tries": 1},
        )
        seen = nginx.requests()
    return crawled, {(one.host, one.target): one.status for one in seen}, port, len(seen)


def test_without_robots_txt_everything_is_asked_for(result):
    _, seen, _, _ = result
    asked = {target for host, target in seen if host == "open.test"}
    assert asked >= {f"/{link}" for link in LINKS}


def test_what_is_denied_is_not_asked_for(result):
    crawled, seen, port, _ = result
    assert ("strict.test", "/private/page.html") not in seen
    assert seen["strict.test", "/private/allowed.html"] == 200
    assert crawled.statuses[f"http://strict.test:{port}/private/page.html"] == -9998


def test_robots_txt_is_asked_for_first(result):
    _, seen, _, _ = result
    for name in HOSTS:
        assert next(target for host, target in seen if host == name) == "/robots.txt"


def test_nothing_is_asked_for_twice(result):
    _, seen, _, requests = result
    assert len(seen) == requests


def test_a_server_that_cannot_say_is_left_alone(result):
    crawled, seen, port, _ = result
    assert {target for host, target in seen if host == "broken.test"} == {"/robots.txt"}
    assert crawled.statuses[f"http://broken.test:{port}/"] == -61


def test_redirects_are_kept_and_followed(result):
    crawled, _, port, _ = result
    captures = crawled.captures()
    moved = captures[f"http://strict.test:{port}/moved/"]
    assert (moved.status, moved.headers["location"]) == (301, f"http://open.test:{port}/here.html")
    assert captures[f"http://open.test:{port}/here.html"].status == 200
    assert captures[f"http://open.test:{port}/temporary"].status == 302
    assert captures[f"http://open.test:{port}/public.html?again"].status == 200


def test_a_redirect_to_itself_ends(result):
    crawled, seen, port, _ = result
    assert crawled.statuses[f"http://open.test:{port}/loop"] == 302
    assert seen["open.test", "/loop"] == 302
