"""A kind of score of another package, installed as pip would leave it: modules and metadata."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nacre.crawldb.row import ONE
from nacre.crawldb.scoring import SCORINGS, PageScore, distribute
from nacre.cycle.steps.generate import GenerateOptions, generate
from nacre.errors import ConfigError
from tests.cycle.steps.test_generate import lists, opened, seeded

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

    def distribute(
        self, page: PageScore, links: Sequence[LinkShare], total: int
    ) -> tuple[Sequence[LinkShare], ScoreChange]:
        return [one._replace(score=one.score + self.gift) for one in links], ScoreChange(score=-1)
"""
METADATA = "Metadata-Version: 2.1\nName: shallow-score\nVersion: 1.0\n"


@pytest.fixture
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    folder = tmp_path / "site-packages"
    made = folder / "shallow_score-1.0.dist-info"
    made.mkdir(parents=True)
    (folder / "shallow_score.py").write_text(MODULE)
    (made / "METADATA").write_text(METADATA)
    (made / "entry_points.txt").write_text("[nacre.components]\nshallow = shallow_score:Shallow\n")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(SCORINGS, "_looked", False)
    monkeypatch.setattr(SCORINGS, "_parts", dict(SCORINGS._parts))
    monkeypatch.setattr(SCORINGS, "_places", dict(SCORINGS._places))
    yield
    sys.modules.pop("shallow_score", None)


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
