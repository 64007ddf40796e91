import pytest

from nacre.job.activity import SPAN, JobActivity, JobPace, RatePoint


def test_the_rate_is_that_of_the_last_half_minute():
    activity = JobActivity()
    assert activity.pace() == JobPace()
    for second in range(61):
        finished = second if second < 30 else 30 + 5 * (second - 30)
        activity.note(RatePoint(float(second), finished, finished * 100, 9))
        if second == 1:
            assert activity.pace() == JobPace(1.0, 100.0)
    assert activity.pace() == JobPace(5.0, 500.0)
    assert activity.rates[0] == pytest.approx(1.0)
    assert activity.rates[-1] == pytest.approx(5.0)


def test_what_is_in_process_is_an_average_of_the_last_half_minute():
    activity = JobActivity()
    assert activity.busy is None
    for second in range(61):
        # Each fetch takes a fifth of a second; from the middle on there are ten a second.
        worked = 0.2 * second if second < 30 else 6.0 + 2.0 * (second - 30)
        activity.note(RatePoint(float(second), second, 0, 9, worked=worked))
    assert activity.busy == pytest.approx(2.0)


def test_a_process_that_began_anew_has_no_average():
    activity = JobActivity()
    activity.note(RatePoint(0.0, 5, 0, 9, worked=100.0))
    activity.note(RatePoint(10.0, 6, 0, 9, worked=0.5))
    assert activity.busy is None


def test_points_are_ten_seconds_apart_and_ten_minutes_old_at_most():
    activity = JobActivity()
    for second in range(2000):
        activity.note(RatePoint(float(second), second, 0, 9))
    assert len(activity.rates) <= SPAN / 10 + 1
    assert sum(activity.rates) == pytest.approx(len(activity.rates))


def test_another_run_begins_anew():
    activity = JobActivity()
    activity.note(RatePoint(0.0, 1000, 0, 9))
    activity.note(RatePoint(1.0, 1001, 0, 9))
    activity.note(RatePoint(2.0, 3, 0, 9))
    assert activity.pace() == JobPace()


@pytest.mark.parametrize(("queued", "grows"), [(90, False), (110, False), (111, True)])
def test_what_waits_may_grow_faster_than_what_is_done(queued: int, grows: bool):
    activity = JobActivity()
    activity.note(RatePoint(0.0, 10, 0, 100))
    assert not activity.pace().grows
    activity.note(RatePoint(10.0, 20, 0, queued))
    assert activity.pace().grows == grows
    assert not activity.pace().outgrows, "it has not run for long"


@pytest.mark.parametrize(
    ("seconds", "queued", "outgrows"), [(500, 900, False), (600, 50, False), (600, 900, True)]
)
def test_a_job_is_outgrown_over_ten_minutes(seconds: int, queued: int, outgrows: bool):
    activity = JobActivity()
    for time in range(0, seconds + 1, 10):
        share = time / seconds
        activity.note(RatePoint(float(time), int(100 * share), 0, int(queued * share)))
    assert activity.pace().outgrows == outgrows
