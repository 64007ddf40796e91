"""`nacre history`: what is known of pages, as text, as JSON and as tables."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.known import GONE, NEWS, OLD, known_job, new_job
from tests.cli.site import nacre

NOTHING = "no page is known yet: the first `nacre recrawl {}` reads what the first crawl fetched"


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return known_job(tmp_path / "job")


def said(job: Path, *words: object) -> str:
    done = nacre("history", job, *words)
    assert done.code == 0, done.err
    return done.out


def told(job: Path, *words: object) -> Any:
    return json.loads(said(job, *words, "--json"))


def table(text: str) -> list[list[str]]:
    """The words of the indented lines."""
    return [line.split() for line in text.splitlines() if line.startswith("  ")]


def test_totals(job: Path):
    found = told(job, "stats")
    assert (found["pages"], found["visited"], found["lives"]) == (3, 3, {"gone": 1, "live": 2})
    assert "hosts" not in found
    assert told(job, "stats", "--hosts")["hosts"] == {"a.test": {"live": 2}, "b.test": {"gone": 1}}
    rows = table(said(job, "stats"))
    assert ["Pages", "known", "3,", "of", "which", "3", "were", "visited"] in rows
    assert ["b.test"] not in [row[:1] for row in rows]
    assert ["b.test"] in [row[:1] for row in table(said(job, "stats", "--hosts"))]


def test_runs(job: Path):
    (run,) = told(job, "runs")
    assert (run["number"], run["mode"], run["exit"]) == (1, "full", "FINISHED")
    (row,) = [row for row in table(said(job, "runs")) if row[0] == "1"]
    assert row[1:7] == ["20261120T100000Z", "full", "2026-11-20", "10:00", "1.5", "min"]


@pytest.mark.parametrize(
    "url", [NEWS, "http://me:word@a.test/news"], ids=["as it is", "with a login"]
)
def test_a_page(job: Path, url: str):
    found = told(job, "url", url)
    assert (found["url"], found["page"]["changes"], found["capture"]["status"]) == (NEWS, 20, 200)
    assert [visit["kind"] for visit in found["visits"]] == ["minor"]
    assert set(found["due"]) == {"time", "why"}
    text = said(job, "url", url)
    assert ["URL", NEWS] in table(text)
    assert f"Next visit  {found['due']['time']} UTC ({found['due']['why']})" in text


def test_a_page_as_html(job: Path, tmp_path: Path):
    file = tmp_path / "page.html"
    done = nacre("history", job, "url", NEWS, "--html", file)
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("Written to ")
    page = file.read_text()
    assert NEWS in page
    assert "Site" in page


def test_a_page_that_is_not_known(job: Path):
    done = nacre("history", job, "url", "http://no.test/")
    assert done.code == 2
    assert done.err == (
        f"nacre: nothing is known of http://no.test/; `nacre explain {job} http://no.test/` says "
        "why it was not crawled\n"
    )


def test_what_is_due(job: Path):
    rows = told(job, "due")
    assert {row["url"] for row in rows} == {NEWS, OLD, GONE}
    assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)
    assert told(job, "due", 1) == rows[:1]
    assert rows[0]["url"] == NEWS
    assert rows[0]["why"] in said(job, "due", 1)
    assert GONE not in said(job, "due", 1)


def test_what_changes_most(job: Path):
    rows = told(job, "top")
    assert [row["url"] for row in rows] == [NEWS, OLD]
    assert told(job, "top", 1) == rows[:1]
    assert told(job, "top", "--least", rows[0]["rate"]) == rows[:1]
    text = said(job, "top")
    assert text.index(NEWS) < text.index(OLD)


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ((), [NEWS, OLD, GONE]),
        (("--regex", "new|gone"), [NEWS, GONE]),
        (("--life", "gone"), [GONE]),
        (("--status", 304), [OLD]),
        (("--sample", 0), []),
    ],
)
def test_pages_are_printed_as_lines_or_as_a_table(
    job: Path, options: tuple[object, ...], found: list[str]
):
    lines = said(job, "dump", *options).splitlines()
    assert [json.loads(line)["url"] for line in lines] == found
    rows = [*csv.DictReader(said(job, "dump", "--csv", *options).splitlines())]
    assert [row["url"] for row in rows] == found
    assert all(row["visits"] in {"21", "2"} for row in rows)


def test_what_is_known_moves_to_another_job(job: Path, tmp_path: Path):
    lines = said(job, "export", tmp_path / "tables").splitlines()
    assert any(line.endswith(": 3 rows") for line in lines)
    said(job, "rebuild")
    assert told(job, "stats")["pages"] == 0
    assert sorted(said(job, "import", tmp_path / "tables").splitlines()) == sorted(lines)
    assert told(job, "stats")["pages"] == 3
    assert [row["url"] for row in told(job, "top")] == [NEWS, OLD]


def test_what_is_forgotten_is_learned_from_the_archive(job: Path):
    assert said(job, "rebuild") == "forgotten; the next recrawl reads the WARCs of all runs first\n"
    nothing = f"{NOTHING.format(job)}\n"
    assert said(job, "stats") == nothing
    for command in ("top", "due"):
        done = nacre("history", job, command)
        assert (done.code, done.out, done.err) == (0, "", nothing)
    assert said(job, "dump") == ""
    assert len(told(job, "runs")) == 1


@pytest.mark.parametrize("words", [("stats",), ("due",), ("export", "tables"), ("rebuild",)])
def test_a_job_that_has_not_run_has_no_history(tmp_path: Path, words: tuple[str, ...]):
    done = nacre("history", new_job(tmp_path / "job"), *words)
    assert done.code == 2
    assert "has not run yet" in done.err
