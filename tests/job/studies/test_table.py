import json
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nacre.errors import JobError
from nacre.history.finding.hints import Audit, HintTrust
from nacre.history.recrawl.sites import SiteRow
from nacre.job.studies.table import STUDIES, Asked, Subject, examine
from nacre.report.html import html_page
from nacre.report.plain import plain_text
from tests.job.studies.given import MONDAY, Given, evidence
from tests.report.pages import harmless
from tests.report.test_html import HOSTILE

WORDS = st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=20))


def hostile(word: str) -> Given:
    """A job that knows nothing but pages with one hostile word in all that the web can write."""
    known = Given(lots=0.5)
    known.run(1, 0)
    known.run(2, 7)
    known.sites = {word: SiteRow(trust={"sitemap": HintTrust(told=1.0)})}
    known.audits = {f"{word} {word}": Audit(clean=1)}
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


@pytest.mark.parametrize("name", STUDIES)
@settings(max_examples=15)
@given(word=WORDS)
def test_no_word_of_the_web_acts_in_any_report(name: str, word: str):
    known = hostile(word)
    url = "" if STUDIES[name].subject is Subject.JOB else known.given_rows[0].url
    found = examine(known, name, Asked(url))
    page = html_page(STUDIES[name].document(found))
    harmless(page)
    page.encode()
    text = plain_text(STUDIES[name].document(found))
    assert not any(ord(char) < 0x20 and char != "\n" for char in text)


@pytest.mark.parametrize("name", STUDIES)
def test_every_report_is_json_and_comes_back(name: str):
    known = hostile("word")
    url = "" if STUDIES[name].subject is Subject.JOB else known.given_rows[0].url
    found = examine(known, name, Asked(url))
    text = json.dumps(msgspec.to_builtins(found), allow_nan=False)
    assert msgspec.convert(json.loads(text), type(found)) == found


@pytest.mark.parametrize("name", STUDIES)
def test_every_report_of_nothing_is_a_page_or_says_why_not(name: str):
    study = STUDIES[name]
    if study.subject is Subject.PAGE:
        with pytest.raises(JobError, match=f"{name} is of one page"):
            examine(Given(), name, Asked())
        return
    harmless(html_page(study.document(examine(Given(), name, Asked()))))


def test_a_report_of_the_job_takes_no_url():
    with pytest.raises(JobError, match="savings is of the whole job"):
        examine(Given(), "savings", Asked("http://a.test/"))


def test_the_documentation_has_them_all():
    text = (Path(__file__).parents[3] / "docs" / "recrawl-reports.md").read_text("utf-8")
    assert set(re.findall(r"^## `([\w-]+)", text, re.MULTILINE)) == set(STUDIES)
