from pathlib import Path

from nacre.console.logs.tails import LOOKS, SNAPSHOT, LogPosition, LogTail, log_position
from nacre.fleet.places import FoundJob
from nacre.machine.layout import Layout


def job_with_log(folder: Path, lines: int) -> tuple[LogTail, Path]:
    layout = Layout(folder / "job")
    logs = layout.run("20261120T151100Z") / "logs"
    logs.mkdir(parents=True)
    layout.latest.symlink_to("runs/20261120T151100Z")
    path = logs / "crawl.log"
    path.write_text("".join(f"{number}\n" for number in range(lines)))
    return LogTail(FoundJob("crawls~job", "job", "crawls", layout), "crawl"), path


def texts(tail: LogTail, seen: LogPosition | None) -> list[str]:
    return [line.text for line in tail.behind(seen).lines]


def test_a_viewer_gets_the_last_lines_then_what_is_new(tmp_path: Path):
    tail, path = job_with_log(tmp_path, 1000)
    assert tail.look()
    first = tail.behind(None)
    assert [line.text for line in first.lines] == [str(n) for n in range(1000 - SNAPSHOT, 1000)]
    assert not first.is_anew
    with path.open("a") as file:
        file.write("a\nb\nhalf")
    assert tail.look()
    assert texts(tail, first.position) == ["a", "b"]
    assert not tail.look()
    with path.open("a") as file:
        file.write(" a line\n")
    assert tail.look()
    assert texts(tail, first.position) == ["a", "b", "half a line"]


def test_one_who_lags_gets_the_last_lines_anew(tmp_path: Path):
    tail, path = job_with_log(tmp_path, 1)
    tail.look()
    slow = tail.behind(None).position
    for number in range(LOOKS + 1):
        with path.open("a") as file:
            file.write(f"n{number}\n")
        assert tail.look()
    assert tail.behind(slow).is_anew
    assert texts(tail, slow)[-1] == f"n{LOOKS}"


def test_another_file_begins_anew(tmp_path: Path):
    tail, path = job_with_log(tmp_path, 3)
    tail.look()
    seen = tail.behind(None).position
    path.rename(path.with_name("crawl.log.cp00001-20261120151100"))
    path.write_text("x\n")
    assert tail.look()
    found = tail.behind(seen)
    assert (found.is_anew, [line.text for line in found.lines]) == (True, ["x"])


def test_a_file_that_grows_fast_is_not_read_whole(tmp_path: Path):
    tail, path = job_with_log(tmp_path, 3)
    tail.look()
    seen = tail.behind(None).position
    with path.open("a") as file:
        file.writelines(f"{number:099d}\n" for number in range(40_000))
    assert tail.look()
    found = tail.behind(seen)
    assert found.is_anew
    assert len(found.lines) == SNAPSHOT
    assert found.lines[-1].text.endswith("39999")


def test_places_are_texts():
    place = LogPosition("1f", 12)
    assert log_position(str(place)) == place
    for text in ("", "-", "1f-", "1f-x", "1f-²", "1f-" + "9" * 30):
        assert log_position(text) is None
