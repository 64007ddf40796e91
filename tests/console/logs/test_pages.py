from io import FileIO
from pathlib import Path

import pytest

from nacre.console.logs.pages import (
    LogPage,
    LogQuestion,
    log_names,
    log_path,
    place_at,
    read_page,
    runs_with_logs,
)
from nacre.fleet.refusals import RefusedRequestError
from nacre.machine.layout import Layout
from nacre.scope.patterns.matching import any_text

LINES = [f"line {number} 书\n" for number in range(40_000)]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("logs") / "crawl.log"
    path.write_text("".join(LINES) + "half a li")
    return path


def texts(page: LogPage) -> list[str]:
    return [line.text + "\n" for line in page.lines]


def test_the_end_comes_first_and_a_line_in_the_making_is_left_out(log: Path):
    page = read_page(log, LogQuestion(None, None, 3, any_text))
    assert texts(page) == LINES[-3:]
    assert page.end == log.stat().st_size - len("half a li")
    assert page.size == log.stat().st_size


def test_pages_back_and_forth_give_each_line_once(log: Path):
    found: list[str] = []
    page = read_page(log, LogQuestion(None, None, 999, any_text))
    while page.lines:
        found = texts(page) + found
        page = read_page(log, LogQuestion(None, page.start, 999, any_text))
    assert found == LINES
    found, at = [], 0
    while (page := read_page(log, LogQuestion(at, None, 999, any_text))).lines:
        found += texts(page)
        at = page.end
    assert found == LINES


def test_a_search_stops_after_its_budget_and_goes_on(log: Path):
    def wants(text: str) -> bool:
        return text.startswith("line 7 ")

    page = read_page(log, LogQuestion(None, None, 5, wants, 50_000))
    assert (page.lines, page.is_cut) == ((), True)
    while page.is_cut:
        assert page.searched < 51_000
        page = read_page(log, LogQuestion(None, page.start, 5, wants, 50_000))
    assert texts(page) == [LINES[7]]
    forward = read_page(log, LogQuestion(0, None, 5, wants, 50_000))
    assert texts(forward) == [LINES[7]]
    assert forward.is_cut


def test_a_byte_within_a_line_is_taken_as_the_next_line(log: Path):
    page = read_page(log, LogQuestion(len(LINES[0].encode()) + 2, None, 1, any_text))
    assert texts(page) == [LINES[2]]


def test_lines_of_any_length_and_with_other_ends(tmp_path: Path):
    path = tmp_path / "crawl.log"
    parts = ["", "a", "x" * 300_000, "\x0b\x85\r", "", "z" * 600_000, "b"]
    path.write_text("".join(f"{part}\n" for part in parts), newline="")
    for after in (0, None):
        page = read_page(path, LogQuestion(after, None, 1000, any_text))
        assert [line.text for line in page.lines] == parts
    # A line over a megabyte comes in pieces, and none is lost.
    path.write_text("a\n" + "y" * 3_000_000 + "\nb\n")
    for after in (0, None):
        page = read_page(path, LogQuestion(after, None, 1000, any_text))
        assert "".join(line.text for line in page.lines) == "a" + "y" * 3_000_000 + "b"


@pytest.mark.parametrize(
    "name",
    ["", "..", "../crawl", "crawl.log", "crawl/", "a b", "crawl\0", "CRAWL", "link", "none"],
)
def test_only_logs_have_names(tmp_path: Path, name: str):
    layout = Layout(tmp_path)
    logs = layout.run("20261120T151100Z") / "logs"
    logs.mkdir(parents=True)
    layout.latest.symlink_to("runs/20261120T151100Z")
    (logs / "crawl.log").write_text("")
    (logs / "crawl.log.cp00001-20261120151100").write_text("old\n")
    (logs / "frontier.recover.gz").write_text("")
    (tmp_path / "secret").write_text("")
    (logs / "link.log").symlink_to(tmp_path / "secret")
    with pytest.raises(RefusedRequestError):
        log_path(layout, name)
    with pytest.raises(RefusedRequestError):
        log_path(layout, "crawl", "../..")
    assert log_path(layout, "crawl") == log_path(layout, "crawl", "20261120T151100Z")
    assert log_names(layout) == [("crawl", 0), ("crawl.log.cp00001-20261120151100", 4)]


def test_a_link_to_a_run_elsewhere_is_not_followed(tmp_path: Path):
    layout = Layout(tmp_path / "job")
    (tmp_path / "other" / "logs").mkdir(parents=True)
    (tmp_path / "other" / "logs" / "crawl.log").write_text("x\n")
    layout.root.mkdir()
    layout.latest.symlink_to(tmp_path / "other")
    with pytest.raises(RefusedRequestError):
        log_path(layout, "crawl")


def test_the_runs_with_logs_are_told_with_the_newest_first(tmp_path: Path):
    layout = Layout(tmp_path)
    assert runs_with_logs(layout) == []
    for name in ("20261120T151100Z", "20261121T151100Z", "elsewhere"):
        (layout.run(name) / "logs").mkdir(parents=True)
    layout.run("20261122T151100Z").mkdir()
    layout.run("20261123T151100Z").symlink_to(layout.run("20261120T151100Z"))
    assert runs_with_logs(layout) == ["20261121T151100Z", "20261120T151100Z"]


@pytest.mark.parametrize(
    ("moment", "first"),
    [
        ("2025", 0),
        ("2026-11-24T02:00", 0),
        ("2026-11-24T02:10", 10),
        ("2026-11-24T02:10:00.5", 11),
        ("2026-11-24T02:59", 59),
        ("2026-11-24T03", 60),
        ("2027", 60),
    ],
)
def test_the_lines_of_a_moment_are_found(tmp_path: Path, moment: str, first: int):
    path = tmp_path / "crawl.log"
    lines = [f"2026-11-24T02:{minute:02}:00.123Z {'x' * minute}\n" for minute in range(60)]
    lines[9] += "a line without a time\n" * 3
    path.write_text("".join(lines))
    assert place_at(path, moment) == sum(map(len, lines[:first]))


@pytest.mark.parametrize("text", ["", "\n", "no time", "no time\nnone here\n"])
def test_a_log_without_times_is_read_from_a_place_of_its_own(tmp_path: Path, text: str):
    path = tmp_path / "crawl.log"
    path.write_text(text)
    assert 0 <= place_at(path, "2026") <= len(text)


def test_a_large_log_without_times_is_not_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "crawl.log"
    path.write_text("no time in this line\n" * 2_000_000)
    read = []

    class Counting(FileIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            line = super().readline(size)
            read.append(len(line))
            return line

    monkeypatch.setattr("nacre.console.logs.pages.open_log", Counting)
    monkeypatch.setattr("nacre.console.logs.pages._UNTIMED", 1000)
    assert place_at(path, "2026") == 0
    assert sum(read) < 50_000
