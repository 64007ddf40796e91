"""Seeds of rounds on loopback: those that redirect, have their own scope, or have no scheme."""

import json
from pathlib import Path

import pytest

from tests.cli.site import Pages, everywhere, nacre

pytestmark = [pytest.mark.crawl, pytest.mark.slow]

PAGES = {
    "127.0.0.1/": '<a href="/书.html">a</a> <a href="http://127.0.0.4:{port}/out.html">b</a>',
    "127.0.0.1/%E4%B9%A6.html": "<p>书</p>",
    "127.0.0.2/": "-> http://127.0.0.5:{port}/new/",
    "127.0.0.5/new/": '<a href="x.html">x</a>',
    "127.0.0.5/new/x.html": '<a href="y.html">y</a>',
    "127.0.0.5/new/y.html": "<p>y</p>",
    "127.0.0.3/dir/": '<a href="a.html">a</a><a href="/other.html">o</a>',
    "127.0.0.3/dir/a.html": '<a href="b.html">b</a><a href="/other.html">o</a>',
    "127.0.0.3/dir/b.html": "<p>b</p>",
    "127.0.0.6/dir/": "-> http://127.0.0.7:{port}/moved/",
    "127.0.0.7/moved/": '<a href="z.html">z</a><a href="/other.html">o</a>',
    "127.0.0.7/moved/z.html": '<a href="/other.html">o</a><a href="w.html">w</a>',
}


class _Hosts(Pages):
    """Pages by host and path."""

    def page(self) -> str | None:
        name, _, port = str(self.headers.get("Host")).partition(":")
        text = PAGES.get(name + self.path)
        return text.replace("{port}", port) if text else None


def test_seeds_keep_their_scope_over_rounds_where_they_redirect_and_without_a_scheme(
    tmp_path: Path,
):
    root = tmp_path / "j"
    with everywhere(_Hosts) as port:
        lines = [
            f"127.0.0.1:{port}",
            f"http://127.0.0.2:{port}/",
            f"http://127.0.0.3:{port}/dir/ scope=prefix",
            f"http://127.0.0.6:{port}/dir/\tscope=prefix",
        ]
        (tmp_path / "seeds.txt").write_text("\n".join(lines))
        done = nacre(
            "cycle", str(root), "-s", str(tmp_path / "seeds.txt"), "--rounds", "4", "--units", "1",
            "--scope", "host", "--delay", "0", "--allow-net", "127.0.0.0/8",
            "--set", "extract.infer_favicon=false",
        )  # fmt: skip
    assert done.code == 0, done.err
    assert "2 new seeds, where seeds moved to" in done.err
    query = "select key, status, source, cash, score from crawldb"
    rows = json.loads(nacre("cycle", str(root), "sql", query, "--json").out)
    port_text = f":{port}"
    found = {row["key"].replace(port_text, ""): row["status"] for row in rows}
    assert found == {
        "https://127.0.0.1/": "db_unfetched",
        "http://127.0.0.1/": "db_fetched",
        "http://127.0.0.1/%E4%B9%A6.html": "db_fetched",
        "http://127.0.0.2/": "db_redir_perm",
        "http://127.0.0.5/new/": "db_fetched",
        "http://127.0.0.5/new/x.html": "db_fetched",
        "http://127.0.0.5/new/y.html": "db_fetched",
        "http://127.0.0.3/dir/": "db_fetched",
        "http://127.0.0.3/dir/a.html": "db_fetched",
        "http://127.0.0.3/dir/b.html": "db_fetched",
        "http://127.0.0.6/dir/": "db_redir_perm",
        "http://127.0.0.7/moved/": "db_fetched",
        "http://127.0.0.7/moved/z.html": "db_fetched",
        "http://127.0.0.7/moved/w.html": "db_gone",
    }
    # What stands in for a seed has its cash, and gave it away; the seed has what seeds are given.
    by_key = {row["key"].replace(port_text, ""): row for row in rows}
    assert int(by_key["http://127.0.0.1/"]["cash"]) == 0
    assert int(by_key["http://127.0.0.1/"]["score"]) > 0
    said = nacre("cycle", str(root), "storage", "check")
    assert said.code == 0, said.err + said.out


def test_a_dry_run_says_that_an_edited_list_becomes_rows(tmp_path):
    root = tmp_path / "job"
    assert nacre("new", root, "http://a.test/").code == 0
    assert nacre("cycle", root, "inject").code == 0
    assert "become rows" not in nacre("cycle", root, "generate", "--dry-run").err
    with (root / "seeds.txt").open("a", encoding="utf-8") as file:
        file.write("http://书.test/\n")
    planned = nacre("cycle", root, "generate", "--dry-run")
    assert "the seed lines of this cycle first become rows of the table `seeds`" in planned.err
    assert nacre("cycle", root, "versions").out.count("seeds") == 0
    assert nacre("cycle", root, "generate").code == 0
    assert "seeds" in nacre("cycle", root, "versions").out
