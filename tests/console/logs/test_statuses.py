"""The statuses of a run over its time, out of a crawl.log of any size."""

from pathlib import Path

import pytest

from nacre.console.logs.progress import StatusSample, rates_of, read_statuses
from nacre.core.clock import iso_millis
from nacre.machine.layout import Layout
from tests.console.logs.test_progress import START, logs

EDGES = [START + 100.0 * number for number in range(11)]
LARGE = 4 << 20


def line(time: float, status: int, url: str = "http://a.test/") -> str:
    return f"{iso_millis(time)} {status:>5} - {url} L - text/html #001 - - - -"


def test_each_status_counts_in_its_stretch(tmp_path: Path):
    lines = [
        line(START - 1, 200), line(START + 10, 200), line(START + 20, 304), line(START + 110, 404),
        line(START + 120, 503), line(START + 130, 429), line(START + 210, -2),
        line(START + 220, -9998), line(START + 230, 1, "dns:a.test"), "    an error",
        line(START + 5000, 200),
    ]  # fmt: skip
    past = read_statuses(logs(tmp_path, {"crawl.log": lines}), EDGES, LARGE)
    assert not past.is_sampled
    assert past.rates[:4] == (
        {"2xx": 0.01, "3xx": 0.01}, {"4xx": 0.02, "5xx": 0.01}, {"failed": 0.01, "refused": 0.01},
        {},
    )  # fmt: skip
    assert len(past.rates) == len(EDGES) - 1


def test_logs_before_a_checkpoint_count_too(tmp_path: Path):
    files = {
        "crawl.log.cp00001-20261118110000": [line(START + 10, 200)],
        "crawl.log": [line(START + 110, 200)],
    }
    rates = read_statuses(logs(tmp_path, files), EDGES, LARGE).rates
    assert rates[:3] == ({"2xx": 0.01}, {"2xx": 0.01}, {})


def test_of_a_large_log_samples_tell_the_shares_and_the_speed(tmp_path: Path):
    """50 lines a second; in the second half two in five are refused by the server."""
    times = [START + number / 50 for number in range(50_000)]
    lines = [
        line(time, 503 if time > START + 500 and n % 5 < 2 else 200) for n, time in enumerate(times)
    ]
    layout = logs(tmp_path, {"crawl.log": lines})
    budget = (layout.latest / "logs" / "crawl.log").stat().st_size - 1
    past = read_statuses(layout, EDGES, budget)
    assert past.is_sampled
    for number, rates in enumerate(past.rates):
        assert sum(rates.values()) == pytest.approx(50.0, rel=0.05)
        share = rates.get("5xx", 0.0) / sum(rates.values())
        assert share == pytest.approx(0.0 if number < 5 else 0.4, abs=0.05)


def test_a_log_that_is_not_there_has_no_statuses(tmp_path: Path):
    assert read_statuses(Layout(tmp_path), EDGES, LARGE).rates == ({},) * 10
    assert read_statuses(Layout(tmp_path), [], LARGE).rates == ()


def test_a_sample_is_spread_over_its_time():
    rates = rates_of([StatusSample(50.0, 250.0, {"2xx": 200.0})], [0.0, 100.0, 200.0, 300.0])
    assert rates == ({"2xx": 0.5}, {"2xx": 1.0}, {"2xx": 0.5})
    outside = [StatusSample(-10.0, -10.0, {"2xx": 1.0}), StatusSample(400.0, 500.0, {"2xx": 1.0})]
    assert rates_of(outside, [0.0, 100.0]) == ({},)
    at_the_end = rates_of([StatusSample(100.0, 100.0, {"2xx": 1.0})], [0.0, 100.0])
    assert at_the_end == ({"2xx": 0.01},)
