"""What may be set about visiting a site again, and within which bounds."""

import pytest
from pydantic import ValidationError

from nacre.planner.settings import RecrawlSettings

DAY = 86_400.0


def test_what_nobody_set() -> None:
    settings = RecrawlSettings()
    assert (settings.aim, settings.schedule.kind, settings.hints) == ("versions", "worth", True)
    assert (settings.recall, settings.least, settings.lots) == (0.995, 0.004, 0.003)
    assert (settings.floor, settings.embed_floor, settings.half_life) == (
        180 * DAY, 365 * DAY, 180 * DAY
    )  # fmt: skip
    assert settings.idle_parameters == "report"


@pytest.mark.parametrize("name", ["recall", "least", "least_silent", "least_file", "least_embed",
                                  "lots", "trap_share", "audits"])  # fmt: skip
def test_shares_lie_between_nothing_and_all(name: str) -> None:
    for share in (0, 0.5, 1):
        assert getattr(RecrawlSettings.model_validate({name: share}), name) == share
    for wrong in (-0.01, 1.01, "much"):
        with pytest.raises(ValidationError, match=name):
            RecrawlSettings.model_validate({name: wrong})


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *(("aim", "all"), ("idle_parameters", "drop"), ("gap", 0), ("probes", -1)),
        ("half_life", "often"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(name: str, wrong: object) -> None:
    with pytest.raises(ValidationError, match=name):
        RecrawlSettings.model_validate({name: wrong})


def test_times_have_units() -> None:
    settings = RecrawlSettings.model_validate({"floor": "30d", "gap": "90m"})
    assert (settings.floor, settings.gap) == (30 * DAY, 5400.0)


def test_jobs_with_a_setting_that_has_no_effect_any_more_open() -> None:
    assert RecrawlSettings.model_validate({"drift": 4.0, "gap_probes": 50}) == RecrawlSettings()
