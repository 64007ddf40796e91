"""The expected time of hosts: the wait between two fetches, and the fetch itself."""

import pytest

from nacre.frontier.settings import PolitenessSettings
from nacre.rounds.steps.fetch_time import LATENCY, fetch_spacing


@pytest.mark.parametrize(
    ("polite", "delay", "latency", "expected"),
    [
        ({"delay": 3}, 0.0, 0.0, 3.0 + LATENCY),
        ({"delay": 3}, 0.0, 0.5, 3.5),
        ({"delay": 3}, 30.0, 0.5, 30.5),
        ({"delay": 0}, 0.0, 0.0, LATENCY),
        ({"delay": 0, "in_flight": 4}, 0.0, 0.4, 0.1),
        ({"min_delay": 1}, 0.0, 0.0, 1.0 + LATENCY),
        ({"min_delay": 1}, 0.0, 2.0, 12.0),
        ({"min_delay": 1, "max_delay": 8}, 0.0, 2.0, 10.0),
    ],
)
def test_the_time_from_one_fetch_to_the_next(polite, delay, latency, expected):
    settings = PolitenessSettings.model_validate(polite)
    assert fetch_spacing(settings, delay, latency) == pytest.approx(expected)
