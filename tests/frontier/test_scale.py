"""The frontier is not a dictionary in memory: a small cache, many URIs, an instant start."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]


def measured(*arguments: str) -> list[dict[str, float]]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.frontier.scale", *arguments],
        capture_output=True,
        check=True,
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": f"{CHECKOUT / 'src'}{os.pathsep}{CHECKOUT}"},
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def assert_memory_is_bounded(store: Path, uris: int, growth: float) -> None:
    """Fill it to a tenth, then to all; then resume."""
    seen = measured("fill", str(store), str(uris), str(uris // 10))
    assert seen[-1]["uris"] == uris
    assert seen[-1]["rss"] - seen[0]["rss"] <= growth
    (first,) = measured("resume", str(store))
    assert first["cpu"] <= 3.0
    assert first["url"]


@pytest.mark.timeout(300)
@pytest.mark.slow
def test_memory_does_not_follow_the_number_of_uris(tmp_path: Path):
    assert_memory_is_bounded(tmp_path / "store", 100_000, growth=75.0)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_ten_million_uris_take_no_more_memory_than_one_million(tmp_path: Path):
    assert_memory_is_bounded(tmp_path / "store", 10_000_000, growth=150.0)
