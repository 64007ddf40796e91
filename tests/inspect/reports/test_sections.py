"""Pages by section: which section a URL is of, what its visits found, and the document."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.errors import JobError
from nacre.inspect.reports.base import ReportRequest
from nacre.inspect.reports.sections import (
    RunLog,
    SectionFacts,
    SectionList,
    SectionRun,
    SectionsReport,
    section_list,
    sections_below,
)
from nacre.report.html import html_page
from nacre.report.plain import plain_text
from tests.examples import examples
from tests.report.pages import harmless
from tests.report.test_html import HOSTILE

NEWS = "http://a.test/news/"


def line(url: str, status: int = 200, digest: str = "-", noted: str = "-", **more: object) -> bytes:
    facts = {"size": 100, "mime": "text/html", "path": "L", **more}
    return (
        f"2026-11-20T10:00:00.000Z {status:>5} {facts['size']:>10} {url} {facts['path']} - "
        f"{facts['mime']} #001 20261120100000000+3 {digest} - {noted}\n"
    ).encode()


def full(run: int, *lines: bytes) -> RunLog:
    return RunLog(run, judged=False, lines=lines)


def incremental(run: int, *lines: bytes) -> RunLog:
    return RunLog(run, judged=True, lines=lines)


def only(found: SectionList) -> SectionFacts:
    (facts,) = found.sections
    return facts


def counts(facts: SectionFacts | SectionRun) -> dict[str, int]:
    """The counters that are not 0."""
    found = msgspec.structs.asdict(facts)
    return {name: number for name, number in found.items() if isinstance(number, int) and number}


@pytest.mark.parametrize(
    ("below", "url", "section"),
    [
        ("", "http://a.test/news/2024/x.html?a=/b/", "a.test/news/"),
        ("", "https://a.test:8443/about.html", "a.test:8443/"),
        ("", "http://a.test?x=/y/", "a.test/"),
        ("", "dns:a.test", ""),
        ("http://a.test/news/", "https://a.test/news/2024/x.html", "a.test/news/2024/"),
        ("http://a.test/news/", "http://a.test/news/x.html", "a.test/news/"),
        ("http://a.test/news/", "http://a.test/newsroom/x.html", ""),
        ("http://a.test/news/", "http://b.test/news/x.html", ""),
        ("A.test/news", "http://a.test/news/2024/x.html", "a.test/news/2024/"),
        ("a.test/news/index.html", "http://a.test/news/2024/x.html", "a.test/news/2024/"),
        ("a.test", "http://a.test/news/x.html", "a.test/news/"),
        ("/news/", "http://b.test/news/2024/x.html", "b.test/news/2024/"),
        ("/news/", "http://b.test/old/news/x.html", ""),
        ("/通知/", "http://b.test/%E9%80%9A%E7%9F%A5/1/x.html", "b.test/%E9%80%9A%E7%9F%A5/1/"),
        ("/通知/", "http://b.test/%CD%A8%D6%AA/1/x.html", "b.test/%CD%A8%D6%AA/1/"),
    ],
)
def test_the_section_of_a_url(below: str, url: str, section: str):
    assert sections_below(below)(url) == section


@pytest.mark.parametrize("text", ["http://[/", "two words"])
def test_what_is_no_directory_is_refused_with_an_example(text: str):
    with pytest.raises(JobError, match="is no directory of a site: `nacre report JOB sections"):
        sections_below(text)


def test_what_became_of_a_section_in_each_run_and_over_all():
    found = section_list(
        [
            full(
                1, line(NEWS + "same", digest="1"), line(NEWS + "changes", digest="1"),
                line(NEWS + "goes", digest="1"), line(NEWS + "x.pdf", digest="1", mime="a/pdf"),
                line(NEWS + "dead", 404), line(NEWS + "secret", 403),
                line(NEWS + "robots", -9998, size="-"), line(NEWS + "old", 301),
                line(NEWS + "no", -2),
            ),
            incremental(
                2, line(NEWS + "same", 304, size="-", mime="unknown"),
                line(NEWS + "changes", digest="2", noted="3t,verdict:minor:0.2", size=50),
                line(NEWS + "goes", 404), line(NEWS + "fresh", digest="1", size=7),
                line(NEWS + "x.pdf", digest="1", mime="a/pdf", noted="duplicate:digest"),
            ),
        ]
    )  # fmt: skip
    facts = only(found)
    assert facts.section == NEWS
    assert [counts(one) for one in facts.runs] == [
        {"run": 1, "pages": 3, "files": 1, "bytes": 400, "new": 4, "moved": 1, "refused": 2,
         "failed": 2},
        {"run": 2, "pages": 3, "files": 1, "bytes": 57, "new": 1, "changed": 1, "unchanged": 2,
         "gone": 1},
    ]  # fmt: skip
    assert counts(facts) == {
        "pages": 4, "files": 1, "bytes": 457, "new": 5, "changed": 1, "unchanged": 2, "gone": 1,
        "moved": 1, "refused": 2, "failed": 2,
    }  # fmt: skip
    assert counts(found.total) == counts(facts)
    assert (found.runs, found.left_out) == ([1, 2], 0)


@pytest.mark.parametrize(
    ("judged", "noted", "result"),
    [
        (True, "verdict:major:0.9", "changed"),
        (True, "verdict:noise:0.0", "unchanged"),
        (True, "-", "unchanged"),
        (False, "-", "changed"),
    ],
)
def test_a_difference_counts_as_it_does_in_other_reports(judged: bool, noted: str, result: str):
    second = RunLog(2, judged, [line(NEWS, digest="2", noted=noted)])
    facts = only(section_list([full(1, line(NEWS, digest="1")), second]))
    assert counts(facts.runs[1]) == {"run": 2, "pages": 1, "bytes": 100, result: 1}


def test_a_page_that_came_back_is_not_gone_and_one_that_changed_back_has_changed():
    lines = [line(NEWS, digest="1"), line(NEWS, 404), line(NEWS, digest="2")]
    facts = only(section_list([full(number, one) for number, one in enumerate(lines, 1)]))
    assert counts(facts) == {"pages": 1, "bytes": 200, "new": 1, "changed": 1}


def test_what_another_url_needed_and_guesses_that_led_nowhere_are_left_out():
    log = full(
        1, line("http://a.test/robots.txt", path="P"), line("dns:a.test", 1, path="P"),
        line(NEWS + "guess", 404, path="LX"), line(NEWS + "guessed", path="LX"),
        line(NEWS + "out", -5000), line(NEWS, noted="pair"), b"no line\n", line(NEWS)[:-1],
    )  # fmt: skip
    assert counts(only(section_list([log]))) == {"pages": 1, "bytes": 100, "new": 1}


def test_the_largest_sections_are_named_and_all_are_summed():
    urls = [f"http://a.test/{number}/{page}" for number in range(4) for page in range(number + 1)]
    found = section_list([full(1, *map(line, urls))], most=2)
    assert [one.section for one in found.sections] == ["http://a.test/3/", "http://a.test/2/"]
    assert (found.left_out, found.total.pages) == (2, 10)
    text = plain_text(SectionsReport().document(found, ReportRequest()))
    assert "2 smaller sections are left out; all are in the sums." in text


def test_the_document_of_one_run_of_several_and_of_none():
    report = SectionsReport()
    one = section_list([full(1, line(NEWS, digest="1"))])
    (section,) = report.document(one, ReportRequest()).sections
    assert [column.name for column in section.tables[0].columns][:5] == [
        "section", "pages", "other files", "size", "new",
    ]  # fmt: skip
    two = section_list([full(1, line(NEWS, digest="1")), full(2, line(NEWS, digest="1"))], NEWS)
    two.missing = [3]
    document = report.document(two, ReportRequest(NEWS))
    assert [len(part.tables[0].rows) for part in document.sections] == [1, 2]
    text = plain_text(document)
    assert "Not counted, as their crawl.log is gone: runs 3." in text
    assert "Below        http://a.test/news/" in text
    nothing = plain_text(report.document(section_list([full(1)]), ReportRequest()))
    assert "No run has visited a page there." in nothing


@examples(30)
@given(words=st.lists(st.sampled_from(HOSTILE) | st.text(max_size=20), min_size=1, max_size=9))
def test_no_word_of_the_web_acts_in_it(words: list[str]):
    log = " ".join(words).replace("\n", " ").encode("utf-8", "replace")
    urls = [line(f"http://a.test/{word.replace(' ', '%20')}/x") for word in words if word.split()]
    found = section_list([full(1, log + b"\n", *urls)])
    document = SectionsReport().document(found, ReportRequest())
    page = html_page(document)
    harmless(page)
    page.encode()
    assert not any(ord(char) < 0x20 and char != "\n" for char in plain_text(document))
    assert msgspec.convert(msgspec.to_builtins(found), SectionList) == found
