"""Findings of steps in words."""

import json
import sys
from collections import Counter

import pytest

from nacre.cli.cycle import display
from nacre.cli.cycle.display import bar, fitted
from nacre.cli.cycle.running import exit_code_of
from nacre.cli.cycle.texts import (
    fetch_lines,
    fetch_numbers,
    fetch_progress_text,
    rounds_numbers,
    rounds_text,
)
from nacre.core.states import ExitCode
from nacre.rounds.runner import FetchSoFar, RoundsResult
from nacre.rounds.segments.fetch_progress import FetchProgress
from nacre.rounds.steps.fetch import SegmentFetch
from nacre.rounds.steps.generate import GenerateResult


@pytest.mark.parametrize(
    ("progress", "said"),
    [
        (
            FetchProgress(61, 127, 3_100_000, 2, 250.0),
            "[####------] 61/127 pages, 3.1 MB, 2 hosts, 4 min left",
        ),
        (FetchProgress(0, 1, 0, 0, None), "[----------] 0/1 page"),
        (FetchProgress(1, 2, 0, 1, 0.4), "[#####-----] 1/2 pages, 1 host"),
        (FetchProgress(1_234, 1_234, 9, 1, 0.0), "[##########] 1,234/1,234 pages, 9 B, 1 host"),
        (
            FetchProgress(90, 127, 9, 1, 2.0, 1, 2),
            "[#######---] 90/127 pages, 9 B, 1 host, 2 s left, 1 of 2 units done",
        ),
        (
            FetchProgress(127, 127, 9, 1, 0.0, 1, 1),
            "[##########] 127/127 pages, 9 B, 1 host, 1 of 1 unit done, "
            "the written files are checked",
        ),
    ],
)
def test_the_live_line_of_a_fetch(progress: FetchProgress, said: str):
    assert fetch_progress_text(progress._asdict()) == said


def test_a_bar_is_never_longer_than_itself():
    assert (bar(3, 2), bar(0, 0)) == ("[##########]", "[##########]")


def test_a_live_line_has_one_row():
    assert fitted("fetch 61/127", 13) == "fetch 61/127"
    assert fitted("fetch 61/127", 12) == "fetch 61/1…"
    assert fitted("fetch", 0) == "…"


def test_a_pipe_gets_lines_for_people_unless_json_is_asked_for(capsys: pytest.CaptureFixture[str]):
    for as_json in (False, True):
        shown = display.display_of(quiet=False, as_json=as_json)
        shown.step("round 1/2", "update")
        shown.finish({"links": 7}, "7 links")
    line, *told = capsys.readouterr().err.splitlines()
    assert line == "round 1/2 update    7 links"
    assert [json.loads(one)["type"] for one in told] == ["begin", "done"]


def test_a_live_line_goes_when_the_result_is_said_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(display, "_EVERY", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    lines = display.StepLines()
    lines.leave()
    lines.step("", "fetch")
    lines.progress({}, "[#####-----] 1/2 pages")
    lines.leave()
    lines.note("done")
    erased = "\r\x1b[K"
    assert capsys.readouterr().err == f"fetch{' ' * 15}[#####-----] 1/2 pages{erased}done\n"


def test_the_end_of_a_fetch_by_status_host_and_reason():
    found = SegmentFetch(
        segment="s",
        statuses=Counter({200: 40, 404: 3, -2: 2}),
        not_attempted=Counter({"deadline": 4, "failures": 12}),
        hosts=14,
        by_host={"a.example": 30, "b.example": 5},
    )
    assert fetch_lines(found).splitlines() == [
        "  by status      40  200",
        "                  3  404",
        "                  2  -2 (no connection, or its TLS handshake failed)",
        "  by host        30  a.example",
        "                  5  b.example",
        "                 10  12 other hosts",
        "  not attempted  12  failures",
        "                  4  deadline",
    ]
    assert fetch_lines(SegmentFetch(segment="s")) == ""
    numbers = fetch_numbers(found)
    assert (numbers["hosts"], numbers["by_host"]) == (14, {"a.example": 30, "b.example": 5})


def test_the_end_of_rounds():
    end = RoundsResult(
        why="done", rounds=3, pages=5_412, warc_bytes=118_000_000, known=61_220, waiting=41_002
    )
    assert rounds_text(end) == (
        "3 rounds: 5,412 pages, 118 MB of WARC; 61,220 URLs known, 41,002 wait"
    )
    few = RoundsResult(why="done", rounds=3, known=1, waiting=1)
    assert rounds_text(few).endswith("; 1 URL known, 1 waits")
    stopped = RoundsResult(why="interrupted", rounds=3, pages=1, warc_bytes=10)
    assert rounds_text(stopped) == "3 rounds: 1 page, 10 B of WARC; interrupted"
    cut = RoundsResult(why="interrupted", interrupted=FetchSoFar(1, "s", 37, 1_200_000))
    assert rounds_text(cut) == (
        "0 rounds; interrupted in the fetch of round 1: 37 pages, 1.2 MB of WARC so far"
    )
    left = FetchSoFar(3, "s", 0, 0)
    cut = RoundsResult(why="interrupted", rounds=2, pages=9, warc_bytes=10, interrupted=left)
    assert rounds_text(cut) == (
        "2 rounds: 9 pages, 10 B of WARC; interrupted in the fetch of round 3: nothing is kept so "
        "far"
    )
    generated = GenerateResult(known=2, refused={"schedule": 2})
    nothing = RoundsResult(why="nothing due", generated=generated, known=61_220)
    assert rounds_text(nothing) == (
        "0 rounds: 0 pages, 0 B of WARC; 2 known: 0 due; nothing to fetch"
    )
    numbers = rounds_numbers(cut)
    assert (numbers["interrupted"], numbers["generate"]) == (left._asdict(), None)
    assert [*numbers] == [
        "why", "rounds", "pages", "warc_bytes", "known", "waiting", "interrupted", "version",
        "generate",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("result", "code"),
    [
        (RoundsResult(why="done", rounds=1), ExitCode.FINISHED),
        (RoundsResult(why="done", rounds=1, faults=1), ExitCode.FAULTS),
        (RoundsResult(why="nothing due"), ExitCode.NOTHING_DUE),
        (RoundsResult(why="nothing due", rounds=1), ExitCode.FINISHED),
        (RoundsResult(why="stopped", faults=1), ExitCode.STOPPED),
        (RoundsResult(why="interrupted"), ExitCode.INTERRUPTED),
        (RoundsResult(why="dry run"), ExitCode.FINISHED),
    ],
)
def test_the_exit_code_of_rounds(result: RoundsResult, code: ExitCode):
    assert exit_code_of(result) is code
