"""Without a terminal: lines of text that a person reads in a log; JSON only with `--json`.

What failed: `nacre crawl URL > log 2>&1` filled the log with JSON of 40 fields every five seconds,
and with `--json` errors and warnings were text.
"""

import json
from pathlib import Path

import pytest

from nacre.cli.progress import Display, JsonProgress, PlainProgress
from nacre.job.overview import JobOverview
from nacre.job.session import Session
from tests.cli.site import nacre, site


def test_progress_is_text(tmp_path: Path):
    with site() as home:
        done = nacre("crawl", home, "--delay", 0, "--out", tmp_path / "作业")
    lines = done.err.splitlines()
    assert not any(line.startswith("{") for line in lines)
    assert all(line[4] == "-" and "Z " in line for line in lines), "each has its time"
    told = [line.partition(" ")[2] for line in lines]
    assert "PREPARING -> RUNNING" in told
    assert any(text.startswith("finished (everything was tried): ") for text in told)
    assert len(lines) < 10


class _Time:
    """A clock that a test holds."""

    def __init__(self) -> None:
        self.mono = 0.0

    def now(self) -> float:
        return 1_795_357_714.0 + self.mono

    def monotonic(self) -> float:
        return self.mono


@pytest.mark.parametrize(("kind", "number"), [(PlainProgress, 10), (JsonProgress, 121)])
def test_one_line_a_minute(
    kind: type[PlainProgress | JsonProgress],
    number: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    clock = _Time()
    display: Display = kind(clock)  # type: ignore[arg-type]
    monkeypatch.setattr(display, "_progress", lambda _: display.message("progress", "x"))
    monkeypatch.setattr("nacre.cli.progress.live_overview", _nothing)
    monkeypatch.setattr("nacre.cli.progress.only_waits", lambda _: False)
    for tick in range(2401):
        clock.mono = tick * 0.25
        display.tick(None)  # type: ignore[arg-type]
    assert len(capsys.readouterr().err.splitlines()) == number


def _nothing(_: Session) -> object:
    return JobOverview("RUNNING")


ERRORS = [
    (("crawl", "htp:/x"), 2),
    (("crawl", "http://127.0.0.1/", "--dance"), 2),
    (("crawl", "http://127.0.0.1/", "--depth", "x"), 2),
    (("crawl", "-i", "没有.txt"), 2),
    (("status", "nowhere"), 2),
    (("report", "nowhere"), 2),
    (("archive", "nowhere", "check"), 2),
    (("frontier", "nowhere", "list"), 2),
    (("run",), 2),
]


@pytest.mark.parametrize(("arguments", "code"), ERRORS)
def test_errors_are_json_with_json(tmp_path: Path, arguments: tuple[str, ...], code: int):
    done = nacre(*arguments, "--json")
    assert done.code == code
    lines = [json.loads(line) for line in done.err.splitlines()]
    assert lines[-1]["type"] == "error"
    assert lines[-1]["exit_code"] == code
    assert lines[-1]["text"]
    assert done.out == ""


@pytest.mark.parametrize(("arguments", "code"), ERRORS)
def test_errors_are_text_without(arguments: tuple[str, ...], code: int):
    done = nacre(*arguments)
    assert done.code == code
    assert done.err
    assert not done.err.startswith("{")


def test_warnings_and_notes_are_json_with_json(tmp_path: Path):
    seeds = tmp_path / "seeds.txt"
    with site() as home:
        seeds.write_text(f"{home}\nno seed\n")
        options = ("--json", "--delay", 0, "--out", tmp_path / "job")
        done = nacre("crawl", "-i", seeds, *options)
    lines = [json.loads(line) for line in done.err.splitlines()]
    assert {line["type"] for line in lines} >= {"note", "warning", "state", "start", "progress"}
    (warning,) = [line for line in lines if line["type"] == "warning"]
    assert (warning["line"], warning["file"]) == (2, str(seeds))
    assert json.loads(done.out)["seeds"]["skipped"] == 1
    quiet = nacre("run", tmp_path / "job", "--json", "-q")
    assert (quiet.err, json.loads(quiet.out)["exit_code"]) == ("", 0)
