"""`report`, `history` and `status` for the people who read them: headings, units, plain words."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import nacre as nacre_api
from nacre.inspect.analysis.analysis import Analysis
from nacre.inspect.analysis.wording import FOUND
from nacre.inspect.registry import all_reports, report_named
from nacre.inspect.reports.base import Audience, ReportRequest, ReportSubject, RunReport
from nacre.inspect.view import reading
from nacre.machine.layout import Layout
from nacre.report.document import NAMELESS, Format
from nacre.report.formatting import heading
from nacre.settings.load import load_job
from tests.cli.library import library
from tests.cli.site import many_pages, nacre, site
from tests.cli.test_control import FAST, running, until
from tests.report.pages import harmless, look

pytestmark = pytest.mark.crawl

ROOT = Path(__file__).parent.parent.parent
RUN_REPORTS = [one.name for one in all_reports() if isinstance(one, RunReport)]
NOTICE = "数字资源试用通知"


@dataclass
class Visited:
    """A library's site, crawled and visited again."""

    job: Path
    home: str
    notice: str


@pytest.fixture(scope="module", params=["utf-8", "gbk"])
def visited(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Visited]:
    job = tmp_path_factory.mktemp("reports") / "青山县图书馆"
    every = ("--set", "recrawl.recall=1", "--set", "recrawl.least=0")
    with library(request.param) as place:
        crawl = ("crawl", place.home, "--scope", "host", "--delay", 0, "--out", job, "-q")
        assert nacre(*crawl).code == 0
        place.notices[NOTICE] = (
            "《中国方志库》试用期延长至年底,馆外读者凭读者证号登录后亦可检索全文。"
        )
        assert nacre("recrawl", job, "-q", *every).code == 0
        yield Visited(job, place.home, place.url(NOTICE))


def said(*arguments: object) -> str:
    done = nacre(*arguments)
    assert done.code == 0, done.err
    return done.out


def test_without_a_name_the_reports_stand_in_groups(visited: Visited):
    text = said("report", visited.job)
    assert text.startswith("Crawl summary\n")
    groups = re.findall(r"^For (\w+): ", text, re.MULTILINE)
    assert groups == [str(reader) for reader in Audience]
    for_curators = text.partition("For curators")[2].partition("For operators")[0]
    for name in ("run", "timeline", "diff", "change-frequency", "deletions"):
        assert re.search(rf"^  {name} +\S", for_curators, re.MULTILINE), name
    assert "threads" not in for_curators
    assert json.loads(said("report", visited.job, "--json"))["crawl"]


def test_a_program_has_the_same_reports(visited: Visited):
    listed = [name for names in _listed().values() for name in names]
    assert sorted(nacre_api.report_names()) == sorted(listed)
    for name in ("run", "hosts", "savings"):
        printed = json.loads(said("report", visited.job, name, "--json"))
        told = json.loads(json.dumps(nacre_api.read_report(visited.job, name)))
        assert set(told) == set(printed)
    with pytest.raises(nacre_api.JobError, match="takes no URL"):
        nacre_api.read_report(visited.job, "run", visited.notice)


def test_the_documentation_has_the_same_groups():
    page = (ROOT / "docs" / "reports.md").read_text("utf-8")
    table = page.partition("| for | report |")[2].partition("\n\n")[0]
    groups: dict[str, str] = {}
    for line in table.splitlines():
        if line.startswith("| "):
            _, first, names, *_ = (cell.strip() for cell in line.split("|"))
            reader = first or list(groups)[-1]
            groups[reader] = groups.get(reader, "") + names
    listed = _listed()
    assert list(groups) == list(listed)
    for reader, wanted in listed.items():
        assert set(re.findall(r"`([a-z-]+)[` ]", groups[reader])) == set(wanted), reader


def _listed() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    from nacre.cli.reports import _groups  # noqa: PLC0415 - with all reports

    for title, names in _groups():
        found[title.split()[1].rstrip(":")] = list(names)
    return found


def test_each_report_of_a_run_has_its_words():
    assert all(report.summary and report.audience for report in all_reports())


_UNITED = re.compile(
    "URI|replies|received|new|content|modified|robots|waiting|time|written|links|visits|failures|cost|"
    "queues|for|tries|balance|precedence|worker"
)


@pytest.mark.parametrize("name", [name for name in RUN_REPORTS if name != "threads"])
def test_every_column_has_a_heading_and_a_unit(visited: Visited, name: str):
    """A number is a count of what its heading says, or has its unit in the cell."""
    data = json.loads(said("report", visited.job, name, "--json"))
    for verbose in (False, True):
        document = report_named(name).document(data, ReportRequest(verbose=verbose))
        for table in (table for section in document.sections for table in section.tables):
            assert table.caption
            for column in table.columns:
                assert column.name.strip(), table
                if column.form in NAMELESS:
                    assert _UNITED.search(column.name), (name, column)
                assert not re.search(r"[\[#_]|[a-z][A-Z]", column.name.replace("URIs", "")), column
    text = said("report", visited.job, name)
    assert "[#" not in text


def test_the_text_in_heritrix_columns_is_still_to_be_had(visited: Visited):
    text = said("report", visited.job, "hosts", "--heritrix")
    assert text.startswith("[#urls] [#bytes] [host]")
    assert (visited.job / "latest/reports/hosts-report.txt").read_text().split() == text.split()


@pytest.mark.parametrize(
    "option", [("--run", 1), ("--lang", "zh"), ("--time-zone", "Asia/Shanghai")]
)
def test_an_option_of_another_report_is_refused(visited: Visited, option: tuple[object, ...]):
    refused = nacre("report", visited.job, "hosts", *option)
    assert refused.code == 2
    assert f"{option[0]} is for the report `run` alone" in refused.err


def test_internal_columns_are_there_when_they_are_asked_for(visited: Visited):
    for name, inside in (("processors", "nacre.engine"), ("frontier-summary", "precedence")):
        assert inside not in said("report", visited.job, name), name
        assert inside in said("report", visited.job, name, "--verbose"), name
    for inside in ("cost unit", "surt-authority"):
        assert inside not in said("status", visited.job)
        assert inside in said("status", visited.job, "--verbose")


def test_the_history_of_a_page_is_one_that_a_curator_understands(visited: Visited):
    for typed in (visited.notice, f"{visited.home}通知公告/{NOTICE}.html"):
        text = said("history", visited.job, "url", typed)
        assert f"通知公告/{NOTICE}.html" in text
        assert re.search(r"State +there", text)
        assert re.search(r"Changes +1 at 2 visits, the last on 20", text)
        assert re.search(r"In the archive +[23] in full", text)
        assert re.search(r"Next visit +20.* UTC \(", text)
        assert re.search(r"time \(UTC\) +run +status +what was found +what was kept", text)
        assert re.search(r"2  +200 +(major|minor) changes +in full", text)
        for inside in ("life_since", "fertile", "looks", "record_id", "0.9"):
            assert inside not in text
    verbose = said("history", visited.job, "url", visited.notice, "--verbose")
    for inside in ("life_since", "fertile", "record_id", "visited for"):
        assert inside in verbose
    told = json.loads(said("history", visited.job, "url", visited.notice, "--json"))
    assert told["page"]["visits"] == 2


def test_the_history_of_a_page_that_is_gone_or_never_was(visited: Visited):
    dead = f"{visited.home}通知公告/已撤下的旧通知.html"
    text = said("history", visited.job, "url", dead)
    assert re.search(r"State +(missing once|gone)", text)
    assert "there is no" not in text
    unknown = nacre("history", visited.job, "url", f"{visited.home}没有.html")
    assert (unknown.code, "nothing is known of" in unknown.err) == (2, True)


def test_the_history_of_a_page_before_the_first_recrawl(tmp_path: Path):
    job = tmp_path / "job"
    with site({"/": "<p>home</p><img src='http://127.0.0.1:1/a.png'>"}) as home:
        assert nacre("crawl", home, "--delay", 0, "--out", job, "-q").code == 0
        text = said("history", job, "url", home)
        assert re.search(r"Captured +20.* UTC, status 200", text)
        assert "nacre recrawl" in text
        assert "(none)" not in text
        assert re.search(r"Failed +1, and 1 of robots.txt", said("report", job, "crawl-summary"))
        assert nacre("recrawl", job, "-q").code == 0
        last = nacre("recrawl", job, "-q")
        assert "unrecorded" in (job / "latest/logs/crawl.log").read_text()
        assert "reply whose content was there)" in last.out  # no revisit was written of it
        text = said("history", job, "url", home)
        assert re.search(r"3  +200 +unchanged +nothing: the same as at the last record", text)


def test_it_is_a_page_of_html_too(visited: Visited, tmp_path: Path):
    path = tmp_path / "page.html"
    said("history", visited.job, "url", visited.notice, "--html", path)
    page = path.read_text("utf-8")
    harmless(page)
    seen = look(page)
    for word in ("History of a page", "青山县图书馆", visited.home, f"{NOTICE}.html", "Period"):
        assert word in seen.text


@pytest.mark.parametrize(
    ("command", "headings"),
    [
        (("runs",), "no. +run +kind +began \\(UTC\\) +took +how it ended +new pages"),
        (("stats",), "found +run 1 +run 2"),
        (("stats", "--hosts"), "host +pages missing once +pages gone|host +pages there"),
        (("due", 3), "due \\(UTC\\) +page +because"),
        (("top", 3), "changes a day +a change every +page"),
    ],
)
def test_each_table_of_history_has_headings(
    visited: Visited, command: tuple[object, ...], headings: str
):
    text = said("history", visited.job, *command)
    assert re.search(rf"^ +({headings})", text, re.MULTILINE), text
    assert "%CD%A8" not in text


def test_verdicts_are_words(visited: Visited):
    text = said("history", visited.job, "stats")
    assert FOUND["major"] in text or FOUND["minor"] in text
    assert "never there" not in said("history", visited.job, "runs")


def test_status_of_a_running_job_has_headings(tmp_path: Path):
    job = tmp_path / "job"
    with site(many_pages(3000), slow=0.02) as home:
        assert nacre("new", job, home, "--delay", "200ms", *FAST).code in {0, 2}
        crawl = ("crawl", home, "--delay", "0.2", "--out", tmp_path / "slow", "-q")
        with running(tmp_path / "slow", *crawl) as process:
            until(lambda: "slowest queues" in nacre("status", tmp_path / "slow").out)
            text = said("status", tmp_path / "slow")
            assert re.search(r"queue +waiting URIs +one every +takes about +why", text)
            process.terminate()
            process.wait(200)


def test_forms_without_a_unit_are_counts_and_numbers():
    assert {Format.COUNT, Format.NUMBER} == NAMELESS


_OF_ANALYSES = re.compile(
    "pages|visits|changes|requests|lots|runs|replies|differences|notes|revisits|URLs|contents|"
    "number|gaps|pairs|links|hints|sitemaps|readings|times"
)


@pytest.mark.parametrize(
    "name",
    ["change-frequency", "savings", "budget", "deletions", "hints", "templates", "traps",
     "coverage", "decisions", "timeline", "diff"],
)  # fmt: skip
def test_every_column_of_an_analysis_says_what_it_counts(visited: Visited, name: str):
    analysis = report_named(name)
    assert isinstance(analysis, Analysis)
    asked = ReportRequest(visited.notice if analysis.subject is ReportSubject.PAGE else "")
    layout = Layout(visited.job)
    settings = load_job(layout).settings
    with reading(layout, settings) as view:
        document = analysis.document(analysis.data(view, asked), asked)
    for table in (table for section in document.sections for table in section.tables):
        for column in table.columns:
            assert column.name.strip()
            if column.form in NAMELESS:
                assert _OF_ANALYSES.search(column.name), (name, column)
            if column.form is Format.TIME:
                assert heading(column).endswith("(UTC)")
