import json
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.message_data import to_plain
from nacre.errors import ConfigError, JobError
from nacre.inspect.analysis.analysis import Analysis
from nacre.inspect.registry import REPORTS, all_reports, report_named
from nacre.inspect.reports.base import ReportRequest, ReportSubject
from nacre.planner.discovery.hints import HintTrust, ReplyAudit
from nacre.planner.sites import SiteRow
from nacre.report.html import html_page
from nacre.report.plain import plain_text
from tests.examples import examples
from tests.inspect.analysis.given import MONDAY, Given, evidence
from tests.report.pages import harmless
from tests.report.test_html import HOSTILE

ANALYSES = {one.name: one for one in all_reports() if isinstance(one, Analysis)}
WORDS = st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=20))


def hostile(word: str) -> Given:
    """A job that knows nothing but pages with one hostile word in all that the web can write."""
    known = Given(lots=0.5)
    known.run(1, 0)
    known.run(2, 7)
    known.sites = {word: SiteRow(trust={"sitemap": HintTrust(told=1.0)})}
    known.audits = {f"{word} {word}": ReplyAudit(clean=1)}
    path = "/" + word
    for number, life in enumerate(("live", "gone", "suspect", "moved")):
        known.page(
            path + str(number), visits=3, last=7, life=life, life_since=MONDAY, target=word,
            template=word, lastmod=word, evidence=evidence(7.0, "01"),
        )  # fmt: skip
        known.visit(path + str(number), 0, 1, kind="new", reason=word)
        lot = {"wanted": "lot", "propensity": 0.5, "reason": word}
        known.visit(path + str(number), 7, 2, kind="minor", **lot)
        known.visit(path + str(number), 7.5, 2, status=404, answer="missing", kind=word)
        known.capture(path + str(number), "2026-11-20T10:00:00Z", f"<p>{word}</p>", digest=word)
        known.capture(path + str(number), "2026-11-21T10:00:00Z", f"<p>{word} b</p>", file=word)
    return known


@pytest.mark.parametrize("name", ANALYSES)
@examples(15)
@given(word=WORDS)
def test_no_word_of_the_web_acts_in_any_report(name: str, word: str):
    known = hostile(word)
    url = "" if ANALYSES[name].subject is ReportSubject.JOB else known.given_rows[0].url
    found = ANALYSES[name].of(known, ReportRequest(url))
    page = html_page(ANALYSES[name].document(found, ReportRequest()))
    harmless(page)
    page.encode()
    text = plain_text(ANALYSES[name].document(found, ReportRequest()))
    assert not any(ord(char) < 0x20 and char != "\n" for char in text)


@pytest.mark.parametrize("name", ANALYSES)
def test_every_report_is_json_and_comes_back(name: str):
    known = hostile("word")
    url = "" if ANALYSES[name].subject is ReportSubject.JOB else known.given_rows[0].url
    found = ANALYSES[name].of(known, ReportRequest(url))
    text = json.dumps(to_plain(found), allow_nan=False)
    assert msgspec.convert(json.loads(text), type(found)) == found


@pytest.mark.parametrize("name", ANALYSES)
def test_every_report_of_nothing_is_a_page_or_says_why_not(name: str):
    analysis = ANALYSES[name]
    if analysis.subject is ReportSubject.PAGE:
        with pytest.raises(JobError, match=f"{name} is of one page"):
            ANALYSES[name].of(Given(), ReportRequest())
        return
    harmless(html_page(analysis.document(analysis.of(Given(), ReportRequest()), ReportRequest())))


def test_a_report_of_the_job_takes_no_url():
    with pytest.raises(JobError, match="savings is of the whole job"):
        ANALYSES["savings"].of(Given(), ReportRequest("http://a.test/"))


def test_the_documentation_has_them_all():
    text = (Path(__file__).parents[2] / "docs" / "recrawl-reports.md").read_text("utf-8")
    assert set(re.findall(r"^## `([\w-]+)", text, re.MULTILINE)) == set(ANALYSES)


def test_every_report_is_named_once_and_says_what_it_tells():
    reports = all_reports()
    names = [report.name for report in reports]
    assert len(set(names)) == len(names) == len(REPORTS.names())
    assert all(report.summary and report.contract == 0 for report in reports)
    assert {"run", "crawl-summary", "threads", "diff"} <= set(names)


def test_a_name_that_is_almost_one_is_suggested():
    with pytest.raises(JobError, match="there is no report 'saving'; did you mean `savings`"):
        report_named("saving")


def test_options_of_one_report_are_refused_by_the_others():
    for request, option in (
        (ReportRequest(run="1"), "--run"),
        (ReportRequest(language="zh"), "--lang"),
        (ReportRequest(time_zone="Asia/Shanghai"), "--time-zone"),
    ):
        with pytest.raises(JobError, match=f"{option} is for the report `run` alone"):
            report_named("hosts").check(request)
        report_named("run").check(request)
    with pytest.raises(JobError, match="takes no URL"):
        report_named("run").check(ReportRequest("http://a.test/"))
    with pytest.raises(ConfigError, match="is not a time zone"):
        report_named("run").check(ReportRequest(time_zone="Mars"))
