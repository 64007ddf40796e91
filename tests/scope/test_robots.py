import pytest
from pydantic import ValidationError

from nacre.scope.robots import RobotsPolicy, RobotsSettings, RobotsState, outcome_of


def test_settings():
    settings = RobotsSettings()
    assert settings.policy is RobotsPolicy.OBEY
    assert settings.max_bytes >= 500 * 1024
    assert settings.max_redirects >= 5
    assert settings.ttl <= 86400
    with pytest.raises(ValidationError):
        RobotsSettings(agent="*")


@pytest.mark.parametrize(
    ("statuses", "outcome"),
    [
        ((200, 204, 206), RobotsState.RULES),
        ((301, 302, 303, 307, 308), RobotsState.REDIRECT),
        ((400, 401, 403, 404, 410, 429, 451), RobotsState.ALLOW),
        ((500, 503, 599, 999, 0, -1, -2, -3, -4, -6, -7), RobotsState.UNREACHABLE),
    ],
)
def test_what_a_status_means(statuses, outcome):
    assert {outcome_of(status) for status in statuses} == {outcome}


def test_rules_hold_longer_than_a_queue_waits():
    with pytest.raises(ValidationError, match="3600"):
        RobotsSettings.model_validate({"ttl": "5m"})
