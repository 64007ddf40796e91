"""`inject --refilter`: all known URLs under the rules of now."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.site import nacre

LINES = """\
http://a.test/
http://a.test/x;jsessionid=1\tnutch.score=3\tnutch.fetchInterval=60\tlang=zh
http://a.test/x;jsessionid=2\tnutch.score=2
http://b.test/国;jsessionid=3\tnutch.score=1
http://c.test/
http://c.test/pic.gif
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "c"
    (tmp_path / "seeds.txt").write_text(LINES, "utf-8")
    assert nacre("new", made, "http://a.test/", "--contact", "http://c.test/").code == 0
    assert nacre("cycle", made, "inject", tmp_path / "seeds.txt").code == 0
    return made


def rows(root: Path) -> dict[str, dict[str, Any]]:
    columns = "key, url, score + cash as score, interval, md, excluded, first_seen, inlinks"
    done = nacre("cycle", root, "sql", f"select {columns} from crawldb", "--json")
    return {row["key"]: row for row in json.loads(done.out)}


def with_rules(root: Path) -> None:
    (root / "no.txt").write_text("-\\.gif$\n+.\n")
    (root / "rules.txt").write_text(
        "<regex-normalize><regex><pattern>;jsessionid=\\d+</pattern><substitution/>"
        "</regex></regex-normalize>"
    )


@pytest.mark.slow
def test_rows_move_to_their_normal_form(root: Path):
    before = rows(root)
    with_rules(root)
    sets = ("--set", "uri.normalize=[{normalizer: regex, file: rules.txt}]",
            "--set", "scope=[accept, {rule: nutch-regex, file: no.txt}]")  # fmt: skip
    dry = nacre("cycle", root, "inject", "--refilter", "--dry-run", *sets)
    assert "3 moved" in dry.out, dry.out + dry.err
    assert rows(root) == before
    done = nacre("cycle", root, "inject", "--refilter", *sets)
    assert "1 refused by no.txt:1" in done.out, done.out + done.err
    found = rows(root)
    key, kept = "http://a.test/x", {"http://a.test/", "http://c.test/", "http://c.test/pic.gif"}
    assert set(found) == {key, "http://b.test/%E5%9B%BD", *kept}
    assert (found[key]["score"], found[key]["interval"]) == (5.0, 60)
    assert {name: found[name]["score"] for name in kept} == dict.fromkeys(kept, 1.0)
    assert found["http://c.test/pic.gif"]["excluded"] == "no.txt:1"
    # What moved has another URL, which nothing has judged.
    assert nacre("cycle", root, "update", "--filter", *sets).out.endswith("2 asked again\n")
    said = nacre("cycle", root, "update", "--filter", "--normalize", *sets).out
    assert said.endswith("all known URLs: 0 asked again\n")
    assert nacre("cycle", root, "compact").code == 0
    assert rows(root) == found
