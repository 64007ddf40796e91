"""What `bench.endless` crawls, and what it says of its samples."""

import os
import re
import time
from pathlib import Path

from bench.endless import Sample, growth, page, sample


def test_each_page_is_the_same_again_and_leads_to_others():
    first = page("/", 10, 0)
    assert first == page("/", 10, 0) != page("/wiki/0", 10, 0)
    assert first.count(b"<a href=") == 10


def test_links_have_so_many_letters_at_least():
    links = re.findall(r'href="([^"]+)"', page("/", 200, 100).decode())
    assert len(set(links)) == 200
    assert {len(link) for link in links if "list?" not in link} == {100}
    assert all(len(link) >= 100 for link in links)


def test_the_growth_is_that_of_the_second_half():
    rows = ((1, 90, 100), (5, 200, 1_000), (10, 210, 3_000))
    samples = [Sample(minutes, rss, 0.0, visits) for minutes, rss, visits in rows]
    assert growth(samples, 50) == (2.0, 10.0)
    assert growth(samples[:1], 50) == (0.0, 0.0)


def test_a_sample_of_a_process(tmp_path: Path):
    log = tmp_path / "crawl.log"
    log.write_text("1\n2\n")
    found = sample(os.getpid(), time.monotonic() - 120, log)
    assert found.visits == 2
    assert round(found.minutes) == 2
    assert 5 < found.anonymous < found.rss < 5_000
