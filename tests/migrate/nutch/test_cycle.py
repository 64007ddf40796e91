"""Scores and conditions of Nutch's cycle become settings."""

from pathlib import Path

import pytest

from nacre.crawldb.scoring import DepthScoring, InheritedMetadata, NutchOpic, Opic, OrphanScoring
from nacre_migrate.report import Flag, MigrationOutcome
from tests.migrate.nutch.test_plugins import converted

ON = "protocol-http|urlfilter-regex|scoring-(opic|depth|orphan)|urlmeta"


def test_a_stock_configuration_leaves_the_scores_to_nacre(tmp_path: Path):
    said, found = converted(tmp_path, {"db.score.link.external": "1.0"})
    assert [type(one) for one in said.cycle.scoring] == [Opic]
    assert found["db.score.link.external"].outcome is MigrationOutcome.DEFAULTED


def test_kinds_of_score_in_their_order(tmp_path: Path):
    site = {
        "plugin.includes": ON,
        "scoring.depth.max": "5",
        "db.score.link.external": "0.5",
        "db.score.count.filtered": "true",
        "scoring.orphan.mark.gone.after": "100",
        "urlmeta.tags": "主题, source",
    }
    said, found = converted(tmp_path, site)
    depth, opic, orphan, tags = said.cycle.scoring
    assert isinstance(depth, DepthScoring)
    assert depth.max == 5
    assert isinstance(opic, NutchOpic)
    assert (opic.internal, opic.external, opic.count_filtered) == (1.0, 0.5, True)
    assert isinstance(orphan, OrphanScoring)
    assert orphan.gone_after == 100
    assert isinstance(tags, InheritedMetadata)
    assert tags.tags == ("主题", "source")
    for name in ("db.score.link.external", "urlmeta.tags", "scoring.orphan.mark.gone.after"):
        assert found[name].outcome is MigrationOutcome.MAPPED


def test_a_factor_alone_keeps_the_plugin(tmp_path: Path):
    said, _ = converted(tmp_path, {"db.score.link.internal": "0.1"})
    [opic] = said.cycle.scoring
    assert isinstance(opic, NutchOpic)
    assert opic.internal == 0.1


@pytest.mark.parametrize(
    ("expression", "sql"),
    [
        ("unfetched + fetched > 800000 ? 300 : 50", "case when"),
        ("if (unfetched > 3) { return 5 }", ""),
        ("conf.getInt('x', 3)", ""),
    ],
)
def test_a_condition_over_hosts(tmp_path: Path, expression: str, sql: str):
    said, found = converted(tmp_path, {"generate.max.count.expr": expression})
    if sql:
        assert said.cycle.generate.max_count_where.startswith(sql)
        assert "host.unfetched" in said.cycle.generate.max_count_where
    else:
        assert said.cycle.generate.max_count_where == ""
        assert found["generate.max.count.expr"].flag is Flag.CHECK
