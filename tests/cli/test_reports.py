"""`nacre report`: the list, one report, and where it is asked."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from nacre.cli.reports import write_html
from nacre.errors import JobError
from nacre.inspect.registry import all_reports
from nacre.inspect.reports.base import ReportSubject
from nacre.job.control import Answer, ControlServer
from nacre.machine.layout import Layout
from nacre.report.document import ReportDocument
from tests.cli.known import NEWS, known_job, new_job
from tests.cli.site import Done, nacre


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return known_job(tmp_path / "job")


def report(job: Path, *words: object) -> str:
    done = nacre("report", job, *words)
    assert done.code == 0, done.err
    return done.out


def test_the_list_names_each_report_with_what_it_is_about(job: Path):
    reports = {one.name: one for one in all_reports()}
    lines = report(job, "list").splitlines()
    listed = {line.split()[0]: line for line in lines if line.startswith("  ")}
    assert set(listed) == set(reports)
    assert sorted(json.loads(report(job, "list", "--json"))) == sorted(reports)
    for name, one in reports.items():
        assert one.summary in listed[name]
        of_page = {ReportSubject.PAGE: "(of a URL)", ReportSubject.EITHER: "(also of a URL)"}
        assert listed[name].endswith(of_page.get(one.subject, one.summary))
    assert all(line.endswith(":") or line.startswith(("  ", "For ")) for line in lines)


def test_without_a_name_there_is_the_summary_and_the_list(job: Path):
    text = report(job)
    assert text.startswith(report(job, "crawl-summary").rstrip("\n"))
    assert report(job, "list") in text
    assert text.splitlines()[-1].endswith(f"report {job} NAME [URL] [--html FILE] [--json]")
    assert json.loads(report(job, "--json")) == json.loads(report(job, "crawl-summary", "--json"))


def test_a_report_in_its_three_forms(job: Path, tmp_path: Path):
    told = json.loads(report(job, "crawl-summary", "--json"))
    assert told["status"] == "FINISHED"
    assert "crawl name: job\n" in report(job, "crawl-summary", "--heritrix")
    file = tmp_path / "page.html"
    done = nacre("report", job, "crawl-summary", "--html", file)
    assert (done.code, done.out) == (0, "")
    assert file.read_text().startswith("<!DOCTYPE html>")
    both = nacre("report", job, "crawl-summary", "--html", file, "--json")
    assert json.loads(both.out) == told


def test_a_report_of_a_page(job: Path):
    assert NEWS in report(job, "timeline", NEWS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nothing",), "crawl-summary"),
        (("timeline",), "timeline is of one page: `nacre report JOB timeline URL`"),
        (("hosts", NEWS), "hosts is of the whole job and takes no URL"),
        (("hosts", "--run", "1"), "--run is for the report `run` alone"),
        (("list", "--lang", "zh"), "--lang is for the report `run` alone"),
        (("--time-zone", "Asia/Shanghai"), "--time-zone is for the report `run` alone"),
    ],
)
def test_what_does_not_fit_a_report_is_refused(job: Path, words: tuple[str, ...], message: str):
    done = nacre("report", job, *words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_a_job_that_has_not_run_has_no_report(tmp_path: Path):
    done = nacre("report", new_job(tmp_path / "job"), "hosts")
    assert done.code == 2
    assert "has not run yet" in done.err


def test_a_page_that_cannot_be_written_names_the_file(tmp_path: Path):
    with pytest.raises(JobError, match=r"no/page\.html cannot be written: No such file"):
        write_html(tmp_path / "no" / "page.html", ReportDocument("Title", ()))


# ---- a job that runs


def beside(job: Path, *words: object) -> tuple[Done, list[str]]:
    """Ask for a report beside a process that answers as a running job; what that was asked."""
    asked: list[str] = []

    def fault(command: str, error: Exception) -> str:
        raise AssertionError(command) from error

    async def main() -> Done:
        stored = json.loads(report(job, "threads", "--json"))

        async def live(request: Mapping[str, Any]) -> Answer:
            asked.append(request["name"])
            return {"report": stored}

        server = ControlServer(Layout(job).socket, {"report": live}, fault)
        await server.start()
        try:
            return await asyncio.to_thread(nacre, "report", job, *words)
        finally:
            await server.close()

    return asyncio.run(main()), asked


@pytest.mark.parametrize(("name", "asked"), [("threads", ["threads"]), ("deletions", [])])
def test_a_live_report_is_asked_of_the_process_that_runs_the_job(
    job: Path, name: str, asked: list[str]
):
    done, requests = beside(job, name, "--json")
    assert done.code == 0, done.err
    assert requests == asked
    assert (name in {one.name for one in all_reports() if one.live}) is bool(asked)
