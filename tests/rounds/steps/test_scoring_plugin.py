"""A kind of score of another package, installed as pip would leave it: modules and metadata."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.crawldb.row import ONE
from nacre.crawldb.scoring import SCORINGS, PageScore, distribute
from nacre.errors import ConfigError
from nacre.rounds.steps.generate import GenerateOptions, generate
from tests.cli.site import ServedPage, nacre, site
from tests.config.plugin_package import plugged_in
from tests.rounds.steps.test_generate import lists, opened, seeded

MODULE = """
from collections.abc import Sequence
from typing import Literal

from nacre.plugin import LinkShare, PageScore, ScoreChange, Scoring, setting


class Shallow(Scoring):
    contract = 1
    scoring: Literal["shallow"] = "shallow"
    columns = ("key",)
    gift: int = setting(1, "What a link gets, in 2^-32.", unit="scores", sheets=False)

    def sort_sql(self, inner: str) -> str:
        return f"({inner} / length(key))"

    def boost_sql(self, inner: str) -> str:
        return f"({inner} / length(key))"

    def distribute(
        self, page: PageScore, links: Sequence[LinkShare], total: int
    ) -> tuple[Sequence[LinkShare], ScoreChange]:
        return [one._replace(score=one.score + self.gift) for one in links], ScoreChange(score=-1)
"""


@pytest.fixture
def _installed(tmp_path: Path) -> Iterator[None]:
    parts = {"shallow": "Shallow"}
    with plugged_in(tmp_path / "site-packages", "shallow_score", MODULE, parts, SCORINGS):
        yield


URLS = ("http://a.test/long/way/down.html", "http://a.test/b", "http://a.test/middle.html")


@pytest.mark.usefixtures("_installed")
def test_a_kind_of_another_package_sorts_lists_and_gives_to_links(tmp_path: Path):
    root = tmp_path / "job"
    seeded(root, *URLS)
    said = {"scoring": ["nutch-opic", {"scoring": "shallow", "gift": 5}]}
    with opened(root, cycle=said) as context:
        chain = context.settings.cycle.scoring
        found = generate(context, GenerateOptions(top=1))
    assert [[row["key"] for row in rows] for rows in lists(root, found)] == [["http://a.test/b"]]
    links, own = distribute(chain, PageScore(score=2 * ONE), [True, False], 2)
    assert [one.score for one in links] == [ONE + 5, ONE + 5]
    assert own.score == -1


def test_a_kind_that_no_package_has(tmp_path: Path):
    with (
        pytest.raises(ConfigError, match=r"there is no .*'shallow'"),
        opened(tmp_path / "job", cycle={"scoring": ["shallow"]}),
    ):
        pass


@pytest.mark.crawl
@pytest.mark.usefixtures("_installed")
def test_a_kind_of_another_package_says_what_comes_first_in_a_search(tmp_path: Path):
    pages: dict[str, ServedPage] = {
        "/": '<a href="/long-names-count-less.html">x</a> <a href="/b">x</a>',
        "/long-names-count-less.html": "<p>the quick brown fox jumps</p>",
        "/b": "<p>the quick brown fox sleeps</p>",
    }
    root = tmp_path / "rounds"
    options = ("--rounds", "2", "--delay", "0", "--dedup", "off")
    said = "cycle.scoring=[nutch-opic, {scoring: shallow, gift: 0}]"
    both = "cycle.index.writers=[local, jsonl]"
    bare = "extract.infer_favicon=false"
    with site(pages) as home:
        done = nacre(
            "cycle", root, "-s", home, *options, "--set", said, "--set", both, "--set", bare
        )
    assert done.code == 0, done.err
    assert nacre("cycle", root, "index").code == 0
    (file,) = (root / "index" / "jsonl").glob("documents-*.jsonl")
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    boosts = {one["id"]: one["boost"] for one in lines}
    # The start page keeps its score of 1 and gives the half of it to each of its links.
    assert boosts == {
        home: pytest.approx(1 / len(home)),
        **{
            home + name: pytest.approx(0.5**0.5 / len(home + name))
            for name in ("b", "long-names-count-less.html")
        },
    }
    hits = json.loads(nacre("search", root, "fox", "--json").out)["hits"]
    assert [one["url"] for one in hits] == [f"{home}b", f"{home}long-names-count-less.html"]
