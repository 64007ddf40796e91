"""`nacre index JOB`: pages of a continuous crawl that come, change and go."""

import json
from typing import Any

import pytest

from tests.cli.site import ServedPage, nacre, site

pytestmark = pytest.mark.crawl


def told(root, *words: str) -> dict[str, Any]:
    done = nacre("index", root, "--json", *words)
    assert done.code == 0, done.err
    numbers: dict[str, Any] = json.loads(done.out)
    return numbers


def searched(root, *words: str) -> list[str]:
    done = nacre("search", root, *words, "--json")
    assert done.code in {0, 10}, done.err
    return sorted(hit["url"].rpartition("/")[2] for hit in json.loads(done.out)["hits"])


def test_pages_of_a_continuous_crawl_come_change_and_go(tmp_path):
    root = tmp_path / "书"
    links = "".join(f"<a href=/{one}>x</a>" for one in ("g", "c", "v", "m", "n", "s"))
    same = "<p>the very same text</p>"
    pages: dict[str, ServedPage] = {
        "/": f"<p>the quick brown fox</p>{links}<img src=i.png>",
        "/i.png": "PNG",
        "/g": "<meta charset=gbk><p>国家图书馆是国家总书库</p>".encode("gbk"),
        "/c": "<p>an old text that changes</p>",
        "/v": "<p>this one vanishes</p>",
        "/m": same,
        "/s": same,
        "/n": "<meta name=robots content=noindex><p>nobody may find this</p>",
    }
    with site(pages) as home:
        done = nacre("crawl", home, "--out", root, "--delay", "0")
        assert done.code == 0, done.err
        assert told(root, "--dry-run")["added"] == 8
        assert not (root / "index" / "search").exists()
        result = told(root)
        assert (result["added"], result["skipped"]) == (6, {"noindex": 1})
        assert searched(root, "国家图书馆") == ["g"]
        shown = nacre("index", root, "--check", f"{home}g")
        assert "content: 国家图书馆是国家总书库" in shown.out, shown.err
        assert "writer local: is given it" in shown.out
        assert "say noindex" in nacre("index", root, "--check", f"{home}n").out
        assert "no text" in nacre("index", root, "--check", f"{home}i.png").out
        assert searched(root, '"very same"') == ["m", "s"]
        assert searched(root, "nobody") == []
        assert told(root)["added"] == 0
        pages["/c"] = "<p>a text that is another now</p>"
        pages["/m"] = (301, "/g")
        del pages["/v"]
        done = nacre("recrawl", root, "--full")
        assert done.code == 0, done.err
    indexes = "".join(path.read_text("utf-8") for path in sorted(root.rglob("*.cdxj")))
    assert indexes.count('"status": "404"') >= 1, done.err
    dry = told(root, "--dry-run")
    result = told(root)
    assert (result["added"], result["updated"]) == (dry["added"], dry["updated"]) == (0, 1)
    assert result["deleted"] == {"gone": 1, "redirect": 1}
    assert searched(root, "another") == ["c"]
    assert searched(root, "vanishes") == []
    assert searched(root, '"very same"') == ["s"]
    rebuilt = told(root, "--rebuild")
    assert rebuilt["added"] + rebuilt["updated"] == 4
    assert searched(root, "another") == ["c"]
