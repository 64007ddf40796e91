"""`generate --urls`: lists of URLs that somebody names."""

import json
from pathlib import Path

import pytest

from tests.cli.site import PAGES, nacre, site

pytestmark = pytest.mark.crawl


def test_given_urls_are_fetched_whatever_is_known(tmp_path: Path):
    root, file = tmp_path / "c", tmp_path / "网址.txt"
    with site({**PAGES, "/%E6%96%B0.html": "<p>新</p>"}) as home:
        assert nacre("new", root, home, "--delay", "0").code == 0
        assert nacre("cycle", root, "inject").code == 0
        file.write_text(f"{home}新.html\n{home}b.html\n{home}b.html\nhttp//bad/\n{home}\n", "utf-8")
        dry = nacre("cycle", root, "generate", "--urls", file, "--dry-run")
        assert dry.out.startswith("4 URLs, 1 listed twice; 1 line malformed; 3 in 1 unit")
        made = json.loads(nacre("cycle", root, "generate", "--urls", file, "--json").out)
        assert (made["selected"], made["malformed"][0]["line"]) == (3, 4)
        said = nacre("cycle", root, "explain", f"{home}新.html").out
        assert "not known" in said
        assert f", by generate --urls {file}" in said
        said = nacre("cycle", root, "explain", f"{home}a.html").out
        assert f"it is none of the 3 URLs of {file} (generate --urls)" in said
        assert nacre("cycle", root, "fetch").out.startswith("3 pages")
        # What is fetched by its name holds no lease: the seed is due as before.
        assert json.loads(nacre("cycle", root, "generate", "--dry-run", "--json").out)["due"] == 1
        done = json.loads(nacre("cycle", root, "update", "--json").out)
    assert {(one["old"], one["new"]): one["rows"] for one in done["transitions"]} == {
        ("db_unfetched", "db_fetched"): 1,
        ("new", "db_fetched"): 2,
    }
    assert done["segments"] == made["segments"]


def test_given_urls_that_are_not_known_stay_unknown_without_additions(tmp_path: Path):
    root = tmp_path / "c"
    with site(PAGES) as home:
        assert nacre("new", root, home, "--delay", "0").code == 0
        assert nacre("cycle", root, "inject").code == 0
        assert nacre("cycle", root, "generate", "--urls", home, "--urls", f"{home}b.html").code == 0
        assert nacre("cycle", root, "fetch").code == 0
        done = nacre("cycle", root, "update", "--no-additions", "--dry-run")
        assert "; 1 visit of URLs that are not known left out" in done.out
        done = json.loads(nacre("cycle", root, "update", "--no-additions", "--json").out)
    assert (done["visits"], done["unknown"]) == (1, 1)
    rows = json.loads(nacre("cycle", root, "sql", "select key from crawldb", "--json").out)
    assert rows == [{"key": home}]


def test_options_of_a_choice_do_not_go_with_given_urls(tmp_path: Path):
    root = tmp_path / "c"
    done = nacre("cycle", root, "generate", "--urls", "http://a.test/", "--where", "score > 1")
    assert (done.code, "--where chooses among known URLs" in done.err) == (2, True)
    for option in (("--add-days", "0"), ("--where", ""), ("--time-limit", "")):  # the defaults
        done = nacre("cycle", root, "generate", "--urls", "http://a.test/", *option)
        assert (done.code, f"{option[0]} chooses among known URLs" in done.err) == (2, True)
    done = nacre("cycle", root, "generate", "--normalize")
    assert (done.code, "inject --refilter" in done.err) == (2, True)
