"""Links of a page out of the archive of a continuous crawl."""

import json
from pathlib import Path

from tests.cli.site import PAGES, ServedPage, nacre, site


def test_links_to_a_page_and_on_it(tmp_path: Path):
    job = tmp_path / "job"
    with site(PAGES) as home:
        assert nacre("crawl", home, "--scope", "host", "--out", job, "--delay", 0, "-q").code in {
            0,
            4,
            8,
        }
        on_it = json.loads(nacre("links", job, home, "--out", "--json").out)
        targets = [one["dst"] for one in on_it if one["dst"].startswith(home)]
        assert targets
        to_it = json.loads(nacre("links", job, targets[0], "--json").out)
        assert home in {one["src"] for one in to_it}
        assert targets[0] in nacre("links", job, home, "--out").out
        other = nacre("links", job, "http://other.test/")
        assert (other.code, other.out) == (0, "no page of the archive links to it\n")
    assert nacre("new", tmp_path / "new", "http://a.test/").code == 0
    none = nacre("links", tmp_path / "new", "http://a.test/")
    assert (none.code, "no archive yet" in none.err) == (2, True)


def test_of_a_page_that_changed_the_newest_links_count(tmp_path: Path):
    job = tmp_path / "job"
    pages: dict[str, ServedPage] = {
        "/": "<a href=/a>a</a><a href=/b>b</a><a href=/c>c</a>",
        "/a": "<a href=/c>c</a>",
        "/b": "<a href=/c>c</a>",
        "/c": "<p>c",
    }

    def linking() -> list[str]:
        found = json.loads(nacre("links", job, f"{home}c", "--json").out)
        return sorted(one["src"].removeprefix(home) for one in found)

    with site(pages) as home:
        nacre("crawl", home, "--scope", "host", "--out", job, "--delay", 0, "-q")
        assert linking() == ["", "a", "b"]
        pages["/"] = "<a href=/a>a</a><a href=/b>b</a>"
        del pages["/a"]
        nacre("recrawl", job, "--full", "-q")
        assert linking() == ["b"]
