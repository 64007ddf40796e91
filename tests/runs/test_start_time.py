import pytest

from nacre.runs.start_time import refusal, set_back_warning

LATEST = 1_767_225_600.5  # 2026-01-01T00:00:00.5Z


@pytest.mark.parametrize(("behind", "text"), [(0.25, "250 ms"), (86_400, "1 d")])
def test_a_time_before_the_last_run_is_refused(behind: float, text: str):
    error = refusal(LATEST - behind, LATEST, "crawls/档案")
    assert f"--now is {text} before the end of the last run of crawls/档案" in error
    assert "Use a time from 2026-01-01T00:00:01Z on" in error


@pytest.mark.parametrize("now", [LATEST, LATEST + 1])
def test_a_time_from_the_end_of_the_last_run_on_is_accepted(now: float):
    assert refusal(now, LATEST, "demo") == ""
    assert refusal(now, 0.0, "demo") == ""


@pytest.mark.parametrize("behind", [-5.0, 0.0, 60.0])
def test_a_clock_that_was_corrected_does_not_warn(behind: float):
    assert set_back_warning(LATEST - behind, LATEST, "demo") == ""


def test_a_clock_that_was_set_back_warns():
    warning = set_back_warning(LATEST - 61, LATEST, "demo")
    assert "the last run of demo ended 1 min 1 s after the present" in warning
    assert "use --now with a time from 2026-01-01T00:00:01Z on" in warning
