"""The section `cycle`: defaults, what is refused, and that it costs a crawl nothing."""

import subprocess
import sys

import pytest
from pydantic import ValidationError

from nacre.crawldb.scoring import DepthScoring, NutchOpic, Opic
from nacre.crawldb.settings import CycleSettings
from nacre.settings.settings import JobSettings


def test_defaults_are_those_of_nutchs_crawl_script():
    cycle = JobSettings().cycle
    assert (cycle.generate.top, cycle.generate.lease) == (50_000, 7 * 86_400)
    assert cycle.fetch.time_limit == 180 * 60
    assert (cycle.update.retry_max, cycle.update.additions) == (3, True)
    assert cycle.scoring == (Opic(),)
    assert cycle.dedup.order == ("score", "fetchTime", "urlLength")


def test_scores_are_listed_by_name_or_with_settings():
    said = {"scoring": ["nutch-opic", {"scoring": "depth", "max": 3}]}
    assert CycleSettings.model_validate(said).scoring == (NutchOpic(), DepthScoring(max=3))


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"buckets": 48}, "the next ones: 32, 64"),
        ({"scoring": ["opik"]}, "did you mean `opic`"),
        ({"scoring": ["opic", "opic"]}, "`opic` stands twice"),
        ({"generate": {"count": "page"}}, "'host' or 'domain'"),
        ({"dedup": {"order": []}}, "at least 1"),
        ({"inject": {"score": 1e300}}, "less than or equal to 1000000000000000"),
        ({"inject": {"score": float("nan")}}, "finite"),
        ({"colour": 1}, "Extra inputs"),
    ],
)
def test_what_is_wrong_is_refused(said, message):
    with pytest.raises(ValidationError, match=message):
        CycleSettings.model_validate(said)


def test_a_crawl_imports_neither_duckdb_nor_arrow():
    code = (
        "import sys, nacre.cli, nacre.settings.settings\n"
        "sys.exit(' '.join({'duckdb', 'pyarrow', 'nacre.rounds'} & set(sys.modules)) or None)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
