import pytest

from nacre.console.schedules.rhythms import (
    OFTEN,
    Rhythm,
    rhythm_of,
    sent_rhythm,
    typed_rhythm,
)
from nacre.errors import ConfigError


@pytest.mark.parametrize(
    ("at", "rhythm"),
    [
        ("15 * * * *", Rhythm("hourly", 0, 15)),
        ("30 2 * * *", Rhythm("daily", 2, 30)),
        ("30 2 * * 1", Rhythm("weekly", 2, 30, 1)),
        ("5 23 * * 0", Rhythm("weekly", 23, 5, 0)),
        ("0 4 31 * *", Rhythm("monthly", 4, 0, day=31)),
    ],
)
def test_a_rhythm_is_times_of_cron_and_known_by_them(at: str, rhythm: Rhythm):
    assert rhythm.at == at
    assert rhythm_of(at) == rhythm
    assert rhythm_of(f" {at.replace(' ', '  ')}\n") == rhythm


@pytest.mark.parametrize(
    ("at", "same"),
    [
        ("@hourly", "0 * * * *"),
        ("@daily", "0 0 * * *"),
        ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("0 6 * * 7", "0 6 * * 0"),
        ("0 6 * * Fri", "0 6 * * 5"),
    ],
)
def test_other_ways_to_say_the_same_are_known(at: str, same: str):
    assert rhythm_of(at).at == same


@pytest.mark.parametrize(
    "at",
    ["", "@yearly", "*/5 * * * *", "0 2 * * 1-5", "0 2 1 * 1", "0 2 1 6 *", "0 * 1 * *",
     "60 2 * * *", "0 24 * * *", "0 2 0 * *", "0 2 32 * *", "every Monday", "0 \u0662 * * *"],
)  # fmt: skip
def test_what_is_said_by_cron_alone_stays_so(at: str):
    assert rhythm_of(at).often == "cron"


def test_a_form_says_a_rhythm():
    form = {"often": "weekly", "time": "02:30", "weekday": "5", "day": "x", "at": "@daily"}
    assert sent_rhythm(form).at == "30 2 * * 5"
    assert sent_rhythm({"often": "monthly", "time": "9:05:00", "day": "31"}).at == "5 9 31 * *"
    assert sent_rhythm({"often": "hourly", "time": "00:45"}).at == "45 * * * *"
    assert sent_rhythm({"at": "@daily"}).often == "cron"
    assert sent_rhythm({"often": "cron", "time": "x"}).often == "cron"
    assert {sent_rhythm({"often": one, "time": "02:00"}).often for one in OFTEN} == set(OFTEN)


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        ({"often": "yearly"}, "often"),
        ({"time": ""}, "time"),
        ({"time": "24:00"}, "time"),
        ({"time": "02:60"}, "time"),
        ({"weekday": "7"}, "weekday"),
        ({"often": "monthly", "day": "0"}, "day"),
        ({"often": "monthly", "day": "32"}, "day"),
        ({"often": "monthly", "day": "\u0661"}, "day"),
    ],
)
def test_a_form_that_says_none_is_refused_and_keeps_its_choice(wrong: dict[str, str], path: str):
    form = {"often": "weekly", "time": "02:30", "weekday": "5"} | wrong
    with pytest.raises(ConfigError) as refused:
        sent_rhythm(form)
    assert [one.path for one in refused.value.problems] == [path]
    assert typed_rhythm(form).often == ("cron" if form["often"] == "yearly" else form["often"])
