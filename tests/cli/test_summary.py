"""The last lines of a crawl: what it got, which seeds failed, what to do next."""

import json
from pathlib import Path
from typing import Any

import pytest

from nacre.cli.summary import (
    archives,
    collection,
    next_steps,
    not_got_lines,
    reason,
    say_finished,
    seeds_fact,
    skipped_fact,
    summarize,
)
from nacre.core.states import ExitCode, ExitStatus, RunCounts, SeedsEnd
from nacre.inspect.reports.seed_outcomes import SeedOutcome, SeedState, SeedTally
from nacre.job.overview import JobOverview
from nacre.machine.layout import Layout
from nacre.ops.run_end import RunResult
from nacre.report.browser_tally import BrowserTally
from nacre.settings.settings import JobSettings

GOT = RunCounts(seeds=SeedsEnd.GOT)
DEAD = SeedOutcome("http://a.test/", SeedState.NO_REPLY, -2, "no connection", 3)
GONE = SeedTally(total=1, no_reply=1, not_got=[DEAD])


@pytest.fixture
def layout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Layout:
    """A job whose last run is its second."""
    for name in ("run1", "run2"):
        (tmp_path / "my job" / "runs" / name).mkdir(parents=True)
    (tmp_path / "my job" / "latest").symlink_to("runs/run2")
    monkeypatch.chdir(tmp_path)
    return Layout(tmp_path / "my job")


def settings(**sections: Any) -> JobSettings:
    return JobSettings.model_validate(sections)


def result(ended: ExitStatus = ExitStatus.FINISHED, **facts: Any) -> RunResult:
    known: dict[str, Any] = {"overview": JobOverview("FINISHED"), "statuses": {}}
    return RunResult(ended, **(known | facts))


def steps(layout: Layout, what: RunResult, *, again: bool = False, **more: Any) -> dict[str, str]:
    """The commands by their headings; a line without one follows another."""
    noise = more.pop("noise", 0.0)
    lines = next_steps(layout, settings(**more), what, again=again, noise=noise)
    heads = [line.partition(":")[::2] for line in lines if not line.startswith(" ")]
    return {name: text.strip() for name, text in heads}


# ---- what to do next


def test_after_a_whole_crawl(layout: Layout):
    found = steps(layout, result())
    assert found == {
        "Look": "nacre report 'my job'",
        "Hand on": "nacre report 'my job' run --html run.html",
        "Verify": "nacre archive 'my job' check",
        "Search": "nacre index 'my job'",
        "Browse": "nacre replay 'my job'",
        "Again": "nacre recrawl 'my job'",
    }


@pytest.mark.parametrize(
    ("ended", "sections", "resume"),
    [
        (ExitStatus.INTERRUPTED, {}, ""),
        (ExitStatus.TIME_LIMIT, {"limits": {"time": 60}}, " --set limits.time=0"),
        (ExitStatus.TIME_LIMIT, {"limits": {"runtime": {"after": 60}}},
         " --set limits.runtime.after=0"),
        (ExitStatus.DATA_LIMIT, {"limits": {"bytes": 9, "novel_bytes": 9}},
         " --set limits.bytes=0 --set limits.novel_bytes=0"),
        # None of the limits is set any more: the first of them is named.
        (ExitStatus.DOCUMENT_LIMIT, {}, " --set limits.documents=0"),
        (ExitStatus.WRITE_LIMIT, {"archive": {"max_total": 9}}, " --set archive.max_total=0"),
        (ExitStatus.QUEUE_BUDGET, {"frontier": {"queue_total_budget": 9}},
         " --set frontier.queue_total_budget=-1"),
    ],
)  # fmt: skip
def test_a_run_that_was_ended_is_resumed_without_its_limit(
    layout: Layout, ended: ExitStatus, sections: dict[str, Any], resume: str
):
    found = steps(layout, result(ended), **sections)
    assert found["Resume"] == f"nacre run 'my job'{resume}"
    assert ("Left" in found) is (ended is ExitStatus.QUEUE_BUDGET)
    assert {"Again", "Hand on", "Search", "Browse"}.isdisjoint(found)
    assert found["Verify"] == "nacre archive 'my job' check"


def test_queues_that_rest_without_a_budget_are_woken(layout: Layout):
    found = steps(layout, result(ExitStatus.QUEUE_BUDGET))
    assert found["Left"] == "nacre frontier 'my job' queues"
    assert found["Resume"] == "nacre frontier 'my job' unretire; nacre run 'my job'"


def test_where_nothing_was_fetched_the_first_seed_is_explained(layout: Layout):
    counts = RunCounts(seeds=SeedsEnd.NO_REPLY)
    found = steps(layout, result(counts=counts, seeds=GONE))
    assert found == {"Why": "nacre explain 'my job' http://a.test/"}
    assert steps(layout, result(counts=counts)) == {"Why": "nacre explain 'my job' URL"}


def test_where_every_seed_was_an_error_there_is_more_to_look_at(layout: Layout):
    found = steps(layout, result(counts=RunCounts(seeds=SeedsEnd.ERRONEOUS), seeds=GONE))
    assert found["Why"] == "nacre explain 'my job' http://a.test/"
    assert "Look" in found


@pytest.mark.parametrize(
    ("facts", "more", "name", "command"),
    [
        ({}, {"again": True}, "Worth", "nacre report 'my job' savings"),
        ({"overview": JobOverview("FINISHED", failed_pages=1)}, {}, "Not got",
         "nacre report 'my job' responsecode"),
        ({}, {"noise": 0.6}, "Smaller", "nacre recrawl 'my job' --keep lean"),
    ],
)  # fmt: skip
def test_what_is_worth_a_look(
    layout: Layout, facts: dict[str, Any], more: dict[str, Any], name: str, command: str
):
    assert steps(layout, result(**facts), **more)[name] == command
    assert name not in steps(layout, result(), noise=0.5)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("demo", "demo"), ("my job", "my-job"), ("a.b/c", "a-b-c"), ("书", "crawl"), ("-x-", "x")],
)
def test_a_name_that_pywb_takes(name: str, expected: str):
    assert collection(name) == expected


def test_where_the_warcs_are(layout: Layout):
    usual = settings()
    assert archives(layout, usual) == ["my job/latest/archive"]
    named = settings(archive={"directories": ["a", "${launchId}/b"]})
    assert archives(layout, named) == ["my job/latest/a", "my job/latest/run2/b"]


# ---- seeds


@pytest.mark.parametrize(
    ("tally", "text"),
    [
        (SeedTally(total=1, got=1), ""),
        (SeedTally(total=3, got=3), "3 of 3 got"),
        (SeedTally(total=2, not_due=2), ""),
        (SeedTally(total=1, no_reply=1), "0 of 1 got, 1 without a reply"),
        (SeedTally(total=2, got=1, withheld=1), "1 of 2 got, 1 withheld"),
        (SeedTally(total=6000, got=1, errors=2000, refused=1, waiting=1, not_due=1),
         "1 of 6,000 got, 2,000 answered with an error, 1 not asked for, 1 waiting, 1 not due"),
    ],
)  # fmt: skip
def test_seeds_in_one_line(tally: SeedTally, text: str):
    assert seeds_fact(tally) == text


@pytest.mark.parametrize(
    ("skipped", "text"),
    [
        (0, ""),
        (1, "1 line of the seed list that is not a seed: named in job.log"),
        (1234, "1,234 lines of the seed list that are not seeds: named in job.log"),
    ],
)
def test_lines_that_are_not_seeds(skipped: int, text: str):
    assert skipped_fact(SeedTally(skipped=skipped)) == text


def test_of_many_seeds_the_first_are_named():
    ends = [SeedOutcome(f"http://a.test/{n}", SeedState.ERROR, 404, "gone") for n in range(12)]
    tally = SeedTally(total=12, errors=12, not_got=ends)
    *lines, last = not_got_lines(tally, Path("job"), 0.0)
    assert lines == [f"  http://a.test/{n}: gone" for n in range(10)]
    assert last == "  and 2 more: nacre report job seeds"
    few = SeedTally(total=1, errors=1, not_got=ends[:1])
    assert [*not_got_lines(few, Path("job"), 0.0)] == ["  http://a.test/0: gone"]


def test_the_next_try_is_told_from_now():
    end = SeedOutcome("http://a.test/", SeedState.WAITS, -2, "no connection", 1, next_try=1090.0)
    (line,) = not_got_lines(SeedTally(total=1, waiting=1, not_got=[end]), Path("job"), 1000.0)
    assert line.endswith("next in 1 min 30 s (-2)")


@pytest.mark.parametrize(
    ("end", "wait", "text"),
    [
        (SeedOutcome("u", SeedState.ERROR, 404, "not found"), None, "not found"),
        (DEAD, None, "no connection, tried 3 times (-2)"),
        (SeedOutcome("u", SeedState.WAITS, -2, "no connection", 1), None,
         "no connection, tried once, next when its turn comes (-2)"),
        (SeedOutcome("u", SeedState.WAITS, -2, "no connection", 2), 0.5,
         "no connection, tried twice, next when its turn comes (-2)"),
        (SeedOutcome("u", SeedState.WAITS, 0, "it waits"), 9.0, "it waits"),
        (SeedOutcome("u", SeedState.ERROR, 404, "not found", target="http://b.test/\x1b[1m"), None,
         "redirects to http://b.test/"),
    ],
)  # fmt: skip
def test_why_a_seed_was_not_got(end: SeedOutcome, wait: float | None, text: str):
    said = reason(end, wait)
    assert said.startswith(text)
    assert "\x1b" not in said


# ---- the whole


def test_a_finished_job(layout: Layout, capsys: pytest.CaptureFixture[str]):
    say_finished(layout, as_json=False)
    first, look, again = capsys.readouterr().out.splitlines()
    assert first == "my job is finished; nothing was changed."
    assert look.endswith("nacre report 'my job'")
    assert again.endswith("nacre recrawl 'my job'")
    say_finished(layout, as_json=True)
    assert json.loads(capsys.readouterr().out) == {
        "exit": "FINISHED", "exit_code": 0, "changed": False, "job": str(layout.root),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("ended", "facts", "line"),
    [
        (ExitStatus.FINISHED, {}, "Finished: everything in scope was tried."),
        (ExitStatus.FINISHED, {"counts": RunCounts(seeds=SeedsEnd.NO_REPLY)},
         "Nothing could be fetched."),
        (ExitStatus.FINISHED, {"counts": RunCounts(seeds=SeedsEnd.ERRONEOUS)},
         "Finished, but no seed was there: each answered with an error, or not at all."),
        (ExitStatus.FINISHED, {"overview": JobOverview("FINISHED", endless=3)},
         "Finished: everything in scope was tried, except the rest of the crawler traps."),
        (ExitStatus.FINISHED, {"overview": JobOverview("FINISHED", deleted=3)},
         "Finished: everything in scope was tried, except what the operator deleted."),
        (ExitStatus.INTERRUPTED, {}, "Interrupted."),
        (ExitStatus.TIME_LIMIT, {}, "Stopped at the time limit (limits.time)."),
    ],
)  # fmt: skip
def test_the_first_line_says_how_it_ended(
    layout: Layout,
    capsys: pytest.CaptureFixture[str],
    ended: ExitStatus,
    facts: dict[str, Any],
    line: str,
):
    summarize(layout, settings(), result(ended, **facts), as_json=False)
    assert capsys.readouterr().out.splitlines()[0] == line


def test_the_facts_of_a_run(layout: Layout, capsys: pytest.CaptureFixture[str]):
    overview = JobOverview(
        "FINISHED", documents=3, failed_pages=2, disregarded=5, deleted=4, alerts=5, queued=1,
        saved_documents=1, saved_bytes=2000, elapsed=90.0, warc_bytes=3000, prerequisites=1,
        queues={"retired": 2}, endless=1, faults=2, unparsed=1,
        withheld=2,
    )  # fmt: skip
    what = result(
        ExitStatus.QUEUE_BUDGET,
        overview=overview,
        statuses={404: 1, 200: 1234},
        seeds=SeedTally(total=2, got=1, no_reply=1, skipped=1, not_got=[DEAD]),
    )
    summarize(layout, settings(), what, as_json=False)
    out = capsys.readouterr().out
    facts = dict(line.strip().split(None, 1) for line in out.partition("\n\n")[0].splitlines()[1:])
    assert facts["http://a.test/:"] == "no connection, tried 3 times (-2)"
    assert facts["seeds"] == "1 of 2 got, 1 without a reply"
    assert facts["got"].endswith("; 2 replies withheld, not in the archive (rights.enforce)")
    assert facts["skipped"] == "1 line of the seed list that is not a seed: named in job.log"
    assert facts["replies"] == "200: 1,234, 404: 1 (1 of them for robots.txt)"
    assert facts["not"] == "got  2 failed, 1 disregarded (robots.txt and the like), 4 deleted"
    assert facts["saved"].endswith("by dedup (1 reply whose content was there)")
    assert facts["alerts"] == "5, in my job/latest/logs/alerts.log"
    assert facts["errors"] == (
        "2 URLs ended by an error of Nacre's own (-5): see my job/latest/logs/runtime-errors.log; "
        "report it"
    )
    assert facts["unread"].startswith("1 document too much for the parser, without links: parser")
    assert facts["left"] == "1 URI and the URIs in 2 retired queues"
    assert facts["traps"].startswith("1 URL of endless places is left; `nacre run 'my job' --tr")
    assert facts["time"] == "1 min 30 s"
    assert facts["archive"].endswith("of WARC in my job/latest/archive/")


def test_pages_in_a_browser(layout: Layout, capsys: pytest.CaptureFixture[str]):
    tally = BrowserTally(
        pages=3, signs={"mount": 2, "thin": 1}, cpu=4.5, requests=40, bytes=2_000_000, reused=5,
        refused={"robots": 7, "scope": 1}, robots_pages=1, robots_requests=31,
    )  # fmt: skip
    what = result(counts=GOT, browser=tally)
    summarize(layout, settings(), what, as_json=False)
    text = " ".join(capsys.readouterr().out.split())
    for part in (
        "browser 3 pages run (mount 2, thin 1) 4.5 s of its processor, 40 requests, 2.0 MB; 5 "
        "answered from the archive",
        "refused 8 requests of pages (robots 7, scope 1)",
        "robots 7 of 31 requests of 1 page, which may lack content",
        "nacre report 'my job' browser",
    ):
        assert part in text, (part, text)
    summarize(layout, settings(), what, as_json=True)
    assert json.loads(capsys.readouterr().out)["browser"]["signs"] == {"mount": 2, "thin": 1}


def test_pages_for_which_there_was_no_browser(layout: Layout, capsys: pytest.CaptureFixture[str]):
    summarize(layout, settings(), result(counts=GOT, browser=BrowserTally(unrun=5)), as_json=False)
    out = capsys.readouterr().out
    assert "5 pages look as if they needed a browser; none is installed" in out
    assert "check --browser" in out


def test_the_same_for_programs(layout: Layout, capsys: pytest.CaptureFixture[str]):
    what = result(statuses={404: 1, 200: 2}, counts=GOT, seeds=SeedTally(total=1, got=1))
    summarize(layout, settings(), what, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["exit"], told["exit_code"]) == ("FINISHED", int(what.code))
    assert told["statuses"] == {"200": 2, "404": 1}
    assert told["seeds"]["got"] == 1
    assert told["job"] == str(layout.root)
    assert {"found", "ended"}.isdisjoint(told)


def test_a_run_that_never_began_has_no_facts(layout: Layout, capsys: pytest.CaptureFixture[str]):
    summarize(layout, settings(), RunResult(ExitStatus.ABNORMAL), as_json=False)
    out = capsys.readouterr().out
    assert out.startswith("Ended by an error.\n\n")
    assert "not got" not in out


@pytest.mark.parametrize(
    ("counts", "code", "fetched"),
    [
        (GOT, ExitCode.FINISHED, True),
        (RunCounts(seeds=SeedsEnd.NO_REPLY), ExitCode.NOTHING_FETCHED, False),
        (RunCounts(seeds=SeedsEnd.ERRONEOUS), ExitCode.SEEDS_ERRONEOUS, True),
        (RunCounts(replies=1, archived=0), ExitCode.NOTHING_ARCHIVED, True),
    ],
)
def test_the_exit_code_follows_the_counts(
    layout: Layout, counts: RunCounts, code: ExitCode, fetched: bool
):
    what = result(counts=counts)
    assert (what.code, what.fetched) == (code, fetched)
    archived_nothing = code is ExitCode.NOTHING_ARCHIVED
    assert (steps(layout, what).get("Why") == "nacre check 'my job'") is archived_nothing
