import pytest

from nacre.job.configuration.settings import JobSettings
from nacre.job.running.space import longest_wait


@pytest.mark.parametrize(
    ("given", "on_terminal", "longest"),
    [(None, False, 3600.0), (None, True, None), (60.0, False, 60.0), (60.0, True, 60.0)],
)
def test_a_pause_for_space_lasts_for_ever_only_where_somebody_watches(given, on_terminal, longest):
    settings = JobSettings.model_validate({"disk": {"max_wait": given}})
    assert longest_wait(settings, on_terminal=on_terminal) == longest
