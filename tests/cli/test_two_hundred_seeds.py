"""A newcomer's list: 200 lines, ten of them broken, in one command (docs/howto.md tells of it).

What failed: the eleventh bad line stopped everything, or nothing said which of 200 were missing.
"""

import json
from pathlib import Path

import pytest

from tests.cli.broken_servers import broken
from tests.cli.site import Pages, everywhere, nacre

SITES = 190


class _Sites(Pages):
    """As many sites as there are addresses: a home page with two others."""

    def page(self) -> str | None:
        if self.path not in {"/", "/p1.html", "/通知.html", "/%E9%80%9A%E7%9F%A5.html"}:
            return None
        links = '<a href="p1.html">1</a> <a href="通知.html">2</a>' if self.path == "/" else ""
        return f"{self.headers['Host']} {self.path}{links}"


@pytest.mark.crawl
def test_two_hundred_seeds_of_which_ten_are_broken(tmp_path: Path):
    job, path = tmp_path / "job", tmp_path / "种子.txt"
    with everywhere(_Sites) as port, broken(accepts=False) as dead, broken(accepts=True) as rude:
        good = [f"http://127.1.{n // 100}.{n % 100 + 1}:{port}/" for n in range(SITES)]
        gone = [f"http://127.2.0.1:{port}/gone.html", f"http://127.2.0.2:{port}/公告.html"]
        refusing = [f"{dead}{name}" for name in ("a", "b", "c")]
        lines = ["# 图书馆", *good, *gone, *refusing, rude, "htp:/127.1.0.1/", "看去年的表", "a b"]
        path.write_bytes("\r\n".join([*lines, "http://[::1"]).encode("gbk"))
        done = nacre(
            "crawl", "-i", path, "--out", job, "--delay", 0, "-q", "--json",
            "--set", "frontier.max_retries=2", "--set", "frontier.retry_delay=0.1",
        )  # fmt: skip
    assert done.code == 0, done.err
    told = json.loads(done.out)
    seeds = told["seeds"]
    assert (seeds["got"], seeds["errors"], seeds["skipped"]) == (SITES, 2, 4)
    assert (seeds["no_reply"], seeds["total"]) == (4, 196)
    assert told["documents"] == SITES * 3
    causes = {end["url"]: end["cause"] for end in seeds["not_got"]}
    assert {causes[url] for url in refusing} == {"connection refused"}
    assert causes[rude].startswith(("connection ", "closed "))
    assert causes[gone[0]] == "the server answered 404 (Not Found)"
    assert nacre("archive", job, "check").code == 0
