"""robots.txt is fetched, archived and searched for sitemaps whether or not it is obeyed."""

from pathlib import Path

import pytest

from tests.crawl.jobs import crawl
from tests.crawl.raw_site import RawSite, raw_site, redirect, reply

pytestmark = pytest.mark.crawl

CUSTOM = "User-agent: *\nDisallow: /custom\n"
POLICIES = {
    "obey": {"policy": "obey"},
    "ignore": {"policy": "ignore"},
    "custom": {"policy": "custom", "custom": CUSTOM},
}


def serve(site: RawSite) -> None:
    urls = f"<urlset><url><loc>{site.origin}/only-in-sitemap</loc></url></urlset>"
    rules = f"User-agent: *\nDisallow: /private\nSitemap: {site.origin}/map.xml\n"
    site.serve(
        {
            "/robots.txt": reply(rules, "text/plain"),
            "/map.xml": reply(urls, "text/xml"),
            **{f"/{name}": reply("<p>x") for name in ("only-in-sitemap", "private", "custom")},
        },
        links=["/private", "/custom"],
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_its_sitemaps_are_followed_under_every_policy(tmp_path: Path, policy: str):
    with raw_site() as site:
        serve(site)
        done = crawl(tmp_path / "job", [site.origin + "/"], robots=POLICIES[policy])
    assert site.asked[0] == "/robots.txt"
    assert site.asked.count("/robots.txt") == 1
    assert done.captures()[site.origin + "/robots.txt"].status == 200
    assert "/only-in-sitemap" in site.asked
    assert ("/private" in site.asked) is (policy != "obey")
    assert ("/custom" in site.asked) is (policy != "custom")


@pytest.mark.parametrize("policy", ["ignore", "custom"])
def test_it_is_not_fetched_if_that_is_switched_off(tmp_path: Path, policy: str):
    with raw_site() as site:
        serve(site)
        crawl(tmp_path / "job", [site.origin + "/"], robots={**POLICIES[policy], "fetch": False})
    assert {"/robots.txt", "/only-in-sitemap"} & set(site.asked) == set()


@pytest.mark.parametrize("policy", ["ignore", "custom"])
@pytest.mark.parametrize(
    "answer",
    [b"", b"HTTP/1.1 503 Busy\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n",
     b"HTTP/1.1 500 x\r\nContent-Length: 0\r\n\r\n", redirect(b"Location: /robots.txt"),
     redirect(b"Location: /loop")],
    ids=["none", "503", "500", "itself", "loop"],
)  # fmt: skip
def test_one_that_fails_keeps_nothing_waiting(tmp_path: Path, policy: str, answer: bytes):
    with raw_site() as site:
        serve(site)
        site.serve({"/robots.txt": answer, "/loop": redirect(b"Location: /loop")})
        done = crawl(
            tmp_path / "job", [site.origin + "/"], robots=POLICIES[policy],
            frontier={"max_retries": 30}, politeness={"delay": 0, "backoff_up_to": 0,
                                                      "respect_retry_after_up_to": 0},
        )  # fmt: skip
    assert site.asked.count("/robots.txt") == 1
    assert done.statuses[site.origin + "/private"] == 200


def test_sheets_have_policies_of_their_own(tmp_path: Path):
    with raw_site() as site, raw_site("127.0.0.2") as other:
        serve(site)
        serve(other)
        host = other.origin.removeprefix("http://")
        crawl(
            tmp_path / "job", [site.origin + "/", other.origin + "/"],
            sheets={"free": {"robots.policy": "ignore"}},
            sheet_associations=[{"sheets": ["free"], "surts": [f"http://{host}"]}],
        )  # fmt: skip
    found = [("/private" in one.asked, "/only-in-sitemap" in one.asked) for one in (site, other)]
    assert found == [(False, True), (True, True)]
