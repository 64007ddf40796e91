"""Intervals that seeds of Nutch carry are in effect in the migrated job, for these URLs alone."""

import re
from pathlib import Path

import pytest

from nacre.core.pagerow import PageRow
from nacre.recrawl.pagestore import PageStore
from nacre.store.store import Store
from nacre_migrate.nutch.convert import convert
from tests.cli.site import nacre, site

HOUR, MONTH = 3600.0, 2_592_000.0


def conf(folder: Path, schedule: str = "") -> Path:
    folder.mkdir()
    text = "<name>http.agent.url</name><value>http://library.example/</value>"
    if schedule:
        text += "</property><property><name>db.fetch.schedule.class</name>"
        text += f"<value>org.apache.nutch.crawl.{schedule}</value>"
    (folder / "nutch-site.xml").write_text(
        f"<configuration><property>{text}</property></configuration>"
    )
    (folder / "regex-urlfilter.txt").write_text("+.\n")
    (folder / "regex-normalize.xml").write_text("<regex-normalize/>")
    return folder


def drafted(folder, seeds: str, schedule: str = ""):
    (folder / "seeds.txt").write_text(seeds, "utf-8")
    draft, report = convert(conf(folder / "conf", schedule), folder / "seeds.txt")
    notes = {note.name: note for note in report.files}
    return draft, notes


def test_an_interval_holds_for_its_seed_and_no_other_page(tmp_path):
    with site() as home:
        (tmp_path / "seeds.txt").write_text(f"{home}\tnutch.fetchInterval=3600\n")
        named = ("--seeds", tmp_path / "seeds.txt", "--out", tmp_path / "job")
        done = nacre("migrate", "nutch", conf(tmp_path / "conf"), *named)
        assert done.code == 0, done.err
        ran = nacre("run", tmp_path / "job", "--set", "politeness.delay=0")
        assert ran.code == 0, ran.err
        nacre("recrawl", tmp_path / "job")
    with Store.open(str(tmp_path / "job/state/store"), read_only=True) as store:
        pages = PageStore(store)
        rows: list[PageRow] = list(pages.scan())
        timings = {row.url.removeprefix(home): pages.timing(row.url) for row in rows}
    intervals = {path: timing.interval for path, timing in timings.items() if timing}
    assert (intervals[""], intervals["b.html"]) == (HOUR, MONTH)


@pytest.mark.parametrize(
    ("schedule", "metadata", "kind", "setting", "value"),
    [
        ("", "nutch.fetchInterval=60", "nutch-default", "interval", 60.0),
        ("", "nutch.fetchInterval.fixed=60", "nutch-default", "interval", 60.0),
        ("AdaptiveFetchSchedule", "nutch.fetchInterval=60", "nutch-adaptive", "interval", 60.0),
        (
            "AdaptiveFetchSchedule",
            "nutch.fetchInterval=9\tnutch.fetchInterval.fixed=60",
            "nutch-adaptive",
            "fixed_interval",
            60.0,
        ),
    ],
)
def test_what_an_interval_becomes(tmp_path, schedule, metadata, kind, setting, value):
    seed = "http://www.图书馆.example/新闻/a.html?x=(1)"
    draft, notes = drafted(tmp_path, f"{seed}\t{metadata}\n", schedule)
    said = draft.settings
    assert said["recrawl.schedule.kind"] == kind
    assert [*said["sheets"].values()] == [{f"recrawl.schedule.nutch.{setting}": value}]
    [association] = said["sheet_associations"]
    [expression] = association["rule"]["regexes"]
    asked = "http://www.xn--1jq52s681d.example/%E6%96%B0%E9%97%BB/a.html?x=(1)"
    assert re.fullmatch(expression, asked)
    assert not re.fullmatch(expression, f"{asked}b")
    assert "intervals of seeds (1) became sheets" in notes["nutch.fetchInterval"].what
    assert not notes["seeds.txt"].check


@pytest.mark.parametrize("value", ["-4", "0", "x", "", "٣", "9" * 5000, "4294967296"])
def test_what_is_no_interval_is_told(tmp_path, value):
    draft, notes = drafted(tmp_path, f"http://a.example/\tnutch.fetchInterval={value}\n")
    assert "sheets" not in draft.settings
    assert "nutch.fetchInterval (1)" in notes["seeds.txt"].what
    assert notes["seeds.txt"].check


def test_too_many_intervals_are_left_out_and_told(tmp_path):
    lines = "".join(f"http://a.example/{n}\tnutch.fetchInterval=9\n" for n in range(5001))
    draft, notes = drafted(tmp_path, lines)
    assert "sheets" not in draft.settings
    assert "more than 5000" in notes["nutch.fetchInterval"].what


def test_a_password_of_a_seed_stays_out_of_the_sheet(tmp_path):
    line = "http://me:hush@a.example/x\tnutch.fetchInterval=9\n"
    draft, _ = drafted(tmp_path, line)
    assert "hush" not in str(draft.settings)
    assert draft.settings["sheet_associations"][0]["rule"]["regexes"] == [r"http://a\.example/x"]
