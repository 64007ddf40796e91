"""What is counted, and how the table judges it."""

from bench.crawler import CrawlRun, Found, found
from bench.process import Usage
from bench.report import crawls, others, table, verdict

LOG = """\
2026-11-21T11:02:31.362Z     1   50 dns:a.test P http://a.test/ text/dns #000 - - - -
2026-11-21T11:02:31.369Z   404  146 http://a.test/robots.txt P http://a.test/ text/html #000 - - - -
2026-11-21T11:02:31.377Z   200 4773 http://a.test/ - - text/html #000 - - - -
2026-11-21T11:02:31.385Z   404  146 http://a.test/favicon.ico I http://a.test/ text/html #0 - - - -
2026-11-21T11:02:31.387Z   200 3665 http://a.test/b L http://a.test/ text/html #001 - - - -
2026-11-21T11:02:31.388Z   404  146 http://a.test/guess LX http://a.test/b text/html #001 - - - -
2026-11-21T11:02:31.389Z    -9998 - http://a.test/no L http://a.test/b unknown #001 - - - -
"""


def run(cpu: float) -> CrawlRun:
    usage = Usage(cpu, cpu * 2, 100_000_000, 0)
    return CrawlRun(usage, Found(fetched=1200, linked=1000, statuses={"200": 1000}), 5_000_000)


def results(cpu: float):
    machine = {"processor": "P", "load_before": 0.5}
    return machine | {"crawl": crawls([run(cpu)])}


def test_only_what_links_lead_to_counts(tmp_path):
    log = tmp_path / "crawl.log"
    log.write_text(LOG)
    counted = found(log)
    assert counted.fetched == 5
    assert counted.linked == 2
    assert counted.statuses == {"200": 2}


def test_the_middle_run_counts():
    figures = crawls([run(0.5), run(0.9), run(0.6)])
    assert figures["cpu_ms_per_url"] == 0.6
    assert figures["cpu_ms_per_fetch"] == 0.5
    assert figures["urls_per_s"] == 833
    assert figures["rss_mb"] == 100


def test_targets_are_judged():
    assert "CPU ms per URL: 0.6, target 0.7: met" in table(results(0.6))
    assert "CPU ms per URL, stretch: 0.6, target 0.55: not met" in table(results(0.6))
    assert "CPU ms per URL: 0.8, target 0.7: not met" in table(results(0.8))


def test_the_last_line_says_what_it_came_to():
    assert verdict(results(0.6)) == "Result: 2 of 2 targets met."
    slow = results(0.8) | {"scope": {"cpu_s_per_million": 1.5}, "load_before": 3.0}
    assert verdict(slow) == (
        "Result: 2 of 3 targets met; not met: CPU ms per URL 0.8 (target 0.7). "
        "The machine was busy before: figures are too high."
    )
    assert verdict({"load_before": 0.0}) == "Result: no part with a target was run."


def test_others_stand_beside_it_or_say_why_not():
    wget = others([(Usage(2.0, 4.0, 15_000_000, 0), 1000, 7_000_000)])
    shown = table(results(0.5) | {"wget": wget, "scrapy": {"skipped": "no network"}})
    assert "wget: 4.0 times our CPU per URL here" in shown
    assert "skipped: no network" in shown


def test_commands_have_targets_of_their_own():
    found = {"help": 0.2, "status": 0.5, "one_page": 0.55, "cycle_readdb": 0.7}
    told = table(results(0.6) | {"commands": found})
    assert "nacre --help, CPU s: 0.2, target 0.3: met" in told
    assert "nacre status, CPU s: 0.5, target 0.4: not met" in told
    assert "a crawl of one page, CPU s: 0.55, target 0.6: met" in told
    assert "nacre cycle DIR readdb --stats, CPU s: 0.7, target 0.6: not met" in told
    assert "versions" not in told
