"""The report of a run as a document."""

from datetime import timedelta, timezone
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nacre.core.states import ExitStatus
from nacre.engine.counters import NotVisited
from nacre.inspect.analysis.wording import FOUND
from nacre.inspect.summary.run_document import run_document
from nacre.inspect.summary.run_sections import ReportLocale
from nacre.inspect.summary.run_summary import FailedSeed, Failure, NamedCount, RunLine, RunSummary
from nacre.inspect.summary.run_texts import ENDS, LIMIT, STORAGE_MODES, kind_of, reason_of
from nacre.languages import CHINESE, translator
from nacre.messages import write
from nacre.report.document import ReportDocument
from nacre.report.html import html_page
from nacre.report.localize import localize
from nacre.report.plain import plain_text
from tests.report.pages import harmless, look

NOW = 1_795_392_000.0
NUMBERS = {
    "documents": 12, "html_documents": 9, "redirects": 1, "error_replies": 2, "hosts_visited": 3,
    "total_crawled_bytes": 4_500_000, "not_modified_uris": 4, "not_modified_bytes": 1_000,
    "duplicate_by_hash_uris": 5, "duplicate_by_hash_bytes": 2_000, "novel_crawled_bytes": 4_000_000,
    "uris_queued": 0,
}  # fmt: skip


def line(number: int, **found: int) -> RunLine:
    mode = "full" if number == 1 else "incremental"
    return RunLine(number, f"run{number}", mode, NOW, NOW + 90, "FINISHED", found)


def report(word: str = "http://a.test/", **more: Any) -> RunSummary:
    """A second run, with a word wherever one of the web can stand."""
    runs = [line(1), line(2, **dict.fromkeys(FOUND, 2))]
    made = RunSummary(
        job=word, run=runs[1], running=False, seeds=[word], seed_count=1,
        failed_seeds=[FailedSeed(word, -2, word)], elapsed=90.0, keep="strict", numbers=NUMBERS,
        hosts=[NamedCount(word, 3, 9), NamedCount("", 1, 2)], mimes=[NamedCount(word, 3, 9)],
        statuses=[NamedCount("-9998", 4)], failed={404: 300}, failures=[Failure(404, word, word)],
        changes={"new": [word], "changed": [], "gone": [word]}, warc_files=1, warc_bytes=9,
        noise=0.8, runs=runs,
    )  # fmt: skip
    return msgspec.structs.replace(made, **more)


def document(found: RunSummary, language: str = "en") -> ReportDocument:
    made = run_document(found, ReportLocale(), NOW)
    return made if language == "en" else localize(made, translator(CHINESE), "zh-CN")


def text(found: RunSummary, language: str = "en") -> str:
    return " ".join(plain_text(document(found, language)).split())


def chinese(message: str) -> str:
    return str(write(message, translator(CHINESE)))


@given(st.text(min_size=1, max_size=20), st.sampled_from(("en", "zh")))
def test_no_word_of_the_web_becomes_markup(word: str, language: Any):
    page = html_page(document(report(word), language))
    harmless(page)
    plain = html_page(document(report("word"), language))
    assert look(page).elements == look(plain).elements


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("exit_", [*map(str, ExitStatus), "CRASHED"])
def test_every_end_has_its_words(exit_: str, language: str):
    run = msgspec.structs.replace(report().run, exit=exit_)
    assert exit_ not in text(report(run=run), language)


@pytest.mark.parametrize("status", [*range(400, 600), *range(-70, 0), -5000, -5003, -6000, -9998])
def test_every_failure_has_a_reason(status: int):
    assert chinese(reason_of(status)) != reason_of(status)


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (404, "there is no such page"),
        (418, "the server refused it"),
        (599, "the server had an error"),
        (-9998, "robots.txt forbids it"),
        (-77, "it could not be fetched"),
    ],
)
def test_a_status_has_a_reason(status: int, reason: str):
    assert reason_of(status) == reason


@pytest.mark.parametrize("words", [*ENDS.values(), LIMIT, *STORAGE_MODES.values()])
def test_ends_and_storage_modes_are_translated(words: str):
    assert chinese(words) != words


def test_a_failed_seed_has_its_reason_and_its_cause():
    assert "http://a.test/ could not be fetched: no connection to the server (http://a.test/)" in (
        text(report())
    )
    seed = FailedSeed("http://a.test/", -2, "")
    assert "could not be fetched: no connection to the server." in text(report(failed_seeds=[seed]))
    assert "无法连接服务器" in text(report(), "zh")


@pytest.mark.parametrize(
    ("mime", "kind"),
    [
        ("text/html; charset=utf-8", "web pages"),
        ("application/vnd.ms-excel", "office documents"),
        ("application/rss+xml", "data (JSON, XML)"),
        ("unknown", "not given by the server"),
        ("chemical/x-pdb", "other"),
    ],
)
def test_a_media_type_has_a_kind(mime: str, kind: str):
    assert kind_of(mime) == kind


@pytest.mark.parametrize("mime", ["text/html", "image/webp", "application/x-odd", "", "unknown"])
def test_every_media_type_has_a_kind(mime: str):
    assert chinese(kind_of(mime)) != kind_of(mime)


def test_an_end_says_what_was_left_out():
    assert "finished: everything in scope was tried" in text(report())
    told = text(report(endless=5483, deleted=12_563))
    assert "5,483 of endless places (traps.budget), 12,563 deleted by the operator" in told
    assert "5,483 个无穷尽的网址" in text(report(endless=5483), "zh")
    assert "left out: 7 deleted by the operator" in text(report(deleted=7))
    assert "deleted" not in text(report(endless=7)), "nothing was"
    assert "left out: 2 too many hops from their seeds" in text(report(too_deep=2))
    withheld = report(numbers={**report().numbers, "withheld_replies": 6})
    assert "left out: 6 whose replies are not stored for a preference" in text(withheld)
    assert "rights.enforce" in text(withheld, "zh")


def test_times_are_those_of_the_reader():
    reader = ReportLocale(timezone(timedelta(hours=8)), "Asia/Shanghai")
    assert reader.moment(NOW) == "2026-11-23 08:00"
    assert "3 d 2 h" in text(report(elapsed=3 * 86_400 + 7_300))
    assert "1 分 35 秒" in text(report(elapsed=95), "zh")
    assert "(Asia/Shanghai)" in plain_text(run_document(report(), reader, NOW))


def test_noise_and_what_is_not_named_are_told():
    found = text(report())
    assert "80.0 % of the data stored" in found
    assert "--keep lean" not in text(report(noise=0.4))
    assert "--keep lean" not in text(report(keep="lean"))
    assert "1 of 300 are named" in found
    assert "all others" in found


def test_a_first_run_has_nothing_to_compare_with():
    first = line(1)
    found = text(report(run=first, runs=[first], changes={}))
    assert "What changed" not in found
    assert "All runs" not in found
    assert "earlier runs" not in found


def test_a_run_without_failures_says_so_unless_something_waits():
    assert "Everything that was requested was received." in text(report(failed={}, failures=[]))
    waiting = report(failed={}, failures=[], numbers=NUMBERS | {"uris_queued": 7})
    assert "still waiting: 7." in text(waiting)
    assert "Everything" not in text(waiting)


def test_an_end_says_which_due_pages_were_not_visited():
    left = NotVisited(unvisited=1_234, held=1, repeated=2)
    told = text(report(left=left))
    assert "1,234 due pages, because the budget is spent" in told
    assert "1 that lead into what looks like a trap" in told
    assert "2 that differ from known pages in idle parameters" in told
    assert "1,234 个到期网页" in text(report(left=left), "zh")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_full_run_that_was_not_compared_claims_no_comparison(language: Any):
    full = msgspec.structs.replace(line(3), mode="full")
    runs = [line(1), line(2, **dict.fromkeys(FOUND, 2)), full]
    found = report(run=full, runs=runs, changes={}, numbers=NUMBERS | {"novel_uris": 194})
    told = text(found, language)
    assert "194" in told
    if language == "en":
        assert "Not compared with earlier runs: replies stored as new: 194" in told
        assert "new: 0" not in told
        assert "What changed" not in told
        assert "A full run is compared when" in told


def test_all_replies_are_told_beside_the_documents():
    counted = NUMBERS | {"replies": 1_317}
    told = text(report(numbers=counted))
    assert "All replies, with robots.txt and guesses such as the icon 1,317" in told
    assert "All replies, with robots.txt and guesses such as the icon 4" in text(report())
