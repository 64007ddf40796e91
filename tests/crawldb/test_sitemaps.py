"""What sitemap entries say, within bounds."""

import pytest

from nacre.crawldb.row import ONE
from nacre.crawldb.sitemaps import changefreq_interval, lastmod_time, priority_score

NOW = 1_700_000_000_000


@pytest.mark.parametrize(
    ("text", "score"),
    [("0.8", 0.8), ("1", 1), ("7", 1), ("0", 0.5), ("", 0.5), ("-1", 0.5), ("nan", 0.5),
     ("Infinity", 0.5), ("hoch", 0.5), ("0." + "9" * 99, 0.5)],
)  # fmt: skip
def test_a_priority_is_a_score(text, score):
    assert abs(priority_score(text) - score * ONE) < 1


@pytest.mark.parametrize(
    ("text", "interval"),
    [("always", 60), ("hourly", 3600), (" Daily ", 86_400), ("weekly", 604_800),
     ("monthly", 2_592_000), ("yearly", 7_776_000), ("never", 7_776_000), ("", None),
     ("täglich", None)],
)  # fmt: skip
def test_a_changefreq_is_an_interval_of_the_schedule(text, interval):
    assert changefreq_interval(text, 60, 7_776_000) == interval


@pytest.mark.parametrize(
    ("text", "time"),
    [("2023-01-01", 1_672_531_200_000), ("2023-01-01T08:00:00+08:00", 1_672_531_200_000),
     ("", 0), ("gestern", 0), ("2999-01-01", 0), ("0001-01-01", 0)],
)  # fmt: skip
def test_a_lastmod_is_a_time_of_the_past(text, time):
    assert lastmod_time(text, NOW) == time
